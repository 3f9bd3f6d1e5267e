// RUN: sparse-opt %s --sparse-autograd-sparse-product-to-runtime --split-input-file | FileCheck %s

#device = #gpu.address_space<global>

// x -= s y: x is read, since nothing fills it with zeros.

// CHECK-LABEL: func.func @multiply
//  CHECK-SAME:     %[[POSITIONS:[^:]+]]: memref<?xindex, {{.*}}>, %[[COORDINATES:[^:]+]]: memref<?xindex, {{.*}}>, %[[VALUES:[^:]+]]: memref<?xf64, {{.*}}>, %[[Y:[^:]+]]: memref<?x?xf64, {{.*}}>, %[[X:[^:]+]]: memref<?x?xf64, {{.*}}>
//   CHECK-DAG:   %[[F64:.+]] = arith.constant 8 : i32
//   CHECK-DAG:   %[[I64:.+]] = arith.constant 5 : i32
//   CHECK-DAG:   %[[COLUMNS:.+]] = memref.dim %[[Y]], %{{.+}}
//   CHECK-DAG:   %[[STORED:.+]] = memref.dim %[[COORDINATES]], %{{.+}}
//   CHECK-DAG:   %[[MINUS:.+]] = arith.constant -1.000000e+00 : f64
//   CHECK-DAG:   %[[ONE:.+]] = arith.constant 1.000000e+00 : f64
//       CHECK:   call @sparseAutogradDeviceMultiplySparse(%[[F64]], %[[I64]], {{.*}}, %[[MINUS]], {{.*}}, %[[ONE]], {{.*}}) : (i32, i32, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, f64, !llvm.ptr, i64, i64, f64, !llvm.ptr, i64, i64) -> i32
//       CHECK:   scf.if
//  CHECK-NEXT:     scf.for
func.func @multiply(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %begin = memref.load %positions[%i] : memref<?xindex, #device>
      %end = memref.load %positions[%next] : memref<?xindex, #device>
      %old = memref.load %x[%i, %j] : memref<?x?xf64, #device>
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %old) -> (f64) {
        %k = memref.load %coordinates[%p] : memref<?xindex, #device>
        %e = memref.load %y[%k, %j] : memref<?x?xf64, #device>
        %v = memref.load %values[%p] : memref<?xf64, #device>
        %t = arith.mulf %v, %e : f64
        %u = arith.subf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %x[%i, %j] : memref<?x?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}

// -----

#device = #gpu.address_space<global>

// The columns of the sparse matrix are the rows of y, transposed here.

// CHECK-LABEL: func.func @sample
//       CHECK:   call @sparseAutogradDeviceSampleProduct(
//       CHECK:   scf.if
//  CHECK-NEXT:     scf.for
func.func @sample(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %m step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    scf.for %p = %begin to %end step %c1 {
      %k = memref.load %coordinates[%p] : memref<?xindex, #device>
      %v = memref.load %values[%p] : memref<?xf64, #device>
      %sum = scf.for %l = %c0 to %n step %c1 iter_args(%s = %v) -> (f64) {
        %e = memref.load %y[%k, %l] : memref<?x?xf64, #device>
        %f = memref.load %x[%i, %l] : memref<?x?xf64, #device>
        %t = arith.mulf %f, %e : f64
        %u = arith.addf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %values[%p] : memref<?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}

// -----

#device = #gpu.address_space<global>

// Loops that are not parallel.

// CHECK-LABEL: func.func @sequential
//   CHECK-NOT:   call
//       CHECK:   return
func.func @sequential(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %begin = memref.load %positions[%i] : memref<?xindex, #device>
      %end = memref.load %positions[%next] : memref<?xindex, #device>
      %old = memref.load %x[%i, %j] : memref<?x?xf64, #device>
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %old) -> (f64) {
        %k = memref.load %coordinates[%p] : memref<?xindex, #device>
        %e = memref.load %y[%k, %j] : memref<?x?xf64, #device>
        %v = memref.load %values[%p] : memref<?xf64, #device>
        %t = arith.mulf %v, %e : f64
        %u = arith.subf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %x[%i, %j] : memref<?x?xf64, #device>
    } 
  } 
  return
}

// -----

#device = #gpu.address_space<global>

// Every second row.

// CHECK-LABEL: func.func @steps
//   CHECK-NOT:   call
//       CHECK:   return
func.func @steps(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %m step %c2 {
    scf.for %j = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %begin = memref.load %positions[%i] : memref<?xindex, #device>
      %end = memref.load %positions[%next] : memref<?xindex, #device>
      %old = memref.load %x[%i, %j] : memref<?x?xf64, #device>
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %old) -> (f64) {
        %k = memref.load %coordinates[%p] : memref<?xindex, #device>
        %e = memref.load %y[%k, %j] : memref<?x?xf64, #device>
        %v = memref.load %values[%p] : memref<?xf64, #device>
        %t = arith.mulf %v, %e : f64
        %u = arith.subf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %x[%i, %j] : memref<?x?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}

// -----

#device = #gpu.address_space<global>

// The result elsewhere than where it started.

// CHECK-LABEL: func.func @elsewhere
//   CHECK-NOT:   call
//       CHECK:   return
func.func @elsewhere(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %begin = memref.load %positions[%i] : memref<?xindex, #device>
      %end = memref.load %positions[%next] : memref<?xindex, #device>
      %old = memref.load %x[%i, %j] : memref<?x?xf64, #device>
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %old) -> (f64) {
        %k = memref.load %coordinates[%p] : memref<?xindex, #device>
        %e = memref.load %y[%k, %j] : memref<?x?xf64, #device>
        %v = memref.load %values[%p] : memref<?xf64, #device>
        %t = arith.mulf %v, %e : f64
        %u = arith.subf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %x[%j, %i] : memref<?x?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}

// -----

#device = #gpu.address_space<global>

// The same entries of all rows.

// CHECK-LABEL: func.func @same_entries
//   CHECK-NOT:   call
//       CHECK:   return
func.func @same_entries(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %begin = memref.load %positions[%c0] : memref<?xindex, #device>
      %end = memref.load %positions[%c1] : memref<?xindex, #device>
      %old = memref.load %x[%i, %j] : memref<?x?xf64, #device>
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %old) -> (f64) {
        %k = memref.load %coordinates[%p] : memref<?xindex, #device>
        %e = memref.load %y[%k, %j] : memref<?x?xf64, #device>
        %v = memref.load %values[%p] : memref<?xf64, #device>
        %t = arith.mulf %v, %e : f64
        %u = arith.subf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %x[%i, %j] : memref<?x?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}

// -----

#device = #gpu.address_space<global>

// Coordinates of rows.

// CHECK-LABEL: func.func @of_rows
//   CHECK-NOT:   call
//       CHECK:   return
func.func @of_rows(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %begin = memref.load %positions[%i] : memref<?xindex, #device>
      %end = memref.load %positions[%next] : memref<?xindex, #device>
      %old = memref.load %x[%i, %j] : memref<?x?xf64, #device>
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %old) -> (f64) {
        %k = memref.load %coordinates[%i] : memref<?xindex, #device>
        %e = memref.load %y[%k, %j] : memref<?x?xf64, #device>
        %v = memref.load %values[%p] : memref<?xf64, #device>
        %t = arith.mulf %v, %e : f64
        %u = arith.subf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %x[%i, %j] : memref<?x?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}

// -----

#device = #gpu.address_space<global>

// Something else is stored.

// CHECK-LABEL: func.func @and_more
//   CHECK-NOT:   call
//       CHECK:   return
func.func @and_more(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %begin = memref.load %positions[%i] : memref<?xindex, #device>
      %end = memref.load %positions[%next] : memref<?xindex, #device>
      %old = memref.load %x[%i, %j] : memref<?x?xf64, #device>
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %old) -> (f64) {
        %k = memref.load %coordinates[%p] : memref<?xindex, #device>
        %e = memref.load %y[%k, %j] : memref<?x?xf64, #device>
        %v = memref.load %values[%p] : memref<?xf64, #device>
        %t = arith.mulf %v, %e : f64
        %u = arith.subf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %x[%i, %j] : memref<?x?xf64, #device>
      memref.store %sum, %y[%i, %j] : memref<?x?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}

// -----

#device = #gpu.address_space<global>

// A sum that is subtracted from.

// CHECK-LABEL: func.func @reversed
//   CHECK-NOT:   call
//       CHECK:   return
func.func @reversed(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %begin = memref.load %positions[%i] : memref<?xindex, #device>
      %end = memref.load %positions[%next] : memref<?xindex, #device>
      %old = memref.load %x[%i, %j] : memref<?x?xf64, #device>
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %old) -> (f64) {
        %k = memref.load %coordinates[%p] : memref<?xindex, #device>
        %e = memref.load %y[%k, %j] : memref<?x?xf64, #device>
        %v = memref.load %values[%p] : memref<?xf64, #device>
        %t = arith.mulf %v, %e : f64
        %u = arith.subf %t, %s : f64
        scf.yield %u : f64
      }
      memref.store %sum, %x[%i, %j] : memref<?x?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}

// -----

#device = #gpu.address_space<global>

// A sum of other terms.

// CHECK-LABEL: func.func @other_terms
//   CHECK-NOT:   call
//       CHECK:   return
func.func @other_terms(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %begin = memref.load %positions[%i] : memref<?xindex, #device>
      %end = memref.load %positions[%next] : memref<?xindex, #device>
      %old = memref.load %x[%i, %j] : memref<?x?xf64, #device>
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %old) -> (f64) {
        %k = memref.load %coordinates[%p] : memref<?xindex, #device>
        %e = memref.load %y[%k, %j] : memref<?x?xf64, #device>
        %v = memref.load %values[%p] : memref<?xf64, #device>
        %t = arith.mulf %v, %e : f64
        %u = arith.addf %s, %v : f64
        scf.yield %u : f64
      }
      memref.store %sum, %x[%i, %j] : memref<?x?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}

// -----

#device = #gpu.address_space<global>

// Rows of y instead of places that are stored.

// CHECK-LABEL: func.func @dense
//   CHECK-NOT:   call
//       CHECK:   return
func.func @dense(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %begin = memref.load %positions[%i] : memref<?xindex, #device>
      %end = memref.load %positions[%next] : memref<?xindex, #device>
      %old = memref.load %x[%i, %j] : memref<?x?xf64, #device>
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %old) -> (f64) {
        %k = memref.load %coordinates[%p] : memref<?xindex, #device>
        %e = memref.load %y[%i, %j] : memref<?x?xf64, #device>
        %v = memref.load %values[%p] : memref<?xf64, #device>
        %t = arith.mulf %v, %e : f64
        %u = arith.subf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %x[%i, %j] : memref<?x?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}

// -----

#device = #gpu.address_space<global>

// A sample that starts from something else.

// CHECK-LABEL: func.func @sample_zero
//   CHECK-NOT:   call
//       CHECK:   return
func.func @sample_zero(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %m step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    scf.for %p = %begin to %end step %c1 {
      %k = memref.load %coordinates[%p] : memref<?xindex, #device>
      %v = memref.load %values[%p] : memref<?xf64, #device>
      %sum = scf.for %l = %c0 to %n step %c1 iter_args(%s = %zero) -> (f64) {
        %e = memref.load %y[%k, %l] : memref<?x?xf64, #device>
        %f = memref.load %x[%i, %l] : memref<?x?xf64, #device>
        %t = arith.mulf %f, %e : f64
        %u = arith.addf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %values[%p] : memref<?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}

// -----

#device = #gpu.address_space<global>

// A sample of a sample.

// CHECK-LABEL: func.func @sample_places
//   CHECK-NOT:   call
//       CHECK:   return
func.func @sample_places(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %m step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    scf.for %p = %begin to %end step %c1 {
      %k = memref.load %coordinates[%p] : memref<?xindex, #device>
      %v = memref.load %values[%p] : memref<?xf64, #device>
      %sum = scf.for %l = %c0 to %n step %c1 iter_args(%s = %v) -> (f64) {
        %e = memref.load %y[%k, %l] : memref<?x?xf64, #device>
        %f = memref.load %x[%k, %l] : memref<?x?xf64, #device>
        %t = arith.mulf %f, %e : f64
        %u = arith.addf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %values[%p] : memref<?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}

// -----

#device = #gpu.address_space<global>

// A sample by loops that are not parallel.

// CHECK-LABEL: func.func @sample_sequential
//   CHECK-NOT:   call
//       CHECK:   return
func.func @sample_sequential(%positions: memref<?xindex, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %m step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex, #device>
    %end = memref.load %positions[%next] : memref<?xindex, #device>
    scf.for %p = %begin to %end step %c1 {
      %k = memref.load %coordinates[%p] : memref<?xindex, #device>
      %v = memref.load %values[%p] : memref<?xf64, #device>
      %sum = scf.for %l = %c0 to %n step %c1 iter_args(%s = %v) -> (f64) {
        %e = memref.load %y[%k, %l] : memref<?x?xf64, #device>
        %f = memref.load %x[%i, %l] : memref<?x?xf64, #device>
        %t = arith.mulf %f, %e : f64
        %u = arith.addf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %values[%p] : memref<?xf64, #device>
    } 
  } 
  return
}

// -----

#device = #gpu.address_space<global>

// Lists of 32 bits; those of other widths, and of two, no library has.

// CHECK-LABEL: func.func @narrow(
//   CHECK-DAG:   %[[F64:.+]] = arith.constant 8 : i32
//   CHECK-DAG:   %[[I32:.+]] = arith.constant 3 : i32
//       CHECK:   call @sparseAutogradDeviceMultiplySparse(%[[F64]], %[[I32]],
// CHECK-LABEL: func.func @mixed(
//   CHECK-NOT:   call
// CHECK-LABEL: func.func @narrower(
//   CHECK-NOT:   call
func.func @narrow(%positions: memref<?xi32, #device>, %coordinates: memref<?xi32, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %b = memref.load %positions[%i] : memref<?xi32, #device>
      %begin = arith.index_castui %b : i32 to index
      %f = memref.load %positions[%next] : memref<?xi32, #device>
      %end = arith.index_castui %f : i32 to index
      %old = memref.load %x[%i, %j] : memref<?x?xf64, #device>
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %old) -> (f64) {
        %c = memref.load %coordinates[%p] : memref<?xi32, #device>
        %k = arith.index_castui %c : i32 to index
        %e = memref.load %y[%k, %j] : memref<?x?xf64, #device>
        %v = memref.load %values[%p] : memref<?xf64, #device>
        %t = arith.mulf %v, %e : f64
        %u = arith.subf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %x[%i, %j] : memref<?x?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}
func.func @mixed(%positions: memref<?xi32, #device>, %coordinates: memref<?xindex, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %b = memref.load %positions[%i] : memref<?xi32, #device>
      %begin = arith.index_castui %b : i32 to index
      %f = memref.load %positions[%next] : memref<?xi32, #device>
      %end = arith.index_castui %f : i32 to index
      %old = memref.load %x[%i, %j] : memref<?x?xf64, #device>
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %old) -> (f64) {
        %k = memref.load %coordinates[%p] : memref<?xindex, #device>
        %e = memref.load %y[%k, %j] : memref<?x?xf64, #device>
        %v = memref.load %values[%p] : memref<?xf64, #device>
        %t = arith.mulf %v, %e : f64
        %u = arith.subf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %x[%i, %j] : memref<?x?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}
func.func @narrower(%positions: memref<?xi16, #device>, %coordinates: memref<?xi16, #device>, %values: memref<?xf64, #device>, %y: memref<?x?xf64, #device>, %x: memref<?x?xf64, #device>, %m: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %next = arith.addi %i, %c1 : index
      %b = memref.load %positions[%i] : memref<?xi16, #device>
      %begin = arith.index_castui %b : i16 to index
      %f = memref.load %positions[%next] : memref<?xi16, #device>
      %end = arith.index_castui %f : i16 to index
      %old = memref.load %x[%i, %j] : memref<?x?xf64, #device>
      %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %old) -> (f64) {
        %c = memref.load %coordinates[%p] : memref<?xi16, #device>
        %k = arith.index_castui %c : i16 to index
        %e = memref.load %y[%k, %j] : memref<?x?xf64, #device>
        %v = memref.load %values[%p] : memref<?xf64, #device>
        %t = arith.mulf %v, %e : f64
        %u = arith.subf %s, %t : f64
        scf.yield %u : f64
      }
      memref.store %sum, %x[%i, %j] : memref<?x?xf64, #device>
    } {sparse_autograd.parallel}
  } {sparse_autograd.parallel}
  return
}
