// RUN: sparse-opt %s --split-input-file --verify-diagnostics

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @gather_csr(%t: tensor<?x4xf32, #csr>, %i: tensor<3xi32>) {
  // expected-error @below {{a sparse table stores whole rows, first level compressed and the others dense: convert it}}
  %0 = sparse_autograd.gather %t, %i : tensor<?x4xf32, #csr>, tensor<3xi32> -> tensor<3x4xf32>
  return
}

// -----

func.func @gather_shape(%t: tensor<?x4xf32>, %i: tensor<3xi32>) {
  // expected-error @below {{has rows of type 'tensor<3x5xf32>'; with indices of 'tensor<3xi32>' and a table of 'tensor<?x4xf32>' they are 'tensor<3x4xf32>'}}
  %0 = sparse_autograd.gather %t, %i : tensor<?x4xf32>, tensor<3xi32> -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_rank0(%t: tensor<f32>, %i: tensor<3xi32>) {
  // expected-error @below {{has a table of type 'tensor<f32>', which has no rows}}
  %0 = sparse_autograd.gather %t, %i : tensor<f32>, tensor<3xi32> -> tensor<3xf32>
  return
}

// -----

func.func @gather_element(%t: tensor<?x4xf32>, %i: tensor<3xi32>) {
  // expected-error @below {{has rows of type 'tensor<3x4xf64>'}}
  %0 = sparse_autograd.gather %t, %i : tensor<?x4xf32>, tensor<3xi32> -> tensor<3x4xf64>
  return
}

// -----

func.func @gather_by_floats(%t: tensor<?x4xf32>, %i: tensor<3xf32>) {
  // expected-error @below {{operand #1 must be ranked tensor of signless integer or index values}}
  %0 = sparse_autograd.gather %t, %i : tensor<?x4xf32>, tensor<3xf32> -> tensor<3x4xf32>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @scatter_csr(%r: tensor<3x4xf32>, %i: tensor<3xi32>, %n: index) {
  // expected-error @below {{result #0 must be tensor that stores some rows as a whole}}
  %0 = sparse_autograd.scatter_rows %r, %i, %n : tensor<3x4xf32>, tensor<3xi32> -> tensor<?x4xf32, #csr>
  return
}

// -----

#rows = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : dense)}>
func.func @scatter_shape(%r: tensor<2x4xf32>, %i: tensor<3xi32>, %n: index) {
  // expected-error @below {{has rows of type 'tensor<2x4xf32>'; with indices of 'tensor<3xi32>'}}
  %0 = sparse_autograd.scatter_rows %r, %i, %n : tensor<2x4xf32>, tensor<3xi32> -> tensor<?x4xf32, #rows>
  return
}

// -----

func.func @accumulate_nothing() {
  // expected-error @below {{adds nothing}}
  %0 = "sparse_autograd.accumulate"() : () -> tensor<4xf32>
  return
}

// -----

func.func @accumulate_shapes(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error @below {{adds a tensor of type 'tensor<5xf32>' to one of type 'tensor<4xf32>'; shapes and element types must be the same}}
  %0 = sparse_autograd.accumulate %a, %b : tensor<4xf32>, tensor<5xf32> -> tensor<4xf32>
  return
}

// -----

#vector = #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>
func.func @accumulate_dense(%a: tensor<4xf32, #vector>, %b: tensor<4xf32>) {
  // expected-error @below {{adds a dense tensor to a sparse one, of type}}
  %0 = sparse_autograd.accumulate %a, %b : tensor<4xf32, #vector>, tensor<4xf32> -> tensor<4xf32, #vector>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @coordinates_of_dense_level(%a: tensor<4x4xf32, #csr>) {
  // expected-error @below {{asks for the coordinates of level 0 of a tensor of type 'tensor<4x4xf32, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>>', which stores none}}
  %0 = sparse_autograd.stored_coordinates %a {level = 0 : index} : tensor<4x4xf32, #csr> -> tensor<?xindex>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @coordinates_of_no_level(%a: tensor<4x4xf32, #csr>) {
  // expected-error @below {{asks for level 2 of a tensor with 2}}
  %0 = sparse_autograd.stored_coordinates %a {level = 2 : index} : tensor<4x4xf32, #csr> -> tensor<?xindex>
  return
}

// -----

// The gradient of a dense argument is dense or row-sparse, that of a sparse one
// has its type or is dense.
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func private @f(tensor<4x4xf32>) -> f32
func.func @gradient_format(%a: tensor<4x4xf32>) {
  // expected-error @below {{needs the results ('f32', 'tensor<4x4xf32>'), not ('f32', 'tensor<4x4xf32, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>>')}}
  %0:2 = sparse_autograd.value_and_grad @f(%a) {wrt = [0]} : (tensor<4x4xf32>) -> (f32, tensor<4x4xf32, #csr>)
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#rows = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : dense)}>
func.func private @f(tensor<4x4xf32, #csr>) -> f32
func.func @gradient_of_sparse(%a: tensor<4x4xf32, #csr>) {
  // expected-error @below {{needs the results}}
  %0:2 = sparse_autograd.value_and_grad @f(%a) {wrt = [0]} : (tensor<4x4xf32, #csr>) -> (f32, tensor<4x4xf32, #rows>)
  return
}

// -----

#rows = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : dense)}>
func.func private @f(tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @sparse_cotangent(%a: tensor<4x4xf32>, %g: tensor<4x4xf32, #rows>) {
  // expected-error @below {{needs the cotangents ('tensor<4x4xf32>')}}
  %0:2 = sparse_autograd.vjp @f(%a) cotangents(%g) {wrt = [0]}
      : (tensor<4x4xf32>), (tensor<4x4xf32, #rows>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return
}
