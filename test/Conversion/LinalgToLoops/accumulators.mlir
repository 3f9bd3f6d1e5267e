// RUN: sparse-opt %s --sparse-autograd-linalg-to-loops="parallel=false" --canonicalize --split-input-file | FileCheck %s

// A maximum of floats is carried as an integer whose order is the floats', so
// that LLVM vectorizes it; its NaN is the largest. One conversion of the initial
// value before the loop, one back behind it.
// CHECK-LABEL: func.func @maximum
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[OUT:.*]]: memref<f32>
// CHECK-DAG: %[[NAN:.*]] = arith.constant 2143289344 : i32
// CHECK-DAG: %[[MAGNITUDE:.*]] = arith.constant 2147483647 : i32
// CHECK-DAG: %[[SIGN:.*]] = arith.constant 31 : i32
// CHECK: %[[LAST:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> (i32)
// CHECK: %[[V:.*]] = memref.load %[[X]]
// CHECK: %[[BITS:.*]] = arith.bitcast %[[V]] : f32 to i32
// CHECK: %[[S:.*]] = arith.shrsi %[[BITS]], %[[SIGN]]
// CHECK: %[[M:.*]] = arith.andi %[[S]], %[[MAGNITUDE]]
// CHECK: %[[FLIPPED:.*]] = arith.xori %[[BITS]], %[[M]]
// CHECK: %[[ISNAN:.*]] = arith.cmpf uno, %[[V]], %[[V]]
// CHECK: %[[KEY:.*]] = arith.select %[[ISNAN]], %[[NAN]], %[[FLIPPED]]
// CHECK: %[[NEXT:.*]] = arith.maxsi %[[ACC]], %[[KEY]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: arith.shrsi %[[LAST]], %[[SIGN]]
// CHECK: %[[R:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK: memref.store %[[R]], %[[OUT]][]
func.func @maximum(%x: memref<?xf32>, %out: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<?xf32>) outs(%out : memref<f32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.maximumf %acc, %v : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// minnumf drops a NaN: it is the largest there too.
// CHECK-LABEL: func.func @minimum
// CHECK-DAG: %[[NAN:.*]] = arith.constant 9221120237041090560 : i64
// CHECK: scf.for {{.*}} -> (i64)
// CHECK: arith.select %{{.*}}, %[[NAN]], %{{.*}} : i64
// CHECK: arith.minsi
func.func @minimum(%x: memref<?xf64>, %out: memref<f64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<?xf64>) outs(%out : memref<f64>) {
  ^bb0(%v: f64, %acc: f64):
    %0 = arith.minnumf %v, %acc : f64
    linalg.yield %0 : f64
  }
  return
}

// -----

// An elementwise maximum is no reduction.
// CHECK-LABEL: func.func @elementwise
// CHECK: scf.for
// CHECK: arith.maximumf
func.func @elementwise(%x: memref<?xf32>, %out: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<?xf32>) outs(%out : memref<?xf32>) {
  ^bb0(%v: f32, %acc: f32):
    %0 = arith.maximumf %acc, %v : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// What counts up to 2^31 counts in an i32. A loop of unknown length is cut into
// strips of that.
// CHECK-LABEL: func.func @count
// CHECK-DAG: %[[STRIP:.*]] = arith.constant 2147483648 : index
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: scf.for %[[BEGIN:.*]] = %{{.*}} to %[[N:.*]] step %[[STRIP]] iter_args(%[[TOTAL:.*]] = %{{.*}}) -> (i64)
// CHECK: %[[LIMIT:.*]] = arith.addi %[[BEGIN]], %[[STRIP]]
// CHECK: %[[END:.*]] = arith.minsi %[[LIMIT]], %[[N]]
// CHECK: %[[COUNT:.*]] = scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %{{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (i32)
// CHECK: %[[ONE:.*]] = arith.extui %{{.*}} : i1 to i32
// CHECK: arith.addi %[[ACC]], %[[ONE]] : i32
// CHECK: %[[WIDE:.*]] = arith.extui %[[COUNT]] : i32 to i64
// CHECK: arith.addi %[[TOTAL]], %[[WIDE]] : i64
func.func @count(%x: memref<?xi1>, %out: memref<i64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<?xi1>) outs(%out : memref<i64>) {
  ^bb0(%v: i1, %acc: i64):
    %0 = arith.extui %v : i1 to i64
    %1 = arith.addi %acc, %0 : i64
    linalg.yield %1 : i64
  }
  return
}

// -----

// A loop whose length is known needs no strips.
// CHECK-LABEL: func.func @short_count
// CHECK-COUNT-1: scf.for
// CHECK-SAME: -> (i32)
// CHECK-NOT: scf.for
// CHECK: return
func.func @short_count(%x: memref<100xi1>, %out: memref<i64>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<100xi1>) outs(%out : memref<i64>) {
  ^bb0(%v: i1, %acc: i64):
    %0 = arith.extui %v : i1 to i64
    %1 = arith.addi %acc, %0 : i64
    linalg.yield %1 : i64
  }
  return
}
