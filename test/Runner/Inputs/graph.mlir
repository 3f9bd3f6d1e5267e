// What is given, in a format of its own.
!CSR = tensor<?x?xf64, #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>>
!COO = tensor<?x?xf64, #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton(soa)) }>>

func.func @csr(%a: !CSR) -> !CSR {
  return %a : !CSR
}

func.func @coo(%a: !COO) -> !COO {
  return %a : !COO
}

// Two steps along the edges of a graph, and back: x^T A^T A x.
func.func @walk(%a: !CSR {sparse_autograd.name = "A"}, %x: tensor<?xf64> {sparse_autograd.name = "x"})
    -> (f64 {sparse_autograd.name = "loss"}) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %rows = tensor.dim %a, %c0 : !CSR
  %empty = tensor.empty(%rows) : tensor<?xf64>
  %init = linalg.fill ins(%zero : f64) outs(%empty : tensor<?xf64>) -> tensor<?xf64>
  %y = linalg.matvec ins(%a, %x : !CSR, tensor<?xf64>) outs(%init : tensor<?xf64>) -> tensor<?xf64>
  %none = tensor.empty() : tensor<f64>
  %start = linalg.fill ins(%zero : f64) outs(%none : tensor<f64>) -> tensor<f64>
  %sum = linalg.dot ins(%y, %y : tensor<?xf64>, tensor<?xf64>) outs(%start : tensor<f64>) -> tensor<f64>
  %loss = tensor.extract %sum[] : tensor<f64>
  return %loss : f64
}

func.func @gradient(%a: !CSR {sparse_autograd.name = "A"}, %x: tensor<?xf64> {sparse_autograd.name = "x"})
    -> (f64 {sparse_autograd.name = "loss"}, !CSR {sparse_autograd.name = "dA"},
        tensor<?xf64> {sparse_autograd.name = "dx"}) {
  %loss, %da, %dx = sparse_autograd.value_and_grad @walk(%a, %x) {wrt = [0, 1]}
      : (!CSR, tensor<?xf64>) -> (f64, !CSR, tensor<?xf64>)
  return %loss, %da, %dx : f64, !CSR, tensor<?xf64>
}
