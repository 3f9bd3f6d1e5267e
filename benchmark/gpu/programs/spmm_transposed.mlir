// X <- A^T X, for a square sparse matrix A that is stored by rows.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
!sparse = tensor<?x?xf32, #CSR>
!matrix = tensor<?x64xf32>

func.func @run(%a: !sparse {sparse_autograd.name = "a"}, %x: !matrix {sparse_autograd.name = "x"},
    %steps: index {sparse_autograd.name = "steps"}) -> (!matrix {sparse_autograd.name = "x"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %columns = tensor.dim %a, %c1 : !sparse
  %end = scf.for %step = %c0 to %steps step %c1 iter_args(%old = %x) -> !matrix {
    %empty = tensor.empty(%columns) : !matrix
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : !matrix) -> !matrix
    %new = linalg.matmul
        indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
        ins(%a, %old : !sparse, !matrix) outs(%zeros : !matrix) -> !matrix
    scf.yield %new : !matrix
  }
  return %end : !matrix
}
