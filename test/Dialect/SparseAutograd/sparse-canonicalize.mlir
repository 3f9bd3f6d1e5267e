// RUN: sparse-opt %s --canonicalize | FileCheck %s

// Canonicalizations of sparse programs, and of ops of MLIR that drop encodings
// (LLVM 22.1).

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#CSC = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
#ik = affine_map<(i, j, k) -> (i, k)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>

// CHECK-DAG: #[[CSR:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
// CHECK-DAG: #[[CSC:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 : compressed) }>

// Extents that follow from those of another operand.
// CHECK-LABEL: func.func @extents
func.func @extents(%a: tensor<4x5xf64, #CSR>, %n: index, %m: index) -> tensor<?x?xf64, #CSR> {
  %b = tensor.cast %a : tensor<4x5xf64, #CSR> to tensor<?x?xf64, #CSR>
  %e = tensor.empty(%n, %m) : tensor<?x?xf64, #CSR>
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<4x5xf64, #[[CSR]]>
  // CHECK: linalg.generic
  // CHECK-SAME: outs(%[[E]] : tensor<4x5xf64, #[[CSR]]>)
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSR>) {
  ^bb0(%x: f64, %out: f64):
    %y = arith.mulf %x, %x : f64
    linalg.yield %y : f64
  } -> tensor<?x?xf64, #CSR>
  return %0 : tensor<?x?xf64, #CSR>
}

// A transpose of a transpose has the encoding that it is given.
// CHECK-LABEL: func.func @transposes
func.func @transposes(%x: tensor<?x?xf64, #CSR>, %e: tensor<?x?xf64, #CSC>) -> tensor<?x?xf64, #CSC> {
  // CHECK: linalg.generic
  // CHECK: %[[B:.*]] = linalg.generic
  // CHECK: return %[[B]] : tensor<?x?xf64, #[[CSC]]>
  %a = linalg.transpose ins(%x : tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSC>) permutation = [1, 0]
  %b = linalg.transpose ins(%a : tensor<?x?xf64, #CSC>) outs(%e : tensor<?x?xf64, #CSC>) permutation = [1, 0]
  return %b : tensor<?x?xf64, #CSC>
}

// Values that are put back are those that were taken out.
// CHECK-LABEL: func.func @put_back
// CHECK-SAME: %[[V:.*]]: tensor<?xf64>
func.func @put_back(%v: tensor<?xf64>, %x: tensor<?x?xi1, #CSR>) -> tensor<?xf64> {
  // CHECK: return %[[V]]
  %0 = sparse_autograd.with_values %v, %x : tensor<?xf64>, tensor<?x?xi1, #CSR> -> tensor<?x?xf64, #CSR>
  %1 = sparse_autograd.stored_values %0 : tensor<?x?xf64, #CSR> -> tensor<?xf64>
  return %1 : tensor<?xf64>
}

// A sample of a sum of a product and something else samples the product.
// CHECK-LABEL: func.func @sample_chain
func.func @sample_chain(%p: tensor<4x8xf64>, %q: tensor<5x8xf64>, %b: tensor<4x5xf64>, %r: tensor<4x5xf64, #CSR>) -> tensor<4x5xf64, #CSR> {
  // CHECK-NOT: linalg.
  // CHECK: %[[PRODUCT:.*]] = sparse_autograd.sampled_generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
  // CHECK: sparse_autograd.sampled_generic
  // CHECK-SAME: ins(%[[PRODUCT]], %{{.*}} : tensor<4x5xf64, #[[CSR]]>, tensor<4x5xf64>)
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<4x5xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<4x5xf64>) -> tensor<4x5xf64>
  %products = linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %q : tensor<4x8xf64>, tensor<5x8xf64>) outs(%zeros : tensor<4x5xf64>) {
  ^bb0(%x: f64, %y: f64, %sum: f64):
    %product = arith.mulf %x, %y : f64
    %next = arith.addf %sum, %product : f64
    linalg.yield %next : f64
  } -> tensor<4x5xf64>
  %sums = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%products, %b : tensor<4x5xf64>, tensor<4x5xf64>) outs(%empty : tensor<4x5xf64>) {
  ^bb0(%product: f64, %bias: f64, %out: f64):
    %sum = arith.addf %bias, %product : f64
    linalg.yield %sum : f64
  } -> tensor<4x5xf64>
  %s = sparse_autograd.sample %sums, %r : tensor<4x5xf64>, tensor<4x5xf64, #CSR> -> tensor<4x5xf64, #CSR>
  return %s : tensor<4x5xf64, #CSR>
}

// So is a mask, if what computes it can.
// CHECK-LABEL: func.func @sample_selected
func.func @sample_selected(%a: tensor<4x5xf64>, %b: tensor<4x5xf64>, %r: tensor<4x5xf64, #CSR>) -> tensor<4x5xf64, #CSR> {
  // CHECK-NOT: linalg.
  // CHECK: %[[MASK:.*]] = sparse_autograd.sampled_generic {{.*}} outs(%{{.*}} : tensor<4x5xi1, #[[CSR]]>)
  // CHECK: sparse_autograd.sampled_generic
  // CHECK-SAME: ins(%{{.*}}, %[[MASK]] : tensor<4x5xf64>, tensor<4x5xi1, #[[CSR]]>)
  %zero = arith.constant 0.0 : f64
  %bits = tensor.empty() : tensor<4x5xi1>
  %mask = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<4x5xf64>, tensor<4x5xf64>) outs(%bits : tensor<4x5xi1>) {
  ^bb0(%x: f64, %y: f64, %out: i1):
    %less = arith.cmpf olt, %x, %y : f64
    linalg.yield %less : i1
  } -> tensor<4x5xi1>
  %empty = tensor.empty() : tensor<4x5xf64>
  %selected = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %mask : tensor<4x5xf64>, tensor<4x5xi1>) outs(%empty : tensor<4x5xf64>) {
  ^bb0(%x: f64, %selects: i1, %out: f64):
    %chosen = arith.select %selects, %x, %zero : f64
    linalg.yield %chosen : f64
  } -> tensor<4x5xf64>
  %s = sparse_autograd.sample %selected, %r : tensor<4x5xf64>, tensor<4x5xf64, #CSR> -> tensor<4x5xf64, #CSR>
  return %s : tensor<4x5xf64, #CSR>
}

// CHECK-LABEL: func.func @sample_selected_by_sparse
func.func @sample_selected_by_sparse(%a: tensor<4x5xf64>, %b: tensor<4x5xi1, #CSR>, %r: tensor<4x5xf64, #CSR>) -> tensor<4x5xf64, #CSR> {
  // CHECK: %[[MASK:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x5xi1>)
  // CHECK: sparse_autograd.sampled_generic
  // CHECK-SAME: ins(%{{.*}}, %[[MASK]] : tensor<4x5xf64>, tensor<4x5xi1>)
  %zero = arith.constant 0.0 : f64
  %bits = tensor.empty() : tensor<4x5xi1>
  %mask = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<4x5xf64>, tensor<4x5xi1, #CSR>) outs(%bits : tensor<4x5xi1>) {
  ^bb0(%x: f64, %y: i1, %out: i1):
    %less = arith.cmpf olt, %x, %zero : f64
    %both = arith.andi %less, %y : i1
    linalg.yield %both : i1
  } -> tensor<4x5xi1>
  %empty = tensor.empty() : tensor<4x5xf64>
  %selected = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %mask : tensor<4x5xf64>, tensor<4x5xi1>) outs(%empty : tensor<4x5xf64>) {
  ^bb0(%x: f64, %selects: i1, %out: f64):
    %chosen = arith.select %selects, %x, %zero : f64
    linalg.yield %chosen : f64
  } -> tensor<4x5xf64>
  %s = sparse_autograd.sample %selected, %r : tensor<4x5xf64>, tensor<4x5xf64, #CSR> -> tensor<4x5xf64, #CSR>
  return %s : tensor<4x5xf64, #CSR>
}

// The elements of a product of sparse matrices that are asked for, without the
// product.
// CHECK-LABEL: func.func @sample_sparse_product(
// CHECK-SAME:    %[[A:.+]]: tensor<4x6xf64, #{{.+}}>, %[[B:.+]]: tensor<6x5xf64, #{{.+}}>, %[[R:.+]]: tensor<4x5xf64, #{{.+}}>)
// CHECK-NOT:     tensor<4x5xf64>
// CHECK:         sparse_autograd.sampled_generic {{.*}} ins(%[[A]], %[[B]] :
// CHECK-NOT:     tensor<4x5xf64>
// CHECK:         return
func.func @sample_sparse_product(%a: tensor<4x6xf64, #CSR>, %b: tensor<6x5xf64, #CSR>, %r: tensor<4x5xf64, #CSR>) -> tensor<4x5xf64, #CSR> {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<4x5xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<4x5xf64>) -> tensor<4x5xf64>
  %p = linalg.matmul ins(%a, %b : tensor<4x6xf64, #CSR>, tensor<6x5xf64, #CSR>) outs(%zeros : tensor<4x5xf64>) -> tensor<4x5xf64>
  %s = sparse_autograd.sample %p, %r : tensor<4x5xf64>, tensor<4x5xf64, #CSR> -> tensor<4x5xf64, #CSR>
  return %s : tensor<4x5xf64, #CSR>
}

// Inputs that are not read go.
// CHECK-LABEL: func.func @unread
// CHECK-SAME: %[[X:.*]]: tensor<4x5xf64>, %[[Y:.*]]: tensor<4x5xf64>
func.func @unread(%x: tensor<4x5xf64>, %y: tensor<4x5xf64>, %r: tensor<4x5xf64, #CSR>) -> tensor<4x5xf64, #CSR> {
  // CHECK: sampled_generic
  // CHECK-SAME: ins(%[[X]] : tensor<4x5xf64>) outs
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f64, %{{.*}}: f64):
  // CHECK-NEXT: arith.mulf %[[A]], %[[A]]
  %0 = sparse_autograd.sampled_generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %x : tensor<4x5xf64>, tensor<4x5xf64>, tensor<4x5xf64>) outs(%r : tensor<4x5xf64, #CSR>) {
  ^bb0(%a: f64, %b: f64, %c: f64, %out: f64):
    %s = arith.mulf %a, %c : f64
    linalg.yield %s : f64
  } -> tensor<4x5xf64, #CSR>
  return %0 : tensor<4x5xf64, #CSR>
}

// Reshapes, slices, padding and concatenations learn extents, and keep encodings.

#COO = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed(nonunique), j : singleton(soa))}>
#Vector = #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>

// CHECK-LABEL: func.func @expand_by_constant
// CHECK:       %[[X:.*]] = tensor.cast %{{.*}} : tensor<?xf64, #[[VECTOR:.*]]> to tensor<12xf64, #[[VECTOR]]>
// CHECK:       tensor.expand_shape %[[X]] {{.*}} : tensor<12xf64, #[[VECTOR]]> into tensor<3x4xf64, #[[CSR]]>
// CHECK-NEXT:  tensor.cast %{{.*}} : tensor<3x4xf64, #[[CSR]]> to tensor<?x?xf64, #[[CSR]]>
func.func @expand_by_constant(%x: tensor<?xf64, #Vector>) -> tensor<?x?xf64, #CSR> {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [%c3, %c4] : tensor<?xf64, #Vector> into tensor<?x?xf64, #CSR>
  return %0 : tensor<?x?xf64, #CSR>
}

// CHECK-LABEL: func.func @collapse_of_cast
// CHECK:       tensor.collapse_shape %{{.*}} : tensor<3x4xf64, #[[CSR]]> into tensor<12xf64, #[[VECTOR]]>
// CHECK-NEXT:  tensor.cast %{{.*}} : tensor<12xf64, #[[VECTOR]]> to tensor<?xf64, #[[VECTOR]]>
func.func @collapse_of_cast(%x: tensor<3x4xf64, #CSR>) -> tensor<?xf64, #Vector> {
  %c = tensor.cast %x : tensor<3x4xf64, #CSR> to tensor<?x?xf64, #CSR>
  %0 = tensor.collapse_shape %c [[0, 1]] : tensor<?x?xf64, #CSR> into tensor<?xf64, #Vector>
  return %0 : tensor<?xf64, #Vector>
}

// CHECK-LABEL: func.func @slice_of_cast
// CHECK:       tensor.extract_slice %{{.*}}[0, 1] [2, 3] [1, 1] : tensor<3x4xf64, #[[CSR]]> to tensor<2x3xf64, #[[COO:.*]]>
// CHECK-NEXT:  tensor.cast %{{.*}} : tensor<2x3xf64, #[[COO]]> to tensor<?x?xf64, #[[COO]]>
func.func @slice_of_cast(%x: tensor<3x4xf64, #CSR>) -> tensor<?x?xf64, #COO> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c = tensor.cast %x : tensor<3x4xf64, #CSR> to tensor<?x?xf64, #CSR>
  %0 = tensor.extract_slice %c[0, %c1] [%c2, %c3] [1, 1] : tensor<?x?xf64, #CSR> to tensor<?x?xf64, #COO>
  return %0 : tensor<?x?xf64, #COO>
}

// CHECK-LABEL: func.func @row
// CHECK:       tensor.extract_slice %{{.*}}[%{{.*}}, 0] [1, 2] [1, 1] : tensor<3x4xf64, #[[CSR]]> to tensor<2xf64, #[[VECTOR]]>
func.func @row(%x: tensor<3x4xf64, #CSR>, %i: index) -> tensor<?xf64, #Vector> {
  %c2 = arith.constant 2 : index
  %0 = tensor.extract_slice %x[%i, 0] [1, %c2] [1, 1] : tensor<3x4xf64, #CSR> to tensor<?xf64, #Vector>
  return %0 : tensor<?xf64, #Vector>
}

// CHECK-LABEL: func.func @no_rows
// CHECK:       tensor.empty() : tensor<0x4xf64, #[[COO]]>
func.func @no_rows(%x: tensor<3x4xf64, #CSR>) -> tensor<?x4xf64, #COO> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %0 = tensor.extract_slice %x[%c3, 0] [%c0, 4] [1, 1] : tensor<3x4xf64, #CSR> to tensor<?x4xf64, #COO>
  return %0 : tensor<?x4xf64, #COO>
}

// CHECK-LABEL: func.func @insert_casts
// CHECK:       %[[S:.*]] = tensor.cast %{{.*}} : tensor<?x?xf64, #[[COO]]> to tensor<2x2xf64, #[[COO]]>
// CHECK:       tensor.insert_slice %[[S]] into %{{.*}}[0, 0] [2, 2] [1, 1] : tensor<2x2xf64, #[[COO]]> into tensor<3x4xf64, #[[CSR]]>
// CHECK-NEXT:  tensor.cast %{{.*}} : tensor<3x4xf64, #[[CSR]]> to tensor<?x?xf64, #[[CSR]]>
func.func @insert_casts(%s: tensor<?x?xf64, #COO>, %x: tensor<3x4xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %c2 = arith.constant 2 : index
  %c = tensor.cast %x : tensor<3x4xf64, #CSR> to tensor<?x?xf64, #CSR>
  %0 = tensor.insert_slice %s into %c[0, 0] [%c2, %c2] [1, 1] : tensor<?x?xf64, #COO> into tensor<?x?xf64, #CSR>
  return %0 : tensor<?x?xf64, #CSR>
}

// CHECK-LABEL: func.func @insert_row
// CHECK:       %[[S:.*]] = tensor.cast %{{.*}} : tensor<?xf64, #[[VECTOR]]> to tensor<2xf64, #[[VECTOR]]>
// CHECK:       tensor.insert_slice %[[S]] into %{{.*}}[0, 0] [1, 2] [1, 1] : tensor<2xf64, #[[VECTOR]]> into tensor<3x4xf64, #[[CSR]]>
func.func @insert_row(%s: tensor<?xf64, #Vector>, %x: tensor<3x4xf64, #CSR>) -> tensor<3x4xf64, #CSR> {
  %c2 = arith.constant 2 : index
  %0 = tensor.insert_slice %s into %x[0, 0] [1, %c2] [1, 1] : tensor<?xf64, #Vector> into tensor<3x4xf64, #CSR>
  return %0 : tensor<3x4xf64, #CSR>
}

// CHECK-LABEL: func.func @pad_by_less_than_nothing
// CHECK:       %[[C:.+]] = arith.constant -9223372036854775808
// CHECK:       tensor.pad %{{.*}} low[%[[C]]] high[0]
func.func @pad_by_less_than_nothing(%x: tensor<3xf64, #Vector>) -> tensor<?xf64, #Vector> {
  %zero = arith.constant 0.0 : f64
  %c = arith.constant -9223372036854775808 : index
  %0 = tensor.pad %x low[%c] high[0] {
  ^bb0(%i: index):
    tensor.yield %zero : f64
  } : tensor<3xf64, #Vector> to tensor<?xf64, #Vector>
  return %0 : tensor<?xf64, #Vector>
}

// CHECK-LABEL: func.func @pad
// CHECK:       tensor.pad %{{.*}} low[0, 2] high[2, 2]
// CHECK:       : tensor<3x4xf64, #[[CSR]]> to tensor<5x8xf64, #[[COO]]>
func.func @pad(%x: tensor<3x4xf64, #CSR>) -> tensor<?x?xf64, #COO> {
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f64
  %0 = tensor.pad %x low[0, %c2] high[%c2, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f64
  } : tensor<3x4xf64, #CSR> to tensor<?x?xf64, #COO>
  return %0 : tensor<?x?xf64, #COO>
}

// CHECK-LABEL: func.func @concat_known
// CHECK:       sparse_tensor.concatenate %{{.*}}, %{{.*}} {dimension = 0 : index} : tensor<2x4xf64, #[[COO]]>, tensor<3x4xf64, #[[CSR]]> to tensor<5x4xf64, #[[CSR]]>
// CHECK-NEXT:  tensor.cast %{{.*}} : tensor<5x4xf64, #[[CSR]]> to tensor<?x?xf64, #[[CSR]]>
func.func @concat_known(%s: tensor<2x4xf64, #COO>, %x: tensor<3x4xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %0 = tensor.concat dim(0) %s, %x : (tensor<2x4xf64, #COO>, tensor<3x4xf64, #CSR>) -> tensor<?x?xf64, #CSR>
  return %0 : tensor<?x?xf64, #CSR>
}

// CHECK-LABEL: func.func @concat
// CHECK-SAME:  %[[A:.*]]: tensor<?x4xf64, #[[COO]]>, %[[B:.*]]: tensor<?x4xf64, #[[CSR]]>)
// CHECK:       %[[ROWS:.*]] = tensor.dim %[[A]], %{{.*}}
// CHECK:       %[[EMPTY:.*]] = tensor.empty(%{{.*}}) : tensor<?x4xf64, #[[CSR]]>
// CHECK:       %[[FIRST:.*]] = tensor.insert_slice %[[A]] into %[[EMPTY]][0, 0]
// CHECK:       %[[BOTH:.*]] = tensor.insert_slice %[[B]] into %[[FIRST]][%[[ROWS]], 0]
// CHECK:       return %[[BOTH]]
func.func @concat(%a: tensor<?x4xf64, #COO>, %b: tensor<?x4xf64, #CSR>) -> tensor<?x4xf64, #CSR> {
  %0 = tensor.concat dim(0) %a, %b : (tensor<?x4xf64, #COO>, tensor<?x4xf64, #CSR>) -> tensor<?x4xf64, #CSR>
  return %0 : tensor<?x4xf64, #CSR>
}

// What reads a tensor at positions that it computes is not made at the pattern: the
// transpose of that adds to these positions, and takes a dense cotangent.
// CHECK-LABEL: func.func @sample_of_reads
// CHECK:       %[[READ:.*]] = linalg.generic
// CHECK:       tensor.extract
// CHECK:       sparse_autograd.sample %[[READ]]
func.func @sample_of_reads(%x: tensor<3x4xf64>, %p: tensor<3x4xi1, #CSR>) -> tensor<3x4xf64, #CSR> {
  %empty = tensor.empty() : tensor<3x4xf64>
  %read = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<3x4xf64>) {
  ^bb0(%out: f64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %e = tensor.extract %x[%i, %j] : tensor<3x4xf64>
    %r = math.sqrt %e : f64
    linalg.yield %r : f64
  } -> tensor<3x4xf64>
  %s = sparse_autograd.sample %read, %p : tensor<3x4xf64>, tensor<3x4xi1, #CSR> -> tensor<3x4xf64, #CSR>
  return %s : tensor<3x4xf64, #CSR>
}

// Slices that do not lie in their tensors are for the run to refuse.

// CHECK-LABEL: func.func @slice_outside
// CHECK:       tensor.extract_slice %{{.*}}[0, 2] [2, 3] [1, 1] : tensor<?x?xf64, #[[CSR]]> to tensor<2x3xf64, #[[COO]]>
func.func @slice_outside(%x: tensor<3x4xf64, #CSR>) -> tensor<?x?xf64, #COO> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c = tensor.cast %x : tensor<3x4xf64, #CSR> to tensor<?x?xf64, #CSR>
  %0 = tensor.extract_slice %c[0, %c2] [%c2, %c3] [1, 1] : tensor<?x?xf64, #CSR> to tensor<?x?xf64, #COO>
  return %0 : tensor<?x?xf64, #COO>
}

// CHECK-LABEL: func.func @insert_outside
// CHECK:       tensor.insert_slice %{{.*}} into %{{.*}}[0, %{{.*}}] [2, 2] [1, 1] : tensor<2x2xf64, #[[COO]]> into tensor<3x4xf64, #[[CSR]]>
func.func @insert_outside(%s: tensor<2x2xf64, #COO>, %x: tensor<3x4xf64, #CSR>) -> tensor<3x4xf64, #CSR> {
  %c3 = arith.constant 3 : index
  %0 = tensor.insert_slice %s into %x[0, %c3] [2, 2] [1, 1] : tensor<2x2xf64, #COO> into tensor<3x4xf64, #CSR>
  return %0 : tensor<3x4xf64, #CSR>
}
