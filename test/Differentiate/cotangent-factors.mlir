// RUN: sparse-opt %s --sparse-autograd-differentiate --canonicalize --cse | FileCheck %s

// Terms of a cotangent that have a factor in common are added before they are
// multiplied by it (G14), here by one op: ct sin x + ct x cos x is
// ct (sin x + x cos x).

// CHECK-LABEL: func.func private @sine__vjp_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?xf32>, %[[CT:[a-z0-9]+]]: tensor<?xf32>
// CHECK: %[[S:.*]] = linalg.generic
// CHECK: math.sin
// CHECK: %[[P:.*]] = linalg.generic
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[CT]], %[[S]], %[[X]] :
// CHECK-NEXT: ^bb0(%[[G:.*]]: f32, %[[SINE:.*]]: f32, %[[A:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[COSINE:.*]] = math.cos %[[A]]
// CHECK-NEXT: %[[T:.*]] = arith.mulf %[[A]], %[[COSINE]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[SINE]], %[[T]]
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[G]], %[[SUM]] : f32
// CHECK-NEXT: linalg.yield %[[D]]
// CHECK: return %[[P]], %[[DX]]
func.func private @sine(%x: tensor<?xf32>) -> tensor<?xf32> {
  %s = math.sin %x : tensor<?xf32>
  %p = arith.mulf %x, %s : tensor<?xf32>
  return %p : tensor<?xf32>
}
func.func @sine_vjp(%x: tensor<?xf32>, %ct: tensor<?xf32>) -> tensor<?xf32> {
  %r:2 = sparse_autograd.vjp @sine(%x) cotangents(%ct) {wrt = [0]} : (tensor<?xf32>), (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %r#1 : tensor<?xf32>
}

// A term may be negated. All that was merged has the flags of the result (G3).
// CHECK-LABEL: func.func private @cosine__vjp_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: f64, %[[CT:[a-z0-9]+]]: f64
// CHECK: %[[C:.*]] = math.cos %[[X]]
// CHECK: %[[S:.*]] = math.sin %[[X]]
// CHECK-NEXT: %[[T:.*]] = arith.mulf %[[X]], %[[S]] : f64
// CHECK-NEXT: %[[DIFFERENCE:.*]] = arith.subf %[[C]], %[[T]] : f64
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[CT]], %[[DIFFERENCE]] : f64
// CHECK-NEXT: return %{{.*}}, %[[D]]
func.func private @cosine(%x: f64) -> f64 {
  %c = math.cos %x : f64
  %p = arith.mulf %x, %c fastmath<contract> : f64
  return %p : f64
}
func.func @cosine_vjp(%x: f64, %ct: f64) -> f64 {
  %r:2 = sparse_autograd.vjp @cosine(%x) cotangents(%ct) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %r#1 : f64
}

// So are terms of a cotangent inside of a body: in that of a GELU, x times the
// derivative of the error function.
// CHECK-LABEL: func.func private @gelu__vjp_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8xf32>, %[[CT:[a-z0-9]+]]: tensor<8xf32>
// CHECK-DAG: %[[HALF:.*]] = arith.constant 5.0
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[CT]] :
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[G:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[F:.*]] = arith.addf
// CHECK: %[[E:.*]] = math.exp
// CHECK: %[[SLOPE:.*]] = arith.mulf %[[E]]
// CHECK-DAG: %[[H:.*]] = arith.mulf %[[G]], %[[HALF]]
// CHECK-DAG: %[[P:.*]] = arith.mulf %[[A]], %[[SLOPE]]
// CHECK: %[[Q:.*]] = arith.mulf %[[P]], %{{.*}}
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[F]], %[[Q]]
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[H]], %[[SUM]]
// CHECK-NEXT: linalg.yield %[[D]]
#id = affine_map<(i) -> (i)>
func.func private @gelu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %scale = arith.constant 0.707106769 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %b = arith.mulf %a, %scale : f32
    %e = math.erf %b : f32
    %f = arith.addf %e, %one : f32
    %g = arith.mulf %a, %f : f32
    %h = arith.mulf %g, %half : f32
    linalg.yield %h : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @gelu_vjp(%x: tensor<8xf32>, %ct: tensor<8xf32>) -> tensor<8xf32> {
  %r:2 = sparse_autograd.vjp @gelu(%x) cotangents(%ct) {wrt = [0]} : (tensor<8xf32>), (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %r#1 : tensor<8xf32>
}

// What is known of a factor is looked up through tensors: y = tanh x is within
// one, and so (1 - y) (1 + y) is not large.
// CHECK-LABEL: func.func private @tanh__vjp_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8xf32>, %[[CT:[a-z0-9]+]]: tensor<8xf32>
// CHECK: linalg.generic {{.*}} ins(%[[CT]], %{{.*}}, %[[X]]
// CHECK-NEXT: ^bb0(%[[G:.*]]: f32, %[[Y:.*]]: f32, %[[A:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[T:.*]] = arith.mulf %[[A]], %{{.*}}
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[Y]], %[[T]]
// CHECK-NEXT: arith.mulf %[[G]], %[[SUM]]
// CHECK-NEXT: linalg.yield
// CHECK-NEXT: } -> tensor<8xf32>
// CHECK-NEXT: return
func.func private @tanh(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = math.tanh %x : tensor<8xf32>
  %p = arith.mulf %x, %y : tensor<8xf32>
  return %p : tensor<8xf32>
}
func.func @tanh_vjp(%x: tensor<8xf32>, %ct: tensor<8xf32>) -> tensor<8xf32> {
  %r:2 = sparse_autograd.vjp @tanh(%x) cotangents(%ct) {wrt = [0]} : (tensor<8xf32>), (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %r#1 : tensor<8xf32>
}

// Neither cosh x nor sinh x is bounded: where the cotangent is zero, their
// squares are not to become infinities, which would make a NaN of it.
// CHECK-LABEL: func.func private @hyperbolic__vjp_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: f64, %[[CT:[a-z0-9]+]]: f64
// CHECK-DAG: %[[S:.*]] = math.sinh %[[X]]
// CHECK-DAG: %[[C:.*]] = math.cosh %[[X]]
// CHECK-DAG: %[[U:.*]] = arith.mulf %[[CT]], %[[S]]
// CHECK-DAG: %[[V:.*]] = arith.mulf %[[CT]], %[[C]]
// CHECK-DAG: %[[DS:.*]] = arith.mulf %[[U]], %{{.*}}
// CHECK-DAG: %[[DC:.*]] = arith.mulf %[[V]], %{{.*}}
// CHECK: %[[D:.*]] = arith.addf %{{.*}}, %{{.*}}
// CHECK-NEXT: return %{{.*}}, %[[D]]
func.func private @hyperbolic(%x: f64) -> f64 {
  %s = math.sinh %x : f64
  %c = math.cosh %x : f64
  %p = arith.mulf %s, %c : f64
  return %p : f64
}
func.func @hyperbolic_vjp(%x: f64, %ct: f64) -> f64 {
  %r:2 = sparse_autograd.vjp @hyperbolic(%x) cotangents(%ct) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %r#1 : f64
}

// Nor is z / y, where it is not multiplied by the cotangent first.
// CHECK-LABEL: func.func private @quotient__vjp_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: f64, %[[Y:[a-z0-9]+]]: f64, %[[Z:[a-z0-9]+]]: f64, %[[CT:[a-z0-9]+]]: f64
// CHECK-DAG: %[[P:.*]] = arith.mulf %[[CT]], %[[Z]]
// CHECK-DAG: arith.divf %[[P]], %[[Y]]
// CHECK: %[[D:.*]] = arith.addf %{{.*}}, %{{.*}}
// CHECK-NEXT: return %{{.*}}, %[[D]]
func.func private @quotient(%x: f64, %y: f64, %z: f64) -> f64 {
  %s = math.sin %x : f64
  %q = arith.divf %x, %y : f64
  %p = arith.mulf %q, %z : f64
  %t = arith.addf %p, %s : f64
  return %t : f64
}
func.func @quotient_vjp(%x: f64, %y: f64, %z: f64, %ct: f64) -> f64 {
  %r:2 = sparse_autograd.vjp @quotient(%x, %y, %z) cotangents(%ct) {wrt = [0]} : (f64, f64, f64), (f64) -> (f64, f64)
  return %r#1 : f64
}

// What is left may be as large as it likes where it is multiplied by the
// cotangent: ct y + (ct x) y is (ct + ct x) y.
// CHECK-LABEL: func.func private @exponential__vjp_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: f64, %[[CT:[a-z0-9]+]]: f64
// CHECK: %[[Y:.*]] = math.exp %[[X]]
// CHECK: %[[U:.*]] = arith.mulf %[[CT]], %[[X]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[CT]], %[[U]]
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[Y]], %[[SUM]]
// CHECK-NEXT: return %{{.*}}, %[[D]]
func.func private @exponential(%x: f64) -> f64 {
  %y = math.exp %x : f64
  %p = arith.mulf %x, %y : f64
  return %p : f64
}
func.func @exponential_vjp(%x: f64, %ct: f64) -> f64 {
  %r:2 = sparse_autograd.vjp @exponential(%x) cotangents(%ct) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %r#1 : f64
}

// In f16 the products are those of f32, and what is added up is rounded once;
// no factor is taken out of what is extended.
// CHECK-LABEL: func.func private @half__vjp_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: f16, %[[CT:[a-z0-9]+]]: f16
// CHECK: %[[Y:.*]] = math.exp %[[X]]
// CHECK-DAG: %[[WIDECT:.*]] = arith.extf %[[CT]]
// CHECK-DAG: %[[WIDEX:.*]] = arith.extf %[[X]]
// CHECK-DAG: %[[WIDEY:.*]] = arith.extf %[[Y]]
// CHECK-DAG: %[[U:.*]] = arith.mulf %[[WIDECT]], %[[WIDEX]]
// CHECK-DAG: %[[V:.*]] = arith.mulf %[[WIDECT]], %[[WIDEY]]
// CHECK-DAG: %[[W:.*]] = arith.mulf %[[U]], %[[WIDEY]]
// CHECK: %[[SUM:.*]] = arith.addf %[[V]], %[[W]]
// CHECK-NEXT: %[[D:.*]] = arith.truncf %[[SUM]]
// CHECK-NEXT: return %{{.*}}, %[[D]]
func.func private @half(%x: f16) -> f16 {
  %y = math.exp %x : f16
  %p = arith.mulf %x, %y : f16
  return %p : f16
}
func.func @half_vjp(%x: f16, %ct: f16) -> f16 {
  %r:2 = sparse_autograd.vjp @half(%x) cotangents(%ct) {wrt = [0]} : (f16), (f16) -> (f16, f16)
  return %r#1 : f16
}

// A factor of what is broadcast is one of each element: the cotangent of
// x / |x| is s (ct - x k), with s = 1 / |x| and k = s^2 sum(ct x). That k is
// negated makes the sum a difference.
// CHECK-LABEL: func.func private @direction__vjp_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8xf32>, %[[CT:[a-z0-9]+]]: tensor<8xf32>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} iterator_types = []}
// CHECK-NEXT: ^bb0(
// CHECK-NEXT: math.rsqrt
// CHECK: %[[ALONG:.*]] = linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[X]], %[[CT]] :
// CHECK: %[[K:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[ALONG]] :
// CHECK-NEXT: ^bb0(%[[R:.*]]: f32, %[[T:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[SQUARE:.*]] = arith.mulf %[[R]], %[[R]]
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[T]], %[[SQUARE]]
// CHECK-NEXT: linalg.yield %[[P]]
// CHECK: %[[DX:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[CT]], %[[K]], %[[X]] :
// CHECK-NEXT: ^bb0(%[[R:.*]]: f32, %[[G:.*]]: f32, %[[F:.*]]: f32, %[[A:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[F]], %[[A]]
// CHECK-NEXT: %[[DIFFERENCE:.*]] = arith.subf %[[G]], %[[P]]
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[R]], %[[DIFFERENCE]]
// CHECK-NEXT: linalg.yield %[[D]]
// CHECK: return %{{.*}}, %[[DX]]
#all = affine_map<(i) -> ()>
func.func private @direction(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %empty = tensor.empty() : tensor<8xf32>
  %square = linalg.dot ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %r = math.rsqrt %square : tensor<f32>
  %y = linalg.generic {indexing_maps = [#id, #all, #id], iterator_types = ["parallel"]} ins(%x, %r : tensor<8xf32>, tensor<f32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %p = arith.mulf %a, %s : f32
    linalg.yield %p : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @direction_vjp(%x: tensor<8xf32>, %ct: tensor<8xf32>) -> tensor<8xf32> {
  %r:2 = sparse_autograd.vjp @direction(%x) cotangents(%ct) {wrt = [0]} : (tensor<8xf32>), (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %r#1 : tensor<8xf32>
}

// Where both terms are multiplied by s once a row, each element would be
// multiplied instead.
// CHECK-LABEL: func.func private @rows__vjp_0(
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<4x8xf32>, %[[S:[a-z0-9]+]]: tensor<4xf32>,
// CHECK: %[[P:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[S]], %{{.*}} :
// CHECK: %[[Q:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[S]], %{{.*}} :
// CHECK-NOT: ins({{.*}}%[[S]]{{.*}} :
// CHECK: return
#matrix = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#line = affine_map<(i) -> (i)>
func.func private @rows(%x: tensor<4x8xf32>, %s: tensor<4xf32>, %c: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %p = linalg.generic {indexing_maps = [#matrix, #matrix, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %c : tensor<4x8xf32>, tensor<4x8xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %out, %m : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [#matrix, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %t = arith.addf %out, %a : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %ps = arith.mulf %p, %s : tensor<4xf32>
  %qs = arith.mulf %q, %s : tensor<4xf32>
  return %ps, %qs : tensor<4xf32>, tensor<4xf32>
}
func.func @rows_vjp(%x: tensor<4x8xf32>, %s: tensor<4xf32>, %c: tensor<4x8xf32>, %cp: tensor<4xf32>, %cq: tensor<4xf32>) -> tensor<4x8xf32> {
  %r:3 = sparse_autograd.vjp @rows(%x, %s, %c) cotangents(%cp, %cq) {wrt = [0]}
      : (tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>), (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>)
  return %r#2 : tensor<4x8xf32>
}

// Bounds follow from how a factor h is computed.

// CHECK-LABEL: func.func private @logistic__vjp_0(
// CHECK-SAME: %{{[a-z0-9]+}}: f64, %{{[a-z0-9]+}}: f64, %[[CT:[a-z0-9]+]]: f64
// CHECK: math.cos
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : f64
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[CT]], %[[SUM]] : f64
// CHECK-NEXT: return %{{.*}}, %[[D]]
func.func private @logistic(%x: f64, %z: f64) -> f64 {
  %one = arith.constant 1.0 : f64
  %n = arith.negf %z : f64
  %e = math.exp %n : f64
  %d = arith.addf %one, %e : f64
  %h = arith.divf %one, %d : f64
  %s = math.sin %x : f64
  %g = arith.mulf %s, %h : f64
  %p = arith.mulf %x, %g : f64
  return %p : f64
}
func.func @logistic_vjp(%x: f64, %z: f64, %ct: f64) -> f64 {
  %r:2 = sparse_autograd.vjp @logistic(%x, %z) cotangents(%ct) {wrt = [0]} : (f64, f64), (f64) -> (f64, f64)
  return %r#1 : f64
}

// CHECK-LABEL: func.func private @reciprocal__vjp_0(
// CHECK: math.cos
// CHECK: %[[D:.*]] = arith.addf %{{.*}}, %{{.*}} : f64
// CHECK-NEXT: return %{{.*}}, %[[D]]
func.func private @reciprocal(%x: f64, %z: f64) -> f64 {
  %one = arith.constant 1.0 : f64
  %e = math.exp %z : f64
  %h = arith.divf %one, %e : f64
  %s = math.sin %x : f64
  %g = arith.mulf %s, %h : f64
  %p = arith.mulf %x, %g : f64
  return %p : f64
}
func.func @reciprocal_vjp(%x: f64, %z: f64, %ct: f64) -> f64 {
  %r:2 = sparse_autograd.vjp @reciprocal(%x, %z) cotangents(%ct) {wrt = [0]} : (f64, f64), (f64) -> (f64, f64)
  return %r#1 : f64
}

// CHECK-LABEL: func.func private @largest__vjp_0(
// CHECK-SAME: %{{[a-z0-9]+}}: f64, %{{[a-z0-9]+}}: f64, %[[CT:[a-z0-9]+]]: f64
// CHECK: math.cos
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : f64
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[CT]], %[[SUM]] : f64
// CHECK-NEXT: return %{{.*}}, %[[D]]
func.func private @largest(%x: f64, %z: f64) -> f64 {
  %three = arith.constant 3.0 : f64
  %t = math.tanh %z : f64
  %a = math.absf %t : f64
  %m = arith.subf %a, %three : f64
  %h = arith.maximumf %m, %t : f64
  %s = math.sin %x : f64
  %g = arith.mulf %s, %h : f64
  %p = arith.mulf %x, %g : f64
  return %p : f64
}
func.func @largest_vjp(%x: f64, %z: f64, %ct: f64) -> f64 {
  %r:2 = sparse_autograd.vjp @largest(%x, %z) cotangents(%ct) {wrt = [0]} : (f64, f64), (f64) -> (f64, f64)
  return %r#1 : f64
}

// CHECK-LABEL: func.func private @larger__vjp_0(
// CHECK: math.cos
// CHECK: %[[D:.*]] = arith.addf %{{.*}}, %{{.*}} : f64
// CHECK-NEXT: return %{{.*}}, %[[D]]
func.func private @larger(%x: f64, %z: f64) -> f64 {
  %four = arith.constant 4.0 : f64
  %t = math.tanh %z : f64
  %a = math.absf %t : f64
  %m = arith.addf %a, %four : f64
  %h = arith.maximumf %m, %t : f64
  %s = math.sin %x : f64
  %g = arith.mulf %s, %h : f64
  %p = arith.mulf %x, %g : f64
  return %p : f64
}
func.func @larger_vjp(%x: f64, %z: f64, %ct: f64) -> f64 {
  %r:2 = sparse_autograd.vjp @larger(%x, %z) cotangents(%ct) {wrt = [0]} : (f64, f64), (f64) -> (f64, f64)
  return %r#1 : f64
}

// A term that is another gradient as well is multiplied for that anyway.
// CHECK-LABEL: func.func private @read_twice__vjp_0_1(
// CHECK-SAME: %[[X:[a-z0-9]+]]: f64, %{{[a-z0-9]+}}: f64, %[[CT:[a-z0-9]+]]: f64
// CHECK: %[[S:.*]] = math.sin %[[X]]
// CHECK: %[[DB:.*]] = arith.mulf %[[CT]], %[[S]]
// CHECK: %[[DX:.*]] = arith.addf %[[DB]], %{{.*}}
// CHECK: return %{{.*}}, %[[DX]], %[[DB]]
func.func private @read_twice(%x: f64, %b: f64) -> f64 {
  %s = math.sin %x : f64
  %t = arith.addf %x, %b : f64
  %p = arith.mulf %t, %s : f64
  return %p : f64
}
func.func @read_twice_vjp(%x: f64, %b: f64, %ct: f64) -> (f64, f64) {
  %r:3 = sparse_autograd.vjp @read_twice(%x, %b) cotangents(%ct) {wrt = [0, 1]} : (f64, f64), (f64) -> (f64, f64, f64)
  return %r#1, %r#2 : f64, f64
}

// What a mask selects is selected term by term (G1).
// CHECK-LABEL: func.func private @masked__vjp_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: f64, %[[M:[a-z0-9]+]]: i1, %[[CT:[a-z0-9]+]]: f64
// CHECK: %[[S:.*]] = math.sin %[[X]]
// CHECK: %[[P:.*]] = arith.mulf %[[CT]], %[[S]]
// CHECK: %[[Q:.*]] = arith.mulf %{{.*}}, %{{.*}}
// CHECK: %[[SELECTED:.*]] = arith.select %[[M]], %[[P]], %{{.*}}
// CHECK: arith.addf %[[SELECTED]], %[[Q]]
func.func private @masked(%x: f64, %m: i1) -> f64 {
  %zero = arith.constant 0.0 : f64
  %s = math.sin %x : f64
  %l = arith.select %m, %x, %zero : f64
  %p = arith.mulf %l, %s : f64
  return %p : f64
}
func.func @masked_vjp(%x: f64, %m: i1, %ct: f64) -> f64 {
  %r:2 = sparse_autograd.vjp @masked(%x, %m) cotangents(%ct) {wrt = [0]} : (f64, i1), (f64) -> (f64, f64)
  return %r#1 : f64
}

// The program itself stays as it is.
// CHECK-LABEL: func.func private @distributed__vjp_0(
// CHECK-SAME: %[[X:[a-z0-9]+]]: f64, %[[C:[a-z0-9]+]]: f64, %[[CT:[a-z0-9]+]]: f64
// CHECK: %[[S:.*]] = math.sin %[[X]]
// CHECK: %[[A:.*]] = arith.mulf %[[C]], %[[S]]
// CHECK: %[[COSINE:.*]] = math.cos %[[X]]
// CHECK: %[[B:.*]] = arith.mulf %[[C]], %[[COSINE]]
// CHECK: %[[P:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: return %[[P]]
func.func private @distributed(%x: f64, %c: f64) -> f64 {
  %s = math.sin %x : f64
  %a = arith.mulf %c, %s : f64
  %t = math.cos %x : f64
  %b = arith.mulf %c, %t : f64
  %p = arith.addf %a, %b : f64
  return %p : f64
}
func.func @distributed_vjp(%x: f64, %c: f64, %ct: f64) -> f64 {
  %r:2 = sparse_autograd.vjp @distributed(%x, %c) cotangents(%ct) {wrt = [0]} : (f64, f64), (f64) -> (f64, f64)
  return %r#1 : f64
}
