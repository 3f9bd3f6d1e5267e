// RUN: sparse-opt %s --sparse-autograd-linalg-to-loops="for-device=true chunk-work=64 maximal-partials=2048" --canonicalize | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-linalg-to-loops=for-device=true --remarks-filter=sparse-autograd-contractions -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#device = #gpu.address_space<global>

// A contraction that tiles compute is an inner product in each element. It begins with
// what stands there.

// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[A:[^:]*]]: memref<?x?xf32, {{[^,]*}}, %[[B:[^:]*]]: memref<?x?xf32, {{[^,]*}}, %[[C:[^:]*]]: memref<?x?xf32
// CHECK:       scf.parallel (%[[I:.*]], %[[J:.*]]) =
// CHECK-NEXT:    %[[BEFORE:.*]] = memref.load %[[C]][%[[I]], %[[J]]]
// CHECK-NEXT:    %[[S:.*]] = sparse_autograd.inner_product %[[A]][%[[I]]] along 1, %[[B]][%[[J]]] along 0, %{{.*}} from %[[BEFORE]]
// CHECK-NEXT:    memref.store %[[S]], %[[C]][%[[I]], %[[J]]]
// REMARK:      contraction of f32 with sums of f32, m = ?, n = ?, k = ?: fma tiles, about 0.524 MFLOP and 0.0655 MB; no tensor-core tiles: products of f32 with sums of f32
func.func @product(%a: memref<?x?xf32, #device>, %b: memref<?x?xf32, #device>, %c: memref<?x?xf32, #device>) {
  linalg.matmul ins(%a, %b : memref<?x?xf32, #device>, memref<?x?xf32, #device>) outs(%c : memref<?x?xf32, #device>)
  return
}

// A fill with zero that nothing else sees is what the sum begins with.

// CHECK-LABEL: func.func @from_zero(
// CHECK:       %[[ZERO:.*]] = arith.constant 0.0
// CHECK:       %[[C:.*]] = memref.alloc
// CHECK-NEXT:  scf.parallel (%[[Z:.*]], %[[I:.*]], %[[J:.*]]) =
// CHECK-NEXT:    %[[S:.*]] = sparse_autograd.inner_product %{{.*}}[%[[Z]], %[[I]]] along 2, %{{.*}}[%[[Z]], %[[J]]] along 1, %c96 from %[[ZERO]]
// CHECK-NEXT:    memref.store %[[S]], %[[C]][%[[Z]], %[[I]], %[[J]]]
// CHECK-NOT:   scf.parallel
// CHECK:       return
// REMARK:      contraction of bf16 with sums of f32, batch = 4, m = 64, n = 32, k = 96: tensor-core tiles, 1.57 MFLOP and 0.139 MB
func.func @from_zero(%a: memref<4x64x96xbf16, #device>, %b: memref<4x96x32xbf16, #device>) -> memref<4x64x32xf32, #device> {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<4x64x32xf32, #device>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x64x32xf32, #device>)
  linalg.batch_matmul ins(%a, %b : memref<4x64x96xbf16, #device>, memref<4x96x32xbf16, #device>) outs(%c : memref<4x64x32xf32, #device>)
  return %c : memref<4x64x32xf32, #device>
}

// A scale multiplies the sum, which is subtracted from what stood there.

// CHECK-LABEL: func.func @step(
// CHECK-SAME:    %[[RATE:[^:]*]]: f32)
// CHECK:       %[[ZERO:.*]] = arith.constant 0.0
// CHECK:         %[[BEFORE:.*]] = memref.load
// CHECK:         %[[S:.*]] = sparse_autograd.inner_product {{.*}} from %[[ZERO]]
// CHECK-NEXT:    %[[SCALED:.*]] = arith.mulf %[[RATE]], %[[S]]
// CHECK-NEXT:    %[[AFTER:.*]] = arith.subf %[[BEFORE]], %[[SCALED]]
// CHECK-NEXT:    memref.store %[[AFTER]]
func.func @step(%a: memref<64x64xf32, #device>, %b: memref<64x64xf32, #device>, %c: memref<64x64xf32, #device>, %rate: f32) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x64xf32, #device>, memref<64x64xf32, #device>) outs(%c : memref<64x64xf32, #device>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.mulf %p, %rate : f32
    %t = arith.subf %o, %q : f32
    linalg.yield %t : f32
  }
  return
}

// Terms of several dimensions are one if they lie so in both factors.

// CHECK-LABEL: func.func @weights(
// CHECK:       %[[X:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : memref<8x64x96xbf16
// CHECK:       %[[Y:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : memref<8x64x64xbf16
// CHECK:       scf.parallel (%[[I:.*]], %[[J:.*]]) =
// CHECK:         sparse_autograd.inner_product %[[X]][%[[I]]] along 0, %[[Y]][%[[J]]] along 0, %c512 from
// REMARK:      contraction of bf16 with sums of f32, m = 96, n = 64, k = 512: tensor-core tiles, 6.29 MFLOP and 0.213 MB
func.func @weights(%x: memref<8x64x96xbf16, #device>, %y: memref<8x64x64xbf16, #device>, %w: memref<96x64xf32, #device>) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n, b, t) -> (b, t, m)>, affine_map<(m, n, b, t) -> (b, t, n)>, affine_map<(m, n, b, t) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %y : memref<8x64x96xbf16, #device>, memref<8x64x64xbf16, #device>) outs(%w : memref<96x64xf32, #device>) {
  ^bb0(%u: bf16, %v: bf16, %o: f32):
    %e = arith.extf %u : bf16 to f32
    %f = arith.extf %v : bf16 to f32
    %p = arith.mulf %e, %f : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  }
  return
}

// What tiles do not compute: few columns, factors of two types, few sums of many terms,
// a buffer of the host.

// CHECK-LABEL: func.func @declined(
// CHECK-NOT:   inner_product
// CHECK:       return
// REMARK:      contraction of f32 with sums of f32, m = 64, n = 8, k = 64: loops, 0.0655 MFLOP and 0.0225 MB; no tensor-core tiles: 8 columns are fewer than 32; no fma tiles: 8 columns are fewer than 32
// REMARK:      contraction of bf16 with sums of f32, m = 64, n = 64, k = 64: loops, 0.524 MFLOP and 0.0573 MB; no tensor-core tiles: the factors are of bf16 and f32
// REMARK:      {{.*}} k = 4096: loops, 8.39 MFLOP and 1.06 MB; no tiles: its sums are few, and cut into chunks
// REMARK:      {{.*}}: loops, 0.524 MFLOP and 0.0655 MB; no tiles: an operand is in the memory of the host
func.func @declined(%a: memref<64x64xf32, #device>, %b: memref<64x8xf32, #device>, %c: memref<64x8xf32, #device>,
                    %d: memref<64x64xbf16, #device>, %e: memref<64x64xf32, #device>,
                    %l: memref<32x4096xf32, #device>, %r: memref<4096x32xf32, #device>, %s: memref<32x32xf32, #device>,
                    %h: memref<64x64xf32>) {
  linalg.matmul ins(%a, %b : memref<64x64xf32, #device>, memref<64x8xf32, #device>) outs(%c : memref<64x8xf32, #device>)
  linalg.matmul ins(%d, %a : memref<64x64xbf16, #device>, memref<64x64xf32, #device>) outs(%e : memref<64x64xf32, #device>)
  linalg.matmul ins(%l, %r : memref<32x4096xf32, #device>, memref<4096x32xf32, #device>) outs(%s : memref<32x32xf32, #device>)
  linalg.matmul ins(%h, %h : memref<64x64xf32>, memref<64x64xf32>) outs(%h : memref<64x64xf32>)
  return
}
