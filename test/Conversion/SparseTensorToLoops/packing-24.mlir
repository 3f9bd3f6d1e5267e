// RUN: sparse-opt %s --convert-sparse-autograd-to-linalg --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse --canonicalize --cse | FileCheck %s
// RUN: sparse-opt %s --convert-sparse-autograd-to-linalg --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse=for-device | FileCheck %s --check-prefix=DEVICE
// RUN: sparse-opt %s --convert-sparse-autograd-to-linalg --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse=product-24=dense --remarks-filter=".*contractions.*" --remark-policy=all -o %t 2>&1 | FileCheck %s --check-prefix=DENSE
// RUN: sparse-opt %s --convert-sparse-autograd-to-linalg --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse --remarks-filter=".*contractions.*" --remark-policy=all -o %t 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: not sparse-opt %s --convert-sparse-autograd-to-linalg --sparse-autograd-prepare-sparse --sparse-autograd-lower-sparse=product-24=fast 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: product-24 is fastest, sparse or dense, not 'fast'

#Rows = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

// Both orders of one selection are packed in one pass; on a device their lists
// are computed element by element.

// CHECK-LABEL: func.func @both
// CHECK-NOT: sort_entries
// CHECK: sparse_autograd.pack_24 ins(%{{.*}}, %{{.*}} : tensor<8x12xf32>, tensor<2x3xi16>) outs({{.*}}xf32>, {{.*}}xi8>, {{.*}}xf32>, {{.*}}xi8>) orders = [false, true]
// CHECK-NOT: pack_24
// CHECK: return
// DEVICE-LABEL: func.func @both
// DEVICE-NOT: pack_24
// DEVICE: return
func.func @both(%w: tensor<8x12xf32>) -> (tensor<8x12xf32, #Rows>, tensor<12x8xf32, #Rows>) {
  %y, %t = sparse_autograd.sparsify_24 %w select = greedy gradient = dense : tensor<8x12xf32> -> tensor<8x12xf32, #Rows>, tensor<12x8xf32, #Rows>
  return %y, %t : tensor<8x12xf32, #Rows>, tensor<12x8xf32, #Rows>
}

// CHECK-LABEL: func.func @converted
// CHECK-NOT: sort_entries
// CHECK: sparse_autograd.pack_24 ins(%{{.*}} : tensor<?x?xbf16>) outs({{.*}}) orders = [false] {level = 2 : i64}
func.func @converted(%w: tensor<?x?xbf16>) -> tensor<?x?xbf16, #Rows> {
  %y = sparse_tensor.convert %w : tensor<?x?xbf16> to tensor<?x?xbf16, #Rows>
  return %y : tensor<?x?xbf16, #Rows>
}

// CHECK-LABEL: func.func @product
// CHECK: sparse_autograd.multiply_24 %{{.*}} x %{{.*}} ins({{.*}} : tensor<?xf32>, tensor<?xi8>, tensor<8x2048xf32>) outs(%{{.*}} : tensor<4096x8xf32>) {dense_transposed}
// DENSE: Missed{{.*}}Function=product{{.*}}product with a 2:4 matrix of f32: dense, of the rows that it expands; asked for by product-24; predicted {{.*}} us by stored values, {{.*}} us dense
// MODEL: Passed{{.*}}Function=product{{.*}}by stored values; predicted {{.*}} us by stored values, {{.*}} us dense, {{[1-9].*}} times as long
func.func @product(%w: tensor<4096x2048xf32, #Rows>, %x: tensor<8x2048xf32>, %z: tensor<4096x8xf32>) -> tensor<4096x8xf32> {
  %y = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%w, %x : tensor<4096x2048xf32, #Rows>, tensor<8x2048xf32>) outs(%z : tensor<4096x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4096x8xf32>
  return %y : tensor<4096x8xf32>
}

// The sum is not along the groups: the transpose is packed beside, if there is
// anything else to pack.

// CHECK-LABEL: func.func @transposed
// CHECK: sparse_autograd.pack_24 ins(%{{.*}}) outs({{.*}}xf32>, {{.*}}xi8>) orders = [true]
// CHECK: sparse_autograd.multiply_24
// CHECK-NOT: is_transposed
// CHECK: return
func.func @transposed(%w: tensor<64x32xf32>, %x: tensor<64x8xf32>, %z: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %v = sparse_autograd.sparsify_24 %w select = greedy gradient = dense : tensor<64x32xf32> -> tensor<64x32xf32, #Rows>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%v, %x : tensor<64x32xf32, #Rows>, tensor<64x8xf32>) outs(%z : tensor<32x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<32x8xf32>
  return %y : tensor<32x8xf32>
}

// A choice of rows alone has no transpose.

// CHECK-LABEL: func.func @rows_alone
// CHECK: sparse_autograd.multiply_24 {{.*}}{is_transposed}
// MODEL: Missed{{.*}}Function=rows_alone{{.*}}its groups are not along the sum
func.func @rows_alone(%w: tensor<64x32xf32>, %x: tensor<64x8xf32>, %z: tensor<32x8xf32>) -> tensor<32x8xf32> {
  %v = sparse_autograd.sparsify_24 %w select = row_wise gradient = dense : tensor<64x32xf32> -> tensor<64x32xf32, #Rows>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%v, %x : tensor<64x32xf32, #Rows>, tensor<64x8xf32>) outs(%z : tensor<32x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<32x8xf32>
  return %y : tensor<32x8xf32>
}

// CHECK-LABEL: func.func @loops
// CHECK-NOT: multiply_24
// MODEL: Function=loops{{.*}}no 2:4 product: it is not one of f32, bf16 or f16 that is added in f32
func.func @loops(%w: tensor<?x?xf64, #Rows>, %x: tensor<?x?xf64>, %z: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %y = linalg.matmul ins(%w, %x : tensor<?x?xf64, #Rows>, tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}

// Columns of several dimensions, side by side in both, are those of one matrix; what
// is narrow is widened, and a scale multiplies the sums.

// CHECK-LABEL: func.func @layer
// CHECK-DAG: %[[X:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<4x5x64xbf16>) outs(%{{.*}} : tensor<4x5x64xf32>)
// CHECK-DAG: %[[B:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<4x5x64xf32> into tensor<20x64xf32>
// CHECK-DAG: %[[C:.*]] = linalg.fill {{.*}} outs(%{{.*}} : tensor<20x32xf32>)
// CHECK: %[[Y:.*]] = sparse_autograd.multiply_24 %{{.*}} x %{{.*}} ins({{.*}}, %[[B]] : tensor<?xf16>, tensor<?xi8>, tensor<20x64xf32>) outs(%[[C]] : tensor<20x32xf32>) {dense_transposed, sum_transposed}
// CHECK: tensor.expand_shape %[[Y]] {{\[\[}}0, 1], [2]]
// CHECK: arith.mulf
// CHECK: arith.subf
// MODEL: Function=layer{{.*}}product with a 2:4 matrix of f16: by stored values
func.func @layer(%w: tensor<32x64xf16, #Rows>, %x: tensor<4x5x64xbf16>, %z: tensor<4x5x32xf32>) -> tensor<4x5x32xf32> {
  %scale = arith.constant 3.0 : f32
  %y = linalg.generic {indexing_maps = [affine_map<(b, s, m, k) -> (b, s, k)>, affine_map<(b, s, m, k) -> (m, k)>, affine_map<(b, s, m, k) -> (b, s, m)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x5x64xbf16>, tensor<32x64xf16, #Rows>) outs(%z : tensor<4x5x32xf32>) {
  ^bb0(%a: bf16, %b: f16, %c: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : f16 to f32
    %p = arith.mulf %aw, %bw : f32
    %q = arith.mulf %p, %scale : f32
    %s = arith.subf %c, %q : f32
    linalg.yield %s : f32
  } -> tensor<4x5x32xf32>
  return %y : tensor<4x5x32xf32>
}

// Columns that lie apart are for loops.

// CHECK-LABEL: func.func @apart
// CHECK-NOT: multiply_24
// MODEL: Function=apart{{.*}}no 2:4 product: it is no product of two matrices
func.func @apart(%w: tensor<32x64xf32, #Rows>, %x: tensor<4x64x5xf32>, %z: tensor<4x32x5xf32>) -> tensor<4x32x5xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(b, s, m, k) -> (m, k)>, affine_map<(b, s, m, k) -> (b, k, s)>, affine_map<(b, s, m, k) -> (b, m, s)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %x : tensor<32x64xf32, #Rows>, tensor<4x64x5xf32>) outs(%z : tensor<4x32x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x32x5xf32>
  return %y : tensor<4x32x5xf32>
}

// A constant is packed by the compiler: 3 and 4 at coordinates 2 and 3, 7 at 1 and a
// zero at the last place that is left.

// CHECK-LABEL: func.func @constant
// CHECK-DAG: arith.constant dense<[3.000000e+00, 4.000000e+00, 7.000000e+00, 0.000000e+00]> : tensor<4xf32>
// CHECK-DAG: arith.constant dense<-34> : tensor<1xi8>
// CHECK-NOT: pack_24
// CHECK: return
func.func @constant() -> tensor<2x4xf32, #Rows> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [0.0, 7.0, 0.0, 0.0]]> : tensor<2x4xf32>
  %c = arith.constant dense<44> : tensor<1x1xi16>
  %y = sparse_autograd.compress_24 %w by %c : tensor<2x4xf32>, tensor<1x1xi16> -> tensor<2x4xf32, #Rows>
  return %y : tensor<2x4xf32, #Rows>
}

// Of a constant without elements there is nothing to pack: MLIR's analyses of ranges
// do not take constants of no integers that are made in memory.
// CHECK-LABEL: func.func @nothing
// CHECK: sparse_autograd.pack_24
func.func @nothing() -> tensor<8x0xf16, #Rows> {
  %w = arith.constant dense<> : tensor<8x0xf16>
  %c = arith.constant dense<> : tensor<2x0xi16>
  %y = sparse_autograd.compress_24 %w by %c : tensor<8x0xf16>, tensor<2x0xi16> -> tensor<8x0xf16, #Rows>
  return %y : tensor<8x0xf16, #Rows>
}
