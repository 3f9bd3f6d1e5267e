// RUN: sparse-opt %s --pass-pipeline='builtin.module(func.func(sparse-autograd-chunk-loops),sparse-autograd-distribute-scatter)' --remarks-filter=sparse-autograd-loops -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=remark:

// A loop that writes and is not parallel says so: one whose schedule a rewrite has
// lost is slow otherwise, and nothing else. Its inner loops, loops within parallel
// ones and loops that write nothing are no news.

// CHECK: remarks.mlir:[[@LINE+7]]:{{.*}} remark: [Missed] parallel | Category:sparse-autograd-loops | Function=rows | Remark="a loop runs on one thread, since its iterations are not known to write to different places"
func.func @rows(%m: memref<?xf32>, %n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    memref.store %x, %m[%i] : memref<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %x, %m[%j] : memref<?xf32>
    }
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.for %j = %i to %n step %c1 {
      memref.store %x, %m[%j] : memref<?xf32>
    }
  }
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f32) {
    %e = memref.load %m[%i] : memref<?xf32>
    %b = arith.addf %a, %e : f32
    scf.yield %b : f32
  }
  return %s : f32
}

// A scatter says what it does on several threads.

// CHECK: remarks.mlir:[[@LINE+5]]:{{.*}} remark: [Passed] parallel | Category:sparse-autograd-loops | Function=scatter | Remark="a loop that writes to rows that a list names runs on four threads or more if its work is worth it: each owns some of the rows and runs the iterations that write to these"
func.func @scatter(%list: memref<?xindex>, %n: index, %x: f32) -> memref<8x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.alloc() : memref<8x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.load %list[%i] : memref<?xindex>
    memref.store %x, %m[%row, %c0] : memref<8x8xf32>
  }
  return %m : memref<8x8xf32>
}
