// RUN: sparse-opt %s --sparse-autograd-loops-to-kernels --canonicalize --cse | FileCheck %s

#device = #gpu.address_space<global>

// A number that a kernel has left on the device ends the loops behind it: each of
// them is launched for as many iterations as the host knows of, and reads the
// number itself. Nothing is copied.

// CHECK-LABEL: func.func @bounds(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?xf32, #gpu.address_space<global>>, %[[Z:[^:]*]]: memref<?x64xf32, #gpu.address_space<global>>, %[[MOST:[^:]*]]: index)
// CHECK:       %[[COUNT:.*]] = memref.alloc() : memref<1xindex, #gpu.address_space<global>>
// CHECK:       gpu.launch
// CHECK-NOT:   memref.copy
// CHECK-NOT:   memref.load
// CHECK:       %[[COUNT_MOST:.*]] = arith.maxsi %[[MOST]], %c0
// CHECK:       gpu.launch
// CHECK-NEXT:    %[[READ:.*]] = memref.load %[[COUNT]][%c0]
// CHECK-NEXT:    %[[ENTRIES:.*]] = arith.minui %[[READ]], %[[MOST]]
// CHECK-NEXT:    %[[OWN:.*]] = arith.maxsi %[[ENTRIES]], %c0
// CHECK-NOT:     %[[COUNT_MOST]]
// CHECK:         arith.cmpi ult, %{{.*}}, %[[OWN]]
// CHECK:         arith.subi %[[OWN]],
// CHECK-NOT:     %[[COUNT_MOST]]
// CHECK:         gpu.terminator
// CHECK:       arith.ceildivui %[[COUNT_MOST]],
// CHECK:       gpu.launch
// CHECK-NEXT:    %[[READ:.*]] = memref.load %[[COUNT]][%c0]
// CHECK-NEXT:    %[[ENTRIES:.*]] = arith.minui %[[READ]], %[[MOST]]
// CHECK-NEXT:    %[[OWN:.*]] = arith.maxsi %[[ENTRIES]], %c0
// CHECK-NOT:     %[[COUNT_MOST]]
// CHECK:         arith.cmpi ult, %{{.*}}, %[[OWN]]
// CHECK:         arith.cmpi ult, %{{.*}}, %c64
// CHECK-NOT:     %[[COUNT_MOST]]
// CHECK:         gpu.terminator
// CHECK-NOT:   memref.copy
// CHECK:       memref.dealloc %[[COUNT]]
func.func @bounds(%x: memref<?xf32, #device>, %z: memref<?x64xf32, #device>, %most: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %count = memref.alloc() : memref<1xindex, #device>
  memref.store %most, %count[%c0] : memref<1xindex, #device>
  %read = memref.load %count[%c0] : memref<1xindex, #device>
  %n = arith.minui %read, %most : index
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32, #device>
    %v = arith.negf %u : f32
    memref.store %v, %x[%i] : memref<?xf32, #device>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c64) step (%c1, %c1) {
    %u = memref.load %z[%i, %j] : memref<?x64xf32, #device>
    %v = memref.load %x[%i] : memref<?xf32, #device>
    %w = arith.mulf %u, %v : f32
    memref.store %w, %z[%i, %j] : memref<?x64xf32, #device>
  }
  memref.dealloc %count : memref<1xindex, #device>
  return
}

// So do groups of lanes. Which operand is read does not matter.

// CHECK-LABEL: func.func @lanes(
// CHECK-NOT:   memref.copy
// CHECK:       gpu.launch
// CHECK:       gpu.launch
// CHECK-NEXT:    memref.load
// CHECK-NEXT:    arith.minui
// CHECK:         gpu.terminator
// CHECK-NOT:   memref.copy
func.func @lanes(%x: memref<?x?xf32, #device>, %y: memref<?xf32, #device>, %most: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %count = memref.alloc() : memref<1xindex, #device>
  memref.store %most, %count[%c0] : memref<1xindex, #device>
  %read = memref.load %count[%c0] : memref<1xindex, #device>
  %n = arith.minui %most, %read : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%sum = %zero) -> f32 {
      %u = memref.load %x[%i, %j] : memref<?x?xf32, #device>
      %t = arith.addf %sum, %u fastmath<reassoc> : f32
      scf.yield %t : f32
    } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes>}
    memref.store %s, %y[%i] : memref<?xf32, #device>
  }
  memref.dealloc %count : memref<1xindex, #device>
  return
}

// What the host needs as well it reads where the program does.

// CHECK-LABEL: func.func @both(
// CHECK:       gpu.launch
// CHECK:       memref.copy %{{.*}}, %[[HOST:.*]] : {{.*}} to memref<index>
// CHECK-NEXT:  %[[READ:.*]] = memref.load %[[HOST]][]
// CHECK:       %[[N:.*]] = arith.minui %[[READ]],
// CHECK:       memref.alloc(%[[N]])
// CHECK:       gpu.launch
// CHECK-NEXT:    memref.load
// CHECK-NEXT:    arith.minui
// CHECK:         gpu.terminator
// CHECK-NOT:   memref.copy
// CHECK:       return
func.func @both(%most: index) -> memref<?xf32, #device> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %count = memref.alloc() : memref<1xindex, #device>
  memref.store %most, %count[%c0] : memref<1xindex, #device>
  %read = memref.load %count[%c0] : memref<1xindex, #device>
  %n = arith.minui %read, %most : index
  %x = memref.alloc(%n) : memref<?xf32, #device>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %one, %x[%i] : memref<?xf32, #device>
  }
  memref.dealloc %count : memref<1xindex, #device>
  return %x : memref<?xf32, #device>
}

// The bound of an inner dimension decides which threads do what, and is the host's.

// CHECK-LABEL: func.func @columns(
// CHECK:       memref.copy
// CHECK:       gpu.launch
func.func @columns(%z: memref<64x?xf32, #device>, %most: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  %count = memref.alloc() : memref<1xindex, #device>
  memref.store %most, %count[%c0] : memref<1xindex, #device>
  %read = memref.load %count[%c0] : memref<1xindex, #device>
  %n = arith.minui %read, %most : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c64, %n) step (%c1, %c1) {
    memref.store %one, %z[%i, %j] : memref<64x?xf32, #device>
  }
  memref.dealloc %count : memref<1xindex, #device>
  return
}

// What may be another number by then, or be gone, is read at once: it is written
// again, could be through a view, is somebody else's, or is released.

// CHECK-LABEL: func.func @written(
// CHECK:       memref.copy
func.func @written(%x: memref<?xf32, #device>, %most: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %count = memref.alloc() : memref<1xindex, #device>
  memref.store %most, %count[%c0] : memref<1xindex, #device>
  %read = memref.load %count[%c0] : memref<1xindex, #device>
  %n = arith.minui %read, %most : index
  memref.store %c1, %count[%c0] : memref<1xindex, #device>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %one, %x[%i] : memref<?xf32, #device>
  }
  memref.dealloc %count : memref<1xindex, #device>
  return
}

// CHECK-LABEL: func.func @viewed(
// CHECK:       memref.copy
func.func @viewed(%x: memref<?xf32, #device>, %most: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %count = memref.alloc() : memref<1xindex, #device>
  %view = memref.cast %count : memref<1xindex, #device> to memref<?xindex, #device>
  memref.store %most, %view[%c0] : memref<?xindex, #device>
  %read = memref.load %count[%c0] : memref<1xindex, #device>
  %n = arith.minui %read, %most : index
  memref.store %c1, %view[%c0] : memref<?xindex, #device>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %one, %x[%i] : memref<?xf32, #device>
  }
  memref.dealloc %count : memref<1xindex, #device>
  return
}

// CHECK-LABEL: func.func @argument(
// CHECK:       memref.copy
func.func @argument(%x: memref<?xf32, #device>, %count: memref<1xindex, #device>, %most: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %read = memref.load %count[%c0] : memref<1xindex, #device>
  %n = arith.minui %read, %most : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %one, %x[%i] : memref<?xf32, #device>
  }
  return
}

// CHECK-LABEL: func.func @released(
// CHECK:       memref.copy
func.func @released(%x: memref<?xf32, #device>, %most: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %count = memref.alloc() : memref<1xindex, #device>
  memref.store %most, %count[%c0] : memref<1xindex, #device>
  %read = memref.load %count[%c0] : memref<1xindex, #device>
  %n = arith.minui %read, %most : index
  memref.dealloc %count : memref<1xindex, #device>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %one, %x[%i] : memref<?xf32, #device>
  }
  return
}
