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
  // expected-error @below {{has a gradient ste of what is pruned, for which a result of type}}
  %0 = sparse_autograd.sparsify_24 %w select = row_wise gradient = ste : tensor<4x8xf32> -> tensor<4x8xf32, #S24>
  return
}

// -----

#S24 = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
func.func @encoded_shape(%w: tensor<4x8xf32>) {
  // expected-error @below {{shape and elements are those of 'tensor<8x4xf32>'}}
  %0, %1 = sparse_autograd.sparsify_24 %w select = greedy gradient = dense : tensor<4x8xf32> -> tensor<4x8xf32, #S24>, tensor<4x8xf32, #S24>
  return
}

// -----

#Columns = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i floordiv 4 : dense, i mod 4 : structured[2, 4])}>
func.func @encoded_columns(%w: tensor<4x8xf32>) {
  // expected-error @below {{the encoding of a result is structured[2, 4] along the last dimension, below dense levels in the order of dimensions}}
  %0 = sparse_autograd.sparsify_24 %w select = greedy gradient = dense : tensor<4x8xf32> -> tensor<4x8xf32, #Columns>
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

// -----

#S24 = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
func.func @compressed_choice(%w: tensor<4x8xf32>, %c: tensor<2x2xi16>) {
  // expected-error @below {{has a choice of type 'tensor<2x2xi16>'; that of 'tensor<4x8xf32>' is 'tensor<1x2xi16>'}}
  %0 = sparse_autograd.compress_24 %w by %c : tensor<4x8xf32>, tensor<2x2xi16> -> tensor<4x8xf32, #S24>
  return
}

// -----

#S24 = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
func.func @compressed_transpose(%w: tensor<4x8xf32>, %c: tensor<1x2xi16>) {
  // expected-error @below {{shape and elements are those of 'tensor<8x4xf32>'}}
  %0 = sparse_autograd.compress_24 %w by %c transposed : tensor<4x8xf32>, tensor<1x2xi16> -> tensor<4x8xf32, #S24>
  return
}

// -----

#S24 = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
func.func @compressed_sparse(%w: tensor<4x8xf32, #S24>, %c: tensor<1x2xi16>) {
  // expected-error @below {{stores elements of a dense tensor of rank 2 or more, not of}}
  %0 = sparse_autograd.compress_24 %w by %c : tensor<4x8xf32, #S24>, tensor<1x2xi16> -> tensor<4x8xf32, #S24>
  return
}

// -----

#S24 = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
func.func @compressed_nonzeros(%w: tensor<4x8xf32, #S24>) {
  // expected-error @below {{stores elements of a dense tensor, not of 'tensor<4x8xf32, #}}
  %0 = sparse_autograd.compress_24 %w : tensor<4x8xf32, #S24> -> tensor<4x8xf32, #S24>
  return
}

// -----

#S24 = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
func.func @compressed_other_order(%w: tensor<4x8xf32>) {
  // expected-error @below {{has another order without a choice for it; choose elements with sparse_autograd.choose_24}}
  %0 = sparse_autograd.compress_24 %w transposed : tensor<4x8xf32> -> tensor<8x4xf32, #S24>
  return
}

// -----

func.func @lists(%x: tensor<4x8xf32>, %c: tensor<1x2xi16>, %v: tensor<?xf32>) {
  // expected-error @below {{has 1 lists for 1 orders; each has values and coordinates}}
  %0 = sparse_autograd.pack_24 ins(%x, %c : tensor<4x8xf32>, tensor<1x2xi16>) outs(%v : tensor<?xf32>) orders = [false] -> tensor<?xf32>
  return
}

// -----

func.func @list_type(%x: tensor<4x8xf32>, %c: tensor<1x2xi16>, %v: tensor<?xf64>, %b: tensor<?xi8>) {
  // expected-error @below {{has a list of type 'tensor<?xf64>'; that has one dimension, of 'f32'}}
  %0:2 = sparse_autograd.pack_24 ins(%x, %c : tensor<4x8xf32>, tensor<1x2xi16>) outs(%v, %b : tensor<?xf64>, tensor<?xi8>) orders = [false] -> tensor<?xf64>, tensor<?xi8>
  return
}

// -----

func.func @nonzeros_of_columns(%x: tensor<4x8xf32>, %v: tensor<?xf32>, %b: tensor<?xi8>) {
  // expected-error @below {{packs what is not zero in one order, that of rows}}
  %0:2 = sparse_autograd.pack_24 ins(%x : tensor<4x8xf32>) outs(%v, %b : tensor<?xf32>, tensor<?xi8>) orders = [true] -> tensor<?xf32>, tensor<?xi8>
  return
}

// -----

func.func @product_type(%m: index, %v: tensor<?xf64>, %c: tensor<?xi8>, %b: tensor<?x?xf32>) {
  // expected-error @below {{multiplies values of f32, bf16 or f16 with a matrix of f32, and adds to one of f32}}
  %0 = sparse_autograd.multiply_24 %m x %m ins(%v, %c, %b : tensor<?xf64>, tensor<?xi8>, tensor<?x?xf32>) outs(%b : tensor<?x?xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @product_strategy(%m: index, %v: tensor<?xf32>, %c: tensor<?xi8>, %b: tensor<?x?xf32>) {
  // expected-error @below {{has no strategy 3}}
  %0 = sparse_autograd.multiply_24 %m x %m ins(%v, %c, %b : tensor<?xf32>, tensor<?xi8>, tensor<?x?xf32>) outs(%b : tensor<?x?xf32>) {strategy = 3 : i64} -> tensor<?x?xf32>
  return
}
