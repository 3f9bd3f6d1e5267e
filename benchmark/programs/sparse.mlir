// Kernels on a sparse matrix, one an entry; benchmark/sparse.py calls them.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
#CSC = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed), posWidth = 32, crdWidth = 32}>
!sparse = tensor<?x?xf32, #CSR>
!columns = tensor<?x?xf32, #CSC>
!matrix = tensor<?x64xf32>
!vector = tensor<?xf32>

func.func @spmv(%a: !sparse, %x: !vector) -> !vector {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %a, %c0 : !sparse
  %empty = tensor.empty(%rows) : !vector
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : !vector) -> !vector
  %y = linalg.matvec ins(%a, %x : !sparse, !vector) outs(%zeros : !vector) -> !vector
  return %y : !vector
}

func.func @spmm(%a: !sparse, %x: !matrix) -> !matrix {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %a, %c0 : !sparse
  %empty = tensor.empty(%rows) : !matrix
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : !matrix) -> !matrix
  %y = linalg.matmul ins(%a, %x : !sparse, !matrix) outs(%zeros : !matrix) -> !matrix
  return %y : !matrix
}

func.func @spmm_transposed(%a: !sparse, %x: !matrix) -> !matrix {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %columns = tensor.dim %a, %c1 : !sparse
  %empty = tensor.empty(%columns) : !matrix
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : !matrix) -> !matrix
  %y = linalg.matmul
      indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%a, %x : !sparse, !matrix) outs(%zeros : !matrix) -> !matrix
  return %y : !matrix
}

func.func @sddmm(%a: !sparse, %x: !matrix, %y: !matrix) -> !sparse {
  %zeros = sparse_autograd.zeros %a : !sparse -> !sparse
  %s = sparse_autograd.sampled_generic {
        indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : !matrix, !matrix) outs(%zeros : !sparse) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> !sparse
  return %s : !sparse
}

func.func @transpose(%a: !sparse) -> !columns {
  %t = sparse_tensor.convert %a : !sparse to !columns
  return %t : !columns
}

func.func @add(%a: !sparse, %b: !sparse) -> !sparse {
  %s = arith.addf %a, %b : !sparse
  return %s : !sparse
}

func.func @spgemm(%a: !sparse, %b: !sparse) -> !sparse {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %a, %c0 : !sparse
  %columns = tensor.dim %b, %c1 : !sparse
  %empty = tensor.empty(%rows, %columns) : !sparse
  %y = linalg.matmul ins(%a, %b : !sparse, !sparse) outs(%empty : !sparse) -> !sparse
  return %y : !sparse
}
