// Remarks about loop nests (lib/Analysis/LoopRemarks.cpp), of the passes that have
// few of them: masked rows, streamed and prefetched memory, libraries and lanes.

// RUN: split-file %s %t
// RUN: sparse-opt %t/softmax.mlir --sparse-autograd --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: sparse-opt %t/softmax.mlir --sparse-autograd=target=gpu --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: sparse-opt %t/spmm.mlir --sparse-autograd --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: sparse-opt %t/spmm.mlir --sparse-autograd="target=gpu libraries=cusparse" --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIBRARY

// No other remarks, and no text where none are asked for.
// RUN: sparse-opt %t/softmax.mlir --sparse-autograd --remarks-filter=sparse-autograd-fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not=sparse-autograd-loops
// RUN: sparse-opt %t/softmax.mlir --sparse-autograd -o /dev/null 2>&1 | count 0
// OTHER: sparse-autograd-fuse

// CPU-DAG: softmax.mlir:2:{{.*}} remark: [Passed] masked-rows | Category:sparse-autograd-loops | Function=rows | Remark="rows of ? x ? elements are compressed where the mask selects few"
// CPU-DAG: Function=rows | {{.*}}"blocks of {{[0-9]}} tensors are fetched while the one before is computed, if they have {{[0-9]+}} bytes"
// CPU-DAG: [Missed] masked-rows {{.*}} Function=deep | Remark="rows of ? x ? x ? elements stay whole, since they are not rows of a matrix"
// CPU-DAG: [Passed] streamed {{.*}} | Remark="blocks of a result of ? x ? elements are written past the caches, if it has {{[0-9]+}} bytes"

// GPU: [Passed] lanes {{.*}} Function=rows | Remark="1 parallel loop: lanes do an iteration together"
// GPU: [Passed] lanes {{.*}} Function=deep | Remark="2 parallel loops: lanes do an iteration together"

// ROWS: [Passed] prefetched {{.*}} Function=spmm | Remark="rows of 1 tables are fetched as a list names them, {{[0-9]+}} iterations ahead"
// LIBRARY-DAG: [Passed] library {{.*}} Function=spgemm | Remark="a product of two sparse matrices (SpGEMM) is offered to cusparse; kernels are for where it is missing"
// LIBRARY-DAG: [Passed] library {{.*}} Function=spmm | Remark="a product with a sparse matrix (SpMM) is offered to cusparse; kernels are for where it is missing"
// LIBRARY-DAG: [Passed] library {{.*}} Function=weighted | Remark="a product with a sparse matrix (SpMM), whose elements are multiplied by the weights of its rows before, is offered to cusparse
// LIBRARY-DAG: [Missed] lanes {{.*}} Function=weighted | Remark="2 parallel loops: a thread does an iteration, since no loop in it

//--- softmax.mlir
func.func @rows(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> tensor<?x?xf32> {
  %r = sparse_autograd.masked_softmax %x, %m dims = [1] : tensor<?x?xf32>, tensor<?x?xi1>
  return %r : tensor<?x?xf32>
}
func.func @deep(%x: tensor<?x?x?xf32>, %m: tensor<?x?x?xi1>) -> tensor<?x?x?xf32> {
  %r = sparse_autograd.masked_softmax %x, %m dims = [2] : tensor<?x?x?xf32>, tensor<?x?x?xi1>
  return %r : tensor<?x?x?xf32>
}
func.func @shift(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<?x?xf32>) outs(%z : tensor<?xf32>) dimensions = [1]
  %o = tensor.empty(%n, %m) : tensor<?x?xf32>
  %b = linalg.broadcast ins(%s : tensor<?xf32>) outs(%o : tensor<?x?xf32>) dimensions = [1]
  %r = arith.subf %x, %b : tensor<?x?xf32>
  return %r, %s : tensor<?x?xf32>, tensor<?xf32>
}

//--- spmm.mlir
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#product = {
  indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
  iterator_types = ["parallel", "parallel", "reduction"]
}
func.func @spmm(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.generic #product ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @weighted(%a: tensor<?x?xf32, #CSR>, %w: tensor<?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w, %b : tensor<?x?xf32, #CSR>, tensor<?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %r: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.mulf %p, %r : f32
    %s = arith.addf %z, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func @spgemm(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32, #CSR>, %m: index, %n: index) -> tensor<?x?xf32, #CSR> {
  %e = tensor.empty(%m, %n) : tensor<?x?xf32, #CSR>
  %0 = linalg.generic #product ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSR>) outs(%e : tensor<?x?xf32, #CSR>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32, #CSR>
  return %0 : tensor<?x?xf32, #CSR>
}
