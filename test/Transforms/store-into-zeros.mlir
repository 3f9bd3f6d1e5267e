// A sum with zeros of a part that nothing else wrote is stored (lib/Transforms/StoreIntoZeros.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-store-into-zeros | FileCheck %s
// CHECK-LABEL: func @rows
// CHECK-SAME: (%[[X:.+]]: tensor<8x4xf32>, %
// CHECK:      scf.for %[[I:.+]] = {{.*}} iter_args(%[[T:.+]] = %
// CHECK-NEXT:   %[[ROW:.+]] = tensor.extract_slice %[[X]][%[[I]], 0]
// CHECK-NEXT:   %[[NEW:.+]] = tensor.insert_slice %[[ROW]] into %[[T]][%[[I]], 0]
// CHECK-NEXT:   scf.yield %[[NEW]]
func.func @rows(%x: tensor<8x4xf32>, %n: index) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zeros = arith.constant dense<0.0> : tensor<8x4xf32>
  %0 = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %zeros) -> tensor<8x4xf32> {
    %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
    %old = tensor.extract_slice %t[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
    %sum = arith.addf %old, %row : tensor<1x4xf32>
    %new = tensor.insert_slice %sum into %t[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
    scf.yield %new : tensor<8x4xf32>
  }
  return %0 : tensor<8x4xf32>
}
