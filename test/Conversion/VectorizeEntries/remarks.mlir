// RUN: sparse-opt %s --sparse-autograd-attach-cpu=cpu=znver4 --sparse-autograd-vectorize-entries --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s --check-prefix=GATHER
// RUN: sparse-opt %s --sparse-autograd-attach-cpu=cpu=x86-64-v3 --sparse-autograd-vectorize-entries --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=remark:

// Each loop over the entries of a row says whether it is one over vectors, and
// why not.

func.func @rows(%positions: memref<?xindex>, %coordinates: memref<?xi32>, %values: memref<?xf64>,
                %other: memref<?xf64>, %sums: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %two = arith.constant 2.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %begin = memref.load %positions[%i] : memref<?xindex>
    %end = memref.load %positions[%next] : memref<?xindex>
    // CHECK: remarks.mlir:[[@LINE+1]]:{{.*}} remark: [Missed] vectors | Category:sparse-autograd-loops | Function=rows | Remark="a loop over the entries of a row stays one over scalars, since what it carries is not combined in any order"
    %ordered = scf.for %p = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
      %x = memref.load %values[%p] : memref<?xf64>
      %t = arith.addf %s, %x : f64
      scf.yield %t : f64
    }
    memref.store %ordered, %sums[%i] : memref<?xf64>
    // GATHER: remarks.mlir:[[@LINE+2]]:{{.*}} remark: [Passed] vectors | {{.*}} Remark="a loop over the entries of a row is one over vectors of 8 elements, the last of which is masked, if there are many rows, which are short: it gathers what a list names"
    // CHECK: remarks.mlir:[[@LINE+1]]:{{.*}} remark: [Missed] vectors | {{.*}}since vectors have no form of memref.load, or of what it takes"
    %sum = scf.for %p = %begin to %end step %c1 iter_args(%s = %zero) -> (f64) {
      %c = memref.load %coordinates[%p] : memref<?xi32>
      %j = arith.index_cast %c : i32 to index
      %x = memref.load %values[%j] : memref<?xf64>
      %t = arith.addf %s, %x fastmath<reassoc> : f64
      scf.yield %t : f64
    }
    memref.store %sum, %sums[%i] : memref<?xf64>
    // CHECK: remarks.mlir:[[@LINE+1]]:{{.*}} remark: [Missed] vectors | {{.*}}since lists may overlap, of which one is written"
    scf.for %p = %begin to %end step %c1 {
      %x = memref.load %values[%p] : memref<?xf64>
      memref.store %x, %other[%p] : memref<?xf64>
    }
    // CHECK: remarks.mlir:[[@LINE+1]]:{{.*}} remark: [Missed] vectors | {{.*}}since it accesses no list"
    %product = scf.for %p = %begin to %end step %c1 iter_args(%s = %two) -> (f64) {
      %t = arith.mulf %s, %two fastmath<reassoc> : f64
      scf.yield %t : f64
    }
    memref.store %product, %sums[%i] : memref<?xf64>
    // CHECK: remarks.mlir:[[@LINE+1]]:{{.*}} remark: [Passed] vectors | {{.*}} Remark="a loop over the entries of a row is one over vectors of 8 elements, the last of which is masked"
    scf.for %p = %begin to %end step %c1 {
      %x = memref.load %values[%p] : memref<?xf64>
      %y = arith.mulf %x, %two : f64
      memref.store %y, %values[%p] : memref<?xf64>
    }
  }
  return
}
