// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse | FileCheck %s

// A choice between a sparse element and zero is not there where the element is
// not, whichever of the two the condition chooses: what is multiplied by it is
// computed where something is stored, and nowhere else.

#id = affine_map<(i, j) -> (i, j)>
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// CHECK-LABEL: func.func @sparse_or_zero(
//   CHECK-NOT:   ins(
//   CHECK-NOT:   math.log
//       CHECK:   scf.for
//       CHECK:     math.log
//       CHECK:   return
func.func @sparse_or_zero(%a: tensor<?x?xf64, #csr>, %x: tensor<?x?xf64>, %e: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %x : tensor<?x?xf64, #csr>, tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%u: f64, %v: f64, %out: f64):
    %zero = arith.constant 0.0 : f64
    %c = arith.cmpf ogt, %v, %zero : f64
    %s = arith.select %c, %u, %zero : f64
    %l = math.log %v : f64
    %m = arith.mulf %s, %l : f64
    linalg.yield %m : f64
  } -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}

// CHECK-LABEL: func.func @zero_or_sparse(
//   CHECK-NOT:   ins(
//   CHECK-NOT:   math.log
//       CHECK:   scf.for
//       CHECK:     math.log
//       CHECK:   return
func.func @zero_or_sparse(%a: tensor<?x?xf64, #csr>, %x: tensor<?x?xf64>, %e: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %x : tensor<?x?xf64, #csr>, tensor<?x?xf64>) outs(%e : tensor<?x?xf64>) {
  ^bb0(%u: f64, %v: f64, %out: f64):
    %zero = arith.constant 0.0 : f64
    %c = arith.cmpf ole, %v, %zero : f64
    %s = arith.select %c, %zero, %u : f64
    %l = math.log %v : f64
    %m = arith.mulf %s, %l : f64
    linalg.yield %m : f64
  } -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}
