// RUN: sparse-opt %s --sparse-autograd-differentiate | FileCheck %s

// The backward part gets the choice, 16 bits for a tile of 64 bytes, and neither
// the mask nor the tensor (semantics T4).

func.func private @loss(%w: tensor<64x64xf32>, %x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = sparse_autograd.sparsify_24 %w select = greedy gradient = dense : tensor<64x64xf32> -> tensor<64x64xf32>
  %z = arith.addf %y, %x : tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}
sparse_autograd.split_vjp @loss as @forward, @backward {wrt = [0]}
func.func private @forward(tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, !sparse_autograd.residuals<@forward>)
func.func private @backward(!sparse_autograd.residuals<@forward>, tensor<64x64xf32>) -> tensor<64x64xf32>

// CHECK: func.func private @forward(%{{.*}}: tensor<64x64xf32>, %{{.*}}: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<16x16xi16> {{.*}})
// CHECK: %[[C:.*]] = sparse_autograd.choose_24
// CHECK: return %{{.*}}, %[[C]]
// CHECK: func.func private @backward(%[[KEPT:[a-z0-9]*]]: tensor<16x16xi16>{{.*}}, %{{.*}}: tensor<64x64xf32>)
// CHECK: %[[BARRIER:.*]]:2 = sparse_autograd.barrier %[[KEPT]]
// CHECK: sparse_autograd.mask_24 %[[BARRIER]]#0
// CHECK-NOT: choose_24
// CHECK: return

// The cotangent passes; nothing is chosen for it.

func.func private @straight(%w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = sparse_autograd.sparsify_24 %w select = greedy gradient = ste : tensor<8x8xf32> -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// CHECK: func.func private @straight__vjp_0(%[[W:.*]]: tensor<8x8xf32>, %[[G:.*]]: tensor<8x8xf32>)
// CHECK-COUNT-1: sparse_autograd.choose_24
// CHECK: return %{{.*}}, %[[G]]
func.func @straight_gradient(%w: tensor<8x8xf32>, %g: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y, %d = sparse_autograd.vjp @straight(%w) cotangents(%g) {wrt = [0]} : (tensor<8x8xf32>), (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  return %d : tensor<8x8xf32>
}

// One choice for the selection and for what is selected like it.

func.func private @like(%w: tensor<8x8xf32>, %x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = sparse_autograd.sparsify_24 %w select = optimal gradient = dense : tensor<8x8xf32> -> tensor<8x8xf32>
  %z = sparse_autograd.sparsify_24_like %x, %y select = optimal gradient = dense : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %p = arith.mulf %y, %z : tensor<8x8xf32>
  return %p : tensor<8x8xf32>
}

// CHECK: func.func private @like__vjp_0_1
// CHECK: sparse_autograd.choose_24
// CHECK-NOT: choose_24
// CHECK: return
func.func @like_gradient(%w: tensor<8x8xf32>, %g: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %y, %d, %e = sparse_autograd.vjp @like(%w, %g) cotangents(%g) {wrt = [0, 1]} : (tensor<8x8xf32>, tensor<8x8xf32>), (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>)
  return %d, %e : tensor<8x8xf32>, tensor<8x8xf32>
}

// Without a choice the tangent has the pattern of what is stored.

#Rows = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
func.func private @stored(%w: tensor<4x8xf32>) -> tensor<4x8xf32, #Rows> {
  %y = sparse_autograd.compress_24 %w : tensor<4x8xf32> -> tensor<4x8xf32, #Rows>
  return %y : tensor<4x8xf32, #Rows>
}

// CHECK: func.func private @stored__jvp_0(%[[W:.*]]: tensor<4x8xf32>, %[[T:.*]]: tensor<4x8xf32>)
// CHECK: %[[Y:.*]] = sparse_autograd.compress_24 %[[W]] :
// CHECK: %[[D:.*]] = sparse_autograd.sampled_generic {{.*}} ins(%[[T]] : tensor<4x8xf32>)
// CHECK: return %[[Y]], %[[D]]
func.func @stored_tangent(%w: tensor<4x8xf32>, %t: tensor<4x8xf32>) -> tensor<4x8xf32, #Rows> {
  %r:2 = sparse_autograd.jvp @stored(%w) tangents(%t) {wrt = [0]} : (tensor<4x8xf32>), (tensor<4x8xf32>) -> (tensor<4x8xf32, #Rows>, tensor<4x8xf32, #Rows>)
  return %r#1 : tensor<4x8xf32, #Rows>
}
