// RUN: sparse-opt %s --sparse-autograd-prefetch-rows="distance=8" | FileCheck %s

// A row that a list names is asked for 8 iterations before it is read; not
// behind the end of the list.

// CHECK-LABEL: func.func @gather
// CHECK-SAME:  %[[LIST:.*]]: memref<?xi32>, %[[TABLE:.*]]: memref<?x?xf32>, %[[OUT:.*]]: memref<?x?xf32>
// CHECK:       scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NEXT:    %[[LOADED:.*]] = memref.load %[[LIST]][%[[I]]]
// CHECK-NEXT:    %[[ROW:.*]] = arith.index_castui %[[LOADED]]
// CHECK:         %[[LENGTH:.*]] = memref.dim %[[LIST]]
// CHECK:         %[[LAST:.*]] = arith.subi %[[LENGTH]], %{{.*}}
// CHECK:         %[[C8:.*]] = arith.constant 8 : index
// CHECK-NEXT:    %[[LATER:.*]] = arith.addi %[[I]], %[[C8]]
// CHECK-NEXT:    %[[AHEAD:.*]] = arith.minsi %[[LATER]], %[[LAST]]
// CHECK-NEXT:    %[[NEXT:.*]] = memref.load %[[LIST]][%[[AHEAD]]]
// CHECK-NEXT:    %[[NEXT_ROW:.*]] = arith.index_castui %[[NEXT]]
// CHECK:         memref.prefetch %[[TABLE]][%[[NEXT_ROW]], %{{.*}}], read, locality<3>, data
// CHECK-NOT:     memref.prefetch
// CHECK:         scf.for
func.func @gather(%list: memref<?xi32>, %table: memref<?x?xf32>, %out: memref<?x?xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %loaded = memref.load %list[%i] : memref<?xi32>
    %row = arith.index_castui %loaded : i32 to index
    scf.for %j = %c0 to %m step %c1 {
      %x = memref.load %table[%row, %j] : memref<?x?xf32>
      memref.store %x, %out[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// A row of a matrix is a list as well.

// CHECK-LABEL: func.func @matrix
// CHECK-SAME:  %[[LISTS:.*]]: memref<?x?xindex>, %[[TABLE:.*]]: memref<?x?xf32>, %{{.*}}: memref<?x?xf32>
// CHECK:       scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NEXT:    scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NEXT:      memref.load %[[LISTS]][%[[I]], %[[K]]]
// CHECK:           %[[AHEAD:.*]] = arith.minsi
// CHECK-NEXT:      %[[NEXT_ROW:.*]] = memref.load %[[LISTS]][%[[I]], %[[AHEAD]]]
// CHECK:           memref.prefetch %[[TABLE]][%[[NEXT_ROW]], %{{.*}}], read
// CHECK-NOT:     memref.prefetch
// CHECK:       return
func.func @matrix(%lists: memref<?x?xindex>, %table: memref<?x?xf32>, %out: memref<?x?xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %k = %c0 to %n step %c1 {
      %row = memref.load %lists[%i, %k] : memref<?x?xindex>
      scf.for %j = %c0 to %m step %c1 {
        %x = memref.load %table[%row, %j] : memref<?x?xf32>
        memref.store %x, %out[%k, %j] : memref<?x?xf32>
      }
    }
  }
  return
}

// What is written is asked for to be written.

// CHECK-LABEL: func.func @scatter
// CHECK:       memref.prefetch %{{.*}}[%{{.*}}, %{{.*}}], write, locality<3>, data
// CHECK-NOT:   memref.prefetch
// CHECK:       return
func.func @scatter(%list: memref<?xindex>, %table: memref<?x?xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    scf.for %j = %c0 to %m step %c1 {
      %x = memref.load %table[%row, %j] : memref<?x?xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %table[%row, %j] : memref<?x?xf32>
    }
  }
  return
}

// One element of a row is not worth it, a column has its elements apart, a list
// that is read in another order says nothing, and a table that the loop makes
// is not there yet.

// CHECK-LABEL: func.func @others
// CHECK-NOT:   memref.prefetch
// CHECK:       return
func.func @others(%list: memref<?xindex>, %vector: memref<?xf32>, %table: memref<?x?xf32>, %out: memref<?x?xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    %x = memref.load %vector[%row] : memref<?xf32>
    memref.store %x, %out[%c0, %i] : memref<?x?xf32>
    %own = memref.alloca() : memref<4x4xf32>
    scf.for %j = %c0 to %m step %c1 {
      %y = memref.load %table[%j, %row] : memref<?x?xf32>
      %z = memref.load %own[%row, %j] : memref<4x4xf32>
      %s = arith.addf %y, %z : f32
      memref.store %s, %out[%i, %j] : memref<?x?xf32>
    }
  }
  scf.for %i = %c0 to %n step %c2 {
    %row = memref.load %list[%i] : memref<?xindex>
    scf.for %j = %c0 to %m step %c1 {
      %x = memref.load %table[%row, %j] : memref<?x?xf32>
      memref.store %x, %out[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// What else is done with the number of the row, before or after, does not
// matter.

// CHECK-LABEL: func.func @other_uses
// CHECK-SAME:  %{{.*}}: memref<?xindex>, %{{.*}}: memref<?xf32>, %[[TABLE:[a-z0-9]+]]: memref<?x?xf32>
// CHECK:       memref.prefetch %[[TABLE]]
// CHECK-NOT:   memref.prefetch
// CHECK:       return
func.func @other_uses(%list: memref<?xindex>, %vector: memref<?xf32>, %table: memref<?x?xf32>, %out: memref<?x?xf32>, %numbers: memref<?xindex>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    %first = memref.load %vector[%row] : memref<?xf32>
    %before = arith.addi %row, %c1 : index
    memref.store %before, %numbers[%i] : memref<?xindex>
    scf.for %j = %c0 to %m step %c1 {
      %x = memref.load %table[%row, %j] : memref<?x?xf32>
      %y = arith.addf %x, %first : f32
      memref.store %y, %out[%i, %j] : memref<?x?xf32>
    }
    %after = arith.addi %row, %c1 : index
    memref.store %after, %numbers[%i] : memref<?xindex>
    memref.store %first, %vector[%row] : memref<?xf32>
  }
  return
}

// An element of a list that the number of a row names as well, in the loop over the
// row or around it, hides neither table.

// CHECK-LABEL: func.func @beside
// CHECK-SAME:  %{{.*}}: memref<?xindex>, %[[FIRST:[^:]*]]: memref<?x?xf32>, %[[SECOND:[^:]*]]: memref<?x?xf32>,
// CHECK-DAG:   memref.prefetch %[[FIRST]]
// CHECK-DAG:   memref.prefetch %[[SECOND]]
// CHECK-NOT:   memref.prefetch
// CHECK:       return
func.func @beside(%list: memref<?xindex>, %first: memref<?x?xf32>, %second: memref<?x?xf32>, %weights: memref<?xf32>, %out: memref<?x?xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    %w = memref.load %weights[%row] : memref<?xf32>
    scf.for %j = %c0 to %m step %c1 {
      %u = memref.load %weights[%row] : memref<?xf32>
      %x = memref.load %first[%row, %j] : memref<?x?xf32>
      %v = memref.load %weights[%row] : memref<?xf32>
      %y = memref.load %second[%row, %j] : memref<?x?xf32>
      %t = memref.load %weights[%row] : memref<?xf32>
      %p = arith.mulf %u, %x : f32
      %q = arith.mulf %v, %y : f32
      %r = arith.mulf %t, %w : f32
      %s = arith.addf %p, %q : f32
      %z = arith.addf %s, %r : f32
      memref.store %z, %out[%i, %j] : memref<?x?xf32>
    }
    memref.store %w, %weights[%row] : memref<?xf32>
  }
  return
}

// A vector that is written is asked for by all of its lines, in the row that
// the list will name and at the columns of the vector; a shorter one is not.

// CHECK-LABEL: func.func @vectors
// CHECK-SAME:  %{{.*}}: memref<?xindex>, %[[TABLE:[^:]*]]: memref<?x?xf32>,
// CHECK:       scf.for %[[I:.*]] =
// CHECK:         %[[NEXT:.*]] = memref.load
// CHECK:         scf.for %[[C:.*]] =
// CHECK:           %[[C0:.*]] = arith.constant 0 : index
// CHECK:           %[[FIRST:.*]] = arith.addi %[[C]], %[[C0]]
// CHECK:           memref.prefetch %[[TABLE]][%{{.*}}, %[[FIRST]]], write
// CHECK:           %[[C16:.*]] = arith.constant 16 : index
// CHECK:           %[[SECOND:.*]] = arith.addi %[[C]], %[[C16]]
// CHECK:           memref.prefetch %[[TABLE]][%{{.*}}, %[[SECOND]]], write
// CHECK-NOT:       memref.prefetch
// CHECK:           vector.transfer_read %[[TABLE]]
// CHECK-NOT:     memref.prefetch
// CHECK:       return
func.func @vectors(%list: memref<?xindex>, %table: memref<?x?xf32>, %other: memref<?x16xf32>, %read: memref<?x32xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    %r = vector.transfer_read %read[%row, %c0], %zero {in_bounds = [true]} : memref<?x32xf32>, vector<32xf32>
    scf.for %c = %c0 to %m step %c32 {
      %x = vector.transfer_read %table[%row, %c], %zero {in_bounds = [true]} : memref<?x?xf32>, vector<32xf32>
      %y = arith.addf %x, %r : vector<32xf32>
      vector.transfer_write %y, %table[%row, %c] {in_bounds = [true]} : vector<32xf32>, memref<?x?xf32>
    }
    %o = vector.transfer_read %other[%row, %c0], %zero {in_bounds = [true]} : memref<?x16xf32>, vector<16xf32>
    vector.transfer_write %o, %other[%row, %c0] {in_bounds = [true]} : vector<16xf32>, memref<?x16xf32>
  }
  return
}

// A vector that is read is asked for from 256 bytes on.

// CHECK-LABEL: func.func @read
// CHECK-SAME:  %{{.*}}: memref<?xindex>, %[[TABLE:[^:]*]]: memref<?x64xf32>,
// CHECK-COUNT-4: memref.prefetch %[[TABLE]][%{{.*}}, %{{.*}}], read
// CHECK-NOT:   memref.prefetch
// CHECK:       return
func.func @read(%list: memref<?xindex>, %table: memref<?x64xf32>, %out: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    %x = vector.transfer_read %table[%row, %c0], %zero {in_bounds = [true]} : memref<?x64xf32>, vector<64xf32>
    vector.transfer_write %x, %out[%i, %c0] {in_bounds = [true]} : vector<64xf32>, memref<?x64xf32>
  }
  return
}

// Numbers that are selected name entries, which name rows: those of a later
// iteration are computed as its own are, up to the last iteration. Not if what
// is selected may be written on the way.

// CHECK-LABEL: func.func @selected
// CHECK-SAME:  %[[SELECTED:[^:]*]]: memref<64xi32>, %[[LIST:[^:]*]]: memref<?xi32>, %{{[^:]*}}: memref<?x64xf32>, %[[N:[^:]*]]: index
// CHECK:       scf.for %[[I:.*]] =
// CHECK:         %[[LAST:.*]] = arith.subi %[[N]], %{{.*}}
// CHECK:         %[[AHEAD:.*]] = arith.minsi %{{.*}}, %[[LAST]]
// CHECK:         %[[CHOSEN:.*]] = memref.load %[[SELECTED]][%[[AHEAD]]]
// CHECK:         %[[ENTRY:.*]] = arith.index_castui %[[CHOSEN]]
// CHECK:         %[[NAMED:.*]] = memref.load %[[LIST]][%[[ENTRY]]]
// CHECK:         %[[ROW:.*]] = arith.index_castui %[[NAMED]]
// CHECK-COUNT-4: memref.prefetch %{{.*}}[%[[ROW]], %{{.*}}], write
// CHECK:       scf.for
// CHECK-NOT:   memref.prefetch
// CHECK:       return
func.func @selected(%selected: memref<64xi32>, %list: memref<?xi32>, %x: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %table = memref.alloc(%n) : memref<?x64xf32>
  scf.for %i = %c0 to %n step %c1 {
    %chosen = memref.load %selected[%i] : memref<64xi32>
    %entry = arith.index_castui %chosen : i32 to index
    %named = memref.load %list[%entry] : memref<?xi32>
    %row = arith.index_castui %named : i32 to index
    %y = vector.transfer_read %table[%row, %c0], %zero {in_bounds = [true]} : memref<?x64xf32>, vector<64xf32>
    %z = arith.addf %y, %y : vector<64xf32>
    vector.transfer_write %z, %table[%row, %c0] {in_bounds = [true]} : vector<64xf32>, memref<?x64xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %chosen = memref.load %selected[%i] : memref<64xi32>
    %entry = arith.index_castui %chosen : i32 to index
    %named = memref.load %list[%entry] : memref<?xi32>
    %row = arith.index_castui %named : i32 to index
    %y = vector.transfer_read %table[%row, %c0], %zero {in_bounds = [true]} : memref<?x64xf32>, vector<64xf32>
    %z = arith.addf %y, %y : vector<64xf32>
    vector.transfer_write %z, %table[%row, %c0] {in_bounds = [true]} : vector<64xf32>, memref<?x64xf32>
    memref.store %named, %selected[%i] : memref<64xi32>
  }
  return
}
