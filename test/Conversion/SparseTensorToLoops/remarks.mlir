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

// CHECK:  Function=sum | {{.*}}"stores a new pattern by rows: merges those of two operands"
// DEVICE: Function=sum | {{.*}}"lists and sorts the entries of a new pattern, since threads of a device list entries side by side"
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

// Into columns the entries of rows go by counting, each row side by side with
// the others.

// CHECK: Function=columns | Remark="stores a new pattern by rows: counts the entries of each, and puts each entry in the next place of its row"
// CHECK: Function=columns | {{.*}}"counts the entries of each row of a new pattern in loops over level 0 of sparse operand 0 (dense), level 1 of sparse operand 0 (compressed); {{.*}}; not parallel, since iterations may write to the same place"
// CHECK: Function=columns | {{.*}}"computes the entries of a new pattern, each at the next place of its row, in loops over {{.*}}; scalars, since the innermost loop is over stored entries; not parallel
#CSC = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>
func.func @columns(%a: tensor<?x?xf32, #CSR>) -> tensor<?x?xf32, #CSC> {
  %0 = sparse_tensor.convert %a : tensor<?x?xf32, #CSR> to tensor<?x?xf32, #CSC>
  return %0 : tensor<?x?xf32, #CSC>
}

// Rows of one matrix that are looked up in the columns of another are no merge.
// The other matrix is searched for what one stores.

// CHECK: Function=columns_of | {{.*}}"stores a new pattern by rows: counts the entries of each
// CHECK: Function=columns_of | {{.*}}"counts the entries of each row of a new pattern in loops over level 0 of sparse operand 0 (dense), level 1 of sparse operand 0 (compressed), a search in level 1 of sparse operand 1 (compressed);
func.func @columns_of(%a: tensor<?x?xf32, #CSR>, %b: tensor<?x?xf32, #CSC>, %m: index, %n: index) -> tensor<?x?xf32, #CSR> {
  %e = tensor.empty(%m, %n) : tensor<?x?xf32, #CSR>
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSC>) outs(%e : tensor<?x?xf32, #CSR>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    linalg.yield %p : f32
  } -> tensor<?x?xf32, #CSR>
  return %0 : tensor<?x?xf32, #CSR>
}

// Sums of products are added up row by row, if the rows are those of the first
// factor; and of a new pattern in other levels, entries are listed.

// CHECK: Function=square_of | Remark="stores a new pattern by rows: adds the terms of each up in a row of values, if operands have about as many entries as it has columns"
// CHECK: Function=square_of | {{.*}}"adds up the entries of each row of a new pattern in loops over level 0 of sparse operand 0 (dense), level 1 of sparse operand 0 (compressed), level 1 of sparse operand 1 (compressed); {{.*}}; scalars, since the innermost loop is over stored entries
// CHECK: Function=square_of_columns | {{.*}}"lists and sorts the entries of a new pattern, since the terms of a row are not visited one after the other"
// CHECK: Function=coordinates | {{.*}}"lists and sorts the entries of a new pattern, since its levels are not dense ones and a last one that is compressed"
// CHECK: Function=narrow | {{.*}}"lists and sorts the entries of a new pattern, since coordinates may not fit their width"
#COO = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton(soa))}>
#Narrow = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), crdWidth = 8}>
func.func @square_of(%a: tensor<?x?xf32, #CSR>, %m: index) -> tensor<?x?xf32, #CSR> {
  %e = tensor.empty(%m, %m) : tensor<?x?xf32, #CSR>
  %0 = linalg.matmul ins(%a, %a : tensor<?x?xf32, #CSR>, tensor<?x?xf32, #CSR>) outs(%e : tensor<?x?xf32, #CSR>) -> tensor<?x?xf32, #CSR>
  return %0 : tensor<?x?xf32, #CSR>
}
func.func @square_of_columns(%a: tensor<?x?xf32, #CSC>, %m: index) -> tensor<?x?xf32, #CSR> {
  %e = tensor.empty(%m, %m) : tensor<?x?xf32, #CSR>
  %0 = linalg.matmul ins(%a, %a : tensor<?x?xf32, #CSC>, tensor<?x?xf32, #CSC>) outs(%e : tensor<?x?xf32, #CSR>) -> tensor<?x?xf32, #CSR>
  return %0 : tensor<?x?xf32, #CSR>
}
func.func @coordinates(%a: tensor<?x?xf32, #CSR>) -> tensor<?x?xf32, #COO> {
  %0 = sparse_tensor.convert %a : tensor<?x?xf32, #CSR> to tensor<?x?xf32, #COO>
  return %0 : tensor<?x?xf32, #COO>
}
func.func @narrow(%a: tensor<?x?xf32, #CSR>) -> tensor<?x?xf32, #Narrow> {
  %0 = sparse_tensor.convert %a : tensor<?x?xf32, #CSR> to tensor<?x?xf32, #Narrow>
  return %0 : tensor<?x?xf32, #Narrow>
}

// CHECK: Function=product | Remark="stores a new pattern by rows: merges those of two operands"
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
