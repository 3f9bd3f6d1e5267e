// RUN: sparse-opt %s --convert-sparse-autograd-to-linalg | FileCheck %s

// Ops that stand for several others are written out.

// CHECK-LABEL: func @softmax
// CHECK-NOT: linalg.softmax
// CHECK: math.exp
// CHECK: return
func.func @softmax(%x: tensor<3x4xf32>, %init: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %y = linalg.softmax dimension(1) ins(%x : tensor<3x4xf32>) outs(%init : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// CHECK-LABEL: func @pack
// CHECK: tensor.pad
// CHECK: tensor.expand_shape
// CHECK: linalg.transpose
// CHECK-NOT: linalg.pack
func.func @pack(%x: tensor<5x7xf32>, %init: tensor<2x2x3x4xf32>, %pad: f32) -> tensor<2x2x3x4xf32> {
  %y = linalg.pack %x padding_value(%pad : f32) inner_dims_pos = [0, 1] inner_tiles = [3, 4] into %init : tensor<5x7xf32> -> tensor<2x2x3x4xf32>
  return %y : tensor<2x2x3x4xf32>
}

// CHECK-LABEL: func @unpack
// CHECK: linalg.transpose
// CHECK: tensor.collapse_shape
// CHECK: tensor.extract_slice
// CHECK-NOT: linalg.unpack
func.func @unpack(%x: tensor<2x2x3x4xf32>, %init: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %y = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [3, 4] into %init : tensor<2x2x3x4xf32> -> tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}

// CHECK-LABEL: func @gather
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xi8>, %[[AT:.*]]: tensor<?x1xi32>)
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[ROW:.*]] = tensor.extract %[[AT]][%[[I]],
// CHECK: %[[K:.*]] = arith.index_cast %[[ROW]] : i32 to index
// CHECK: tensor.extract %[[X]][%[[K]], %[[J]]]
func.func @gather(%x: tensor<4x3xi8>, %at: tensor<?x1xi32>) -> tensor<?x3xi8> {
  %y = tensor.gather %x[%at] gather_dims([0]) : (tensor<4x3xi8>, tensor<?x1xi32>) -> tensor<?x3xi8>
  return %y : tensor<?x3xi8>
}

// CHECK-LABEL: func @scatter
// CHECK-SAME: (%[[X:.*]]: tensor<2x4xf32>, %[[DEST:.*]]: tensor<4x3xf32>, %[[AT:.*]]: tensor<2x1xindex>)
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%{{.*}} = %[[DEST]])
// CHECK: scf.for %[[J:.*]] = {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}})
// CHECK: %[[V:.*]] = tensor.extract %[[X]][%[[I]], %[[J]]]
// CHECK: %[[COLUMN:.*]] = tensor.extract %[[AT]][%[[I]],
// CHECK: tensor.insert %[[V]] into %[[CARRIED]][%[[J]], %[[COLUMN]]]
func.func @scatter(%x: tensor<2x4xf32>, %dest: tensor<4x3xf32>, %at: tensor<2x1xindex>) -> tensor<4x3xf32> {
  %y = tensor.scatter %x into %dest[%at] scatter_dims([1]) unique : (tensor<2x4xf32>, tensor<4x3xf32>, tensor<2x1xindex>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// One of two tensors, of which it is not known that they have the same extents,
// is a branch; with the same extents, or a mask, a select is an elementwise op.

// CHECK-LABEL: func @choose
// CHECK-SAME: (%[[C:.*]]: i1, %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>)
// CHECK-NEXT: %[[R:.*]] = scf.if %[[C]] -> (tensor<?xf32>) {
// CHECK-NEXT:   scf.yield %[[X]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.yield %[[Y]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]
func.func @choose(%c: i1, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = arith.select %c, %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}

// CHECK-LABEL: func @choose_elements
// CHECK-NOT: scf.if
// CHECK: return
func.func @choose_elements(%c: i1, %x: tensor<?x4xf32>, %m: tensor<?x4xi1>, %y: tensor<3x4xf32>, %z: tensor<3x4xf32>)
    -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<3x4xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = math.sin %x : tensor<?x4xf32>
  %0 = arith.select %c, %s, %zeros : tensor<?x4xf32>
  %1 = arith.select %m, %x, %zeros : tensor<?x4xi1>, tensor<?x4xf32>
  %2 = arith.select %c, %y, %z : tensor<3x4xf32>
  return %0, %1, %2 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<3x4xf32>
}
