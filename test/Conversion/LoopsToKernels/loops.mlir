// RUN: sparse-opt %s --sparse-autograd-loops-to-kernels | FileCheck %s

#device = #gpu.address_space<global>

// A thread for each iteration of two loops; neighbouring threads are neighbours
// in the last dimension. The inner loop is one of the thread.
// CHECK-LABEL: func.func @product(
func.func @product(%a: memref<?x?xf32, #device>, %x: memref<?xf32, #device>, %y: memref<?x?xf32, #device>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK: %[[ROWS:.*]] = arith.maxsi
  // CHECK: %[[COLUMNS:.*]] = arith.maxsi
  // CHECK: %[[DOWN_ALL:.*]] = arith.muli %{{.*}}, %[[ROWS]]
  // CHECK: arith.cmpi sle, %[[COLUMNS]], %c16
  // CHECK: %[[WIDTH:.*]] = arith.select %{{.*}}, %c1_{{[0-9]+}}, %{{.*}} : index
  // CHECK: %[[HEIGHT:.*]] = arith.divui %c256{{.*}}, %[[WIDTH]]
  // CHECK: %[[ACROSS:.*]] = arith.ceildivui %[[COLUMNS]], %[[WIDTH]]
  // CHECK: %[[DOWN:.*]] = arith.ceildivui %[[DOWN_ALL]], %[[HEIGHT]]
  // CHECK: %[[BLOCKS:.*]] = arith.muli %[[ACROSS]], %[[DOWN]]
  // CHECK: gpu.launch blocks(%[[B:[^,]*]], {{.*}}) in (%{{.*}} = %[[BLOCKS]], {{.*}}) threads(%[[X:[^,]*]], %[[Y:[^,]*]], {{.*}}) in (%[[SX:.*]] = %[[WIDTH]], %[[SY:.*]] = %[[HEIGHT]],
  // CHECK: arith.divui %{{.*}} : i32
  // CHECK: arith.remui %{{.*}} : i32
  // CHECK: %[[FIRST_ROW:.*]] = arith.muli %{{.*}}, %[[SY]]
  // CHECK: %[[ROW:.*]] = arith.addi %[[FIRST_ROW]], %[[Y]]
  // CHECK: %[[FIRST_COLUMN:.*]] = arith.muli %{{.*}}, %[[SX]]
  // CHECK: %[[COLUMN:.*]] = arith.addi %[[FIRST_COLUMN]], %[[X]]
  // CHECK: arith.cmpi ult, %[[ROW]], %[[DOWN_ALL]]
  // CHECK: arith.cmpi ult, %[[COLUMN]], %[[COLUMNS]]
  // CHECK: %[[INSIDE:.*]] = arith.andi
  // CHECK: scf.if %[[INSIDE]]
  // CHECK: arith.muli %[[ROW]], %c2
  // CHECK: scf.for
  // CHECK-NOT: scf.parallel
  // CHECK: gpu.terminator
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c2, %c1) {
    scf.parallel (%k) = (%c0) to (%m) step (%c1) {
      %u = memref.load %a[%i, %k] : memref<?x?xf32, #device>
      %v = memref.load %x[%k] : memref<?xf32, #device>
      %p = arith.mulf %u, %v : f32
      %s = memref.load %y[%i, %j] : memref<?x?xf32, #device>
      %t = arith.addf %s, %p : f32
      memref.store %t, %y[%i, %j] : memref<?x?xf32, #device>
    }
  }
  return
}

// A sum is one of one thread; the host reads it, and decides by it.
// CHECK-LABEL: func.func @sum(
func.func @sum(%x: memref<?xf32, #device>, %y: memref<?xf32, #device>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[PLACE:.*]] = memref.alloc() : memref<f32, #gpu.address_space<global>>
  // CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c1{{.*}}) threads({{.*}}) in (%{{.*}} = %c1
  // CHECK: %[[SUM:.*]] = scf.for
  // CHECK: memref.store %[[SUM]], %[[PLACE]][]
  // CHECK: gpu.terminator
  // CHECK: %[[ELEMENT:.*]] = memref.subview %[[PLACE]]
  // CHECK: %[[HOST:.*]] = memref.alloca() : memref<f32>
  // CHECK: memref.copy %[[ELEMENT]], %[[HOST]]
  // CHECK: %[[S:.*]] = memref.load %[[HOST]][] : memref<f32>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%o = %zero) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32, #device>
    %t = arith.addf %o, %v : f32
    scf.yield %t : f32
  }
  // CHECK: %[[IS:.*]] = arith.cmpf ogt, %[[S]]
  // CHECK: scf.if %[[IS]]
  // CHECK: gpu.launch
  %is = arith.cmpf ogt, %s, %zero : f32
  scf.if %is {
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %x[%i] : memref<?xf32, #device>
      memref.store %v, %y[%i] : memref<?xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  }
  // CHECK: return %[[S]]
  return %s : f32
}

// What threads do for each element is done for four, a block apart. More is done
// for one at a time, and so is what may fail.
// CHECK-LABEL: func.func @elements(
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %{{.*}}, %c1024
// CHECK: gpu.launch blocks(%[[B:[^,]*]], {{.*}}) in (%{{.*}} = %[[BLOCKS]], {{.*}}) threads(%[[X:[^,]*]], {{.*}}) in (%{{.*}} = %c256
// CHECK: %[[BEFORE:.*]] = arith.muli %[[B]], %c1024
// CHECK: %[[FIRST:.*]] = arith.addi %[[BEFORE]], %[[X]]
// CHECK-COUNT-4: memref.load
// CHECK-COUNT-4: math.exp
// CHECK-COUNT-4: memref.store
// CHECK: memref.load
// CHECK: arith.ceildivui %{{.*}}, %c256
// CHECK: gpu.launch
// CHECK: memref.load
// CHECK-NOT: memref.load
// CHECK: gpu.terminator
func.func @elements(%x: memref<?xf32, #device>, %y: memref<?xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32, #device>
    %e = math.exp %v : f32
    memref.store %e, %y[%i] : memref<?xf32, #device>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32, #device>
    %is = arith.cmpf ogt, %v, %zero : f32
    cf.assert %is, "not positive"
    memref.store %v, %y[%i] : memref<?xf32, #device>
  }
  return
}

// Of loops that do nothing none is left.
// CHECK-LABEL: func.func @nothing(
// CHECK-NOT: scf
// CHECK: return
func.func @nothing(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.for %j = %c0 to %i step %c1 {
    }
  }
  scf.for %i = %c0 to %n step %c1 {
    scf.parallel (%j) = (%c0) to (%i) step (%c1) {
    }
  }
  return
}

// The host does one iteration after the other.
// CHECK-LABEL: func.func @host(
// CHECK-NOT: gpu.launch
// CHECK: scf.for
// CHECK-NOT: scf.parallel
// CHECK: return
func.func @host(%x: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %x[%i] : memref<?xf32>
  }
  return
}

// Parallel loops directly within one another are one kernel; what the outer one
// reads, each thread reads. It does four rows, a block apart, together, and one by
// one what is left.
// CHECK-LABEL: func.func @nest(
// CHECK: %[[DEPTH:.*]] = arith.muli %[[HEIGHT:.*]], %c4
// CHECK: %[[DOWN:.*]] = arith.ceildivui %[[ROWS:.*]], %[[DEPTH]]
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}}, %[[OWN_HEIGHT:.*]] = %[[HEIGHT]],
// CHECK: %[[OWN_DEPTH:.*]] = arith.muli %[[OWN_HEIGHT]], %c4
// CHECK: %[[ABOVE:.*]] = arith.muli %{{.*}}, %[[OWN_DEPTH]]
// CHECK: %[[ROW:.*]] = arith.addi %[[ABOVE]], %{{.*}}
// CHECK: %[[REST:.*]] = arith.subi %[[ROWS]], %[[ROW]]
// CHECK: %[[MOST:.*]] = arith.muli %[[OWN_HEIGHT]], %c4
// CHECK: %[[SOME:.*]] = arith.minui %[[REST]], %[[MOST]]
// CHECK: %[[TURNS_I32:.*]] = arith.ceildivui %{{.*}}, %{{.*}} : i32
// CHECK: %[[TURNS:.*]] = arith.index_castui %[[TURNS_I32]]
// CHECK: scf.if
// CHECK: %[[COUNT:.*]] = arith.maxsi %[[TURNS]], %c0
// CHECK: %[[GROUPS:.*]] = arith.divui %[[COUNT]], %c4
// CHECK: %[[DONE:.*]] = arith.muli %[[GROUPS]], %c4
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[GROUPS]] step
// CHECK: %[[R0:.*]] = memref.load %{{.*}} : memref<?xindex, #gpu.address_space<global>>
// CHECK: %[[R1:.*]] = memref.load
// CHECK: %[[R2:.*]] = memref.load
// CHECK: %[[R3:.*]] = memref.load
// CHECK: memref.store %{{.*}}[%[[R0]], %{{.*}}]
// CHECK-NEXT: memref.store %{{.*}}[%[[R1]], %{{.*}}]
// CHECK-NEXT: memref.store %{{.*}}[%[[R2]], %{{.*}}]
// CHECK-NEXT: memref.store %{{.*}}[%[[R3]], %{{.*}}]
// CHECK-NEXT: } {llvm.loop_annotation = #[[ONCE:.*]]}
// CHECK: scf.for %[[T:.*]] = %[[DONE]] to %[[TURNS]] step
// CHECK: %[[FURTHER:.*]] = arith.muli %[[T]], %[[OWN_HEIGHT]]
// CHECK: arith.addi %[[FURTHER]], %[[ROW]]
// CHECK: %[[R:.*]] = memref.load %{{.*}} : memref<?xindex, #gpu.address_space<global>>
// CHECK-NOT: memref.load
// CHECK: memref.store %{{.*}}[%[[R]], %{{.*}}]
// CHECK: gpu.terminator
// CHECK-NOT: gpu.launch
func.func @nest(%rows: memref<?xindex, #device>, %y: memref<?x8xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %r = memref.load %rows[%i] : memref<?xindex, #device>
    scf.for %k = %c0 to %c8 step %c1 {
      memref.store %zero, %y[%r, %k] : memref<?x8xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}

// Not if the outer one writes, or says how far the inner one goes.
// CHECK-LABEL: func.func @no_nest(
// CHECK: gpu.launch
// CHECK: scf.for
// CHECK: gpu.terminator
// CHECK: gpu.launch
// CHECK: scf.for
// CHECK: gpu.terminator
func.func @no_nest(%ends: memref<?xindex, #device>, %y: memref<?x8xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    memref.store %c0, %ends[%i] : memref<?xindex, #device>
    scf.for %k = %c0 to %c8 step %c1 {
      memref.store %zero, %y[%i, %k] : memref<?x8xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %end = memref.load %ends[%i] : memref<?xindex, #device>
    scf.for %k = %c0 to %end step %c1 {
      memref.store %zero, %y[%i, %k] : memref<?x8xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}

// One thread does what comes one after the other, and the host what is computed
// of a number alone.
// CHECK-LABEL: func.func @run(
// CHECK: gpu.launch
// CHECK: memref.load
// CHECK: arith.mulf
// CHECK: memref.store
// CHECK: memref.store
// CHECK: gpu.terminator
// CHECK-NOT: gpu.launch
// CHECK: memref.copy
// CHECK: %[[V:.*]] = memref.load %{{.*}}[] : memref<f32>
// CHECK: math.sqrt %[[V]]
func.func @run(%x: memref<f32, #device>, %y: memref<f32, #device>, %z: memref<f32, #device>, %n: index) -> f32 {
  %v = memref.load %x[] : memref<f32, #device>
  %p = arith.mulf %v, %v : f32
  memref.store %p, %y[] : memref<f32, #device>
  memref.store %p, %z[] : memref<f32, #device>
  %d = memref.alloc(%n) : memref<?xf32, #device>
  memref.dealloc %d : memref<?xf32, #device>
  %r = memref.load %x[] : memref<f32, #device>
  %s = math.sqrt %r : f32
  return %s : f32
}

// Where a view begins the host reads, also if a thread goes on with the view.
// CHECK-LABEL: func.func @window(
// CHECK: memref.copy
// CHECK: %[[AT:.*]] = memref.load %{{.*}}[] : memref<index>
// CHECK: %[[VIEW:.*]] = memref.subview %{{.*}}[%[[AT]]]
// CHECK: gpu.launch
// CHECK: memref.store %{{.*}}, %[[VIEW]]
// CHECK: gpu.launch
// CHECK: memref.store %{{.*}}, %[[VIEW]]
func.func @window(%x: memref<?xf32, #device>, %at: memref<index, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %i = memref.load %at[] : memref<index, #device>
  %view = memref.subview %x[%i] [%n] [1] : memref<?xf32, #device> to memref<?xf32, strided<[1], offset: ?>, #device>
  memref.store %zero, %view[%c0] : memref<?xf32, strided<[1], offset: ?>, #device>
  scf.parallel (%k) = (%c0) to (%n) step (%c1) {
    memref.store %zero, %view[%k] : memref<?xf32, strided<[1], offset: ?>, #device>
  }
  return
}

// A loop that only asserts is the host's.
// CHECK-LABEL: func.func @assertions(
// CHECK: scf.for
// CHECK-NEXT: cf.assert
// CHECK-NOT: gpu.launch
// CHECK: return
func.func @assertions(%n: index, %is: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    cf.assert %is, "no elements"
  }
  return
}
