#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
func.func private @loss(%x: tensor<?xf64>, %a: tensor<?x?xf64, #CSR>) -> tensor<f64> {
  %s = sparse_autograd.masked_reduce sum %a dims = [0, 1] : tensor<?x?xf64, #CSR> -> tensor<f64>
  %q = arith.mulf %x, %x : tensor<?xf64>
  %n = sparse_autograd.masked_reduce sum %q dims = [0] : tensor<?xf64> -> tensor<f64>
  %r = arith.mulf %s, %n : tensor<f64>
  return %r : tensor<f64>
}
func.func @gradient(%x: tensor<?xf64> {sparse_autograd.name = "x"}, %a: tensor<?x?xf64, #CSR> {sparse_autograd.name = "a"}) -> (tensor<f64>, tensor<?xf64>, tensor<?x?xf64, #CSR>) {
  %l, %dx, %da = sparse_autograd.value_and_grad @loss(%x, %a) {wrt = [0, 1]} : (tensor<?xf64>, tensor<?x?xf64, #CSR>) -> (tensor<f64>, tensor<?xf64>, tensor<?x?xf64, #CSR>)
  return %l, %dx, %da : tensor<f64>, tensor<?xf64>, tensor<?x?xf64, #CSR>
}
func.func @nothing() { return }
