// RUN: sparse-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(sparse-autograd-fuse))' | FileCheck %s

// What all of a result is written over is not read: it starts from an empty
// tensor.

// CHECK-LABEL: func.func @unread(
//  CHECK-SAME:     %[[X:[^:]+]]: tensor<?xf32>, %[[Y:[^:]+]]: tensor<?xf32>)
//       CHECK:   %[[N:.+]] = tensor.dim %[[Y]]
//       CHECK:   %[[EMPTY:.+]] = tensor.empty(%[[N]]) : tensor<?xf32>
//       CHECK:   linalg.generic {{.*}} ins(%[[X]] : tensor<?xf32>) outs(%[[EMPTY]] : tensor<?xf32>)
#vector = affine_map<(i) -> (i)>
func.func @unread(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Where nothing is written the initial value stays.

// CHECK-LABEL: func.func @column(
//  CHECK-SAME:     %[[X:[^:]+]]: tensor<8xf32>, %[[Y:[^:]+]]: tensor<8x4xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%[[X]] : tensor<8xf32>) outs(%[[Y]] : tensor<8x4xf32>)
func.func @column(%x: tensor<8xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, 2)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%y : tensor<8x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

// The extents of the result are constants, of which MLIR makes the cast of an
// empty tensor a step at a time. That is one as well; this came to no end.

// CHECK-LABEL: func.func @constants(
//       CHECK:   %[[EMPTY:.+]] = tensor.empty() : tensor<7x8x4xf32>
//       CHECK:   linalg.generic {{.*}} outs(%[[EMPTY]] : tensor<7x8x4xf32>)
#space = affine_map<(i, j, k) -> (i, j, k)>
func.func @constants(%x: tensor<?x?xf32>) -> tensor<?x?x?xf32> {
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %e = tensor.expand_shape %x [[0], [1, 2]] output_shape [%c7, %c8, %c4] : tensor<?x?xf32> into tensor<?x?x?xf32>
  %r = linalg.generic {indexing_maps = [#space, #space], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%e : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// -----

// Over nothing, what a result starts from is all that there is.

// CHECK-LABEL: func.func @nothing(
//  CHECK-SAME:     %{{.+}}: tensor<?x0xf32>, %[[Y:[^:]+]]: tensor<?xf32>)
//   CHECK-NOT:   linalg
//       CHECK:   return %[[Y]]
func.func @nothing(%x: tensor<?x0xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x0xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %v = arith.addf %a, %out : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// An extent in the source of a window is not that of a loop.

// CHECK-LABEL: func.func @window(
//       CHECK:   linalg.generic
func.func @window(%x: tensor<0xf32>, %w: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<0xf32>, tensor<?xf32>) outs(%y : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %v = arith.addf %p, %out : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
