// Products of f16 and bf16 with factors stored either way, of known and of open
// extents, with results of f32 and of the narrow type, and a gradient.

#ik = affine_map<(i, j, k) -> (i, k)>
#ki = affine_map<(i, j, k) -> (k, i)>
#kj = affine_map<(i, j, k) -> (k, j)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>

func.func @into_f32(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @left_transposed(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %r = linalg.generic {indexing_maps = [#ki, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf16>) {
  ^bb0(%x: f16, %y: f16, %s: f16):
    %m = arith.mulf %x, %y : f16
    %t = arith.addf %s, %m : f16
    linalg.yield %t : f16
  } -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}

func.func @right_transposed(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %c: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %r = linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%c : tensor<?x?xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %s: bf16):
    %m = arith.mulf %x, %y : bf16
    %t = arith.addf %s, %m : bf16
    linalg.yield %t : bf16
  } -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}

func.func @both_transposed(%a: tensor<512x4096xf16>, %b: tensor<8192x512xf16>) -> tensor<4096x8192xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<4096x8192xf16>
  %n = linalg.fill ins(%zero : f16) outs(%e : tensor<4096x8192xf16>) -> tensor<4096x8192xf16>
  %p = linalg.generic {indexing_maps = [#ki, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<512x4096xf16>, tensor<8192x512xf16>) outs(%n : tensor<4096x8192xf16>) {
  ^bb0(%x: f16, %y: f16, %s: f16):
    %m = arith.mulf %x, %y : f16
    %t = arith.addf %s, %m : f16
    linalg.yield %t : f16
  } -> tensor<4096x8192xf16>
  %r = math.tanh %p : tensor<4096x8192xf16>
  return %r : tensor<4096x8192xf16>
}

func.func private @loss(%x: tensor<?x?xbf16>, %w: tensor<?x?xbf16>, %n: tensor<?x?xbf16>) -> bf16 {
  %y = linalg.matmul ins(%x, %w : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%n : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  %t = math.tanh %y : tensor<?x?xbf16>
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<bf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<bf16>) -> tensor<bf16>
  %s = linalg.reduce {arith.addf} ins(%t : tensor<?x?xbf16>) outs(%f : tensor<bf16>) dimensions = [0, 1]
  %l = tensor.extract %s[] : tensor<bf16>
  return %l : bf16
}

func.func @gradient(%x: tensor<?x?xbf16>, %w: tensor<?x?xbf16>, %n: tensor<?x?xbf16>) -> (bf16, tensor<?x?xbf16>, tensor<?x?xbf16>) {
  %l, %dx, %dw = sparse_autograd.value_and_grad @loss(%x, %w, %n) {wrt = [0, 1]}
      : (tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?xbf16>) -> (bf16, tensor<?x?xbf16>, tensor<?x?xbf16>)
  return %l, %dx, %dw : bf16, tensor<?x?xbf16>, tensor<?x?xbf16>
}
