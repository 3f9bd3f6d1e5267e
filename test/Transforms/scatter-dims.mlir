// An extent of a result that is scattered is that of its init, not the sum of the
// extents of its loops (lib/Transforms/ScatterDims.cpp).
// RUN: sparse-opt %s --sparse-autograd-tensor-to-assertions --canonicalize | FileCheck %s

// CHECK-LABEL: func @extent
// CHECK-SAME: (%{{.+}}: tensor<?xf32>, %{{.+}}: tensor<?xf32>, %[[INIT:.+]]: tensor<?xf32>)
// CHECK:      %[[RESULT:.+]] = linalg.generic
// CHECK:      %[[DIM:.+]] = tensor.dim %[[INIT]]
// CHECK:      return %[[RESULT]], %[[DIM]]
func.func @extent(%x: tensor<?xf32>, %k: tensor<?xf32>, %out: tensor<?xf32>) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i + j)>],
                       iterator_types = ["reduction", "reduction"]}
      ins(%x, %k : tensor<?xf32>, tensor<?xf32>) outs(%out : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %d = tensor.dim %0, %c0 : tensor<?xf32>
  return %0, %d : tensor<?xf32>, index
}
