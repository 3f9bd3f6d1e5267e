#lhs = affine_map<(i, j, k) -> (i, k)>
#rhs = affine_map<(i, j, k) -> (k, j)>
#lhs_transposed = affine_map<(i, j, k) -> (k, i)>
#rhs_transposed = affine_map<(i, j, k) -> (j, k)>
#result = affine_map<(i, j, k) -> (i, j)>

func.func private @f(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>, %c: tensor<16x2xf32>) -> tensor<8x2xf32> {
  %zero_p = arith.constant dense<0.0> : tensor<4x2xf32>
  %zero = arith.constant dense<0.0> : tensor<8x2xf32>
  %p = linalg.matmul ins(%b, %c : tensor<4x16xf32>, tensor<16x2xf32>) outs(%zero_p : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = linalg.matmul ins(%a, %p : tensor<8x4xf32>, tensor<4x2xf32>) outs(%zero : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

func.func @generated(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>, %c: tensor<16x2xf32>, %ct: tensor<8x2xf32>)
    -> (tensor<8x2xf32>, tensor<8x4xf32>, tensor<4x16xf32>, tensor<16x2xf32>) {
  %r:4 = sparse_autograd.vjp @f(%a, %b, %c) cotangents(%ct) {wrt = [0, 1, 2]} : (tensor<8x4xf32>, tensor<4x16xf32>, tensor<16x2xf32>), (tensor<8x2xf32>)
      -> (tensor<8x2xf32>, tensor<8x4xf32>, tensor<4x16xf32>, tensor<16x2xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<8x2xf32>, tensor<8x4xf32>, tensor<4x16xf32>, tensor<16x2xf32>
}

func.func @by_hand(%a: tensor<8x4xf32>, %b: tensor<4x16xf32>, %c: tensor<16x2xf32>, %ct: tensor<8x2xf32>)
    -> (tensor<8x2xf32>, tensor<8x4xf32>, tensor<4x16xf32>, tensor<16x2xf32>) {
  %zero_p = arith.constant dense<0.0> : tensor<4x2xf32>
  %zero = arith.constant dense<0.0> : tensor<8x2xf32>
  %zero_a = arith.constant dense<0.0> : tensor<8x4xf32>
  %zero_b = arith.constant dense<0.0> : tensor<4x16xf32>
  %zero_c = arith.constant dense<0.0> : tensor<16x2xf32>
  %p = linalg.matmul ins(%b, %c : tensor<4x16xf32>, tensor<16x2xf32>) outs(%zero_p : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = linalg.matmul ins(%a, %p : tensor<8x4xf32>, tensor<4x2xf32>) outs(%zero : tensor<8x2xf32>) -> tensor<8x2xf32>
  %da = linalg.matmul indexing_maps = [#lhs, #rhs_transposed, #result] ins(%ct, %p : tensor<8x2xf32>, tensor<4x2xf32>) outs(%zero_a : tensor<8x4xf32>) -> tensor<8x4xf32>
  %dp = linalg.matmul indexing_maps = [#lhs_transposed, #rhs, #result] ins(%a, %ct : tensor<8x4xf32>, tensor<8x2xf32>) outs(%zero_p : tensor<4x2xf32>) -> tensor<4x2xf32>
  %db = linalg.matmul indexing_maps = [#lhs, #rhs_transposed, #result] ins(%dp, %c : tensor<4x2xf32>, tensor<16x2xf32>) outs(%zero_b : tensor<4x16xf32>) -> tensor<4x16xf32>
  %dc = linalg.matmul indexing_maps = [#lhs_transposed, #rhs, #result] ins(%b, %dp : tensor<4x16xf32>, tensor<4x2xf32>) outs(%zero_c : tensor<16x2xf32>) -> tensor<16x2xf32>
  return %y, %da, %db, %dc : tensor<8x2xf32>, tensor<8x4xf32>, tensor<4x16xf32>, tensor<16x2xf32>
}
