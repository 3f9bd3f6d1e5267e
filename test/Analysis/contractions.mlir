// RUN: sparse-opt %s --test-sparse-autograd-contractions=for-device | FileCheck %s
// RUN: sparse-opt %s --test-sparse-autograd-contractions | FileCheck %s --check-prefix=HOST

// Dimensions of each kind, the body (lib/Analysis/Contraction.cpp), and what
// strategies of the target say (lib/Analysis/ContractionStrategies.cpp).

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#m = affine_map<(m, n, k) -> (m)>
#loops = ["parallel", "parallel", "reduction"]

// CHECK-LABEL: @matmul
// CHECK-NEXT:    contraction m [64] n [?] k [32]: f32 += f32 * f32 in f32, added in f32
// CHECK-NEXT:      library: yes
// CHECK-NEXT:      2:4 tensor-core tiles: no, no factor is a 2:4 matrix beside dense operands
// CHECK-NEXT:      tensor-core tiles: no, products of f32 with sums of f32
// CHECK-NEXT:      fma tiles: yes
// HOST-LABEL:  @matmul
// HOST-NEXT:     contraction m [64]
// HOST-NEXT:       blas: yes
func.func @matmul(%a: tensor<64x32xf32>, %b: tensor<32x?xf32>, %c: tensor<64x?xf32>) -> tensor<64x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x?xf32>) outs(%c : tensor<64x?xf32>) -> tensor<64x?xf32>
  return %r : tensor<64x?xf32>
}

// CHECK-LABEL: @batch
// CHECK-NEXT:    contraction batch [4] m [40] n [48] k [56]: f32 += bf16 * bf16 in f32, added in f32
// CHECK-NEXT:      library: yes
// CHECK-NEXT:      2:4 tensor-core tiles: no, no factor is a 2:4 matrix beside dense operands
// CHECK-NEXT:      tensor-core tiles: yes
// CHECK-NEXT:      fma tiles: no, products of bf16 with sums of f32
// HOST-LABEL:  @batch
// HOST:            blas: no, products of bf16 with sums of f32
func.func @batch(%a: memref<4x40x56xbf16>, %b: memref<4x56x48xbf16>, %c: memref<4x40x48xf32>) {
  linalg.batch_matmul ins(%a, %b : memref<4x40x56xbf16>, memref<4x56x48xbf16>) outs(%c : memref<4x40x48xf32>)
  return
}

// A linear layer on batch x sequence x features, and the gradient of its weights.

// CHECK-LABEL: @layer
// CHECK-NEXT:    contraction m [8, 64] n [32] k [48]: f64 -= scale * f64 * f64 in f64, added in f64
// CHECK-NEXT:      library: yes
// CHECK-NEXT:      2:4 tensor-core tiles: no, no factor is a 2:4 matrix beside dense operands
// CHECK-NEXT:      tensor-core tiles: no, products of f64 with sums of f64
// CHECK-NEXT:      fma tiles: yes
// CHECK-NEXT:    contraction m [32] n [48] k [8, 64]: f64 += f64 * f64 in f64, added in f64
// CHECK-NEXT:      library: yes
// CHECK-NEXT:      2:4 tensor-core tiles: no, no factor is a 2:4 matrix beside dense operands
// CHECK-NEXT:      tensor-core tiles: no, its terms have several dimensions
// CHECK-NEXT:      fma tiles: no, its terms have several dimensions
func.func @layer(%x: tensor<8x64x48xf64>, %w: tensor<48x32xf64>, %y: tensor<8x64x32xf64>, %s: f64) -> (tensor<8x64x32xf64>, tensor<48x32xf64>) {
  %r = linalg.generic {
      indexing_maps = [affine_map<(b, t, n, k) -> (b, t, k)>, affine_map<(b, t, n, k) -> (k, n)>, affine_map<(b, t, n, k) -> (b, t, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x64x48xf64>, tensor<48x32xf64>) outs(%y : tensor<8x64x32xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %p = arith.mulf %u, %v : f64
    %q = arith.mulf %s, %p : f64
    %t = arith.subf %o, %q : f64
    linalg.yield %t : f64
  } -> tensor<8x64x32xf64>
  %g = linalg.generic {
      indexing_maps = [affine_map<(k, n, b, t) -> (b, t, n)>, affine_map<(k, n, b, t) -> (b, t, k)>, affine_map<(k, n, b, t) -> (k, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%y, %x : tensor<8x64x32xf64>, tensor<8x64x48xf64>) outs(%w : tensor<48x32xf64>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %p = arith.mulf %u, %v : f64
    %t = arith.addf %p, %o : f64
    linalg.yield %t : f64
  } -> tensor<48x32xf64>
  return %r, %g : tensor<8x64x32xf64>, tensor<48x32xf64>
}

// A weight of each row; a term that is rounded; a product that is not rounded
// before it is extended; factors of two types.

// CHECK-LABEL: @bodies
// CHECK-NEXT:    contraction m [64] n [64] k [64]: f32 += f32 weight * bf16 * bf16 in f32, added in f32
// CHECK-NEXT:      library: no, rows or columns have weights
// CHECK-NEXT:      2:4 tensor-core tiles: no, no factor is a 2:4 matrix beside dense operands
// CHECK-NEXT:      tensor-core tiles: yes
// CHECK:         contraction m [64] n [64] k [64]: f32 += bf16 * bf16 in f32, added in f32, narrowed
// CHECK-NEXT:      library: no, a term is rounded before it is added
// CHECK:         contraction m [64] n [64] k [64]: f32 += bf16 * bf16 in bf16, added in f32
// CHECK-NEXT:      library: no, terms are products of bf16
// CHECK-NEXT:      2:4 tensor-core tiles: no, no factor is a 2:4 matrix beside dense operands
// CHECK-NEXT:      tensor-core tiles: yes
// CHECK:         contraction m [64] n [64] k [64]: f32 += bf16 * f32 in f32, added in f32
// CHECK-NEXT:      library: no, the factors are of bf16 and f32
func.func @bodies(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %c: tensor<64x64xf32>, %w: tensor<64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %r = linalg.generic {indexing_maps = [#mk, #m, #kn, #mn], iterator_types = #loops}
      ins(%a, %w, %b : tensor<64x64xbf16>, tensor<64xf32>, tensor<64x64xbf16>) outs(%c : tensor<64x64xf32>) {
  ^bb0(%x: bf16, %v: f32, %y: bf16, %o: f32):
    %u = arith.extf %x : bf16 to f32
    %z = arith.extf %y : bf16 to f32
    %q = arith.mulf %u, %v : f32
    %p = arith.mulf %q, %z : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = #loops}
      ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%c : tensor<64x64xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %u = arith.extf %x : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %p = arith.mulf %u, %v : f32
    %q = arith.truncf %p : f32 to bf16
    %e = arith.extf %q : bf16 to f32
    %t = arith.addf %o, %e : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %d = linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = #loops}
      ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%c : tensor<64x64xf32>) {
  ^bb0(%x: bf16, %y: bf16, %o: f32):
    %p = arith.mulf %x, %y : bf16
    %e = arith.extf %p : bf16 to f32
    %t = arith.addf %o, %e : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %f = linalg.matmul ins(%a, %c : tensor<64x64xbf16>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r, %s, %d, %f : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// What is small, of integers, or no matrix; a convolution.

// CHECK-LABEL: @declined
// CHECK-NEXT:    contraction m [64] n [8] k [64]
// CHECK-NEXT:      library: yes
// CHECK:           fma tiles: no, 8 columns are fewer than 32
// CHECK:         contraction m [64] n [64] k [64]: i32 += i32 * i32 in i32, added in i32
// CHECK-NEXT:      library: no, products of i32 with sums of i32
// CHECK:         contraction m [64] k [64]
// CHECK-NEXT:      library: no, a factor is no matrix
// CHECK:         contraction m [1] n [32] k [16]
// CHECK-NEXT:      library: no, an operand is not indexed by rows, columns, terms and batches alone
// HOST-LABEL:  @declined
// HOST:            blas: yes
// HOST:            blas: no, products of i32
func.func @declined(%a: tensor<64x64xf32>, %b: tensor<64x8xf32>, %c: tensor<64x8xf32>, %i: tensor<64x64xi32>, %v: tensor<64xf32>,
                    %x: tensor<1x64x16xf32>, %w: tensor<3x16x32xf32>, %y: tensor<1x62x32xf32>) -> (tensor<64x8xf32>, tensor<64x64xi32>, tensor<64xf32>, tensor<1x62x32xf32>) {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x8xf32>) outs(%c : tensor<64x8xf32>) -> tensor<64x8xf32>
  %s = linalg.matmul ins(%i, %i : tensor<64x64xi32>, tensor<64x64xi32>) outs(%i : tensor<64x64xi32>) -> tensor<64x64xi32>
  %t = linalg.matvec ins(%a, %v : tensor<64x64xf32>, tensor<64xf32>) outs(%v : tensor<64xf32>) -> tensor<64xf32>
  %u = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<1x64x16xf32>, tensor<3x16x32xf32>) outs(%y : tensor<1x62x32xf32>) -> tensor<1x62x32xf32>
  return %r, %s, %t, %u : tensor<64x8xf32>, tensor<64x64xi32>, tensor<64xf32>, tensor<1x62x32xf32>
}

// No contractions: a square, a sum of functions of factors, a largest element.

// CHECK-LABEL: @others
// CHECK-NOT:     contraction
func.func @others(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = #loops}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %x : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = #loops}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %e = math.exp %x : f32
    %p = arith.mulf %e, %y : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  %q = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = #loops}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.maximumf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  return %r, %s, %q : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// A 2:4 matrix on either side, whose groups lie along the sum, and what keeps sparse
// tensor cores from one.

#Rows = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])}>
#Columns = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i floordiv 4 : dense, i mod 4 : structured[2, 4])}>
#nk = affine_map<(m, n, k) -> (n, k)>

// CHECK-LABEL: @structured
// CHECK:         contraction m [64] n [48] k [32]: f32 += bf16 * bf16 in f32, added in f32
// CHECK:           2:4 tensor-core tiles: yes
// CHECK:         contraction m [48] n [64] k [32]: f32 += bf16 * bf16 in f32, added in f32
// CHECK:           2:4 tensor-core tiles: yes
// CHECK:         contraction m [32] n [48] k [64]
// CHECK:           2:4 tensor-core tiles: no, its groups are not along the sum
// CHECK:         contraction m [64] n [48] k [32]
// CHECK:           2:4 tensor-core tiles: no, no factor is a 2:4 matrix beside dense operands
// CHECK:         contraction m [64] n [8] k [32]
// CHECK:           2:4 tensor-core tiles: no, 8 columns are fewer than 32
func.func @structured(%w: tensor<64x32xbf16, #Rows>, %v: tensor<64x32xbf16, #Columns>, %x: tensor<32x48xbf16>, %t: tensor<48x32xbf16>, %u: tensor<64x48xbf16>, %few: tensor<32x8xbf16>,
                      %a: tensor<64x48xf32>, %b: tensor<48x64xf32>, %c: tensor<32x48xf32>, %d: tensor<64x8xf32>) {
  %0 = linalg.matmul ins(%w, %x : tensor<64x32xbf16, #Rows>, tensor<32x48xbf16>) outs(%a : tensor<64x48xf32>) -> tensor<64x48xf32>
  %1 = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = #loops}
      ins(%t, %w : tensor<48x32xbf16>, tensor<64x32xbf16, #Rows>) outs(%b : tensor<48x64xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %pw = arith.extf %p : bf16 to f32
    %qw = arith.extf %q : bf16 to f32
    %m = arith.mulf %pw, %qw : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<48x64xf32>
  %2 = linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = #loops}
      ins(%w, %u : tensor<64x32xbf16, #Rows>, tensor<64x48xbf16>) outs(%c : tensor<32x48xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %pw = arith.extf %p : bf16 to f32
    %qw = arith.extf %q : bf16 to f32
    %m = arith.mulf %pw, %qw : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<32x48xf32>
  %3 = linalg.matmul ins(%v, %x : tensor<64x32xbf16, #Columns>, tensor<32x48xbf16>) outs(%a : tensor<64x48xf32>) -> tensor<64x48xf32>
  %4 = linalg.matmul ins(%w, %few : tensor<64x32xbf16, #Rows>, tensor<32x8xbf16>) outs(%d : tensor<64x8xf32>) -> tensor<64x8xf32>
  return
}
