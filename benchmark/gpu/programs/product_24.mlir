// X <- X W^T in f16, with sums of f32, for a W of which two of each four elements of a
// row are selected: once, as for inference. The benchmark compiles it as the compiler
// chooses, by sparse tensor cores, and as a dense product of the expanded matrix.

#Rows = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
!matrix = tensor<?x?xf16>
!sums = tensor<?x?xf32>

func.func @run(%w: !matrix {sparse_autograd.name = "w"}, %x: !matrix {sparse_autograd.name = "x"},
    %steps: index {sparse_autograd.name = "steps"}) -> (!matrix {sparse_autograd.name = "x"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : !matrix
  %columns = tensor.dim %w, %c0 : !matrix
  %stored = sparse_autograd.sparsify_24 %w select = row_wise gradient = dense
      : !matrix -> tensor<?x?xf16, #Rows>
  %end = scf.for %step = %c0 to %steps step %c1 iter_args(%old = %x) -> !matrix {
    %empty = tensor.empty(%rows, %columns) : !sums
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : !sums) -> !sums
    %sums = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%old, %stored : !matrix, tensor<?x?xf16, #Rows>) outs(%zeros : !sums) {
    ^bb0(%a: f16, %b: f16, %s: f32):
      %u = arith.extf %a : f16 to f32
      %v = arith.extf %b : f16 to f32
      %m = arith.mulf %u, %v : f32
      %t = arith.addf %s, %m : f32
      linalg.yield %t : f32
    } -> !sums
    %new = arith.truncf %sums : !sums to !matrix
    scf.yield %new : !matrix
  }
  return %end : !matrix
}
