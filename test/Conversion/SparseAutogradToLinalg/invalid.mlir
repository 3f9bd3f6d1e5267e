// RUN: sparse-opt %s --split-input-file --verify-diagnostics --convert-sparse-autograd-to-linalg

func.func private @f(tensor<f32>) -> tensor<f32>
func.func @derivative(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'sparse_autograd.value_and_grad' op is a derivative that is not code yet; run --sparse-autograd-differentiate first}}
  %y, %dx = sparse_autograd.value_and_grad @f(%x) {wrt = [0]} : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %dx : tensor<f32>
}

// -----

func.func private @f(tensor<4xf32>) -> tensor<4xf32>
func.func @jvp(%x: tensor<4xf32>, %t: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{run --sparse-autograd-differentiate first}}
  %y, %ty = sparse_autograd.jvp @f(%x) tangents(%t) {wrt = [0]} : (tensor<4xf32>), (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %ty : tensor<4xf32>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @encoded(%x: tensor<4x8xf32, #csr>) -> tensor<4xf32> {
  // expected-error @below {{'sparse_autograd.masked_reduce' op is converted on dense tensors only, not on}}
  %0 = sparse_autograd.masked_reduce sum %x dims = [1] : tensor<4x8xf32, #csr> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
