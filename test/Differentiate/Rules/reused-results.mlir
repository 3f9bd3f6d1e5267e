// RUN: sparse-opt %s --sparse-autograd-differentiate | FileCheck %s

// The derivative of tanh is read off the result, in another pass over memory
// than the one that computes it: tanh is computed once.

// CHECK-LABEL: func.func private @layer__vjp_0(
//  CHECK-SAME:     %[[X:[^:]+]]: tensor<?xf32>, %[[CT:[^:]+]]: tensor<?xf32>)
//       CHECK:   %[[Y:.+]] = linalg.generic {{.*}} ins(%[[X]] : tensor<?xf32>)
//       CHECK:     math.tanh
//       CHECK:   linalg.generic {{.*}} ins(%[[Y]], %[[CT]] : tensor<?xf32>, tensor<?xf32>)
//   CHECK-NOT:     math.tanh
//       CHECK:   return
func.func private @layer(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = math.tanh %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
func.func @gradient(%x: tensor<?xf32>, %ct: tensor<?xf32>) -> tensor<?xf32> {
  %r:2 = sparse_autograd.vjp @layer(%x) cotangents(%ct) {wrt = [0]} : (tensor<?xf32>), (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %r#1 : tensor<?xf32>
}

// What is as cheap as the read is computed again: y = x + x.

// CHECK-LABEL: func.func private @square__vjp_0(
//  CHECK-SAME:     %[[X:[^:]+]]: tensor<?xf32>, %[[C:[^:]+]]: tensor<?xf32>, %[[D:[^:]+]]: tensor<?xf32>)
//       CHECK:   linalg.generic {{.*}} ins(%[[X]], %[[C]], %[[D]] :
//       CHECK:   return
#id = affine_map<(i) -> (i)>
func.func private @square(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %y:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%x, %x : tensor<?xf32>, tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %twice = arith.addf %a, %a : f32
    %product = arith.mulf %twice, %a : f32
    linalg.yield %twice, %product : f32, f32
  } -> (tensor<?xf32>, tensor<?xf32>)
  return %y#0, %y#1 : tensor<?xf32>, tensor<?xf32>
}
func.func @square_gradient(%x: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %r:3 = sparse_autograd.vjp @square(%x) cotangents(%c, %c) {wrt = [0]} : (tensor<?xf32>), (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#2 : tensor<?xf32>
}
