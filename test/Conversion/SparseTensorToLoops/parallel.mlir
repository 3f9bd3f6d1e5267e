// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse=parallel --canonicalize --cse | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse --canonicalize --cse | FileCheck %s --check-prefix=SEQUENTIAL

// Outermost loops whose iterations write to different places run in parallel.

// SEQUENTIAL-NOT: schedule<parallel

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#DCSR = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : compressed)}>
#COO = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton(soa))}>
#BSR = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)}>

// So are loops within them that write to different places.

// CHECK-LABEL: func.func @rows
// CHECK-SAME:  %{{[^:]*}}: tensor<?xindex>, %{{.*}}: tensor<?xindex>, %{{.*}}: tensor<?xf64>, %[[ROWS:.*]]: index, %{{.*}}: index, %{{.*}}: tensor<?x8xf64>, %[[Z:.*]]: tensor<?x8xf64>)
// CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
// CHECK:       %[[Y:.*]] = scf.for %{{.*}} = %[[C0]] to %[[ROWS]] step %[[C1]] iter_args(%{{.*}} = %[[Z]])
// CHECK:         } {sparse_autograd.schedule = #sparse_autograd.schedule<entries>}
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       return %[[Y]]
func.func @rows(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %z: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %y = linalg.matmul ins(%a, %x : tensor<?x?xf64, #CSR>, tensor<?x8xf64>) outs(%z : tensor<?x8xf64>) -> tensor<?x8xf64>
  return %y : tensor<?x8xf64>
}

// Stored rows are different ones, and so are the rows of blocks.

// CHECK-LABEL: func.func @stored_rows
// CHECK:       schedule<parallel
// CHECK:       return
func.func @stored_rows(%a: tensor<?x?xf64, #DCSR>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.matvec ins(%a, %x : tensor<?x?xf64, #DCSR>, tensor<?xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// CHECK-LABEL: func.func @rows_of_blocks
// CHECK:       schedule<parallel
// CHECK:       return
func.func @rows_of_blocks(%a: tensor<?x?xf64, #BSR>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.matvec ins(%a, %x : tensor<?x?xf64, #BSR>, tensor<?xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// Two entries of a coordinate list may be of one row.

// CHECK-LABEL: func.func @entries
// CHECK-NOT:   schedule<parallel
// CHECK:       return
func.func @entries(%a: tensor<?x?xf64, #COO>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.matvec ins(%a, %x : tensor<?x?xf64, #COO>, tensor<?xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// But each has a value of its own.

// CHECK-LABEL: func.func @values_of_entries
// CHECK:       schedule<parallel
// CHECK:       return
func.func @values_of_entries(%p: tensor<?x?xf64, #COO>, %x: tensor<?x8xf64>, %y: tensor<?x8xf64>) -> tensor<?x?xf64, #COO> {
  %r = sparse_autograd.sampled_generic {
        indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x8xf64>, tensor<?x8xf64>) outs(%p : tensor<?x?xf64, #COO>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %q = arith.mulf %a, %b : f64
    %s = arith.addf %out, %q : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64, #COO>
  return %r : tensor<?x?xf64, #COO>
}

// Rows of the transpose are those of all rows.

// CHECK-LABEL: func.func @transposed
// CHECK-NOT:   schedule<parallel
// CHECK:       return
func.func @transposed(%a: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// A sum has one place.

// CHECK-LABEL: func.func @sum
// CHECK-NOT:   schedule<parallel
// CHECK:       return
func.func @sum(%a: tensor<?x?xf64, #CSR>, %z: tensor<f64>) -> tensor<f64> {
  %s = linalg.reduce { arith.addf } ins(%a : tensor<?x?xf64, #CSR>) outs(%z : tensor<f64>) dimensions = [0, 1]
  return %s : tensor<f64>
}

// What is written at i + j is written to by several i.

// CHECK-LABEL: func.func @diagonals
// CHECK-NOT:   schedule<parallel
// CHECK:       return
func.func @diagonals(%a: tensor<4x4xf64, #CSR>, %z: tensor<7xf64>) -> tensor<7xf64> {
  %s = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i + j)>],
        iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<4x4xf64, #CSR>) outs(%z : tensor<7xf64>) {
  ^bb0(%v: f64, %out: f64):
    %t = arith.addf %v, %out : f64
    linalg.yield %t : f64
  } -> tensor<7xf64>
  return %s : tensor<7xf64>
}

// The entries of a new pattern are listed one behind the other.

// CHECK-LABEL: func.func @new_pattern
// CHECK-NOT:   schedule<parallel
// CHECK:       return
func.func @new_pattern(%a: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #DCSR> {
  %b = sparse_tensor.convert %a : tensor<?x?xf64, #CSR> to tensor<?x?xf64, #DCSR>
  return %b : tensor<?x?xf64, #DCSR>
}
