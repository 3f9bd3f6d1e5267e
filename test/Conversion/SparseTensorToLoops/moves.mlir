// RUN: sparse-opt %s --convert-elementwise-to-linalg --sparse-autograd-lower-sparse --canonicalize --cse | FileCheck %s

// Ops that move elements: reshapes, slices, concatenations.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#DCSR = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : compressed)}>
#Vector = #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>

// Values of one pattern that move in the same way have one pattern after it: it
// is made once, and what is done to them is done to the list of values.

// CHECK-LABEL: func.func @moved_alike
// CHECK-COUNT-1: sparse_autograd.sort_entries
// CHECK-NOT:   sparse_autograd.sort_entries
// CHECK:       %[[LISTS:.*]]:3 = sparse_autograd.store_positions
// CHECK-NOT:   scf.while
// CHECK:       %[[Y:.*]] = linalg.generic {{{.*}}, iterator_types = ["parallel"]}
// CHECK:         arith.mulf
// CHECK:       return %{{.*}}, %[[LISTS]]#1, %[[Y]]
func.func @moved_alike(%a: tensor<3x4xf64, #CSR>) -> tensor<12xf64, #Vector> {
  %t = math.tanh %a : tensor<3x4xf64, #CSR>
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<3x4xf64, #CSR> into tensor<12xf64, #Vector>
  %1 = tensor.collapse_shape %t [[0, 1]] : tensor<3x4xf64, #CSR> into tensor<12xf64, #Vector>
  %y = arith.mulf %0, %1 : tensor<12xf64, #Vector>
  return %y : tensor<12xf64, #Vector>
}

// So have slices of a pattern and of its values.

// CHECK-LABEL: func.func @selected_alike
// CHECK-COUNT-1: sparse_autograd.sort_entries
// CHECK-NOT:   sparse_autograd.sort_entries
// CHECK-NOT:   scf.while
// CHECK:       return
func.func @selected_alike(%a: tensor<?x?xf64, #CSR>, %piece: tensor<2x3xf64, #CSR>, %n: index, %m: index)
    -> tensor<?x?xf64, #CSR> {
  %e = tensor.empty(%n, %m) : tensor<?x?xf64, #CSR>
  %0 = tensor.insert_slice %piece into %e[1, 0] [2, 3] [1, 1] : tensor<2x3xf64, #CSR> into tensor<?x?xf64, #CSR>
  %p = sparse_autograd.pattern %piece : tensor<2x3xf64, #CSR>
  %f = tensor.empty(%n, %m) : tensor<?x?xi1, #CSR>
  %1 = tensor.insert_slice %p into %f[1, 0] [2, 3] [1, 1] : tensor<2x3xi1, #CSR> into tensor<?x?xi1, #CSR>
  %y = arith.select %1, %0, %0 : tensor<?x?xi1, #CSR>, tensor<?x?xf64, #CSR>
  return %y : tensor<?x?xf64, #CSR>
}

// Slices of other extents do not.

// CHECK-LABEL: func.func @moved_otherwise
// CHECK-COUNT-2: sparse_autograd.sort_entries
// CHECK:       return
func.func @moved_otherwise(%a: tensor<4x4xf64, #CSR>, %i: index, %j: index) -> (tensor<2x4xf64, #CSR>, tensor<2x4xf64, #CSR>) {
  %0 = tensor.extract_slice %a[%i, 0] [2, 4] [1, 1] : tensor<4x4xf64, #CSR> to tensor<2x4xf64, #CSR>
  %1 = tensor.extract_slice %a[%j, 0] [2, 4] [1, 1] : tensor<4x4xf64, #CSR> to tensor<2x4xf64, #CSR>
  return %0, %1 : tensor<2x4xf64, #CSR>, tensor<2x4xf64, #CSR>
}

// A row that is not in the slice is not entered.

// CHECK-LABEL: func.func @rows
// CHECK-SAME:  %[[FIRST:[a-z0-9]+]]: index, %[[COUNT:[a-z0-9]+]]: index)
// CHECK:       scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step
// CHECK:         %[[I:.*]] = tensor.extract %{{.*}}[%[[ROW]]]
// CHECK-NEXT:    %[[PLACE:.*]] = arith.subi %[[I]], %[[FIRST]]
// CHECK-NEXT:    %[[INSIDE:.*]] = arith.cmpi ult, %[[PLACE]], %[[COUNT]]
// CHECK-NEXT:    scf.if %[[INSIDE]]
// CHECK:           scf.for
// Nothing is asked of a column.
// CHECK-NOT:       arith.cmpi
// CHECK:           scf.yield
func.func @rows(%a: tensor<?x7xf64, #DCSR>, %first: index, %count: index) -> tensor<?x7xf64, #CSR> {
  %0 = tensor.extract_slice %a[%first, 0] [%count, 7] [1, 1] : tensor<?x7xf64, #DCSR> to tensor<?x7xf64, #CSR>
  return %0 : tensor<?x7xf64, #CSR>
}
