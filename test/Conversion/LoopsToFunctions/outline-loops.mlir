// RUN: sparse-opt %s --split-input-file --sparse-autograd-outline-loops=limit=16 | FileCheck %s

// A function with more ops has its loops moved; buffers of static extents are
// pointers, which do not overlap where that is known.

// CHECK-LABEL: func.func @moved
// CHECK-SAME:  %[[X:.*]]: memref<4x8xf64>
// CHECK:       %[[A:.*]] = memref.alloca() : memref<4x8xf64>
// CHECK-NOT:   scf.for
// CHECK:       call @moved.loop.0(%[[X]], %[[A]])
// CHECK-NOT:   scf.for
// CHECK:       %[[SUM:.*]] = call @moved.loop.1(%[[A]])
// CHECK:       return %[[SUM]]
func.func @moved(%x: memref<4x8xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f64
  %a = memref.alloca() : memref<4x8xf64>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %v = memref.load %x[%i, %j] : memref<4x8xf64>
      %w = math.tanh %v : f64
      memref.store %w, %a[%i, %j] : memref<4x8xf64>
    }
  }
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> f64 {
    %v = memref.load %a[%i, %c0] : memref<4x8xf64>
    %t = arith.addf %s, %v : f64
    scf.yield %t : f64
  }
  return %sum : f64
}
// CHECK:       func.func private @moved.loop.1(%[[B:.*]]: memref<4x8xf64> {llvm.noalias}) -> f64
// CHECK-SAME:    llvm.bareptr
// CHECK-SAME:    passthrough = ["noinline"]
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f64
// CHECK:         %[[S:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]])
// CHECK:         return %[[S]]
// CHECK:       func.func private @moved.loop.0(%[[Y:.*]]: memref<4x8xf64> {llvm.noalias}, %[[C:.*]]: memref<4x8xf64> {llvm.noalias})
// CHECK-DAG:     arith.constant 4 : index
// CHECK-DAG:     arith.constant 8 : index
// CHECK:         scf.for
// CHECK:           memref.load %[[Y]]
// CHECK:           memref.store %{{.*}}, %[[C]]

// -----

// A smaller function stays as it is.

// CHECK-LABEL: func.func @small
// CHECK:       scf.for
// CHECK-NOT:   func.func
func.func @small(%x: memref<8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %zero, %x[%i] : memref<8xf64>
  }
  return
}

// -----

// Of a loop that is too large the loops in it are moved. A buffer of unknown
// extents is a pointer and these; two that may be the same one are not said to
// differ.

// CHECK-LABEL: func.func @nested
// CHECK-SAME:  %[[X:.*]]: memref<?xf64>, %[[Y:.*]]: memref<?xf64>, %[[N:.*]]: index
// CHECK:       scf.for %{{.*}} = {{.*}} {
// CHECK:         %[[XP:.*]], %{{.*}}, %[[XN:.*]], %{{.*}} = memref.extract_strided_metadata %[[X]]
// CHECK:         %[[YP:.*]], %{{.*}}, %[[YN:.*]], %{{.*}} = memref.extract_strided_metadata %[[Y]]
// CHECK:         func.call @nested.loop.0(%[[XP]], %[[XN]], %[[YP]], %[[YN]], %[[N]])
// CHECK-NOT:     scf.for
// CHECK:         func.call @nested.loop.1
// CHECK:       func.func private @nested.loop.1(%[[P:.*]]: memref<f64>, %[[EXTENT:.*]]: index, %{{.*}}: memref<f64>, %{{.*}}: index, %{{.*}}: index) attributes {llvm.bareptr, passthrough = ["noinline"]}
// CHECK:         %[[V:.*]] = memref.reinterpret_cast %[[P]] to offset: [0], sizes: [%[[EXTENT]]], strides: [1]
// CHECK:         scf.for
// CHECK:           memref.load %[[V]]
func.func @nested(%x: memref<?xf64>, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %n step %c1 {
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %x[%i] : memref<?xf64>
      %w = math.tanh %v : f64
      %s = arith.mulf %w, %w : f64
      %q = arith.mulf %s, %w : f64
      %u = arith.mulf %q, %s : f64
      memref.store %u, %y[%i] : memref<?xf64>
    }
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %y[%i] : memref<?xf64>
      %w = math.tanh %v : f64
      %s = arith.mulf %w, %w : f64
      %q = arith.mulf %s, %w : f64
      %u = arith.mulf %q, %s : f64
      memref.store %u, %x[%i] : memref<?xf64>
    }
  }
  return
}

// -----

// Where a slice starts is no part of the function's type.

// CHECK-LABEL: func.func @slices
// CHECK:       %[[FIRST:.*]] = memref.subview %{{.*}}[1, 0]
// CHECK:       %[[SECOND:.*]] = memref.subview %{{.*}}[2, 0]
// CHECK:       %[[FP:.*]], %[[FO:.*]], %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[FIRST]]
// CHECK:       call @slices.loop.0(%[[FP]], %[[FO]])
// CHECK:       %[[SP:.*]], %[[SO:.*]], %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[SECOND]]
// CHECK:       call @slices.loop.1(%[[SP]], %[[SO]])
// CHECK:       func.func private @slices.loop.1(%[[P:.*]]: memref<f64> {llvm.noalias}, %[[O:.*]]: index)
// CHECK:         memref.reinterpret_cast %[[P]] to offset: [%[[O]]], sizes: [8], strides: [1]
func.func @slices(%x: memref<4x8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %first = memref.subview %x[1, 0] [1, 8] [1, 1] : memref<4x8xf64> to memref<8xf64, strided<[1], offset: 8>>
  %second = memref.subview %x[2, 0] [1, 8] [1, 1] : memref<4x8xf64> to memref<8xf64, strided<[1], offset: 16>>
  scf.for %i = %c0 to %c8 step %c1 {
    %v = memref.load %first[%i] : memref<8xf64, strided<[1], offset: 8>>
    %w = math.tanh %v : f64
    memref.store %w, %first[%i] : memref<8xf64, strided<[1], offset: 8>>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %v = memref.load %second[%i] : memref<8xf64, strided<[1], offset: 16>>
    %w = math.tanh %v : f64
    memref.store %w, %second[%i] : memref<8xf64, strided<[1], offset: 16>>
  }
  return
}
