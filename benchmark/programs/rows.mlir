// Operations on the rows of a sparse matrix, for row-benchmark.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
!sparse = tensor<?x?xf32, #CSR>
!mask = tensor<?x?xi1, #CSR>

func.func @row_sum(%x: !sparse) -> tensor<?xf32> {
  %m = sparse_autograd.pattern %x : !sparse
  %y = sparse_autograd.masked_reduce sum %x, %m dims = [1] : !sparse, !mask -> tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @row_max(%x: !sparse) -> tensor<?xf32> {
  %m = sparse_autograd.pattern %x : !sparse
  %y = sparse_autograd.masked_reduce max %x, %m dims = [1] : !sparse, !mask -> tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @row_logsumexp(%x: !sparse) -> tensor<?xf32> {
  %m = sparse_autograd.pattern %x : !sparse
  %y = sparse_autograd.masked_reduce logsumexp %x, %m dims = [1] : !sparse, !mask -> tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @row_logsumexp_gradient(%x: !sparse, %dy: tensor<?xf32>) -> (tensor<?xf32>, !sparse) {
  %y, %dx = sparse_autograd.vjp @row_logsumexp(%x) cotangents(%dy) {wrt = [0]}
      : (!sparse), (tensor<?xf32>) -> (tensor<?xf32>, !sparse)
  return %y, %dx : tensor<?xf32>, !sparse
}

func.func @softmax(%x: !sparse) -> !sparse {
  %m = sparse_autograd.pattern %x : !sparse
  %y = sparse_autograd.masked_softmax %x, %m dims = [1] : !sparse, !mask
  return %y : !sparse
}

// The values of a cotangent, in the order of the entries.
func.func @softmax_gradient(%x: !sparse, %values: tensor<?xf32>) -> (!sparse, !sparse) {
  %dy = sparse_autograd.with_values %values, %x : tensor<?xf32>, !sparse -> !sparse
  %y, %dx = sparse_autograd.vjp @softmax(%x) cotangents(%dy) {wrt = [0]}
      : (!sparse), (!sparse) -> (!sparse, !sparse)
  return %y, %dx : !sparse, !sparse
}
