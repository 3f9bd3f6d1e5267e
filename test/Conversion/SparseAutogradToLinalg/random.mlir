// RUN: sparse-opt %s --convert-sparse-autograd-to-linalg --verify-each | FileCheck %s

// The element's position and the keys of the rounds make the bits: nothing is
// carried from one element to the next.

// CHECK-LABEL: func.func @uniform
// CHECK-SAME: %[[SEED:.*]]: i64, %[[COUNTER:.*]]: i64, %[[ROWS:.*]]: index
func.func @uniform(%seed: i64, %counter: i64, %rows: index) -> tensor<?x8xf32> {
  // CHECK: tensor.empty(%[[ROWS]]) : tensor<?x8xf32>
  // CHECK: linalg.generic
  // CHECK-SAME: iterator_types = ["parallel", "parallel"]
  // CHECK: %[[I:.*]] = linalg.index 0
  // CHECK: %[[J:.*]] = linalg.index 1
  // CHECK-COUNT-20: arith.muli
  // CHECK: %[[BITS:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i64
  // CHECK: %[[UPPER:.*]] = arith.shrui %[[BITS]], %{{.*}} : i64
  // CHECK: %[[WORD:.*]] = arith.trunci %[[UPPER]] : i64 to i32
  // CHECK: %[[FLOAT:.*]] = arith.sitofp %[[WORD]] : i32 to f32
  // CHECK: arith.mulf %[[FLOAT]], %{{.*}} : f32
  %0 = sparse_autograd.random uniform %seed, %counter, [%rows] : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// Only operations that IEEE 754 rounds in one way: no function of a library,
// no fused multiply-add.

// CHECK-LABEL: func.func @normal
func.func @normal(%seed: i64, %counter: i64) -> tensor<4xbf16> {
  // CHECK-NOT: math.{{(log|exp|fma|erf)}}
  // CHECK-NOT: fastmath
  // CHECK: %[[SINGLE:.*]] = arith.truncf %{{.*}} : f64 to f32
  // CHECK: arith.truncf %[[SINGLE]] : f32 to bf16
  // CHECK: return
  %0 = sparse_autograd.random normal %seed, %counter : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// CHECK-LABEL: func.func @bernoulli
func.func @bernoulli(%seed: i64, %counter: i64) -> tensor<4xi1> {
  // CHECK: %[[P:.*]] = arith.constant 8.000000e-01 : f64
  // CHECK: arith.cmpf olt, %{{.*}}, %[[P]] : f64
  %0 = sparse_autograd.random bernoulli %seed, %counter probability = 0.8 : tensor<4xi1>
  return %0 : tensor<4xi1>
}
