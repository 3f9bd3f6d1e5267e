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

// What is selected and not stored would have a place in the result.
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @softmax_of_other(%x: tensor<4x8xf32, #csr>, %p: tensor<4x8xf32, #csr>) -> tensor<4x8xf32, #csr> {
  %m = sparse_autograd.pattern %p : tensor<4x8xf32, #csr>
  // expected-error @below {{'sparse_autograd.masked_softmax' op selects elements that its sparse operand may not store; give sparse_autograd.pattern of the operand as the mask, or make the operand dense with sparse_tensor.convert}}
  %0 = sparse_autograd.masked_softmax %x, %m dims = [1] : tensor<4x8xf32, #csr>, tensor<4x8xi1, #csr>
  return %0 : tensor<4x8xf32, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @softmax_of_all(%x: tensor<4x8xf32, #csr>) -> tensor<4x8xf32, #csr> {
  // expected-error @below {{'sparse_autograd.masked_log_softmax' op selects elements that its sparse operand may not store}}
  %0 = sparse_autograd.masked_log_softmax %x dims = [1] : tensor<4x8xf32, #csr>
  return %0 : tensor<4x8xf32, #csr>
}


// -----

// The transpose of a pattern is another one.
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @softmax_of_transpose(%x: tensor<4x4xf32, #csr>) -> tensor<4x4xf32, #csr> {
  %m = sparse_autograd.pattern %x : tensor<4x4xf32, #csr>
  // expected-error @below {{'sparse_autograd.masked_softmax' op selects elements that its sparse operand may not store}}
  %0 = sparse_autograd.masked_softmax %x, %m dims = [1] mask_dims = [1, 0] : tensor<4x4xf32, #csr>, tensor<4x4xi1, #csr>
  return %0 : tensor<4x4xf32, #csr>
}

// -----

// Of other elements than floats there are several conversions.
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @convert_bits(%x: tensor<4x8xi1, #csr>) -> tensor<4x8xf64, #csr> {
  // expected-error @below {{'sparse_tensor.convert' op changes the element type from 'i1' to 'f64'; only floats are converted here, convert the elements with an op of arith on tensors, as arith.sitofp or arith.extui, and then the storage}}
  %0 = sparse_tensor.convert %x : tensor<4x8xi1, #csr> to tensor<4x8xf64, #csr>
  return %0 : tensor<4x8xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @convert_to_integers(%x: tensor<4x8xf64>) -> tensor<4x8xi32, #csr> {
  // expected-error @below {{'sparse_tensor.convert' op changes the element type from 'f64' to 'i32'}}
  %0 = sparse_tensor.convert %x : tensor<4x8xf64> to tensor<4x8xi32, #csr>
  return %0 : tensor<4x8xi32, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @convert_indices(%x: tensor<4x8xindex, #csr>) -> tensor<4x8xi64> {
  // expected-error @below {{'sparse_tensor.convert' op changes the element type from 'index' to 'i64'}}
  %0 = sparse_tensor.convert %x : tensor<4x8xindex, #csr> to tensor<4x8xi64>
  return %0 : tensor<4x8xi64>
}
