// RUN: sparse-opt %s --split-input-file --verify-diagnostics --sparse-autograd-record-manifest --sparse-autograd-emit-entries

// Entries take and return buffers, which tensors have become before.

// expected-error @+1 {{has an argument or a result of type 'tensor<4xf64>', which no entry takes or returns; run sparse-autograd-tensor-to-buffer before sparse-autograd-emit-entries}}
func.func @tensor(%x: tensor<4xf64>) -> tensor<4xf64> {
  return %x : tensor<4xf64>
}
