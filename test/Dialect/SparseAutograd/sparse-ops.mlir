// RUN: sparse-opt %s | sparse-opt | FileCheck %s
// RUN: sparse-opt %s --mlir-print-op-generic | sparse-opt | FileCheck %s

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#BSR = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense), posWidth = 32, crdWidth = 8}>

// CHECK-DAG: #[[CSR:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
// CHECK-DAG: #[[BSR:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 floordiv 2 : dense, d1 floordiv 3 : compressed, d0 mod 2 : dense, d1 mod 3 : dense), posWidth = 32, crdWidth = 8 }>
// CHECK-DAG: #[[IK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[KJ:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[IJ:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[DIAGONAL:.*]] = affine_map<(d0) -> (d0, d0)>

// CHECK-LABEL: func.func @patterns
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf64, #[[CSR]]>, %[[B:.*]]: tensor<4x?xf32, #[[BSR]]>
func.func @patterns(%x: tensor<?x8xf64, #CSR>, %b: tensor<4x?xf32, #BSR>) {
  // CHECK: %[[M:.*]] = sparse_autograd.pattern %[[X]] : tensor<?x8xf64, #[[CSR]]>
  %0 = sparse_autograd.pattern %x : tensor<?x8xf64, #CSR>
  // CHECK: sparse_autograd.pattern %[[B]] {note = "kept"} : tensor<4x?xf32, #[[BSR]]>
  %1 = sparse_autograd.pattern %b {note = "kept"} : tensor<4x?xf32, #BSR>
  // A mask is a pattern like any other.
  // CHECK: sparse_autograd.pattern %[[M]] : tensor<?x8xi1, #[[CSR]]>
  %2 = sparse_autograd.pattern %0 : tensor<?x8xi1, #CSR>
  // CHECK: sparse_autograd.zeros %[[M]] : tensor<?x8xi1, #[[CSR]]> -> tensor<?x8xf16, #[[CSR]]>
  %3 = sparse_autograd.zeros %0 : tensor<?x8xi1, #CSR> -> tensor<?x8xf16, #CSR>
  // Other extents may be known of the result.
  // CHECK: sparse_autograd.zeros %[[X]] : tensor<?x8xf64, #[[CSR]]> -> tensor<4x?xi32, #[[CSR]]>
  %4 = sparse_autograd.zeros %x : tensor<?x8xf64, #CSR> -> tensor<4x?xi32, #CSR>
  // CHECK: %[[V:.*]] = sparse_autograd.stored_values %[[X]] : tensor<?x8xf64, #[[CSR]]> -> tensor<?xf64>
  %5 = sparse_autograd.stored_values %x : tensor<?x8xf64, #CSR> -> tensor<?xf64>
  // CHECK: sparse_autograd.with_values %[[V]], %[[M]] : tensor<?xf64>, tensor<?x8xi1, #[[CSR]]> -> tensor<?x8xf64, #[[CSR]]>
  %6 = sparse_autograd.with_values %5, %0 : tensor<?xf64>, tensor<?x8xi1, #CSR> -> tensor<?x8xf64, #CSR>
  return
}

// CHECK-LABEL: func.func @sample
// CHECK-SAME: %[[D:.*]]: tensor<?x8xf64>, %[[S:.*]]: tensor<4x?xf64, #[[BSR]]>, %[[P:.*]]: tensor<?x8xi1, #[[CSR]]>
func.func @sample(%d: tensor<?x8xf64>, %s: tensor<4x?xf64, #BSR>, %p: tensor<?x8xi1, #CSR>) {
  // CHECK: sparse_autograd.sample %[[D]], %[[P]] : tensor<?x8xf64>, tensor<?x8xi1, #[[CSR]]> -> tensor<?x8xf64, #[[CSR]]>
  %0 = sparse_autograd.sample %d, %p : tensor<?x8xf64>, tensor<?x8xi1, #CSR> -> tensor<?x8xf64, #CSR>
  // What is sampled may be sparse.
  // CHECK: sparse_autograd.sample %[[S]], %[[P]] : tensor<4x?xf64, #[[BSR]]>, tensor<?x8xi1, #[[CSR]]> -> tensor<4x8xf64, #[[CSR]]>
  %1 = sparse_autograd.sample %s, %p : tensor<4x?xf64, #BSR>, tensor<?x8xi1, #CSR> -> tensor<4x8xf64, #CSR>
  return
}

// CHECK-LABEL: func.func @sampled_generic
// CHECK-SAME: %[[X:.*]]: tensor<4x5xf64>, %[[Y:.*]]: tensor<5x8xf64, #[[CSR]]>, %[[P:.*]]: tensor<4x8xf64, #[[BSR]]>, %[[SQUARE:.*]]: tensor<4x4xf64, #[[CSR]]>
func.func @sampled_generic(%x: tensor<4x5xf64>, %y: tensor<5x8xf64, #CSR>, %p: tensor<4x8xf64, #BSR>, %square: tensor<4x4xf64, #CSR>) {
  // CHECK:      sparse_autograd.sampled_generic
  // CHECK-SAME: indexing_maps = [#[[IK]], #[[KJ]], #[[IJ]]]
  // CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
  // CHECK-SAME: ins(%[[X]], %[[Y]] : tensor<4x5xf64>, tensor<5x8xf64, #[[CSR]]>)
  // CHECK-SAME: outs(%[[P]] : tensor<4x8xf64, #[[BSR]]>) attributes {note = "kept"} {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f64, %[[B:.*]]: f64, %[[SUM:.*]]: f64):
  // CHECK-NEXT:   %[[TERM:.*]] = arith.mulf %[[A]], %[[B]] : f64
  // CHECK-NEXT:   %[[NEXT:.*]] = arith.addf %[[SUM]], %[[TERM]] : f64
  // CHECK-NEXT:   linalg.yield %[[NEXT]] : f64
  // CHECK-NEXT: } -> tensor<4x8xf64, #[[BSR]]>
  %0 = sparse_autograd.sampled_generic {
        indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<4x5xf64>, tensor<5x8xf64, #CSR>) outs(%p : tensor<4x8xf64, #BSR>) attributes {note = "kept"} {
  ^bb0(%a: f64, %b: f64, %sum: f64):
    %term = arith.mulf %a, %b : f64
    %next = arith.addf %sum, %term : f64
    linalg.yield %next : f64
  } -> tensor<4x8xf64, #BSR>
  // Nothing is read, and the destination is indexed along its diagonal.
  // CHECK:      sparse_autograd.sampled_generic
  // CHECK-SAME: indexing_maps = [#[[DIAGONAL]]], iterator_types = ["reduction"]
  // CHECK-SAME: outs(%[[SQUARE]] : tensor<4x4xf64, #[[CSR]]>)
  %1 = sparse_autograd.sampled_generic {indexing_maps = [affine_map<(i) -> (i, i)>], iterator_types = ["reduction"]}
      outs(%square : tensor<4x4xf64, #CSR>) {
  ^bb0(%old: f64):
    %one = arith.constant 1.0 : f64
    %new = arith.addf %old, %one : f64
    linalg.yield %new : f64
  } -> tensor<4x4xf64, #CSR>
  return
}
