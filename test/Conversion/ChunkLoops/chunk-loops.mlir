// RUN: sparse-opt %s --sparse-autograd-chunk-loops="chunk-work=100 sparse-chunk-work=200" --canonicalize --cse | FileCheck %s

// A chunk has as many rows as make up the work that is wanted if rows are alike:
// an iteration of a row costs 1, and one of its loop as well.

// CHECK-LABEL: func.func @dense
// CHECK-SAME:  %[[M:.*]]: memref<?x8xf32>, %[[N:.*]]: index
// CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:   %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:   %[[C100:.*]] = arith.constant 100 : index
// CHECK:       %[[ROWS:.*]] = arith.maxsi %[[N]], %[[C0]]
// CHECK:       %[[INNER:.*]] = arith.muli %[[ROWS]], %[[C8]]
// CHECK:       %[[WORK:.*]] = arith.addi %[[INNER]], %[[ROWS]]
// CHECK:       %[[POSITIVE:.*]] = arith.maxsi %[[WORK]], %[[C1]]
// CHECK:       %[[SCALED:.*]] = arith.muli %[[N]], %[[C100]]
// CHECK:       %[[WANTED:.*]] = arith.ceildivsi %[[SCALED]], %[[POSITIVE]]
// CHECK:       %[[CHUNK:.*]] = arith.maxsi %[[WANTED]], %[[C1]]
// CHECK:       %[[COUNT:.*]] = arith.ceildivsi %[[N]], %[[CHUNK]]
// CHECK:       scf.parallel (%[[C:.*]]) = (%[[C0]]) to (%[[COUNT]]) step (%[[C1]])
// CHECK-NEXT:    %[[FIRST:.*]] = arith.muli %[[C]], %[[CHUNK]]
// CHECK-NEXT:    %[[NEXT:.*]] = arith.addi %[[FIRST]], %[[CHUNK]]
// CHECK-NEXT:    %[[LAST:.*]] = arith.minsi %[[NEXT]], %[[N]]
// CHECK-NEXT:    scf.for %[[I:.*]] = %[[FIRST]] to %[[LAST]] step %[[C1]]
// CHECK-NEXT:      scf.for
// CHECK:           memref.store %{{.*}}, %[[M]][%[[I]], %{{.*}}]
// CHECK-NOT:     schedule<parallel
// CHECK:       return
func.func @dense(%m: memref<?x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      memref.store %x, %m[%i, %j] : memref<?x8xf32>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}

// The entries of all rows are those between the first position and the last one.
// An exponential costs 8.

// CHECK-LABEL: func.func @entries
// CHECK-SAME:  %[[POS:.*]]: memref<?xindex>, %[[V:.*]]: memref<?xf32>, %[[N:.*]]: index
// CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:   %[[C9:.*]] = arith.constant 9 : index
// CHECK-DAG:   %[[C200:.*]] = arith.constant 200 : index
// CHECK:       %[[ROWS:.*]] = arith.maxsi %[[N]], %[[C0]]
// CHECK:       %[[BEGIN:.*]] = memref.load %[[POS]][%[[C0]]]
// CHECK:       %[[END:.*]] = memref.load %[[POS]][%[[N]]]
// CHECK:       %[[LENGTH:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK:       %[[ENTRIES:.*]] = arith.maxsi %[[LENGTH]], %[[C0]]
// CHECK:       %[[COST:.*]] = arith.muli %[[ENTRIES]], %[[C9]]
// CHECK:       %[[WORK:.*]] = arith.addi %[[COST]], %[[ROWS]]
// CHECK:       arith.muli %[[N]], %[[C200]]
// CHECK:       scf.parallel
// CHECK-NOT:   sparse_autograd
// CHECK:       return
func.func @entries(%positions: memref<?xindex>, %values: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex>
    %end = memref.load %positions[%next] : memref<?xindex>
    scf.for %p = %begin to %end step %c1 {
      %x = memref.load %values[%p] : memref<?xf32>
      %y = math.exp %x : f32
      memref.store %y, %values[%p] : memref<?xf32>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, entries>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}

// A loop that carries something runs in its order, and what is in it may run in
// parallel. A loop over chunks stays one.

// CHECK-LABEL: func.func @others
// CHECK:       scf.for
// CHECK:         scf.parallel
// CHECK:           scf.for
// CHECK:       scf.parallel
// CHECK-NEXT:    memref.store
// CHECK-NOT:   schedule<parallel
// CHECK:       return
func.func @others(%m: memref<?xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> f32 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %s, %m[%j] : memref<?xf32>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
    %v = memref.load %m[%i] : memref<?xf32>
    %t = arith.addf %s, %v : f32
    scf.yield %t : f32
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %x, %m[%i] : memref<?xf32>
  }
  return %sum : f32
}
