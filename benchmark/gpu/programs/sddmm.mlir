// V <- V + X Y^T at the pattern of V. The benchmark compiles it for several
// widths of X and Y.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
!sparse = tensor<?x?xf32, #CSR>
!matrix = tensor<?x64xf32>

func.func @run(%v: !sparse {sparse_autograd.name = "v"}, %x: !matrix {sparse_autograd.name = "x"},
    %y: !matrix {sparse_autograd.name = "y"}, %steps: index {sparse_autograd.name = "steps"})
    -> (!sparse {sparse_autograd.name = "v"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = scf.for %step = %c0 to %steps step %c1 iter_args(%old = %v) -> !sparse {
    %new = sparse_autograd.sampled_generic {
          indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : !matrix, !matrix) outs(%old : !sparse) {
    ^bb0(%l: f32, %r: f32, %o: f32):
      %p = arith.mulf %l, %r : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> !sparse
    scf.yield %new : !sparse
  }
  return %end : !sparse
}
