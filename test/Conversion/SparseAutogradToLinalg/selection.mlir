// RUN: sparse-opt %s --convert-sparse-autograd-to-linalg | FileCheck %s

// Tiles that are there as a whole are read through constants; with extents that
// are multiples of four there are no others.

// CHECK-LABEL: func.func @full
// CHECK-SAME: %[[W:.*]]: tensor<8x16xf32>
func.func @full(%w: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: %[[TILES:.*]] = tensor.expand_shape %[[W]] {{\[}}[0, 1], [2, 3]] output_shape [2, 4, 4, 4]
  // CHECK: %[[CHOICE:.*]] = linalg.generic
  // CHECK-NOT: tensor.extract
  // CHECK: } -> tensor<2x4xi16>
  // CHECK: %[[MASK:.*]] = linalg.generic {{.*}} ins(%[[CHOICE]] : tensor<2x4xi16>)
  // CHECK: linalg.generic {{.*}} ins(%[[W]], %[[MASK]] : tensor<8x16xf32>, tensor<8x16xi1>)
  // CHECK: arith.select
  // CHECK-NOT: linalg.generic
  %y = sparse_autograd.sparsify_24 %w select = greedy gradient = ste : tensor<8x16xf32> -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}

// The last columns are a loop of their own, whose reads stay inside. It has no
// select: fusion copies what is behind one.

// CHECK-LABEL: func.func @edge
func.func @edge(%w: tensor<8x15xf32>) -> tensor<8x15xf32> {
  // CHECK: tensor.extract_slice %{{.*}}[0, 0] [8, 12] [1, 1]
  // CHECK: } -> tensor<2x3xi16>
  // CHECK: tensor.insert_slice {{.*}} into tensor<2x4xi16>
  // CHECK: linalg.generic
  // CHECK-NOT: arith.select
  // CHECK-COUNT-16: tensor.extract
  // CHECK-NOT: arith.select
  // CHECK: } -> tensor<2x1xi16>
  // CHECK: tensor.insert_slice {{.*}}[0, 3] [2, 1] [1, 1] : tensor<2x1xi16> into tensor<2x4xi16>
  %y = sparse_autograd.sparsify_24 %w select = greedy gradient = ste : tensor<8x15xf32> -> tensor<8x15xf32>
  return %y : tensor<8x15xf32>
}
