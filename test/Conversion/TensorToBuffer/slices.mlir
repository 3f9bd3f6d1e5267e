// RUN: sparse-opt %s --sparse-autograd-tensor-to-buffer | FileCheck %s
// RUN: sparse-runner %s --entry=strided | FileCheck %s --check-prefix=VALUES
// RUN: sparse-runner %s --entry=returned --arg n=4 --arg stride=2 --arg m=3 | FileCheck %s --check-prefix=RETURNED
// RUN: sparse-runner %s --entry=padded --arg n=1 | FileCheck %s --check-prefix=PADDED
// RUN: sparse-runner %s --entry=at_end --arg n=0 | FileCheck %s --check-prefix=END

// A slice that has strides and drops dimensions is made in two steps, whose
// views MLIR can tell the dimensions of.

// CHECK-LABEL: func.func @strided(
//       CHECK:   %[[WHOLE:.+]] = memref.subview %{{.+}}[1, 0, 4] [2, 1, 1] [3, 1, 1] : {{.*}} to memref<2x1x1xf32
//       CHECK:   memref.subview %[[WHOLE]][0, 0, 0] [2, 1, 1] [1, 1, 1] : {{.*}} to memref<2x1xf32
//       CHECK:   %[[PLACE:.+]] = memref.subview %{{.+}}[0, 2, 1] [1, 2, 1] [1, 2, 1] : {{.*}} to memref<1x2x1xf32
//       CHECK:   memref.copy %{{.+}}, %[[PLACE]]
// VALUES: result0 = tensor<2x1xf32>
// VALUES-NEXT: [9]
// VALUES-NEXT: [24]
// VALUES: result1 = tensor<1x5x2xf32> [0, 0, 0, 0, 0, 1, 0, 0, 0, 2]
func.func @strided() -> (tensor<2x1xf32>, tensor<1x5x2xf32>) {
  %empty = tensor.empty() : tensor<5x1x5xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%empty : tensor<5x1x5xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %k = linalg.index 2 : index
    %c5 = arith.constant 5 : index
    %row = arith.muli %i, %c5 : index
    %n = arith.addi %row, %k : index
    %m = arith.index_cast %n : index to i64
    %f = arith.sitofp %m : i64 to f32
    linalg.yield %f : f32
  } -> tensor<5x1x5xf32>
  %y = tensor.extract_slice %x[1, 0, 4] [2, 1, 1] [3, 1, 1] : tensor<5x1x5xf32> to tensor<2x1xf32>
  %zeros = arith.constant dense<0.0> : tensor<1x5x2xf32>
  %v = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %z = tensor.insert_slice %v into %zeros[0, 2, 1] [1, 2, 1] [1, 2, 1] : tensor<2xf32> into tensor<1x5x2xf32>
  return %y, %z : tensor<2x1xf32>, tensor<1x5x2xf32>
}

// A result has no gaps: a view of every other row is copied, where its extents
// are dynamic as well.

// CHECK-LABEL: func.func @returned(
//       CHECK:   %[[VIEW:.+]] = memref.subview
//       CHECK:   %[[COPY:.+]] = memref.alloc(%{{.+}}, %{{.+}}) {alignment = 64 : i64} : memref<?x?xf32>
//       CHECK:   memref.copy %[[VIEW]], %[[COPY]]
// RETURNED: result0 = tensor<4x3xf32>
// RETURNED-NEXT: [0, 1, 2]
// RETURNED-NEXT: [6, 7, 8]
// RETURNED-NEXT: [12, 13, 14]
// RETURNED-NEXT: [18, 19, 20]
// RETURNED-NEXT: result1 = tensor<4x3xf32>
// RETURNED-NEXT: [0, 1, 2]
// RETURNED-NEXT: [6, 7, 8]
// RETURNED-NEXT: [12, 13, 14]
// RETURNED-NEXT: [18, 19, 20]
func.func @returned(%n: index {sparse_autograd.name = "n"}, %stride: index {sparse_autograd.name = "stride"},
                    %m: index {sparse_autograd.name = "m"})
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %rows = arith.muli %n, %stride : index
  %empty = tensor.empty(%rows, %m) : tensor<?x?xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%empty : tensor<?x?xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.muli %i, %m : index
    %k = arith.addi %row, %j : index
    %number = arith.index_cast %k : index to i64
    %f = arith.sitofp %number : i64 to f32
    linalg.yield %f : f32
  } -> tensor<?x?xf32>
  %y = tensor.extract_slice %x[0, 0] [%n, %m] [%stride, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  return %y, %y : tensor<?x?xf32>, tensor<?x?xf32>
}

// What pads nothing is all padding; no slice of it begins at its end.

// CHECK-LABEL: func.func @padded(
//   CHECK-NOT:   memref.subview
//       CHECK:   return
// PADDED: result0 = tensor<2x3xf32>
// PADDED-NEXT: [1, 1, 1]
// PADDED-NEXT: [1, 1, 1]
func.func @padded(%n: index {sparse_autograd.name = "n"}) -> tensor<2x?xf32> {
  %empty = tensor.empty(%n) : tensor<0x?xf32>
  %one = arith.constant 1.0 : f32
  %x = tensor.pad %empty low[2, %n] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  } : tensor<0x?xf32> to tensor<2x?xf32>
  return %x : tensor<2x?xf32>
}

// What begins where a dimension ends has no elements, and there is no view of
// it. The types of a result or of what is cast say where that is.

// CHECK-LABEL: func.func @at_end(
//   CHECK-NOT:   memref.subview
//       CHECK:   return
// END: result0 = tensor<1x3xf32>
// END-NEXT: [2, 2, 2]
// END-NEXT: result1 = tensor<1x3xf32>
// END-NEXT: [5, 6, 7]
// END-NEXT: result2 = tensor<0x3xf32>
func.func @at_end(%n: index {sparse_autograd.name = "n"}) -> (tensor<1x3xf32>, tensor<1x3xf32>, tensor<?x3xf32>) {
  %two = arith.constant 2.0 : f32
  %empty = tensor.empty(%n) : tensor<?x3xf32>
  %padded = tensor.pad %empty low[1, 0] high[%n, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %two : f32
  } : tensor<?x3xf32> to tensor<1x3xf32>
  %row = arith.constant dense<[[5.0, 6.0, 7.0]]> : tensor<1x3xf32>
  %rows = tensor.cast %row : tensor<1x3xf32> to tensor<?x3xf32>
  %inserted = tensor.insert_slice %empty into %rows[1, 0] [%n, 3] [1, 1] : tensor<?x3xf32> into tensor<?x3xf32>
  %y = tensor.cast %inserted : tensor<?x3xf32> to tensor<1x3xf32>
  %slice = tensor.extract_slice %rows[1, 0] [%n, 3] [1, 1] : tensor<?x3xf32> to tensor<?x3xf32>
  return %padded, %y, %slice : tensor<1x3xf32>, tensor<1x3xf32>, tensor<?x3xf32>
}
