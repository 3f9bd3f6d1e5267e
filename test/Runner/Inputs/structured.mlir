#TwoOfFour = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
func.func @same(%w: tensor<?x?xf32, #TwoOfFour> {sparse_autograd.name = "w"})
    -> (tensor<?x?xf32, #TwoOfFour> {sparse_autograd.name = "v"}) {
  return %w : tensor<?x?xf32, #TwoOfFour>
}
func.func @product(%a: tensor<2x6xf32> {sparse_autograd.name = "a"},
                   %b: tensor<6x1xf32> {sparse_autograd.name = "b"})
    -> (tensor<2x1xf32> {sparse_autograd.name = "y"}) {
  %w = sparse_tensor.convert %a : tensor<2x6xf32> to tensor<2x6xf32, #TwoOfFour>
  %zero = arith.constant dense<0.0> : tensor<2x1xf32>
  %y = linalg.matmul ins(%w, %b : tensor<2x6xf32, #TwoOfFour>, tensor<6x1xf32>)
      outs(%zero : tensor<2x1xf32>) -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}
