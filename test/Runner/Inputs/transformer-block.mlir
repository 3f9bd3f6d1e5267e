// A block of a transformer in f32, on 2 sequences of 5 vectors of 16 numbers:
// normalization, attention with 2 heads, a network of two layers, and the mean
// square error. Its differences in f32 are too coarse to judge its gradients.

#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> (i, j)>
#left = affine_map<(b, i, j, k) -> (b, i, k)>
#right = affine_map<(b, i, j, k) -> (b, j, k)>
#value = affine_map<(b, i, j, k) -> (b, k, j)>
#out = affine_map<(b, i, j, k) -> (b, i, j)>

func.func private @heads(%x: tensor<10x16xf32>) -> tensor<4x5x8xf32> {
  %e = tensor.expand_shape %x [[0, 1], [2, 3]] output_shape [2, 5, 2, 8] : tensor<10x16xf32> into tensor<2x5x2x8xf32>
  %i = tensor.empty() : tensor<2x2x5x8xf32>
  %t = linalg.transpose ins(%e : tensor<2x5x2x8xf32>) outs(%i : tensor<2x2x5x8xf32>) permutation = [0, 2, 1, 3]
  %c = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<2x2x5x8xf32> into tensor<4x5x8xf32>
  return %c : tensor<4x5x8xf32>
}

func.func private @add_bias(%x: tensor<10x16xf32>, %b: tensor<16xf32>) -> tensor<10x16xf32> {
  %i = tensor.empty() : tensor<10x16xf32>
  %r = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<10x16xf32>, tensor<16xf32>) outs(%i : tensor<10x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<10x16xf32>
  return %r : tensor<10x16xf32>
}

func.func private @project(%x: tensor<10x16xf32>, %w: tensor<16x16xf32>, %b: tensor<16xf32>) -> tensor<10x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<10x16xf32>
  %p = linalg.matmul ins(%x, %w : tensor<10x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<10x16xf32>) -> tensor<10x16xf32>
  %r = func.call @add_bias(%p, %b) : (tensor<10x16xf32>, tensor<16xf32>) -> tensor<10x16xf32>
  return %r : tensor<10x16xf32>
}

func.func private @normalize(%x: tensor<10x16xf32>, %g: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<10x16xf32> {
  %mean = sparse_autograd.masked_reduce mean %x dims = [1] : tensor<10x16xf32> -> tensor<10xf32>
  %i = tensor.empty() : tensor<10x16xf32>
  %d = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : tensor<10x16xf32>, tensor<10xf32>) outs(%i : tensor<10x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.subf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<10x16xf32>
  %square = arith.mulf %d, %d : tensor<10x16xf32>
  %variance = sparse_autograd.masked_reduce mean %square dims = [1] : tensor<10x16xf32> -> tensor<10xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #column, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%d, %variance, %g, %b : tensor<10x16xf32>, tensor<10xf32>, tensor<16xf32>, tensor<16xf32>) outs(%i : tensor<10x16xf32>) {
  ^bb0(%p: f32, %v: f32, %scale: f32, %shift: f32, %o: f32):
    %eps = arith.constant 1.0e-05 : f32
    %w = arith.addf %v, %eps : f32
    %s = math.rsqrt %w : f32
    %n = arith.mulf %p, %s : f32
    %m = arith.mulf %n, %scale : f32
    %y = arith.addf %m, %shift : f32
    linalg.yield %y : f32
  } -> tensor<10x16xf32>
  return %r : tensor<10x16xf32>
}

func.func private @attend(%q: tensor<4x5x8xf32>, %k: tensor<4x5x8xf32>, %v: tensor<4x5x8xf32>) -> tensor<10x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x5x5xf32>
  %scores = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<4x5x8xf32>, tensor<4x5x8xf32>) outs(%zero : tensor<4x5x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x5x5xf32>
  %root = arith.constant dense<0.353553385> : tensor<4x5x5xf32>
  %scaled = arith.mulf %scores, %root : tensor<4x5x5xf32>
  %p = sparse_autograd.masked_softmax %scaled dims = [2] : tensor<4x5x5xf32>
  %zeros = arith.constant dense<0.0> : tensor<4x5x8xf32>
  %a = linalg.generic {indexing_maps = [#left, #value, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<4x5x5xf32>, tensor<4x5x8xf32>) outs(%zeros : tensor<4x5x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x5x8xf32>
  %e = tensor.expand_shape %a [[0, 1], [2], [3]] output_shape [2, 2, 5, 8] : tensor<4x5x8xf32> into tensor<2x2x5x8xf32>
  %i = tensor.empty() : tensor<2x5x2x8xf32>
  %t = linalg.transpose ins(%e : tensor<2x2x5x8xf32>) outs(%i : tensor<2x5x2x8xf32>) permutation = [0, 2, 1, 3]
  %c = tensor.collapse_shape %t [[0, 1], [2, 3]] : tensor<2x5x2x8xf32> into tensor<10x16xf32>
  return %c : tensor<10x16xf32>
}

func.func @loss(%g: tensor<16xf32>, %b: tensor<16xf32>,
                %wq: tensor<16x16xf32>, %wk: tensor<16x16xf32>, %wv: tensor<16x16xf32>,
                %bq: tensor<16xf32>, %wo: tensor<16x16xf32>, %bo: tensor<16xf32>,
                %w1: tensor<16x32xf32>, %w2: tensor<32x16xf32>,
                %x: tensor<10x16xf32>, %y: tensor<10x16xf32>) -> f32 {
  %n = func.call @normalize(%x, %g, %b) : (tensor<10x16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<10x16xf32>
  %q = func.call @project(%n, %wq, %bq) : (tensor<10x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<10x16xf32>
  %k = func.call @project(%n, %wk, %bq) : (tensor<10x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<10x16xf32>
  %v = func.call @project(%n, %wv, %bq) : (tensor<10x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<10x16xf32>
  %hq = func.call @heads(%q) : (tensor<10x16xf32>) -> tensor<4x5x8xf32>
  %hk = func.call @heads(%k) : (tensor<10x16xf32>) -> tensor<4x5x8xf32>
  %hv = func.call @heads(%v) : (tensor<10x16xf32>) -> tensor<4x5x8xf32>
  %a = func.call @attend(%hq, %hk, %hv) : (tensor<4x5x8xf32>, tensor<4x5x8xf32>, tensor<4x5x8xf32>) -> tensor<10x16xf32>
  %o = func.call @project(%a, %wo, %bo) : (tensor<10x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<10x16xf32>
  %r = arith.addf %x, %o : tensor<10x16xf32>
  %zero1 = arith.constant dense<0.0> : tensor<10x32xf32>
  %h = linalg.matmul ins(%r, %w1 : tensor<10x16xf32>, tensor<16x32xf32>) outs(%zero1 : tensor<10x32xf32>) -> tensor<10x32xf32>
  %half = arith.constant dense<0.5> : tensor<10x32xf32>
  %one = arith.constant dense<1.0> : tensor<10x32xf32>
  %root2 = arith.constant dense<1.41421354> : tensor<10x32xf32>
  %h2 = arith.divf %h, %root2 : tensor<10x32xf32>
  %erf = math.erf %h2 : tensor<10x32xf32>
  %e1 = arith.addf %erf, %one : tensor<10x32xf32>
  %e2 = arith.mulf %e1, %half : tensor<10x32xf32>
  %gelu = arith.mulf %h, %e2 : tensor<10x32xf32>
  %zero2 = arith.constant dense<0.0> : tensor<10x16xf32>
  %f = linalg.matmul ins(%gelu, %w2 : tensor<10x32xf32>, tensor<32x16xf32>) outs(%zero2 : tensor<10x16xf32>) -> tensor<10x16xf32>
  %z = arith.addf %r, %f : tensor<10x16xf32>
  %d = arith.subf %z, %y : tensor<10x16xf32>
  %square = arith.mulf %d, %d : tensor<10x16xf32>
  %mean = sparse_autograd.masked_reduce mean %square dims = [0, 1] : tensor<10x16xf32> -> tensor<f32>
  %l = tensor.extract %mean[] : tensor<f32>
  return %l : f32
}
