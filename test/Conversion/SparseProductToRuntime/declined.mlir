// RUN: sparse-opt %s --sparse-autograd-offer-sparse-products --remarks-filter=sparse-autograd-loops -o %t.mlir 2>&1 | FileCheck %s --implicit-check-not=Passed
// RUN: FileCheck %s --check-prefix=OFFER --input-file %t.mlir

// Products that no library is asked for, each with the reason.

// OFFER-NOT: offer_
//     OFFER: func.func @sparse_sum

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#CSC = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>
#CSR8 = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 8, crdWidth = 8}>
#DCSR = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : compressed)}>
#ik = affine_map<(i, j, k) -> (i, k)>
#ki = affine_map<(i, j, k) -> (k, i)>
#kj = affine_map<(i, j, k) -> (k, j)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
#ji = affine_map<(i, j, k) -> (j, i)>
#i = affine_map<(i, j, k) -> (i)>
#j = affine_map<(i, j, k) -> (j)>

// CHECK: {{.*}}kernels, since the sparse matrix is stored by terms, not by rows of the result
func.func @by_terms(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#ki, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %t = arith.mulf %u, %v : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK: {{.*}}kernels, since the rows of the sparse matrix are columns of the result
func.func @transposed_result(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ji], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %t = arith.mulf %u, %v : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK: {{.*}}kernels, since a weight differs between the columns of the result
func.func @column_weight(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %z: tensor<?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#ik, #kj, #j, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %z : tensor<?x?xf32, #CSR>, tensor<?x?xf32>, tensor<?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.mulf %p, %w : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK: {{.*}}kernels, since positions and coordinates are not both of index, i64 or i32
func.func @narrow_indices(%a: tensor<?x?xf32, #CSR8>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32, #CSR8>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %t = arith.mulf %u, %v : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK: {{.*}}kernels, since the sparse matrix is not stored by rows
func.func @levels(%a: tensor<?x?xf32, #DCSR>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32, #DCSR>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %t = arith.mulf %u, %v : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK: {{.*}}kernels, since its elements are neither f32 nor f64
func.func @halves(%a: tensor<?x?xf16, #CSR>, %b: tensor<?x?xf16>, %c: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf16, #CSR>, tensor<?x?xf16>) outs(%c : tensor<?x?xf16>) {
  ^bb0(%u: f16, %v: f16, %o: f16):
    %t = arith.mulf %u, %v : f16
    %s = arith.addf %o, %t : f16
    linalg.yield %s : f16
  } -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}

// CHECK: {{.*}}kernels, since its operands are not all of one type
func.func @extended(%a: tensor<?x?xf16, #CSR>, %b: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf16, #CSR>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%l: f16, %q: f16, %o: f32):
    %u = arith.extf %l : f16 to f32
    %v = arith.extf %q : f16 to f32
    %t = arith.mulf %u, %v : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK: {{.*}}kernels, since it has not rows, columns and terms alone
func.func @vector(%a: tensor<?x?xf32, #CSR>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.matvec ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK: {{.*}}kernels, since the host does not know the scale
func.func @scale_of_device(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %q: tensor<f32>) -> tensor<?x?xf32> {
  %alpha = tensor.extract %q[] : tensor<f32>
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.mulf %p, %alpha : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK: {{.*}}kernels, since terms are multiplied by a third matrix
func.func @sampled_weight(%p0: tensor<?x?xf32, #CSR>, %a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32, #CSR> {
  %r = sparse_autograd.sampled_generic {indexing_maps = [#ik, #kj, #ij, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %z : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) outs(%p0 : tensor<?x?xf32, #CSR>) {
  ^bb0(%u: f32, %v: f32, %w: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %t = arith.mulf %p, %w : f32
    %q = arith.addf %o, %t : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32, #CSR>
  return %r : tensor<?x?xf32, #CSR>
}

// CHECK: {{.*}}kernels, since it is no product of two matrices
func.func @sparse_sum(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32, #CSR>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSR>) outs(%c : tensor<?xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %t = arith.maximumf %u, %v : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
