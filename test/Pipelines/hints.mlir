// A hint on an op stays valid whatever passes make of the op: a scalar in a
// region, an op on buffers that makes nothing.
// RUN: sparse-opt %s --sparse-autograd -o /dev/null
// RUN: sparse-opt %s --sparse-autograd=target=gpu -o /dev/null

func.func private @loss(%x: tensor<4xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %magnitude = math.absf %x {sparse_autograd.nnz = 4 : i64} : tensor<4xf32>
  %empty = tensor.empty() {sparse_autograd.nnz = 1 : i64} : tensor<f32>
  %init = linalg.fill {sparse_autograd.nnz = 1 : i64} ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce ins(%magnitude : tensor<4xf32>) outs(%init : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
  %l = tensor.extract %sum[] : tensor<f32>
  return %l : f32
}

func.func @gradient(%x: tensor<4xf32> {sparse_autograd.nnz = 3 : i64}) -> (f32, tensor<4xf32>) {
  %l, %d = sparse_autograd.value_and_grad @loss(%x) {wrt = [0]} : (tensor<4xf32>) -> (f32, tensor<4xf32>)
  return %l, %d : f32, tensor<4xf32>
}
