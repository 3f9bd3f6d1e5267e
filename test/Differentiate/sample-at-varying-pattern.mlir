// RUN: sparse-opt %s --sparse-autograd-differentiate --sparse-autograd-prove-sparsity | FileCheck %s

// A sample of a dense tensor that does not vary, at the pattern of one that does,
// has no tangent; nor does the proof take an op without results, which inserts what
// one iteration computes, for one with a result.

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
!sparse = tensor<?x?xf64, #csr>

// CHECK-LABEL: func.func private @scaled__jvp_0(
//       CHECK:   sparse_autograd.sample
//       CHECK:   return
// CHECK-LABEL: func.func private @scaled__vjp_0(
func.func private @scaled(%a: !sparse, %d: tensor<?x?xf64>) -> !sparse {
  %s = sparse_autograd.sample %d, %a : tensor<?x?xf64>, !sparse -> !sparse
  %y = arith.mulf %s, %a : !sparse
  return %y : !sparse
}

// CHECK-LABEL: func.func private @rows__vjp_1(
func.func private @rows(%a: !sparse, %x: tensor<4x8xf64>, %i: tensor<index>, %n: index) -> (!sparse, tensor<4x8xf64>) {
  %row = sparse_autograd.gather %x, %i : tensor<4x8xf64>, tensor<index> -> tensor<8xf64>
  %y = scf.forall (%k) in (4) shared_outs(%out = %x) -> (tensor<4x8xf64>) {
    %e = tensor.expand_shape %row [[0, 1]] output_shape [1, 8] : tensor<8xf64> into tensor<1x8xf64>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %out[%k, 0] [1, 8] [1, 1] : tensor<1x8xf64> into tensor<4x8xf64>
    }
  }
  return %a, %y : !sparse, tensor<4x8xf64>
}

func.func @main(%a: !sparse, %d: tensor<?x?xf64>, %t: !sparse, %x: tensor<4x8xf64>, %i: tensor<index>, %n: index, %c: tensor<4x8xf64>)
    -> (!sparse, !sparse, tensor<4x8xf64>) {
  %r:2 = sparse_autograd.vjp @scaled(%a, %d) cotangents(%t) {wrt = [0]}
      : (!sparse, tensor<?x?xf64>), (!sparse) -> (!sparse, !sparse)
  %f:2 = sparse_autograd.jvp @scaled(%a, %d) tangents(%t) {wrt = [0]}
      : (!sparse, tensor<?x?xf64>), (!sparse) -> (!sparse, !sparse)
  %g:3 = sparse_autograd.vjp @rows(%a, %x, %i, %n) cotangents(%t, %c) {wrt = [1]}
      : (!sparse, tensor<4x8xf64>, tensor<index>, index), (!sparse, tensor<4x8xf64>) -> (!sparse, tensor<4x8xf64>, tensor<4x8xf64>)
  return %r#1, %f#1, %g#2 : !sparse, !sparse, tensor<4x8xf64>
}
