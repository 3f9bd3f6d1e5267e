// RUN: sparse-opt %s --split-input-file --sparse-autograd-differentiate | FileCheck %s

// What a mask on the result leaves out stays out of the products of the
// transpose: they have a kernel of their own.

// The mask of a relu is computed from floats: its zeros are ordinary numbers.

// CHECK-LABEL: func.func private @relu__vjp_0_1(
//  CHECK-SAME:     %[[X:[^:]+]]: tensor<?x16xf32>, %[[W:[^:]+]]: tensor<16x4xf32>, %[[CT:[^:]+]]: tensor<?x4xf32>)
//       CHECK:   %[[P:.+]] = linalg.generic {{.*}} ins(%[[X]], %[[W]] :
//       CHECK:   %[[POSITIVE:.+]] = linalg.generic {{.*}} ins(%[[P]], %{{.+}} :
//  CHECK-NEXT:   ^bb0
//  CHECK-NEXT:     arith.cmpf ogt
//       CHECK:   %[[DP:.+]] = linalg.generic {{.*}} ins(%[[POSITIVE]], %[[CT]] :
//  CHECK-NEXT:   ^bb0
//  CHECK-NEXT:     arith.select
//       CHECK:   linalg.generic {{.*}} ins(%[[X]], %[[DP]] : tensor<?x16xf32>, tensor<?x4xf32>)
//  CHECK-NEXT:   ^bb0(%[[A:.+]]: f32, %[[B:.+]]: f32, %[[SUM:.+]]: f32):
//  CHECK-NEXT:     %[[PRODUCT:.+]] = arith.mulf %[[B]], %[[A]] : f32
//  CHECK-NEXT:     arith.addf %[[SUM]], %[[PRODUCT]] : f32
//  CHECK-NEXT:     linalg.yield
//       CHECK:   linalg.generic {{.*}} ins(%[[W]], %[[DP]] : tensor<16x4xf32>, tensor<?x4xf32>)
//  CHECK-NEXT:   ^bb0
//  CHECK-NEXT:     arith.mulf
//  CHECK-NEXT:     arith.addf
//  CHECK-NEXT:     linalg.yield
//   CHECK-NOT:   arith.select
//       CHECK:   return
func.func private @relu(%x: tensor<?x16xf32>, %w: tensor<16x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x16xf32>
  %empty = tensor.empty(%rows) : tensor<?x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4xf32>) -> tensor<?x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x16xf32>, tensor<16x4xf32>) outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4xf32>) -> tensor<?x4xf32>
  %positive = arith.cmpf ogt, %p, %zeros : tensor<?x4xf32>
  %y = arith.select %positive, %p, %zeros : tensor<?x4xi1>, tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
func.func @relu_gradients(%x: tensor<?x16xf32>, %w: tensor<16x4xf32>, %ct: tensor<?x4xf32>)
    -> (tensor<?x16xf32>, tensor<16x4xf32>) {
  %r:3 = sparse_autograd.vjp @relu(%x, %w) cotangents(%ct) {wrt = [0, 1]} : (tensor<?x16xf32>, tensor<16x4xf32>), (tensor<?x4xf32>)
      -> (tensor<?x4xf32>, tensor<?x16xf32>, tensor<16x4xf32>)
  return %r#1, %r#2 : tensor<?x16xf32>, tensor<16x4xf32>
}

// -----

// A mask that somebody gave: the rows of x, and the columns of w, that meet
// masked-out elements alone may hold anything.

// CHECK-LABEL: func.func private @given__value_and_grad_0_1(
//  CHECK-SAME:     %[[X:[^:]+]]: tensor<8x16xf32>, %[[W:[^:]+]]: tensor<16x4xf32>, %[[MASK:[^:]+]]: tensor<8x4xi1>)
//   CHECK-DAG:   %[[ROWS:.+]] = linalg.generic {{.*}} ins(%[[MASK]] : tensor<8x4xi1>) outs(%{{.+}} : tensor<8xi1>)
//   CHECK-DAG:   %[[XM:.+]] = linalg.generic {{.*}} ins(%[[X]], %[[ROWS]] : tensor<8x16xf32>, tensor<8xi1>)
//   CHECK-DAG:   %[[COLUMNS:.+]] = linalg.generic {{.*}} ins(%[[MASK]] : tensor<8x4xi1>) outs(%{{.+}} : tensor<4xi1>)
//   CHECK-DAG:   %[[WM:.+]] = linalg.generic {{.*}} ins(%[[W]], %[[COLUMNS]] : tensor<16x4xf32>, tensor<4xi1>)
//   CHECK-DAG:   linalg.generic {{.*}}"reduction"{{.*}} ins(%[[XM]], %{{.+}} : tensor<8x16xf32>, tensor<8x4xf32>)
//   CHECK-DAG:   linalg.generic {{.*}}"reduction"{{.*}} ins(%[[WM]], %{{.+}} : tensor<16x4xf32>, tensor<8x4xf32>)
//       CHECK:   return
func.func private @given(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %mask: tensor<8x4xi1>) -> tensor<f32> {
  %init = arith.constant dense<0.0> : tensor<8x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%init : tensor<8x4xf32>) -> tensor<8x4xf32>
  %s = sparse_autograd.masked_reduce sum %p, %mask dims = [0, 1] : tensor<8x4xf32>, tensor<8x4xi1> -> tensor<f32>
  return %s : tensor<f32>
}
func.func @given_gradients(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %mask: tensor<8x4xi1>)
    -> (tensor<f32>, tensor<8x16xf32>, tensor<16x4xf32>) {
  %r:3 = sparse_autograd.value_and_grad @given(%x, %w, %mask) {wrt = [0, 1]} : (tensor<8x16xf32>, tensor<16x4xf32>, tensor<8x4xi1>)
      -> (tensor<f32>, tensor<8x16xf32>, tensor<16x4xf32>)
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<8x16xf32>, tensor<16x4xf32>
}

// -----

// A mask of rows: those of x are freed; the gradient of x is selected by it,
// so w is read as it is.

// CHECK-LABEL: func.func private @rows__value_and_grad_0_1(
//  CHECK-SAME:     %[[X:[^:]+]]: tensor<8x16xf32>, %[[W:[^:]+]]: tensor<16x4xf32>, %[[MASK:[^:]+]]: tensor<8xi1>)
//   CHECK-DAG:   %[[XM:.+]] = linalg.generic {{.*}} ins(%[[X]], %[[MASK]] : tensor<8x16xf32>, tensor<8xi1>)
//   CHECK-DAG:   linalg.generic {{.*}}"reduction"{{.*}} ins(%[[XM]], %{{.+}} : tensor<8x16xf32>, tensor<8x4xf32>)
//   CHECK-DAG:   %[[DX:.+]] = linalg.generic {{.*}}"reduction"{{.*}} ins(%[[W]], %{{.+}} : tensor<16x4xf32>, tensor<8x4xf32>)
//   CHECK-DAG:   linalg.generic {{.*}} ins(%[[DX]], %[[MASK]] : tensor<8x16xf32>, tensor<8xi1>)
//       CHECK:   return
func.func private @rows(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %mask: tensor<8xi1>) -> tensor<f32> {
  %init = arith.constant dense<0.0> : tensor<8x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%init : tensor<8x4xf32>) -> tensor<8x4xf32>
  %s = sparse_autograd.masked_reduce sum %p, %mask dims = [0, 1] mask_dims = [0] : tensor<8x4xf32>, tensor<8xi1> -> tensor<f32>
  return %s : tensor<f32>
}
func.func @rows_gradients(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %mask: tensor<8xi1>)
    -> (tensor<f32>, tensor<8x16xf32>, tensor<16x4xf32>) {
  %r:3 = sparse_autograd.value_and_grad @rows(%x, %w, %mask) {wrt = [0, 1]} : (tensor<8x16xf32>, tensor<16x4xf32>, tensor<8xi1>)
      -> (tensor<f32>, tensor<8x16xf32>, tensor<16x4xf32>)
  return %r#0, %r#1, %r#2 : tensor<f32>, tensor<8x16xf32>, tensor<16x4xf32>
}

// -----

// A product may be added on either side.

// CHECK-LABEL: func.func private @product_first__vjp_0_1(
//       CHECK:   arith.cmpf ogt
//       CHECK:   arith.select
//       CHECK:   "reduction"
//   CHECK-NOT:   arith.select
//       CHECK:   return
#xs = affine_map<(i, j, k) -> (i, k)>
#ws = affine_map<(i, j, k) -> (k, j)>
#ys = affine_map<(i, j, k) -> (i, j)>
func.func private @product_first(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %zeros = arith.constant dense<0.0> : tensor<8x4xf32>
  %p = linalg.generic {indexing_maps = [#xs, #ws, #ys], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x16xf32>, tensor<16x4xf32>) outs(%zeros : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %product, %sum : f32
    linalg.yield %next : f32
  } -> tensor<8x4xf32>
  %positive = arith.cmpf ogt, %p, %zeros : tensor<8x4xf32>
  %y = arith.select %positive, %p, %zeros : tensor<8x4xi1>, tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
func.func @product_first_gradients(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %ct: tensor<8x4xf32>)
    -> (tensor<8x16xf32>, tensor<16x4xf32>) {
  %r:3 = sparse_autograd.vjp @product_first(%x, %w) cotangents(%ct) {wrt = [0, 1]} : (tensor<8x16xf32>, tensor<16x4xf32>), (tensor<8x4xf32>)
      -> (tensor<8x4xf32>, tensor<8x16xf32>, tensor<16x4xf32>)
  return %r#1, %r#2 : tensor<8x16xf32>, tensor<16x4xf32>
}
