// RUN: sparse-opt %s --sparse-autograd-offer-sparse-products | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd="target=gpu libraries=cusparse" --mlir-print-ir-after=sparse-autograd-sparse-product-to-runtime -o /dev/null 2>&1 | FileCheck %s --check-prefix=CALLS
// RUN: sparse-opt %s --sparse-autograd="target=gpu" --mlir-print-ir-after=sparse-autograd-storage-to-runtime -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE

// Products of two sparse matrices, as lower-sparse gets them.

// NONE-NOT: call @sparseAutogradDevice

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#CSR32 = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
#CSR3264 = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 64}>
#CSR16 = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 16, crdWidth = 16}>
#CSC = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>
#DCSR = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : compressed)}>

// CHECK-LABEL: func.func @product(
//  CHECK-SAME:   %[[A:.+]]: tensor<?x?xf32, #[[CSR:.+]]>, %[[B:.+]]: tensor<?x?xf32, #[[CSR]]>)
//       CHECK:   %[[AC:.+]]:5 = builtin.unrealized_conversion_cast %[[A]] : tensor<?x?xf32, #[[CSR]]> to tensor<?xindex>, tensor<?xindex>, tensor<?xf32>, index, index
//       CHECK:   %[[BC:.+]]:5 = builtin.unrealized_conversion_cast %[[B]]
//       CHECK:   %[[C0:.+]] = arith.constant 0 : index
//       CHECK:   %[[C1:.+]] = arith.constant 1 : index
//       CHECK:   %[[M:.+]] = tensor.dim %[[A]], %[[C0]]
//       CHECK:   %[[N:.+]] = tensor.dim %[[B]], %[[C1]]
//       CHECK:   %[[K:.+]] = tensor.dim %[[A]], %[[C1]]
//       CHECK:   %[[STORED:.+]] = sparse_autograd.begin_sparse_product %[[M]] x %[[K]] x %[[N]] ins(%[[AC]]#0, %[[AC]]#1, %[[AC]]#2, %[[BC]]#0, %[[BC]]#1, %[[BC]]#2 :
//       CHECK:   %[[BEGUN:.+]] = arith.cmpi sge, %[[STORED]], %[[C0]] : index
//       CHECK:   %[[C:.+]] = scf.if %[[BEGUN]] -> (tensor<?x?xf32, #[[CSR]]>) {
//       CHECK:     %[[ROWS:.+]] = arith.addi %[[M]], %[[C1]] : index
//       CHECK:     %[[P:.+]] = tensor.empty(%[[ROWS]]) : tensor<?xindex>
//       CHECK:     %[[Q:.+]] = tensor.empty(%[[STORED]]) : tensor<?xindex>
//       CHECK:     %[[V:.+]] = tensor.empty(%[[STORED]]) : tensor<?xf32>
//       CHECK:     %[[L:.+]]:3 = sparse_autograd.end_sparse_product ins(%[[AC]]#0, %[[AC]]#1, %[[AC]]#2, %[[BC]]#0, %[[BC]]#1, %[[BC]]#2 :
//  CHECK-SAME:       outs(%[[P]], %[[Q]], %[[V]] :
//       CHECK:     %[[T:.+]] = builtin.unrealized_conversion_cast %[[L]]#0, %[[L]]#1, %[[L]]#2, %[[M]], %[[N]] :
//       CHECK:     scf.yield %[[T]]
//       CHECK:   } else {
//       CHECK:     %[[LEFT:.+]] = linalg.matmul ins(%[[A]], %[[B]] :
//       CHECK:     scf.yield %[[LEFT]]
//       CHECK:   return %[[C]]

// CALLS-LABEL: func.func @product(
//       CALLS:   %[[STORED:.+]] = call @sparseAutogradDeviceBeginSparseProduct(
//       CALLS:   %[[COUNT:.+]] = arith.index_cast %[[STORED]] : i64 to index
//       CALLS:   %[[BEGUN:.+]] = arith.cmpi sge, %[[COUNT]], %{{.+}} : index
//       CALLS:   scf.if %[[BEGUN]]
//   CALLS-DAG:     memref.alloc(%[[COUNT]]) {{.*}}: memref<?xindex, #gpu.address_space<global>>
//   CALLS-DAG:     memref.alloc(%[[COUNT]]) {{.*}}: memref<?xf32, #gpu.address_space<global>>
//       CALLS:     call @sparseAutogradDeviceEndSparseProduct(
//       CALLS:   } else {
//       CALLS:     schedule<parallel
func.func @product(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32, #CSR>) -> tensor<?x?xf32, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32, #CSR>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32, #CSR>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32, #CSR>
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSR>) outs(%e : tensor<?x?xf32, #CSR>) -> tensor<?x?xf32, #CSR>
  return %c : tensor<?x?xf32, #CSR>
}

// The right factor first, loops in another order, extents that are known.
// CHECK-LABEL: func.func @generic(
//  CHECK-SAME:   %[[A:.+]]: tensor<4x5xf64, #[[CSR32:.+]]>, %[[B:.+]]: tensor<5x?xf64, #[[CSR32]]>
//       CHECK:   %[[AC:.+]]:3 = builtin.unrealized_conversion_cast %[[A]] : tensor<4x5xf64, #[[CSR32]]> to tensor<?xi32>, tensor<?xi32>, tensor<?xf64>
//       CHECK:   %[[BC:.+]]:4 = builtin.unrealized_conversion_cast %[[B]]
//       CHECK:   begin_sparse_product %{{.+}} ins(%[[AC]]#0, %[[AC]]#1, %[[AC]]#2, %[[BC]]#0, %[[BC]]#1, %[[BC]]#2 :
//       CHECK:   scf.if %{{.+}} -> (tensor<4x?xf64, #[[CSR32]]>)
//       CHECK:     builtin.unrealized_conversion_cast %{{.+}} : tensor<?xi32>, tensor<?xi32>, tensor<?xf64>, index to tensor<4x?xf64, #[[CSR32]]>
//       CHECK:   return
func.func @generic(%a: tensor<4x5xf64, #CSR32>, %b: tensor<5x?xf64, #CSR32>, %n: index) -> tensor<4x?xf64, #CSR32> {
  %e = tensor.empty(%n) : tensor<4x?xf64, #CSR32>
  %c = linalg.generic {indexing_maps = [affine_map<(k, i, j) -> (k, j)>, affine_map<(k, i, j) -> (i, k)>, affine_map<(k, i, j) -> (i, j)>],
                       iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%b, %a : tensor<5x?xf64, #CSR32>, tensor<4x5xf64, #CSR32>) outs(%e : tensor<4x?xf64, #CSR32>) {
    ^bb0(%y: f64, %x: f64, %s: f64):
      %t = arith.mulf %x, %y : f64
      %u = arith.addf %s, %t : f64
      linalg.yield %u : f64
  } -> tensor<4x?xf64, #CSR32>
  return %c : tensor<4x?xf64, #CSR32>
}

// Formats and types that are not the library's, or differ.
// CHECK-LABEL: func.func @formats(
//   CHECK-NOT:   sparse_product
//       CHECK:   return
func.func @formats(%a: tensor<4x4xf32, #CSC>, %b: tensor<4x4xf32, #DCSR>, %c: tensor<4x4xf32, #CSR3264>, %d: tensor<4x4xf32, #CSR16>,
                   %f: tensor<4x4xf16, #CSR>, %g: tensor<4x4xf32, #CSR>, %h: tensor<4x4xf32>)
    -> (tensor<4x4xf32, #CSC>, tensor<4x4xf32, #DCSR>, tensor<4x4xf32, #CSR3264>, tensor<4x4xf32, #CSR16>, tensor<4x4xf16, #CSR>, tensor<4x4xf32, #CSR32>, tensor<4x4xf32>) {
  %ea = tensor.empty() : tensor<4x4xf32, #CSC>
  %ra = linalg.matmul ins(%a, %a : tensor<4x4xf32, #CSC>, tensor<4x4xf32, #CSC>) outs(%ea : tensor<4x4xf32, #CSC>) -> tensor<4x4xf32, #CSC>
  %eb = tensor.empty() : tensor<4x4xf32, #DCSR>
  %rb = linalg.matmul ins(%b, %b : tensor<4x4xf32, #DCSR>, tensor<4x4xf32, #DCSR>) outs(%eb : tensor<4x4xf32, #DCSR>) -> tensor<4x4xf32, #DCSR>
  %ec = tensor.empty() : tensor<4x4xf32, #CSR3264>
  %rc = linalg.matmul ins(%c, %c : tensor<4x4xf32, #CSR3264>, tensor<4x4xf32, #CSR3264>) outs(%ec : tensor<4x4xf32, #CSR3264>) -> tensor<4x4xf32, #CSR3264>
  %ed = tensor.empty() : tensor<4x4xf32, #CSR16>
  %rd = linalg.matmul ins(%d, %d : tensor<4x4xf32, #CSR16>, tensor<4x4xf32, #CSR16>) outs(%ed : tensor<4x4xf32, #CSR16>) -> tensor<4x4xf32, #CSR16>
  %ef = tensor.empty() : tensor<4x4xf16, #CSR>
  %rf = linalg.matmul ins(%f, %f : tensor<4x4xf16, #CSR>, tensor<4x4xf16, #CSR>) outs(%ef : tensor<4x4xf16, #CSR>) -> tensor<4x4xf16, #CSR>
  %eg = tensor.empty() : tensor<4x4xf32, #CSR32>
  %rg = linalg.matmul ins(%g, %g : tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>) outs(%eg : tensor<4x4xf32, #CSR32>) -> tensor<4x4xf32, #CSR32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %rh = linalg.matmul ins(%g, %g : tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>) outs(%zeros : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %ra, %rb, %rc, %rd, %rf, %rg, %rh : tensor<4x4xf32, #CSC>, tensor<4x4xf32, #DCSR>, tensor<4x4xf32, #CSR3264>, tensor<4x4xf32, #CSR16>, tensor<4x4xf16, #CSR>, tensor<4x4xf32, #CSR32>, tensor<4x4xf32>
}

// A transposed factor, a transposed result, a difference, a product that is
// scaled, one at a pattern, and one without a sum.
// CHECK-LABEL: func.func @others(
//   CHECK-NOT:   sparse_product
//       CHECK:   return
#ik = affine_map<(i, j, k) -> (i, k)>
#ki = affine_map<(i, j, k) -> (k, i)>
#kj = affine_map<(i, j, k) -> (k, j)>
#ij = affine_map<(i, j, k) -> (i, j)>
#ji = affine_map<(i, j, k) -> (j, i)>
#id = affine_map<(i, j) -> (i, j)>
func.func @others(%a: tensor<4x4xf32, #CSR>, %scale: f32)
    -> (tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>) {
  %e = tensor.empty() : tensor<4x4xf32, #CSR>
  %0 = linalg.generic {indexing_maps = [#ki, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>) outs(%e : tensor<4x4xf32, #CSR>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %t = arith.mulf %x, %y : f32
      %u = arith.addf %s, %t : f32
      linalg.yield %u : f32
  } -> tensor<4x4xf32, #CSR>
  %1 = linalg.generic {indexing_maps = [#ik, #kj, #ji], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>) outs(%e : tensor<4x4xf32, #CSR>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %t = arith.mulf %x, %y : f32
      %u = arith.addf %s, %t : f32
      linalg.yield %u : f32
  } -> tensor<4x4xf32, #CSR>
  %2 = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>) outs(%e : tensor<4x4xf32, #CSR>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %t = arith.mulf %x, %y : f32
      %u = arith.subf %s, %t : f32
      linalg.yield %u : f32
  } -> tensor<4x4xf32, #CSR>
  %3 = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>) outs(%e : tensor<4x4xf32, #CSR>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %t = arith.mulf %x, %y : f32
      %r = arith.mulf %scale, %t : f32
      %u = arith.addf %s, %r : f32
      linalg.yield %u : f32
  } -> tensor<4x4xf32, #CSR>
  %zeros = sparse_autograd.zeros %a : tensor<4x4xf32, #CSR> -> tensor<4x4xf32, #CSR>
  %4 = sparse_autograd.sampled_generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>) outs(%zeros : tensor<4x4xf32, #CSR>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %t = arith.mulf %x, %y : f32
      %u = arith.addf %s, %t : f32
      linalg.yield %u : f32
  } -> tensor<4x4xf32, #CSR>
  %5 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %a : tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>) outs(%e : tensor<4x4xf32, #CSR>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %t = arith.mulf %x, %y : f32
      linalg.yield %t : f32
  } -> tensor<4x4xf32, #CSR>
  return %0, %1, %2, %3, %4, %5 : tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>, tensor<4x4xf32, #CSR>
}
