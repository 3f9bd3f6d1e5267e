// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse="parallel vector-bytes=256" --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse="vector-bytes=256" --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: sparse-opt %s --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse="parallel for-device" --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEVICE --implicit-check-not=scalars

// The loops of each sparse kernel say how they visit what is stored, whether they
// are vectors and parallel, and why not.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#spmm = {
  indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
  iterator_types = ["parallel", "parallel", "reduction"]
}

// CHECK:  remarks.mlir:[[#@LINE+4]]:{{.*}} remark: [Passed] sparse | {{.*}} Function=rows | Remark="computes in loops over level 0 of sparse operand 0 (dense), dimension 1 (32), level 1 of sparse operand 0 (compressed); about [[COST:[0-9.]+e[+][0-9]+]] steps; vectors of 64 elements; parallel"
// ONE:    Function=rows | {{.*}}; vectors of 64 elements; not parallel, since no chunks are asked for"
// DEVICE: Function=rows | {{.*}}"computes in loops over level 0 of sparse operand 0 (dense), dimension 1 (32), level 1 of sparse operand 0 (compressed); about {{[0-9.]+e[+][0-9]+}} steps; parallel"
func.func @rows(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x32xf32>, %c: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = linalg.generic #spmm ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x32xf32>) outs(%c : tensor<?x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

// CHECK: Function=open | {{.*}}dimension 1 (?); {{.*}}; scalars, since the innermost extent is open, and the processor has no masks; parallel
func.func @open(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.generic #spmm ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK: Function=short | {{.*}}scalars, since the innermost loop is too short;
func.func @short(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x2xf32>, %c: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = linalg.generic #spmm ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x2xf32>) outs(%c : tensor<?x2xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// CHECK: Function=elementary | {{.*}}scalars, since its region has an op that vectors have no form of;
func.func @elementary(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x32xf32>, %c: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = linalg.generic #spmm ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x32xf32>) outs(%c : tensor<?x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %e = math.exp %y : f32
    %p = arith.mulf %x, %e : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

// A column of the sparse matrix is many rows of the result: they meet.

// CHECK:  Function=transposed | {{.*}}"computes in loops over {{.*}}; scalars, since an operand is not consecutive in memory along the innermost loop; not parallel, since iterations may write to the same place"
func.func @transposed(%a: tensor<?x?xf32, #CSR>, %b: tensor<8x?xf32>, %c: tensor<8x?xf32>) -> tensor<8x?xf32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<8x?xf32>) outs(%c : tensor<8x?xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x?xf32>
  return %0 : tensor<8x?xf32>
}

// A vector has no dense loop.

// CHECK: Function=vector | {{.*}}scalars, since the innermost loop is over stored entries;
func.func @vector(%a: tensor<?x?xf32, #CSR>, %b: tensor<?xf32>, %c: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.matvec ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?xf32>) outs(%c : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK:  Function=sum | {{.*}}"counts the entries of a new pattern in loops over level 0 of sparse operand 0 (dense), level 1 of sparse operand 0 (compressed); {{.*}}; scalars, since the innermost loop is over stored entries; not parallel, since iterations may write to the same place"
// CHECK:  Function=sum | {{.*}}"counts the entries of a new pattern in loops over {{.*}}, where sparse operand 0 stores nothing;
// CHECK:  Function=sum | {{.*}}"lists the entries of a new pattern in
// CHECK:  Function=sum | {{.*}}"computes the entries of a new pattern in {{.*}}scalars, since the innermost loop is over stored entries
// DEVICE: Function=sum | {{.*}}"counts the entries of a new pattern in {{.*}}; not parallel, since iterations may write to the same place, or number what they visit"
func.func @sum(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32, #CSR>, %m: index, %n: index) -> tensor<?x?xf32, #CSR> {
  %e = tensor.empty(%m, %n) : tensor<?x?xf32, #CSR>
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSR>) outs(%e : tensor<?x?xf32, #CSR>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32, #CSR>
  return %0 : tensor<?x?xf32, #CSR>
}

// The other matrix is searched for what one stores.

// CHECK: Function=product | {{.*}}"counts the entries of a new pattern in loops over level 0 of sparse operand 0 (dense), level 1 of sparse operand 0 (compressed), a search in level 1 of sparse operand 1 (compressed);
func.func @product(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32, #CSR>, %m: index, %n: index) -> tensor<?x?xf32, #CSR> {
  %e = tensor.empty(%m, %n) : tensor<?x?xf32, #CSR>
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSR>) outs(%e : tensor<?x?xf32, #CSR>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    linalg.yield %p : f32
  } -> tensor<?x?xf32, #CSR>
  return %0 : tensor<?x?xf32, #CSR>
}

// CHECK: Function=square | Remark="computes on the lists of values of a pattern"
// CHECK: Function=total | Remark="adds up the lists of values of a pattern"
func.func @square(%a: tensor<?x?xf32, #CSR>) -> tensor<?x?xf32, #CSR> {
  %0 = sparse_autograd.sampled_generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf32, #CSR>) outs(%a : tensor<?x?xf32, #CSR>) {
  ^bb0(%x: f32, %z: f32):
    %p = arith.mulf %x, %x : f32
    linalg.yield %p : f32
  } -> tensor<?x?xf32, #CSR>
  return %0 : tensor<?x?xf32, #CSR>
}
func.func @total(%a: tensor<?x?xf32, #CSR>, %c: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
      iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<?x?xf32, #CSR>) outs(%c : tensor<f32>) {
  ^bb0(%x: f32, %z: f32):
    %s = arith.addf %x, %z : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
