// RUN: sparse-opt %s --sparse-autograd-differentiate --canonicalize --cse | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#vector = affine_map<(i) -> (i)>

// What the program multiplies by w, and the cotangent for w, is computed once:
// the scaled rows are an op of their own.

// CHECK-LABEL: func.func private @scaled__vjp_2(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x8xf32>, %[[R:[a-z0-9]+]]: tensor<?xf32>, %[[W:[a-z0-9]+]]: tensor<8xf32>, %[[CT:[a-z0-9]+]]: tensor<?x8xf32>
// CHECK: %[[SCALED:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[R]] :
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[S:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[A]], %[[S]]
// CHECK-NEXT: linalg.yield %[[P]]
// CHECK: linalg.generic {{.*}} ins(%[[W]], %[[SCALED]] :
// CHECK-NEXT: ^bb0(%[[U:.*]]: f32, %[[H:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[H]], %[[U]]
// CHECK-NEXT: linalg.yield %[[Y]]
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%[[CT]], %[[SCALED]] :
// CHECK-NEXT: ^bb0(%[[G:.*]]: f32, %[[H:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[Q:.*]] = arith.mulf %[[G]], %[[H]]
// CHECK-NEXT: arith.addf %[[OUT]], %[[Q]]
func.func private @scaled(%x: tensor<?x8xf32>, %r: tensor<?xf32>, %w: tensor<8xf32>) -> tensor<?x8xf32> {
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r, %w : tensor<?x8xf32>, tensor<?xf32>, tensor<8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%a: f32, %s: f32, %u: f32, %out: f32):
    %p = arith.mulf %a, %s : f32
    %q = arith.mulf %p, %u : f32
    linalg.yield %q : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
func.func @scaled_vjp(%x: tensor<?x8xf32>, %r: tensor<?xf32>, %w: tensor<8xf32>, %ct: tensor<?x8xf32>) -> tensor<8xf32> {
  %g:2 = sparse_autograd.vjp @scaled(%x, %r, %w) cotangents(%ct) {wrt = [2]}
      : (tensor<?x8xf32>, tensor<?xf32>, tensor<8xf32>), (tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>)
  return %g#1 : tensor<8xf32>
}

// ct w is part of the cotangent for x and of the sums that are that for r.

// CHECK-LABEL: func.func private @weighted__vjp_0_1(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x8xf64>, %[[R:[a-z0-9]+]]: tensor<4xf64>, %[[W:[a-z0-9]+]]: tensor<4x8xf64>, %[[CT:[a-z0-9]+]]: tensor<4x8xf64>
// CHECK: %[[CTW:.*]] = linalg.generic {{.*}} ins(%[[CT]], %[[W]] :
// CHECK-NEXT: ^bb0(
// CHECK-NEXT: %[[P:.*]] = arith.mulf
// CHECK-NEXT: linalg.yield %[[P]]
// CHECK-NOT: ins({{.*}}%[[CT]] :
// CHECK: linalg.generic {{.*}} ins(%[[R]], %[[CTW]] :
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}}, %[[CTW]] :
// CHECK-NOT: ins({{.*}}%[[CT]] :
// CHECK: return
func.func private @weighted(%x: tensor<4x8xf64>, %r: tensor<4xf64>, %w: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<4x8xf64>, tensor<4xf64>) outs(%x : tensor<4x8xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %p = arith.subf %a, %b : f64
    %q = arith.mulf %p, %p : f64
    linalg.yield %q : f64
  } -> tensor<4x8xf64>
  %y = linalg.generic {indexing_maps = [#id, #row, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s, %r, %w : tensor<4x8xf64>, tensor<4xf64>, tensor<4x8xf64>) outs(%x : tensor<4x8xf64>) {
  ^bb0(%a: f64, %b: f64, %u: f64, %out: f64):
    %p = arith.mulf %a, %b : f64
    %q = arith.mulf %p, %u : f64
    linalg.yield %q : f64
  } -> tensor<4x8xf64>
  return %y : tensor<4x8xf64>
}
func.func @weighted_vjp(%x: tensor<4x8xf64>, %r: tensor<4xf64>, %w: tensor<4x8xf64>, %ct: tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<4xf64>) {
  %g:3 = sparse_autograd.vjp @weighted(%x, %r, %w) cotangents(%ct) {wrt = [0, 1]}
      : (tensor<4x8xf64>, tensor<4xf64>, tensor<4x8xf64>), (tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<4x8xf64>, tensor<4xf64>)
  return %g#1, %g#2 : tensor<4x8xf64>, tensor<4xf64>
}

// In f16 a body may keep more of the product than a tensor would.

// CHECK-LABEL: func.func private @half__vjp_2(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x8xf16>, %[[R:[a-z0-9]+]]: tensor<4xf16>, %[[W:[a-z0-9]+]]: tensor<8xf16>, %[[CT:[a-z0-9]+]]: tensor<4x8xf16>
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[R]], %[[W]] :
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[R]], %[[CT]] :
func.func private @half(%x: tensor<4x8xf16>, %r: tensor<4xf16>, %w: tensor<8xf16>) -> tensor<4x8xf16> {
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r, %w : tensor<4x8xf16>, tensor<4xf16>, tensor<8xf16>) outs(%x : tensor<4x8xf16>) {
  ^bb0(%a: f16, %s: f16, %u: f16, %out: f16):
    %p = arith.mulf %a, %s : f16
    %q = arith.mulf %p, %u : f16
    linalg.yield %q : f16
  } -> tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}
func.func @half_vjp(%x: tensor<4x8xf16>, %r: tensor<4xf16>, %w: tensor<8xf16>, %ct: tensor<4x8xf16>) -> tensor<8xf16> {
  %g:2 = sparse_autograd.vjp @half(%x, %r, %w) cotangents(%ct) {wrt = [2]}
      : (tensor<4x8xf16>, tensor<4xf16>, tensor<8xf16>), (tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<8xf16>)
  return %g#1 : tensor<8xf16>
}

// A product that is added is rounded with the sum on some devices, and is one of
// matrices elsewhere: the sums of x r, and its cotangent, multiply for themselves.

// CHECK-LABEL: func.func private @added__vjp_2(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x8xf32>, %[[R:[a-z0-9]+]]: tensor<4xf32>, %[[W:[a-z0-9]+]]: tensor<8xf32>, %[[CT:[a-z0-9]+]]: tensor<8xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%[[X]], %[[R]] :
// CHECK-NOT: iterator_types = ["parallel", "parallel"]
// CHECK: return
func.func private @added(%x: tensor<4x8xf32>, %r: tensor<4xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %zeros = arith.constant dense<0.0> : tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #row, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x, %r : tensor<4x8xf32>, tensor<4xf32>) outs(%zeros : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %out, %p : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x, %r, %w : tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>) outs(%s : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %u: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %p, %u : f32
    %t = arith.addf %out, %q : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @added_vjp(%x: tensor<4x8xf32>, %r: tensor<4xf32>, %w: tensor<8xf32>, %ct: tensor<8xf32>) -> tensor<8xf32> {
  %g:2 = sparse_autograd.vjp @added(%x, %r, %w) cotangents(%ct) {wrt = [2]}
      : (tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>), (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %g#1 : tensor<8xf32>
}

// What the program alone multiplies twice stays as it is.

// CHECK-LABEL: func.func private @twice__vjp_1(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8xf32>, %{{[a-z0-9]+}}: tensor<8xf32>, %[[R:[a-z0-9]+]]: tensor<8xf32>,
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[R]] :
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[R]] :
// CHECK: math.sin
func.func private @twice(%x: tensor<8xf32>, %z: tensor<8xf32>, %r: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]} ins(%x, %r : tensor<8xf32>, tensor<8xf32>) outs(%x : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %q = math.exp %p : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]} ins(%x, %r : tensor<8xf32>, tensor<8xf32>) outs(%x : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %q = math.sin %p : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %y = arith.mulf %z, %z : tensor<8xf32>
  return %e, %s, %y : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func @twice_vjp(%x: tensor<8xf32>, %z: tensor<8xf32>, %r: tensor<8xf32>, %ce: tensor<8xf32>, %cs: tensor<8xf32>, %cy: tensor<8xf32>) -> tensor<8xf32> {
  %g:4 = sparse_autograd.vjp @twice(%x, %z, %r) cotangents(%ce, %cs, %cy) {wrt = [1]}
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>), (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return %g#3 : tensor<8xf32>
}
