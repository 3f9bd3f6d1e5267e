// RUN: sparse-opt %s --sparse-autograd-attach-cpu=cpu=znver4 --sparse-autograd-vectorize-entries --canonicalize --cse | FileCheck %s

// What is read where a list says is gathered, 8 elements at once, if there are many
// rows, which are short, and if no number of 32 bits has the bit of a sign. Else
// the loop is as it was.

// CHECK-LABEL: func.func @product
// CHECK-SAME:  %[[POS:[^:]*]]: memref<?xi32>, %[[CRD:[^:]*]]: memref<?xi32>, %[[V:[^:]*]]: memref<?xf32>, %[[X:[^:]*]]: memref<?xf32>,
// CHECK-DAG:   %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:   %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG:   %[[C8192:.*]] = arith.constant 8192 : index
// CHECK-DAG:   %[[LONGEST:.*]] = arith.constant 2147483648 : index
// CHECK:         %[[ROWS:.*]] = memref.dim %[[POS]]
// CHECK:         %[[MOST:.*]] = arith.muli %[[ROWS]], %[[C32]]
// CHECK:         %[[MANY:.*]] = arith.cmpi uge, %[[ROWS]], %[[C8192]]
// CHECK:         %[[ENTRIES:.*]] = memref.dim %[[CRD]]
// CHECK:         %[[SHORT:.*]] = arith.cmpi ule, %[[ENTRIES]], %[[MOST]]
// CHECK:         %[[BOTH:.*]] = arith.andi %[[MANY]], %[[SHORT]]
// CHECK:         %[[LENGTH:.*]] = memref.dim %[[X]]
// CHECK:         %[[SIGNED:.*]] = arith.cmpi ule, %[[LENGTH]], %[[LONGEST]]
// CHECK:         %[[WORTH:.*]] = arith.andi %[[BOTH]], %[[SIGNED]]
// CHECK:         scf.if %[[WORTH]] -> (f32) {
// CHECK:           scf.for %{{.*}} step %[[C8]]
// CHECK:             %[[NUMBERS:.*]] = vector.load %[[CRD]]
// CHECK:             vector.gather %[[X]]{{.*}} [%[[NUMBERS]]], %{{.*}}vector<8xi32>
// CHECK:           scf.if
// CHECK:             %[[REST:.*]] = vector.maskedload %[[CRD]][%{{.*}}], %[[MASK:.*]], %{{.*}}
// CHECK:             vector.gather %[[X]]{{.*}} [%[[REST]]], %[[MASK]]
// The sum of the lanes, then the other loop.
// CHECK:           } else {
// CHECK:         } else {
// CHECK-NEXT:      scf.for
// CHECK-NOT:       vector
// CHECK:           memref.load %[[X]]
func.func @product(%positions: memref<?xi32>, %coordinates: memref<?xi32>, %values: memref<?xf32>, %x: memref<?xf32>, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %first = memref.load %positions[%i] : memref<?xi32>
    %begin = arith.index_castui %first : i32 to index
    %last = memref.load %positions[%next] : memref<?xi32>
    %end = arith.index_castui %last : i32 to index
    %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %zero) -> (f32) {
      %j = memref.load %coordinates[%p] : memref<?xi32>
      %c = arith.index_castui %j : i32 to index
      %v = memref.load %values[%p] : memref<?xf32>
      %u = memref.load %x[%c] : memref<?xf32>
      %t = arith.mulf %v, %u : f32
      %r = arith.addf %s, %t fastmath<reassoc> : f32
      scf.yield %r : f32
    }
    memref.store %sum, %y[%i] : memref<?xf32>
  }
  return %y : memref<?xf32>
}

// Numbers of 64 bits, and those of a list that is short, need no such guard. A
// gather may stand in a loop that carries nothing.

// CHECK-LABEL: func.func @scale
// CHECK-NOT:     2147483648
// CHECK:         scf.if %{{[^-]*}} {
// CHECK:           vector.gather %{{.*}} : memref<100xf64>, vector<8xi32>
// CHECK:           vector.gather %{{.*}} : memref<?xf64>, vector<8xindex>
// CHECK:           vector.store
// CHECK:         } else {
// CHECK:           memref.store
func.func @scale(%positions: memref<?xindex>, %narrow: memref<?xi32>, %wide: memref<?xindex>, %short: memref<100xf64>, %x: memref<?xf64>, %n: index, %m: index) -> memref<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %values = memref.alloc(%m) : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex>
    %end = memref.load %positions[%next] : memref<?xindex>
    scf.for %p = %begin to %end step %c1 {
      %j = memref.load %narrow[%p] : memref<?xi32>
      %c = arith.index_castui %j : i32 to index
      %k = memref.load %wide[%p] : memref<?xindex>
      %u = memref.load %short[%c] : memref<100xf64>
      %v = memref.load %x[%k] : memref<?xf64>
      %t = arith.mulf %u, %v : f64
      memref.store %t, %values[%p] : memref<?xf64>
    }
  }
  return %values : memref<?xf64>
}

// What is written in the loop is not gathered, nor what a number that is computed
// names, nor what has two dimensions.

// CHECK-LABEL: func.func @others
// CHECK-NOT:     vector.gather
// CHECK:         return
func.func @others(%positions: memref<?xindex>, %coordinates: memref<?xindex>, %table: memref<?x?xf64>, %n: index, %m: index) -> memref<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %values = memref.alloc(%m) : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex>
    %end = memref.load %positions[%next] : memref<?xindex>
    scf.for %p = %begin to %end step %c1 {
      %k = memref.load %coordinates[%p] : memref<?xindex>
      %v = memref.load %values[%k] : memref<?xf64>
      memref.store %v, %values[%p] : memref<?xf64>
    }
    %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
      %k = memref.load %coordinates[%p] : memref<?xindex>
      %l = arith.addi %k, %c1 : index
      %v = memref.load %values[%l] : memref<?xf64>
      %r = arith.addf %s, %v fastmath<reassoc> : f64
      scf.yield %r : f64
    }
    memref.store %sum, %values[%i] : memref<?xf64>
    %other = scf.for %p = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
      %k = memref.load %coordinates[%p] : memref<?xindex>
      %v = memref.load %table[%k, %i] : memref<?x?xf64>
      %r = arith.addf %s, %v fastmath<reassoc> : f64
      scf.yield %r : f64
    }
    memref.store %other, %values[%i] : memref<?xf64>
  }
  return %values : memref<?xf64>
}
