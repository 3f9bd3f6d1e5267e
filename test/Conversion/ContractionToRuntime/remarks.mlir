// RUN: sparse-opt %s --sparse-autograd-contraction-to-runtime=minimal-work=4096 --remarks-filter=sparse-autograd-contractions -o /dev/null 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: sparse-opt %s --sparse-autograd-contraction-to-runtime="minimal-work=4096 for-device=true" --remarks-filter=sparse-autograd-contractions -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEVICE

#device = #gpu.address_space<global>

// Each contraction says who computes it, and why others do not.

// HOST: [[@LINE+5]]:3: remark: [Passed] strategy {{.*}} Function=host {{.*}}"contraction of f32 with sums of f32, batch = 2, m = 64, n = ?, k = 32: blas, about 0.524 MFLOP and 0.0983 MB"
// HOST: [[@LINE+5]]:3: remark: [Missed] loops {{.*}}"contraction of f32 with sums of f32, m = 4, n = 4, k = 4: loops, 0.000128 MFLOP and 0.000256 MB; no blas: 64 multiplications are fewer than 4096"
// HOST: [[@LINE+5]]:3: remark: [Missed] loops {{.*}}"contraction of bf16 with sums of f32, m = ?, n = ?, k = ?: loops, about 0.524 MFLOP and 0.0492 MB; no blas: products of bf16 with sums of f32"
// HOST: [[@LINE+5]]:3: remark: [Missed] loops {{.*}}"contraction of f32 with sums of f32, m = 4, k = 4: loops, 3.2e-05 MFLOP and 0.000112 MB; no blas: a factor is no matrix"
func.func @host(%a: memref<2x64x32xf32>, %b: memref<2x32x?xf32>, %c: memref<2x64x?xf32>, %s: memref<4x4xf32>, %n: memref<?x?xbf16>, %w: memref<?x?xf32>, %v: memref<4xf32>) {
  linalg.batch_matmul ins(%a, %b : memref<2x64x32xf32>, memref<2x32x?xf32>) outs(%c : memref<2x64x?xf32>)
  linalg.matmul ins(%s, %s : memref<4x4xf32>, memref<4x4xf32>) outs(%s : memref<4x4xf32>)
  linalg.matmul ins(%n, %n : memref<?x?xbf16>, memref<?x?xbf16>) outs(%w : memref<?x?xf32>)
  linalg.matvec ins(%s, %v : memref<4x4xf32>, memref<4xf32>) outs(%v : memref<4xf32>)
  return
}

// HOST: no blas: an operand is in other memory
// DEVICE: [Passed] strategy {{.*}} Function=device {{.*}}"contraction of bf16 with sums of f32, m = ?, n = ?, k = ?: library, about 0.524 MFLOP and 0.0492 MB; or the program, if no library does"
// DEVICE: no library: the host does not know the scale
func.func @device(%n: memref<?x?xbf16, #device>, %w: memref<?x?xf32, #device>, %f: memref<f32, #device>) {
  linalg.matmul ins(%n, %n : memref<?x?xbf16, #device>, memref<?x?xbf16, #device>) outs(%w : memref<?x?xf32, #device>)
  %scale = memref.load %f[] : memref<f32, #device>
  linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w, %w : memref<?x?xf32, #device>, memref<?x?xf32, #device>) outs(%w : memref<?x?xf32, #device>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.mulf %p, %scale : f32
    %t = arith.addf %o, %q : f32
    linalg.yield %t : f32
  }
  return
}
