// The masked softmax of the rows and, for its cotangent, that of x.

func.func private @forward(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> tensor<?x?xf32> {
  %y = sparse_autograd.masked_softmax %x, %mask dims = [1] : tensor<?x?xf32>, tensor<?x?xi1>
  return %y : tensor<?x?xf32>
}

func.func @main(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>, %dy: tensor<?x?xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %y, %dx = sparse_autograd.vjp @forward(%x, %mask) cotangents(%dy) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>), (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return %y, %dx : tensor<?x?xf32>, tensor<?x?xf32>
}
