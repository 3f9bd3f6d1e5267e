// RUN: sparse-opt %s --sparse-autograd-distribute-scatter | FileCheck %s

// What is not known to access rows of the owner alone stays on one thread.

// CHECK-NOT: scf.parallel
// CHECK-NOT: scf.if

// Another row is read.
func.func @reads_others(%list: memref<?xindex>, %n: index) -> memref<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = memref.alloc() : memref<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    %v = memref.load %y[%c0, %c1] : memref<8x8xf32>
    memref.store %v, %y[%row, %c0] : memref<8x8xf32>
  }
  return %y : memref<8x8xf32>
}

// Two lists name rows.
func.func @two_lists(%list: memref<?xindex>, %other: memref<?xindex>, %n: index, %x: f32) -> memref<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = memref.alloc() : memref<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    %second = memref.load %other[%i] : memref<?xindex>
    memref.store %x, %y[%row, %c0] : memref<8x8xf32>
    memref.store %x, %y[%second, %c1] : memref<8x8xf32>
  }
  return %y : memref<8x8xf32>
}

// The list is written on the way.
func.func @written_list(%n: index, %x: f32) -> memref<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %list = memref.alloc(%n) : memref<?xindex>
  %y = memref.alloc() : memref<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    memref.store %x, %y[%row, %c0] : memref<8x8xf32>
    memref.store %c0, %list[%row] : memref<?xindex>
  }
  return %y : memref<8x8xf32>
}

// Something is carried, asserted or called.
func.func private @f()
func.func @others(%list: memref<?xindex>, %n: index, %x: f32, %ok: i1) -> memref<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = memref.alloc() : memref<8x8xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%before = %c0) -> index {
    %row = memref.load %list[%i] : memref<?xindex>
    memref.store %x, %y[%row, %c0] : memref<8x8xf32>
    scf.yield %row : index
  }
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    cf.assert %ok, "no"
    memref.store %x, %y[%row, %last] : memref<8x8xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    func.call @f() : () -> ()
    memref.store %x, %y[%row, %c0] : memref<8x8xf32>
  }
  return %y : memref<8x8xf32>
}

// One element takes no longer than to look who owns it.
func.func @elements(%list: memref<?xindex>, %n: index, %x: f32) -> memref<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = memref.alloc() : memref<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    memref.store %x, %y[%row] : memref<8xf32>
  }
  return %y : memref<8xf32>
}

// What is written has no dimension.
func.func @no_dimension(%list: memref<?xindex>, %n: index, %x: f32) -> memref<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = memref.alloc() : memref<f32>
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    memref.store %x, %y[] : memref<f32>
  }
  return %y : memref<f32>
}

// Strips that overlap: a vector is longer than a step, or the second strips do
// not begin where the first ones end.
func.func @overlap(%positions: memref<?xindex>, %coordinates: memref<?xindex>, %n: index, %v: vector<16xf32>) -> memref<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %y = memref.alloc(%n) : memref<?x64xf32>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    scf.for %c = %c0 to %c48 step %c8 {
      %first = memref.load %positions[%i] : memref<?xindex>
      %last = memref.load %positions[%next] : memref<?xindex>
      scf.for %p = %first to %last step %c1 {
        %j = memref.load %coordinates[%p] : memref<?xindex>
        vector.transfer_write %v, %y[%j, %c] {in_bounds = [true]} : vector<16xf32>, memref<?x64xf32>
      }
    }
  }
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    scf.for %c = %c0 to %c48 step %c16 {
      %first = memref.load %positions[%i] : memref<?xindex>
      %last = memref.load %positions[%next] : memref<?xindex>
      scf.for %p = %first to %last step %c1 {
        %j = memref.load %coordinates[%p] : memref<?xindex>
        vector.transfer_write %v, %y[%j, %c] {in_bounds = [true]} : vector<16xf32>, memref<?x64xf32>
      }
    }
    scf.for %c = %c32 to %c64 step %c16 {
      %first = memref.load %positions[%i] : memref<?xindex>
      %last = memref.load %positions[%next] : memref<?xindex>
      scf.for %p = %first to %last step %c1 {
        %j = memref.load %coordinates[%p] : memref<?xindex>
        vector.transfer_write %v, %y[%j, %c] {in_bounds = [true]} : vector<16xf32>, memref<?x64xf32>
      }
    }
  }
  return %y : memref<?x64xf32>
}
