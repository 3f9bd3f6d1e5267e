#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

func.func private @f(%x: tensor<8x16xf32>, %m: tensor<8x16xi1>) -> tensor<8xf32> {
  %y = sparse_autograd.masked_reduce mean %x, %m dims = [1] : tensor<8x16xf32>, tensor<8x16xi1> -> tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func @generated(%x: tensor<8x16xf32>, %m: tensor<8x16xi1>, %ct: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x16xf32>) {
  %r:2 = sparse_autograd.vjp @f(%x, %m) cotangents(%ct) {wrt = [0]} : (tensor<8x16xf32>, tensor<8x16xi1>), (tensor<8xf32>) -> (tensor<8xf32>, tensor<8x16xf32>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8x16xf32>
}

// Sum and count in one pass, one division for a row, one select for an element
// of the gradient.
func.func @by_hand(%x: tensor<8x16xf32>, %m: tensor<8x16xi1>, %ct: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %zeros = arith.constant dense<0> : tensor<8xi64>
  %zero_f = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i64
  %empty = tensor.empty() : tensor<8xf32>
  %sum, %count = linalg.generic {indexing_maps = [#id, #id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %m : tensor<8x16xf32>, tensor<8x16xi1>) outs(%zero, %zeros : tensor<8xf32>, tensor<8xi64>) {
  ^bb0(%a: f32, %b: i1, %s: f32, %n: i64):
    %v = arith.select %b, %a, %zero_f : f32
    %t = arith.addf %s, %v : f32
    %one = arith.extui %b : i1 to i64
    %k = arith.addi %n, %one : i64
    linalg.yield %t, %k : f32, i64
  } -> (tensor<8xf32>, tensor<8xi64>)
  %y, %share = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%sum, %count, %ct : tensor<8xf32>, tensor<8xi64>, tensor<8xf32>) outs(%empty, %empty : tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%s: f32, %n: i64, %c: f32, %o: f32, %p: f32):
    %least = arith.maxsi %n, %c1 : i64
    %f = arith.sitofp %least : i64 to f32
    %q = arith.divf %s, %f : f32
    %r = arith.divf %c, %f : f32
    linalg.yield %q, %r : f32, f32
  } -> (tensor<8xf32>, tensor<8xf32>)
  %empty_x = tensor.empty() : tensor<8x16xf32>
  %dx = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %share : tensor<8x16xi1>, tensor<8xf32>) outs(%empty_x : tensor<8x16xf32>) {
  ^bb0(%b: i1, %c: f32, %out: f32):
    %v = arith.select %b, %c, %zero_f : f32
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  return %y, %dx : tensor<8xf32>, tensor<8x16xf32>
}
