// What a function allocates at most (lib/Analysis/MemoryBound.cpp).
// RUN: sparse-opt %s --test-sparse-autograd-memory-bound -o /dev/null | FileCheck %s --match-full-lines
// CHECK:      @values: 8 * nnz(0) + pattern(0)
// CHECK-NEXT: @dense: 4 * dim(0, 0) * 8
// CHECK-NEXT: @loop: no bound
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

#id = affine_map<(i, j) -> (i, j)>
func.func @values(%x: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf64, #CSR>
  %n = tensor.dim %x, %c1 : tensor<?x?xf64, #CSR>
  %0 = tensor.empty(%m, %n) : tensor<?x?xf64, #CSR>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf64, #CSR>) outs(%0 : tensor<?x?xf64, #CSR>) {
  ^bb0(%a: f64, %o: f64):
    %p = arith.addf %a, %a : f64
    linalg.yield %p : f64
  } -> tensor<?x?xf64, #CSR>
  return %1 : tensor<?x?xf64, #CSR>
}
func.func @dense(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %0 = tensor.empty(%m) : tensor<?x8xf32>
  %1 = linalg.exp ins(%x : tensor<?x8xf32>) outs(%0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
func.func @loop(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<8xf32> {
    %1 = math.exp %s : tensor<8xf32>
    scf.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
