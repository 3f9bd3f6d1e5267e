// RUN: sparse-opt %s --split-input-file | FileCheck %s
// RUN: sparse-opt %s --split-input-file --canonicalize | FileCheck %s --check-prefix=CANON
// RUN: sparse-opt %s --split-input-file --mlir-print-op-generic | sparse-opt --split-input-file | FileCheck %s

#rows = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : dense)}>

// CHECK-LABEL: func @print
// CHECK-SAME: (%[[TABLE:.*]]: tensor<?x4xf32>, %[[I:.*]]: tensor<3xi32>, %[[J:.*]]: tensor<2x?xindex>, %[[N:.*]]: index)
func.func @print(%t: tensor<?x4xf32>, %i: tensor<3xi32>, %j: tensor<2x?xindex>, %n: index)
    -> (tensor<2x?x4xf32>, tensor<?x4xf32>, tensor<?xindex>) {
  // CHECK: %[[ROWS:.*]] = sparse_autograd.gather %[[TABLE]], %[[I]] : tensor<?x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
  %0 = sparse_autograd.gather %t, %i : tensor<?x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
  // CHECK: %[[SUM:.*]] = sparse_autograd.scatter_rows %[[ROWS]], %[[I]], %[[N]] : tensor<3x4xf32>, tensor<3xi32> -> tensor<?x4xf32, #{{.*}}>
  %1 = sparse_autograd.scatter_rows %0, %i, %n : tensor<3x4xf32>, tensor<3xi32> -> tensor<?x4xf32, #rows>
  // CHECK: %[[OF_SUM:.*]] = sparse_autograd.gather %[[SUM]], %[[J]] : tensor<?x4xf32, #{{.*}}>, tensor<2x?xindex> -> tensor<2x?x4xf32>
  %2 = sparse_autograd.gather %1, %j : tensor<?x4xf32, #rows>, tensor<2x?xindex> -> tensor<2x?x4xf32>
  // CHECK: %[[ALL:.*]] = sparse_autograd.accumulate %[[TABLE]], %[[SUM]] : tensor<?x4xf32>, tensor<?x4xf32, #{{.*}}> -> tensor<?x4xf32>
  %3 = sparse_autograd.accumulate %t, %1 : tensor<?x4xf32>, tensor<?x4xf32, #rows> -> tensor<?x4xf32>
  // CHECK: sparse_autograd.stored_coordinates %[[SUM]] {level = 0 : index} : tensor<?x4xf32, #{{.*}}> -> tensor<?xindex>
  %4 = sparse_autograd.stored_coordinates %1 {level = 0 : index} : tensor<?x4xf32, #rows> -> tensor<?xindex>
  return %2, %3, %4 : tensor<2x?x4xf32>, tensor<?x4xf32>, tensor<?xindex>
}

// -----

#rows = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : dense)}>

// Sums of rows that are only added are one sum of all their rows.
// CANON-LABEL: func @merge
// CANON-SAME: (%[[A:.*]]: tensor<3x4xf32>, %[[I:.*]]: tensor<3xi32>, %[[B:.*]]: tensor<?x4xf32>, %[[J:.*]]: tensor<?xi32>, %[[N:.*]]: index)
func.func @merge(%a: tensor<3x4xf32>, %i: tensor<3xi32>, %b: tensor<?x4xf32>, %j: tensor<?xi32>, %n: index)
    -> tensor<?x4xf32, #rows> {
  // CANON-DAG: %[[ROWS:.*]] = tensor.concat dim(0) %[[A]], %[[B]], %[[A]]
  // CANON-DAG: %[[INDICES:.*]] = tensor.concat dim(0) %[[I]], %[[J]], %[[I]]
  // CANON: sparse_autograd.scatter_rows %[[ROWS]], %[[INDICES]], %[[N]]
  // CANON-NOT: accumulate
  %0 = sparse_autograd.scatter_rows %a, %i, %n : tensor<3x4xf32>, tensor<3xi32> -> tensor<?x4xf32, #rows>
  %1 = sparse_autograd.scatter_rows %b, %j, %n : tensor<?x4xf32>, tensor<?xi32> -> tensor<?x4xf32, #rows>
  %2 = sparse_autograd.scatter_rows %a, %i, %n : tensor<3x4xf32>, tensor<3xi32> -> tensor<?x4xf32, #rows>
  %3 = sparse_autograd.accumulate %0, %1 : tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows> -> tensor<?x4xf32, #rows>
  %4 = sparse_autograd.accumulate %3, %2 : tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows> -> tensor<?x4xf32, #rows>
  return %4 : tensor<?x4xf32, #rows>
}

// -----

#rows = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : dense)}>

// Lists of other types, of matrices whose widths may differ, and sums that
// someone else reads stay.
// CANON-LABEL: func @keep
func.func @keep(%a: tensor<3x4xf32>, %i: tensor<3xi32>, %i64: tensor<3xi64>, %b: tensor<?x?x4xf32>, %j: tensor<?x?xi32>,
                %n: index)
    -> (tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows>) {
  // CANON-COUNT-3: sparse_autograd.accumulate
  // CANON-NOT: tensor.concat
  %0 = sparse_autograd.scatter_rows %a, %i, %n : tensor<3x4xf32>, tensor<3xi32> -> tensor<?x4xf32, #rows>
  %1 = sparse_autograd.scatter_rows %a, %i64, %n : tensor<3x4xf32>, tensor<3xi64> -> tensor<?x4xf32, #rows>
  %2 = sparse_autograd.accumulate %0, %1 : tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows> -> tensor<?x4xf32, #rows>
  %3 = sparse_autograd.scatter_rows %b, %j, %n : tensor<?x?x4xf32>, tensor<?x?xi32> -> tensor<?x4xf32, #rows>
  %4 = sparse_autograd.scatter_rows %b, %j, %n : tensor<?x?x4xf32>, tensor<?x?xi32> -> tensor<?x4xf32, #rows>
  %5 = sparse_autograd.accumulate %3, %4 : tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows> -> tensor<?x4xf32, #rows>
  %6 = sparse_autograd.scatter_rows %a, %i, %n : tensor<3x4xf32>, tensor<3xi32> -> tensor<?x4xf32, #rows>
  %7 = sparse_autograd.scatter_rows %a, %i, %n : tensor<3x4xf32>, tensor<3xi32> -> tensor<?x4xf32, #rows>
  %8 = sparse_autograd.accumulate %6, %7 : tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows> -> tensor<?x4xf32, #rows>
  return %2, %5, %8, %6 : tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows>
}
