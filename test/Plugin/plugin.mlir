// The stock mlir-opt knows the dialect, the derivatives and the pipeline once it
// has loaded the plugin.

// A plugin with a sanitizer needs a host with it, which the stock program is not.
// UNSUPPORTED: asan
// DEFINE: %{mlir-opt} = mlir-opt --load-dialect-plugin=%libs_dir/SparseAutogradPlugin.so --load-pass-plugin=%libs_dir/SparseAutogradPlugin.so

// RUN: %{mlir-opt} %s | FileCheck %s --check-prefix=PARSED
// RUN: %{mlir-opt} %s --pass-pipeline='builtin.module(sparse-autograd-differentiate)' | FileCheck %s --check-prefix=DIFF
// RUN: %{mlir-opt} %s --pass-pipeline='builtin.module(sparse-autograd{compile-to=lower-sparse},cse)' | FileCheck %s --check-prefix=LOWER
// RUN: %{mlir-opt} %s --pass-pipeline='builtin.module(sparse-autograd)' -o %t.plugin
// RUN: sparse-opt %s --sparse-autograd -o %t.tool
// RUN: cmp %t.plugin %t.tool
// RUN: not mlir-opt %s 2>&1 | FileCheck %s --check-prefix=WITHOUT

// PARSED: sparse_autograd.value_and_grad @loss
// DIFF-LABEL: func.func private @loss__value_and_grad_0(
// DIFF: math.cos
// DIFF-LABEL: func.func @gradient(
// DIFF: call @loss__value_and_grad_0
// LOWER-NOT: sparse_autograd.masked_reduce
// LOWER: linalg.generic
// WITHOUT: error: {{.*}}sparse_autograd

func.func private @loss(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> f32 {
  %sine = math.sin %x : tensor<?x?xf32>
  %mean = sparse_autograd.masked_reduce mean %sine, %mask dims = [0, 1]
      : tensor<?x?xf32>, tensor<?x?xi1> -> tensor<f32>
  %value = tensor.extract %mean[] : tensor<f32>
  return %value : f32
}

func.func @gradient(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> tensor<?x?xf32> {
  %loss, %dx = sparse_autograd.value_and_grad @loss(%x, %mask) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>) -> (f32, tensor<?x?xf32>)
  return %dx : tensor<?x?xf32>
}
