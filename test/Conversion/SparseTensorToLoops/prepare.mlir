// RUN: split-file %s %t
// RUN: sparse-opt %t/ops.mlir --sparse-autograd-prepare-sparse --cse | FileCheck %t/ops.mlir
// RUN: sparse-opt %t/ops.mlir --sparse-autograd-prepare-sparse --sparse-autograd-verify-phase=phase=prepare-sparse -o /dev/null
// RUN: sparse-opt %t/alone.mlir --split-input-file --verify-diagnostics --sparse-autograd-lower-sparse

// What the lowering of sparse tensors does on structured ops, before it makes
// loops of them.

//--- ops.mlir
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>

// A product that is read at a pattern alone is sampled there, from the elements
// that it would be added to there.

// CHECK-LABEL: func.func @factor
//  CHECK-SAME:     %[[A:[^:]+]]: tensor<?x?xf32, #{{[^>]*}}>, %[[X:[^:]+]]: tensor<?x8xf32>, %[[Y:[^:]+]]: tensor<8x?xf32>, %[[Z:[^:]+]]: tensor<?x?xf32>,
//   CHECK-NOT:   linalg.matmul
//       CHECK:   %[[START:.+]] = sparse_autograd.sampled_generic {{.*}} ins(%[[Z]] : tensor<?x?xf32>)
//       CHECK:   %[[P:.+]] = sparse_autograd.sampled_generic {{.*}} ins(%[[X]], %[[Y]] : {{.*}} outs(%[[START]] :
//       CHECK:   %[[R:.+]] = linalg.generic {{.*}} ins(%[[A]], %[[P]] :
//       CHECK:   return %[[R]]
func.func @factor(%a: tensor<?x?xf32, #CSR>, %x: tensor<?x8xf32>, %y: tensor<8x?xf32>, %z: tensor<?x?xf32>, %e: tensor<?x?xf32, #CSR>) -> tensor<?x?xf32, #CSR> {
  %p = linalg.matmul ins(%x, %y : tensor<?x8xf32>, tensor<8x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %p : tensor<?x?xf32, #CSR>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32, #CSR>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %m = arith.mulf %u, %v : f32
    linalg.yield %m : f32
  } -> tensor<?x?xf32, #CSR>
  return %r : tensor<?x?xf32, #CSR>
}

// A sample and a conversion are copies.

// CHECK-LABEL: func.func @copies
//  CHECK-SAME:     %[[D:[^:]+]]: tensor<?x?xf32>, %[[P:[^:]+]]: tensor<?x?xi1, #{{.*}}>)
//   CHECK-NOT:   sparse_autograd.sample %
//   CHECK-NOT:   sparse_tensor.convert
//       CHECK:   %[[S:.+]] = sparse_autograd.sampled_generic {{.*}} ins(%[[D]] :
//       CHECK:     linalg.yield %{{.+}} : f32
//       CHECK:   %[[C:.+]] = linalg.generic {{.*}} ins(%[[D]] : tensor<?x?xf32>) outs(%{{.+}} : tensor<?x?xf32, #{{.*}}>)
//       CHECK:   return %[[S]], %[[C]]
func.func @copies(%d: tensor<?x?xf32>, %p: tensor<?x?xi1, #CSR>) -> (tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSR>) {
  %s = sparse_autograd.sample %d, %p : tensor<?x?xf32>, tensor<?x?xi1, #CSR> -> tensor<?x?xf32, #CSR>
  %c = sparse_tensor.convert %d : tensor<?x?xf32> to tensor<?x?xf32, #CSR>
  return %s, %c : tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSR>
}

// A conversion to 2:4 storage is an op that may be packed; one from it, and of
// integers, a copy.

#S24 = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>

// CHECK-LABEL: func.func @compressions
//   CHECK-NOT:   sparse_tensor.convert
//       CHECK:   %[[C:.+]] = sparse_autograd.compress_24 %{{.+}} : tensor<?x?xbf16>
//       CHECK:   linalg.generic {{.*}} ins(%[[C]] :
//       CHECK:   linalg.generic {{.*}} outs(%{{.+}} : tensor<?x?xi8, #
//       CHECK:   return
func.func @compressions(%d: tensor<?x?xbf16>, %i: tensor<?x?xi8>) -> (tensor<?x?xbf16>, tensor<?x?xi8, #S24>) {
  %c = sparse_tensor.convert %d : tensor<?x?xbf16> to tensor<?x?xbf16, #S24>
  %e = sparse_tensor.convert %c : tensor<?x?xbf16, #S24> to tensor<?x?xbf16>
  %s = sparse_tensor.convert %i : tensor<?x?xi8> to tensor<?x?xi8, #S24>
  return %e, %s : tensor<?x?xbf16>, tensor<?x?xi8, #S24>
}

// An elementwise op whose result one sparse op alone reads is computed there;
// of a result that another op reads as well it is not.

// CHECK-LABEL: func.func @producers
//  CHECK-SAME:     %[[A:[^:]+]]: tensor<?x?xf32, #{{[^>]*}}>, %[[D:[^:]+]]: tensor<?x?xf32>,
//   CHECK-NOT:   math.exp
//       CHECK:   %[[T:.+]] = linalg.generic {{.*}} ins(%[[D]] : tensor<?x?xf32>) outs(%{{.+}} : tensor<?x?xf32>)
//  CHECK-NEXT:   ^bb0
//  CHECK-NEXT:     math.tanh
//       CHECK:   %[[R:.+]] = linalg.generic {{.*}} ins({{.*}}%[[D]]{{.*}} outs(%{{.+}} : tensor<?x?xf32, #{{.*}}>)
//       CHECK:     math.exp
//       CHECK:     arith.mulf
//       CHECK:   %[[Q:.+]] = linalg.generic {{.*}} ins(%[[R]], %[[T]] :
//       CHECK:   return %[[Q]], %[[T]]
func.func @producers(%a: tensor<?x?xf32, #CSR>, %d: tensor<?x?xf32>, %z: tensor<?x?xf32>, %e: tensor<?x?xf32, #CSR>) -> (tensor<?x?xf32, #CSR>, tensor<?x?xf32>) {
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = math.exp %v : f32
    linalg.yield %m : f32
  } -> tensor<?x?xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d : tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %m = math.tanh %v : f32
    linalg.yield %m : f32
  } -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %f : tensor<?x?xf32, #CSR>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32, #CSR>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %m = arith.mulf %u, %v : f32
    linalg.yield %m : f32
  } -> tensor<?x?xf32, #CSR>
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%r, %t : tensor<?x?xf32, #CSR>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32, #CSR>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %m = arith.mulf %u, %v : f32
    linalg.yield %m : f32
  } -> tensor<?x?xf32, #CSR>
  return %q, %t : tensor<?x?xf32, #CSR>, tensor<?x?xf32>
}

//--- alone.mlir
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @sample(%x: tensor<4x8xf32>, %p: tensor<4x8xf32, #CSR>) -> tensor<4x8xf32, #CSR> {
  // expected-error @+1 {{'sparse_autograd.sample' op is not lowered on sparse tensors; run --sparse-autograd-prepare-sparse first}}
  %r = sparse_autograd.sample %x, %p : tensor<4x8xf32>, tensor<4x8xf32, #CSR> -> tensor<4x8xf32, #CSR>
  return %r : tensor<4x8xf32, #CSR>
}

// -----

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @convert(%x: tensor<4x8xf32>) -> tensor<4x8xf32, #CSR> {
  // expected-error @+1 {{'sparse_tensor.convert' op is not lowered on sparse tensors; run --sparse-autograd-prepare-sparse first}}
  %r = sparse_tensor.convert %x : tensor<4x8xf32> to tensor<4x8xf32, #CSR>
  return %r : tensor<4x8xf32, #CSR>
}
