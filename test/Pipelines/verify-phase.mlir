// What a phase leaves is verified at its end: a fault of a pass is an error there,
// and not where a later pass meets what it does not know.
// RUN: split-file %s %t
// RUN: sparse-opt %t/clean.mlir --sparse-autograd-verify-phase=phase=lower-sparse | FileCheck %s --check-prefix=CLEAN
// RUN: not sparse-opt %t/clean.mlir --sparse-autograd-verify-phase=phase=loops 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sparse-opt %t/lower-sparse.mlir --split-input-file --verify-diagnostics --sparse-autograd-verify-phase=phase=lower-sparse
// RUN: sparse-opt %t/differentiate.mlir --split-input-file --verify-diagnostics --allow-unregistered-dialect --sparse-autograd-verify-phase=phase=differentiate
// RUN: sparse-opt %t/prepare-sparse.mlir --split-input-file --verify-diagnostics --sparse-autograd-verify-phase=phase=prepare-sparse
// RUN: sparse-opt %t/target.mlir --split-input-file --verify-diagnostics --sparse-autograd-verify-phase=phase=cpu-loops
// RUN: not sparse-opt %t/foreign.mlir --allow-unregistered-dialect --sparse-autograd-verify-phase=phase=lower-sparse 2>&1 | FileCheck %s --check-prefix=FOREIGN

// The pipeline verifies each phase, and only if asked to.
// RUN: env -u SPARSE_AUTOGRAD_VERIFY_PHASES sparse-opt %t/empty.mlir --sparse-autograd --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=OFF --implicit-check-not=verify-phase
// RUN: env -u SPARSE_AUTOGRAD_VERIFY_PHASES sparse-opt %t/empty.mlir --sparse-autograd="target=gpu verify-phases=true" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: sparse-opt %t/empty.mlir --sparse-autograd --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=CPU

// CLEAN: func.func @clean
// UNKNOWN: error: there is no phase 'loops'; phases are 'input', 'differentiate', 'select-formats', 'prepare-sparse', 'lower-sparse', 'cpu-buffers', 'cpu-loops', 'cpu', 'gpu-buffers', 'gpu-loops', 'gpu-kernels', 'gpu'
// FOREIGN: foreign.mlir:2:{{.*}} error: 'consumer.op' op is left at the end of the phase 'lower-sparse', which leaves no such op

// OFF: sparse-autograd-check-input
// OFF: sparse-autograd-program-to-llvm
// CPU: sparse-autograd-check-input
// CPU-NEXT: sparse-autograd-verify-phase{phase=input}
// CPU-NEXT: sparse-autograd-differentiate
// CPU: verify-phase{phase=differentiate}
// CPU: verify-phase{phase=select-formats}
// CPU: sparse-autograd-prepare-sparse
// CPU-NEXT: verify-phase{phase=prepare-sparse}
// CPU-NEXT: sparse-autograd-lower-sparse
// CPU: verify-phase{phase=lower-sparse}
// CPU: verify-phase{phase=cpu-buffers}
// CPU: verify-phase{phase=cpu-loops}
// CPU: verify-phase{phase=cpu}
// GPU: verify-phase{phase=lower-sparse}
// GPU: verify-phase{phase=gpu-buffers}
// GPU: verify-phase{phase=gpu-loops}
// GPU: verify-phase{phase=gpu-kernels}
// GPU: verify-phase{phase=gpu}

//--- empty.mlir
module {}

//--- clean.mlir
// A copy that a program asks for is one until there are buffers.
func.func @copy(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = bufferization.alloc_tensor() copy(%x) : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @clean(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?xf32>) {
    scf.yield %a : tensor<?xf32>
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel, entries>}
  return %r : tensor<?xf32>
}

//--- foreign.mlir
func.func @foreign(%x: f32) {
  "consumer.op"(%x) : (f32) -> ()
  return
}

//--- lower-sparse.mlir
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
// expected-error @+1 {{'func.func' op has type 'tensor<4x8xf32, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>>' at the end of the phase 'lower-sparse', which leaves no sparse tensors; this is a fault of the compiler, not of the program}}
func.func private @sparse(tensor<4x8xf32, #CSR>)

// -----

func.func @op(%x: tensor<4xf32>, %m: tensor<4xi1>) -> tensor<f32> {
  // expected-error @+1 {{'sparse_autograd.masked_reduce' op is left at the end of the phase 'lower-sparse', which leaves no such op; this is a fault of the compiler}}
  %r = sparse_autograd.masked_reduce sum %x, %m dims = [0] : tensor<4xf32>, tensor<4xi1> -> tensor<f32>
  return %r : tensor<f32>
}

// -----

func.func @buffer(%n: index) {
  scf.execute_region {
    // expected-error @+1 {{'memref.alloc' op is left}}
    %b = memref.alloc() : memref<4xf32>
    scf.yield
  }
  return
}

// -----

func.func @mark(%n: index, %c: index) {
  // expected-error @+1 {{'scf.for' op has a schedule with 'lanes' at the end of the phase 'lower-sparse', which leaves no such schedules; this is a fault of the compiler, not of the program}}
  scf.for %i = %c to %n step %c {
  } {sparse_autograd.schedule = #sparse_autograd.schedule<lanes>}
  return
}

// -----

// The argument of a block.
func.func @argument(%n: index) {
  // expected-error @+1 {{'scf.execute_region' op has type 'memref<4xf32>' at the end of the phase 'lower-sparse', which leaves no buffers}}
  scf.execute_region {
    %b = builtin.unrealized_conversion_cast %n : index to i64
    cf.br ^next
  ^next:
    %p = ub.poison : i32
    cf.switch %p : i32, [default: ^last]
  ^unused(%a: memref<4xf32>):
    scf.yield
  ^last:
    scf.yield
  }
  return
}

//--- differentiate.mlir
// Ops of other projects are lowered by their own passes, later.
func.func private @f(%x: f64) -> f64 {
  "consumer.op"(%x) : (f64) -> ()
  return %x : f64
}
func.func @derivative(%x: f64) -> (f64, f64) {
  // expected-error @+1 {{'sparse_autograd.value_and_grad' op is left at the end of the phase 'differentiate', which leaves no such op}}
  %l, %d = sparse_autograd.value_and_grad @f(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return %l, %d : f64, f64
}

// -----

func.func @cotangent(%x: f64) -> f64 {
  // expected-error @+1 {{has the attribute 'sparse_autograd.cotangent' at the end of the phase 'differentiate', which leaves no such mark}}
  %e = arith.mulf %x, %x {sparse_autograd.cotangent} : f64
  return %e : f64
}

//--- prepare-sparse.mlir
#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @sample(%x: tensor<4x8xf32>, %p: tensor<4x8xf32, #CSR>) -> tensor<4x8xf32, #CSR> {
  // expected-error @+1 {{'sparse_autograd.sample' op is left at the end of the phase 'prepare-sparse', which leaves no such op}}
  %r = sparse_autograd.sample %x, %p : tensor<4x8xf32>, tensor<4x8xf32, #CSR> -> tensor<4x8xf32, #CSR>
  return %r : tensor<4x8xf32, #CSR>
}

// -----

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @convert(%x: tensor<4x8xf32>) -> tensor<4x8xf32, #CSR> {
  // expected-error @+1 {{'sparse_tensor.convert' op is left at the end of the phase 'prepare-sparse'}}
  %r = sparse_tensor.convert %x : tensor<4x8xf32> to tensor<4x8xf32, #CSR>
  return %r : tensor<4x8xf32, #CSR>
}

//--- target.mlir
func.func @tensor(%b: memref<4xf32>) {
  // expected-error @+1 {{'tensor.empty' op is left at the end of the phase 'cpu-loops'}}
  %t = tensor.empty() : tensor<4xf32>
  return
}

// -----

func.func @call(%x: i64) {
  // expected-error @+1 {{'arith.constant' op has type 'tensor<2xf32>' at the end of the phase 'cpu-loops', which leaves no tensors}}
  %t = arith.constant dense<0.0> : tensor<2xf32>
  return
}

// -----

func.func @linalg(%b: memref<4xf32>, %x: f32) {
  // expected-error @+1 {{'linalg.fill' op is left}}
  linalg.fill ins(%x : f32) outs(%b : memref<4xf32>)
  return
}

// -----

// What is parallel is an scf.parallel.
func.func @parallel(%n: index, %c: index) {
  // expected-error @+1 {{'scf.for' op has a schedule with 'parallel' at the end of the phase 'cpu-loops', which leaves no such schedules}}
  scf.for %i = %c to %n step %c {
  } {sparse_autograd.schedule = #sparse_autograd.schedule<parallel>}
  return
}

// -----

func.func @entries(%n: index, %c: index) {
  // expected-error @+1 {{has a schedule with 'entries' at the end of the phase 'cpu-loops'}}
  scf.for %i = %c to %n step %c {
  } {sparse_autograd.schedule = #sparse_autograd.schedule<entries>}
  return
}

// -----

func.func @vector(%n: index, %c: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{has a schedule with 'vector' at the end of the phase 'cpu-loops'}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
  } {sparse_autograd.schedule = #sparse_autograd.schedule<vector = 4>}
  return
}
