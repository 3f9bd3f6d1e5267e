// The mean of logsumexp(x) - x[label]; its gradient is (softmax(x) - onehot) / n.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#line = affine_map<(i) -> (i)>
#all = affine_map<(i) -> ()>

func.func private @f(%x: tensor<8x16xf32>, %label: tensor<8xi64>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %zero_s = arith.constant dense<0.0> : tensor<f32>
  %zero_f = arith.constant 0.0 : f32
  %n = arith.constant dense<8.0> : tensor<f32>
  %lse = sparse_autograd.masked_reduce logsumexp %x dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %picked = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %label : tensor<8x16xf32>, tensor<8xi64>) outs(%zero : tensor<8xf32>) {
  ^bb0(%a: f32, %l: i64, %out: f32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpi eq, %k, %l : i64
    %v = arith.select %c, %a, %zero_f : f32
    %s = arith.addf %out, %v : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#line, #line, #all], iterator_types = ["reduction"]} ins(%lse, %picked : tensor<8xf32>, tensor<8xf32>) outs(%zero_s : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %d = arith.subf %a, %b : f32
    %s = arith.addf %out, %d : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %mean = arith.divf %sum, %n : tensor<f32>
  return %mean : tensor<f32>
}

func.func @generated(%x: tensor<8x16xf32>, %label: tensor<8xi64>) -> (tensor<f32>, tensor<8x16xf32>) {
  %r:2 = sparse_autograd.value_and_grad @f(%x, %label) {wrt = [0]} : (tensor<8x16xf32>, tensor<8xi64>) -> (tensor<f32>, tensor<8x16xf32>)
  return %r#0, %r#1 : tensor<f32>, tensor<8x16xf32>
}

func.func @by_hand(%x: tensor<8x16xf32>, %label: tensor<8xi64>) -> (tensor<f32>, tensor<8x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %zero_s = arith.constant dense<0.0> : tensor<f32>
  %zero_f = arith.constant 0.0 : f32
  %share = arith.constant 0.125 : f32
  %n = arith.constant dense<8.0> : tensor<f32>
  %lse = sparse_autograd.masked_reduce logsumexp %x dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %picked = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %label : tensor<8x16xf32>, tensor<8xi64>) outs(%zero : tensor<8xf32>) {
  ^bb0(%a: f32, %l: i64, %out: f32):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpi eq, %k, %l : i64
    %v = arith.select %c, %a, %zero_f : f32
    %s = arith.addf %out, %v : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#line, #line, #all], iterator_types = ["reduction"]} ins(%lse, %picked : tensor<8xf32>, tensor<8xf32>) outs(%zero_s : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %d = arith.subf %a, %b : f32
    %s = arith.addf %out, %d : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %mean = arith.divf %sum, %n : tensor<f32>
  %empty = tensor.empty() : tensor<8x16xf32>
  %dx = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %lse, %label : tensor<8x16xf32>, tensor<8xf32>, tensor<8xi64>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %l: i64, %out: f32):
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpi eq, %k, %l : i64
    %v = arith.select %c, %share, %zero_f : f32
    %p = arith.mulf %e, %share : f32
    %g = arith.subf %p, %v : f32
    linalg.yield %g : f32
  } -> tensor<8x16xf32>
  return %mean, %dx : tensor<f32>, tensor<8x16xf32>
}
