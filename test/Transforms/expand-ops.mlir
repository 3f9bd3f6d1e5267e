// Ops that stand for several others (lib/Transforms/ExpandOps.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-expand-ops | FileCheck %s
// CHECK-LABEL: func @softmax
// CHECK-SAME: (%[[X:[^:]+]]: tensor<4x8xf32>
// CHECK-NEXT: sparse_autograd.masked_softmax %[[X]] dims = [1] : tensor<4x8xf32>
func.func @softmax(%x: tensor<4x8xf32>, %out: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.softmax dimension(1) ins(%x : tensor<4x8xf32>) outs(%out : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// CHECK-LABEL: func @select
// CHECK-SAME: (%[[C:.+]]: i1, %[[X:.+]]: tensor<?xf32>, %[[Y:.+]]: tensor<?xf32>)
// CHECK-NEXT: scf.if %[[C]]
// CHECK-NEXT:   scf.yield %[[X]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.yield %[[Y]]
func.func @select(%c: i1, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.select %c, %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}
// CHECK-LABEL: func @gather
// CHECK-SAME: (%[[X:.+]]: tensor<4x8xf32>, %[[LIST:.+]]: tensor<3x1xindex>)
// CHECK:      %[[I:.+]] = linalg.index 0
// CHECK:      %[[J:.+]] = linalg.index 1
// CHECK:      %[[ROW:.+]] = tensor.extract %[[LIST]][%[[I]], %{{.+}}]
// CHECK-NEXT: tensor.extract %[[X]][%[[ROW]], %[[J]]]
func.func @gather(%x: tensor<4x8xf32>, %i: tensor<3x1xindex>) -> tensor<3x8xf32> {
  %0 = tensor.gather %x[%i] gather_dims([0]) : (tensor<4x8xf32>, tensor<3x1xindex>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}
