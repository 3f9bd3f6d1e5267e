// What a function allocates at most (lib/Analysis/MemoryBound.cpp), of what is
// in use together, by sizes that lib/Analysis/SizeBound.cpp bounds.
// RUN: sparse-opt %s --test-sparse-autograd-memory-bound -o /dev/null | FileCheck %s --match-full-lines

// One after the other.
// CHECK: @apart: max(4 * dim(0, 0), 16 * dim(1, 0))
func.func @apart(%x: memref<?xf32>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %m = memref.dim %y, %c0 : memref<?xf64>
  %0 = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %0 : memref<?xf32>
  %1 = memref.alloc(%m) : memref<?xf64>
  %2 = memref.alloc(%m) : memref<?xf64>
  memref.dealloc %1 : memref<?xf64>
  memref.dealloc %2 : memref<?xf64>
  return
}

// The larger of two that are known to be alike, and what is kept beside it.
// CHECK-NEXT: @alike: 8 + 8 * dim(0, 0)
func.func @alike(%x: memref<?xf32>, %y: memref<?xf64>) -> memref<f64> {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %m = memref.dim %y, %c0 : memref<?xf64>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "extents"
  %r = memref.alloc() : memref<f64>
  %0 = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %0 : memref<?xf32>
  %1 = memref.alloc(%m) : memref<?xf64>
  memref.dealloc %1 : memref<?xf64>
  return %r : memref<f64>
}

// What is released under a condition counts to the end.
// CHECK-NEXT: @condition: 12 * dim(0, 0)
func.func @condition(%x: memref<?xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %0 = memref.alloc(%n) : memref<?xf32>
  scf.if %c {
    memref.dealloc %0 : memref<?xf32>
  }
  %1 = memref.alloc(%n) : memref<?xf64>
  memref.dealloc %1 : memref<?xf64>
  return
}

// The larger branch; a branch that keeps what it allocates.
// CHECK-NEXT: @branches: max(8 * dim(0, 1), 5 * dim(0, 0))
func.func @branches(%x: memref<?x?xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.if %c {
    %1 = memref.alloc(%m) : memref<?xf64>
    memref.dealloc %1 : memref<?xf64>
  } else {
    %2 = memref.alloc(%n) : memref<?xf32>
  }
  %3 = memref.alloc(%n) : memref<?xi1>
  memref.dealloc %3 : memref<?xi1>
  return
}

// A loop that releases what each iteration takes; arithmetic.
// CHECK-NEXT: @loop: 64 + 8 * dim(0, 0)
func.func @loop(%x: memref<?xf64>, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %half = arith.divsi %n, %c2 : index
  %more = arith.addi %half, %c8 : index
  scf.for %i = %c0 to %k step %c1 {
    %0 = memref.alloc(%more) : memref<?xf64>
    memref.dealloc %0 : memref<?xf64>
  }
  return
}

// How often an iteration of two loops adds 2 and then 1.
// CHECK-NEXT: @count: 3 * dim(0, 0) * dim(0, 1)
func.func @count(%x: memref<?x?xf64>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?x?xf64>
  %m = memref.dim %x, %c1 : memref<?x?xf64>
  %count = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (index) {
    %b = scf.for %j = %c0 to %m step %c1 iter_args(%d = %a) -> (index) {
      %e = arith.addi %d, %c2 : index
      %f = scf.if %c -> (index) {
        %g = arith.addi %e, %c1 : index
        scf.yield %g : index
      } else {
        scf.yield %e : index
      }
      scf.yield %f : index
    }
    scf.yield %b : index
  }
  %0 = memref.alloc(%count) : memref<?xi8>
  memref.dealloc %0 : memref<?xi8>
  return
}

// Sizes that nothing is known of, loops that keep what they allocate, calls.
// CHECK-NEXT: @given: no bound
// CHECK-NEXT: @negative: no bound
// CHECK-NEXT: @grows: no bound
// CHECK-NEXT: @calls: no bound
// CHECK-NEXT: @parallel: no bound
func.func @given(%n: index) {
  %0 = memref.alloc(%n) : memref<?xf64>
  memref.dealloc %0 : memref<?xf64>
  return
}
func.func @negative(%x: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %less = arith.constant -1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %m = arith.muli %n, %less : index
  %0 = memref.alloc(%m) : memref<?xf64>
  memref.dealloc %0 : memref<?xf64>
  return
}
func.func @grows(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.alloc() : memref<8xf64>
  }
  return
}
func.func @calls() {
  func.call @parallel_of_constants() : () -> ()
  return
}
func.func @parallel(%x: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %0 = memref.alloc(%n) : memref<?xf64>
    memref.dealloc %0 : memref<?xf64>
  }
  return
}

// Blocks of threads come on top.
// CHECK-NEXT: @parallel_of_constants: 0
func.func @parallel_of_constants() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %0 = memref.alloc() : memref<8xf64>
    memref.dealloc %0 : memref<8xf64>
  }
  return
}

// Counters that loops increase before one of them is read, added up in place.
// CHECK-NEXT: @counters: 8 + 8 * dim(0, 0) + dim(0, 0) * dim(0, 1)
func.func @counters(%x: memref<?x?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xindex>
  %m = memref.dim %x, %c1 : memref<?x?xindex>
  %length = arith.addi %n, %c1 : index
  %counters = memref.alloc(%length) : memref<?xindex>
  scf.for %i = %c0 to %length step %c1 {
    memref.store %c0, %counters[%i] : memref<?xindex>
  }
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %row = memref.load %x[%i, %j] : memref<?x?xindex>
      %count = memref.load %counters[%row] : memref<?xindex>
      %next = arith.addi %count, %c1 : index
      memref.store %next, %counters[%row] : memref<?xindex>
    }
  }
  %all = scf.for %i = %c0 to %length step %c1 iter_args(%sum = %c0) -> (index) {
    %count = memref.load %counters[%i] : memref<?xindex>
    memref.store %sum, %counters[%i] : memref<?xindex>
    %next = arith.addi %sum, %count : index
    scf.yield %next : index
  }
  %entries = memref.load %counters[%n] : memref<?xindex>
  %0 = memref.alloc(%entries) : memref<?xi8>
  // After it they are places.
  scf.for %i = %c0 to %n step %c1 {
    %place = memref.load %counters[%i] : memref<?xindex>
    %next = arith.addi %place, %c1 : index
    memref.store %next, %counters[%i] : memref<?xindex>
  }
  memref.dealloc %0 : memref<?xi8>
  memref.dealloc %counters : memref<?xindex>
  return
}
