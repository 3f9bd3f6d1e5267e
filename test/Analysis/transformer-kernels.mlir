// RUN: sparse-opt %s --split-input-file --sparse-autograd="target=gpu emulate=true" --mlir-print-ir-after=sparse-autograd-outline-kernels -o /dev/null 2>&1 | %python %S/Inputs/count_kernels.py | FileCheck %s
// RUN: sparse-opt %s --split-input-file --sparse-autograd="target=gpu emulate=true" --remarks-filter=sparse-autograd-contractions -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=": loops"

// Every product of a transformer block of bf16, on batch x sequence x features,
// forward and backward, is computed in tiles (lib/Analysis/ContractionStrategies.cpp).

// Attention: 6 products forward and 12 backward. The cotangent of the scores is of
// f32, as softmax is, and so are the two products with it.

// CHECK: attention_gradient: 25 kernels, 18 of tiles, 16 of tensor cores
// REMARK-COUNT-18: Function=attention_gradient {{.*}} tiles,
#bsf = affine_map<(b, s, f, h) -> (b, s, f)>
#fh = affine_map<(b, s, f, h) -> (f, h)>
#bsh = affine_map<(b, s, f, h) -> (b, s, h)>
#bst = affine_map<(b, s, t, f) -> (b, s, t)>
#queries = affine_map<(b, s, t, f) -> (b, s, f)>
#keys = affine_map<(b, s, t, f) -> (b, t, f)>
#id = affine_map<(b, s, h) -> (b, s, h)>
func.func private @linear(%x: tensor<4x128x256xbf16>, %w: tensor<256x256xbf16>) -> tensor<4x128x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x128x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x128x256xf32>) -> tensor<4x128x256xf32>
  %p = linalg.generic {indexing_maps = [#bsf, #fh, #bsh], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<4x128x256xbf16>, tensor<256x256xbf16>) outs(%z : tensor<4x128x256xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %u = arith.extf %a : bf16 to f32
    %v = arith.extf %b : bf16 to f32
    %m = arith.mulf %u, %v : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x128x256xf32>
  %r = arith.truncf %p : tensor<4x128x256xf32> to tensor<4x128x256xbf16>
  return %r : tensor<4x128x256xbf16>
}
func.func private @attention(%x: tensor<4x128x256xbf16>, %wq: tensor<256x256xbf16>, %wk: tensor<256x256xbf16>, %wv: tensor<256x256xbf16>, %wo: tensor<256x256xbf16>) -> tensor<4x128x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %q = func.call @linear(%x, %wq) : (tensor<4x128x256xbf16>, tensor<256x256xbf16>) -> tensor<4x128x256xbf16>
  %k = func.call @linear(%x, %wk) : (tensor<4x128x256xbf16>, tensor<256x256xbf16>) -> tensor<4x128x256xbf16>
  %v = func.call @linear(%x, %wv) : (tensor<4x128x256xbf16>, tensor<256x256xbf16>) -> tensor<4x128x256xbf16>
  %es = tensor.empty() : tensor<4x128x128xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x128x128xf32>) -> tensor<4x128x128xf32>
  %scores = linalg.generic {indexing_maps = [#queries, #keys, #bst], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<4x128x256xbf16>, tensor<4x128x256xbf16>) outs(%zs : tensor<4x128x128xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %u = arith.extf %a : bf16 to f32
    %n = arith.extf %b : bf16 to f32
    %m = arith.mulf %u, %n : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x128x128xf32>
  %scale = arith.constant 0.0625 : f32
  %scales = tensor.splat %scale : tensor<4x128x128xf32>
  %scaled = arith.mulf %scores, %scales : tensor<4x128x128xf32>
  %soft = sparse_autograd.masked_softmax %scaled dims = [2] : tensor<4x128x128xf32>
  %weights = arith.truncf %soft : tensor<4x128x128xf32> to tensor<4x128x128xbf16>
  %em = tensor.empty() : tensor<4x128x256xf32>
  %zm = linalg.fill ins(%zero : f32) outs(%em : tensor<4x128x256xf32>) -> tensor<4x128x256xf32>
  %mixed = linalg.generic {indexing_maps = [#bst, #keys, #queries], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%weights, %v : tensor<4x128x128xbf16>, tensor<4x128x256xbf16>) outs(%zm : tensor<4x128x256xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %u = arith.extf %a : bf16 to f32
    %n = arith.extf %b : bf16 to f32
    %m = arith.mulf %u, %n : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x128x256xf32>
  %m = arith.truncf %mixed : tensor<4x128x256xf32> to tensor<4x128x256xbf16>
  %y = func.call @linear(%m, %wo) : (tensor<4x128x256xbf16>, tensor<256x256xbf16>) -> tensor<4x128x256xbf16>
  %r = arith.addf %x, %y : tensor<4x128x256xbf16>
  return %r : tensor<4x128x256xbf16>
}
func.func @attention_gradient(%x: tensor<4x128x256xbf16>, %wq: tensor<256x256xbf16>, %wk: tensor<256x256xbf16>, %wv: tensor<256x256xbf16>, %wo: tensor<256x256xbf16>, %ct: tensor<4x128x256xbf16>) -> (tensor<4x128x256xbf16>, tensor<4x128x256xbf16>, tensor<256x256xbf16>, tensor<256x256xbf16>, tensor<256x256xbf16>, tensor<256x256xbf16>) {
  %r:6 = sparse_autograd.vjp @attention(%x, %wq, %wk, %wv, %wo) cotangents(%ct) {wrt = [0, 1, 2, 3, 4]}
      : (tensor<4x128x256xbf16>, tensor<256x256xbf16>, tensor<256x256xbf16>, tensor<256x256xbf16>, tensor<256x256xbf16>), (tensor<4x128x256xbf16>) -> (tensor<4x128x256xbf16>, tensor<4x128x256xbf16>, tensor<256x256xbf16>, tensor<256x256xbf16>, tensor<256x256xbf16>, tensor<256x256xbf16>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : tensor<4x128x256xbf16>, tensor<4x128x256xbf16>, tensor<256x256xbf16>, tensor<256x256xbf16>, tensor<256x256xbf16>, tensor<256x256xbf16>
}

// -----

// Feed-forward: 2 products forward and 4 backward, with biases of the columns and an
// activation between them.

// CHECK: feed_forward_gradient: 11 kernels, 6 of tiles, 6 of tensor cores
// REMARK-COUNT-6: Function=feed_forward_gradient {{.*}} tensor-core tiles,
#bsf = affine_map<(b, s, f, h) -> (b, s, f)>
#fh = affine_map<(b, s, f, h) -> (f, h)>
#bsh = affine_map<(b, s, f, h) -> (b, s, h)>
#id = affine_map<(b, s, h) -> (b, s, h)>
#h = affine_map<(b, s, h) -> (h)>
func.func private @linear(%x: tensor<4x128x256xbf16>, %w: tensor<256x256xbf16>, %c: tensor<256xbf16>) -> tensor<4x128x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x128x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x128x256xf32>) -> tensor<4x128x256xf32>
  %p = linalg.generic {indexing_maps = [#bsf, #fh, #bsh], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<4x128x256xbf16>, tensor<256x256xbf16>) outs(%z : tensor<4x128x256xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %u = arith.extf %a : bf16 to f32
    %v = arith.extf %b : bf16 to f32
    %m = arith.mulf %u, %v : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x128x256xf32>
  %o = tensor.empty() : tensor<4x128x256xbf16>
  %r = linalg.generic {indexing_maps = [#id, #h, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p, %c : tensor<4x128x256xf32>, tensor<256xbf16>) outs(%o : tensor<4x128x256xbf16>) {
  ^bb0(%a: f32, %b: bf16, %s: bf16):
    %u = arith.extf %b : bf16 to f32
    %m = arith.addf %a, %u : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x128x256xbf16>
  return %r : tensor<4x128x256xbf16>
}
func.func private @feed_forward(%x: tensor<4x128x256xbf16>, %w: tensor<256x256xbf16>, %c: tensor<256xbf16>, %v: tensor<256x256xbf16>, %d: tensor<256xbf16>) -> tensor<4x128x256xbf16> {
  %p = func.call @linear(%x, %w, %c) : (tensor<4x128x256xbf16>, tensor<256x256xbf16>, tensor<256xbf16>) -> tensor<4x128x256xbf16>
  %o = tensor.empty() : tensor<4x128x256xbf16>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<4x128x256xbf16>) outs(%o : tensor<4x128x256xbf16>) {
  ^bb0(%a: bf16, %s: bf16):
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.70710678 : f32
    %u = arith.extf %a : bf16 to f32
    %q = arith.mulf %u, %root : f32
    %e = math.erf %q : f32
    %f = arith.addf %e, %one : f32
    %h = arith.mulf %f, %half : f32
    %m = arith.mulf %u, %h : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4x128x256xbf16>
  %y = func.call @linear(%g, %v, %d) : (tensor<4x128x256xbf16>, tensor<256x256xbf16>, tensor<256xbf16>) -> tensor<4x128x256xbf16>
  %r = arith.addf %x, %y : tensor<4x128x256xbf16>
  return %r : tensor<4x128x256xbf16>
}
func.func @feed_forward_gradient(%x: tensor<4x128x256xbf16>, %w: tensor<256x256xbf16>, %c: tensor<256xbf16>, %v: tensor<256x256xbf16>, %d: tensor<256xbf16>, %ct: tensor<4x128x256xbf16>) -> (tensor<4x128x256xbf16>, tensor<4x128x256xbf16>, tensor<256x256xbf16>, tensor<256xbf16>, tensor<256x256xbf16>, tensor<256xbf16>) {
  %r:6 = sparse_autograd.vjp @feed_forward(%x, %w, %c, %v, %d) cotangents(%ct) {wrt = [0, 1, 2, 3, 4]}
      : (tensor<4x128x256xbf16>, tensor<256x256xbf16>, tensor<256xbf16>, tensor<256x256xbf16>, tensor<256xbf16>), (tensor<4x128x256xbf16>) -> (tensor<4x128x256xbf16>, tensor<4x128x256xbf16>, tensor<256x256xbf16>, tensor<256xbf16>, tensor<256x256xbf16>, tensor<256xbf16>)
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : tensor<4x128x256xbf16>, tensor<4x128x256xbf16>, tensor<256x256xbf16>, tensor<256xbf16>, tensor<256x256xbf16>, tensor<256xbf16>
}
