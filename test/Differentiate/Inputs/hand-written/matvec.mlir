func.func private @f(%a: tensor<8x16xf32>, %x: tensor<16xf32>) -> tensor<8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %y = linalg.matvec ins(%a, %x : tensor<8x16xf32>, tensor<16xf32>) outs(%zero : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func @generated(%a: tensor<8x16xf32>, %x: tensor<16xf32>, %ct: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x16xf32>, tensor<16xf32>) {
  %r:3 = sparse_autograd.vjp @f(%a, %x) cotangents(%ct) {wrt = [0, 1]} : (tensor<8x16xf32>, tensor<16xf32>), (tensor<8xf32>) -> (tensor<8xf32>, tensor<8x16xf32>, tensor<16xf32>)
  return %r#0, %r#1, %r#2 : tensor<8xf32>, tensor<8x16xf32>, tensor<16xf32>
}

func.func @by_hand(%a: tensor<8x16xf32>, %x: tensor<16xf32>, %ct: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x16xf32>, tensor<16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %y = linalg.matvec ins(%a, %x : tensor<8x16xf32>, tensor<16xf32>) outs(%zero : tensor<8xf32>) -> tensor<8xf32>
  %empty = tensor.empty() : tensor<8x16xf32>
  %da = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%ct, %x : tensor<8xf32>, tensor<16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%c: f32, %b: f32, %out: f32):
    %p = arith.mulf %c, %b : f32
    linalg.yield %p : f32
  } -> tensor<8x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16xf32>
  %dx = linalg.vecmat ins(%ct, %a : tensor<8xf32>, tensor<8x16xf32>) outs(%zeros : tensor<16xf32>) -> tensor<16xf32>
  return %y, %da, %dx : tensor<8xf32>, tensor<8x16xf32>, tensor<16xf32>
}
