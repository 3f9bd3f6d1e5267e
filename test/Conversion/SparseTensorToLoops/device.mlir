// RUN: sparse-opt %s --sparse-autograd-lower-sparse=for-device=true --canonicalize --cse | FileCheck %s

// For a target with many threads: an iteration of a parallel loop is not a chunk
// of them, and dense loops that write to places of their own are outside.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#COO = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton(soa))}>
#rows = #sparse_tensor.encoding<{map = (r, k) -> (r : compressed, k : dense)}>
#id = affine_map<(i, j) -> (i, j)>

// An element of the product is a sum in a register.

// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<?xindex>
// CHECK:       scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1
// CHECK-NEXT:    scf.for %[[K:.*]] = %c0 to %c8 step %c1
// CHECK:           %[[START:.*]] = tensor.extract %{{.*}}[%[[I]], %[[K]]]
// CHECK:           scf.for {{.*}} iter_args(%{{.*}} = %[[START]]) -> (f64)
// CHECK:           tensor.insert %{{.*}}[%[[I]], %[[K]]]
// CHECK:         } {sparse_autograd.parallel}
// CHECK:       } {sparse_autograd.parallel}
func.func @product(%a: tensor<?x?xf64, #CSR>, %x: tensor<?x8xf64>, %z: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %y = linalg.matmul ins(%a, %x : tensor<?x?xf64, #CSR>, tensor<?x8xf64>) outs(%z : tensor<?x8xf64>) -> tensor<?x8xf64>
  return %y : tensor<?x8xf64>
}

// Entries in a list may be of one row: not they are apart, but the columns of
// the result.

// CHECK-LABEL: func.func @list(
// CHECK:       scf.for %[[K:.*]] = %c0 to %c8 step %c1
// CHECK:         scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK:           tensor.insert %{{.*}}[%{{.*}}, %[[K]]]
// CHECK-NOT:     sparse_autograd.parallel
// CHECK:       } {sparse_autograd.parallel}
// CHECK-NOT:   sparse_autograd.parallel
func.func @list(%a: tensor<?x?xf64, #COO>, %x: tensor<?x8xf64>, %z: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %y = linalg.matmul ins(%a, %x : tensor<?x?xf64, #COO>, tensor<?x8xf64>) outs(%z : tensor<?x8xf64>) -> tensor<?x8xf64>
  return %y : tensor<?x8xf64>
}

// A sum over all that is stored is one.

// CHECK-LABEL: func.func @sum(
// CHECK-NOT:   sparse_autograd.parallel
// CHECK:       return
func.func @sum(%a: tensor<?x?xf64, #CSR>, %z: tensor<f64>) -> tensor<f64> {
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<?x?xf64, #CSR>) outs(%z : tensor<f64>) {
    ^bb0(%u: f64, %o: f64):
      %r = arith.addf %o, %u : f64
      linalg.yield %r : f64
  } -> tensor<f64>
  return %s : tensor<f64>
}

// A stored row is the sum of the rows of the list that are it: each element by
// itself, in the order of the list, from where its entries begin.

// CHECK-LABEL: func.func @rows(
// CHECK:       %[[ORDER:.*]] = sparse_autograd.sort_entries
// CHECK:       %[[STORED:.*]]:3 = sparse_autograd.store_positions
// CHECK:       %[[EMPTY:.*]] = tensor.empty({{.*}} : tensor<?xindex>
// CHECK:       %[[LAST:.*]] = tensor.insert %[[COUNT:.*]] into %[[EMPTY]]
// CHECK:       %[[STARTS:.*]] = scf.for %[[N:.*]] = %c0 to %[[COUNT]] {{.*}} iter_args(%{{.*}} = %[[LAST]])
// CHECK:         %[[ENTRY:.*]] = tensor.extract %[[ORDER]][%[[N]]]
// CHECK:         %[[ROW:.*]] = tensor.extract %[[STORED]]#2[%[[ENTRY]]]
// CHECK:         scf.if
// CHECK:           tensor.insert %[[N]] into %{{.*}}[%[[ROW]]]
// CHECK:       } {sparse_autograd.parallel}
// CHECK:       scf.for %[[R:.*]] = %c0 to
// CHECK:         scf.for %[[K:.*]] = %c0 to %c8
// CHECK:           %[[BEHIND:.*]] = arith.addi %[[R]], %c1
// CHECK:           %[[BEGIN:.*]] = tensor.extract %[[STARTS]][%[[R]]]
// CHECK:           %[[END:.*]] = tensor.extract %[[STARTS]][%[[BEHIND]]]
// CHECK:           scf.for %[[Q:.*]] = %[[BEGIN]] to %[[END]]
// CHECK:             %[[E:.*]] = tensor.extract %[[ORDER]][%[[Q]]]
// CHECK:             tensor.extract %{{.*}}[%[[E]], %[[K]]]
// CHECK:             arith.addf
// CHECK:         } {sparse_autograd.parallel}
// CHECK:       } {sparse_autograd.parallel}
func.func @rows(%g: tensor<?x8xf64>, %i: tensor<?xi32>, %n: index) -> tensor<?x8xf64, #rows> {
  %r = sparse_autograd.scatter_rows %g, %i, %n : tensor<?x8xf64>, tensor<?xi32> -> tensor<?x8xf64, #rows>
  return %r : tensor<?x8xf64, #rows>
}
