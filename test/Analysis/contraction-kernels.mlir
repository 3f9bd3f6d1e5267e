// RUN: sparse-opt %s --split-input-file --sparse-autograd="target=gpu emulate=true" --mlir-print-ir-after=sparse-autograd-outline-kernels -o /dev/null 2>&1 | %python %S/Inputs/count_kernels.py | FileCheck %s

// What becomes of contractions on a device, forward and backward: kernels, those with
// tiles in shared memory, and those of tensor cores.

// CHECK: matmul: 1 kernels, 1 of tiles, 0 of tensor cores
func.func @matmul(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// -----

// CHECK: batch_matmul: 1 kernels, 1 of tiles, 0 of tensor cores
func.func @batch_matmul(%a: tensor<8x512x512xf32>, %b: tensor<8x512x512xf32>, %c: tensor<8x512x512xf32>) -> tensor<8x512x512xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<8x512x512xf32>, tensor<8x512x512xf32>) outs(%c : tensor<8x512x512xf32>) -> tensor<8x512x512xf32>
  return %r : tensor<8x512x512xf32>
}

// -----

// CHECK: batch_matmul_bf16: 1 kernels, 1 of tiles, 1 of tensor cores
func.func @batch_matmul_bf16(%a: tensor<8x512x512xbf16>, %b: tensor<8x512x512xbf16>, %c: tensor<8x512x512xf32>) -> tensor<8x512x512xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<8x512x512xbf16>, tensor<8x512x512xbf16>) outs(%c : tensor<8x512x512xf32>) -> tensor<8x512x512xf32>
  return %r : tensor<8x512x512xf32>
}

// -----

// CHECK: scaled: 1 kernels, 1 of tiles, 0 of tensor cores
func.func @scaled(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %two = arith.constant 2.0 : f32
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.mulf %p, %two : f32
    %t = arith.addf %s, %q : f32
    linalg.yield %t : f32
  } -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// -----

// Weights of rows and columns multiply the sums.

// CHECK: weighted: 1 kernels, 1 of tiles, 1 of tensor cores
func.func @weighted(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>, %u: tensor<512xbf16>, %v: tensor<512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %u, %v : tensor<512x512xbf16>, tensor<512x512xbf16>, tensor<512xbf16>, tensor<512xf32>) outs(%c : tensor<512x512xf32>) {
  ^bb0(%x: bf16, %y: bf16, %w: bf16, %g: f32, %s: f32):
    %xw = arith.extf %x : bf16 to f32
    %yw = arith.extf %y : bf16 to f32
    %ww = arith.extf %w : bf16 to f32
    %p = arith.mulf %xw, %yw : f32
    %q = arith.mulf %p, %ww : f32
    %h = arith.mulf %g, %q : f32
    %t = arith.addf %s, %h : f32
    linalg.yield %t : f32
  } -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// -----

// Products from zero that share a factor.

// CHECK: from_zero: 2 kernels, 2 of tiles, 0 of tensor cores
func.func @from_zero(%a: tensor<512x512xf32>, %w: tensor<512x512xf32>, %v: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.matmul ins(%a, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %s = linalg.matmul ins(%a, %v : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r, %s : tensor<512x512xf32>, tensor<512x512xf32>
}

// -----

// Both gradients of a square layer.

// CHECK: square_vjp: 2 kernels, 2 of tiles, 0 of tensor cores
func.func private @layer(%a: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.matmul ins(%a, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}
func.func @square_vjp(%a: tensor<512x512xf32>, %w: tensor<512x512xf32>, %ct: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %r:3 = sparse_autograd.vjp @layer(%a, %w) cotangents(%ct) {wrt = [0, 1]} : (tensor<512x512xf32>, tensor<512x512xf32>), (tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>)
  return %r#1, %r#2 : tensor<512x512xf32>, tensor<512x512xf32>
}

// -----

// A linear layer of bf16 on batch x sequence x features, forward and backward.

// CHECK: layer_bf16: 3 kernels, 3 of tiles, 3 of tensor cores
func.func private @layer(%x: tensor<8x128x256xbf16>, %w: tensor<256x512xbf16>) -> tensor<8x128x512xbf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x128x512xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<8x128x512xf32>) -> tensor<8x128x512xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(b, s, n, k) -> (b, s, k)>, affine_map<(b, s, n, k) -> (k, n)>, affine_map<(b, s, n, k) -> (b, s, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x128x256xbf16>, tensor<256x512xbf16>) outs(%c : tensor<8x128x512xf32>) {
  ^bb0(%u: bf16, %v: bf16, %s: f32):
    %ue = arith.extf %u : bf16 to f32
    %ve = arith.extf %v : bf16 to f32
    %p = arith.mulf %ue, %ve : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<8x128x512xf32>
  %n = arith.truncf %r : tensor<8x128x512xf32> to tensor<8x128x512xbf16>
  return %n : tensor<8x128x512xbf16>
}
func.func @layer_bf16(%x: tensor<8x128x256xbf16>, %w: tensor<256x512xbf16>, %ct: tensor<8x128x512xbf16>) -> (tensor<8x128x512xbf16>, tensor<8x128x256xbf16>, tensor<256x512xbf16>) {
  %r:3 = sparse_autograd.vjp @layer(%x, %w) cotangents(%ct) {wrt = [0, 1]} : (tensor<8x128x256xbf16>, tensor<256x512xbf16>), (tensor<8x128x512xbf16>) -> (tensor<8x128x512xbf16>, tensor<8x128x256xbf16>, tensor<256x512xbf16>)
  return %r#0, %r#1, %r#2 : tensor<8x128x512xbf16>, tensor<8x128x256xbf16>, tensor<256x512xbf16>
}

// -----

// Two layers of bf16: the cotangent between them is one of bf16, as the tensor is. The
// sixth kernel rounds a gradient to where one of its factors was.

// CHECK: chain_bf16: 6 kernels, 5 of tiles, 5 of tensor cores
func.func private @layer(%a: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.matmul ins(%a, %w : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  %n = arith.truncf %r : tensor<512x512xf32> to tensor<512x512xbf16>
  return %n : tensor<512x512xbf16>
}
func.func private @two(%a: tensor<512x512xbf16>, %w: tensor<512x512xbf16>, %v: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %0 = call @layer(%a, %w) : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<512x512xbf16>
  %1 = call @layer(%0, %v) : (tensor<512x512xbf16>, tensor<512x512xbf16>) -> tensor<512x512xbf16>
  return %1 : tensor<512x512xbf16>
}
func.func @chain_bf16(%a: tensor<512x512xbf16>, %w: tensor<512x512xbf16>, %v: tensor<512x512xbf16>, %ct: tensor<512x512xbf16>) -> (tensor<512x512xbf16>, tensor<512x512xbf16>, tensor<512x512xbf16>) {
  %r:4 = sparse_autograd.vjp @two(%a, %w, %v) cotangents(%ct) {wrt = [0, 1, 2]} : (tensor<512x512xbf16>, tensor<512x512xbf16>, tensor<512x512xbf16>), (tensor<512x512xbf16>) -> (tensor<512x512xbf16>, tensor<512x512xbf16>, tensor<512x512xbf16>, tensor<512x512xbf16>)
  return %r#1, %r#2, %r#3 : tensor<512x512xbf16>, tensor<512x512xbf16>, tensor<512x512xbf16>
}
