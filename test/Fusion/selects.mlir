// RUN: sparse-opt %s --sparse-autograd-fuse | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// The chain rule selects at each step; one select, of the last value, is
// enough, and is kept: what is masked out never reaches the result.
// CHECK-LABEL: func.func @nested
// CHECK: ^bb0(%[[X:.*]]: f32, %[[M:.*]]: i1, %{{.*}}: f32):
// CHECK-NEXT: %[[L:.*]] = math.log %[[X]]
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[L]], %[[X]]
// CHECK-NEXT: %[[S:.*]] = arith.select %[[M]], %[[P]], %{{.*}}
// CHECK-NEXT: linalg.yield %[[S]]
func.func @nested(%x: tensor<?xf32>, %m: tensor<?xi1>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %m : tensor<?xf32>, tensor<?xi1>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %c: i1, %o: f32):
    %safe = arith.select %c, %v, %one : f32
    %l = math.log %safe : f32
    %sl = arith.select %c, %l, %zero : f32
    %p = arith.mulf %sl, %v : f32
    %s = arith.select %c, %p, %zero : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A select that stands alone is not a product with zero.
// CHECK-LABEL: func.func @alone
// CHECK: %[[S:.*]] = arith.select
// CHECK: arith.mulf %[[S]]
func.func @alone(%x: tensor<?xf32>, %m: tensor<?xi1>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %m : tensor<?xf32>, tensor<?xi1>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %c: i1, %o: f32):
    %s = arith.select %c, %v, %zero : f32
    %p = arith.mulf %s, %v : f32
    linalg.yield %p : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// Under a conjunction both conditions hold; where it does not, nothing is known
// about either.
// CHECK-LABEL: func.func @conjunction
// CHECK: ^bb0(%[[X:.*]]: f32, %[[A:.*]]: i1, %[[B:.*]]: i1, %{{.*}}: f32):
// CHECK: %[[BOTH:.*]] = arith.andi %[[A]], %[[B]]
// CHECK: %[[OTHER:.*]] = arith.select %[[A]], %[[X]]
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK: arith.select %[[BOTH]], %[[P]], %[[OTHER]]
func.func @conjunction(%x: tensor<?xf32>, %m: tensor<?xi1>, %n: tensor<?xi1>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %m, %n : tensor<?xf32>, tensor<?xi1>, tensor<?xi1>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %a: i1, %b: i1, %o: f32):
    %both = arith.andi %a, %b : i1
    %s = arith.select %a, %v, %zero : f32
    %p = arith.mulf %s, %s : f32
    %t = arith.select %both, %p, %s : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// The union of a mask with a part of it is the mask.

// CHECK-LABEL: func.func @absorbed
//       CHECK:   ^bb0(%[[V:.+]]: f32, %[[A:.+]]: i1, %{{.+}}: f32):
//  CHECK-NEXT:     %[[S:.+]] = arith.select %[[A]], %[[V]], %{{.+}} : f32
//  CHECK-NEXT:     linalg.yield %[[S]]
func.func @absorbed(%x: tensor<?xf32>, %m: tensor<?xi1>, %n: tensor<?xi1>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %m, %n : tensor<?xf32>, tensor<?xi1>, tensor<?xi1>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %a: i1, %b: i1, %o: f32):
    %both = arith.andi %b, %a : i1
    %either = arith.ori %both, %a : i1
    %s = arith.select %either, %v, %zero : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// What a relu tells of what was compared is known where the relu is computed.
// CHECK-LABEL: func.func @told
// CHECK: ^bb0(%[[X:.*]]: f32, %[[G:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[C:.*]] = arith.cmpf ogt, %[[X]], %{{.*}}
// CHECK-NEXT: %[[S:.*]] = arith.select %[[C]], %[[G]], %{{.*}}
// CHECK-NEXT: linalg.yield %[[S]]
func.func @told(%x: tensor<?xf32>, %g: tensor<?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %g : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %d: f32, %o: f32):
    %c = arith.cmpf ogt, %v, %zero : f32
    %y = arith.select %c, %v, %zero : f32
    %t = arith.cmpf ogt, %y, %zero : f32
    %s = arith.select %t, %d, %zero : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// Where x is below the threshold, the relu is not.
// CHECK-LABEL: func.func @not_told
// CHECK: arith.cmpf oge, %{{.*}}, %{{.*}}
// CHECK: arith.cmpf oge, %{{.*}}, %{{.*}}
func.func @not_told(%x: tensor<?xf32>, %g: tensor<?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %g : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%v: f32, %d: f32, %o: f32):
    %c = arith.cmpf oge, %v, %zero : f32
    %y = arith.select %c, %v, %zero : f32
    %t = arith.cmpf oge, %y, %zero : f32
    %s = arith.select %t, %d, %zero : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
