// The masked softmax of the rows of x, and what a cotangent becomes. A step moves
// x against the gradient; the cotangent of the next step is the result of this one.

!matrix = tensor<?x?xf32>
!mask = tensor<?x?xi1>

func.func private @forward(%x: !matrix, %mask: !mask) -> !matrix {
  %y = sparse_autograd.masked_softmax %x, %mask dims = [1] : !matrix, !mask
  return %y : !matrix
}

func.func @run(%x: !matrix {sparse_autograd.name = "x"}, %dy: !matrix {sparse_autograd.name = "dy"},
    %mask: !mask {sparse_autograd.name = "mask"}, %rate: f32 {sparse_autograd.name = "rate"},
    %steps: index {sparse_autograd.name = "steps"})
    -> (!matrix {sparse_autograd.name = "x"}, !matrix {sparse_autograd.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end:2 = scf.for %step = %c0 to %steps step %c1 iter_args(%old = %x, %cotangent = %dy) -> (!matrix, !matrix) {
    %y, %dx = sparse_autograd.vjp @forward(%old, %mask) cotangents(%cotangent) {wrt = [0]}
        : (!matrix, !mask), (!matrix) -> (!matrix, !matrix)
    %new = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%dx, %rate : !matrix, f32) outs(%old : !matrix) {
      ^bb0(%g: f32, %r: f32, %xi: f32):
        %change = arith.mulf %r, %g : f32
        %next = arith.subf %xi, %change : f32
        linalg.yield %next : f32
    } -> !matrix
    scf.yield %new, %y : !matrix, !matrix
  }
  return %end#0, %end#1 : !matrix, !matrix
}
