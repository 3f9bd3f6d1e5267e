// RUN: sparse-runner %s --entry=tensors | FileCheck %s
// RUN: sparse-runner %s --entry=elements | FileCheck %s

// The cotangent of a tensor that the program rounds is one of the narrow type
// (semantics G11), in whichever form it rounds: 1 + 1/256 is none of bf16, 3 is.

// CHECK: result0 = tensor<2xf32> [1, 3]

func.func private @dot(%t: tensor<2xbf16>, %w: tensor<2xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%t, %w : tensor<2xbf16>, tensor<2xf32>) outs(%i : tensor<f32>) {
    ^bb0(%a: bf16, %b: f32, %o: f32):
      %u = arith.extf %a : bf16 to f32
      %p = arith.mulf %u, %b : f32
      %r = arith.addf %o, %p : f32
      linalg.yield %r : f32
  } -> tensor<f32>
  %v = tensor.extract %s[] : tensor<f32>
  return %v : f32
}

func.func private @of_tensor(%x: tensor<2xf32>, %w: tensor<2xf32>) -> f32 {
  %t = arith.truncf %x : tensor<2xf32> to tensor<2xbf16>
  %v = call @dot(%t, %w) : (tensor<2xbf16>, tensor<2xf32>) -> f32
  return %v : f32
}
func.func @tensors() -> tensor<2xf32> {
  %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %w = arith.constant dense<[1.00390625, 3.0]> : tensor<2xf32>
  %l, %d = sparse_autograd.value_and_grad @of_tensor(%x, %w) {wrt = [0]} : (tensor<2xf32>, tensor<2xf32>) -> (f32, tensor<2xf32>)
  return %d : tensor<2xf32>
}

func.func private @of_elements(%x: tensor<2xf32>, %w: tensor<2xf32>) -> f32 {
  %e = tensor.empty() : tensor<2xbf16>
  %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<2xf32>) outs(%e : tensor<2xbf16>) {
    ^bb0(%a: f32, %o: bf16):
      %r = arith.truncf %a : f32 to bf16
      linalg.yield %r : bf16
  } -> tensor<2xbf16>
  %v = call @dot(%t, %w) : (tensor<2xbf16>, tensor<2xf32>) -> f32
  return %v : f32
}
func.func @elements() -> tensor<2xf32> {
  %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %w = arith.constant dense<[1.00390625, 3.0]> : tensor<2xf32>
  %l, %d = sparse_autograd.value_and_grad @of_elements(%x, %w) {wrt = [0]} : (tensor<2xf32>, tensor<2xf32>) -> (f32, tensor<2xf32>)
  return %d : tensor<2xf32>
}
