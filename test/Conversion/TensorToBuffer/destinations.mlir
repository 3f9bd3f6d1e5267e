// RUN: sparse-opt %s --sparse-autograd-tensor-to-buffer | FileCheck %s

#id = affine_map<(i) -> (i)>

// A row is computed in its place in the destination.
// CHECK-LABEL: func @row_in_place(
// CHECK: %[[ALL:.+]] = memref.alloc() {{.*}} : memref<8x4xf64>
// CHECK: %[[ROW:.+]] = memref.subview %[[ALL]]
// CHECK: linalg.exp {{.*}} outs(%[[ROW]]
// CHECK-NOT: memref.alloc
func.func @row_in_place(%x: tensor<4xf64>, %row: index) -> tensor<8x4xf64> {
  %all = tensor.empty() : tensor<8x4xf64>
  %empty = tensor.empty() : tensor<4xf64>
  %y = linalg.exp ins(%x : tensor<4xf64>) outs(%empty : tensor<4xf64>) -> tensor<4xf64>
  %new = tensor.insert_slice %y into %all[%row, 0] [1, 4] [1, 1] : tensor<4xf64> into tensor<8x4xf64>
  return %new : tensor<8x4xf64>
}

// Not in a destination from outside the loop: each iteration inserts into a
// copy of it, and must not find what the one before it has computed there.
// CHECK-LABEL: func @copied_by_loop(
// CHECK-SAME: %{{.+}}: memref<4xf64>, %[[ALL:.+]]: memref<8x4xf64>,
// CHECK: scf.for
// CHECK: %[[ROW:.+]] = memref.alloc() {{.*}} : memref<4xf64>
// CHECK: linalg.exp {{.*}} outs(%[[ROW]]
// CHECK: %[[COPY:.+]] = memref.alloc() {{.*}} : memref<8x4xf64>
// CHECK: memref.copy %[[ALL]], %[[COPY]]
// CHECK: %[[PLACE:.+]] = memref.subview %[[COPY]]
// CHECK: memref.copy %[[ROW]], %[[PLACE]]
func.func @copied_by_loop(%x: tensor<4xf64>, %all: tensor<8x4xf64>, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %sum = scf.for %row = %c0 to %n step %c1 iter_args(%s = %zero) -> f64 {
    %empty = tensor.empty() : tensor<4xf64>
    %y = linalg.exp ins(%x : tensor<4xf64>) outs(%empty : tensor<4xf64>) -> tensor<4xf64>
    %new = tensor.insert_slice %y into %all[%row, 0] [1, 4] [1, 1] : tensor<4xf64> into tensor<8x4xf64>
    %first = tensor.extract %new[%c0, %c0] : tensor<8x4xf64>
    %next = arith.addf %s, %first : f64
    scf.yield %next : f64
  }
  return %sum : f64
}

// An elementwise result is written over an operand that dies with it, but never
// over an argument, which is the caller's.
// CHECK-LABEL: func @reuse(
// CHECK-SAME: %[[X:.+]]: memref<4xf64>
// CHECK: %[[Y:.+]] = memref.alloc() {{.*}} : memref<4xf64>
// CHECK: linalg.generic {{.*}} ins(%[[X]] {{.*}} outs(%[[Y]]
// CHECK: linalg.generic {{.*}} ins(%[[Y]] {{.*}} outs(%[[Y]]
// CHECK: return %[[Y]]
func.func @reuse(%x: tensor<4xf64>) -> tensor<4xf64> {
  %empty = tensor.empty() : tensor<4xf64>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf64>) outs(%empty : tensor<4xf64>) {
    ^bb0(%in: f64, %out: f64):
      %e = math.exp %in : f64
      linalg.yield %e : f64
  } -> tensor<4xf64>
  %other = tensor.empty() : tensor<4xf64>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : tensor<4xf64>) outs(%other : tensor<4xf64>) {
    ^bb0(%in: f64, %out: f64):
      %e = arith.mulf %in, %in : f64
      linalg.yield %e : f64
  } -> tensor<4xf64>
  return %z : tensor<4xf64>
}

#window = affine_map<(i, j) -> (i + j)>
#first = affine_map<(i, j) -> (i)>
#second = affine_map<(i, j) -> (j)>
#line = affine_map<(i) -> (i)>

// A copy has the extent of what was scattered into, not
// the sum of the extents of the loops.

// CHECK-LABEL: func.func @scattered
//   CHECK-NOT:   affine.apply
//       CHECK:   return
func.func @scattered(%a: tensor<?xf32>, %b: tensor<?xf32>, %like: tensor<?xf32>, %which: i1) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %r = scf.if %which -> (tensor<?xf32>) {
    scf.yield %like : tensor<?xf32>
  } else {
    %n = tensor.dim %like, %c0 : tensor<?xf32>
    %empty = tensor.empty(%n) : tensor<?xf32>
    %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
    %s = linalg.generic {indexing_maps = [#first, #second, #window], iterator_types = ["reduction", "reduction"]}
        ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%zeros : tensor<?xf32>) {
    ^bb0(%x: f32, %y: f32, %out: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %out, %p : f32
      linalg.yield %t : f32
    } -> tensor<?xf32>
    %q = linalg.generic {indexing_maps = [#line, #line, #line], iterator_types = ["parallel"]}
        ins(%s, %like : tensor<?xf32>, tensor<?xf32>) outs(%empty : tensor<?xf32>) {
    ^bb0(%x: f32, %y: f32, %out: f32):
      %t = arith.addf %x, %y : f32
      linalg.yield %t : f32
    } -> tensor<?xf32>
    scf.yield %q : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// Of a tensor that several ops write to, each fills its own, instead of copying
// one.

// CHECK-LABEL: func.func @zeros
// CHECK-COUNT-2: linalg.fill
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @zeros(%x: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %rows = linalg.reduce ins(%x : tensor<4x4xf32>) outs(%zeros : tensor<4xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
  %columns = linalg.reduce ins(%x : tensor<4x4xf32>) outs(%zeros : tensor<4xf32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
  return %rows, %columns : tensor<4xf32>, tensor<4xf32>
}
