// RUN: sparse-opt %s --sparse-autograd-offer-sparse-products | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-offer-sparse-products --sparse-autograd-lower-sparse=for-device -o /dev/null
// RUN: sparse-opt %s --sparse-autograd-offer-sparse-products --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=Missed

// Products with one sparse matrix are offered to a library, with what computes
// them where it is missing.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#CSC = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>
#CSR8 = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 8, crdWidth = 8}>
#DCSR = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : compressed)}>
#ik = affine_map<(i, j, k) -> (i, k)>
#ki = affine_map<(i, j, k) -> (k, i)>
#kj = affine_map<(i, j, k) -> (k, j)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
#ji = affine_map<(i, j, k) -> (j, i)>
#i = affine_map<(i, j, k) -> (i)>
#j = affine_map<(i, j, k) -> (j)>

// REMARK: {{.*}}a product with a sparse matrix (SpMM) is offered to cusparse

// What zeros are added to is not read, and is filled for the op alone.

// CHECK-LABEL: func.func @zeros
//  CHECK-SAME:     %[[A:[^:]+]]: tensor<?x?xf32, #{{[^>]*}}>, %[[B:[^:]+]]: tensor<?x?xf32>, %[[E:[^:]+]]: tensor<?x?xf32>)
//   CHECK-DAG:   %[[L:.+]]:5 = builtin.unrealized_conversion_cast %[[A]]
//   CHECK-DAG:   %[[ONE:.+]] = arith.constant 1.000000e+00 : f64
//   CHECK-DAG:   %[[M:.+]] = tensor.dim %[[A]], %c0
//   CHECK-DAG:   %[[K:.+]] = tensor.dim %[[A]], %c1
//       CHECK:   %[[R:.+]], %[[DONE:.+]] = sparse_autograd.offer_product %[[ONE]] * %[[M]] x %[[K]]
//  CHECK-SAME:       ins(%[[L]]#0, %[[L]]#1, %[[L]]#2, %[[B]] :
//  CHECK-SAME:       outs(%[[E]] : tensor<?x?xf32>) -> tensor<?x?xf32>
//       CHECK:   %[[C:.+]] = scf.if %[[DONE]] -> (tensor<?x?xf32>) {
//  CHECK-NEXT:     scf.yield %[[R]]
//       CHECK:     %[[F:.+]] = linalg.fill {{.*}} outs(%[[R]]
//       CHECK:     %[[P:.+]] = linalg.matmul ins(%[[A]], %[[B]] {{.*}} outs(%[[F]]
//       CHECK:     scf.yield %[[P]]
//       CHECK:   return %[[C]]
func.func @zeros(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32>, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// The sparse matrix on the right of a transposed one, stored by its columns,
// which are rows of the result.

// REMARK: {{.*}}a product with a sparse matrix (SpMM) is offered to cusparse

// CHECK-LABEL: func.func @minus
//  CHECK-SAME:     %[[A:[^:]+]]: tensor<?x?xf32, #{{[^>]*}}>, %[[B:[^:]+]]: tensor<?x?xf32>, %[[C:[^:]+]]: tensor<?x?xf32>)
//   CHECK-DAG:   %[[MINUS:.+]] = arith.constant -1.000000e+00 : f64
//   CHECK-DAG:   %[[M:.+]] = tensor.dim %[[A]], %c1
//   CHECK-DAG:   %[[K:.+]] = tensor.dim %[[A]], %c0
//       CHECK:   %[[R:.+]], %[[DONE:.+]] = sparse_autograd.offer_product %[[MINUS]] * %[[M]] x %[[K]]
//  CHECK-SAME:       outs(%[[C]] : tensor<?x?xf32>) {accumulates, y_transposed} -> tensor<?x?xf32>
//       CHECK:     linalg.generic {{.*}} ins(%[[B]], %[[A]] {{.*}} outs(%[[R]]
func.func @minus(%a: tensor<?x?xf32, #CSC>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#jk, #ki, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%b, %a : tensor<?x?xf32>, tensor<?x?xf32, #CSC>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %t = arith.mulf %u, %v : f32
    %n = arith.subf %o, %t : f32
    linalg.yield %n : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// A weight of the rows is one of the elements: a row without any stays as it is.

// REMARK: {{.*}}a product with a sparse matrix (SpMM), whose elements are multiplied by the weights of its rows before, is offered to cusparse

// CHECK-LABEL: func.func @row_weight
//  CHECK-SAME:     %[[A:[^:]+]]: tensor<?x?xf32, #{{[^>]*}}>, %[[B:[^:]+]]: tensor<?x?xf32>, %[[C:[^:]+]]: tensor<?x?xf32>, %[[W:[^:]+]]: tensor<?xf32>)
//       CHECK:   %[[AW:.+]] = sparse_autograd.sampled_generic {{.*}} ins(%[[A]], %[[W]] :
//       CHECK:   %[[L:.+]]:5 = builtin.unrealized_conversion_cast %[[AW]]
//       CHECK:   %[[R:.+]], %[[DONE:.+]] = sparse_autograd.offer_product
//  CHECK-SAME:       ins(%[[L]]#0, %[[L]]#1, %[[L]]#2, %[[B]] :
//  CHECK-SAME:       outs(%[[C]] : tensor<?x?xf32>) {accumulates}
//       CHECK:     linalg.generic {{.*}} ins(%[[AW]], %[[B]] {{.*}} outs(%[[R]]
func.func @row_weight(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %q: tensor<?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#ik, #kj, #i, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %q : tensor<?x?xf32, #CSR>, tensor<?x?xf32>, tensor<?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.mulf %p, %w : f32
    %n = arith.addf %o, %t : f32
    linalg.yield %n : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// A scale that the host knows.

// REMARK: {{.*}}a product with a sparse matrix (SpMM) is offered to cusparse

// CHECK-LABEL: func.func @scaled
//       CHECK:   %[[ALPHA:.+]] = arith.extf %{{.+}} : f32 to f64
//       CHECK:   sparse_autograd.offer_product %[[ALPHA]] *
func.func @scaled(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %alpha: f32) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.mulf %p, %alpha : f32
    %n = arith.addf %o, %t : f32
    linalg.yield %n : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// The values alone come out of the branch, and keep the pattern.

// REMARK: {{.*}}a sampled product of dense matrices (SDDMM) is offered to cusparse

// CHECK-LABEL: func.func @sample_zeros
//  CHECK-SAME:     %[[S:[^:]+]]: tensor<?x?xi1, #{{[^>]*}}>, %[[X:[^:]+]]: tensor<?x?xf32>, %[[Y:[^:]+]]: tensor<?x?xf32>)
//       CHECK:   %[[L:.+]]:5 = builtin.unrealized_conversion_cast %[[S]]
//       CHECK:   %[[E:.+]] = tensor.empty(%{{.+}}) : tensor<?xf32>
//       CHECK:   %[[V:.+]], %[[DONE:.+]] = sparse_autograd.offer_sampled_product
//  CHECK-SAME:       ins(%[[L]]#0, %[[L]]#1, %[[X]], %[[Y]] :
//  CHECK-SAME:       outs(%[[E]] : tensor<?xf32>) -> tensor<?xf32>
//       CHECK:   %[[R:.+]] = scf.if %[[DONE]] -> (tensor<?xf32>) {
//  CHECK-NEXT:     scf.yield %[[V]]
//       CHECK:     %[[F:.+]] = linalg.fill {{.*}} outs(%[[V]]
//       CHECK:     %[[Z:.+]] = sparse_autograd.with_values %[[F]], %[[S]]
//       CHECK:     %[[P:.+]] = sparse_autograd.sampled_generic {{.*}} outs(%[[Z]]
//       CHECK:     %[[W:.+]] = sparse_autograd.stored_values %[[P]]
//       CHECK:     scf.yield %[[W]]
//       CHECK:   %[[T:.+]] = sparse_autograd.with_values %[[R]], %[[S]]
//       CHECK:   return %[[T]]
func.func @sample_zeros(%s: tensor<?x?xi1, #CSR>, %x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32, #CSR> {
  %z = sparse_autograd.zeros %s : tensor<?x?xi1, #CSR> -> tensor<?x?xf32, #CSR>
  %r = sparse_autograd.sampled_generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32, #CSR>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %t = arith.mulf %u, %v : f32
    %n = arith.addf %o, %t : f32
    linalg.yield %n : f32
  } -> tensor<?x?xf32, #CSR>
  return %r : tensor<?x?xf32, #CSR>
}

// The factor with the rows is the second one here.

// REMARK: {{.*}}a sampled product of dense matrices (SDDMM) is offered to cusparse

// CHECK-LABEL: func.func @sample_added
//  CHECK-SAME:     %[[S:[^:]+]]: tensor<?x?xf32, #{{[^>]*}}>, %[[X:[^:]+]]: tensor<?x?xf32>, %[[Y:[^:]+]]: tensor<?x?xf32>)
//       CHECK:   %[[L:.+]]:5 = builtin.unrealized_conversion_cast %[[S]]
//       CHECK:   sparse_autograd.offer_sampled_product
//  CHECK-SAME:       ins(%[[L]]#0, %[[L]]#1, %[[X]], %[[Y]] :
//  CHECK-SAME:       outs(%[[L]]#2 : tensor<?xf32>) {accumulates, x_transposed, y_transposed}
func.func @sample_added(%s: tensor<?x?xf32, #CSR>, %x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32, #CSR> {
  %r = sparse_autograd.sampled_generic {indexing_maps = [#jk, #ki, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y, %x : tensor<?x?xf32>, tensor<?x?xf32>) outs(%s : tensor<?x?xf32, #CSR>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %t = arith.mulf %u, %v : f32
    %n = arith.addf %o, %t : f32
    linalg.yield %n : f32
  } -> tensor<?x?xf32, #CSR>
  return %r : tensor<?x?xf32, #CSR>
}
