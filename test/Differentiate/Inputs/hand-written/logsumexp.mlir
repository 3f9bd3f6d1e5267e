#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

func.func private @f(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %y = sparse_autograd.masked_reduce logsumexp %x dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func @generated(%x: tensor<8x16xf32>, %ct: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x16xf32>) {
  %r:2 = sparse_autograd.vjp @f(%x) cotangents(%ct) {wrt = [0]} : (tensor<8x16xf32>), (tensor<8xf32>) -> (tensor<8xf32>, tensor<8x16xf32>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8x16xf32>
}

func.func @by_hand(%x: tensor<8x16xf32>, %ct: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x16xf32>) {
  %y = sparse_autograd.masked_reduce logsumexp %x dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %empty = tensor.empty() : tensor<8x16xf32>
  %dx = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %ct : tensor<8x16xf32>, tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %l: f32, %c: f32, %out: f32):
    %d = arith.subf %a, %l : f32
    %e = math.exp %d : f32
    %g = arith.mulf %e, %c : f32
    linalg.yield %g : f32
  } -> tensor<8x16xf32>
  return %y, %dx : tensor<8xf32>, tensor<8x16xf32>
}
