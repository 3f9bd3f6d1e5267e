// RUN: sparse-opt %s --split-input-file --verify-diagnostics --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse
// RUN: not sparse-opt %s --split-input-file --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse -o /dev/null 2> /dev/null

// Encodings.

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#slice = #sparse_tensor.encoding<{map = (i : #sparse_tensor<slice(0, 2, 1)>, j : #sparse_tensor<slice(0, 4, 1)>) -> (i : dense, j : compressed)}>
func.func @slice(%x: tensor<4x8xf64, #csr>) {
  // expected-error @below {{'tensor.extract_slice' op has type 'tensor<2x4xf64, #sparse_tensor.encoding<{ map = (d0 : #sparse_tensor<slice(0, 2, 1)>, d1 : #sparse_tensor<slice(0, 4, 1)>) -> (d0 : dense, d1 : compressed) }>>', whose encoding is a slice; slice with tensor.extract_slice}}
  %0 = tensor.extract_slice %x[0, 0][2, 4][1, 1] : tensor<4x8xf64, #csr> to tensor<2x4xf64, #slice>
  return
}

// -----

#explicit = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), explicitVal = 1.0 : f64}>
// expected-error @below {{whose encoding names explicit or implicit values; an absent element is a zero}}
func.func private @explicit(%x: tensor<4x8xf64, #explicit>) {
  return
}

// -----

#implicit = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), implicitVal = 0.0 : f64}>
// expected-error @below {{whose encoding names explicit or implicit values}}
func.func private @implicit() -> tensor<4x8xf64, #implicit>

// -----

#batch = #sparse_tensor.encoding<{map = (b, i, j) -> (b : batch, i : dense, j : compressed)}>
// expected-error @below {{whose level 0 is of a format that is not lowered; use dense, compressed, loose_compressed, singleton or structured[2, 4]}}
func.func private @batch(tensor<2x4x8xf64, #batch>)

// -----

#structured = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[1, 4])}>
// expected-error @below {{whose level 2 is of a format that is not lowered}}
func.func private @structured(tensor<4x8xf64, #structured>)

// -----

#unordered = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed(nonordered))}>
// expected-error @below {{whose level 1 is not ordered; convert it to an ordered encoding}}
func.func private @unordered(tensor<4x8xf64, #unordered>)

// -----

#interleaved = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton)}>
// expected-error @below {{whose level 1 interleaves coordinates; write singleton(soa)}}
func.func private @interleaved(tensor<4x8xf64, #interleaved>)

// -----

#singleton = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : singleton(soa))}>
// expected-error @below {{whose level 1 is a singleton below a level with unique coordinates; write compressed(nonunique) above it}}
func.func private @singleton(tensor<4x8xf64, #singleton>)

// -----

#below = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : compressed)}>
// expected-error @below {{whose level 1 is below a level with coordinates that are not unique; write singleton(soa) below compressed(nonunique)}}
func.func private @below(tensor<4x8xf64, #below>)

// -----

#repeated = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed(nonunique))}>
// expected-error @below {{whose last level has coordinates that are not unique}}
func.func private @repeated(tensor<4x8xf64, #repeated>)

// -----

// Of what an op makes.
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#interleaved = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton)}>
func.func @made(%x: tensor<4x8xf64, #csr>) {
  // expected-error @below {{'sparse_tensor.convert' op has type 'tensor<4x8xf64, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed(nonunique), d1 : singleton) }>>', whose level 1 interleaves coordinates}}
  %0 = sparse_tensor.convert %x : tensor<4x8xf64, #csr> to tensor<4x8xf64, #interleaved>
  return
}

// -----

// Ops.

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @casts(%x: tensor<4x8xf64, #csr>) -> tensor<4x8xf64> {
  // expected-error @below {{'tensor.cast' op changes the encoding from 'tensor<4x8xf64, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>>' to 'tensor<4x8xf64>'; use sparse_tensor.convert}}
  %0 = tensor.cast %x : tensor<4x8xf64, #csr> to tensor<4x8xf64>
  return %0 : tensor<4x8xf64>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @dim(%x: tensor<?x?xf64, #csr>, %d: index) -> index {
  // expected-error @below {{'tensor.dim' op asks a sparse tensor for the extent of a dimension that is not a constant}}
  %0 = tensor.dim %x, %d : tensor<?x?xf64, #csr>
  return %0 : index
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @not_lowered(%x: tensor<4x8xf64, #csr>, %i: index) -> f64 {
  // expected-error @below {{'tensor.extract' op is not lowered on sparse tensors; convert its operands to dense ones with sparse_tensor.convert}}
  %0 = tensor.extract %x[%i, %i] : tensor<4x8xf64, #csr>
  return %0 : f64
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @added(%a: tensor<4x4xf64, #csr>, %b: tensor<4x4xf64, #csr>, %c: tensor<4x4xf64, #csr>) -> tensor<4x4xf64, #csr> {
  // expected-error @below {{'linalg.matmul' op adds to a sparse tensor, whose pattern may not hold what is added; start from tensor.empty, or use sparse_autograd.sampled_generic to stay on the pattern}}
  %0 = linalg.matmul ins(%a, %b : tensor<4x4xf64, #csr>, tensor<4x4xf64, #csr>) outs(%c : tensor<4x4xf64, #csr>) -> tensor<4x4xf64, #csr>
  return %0 : tensor<4x4xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @reduces_dense(%a: tensor<4x4xf64>, %b: tensor<4x4xf64>) -> tensor<4x4xf64, #csr> {
  %e = tensor.empty() : tensor<4x4xf64, #csr>
  // expected-error @below {{'linalg.matmul' op reduces dense tensors to a sparse one; reduce to a dense one and convert it, or sample it at a pattern}}
  %0 = linalg.matmul ins(%a, %b : tensor<4x4xf64>, tensor<4x4xf64>) outs(%e : tensor<4x4xf64, #csr>) -> tensor<4x4xf64, #csr>
  return %0 : tensor<4x4xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
func.func @not_zero(%a: tensor<4x4xf64, #csr>) -> tensor<4x4xf64, #csr> {
  %e = tensor.empty() : tensor<4x4xf64, #csr>
  // expected-error @below {{'linalg.generic' op is not zero where its sparse operands store nothing, so that its result is not sparse; select by a sparse_autograd.pattern, or convert to dense tensors}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x4xf64, #csr>) outs(%e : tensor<4x4xf64, #csr>) {
  ^bb0(%in: f64, %out: f64):
    %c = math.cos %in : f64
    linalg.yield %c : f64
  } -> tensor<4x4xf64, #csr>
  return %0 : tensor<4x4xf64, #csr>
}

// -----

// A sum of a sparse and a dense matrix is dense.
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
func.func @plus_dense(%a: tensor<4x4xf64, #csr>, %b: tensor<4x4xf64>) -> tensor<4x4xf64, #csr> {
  %e = tensor.empty() : tensor<4x4xf64, #csr>
  // expected-error @below {{'linalg.generic' op is not zero where its sparse operands store nothing}}
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<4x4xf64, #csr>, tensor<4x4xf64>) outs(%e : tensor<4x4xf64, #csr>) {
  ^bb0(%in: f64, %in_0: f64, %out: f64):
    %c = arith.addf %in, %in_0 : f64
    linalg.yield %c : f64
  } -> tensor<4x4xf64, #csr>
  return %0 : tensor<4x4xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
func.func @two_results(%a: tensor<4x4xf64, #csr>, %d: tensor<4x4xf64>) -> tensor<4x4xf64, #csr> {
  %e = tensor.empty() : tensor<4x4xf64, #csr>
  // expected-error @below {{'linalg.generic' op makes a sparse tensor and something else; use an op for each result}}
  %0:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x4xf64, #csr>) outs(%e, %d : tensor<4x4xf64, #csr>, tensor<4x4xf64>) {
  ^bb0(%in: f64, %out: f64, %out_0: f64):
    linalg.yield %in, %in : f64, f64
  } -> (tensor<4x4xf64, #csr>, tensor<4x4xf64>)
  return %0#0 : tensor<4x4xf64, #csr>
}

// -----

// Between a sparse and a dense tensor nothing moves.
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @to_dense(%x: tensor<4x8xf64, #csr>) -> tensor<2x4xf64> {
  // expected-error @below {{'tensor.extract_slice' op moves elements between a sparse and a dense tensor, of type 'tensor<2x4xf64>'; convert one of them with sparse_tensor.convert}}
  %0 = tensor.extract_slice %x[0, 0][2, 4][1, 1] : tensor<4x8xf64, #csr> to tensor<2x4xf64>
  return %0 : tensor<2x4xf64>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @from_dense(%x: tensor<32xf64>) -> tensor<4x8xf64, #csr> {
  // expected-error @below {{'tensor.expand_shape' op moves elements between a sparse and a dense tensor, of type 'tensor<32xf64>'}}
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [4, 8] : tensor<32xf64> into tensor<4x8xf64, #csr>
  return %0 : tensor<4x8xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @collapsed(%x: tensor<4x8xf64, #csr>) -> tensor<32xf64> {
  // expected-error @below {{'tensor.collapse_shape' op moves elements between a sparse and a dense tensor, of type 'tensor<32xf64>'}}
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<4x8xf64, #csr> into tensor<32xf64>
  return %0 : tensor<32xf64>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @dense_piece(%piece: tensor<2x2xf64>, %x: tensor<4x8xf64, #csr>) -> tensor<4x8xf64, #csr> {
  // expected-error @below {{'tensor.insert_slice' op moves elements between a sparse and a dense tensor, of type 'tensor<2x2xf64>'}}
  %0 = tensor.insert_slice %piece into %x[0, 0][2, 2][1, 1] : tensor<2x2xf64> into tensor<4x8xf64, #csr>
  return %0 : tensor<4x8xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @sparse_piece(%piece: tensor<2x2xf64, #csr>, %x: tensor<4x8xf64>) -> tensor<4x8xf64> {
  // expected-error @below {{'tensor.insert_slice' op moves elements between a sparse and a dense tensor, of type 'tensor<4x8xf64>'}}
  %0 = tensor.insert_slice %piece into %x[0, 0][2, 2][1, 1] : tensor<2x2xf64, #csr> into tensor<4x8xf64>
  return %0 : tensor<4x8xf64>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @dense_part(%x: tensor<4x8xf64, #csr>, %y: tensor<4x8xf64>) -> tensor<8x8xf64, #csr> {
  // expected-error @below {{'tensor.concat' op moves elements between a sparse and a dense tensor, of type 'tensor<4x8xf64>'}}
  %0 = tensor.concat dim(0) %x, %y : (tensor<4x8xf64, #csr>, tensor<4x8xf64>) -> tensor<8x8xf64, #csr>
  return %0 : tensor<8x8xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @dense_concatenation(%x: tensor<4x8xf64, #csr>, %y: tensor<4x8xf64, #csr>) -> tensor<8x8xf64> {
  // expected-error @below {{'sparse_tensor.concatenate' op moves elements between a sparse and a dense tensor, of type 'tensor<8x8xf64>'}}
  %0 = sparse_tensor.concatenate %x, %y {dimension = 0 : index} : tensor<4x8xf64, #csr>, tensor<4x8xf64, #csr> to tensor<8x8xf64>
  return %0 : tensor<8x8xf64>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @extracted_with_stride(%x: tensor<?x?xf64, #csr>, %s: index) -> tensor<2x3xf64, #csr> {
  // expected-error @below {{'tensor.extract_slice' op slices dimension 1 of a sparse tensor with a stride that is not a positive constant; write the stride as a constant, or convert to a dense tensor with sparse_tensor.convert}}
  %0 = tensor.extract_slice %x[0, 0][2, 3][1, %s] : tensor<?x?xf64, #csr> to tensor<2x3xf64, #csr>
  return %0 : tensor<2x3xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @extracted_with_stride_zero(%x: tensor<4x8xf64, #csr>) -> tensor<2x3xf64, #csr> {
  // expected-error @below {{'tensor.extract_slice' op slices dimension 0 of a sparse tensor with a stride that is not a positive constant}}
  %0 = tensor.extract_slice %x[0, 0][2, 3][0, 1] : tensor<4x8xf64, #csr> to tensor<2x3xf64, #csr>
  return %0 : tensor<2x3xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @inserted_with_stride(%piece: tensor<2x3xf64, #csr>, %x: tensor<?x?xf64, #csr>, %s: index) -> tensor<?x?xf64, #csr> {
  // expected-error @below {{'tensor.insert_slice' op slices dimension 0 of a sparse tensor with a stride that is not a positive constant}}
  %0 = tensor.insert_slice %piece into %x[0, 0][2, 3][%s, 1] : tensor<2x3xf64, #csr> into tensor<?x?xf64, #csr>
  return %0 : tensor<?x?xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @padded_with_one(%x: tensor<4x8xf64, #csr>) -> tensor<6x8xf64, #csr> {
  %one = arith.constant 1.0 : f64
  // expected-error @below {{'tensor.pad' op pads a sparse tensor with something else than a constant zero; convert it to a dense tensor with sparse_tensor.convert}}
  %0 = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f64
  } : tensor<4x8xf64, #csr> to tensor<6x8xf64, #csr>
  return %0 : tensor<6x8xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @padded_by_place(%x: tensor<4x8xi64, #csr>) -> tensor<6x8xi64, #csr> {
  // expected-error @below {{'tensor.pad' op pads a sparse tensor with something else than a constant zero}}
  %0 = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    %place = arith.index_cast %i : index to i64
    tensor.yield %place : i64
  } : tensor<4x8xi64, #csr> to tensor<6x8xi64, #csr>
  return %0 : tensor<6x8xi64, #csr>
}

// -----

// By a sparse condition: a linalg.generic, which --convert-elementwise-to-linalg
// makes of it.

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @select(%p: tensor<4x8xi1, #csr>, %x: tensor<4x8xf64, #csr>, %y: tensor<4x8xf64, #csr>) -> tensor<4x8xf64, #csr> {
  // expected-error @below {{failed to legalize operation 'arith.select'}}
  %0 = arith.select %p, %x, %y : tensor<4x8xi1, #csr>, tensor<4x8xf64, #csr>
  return %0 : tensor<4x8xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// So does what multiplies by what another pattern stores.
func.func @times_other(%a: tensor<4x4xf64, #csr>, %b: tensor<4x4xf64, #csr>) -> tensor<4x4xf64, #csr> {
  // expected-error @below {{'linalg.generic' op adds to a sparse tensor, whose pattern may not hold what is added; start from tensor.empty, or use sparse_autograd.sampled_generic to stay on the pattern}}
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x4xf64, #csr>) outs(%b : tensor<4x4xf64, #csr>) {
  ^bb0(%u: f64, %o: f64):
    %s = arith.mulf %u, %o : f64
    linalg.yield %s : f64
  } -> tensor<4x4xf64, #csr>
  return %y : tensor<4x4xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

func.func @unranked(%a: tensor<4x4xf64, #csr>) -> tensor<*xf64> {
  // expected-error @below {{'tensor.cast' op changes the encoding from 'tensor<4x4xf64, #sparse_tensor.encoding}}
  %y = tensor.cast %a : tensor<4x4xf64, #csr> to tensor<*xf64>
  return %y : tensor<*xf64>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// A tensor of conditions chooses element by element.
func.func @selected(%m: tensor<4x4xi1, #csr>, %a: tensor<4x4xf64, #csr>, %b: tensor<4x4xf64, #csr>) -> tensor<4x4xf64, #csr> {
  // expected-error @below {{failed to legalize operation 'arith.select' that was explicitly marked illegal}}
  %y = arith.select %m, %a, %b : tensor<4x4xi1, #csr>, tensor<4x4xf64, #csr>
  return %y : tensor<4x4xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
func.func @asserted(%a: tensor<4x4xf64, #csr>, %b: tensor<4x4xi1>) -> tensor<4x4xf64, #csr> {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<4x4xi1>) outs(%a : tensor<4x4xf64, #csr>) {
  ^bb0(%is_known: i1, %x: f64):
    // expected-error @below {{'cf.assert' op has an effect, in the region of an op on sparse tensors, which is not executed for every element; move it out of the region}}
    cf.assert %is_known, "unknown"
    linalg.yield %x : f64
  } -> tensor<4x4xf64, #csr>
  return %0 : tensor<4x4xf64, #csr>
}

// -----

// What has an encoding and is no tensor.

#vector = #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>
// expected-error @below {{'func.func' op has type '!sparse_tensor.storage_specifier<#sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>>', which is not lowered; write ops of linalg, arith and math on tensors with an encoding}}
func.func private @takes_specifier(%s: !sparse_tensor.storage_specifier<#vector>) {
  return
}

// -----

#vector = #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>
func.func @makes_specifier() -> index {
  // expected-error @below {{'sparse_tensor.storage_specifier.init' op has type '!sparse_tensor.storage_specifier<}}
  %s = sparse_tensor.storage_specifier.init : !sparse_tensor.storage_specifier<#vector>
  %n = sparse_tensor.storage_specifier.get %s lvl_sz at 0 : !sparse_tensor.storage_specifier<#vector>
  return %n : index
}

// -----

#coo = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton(soa))}>
func.func @makes_iteration_space(%x: tensor<4x8xf64, #coo>) {
  // expected-error @below {{'sparse_tensor.extract_iteration_space' op has type '!sparse_tensor.iter_space<}}
  %s = sparse_tensor.extract_iteration_space %x lvls = 0 : tensor<4x8xf64, #coo> -> !sparse_tensor.iter_space<#coo, lvls = 0>
  return
}

// -----

// A conversion of elements is expanded before.
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @converts_elements(%x: tensor<4x8xf64, #csr>) -> tensor<4x8xf32> {
  // expected-error @below {{'sparse_tensor.convert' op changes the element type; run --convert-sparse-autograd-to-linalg first}}
  %0 = sparse_tensor.convert %x : tensor<4x8xf64, #csr> to tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
