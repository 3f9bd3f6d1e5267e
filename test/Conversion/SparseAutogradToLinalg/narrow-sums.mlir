// RUN: sparse-opt %s --sparse-autograd-differentiate --convert-sparse-autograd-to-linalg | FileCheck %s
// RUN: sparse-runner %s --entry=sums | FileCheck %s --check-prefix=VALUES

// Sums and products of f16 and bf16 by linalg run in f32, and are rounded once
// (semantics G11). One by one, 256 would be the end in bf16, 2048 in f16.

// CHECK-LABEL: func.func @reduced(
//  CHECK-SAME:     %[[X:[^:]+]]: tensor<?xbf16>, %[[INIT:[^:]+]]: tensor<bf16>)
//       CHECK:   %[[WIDE:.+]] = arith.extf %[[INIT]] : tensor<bf16> to tensor<f32>
//       CHECK:   %[[SUM:.+]] = linalg.generic {{.*}} ins(%[[X]] : tensor<?xbf16>) outs(%[[WIDE]] : tensor<f32>)
//  CHECK-NEXT:   ^bb0(%[[E:.+]]: bf16, %[[RUNNING:.+]]: f32):
//       CHECK:     %[[TERM:.+]] = arith.extf %[[E]] fastmath<contract> : bf16 to f32
//       CHECK:     arith.addf %{{.+}}, %{{.+}} : f32
//       CHECK:   arith.truncf %[[SUM]] : tensor<f32> to tensor<bf16>
func.func @reduced(%x: tensor<?xbf16>, %init: tensor<bf16>) -> tensor<bf16> {
  %s = linalg.reduce { arith.addf } ins(%x : tensor<?xbf16>) outs(%init : tensor<bf16>) dimensions = [0]
  return %s : tensor<bf16>
}

// What is subtracted one by one is a sum as well.

// CHECK-LABEL: func.func @subtracted(
//       CHECK:   linalg.generic {{.*}} outs(%{{.+}} : tensor<f32>)
//       CHECK:     arith.subf %{{.+}}, %{{.+}} : f32
//       CHECK:   arith.truncf %{{.+}} : tensor<f32> to tensor<bf16>
func.func @subtracted(%x: tensor<?xbf16>, %init: tensor<bf16>) -> tensor<bf16> {
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<?xbf16>) outs(%init : tensor<bf16>) {
  ^bb0(%a: bf16, %sum: bf16):
    %next = arith.subf %sum, %a : bf16
    linalg.yield %next : bf16
  } -> tensor<bf16>
  return %s : tensor<bf16>
}

// A running value that is subtracted changes its sign: that is no sum.

// CHECK-LABEL: func.func @alternating(
//   CHECK-NOT:   f32
//       CHECK:   return
func.func @alternating(%x: tensor<?xbf16>, %init: tensor<bf16>) -> tensor<bf16> {
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<?xbf16>) outs(%init : tensor<bf16>) {
  ^bb0(%a: bf16, %sum: bf16):
    %next = arith.subf %a, %sum : bf16
    linalg.yield %next : bf16
  } -> tensor<bf16>
  return %s : tensor<bf16>
}

// A max is exact in any type; what uses the running value twice stays.

// CHECK-LABEL: func.func @kept(
//   CHECK-NOT:   f32
//       CHECK:   return
#vector = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>
func.func @kept(%x: tensor<?xf16>, %init: tensor<f16>) -> (tensor<f16>, tensor<f16>) {
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<?xf16>) outs(%init : tensor<f16>) dimensions = [0]
  %q = linalg.generic {indexing_maps = [#vector, #scalar], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf16>) outs(%init : tensor<f16>) {
  ^bb0(%a: f16, %sum: f16):
    %p = arith.mulf %sum, %a : f16
    %next = arith.addf %sum, %p : f16
    linalg.yield %next : f16
  } -> tensor<f16>
  return %m, %q : tensor<f16>, tensor<f16>
}

// VALUES: result0 = tensor<bf16> [4096]
// VALUES: result1 = tensor<2x2xf16>
// VALUES-NEXT: [3000, 3000]
// VALUES-NEXT: [3000, 3000]
// VALUES: result2 = tensor<bf16> [4096]
// VALUES: result3 = tensor<bf16> [-4096]
func.func @sums() -> (tensor<bf16>, tensor<2x2xf16>, tensor<bf16>, tensor<bf16>) {
  %n = arith.constant 4096 : index
  %k = arith.constant 3000 : index
  %one_b = arith.constant 1.0 : bf16
  %one_h = arith.constant 1.0 : f16
  %zero = arith.constant dense<0.0> : tensor<bf16>
  %zeros = arith.constant dense<0.0> : tensor<2x2xf16>
  %x = tensor.splat %one_b[%n] : tensor<?xbf16>
  %a = tensor.splat %one_h[%k] : tensor<2x?xf16>
  %b = tensor.splat %one_h[%k] : tensor<?x2xf16>
  %s = func.call @reduced(%x, %zero) : (tensor<?xbf16>, tensor<bf16>) -> tensor<bf16>
  %p = linalg.matmul ins(%a, %b : tensor<2x?xf16>, tensor<?x2xf16>) outs(%zeros : tensor<2x2xf16>) -> tensor<2x2xf16>
  %r:2 = sparse_autograd.jvp @total(%x) tangents(%x) {wrt = [0]} : (tensor<?xbf16>), (tensor<?xbf16>) -> (tensor<bf16>, tensor<bf16>)
  %d = func.call @subtracted(%x, %zero) : (tensor<?xbf16>, tensor<bf16>) -> tensor<bf16>
  return %s, %p, %r#1, %d : tensor<bf16>, tensor<2x2xf16>, tensor<bf16>, tensor<bf16>
}
func.func private @total(%x: tensor<?xbf16>) -> tensor<bf16> {
  %zero = arith.constant dense<0.0> : tensor<bf16>
  %s = func.call @reduced(%x, %zero) : (tensor<?xbf16>, tensor<bf16>) -> tensor<bf16>
  return %s : tensor<bf16>
}
