// RUN: sparse-opt %s --split-input-file --verify-diagnostics

func.func @pattern_of_dense(%x: tensor<2x3xf64>) {
  // expected-error @below {{'sparse_autograd.pattern' op operand #0 must be tensor with an encoding of sparse_tensor, but got 'tensor<2x3xf64>'}}
  %0 = "sparse_autograd.pattern"(%x) : (tensor<2x3xf64>) -> tensor<2x3xi1>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @pattern_type(%x: tensor<2x3xf64, #csr>) {
  // expected-error @below {{'sparse_autograd.pattern' op inferred type(s)}}
  // expected-error @below {{'sparse_autograd.pattern' op failed to infer returned types}}
  %0 = "sparse_autograd.pattern"(%x) : (tensor<2x3xf64, #csr>) -> tensor<2x3xi8, #csr>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#csc = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>
func.func @zeros_encoding(%x: tensor<2x3xf64, #csr>) {
  // expected-error @below {{'sparse_autograd.zeros' op has a pattern of type 'tensor<2x3xf64, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>>' and a result of type 'tensor<2x3xf64, #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 : compressed) }>>'; shape and encoding must be the same}}
  %0 = sparse_autograd.zeros %x : tensor<2x3xf64, #csr> -> tensor<2x3xf64, #csc>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @zeros_shape(%x: tensor<2x3xf64, #csr>) {
  // expected-error @below {{shape and encoding must be the same}}
  %0 = sparse_autograd.zeros %x : tensor<2x3xf64, #csr> -> tensor<2x4xf64, #csr>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @zeros_dense(%x: tensor<2x3xf64, #csr>) {
  // expected-error @below {{'sparse_autograd.zeros' op result #0 must be tensor with an encoding of sparse_tensor}}
  %0 = sparse_autograd.zeros %x : tensor<2x3xf64, #csr> -> tensor<2x3xf64>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#csc = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>
func.func @sample_encoding(%x: tensor<2x3xf64>, %p: tensor<2x3xi1, #csr>) {
  // expected-error @below {{'sparse_autograd.sample' op has a pattern of type}}
  %0 = sparse_autograd.sample %x, %p : tensor<2x3xf64>, tensor<2x3xi1, #csr> -> tensor<2x3xf64, #csc>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @sample_type(%x: tensor<2x3xf64>, %p: tensor<2x3xi1, #csr>) {
  // expected-error @below {{'sparse_autograd.sample' op samples 'tensor<2x3xf64>', but its result is 'tensor<2x3xf32, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>>'; shape and element type must be the same}}
  %0 = sparse_autograd.sample %x, %p : tensor<2x3xf64>, tensor<2x3xi1, #csr> -> tensor<2x3xf32, #csr>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @sample_shape(%x: tensor<3x2xf64>, %p: tensor<2x3xi1, #csr>) {
  // expected-error @below {{shape and element type must be the same}}
  %0 = sparse_autograd.sample %x, %p : tensor<3x2xf64>, tensor<2x3xi1, #csr> -> tensor<2x3xf64, #csr>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @sample_integers(%x: tensor<2x3xi32>, %p: tensor<2x3xi1, #csr>) {
  // expected-error @below {{'sparse_autograd.sample' op operand #0 must be}}
  %0 = sparse_autograd.sample %x, %p : tensor<2x3xi32>, tensor<2x3xi1, #csr> -> tensor<2x3xi32, #csr>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
func.func @sampled_result(%x: tensor<2x3xf64>, %p: tensor<2x3xf64, #csr>) {
  // expected-error @below {{'sparse_autograd.sampled_generic' op has an init of type 'tensor<2x3xf64, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>>' and a result of type 'tensor<?x3xf64, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>>'; they are the same}}
  %0 = sparse_autograd.sampled_generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x3xf64>) outs(%p : tensor<2x3xf64, #csr>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<?x3xf64, #csr>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
func.func @sampled_dense(%x: tensor<2x3xf64>) {
  // expected-error @below {{must be tensor with an encoding of sparse_tensor}}
  %0 = sparse_autograd.sampled_generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x3xf64>) outs(%x : tensor<2x3xf64>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<2x3xf64>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
func.func @sampled_reduction(%x: tensor<2x3xf64>, %p: tensor<2x3xf64, #csr>) {
  // expected-error @below {{'sparse_autograd.sampled_generic' op has a reduction loop 1; the loops that are the index of one dimension of the destination are parallel, the others reductions}}
  %0 = sparse_autograd.sampled_generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x3xf64>) outs(%p : tensor<2x3xf64, #csr>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<2x3xf64, #csr>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#all = affine_map<(i, j, k) -> (i, j, k)>
#out = affine_map<(i, j, k) -> (i, j)>
func.func @sampled_parallel(%x: tensor<2x3x4xf64>, %p: tensor<2x3xf64, #csr>) {
  // expected-error @below {{'sparse_autograd.sampled_generic' op has a parallel loop 2; the loops}}
  %0 = sparse_autograd.sampled_generic {indexing_maps = [#all, #out], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x3x4xf64>) outs(%p : tensor<2x3xf64, #csr>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<2x3xf64, #csr>
  return
}

// -----

// The loop of a diagonal comes to other elements of the destination as well.
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#vector = affine_map<(i) -> (i)>
#diagonal = affine_map<(i) -> (i, i)>
func.func @sampled_diagonal(%x: tensor<3xf64>, %p: tensor<3x3xf64, #csr>) {
  // expected-error @below {{'sparse_autograd.sampled_generic' op has a parallel loop 0; the loops}}
  %0 = sparse_autograd.sampled_generic {indexing_maps = [#vector, #diagonal], iterator_types = ["parallel"]}
      ins(%x : tensor<3xf64>) outs(%p : tensor<3x3xf64, #csr>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<3x3xf64, #csr>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
func.func @sampled_maps(%x: tensor<2x3xf64>, %p: tensor<2x3xf64, #csr>) {
  // expected-error @below {{expected the number of indexing_map (1) to be equal to the number of input/output operands (2)}}
  %0 = sparse_autograd.sampled_generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x3xf64>) outs(%p : tensor<2x3xf64, #csr>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<2x3xf64, #csr>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
func.func @sampled_extents(%x: tensor<2x4xf64>, %p: tensor<2x3xf64, #csr>) {
  // expected-error @below {{inferred input/output operand #1 has shape's dimension #1 to be 4, but found 3}}
  %0 = sparse_autograd.sampled_generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x4xf64>) outs(%p : tensor<2x3xf64, #csr>) {
  ^bb0(%a: f64, %b: f64):
    linalg.yield %a : f64
  } -> tensor<2x3xf64, #csr>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
func.func @sampled_yield(%x: tensor<2x3xf64>, %p: tensor<2x3xf64, #csr>) {
  %0 = sparse_autograd.sampled_generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x3xf64>) outs(%p : tensor<2x3xf64, #csr>) {
  ^bb0(%a: f64, %b: f64):
    %t = arith.truncf %a : f64 to f32
    // expected-error @below {{type of yield operand 1 ('f32') doesn't match the element type of the enclosing linalg.generic op ('f64')}}
    linalg.yield %t : f32
  } -> tensor<2x3xf64, #csr>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @stored_type(%x: tensor<2x3xf64, #csr>) {
  // expected-error @below {{'sparse_autograd.stored_values' op has values of 'f32' for a tensor of 'f64'}}
  %0 = sparse_autograd.stored_values %x : tensor<2x3xf64, #csr> -> tensor<?xf32>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#csc = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>
func.func @with_values_encoding(%v: tensor<?xf64>, %x: tensor<2x3xf64, #csr>) {
  // expected-error @below {{shape and encoding must be the same}}
  %0 = sparse_autograd.with_values %v, %x : tensor<?xf64>, tensor<2x3xf64, #csr> -> tensor<2x3xf64, #csc>
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @one_extent(%c: memref<?x2xindex>, %o: memref<?xindex>, %m: index, %n: memref<2xindex>) {
  // expected-error @below {{'sparse_autograd.count_positions' op must have a column of coordinates and an extent for each of the 2 levels of its encoding}}
  sparse_autograd.count_positions #csr ins(%c, %o, %m : memref<?x2xindex>, memref<?xindex>, index) outs(%n : memref<2xindex>)
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @three_columns(%c: memref<?x3xindex>, %o: memref<?xindex>, %m: index, %l: memref<?xindex>) {
  // expected-error @below {{'sparse_autograd.store_positions' op must have a column of coordinates and an extent for each of the 2 levels of its encoding}}
  sparse_autograd.store_positions #csr ins(%c, %o, %m, %m : memref<?x3xindex>, memref<?xindex>, index, index) outs(%l, %l, %l : memref<?xindex>, memref<?xindex>, memref<?xindex>)
  return
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @one_count(%c: memref<?x2xindex>, %o: memref<?xindex>, %m: index, %n: memref<1xindex>) {
  // expected-error @below {{'sparse_autograd.count_positions' op writes a count for each of the 2 levels of its encoding, not 1}}
  sparse_autograd.count_positions #csr ins(%c, %o, %m, %m : memref<?x2xindex>, memref<?xindex>, index, index) outs(%n : memref<1xindex>)
  return
}

// -----

#narrow = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 16}>
func.func @wide_lists(%c: memref<?x2xindex>, %o: memref<?xindex>, %m: index, %l: memref<?xindex>) {
  // expected-error @below {{'sparse_autograd.store_positions' op must have lists of the positions and the coordinates of its encoding, and one of indices: of 'i32', 'i16', 'index'}}
  sparse_autograd.store_positions #narrow ins(%c, %o, %m, %m : memref<?x2xindex>, memref<?xindex>, index, index) outs(%l, %l, %l : memref<?xindex>, memref<?xindex>, memref<?xindex>)
  return
}

// -----

func.func @coordinates_of_another_type(%p: memref<?xindex>, %c: memref<?xi32>, %v: memref<?xf32>, %m: index) {
  // expected-error @below {{'sparse_autograd.begin_sparse_product' op must have lists of positions, coordinates and values of each matrix: integers of one type, and floats}}
  %n = sparse_autograd.begin_sparse_product %m x %m x %m ins(%p, %c, %v, %p, %c, %v : memref<?xindex>, memref<?xi32>, memref<?xf32>, memref<?xindex>, memref<?xi32>, memref<?xf32>)
  return
}

// -----

func.func @one_factor(%p: memref<?xindex>, %v: memref<?xf32>, %m: index) {
  // expected-error @below {{'sparse_autograd.begin_sparse_product' op must have lists of positions, coordinates and values of each matrix: integers of one type, and floats}}
  %n = sparse_autograd.begin_sparse_product %m x %m x %m ins(%p, %p, %v : memref<?xindex>, memref<?xindex>, memref<?xf32>)
  return
}

// -----

func.func @values_of_another_type(%p: memref<?xindex>, %v: memref<?xf32>, %w: memref<?xf64>) {
  // expected-error @below {{'sparse_autograd.end_sparse_product' op must have lists of positions, coordinates and values of each matrix: integers of one type, and floats}}
  sparse_autograd.end_sparse_product ins(%p, %p, %v, %p, %p, %v : memref<?xindex>, memref<?xindex>, memref<?xf32>, memref<?xindex>, memref<?xindex>, memref<?xf32>) outs(%p, %p, %w : memref<?xindex>, memref<?xindex>, memref<?xf64>)
  return
}

// -----

func.func @values_of_integers(%p: memref<?xindex>) {
  // expected-error @below {{'sparse_autograd.end_sparse_product' op must have lists of positions, coordinates and values of each matrix: integers of one type, and floats}}
  sparse_autograd.end_sparse_product ins(%p, %p, %p, %p, %p, %p : memref<?xindex>, memref<?xindex>, memref<?xindex>, memref<?xindex>, memref<?xindex>, memref<?xindex>) outs(%p, %p, %p : memref<?xindex>, memref<?xindex>, memref<?xindex>)
  return
}
