// RUN: sparse-opt %s --split-input-file --sparse-autograd-schedule-lanes | FileCheck %s
// RUN: sparse-opt %s --split-input-file --sparse-autograd-schedule-lanes --sparse-autograd-loops-to-kernels --sparse-autograd-outline-kernels --canonicalize --cse | FileCheck %s --check-prefix=KERNELS

#device = #gpu.address_space<global>

// A thread computes four columns: it reads an entry once, and four neighbours of
// the row that the entry names. A branch that depends on a column is taken for
// each of them, one that does not for all.

// CHECK-LABEL: func.func @product(
// CHECK:         } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, vector = 4>}
// CHECK-NEXT:  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
// KERNELS-LABEL: func.func @product(
// KERNELS:       gpu.launch_func @kernels::@product_kernel {{.*}} threads in (%c16, %c16, %c1)
// KERNELS-LABEL: gpu.func @product_kernel(
// KERNELS:       memref.assume_alignment %{{.*}}, 16 : memref<?x64xf32,
// KERNELS:       scf.if
// KERNELS:         %[[K0:.*]] = arith.muli %{{.*}}, %c4
// KERNELS:         %[[K1:.*]] = arith.addi %[[K0]], %c1
// KERNELS:         %[[K2:.*]] = arith.addi %[[K0]], %c2
// KERNELS:         %[[K3:.*]] = arith.addi %[[K0]], %c3
// KERNELS:         %[[S:.*]]:4 = scf.for %[[E:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[S0:.*]] = %{{.*}}, %[[S1:.*]] = %{{.*}}, %[[S2:.*]] = %{{.*}}, %[[S3:.*]] = %{{.*}}) -> (f32, f32, f32, f32) {
// KERNELS:           memref.load %{{.*}}[%[[E]]]
// KERNELS:           %[[ROW:.*]] = arith.index_castui
// KERNELS-NEXT:      %[[X0:.*]] = memref.load %[[X:.*]][%[[ROW]], %[[K0]]]
// KERNELS-NEXT:      %[[X1:.*]] = memref.load %[[X:.*]][%[[ROW]], %[[K1]]]
// KERNELS-NEXT:      %[[X2:.*]] = memref.load %[[X:.*]][%[[ROW]], %[[K2]]]
// KERNELS-NEXT:      %[[X3:.*]] = memref.load %[[X:.*]][%[[ROW]], %[[K3]]]
// KERNELS-NEXT:      %[[V:.*]] = memref.load %{{.*}}[%[[E]]]
// KERNELS:           arith.mulf %[[V]], %[[X0]]
// KERNELS:           arith.mulf %[[V]], %[[X3]]
// KERNELS:           %[[N0:.*]] = arith.addf %[[S0]]
// KERNELS:           %[[N3:.*]] = arith.addf %[[S3]]
// KERNELS:           scf.yield %[[N0]], %{{.*}}, %{{.*}}, %[[N3]]
// KERNELS:         %[[POSITIVE:.*]] = arith.cmpf ogt, %[[S]]#0
// KERNELS:         scf.if %[[POSITIVE]] -> (f32) {
// KERNELS-COUNT-3: scf.if {{.*}} -> (f32) {
// KERNELS:         %[[IS_FIRST:.*]] = arith.cmpi eq
// KERNELS:         scf.if %[[IS_FIRST]] {
// KERNELS-COUNT-4:   memref.store
// KERNELS-NOT:     scf.if
func.func @product(%positions: memref<?xi32, #device>, %coordinates: memref<?xi32, #device>, %values: memref<2048xf32, #device>, %x: memref<?x64xf32, #device>, %y: memref<?x64xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %next = arith.addi %i, %c1 : index
      %p = memref.load %positions[%i] : memref<?xi32, #device>
      %begin = arith.index_castui %p : i32 to index
      %q = memref.load %positions[%next] : memref<?xi32, #device>
      %end = arith.index_castui %q : i32 to index
      %s = scf.for %k = %begin to %end step %c1 iter_args(%o = %zero) -> f32 {
        %c = memref.load %coordinates[%k] : memref<?xi32, #device>
        %row = arith.index_castui %c : i32 to index
        %v = memref.load %x[%row, %j] : memref<?x64xf32, #device>
        %a = memref.load %values[%k] : memref<2048xf32, #device>
        %m = arith.mulf %a, %v : f32
        %t = arith.addf %o, %m fastmath<reassoc> : f32
        scf.yield %t : f32
      }
      %positive = arith.cmpf ogt, %s, %zero : f32
      %r = scf.if %positive -> f32 {
        %root = math.sqrt %s : f32
        scf.yield %root : f32
      } else {
        scf.yield %s : f32
      }
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        memref.store %r, %y[%i, %j] : memref<?x64xf32, #device>
      }
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}

// -----

#device = #gpu.address_space<global>

// Two of f64, as the widest of what is accessed; six columns are three pairs. The
// body of an scf.parallel has its other variables as they are; a number that all
// read is read once.

// CHECK-LABEL: func.func @elements(
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<vector = 2>}
// KERNELS-LABEL: func.func @elements(
// KERNELS-LABEL: gpu.func @elements_kernel(
// KERNELS:         %[[I:.*]] = arith.addi
// KERNELS:         %[[J:.*]] = arith.muli %{{.*}}, %c2
// KERNELS:         %[[J1:.*]] = arith.addi %[[J]], %c1
// KERNELS-NEXT:    memref.load %{{.*}}[%[[I]], %[[J]]] : memref<?x6xi1
// KERNELS-NEXT:    memref.load %{{.*}}[%[[I]], %[[J1]]] : memref<?x6xi1
// KERNELS-NEXT:    memref.load %{{.*}}[%[[I]], %[[J]]] : memref<?x6xf64
// KERNELS-NEXT:    memref.load %{{.*}}[%[[I]], %[[J1]]] : memref<?x6xf64
// KERNELS-NEXT:    memref.load %{{.*}}[%[[I]]] : memref<?xf64
// KERNELS-NEXT:    memref.load %{{.*}}[] : memref<f64
// KERNELS-NOT:     memref.load
func.func @elements(%mask: memref<?x6xi1, #device>, %x: memref<?x6xf64, #device>, %b: memref<?xf64, #device>, %rate: memref<f64, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f64
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c6) step (%c1, %c1) {
    %is = memref.load %mask[%i, %j] : memref<?x6xi1, #device>
    %v = memref.load %x[%i, %j] : memref<?x6xf64, #device>
    %w = memref.load %b[%i] : memref<?xf64, #device>
    %r = memref.load %rate[] : memref<f64, #device>
    %q = arith.mulf %v, %r : f64
    %p = arith.mulf %q, %w : f64
    %s = arith.select %is, %p, %zero : f64
    memref.store %s, %x[%i, %j] : memref<?x6xf64, #device>
    scf.reduce
  }
  return
}

// -----

#device = #gpu.address_space<global>

// Lanes that share a loop do four iterations each in turn, if that leaves enough
// for eight of them: of 32, but two each of 16, and one of 12.

// CHECK-LABEL: func.func @shared(
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes, vector = 4>}
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes, vector = 2>}
// CHECK:       } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes>}
// KERNELS-LABEL: func.func @shared(
// KERNELS:       gpu.launch_func @kernels::@shared_kernel {{.*}} threads in (%c16, %c16, %c1)
// KERNELS-LABEL: gpu.func @shared_kernel(
// KERNELS:       %[[LANE:.*]] = gpu.thread_id x
// KERNELS:       %[[OWN:.*]] = scf.for %[[TURN:.*]] = %c0{{.*}} iter_args(%[[S:.*]] = %{{.*}})
// KERNELS:         %[[BEFORE:.*]] = arith.muli %[[TURN]], %c16
// KERNELS:         %[[NUMBER:.*]] = arith.addi %[[BEFORE]], %[[LANE]]
// KERNELS:         %[[K0:.*]] = arith.muli %[[NUMBER]], %c4
// KERNELS:         %[[K1:.*]] = arith.addi %[[K0]], %c1
// KERNELS:         %[[K3:.*]] = arith.addi %[[K0]], %c3
// KERNELS:         %[[V0:.*]] = memref.load %{{.*}}[%{{.*}}, %[[K0]]]
// KERNELS:         %[[S0:.*]] = arith.addf %[[S]], %[[V0]]
// KERNELS:         %[[V1:.*]] = memref.load %{{.*}}[%{{.*}}, %[[K1]]]
// KERNELS:         %[[S1:.*]] = arith.addf %[[S0]], %[[V1]]
// KERNELS:         %[[V3:.*]] = memref.load %{{.*}}[%{{.*}}, %[[K3]]]
// KERNELS:         %[[S3:.*]] = arith.addf %{{.*}}, %[[V3]]
// KERNELS:         scf.yield %[[S3]]
func.func @shared(%x: memref<?x32xf32, #device>, %y: memref<?x16xf32, #device>, %z: memref<?x12xf32, #device>, %s: memref<?xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = scf.for %k = %c0 to %c32 step %c1 iter_args(%o = %zero) -> f32 {
      %v = memref.load %x[%i, %k] : memref<?x32xf32, #device>
      %t = arith.addf %o, %v fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    %b = scf.for %k = %c0 to %c16 step %c1 iter_args(%o = %a) -> f32 {
      %v = memref.load %y[%i, %k] : memref<?x16xf32, #device>
      %t = arith.addf %o, %v fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    %c = scf.for %k = %c0 to %c12 step %c1 iter_args(%o = %b) -> f32 {
      %v = memref.load %z[%i, %k] : memref<?x12xf32, #device>
      %t = arith.addf %o, %v fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %c, %s[%i] : memref<?xf32, #device>
    scf.reduce
  }
  return
}

// -----

#device = #gpu.address_space<global>

// Lengths that are known when the program runs decide between two kernels: here
// those of the rows of both factors and of the mask, and there must be four each
// for eight lanes. What lanes do for rows in place reads first and then writes.

// CHECK-LABEL: func.func @dynamic_rows(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x?xf32, {{[^,]*}}, %[[M:[^:]*]]: memref<?x?xi1, {{[^,]*}}, %[[N:[^:]*]]: index, %[[LENGTH:[^:]*]]: index)
// CHECK:       %[[REST:.*]] = arith.remui %[[LENGTH]], %c4
// CHECK:       %[[DIVIDES:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK:       %[[ENOUGH:.*]] = arith.cmpi sge, %[[LENGTH]], %c32
// CHECK:       %[[BOTH:.*]] = arith.andi %[[DIVIDES]], %[[ENOUGH]]
// CHECK:       %[[M_ROW:.*]] = memref.dim %[[M]], %c1
// CHECK:       arith.remui %[[M_ROW]], %c4
// CHECK:       %[[X_ROW:.*]] = memref.dim %[[X]], %c1
// CHECK:       arith.remui %[[X_ROW]], %c4
// CHECK:       %[[FITS:.*]] = arith.andi
// CHECK:       scf.if %[[FITS]] {
// CHECK-NEXT:    scf.parallel
// CHECK:           } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, lanes, vector = 4>}
// CHECK:       } else {
// CHECK-NEXT:    scf.parallel
// CHECK:           } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, lanes>}
// KERNELS-LABEL: gpu.func @dynamic_rows_kernel(
// KERNELS:       %[[M:.*]] = memref.assume_alignment %{{.*}}, 16 : memref<?x?xi1,
// KERNELS:       %{{.*}}, %{{.*}}, %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[M]]
// KERNELS:       %[[REST:.*]] = arith.remui %[[STRIDES]]#0, %c4
// KERNELS:       %[[NONE:.*]] = arith.cmpi eq, %[[REST]], %c0
// KERNELS:       llvm.intr.assume %[[NONE]]
// KERNELS:       scf.for
// KERNELS-COUNT-4: memref.load {{.*}} : memref<?x?xi1
// KERNELS-COUNT-4: memref.load {{.*}} : memref<?x?xf32
// KERNELS-NOT:     memref.load
// KERNELS-COUNT-4: memref.store
// KERNELS-LABEL: gpu.func @dynamic_rows_kernel_{{.*}}(
// KERNELS-NOT:   llvm.intr.assume
// KERNELS:       gpu.return
func.func @dynamic_rows(%x: memref<?x?xf32, #device>, %mask: memref<?x?xi1, #device>, %n: index, %length: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.for %j = %c0 to %length step %c1 {
      %is = memref.load %mask[%i, %j] : memref<?x?xi1, #device>
      %v = memref.load %x[%i, %j] : memref<?x?xf32, #device>
      %s = arith.select %is, %v, %zero : f32
      memref.store %s, %x[%i, %j] : memref<?x?xf32, #device>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
    scf.reduce
  }
  return
}

// -----

#device = #gpu.address_space<global>
#shifted = strided<[64, 1], offset: ?>

// What is left to one thread for each column: lengths that are known when the
// program runs, of bodies without loops, or are odd, buffers that may begin anywhere, elements of which neighbours are not
// side by side, columns that leave a loop at different times, and bodies that need
// too many registers.

// CHECK-LABEL: func.func @dynamic(
// CHECK-NOT:   schedule<{{[^>]*}}vector
// CHECK:       return
func.func @dynamic(%x: memref<?x?xf32, #device>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x?xf32, #device>
    %p = arith.mulf %v, %v : f32
    memref.store %p, %x[%i, %j] : memref<?x?xf32, #device>
    scf.reduce
  }
  return
}
func.func @odd(%x: memref<?x63xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c63) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x63xf32, #device>
    %p = arith.mulf %v, %v : f32
    memref.store %p, %x[%i, %j] : memref<?x63xf32, #device>
    scf.reduce
  }
  return
}
func.func @odd_rows(%x: memref<?x65xf32, #device>, %y: memref<?x64xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c64) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x65xf32, #device>
    memref.store %v, %y[%i, %j] : memref<?x64xf32, #device>
    scf.reduce
  }
  return
}
func.func @from_one(%x: memref<?x64xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i, %j) = (%c0, %c1) to (%n, %c64) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x64xf32, #device>
    %p = arith.mulf %v, %v : f32
    memref.store %p, %x[%i, %j] : memref<?x64xf32, #device>
    scf.reduce
  }
  return
}
func.func @shifted(%x: memref<?x64xf32, #shifted, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c64) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x64xf32, #shifted, #device>
    %p = arith.mulf %v, %v : f32
    memref.store %p, %x[%i, %j] : memref<?x64xf32, #shifted, #device>
    scf.reduce
  }
  return
}
func.func @transposed(%x: memref<64x?xf32, #device>, %y: memref<?x64xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c64) step (%c1, %c1) {
    %v = memref.load %x[%j, %i] : memref<64x?xf32, #device>
    memref.store %v, %y[%i, %j] : memref<?x64xf32, #device>
    scf.reduce
  }
  return
}
func.func @by_column(%x: memref<?x64xf32, #device>, %ends: memref<64xindex, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c64) step (%c1, %c1) {
    %end = memref.load %ends[%j] : memref<64xindex, #device>
    %p = scf.for %k = %c0 to %end step %c1 iter_args(%o = %one) -> f32 {
      %t = arith.addf %o, %o : f32
      scf.yield %t : f32
    }
    memref.store %p, %x[%i, %j] : memref<?x64xf32, #device>
    scf.reduce
  }
  return
}
func.func @many(%x: memref<9x?x64xf32, #device>, %y: memref<?x64xf32, #device>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c64) step (%c1, %c1) {
    %v0 = memref.load %x[%c0, %i, %j] : memref<9x?x64xf32, #device>
    %v1 = memref.load %x[%c1, %i, %j] : memref<9x?x64xf32, #device>
    %v2 = memref.load %x[%c2, %i, %j] : memref<9x?x64xf32, #device>
    %v3 = memref.load %x[%c3, %i, %j] : memref<9x?x64xf32, #device>
    %v4 = memref.load %x[%c4, %i, %j] : memref<9x?x64xf32, #device>
    %v5 = memref.load %x[%c5, %i, %j] : memref<9x?x64xf32, #device>
    %v6 = memref.load %x[%c6, %i, %j] : memref<9x?x64xf32, #device>
    %v7 = memref.load %x[%c7, %i, %j] : memref<9x?x64xf32, #device>
    %s1 = arith.addf %v0, %v1 : f32
    %s2 = arith.addf %s1, %v2 : f32
    %s3 = arith.addf %s2, %v3 : f32
    %s4 = arith.addf %s3, %v4 : f32
    %s5 = arith.addf %s4, %v5 : f32
    %s6 = arith.addf %s5, %v6 : f32
    %s7 = arith.addf %s6, %v7 : f32
    memref.store %s7, %y[%i, %j] : memref<?x64xf32, #device>
    scf.reduce
  }
  return
}
