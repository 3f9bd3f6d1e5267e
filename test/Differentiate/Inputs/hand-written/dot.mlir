func.func private @f(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %dot = linalg.dot ins(%x, %y : tensor<16xf32>, tensor<16xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  return %dot : tensor<f32>
}

func.func @generated(%x: tensor<16xf32>, %y: tensor<16xf32>, %ct: tensor<f32>) -> (tensor<f32>, tensor<16xf32>, tensor<16xf32>) {
  %r:3 = sparse_autograd.vjp @f(%x, %y) cotangents(%ct) {wrt = [0, 1]} : (tensor<16xf32>, tensor<16xf32>), (tensor<f32>) -> (tensor<f32>, tensor<16xf32>, tensor<16xf32>)
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<16xf32>, tensor<16xf32>
}

func.func @by_hand(%x: tensor<16xf32>, %y: tensor<16xf32>, %ct: tensor<f32>) -> (tensor<f32>, tensor<16xf32>, tensor<16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %dot = linalg.dot ins(%x, %y : tensor<16xf32>, tensor<16xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %empty = tensor.empty() : tensor<16xf32>
  %dx = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y, %ct : tensor<16xf32>, tensor<f32>) outs(%empty : tensor<16xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %p = arith.mulf %a, %c : f32
    linalg.yield %p : f32
  } -> tensor<16xf32>
  %dy = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %ct : tensor<16xf32>, tensor<f32>) outs(%empty : tensor<16xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %p = arith.mulf %a, %c : f32
    linalg.yield %p : f32
  } -> tensor<16xf32>
  return %dot, %dx, %dy : tensor<f32>, tensor<16xf32>, tensor<16xf32>
}
