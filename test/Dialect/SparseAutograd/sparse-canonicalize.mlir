// RUN: sparse-opt %s --canonicalize | FileCheck %s

// Canonicalizations of sparse programs, and of ops of MLIR that drop encodings
// (LLVM 22.1).

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#CSC = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
#ik = affine_map<(i, j, k) -> (i, k)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>

// CHECK-DAG: #[[CSR:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
// CHECK-DAG: #[[CSC:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 : compressed) }>

// Extents that follow from those of another operand.
// CHECK-LABEL: func.func @extents
func.func @extents(%a: tensor<4x5xf64, #CSR>, %n: index, %m: index) -> tensor<?x?xf64, #CSR> {
  %b = tensor.cast %a : tensor<4x5xf64, #CSR> to tensor<?x?xf64, #CSR>
  %e = tensor.empty(%n, %m) : tensor<?x?xf64, #CSR>
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<4x5xf64, #[[CSR]]>
  // CHECK: linalg.generic
  // CHECK-SAME: outs(%[[E]] : tensor<4x5xf64, #[[CSR]]>)
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSR>) {
  ^bb0(%x: f64, %out: f64):
    %y = arith.mulf %x, %x : f64
    linalg.yield %y : f64
  } -> tensor<?x?xf64, #CSR>
  return %0 : tensor<?x?xf64, #CSR>
}

// A transpose of a transpose has the encoding that it is given.
// CHECK-LABEL: func.func @transposes
func.func @transposes(%x: tensor<?x?xf64, #CSR>, %e: tensor<?x?xf64, #CSC>) -> tensor<?x?xf64, #CSC> {
  // CHECK: linalg.generic
  // CHECK: %[[B:.*]] = linalg.generic
  // CHECK: return %[[B]] : tensor<?x?xf64, #[[CSC]]>
  %a = linalg.transpose ins(%x : tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSC>) permutation = [1, 0]
  %b = linalg.transpose ins(%a : tensor<?x?xf64, #CSC>) outs(%e : tensor<?x?xf64, #CSC>) permutation = [1, 0]
  return %b : tensor<?x?xf64, #CSC>
}

// Values that are put back are those that were taken out.
// CHECK-LABEL: func.func @put_back
// CHECK-SAME: %[[V:.*]]: tensor<?xf64>
func.func @put_back(%v: tensor<?xf64>, %x: tensor<?x?xi1, #CSR>) -> tensor<?xf64> {
  // CHECK: return %[[V]]
  %0 = sparse_autograd.with_values %v, %x : tensor<?xf64>, tensor<?x?xi1, #CSR> -> tensor<?x?xf64, #CSR>
  %1 = sparse_autograd.stored_values %0 : tensor<?x?xf64, #CSR> -> tensor<?xf64>
  return %1 : tensor<?xf64>
}

// A sample of a sum of a product and something else samples the product.
// CHECK-LABEL: func.func @sample_chain
func.func @sample_chain(%p: tensor<4x8xf64>, %q: tensor<5x8xf64>, %b: tensor<4x5xf64>, %r: tensor<4x5xf64, #CSR>) -> tensor<4x5xf64, #CSR> {
  // CHECK-NOT: linalg.
  // CHECK: %[[PRODUCT:.*]] = sparse_autograd.sampled_generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
  // CHECK: sparse_autograd.sampled_generic
  // CHECK-SAME: ins(%[[PRODUCT]], %{{.*}} : tensor<4x5xf64, #[[CSR]]>, tensor<4x5xf64>)
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<4x5xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<4x5xf64>) -> tensor<4x5xf64>
  %products = linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %q : tensor<4x8xf64>, tensor<5x8xf64>) outs(%zeros : tensor<4x5xf64>) {
  ^bb0(%x: f64, %y: f64, %sum: f64):
    %product = arith.mulf %x, %y : f64
    %next = arith.addf %sum, %product : f64
    linalg.yield %next : f64
  } -> tensor<4x5xf64>
  %sums = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%products, %b : tensor<4x5xf64>, tensor<4x5xf64>) outs(%empty : tensor<4x5xf64>) {
  ^bb0(%product: f64, %bias: f64, %out: f64):
    %sum = arith.addf %bias, %product : f64
    linalg.yield %sum : f64
  } -> tensor<4x5xf64>
  %s = sparse_autograd.sample %sums, %r : tensor<4x5xf64>, tensor<4x5xf64, #CSR> -> tensor<4x5xf64, #CSR>
  return %s : tensor<4x5xf64, #CSR>
}

// Inputs that are not read go.
// CHECK-LABEL: func.func @unread
// CHECK-SAME: %[[X:.*]]: tensor<4x5xf64>, %[[Y:.*]]: tensor<4x5xf64>
func.func @unread(%x: tensor<4x5xf64>, %y: tensor<4x5xf64>, %r: tensor<4x5xf64, #CSR>) -> tensor<4x5xf64, #CSR> {
  // CHECK: sampled_generic
  // CHECK-SAME: ins(%[[X]] : tensor<4x5xf64>) outs
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f64, %{{.*}}: f64):
  // CHECK-NEXT: arith.mulf %[[A]], %[[A]]
  %0 = sparse_autograd.sampled_generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %x : tensor<4x5xf64>, tensor<4x5xf64>, tensor<4x5xf64>) outs(%r : tensor<4x5xf64, #CSR>) {
  ^bb0(%a: f64, %b: f64, %c: f64, %out: f64):
    %s = arith.mulf %a, %c : f64
    linalg.yield %s : f64
  } -> tensor<4x5xf64, #CSR>
  return %0 : tensor<4x5xf64, #CSR>
}
