// RUN: sparse-opt %s --pass-pipeline="builtin.module(func.func(sparse-autograd-fuse{narrow-factors=true}))" | FileCheck %s
// RUN: sparse-opt %s --pass-pipeline="builtin.module(func.func(sparse-autograd-fuse))" | FileCheck %s --check-prefix=WIDE

// Products of matrices read factors that are extensions as they are stored,
// where both are of one narrow type. Tensor cores need no more.

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @both(
//  CHECK-SAME:     %[[A:.+]]: tensor<?x?xbf16>, %[[B:.+]]: tensor<?x?xbf16>, %[[Z:.+]]: tensor<?x?xf32>)
//   CHECK-NOT:   linalg.generic
//       CHECK:   linalg.generic
//  CHECK-SAME:       iterator_types = ["parallel", "parallel", "reduction"]
//  CHECK-SAME:       ins(%[[A]], %[[B]] : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%[[Z]] : tensor<?x?xf32>)
//  CHECK-NEXT:   ^bb0(%[[U:.+]]: bf16, %[[V:.+]]: bf16, %[[O:.+]]: f32):
//   CHECK-DAG:     %[[X:.+]] = arith.extf %[[U]] : bf16 to f32
//   CHECK-DAG:     %[[Y:.+]] = arith.extf %[[V]] : bf16 to f32
//       CHECK:     %[[M:.+]] = arith.mulf %[[X]], %[[Y]]
//       CHECK:     arith.addf %[[O]], %[[M]]
//   CHECK-NOT:   linalg.generic

// WIDE-LABEL: func.func @both(
//       WIDE:   arith.extf
//       WIDE:   arith.extf
//       WIDE:   linalg.matmul ins(%{{.+}}, %{{.+}} : tensor<?x?xf32>, tensor<?x?xf32>)
func.func @both(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xbf16>
  %k = tensor.dim %a, %c1 : tensor<?x?xbf16>
  %m = tensor.dim %b, %c1 : tensor<?x?xbf16>
  %ea = tensor.empty(%n, %k) : tensor<?x?xf32>
  %eb = tensor.empty(%k, %m) : tensor<?x?xf32>
  %wa = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xbf16>) outs(%ea : tensor<?x?xf32>) {
  ^bb0(%u: bf16, %o: f32):
    %w = arith.extf %u : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<?x?xf32>
  %wb = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<?x?xbf16>) outs(%eb : tensor<?x?xf32>) {
  ^bb0(%u: bf16, %o: f32):
    %w = arith.extf %u : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<?x?xf32>
  %y = linalg.matmul ins(%wa, %wb : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// A factor of f32 stays one, and so does the other.

// CHECK-LABEL: func.func @one(
//       CHECK:   %[[W:.+]] = linalg.generic
//       CHECK:     arith.extf
//       CHECK:   linalg.matmul ins(%[[W]], %{{.+}} : tensor<?x?xf32>, tensor<?x?xf32>)
func.func @one(%a: tensor<?x?xf16>, %b: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xf16>
  %k = tensor.dim %a, %c1 : tensor<?x?xf16>
  %ea = tensor.empty(%n, %k) : tensor<?x?xf32>
  %wa = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf16>) outs(%ea : tensor<?x?xf32>) {
  ^bb0(%u: f16, %o: f32):
    %w = arith.extf %u : f16 to f32
    linalg.yield %w : f32
  } -> tensor<?x?xf32>
  %y = linalg.matmul ins(%wa, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
