// RUN: sparse-opt %s --sparse-autograd-fuse-kernels=for-host | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-fuse-kernels=for-host --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:
// RUN: sparse-opt %s --sparse-autograd-fuse-kernels | FileCheck %s --check-prefix=DEVICE

// Lists that rows write and read entry by entry. Of two loops over rows that become
// one, the second makes a list of what the first has stored: one buffer is both.

// REMARK: row-buffers.mlir:[[@LINE+38]]:{{.*}} remark: [Passed] buffers | Category:sparse-autograd-loops | Function=in_place | Remark="a list of the entries takes the place of one that its row has read by then"

// CHECK-LABEL: func.func @in_place
// CHECK:         %[[R:.*]] = memref.alloc
// CHECK-NOT:     memref.alloc
// CHECK:         scf.for
// CHECK:           memref.store %{{.*}}, %[[R]]
// CHECK:           %[[E:.*]] = memref.load %[[R]]
// CHECK:           %[[Y:.*]] = arith.mulf %[[E]]
// CHECK:           memref.store %[[Y]], %[[R]]
// CHECK-NOT:     memref.dealloc
// CHECK:         return %[[R]]

// Lanes of a device share the loops over entries: they keep their buffers.

// DEVICE-LABEL: func.func @in_place
// DEVICE-COUNT-2: memref.alloc
func.func @in_place(%pos: memref<?xindex>, %x: memref<?xf32>, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %size = memref.dim %x, %c0 : memref<?xf32>
  %e = memref.alloc(%size) : memref<?xf32>
  %r = memref.alloc(%size) : memref<?xf32>
  %s = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %pos[%i] : memref<?xindex>
    %end = memref.load %pos[%next] : memref<?xindex>
    %sum = scf.for %p = %begin to %end step %c1 iter_args(%a = %zero) -> (f32) {
      %v = memref.load %x[%p] : memref<?xf32>
      %w = math.exp %v : f32
      memref.store %w, %e[%p] : memref<?xf32>
      %t = arith.addf %a, %w fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %sum, %s[%i] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %pos[%i] : memref<?xindex>
    %end = memref.load %pos[%next] : memref<?xindex>
    %f = memref.load %s[%i] : memref<?xf32>
    scf.for %p = %begin to %end step %c1 {
      %v = memref.load %e[%p] : memref<?xf32>
      %w = arith.mulf %v, %f : f32
      memref.store %w, %r[%p] : memref<?xf32>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  memref.dealloc %s : memref<?xf32>
  memref.dealloc %e : memref<?xf32>
  return %r : memref<?xf32>
}

// What a row stores last in a list that nothing else reads is not stored.

// CHECK-LABEL: func.func @last_store
// CHECK:         %[[E:.*]] = memref.alloc
// CHECK:         memref.store %{{.*}}, %[[E]][%
// CHECK:         memref.load %[[E]]
// CHECK-NOT:     memref.store %{{.*}}, %[[E]][%
// CHECK:         return
func.func @last_store(%pos: memref<?xindex>, %x: memref<?xf32>, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %size = memref.dim %x, %c0 : memref<?xf32>
  %e = memref.alloc(%size) : memref<?xf32>
  %s = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %pos[%i] : memref<?xindex>
    %end = memref.load %pos[%next] : memref<?xindex>
    scf.for %p = %begin to %end step %c1 {
      %v = memref.load %x[%p] : memref<?xf32>
      memref.store %v, %e[%p] : memref<?xf32>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
    memref.store %zero, %s[%i] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %pos[%i] : memref<?xindex>
    %end = memref.load %pos[%next] : memref<?xindex>
    %f = memref.load %s[%i] : memref<?xf32>
    // In its order: it is not fused with the loop above.
    %sum = scf.for %p = %begin to %end step %c1 iter_args(%a = %f) -> (f32) {
      %v = memref.load %e[%p] : memref<?xf32>
      %t = arith.addf %a, %v : f32
      memref.store %t, %e[%p] : memref<?xf32>
      scf.yield %t : f32
    }
    memref.store %sum, %s[%i] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  memref.dealloc %e : memref<?xf32>
  return %s : memref<?xf32>
}

// Two buffers: the first is read after the second is written, is another list of
// the program's, has another size, or the second was there before the rows.

// CHECK-LABEL: func.func @apart
// CHECK-COUNT-4: memref.alloc
// CHECK:         return
func.func @apart(%pos: memref<?xindex>, %x: memref<?xf32>, %n: index, %m: index) -> (memref<?xf32>, memref<?xf32>, memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %size = memref.dim %x, %c0 : memref<?xf32>
  %late = memref.alloc(%size) : memref<?xf32>
  %result = memref.alloc(%size) : memref<?xf32>
  %short = memref.alloc(%m) : memref<?xf32>
  %set = memref.alloc(%size) : memref<?xf32>
  scf.for %p = %c0 to %size step %c1 {
    memref.store %zero, %set[%p] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %pos[%i] : memref<?xindex>
    %end = memref.load %pos[%next] : memref<?xindex>
    scf.for %p = %begin to %end step %c1 {
      %v = memref.load %x[%p] : memref<?xf32>
      memref.store %v, %late[%p] : memref<?xf32>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
    memref.store %zero, %short[%i] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %pos[%i] : memref<?xindex>
    %end = memref.load %pos[%next] : memref<?xindex>
    %f = memref.load %short[%i] : memref<?xf32>
    %sum = scf.for %p = %begin to %end step %c1 iter_args(%a = %f) -> (f32) {
      %v = memref.load %late[%p] : memref<?xf32>
      memref.store %a, %result[%p] : memref<?xf32>
      %w = memref.load %late[%p] : memref<?xf32>
      %y = memref.load %set[%p] : memref<?xf32>
      memref.store %w, %set[%p] : memref<?xf32>
      %t = arith.addf %a, %v : f32
      %u = arith.addf %t, %y : f32
      scf.yield %u : f32
    }
    memref.store %sum, %short[%i] : memref<?xf32>
    %last = scf.for %p = %begin to %end step %c1 iter_args(%a = %f) -> (f32) {
      %v = memref.load %late[%p] : memref<?xf32>
      %t = arith.mulf %a, %v : f32
      scf.yield %t : f32
    }
    memref.store %last, %short[%i] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  memref.dealloc %late : memref<?xf32>
  return %result, %short, %set : memref<?xf32>, memref<?xf32>, memref<?xf32>
}
