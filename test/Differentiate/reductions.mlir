// RUN: sparse-opt %s --split-input-file --sparse-autograd-differentiate | FileCheck %s

// Forms of reductions that other compilers hand over, brought to those that
// have rules.

// A max that keeps its dimension and also tells where it is. What tells is not
// differentiated, and goes where nobody asks.

// CHECK-LABEL: func.func private @argmax__vjp_0(
//  CHECK-SAME:     %[[X:[^:]+]]: tensor<4x5xf32>
//       CHECK:   sparse_autograd.masked_reduce max %{{.+}} dims = [1] : tensor<4x5xf32> -> tensor<4xf32>
//   CHECK-NOT:   arith.index_cast
//       CHECK:   return %{{.+}}, %{{.+}} : tensor<4x1xf32>, tensor<4x5xf32>
#id = affine_map<(i, j) -> (i, j)>
#kept = affine_map<(i, j) -> (i, 0)>
func.func private @argmax(%x: tensor<4x5xf32>) -> tensor<4x1xf32> {
  %lowest = arith.constant dense<0xFF800000> : tensor<4x1xf32>
  %none = arith.constant dense<0> : tensor<4x1xi64>
  %m:2 = linalg.generic {indexing_maps = [#id, #kept, #kept], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xf32>) outs(%lowest, %none : tensor<4x1xf32>, tensor<4x1xi64>) {
  ^bb0(%a: f32, %most: f32, %at: i64):
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i64
    %next = arith.maximumf %a, %most : f32
    %greater = arith.cmpf ogt, %a, %most : f32
    %place = arith.select %greater, %here, %at : i64
    linalg.yield %next, %place : f32, i64
  } -> (tensor<4x1xf32>, tensor<4x1xi64>)
  return %m#0 : tensor<4x1xf32>
}
func.func @argmax_gradient(%x: tensor<4x5xf32>, %ct: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x5xf32>) {
  %r:2 = sparse_autograd.vjp @argmax(%x) cotangents(%ct) {wrt = [0]} : (tensor<4x5xf32>), (tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<4x5xf32>)
  return %r#0, %r#1 : tensor<4x1xf32>, tensor<4x5xf32>
}

// -----

// A region that hands its scalars on in tensors of rank 0.

// CHECK-LABEL: func.func private @packed__jvp
//       CHECK:   sparse_autograd.masked_reduce min
//   CHECK-NOT:   tensor.from_elements
//       CHECK:   return
#vector = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>
func.func private @packed(%x: tensor<?xf64>) -> tensor<f64> {
  %highest = arith.constant dense<0x7FF0000000000000> : tensor<f64>
  %m = linalg.generic {indexing_maps = [#vector, #scalar], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf64>) outs(%highest : tensor<f64>) {
  ^bb0(%a: f64, %least: f64):
    %packed = tensor.from_elements %a : tensor<f64>
    %unpacked = tensor.extract %packed[] : tensor<f64>
    %next = arith.minimumf %least, %unpacked : f64
    %repacked = tensor.from_elements %next : tensor<f64>
    %result = tensor.extract %repacked[] : tensor<f64>
    linalg.yield %result : f64
  } -> tensor<f64>
  return %m : tensor<f64>
}
func.func @packed_tangent(%x: tensor<?xf64>, %dx: tensor<?xf64>) -> (tensor<f64>, tensor<f64>) {
  %r:2 = sparse_autograd.jvp @packed(%x) tangents(%dx) {wrt = [0]} : (tensor<?xf64>), (tensor<?xf64>) -> (tensor<f64>, tensor<f64>)
  return %r#0, %r#1 : tensor<f64>, tensor<f64>
}

// -----

// Sums stay together: they have a rule as they are.

// CHECK-LABEL: func.func private @sums__vjp_0(
//   CHECK-NOT:   masked_reduce
//       CHECK:   return
#vector = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>
func.func private @sums(%x: tensor<9xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %s:2 = linalg.generic {indexing_maps = [#vector, #scalar, #scalar], iterator_types = ["reduction"]}
      ins(%x : tensor<9xf32>) outs(%zero, %zero : tensor<f32>, tensor<f32>) {
  ^bb0(%a: f32, %sum: f32, %squares: f32):
    %b = arith.mulf %a, %a : f32
    %s = arith.addf %sum, %a : f32
    %t = arith.addf %squares, %b : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %s#0, %s#1 : tensor<f32>, tensor<f32>
}
func.func @sums_gradient(%x: tensor<9xf32>, %c: tensor<f32>, %d: tensor<f32>) -> tensor<9xf32> {
  %r:3 = sparse_autograd.vjp @sums(%x) cotangents(%c, %d) {wrt = [0]} : (tensor<9xf32>), (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<9xf32>)
  return %r#2 : tensor<9xf32>
}
