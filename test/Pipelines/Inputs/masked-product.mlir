#csr = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>

func.func private @product(%a: tensor<2x3xf64, #csr>) -> tensor<2xf64> {
  %m = sparse_autograd.pattern %a : tensor<2x3xf64, #csr>
  %y = sparse_autograd.masked_reduce prod %a, %m dims = [1]
      : tensor<2x3xf64, #csr>, tensor<2x3xi1, #csr> -> tensor<2xf64>
  return %y : tensor<2xf64>
}

func.func @main(%a: tensor<2x3xf64, #csr> {sparse_autograd.name = "a"})
    -> (tensor<2xf64> {sparse_autograd.name = "y"},
        tensor<2x3xf64, #csr> {sparse_autograd.name = "gradient"}) {
  %ones = arith.constant dense<1.0> : tensor<2xf64>
  %y, %da = sparse_autograd.vjp @product(%a) cotangents(%ones) {wrt = [0]}
      : (tensor<2x3xf64, #csr>), (tensor<2xf64>) -> (tensor<2xf64>, tensor<2x3xf64, #csr>)
  return %y, %da : tensor<2xf64>, tensor<2x3xf64, #csr>
}
