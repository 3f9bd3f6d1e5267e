// RUN: sparse-opt %s --split-input-file --convert-sparse-autograd-to-linalg --verify-each | FileCheck %s

// The element is selected, and the combiner applies to the accumulator itself.

// CHECK-DAG: #[[ELEMENTS:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[SLICES:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @sum
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[M:.*]]: tensor<?x?xi1>
func.func @sum(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> tensor<?xf32> {
  // CHECK: %[[ROWS:.*]] = tensor.dim %[[X]], %{{.*}}
  // CHECK: %[[EMPTY:.*]] = tensor.empty(%[[ROWS]]) : tensor<?xf32>
  // CHECK: %[[ZERO:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[EMPTY]]
  // CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[ELEMENTS]], #[[ELEMENTS]], #[[SLICES]]], iterator_types = ["parallel", "reduction"]}
  // CHECK-SAME: ins(%[[X]], %[[M]] : tensor<?x?xf32>, tensor<?x?xi1>) outs(%[[ZERO]] : tensor<?xf32>)
  // CHECK: ^bb0(%[[XI:.*]]: f32, %[[MI:.*]]: i1, %[[ACC:.*]]: f32):
  // CHECK: %[[SELECTED:.*]] = arith.select %[[MI]], %[[XI]], %{{.*}} : f32
  // CHECK: %[[NEXT:.*]] = arith.addf %[[ACC]], %[[SELECTED]] : f32
  // CHECK: linalg.yield %[[NEXT]] : f32
  // CHECK: return %[[SUM]]
  %0 = sparse_autograd.masked_reduce sum %x, %m dims = [1] : tensor<?x?xf32>, tensor<?x?xi1> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// One pass for the sum and the count; the count is an integer.

// CHECK-LABEL: func.func @mean
func.func @mean(%x: tensor<4x8xf32>, %m: tensor<4x8xi1>) -> tensor<f32> {
  // CHECK: %[[REDUCED:.*]]:2 = linalg.generic
  // CHECK-SAME: iterator_types = ["reduction", "reduction"]
  // CHECK: ^bb0(%{{.*}}: f32, %[[MI:.*]]: i1, %[[SUM:.*]]: f32, %[[COUNT:.*]]: i64):
  // CHECK: %[[ONE:.*]] = arith.extui %[[MI]] : i1 to i64
  // CHECK: %[[SUM1:.*]] = arith.addf %[[SUM]], %{{.*}} : f32
  // CHECK: %[[COUNT1:.*]] = arith.addi %[[COUNT]], %[[ONE]] : i64
  // CHECK: linalg.yield %[[SUM1]], %[[COUNT1]]
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[REDUCED]]#0, %[[REDUCED]]#1 : tensor<f32>, tensor<i64>)
  // CHECK: ^bb0(%[[S:.*]]: f32, %[[N:.*]]: i64, %{{.*}}: f32):
  // CHECK: %[[C1:.*]] = arith.constant 1 : i64
  // CHECK: %[[ATLEAST1:.*]] = arith.maxsi %[[N]], %[[C1]] : i64
  // CHECK: %[[DIVISOR:.*]] = arith.sitofp %[[ATLEAST1]] : i64 to f32
  // CHECK: %[[MEAN:.*]] = arith.divf %[[S]], %[[DIVISOR]] : f32
  // CHECK-NEXT: linalg.yield %[[MEAN]] : f32
  %0 = sparse_autograd.masked_reduce mean %x, %m dims = [0, 1] : tensor<4x8xf32>, tensor<4x8xi1> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @mean_nan
func.func @mean_nan(%x: tensor<4x8xf32>, %m: tensor<4x8xi1>) -> tensor<4xf32> {
  // CHECK: arith.cmpi eq
  // CHECK-NEXT: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
  // CHECK-NEXT: arith.select %{{.*}}, %[[NAN]], %{{.*}} : f32
  %0 = sparse_autograd.masked_reduce mean %x, %m dims = [1] empty = nan : tensor<4x8xf32>, tensor<4x8xi1> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Without a mask the extents are the count, and nothing is selected.

// CHECK-LABEL: func.func @mean_unmasked
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf64>
func.func @mean_unmasked(%x: tensor<?x8xf64>) -> tensor<f64> {
  // CHECK: linalg.generic
  // CHECK-NOT: arith.select
  // CHECK: linalg.yield
  // CHECK: %[[D:.*]] = tensor.dim %[[X]]
  // CHECK: %[[ROWS:.*]] = arith.index_cast %[[D]] : index to i64
  // CHECK: %[[EIGHT:.*]] = arith.constant 8 : i64
  // CHECK: %[[N:.*]] = arith.muli %[[ROWS]], %[[EIGHT]] : i64
  // CHECK: %[[ATLEAST1:.*]] = arith.maxsi %[[N]], %{{.*}} : i64
  // CHECK: arith.sitofp %[[ATLEAST1]] : i64 to f64
  %0 = sparse_autograd.masked_reduce mean %x dims = [0, 1] : tensor<?x8xf64> -> tensor<f64>
  return %0 : tensor<f64>
}

// -----

// The mask has its own map; the result has its reduced dimension back.

// CHECK-DAG: #[[ROWMASK:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-LABEL: func.func @max
// CHECK-SAME: %[[X:.*]]: tensor<2x3x?xf32>, %[[M:.*]]: tensor<?x2xi1>
func.func @max(%x: tensor<2x3x?xf32>, %m: tensor<?x2xi1>) -> tensor<2x1x?xf32> {
  // CHECK: %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
  // CHECK: linalg.fill ins(%[[LOWEST]] : f32)
  // CHECK: %[[MAX:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[ROWMASK]], #{{.*}}], iterator_types = ["parallel", "reduction", "parallel"]}
  // CHECK: ^bb0(%[[XI:.*]]: f32, %[[MI:.*]]: i1, %[[ACC:.*]]: f32):
  // CHECK: %[[SELECTED:.*]] = arith.select %[[MI]], %[[XI]]
  // CHECK: arith.maximumf %[[ACC]], %[[SELECTED]] : f32
  // CHECK: tensor.expand_shape %[[MAX]] {{\[}}[0, 1], [2]] output_shape [2, 1, %{{.*}}] : tensor<2x?xf32> into tensor<2x1x?xf32>
  %0 = sparse_autograd.masked_reduce max %x, %m dims = [1] mask_dims = [2, 0] keepdims : tensor<2x3x?xf32>, tensor<?x2xi1> -> tensor<2x1x?xf32>
  return %0 : tensor<2x1x?xf32>
}

// -----

// CHECK-LABEL: func.func @keep_all
func.func @keep_all(%x: tensor<2x3xf32>) -> tensor<1x1xf32> {
  // CHECK: tensor.expand_shape %{{.*}} [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  %0 = sparse_autograd.masked_reduce sum %x dims = [0, 1] keepdims : tensor<2x3xf32> -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// -----

// CHECK-LABEL: func.func @keep_first
func.func @keep_first(%x: tensor<2x3x4xf32>) -> tensor<1x1x4xf32> {
  // CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1, 2]] output_shape [1, 1, 4] : tensor<4xf32> into tensor<1x1x4xf32>
  %0 = sparse_autograd.masked_reduce sum %x dims = [1, 0] keepdims : tensor<2x3x4xf32> -> tensor<1x1x4xf32>
  return %0 : tensor<1x1x4xf32>
}

// -----

// CHECK-LABEL: func.func @min
func.func @min(%x: tensor<4xf64>, %m: tensor<4xi1>) -> tensor<f64> {
  // CHECK: %[[HIGHEST:.*]] = arith.constant 0x7FF0000000000000 : f64
  // CHECK: linalg.fill ins(%[[HIGHEST]] : f64)
  // CHECK: arith.minimumf %{{.*}}, %{{.*}} : f64
  %0 = sparse_autograd.masked_reduce min %x, %m dims = [0] : tensor<4xf64>, tensor<4xi1> -> tensor<f64>
  return %0 : tensor<f64>
}

// -----

// 16-bit floats: extended first, multiplied in f32, rounded once.

// CHECK-LABEL: func.func @prod_f16
func.func @prod_f16(%x: tensor<4xf16>, %m: tensor<4xi1>) -> tensor<f16> {
  // CHECK: linalg.fill ins(%{{.*}} : f32)
  // CHECK: %[[PRODUCT:.*]] = linalg.generic
  // CHECK: ^bb0(%[[XI:.*]]: f16, %[[MI:.*]]: i1, %[[ACC:.*]]: f32):
  // CHECK: %[[WIDE:.*]] = arith.extf %[[XI]] : f16 to f32
  // CHECK: %[[SELECTED:.*]] = arith.select %[[MI]], %[[WIDE]], %{{.*}} : f32
  // CHECK: arith.mulf %[[ACC]], %[[SELECTED]] : f32
  // CHECK-NOT: arith.truncf
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[PRODUCT]] : tensor<f32>)
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %0 = sparse_autograd.masked_reduce prod %x, %m dims = [0] : tensor<4xf16>, tensor<4xi1> -> tensor<f16>
  return %0 : tensor<f16>
}

// -----

// The squares of the deviations are a second pass; ddof shifts the count.

// CHECK-LABEL: func.func @std
func.func @std(%x: tensor<4x8xbf16>, %m: tensor<4x8xi1>) -> tensor<4xbf16> {
  // CHECK: %[[REDUCED:.*]]:2 = linalg.generic
  // CHECK: %[[MEAN:.*]] = linalg.generic
  // CHECK: arith.divf %{{.*}}, %{{.*}} : f32
  // CHECK: } -> tensor<4xf32>
  // CHECK: %[[SQUARES:.*]] = linalg.generic
  // CHECK-SAME: ins(%{{.*}}, %{{.*}}, %[[MEAN]] : tensor<4x8xbf16>, tensor<4x8xi1>, tensor<4xf32>)
  // CHECK: ^bb0(%[[XI:.*]]: bf16, %[[MI:.*]]: i1, %[[MU:.*]]: f32, %[[ACC:.*]]: f32):
  // CHECK: %[[WIDE:.*]] = arith.extf %[[XI]] : bf16 to f32
  // CHECK: %[[DEVIATION:.*]] = arith.subf %[[WIDE]], %[[MU]] : f32
  // CHECK: %[[SQUARE:.*]] = arith.mulf %[[DEVIATION]], %[[DEVIATION]] : f32
  // CHECK: %[[SELECTED:.*]] = arith.select %[[MI]], %[[SQUARE]], %{{.*}} : f32
  // CHECK: arith.addf %[[ACC]], %[[SELECTED]] : f32
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[SQUARES]], %[[REDUCED]]#1 : tensor<4xf32>, tensor<4xi64>)
  // CHECK: ^bb0(%[[S:.*]]: f32, %[[N:.*]]: i64, %{{.*}}: bf16):
  // CHECK: %[[DDOF:.*]] = arith.constant 1 : i64
  // CHECK: %[[FREEDOM:.*]] = arith.subi %[[N]], %[[DDOF]] : i64
  // CHECK: %[[DIVISOR:.*]] = arith.sitofp %[[FREEDOM]] : i64 to f32
  // CHECK: %[[VARIANCE:.*]] = arith.divf %[[S]], %[[DIVISOR]] : f32
  // CHECK: %[[ROOT:.*]] = math.sqrt %[[VARIANCE]] : f32
  // CHECK: %[[DEFINED:.*]] = arith.cmpi sgt, %[[N]], %[[DDOF]] : i64
  // CHECK: %[[STD:.*]] = arith.select %[[DEFINED]], %[[ROOT]], %{{.*}} : f32
  // CHECK: arith.truncf %[[STD]] : f32 to bf16
  %0 = sparse_autograd.masked_reduce std %x, %m dims = [1] ddof = 1 : tensor<4x8xbf16>, tensor<4x8xi1> -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// CHECK-LABEL: func.func @var
func.func @var(%x: tensor<4x8xf64>) -> tensor<8xf64> {
  // CHECK-NOT: math.sqrt
  // CHECK: return
  %0 = sparse_autograd.masked_reduce var %x dims = [0] : tensor<4x8xf64> -> tensor<8xf64>
  return %0 : tensor<8xf64>
}

// -----

// Three sums of squares in one pass, scaled by powers of two.

// CHECK-LABEL: func.func @norm2
func.func @norm2(%x: tensor<8xf32>, %m: tensor<8xi1>) -> tensor<f32> {
  // CHECK: %[[SUMS:.*]]:3 = linalg.generic
  // CHECK: ^bb0(%{{.*}}: f32, %[[MI:.*]]: i1, %[[LARGE:.*]]: f32, %[[MEDIUM:.*]]: f32, %[[SMALL:.*]]: f32):
  // CHECK-DAG: %[[LARGESQUARE:.*]] = arith.select %[[MI]], %{{.*}}, %{{.*}} : f32
  // CHECK: arith.addf %[[LARGE]], %[[LARGESQUARE]] : f32
  // CHECK: arith.addf %[[MEDIUM]], %{{.*}} : f32
  // CHECK: arith.addf %[[SMALL]], %{{.*}} : f32
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[SUMS]]#0, %[[SUMS]]#1, %[[SUMS]]#2 :
  // CHECK: math.sqrt
  %0 = sparse_autograd.masked_reduce norm2 %x, %m dims = [0] : tensor<8xf32>, tensor<8xi1> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// No square of an f16 is out of the range of f32: one sum does.

// CHECK-LABEL: func.func @norm2_f16
func.func @norm2_f16(%x: tensor<8xf16>) -> tensor<f16> {
  // CHECK: ^bb0(%{{.*}}: f16, %[[ACC:.*]]: f32):
  // CHECK: arith.addf %[[ACC]], %{{.*}} : f32
  // CHECK: math.sqrt %{{.*}} : f32
  %0 = sparse_autograd.masked_reduce norm2 %x dims = [0] : tensor<8xf16> -> tensor<f16>
  return %0 : tensor<f16>
}

// -----

// The exponential is selected, not its argument; flags but nnan and ninf stay.

// CHECK-LABEL: func.func @logsumexp
func.func @logsumexp(%x: tensor<4x8xf32>, %m: tensor<4x8xi1>) -> tensor<4xf32> {
  // CHECK: %[[MAX:.*]] = linalg.generic
  // CHECK: arith.maximumf %{{.*}}, %{{.*}} fastmath<contract> : f32
  // CHECK: %[[SUM:.*]] = linalg.generic
  // CHECK-SAME: ins(%{{.*}}, %{{.*}}, %[[MAX]] :
  // CHECK: ^bb0(%[[XI:.*]]: f32, %[[MI:.*]]: i1, %[[PEAK:.*]]: f32, %[[ACC:.*]]: f32):
  // CHECK: %[[INFINITE:.*]] = arith.cmpf oeq, %{{.*}}, %{{.*}} : f32
  // CHECK: %[[SHIFT:.*]] = arith.select %[[INFINITE]], %{{.*}}, %[[PEAK]] : f32
  // CHECK: %[[SHIFTED:.*]] = arith.subf %[[XI]], %[[SHIFT]] fastmath<contract> : f32
  // CHECK: %[[EXP:.*]] = math.exp %[[SHIFTED]] fastmath<contract> : f32
  // CHECK: %[[SELECTED:.*]] = arith.select %[[MI]], %[[EXP]], %{{.*}} : f32
  // CHECK: arith.addf %[[ACC]], %[[SELECTED]] fastmath<contract> : f32
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[MAX]], %[[SUM]] : tensor<4xf32>, tensor<4xf32>)
  // CHECK: math.log
  %0 = sparse_autograd.masked_reduce logsumexp %x, %m dims = [1] fastmath<nnan,ninf,contract> : tensor<4x8xf32>, tensor<4x8xi1> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @no_dimension
func.func @no_dimension(%x: tensor<4xf32>, %m: tensor<4xi1>) -> tensor<4xf32> {
  // CHECK: linalg.generic
  // CHECK-SAME: iterator_types = ["parallel"]
  %0 = sparse_autograd.masked_reduce sum %x, %m dims = [] : tensor<4xf32>, tensor<4xi1> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @refined
func.func @refined(%x: tensor<?x4xf32>) -> tensor<3xf32> {
  // CHECK: tensor.cast %{{.*}} : tensor<?xf32> to tensor<3xf32>
  %0 = sparse_autograd.masked_reduce sum %x dims = [1] : tensor<?x4xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
