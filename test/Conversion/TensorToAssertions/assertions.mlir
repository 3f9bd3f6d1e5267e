// RUN: sparse-opt %s --split-input-file --sparse-autograd-tensor-to-assertions | FileCheck %s

// Extents that share a loop are compared, once; what follows uses the first.

// CHECK-LABEL: func.func @repeated
// CHECK-SAME:  %[[A:.*]]: tensor<?xf32>, %[[B:.*]]: tensor<?xf32>
func.func @repeated(%a: tensor<?xf32>, %b: tensor<?xf32>) -> (tensor<?xf32>, index) {
  // CHECK-DAG: %[[EXTENT_A:.*]] = tensor.dim %[[A]]
  // CHECK-DAG: %[[EXTENT_B:.*]] = tensor.dim %[[B]]
  // CHECK-DAG: %[[SAME:.*]] = arith.cmpi eq, %[[EXTENT_A]], %[[EXTENT_B]]
  // CHECK:     cf.assert %[[SAME]], "{{.*}}assertions.mlir:[[# @LINE + 5]]:{{.*}}: linalg.add: dimension 0 of operand 1 must have the extent of dimension 0 of operand 0"
  // CHECK-NOT: cf.assert
  %c0 = arith.constant 0 : index
  %extent = tensor.dim %b, %c0 : tensor<?xf32>
  %empty = tensor.empty(%extent) : tensor<?xf32>
  %0 = linalg.add ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.mul ins(%0, %b : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  // CHECK: return %{{.*}}, %[[EXTENT_A]]
  return %1, %extent : tensor<?xf32>, index
}

// -----

// A static extent is what the others are compared with.

// CHECK-LABEL: func.func @static
// CHECK-SAME:  %[[A:.*]]: tensor<?xf32>
func.func @static(%a: tensor<?xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : index
  // CHECK-DAG: %[[EXTENT:.*]] = tensor.dim %[[A]]
  // CHECK:     %[[SAME:.*]] = arith.cmpi eq, %[[EXTENT]], %[[FOUR]]
  // CHECK:     cf.assert %[[SAME]], {{.*}} dimension 0 of operand 0 must have the extent of dimension 0 of operand 1
  // CHECK-NOT: cf.assert
  %0 = linalg.add ins(%a, %b : tensor<?xf32>, tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Nothing is left open: nothing is asserted.

// CHECK-LABEL: func.func @closed
// CHECK-NOT: cf.assert
// CHECK: return
func.func @closed(%a: tensor<?xf32>, %b: tensor<4xf32>) -> (tensor<?xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %extent = tensor.dim %a, %c0 : tensor<?xf32>
  %empty = tensor.empty(%extent) : tensor<?xf32>
  %0 = linalg.exp ins(%a : tensor<?xf32>) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.add ins(%b, %b : tensor<4xf32>, tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<?xf32>, tensor<4xf32>
}

// -----

// An assertion in a loop says nothing of what is behind the loop.

// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK:   cf.assert
// CHECK:   }
// CHECK: cf.assert
func.func @loop(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<?xf32> {
    %1 = linalg.add ins(%b, %x : tensor<?xf32>, tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  %2 = linalg.sub ins(%b, %0 : tensor<?xf32>, tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

// Other ops are checked as upstream does: an index in its range.

// CHECK-LABEL: func.func @element
// CHECK: cf.assert %{{.*}}, "{{.*}}assertions.mlir:[[# @LINE + 2]]:{{.*}}: tensor.extract: out-of-bounds access"
func.func @element(%a: tensor<?xf32>, %i: index) -> f32 {
  %0 = tensor.extract %a[%i] : tensor<?xf32>
  return %0 : f32
}

// -----

// Extents are asked where they come from: the argument, and what a tensor.empty
// is made with.

// CHECK-LABEL: func.func @chain(
//  CHECK-SAME:     %[[X:[^:]+]]: tensor<?xf32>, %[[N:[^:]+]]: index)
//       CHECK:   %[[M:.+]] = tensor.dim %[[X]], %{{.+}} : tensor<?xf32>
//   CHECK-NOT:   tensor.dim
//       CHECK:   return %{{.+}}, %[[M]], %[[N]]
#vector = affine_map<(i) -> (i)>
func.func @chain(%x: tensor<?xf32>, %n: index) -> (tensor<?xf32>, index, index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %a = math.exp %x : tensor<?xf32>
  %b = tensor.cast %a : tensor<?xf32> to tensor<?xf32>
  %c = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%b : tensor<?xf32>) {
  ^bb0(%e: f32, %out: f32):
    %s = arith.addf %e, %out : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %m = tensor.dim %c, %c0 : tensor<?xf32>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %k = tensor.dim %fill, %c0 : tensor<?xf32>
  return %c, %m, %k : tensor<?xf32>, index, index
}

// One of two tensors may have the extents of either.

// CHECK-LABEL: func @extent_of_chosen
// CHECK: %[[Y:.*]] = arith.select
// CHECK: %[[N:.*]] = tensor.dim %[[Y]]
// CHECK: return %[[N]]
func.func @extent_of_chosen(%c: i1, %a: tensor<?xf32>, %b: tensor<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %y = arith.select %c, %a, %b : tensor<?xf32>
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  return %n : index
}

// The region of an op on sparse tensors is checked in loops, where it is
// executed.

// CHECK-LABEL: func @in_sparse_region
// CHECK: linalg.generic
// CHECK-NOT: cf.assert
// CHECK: tensor.extract
// CHECK-NOT: cf.assert
// CHECK: return
func.func @in_sparse_region(%a: tensor<4xf32, #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>>,
    %at: tensor<4xindex>, %x: tensor<?xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
      iterator_types = ["reduction"]}
      ins(%a, %at : tensor<4xf32, #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>>, tensor<4xindex>)
      outs(%zero : tensor<f32>) {
  ^bb0(%e: f32, %i: index, %sum: f32):
    %v = tensor.extract %x[%i] : tensor<?xf32>
    %p = arith.mulf %e, %v : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
