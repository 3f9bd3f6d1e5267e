// Gradient descent on the sum of the squares of the masked means of the rows:
// forward and backward of a masked reduction in each step.

!matrix = tensor<?x?xf32>
!mask = tensor<?x?xi1>

func.func private @loss(%x: !matrix, %mask: !mask) -> tensor<f32> {
  %means = sparse_autograd.masked_reduce mean %x, %mask dims = [1] : !matrix, !mask -> tensor<?xf32>
  %squares = arith.mulf %means, %means : tensor<?xf32>
  %loss = sparse_autograd.masked_reduce sum %squares dims = [0] : tensor<?xf32> -> tensor<f32>
  return %loss : tensor<f32>
}

func.func @run(%x: !matrix {sparse_autograd.name = "x"}, %mask: !mask {sparse_autograd.name = "mask"},
    %rate: f32 {sparse_autograd.name = "rate"}, %steps: index {sparse_autograd.name = "steps"})
    -> (!matrix {sparse_autograd.name = "x"}, tensor<f32> {sparse_autograd.name = "losses"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant dense<0.0> : tensor<f32>
  %end:2 = scf.for %step = %c0 to %steps step %c1 iter_args(%old = %x, %sum = %none) -> (!matrix, tensor<f32>) {
    %loss, %dx = sparse_autograd.value_and_grad @loss(%old, %mask) {wrt = [0]}
        : (!matrix, !mask) -> (tensor<f32>, !matrix)
    %new = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%dx, %rate : !matrix, f32) outs(%old : !matrix) {
      ^bb0(%g: f32, %r: f32, %xi: f32):
        %change = arith.mulf %r, %g : f32
        %next = arith.subf %xi, %change : f32
        linalg.yield %next : f32
    } -> !matrix
    %losses = arith.addf %sum, %loss : tensor<f32>
    scf.yield %new, %losses : !matrix, tensor<f32>
  }
  return %end#0, %end#1 : !matrix, tensor<f32>
}
