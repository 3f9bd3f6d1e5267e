// RUN: sparse-opt %s --split-input-file --sparse-autograd-scalars-to-assertions | FileCheck %s

// CHECK-LABEL: func.func @unsigned(
//  CHECK-SAME:   %[[A:.+]]: i64, %[[B:.+]]: i64)
//       CHECK:   %[[ZERO:.+]] = arith.constant 0 : i64
//       CHECK:   %[[HOLDS:.+]] = arith.cmpi ne, %[[B]], %[[ZERO]] : i64
//       CHECK:   cf.assert %[[HOLDS]], "{{.*}}scalars.mlir:[[# @LINE + 4]]:{{.*}}: arith.divui: the divisor must not be zero"
//   CHECK-NOT:   cf.assert
//       CHECK:   arith.divui %[[A]], %[[B]] : i64
func.func @unsigned(%a: i64, %b: i64) -> i64 {
  %r = arith.divui %a, %b : i64
  return %r : i64
}

// -----

// Of the smallest integer there is no quotient by -1.

// CHECK-LABEL: func.func @signed(
//  CHECK-SAME:   %[[A:.+]]: i32, %[[B:.+]]: i32)
//       CHECK:   cf.assert %{{.+}}, "{{.*}} arith.remsi: the divisor must not be zero"
//   CHECK-DAG:   %[[MINUS_ONE:.+]] = arith.constant -1 : i32
//   CHECK-DAG:   %[[OTHER_DIVISOR:.+]] = arith.cmpi ne, %[[B]], %[[MINUS_ONE]] : i32
//   CHECK-DAG:   %[[LEAST:.+]] = arith.constant -2147483648 : i32
//   CHECK-DAG:   %[[OTHER_DIVIDEND:.+]] = arith.cmpi ne, %[[A]], %[[LEAST]] : i32
//       CHECK:   %[[HOLDS:.+]] = arith.ori %[[OTHER_DIVISOR]], %[[OTHER_DIVIDEND]] : i1
//       CHECK:   cf.assert %[[HOLDS]], "{{.*}} arith.remsi: the smallest integer must not be divided by -1"
//       CHECK:   arith.remsi %[[A]], %[[B]] : i32
func.func @signed(%a: i32, %b: i32) -> i32 {
  %r = arith.remsi %a, %b : i32
  return %r : i32
}

// -----

// Every division is checked, that of each element where it is computed.

// CHECK-LABEL: func.func @every(
//       CHECK:   linalg.generic
//       CHECK:   ^{{.+}}(%{{.+}}: index, %[[Y:.+]]: index, %{{.+}}: index):
//       CHECK:     arith.cmpi ne, %[[Y]], %{{.+}} : index
//       CHECK:     cf.assert %{{.+}} arith.ceildivui: the divisor
//       CHECK:     cf.assert %{{.+}} arith.remui: the divisor
//       CHECK:     cf.assert %{{.+}} arith.ceildivsi: the divisor
//       CHECK:     cf.assert %{{.+}} arith.ceildivsi: the smallest
//       CHECK:     cf.assert %{{.+}} arith.floordivsi: the divisor
//       CHECK:     cf.assert %{{.+}} arith.floordivsi: the smallest
//       CHECK:     cf.assert %{{.+}} arith.divsi: the divisor
//       CHECK:     cf.assert %{{.+}} arith.divsi: the smallest
func.func @every(%x: tensor<4xindex>, %y: tensor<4xindex>) -> tensor<4xindex> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4xindex>, tensor<4xindex>) outs(%x : tensor<4xindex>) {
  ^bb0(%a: index, %b: index, %out: index):
    %0 = arith.ceildivui %a, %b : index
    %1 = arith.remui %0, %b : index
    %2 = arith.ceildivsi %1, %b : index
    %3 = arith.floordivsi %2, %b : index
    %4 = arith.divsi %3, %b : index
    linalg.yield %4 : index
  } -> tensor<4xindex>
  return %r : tensor<4xindex>
}

// -----

// What all elements are divided by is looked at once. Nothing is divided if
// there are none.

// CHECK-LABEL: func.func @shared(
//  CHECK-SAME:   %[[X:.+]]: tensor<?x3xi64>, %[[N:.+]]: i64)
//   CHECK-DAG:   %[[IS_OTHER:.+]] = arith.cmpi ne, %[[N]], %{{.+}} : i64
//   CHECK-DAG:   %[[ROWS:.+]] = tensor.dim %[[X]], %{{.+}} : tensor<?x3xi64>
//   CHECK-DAG:   %[[IS_EMPTY:.+]] = arith.cmpi eq, %[[ROWS]], %{{.+}} : index
//       CHECK:   %[[HOLDS:.+]] = arith.ori %[[IS_OTHER]], %[[IS_EMPTY]] : i1
//       CHECK:   cf.assert %[[HOLDS]], "{{.*}} arith.remui: the divisor
//       CHECK:   linalg.generic
//   CHECK-NOT:   cf.assert
func.func @shared(%x: tensor<?x3xi64>, %n: i64) -> tensor<?x3xi64> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%x : tensor<?x3xi64>) {
  ^bb0(%a: i64):
    %0 = arith.remui %a, %n : i64
    linalg.yield %0 : i64
  } -> tensor<?x3xi64>
  return %r : tensor<?x3xi64>
}

// -----

// There are none.

// CHECK-LABEL: func.func @none(
//       CHECK:   %[[NO_ROWS:.+]] = arith.constant 0 : index
//       CHECK:   %[[IS_EMPTY:.+]] = arith.cmpi eq, %[[NO_ROWS]], %{{.+}} : index
//       CHECK:   %[[HOLDS:.+]] = arith.ori %{{.+}}, %[[IS_EMPTY]] : i1
//       CHECK:   cf.assert %[[HOLDS]]
func.func @none(%x: tensor<0xi64>, %n: i64) -> tensor<0xi64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : tensor<0xi64>) {
  ^bb0(%a: i64):
    %0 = arith.remui %a, %n : i64
    linalg.yield %0 : i64
  } -> tensor<0xi64>
  return %r : tensor<0xi64>
}

// -----

// A branch of an element may not be taken.

// CHECK-LABEL: func.func @in_branch(
//       CHECK:   linalg.generic
//       CHECK:     scf.if
//       CHECK:       cf.assert
//       CHECK:       arith.remui
func.func @in_branch(%x: tensor<?xi64>, %n: i64, %is_known: i1) -> tensor<?xi64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : tensor<?xi64>) {
  ^bb0(%a: i64):
    %0 = scf.if %is_known -> i64 {
      %1 = arith.remui %a, %n : i64
      scf.yield %1 : i64
    } else {
      scf.yield %a : i64
    }
    linalg.yield %0 : i64
  } -> tensor<?xi64>
  return %r : tensor<?xi64>
}

// -----

// What is positive divides everything; so does zero in floating point.

// CHECK-LABEL: func.func @known(
//   CHECK-NOT:   cf.assert
//       CHECK:   return
func.func @known(%a: index, %b: index, %x: f32, %y: f32) -> (index, index, f32) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = arith.divsi %a, %c3 : index
  %1 = arith.maxsi %b, %c1 : index
  %2 = arith.ceildivsi %a, %1 : index
  %3 = arith.divf %x, %y : f32
  return %0, %2, %3 : index, index, f32
}

// -----

// A maximum with zero may be zero.

// CHECK-LABEL: func.func @unknown(
//       CHECK:   cf.assert
//       CHECK:   arith.divui
func.func @unknown(%a: index, %b: index) -> index {
  %c0 = arith.constant 0 : index
  %0 = arith.maxsi %b, %c0 : index
  %1 = arith.divui %a, %0 : index
  return %1 : index
}

// -----

// What is in the region of a structured op is checked there.

// CHECK-LABEL: func.func @in_region(
//  CHECK-SAME:   %[[X:.+]]: tensor<?xf32>, %
//       CHECK:   linalg.generic
//       CHECK:   ^bb0(%[[I:.+]]: index,
//       CHECK:   %[[EXTENT:.+]] = tensor.dim %[[X]]
//       CHECK:   cf.assert %{{.+}}, "{{.*}} tensor.extract: out-of-bounds access"
//       CHECK:   tensor.extract %[[X]][%[[I]]] : tensor<?xf32>
func.func @in_region(%x: tensor<?xf32>, %at: tensor<4xindex>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%at : tensor<4xindex>) outs(%empty : tensor<4xf32>) {
  ^bb0(%i: index, %out: f32):
    %v = tensor.extract %x[%i] : tensor<?xf32>
    linalg.yield %v : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @outside(
//   CHECK-NOT:   cf.assert
//       CHECK:   return
func.func @outside(%x: tensor<?xf32>, %i: index) -> f32 {
  %r = tensor.extract %x[%i] : tensor<?xf32>
  return %r : f32
}

// -----

// A loop whose step is not positive would not end. One is made of constants, or
// of the maximum of something and a positive one, without a check.

// CHECK-LABEL: func.func @step(
//  CHECK-SAME:   %[[N:.+]]: index, %[[STEP:.+]]: index
//       CHECK:   %[[HOLDS:.+]] = arith.cmpi sgt, %[[STEP]], %{{.+}} : index
//       CHECK:   cf.assert %[[HOLDS]], "{{.*}}scalars.mlir:{{.*}}: scf.for: the step must be positive"
//       CHECK:   scf.for
//   CHECK-NOT:   cf.assert
//       CHECK:   scf.for
//       CHECK:   scf.for
func.func @step(%n: index, %step: index, %m: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %step {
    memref.store %i, %m[%i] : memref<?xindex>
  }
  scf.for %i = %c0 to %n step %c1 {
    memref.store %i, %m[%i] : memref<?xindex>
  }
  %least = arith.maxsi %step, %c1 : index
  scf.for %i = %c0 to %n step %least {
    memref.store %i, %m[%i] : memref<?xindex>
  }
  return
}

// -----

// Every dimension of a loop over several has its step.

// CHECK-LABEL: func.func @steps(
//  CHECK-SAME:   %[[N:.+]]: index, %[[A:.+]]: index, %[[B:.+]]: index
//       CHECK:   arith.cmpi sgt, %[[B]],
//       CHECK:   cf.assert %{{.+}}, "{{.*}}: scf.parallel: the step must be positive"
//       CHECK:   arith.cmpi sgt, %[[A]],
//       CHECK:   cf.assert %{{.+}}, "{{.*}}: scf.parallel: the step must be positive"
//       CHECK:   scf.parallel
func.func @steps(%n: index, %a: index, %b: index, %m: memref<?x?xindex>) {
  %c0 = arith.constant 0 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%a, %b) {
    memref.store %i, %m[%i, %j] : memref<?x?xindex>
  }
  return
}
