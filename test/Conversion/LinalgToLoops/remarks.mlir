// RUN: sparse-opt %s --sparse-autograd-linalg-to-loops="parallel chunk-work=1000" --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-linalg-to-loops=parallel=false --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: sparse-opt %s --sparse-autograd-linalg-to-loops="parallel for-device chunk-work=64" --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEVICE

// Each nest says how it is cut, with its extents, or why it is not. An element has no
// nest.

// CHECK:      remarks.mlir:[[#@LINE+10]]:3: remark: [Passed] dense {{.*}} Function=nests | Remark="nest of 512 x ?: chunks of dimension 0 in parallel"
// CHECK:      [Missed] dense {{.*}}"nest of 16: not parallel, since its work, 16, is less than two chunks of 1000"
// CHECK:      [Passed] dense {{.*}}"nest of ?: partial results of chunks of dimension 0 in parallel"
// CHECK:      [Missed] dense {{.*}}"nest of ?: not parallel, since iterations write to the same places, and no partial results of chunks can be combined"
// CHECK:      [Missed] dense {{.*}}"nest of 4096: not parallel, since a loop around is parallel"
// ONE-COUNT-3: not parallel, since no chunks are asked for
// DEVICE:      [Passed] dense {{.*}}"nest of 512 x ?: all iterations of dimension 0, 1 in parallel"
// DEVICE:      [Passed] dense {{.*}}"nest of 16: all iterations of dimension 0 in parallel"
// DEVICE:      [Passed] dense {{.*}}"nest of ?: partial results of chunks of dimension 0 in parallel"
func.func @nests(%a: memref<512x?xf32>, %b: memref<16xf32>, %l: memref<?xf32>, %s: memref<f32>, %c: memref<4096xf32>, %x: f32) {
  linalg.fill ins(%x : f32) outs(%a : memref<512x?xf32>)
  linalg.fill ins(%x : f32) outs(%b : memref<16xf32>)
  linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%l : memref<?xf32>) outs(%s : memref<f32>) {
  ^bb0(%e: f32, %t: f32):
    %r = arith.addf %t, %e : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%x : f32) outs(%s : memref<f32>)
  linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%l : memref<?xf32>) outs(%s : memref<f32>) {
  ^bb0(%e: f32, %t: f32):
    %d = arith.divf %t, %e : f32
    linalg.yield %d : f32
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    linalg.fill ins(%x : f32) outs(%c : memref<4096xf32>)
  }
  return
}
