// s = K q, p = softmax(s), o = V^T p. With dp = V ct, ds = p (dp - <p, dp>).
#matrix = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
#columns = affine_map<(i, j) -> (j)>
#line = affine_map<(i) -> (i)>
#all = affine_map<(i) -> ()>

func.func private @f(%q: tensor<4xf32>, %k: tensor<16x4xf32>, %v: tensor<16x8xf32>) -> tensor<8xf32> {
  %zero_s = arith.constant dense<0.0> : tensor<16xf32>
  %zero_o = arith.constant dense<0.0> : tensor<8xf32>
  %s = linalg.matvec ins(%k, %q : tensor<16x4xf32>, tensor<4xf32>) outs(%zero_s : tensor<16xf32>) -> tensor<16xf32>
  %p = sparse_autograd.masked_softmax %s dims = [0] : tensor<16xf32>
  %o = linalg.vecmat ins(%p, %v : tensor<16xf32>, tensor<16x8xf32>) outs(%zero_o : tensor<8xf32>) -> tensor<8xf32>
  return %o : tensor<8xf32>
}

func.func @generated(%q: tensor<4xf32>, %k: tensor<16x4xf32>, %v: tensor<16x8xf32>, %ct: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<4xf32>, tensor<16x4xf32>, tensor<16x8xf32>) {
  %r:4 = sparse_autograd.vjp @f(%q, %k, %v) cotangents(%ct) {wrt = [0, 1, 2]} : (tensor<4xf32>, tensor<16x4xf32>, tensor<16x8xf32>), (tensor<8xf32>)
      -> (tensor<8xf32>, tensor<4xf32>, tensor<16x4xf32>, tensor<16x8xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<8xf32>, tensor<4xf32>, tensor<16x4xf32>, tensor<16x8xf32>
}

func.func @by_hand(%q: tensor<4xf32>, %k: tensor<16x4xf32>, %v: tensor<16x8xf32>, %ct: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<4xf32>, tensor<16x4xf32>, tensor<16x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %zero_q = arith.constant dense<0.0> : tensor<4xf32>
  %zero_s = arith.constant dense<0.0> : tensor<16xf32>
  %zero_o = arith.constant dense<0.0> : tensor<8xf32>
  %s = linalg.matvec ins(%k, %q : tensor<16x4xf32>, tensor<4xf32>) outs(%zero_s : tensor<16xf32>) -> tensor<16xf32>
  %p = sparse_autograd.masked_softmax %s dims = [0] : tensor<16xf32>
  %o = linalg.vecmat ins(%p, %v : tensor<16xf32>, tensor<16x8xf32>) outs(%zero_o : tensor<8xf32>) -> tensor<8xf32>
  %dp = linalg.matvec ins(%v, %ct : tensor<16x8xf32>, tensor<8xf32>) outs(%zero_s : tensor<16xf32>) -> tensor<16xf32>
  %along = linalg.dot ins(%p, %dp : tensor<16xf32>, tensor<16xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %empty_s = tensor.empty() : tensor<16xf32>
  %ds = linalg.generic {indexing_maps = [#line, #line, #all, #line], iterator_types = ["parallel"]}
      ins(%p, %dp, %along : tensor<16xf32>, tensor<16xf32>, tensor<f32>) outs(%empty_s : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %d = arith.subf %b, %c : f32
    %e = arith.mulf %a, %d : f32
    linalg.yield %e : f32
  } -> tensor<16xf32>
  %dq = linalg.vecmat ins(%ds, %k : tensor<16xf32>, tensor<16x4xf32>) outs(%zero_q : tensor<4xf32>) -> tensor<4xf32>
  %empty_k = tensor.empty() : tensor<16x4xf32>
  %dk = linalg.generic {indexing_maps = [#rows, #columns, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%ds, %q : tensor<16xf32>, tensor<4xf32>) outs(%empty_k : tensor<16x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %e = arith.mulf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<16x4xf32>
  %empty_v = tensor.empty() : tensor<16x8xf32>
  %dv = linalg.generic {indexing_maps = [#rows, #columns, #matrix], iterator_types = ["parallel", "parallel"]}
      ins(%p, %ct : tensor<16xf32>, tensor<8xf32>) outs(%empty_v : tensor<16x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %e = arith.mulf %a, %b : f32
    linalg.yield %e : f32
  } -> tensor<16x8xf32>
  return %o, %dq, %dk, %dv : tensor<8xf32>, tensor<4xf32>, tensor<16x4xf32>, tensor<16x8xf32>
}
