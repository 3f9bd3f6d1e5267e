#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed), posWidth = 32, crdWidth = 8 }>
#COO3 = #sparse_tensor.encoding<{ map = (i, j, k) -> (i : compressed(nonunique), j : singleton(nonunique, soa), k : singleton(soa)) }>

func.func @product(%a: tensor<2x3xf64, #CSR> {sparse_autograd.name = "A"},
                   %x: tensor<3xf64> {sparse_autograd.name = "x"})
    -> (tensor<2xf64> {sparse_autograd.name = "y"}) {
  %zero = arith.constant dense<0.0> : tensor<2xf64>
  %y = linalg.matvec ins(%a, %x : tensor<2x3xf64, #CSR>, tensor<3xf64>)
      outs(%zero : tensor<2xf64>) -> tensor<2xf64>
  return %y : tensor<2xf64>
}

// What is given comes out again, in other formats.
func.func @matrix(%a: tensor<?x?xf32, #CSC> {sparse_autograd.name = "A"})
    -> (tensor<?x?xf32, #CSC> {sparse_autograd.name = "B"}) {
  return %a : tensor<?x?xf32, #CSC>
}

func.func @tensor(%a: tensor<2x3x4xi32, #COO3> {sparse_autograd.name = "A"})
    -> (tensor<2x3x4xi32, #COO3> {sparse_autograd.name = "B"}) {
  return %a : tensor<2x3x4xi32, #COO3>
}
