// RUN: sparse-opt %s --split-input-file --verify-diagnostics

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @sparse_input(%w: tensor<4x8xf32, #CSR>) {
  // expected-error @below {{selects from a dense tensor, not from 'tensor<4x8xf32, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>>'; make it dense with sparse_tensor.convert}}
  %0 = sparse_autograd.sparsify_24 %w select = greedy gradient = dense : tensor<4x8xf32, #CSR> -> tensor<4x8xf32, #CSR>
  return
}

// -----

func.func @vector(%w: tensor<8xf32>) {
  // expected-error @below {{selects from a tensor of rank 2 or more, not from 'tensor<8xf32>'; give a vector a dimension of extent 1 with tensor.expand_shape}}
  %0 = sparse_autograd.sparsify_24 %w select = row_wise gradient = dense : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

#S24 = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
func.func @encoded_result(%w: tensor<4x8xf32>) {
  // expected-error @below {{has a dense result, not one of type}}
  %0 = sparse_autograd.sparsify_24 %w select = row_wise gradient = dense : tensor<4x8xf32> -> tensor<4x8xf32, #S24>
  return
}

// -----

func.func @other_result(%w: tensor<4x8xf32>) {
  // expected-error @below {{has a result of type 'tensor<8x4xf32>'; from its operands it is 'tensor<4x8xf32>'}}
  %0 = sparse_autograd.sparsify_24 %w select = row_wise gradient = dense : tensor<4x8xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @other_transpose(%w: tensor<4x8xf32>) {
  // expected-error @below {{has a result of type 'tensor<4x8xf32>'; from its operands it is 'tensor<8x4xf32>'}}
  %0, %1 = sparse_autograd.sparsify_24 %w select = greedy gradient = dense : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @transpose_of_rows(%w: tensor<4x8xf32>) {
  // expected-error @below {{the transpose of a row_wise selection is not 2:4; select = greedy, optimal and causal1122 have one}}
  %0, %1 = sparse_autograd.sparsify_24 %w select = row_wise gradient = dense : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<8x4xf32>
  return
}

// -----

func.func @gradient_name(%w: tensor<4x8xf32>) {
  // expected-error @below {{'masked' is no gradient of a selection; it is dense, sparse, ste or scaled<kept, pruned>}}
  %0 = sparse_autograd.sparsify_24 %w select = row_wise gradient = masked : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @infinite_scale(%w: tensor<4x8xf32>) {
  // expected-error @below {{a scaled gradient has two finite factors, scaled<kept, pruned>}}
  %0 = sparse_autograd.sparsify_24 %w select = row_wise gradient = scaled<1.0, 0x7FF0000000000000> : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @scales_of_dense(%w: tensor<4x8xf32>) {
  // expected-error @below {{'gradient_scales' is for scaled, not for dense}}
  %0 = "sparse_autograd.sparsify_24"(%w) <{select = #sparse_autograd<select_24 row_wise>, gradient = #sparse_autograd<selection_gradient dense>, gradient_scales = array<f64: 1.0, 0.0>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @like_shapes(%w: tensor<4x8xf32>, %x: tensor<8x8xf32>) {
  // expected-error @below {{selects from 'tensor<4x8xf32>' what is kept of 'tensor<8x8xf32>'; both must have one shape}}
  %0 = sparse_autograd.sparsify_24_like %w, %x select = row_wise gradient = dense : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @choice_type(%w: tensor<6x8xf32>) {
  // expected-error @below {{has a result of type 'tensor<1x2xi16>'; from its operands it is 'tensor<2x2xi16>'}}
  %0 = sparse_autograd.choose_24 %w select = greedy : tensor<6x8xf32> -> tensor<1x2xi16>
  return
}

// -----

func.func @mask_type(%c: tensor<2x2xi16>) {
  // expected-error @below {{has a choice of type 'tensor<2x2xi16>'; that of 'tensor<9x8xi1>' is 'tensor<3x2xi16>'}}
  %0 = sparse_autograd.mask_24 %c : tensor<2x2xi16> -> tensor<9x8xi1>
  return
}

// -----

func.func @mask_extents(%c: tensor<?x2xi16>) {
  // expected-error @below {{has 0 extents for the 1 dynamic dimensions of 'tensor<?x8xi1>'}}
  %0 = sparse_autograd.mask_24 %c : tensor<?x2xi16> -> tensor<?x8xi1>
  return
}

// -----

func.func @mask_rank(%c: tensor<2xi16>) {
  // expected-error @below {{makes a dense tensor of rank 2 or more of a dense choice, not 'tensor<8xi1>' of 'tensor<2xi16>'}}
  %0 = sparse_autograd.mask_24 %c : tensor<2xi16> -> tensor<8xi1>
  return
}
