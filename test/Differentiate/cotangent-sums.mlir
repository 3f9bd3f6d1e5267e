// RUN: sparse-opt %s --sparse-autograd-differentiate --canonicalize --cse | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#line = affine_map<(i) -> (i)>

// What each term of a cotangent is divided by divides the sum (G14).

// CHECK-LABEL: func.func private @quotients__vjp_1(
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<?xf32>, %{{[a-z0-9]+}}: tensor<?xf32>, %{{[a-z0-9]+}}: tensor<?x8xf32>, %[[CT:[a-z0-9]+]]: tensor<?x8xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[CT]] :
// CHECK-NEXT: ^bb0(%[[G:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[OUT]], %[[G]]
// CHECK-NEXT: linalg.yield %[[NEXT]]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[SUM]], %[[S]] :
// CHECK-NEXT: ^bb0(%[[T:.*]]: f32, %[[D:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[Q:.*]] = arith.divf %[[T]], %[[D]]
// CHECK-NEXT: linalg.yield %[[Q]]
func.func private @quotients(%s: tensor<?xf32>, %b: tensor<?xf32>, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %b : tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %out: f32):
    %e = arith.subf %a, %d : f32
    %q = arith.divf %e, %c : f32
    linalg.yield %q : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
func.func @quotients_vjp(%s: tensor<?xf32>, %b: tensor<?xf32>, %x: tensor<?x8xf32>, %ct: tensor<?x8xf32>) -> tensor<?xf32> {
  %r:2 = sparse_autograd.vjp @quotients(%s, %b, %x) cotangents(%ct) {wrt = [1]}
      : (tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>), (tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?xf32>)
  return %r#1 : tensor<?xf32>
}

// An extent that the types leave open may be zero: a sum of nothing is zero,
// whatever the terms would have been divided by.

// CHECK-LABEL: func.func private @open__vjp_1(
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK-NEXT: ^bb0(
// CHECK-NEXT: %[[Q:.*]] = arith.divf
// CHECK-NEXT: arith.addf %{{.*}}, %[[Q]]
func.func private @open(%s: tensor<?xf32>, %b: tensor<?xf32>, %x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %b : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?x?xf32>) {
  ^bb0(%a: f32, %c: f32, %d: f32, %out: f32):
    %e = arith.subf %a, %d : f32
    %q = arith.divf %e, %c : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
func.func @open_vjp(%s: tensor<?xf32>, %b: tensor<?xf32>, %x: tensor<?x?xf32>, %ct: tensor<?x?xf32>) -> tensor<?xf32> {
  %r:2 = sparse_autograd.vjp @open(%s, %b, %x) cotangents(%ct) {wrt = [1]}
      : (tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>), (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  return %r#1 : tensor<?xf32>
}

// Terms of f16 are products of f32, and are not rounded before they are added.

// CHECK-LABEL: func.func private @half__vjp_1(
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK-NEXT: ^bb0(
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[WIDE]], {{.*}} : f32
// CHECK-NEXT: arith.addf %{{.*}}, %[[P]] : f32
// CHECK-NEXT: linalg.yield
// CHECK: arith.truncf
func.func private @half(%s: tensor<4xf16>, %b: tensor<4xf16>, %x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %y = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %b : tensor<4x8xf16>, tensor<4xf16>, tensor<4xf16>) outs(%x : tensor<4x8xf16>) {
  ^bb0(%a: f16, %c: f16, %d: f16, %out: f16):
    %e = arith.addf %a, %d : f16
    %q = arith.mulf %e, %c : f16
    linalg.yield %q : f16
  } -> tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}
func.func @half_vjp(%s: tensor<4xf16>, %b: tensor<4xf16>, %x: tensor<4x8xf16>, %ct: tensor<4x8xf16>) -> tensor<4xf16> {
  %r:2 = sparse_autograd.vjp @half(%s, %b, %x) cotangents(%ct) {wrt = [1]}
      : (tensor<4xf16>, tensor<4xf16>, tensor<4x8xf16>), (tensor<4x8xf16>) -> (tensor<4x8xf16>, tensor<4xf16>)
  return %r#1 : tensor<4xf16>
}

// Sums of the program itself stay as they are.

// CHECK-LABEL: func.func private @program__vjp_1(
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK-NEXT: ^bb0(
// CHECK-NEXT: %[[P:.*]] = arith.mulf
// CHECK-NEXT: arith.addf %{{.*}}, %[[P]]
func.func private @program(%s: tensor<4xf32>, %x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %p = arith.mulf %a, %c : f32
    %t = arith.addf %out, %p : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @program_vjp(%s: tensor<4xf32>, %x: tensor<4x8xf32>, %ct: tensor<4xf32>) -> tensor<4x8xf32> {
  %r:2 = sparse_autograd.vjp @program(%s, %x) cotangents(%ct) {wrt = [1]}
      : (tensor<4xf32>, tensor<4x8xf32>), (tensor<4xf32>) -> (tensor<4xf32>, tensor<4x8xf32>)
  return %r#1 : tensor<4x8xf32>
}

// Rows that are normalized, times w. The cotangents of their deviations from
// the mean are r (w ct - k (x - mean)). The sum of these over a row is r times
// that of w ct: the deviations add up to zero. All is multiplied by r once.

// CHECK-LABEL: func.func private @normalized__vjp_0(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<4x8xf64>, %[[W:[a-z0-9]+]]: tensor<8xf64>, %[[CT:[a-z0-9]+]]: tensor<4x8xf64>
// CHECK: arith.subf
// CHECK: %[[SQUARES:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[SQUARES]] :
// CHECK-NEXT: ^bb0(
// CHECK-NEXT: math.rsqrt
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[R]], %[[W]] :
// CHECK: %[[WCT:.*]] = linalg.generic {{.*}} ins(%[[W]], %[[CT]] :
// CHECK-NEXT: ^bb0(
// CHECK-NEXT: %[[P:.*]] = arith.mulf
// CHECK-NEXT: linalg.yield %[[P]]
// CHECK: %[[ALONG:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}}, %[[WCT]] :
// CHECK: %[[K:.*]] = linalg.generic {{.*}} ins(%[[R]], %[[ALONG]] :
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[WCT]] :
// CHECK: %[[MEAN:.*]] = linalg.generic {{.*}} ins(%[[SUM]] :
// CHECK-NEXT: ^bb0(
// CHECK-NEXT: arith.divf
// CHECK: linalg.generic {{.*}} ins(%[[R]], %[[WCT]], %[[K]], %{{.*}}, %[[MEAN]] :
// CHECK-NEXT: ^bb0(%[[S:.*]]: f64, %[[G:.*]]: f64, %[[F:.*]]: f64, %[[C:.*]]: f64, %[[M:.*]]: f64, %{{.*}}: f64):
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[F]], %[[C]]
// CHECK-NEXT: %[[DIFFERENCE:.*]] = arith.subf %[[G]], %[[P]]
// CHECK-NEXT: %[[CENTERED:.*]] = arith.{{addf|subf}} %[[DIFFERENCE]], %[[M]]
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[S]], %[[CENTERED]]
// CHECK-NEXT: linalg.yield %[[D]]
func.func private @normalized(%x: tensor<4x8xf64>, %w: tensor<8xf64>) -> tensor<4x8xf64> {
  %zero = arith.constant dense<0.0> : tensor<4xf64>
  %n = arith.constant 8.0 : f64
  %empty = tensor.empty() : tensor<4xf64>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf64>) outs(%zero : tensor<4xf64>) {
  ^bb0(%a: f64, %out: f64):
    %s = arith.addf %out, %a : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %c = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<4x8xf64>, tensor<4xf64>) outs(%x : tensor<4x8xf64>) {
  ^bb0(%a: f64, %s: f64, %out: f64):
    %mean = arith.divf %s, %n : f64
    %d = arith.subf %a, %mean : f64
    linalg.yield %d : f64
  } -> tensor<4x8xf64>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x8xf64>) outs(%zero : tensor<4xf64>) {
  ^bb0(%a: f64, %out: f64):
    %p = arith.mulf %a, %a : f64
    %s = arith.addf %out, %p : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %r = linalg.generic {indexing_maps = [#line, #line], iterator_types = ["parallel"]} ins(%squares : tensor<4xf64>) outs(%empty : tensor<4xf64>) {
  ^bb0(%a: f64, %out: f64):
    %s = math.rsqrt %a : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%c, %r, %w : tensor<4x8xf64>, tensor<4xf64>, tensor<8xf64>) outs(%x : tensor<4x8xf64>) {
  ^bb0(%a: f64, %s: f64, %v: f64, %out: f64):
    %p = arith.mulf %a, %s : f64
    %q = arith.mulf %p, %v : f64
    linalg.yield %q : f64
  } -> tensor<4x8xf64>
  return %y : tensor<4x8xf64>
}
func.func @normalized_vjp(%x: tensor<4x8xf64>, %w: tensor<8xf64>, %ct: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %r:2 = sparse_autograd.vjp @normalized(%x, %w) cotangents(%ct) {wrt = [0]} : (tensor<4x8xf64>, tensor<8xf64>), (tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<4x8xf64>)
  return %r#1 : tensor<4x8xf64>
}

// Seven is not how many there are: what is subtracted is no mean, and what is
// left does not add up to zero.

// CHECK-LABEL: func.func private @not_centered__vjp_0(
// CHECK: %[[D:.*]] = arith.addf %{{.*}}, %{{.*}} : tensor<4x8xf64>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[D]] :
func.func private @not_centered(%x: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %zero = arith.constant dense<0.0> : tensor<4xf64>
  %n = arith.constant 7.0 : f64
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf64>) outs(%zero : tensor<4xf64>) {
  ^bb0(%a: f64, %out: f64):
    %s = arith.addf %out, %a : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %c = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<4x8xf64>, tensor<4xf64>) outs(%x : tensor<4x8xf64>) {
  ^bb0(%a: f64, %s: f64, %out: f64):
    %mean = arith.divf %s, %n : f64
    %d = arith.subf %a, %mean : f64
    linalg.yield %d : f64
  } -> tensor<4x8xf64>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x8xf64>) outs(%zero : tensor<4xf64>) {
  ^bb0(%a: f64, %out: f64):
    %p = arith.mulf %a, %a : f64
    %s = arith.addf %out, %p : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%c, %squares : tensor<4x8xf64>, tensor<4xf64>) outs(%x : tensor<4x8xf64>) {
  ^bb0(%a: f64, %s: f64, %out: f64):
    %p = arith.divf %a, %s : f64
    linalg.yield %p : f64
  } -> tensor<4x8xf64>
  return %y : tensor<4x8xf64>
}
func.func @not_centered_vjp(%x: tensor<4x8xf64>, %ct: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %r:2 = sparse_autograd.vjp @not_centered(%x) cotangents(%ct) {wrt = [0]} : (tensor<4x8xf64>), (tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<4x8xf64>)
  return %r#1 : tensor<4x8xf64>
}

// Eight is: the same program with its mean.

// CHECK-LABEL: func.func private @centered__vjp_0(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<4x8xf64>, %[[CT:[a-z0-9]+]]: tensor<4x8xf64>
// CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<4x8xf64>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[CT]] :
func.func private @centered(%x: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %zero = arith.constant dense<0.0> : tensor<4xf64>
  %n = arith.constant 8.0 : f64
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf64>) outs(%zero : tensor<4xf64>) {
  ^bb0(%a: f64, %out: f64):
    %s = arith.addf %out, %a : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %c = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<4x8xf64>, tensor<4xf64>) outs(%x : tensor<4x8xf64>) {
  ^bb0(%a: f64, %s: f64, %out: f64):
    %mean = arith.divf %s, %n : f64
    %d = arith.subf %a, %mean : f64
    linalg.yield %d : f64
  } -> tensor<4x8xf64>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x8xf64>) outs(%zero : tensor<4xf64>) {
  ^bb0(%a: f64, %out: f64):
    %p = arith.mulf %a, %a : f64
    %s = arith.addf %out, %p : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%c, %squares : tensor<4x8xf64>, tensor<4xf64>) outs(%x : tensor<4x8xf64>) {
  ^bb0(%a: f64, %s: f64, %out: f64):
    %p = arith.divf %a, %s : f64
    linalg.yield %p : f64
  } -> tensor<4x8xf64>
  return %y : tensor<4x8xf64>
}
func.func @centered_vjp(%x: tensor<4x8xf64>, %ct: tensor<4x8xf64>) -> tensor<4x8xf64> {
  %r:2 = sparse_autograd.vjp @centered(%x) cotangents(%ct) {wrt = [0]} : (tensor<4x8xf64>), (tensor<4x8xf64>) -> (tensor<4x8xf64>, tensor<4x8xf64>)
  return %r#1 : tensor<4x8xf64>
}

// The mean of a row, subtracted from a column.

// CHECK-LABEL: func.func private @elsewhere__vjp_0(
// CHECK: %[[D:.*]] = arith.addf %{{.*}}, %{{.*}} : tensor<4x4xf64>
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%[[D]] :
func.func private @elsewhere(%x: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %zero = arith.constant dense<0.0> : tensor<4xf64>
  %n = arith.constant 4.0 : f64
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf64>) outs(%zero : tensor<4xf64>) {
  ^bb0(%a: f64, %out: f64):
    %s = arith.addf %out, %a : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %c = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<4x4xf64>, tensor<4xf64>) outs(%x : tensor<4x4xf64>) {
  ^bb0(%a: f64, %s: f64, %out: f64):
    %mean = arith.divf %s, %n : f64
    %d = arith.subf %a, %mean : f64
    linalg.yield %d : f64
  } -> tensor<4x4xf64>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<4x4xf64>) outs(%zero : tensor<4xf64>) {
  ^bb0(%a: f64, %out: f64):
    %p = arith.mulf %a, %a : f64
    %s = arith.addf %out, %p : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%c, %squares : tensor<4x4xf64>, tensor<4xf64>) outs(%x : tensor<4x4xf64>) {
  ^bb0(%a: f64, %s: f64, %out: f64):
    %p = arith.divf %a, %s : f64
    linalg.yield %p : f64
  } -> tensor<4x4xf64>
  return %y : tensor<4x4xf64>
}
func.func @elsewhere_vjp(%x: tensor<4x4xf64>, %ct: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %r:2 = sparse_autograd.vjp @elsewhere(%x) cotangents(%ct) {wrt = [0]} : (tensor<4x4xf64>), (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4x4xf64>)
  return %r#1 : tensor<4x4xf64>
}
