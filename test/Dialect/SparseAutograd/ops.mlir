// RUN: sparse-opt %s | sparse-opt | FileCheck %s
// RUN: sparse-opt %s --mlir-print-op-generic | sparse-opt | FileCheck %s

// CHECK-LABEL: func.func @masked_reduce
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[M:.*]]: tensor<4x8xi1>, %[[R:.*]]: tensor<4xi1>
func.func @masked_reduce(%x: tensor<4x8xf32>, %m: tensor<4x8xi1>, %rows: tensor<4xi1>) {
  // CHECK: sparse_autograd.masked_reduce mean %[[X]], %[[M]] dims = [0, 1] : tensor<4x8xf32>, tensor<4x8xi1> -> tensor<f32>
  %0 = sparse_autograd.masked_reduce mean %x, %m dims = [0, 1] : tensor<4x8xf32>, tensor<4x8xi1> -> tensor<f32>
  // CHECK: sparse_autograd.masked_reduce max %[[X]], %[[R]] dims = [1] mask_dims = [0] keepdims ties = first : tensor<4x8xf32>, tensor<4xi1> -> tensor<4x1xf32>
  %1 = sparse_autograd.masked_reduce max %x, %rows dims = [1] mask_dims = [0] keepdims ties = first : tensor<4x8xf32>, tensor<4xi1> -> tensor<4x1xf32>
  // CHECK: sparse_autograd.masked_reduce var %[[X]] dims = [1] ddof = 1 fastmath<reassoc> : tensor<4x8xf32> -> tensor<4xf32>
  %2 = sparse_autograd.masked_reduce var %x dims = [1] ddof = 1 fastmath<reassoc> : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: sparse_autograd.masked_reduce mean %[[X]], %[[M]] dims = [1] empty = nan
  %3 = sparse_autograd.masked_reduce mean %x, %m dims = [1] empty = nan : tensor<4x8xf32>, tensor<4x8xi1> -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  // CHECK: sparse_autograd.masked_softmax %{{.*}}, %{{.*}} dims = [1] : tensor<?x?xf32>, tensor<?x?xi1>
  %0 = sparse_autograd.masked_softmax %x, %m dims = [1] : tensor<?x?xf32>, tensor<?x?xi1>
  // CHECK: sparse_autograd.masked_log_softmax %{{.*}} dims = [0, 1] : tensor<?x?xf32>
  %1 = sparse_autograd.masked_log_softmax %x dims = [0, 1] : tensor<?x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: func.func @gradient_ops
func.func @gradient_ops(%x: tensor<4x8xf32>, %m: tensor<8xi1>, %s: f64) -> (tensor<4x8xf32>, f64) {
  // CHECK: sparse_autograd.grad_mask %{{.*}}, %{{.*}} mask_dims = [1] : tensor<4x8xf32>, tensor<8xi1>
  %0 = sparse_autograd.grad_mask %x, %m mask_dims = [1] : tensor<4x8xf32>, tensor<8xi1>
  // CHECK: sparse_autograd.stop_gradient %{{.*}} : f64
  %1 = sparse_autograd.stop_gradient %s : f64
  return %0, %1 : tensor<4x8xf32>, f64
}

func.func private @f(tensor<8xf32>, f32, i32) -> (f32, tensor<2xf32>)

// CHECK-LABEL: func.func @derivatives
func.func @derivatives(%w: tensor<8xf32>, %b: f32, %n: i32, %c: tensor<2xf32>) {
  // CHECK: sparse_autograd.value_and_grad @f(%{{.*}}, %{{.*}}, %{{.*}}) {wrt = [0, 1]} : (tensor<8xf32>, f32, i32) -> (f32, tensor<2xf32>, tensor<8xf32>, f32)
  %l, %aux, %dw, %db = sparse_autograd.value_and_grad @f(%w, %b, %n) {wrt = [0, 1]} : (tensor<8xf32>, f32, i32) -> (f32, tensor<2xf32>, tensor<8xf32>, f32)
  // CHECK: sparse_autograd.vjp @f(%{{.*}}, %{{.*}}, %{{.*}}) cotangents(%{{.*}}, %{{.*}}) {wrt = [1]}
  %v:3 = sparse_autograd.vjp @f(%w, %b, %n) cotangents(%b, %c) {wrt = [1]} : (tensor<8xf32>, f32, i32), (f32, tensor<2xf32>) -> (f32, tensor<2xf32>, f32)
  // CHECK: sparse_autograd.jvp @f(%{{.*}}, %{{.*}}, %{{.*}}) tangents(%{{.*}}) {wrt = [0]}
  %j:4 = sparse_autograd.jvp @f(%w, %b, %n) tangents(%w) {wrt = [0]} : (tensor<8xf32>, f32, i32), (tensor<8xf32>) -> (f32, tensor<2xf32>, f32, tensor<2xf32>)
  // CHECK: sparse_autograd.linear_transpose @l(%{{.*}}, %{{.*}}) cotangents(%{{.*}}) {wrt = [1]} : (f32, f32), (tensor<2xf32>) -> (f32)
  %t = sparse_autograd.linear_transpose @l(%b, %b) cotangents(%c) {wrt = [1]} : (f32, f32), (tensor<2xf32>) -> (f32)
  return
}

func.func private @l(f32, f32) -> tensor<2xf32>
func.func private @forward(tensor<8xf32>, f32, i32) -> (f32, tensor<2xf32>, index)
func.func private @backward(index, f32, tensor<2xf32>) -> (tensor<8xf32>, f32)

// CHECK-LABEL: func.func @calls
func.func @calls(%w: tensor<8xf32>, %b: f32, %n: i32) {
  // CHECK: sparse_autograd.checkpoint @f(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<8xf32>, f32, i32) -> (f32, tensor<2xf32>)
  %k:2 = sparse_autograd.checkpoint @f(%w, %b, %n) : (tensor<8xf32>, f32, i32) -> (f32, tensor<2xf32>)
  // CHECK: sparse_autograd.custom_vjp @f(%{{.*}}, %{{.*}}, %{{.*}}) forward(@forward) backward(@backward) : (tensor<8xf32>, f32, i32) -> (f32, tensor<2xf32>)
  %y:2 = sparse_autograd.custom_vjp @f(%w, %b, %n) forward(@forward) backward(@backward) : (tensor<8xf32>, f32, i32) -> (f32, tensor<2xf32>)
  // CHECK: sparse_autograd.barrier %{{.*}}, %{{.*}} : tensor<8xf32>, i32
  %r:2 = sparse_autograd.barrier %w, %n : tensor<8xf32>, i32
  return
}

// CHECK: sparse_autograd.split_vjp @f as @f_forward, @f_backward {wrt = [1, 0]}
sparse_autograd.split_vjp @f as @f_forward, @f_backward {wrt = [1, 0]}
// CHECK: func.func private @f_backward(!sparse_autograd.residuals<@f_forward>, f32, tensor<2xf32>)
func.func private @f_backward(!sparse_autograd.residuals<@f_forward>, f32, tensor<2xf32>) -> (f32, tensor<8xf32>)

// CHECK-LABEL: func.func @program
// CHECK-SAME: sparse_autograd.name = "ratings"
func.func @program(%r: tensor<?x?xf64> {sparse_autograd.name = "ratings"}, %o: tensor<?x?xi1> {sparse_autograd.mask_of = "ratings"}, %seed: i64, %n: index, %e: i32) {
  // CHECK: sparse_autograd.random normal %{{.*}}, %{{.*}} : tensor<8x16xf32>
  %0 = sparse_autograd.random normal %seed, %seed : tensor<8x16xf32>
  // CHECK: sparse_autograd.random bernoulli %{{.*}}, %{{.*}}, [%{{.*}}] probability = 8.000000e-01 : tensor<?xi1>
  %1 = sparse_autograd.random bernoulli %seed, %seed, [%n] probability = 0.8 : tensor<?xi1>
  // CHECK: sparse_autograd.log "epoch" %{{.*}}, "step" %{{.*}} : i32, index
  sparse_autograd.log "epoch" %e, "step" %n : i32, index
  return
}
