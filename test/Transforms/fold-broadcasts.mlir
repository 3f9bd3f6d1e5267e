// Elementwise ops read what is broadcast itself (lib/Transforms/FoldBroadcasts.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-fold-broadcasts | FileCheck %s
// RUN: sparse-opt %s --test-sparse-autograd-fold-broadcasts-into-sparse | FileCheck %s --check-prefix=SPARSE
#row = affine_map<(i, j) -> (i)>
#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func @sum
// CHECK-SAME: (%[[V:.+]]: tensor<4xf32>, %[[Y:.+]]: tensor<4x8xf32>, %
// CHECK-NEXT: linalg.generic {indexing_maps = [#[[ROW:.+]], #[[ID:.+]], #[[ID]]], {{.*}} ins(%[[V]], %[[Y]] :
// CHECK-NOT:  linalg.generic
// CHECK:      return
func.func @sum(%v: tensor<4xf32>, %y: tensor<4x8xf32>, %out: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %b = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<4xf32>) outs(%out : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%out : tensor<4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#one = affine_map<(i, j) -> ()>

// Products with a sparse matrix read it where it is; it is not stored for them.
// SPARSE-LABEL: func @sparse_product
// SPARSE-SAME:  (%[[A:.+]]: tensor<4x8xf32, #{{.+}}>, %[[C:.+]]: tensor<f32>,
// SPARSE-NEXT:  %[[Y:.+]] = linalg.generic {{.*}} ins(%[[A]], %[[C]] : tensor<4x8xf32, #{{.+}}>, tensor<f32>)
// SPARSE-NOT:   linalg.generic
// SPARSE:       return %[[Y]]
func.func @sparse_product(%a: tensor<4x8xf32, #CSR>, %c: tensor<f32>, %empty: tensor<4x2xf32>, %out: tensor<8x2xf32>)
    -> tensor<8x2xf32> {
  %b = linalg.generic {indexing_maps = [#one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<f32>) outs(%empty : tensor<4x2xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<4x2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>,
                                        affine_map<(i, j, k) -> (k, j)>],
                       iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%a, %b : tensor<4x8xf32, #CSR>, tensor<4x2xf32>) outs(%out : tensor<8x2xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// SPARSE-LABEL: func @sampled_product
// SPARSE-SAME:  (%[[A:.+]]: tensor<4x8xf32, #{{.+}}>, %[[C:.+]]: tensor<f32>, %[[X:.+]]: tensor<8x2xf32>,
// SPARSE-NEXT:  %[[Y:.+]] = sparse_autograd.sampled_generic {{.*}} ins(%[[X]], %[[C]] : tensor<8x2xf32>, tensor<f32>)
// SPARSE:       return %[[Y]]
func.func @sampled_product(%a: tensor<4x8xf32, #CSR>, %c: tensor<f32>, %x: tensor<8x2xf32>, %empty: tensor<4x2xf32>)
    -> tensor<4x8xf32, #CSR> {
  %b = linalg.generic {indexing_maps = [#one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<f32>) outs(%empty : tensor<4x2xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<4x2xf32>
  %0 = sparse_autograd.sampled_generic {
        indexing_maps = [affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>,
                         affine_map<(i, j, k) -> (i, k)>],
        iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %b : tensor<8x2xf32>, tensor<4x2xf32>) outs(%a : tensor<4x8xf32, #CSR>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32, #CSR>
  return %0 : tensor<4x8xf32, #CSR>
}

// Those of dense matrices stay products of matrices.
// CHECK-LABEL:  func @dense_product
// CHECK:        linalg.generic {{.*}} ins(%{{.+}}, %{{.+}} : tensor<4x8xf32>, tensor<4x2xf32>)
// SPARSE-LABEL: func @dense_product
// SPARSE:       linalg.generic {{.*}} ins(%{{.+}}, %{{.+}} : tensor<4x8xf32>, tensor<4x2xf32>)
func.func @dense_product(%a: tensor<4x8xf32>, %c: tensor<f32>, %empty: tensor<4x2xf32>, %out: tensor<8x2xf32>)
    -> tensor<8x2xf32> {
  %b = linalg.generic {indexing_maps = [#one, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<f32>) outs(%empty : tensor<4x2xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<4x2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>,
                                        affine_map<(i, j, k) -> (k, j)>],
                       iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%a, %b : tensor<4x8xf32>, tensor<4x2xf32>) outs(%out : tensor<8x2xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
