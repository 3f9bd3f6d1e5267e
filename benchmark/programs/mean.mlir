// The sum of the masked means of the rows, and its gradient.

func.func private @forward(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> tensor<f32> {
  %rows = sparse_autograd.masked_reduce mean %x, %mask dims = [1]
      : tensor<?x?xf32>, tensor<?x?xi1> -> tensor<?xf32>
  %loss = sparse_autograd.masked_reduce sum %rows dims = [0] : tensor<?xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @main(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> (tensor<f32>, tensor<?x?xf32>) {
  %loss, %dx = sparse_autograd.value_and_grad @forward(%x, %mask) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>) -> (tensor<f32>, tensor<?x?xf32>)
  return %loss, %dx : tensor<f32>, tensor<?x?xf32>
}
