// The mean of logsumexp(x) - x[label]; its gradient is (softmax(x) - onehot) / n, the
// softmax being that of R8.
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
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %one = arith.constant 1.0 : f32
  %inf = arith.constant 0x7F800000 : f32
  %neg_inf = arith.constant 0xFF800000 : f32
  %empty_row = tensor.empty() : tensor<8xf32>
  %zero_s = arith.constant dense<0.0> : tensor<f32>
  %zero_f = arith.constant 0.0 : f32
  %part = arith.constant 0.125 : f32
  %n = arith.constant dense<8.0> : tensor<f32>
  %lse = sparse_autograd.masked_reduce logsumexp %x dims = [1] : tensor<8x16xf32> -> tensor<8xf32>
  %picked = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %label : tensor<8x16xf32>, tensor<8xi64>) outs(%zeros : tensor<8xf32>) {
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
  %counts = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x16xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %is = arith.cmpf oeq, %a, %inf : f32
    %one_f = arith.uitofp %is : i1 to f32
    %s = arith.addf %out, %one_f : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %shift, %share = linalg.generic {indexing_maps = [#line, #line, #line, #line], iterator_types = ["parallel"]}
      ins(%lse, %counts : tensor<8xf32>, tensor<8xf32>) outs(%empty_row, %empty_row : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%l: f32, %m: f32, %o: f32, %q: f32):
    // exp(x - inf) is 0. Beside a NaN there are no shares.
    %is_lowest = arith.cmpf oeq, %l, %neg_inf : f32
    %b = arith.select %is_lowest, %inf, %l : f32
    %each = arith.divf %one, %m : f32
    %is_inf = arith.cmpf oeq, %l, %inf : f32
    %c = arith.select %is_inf, %each, %l : f32
    linalg.yield %b, %c : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  %empty = tensor.empty() : tensor<8x16xf32>
  %dx = linalg.generic {indexing_maps = [#id, #row, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %shift, %share, %label : tensor<8x16xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi64>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32, %l: i64, %out: f32):
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    %is = arith.cmpf oeq, %a, %inf : f32
    %w = arith.select %is, %s, %e : f32
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpi eq, %k, %l : i64
    %v = arith.select %c, %part, %zero_f : f32
    %p = arith.mulf %w, %part : f32
    %g = arith.subf %p, %v : f32
    linalg.yield %g : f32
  } -> tensor<8x16xf32>
  return %mean, %dx : tensor<f32>, tensor<8x16xf32>
}
