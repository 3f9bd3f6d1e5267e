// RUN: sparse-opt %s --pass-pipeline='builtin.module(sparse-autograd-differentiate,inline,convert-sparse-autograd-to-linalg,func.func(sparse-autograd-fuse))' | FileCheck %s
// RUN: sparse-runner %s --entry=largest --check-gradients --seed=0 | FileCheck %s --check-prefix=AGREES
// RUN: sparse-runner %s --entry=largest --check-gradients --seed=1 | FileCheck %s --check-prefix=AGREES
// RUN: sparse-runner %s --entry=largest --check-gradients --seed=2 | FileCheck %s --check-prefix=AGREES
// RUN: sparse-runner %s --entry=largest --check-gradients --seed=3 | FileCheck %s --check-prefix=AGREES

// The adjoint of a max looks for the elements that equal it. An exponential in
// a vector and one by itself may round differently: computed again for the
// adjoint, in another loop, no element might equal the max, and the gradient be
// zero. It is computed once.

// CHECK-LABEL: func.func @gradient(
//       CHECK:   math.exp
//   CHECK-NOT:   math.exp
//       CHECK:   return
// AGREES: 1 of 1 agree
func.func @largest(%x: tensor<13xf64> {sparse_autograd.name = "x"}) -> (tensor<f64> {sparse_autograd.name = "y"}) {
  %e = math.exp %x : tensor<13xf64>
  %s = math.tanh %e : tensor<13xf64>
  %m = sparse_autograd.masked_reduce max %s dims = [0] : tensor<13xf64> -> tensor<f64>
  return %m : tensor<f64>
}
func.func @gradient(%x: tensor<13xf64>) -> tensor<13xf64> {
  %v, %g = sparse_autograd.value_and_grad @largest(%x) {wrt = [0]} : (tensor<13xf64>) -> (tensor<f64>, tensor<13xf64>)
  return %g : tensor<13xf64>
}

// So is what f16 rounds: in the loop that computes it, it may go on in f32, and
// differ from what another loop has read from memory.

// CHECK-LABEL: func.func @tangent(
//       CHECK:   math.sqrt
//   CHECK-NOT:   math.sqrt
//       CHECK:   return
func.func private @clamped(%x: tensor<2xf16>, %low: tensor<2xf16>, %high: tensor<2xf16>) -> (tensor<2xf16>, tensor<2xf16>) {
  %r = math.sqrt %x : tensor<2xf16>
  %y = math.clampf %r to [%low, %high] : tensor<2xf16>
  return %r, %y : tensor<2xf16>, tensor<2xf16>
}
func.func @tangent(%x: tensor<2xf16>, %low: tensor<2xf16>, %high: tensor<2xf16>, %dx: tensor<2xf16>) -> (tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) {
  %r:4 = sparse_autograd.jvp @clamped(%x, %low, %high) tangents(%dx) {wrt = [0]}
      : (tensor<2xf16>, tensor<2xf16>, tensor<2xf16>), (tensor<2xf16>) -> (tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>)
  return %r#0, %r#1, %r#3 : tensor<2xf16>, tensor<2xf16>, tensor<2xf16>
}
