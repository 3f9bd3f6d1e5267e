// RUN: sparse-opt %s --split-input-file --verify-diagnostics --sparse-autograd-record-manifest --sparse-autograd-emit-entries

// Entries take and return buffers, which tensors have become before.

// expected-error @+1 {{has an argument or a result of type 'tensor<4xf64>', which no entry takes or returns; run sparse-autograd-tensor-to-buffer before sparse-autograd-emit-entries}}
func.func @tensor(%x: tensor<4xf64>) -> tensor<4xf64> {
  return %x : tensor<4xf64>
}

// -----

// What the engine says of a pair is compared with its entries.

func.func @f_forward(%x: f64) -> f64 {
  return %x : f64
}

// expected-error @+1 {{has a 'sparse_autograd.split' with values that it or '@f_forward' does not have; sparse-autograd-differentiate states it}}
func.func @f_backward(%ct: f64) -> f64
    attributes {sparse_autograd.split = {primal = "f", forward = "f_forward", backward = "f_backward",
                                         wrt = array<i64: 0>, cotangents = array<i64: 0>, residuals = 2 : i64}} {
  return %ct : f64
}

// -----

func.func @f_forward(%x: f64) -> f64 {
  return %x : f64
}

// expected-error @+1 {{that must be a dictionary with the names 'primal', 'forward' and 'backward', the numbers 'wrt' and 'cotangents' and the integer 'residuals', on a function}}
func.func @f_backward(%ct: f64) -> f64
    attributes {sparse_autograd.split = {primal = "f", forward = "f_forward", backward = "f_backward",
                                         wrt = array<i64: 0>, cotangents = array<i64: 0>, residuals = -1 : i64}} {
  return %ct : f64
}
