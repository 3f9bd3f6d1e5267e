// RUN: sparse-opt %s --split-input-file --sparse-autograd-schedule-lanes | FileCheck %s
// RUN: sparse-opt %s --split-input-file --sparse-autograd-schedule-lanes --sparse-autograd-loops-to-kernels --sparse-autograd-outline-kernels --canonicalize | FileCheck %s --check-prefix=KERNELS

#device = #gpu.address_space<global>

// The sums of rows of many entries: a chunk of 64 finds the row of its first one,
// adds up what it has of each row, and does what follows for those that it has
// wholly. The parts of others are added up by the chunk that they begin in.

// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[P:[^:]*]]: memref<?xi32, {{[^,]*}}, %[[J:[^:]*]]: memref<?xi32, {{[^,]*}}, %[[V:[^:]*]]: memref<?xf32, {{[^,]*}}, %[[B:[^:]*]]: memref<?x24xf32, {{[^,]*}}, %[[BIAS:[^:]*]]: memref<?xf32, {{[^,]*}}, %[[Y:[^:]*]]: memref<?x24xf32, {{[^,]*}}, %[[N:[^:]*]]: index)
// CHECK:       %[[NNZ:.*]] = memref.dim
// CHECK:       %[[MANY:.*]] = arith.cmpi uge, %[[NNZ]], %c4096
// CHECK:       scf.if %[[MANY]] {
// CHECK:         %[[CHUNKS:.*]] = arith.ceildivui %[[NNZ]], %c64
// CHECK:         %[[PARTS:.*]] = memref.alloc(%[[CHUNKS]]) : memref<?x2x24xf32, #gpu.address_space<global>>
// CHECK:         scf.for %[[C:.*]] = %{{.*}} to %[[CHUNKS]] step
// CHECK:           scf.for %[[K:.*]] = %c0 to %c24 step
// CHECK:             %[[SKIPPED:.*]] = arith.muli %[[C]], %c64
// CHECK:             %[[BEGIN:.*]] = arith.addi %{{.*}}, %[[SKIPPED]]
// CHECK:             %[[NEXT:.*]] = arith.addi %[[BEGIN]], %c64
// CHECK:             %[[END:.*]] = arith.minui %[[NEXT]], %{{.*}}
// CHECK:             %[[FOUND:.*]]:2 = scf.while (%{{.*}} = %c0, %{{.*}} = %[[N]])
// CHECK:             %[[IS_FIRST:.*]] = arith.cmpi eq, %[[C]], %c0
// CHECK:             %[[FIRST:.*]] = arith.select %[[IS_FIRST]], %c0, %[[FOUND]]#0
// CHECK:             scf.while (%[[ROW:.*]] = %[[FIRST]], %[[ROW_BEGIN:.*]] = %{{.*}})
// CHECK:               %[[IS_ROW:.*]] = arith.cmpi ult, %[[ROW]], %[[N]]
// CHECK:               scf.if %[[IS_ROW]] -> (i1, index) {
// CHECK:                 %[[BEGINS:.*]] = arith.cmpi ult, %[[ROW_BEGIN]], %[[END]]
// CHECK:                 %[[ENDS:.*]] = arith.cmpi ule, %{{.*}}, %[[END]]
// CHECK:                 arith.ori %[[BEGINS]], %[[ENDS]]
// CHECK:             ^bb0(%[[I:.*]]: index, %[[I_BEGIN:.*]]: index, %[[I_END:.*]]: index):
// CHECK:               %[[FROM:.*]] = arith.maxui %[[I_BEGIN]], %[[BEGIN]]
// CHECK:               %[[TO:.*]] = arith.minui %[[I_END]], %[[END]]
// CHECK:               %[[NEUTRAL:.*]] = arith.constant -0.0
// CHECK:               %[[PART:.*]] = scf.for %{{.*}} = %[[FROM]] to %[[TO]] step %{{.*}} iter_args(%{{.*}} = %[[NEUTRAL]])
// CHECK:               %[[BEGINS_HERE:.*]] = arith.cmpi uge, %[[I_BEGIN]], %[[BEGIN]]
// CHECK:               %[[ENDS_HERE:.*]] = arith.cmpi ule, %[[I_END]], %[[END]]
// CHECK:               %[[WHOLE:.*]] = arith.andi %[[BEGINS_HERE]], %[[ENDS_HERE]]
// CHECK:               scf.if %[[WHOLE]] {
// CHECK:                 %[[INIT:.*]] = memref.load %[[BIAS]][%[[I]]]
// CHECK:                 %[[SUM:.*]] = arith.addf %[[INIT]], %[[PART]] fastmath<reassoc>
// CHECK:                 %[[TANH:.*]] = math.tanh %[[SUM]]
// CHECK:                 memref.store %[[TANH]], %[[Y]][%[[I]], %[[K]]]
// CHECK:               } else {
// CHECK:                 %[[SIDE:.*]] = arith.index_castui %[[BEGINS_HERE]]
// CHECK:                 memref.store %[[PART]], %[[PARTS]][%[[C]], %[[SIDE]], %[[K]]]
// CHECK:           } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, vector = 4>}
// CHECK:         } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// CHECK:         %[[LAST:.*]] = arith.subi %[[CHUNKS]], %c1
// CHECK:         scf.for %[[C:.*]] = %{{.*}} to %[[LAST]] step
// CHECK:           scf.for %[[K:.*]] = %c0 to %c24 step
// CHECK:             %[[NEXT:.*]] = arith.addi %[[C]], %c1
// CHECK:             %[[ROW:.*]]:2 = scf.while
// CHECK:             %[[IS_ROW:.*]] = arith.cmpi ult, %[[ROW]]#0, %[[N]]
// CHECK:             %[[IS_CUT:.*]] = arith.andi %{{.*}}, %[[IS_ROW]]
// CHECK:             scf.if %[[IS_CUT]] {
// CHECK:               %[[INIT:.*]] = memref.load %[[BIAS]][%[[ROW]]#0]
// CHECK:               %[[OWN:.*]] = memref.load %[[PARTS]][%[[C]], %c1{{[_0-9]*}}, %[[K]]]
// CHECK:               %[[FIRST:.*]] = arith.addf %[[INIT]], %[[OWN]] fastmath<reassoc>
// CHECK:               %[[TOTAL:.*]] = scf.for %[[D:.*]] = %[[NEXT]] to %{{.*}} step %{{.*}} iter_args(%[[S:.*]] = %[[FIRST]])
// CHECK:                 %[[OTHER:.*]] = memref.load %[[PARTS]][%[[D]], %c0{{[_0-9]*}}, %[[K]]]
// CHECK:                 arith.addf %[[S]], %[[OTHER]] fastmath<reassoc>
// CHECK:               %[[TANH:.*]] = math.tanh %[[TOTAL]]
// CHECK:               memref.store %[[TANH]], %[[Y]][%[[ROW]]#0, %[[K]]]
// CHECK:         memref.dealloc %[[PARTS]]
// CHECK:       } else {
// CHECK-NEXT:    scf.for %{{.*}} = %c0 to %[[N]] step
// KERNELS-LABEL: func.func @product(
// KERNELS:       scf.if
// KERNELS:         gpu.launch_func
// KERNELS:         gpu.launch_func
// KERNELS:       } else {
// KERNELS:         gpu.launch_func
func.func @product(%positions: memref<?xi32, #device>, %coordinates: memref<?xi32, #device>, %values: memref<?xf32, #device>, %b: memref<?x24xf32, #device>, %bias: memref<?xf32, #device>, %y: memref<?x24xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  scf.for %i = %c0 to %n step %c1 {
    %init = memref.load %bias[%i] : memref<?xf32, #device>
    scf.for %j = %c0 to %c24 step %c1 {
      %next = arith.addi %i, %c1 : index
      %p = memref.load %positions[%i] : memref<?xi32, #device>
      %begin = arith.index_castui %p : i32 to index
      %q = memref.load %positions[%next] : memref<?xi32, #device>
      %end = arith.index_castui %q : i32 to index
      %s = scf.for %k = %begin to %end step %c1 iter_args(%o = %init) -> f32 {
        %c = memref.load %coordinates[%k] : memref<?xi32, #device>
        %column = arith.index_castui %c : i32 to index
        %v = memref.load %b[%column, %j] : memref<?x24xf32, #device>
        %a = memref.load %values[%k] : memref<?xf32, #device>
        %m = arith.mulf %a, %v : f32
        %t = arith.addf %o, %m fastmath<reassoc> : f32
        scf.yield %t : f32
      }
      %h = math.tanh %s : f32
      memref.store %h, %y[%i, %j] : memref<?x24xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}

// -----

#device = #gpu.address_space<global>

// Eight lanes share the entries of a row, whatever rows are like; sums and
// largest numbers that one loop carries are cut together.

// CHECK-LABEL: func.func @both(
// CHECK:         memref.alloc(%{{.*}}) : memref<?x2xf64,
// CHECK:         memref.alloc(%{{.*}}) : memref<?x2xf64,
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (f64, f64) {
// CHECK:         } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes = 8>}
// CHECK:       } else {
// CHECK:         } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes>}
// KERNELS-LABEL: func.func @both(
// KERNELS:       gpu.launch_func {{.*}} threads in (%c8, %c32, %c1)
func.func @both(%positions: memref<?xindex, #device>, %values: memref<?xf64, #device>, %sums: memref<?xf64, #device>, %most: memref<?xf64, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    %s:2 = scf.for %k = %begin to %end step %c1 iter_args(%o = %zero, %l = %zero) -> (f64, f64) {
      %v = memref.load %values[%k] : memref<?xf64, #device>
      %t = arith.addf %o, %v fastmath<reassoc> : f64
      %m = arith.maximumf %l, %v : f64
      scf.yield %t, %m : f64, f64
    }
    memref.store %s#0, %sums[%i] : memref<?xf64, #device>
    memref.store %s#1, %most[%i] : memref<?xf64, #device>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}

// -----

#device = #gpu.address_space<global>

// What is not cut: few entries, sums in an order that is given, rows that another
// loop reads what the first has made of, and something that is stored before.

// CHECK-LABEL: func.func @few(
// CHECK-NOT:   scf.while
// CHECK-LABEL: func.func @ordered(
// CHECK-NOT:   scf.while
// CHECK-LABEL: func.func @two_loops(
// CHECK-NOT:   scf.while
// CHECK-LABEL: func.func @stored_before(
// CHECK-NOT:   scf.while
func.func @few(%positions: memref<?xindex, #device>, %values: memref<4095xf64, #device>, %sums: memref<?xf64, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    %s = scf.for %k = %begin to %end step %c1 iter_args(%o = %zero) -> f64 {
      %v = memref.load %values[%k] : memref<4095xf64, #device>
      %t = arith.addf %o, %v fastmath<reassoc> : f64
      scf.yield %t : f64
    }
    memref.store %s, %sums[%i] : memref<?xf64, #device>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}
func.func @ordered(%positions: memref<?xindex, #device>, %values: memref<?xf64, #device>, %sums: memref<?xf64, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    %s = scf.for %k = %begin to %end step %c1 iter_args(%o = %zero) -> f64 {
      %v = memref.load %values[%k] : memref<?xf64, #device>
      %t = arith.addf %o, %v : f64
      scf.yield %t : f64
    }
    memref.store %s, %sums[%i] : memref<?xf64, #device>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}
func.func @two_loops(%positions: memref<?xindex, #device>, %values: memref<?xf64, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    %s = scf.for %k = %begin to %end step %c1 iter_args(%o = %zero) -> f64 {
      %v = memref.load %values[%k] : memref<?xf64, #device>
      %t = arith.addf %o, %v fastmath<reassoc> : f64
      scf.yield %t : f64
    }
    scf.for %k = %begin to %end step %c1 {
      memref.store %s, %values[%k] : memref<?xf64, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}
func.func @stored_before(%positions: memref<?xindex, #device>, %values: memref<?xf64, #device>, %sums: memref<?xf64, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    memref.store %zero, %values[%begin] : memref<?xf64, #device>
    %s = scf.for %k = %begin to %end step %c1 iter_args(%o = %zero) -> f64 {
      %v = memref.load %values[%k] : memref<?xf64, #device>
      %t = arith.addf %o, %v fastmath<reassoc> : f64
      scf.yield %t : f64
    }
    memref.store %s, %sums[%i] : memref<?xf64, #device>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}

// -----

// What is kept of rows is where the lists are.

// CHECK-LABEL: func.func @of_host(
// CHECK:         memref.alloc(%{{.*}}) : memref<?x2xf64>
func.func @of_host(%positions: memref<?xindex>, %values: memref<?xf64>, %sums: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex>
    %end = memref.load %positions[%next] : memref<?xindex>
    %s = scf.for %k = %begin to %end step %c1 iter_args(%o = %zero) -> f64 {
      %v = memref.load %values[%k] : memref<?xf64>
      %t = arith.addf %o, %v fastmath<reassoc> : f64
      scf.yield %t : f64
    }
    memref.store %s, %sums[%i] : memref<?xf64>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}
