// Values of one pattern (lib/Analysis/SparsePatterns.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-sparse-patterns -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      empty: pattern of empty
// CHECK-NEXT: scaled: pattern of arg0
// CHECK-NEXT: scaled: visits #0
// CHECK-NEXT: sum: pattern of sum
// CHECK-NEXT: loop: pattern of arg0
// CHECK-NEXT: changing loop: pattern of changing loop
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

#id = affine_map<(i, j) -> (i, j)>
func.func @patterns(%x: tensor<4x4xf64, #CSR>, %y: tensor<4x4xf64, #CSR>, %n: index) -> tensor<4x4xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty() {tag = "empty"} : tensor<4x4xf64, #CSR>
  %scaled = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"], tag = "scaled"}
      ins(%x : tensor<4x4xf64, #CSR>) outs(%empty : tensor<4x4xf64, #CSR>) {
  ^bb0(%a: f64, %o: f64):
    %p = arith.mulf %a, %a : f64
    linalg.yield %p : f64
  } -> tensor<4x4xf64, #CSR>
  %both = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"], tag = "sum"}
      ins(%x, %y : tensor<4x4xf64, #CSR>, tensor<4x4xf64, #CSR>) outs(%empty : tensor<4x4xf64, #CSR>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.addf %a, %b : f64
    linalg.yield %p : f64
  } -> tensor<4x4xf64, #CSR>
  %kept = scf.for %i = %c0 to %n step %c1 iter_args(%it = %scaled) -> (tensor<4x4xf64, #CSR>) {
    %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%it : tensor<4x4xf64, #CSR>) outs(%empty : tensor<4x4xf64, #CSR>) {
    ^bb0(%a: f64, %o: f64):
      %p = arith.negf %a : f64
      linalg.yield %p : f64
    } -> tensor<4x4xf64, #CSR>
    scf.yield %next : tensor<4x4xf64, #CSR>
  } {tag = "loop"}
  %changed = scf.for %i = %c0 to %n step %c1 iter_args(%it = %scaled) -> (tensor<4x4xf64, #CSR>) {
    scf.yield %both : tensor<4x4xf64, #CSR>
  } {tag = "changing loop"}
  return %changed : tensor<4x4xf64, #CSR>
}
