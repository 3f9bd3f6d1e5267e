// RUN: sparse-runner %s --check-gradients --entry=main | FileCheck %s

// The derivative of a selection is that of what is computed where the choice does
// not change, of both results, in forward and reverse mode and again.

// CHECK: d result0 / d w agrees
// CHECK: d result1 / d w agrees
// CHECK: 2 of 2 agree

func.func private @loss(%w: tensor<6x9xf64>) -> f64 {
  %y, %t = sparse_autograd.sparsify_24 %w select = greedy gradient = dense
      : tensor<6x9xf64> -> tensor<6x9xf64>, tensor<9x6xf64>
  %turned = tensor.empty() : tensor<6x9xf64>
  %u = linalg.transpose ins(%t : tensor<9x6xf64>) outs(%turned : tensor<6x9xf64>)
      permutation = [1, 0]
  %p = arith.mulf %y, %u : tensor<6x9xf64>
  %q = arith.mulf %p, %y : tensor<6x9xf64>
  %s = sparse_autograd.masked_reduce sum %q dims = [0, 1] : tensor<6x9xf64> -> tensor<f64>
  %r = tensor.extract %s[] : tensor<f64>
  return %r : f64
}

func.func @main(%w: tensor<6x9xf64> {sparse_autograd.name = "w"}) -> (f64, tensor<6x9xf64>) {
  %l, %d = sparse_autograd.value_and_grad @loss(%w) {wrt = [0]}
      : (tensor<6x9xf64>) -> (f64, tensor<6x9xf64>)
  return %l, %d : f64, tensor<6x9xf64>
}
