// x <- A x, for a square sparse matrix A.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
!sparse = tensor<?x?xf32, #CSR>
!vector = tensor<?xf32>

func.func @run(%a: !sparse {sparse_autograd.name = "a"}, %x: !vector {sparse_autograd.name = "x"},
    %steps: index {sparse_autograd.name = "steps"}) -> (!vector {sparse_autograd.name = "x"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %a, %c0 : !sparse
  %end = scf.for %step = %c0 to %steps step %c1 iter_args(%old = %x) -> !vector {
    %empty = tensor.empty(%rows) : !vector
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : !vector) -> !vector
    %new = linalg.matvec ins(%a, %old : !sparse, !vector) outs(%zeros : !vector) -> !vector
    scf.yield %new : !vector
  }
  return %end : !vector
}
