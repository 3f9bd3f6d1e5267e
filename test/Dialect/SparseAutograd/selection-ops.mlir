// RUN: sparse-opt %s | sparse-opt | FileCheck %s
// RUN: sparse-opt %s --mlir-print-op-generic | sparse-opt | FileCheck %s

// CHECK-LABEL: func.func @sparsify
// CHECK-SAME: %[[W:.*]]: tensor<?x9xf32>, %[[V:.*]]: tensor<2x8x12xbf16>
func.func @sparsify(%w: tensor<?x9xf32>, %v: tensor<2x8x12xbf16>) {
  // CHECK: sparse_autograd.sparsify_24 %[[W]] select = row_wise gradient = ste : tensor<?x9xf32> -> tensor<?x9xf32>
  %0 = sparse_autograd.sparsify_24 %w select = row_wise gradient = ste : tensor<?x9xf32> -> tensor<?x9xf32>
  // CHECK: sparse_autograd.sparsify_24 %[[V]] select = greedy gradient = scaled<1.000000e+00, 5.000000e-01> : tensor<2x8x12xbf16> -> tensor<2x8x12xbf16>, tensor<2x12x8xbf16>
  %1, %2 = sparse_autograd.sparsify_24 %v select = greedy gradient = scaled<1.0, 0.5> : tensor<2x8x12xbf16> -> tensor<2x8x12xbf16>, tensor<2x12x8xbf16>
  // CHECK: sparse_autograd.sparsify_24 %[[V]] select = optimal gradient = sparse
  %3 = sparse_autograd.sparsify_24 %v select = optimal gradient = sparse : tensor<2x8x12xbf16> -> tensor<2x8x12xbf16>
  return
}

// CHECK-LABEL: func.func @choices
// CHECK-SAME: %[[W:.*]]: tensor<10x?xf64>, %[[X:.*]]: tensor<?x16xf16>, %[[N:.*]]: index
func.func @choices(%w: tensor<10x?xf64>, %x: tensor<?x16xf16>, %n: index) {
  // CHECK: sparse_autograd.sparsify_24_like %[[X]], %[[W]] select = causal1122 gradient = dense : tensor<?x16xf16>, tensor<10x?xf64> -> tensor<?x16xf16>
  %0 = sparse_autograd.sparsify_24_like %x, %w select = causal1122 gradient = dense : tensor<?x16xf16>, tensor<10x?xf64> -> tensor<?x16xf16>
  // CHECK: %[[C:.*]] = sparse_autograd.choose_24 %[[W]] select = greedy : tensor<10x?xf64> -> tensor<3x?xi16>
  %1 = sparse_autograd.choose_24 %w select = greedy : tensor<10x?xf64> -> tensor<3x?xi16>
  // CHECK: sparse_autograd.mask_24 %[[C]], [%[[N]]] : tensor<3x?xi16> -> tensor<10x?xi1>
  %2 = sparse_autograd.mask_24 %1, [%n] : tensor<3x?xi16> -> tensor<10x?xi1>
  return
}
