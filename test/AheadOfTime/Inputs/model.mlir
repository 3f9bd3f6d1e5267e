#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

func.func private @loss(%x: tensor<?x2xf64>, %target: tensor<?x2xf64>) -> tensor<f64> {
  %error = arith.subf %x, %target : tensor<?x2xf64>
  %square = arith.mulf %error, %error : tensor<?x2xf64>
  %zero = arith.constant dense<0.0> : tensor<f64>
  %sum = linalg.reduce ins(%square : tensor<?x2xf64>) outs(%zero : tensor<f64>)
      dimensions = [0, 1]
      (%a: f64, %b: f64) {
        %s = arith.addf %a, %b : f64
        linalg.yield %s : f64
      }
  return %sum : tensor<f64>
}

func.func @gradient(%x: tensor<?x2xf64> {sparse_autograd.name = "x"},
                    %target: tensor<?x2xf64> {sparse_autograd.name = "target"})
    -> (tensor<f64> {sparse_autograd.name = "loss"},
        tensor<?x2xf64> {sparse_autograd.name = "gradient"}) {
  %loss, %gradient = sparse_autograd.value_and_grad @loss(%x, %target) {wrt = [0]}
      : (tensor<?x2xf64>, tensor<?x2xf64>) -> (tensor<f64>, tensor<?x2xf64>)
  return %loss, %gradient : tensor<f64>, tensor<?x2xf64>
}

func.func @double(%a: tensor<?x3xf32, #CSR> {sparse_autograd.name = "A"})
    -> (tensor<?x3xf32, #CSR> {sparse_autograd.name = "B"}) {
  %b = arith.addf %a, %a : tensor<?x3xf32, #CSR>
  return %b : tensor<?x3xf32, #CSR>
}
