// A switch becomes branches (lib/Transforms/SwitchToIf.cpp) before its results are
// in buffers: MLIR's analysis lets another op write to the buffer of a result
// before it is read.
// RUN: sparse-opt %s --sparse-autograd-tensor-to-buffer | FileCheck %s
// RUN: sparse-runner %s --entry=read_later --arg case=1 | FileCheck %s --check-prefixes=BOTH,ONE
// RUN: sparse-runner %s --entry=read_later --arg case=-3 | FileCheck %s --check-prefixes=BOTH,MINUS
// RUN: sparse-runner %s --entry=read_later --arg case=2 | FileCheck %s --check-prefixes=BOTH,OTHER

// ONE:   chosen = tensor<2xf64> [4, 9]
// MINUS: chosen = tensor<2xf64> [2, 3]
// OTHER: chosen = tensor<2xf64> [4, 6]
// BOTH:  negative = tensor<2xf64> [-2, -3]

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func @read_later
//   CHECK-NOT:   scf.index_switch
//       CHECK:   %[[FIRST:.+]] = arith.cmpi eq, %{{.+}}, %{{.+}} : index
//       CHECK:   scf.if %[[FIRST]]
//       CHECK:   } else {
//       CHECK:     %[[SECOND:.+]] = arith.cmpi eq, %{{.+}}, %{{.+}} : index
//       CHECK:     scf.if %[[SECOND]]
//   CHECK-NOT:   scf.index_switch
func.func @read_later(%case: index {sparse_autograd.name = "case"}) -> (tensor<2xf64> {sparse_autograd.name = "chosen"}, tensor<2xf64> {sparse_autograd.name = "negative"}) {
  %x = arith.constant dense<[2.0, 3.0]> : tensor<2xf64>
  %e = tensor.empty() : tensor<2xf64>
  %a = scf.index_switch %case -> tensor<2xf64>
  case 1 {
    %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<2xf64>) outs(%e : tensor<2xf64>) {
    ^bb0(%u: f64, %o: f64):
      %v = arith.mulf %u, %u : f64
      linalg.yield %v : f64
    } -> tensor<2xf64>
    scf.yield %p : tensor<2xf64>
  }
  case -3 {
    %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<2xf64>) outs(%e : tensor<2xf64>) {
    ^bb0(%u: f64, %o: f64):
      linalg.yield %u : f64
    } -> tensor<2xf64>
    scf.yield %p : tensor<2xf64>
  }
  default {
    %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<2xf64>) outs(%e : tensor<2xf64>) {
    ^bb0(%u: f64, %o: f64):
      %v = arith.addf %u, %u : f64
      linalg.yield %v : f64
    } -> tensor<2xf64>
    scf.yield %p : tensor<2xf64>
  }
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<2xf64>) outs(%e : tensor<2xf64>) {
  ^bb0(%u: f64, %o: f64):
    %v = arith.negf %u : f64
    linalg.yield %v : f64
  } -> tensor<2xf64>
  return %a, %b : tensor<2xf64>, tensor<2xf64>
}
