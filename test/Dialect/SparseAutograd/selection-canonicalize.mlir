// RUN: sparse-opt %s --canonicalize --cse | FileCheck %s

// What has been selected is selected again: the same elements, of the same
// gradient where that of the outer op adds nothing.

#Rows = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>

// CHECK-LABEL: func.func @twice
// CHECK-SAME: %[[W:.*]]: tensor<8x8xf32>
func.func @twice(%w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK: %[[Y:.*]], %[[T:.*]] = sparse_autograd.sparsify_24 %[[W]] select = greedy gradient = dense
  // CHECK-NOT: sparsify_24
  // CHECK: return %[[Y]], %[[T]], %[[Y]]
  %y, %t = sparse_autograd.sparsify_24 %w select = greedy gradient = dense : tensor<8x8xf32> -> tensor<8x8xf32>, tensor<8x8xf32>
  %z, %u = sparse_autograd.sparsify_24 %y select = greedy gradient = sparse : tensor<8x8xf32> -> tensor<8x8xf32>, tensor<8x8xf32>
  %v = sparse_autograd.sparsify_24 %z select = greedy gradient = ste : tensor<8x8xf32> -> tensor<8x8xf32>
  return %z, %u, %v : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// Another selection, another gradient, a transpose that was not there.

// CHECK-LABEL: func.func @not_twice
func.func @not_twice(%w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %y = sparse_autograd.sparsify_24 %w select = greedy gradient = ste : tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: sparsify_24 %{{.*}} select = row_wise gradient = ste
  %a = sparse_autograd.sparsify_24 %y select = row_wise gradient = ste : tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: sparsify_24 %{{.*}} select = greedy gradient = dense
  %b = sparse_autograd.sparsify_24 %y select = greedy gradient = dense : tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: sparsify_24 %{{.*}} select = greedy gradient = ste : tensor<8x8xf32> -> tensor<8x8xf32>, tensor<8x8xf32>
  %c, %t = sparse_autograd.sparsify_24 %y select = greedy gradient = ste : tensor<8x8xf32> -> tensor<8x8xf32>, tensor<8x8xf32>
  return %a, %b, %t : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// Two equal selections are one, and the choice of a selected tensor is that of
// the tensor it was selected from.

// CHECK-LABEL: func.func @shared
// CHECK-SAME: %[[W:.*]]: tensor<8x8xf32>, %[[X:.*]]: tensor<8x8xf32>
func.func @shared(%w: tensor<8x8xf32>, %x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  // CHECK: %[[Y:.*]] = sparse_autograd.sparsify_24 %[[W]]
  %y = sparse_autograd.sparsify_24 %w select = optimal gradient = ste : tensor<8x8xf32> -> tensor<8x8xf32>
  %z = sparse_autograd.sparsify_24 %w select = optimal gradient = ste : tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: %[[L:.*]] = sparse_autograd.sparsify_24_like %[[X]], %[[W]] select = optimal
  %l = sparse_autograd.sparsify_24_like %x, %y select = optimal gradient = ste : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: %[[M:.*]] = sparse_autograd.sparsify_24_like %[[X]], %[[Y]] select = greedy
  %m = sparse_autograd.sparsify_24_like %x, %y select = greedy gradient = ste : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  // CHECK: return %[[Y]], %[[Y]], %[[L]], %[[M]]
  return %y, %z, %l, %m : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func.func @constant
func.func @constant() -> (tensor<1x6xf32>, tensor<1x2xi16>, tensor<2x2xf32>) {
  // Two of four zeros, the first ones, and both of two: 1 + 8 and 1 + 2.
  %w = arith.constant dense<[[-0.0, 0.0, 0.0, 3.0, 0.0, 4.0]]> : tensor<1x6xf32>
  // CHECK-DAG: arith.constant dense<{{\[}}[-0.000000e+00, 0.000000e+00, 0.000000e+00, 3.000000e+00, 0.000000e+00, 4.000000e+00]]> : tensor<1x6xf32>
  %y = sparse_autograd.sparsify_24 %w select = row_wise gradient = dense : tensor<1x6xf32> -> tensor<1x6xf32>
  // CHECK-DAG: arith.constant dense<{{\[}}[9, 3]]> : tensor<1x2xi16>
  %c = sparse_autograd.choose_24 %w select = row_wise : tensor<1x6xf32> -> tensor<1x2xi16>
  // CHECK-DAG: arith.constant dense<{{\[}}[1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]>
  %s = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %t, %u = sparse_autograd.sparsify_24 %s select = greedy gradient = dense : tensor<2x2xf32> -> tensor<2x2xf32>, tensor<2x2xf32>
  // CHECK-NOT: sparse_autograd
  return %y, %c, %u : tensor<1x6xf32>, tensor<1x2xi16>, tensor<2x2xf32>
}

// One number, a large table.

// CHECK-LABEL: func.func @repeated
func.func @repeated() -> tensor<64x64xf32> {
  %w = arith.constant dense<1.0> : tensor<64x64xf32>
  // CHECK: sparse_autograd.sparsify_24
  %y = sparse_autograd.sparsify_24 %w select = row_wise gradient = dense : tensor<64x64xf32> -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// What is stored otherwise is made of the same tensor, by the same choice.

// CHECK-LABEL: func.func @stored_selection
// CHECK-SAME: %[[W:.*]]: tensor<8x8xf32>
func.func @stored_selection(%w: tensor<8x8xf32>) -> tensor<8x8xf32, #Rows> {
  // CHECK: %[[Y:.*]] = sparse_autograd.sparsify_24 %[[W]] select = greedy gradient = dense : tensor<8x8xf32> -> tensor<8x8xf32, #
  // CHECK-NEXT: return %[[Y]]
  %y = sparse_autograd.sparsify_24 %w select = greedy gradient = dense : tensor<8x8xf32> -> tensor<8x8xf32>
  %z = sparse_autograd.sparsify_24 %y select = greedy gradient = dense : tensor<8x8xf32> -> tensor<8x8xf32, #Rows>
  return %z : tensor<8x8xf32, #Rows>
}

// What is stored of a constant is stored by a constant choice.

// CHECK-LABEL: func.func @stored_constant
func.func @stored_constant() -> (tensor<2x4xf32, #Rows>, tensor<4x2xf32>) {
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<60> : tensor<1x1xi16>
  // CHECK-DAG: %[[T:.*]] = arith.constant dense<{{\[\[}}0.000000e+00, 0.000000e+00], [0.000000e+00, 7.000000e+00], [3.000000e+00, 0.000000e+00], [4.000000e+00, 0.000000e+00]]> : tensor<4x2xf32>
  // CHECK: %[[Y:.*]] = sparse_autograd.compress_24 %{{.*}} by %[[C]]
  // CHECK: return %[[Y]], %[[T]]
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [0.0, 7.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %y, %t = sparse_autograd.sparsify_24 %w select = greedy gradient = dense : tensor<2x4xf32> -> tensor<2x4xf32, #Rows>, tensor<4x2xf32>
  return %y, %t : tensor<2x4xf32, #Rows>, tensor<4x2xf32>
}
