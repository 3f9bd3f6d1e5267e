// Canonicalizations that hold (lib/Transforms/Canonicalize.cpp, lib/Transforms/PropagateConditions.cpp).
// RUN: sparse-opt %s --sparse-autograd-canonicalize | FileCheck %s

// A list that grows keeps the type that the loop states.

// CHECK-LABEL: func.func @grows
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (tensor<?xf64>)
func.func @grows(%n: index, %one: tensor<1xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = tensor.empty() : tensor<0xf64>
  %start = tensor.cast %none : tensor<0xf64> to tensor<?xf64>
  %list = scf.for %i = %c0 to %n step %c1 iter_args(%it = %start) -> (tensor<?xf64>) {
    %longer = tensor.concat dim(0) %it, %one : (tensor<?xf64>, tensor<1xf64>) -> tensor<?xf64>
    scf.yield %longer : tensor<?xf64>
  }
  return %list : tensor<?xf64>
}

// What each iteration keeps is known in the loop; other extents are not.

// CHECK-LABEL: func.func @keeps
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf64>
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[X]]) -> (tensor<4x8xf64>)
// CHECK: tensor.cast %[[R]] : tensor<4x8xf64> to tensor<?x?xf64>
func.func @keeps(%x: tensor<4x8xf64>, %n: index) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = tensor.cast %x : tensor<4x8xf64> to tensor<?x?xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (tensor<?x?xf64>) {
    %y = math.tanh %s : tensor<?x?xf64>
    scf.yield %y : tensor<?x?xf64>
  }
  return %r : tensor<?x?xf64>
}

// In a loop in a loop, with extents that are asked for.

// CHECK-LABEL: func.func @keeps_inside
// CHECK: scf.for {{.*}} -> (tensor<4xf64>)
// CHECK: scf.for {{.*}} -> (tensor<4xf64>)
func.func @keeps_inside(%x: tensor<4xf64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = tensor.cast %x : tensor<4xf64> to tensor<?xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (tensor<?xf64>) {
    %o = scf.for %k = %c0 to %n step %c1 iter_args(%u = %s) -> (tensor<?xf64>) {
      %d = tensor.dim %u, %c0 : tensor<?xf64>
      %e = tensor.empty(%d) : tensor<?xf64>
      %y = linalg.exp ins(%u : tensor<?xf64>) outs(%e : tensor<?xf64>) -> tensor<?xf64>
      scf.yield %y : tensor<?xf64>
    }
    scf.yield %o : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// Two lists that take turns have each other's length.

// CHECK-LABEL: func.func @swaps
// CHECK: scf.for {{.*}} -> (tensor<?xf64>, tensor<?xf64>)
func.func @swaps(%x: tensor<4xf64>, %z: tensor<5xf64>, %n: index) -> (tensor<?xf64>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.cast %x : tensor<4xf64> to tensor<?xf64>
  %b = tensor.cast %z : tensor<5xf64> to tensor<?xf64>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a, %t = %b) -> (tensor<?xf64>, tensor<?xf64>) {
    scf.yield %t, %s : tensor<?xf64>, tensor<?xf64>
  }
  return %r#0, %r#1 : tensor<?xf64>, tensor<?xf64>
}

// One of the extents changes: nothing is known of it.

// CHECK-LABEL: func.func @keeps_one
// CHECK: scf.for {{.*}} -> (tensor<?x?xf64>)
func.func @keeps_one(%x: tensor<0x8xf64>, %row: tensor<1x8xf64>, %n: index) -> tensor<?x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = tensor.cast %x : tensor<0x8xf64> to tensor<?x?xf64>
  %more = tensor.cast %row : tensor<1x8xf64> to tensor<1x?xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (tensor<?x?xf64>) {
    %y = tensor.concat dim(0) %s, %more : (tensor<?x?xf64>, tensor<1x?xf64>) -> tensor<?x?xf64>
    scf.yield %y : tensor<?x?xf64>
  }
  return %r : tensor<?x?xf64>
}

// The condition of a branch is a constant in it, however deep; that of a branch
// after it is not, and a constant stays one.

// CHECK-LABEL: func.func @conditions(
//  CHECK-SAME:     %[[C:.+]]: i1, %[[D:.+]]: i1, %[[X:.+]]: f64
//       CHECK:   %[[R:.+]] = scf.if %[[C]]
//       CHECK:     scf.if %[[D]]
//       CHECK:       %[[SIN:.+]] = math.sin %[[X]]
//  CHECK-NEXT:       scf.yield %[[SIN]]
//       CHECK:     else
//       CHECK:       %[[COS:.+]] = math.cos %[[X]]
//  CHECK-NEXT:       scf.yield %[[COS]]
//       CHECK:   } else {
//       CHECK:     %[[EXP:.+]] = math.exp %[[X]]
//  CHECK-NEXT:     scf.yield %[[EXP]]
//       CHECK:   arith.select %[[C]], %[[R]], %[[X]]
func.func @conditions(%c: i1, %d: i1, %x: f64) -> f64 {
  %r = scf.if %c -> f64 {
    %0 = scf.if %d -> f64 {
      %1 = scf.if %c -> f64 {
        %2 = math.sin %x : f64
        scf.yield %2 : f64
      } else {
        %2 = math.tan %x : f64
        scf.yield %2 : f64
      }
      scf.yield %1 : f64
    } else {
      %1 = scf.if %d -> f64 {
        %2 = math.tan %x : f64
        scf.yield %2 : f64
      } else {
        %2 = math.cos %x : f64
        scf.yield %2 : f64
      }
      scf.yield %1 : f64
    }
    scf.yield %0 : f64
  } else {
    %0 = arith.select %c, %x, %x : f64
    %1 = scf.if %c -> f64 {
      %2 = math.tan %0 : f64
      scf.yield %2 : f64
    } else {
      %2 = math.exp %0 : f64
      scf.yield %2 : f64
    }
    scf.yield %1 : f64
  }
  %s = arith.select %c, %r, %x : f64
  return %s : f64
}
