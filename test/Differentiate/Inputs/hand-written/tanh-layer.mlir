#rows = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
#lhs = affine_map<(i, j, k) -> (i, k)>
#rhs = affine_map<(i, j, k) -> (k, j)>
#lhs_transposed = affine_map<(i, j, k) -> (k, i)>
#rhs_transposed = affine_map<(i, j, k) -> (j, k)>
#result = affine_map<(i, j, k) -> (i, j)>

func.func private @f(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%zero : tensor<8x4xf32>) -> tensor<8x4xf32>
  %empty = tensor.empty() : tensor<8x4xf32>
  %y = linalg.generic {indexing_maps = [#rows, #columns, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<8x4xf32>, tensor<4xf32>) outs(%empty : tensor<8x4xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %z = arith.addf %a, %c : f32
    %v = math.tanh %z : f32
    linalg.yield %v : f32
  } -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

func.func @generated(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %b: tensor<4xf32>, %ct: tensor<8x4xf32>)
    -> (tensor<8x4xf32>, tensor<8x16xf32>, tensor<16x4xf32>, tensor<4xf32>) {
  %r:4 = sparse_autograd.vjp @f(%x, %w, %b) cotangents(%ct) {wrt = [0, 1, 2]} : (tensor<8x16xf32>, tensor<16x4xf32>, tensor<4xf32>), (tensor<8x4xf32>)
      -> (tensor<8x4xf32>, tensor<8x16xf32>, tensor<16x4xf32>, tensor<4xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<8x4xf32>, tensor<8x16xf32>, tensor<16x4xf32>, tensor<4xf32>
}

func.func @by_hand(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %b: tensor<4xf32>, %ct: tensor<8x4xf32>)
    -> (tensor<8x4xf32>, tensor<8x16xf32>, tensor<16x4xf32>, tensor<4xf32>) {
  %y = func.call @f(%x, %w, %b) : (tensor<8x16xf32>, tensor<16x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %empty = tensor.empty() : tensor<8x4xf32>
  %dz = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%y, %ct : tensor<8x4xf32>, tensor<8x4xf32>) outs(%empty : tensor<8x4xf32>) {
  ^bb0(%v: f32, %c: f32, %out: f32):
    %one = arith.constant 1.0 : f32
    // Not 1 - v * v, which rounds away what is left near 1.
    %below = arith.subf %one, %v : f32
    %above = arith.addf %one, %v : f32
    %slope = arith.mulf %below, %above : f32
    %d = arith.mulf %c, %slope : f32
    linalg.yield %d : f32
  } -> tensor<8x4xf32>
  %zero_x = arith.constant dense<0.0> : tensor<8x16xf32>
  %dx = linalg.matmul indexing_maps = [#lhs, #rhs_transposed, #result]
      ins(%dz, %w : tensor<8x4xf32>, tensor<16x4xf32>) outs(%zero_x : tensor<8x16xf32>) -> tensor<8x16xf32>
  %zero_w = arith.constant dense<0.0> : tensor<16x4xf32>
  %dw = linalg.matmul indexing_maps = [#lhs_transposed, #rhs, #result]
      ins(%x, %dz : tensor<8x16xf32>, tensor<8x4xf32>) outs(%zero_w : tensor<16x4xf32>) -> tensor<16x4xf32>
  %zero_b = arith.constant dense<0.0> : tensor<4xf32>
  %db = linalg.generic {indexing_maps = [#rows, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%dz : tensor<8x4xf32>) outs(%zero_b : tensor<4xf32>) {
  ^bb0(%c: f32, %out: f32):
    %s = arith.addf %out, %c : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y, %dx, %dw, %db : tensor<8x4xf32>, tensor<8x16xf32>, tensor<16x4xf32>, tensor<4xf32>
}
