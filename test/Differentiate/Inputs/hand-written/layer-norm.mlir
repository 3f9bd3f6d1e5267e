// xhat = (x - mean) r with r = 1 / sqrt(var + eps), y = xhat w + b. With
// d = ct w, dx = r (d - mean(d) - xhat mean(d xhat)), dw = sum(ct xhat), db = sum(ct).
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#line = affine_map<(i) -> (i)>

func.func private @f(%x: tensor<8x16xf32>, %w: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<8x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %n = arith.constant 16.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %empty = tensor.empty() : tensor<8x16xf32>
  %empty_row = tensor.empty() : tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x16xf32>) outs(%zero : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %mean = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%sum : tensor<8xf32>) outs(%empty_row : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.divf %a, %n : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %c = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %mean : tensor<8x16xf32>, tensor<8xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %m: f32, %out: f32):
    %s = arith.subf %a, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<8x16xf32>) outs(%zero : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %p = arith.mulf %a, %a : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%squares : tensor<8xf32>) outs(%empty_row : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %v = arith.divf %a, %n : f32
    %e = arith.addf %v, %eps : f32
    %s = math.rsqrt %e : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %r, %w, %b : tensor<8x16xf32>, tensor<8xf32>, tensor<16xf32>, tensor<16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %s: f32, %u: f32, %v: f32, %out: f32):
    %p = arith.mulf %a, %s : f32
    %q = arith.mulf %p, %u : f32
    %t = arith.addf %q, %v : f32
    linalg.yield %t : f32
  } -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

func.func @generated(%x: tensor<8x16xf32>, %w: tensor<16xf32>, %b: tensor<16xf32>, %ct: tensor<8x16xf32>)
    -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %r:4 = sparse_autograd.vjp @f(%x, %w, %b) cotangents(%ct) {wrt = [0, 1, 2]} : (tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>), (tensor<8x16xf32>)
      -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>
}

func.func @by_hand(%x: tensor<8x16xf32>, %w: tensor<16xf32>, %b: tensor<16xf32>, %ct: tensor<8x16xf32>)
    -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %zeros = arith.constant dense<0.0> : tensor<16xf32>
  %n = arith.constant 16.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %empty = tensor.empty() : tensor<8x16xf32>
  %empty_row = tensor.empty() : tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x16xf32>) outs(%zero : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %mean = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%sum : tensor<8xf32>) outs(%empty_row : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.divf %a, %n : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %c = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %mean : tensor<8x16xf32>, tensor<8xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %m: f32, %out: f32):
    %s = arith.subf %a, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<8x16xf32>) outs(%zero : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %p = arith.mulf %a, %a : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%squares : tensor<8xf32>) outs(%empty_row : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %v = arith.divf %a, %n : f32
    %e = arith.addf %v, %eps : f32
    %s = math.rsqrt %e : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %xhat = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%c, %r : tensor<8x16xf32>, tensor<8xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %m: f32, %out: f32):
    %s = arith.mulf %a, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  %y = linalg.generic {indexing_maps = [#id, #column, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%xhat, %w, %b : tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %u: f32, %v: f32, %out: f32):
    %q = arith.mulf %a, %u : f32
    %t = arith.addf %q, %v : f32
    linalg.yield %t : f32
  } -> tensor<8x16xf32>
  %d = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%ct, %w : tensor<8x16xf32>, tensor<16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %q = arith.mulf %a, %u : f32
    linalg.yield %q : f32
  } -> tensor<8x16xf32>
  %sums:2 = linalg.generic {indexing_maps = [#id, #id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%d, %xhat : tensor<8x16xf32>, tensor<8x16xf32>) outs(%zero, %zero : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %h: f32, %out: f32, %out2: f32):
    %s = arith.addf %out, %a : f32
    %p = arith.mulf %a, %h : f32
    %t = arith.addf %out2, %p : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  %means:2 = linalg.generic {indexing_maps = [#line, #line, #line, #line], iterator_types = ["parallel"]} ins(%sums#0, %sums#1 : tensor<8xf32>, tensor<8xf32>) outs(%empty_row, %empty_row : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: f32, %e: f32, %o: f32, %p: f32):
    %s = arith.divf %a, %n : f32
    %t = arith.divf %e, %n : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  %dx = linalg.generic {indexing_maps = [#id, #id, #row, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d, %xhat, %means#0, %means#1, %r : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%a: f32, %h: f32, %m: f32, %k: f32, %s: f32, %out: f32):
    %p = arith.mulf %h, %k : f32
    %q = arith.subf %a, %m : f32
    %t = arith.subf %q, %p : f32
    %v = arith.mulf %t, %s : f32
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %dw, %db = linalg.generic {indexing_maps = [#id, #id, #column, #column], iterator_types = ["reduction", "parallel"]} ins(%ct, %xhat : tensor<8x16xf32>, tensor<8x16xf32>) outs(%zeros, %zeros : tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%a: f32, %h: f32, %out: f32, %out2: f32):
    %p = arith.mulf %a, %h : f32
    %s = arith.addf %out, %p : f32
    %t = arith.addf %out2, %a : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<16xf32>, tensor<16xf32>)
  return %y, %dx, %dw, %db : tensor<8x16xf32>, tensor<8x16xf32>, tensor<16xf32>, tensor<16xf32>
}
