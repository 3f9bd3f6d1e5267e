// RUN: sparse-opt %s --split-input-file --sparse-autograd-differentiate | FileCheck %s

// What a region computes from operands of fewer dimensions is a tensor of its own
// if it is no larger than one of these, all of them dense.

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#ij = affine_map<(i, k, j) -> (i, j)>
#j = affine_map<(i, k, j) -> (j)>
#jk = affine_map<(i, k, j) -> (j, k)>
#ik = affine_map<(i, k, j) -> (i, k)>

// Of a graph product with a scale for each neighbour neither the value nor a
// gradient multiplies the stored elements by the scale on their own.

// CHECK-LABEL: func.func private @scaled__vjp_0_1_2(
//  CHECK-SAME:     %[[A:[a-z0-9]+]]: tensor<?x?xf32, #{{.+}}>, %[[S:[a-z0-9]+]]: tensor<?xf32>, %[[B:[a-z0-9]+]]: tensor<?x16xf32>, %[[CT:[a-z0-9]+]]: tensor<?x16xf32>
//   CHECK-NOT:   tensor<?x?xf32>
//       CHECK:   linalg.generic {{.*}} ins(%[[A]], %[[S]], %[[B]] :
//   CHECK-NOT:   tensor<?x?xf32>
//       CHECK:   return
func.func private @scaled(%a: tensor<?x?xf32, #csr>, %s: tensor<?xf32>, %b: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %a, %c0 : tensor<?x?xf32, #csr>
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = linalg.generic {indexing_maps = [#ij, #j, #jk, #ik], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %s, %b : tensor<?x?xf32, #csr>, tensor<?xf32>, tensor<?x16xf32>) outs(%z : tensor<?x16xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32, %out: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.mulf %p, %w : f32
    %r = arith.addf %out, %q : f32
    linalg.yield %r : f32
  } -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
func.func @scaled_vjp(%a: tensor<?x?xf32, #csr>, %s: tensor<?xf32>, %b: tensor<?x16xf32>, %ct: tensor<?x16xf32>)
    -> (tensor<?x?xf32, #csr>, tensor<?xf32>, tensor<?x16xf32>) {
  %r:4 = sparse_autograd.vjp @scaled(%a, %s, %b) cotangents(%ct) {wrt = [0, 1, 2]}
      : (tensor<?x?xf32, #csr>, tensor<?xf32>, tensor<?x16xf32>), (tensor<?x16xf32>)
      -> (tensor<?x16xf32>, tensor<?x?xf32, #csr>, tensor<?xf32>, tensor<?x16xf32>)
  return %r#1, %r#2, %r#3 : tensor<?x?xf32, #csr>, tensor<?xf32>, tensor<?x16xf32>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#ij = affine_map<(i, k, j) -> (i, j)>
#j = affine_map<(i, k, j) -> (j)>
#jk = affine_map<(i, k, j) -> (j, k)>
#ik = affine_map<(i, k, j) -> (i, k)>

// Rows of the dense factor are scaled once, if that is what is multiplied first.

// CHECK-LABEL: func.func private @scaled_rows__jvp_0(
//  CHECK-SAME:     %[[A:[a-z0-9]+]]: tensor<?x?xf32, #{{.+}}>, %[[S:[a-z0-9]+]]: tensor<?xf32>, %[[B:[a-z0-9]+]]: tensor<?x16xf32>
//       CHECK:   %[[SCALED:.+]] = linalg.generic {{.*}} ins(%[[S]], %[[B]] : tensor<?xf32>, tensor<?x16xf32>)
//       CHECK:   } -> tensor<?x16xf32>
//       CHECK:   linalg.generic {{.*}} ins(%[[A]], %[[SCALED]] : tensor<?x?xf32, #{{.+}}>, tensor<?x16xf32>)
func.func private @scaled_rows(%a: tensor<?x?xf32, #csr>, %s: tensor<?xf32>, %b: tensor<?x16xf32>, %z: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = linalg.generic {indexing_maps = [#ij, #j, #jk, #ik], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %s, %b : tensor<?x?xf32, #csr>, tensor<?xf32>, tensor<?x16xf32>) outs(%z : tensor<?x16xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32, %out: f32):
    %p = arith.mulf %v, %w : f32
    %q = arith.mulf %u, %p : f32
    %r = arith.addf %out, %q : f32
    linalg.yield %r : f32
  } -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
func.func @scaled_rows_jvp(%a: tensor<?x?xf32, #csr>, %s: tensor<?xf32>, %b: tensor<?x16xf32>, %z: tensor<?x16xf32>, %t: tensor<?x?xf32, #csr>) -> tensor<?x16xf32> {
  %r:2 = sparse_autograd.jvp @scaled_rows(%a, %s, %b, %z) tangents(%t) {wrt = [0]}
      : (tensor<?x?xf32, #csr>, tensor<?xf32>, tensor<?x16xf32>, tensor<?x16xf32>), (tensor<?x?xf32, #csr>)
      -> (tensor<?x16xf32>, tensor<?x16xf32>)
  return %r#1 : tensor<?x16xf32>
}

// -----

#csf = #sparse_tensor.encoding<{map = (i, k, l) -> (i : compressed, k : compressed, l : compressed)}>
#t = affine_map<(i, j, k, l) -> (i, k, l)>
#kj = affine_map<(i, j, k, l) -> (k, j)>
#lj = affine_map<(i, j, k, l) -> (l, j)>
#ij = affine_map<(i, j, k, l) -> (i, j)>

// The gradients of an MTTKRP multiply rows of two dense matrices, each with each:
// as a tensor that would be larger than both.

// CHECK-LABEL: func.func private @mttkrp__vjp_0_1_2(
//   CHECK-NOT:   tensor<?x32x?xf32>
//   CHECK-NOT:   tensor<?x?x32xf32>
//       CHECK:   return
func.func private @mttkrp(%t: tensor<?x?x?xf32, #csf>, %b: tensor<?x32xf32>, %c: tensor<?x32xf32>, %z: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %y = linalg.generic {indexing_maps = [#t, #kj, #lj, #ij], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%t, %b, %c : tensor<?x?x?xf32, #csf>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%z : tensor<?x32xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32, %out: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.mulf %p, %w : f32
    %r = arith.addf %out, %q : f32
    linalg.yield %r : f32
  } -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
func.func @mttkrp_vjp(%t: tensor<?x?x?xf32, #csf>, %b: tensor<?x32xf32>, %c: tensor<?x32xf32>, %z: tensor<?x32xf32>, %ct: tensor<?x32xf32>)
    -> (tensor<?x?x?xf32, #csf>, tensor<?x32xf32>, tensor<?x32xf32>) {
  %r:4 = sparse_autograd.vjp @mttkrp(%t, %b, %c, %z) cotangents(%ct) {wrt = [0, 1, 2]}
      : (tensor<?x?x?xf32, #csf>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>), (tensor<?x32xf32>)
      -> (tensor<?x32xf32>, tensor<?x?x?xf32, #csf>, tensor<?x32xf32>, tensor<?x32xf32>)
  return %r#1, %r#2, %r#3 : tensor<?x?x?xf32, #csf>, tensor<?x32xf32>, tensor<?x32xf32>
}
