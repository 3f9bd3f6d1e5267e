// RUN: sparse-opt %s | sparse-opt | FileCheck %s
// RUN: sparse-opt %s --mlir-print-op-generic | sparse-opt | FileCheck %s
// RUN: sparse-opt %s --emit-bytecode | sparse-opt | FileCheck %s

// The schedule of loops: each part, and where it may stand.

// CHECK-LABEL: func.func @tensors(
func.func @tensors(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, entries>}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xf32>) {
    scf.yield %a : tensor<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<entries, parallel>}
  return %r : tensor<?xf32>
}

// What a loop carries is added up, if its iterations write to different places.
// CHECK-LABEL: func.func @sum(
func.func @sum(%x: memref<?xf32>, %y: memref<?xf32>, %n: index, %zero: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %y[%i] : memref<?xf32>
    %b = arith.addf %a, %v fastmath<reassoc> : f32
    scf.yield %b : f32
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return %s : f32
}

// CHECK-LABEL: func.func @buffers(
func.func @buffers(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.for %row = %c0 to %n step %c1 {
    // CHECK: } {sparse_autograd.schedule = #sparse_autograd.schedule<entries, lanes>}
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (f32) {
      %v = memref.load %x[%i] : memref<?xf32>
      %b = arith.addf %a, %v fastmath<reassoc> : f32
      scf.yield %b : f32
    } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes, entries>}
    // CHECK: } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, lanes = 8, vector = 4>}
    scf.for %i = %c0 to %c64 step %c1 {
      memref.store %s, %y[%i] : memref<?xf32>
    } {sparse_autograd.schedule = #sparse_autograd.schedule<vector = 4, lanes = 8, parallel>}
  // CHECK: } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  // CHECK: } {sparse_autograd.schedule = #sparse_autograd.schedule<vector = 2>}
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c64) step (%c1, %c1) {
    memref.store %zero, %y[%j] : memref<?xf32>
    scf.reduce
  } {sparse_autograd.schedule = #sparse_autograd.schedule<vector = 2>}
  return
}

func.func private @body(index, index)

// CHECK-LABEL: func.func @call(
func.func @call(%n: index) {
  %c0 = arith.constant 0 : index
  // CHECK: call @body({{.*}}) {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  func.call @body(%c0, %n) {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>} : (index, index) -> ()
  return
}
