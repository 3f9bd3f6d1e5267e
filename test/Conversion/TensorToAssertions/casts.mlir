// RUN: sparse-opt %s --sparse-autograd-casts-to-assertions | FileCheck %s

// A cast to a type that says more is checked.

// CHECK-LABEL: func.func @claims
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf64>
// CHECK: %[[D:.*]] = tensor.dim %[[X]]
// CHECK: %[[HOLDS:.*]] = arith.cmpi eq, %[[D]]
// CHECK: cf.assert %[[HOLDS]], "{{.*}}casts.mlir:[[# @LINE + 3]]:8: tensor.cast: size mismatch of dim 0"
// CHECK: tensor.cast
func.func @claims(%x: tensor<?x8xf64>) -> tensor<4x8xf64> {
  %0 = tensor.cast %x : tensor<?x8xf64> to tensor<4x8xf64>
  return %0 : tensor<4x8xf64>
}

// One that says less is not, nor one that ops prove.

// CHECK-LABEL: func.func @proved
// CHECK-NOT: cf.assert
// CHECK: return
func.func @proved(%x: tensor<4xf64>, %n: index) -> (tensor<?xf64>, tensor<4xf64>) {
  %c0 = arith.constant 0 : index
  %0 = tensor.cast %x : tensor<4xf64> to tensor<?xf64>
  %d = tensor.dim %0, %c0 : tensor<?xf64>
  %e = tensor.empty(%d) : tensor<?xf64>
  %y = linalg.exp ins(%0 : tensor<?xf64>) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %1 = tensor.cast %y : tensor<?xf64> to tensor<4xf64>
  return %0, %1 : tensor<?xf64>, tensor<4xf64>
}

// Twice the same is checked once.

// CHECK-LABEL: func.func @once
// CHECK-COUNT-1: cf.assert
// CHECK-NOT: cf.assert
// CHECK: return
func.func @once(%x: tensor<?xf64>, %c: i1) -> tensor<4xf64> {
  %0 = tensor.cast %x : tensor<?xf64> to tensor<4xf64>
  %r = scf.if %c -> (tensor<4xf64>) {
    %1 = tensor.cast %x : tensor<?xf64> to tensor<4xf64>
    %2 = math.exp %1 : tensor<4xf64>
    scf.yield %2 : tensor<4xf64>
  } else {
    scf.yield %0 : tensor<4xf64>
  }
  return %r : tensor<4xf64>
}

// What a loop carries may have another extent than it starts with.

// CHECK-LABEL: func.func @carried
// CHECK: scf.for
// CHECK: cf.assert
func.func @carried(%x: tensor<4xf64>, %one: tensor<1xf64>, %n: index) -> tensor<4xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = tensor.cast %x : tensor<4xf64> to tensor<?xf64>
  %list = scf.for %i = %c0 to %n step %c1 iter_args(%it = %start) -> (tensor<?xf64>) {
    %longer = tensor.concat dim(0) %it, %one : (tensor<?xf64>, tensor<1xf64>) -> tensor<?xf64>
    scf.yield %longer : tensor<?xf64>
  }
  %r = tensor.cast %list : tensor<?xf64> to tensor<4xf64>
  return %r : tensor<4xf64>
}
