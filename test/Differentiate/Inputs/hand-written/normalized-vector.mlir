// y = x / |x|; its derivative is (ct - y <y, ct>) / |x|.
#id = affine_map<(i) -> (i)>
#all = affine_map<(i) -> ()>

func.func private @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<64xf32>
  %square = linalg.dot ins(%x, %x : tensor<64xf32>, tensor<64xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %r = math.rsqrt %square : tensor<f32>
  %y = linalg.generic {indexing_maps = [#id, #all, #id], iterator_types = ["parallel"]} ins(%x, %r : tensor<64xf32>, tensor<f32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %p = arith.mulf %a, %s : f32
    linalg.yield %p : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}

func.func @generated(%x: tensor<64xf32>, %ct: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %r:2 = sparse_autograd.vjp @f(%x) cotangents(%ct) {wrt = [0]} : (tensor<64xf32>), (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}

func.func @by_hand(%x: tensor<64xf32>, %ct: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<64xf32>
  %square = linalg.dot ins(%x, %x : tensor<64xf32>, tensor<64xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %r = math.rsqrt %square : tensor<f32>
  %y = linalg.generic {indexing_maps = [#id, #all, #id], iterator_types = ["parallel"]} ins(%x, %r : tensor<64xf32>, tensor<f32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %p = arith.mulf %a, %s : f32
    linalg.yield %p : f32
  } -> tensor<64xf32>
  %along = linalg.dot ins(%y, %ct : tensor<64xf32>, tensor<64xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #all, #all, #id], iterator_types = ["parallel"]}
      ins(%ct, %y, %along, %r : tensor<64xf32>, tensor<64xf32>, tensor<f32>, tensor<f32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%c: f32, %b: f32, %d: f32, %s: f32, %out: f32):
    %p = arith.mulf %b, %d : f32
    %q = arith.subf %c, %p : f32
    %g = arith.mulf %q, %s : f32
    linalg.yield %g : f32
  } -> tensor<64xf32>
  return %y, %dx : tensor<64xf32>, tensor<64xf32>
}
