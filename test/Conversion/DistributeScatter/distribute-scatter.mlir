// RUN: sparse-opt %s --sparse-autograd-distribute-scatter="chunk-work=100 sparse-chunk-work=200" --canonicalize --cse | FileCheck %s

// One loop over entries: four threads or more own rows. Each selects its entries,
// up to 1024 at a time, and does what the loop does for them. The work of an owner
// is at least what is wanted.

// CHECK-LABEL: func.func @list
// CHECK-SAME:  %[[LIST:[^:]*]]: memref<?xindex>, %[[X:[^:]*]]: memref<?x?xf32>, %[[N:[^:]*]]: index, %[[M:[^:]*]]: index
// CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:   %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:   %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:   %[[C63:.*]] = arith.constant 63 : index
// CHECK-DAG:   %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:   %[[C100:.*]] = arith.constant 100 : index
// CHECK-DAG:   %[[C1024:.*]] = arith.constant 1024 : index
// CHECK-DAG:   %[[C4096:.*]] = arith.constant 4096 : index
// CHECK:       %[[Y:.*]] = memref.alloc
// CHECK:       %[[MOST:.*]] = arith.divui %{{.*}}, %[[C100]]
// CHECK:       %[[COUNT:.*]] = call @sparseAutogradGetThreadCount()
// CHECK:       %[[THREADS:.*]] = arith.index_cast %[[COUNT]]
// CHECK:       %[[FEW:.*]] = arith.minsi %[[MOST]], %[[THREADS]]
// CHECK:       %[[OWNERS:.*]] = arith.minsi %[[FEW]], %[[C64]]
// CHECK:       %[[SEVERAL:.*]] = arith.cmpi sge, %[[OWNERS]], %[[C4]]
// CHECK:       scf.if %[[SEVERAL]] {
// CHECK:         %[[BLOCKS:.*]] = arith.cmpi sge, %[[M]], %[[C4096]]
// CHECK:         %[[SHIFT:.*]] = arith.select %[[BLOCKS]], %[[C4]], %[[C0]]
// CHECK:         scf.parallel (%[[OWNER:.*]]) = (%[[C0]]) to (%[[OWNERS]]) step (%[[C1]]) {
// CHECK:           %[[SELECTED:.*]] = memref.alloc() : memref<1024xi32>
// CHECK:           scf.for %[[BLOCK:.*]] = %[[C0]] to %[[N]] step %[[C1024]] {
// CHECK:             %[[FOUND:.*]] = scf.for %[[ENTRY:.*]] = %[[BLOCK]] to %{{.*}} step %[[C1]] iter_args(%[[K:.*]] = %[[C0]]) -> (index) {
// CHECK:               %[[COORDINATE:.*]] = memref.load %[[LIST]][%[[ENTRY]]]
// CHECK:               %[[NUMBER:.*]] = arith.shrui %[[COORDINATE]], %[[SHIFT]]
// CHECK:               %[[SHARE:.*]] = arith.andi %[[NUMBER]], %[[C63]]
// CHECK:               arith.cmpi ult
// CHECK:               memref.store %{{.*}}, %[[SELECTED]][%[[K]]]
// CHECK:             scf.for %{{.*}} = %[[C0]] to %[[FOUND]] step %[[C1]] {
// CHECK:               memref.load %[[SELECTED]]
// CHECK:               %[[P:.*]] = arith.addi %[[BLOCK]], %{{.*}}
// CHECK:               %[[ROW:.*]] = memref.load %[[LIST]][%[[P]]]
// CHECK:               scf.for %[[J:.*]] =
// CHECK:                 memref.load %[[X]][%[[P]], %[[J]]]
// CHECK:                 memref.store %{{.*}}, %[[Y]][%[[ROW]], %[[J]]]
// CHECK:           memref.dealloc %[[SELECTED]]
// CHECK:       } else {
// CHECK-NEXT:    scf.for %[[I:.*]] = %[[C0]] to %[[N]] step %[[C1]] {
// CHECK-NEXT:      memref.load %[[LIST]][%[[I]]]
func.func @list(%list: memref<?xindex>, %x: memref<?x?xf32>, %n: index, %m: index) -> memref<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %y = memref.alloc(%m) : memref<?x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    scf.for %j = %c0 to %c8 step %c1 {
      %u = memref.load %x[%i, %j] : memref<?x?xf32>
      %v = memref.load %y[%row, %j] : memref<?x8xf32>
      %w = arith.addf %u, %v : f32
      memref.store %w, %y[%row, %j] : memref<?x8xf32>
    }
  }
  return %y : memref<?x8xf32>
}

// Rows and their entries: owners need the row of an entry, in a list.

// CHECK-LABEL: func.func @rows
// CHECK-SAME:  %[[POS:[^:]*]]: memref<?xi32>, %[[CRD:[^:]*]]: memref<?xi32>, %[[B:[^:]*]]: memref<?x64xf32>, %[[N:[^:]*]]: index
// CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:   %[[C4:.*]] = arith.constant 4 : index
// CHECK:       %[[Y:.*]] = memref.alloc
// CHECK:       %[[FIT:.*]] = arith.cmpi sle, %[[N]], %{{.*}}
// CHECK:       %[[OWNERS:.*]] = arith.select %[[FIT]], %{{.*}}, %{{.*}}
// CHECK:       %[[SEVERAL:.*]] = arith.cmpi sge, %[[OWNERS]], %[[C4]]
// CHECK:       scf.if %[[SEVERAL]] {
// CHECK:         %[[BEGIN:.*]] = memref.load %[[POS]][%[[C0]]]
// CHECK:         %[[END:.*]] = memref.load %[[POS]][%[[N]]]
// CHECK:         %[[SIZE:.*]] = memref.dim %[[CRD]]
// CHECK:         %[[ROWS:.*]] = memref.alloc(%[[SIZE]]) : memref<?xi32>
// CHECK:         scf.parallel
// CHECK:           memref.store %{{.*}}, %[[ROWS]]
// CHECK:         scf.parallel
// CHECK:           memref.load %[[ROWS]]
// CHECK:           vector.transfer_write %{{.*}}, %[[Y]]{{.*}} : vector<64xf32>
// CHECK:         memref.dealloc %[[ROWS]]
// CHECK:       } else {
func.func @rows(%positions: memref<?xi32>, %coordinates: memref<?xi32>, %b: memref<?x64xf32>, %n: index) -> memref<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %two = arith.constant dense<2.0> : vector<64xf32>
  %y = memref.alloc(%n) : memref<?x64xf32>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xi32>
    %first = arith.index_castui %begin : i32 to index
    %end = memref.load %positions[%next] : memref<?xi32>
    %last = arith.index_castui %end : i32 to index
    scf.for %p = %first to %last step %c1 {
      %coordinate = memref.load %coordinates[%p] : memref<?xi32>
      %j = arith.index_castui %coordinate : i32 to index
      %u = vector.transfer_read %b[%i, %c0], %zero {in_bounds = [true]} : memref<?x64xf32>, vector<64xf32>
      %v = vector.transfer_read %y[%j, %c0], %zero {in_bounds = [true]} : memref<?x64xf32>, vector<64xf32>
      %t = arith.mulf %u, %two : vector<64xf32>
      %w = arith.addf %t, %v : vector<64xf32>
      vector.transfer_write %w, %y[%j, %c0] {in_bounds = [true]} : vector<64xf32>, memref<?x64xf32>
    }
  }
  return %y : memref<?x64xf32>
}

// Strips of columns: an owner goes through them for each of its entries.

// CHECK-LABEL: func.func @strips
// CHECK-DAG:   %[[C16:.*]] = arith.constant 16 : index
// CHECK:       scf.if
// CHECK:         scf.parallel
// CHECK:         scf.parallel
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:             scf.for
// CHECK-NEXT:          memref.load
// CHECK:               scf.for %{{.*}} step %{{.*}} {
// CHECK-NOT:             scf.for
// CHECK:                 vector<64xf32>
// CHECK:               scf.for %{{.*}} step %[[C16]] {
// CHECK-NOT:             scf.for
// CHECK:                 vector.create_mask
// CHECK:       } else {
func.func @strips(%positions: memref<?xindex>, %coordinates: memref<?xindex>, %b: memref<?x?xf32>, %n: index, %m: index) -> memref<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc(%n, %m) : memref<?x?xf32>
  %rest = arith.remui %m, %c64 : index
  %e = arith.subi %m, %rest : index
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    scf.for %c = %c0 to %e step %c64 {
      %first = memref.load %positions[%i] : memref<?xindex>
      %last = memref.load %positions[%next] : memref<?xindex>
      scf.for %p = %first to %last step %c1 {
        %j = memref.load %coordinates[%p] : memref<?xindex>
        %u = vector.transfer_read %b[%i, %c], %zero {in_bounds = [true]} : memref<?x?xf32>, vector<64xf32>
        %v = vector.transfer_read %y[%j, %c], %zero {in_bounds = [true]} : memref<?x?xf32>, vector<64xf32>
        %w = arith.addf %u, %v : vector<64xf32>
        vector.transfer_write %w, %y[%j, %c] {in_bounds = [true]} : vector<64xf32>, memref<?x?xf32>
      }
    }
    scf.for %c = %e to %m step %c16 {
      %left = arith.subi %m, %c : index
      %mask = vector.create_mask %left : vector<16xi1>
      %first = memref.load %positions[%i] : memref<?xindex>
      %last = memref.load %positions[%next] : memref<?xindex>
      scf.for %p = %first to %last step %c1 {
        %j = memref.load %coordinates[%p] : memref<?xindex>
        %u = vector.transfer_read %b[%i, %c], %zero, %mask {in_bounds = [true]} : memref<?x?xf32>, vector<16xf32>
        %v = vector.transfer_read %y[%j, %c], %zero, %mask {in_bounds = [true]} : memref<?x?xf32>, vector<16xf32>
        %w = arith.addf %u, %v : vector<16xf32>
        vector.transfer_write %w, %y[%j, %c], %mask {in_bounds = [true]} : vector<16xf32>, memref<?x?xf32>
      }
    }
  }
  return %y : memref<?x?xf32>
}

// A loop around others, as that of epochs, runs as it is, and a scatter in it on
// several threads.

// CHECK-LABEL: func.func @epochs
// CHECK:       scf.for
// CHECK:         memref.alloc
// CHECK:         call @sparseAutogradGetThreadCount()
// CHECK:         scf.if
// CHECK:           scf.parallel
func.func @epochs(%list: memref<?xindex>, %out: memref<?xf32>, %epochs: index, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %epoch = %c0 to %epochs step %c1 {
    %y = memref.alloc(%n) : memref<?x8xf32>
    scf.for %i = %c0 to %n step %c1 {
      %row = memref.load %list[%i] : memref<?xindex>
      memref.store %x, %y[%row, %c0] : memref<?x8xf32>
    }
    %v = memref.load %y[%c0, %c0] : memref<?x8xf32>
    memref.store %v, %out[%epoch] : memref<?xf32>
    memref.dealloc %y : memref<?x8xf32>
  }
  return
}

// CHECK: func.func private @sparseAutogradGetThreadCount() -> i32
