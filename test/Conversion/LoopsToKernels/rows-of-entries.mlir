// RUN: sparse-opt %s --sparse-autograd-fuse-kernels=for-host | FileCheck %s

// A sum of each row, what is computed of the sums, and a list with that factor are
// one loop over rows. The sum stays in a register; the list of sums is not there.

// CHECK-LABEL: func.func @normalized
// CHECK-SAME:  %[[POS:.*]]: memref<?xindex>, %[[V:.*]]: memref<?xf32>
// CHECK:       %[[RESULT:.*]] = memref.alloc
// CHECK-NOT:   memref.alloc
// CHECK:       scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK:         %[[SUM:.*]] = scf.for %[[P:.*]] = {{.*}} iter_args
// CHECK:         %[[FACTOR:.*]] = arith.divf %{{.*}}, %[[SUM]]
// CHECK:         scf.for %[[Q:.*]] =
// CHECK:           %[[X:.*]] = memref.load %[[V]][%[[Q]]]
// CHECK:           %[[Y:.*]] = arith.mulf %[[X]], %[[FACTOR]]
// CHECK:           memref.store %[[Y]], %[[RESULT]][%[[Q]]]
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK-NOT:   scf.for
// CHECK:       return %[[RESULT]]
func.func @normalized(%positions: memref<?xindex>, %values: memref<?xf32>, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %size = memref.dim %values, %c0 : memref<?xf32>
  %sums = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex>
    %end = memref.load %positions[%next] : memref<?xindex>
    %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %zero) -> (f32) {
      %x = memref.load %values[%p] : memref<?xf32>
      %t = arith.addf %s, %x fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %sum, %sums[%i] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %s = memref.load %sums[%i] : memref<?xf32>
    %f = arith.divf %one, %s : f32
    memref.store %f, %sums[%i] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  %result = memref.alloc(%size) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex>
    %end = memref.load %positions[%next] : memref<?xindex>
    scf.for %p = %begin to %end step %c1 {
      %x = memref.load %values[%p] : memref<?xf32>
      %s = memref.load %sums[%i] : memref<?xf32>
      %y = arith.mulf %x, %s : f32
      memref.store %y, %result[%p] : memref<?xf32>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  memref.dealloc %sums : memref<?xf32>
  return %result : memref<?xf32>
}

// A vector at a row of a matrix is apart from those at other rows; one along the
// rows of a list is not.

// CHECK-LABEL: func.func @vectors
// CHECK:       scf.for
// CHECK:         vector.transfer_write
// CHECK:         memref.load
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       scf.for
// CHECK:         vector.transfer_write
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       scf.for
// CHECK:         memref.load
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
func.func @vectors(%positions: memref<?xindex>, %m: memref<?x16xf32>, %l: memref<?xf32>, %n: index) -> (memref<?xf32>, memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ones = arith.constant dense<1.0> : vector<16xf32>
  %first = memref.alloc(%n) : memref<?xf32>
  %second = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %begin = memref.load %positions[%i] : memref<?xindex>
    %next = arith.addi %i, %c1 : index
    %end = memref.load %positions[%next] : memref<?xindex>
    scf.for %p = %begin to %end step %c1 {
      vector.transfer_write %ones, %m[%i, %c0] {in_bounds = [true]} : vector<16xf32>, memref<?x16xf32>
    }
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %m[%i, %c1] : memref<?x16xf32>
    memref.store %x, %first[%i] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %begin = memref.load %positions[%i] : memref<?xindex>
    %next = arith.addi %i, %c1 : index
    %end = memref.load %positions[%next] : memref<?xindex>
    scf.for %p = %begin to %end step %c1 {
      vector.transfer_write %ones, %l[%i] : vector<16xf32>, memref<?xf32>
    }
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %l[%i] : memref<?xf32>
    memref.store %x, %second[%i] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return %first, %second : memref<?xf32>, memref<?xf32>
}

// Dense loops are fused before, and loops over chunks have been scheduled.

// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK-COUNT-2: scf.parallel
func.func @others(%positions: memref<?xindex>, %m: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %m[%i] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %y = memref.load %m[%i] : memref<?xf32>
    %z = arith.addf %y, %y : f32
    memref.store %z, %m[%i] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %x, %m[%i] : memref<?xf32>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %y = memref.load %m[%i] : memref<?xf32>
    %z = arith.addf %y, %y : f32
    memref.store %z, %m[%i] : memref<?xf32>
  }
  return
}

// What a function does with a buffer is not known.

func.func private @write(memref<?xf32>, index)

// CHECK-LABEL: func.func @calls
// CHECK:       call @write
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:       memref.load
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
func.func @calls(%positions: memref<?xindex>, %values: memref<?xf32>, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %result = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex>
    %end = memref.load %positions[%next] : memref<?xindex>
    scf.for %p = %begin to %end step %c1 {
      func.call @write(%values, %p) : (memref<?xf32>, index) -> ()
    }
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex>
    %end = memref.load %positions[%next] : memref<?xindex>
    scf.for %p = %begin to %end step %c1 {
      %x = memref.load %values[%p] : memref<?xf32>
      memref.store %x, %result[%i] : memref<?xf32>
    }
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return %result : memref<?xf32>
}
