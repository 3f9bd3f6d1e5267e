// RUN: sparse-opt %s | sparse-opt | FileCheck %s
// RUN: sparse-opt %s --mlir-print-op-generic | sparse-opt | FileCheck %s

#Rows = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>

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

// CHECK-LABEL: func.func @stored
// CHECK-SAME: %[[W:.*]]: tensor<?x12xf32>
func.func @stored(%w: tensor<?x12xf32>) {
  // CHECK: sparse_autograd.sparsify_24 %[[W]] select = greedy gradient = sparse : tensor<?x12xf32> -> tensor<?x12xf32, #{{.*}}>, tensor<12x?xf32, #{{.*}}>
  %0, %1 = sparse_autograd.sparsify_24 %w select = greedy gradient = sparse : tensor<?x12xf32> -> tensor<?x12xf32, #Rows>, tensor<12x?xf32, #Rows>
  // CHECK: %[[C:.*]] = sparse_autograd.choose_24
  %2 = sparse_autograd.choose_24 %w select = greedy : tensor<?x12xf32> -> tensor<?x3xi16>
  // CHECK: sparse_autograd.compress_24 %[[W]] by %[[C]] : tensor<?x12xf32>, tensor<?x3xi16> -> tensor<?x12xf32, #
  %3 = sparse_autograd.compress_24 %w by %2 : tensor<?x12xf32>, tensor<?x3xi16> -> tensor<?x12xf32, #Rows>
  // CHECK: sparse_autograd.compress_24 %[[W]] by %[[C]] transposed : tensor<?x12xf32>, tensor<?x3xi16> -> tensor<12x?xf32, #
  %4 = sparse_autograd.compress_24 %w by %2 transposed : tensor<?x12xf32>, tensor<?x3xi16> -> tensor<12x?xf32, #Rows>
  // CHECK: sparse_autograd.compress_24 %[[W]] by %[[C]] {both_orders}
  %5 = sparse_autograd.compress_24 %w by %2 {both_orders} : tensor<?x12xf32>, tensor<?x3xi16> -> tensor<?x12xf32, #Rows>
  // CHECK: sparse_autograd.compress_24 %[[W]] : tensor<?x12xf32> -> tensor<?x12xf32, #
  %6 = sparse_autograd.compress_24 %w : tensor<?x12xf32> -> tensor<?x12xf32, #Rows>
  return
}

// CHECK-LABEL: func.func @lists
func.func @lists(%x: tensor<?x?xf32>, %k: tensor<?x?xi16>, %v: tensor<?xf32>, %c: tensor<?xi8>, %m: index, %n: memref<?x?xf32>, %mv: memref<?xbf16>, %mc: memref<?xi8>) {
  // CHECK: sparse_autograd.pack_24 ins(%{{.*}}, %{{.*}} : tensor<?x?xf32>, tensor<?x?xi16>) outs(%{{.*}} : tensor<?xf32>, tensor<?xi8>, tensor<?xf32>, tensor<?xi8>) orders = [false, true] -> tensor<?xf32>, tensor<?xi8>, tensor<?xf32>, tensor<?xi8>
  %0:4 = sparse_autograd.pack_24 ins(%x, %k : tensor<?x?xf32>, tensor<?x?xi16>) outs(%v, %c, %v, %c : tensor<?xf32>, tensor<?xi8>, tensor<?xf32>, tensor<?xi8>) orders = [false, true] -> tensor<?xf32>, tensor<?xi8>, tensor<?xf32>, tensor<?xi8>
  // CHECK: sparse_autograd.pack_24 ins(%{{.*}} : tensor<?x?xf32>) outs({{.*}}) orders = [false] {level = 2 : i64}
  %1:2 = sparse_autograd.pack_24 ins(%x : tensor<?x?xf32>) outs(%v, %c : tensor<?xf32>, tensor<?xi8>) orders = [false] {level = 2 : i64} -> tensor<?xf32>, tensor<?xi8>
  // CHECK: sparse_autograd.multiply_24 %{{.*}} x %{{.*}} ins({{.*}} : memref<?xbf16>, memref<?xi8>, memref<?x?xf32>) outs({{.*}} : memref<?x?xf32>) {dense_transposed, is_transposed, strategy = 1 : i64, sum_transposed}
  sparse_autograd.multiply_24 %m x %m ins(%mv, %mc, %n : memref<?xbf16>, memref<?xi8>, memref<?x?xf32>) outs(%n : memref<?x?xf32>) {is_transposed, dense_transposed, sum_transposed, strategy = 1 : i64}
  return
}
