// RUN: sparse-opt %s --split-input-file --sparse-autograd-schedule-lanes | FileCheck %s --check-prefix=SCHEDULE
// RUN: sparse-opt %s --split-input-file --sparse-autograd-schedule-lanes --sparse-autograd-loops-to-kernels | FileCheck %s

#device = #gpu.address_space<global>

// A row of CSR is shared by lanes: as many, up to 32, as rows store elements on
// average. Each adds up what it visits, the first one with what there was; then
// they exchange their sums.

// SCHEDULE-LABEL: func.func @spmv(
// SCHEDULE:       } else {
// SCHEDULE:       } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes>}
// SCHEDULE:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK-LABEL: func.func @spmv(
// CHECK-SAME:    %{{[^:]*}}: memref<?xi32, {{[^,]*}}>, %{{[^:]*}}: memref<?xi32, {{[^,]*}}>, %[[VALUES:[^:]*]]: memref<?xf32,
// CHECK:       } else {
// CHECK:       %[[NNZ:.*]] = memref.dim
// CHECK:       %[[ROW_LENGTH:.*]] = arith.ceildivsi %[[NNZ]], %{{.*}}
// CHECK:       arith.cmpi sle, %[[ROW_LENGTH]], %c16
// CHECK:       arith.cmpi sle, %[[ROW_LENGTH]], %c8
// CHECK:       %[[LANES:.*]] = arith.select %{{.*}}, %c1_{{[0-9]+}}, %{{.*}} : index
// CHECK:       %[[GROUPS:.*]] = arith.divui %c256{{.*}}, %[[LANES]]
// CHECK:       gpu.launch blocks(%[[B:[^,]*]], {{.*}}) threads(%[[LANE:[^,]*]], %[[GROUP:[^,]*]], {{.*}}) in (%[[WIDTH:.*]] = %[[LANES]], %[[HEIGHT:.*]] = %[[GROUPS]],
// CHECK:         %[[FIRST:.*]] = arith.muli %[[B]], %[[HEIGHT]]
// CHECK:         %[[ROW:.*]] = arith.addi %[[FIRST]], %[[GROUP]]
// CHECK:         %[[LOG:.*]] = math.cttz %[[WIDTH]]
// CHECK:         %[[IS_FIRST:.*]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK:         %[[WIDTH32:.*]] = arith.index_castui %[[WIDTH]]
// CHECK:         %[[OTHERS:.*]] = arith.subi %c32_i32, %[[WIDTH32]]
// CHECK:         %[[ONES:.*]] = arith.shrui %c-1_i32, %[[OTHERS]]
// CHECK:         %[[MASK:.*]] = arith.shli %[[ONES]], %{{.*}}
// CHECK:         %[[BEFORE:.*]] = scf.if %[[IS_FIRST]] -> (f32) {
// CHECK-NEXT:      memref.load
// CHECK:         %[[OWN:.*]] = arith.select %[[IS_FIRST]], %[[BEFORE]], %cst
// CHECK:         %[[ALL:.*]] = arith.subi %{{.*}}, %[[BEGIN:.*]] : index
// CHECK:         %[[BEHIND:.*]] = arith.subi %[[ALL]], %[[LANE]]
// CHECK:         %[[REST:.*]] = arith.subi %[[WIDTH]], %c1
// CHECK:         %[[SUM:.*]] = arith.addi %[[BEHIND]], %[[REST]]
// CHECK:         %[[TURNS:.*]] = arith.shrsi %[[SUM]], %[[LOG]]
// CHECK:         %[[PART:.*]] = scf.for %[[TURN:.*]] = %c0{{.*}} to %[[TURNS]] step %c1{{.*}} iter_args(%{{.*}} = %[[OWN]]) -> (f32) {
// CHECK:           %[[BEFORE:.*]] = arith.muli %[[TURN]], %[[WIDTH]]
// CHECK:           %[[NUMBER:.*]] = arith.addi %[[BEFORE]], %[[LANE]]
// CHECK:           %[[SKIPPED:.*]] = arith.muli %[[NUMBER]], %c1
// CHECK:           %[[K:.*]] = arith.addi %[[BEGIN]], %[[SKIPPED]]
// CHECK:           memref.load %[[VALUES]][%[[K]]]
// CHECK:         %[[SUM:.*]]:2 = scf.while (%{{.*}} = %[[PART]], %{{.*}} = %{{.*}}) : (f32, i32) -> (f32, i32) {
// CHECK:         ^bb0(%[[S:.*]]: f32, %[[DISTANCE:.*]]: i32):
// CHECK:           %[[OTHER:.*]] = nvvm.shfl.sync bfly %[[MASK]], %[[S]], %[[DISTANCE]], %c31_i32
// CHECK:           arith.addf %[[S]], %[[OTHER]] fastmath<reassoc>
// CHECK-NOT:     nvvm.bar.warp.sync
// CHECK:         scf.if %[[IS_FIRST]] {
// CHECK-NEXT:      memref.store %[[SUM]]#0
func.func @spmv(%positions: memref<?xi32, #device>, %coordinates: memref<?xi32, #device>, %values: memref<?xf32, #device>, %x: memref<?xf32, #device>, %n: index) -> memref<?xf32, #device> {
  %c0 = arith.constant 0 : index
  %y = memref.alloc(%n) : memref<?xf32, #device>
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %b = memref.load %positions[%i] : memref<?xi32, #device>
    %begin = arith.index_castui %b : i32 to index
    %e = memref.load %positions[%next] : memref<?xi32, #device>
    %end = arith.index_castui %e : i32 to index
    %before = memref.load %y[%i] : memref<?xf32, #device>
    %s = scf.for %k = %begin to %end step %c1 iter_args(%o = %before) -> f32 {
      %c = memref.load %coordinates[%k] : memref<?xi32, #device>
      %j = arith.index_castui %c : i32 to index
      %v = memref.load %x[%j] : memref<?xf32, #device>
      %a = memref.load %values[%k] : memref<?xf32, #device>
      %p = arith.mulf %a, %v : f32
      %t = arith.addf %o, %p fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %s, %y[%i] : memref<?xf32, #device>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return %y : memref<?xf32, #device>
}

// -----

#device = #gpu.address_space<global>

// The innermost loop that reads side by side: an entry of the row is sampled by
// all lanes. Rows may differ much, so that a group has eight entries, whatever
// rows they are of: that of the first is searched. f64 is exchanged in halves.
// The number of lanes is known.

// SCHEDULE-LABEL: func.func @sample(
// SCHEDULE-SAME:    %[[ENDS:[^:]*]]: memref<?xindex, {{.*}}, %[[V:[^:]*]]: memref<?xf64, {{[^,]*}}, %[[N:[^:]*]]: index)
// SCHEDULE:       %[[NNZ:.*]] = memref.dim %[[V]]
// SCHEDULE:       %[[CHUNKS:.*]] = arith.ceildivui %[[NNZ]], %c8
// SCHEDULE:       scf.for %[[C:.*]] = %{{.*}} to %[[CHUNKS]]
// SCHEDULE:         %[[BEFORE:.*]] = arith.muli %[[C]], %c8
// SCHEDULE:         %[[START:.*]] = memref.load %[[ENDS]][%c0]
// SCHEDULE:         %[[FIRST:.*]] = arith.addi %[[START]], %[[BEFORE]]
// SCHEDULE:         %[[NEXT:.*]] = arith.addi %[[FIRST]], %c8
// SCHEDULE:         %[[END:.*]] = memref.load %[[ENDS]][%[[N]]]
// SCHEDULE:         %[[LAST:.*]] = arith.minui %[[NEXT]], %[[END]]
// SCHEDULE:         %[[FOUND:.*]]:2 = scf.while (%{{.*}} = %c0, %{{.*}} = %[[N]])
// SCHEDULE:           arith.shrui
// SCHEDULE:         scf.for %[[K:.*]] = %[[FIRST]] to %[[LAST]] step %{{.*}} iter_args(%[[ROW:.*]] = %[[FOUND]]#0) -> (index) {
// SCHEDULE:           %[[OWN:.*]] = scf.while (%{{.*}} = %[[ROW]])
// SCHEDULE:           %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %c8
// SCHEDULE:             memref.load %{{.*}}[%[[OWN]], %{{.*}}]
// SCHEDULE:             memref.load %{{.*}}[%[[K]], %{{.*}}]
// SCHEDULE:           } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes = 8>}
// SCHEDULE-NEXT:      memref.store %[[SUM]], %[[V]][%[[K]]]
// SCHEDULE-NEXT:      scf.yield %[[OWN]]
// SCHEDULE:       } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK-LABEL: func.func @sample(
// CHECK:       gpu.launch {{.*}} threads(%[[LANE:[^,]*]], {{.*}}) in (%{{.*}} = %c8{{[^,]*}},
// CHECK:         nvvm.shfl.sync bfly %{{.*}} : i32 -> i32
// CHECK:         nvvm.shfl.sync bfly %{{.*}} : i32 -> i32
// CHECK:         arith.bitcast %{{.*}} : i64 to f64
func.func @sample(%ends: memref<?xindex, #device>, %x: memref<?x8xf64, #device>, %y: memref<?x8xf64, #device>, %v: memref<?xf64, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %ends[%i] : memref<?xindex, #device>
    %end = memref.load %ends[%next] : memref<?xindex, #device>
    scf.for %k = %begin to %end step %c1 {
      %s = scf.for %r = %c0 to %c8 step %c1 iter_args(%o = %zero) -> f64 {
        %a = memref.load %x[%i, %r] : memref<?x8xf64, #device>
        %b = memref.load %y[%k, %r] : memref<?x8xf64, #device>
        %p = arith.mulf %a, %b : f64
        %t = arith.addf %o, %p fastmath<reassoc> : f64
        scf.yield %t : f64
      }
      memref.store %s, %v[%k] : memref<?xf64, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}

// -----

#device = #gpu.address_space<global>

// Lanes wait for each other where one reads what another has written, here what
// the first one has; what nobody writes they read as they come.

// SCHEDULE-LABEL: func.func @exchange(
// SCHEDULE:       {sparse_autograd.schedule = #sparse_autograd.schedule<lanes>}
// SCHEDULE:       {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, lanes>}
// CHECK-LABEL: func.func @exchange(
// CHECK:       gpu.launch
// CHECK-NOT:     nvvm.bar.warp.sync
// CHECK:         scf.while
// CHECK-NOT:     nvvm.bar.warp.sync
// CHECK:         scf.if
// CHECK-NEXT:      memref.store %{{.*}}, %[[SUMS:.*]][%{{.*}}] : memref<?xi64
// CHECK:         nvvm.bar.warp.sync
// CHECK-NEXT:    %{{.*}} = memref.load %[[SUMS]]
// CHECK-NOT:     nvvm.bar.warp.sync
// CHECK:         scf.for
// CHECK:         gpu.terminator
func.func @exchange(%x: memref<?x?xi64, #device>, %n: index, %m: index) -> (memref<?xi64, #device>, memref<?x?xi64, #device>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %sums = memref.alloc(%n) : memref<?xi64, #device>
  %y = memref.alloc(%n, %m) : memref<?x?xi64, #device>
  scf.for %i = %c0 to %n step %c1 {
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%o = %zero) -> i64 {
      %v = memref.load %x[%i, %j] : memref<?x?xi64, #device>
      %t = arith.maxsi %v, %o : i64
      scf.yield %t : i64
    }
    memref.store %s, %sums[%i] : memref<?xi64, #device>
    %r = memref.load %sums[%i] : memref<?xi64, #device>
    scf.for %j = %c0 to %m step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xi64, #device>
      %d = arith.subi %v, %r : i64
      memref.store %d, %y[%i, %j] : memref<?x?xi64, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return %sums, %y : memref<?xi64, #device>, memref<?x?xi64, #device>
}

// -----

#device = #gpu.address_space<global>

// A sum of the whole list, which is no iteration of anything, has a warp.

// SCHEDULE-LABEL: func.func @whole(
// SCHEDULE:       {sparse_autograd.schedule = #sparse_autograd.schedule<lanes>}
// CHECK-LABEL: func.func @whole(
// CHECK:       gpu.launch {{.*}} threads(%[[LANE:[^,]*]], {{.*}}) in (%{{.*}} = %c32{{[^,]*}}, %{{.*}} = %c1
// CHECK:         %[[PART:.*]] = scf.for
// CHECK:         %[[SUM:.*]]:2 = scf.while (%{{.*}} = %[[PART]]
// CHECK:         scf.if
// CHECK-NEXT:      memref.store %[[SUM]]#0
// CHECK:         gpu.terminator
// CHECK:       memref.copy
func.func @whole(%x: memref<?xf16, #device>, %n: index) -> f16 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%o = %zero) -> f16 {
    %v = memref.load %x[%k] : memref<?xf16, #device>
    %is = arith.cmpf ogt, %v, %zero : f16
    %t = scf.if %is -> f16 {
      %u = arith.addf %v, %o fastmath<reassoc> : f16
      scf.yield %u : f16
    } else {
      scf.yield %o : f16
    }
    scf.yield %t : f16
  }
  return %s : f16
}

// -----

#device = #gpu.address_space<global>

// What is not shared: sums whose order is given, values that are used on the
// way, differences, columns that threads read side by side, a list that they read
// together, loops of a few iterations, and loops next to one that nobody shares.

// SCHEDULE-LABEL: func.func @not(
// SCHEDULE-NOT:   schedule<{{[^>]*}}lanes
// CHECK-LABEL: func.func @not(
// CHECK-NOT:   nvvm.shfl
func.func @not(%x: memref<?x?xf32, #device>, %y: memref<?xf32, #device>, %z: memref<?x?xf32, #device>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%o = %zero) -> f32 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32, #device>
      %t = arith.addf %o, %v : f32
      scf.yield %t : f32
    }
    memref.store %s, %y[%i] : memref<?xf32, #device>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%o = %zero) -> f32 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32, #device>
      memref.store %o, %z[%i, %j] : memref<?x?xf32, #device>
      %t = arith.addf %o, %v fastmath<reassoc> : f32
      scf.yield %t : f32
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
    memref.store %s, %y[%i] : memref<?xf32, #device>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%o = %zero) -> f32 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32, #device>
      %t = arith.subf %o, %v fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %s, %y[%i] : memref<?xf32, #device>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%o = %zero) -> f32 {
      %v = memref.load %x[%j, %i] : memref<?x?xf32, #device>
      %t = arith.addf %o, %v fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %s, %y[%i] : memref<?xf32, #device>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %w = memref.load %y[%i] : memref<?xf32, #device>
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%o = %zero) -> f32 {
      %v = memref.load %x[%c0, %j] : memref<?x?xf32, #device>
      %d = arith.mulf %v, %w : f32
      %t = arith.addf %o, %d fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %s, %y[%i] : memref<?xf32, #device>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %s = scf.for %j = %c0 to %c3 step %c1 iter_args(%o = %zero) -> f32 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32, #device>
      %t = arith.addf %o, %v fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %s, %y[%i] : memref<?xf32, #device>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%o = %zero) -> f32 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32, #device>
      %t = arith.addf %o, %v fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    scf.for %j = %c0 to %m step %c1 {
      memref.store %s, %z[%i, %j] : memref<?x?xf32, #device>
    }
  }
  return
}

// -----

#device = #gpu.address_space<global>

// Where a shared loop begins and ends all lanes read. There are too few entries to
// cut rows into chunks.

// SCHEDULE-LABEL: func.func @bounds(
// CHECK-LABEL: func.func @bounds(
// CHECK:       gpu.launch
// CHECK:         scf.if
// CHECK-NOT:     scf.if
// CHECK:         memref.load %{{.*}} : memref<?xindex
// CHECK-NEXT:    memref.load %{{.*}} : memref<?xindex
// CHECK-NOT:     scf.if
// CHECK:         scf.for
func.func @bounds(%positions: memref<?xindex, #device>, %x: memref<4095xf32, #device>, %n: index) -> memref<?xf32, #device> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc(%n) : memref<?xf32, #device>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    %s = scf.for %k = %begin to %end step %c1 iter_args(%o = %zero) -> f32 {
      %v = memref.load %x[%k] : memref<4095xf32, #device>
      %t = arith.addf %o, %v fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %s, %y[%i] : memref<?xf32, #device>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return %y : memref<?xf32, #device>
}
