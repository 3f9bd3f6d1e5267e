// RUN: sparse-opt %s --sparse-autograd=compile-to=select-formats | FileCheck %s

// What values of entries are to each other: gradients of an entry's own
// arguments, and the two entries of a split_vjp.

func.func private @f(%x: tensor<4xf64>, %w: tensor<4xf64>, %n: i64) -> (tensor<4xf64>, i64) {
  %y = arith.mulf %x, %w : tensor<4xf64>
  %z = math.exp %y : tensor<4xf64>
  return %z, %n : tensor<4xf64>, i64
}

// CHECK: {\22element_type\22:\22f64\22,\22name\22:\22x\22,\22shape\22:[4]}
// CHECK-SAME: \22name\22:\22gradients\22,\22results\22:[{\22element_type\22:\22f64\22,\22name\22:\22result0\22,\22shape\22:[4]},{\22element_type\22:\22i64\22,\22name\22:\22result1\22},{\22element_type\22:\22f64\22,\22gradient_of\22:\22x\22,\22name\22:\22result2\22,\22role\22:\22gradient\22,\22shape\22:[4]}]
func.func @gradients(%w: tensor<4xf64>, %x: tensor<4xf64> {sparse_autograd.name = "x"},
                     %n: i64, %c: tensor<4xf64>) -> (tensor<4xf64>, i64, tensor<4xf64>) {
  %y, %m, %dx = sparse_autograd.vjp @f(%x, %w, %n) cotangents(%c) {wrt = [0]}
      : (tensor<4xf64>, tensor<4xf64>, i64), (tensor<4xf64>) -> (tensor<4xf64>, i64, tensor<4xf64>)
  return %y, %m, %dx : tensor<4xf64>, i64, tensor<4xf64>
}

// The integer result has no cotangent; the primal is no entry.

// CHECK-SAME: \22name\22:\22forward\22,\22results\22:[{\22element_type\22:\22f64\22,\22name\22:\22result0\22,\22shape\22:[4]},{\22element_type\22:\22i64\22,\22name\22:\22result1\22},{{.*}}\22name\22:\22residual0\22,\22role\22:\22residual\22
// CHECK-SAME: {\22cotangent_of\22:\22result0\22,
// CHECK-SAME: \22name\22:\22backward\22,\22results\22:[{\22element_type\22:\22f64\22,\22gradient_of\22:\22arg1\22,
// CHECK-SAME: \22pairs\22:[{\22backward\22:\22backward\22,\22forward\22:\22forward\22}]
sparse_autograd.split_vjp @f as @forward, @backward {wrt = [1]}
