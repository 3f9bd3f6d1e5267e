// y = exp(x sin x); its derivative is y (sin x + x cos x).
func.func private @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %s = math.sin %x : tensor<64xf32>
  %p = arith.mulf %x, %s : tensor<64xf32>
  %y = math.exp %p : tensor<64xf32>
  return %y : tensor<64xf32>
}

func.func @generated(%x: tensor<64xf32>, %ct: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %r:2 = sparse_autograd.vjp @f(%x) cotangents(%ct) {wrt = [0]} : (tensor<64xf32>), (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}

func.func @by_hand(%x: tensor<64xf32>, %ct: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %s = math.sin %x : tensor<64xf32>
  %p = arith.mulf %x, %s : tensor<64xf32>
  %y = math.exp %p : tensor<64xf32>
  %c = math.cos %x : tensor<64xf32>
  %q = arith.mulf %x, %c : tensor<64xf32>
  %t = arith.addf %s, %q : tensor<64xf32>
  %g = arith.mulf %ct, %y : tensor<64xf32>
  %dx = arith.mulf %g, %t : tensor<64xf32>
  return %y, %dx : tensor<64xf32>, tensor<64xf32>
}
