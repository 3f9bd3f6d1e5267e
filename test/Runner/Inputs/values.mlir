#BSR = #sparse_tensor.encoding<{ map = (i, j) -> (
    i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense) }>
#List = #sparse_tensor.encoding<{ map = (i, j, k) -> (i : compressed, j : compressed, k : compressed) }>

func.func @matrix(%x: tensor<?x?xf32> {sparse_autograd.name = "x"}) -> tensor<?x?xf32> {
  return %x : tensor<?x?xf32>
}

func.func @narrow(%x: tensor<?x?xbf16> {sparse_autograd.name = "x"}) -> tensor<?x?xbf16> {
  return %x : tensor<?x?xbf16>
}

func.func @blocks(%a: tensor<2x4xf64, #BSR> {sparse_autograd.name = "A"}) -> tensor<2x4xf64, #BSR> {
  return %a : tensor<2x4xf64, #BSR>
}

func.func @tensor(%a: tensor<?x?x?xf64, #List> {sparse_autograd.name = "A"}) -> tensor<?x?x?xf64, #List> {
  return %a : tensor<?x?x?xf64, #List>
}

func.func @make() -> (tensor<4x5x6xf64, #List>, tensor<4x5x6xf64, #List>) {
  %entries = arith.constant sparse<[[0, 0, 0], [1, 2, 1]], [1.0, 2.0]> : tensor<4x5x6xf64>
  %made = sparse_tensor.convert %entries : tensor<4x5x6xf64> to tensor<4x5x6xf64, #List>
  %zeros = arith.constant dense<0.0> : tensor<4x5x6xf64>
  %none = sparse_tensor.convert %zeros : tensor<4x5x6xf64> to tensor<4x5x6xf64, #List>
  return %made, %none : tensor<4x5x6xf64, #List>, tensor<4x5x6xf64, #List>
}

func.func @defaults(%x: f64 {sparse_autograd.default = 0.1 : f64},
                    %n: index {sparse_autograd.name = "n", sparse_autograd.default = -3 : index},
                    %b: i1 {sparse_autograd.default = true}) -> (f64, index, i1) {
  return %x, %n, %b : f64, index, i1
}
