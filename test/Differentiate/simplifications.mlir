// RUN: sparse-opt %s --split-input-file --sparse-autograd-differentiate | FileCheck %s

#id = affine_map<(i) -> (i)>
#all = affine_map<(i) -> ()>

// The cotangent of a mean of squares: 2 / n is a constant, and the square has
// one product in its adjoint.

// CHECK-LABEL: func.func private @loss__value_and_grad_0(
//  CHECK-SAME:     %[[X:.+]]: tensor<64xf32>
//       CHECK:   %[[SCALE:.+]] = arith.constant dense<3.125000e-02> : tensor<f32>
//       CHECK:   %[[DX:.+]] = linalg.generic {{.*}} ins(%[[X]], %[[SCALE]] : tensor<64xf32>, tensor<f32>)
//       CHECK:   ^bb0(%[[E:.+]]: f32, %[[S:.+]]: f32, %{{.+}}: f32):
//  CHECK-NEXT:     %[[P:.+]] = arith.mulf %[[S]], %[[E]] : f32
//  CHECK-NEXT:     linalg.yield %[[P]] : f32
//       CHECK:   return %{{.+}}, %[[DX]]
func.func private @loss(%x: tensor<64xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %n = arith.constant dense<64.0> : tensor<f32>
  %sum = linalg.dot ins(%x, %x : tensor<64xf32>, tensor<64xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %mean = arith.divf %sum, %n : tensor<f32>
  return %mean : tensor<f32>
}
func.func @loss_gradient(%x: tensor<64xf32>) -> tensor<64xf32> {
  %v, %dx = sparse_autograd.value_and_grad @loss(%x) {wrt = [0]} : (tensor<64xf32>) -> (tensor<f32>, tensor<64xf32>)
  return %dx : tensor<64xf32>
}

// -----

#rows = affine_map<(i, j) -> (i)>
#id = affine_map<(i, j) -> (i, j)>

// The cotangents of rows are doubled before they meet elements.

// CHECK-LABEL: func.func private @squares__vjp_0(
//  CHECK-SAME:     %[[X:.+]]: tensor<?x8xf32>, %{{[^,]+}}, %[[CT:[^:]+]]: tensor<?xf32>
//       CHECK:   %[[TWICE:.+]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[CT]] : tensor<?xf32>)
//       CHECK:   ^bb0(%[[C:.+]]: f32, %{{.+}}: f32):
//  CHECK-NEXT:     %[[S:.+]] = arith.addf %[[C]], %[[C]] : f32
//       CHECK:   linalg.generic {{.*}} ins(%[[X]], %[[TWICE]] : tensor<?x8xf32>, tensor<?xf32>)
//   CHECK-NOT:     arith.addf
//       CHECK:   return
func.func private @squares(%x: tensor<?x8xf32>, %zero: tensor<?xf32>) -> tensor<?xf32> {
  %sum = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x8xf32>) outs(%zero : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %p = arith.mulf %a, %a : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %sum : tensor<?xf32>
}
func.func @squares_vjp(%x: tensor<?x8xf32>, %zero: tensor<?xf32>, %ct: tensor<?xf32>) -> tensor<?x8xf32> {
  %r:2 = sparse_autograd.vjp @squares(%x, %zero) cotangents(%ct) {wrt = [0]}
      : (tensor<?x8xf32>, tensor<?xf32>), (tensor<?xf32>) -> (tensor<?xf32>, tensor<?x8xf32>)
  return %r#1 : tensor<?x8xf32>
}

// -----

#rows = affine_map<(i, j) -> (i)>
#id = affine_map<(i, j) -> (i, j)>

// The deviations from what a function makes of their rows: the sum that goes
// back to a row is subtracted, and nothing is negated for it.

// CHECK-LABEL: func.func private @deviations__vjp_0(
//   CHECK-NOT:   arith.negf
//       CHECK:   arith.subf
//   CHECK-NOT:   arith.negf
//       CHECK:   return
func.func private @deviations(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %empty = tensor.empty() : tensor<4x8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %d = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<4x8xf32>, tensor<4xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%a: f32, %m: f32, %out: f32):
    %s = arith.subf %a, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}
func.func @deviations_vjp(%x: tensor<4x8xf32>, %ct: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r:2 = sparse_autograd.vjp @deviations(%x) cotangents(%ct) {wrt = [0]}
      : (tensor<4x8xf32>), (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return %r#1 : tensor<4x8xf32>
}

// -----

// The sum of what a mask selects is negated once for a row of a softmax.

// CHECK-LABEL: func.func private @softmax__vjp_0(
//   CHECK-NOT:   arith.negf
//       CHECK:   %[[SUM:.+]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
//   CHECK-NOT:   arith.negf
//       CHECK:   linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[SUM]] : tensor<4xf32>)
//       CHECK:     arith.negf
//   CHECK-NOT:   arith.negf
//       CHECK:   return
func.func private @softmax(%x: tensor<4x8xf32>, %m: tensor<4x8xi1>) -> tensor<4x8xf32> {
  %y = sparse_autograd.masked_softmax %x, %m dims = [1] : tensor<4x8xf32>, tensor<4x8xi1>
  return %y : tensor<4x8xf32>
}
func.func @softmax_vjp(%x: tensor<4x8xf32>, %m: tensor<4x8xi1>, %ct: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r:2 = sparse_autograd.vjp @softmax(%x, %m) cotangents(%ct) {wrt = [0]}
      : (tensor<4x8xf32>, tensor<4x8xi1>), (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
  return %r#1 : tensor<4x8xf32>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>

// A cotangent that is not summed is negated where it is read, not in a second op.

// CHECK-LABEL: func.func private @minus__vjp_1(
//  CHECK-SAME:     %[[CT:[^:, ]+]]: tensor<4x8xf32>) -> (
//       CHECK:   %[[DB:.+]] = sparse_autograd.sampled_generic {{.*}} ins(%[[CT]] : tensor<4x8xf32>)
//       CHECK:   ^bb0(%[[C:.+]]: f32, %{{.+}}: f32):
//  CHECK-NEXT:     %[[N:.+]] = arith.negf %[[C]] : f32
//  CHECK-NEXT:     linalg.yield %[[N]] : f32
//       CHECK:   return %{{.+}}, %[[DB]]
func.func private @minus(%a: tensor<4x8xf32>, %b: tensor<4x8xf32, #csr>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<4x8xf32>, tensor<4x8xf32, #csr>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.subf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
func.func @g(%a: tensor<4x8xf32>, %b: tensor<4x8xf32, #csr>, %g: tensor<4x8xf32>) -> tensor<4x8xf32, #csr> {
  %d:2 = sparse_autograd.vjp @minus(%a, %b) cotangents(%g) {wrt = [1]}
      : (tensor<4x8xf32>, tensor<4x8xf32, #csr>), (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32, #csr>)
  return %d#1 : tensor<4x8xf32, #csr>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>

// A column's cotangent is the sum of those of its elements, which are there.

// CHECK-LABEL: func.func private @scaled__vjp_0_1(
//       CHECK:   %[[ELEMENTS:.+]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%{{[^,]+}}, %{{[^,]+}} :
//  CHECK-NEXT:   ^bb0(%[[U:.+]]: f64, %[[V:.+]]: f64, %{{.+}}: f64):
//  CHECK-NEXT:     arith.mulf %[[V]], %[[U]]
//       CHECK:   %[[COLUMNS:.+]] = linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%[[ELEMENTS]] : tensor<4x8xf64>)
//  CHECK-NEXT:   ^bb0(%[[U:.+]]: f64, %[[SUM:.+]]: f64):
//  CHECK-NEXT:     %[[NEXT:.+]] = arith.addf %[[SUM]], %[[U]]
//  CHECK-NEXT:     linalg.yield %[[NEXT]]
//       CHECK:   return %{{.+}}, %[[ELEMENTS]], %[[COLUMNS]]
func.func private @scaled(%a: tensor<4x8xf64>, %b: tensor<8xf64>, %c: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %e = tensor.empty() : tensor<4x8xf64>
  %y = linalg.generic {indexing_maps = [#id, #columns, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c : tensor<4x8xf64>, tensor<8xf64>, tensor<4x8xf64>) outs(%e : tensor<4x8xf64>) {
  ^bb0(%u: f64, %v: f64, %w: f64, %o: f64):
    %s = arith.addf %u, %v : f64
    %p = arith.mulf %s, %w : f64
    linalg.yield %p : f64
  } -> tensor<4x8xf64>
  return %y : tensor<4x8xf64>
}
func.func @scaled_gradients(%a: tensor<4x8xf64>, %b: tensor<8xf64>, %c: tensor<4x8xf64>, %g: tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<8xf64>) {
  %r:3 = sparse_autograd.vjp @scaled(%a, %b, %c) cotangents(%g) {wrt = [0, 1]}
      : (tensor<4x8xf64>, tensor<8xf64>, tensor<4x8xf64>), (tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<4x8xf64>, tensor<8xf64>)
  return %r#1, %r#2 : tensor<4x8xf64>, tensor<8xf64>
}

// -----

#columns = affine_map<(i, j) -> (j)>
#id = affine_map<(i, j) -> (i, j)>

// Where a relu is positive, what it is of was: that is not computed again, and
// need not be kept.

// CHECK-LABEL: func.func private @relu__vjp_0(
//  CHECK-SAME:   %{{[a-z0-9]+}}: tensor<8x4xf32>, %{{[a-z0-9]+}}: tensor<4xf32>, %[[CT:[a-z0-9]+]]: tensor<8x4xf32>
//       CHECK:   %[[Y:.+]] = linalg.generic
//       CHECK:   linalg.generic {{.*}} ins(%[[Y]], %[[CT]] :
//  CHECK-NEXT:   ^bb0(%[[V:.+]]: f32, %[[G:.+]]: f32, %{{.+}}: f32):
//  CHECK-NEXT:   %[[POSITIVE:.+]] = arith.cmpf ogt, %[[V]], %{{.+}} : f32
//  CHECK-NEXT:   %[[D:.+]] = arith.select %[[POSITIVE]], %[[G]], %{{.+}} : f32
//  CHECK-NEXT:   linalg.yield %[[D]]
func.func private @relu(%p: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<8x4xf32>, tensor<4xf32>) outs(%empty : tensor<8x4xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %z = arith.addf %a, %c : f32
    %beyond = arith.cmpf ogt, %z, %zero : f32
    %v = arith.select %beyond, %z, %zero : f32
    linalg.yield %v : f32
  } -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
func.func @relu_vjp(%p: tensor<8x4xf32>, %b: tensor<4xf32>, %ct: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r:2 = sparse_autograd.vjp @relu(%p, %b) cotangents(%ct) {wrt = [0]}
      : (tensor<8x4xf32>, tensor<4xf32>), (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return %r#1 : tensor<8x4xf32>
}

// -----

#columns = affine_map<(i, j) -> (j)>
#id = affine_map<(i, j) -> (i, j)>

// A relu is nowhere negative, whatever it is of.

// CHECK-LABEL: func.func private @not_told__vjp_0(
//  CHECK-SAME:   %[[P:[a-z0-9]+]]: tensor<8x4xf32>, %[[B:[a-z0-9]+]]: tensor<4xf32>, %[[CT:[a-z0-9]+]]: tensor<8x4xf32>
//       CHECK:   linalg.generic
//       CHECK:   linalg.generic {{.*}} ins(%[[P]], %[[B]], %[[CT]] :
func.func private @not_told(%p: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b : tensor<8x4xf32>, tensor<4xf32>) outs(%empty : tensor<8x4xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %z = arith.addf %a, %c : f32
    %beyond = arith.cmpf oge, %z, %zero : f32
    %v = arith.select %beyond, %z, %zero : f32
    linalg.yield %v : f32
  } -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
func.func @not_told_vjp(%p: tensor<8x4xf32>, %b: tensor<4xf32>, %ct: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r:2 = sparse_autograd.vjp @not_told(%p, %b) cotangents(%ct) {wrt = [0]}
      : (tensor<8x4xf32>, tensor<4xf32>), (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  return %r#1 : tensor<8x4xf32>
}
