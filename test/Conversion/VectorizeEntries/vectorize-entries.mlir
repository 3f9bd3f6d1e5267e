// RUN: sparse-opt %s --sparse-autograd-attach-cpu=cpu=x86-64-v4 --sparse-autograd-vectorize-entries --canonicalize --cse | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-attach-cpu=cpu=x86-64-v3 --sparse-autograd-vectorize-entries --canonicalize --cse | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-vectorize-entries | FileCheck %s --check-prefix=GENERIC

// The generic processor has no masks.

// GENERIC-NOT: vector

// Whole vectors first, then a masked one, of which lanes beyond the end add -0.
// Halves of the vector are added up.

// CHECK-LABEL: func.func @sum
// CHECK-SAME:  %[[POS:.*]]: memref<?xindex>, %[[V:.*]]: memref<?xf32>, %[[S:.*]]: memref<?xf32>
// CHECK-DAG:   %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:   %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:   %[[C15:.*]] = arith.constant 15 : index
// CHECK-DAG:   %[[PLACES:.*]] = arith.constant dense<[0, 1, 2, {{.*}}, 15]> : vector<16xi32>
// CHECK-DAG:   %[[NONE:.*]] = arith.constant dense<-0.000000e+00> : vector<16xf32>
// CHECK-DAG:   %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK-DAG:   %[[INIT:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:       scf.for %[[I:.*]] =
// CHECK:         %[[BEGIN:.*]] = memref.load %[[POS]]
// CHECK:         %[[END:.*]] = memref.load %[[POS]]
// CHECK:         %[[COUNT:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK:         %[[REST:.*]] = arith.andi %[[COUNT]], %[[C15]]
// CHECK:         %[[WHOLE:.*]] = arith.subi %[[END]], %[[REST]]
// CHECK:         %[[SUMS:.*]] = scf.for %[[P:.*]] = %[[BEGIN]] to %[[WHOLE]] step %[[C16]] iter_args(%[[A:.*]] = %[[NONE]])
// CHECK:           %[[X:.*]] = vector.load %[[V]][%[[P]]]
// CHECK:           %[[NEXT:.*]] = arith.addf %[[A]], %[[X]] fastmath<reassoc> : vector<16xf32>
// CHECK:           scf.yield %[[NEXT]]
// CHECK:         %[[LEFT:.*]] = arith.index_cast %[[REST]] : index to i32
// CHECK:         %[[LEFTS:.*]] = vector.broadcast %[[LEFT]] : i32 to vector<16xi32>
// CHECK:         %[[MASK:.*]] = arith.cmpi ugt, %[[LEFTS]], %[[PLACES]] : vector<16xi32>
// CHECK:         %[[HAS:.*]] = arith.cmpi ne, %[[REST]], %[[C0]]
// CHECK:         %[[ALL:.*]] = scf.if %[[HAS]]
// CHECK:           %[[Y:.*]] = vector.maskedload %[[V]][%[[WHOLE]]], %[[MASK]], %[[ZEROS]]
// CHECK:           %[[TERMS:.*]] = arith.select %[[MASK]], %[[Y]], %[[NONE]]
// CHECK:           arith.addf %[[SUMS]], %[[TERMS]]
// CHECK:         } else {
// CHECK:           scf.yield %[[SUMS]]
// CHECK:         %[[LOW:.*]] = vector.extract_strided_slice %[[ALL]] {offsets = [0], sizes = [8]
// CHECK:         %[[HIGH:.*]] = vector.extract_strided_slice %[[ALL]] {offsets = [8], sizes = [8]
// CHECK:         arith.addf %[[LOW]], %[[HIGH]] fastmath<reassoc> : vector<8xf32>
// CHECK:         %[[ONE:.*]] = vector.extract %{{.*}}[0] : f32 from vector<1xf32>
// CHECK:         %[[SUM:.*]] = arith.addf %[[ONE]], %[[INIT]]
// CHECK:         memref.store %[[SUM]], %[[S]][%[[I]]]
func.func @sum(%positions: memref<?xindex>, %values: memref<?xf32>, %sums: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex>
    %end = memref.load %positions[%next] : memref<?xindex>
    %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %init) -> (f32) {
      %x = memref.load %values[%p] : memref<?xf32>
      %t = arith.addf %s, %x fastmath<reassoc> : f32
      scf.yield %t : f32
    }
    memref.store %sum, %sums[%i] : memref<?xf32>
  }
  return
}

// What is the same for all entries is in all lanes. Vectors of f32 have as many
// lanes as those of the f64 beside them.

// CHECK-LABEL: func.func @scale
// CHECK:         scf.for
// CHECK:           %[[X:.*]] = vector.load {{.*}} vector<8xf32>
// CHECK:           %[[FACTORS:.*]] = vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK:           %[[PRODUCT:.*]] = arith.mulf %[[X]], %[[FACTORS]]
// CHECK:           %[[E:.*]] = math.exp %[[PRODUCT]] : vector<8xf32>
// CHECK:           %[[WIDE:.*]] = arith.extf %[[E]] : vector<8xf32> to vector<8xf64>
// CHECK:           vector.store %[[WIDE]]
// CHECK:         scf.if
// CHECK:           vector.maskedstore
func.func @scale(%positions: memref<?xi32>, %values: memref<?xf32>, %factor: f32, %n: index) -> memref<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = memref.dim %values, %c0 : memref<?xf32>
  %result = memref.alloc(%size) : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xi32>
    %first = arith.index_castui %begin : i32 to index
    %end = memref.load %positions[%next] : memref<?xi32>
    %last = arith.index_castui %end : i32 to index
    scf.for %p = %first to %last step %c1 {
      %x = memref.load %values[%p] : memref<?xf32>
      %y = arith.mulf %x, %factor : f32
      %z = math.exp %y : f32
      %w = arith.extf %z : f32 to f64
      memref.store %w, %result[%p] : memref<?xf64>
    }
  }
  return %result : memref<?xf64>
}

// A maximum is one of integers with the order of the floats, NaN above all, from
// the key of minus infinity on. It is a float again before it meets the start.

// CHECK-LABEL: func.func @largest
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant dense<-2139095041> : vector<16xi32>
// CHECK-DAG:     %[[NAN:.*]] = arith.constant dense<2143289344> : vector<16xi32>
// CHECK-DAG:     %[[INFINITE:.*]] = arith.constant dense<0xFF800000> : vector<16xf32>
// CHECK-DAG:     %[[INIT:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:         %[[START:.*]] = arith.select %{{.*}}, %[[NAN]], %[[LEAST]]
// CHECK:         scf.for {{.*}} iter_args(%[[A:.*]] = %[[START]])
// CHECK:           %[[X:.*]] = vector.load
// CHECK:           %[[BITS:.*]] = arith.bitcast %[[X]] : vector<16xf32> to vector<16xi32>
// CHECK:           %[[SIGN:.*]] = arith.shrsi %[[BITS]]
// CHECK:           %[[FLIPPED:.*]] = arith.andi %[[SIGN]]
// CHECK:           %[[ORDERED:.*]] = arith.xori %[[BITS]], %[[FLIPPED]]
// CHECK:           %[[IS_NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
// CHECK:           %[[KEY:.*]] = arith.select %[[IS_NAN]], %[[NAN]], %[[ORDERED]]
// CHECK:           arith.maxsi %[[A]], %[[KEY]]
// CHECK:         scf.if
// CHECK:           arith.select %{{.*}}, %{{.*}}, %[[INFINITE]]
// CHECK:         arith.maxsi {{.*}} : vector<8xi32>
// CHECK:         arith.bitcast {{.*}} : i32 to f32
// CHECK:         arith.maximumf %{{.*}}, %[[INIT]] : f32
func.func @largest(%positions: memref<?xindex>, %values: memref<?xf32>, %maxima: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex>
    %end = memref.load %positions[%next] : memref<?xindex>
    %max = scf.for %p = %begin to %end step %c1 iter_args(%m = %init) -> (f32) {
      %x = memref.load %values[%p] : memref<?xf32>
      %t = arith.maximumf %x, %m : f32
      scf.yield %t : f32
    }
    memref.store %max, %maxima[%i] : memref<?xf32>
  }
  return
}

// Not: an element that coordinates name, a sum in its order, the exponential of
// f64, bytes, lists that may be at different places of one buffer, and a loop
// that is not over entries.

// CHECK-LABEL: func.func @others
// CHECK-NOT:   vector
// CHECK:       return
func.func @others(%positions: memref<?xindex>, %coordinates: memref<?xindex>, %values: memref<?xf64>,
                  %other: memref<?xf64>, %bytes: memref<?xi8>, %sums: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %own = memref.alloc(%n) : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex>
    %end = memref.load %positions[%next] : memref<?xindex>
    %ordered = scf.for %p = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
      %x = memref.load %values[%p] : memref<?xf64>
      %t = arith.addf %s, %x : f64
      scf.yield %t : f64
    }
    memref.store %ordered, %sums[%i] : memref<?xf64>
    scf.for %p = %begin to %end step %c1 {
      %j = memref.load %coordinates[%p] : memref<?xindex>
      %x = memref.load %values[%j] : memref<?xf64>
      memref.store %x, %own[%p] : memref<?xf64>
    }
    scf.for %p = %begin to %end step %c1 {
      %x = memref.load %values[%p] : memref<?xf64>
      %y = math.exp %x : f64
      memref.store %y, %own[%p] : memref<?xf64>
    }
    scf.for %p = %begin to %end step %c1 {
      %x = memref.load %bytes[%p] : memref<?xi8>
      %y = arith.addi %x, %x : i8
      memref.store %y, %bytes[%p] : memref<?xi8>
    }
    scf.for %p = %begin to %end step %c1 {
      %x = memref.load %values[%p] : memref<?xf64>
      memref.store %x, %other[%p] : memref<?xf64>
    }
    scf.for %p = %c0 to %n step %c1 {
      %x = memref.load %values[%p] : memref<?xf64>
      memref.store %x, %own[%p] : memref<?xf64>
    }
  }
  memref.dealloc %own : memref<?xf64>
  return
}
