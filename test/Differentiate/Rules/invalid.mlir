// RUN: sparse-opt %s --sparse-autograd-differentiate --split-input-file --verify-diagnostics

// Bits (arith).
func.func @f(%x0: f16) -> bf16 {
  // expected-error@+1 {{'arith.bitcast' op reads the bits of a float, which have no derivative; convert values with extf, truncf or sitofp}}
  %y = arith.bitcast %x0 : f16 to bf16
  return %y : bf16
}
func.func @g(%x0: f16, %ct: bf16) -> f16 {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0) cotangents(%ct) {wrt = [0]} : (f16), (bf16) -> (bf16, f16)
  return %r#1 : f16
}

// -----

// Scales of small floats.
func.func @f(%x0: f8E5M2, %x1: f8E8M0FNU) -> f32 {
  // expected-error@+1 {{'arith.scaling_extf' op has no derivative rule; convert with extf and multiply by the scale}}
  %y = arith.scaling_extf %x0, %x1 : f8E5M2, f8E8M0FNU to f32
  return %y : f32
}
func.func @g(%x0: f8E5M2, %x1: f8E8M0FNU, %t: f8E5M2) -> f32 {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.jvp @f(%x0, %x1) tangents(%t) {wrt = [0]} : (f8E5M2, f8E8M0FNU), (f8E5M2) -> (f32, f32)
  return %r#1 : f32
}

// -----

// And back.
func.func @f(%x0: f32, %x1: f8E8M0FNU) -> f8E5M2 {
  // expected-error@+1 {{'arith.scaling_truncf' op has no derivative rule; divide by the scale and convert with truncf}}
  %y = arith.scaling_truncf %x0, %x1 : f32, f8E8M0FNU to f8E5M2
  return %y : f8E5M2
}
func.func @g(%x0: f32, %x1: f8E8M0FNU, %t: f32) -> f8E5M2 {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.jvp @f(%x0, %x1) tangents(%t) {wrt = [0]} : (f32, f8E8M0FNU), (f32) -> (f8E5M2, f8E5M2)
  return %r#1 : f8E5M2
}

// -----

// Vectors (arith).
func.func @f(%x0: f32) -> f32 {
  // expected-error@+1 {{'vector.broadcast' op computes 'vector<4xf32>', which derivatives do not follow; use floats and ranked tensors of floats}}
  %v = vector.broadcast %x0 : f32 to vector<4xf32>
  %w = arith.mulf %v, %v : vector<4xf32>
  %y = vector.extract %w[1] : f32 from vector<4xf32>
  return %y : f32
}
func.func @g(%x0: f32, %ct: f32) -> f32 {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0) cotangents(%ct) {wrt = [0]} : (f32), (f32) -> (f32, f32)
  return %r#1 : f32
}

// -----

// Vectors (math).
func.func @f(%x0: f32) -> f32 {
  // expected-error@+1 {{'vector.broadcast' op computes 'vector<4xf32>', which derivatives do not follow; use floats and ranked tensors of floats}}
  %v = vector.broadcast %x0 : f32 to vector<4xf32>
  %w = math.exp %v : vector<4xf32>
  %y = vector.extract %w[1] : f32 from vector<4xf32>
  return %y : f32
}
func.func @g(%x0: f32, %ct: f32) -> f32 {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0) cotangents(%ct) {wrt = [0]} : (f32), (f32) -> (f32, f32)
  return %r#1 : f32
}

// -----

// Complex numbers.
func.func @f(%x0: f32) -> f32 {
  // expected-error@+1 {{'complex.create' op computes 'complex<f32>', which derivatives do not follow; use floats and ranked tensors of floats}}
  %c = complex.create %x0, %x0 : complex<f32>
  %d = complex.mul %c, %c : complex<f32>
  %y = complex.re %d : complex<f32>
  return %y : f32
}
func.func @g(%x0: f32, %ct: f32) -> f32 {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0) cotangents(%ct) {wrt = [0]} : (f32), (f32) -> (f32, f32)
  return %r#1 : f32
}

// -----

// Memrefs.
func.func @f(%x0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{op computes 'memref<4xf32>', which derivatives do not follow; use floats and ranked tensors of floats}}
  %m = bufferization.to_buffer %x0 : tensor<4xf32> to memref<4xf32>
  %y = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @g(%x0: tensor<4xf32>, %t: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.jvp @f(%x0) tangents(%t) {wrt = [0]} : (tensor<4xf32>), (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %r#1 : tensor<4xf32>
}

// -----

// Unranked tensors.
func.func @f(%x0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'tensor.cast' op computes 'tensor<*xf32>', which derivatives do not follow; use floats and ranked tensors of floats}}
  %u = tensor.cast %x0 : tensor<4xf32> to tensor<*xf32>
  %y = tensor.cast %u : tensor<*xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @g(%x0: tensor<4xf32>, %ct: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0) cotangents(%ct) {wrt = [0]} : (tensor<4xf32>), (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %r#1 : tensor<4xf32>
}

// -----

// Bits (tensor).
func.func @f(%x0: tensor<4xf16>) -> tensor<4xbf16> {
  // expected-error@+1 {{'tensor.bitcast' op reads the bits of floats, which have no derivative; convert values with arith.extf, truncf or sitofp}}
  %y = tensor.bitcast %x0 : tensor<4xf16> to tensor<4xbf16>
  return %y : tensor<4xbf16>
}
func.func @g(%x0: tensor<4xf16>, %ct: tensor<4xbf16>) -> tensor<4xf16> {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0) cotangents(%ct) {wrt = [0]} : (tensor<4xf16>), (tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xf16>)
  return %r#1 : tensor<4xf16>
}

// -----

// A padding of computed values.
func.func @f(%x0: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{'tensor.pad' op with a padding that depends on the position has no derivative rule; pad with one value}}
  %y = tensor.pad %x0 low[1] high[0] {
  ^bb0(%i: index):
    %j = arith.index_cast %i : index to i32
    %v = arith.sitofp %j : i32 to f32
    tensor.yield %v : f32
  } : tensor<4xf32> to tensor<5xf32>
  return %y : tensor<5xf32>
}
func.func @g(%x0: tensor<4xf32>, %ct: tensor<5xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0) cotangents(%ct) {wrt = [0]} : (tensor<4xf32>), (tensor<5xf32>) -> (tensor<5xf32>, tensor<4xf32>)
  return %r#1 : tensor<4xf32>
}

// -----

// The transforms of fast convolutions.
func.func @f(%x0: tensor<2x3x3x5xf32>, %x1: tensor<4x4x5x2xf32>) -> tensor<4x4x5x2xf32> {
  // expected-error@+1 {{'linalg.winograd_filter_transform' op has no derivative rule; differentiate linalg.conv_2d_nhwc_fhwc, and transform after differentiation}}
  %y = linalg.winograd_filter_transform fmr(F_2_3) ins(%x0 : tensor<2x3x3x5xf32>) outs(%x1 : tensor<4x4x5x2xf32>) -> tensor<4x4x5x2xf32>
  return %y : tensor<4x4x5x2xf32>
}
func.func @g(%x0: tensor<2x3x3x5xf32>, %x1: tensor<4x4x5x2xf32>, %ct: tensor<4x4x5x2xf32>) -> tensor<2x3x3x5xf32> {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0, %x1) cotangents(%ct) {wrt = [0]} : (tensor<2x3x3x5xf32>, tensor<4x4x5x2xf32>), (tensor<4x4x5x2xf32>) -> (tensor<4x4x5x2xf32>, tensor<2x3x3x5xf32>)
  return %r#1 : tensor<2x3x3x5xf32>
}

// -----

// Likewise.
func.func @f(%x0: tensor<2x6x6x5xf32>, %x1: tensor<4x4x2x2x2x5xf32>) -> tensor<4x4x2x2x2x5xf32> {
  // expected-error@+1 {{'linalg.winograd_input_transform' op has no derivative rule; differentiate linalg.conv_2d_nhwc_fhwc, and transform after differentiation}}
  %y = linalg.winograd_input_transform fmr(F_2_3) ins(%x0 : tensor<2x6x6x5xf32>) outs(%x1 : tensor<4x4x2x2x2x5xf32>) -> tensor<4x4x2x2x2x5xf32>
  return %y : tensor<4x4x2x2x2x5xf32>
}
func.func @g(%x0: tensor<2x6x6x5xf32>, %x1: tensor<4x4x2x2x2x5xf32>, %t: tensor<2x6x6x5xf32>) -> tensor<4x4x2x2x2x5xf32> {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.jvp @f(%x0, %x1) tangents(%t) {wrt = [0]} : (tensor<2x6x6x5xf32>, tensor<4x4x2x2x2x5xf32>), (tensor<2x6x6x5xf32>) -> (tensor<4x4x2x2x2x5xf32>, tensor<4x4x2x2x2x5xf32>)
  return %r#1 : tensor<4x4x2x2x2x5xf32>
}

// -----

// Likewise.
func.func @f(%x0: tensor<4x4x2x2x2x3xf32>, %x1: tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32> {
  // expected-error@+1 {{'linalg.winograd_output_transform' op has no derivative rule; differentiate linalg.conv_2d_nhwc_fhwc, and transform after differentiation}}
  %y = linalg.winograd_output_transform fmr(F_2_3) ins(%x0 : tensor<4x4x2x2x2x3xf32>) outs(%x1 : tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32>
  return %y : tensor<2x4x4x3xf32>
}
func.func @g(%x0: tensor<4x4x2x2x2x3xf32>, %x1: tensor<2x4x4x3xf32>, %ct: tensor<2x4x4x3xf32>) -> tensor<4x4x2x2x2x3xf32> {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0, %x1) cotangents(%ct) {wrt = [0]} : (tensor<4x4x2x2x2x3xf32>, tensor<2x4x4x3xf32>), (tensor<2x4x4x3xf32>) -> (tensor<2x4x4x3xf32>, tensor<4x4x2x2x2x3xf32>)
  return %r#1 : tensor<4x4x2x2x2x3xf32>
}

// -----

// Tiles of unknown size.
func.func @f(%x0: tensor<?xf32>, %x1: tensor<?x?xf32>, %x2: index) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{'linalg.pack' op has no derivative rule for tiles of unknown size; use constants as inner_tiles}}
  %y = linalg.pack %x0 padding_value(%zero : f32) inner_dims_pos = [0] inner_tiles = [%x2] into %x1 : tensor<?xf32> -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
func.func @g(%x0: tensor<?xf32>, %x1: tensor<?x?xf32>, %x2: index, %ct: tensor<?x?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0, %x1, %x2) cotangents(%ct) {wrt = [0]} : (tensor<?xf32>, tensor<?x?xf32>, index), (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %r#1 : tensor<?xf32>
}

// -----

// A combiner whose derivative needs the running value.
func.func @f(%x0: tensor<4xf32>, %x1: tensor<f32>) -> tensor<f32> {
  // expected-error@+1 {{'linalg.generic' op combines in a way that has no derivative rule: the derivative depends on the running value; reduce by addition, maximumf, minimumf or mulf}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x0 : tensor<4xf32>) outs(%x1 : tensor<f32>) {
  ^bb0(%a: f32, %out: f32):
    %p = arith.mulf %out, %a : f32
    %s = arith.addf %p, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}
func.func @g(%x0: tensor<4xf32>, %x1: tensor<f32>, %ct: tensor<f32>) -> tensor<4xf32> {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0, %x1) cotangents(%ct) {wrt = [0]} : (tensor<4xf32>, tensor<f32>), (tensor<f32>) -> (tensor<f32>, tensor<4xf32>)
  return %r#1 : tensor<4xf32>
}

// -----

// A tensor read as a whole, in each iteration.
func.func @f(%x0: tensor<4xf32>, %x1: i1) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  // expected-error@+2 {{'linalg.generic' op reads a tensor that is being differentiated from inside its region, which has no derivative rule; make the tensor an operand with an indexing map}}
  // expected-note@-3 {{the tensor is defined here}}
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%empty : tensor<4xf32>) {
  ^bb0(%out: f32):
    %s = sparse_autograd.masked_reduce sum %x0 dims = [0] : tensor<4xf32> -> tensor<f32>
    %v = tensor.extract %s[] : tensor<f32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @g(%x0: tensor<4xf32>, %x1: i1, %t: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.jvp @f(%x0, %x1) tangents(%t) {wrt = [0]} : (tensor<4xf32>, i1), (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %r#1 : tensor<4xf32>
}

// -----

// Structured ops on memory.
func.func @f(%x0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{op computes 'memref<4xf32>', which derivatives do not follow; use floats and ranked tensors of floats}}
  %m = bufferization.to_buffer %x0 : tensor<4xf32> to memref<4xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%m : memref<4xf32>) {
  ^bb0(%out: f32):
    %v = arith.mulf %out, %out : f32
    linalg.yield %v : f32
  }
  %y = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @g(%x0: tensor<4xf32>, %ct: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0) cotangents(%ct) {wrt = [0]} : (tensor<4xf32>), (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %r#1 : tensor<4xf32>
}

// -----

// Blocks inside a region.
func.func @f(%x0: f32) -> f32 {
  // expected-error@+1 {{'scf.execute_region' op has several blocks, which have no derivative rule; use scf.if and scf.for}}
  %y = scf.execute_region -> f32 {
    cf.br ^next
  ^next:
    %s = arith.mulf %x0, %x0 : f32
    scf.yield %s : f32
  }
  return %y : f32
}
func.func @g(%x0: f32, %ct: f32) -> f32 {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0) cotangents(%ct) {wrt = [0]} : (f32), (f32) -> (f32, f32)
  return %r#1 : f32
}

// -----

// A loop that carries what cannot be kept, nor anything that it is needed for.
func.func @f(%x0: f32, %x1: index, %x2: vector<2xi32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'scf.for' op carries 'vector<2xi32>', which cannot be kept for the backward pass; carry tensors and numbers}}
  %r:2 = scf.for %i = %c0 to %x1 step %c1 iter_args(%a = %x0, %v = %x2) -> (f32, vector<2xi32>) {
    %w = tensor.generate %x1 {
    ^bb0(%j: index):
      %k = vector.extract %v[0] : i32 from vector<2xi32>
      %e = arith.sitofp %k : i32 to f32
      tensor.yield %e : f32
    } : tensor<?xf32>
    %d = tensor.splat %a[%x1] : tensor<?xf32>
    %p = arith.mulf %d, %w : tensor<?xf32>
    %b = tensor.extract %p[%c0] : tensor<?xf32>
    %u = arith.addi %v, %v : vector<2xi32>
    scf.yield %b, %u : f32, vector<2xi32>
  }
  return %r#0 : f32
}
func.func @g(%x0: f32, %x1: index, %x2: vector<2xi32>, %ct: f32) -> f32 {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0, %x1, %x2) cotangents(%ct) {wrt = [0]} : (f32, index, vector<2xi32>), (f32) -> (f32, f32)
  return %r#1 : f32
}

// -----

// A function that is not known.
func.func private @h(f32) -> f32
func.func @f(%x0: f32) -> f32 {
  %c = func.constant @h : (f32) -> f32
  // expected-error@+1 {{'func.call_indirect' op has no derivative rule; attach an external model of LinearizableOpInterface to it, or keep it off the differentiated path with sparse_autograd.stop_gradient}}
  %y = func.call_indirect %c(%x0) : (f32) -> f32
  // expected-note@-4 {{which depends on this argument}}
  return %y : f32
}
func.func @g(%x0: f32, %ct: f32) -> f32 {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x0) cotangents(%ct) {wrt = [0]} : (f32), (f32) -> (f32, f32)
  return %r#1 : f32
}

// -----

// Memory written by a structured op.
func.func @f(%x: f32, %m: memref<4xf32>) -> f32 {
  // expected-error@+1 {{'linalg.generic' op works on memory, which is not differentiated; differentiate before bufferization}}
  linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : f32) outs(%m : memref<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }
  return %x : f32
}
func.func @g(%x: f32, %m: memref<4xf32>, %t: f32) -> f32 {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.jvp @f(%x, %m) tangents(%t) {wrt = [0]} : (f32, memref<4xf32>), (f32) -> (f32, f32)
  return %r#1 : f32
}

// -----

// And inside of a loop.
func.func @f(%x: f32, %m: memref<4xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> f32 {
    %b = arith.mulf %a, %a : f32
    // expected-error@+1 {{'memref.store' op has side effects on a value that is being differentiated; only programs on values are differentiated, move it out of the function}}
    memref.store %b, %m[%i] : memref<4xf32>
    scf.yield %b : f32
  }
  return %y : f32
}
func.func @g(%x: f32, %m: memref<4xf32>, %n: index, %ct: f32) -> f32 {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.vjp @f(%x, %m, %n) cotangents(%ct) {wrt = [0]} : (f32, memref<4xf32>, index), (f32) -> (f32, f32)
  return %r#1 : f32
}

// -----

// A maximum depends on zeros that are selected and not stored, as those of the
// transpose of a pattern may be.
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @f(%x: tensor<4x4xf32, #csr>) -> tensor<f32> {
  %m = sparse_autograd.pattern %x : tensor<4x4xf32, #csr>
  // expected-error@+1 {{'sparse_autograd.masked_reduce' op has no derivative rule where it selects elements that its sparse operand does not store; give sparse_autograd.pattern of the operand as the mask, or make the operand dense with sparse_tensor.convert}}
  %y = sparse_autograd.masked_reduce max %x, %m dims = [0, 1] mask_dims = [1, 0] : tensor<4x4xf32, #csr>, tensor<4x4xi1, #csr> -> tensor<f32>
  return %y : tensor<f32>
}
func.func @g(%x: tensor<4x4xf32, #csr>) -> tensor<4x4xf32, #csr> {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.value_and_grad @f(%x) {wrt = [0]} : (tensor<4x4xf32, #csr>) -> (tensor<f32>, tensor<4x4xf32, #csr>)
  return %r#1 : tensor<4x4xf32, #csr>
}
