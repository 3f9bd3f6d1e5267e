// RUN: sparse-opt %s --sparse-autograd-attach-cpu=cpu=x86-64-v3 --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse=vector-bytes=256 --canonicalize --cse | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse=vector-bytes=256 --canonicalize --cse | FileCheck %s --check-prefix=GENERIC
// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse="vector-bytes=256 for-device" --canonicalize --cse | FileCheck %s --check-prefix=DEVICE

// DEVICE-NOT: vector

#CSR = #sparse_tensor.encoding<{map = (d0, d1) -> (d0 : dense, d1 : compressed)}>
#CSC = #sparse_tensor.encoding<{map = (d0, d1) -> (d1 : dense, d0 : compressed)}>

// A row of the result is a value of the loop over the entries, which starts
// with the number that the destination was filled with: it is not stored first.

// CHECK-LABEL: func.func @product
// CHECK-SAME:    %{{[^:]+}}: tensor<?xindex>, %[[CRD:[^:]+]]: tensor<?xindex>, %[[VALUES:[^:]+]]: tensor<?xf32>, {{.+}}, %[[B:[^:]+]]: tensor<?x32xf32>
// CHECK-DAG:     %[[ZEROS:.+]] = arith.constant dense<0.000000e+00> : vector<32xf32>
// CHECK-NOT:     linalg.fill
// CHECK:         scf.for %[[I:[^ ]+]] =
// CHECK:           %[[ROW:.+]] = scf.for %[[P:[^ ]+]] = {{.+}} iter_args(%[[SUM:[^ ]+]] = %[[ZEROS]]) -> (vector<32xf32>)
// CHECK-DAG:         %[[J:.+]] = tensor.extract %[[CRD]][%[[P]]]
// CHECK-DAG:         %[[X:.+]] = vector.transfer_read %[[B]][%[[J]], %{{.+}}], %{{.+}} {in_bounds = [true]} : tensor<?x32xf32>, vector<32xf32>
// CHECK-DAG:         %[[A:.+]] = tensor.extract %[[VALUES]][%[[P]]]
// CHECK-DAG:         %[[AS:.+]] = vector.broadcast %[[A]] : f32 to vector<32xf32>
// CHECK:             %[[TERM:.+]] = arith.mulf %[[AS]], %[[X]] fastmath<contract>
// CHECK:             %[[NEXT:.+]] = arith.addf %[[SUM]], %[[TERM]] fastmath<reassoc,contract>
// CHECK:             scf.yield %[[NEXT]]
// CHECK:           vector.transfer_write %[[ROW]], %{{.+}}[%[[I]], %{{.+}}] {in_bounds = [true]}
func.func @product(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x32xf32>, %m: index) -> tensor<?x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%m) : tensor<?x32xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32xf32>) -> tensor<?x32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x32xf32>) outs(%zeros : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %c : tensor<?x32xf32>
}

// A dynamic extent is cut into strips, what is left into narrow ones, of which
// the last is masked. Each goes through the entries.

// A processor without masks has loops over scalars.

// GENERIC-LABEL: func.func @dynamic
// GENERIC-NOT:   vector
// GENERIC-LABEL: func.func @remainder
// CHECK-LABEL: func.func @dynamic
// CHECK:         scf.for %{{.+}} = %{{.+}} to %{{.+}} step %{{.+}} iter_args
// CHECK:           scf.for %{{.+}} = %{{.+}} to %{{.+}} step %c32 iter_args
// CHECK:             scf.for {{.+}} -> (vector<32xf64>)
// CHECK:           scf.for %{{.+}} = %{{.+}} to %{{.+}} step %c8 iter_args
// CHECK:             scf.for {{.+}} step %c2 iter_args({{.+}}) -> (vector<8xf64>, vector<8xf64>)
// CHECK:           scf.for %[[LAST:[^ ]+]] = %{{.+}} to %[[N:[^ ]+]] step %c8 iter_args
// CHECK:             %[[LEFT:.+]] = arith.subi %[[N]], %[[LAST]]
// CHECK:             %[[MASK:.+]] = vector.create_mask %[[LEFT]] : vector<8xi1>
// CHECK:             vector.transfer_read {{.+}}, %[[MASK]] {in_bounds = [true]}
// CHECK:             %[[PAIRS:.+]]:2 = scf.for {{.+}} -> (vector<8xf64>, vector<8xf64>)
// CHECK:             %[[SUM:.+]] = arith.addf %[[PAIRS]]#0, %[[PAIRS]]#1
// CHECK:             scf.for {{.+}} iter_args(%{{.+}} = %[[SUM]]) -> (vector<8xf64>)
// CHECK:             vector.transfer_write {{.+}}, %[[MASK]] {in_bounds = [true]}
func.func @dynamic(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64>, %c: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf64, #CSR>, tensor<?x?xf64>) outs(%c : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}

// What is left of a constant extent is one narrower vector.

// CHECK-LABEL: func.func @remainder
// CHECK:         -> (vector<64xf32>)
// CHECK:         -> (vector<6xf32>)
func.func @remainder(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x70xf32>, %c: tensor<?x70xf32>) -> tensor<?x70xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x70xf32>) outs(%c : tensor<?x70xf32>) -> tensor<?x70xf32>
  return %r : tensor<?x70xf32>
}

// The places of the result are known entry by entry: they are read and written
// there, in strips of the columns.

// CHECK-LABEL: func.func @scattered
// CHECK:         scf.for {{.+}} step %c64 iter_args
// CHECK:           scf.for {{.+}} -> (tensor<?x?xf32>)
// CHECK:             %[[TERM:.+]] = arith.mulf {{.+}} fastmath<contract>
// CHECK:             %[[NEXT:.+]] = arith.addf {{.+}}, %[[TERM]] fastmath<reassoc,contract>
// CHECK:             vector.transfer_write %[[NEXT]]
func.func @scattered(%a: tensor<?x?xf32, #CSC>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32, #CSC>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// A sum over the dense loop: lanes hold parts of it, which are added in a tree.

// CHECK-LABEL: func.func @sampled
// CHECK-DAG:     %[[NONE:.+]] = arith.constant dense<-0.000000e+00> : vector<64xf32>
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             %[[STRIPS:.+]] = scf.for {{.+}} iter_args(%{{.+}} = %[[NONE]]) -> (vector<64xf32>)
// CHECK:             vector.extract_strided_slice %[[STRIPS]] {offsets = [0], sizes = [32], strides = [1]}
// CHECK:             %[[WHOLE:.+]] = scf.for {{.+}} -> (vector<16xf32>)
// CHECK:             %[[REST:[^ ]+]] = scf.for {{.+}} iter_args(%{{.+}} = %[[WHOLE]]) -> (vector<16xf32>)
// CHECK:               %[[MASK:.+]] = vector.create_mask
// CHECK:               arith.select %[[MASK]]
// CHECK:             vector.extract_strided_slice %[[REST]] {offsets = [0], sizes = [8], strides = [1]}
func.func @sampled(%p: tensor<?x?xf32, #CSR>, %u: tensor<?x?xf32>, %v: tensor<?x?xf32>) -> tensor<?x?xf32, #CSR> {
  %r = sparse_autograd.sampled_generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%u, %v : tensor<?x?xf32>, tensor<?x?xf32>) outs(%p : tensor<?x?xf32, #CSR>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %q = arith.mulf %x, %y : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32, #CSR>
  return %r : tensor<?x?xf32, #CSR>
}

// What is left of a constant number of terms is a vector of its own.

// CHECK-LABEL: func.func @terms
// CHECK:         scf.for {{.+}} -> (vector<16xf32>)
// CHECK-NOT:     vector.create_mask
// CHECK:         vector.transfer_read {{.+}} vector<8xf32>
func.func @terms(%p: tensor<?x?xf32, #CSR>, %u: tensor<?x40xf32>, %v: tensor<?x40xf32>) -> tensor<?x?xf32, #CSR> {
  %r = sparse_autograd.sampled_generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%u, %v : tensor<?x40xf32>, tensor<?x40xf32>) outs(%p : tensor<?x?xf32, #CSR>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %q = arith.mulf %x, %y : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32, #CSR>
  return %r : tensor<?x?xf32, #CSR>
}

// No vectors: elements that are not consecutive, few of them, bits, divisions
// that may stop.

// CHECK-LABEL: func.func @strided
// CHECK-NOT:     vector
// CHECK-LABEL: func.func @narrow
// CHECK-NOT:     vector
// CHECK-LABEL: func.func @bits
// CHECK-NOT:     vector
// CHECK-LABEL: func.func @quotients
// CHECK-NOT:     vector
func.func @strided(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul
      indexing_maps = [affine_map<(i, n, j) -> (i, j)>, affine_map<(i, n, j) -> (n, j)>, affine_map<(i, n, j) -> (i, n)>]
      ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @narrow(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x3xf32>, %c: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x3xf32>) outs(%c : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %r : tensor<?x3xf32>
}
func.func @bits(%a: tensor<?x?xi1, #CSR>, %b: tensor<?x?xi1>, %c: tensor<?x?xi1>) -> tensor<?x?xi1> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j, n) -> (i, j)>, affine_map<(i, j, n) -> (j, n)>, affine_map<(i, j, n) -> (i, n)>],
      iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<?x?xi1, #CSR>, tensor<?x?xi1>) outs(%c : tensor<?x?xi1>) {
  ^bb0(%x: i1, %y: i1, %s: i1):
    %q = arith.andi %x, %y : i1
    %t = arith.ori %s, %q : i1
    linalg.yield %t : i1
  } -> tensor<?x?xi1>
  return %r : tensor<?x?xi1>
}
func.func @quotients(%a: tensor<?x?xi32, #CSR>, %b: tensor<?x?xi32>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j, n) -> (i, j)>, affine_map<(i, j, n) -> (j, n)>, affine_map<(i, j, n) -> (i, n)>],
      iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<?x?xi32, #CSR>, tensor<?x?xi32>) outs(%c : tensor<?x?xi32>) {
  ^bb0(%x: i32, %y: i32, %s: i32):
    %q = arith.divsi %x, %y : i32
    %t = arith.addi %s, %q : i32
    linalg.yield %t : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}
