// RUN: sparse-opt %s --sparse-autograd-select-formats | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-select-formats="min-nnz=10" | FileCheck %s --check-prefix=FEW
// RUN: sparse-opt %s --sparse-autograd-select-formats="min-sparsity=0.05" | FileCheck %s --check-prefix=FULL

// What is small, or has few zeros, is read as the dense tensor that it is made
// of, with a selection.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// The functions behind a declaration have their turn.

// CHECK: func.func private @declared
func.func private @declared(tensor<9x11xf64, #CSR>)

// CHECK-LABEL: func.func @few
// CHECK-SAME:  %[[X:.*]]: tensor<9x11xf64>, %[[V:.*]]: tensor<11xf64>, %[[Z:.*]]: tensor<9xf64>)
// CHECK-NEXT:  %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[V]] : tensor<9x11xf64>, tensor<11xf64>) outs(%[[Z]] : tensor<9xf64>)
// CHECK-NEXT:  ^bb0(%[[A:.*]]: f64, %[[B:.*]]: f64, %[[SUM:.*]]: f64):
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.0
// CHECK-DAG:     %[[STORED:.*]] = arith.cmpf une, %[[A]], %[[ZERO]]
// CHECK-DAG:     %[[P:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-DAG:     %[[NEXT:.*]] = arith.addf %[[SUM]], %[[P]]
// CHECK:         %[[R:.*]] = arith.select %[[STORED]], %[[NEXT]], %[[SUM]]
// CHECK-NEXT:    linalg.yield %[[R]]
// CHECK:       return %[[Y]]

// FEW-LABEL: func.func @few
// FEW:       sparse_tensor.convert
// FEW:       return
func.func @few(%x: tensor<9x11xf64>, %v: tensor<11xf64>, %z: tensor<9xf64>) -> tensor<9xf64> {
  %a = sparse_tensor.convert %x : tensor<9x11xf64> to tensor<9x11xf64, #CSR>
  %y = linalg.matvec ins(%a, %v : tensor<9x11xf64, #CSR>, tensor<11xf64>) outs(%z : tensor<9xf64>) -> tensor<9xf64>
  return %y : tensor<9xf64>
}

// CHECK-LABEL: func.func @integers
// CHECK:       arith.cmpi ne
func.func @integers(%x: tensor<4x4xi32>, %z: tensor<4xi32>) -> tensor<4xi32> {
  %a = sparse_tensor.convert %x : tensor<4x4xi32> to tensor<4x4xi32, #CSR>
  %y = linalg.reduce { arith.maxsi } ins(%a : tensor<4x4xi32, #CSR>) outs(%z : tensor<4xi32>) dimensions = [1]
  return %y : tensor<4xi32>
}

// 900 nonzeros among 1000 elements are said to be there.

// CHECK-LABEL: func.func @full
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       return
// FULL-LABEL:  func.func @full
// FULL:        sparse_tensor.convert
// FULL:        return
func.func @full(%x: tensor<10x100xf64> {sparse_autograd.nnz = 900}, %v: tensor<100xf64>, %z: tensor<10xf64>) -> tensor<10xf64> {
  %a = sparse_tensor.convert %x : tensor<10x100xf64> to tensor<10x100xf64, #CSR>
  %y = linalg.matvec ins(%a, %v : tensor<10x100xf64, #CSR>, tensor<100xf64>) outs(%z : tensor<10xf64>) -> tensor<10xf64>
  return %y : tensor<10xf64>
}

// 600 are sparse enough; a conversion may have the hint itself.

// CHECK-LABEL: func.func @sparse_enough
// CHECK:       sparse_tensor.convert
// CHECK:       return
func.func @sparse_enough(%x: tensor<10x100xf64>, %v: tensor<100xf64>, %z: tensor<10xf64>) -> tensor<10xf64> {
  %a = sparse_tensor.convert %x {sparse_autograd.nnz = 600} : tensor<10x100xf64> to tensor<10x100xf64, #CSR>
  %y = linalg.matvec ins(%a, %v : tensor<10x100xf64, #CSR>, tensor<100xf64>) outs(%z : tensor<10xf64>) -> tensor<10xf64>
  return %y : tensor<10xf64>
}

// Nothing is known.

// CHECK-LABEL: func.func @unknown
// CHECK:       sparse_tensor.convert
// CHECK:       return
func.func @unknown(%x: tensor<?x11xf64>, %v: tensor<11xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %a = sparse_tensor.convert %x : tensor<?x11xf64> to tensor<?x11xf64, #CSR>
  %y = linalg.matvec ins(%a, %v : tensor<?x11xf64, #CSR>, tensor<11xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// A sparse result needs the pattern.

// CHECK-LABEL: func.func @pattern
// CHECK:       sparse_tensor.convert
// CHECK:       return
func.func @pattern(%x: tensor<4x4xf64>, %v: tensor<4xf64>, %z: tensor<4xf64>) -> (tensor<4xf64>, tensor<4x4xf64, #CSR>) {
  %a = sparse_tensor.convert %x : tensor<4x4xf64> to tensor<4x4xf64, #CSR>
  %y = linalg.matvec ins(%a, %v : tensor<4x4xf64, #CSR>, tensor<4xf64>) outs(%z : tensor<4xf64>) -> tensor<4xf64>
  return %y, %a : tensor<4xf64>, tensor<4x4xf64, #CSR>
}

// What stays sparse says nothing of the next one.

// CHECK-LABEL: func.func @next
// CHECK-SAME:  %[[X:[^:]*]]: tensor<4x4xf64>
// CHECK:       %[[A:.*]] = sparse_tensor.convert %[[X]]
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       return %{{.*}}, %[[A]]
func.func @next(%x: tensor<4x4xf64>, %y: tensor<4x4xf64>, %v: tensor<4xf64>, %z: tensor<4xf64>) -> (tensor<4xf64>, tensor<4x4xf64, #CSR>) {
  %a = sparse_tensor.convert %x : tensor<4x4xf64> to tensor<4x4xf64, #CSR>
  %b = sparse_tensor.convert %y : tensor<4x4xf64> to tensor<4x4xf64, #CSR>
  %r = linalg.matvec ins(%b, %v : tensor<4x4xf64, #CSR>, tensor<4xf64>) outs(%z : tensor<4xf64>) -> tensor<4xf64>
  return %r, %a : tensor<4xf64>, tensor<4x4xf64, #CSR>
}

// CHECK-LABEL: func.func @one_of_two_results
// CHECK:       sparse_tensor.convert
// CHECK:       return
func.func @one_of_two_results(%x: tensor<4x4xf64>, %p: tensor<4x4xf64, #CSR>, %z: tensor<4xf64>) -> (tensor<4xf64>, tensor<4x4xf64, #CSR>) {
  %a = sparse_tensor.convert %x : tensor<4x4xf64> to tensor<4x4xf64, #CSR>
  %y:2 = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x4xf64, #CSR>) outs(%z, %p : tensor<4xf64>, tensor<4x4xf64, #CSR>) {
  ^bb0(%in: f64, %out: f64, %out_0: f64):
    %s = arith.addf %out, %in : f64
    %q = arith.mulf %in, %in : f64
    linalg.yield %s, %q : f64, f64
  } -> (tensor<4xf64>, tensor<4x4xf64, #CSR>)
  return %y#0, %y#1 : tensor<4xf64>, tensor<4x4xf64, #CSR>
}

// What a loop carries is no argument of the function: nothing is said of it.

// CHECK-LABEL: func.func @carried
// CHECK:       scf.for
// CHECK:         sparse_tensor.convert
// CHECK:       return
func.func @carried(%h: tensor<?x?xf64>, %g: tensor<?x?xf64> {sparse_autograd.nnz = 1}, %x: tensor<?x?xf64>, %v: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%d = %x, %w = %v) -> (tensor<?x?xf64>, tensor<?xf64>) {
    %a = sparse_tensor.convert %d : tensor<?x?xf64> to tensor<?x?xf64, #CSR>
    %y = linalg.matvec ins(%a, %w : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%v : tensor<?xf64>) -> tensor<?xf64>
    %e = math.sin %d : tensor<?x?xf64>
    scf.yield %e, %y : tensor<?x?xf64>, tensor<?xf64>
  }
  return %r#1 : tensor<?xf64>
}

// A hint counts without extents; nothing says how many elements there are in all.

// CHECK-LABEL: func.func @few_of_unknown
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       return
func.func @few_of_unknown(%x: tensor<?x11xf64> {sparse_autograd.nnz = 7}, %v: tensor<11xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %a = sparse_tensor.convert %x : tensor<?x11xf64> to tensor<?x11xf64, #CSR>
  %y = linalg.matvec ins(%a, %v : tensor<?x11xf64, #CSR>, tensor<11xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// CHECK-LABEL: func.func @many_of_unknown
// CHECK:       sparse_tensor.convert
// CHECK:       return
func.func @many_of_unknown(%x: tensor<?x11xf64> {sparse_autograd.nnz = 7000}, %v: tensor<11xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %a = sparse_tensor.convert %x : tensor<?x11xf64> to tensor<?x11xf64, #CSR>
  %y = linalg.matvec ins(%a, %v : tensor<?x11xf64, #CSR>, tensor<11xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// An op that reads it twice would have to choose for both together.

// CHECK-LABEL: func.func @twice
// CHECK:       sparse_tensor.convert
// CHECK:       return
func.func @twice(%x: tensor<4x4xf64>, %z: tensor<4xf64>) -> tensor<4xf64> {
  %a = sparse_tensor.convert %x : tensor<4x4xf64> to tensor<4x4xf64, #CSR>
  %y = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]}
      ins(%a, %a : tensor<4x4xf64, #CSR>, tensor<4x4xf64, #CSR>) outs(%z : tensor<4xf64>) {
  ^bb0(%in: f64, %in_0: f64, %out: f64):
    %p = arith.mulf %in, %in_0 : f64
    %s = arith.addf %out, %p : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  return %y : tensor<4xf64>
}

// Nor does one that is large.

// CHECK-LABEL: func.func @behind_a_large_one
// CHECK-SAME:  %[[X:[^:]*]]: tensor<?x?xf64>
// CHECK:       sparse_tensor.convert %[[X]]
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       return
func.func @behind_a_large_one(%x: tensor<?x?xf64>, %y: tensor<4x4xf64>, %v: tensor<4xf64>, %w: tensor<?xf64>, %z: tensor<4xf64>) -> (tensor<4xf64>, tensor<?xf64>) {
  %a = sparse_tensor.convert %x : tensor<?x?xf64> to tensor<?x?xf64, #CSR>
  %b = sparse_tensor.convert %y : tensor<4x4xf64> to tensor<4x4xf64, #CSR>
  %r = linalg.matvec ins(%b, %v : tensor<4x4xf64, #CSR>, tensor<4xf64>) outs(%z : tensor<4xf64>) -> tensor<4xf64>
  %s = linalg.matvec ins(%a, %w : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%w : tensor<?xf64>) -> tensor<?xf64>
  return %r, %s : tensor<4xf64>, tensor<?xf64>
}
