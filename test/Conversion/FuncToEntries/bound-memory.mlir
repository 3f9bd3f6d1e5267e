// RUN: sparse-opt %s --sparse-autograd --mlir-print-ir-after=sparse-autograd-bound-memory -o %t 2>&1 | FileCheck %s

// What calls of functions on sparse tensors allocate at most.

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#csc = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>

// The result alone: it is written over zeros that nothing else reads.
// CHECK-LABEL: func.func @product(
//  CHECK-SAME:   sparse_autograd.memory_bound = "64 * dim(0, 0)"
func.func @product(%a: tensor<?x?xf32, #csr>, %x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %a, %c0 : tensor<?x?xf32, #csr>
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = linalg.matmul ins(%a, %x : tensor<?x?xf32, #csr>, tensor<?x16xf32>) outs(%z : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// A dense argument that is added to is copied; so is the pattern of a result.
// CHECK-LABEL: func.func @copies(
//  CHECK-SAME:   sparse_autograd.memory_bound = "64 * dim(0, 0) + 4 * nnz(0) + pattern(0)"
func.func @copies(%a: tensor<?x?xf32, #csr>, %x: tensor<?x16xf32>, %y: tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x?xf32, #csr>) {
  %p = linalg.matmul ins(%a, %x : tensor<?x?xf32, #csr>, tensor<?x16xf32>) outs(%y : tensor<?x16xf32>) -> tensor<?x16xf32>
  %t = math.tanh %a : tensor<?x?xf32, #csr>
  %s = math.sin %t : tensor<?x?xf32, #csr>
  return %p, %s : tensor<?x16xf32>, tensor<?x?xf32, #csr>
}

// What is computed where it is read takes nothing.
// CHECK-LABEL: func.func @scales(
//  CHECK-SAME:   sparse_autograd.memory_bound = "4 * nnz(0) + pattern(0)"
func.func @scales(%a: tensor<?x?xf32, #csr>, %s: tensor<?xf32>) -> tensor<?x?xf32, #csr> {
  %z = sparse_autograd.zeros %a : tensor<?x?xf32, #csr> -> tensor<?x?xf32, #csr>
  %t = math.tanh %s : tensor<?xf32>
  %u = arith.mulf %t, %s : tensor<?xf32>
  %y = sparse_autograd.sampled_generic {indexing_maps = [#rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%u : tensor<?xf32>) outs(%z : tensor<?x?xf32, #csr>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<?x?xf32, #csr>
  return %y : tensor<?x?xf32, #csr>
}

// A copy in another order, with the places of its rows while it is stored.
// CHECK-LABEL: func.func @by_columns(
//  CHECK-SAME:   sparse_autograd.memory_bound = "16 + 16 * dim(0, 1) + 12 * nnz(0)"
func.func @by_columns(%a: tensor<?x?xf32, #csr>) -> tensor<?x?xf32, #csc> {
  %b = sparse_tensor.convert %a : tensor<?x?xf32, #csr> to tensor<?x?xf32, #csc>
  return %b : tensor<?x?xf32, #csc>
}

// Nothing is said of products of sparse matrices, whose rows are added up, and of
// entries that are counted by a loop over two lists at once.
// CHECK-LABEL: func.func @pairs(
//   CHECK-NOT:   memory_bound
// CHECK-LABEL: func.func @intersection(
//   CHECK-NOT:   memory_bound
func.func @pairs(%a: tensor<?x?xf32, #csr>, %b: tensor<?x?xf32, #csr>) -> tensor<?x?xf32, #csr> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xf32, #csr>
  %m = tensor.dim %b, %c1 : tensor<?x?xf32, #csr>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32, #csr>
  %y = linalg.matmul ins(%a, %b : tensor<?x?xf32, #csr>, tensor<?x?xf32, #csr>) outs(%e : tensor<?x?xf32, #csr>) -> tensor<?x?xf32, #csr>
  return %y : tensor<?x?xf32, #csr>
}

func.func @intersection(%a: tensor<?x?xf32, #csr>, %b: tensor<?x?xf32, #csr>) -> tensor<?x?xf32, #csr> {
  %y = arith.mulf %a, %b : tensor<?x?xf32, #csr>
  return %y : tensor<?x?xf32, #csr>
}

// Nothing is said of a loop that hands on what it allocates, of an extent that
// comes from nowhere, and of dense programs.
// CHECK-LABEL: func.func @loop(
//   CHECK-NOT:   memory_bound
// CHECK-LABEL: func.func @given_extent(
//   CHECK-NOT:   memory_bound
// CHECK-LABEL: func.func @dense(
//   CHECK-NOT:   memory_bound
func.func @loop(%a: tensor<?x?xf32, #csr>, %x: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<?x?xf32> {
    %p = linalg.matmul ins(%a, %h : tensor<?x?xf32, #csr>, tensor<?x?xf32>) outs(%x : tensor<?x?xf32>) -> tensor<?x?xf32>
    scf.yield %p : tensor<?x?xf32>
  }
  return %y : tensor<?x?xf32>
}
func.func @given_extent(%a: tensor<?x?xf32, #csr>, %n: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}
func.func @dense(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = math.tanh %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// Lists of two levels, and of coordinates that repeat.
#doubly = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : compressed)}>
#coo = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton(soa))}>
// CHECK-LABEL: func.func @of_doubly(
//  CHECK-SAME:   sparse_autograd.memory_bound = "16 + 16 * dim(0, 1) + 12 * nnz(0)"
func.func @of_doubly(%a: tensor<?x?xf32, #doubly>) -> tensor<?x?xf32, #csc> {
  %c = sparse_tensor.convert %a : tensor<?x?xf32, #doubly> to tensor<?x?xf32, #csc>
  return %c : tensor<?x?xf32, #csc>
}
// CHECK-LABEL: func.func @of_coo(
//  CHECK-SAME:   sparse_autograd.memory_bound = "16 + 16 * dim(0, 1) + 12 * nnz(0)"
func.func @of_coo(%a: tensor<?x?xf32, #coo>) -> tensor<?x?xf32, #csc> {
  %c = sparse_tensor.convert %a : tensor<?x?xf32, #coo> to tensor<?x?xf32, #csc>
  return %c : tensor<?x?xf32, #csc>
}

// Entries of a tensor without rows are listed and sorted; then that is released.
// CHECK-LABEL: func.func @to_doubly(
//  CHECK-SAME:   sparse_autograd.memory_bound = "max(16 + 64 * nnz(0), 152 + 56 * nnz(0))"
func.func @to_doubly(%a: tensor<?x?xf32, #csr>) -> tensor<?x?xf32, #doubly> {
  %c = sparse_tensor.convert %a : tensor<?x?xf32, #csr> to tensor<?x?xf32, #doubly>
  return %c : tensor<?x?xf32, #doubly>
}
