// RUN: sparse-opt %s | sparse-opt | FileCheck %s
// RUN: sparse-opt %s --mlir-print-op-generic | sparse-opt | FileCheck %s

// CHECK-LABEL: func.func @inner_product(
// CHECK-SAME:    %[[A:[^:]*]]: memref<?x?x8xbf16>, %[[B:[^:]*]]: memref<8xbf16>, %[[I:[^:]*]]: index, %[[J:[^:]*]]: index, %[[K:[^:]*]]: index, %[[Z:[^:]*]]: f32)
// CHECK:       sparse_autograd.inner_product %[[A]][%[[I]], %[[J]]] along 2, %[[B]][] along 0, %[[K]] from %[[Z]] : memref<?x?x8xbf16>, memref<8xbf16>, f32
func.func @inner_product(%a: memref<?x?x8xbf16>, %b: memref<8xbf16>, %i: index, %j: index, %k: index, %z: f32) -> f32 {
  %s = sparse_autograd.inner_product %a[%i, %j] along 2, %b[] along 0, %k from %z
      : memref<?x?x8xbf16>, memref<8xbf16>, f32
  return %s : f32
}

// It reads buffers: what is written between two of them is seen by the second.

// CHECK-LABEL: func.func @reads(
// CHECK:       inner_product
// CHECK:       memref.store
// CHECK:       inner_product
func.func @reads(%a: memref<8xf64>, %k: index, %z: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %s = sparse_autograd.inner_product %a[] along 0, %a[] along 0, %k from %z : memref<8xf64>, memref<8xf64>, f64
  memref.store %s, %a[%c0] : memref<8xf64>
  %t = sparse_autograd.inner_product %a[] along 0, %a[] along 0, %k from %z : memref<8xf64>, memref<8xf64>, f64
  %r = arith.addf %s, %t : f64
  return %r : f64
}

// A factor that stores two of each four terms, on tensors and on buffers.

// CHECK-LABEL: func.func @structured(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<?x?xbf16>, %[[C:[^:]*]]: tensor<?xi8>, %[[B:[^:]*]]: tensor<8xbf16>
// CHECK:       sparse_autograd.inner_product %[[A]][%[[I:.*]]] by %[[C]] along 1, %[[B]][] along 0, %[[K:.*]] from %{{.*}} : tensor<?x?xbf16> by tensor<?xi8>, tensor<8xbf16>, f32
// CHECK:       sparse_autograd.inner_product %{{.*}}[%[[I]]] by %{{.*}} along 1, %{{.*}}[] along 0, %[[K]] from %{{.*}} : memref<?x?xf32> by memref<?xi8>, memref<8xf32>, f32
func.func @structured(%a: tensor<?x?xbf16>, %c: tensor<?xi8>, %b: tensor<8xbf16>, %ma: memref<?x?xf32>, %mc: memref<?xi8>, %mb: memref<8xf32>, %i: index, %k: index, %z: f32) -> f32 {
  %s = sparse_autograd.inner_product %a[%i] by %c along 1, %b[] along 0, %k from %z
      : tensor<?x?xbf16> by tensor<?xi8>, tensor<8xbf16>, f32
  %t = sparse_autograd.inner_product %ma[%i] by %mc along 1, %mb[] along 0, %k from %s
      : memref<?x?xf32> by memref<?xi8>, memref<8xf32>, f32
  return %t : f32
}
