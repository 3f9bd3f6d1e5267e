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
