#id = affine_map<(i) -> (i)>
#all = affine_map<(i) -> ()>

func.func private @f(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %n = arith.constant dense<64.0> : tensor<f32>
  %e = arith.subf %x, %y : tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]} ins(%e : tensor<64xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.mulf %a, %a : f32
    %t = arith.addf %out, %s : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %mean = arith.divf %sum, %n : tensor<f32>
  return %mean : tensor<f32>
}

func.func @generated(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<f32>, tensor<64xf32>) {
  %r:2 = sparse_autograd.value_and_grad @f(%x, %y) {wrt = [0]} : (tensor<64xf32>, tensor<64xf32>) -> (tensor<f32>, tensor<64xf32>)
  return %r#0, %r#1 : tensor<f32>, tensor<64xf32>
}

func.func @by_hand(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<f32>, tensor<64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %n = arith.constant dense<64.0> : tensor<f32>
  %scale = arith.constant 3.125000e-02 : f32
  %empty = tensor.empty() : tensor<64xf32>
  %e = arith.subf %x, %y : tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]} ins(%e : tensor<64xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.mulf %a, %a : f32
    %t = arith.addf %out, %s : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %mean = arith.divf %sum, %n : tensor<f32>
  %dx = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%e : tensor<64xf32>) outs(%empty : tensor<64xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.mulf %a, %scale : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %mean, %dx : tensor<f32>, tensor<64xf32>
}
