// RUN: sparse-opt %s --sparse-autograd-differentiate --canonicalize --cse --split-input-file | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-differentiate --split-input-file -o /dev/null \
// RUN:   --remarks-filter=sparse-autograd-residuals --remark-policy=all 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: sparse-opt %s --sparse-autograd-differentiate=residual-budget=70000 --canonicalize --cse --split-input-file 2>&1 | FileCheck %s --check-prefix=BUDGET

#id = affine_map<(i, j) -> (i, j)>

// exp(sin(x)) needs sin(x)'s exponential and cos(x): the arithmetic is cheaper
// than what it saves to keep, so x is kept, and everything else computed again.
// The functions are public, and what is kept has a name.
//
// CHECK-LABEL: func.func @f_forward
// CHECK-SAME: (%[[X:.*]]: tensor<64x128xf64> {sparse_autograd.name = "x"})
// CHECK-SAME: -> (tensor<64x128xf64>, tensor<64x128xf64> {sparse_autograd.name = "residual0"})
// CHECK: return %{{.*}}, %[[X]]
//
// CHECK-LABEL: func.func @f_backward
// CHECK-SAME: (%[[KEPT:.*]]: tensor<64x128xf64> {sparse_autograd.name = "residual0"}, %[[CT:.*]]: tensor<64x128xf64>)
// CHECK: sparse_autograd.barrier %[[KEPT]], %[[CT]]
// CHECK: math.sin
// CHECK: math.exp
// CHECK: math.cos
//
// REMARK-DAG: [Passed] kept | Category:sparse-autograd-residuals | Function=f__vjp_0 | {{.*}}Bytes=65536, Remark="an argument is kept: nothing computes it"
// REMARK-DAG: [Passed] recomputed | Category:sparse-autograd-residuals | Function=f__vjp_0 | {{.*}}Cost={{[0-9]+}}, Remark="the result of 'linalg.generic' is computed again: keeping it costs more"
sparse_autograd.split_vjp @f as @f_forward, @f_backward {wrt = [0]}
func.func private @f(%x: tensor<64x128xf64> {sparse_autograd.name = "x"}) -> tensor<64x128xf64> {
  %s = math.sin %x : tensor<64x128xf64>
  %e = math.exp %s : tensor<64x128xf64>
  return %e : tensor<64x128xf64>
}

// -----

// The product of large matrices is kept: computing it again costs more. With a
// budget it is computed again; what is left is the least that is needed.
//
// CHECK-LABEL: func.func @product_forward
// CHECK-SAME: -> (tensor<64x64xf32>, tensor<64x1024xf32> {sparse_autograd.name = "residual0"}, tensor<1024x64xf32> {sparse_autograd.name = "residual1"}, tensor<64x64xf32> {sparse_autograd.name = "residual2"})
// CHECK-LABEL: func.func @product_backward
// CHECK-NOT: sparse_autograd.barrier
//
// REMARK-DAG: Bytes=16384, Remark="the result of 'linalg.generic' is kept: computing it again, and what that needs, costs more"
//
// BUDGET: warning: the residuals of 'product__vjp_0_1' take 524288 bytes at least, more than the budget of 70000; put what need not be kept into a sparse_autograd.checkpoint
// BUDGET-LABEL: func.func @product_forward
// BUDGET-SAME: -> (tensor<64x64xf32>, tensor<64x1024xf32> {sparse_autograd.name = "residual0"}, tensor<1024x64xf32> {sparse_autograd.name = "residual1"})
// BUDGET-LABEL: func.func @product_backward
// BUDGET: sparse_autograd.barrier
sparse_autograd.split_vjp @product as @product_forward, @product_backward {wrt = [0, 1]}
func.func private @product(%a: tensor<64x1024xf32>, %b: tensor<1024x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x1024xf32>, tensor<1024x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = math.tanh %p : tensor<64x64xf32>
  return %e : tensor<64x64xf32>
}

// -----

// A function that logs runs once.
//
// CHECK-LABEL: func.func @logged_forward
// CHECK: sparse_autograd.log
// CHECK-LABEL: func.func @logged_backward
// CHECK-NOT: sparse_autograd.log
// CHECK: return
sparse_autograd.split_vjp @logged as @logged_forward, @logged_backward {wrt = [0]}
func.func private @logged(%x: f64) -> f64 {
  %s = math.sin %x : f64
  sparse_autograd.log "sine" %s : f64
  return %s : f64
}

// -----

// What is compared for equality with what is kept, as the elements with the
// max, is kept as well: computed again it might round differently, and none be
// the max. The exponential would be the cheaper to compute again.
//
// CHECK-LABEL: func.func @most_backward
// CHECK-NOT: math.exp
// CHECK: return
// REMARK-DAG: Function=most__vjp_0 | {{.*}}Bytes=65536, Remark="the result of 'linalg.generic' is kept: it must not be computed twice"
sparse_autograd.split_vjp @most as @most_forward, @most_backward {wrt = [0]}
func.func private @most(%x: tensor<64x128xf64>) -> tensor<64xf64> {
  %e = math.exp %x : tensor<64x128xf64>
  %m = sparse_autograd.masked_reduce max %e dims = [1] : tensor<64x128xf64> -> tensor<64xf64>
  return %m : tensor<64xf64>
}

// -----

// The branch of the forward part and that of the backward part stay two.
//
// CHECK-LABEL: func.func @branch_forward
// CHECK: scf.if
// CHECK: arith.mulf
// CHECK-LABEL: func.func @branch_backward
// CHECK: scf.if
sparse_autograd.split_vjp @branch as @branch_forward, @branch_backward {wrt = [1]}
func.func private @branch(%c: i1, %x: tensor<4xf64>) -> tensor<4xf64> {
  %r = scf.if %c -> (tensor<4xf64>) {
    %a = arith.mulf %x, %x : tensor<4xf64>
    scf.yield %a : tensor<4xf64>
  } else {
    %b = arith.addf %x, %x : tensor<4xf64>
    scf.yield %b : tensor<4xf64>
  }
  return %r : tensor<4xf64>
}

// -----

// Where the program declares the two functions, it hands the residuals on as
// one value; here through a branch and a call.
//
// CHECK-LABEL: func.func private @g_forward
// CHECK-LABEL: func.func private @g_backward
// CHECK-LABEL: func.func private @apply
// CHECK-SAME: (%[[RA:.*]]: f64, %{{.*}}: f64)
// CHECK-LABEL: func.func @main
// CHECK: %[[Y:.*]]:2 = call @g_forward
// CHECK-NOT: residuals
!residuals = !sparse_autograd.residuals<@g_forward>
sparse_autograd.split_vjp @g as @g_forward, @g_backward {wrt = [0]}
func.func private @g_forward(f64) -> (f64, !residuals)
func.func private @g_backward(!residuals, f64) -> f64
func.func private @g(%x: f64) -> f64 {
  %s = math.sin %x : f64
  return %s : f64
}
func.func private @apply(%r: !residuals, %ct: f64) -> f64 {
  %dx = func.call @g_backward(%r, %ct) : (!residuals, f64) -> f64
  return %dx : f64
}
func.func @main(%x: f64, %z: f64, %c: i1) -> (f64, f64) {
  %y, %r = func.call @g_forward(%x) : (f64) -> (f64, !residuals)
  %other = scf.if %c -> !residuals {
    scf.yield %r : !residuals
  } else {
    %v, %rv = func.call @g_forward(%z) : (f64) -> (f64, !residuals)
    scf.yield %rv : !residuals
  }
  %dx = func.call @apply(%other, %z) : (!residuals, f64) -> f64
  return %y, %dx : f64, f64
}
