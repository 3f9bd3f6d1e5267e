// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse --canonicalize | FileCheck %s

// Blocks of rows below columns: the outermost loop is over columns, and the row is
// that of the block and the one in it.
#columns = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i floordiv 4 : compressed, i mod 4 : dense)}>

// CHECK-LABEL: func.func @to_dense(
// CHECK-SAME: %[[POS:.*]]: tensor<?xindex>, %[[CRD:.*]]: tensor<?xindex>, %[[VALUES:.*]]: tensor<?xf64>, %[[ROWS:.*]]: index, %[[COLUMNS:.*]]: index)
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK: scf.for %[[J:[a-z0-9]+]] = %{{.*}} to %[[COLUMNS]]
// CHECK: scf.for %[[E:[a-z0-9]+]] =
// CHECK: %[[BLOCK:.*]] = tensor.extract %[[CRD]][%[[E]]]
// CHECK: scf.for %[[R:[a-z0-9]+]] =
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[C4]]
// CHECK: %[[I:.*]] = arith.addi %[[FIRST]], %[[R]]
// CHECK: arith.cmpi ult, %[[I]], %[[ROWS]]
// CHECK: tensor.insert %{{.*}} into %{{.*}}[%[[I]], %[[J]]]
func.func @to_dense(%a: tensor<?x?xf64, #columns>) -> tensor<?x?xf64> {
  %0 = sparse_tensor.convert %a : tensor<?x?xf64, #columns> to tensor<?x?xf64>
  return %0 : tensor<?x?xf64>
}
