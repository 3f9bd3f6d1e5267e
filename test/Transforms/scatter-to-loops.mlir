// A scatter as loops that insert elements (lib/Transforms/ExpandOps.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-scatter-to-loops | FileCheck %s
// CHECK-LABEL: func @scatter
// CHECK-SAME: (%[[X:.+]]: tensor<3x8xf32>, %[[INTO:.+]]: tensor<4x8xf32>, %[[LIST:.+]]: tensor<3x1xindex>)
// CHECK:      scf.for %[[I:.+]] = {{.*}} iter_args(%{{.+}} = %[[INTO]])
// CHECK:        scf.for %[[J:.+]] = {{.*}} iter_args(%[[CARRIED:.+]] = %
// CHECK:          %[[ELEMENT:.+]] = tensor.extract %[[X]][%[[I]], %[[J]]]
// CHECK:          %[[ROW:.+]] = tensor.extract %[[LIST]][%[[I]], %{{.+}}]
// CHECK:          tensor.insert %[[ELEMENT]] into %[[CARRIED]][%[[ROW]], %[[J]]]
func.func @scatter(%x: tensor<3x8xf32>, %d: tensor<4x8xf32>, %i: tensor<3x1xindex>) -> tensor<4x8xf32> {
  %0 = tensor.scatter %x into %d[%i] scatter_dims([0]) unique : (tensor<3x8xf32>, tensor<4x8xf32>, tensor<3x1xindex>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
