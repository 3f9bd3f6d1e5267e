// A pass that fails leaves a file with the program and the passes, which fails
// again in the same way.

// RUN: not sparse-opt %s --sparse-autograd --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=FILE < %t.mlir
// RUN: not sparse-opt %t.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN

// CHECK: reproducer.mlir:[[# @LINE + 11]]:1: error: 'func.func' op has no body to differentiate
// CHECK: reproducer.mlir:0:0: error: Failures have been detected while processing an MLIR pass pipeline
// CHECK: note: Pipeline failed while executing [`DifferentiatePass` on 'builtin.module' operation]: reproducer generated at `{{.*}}.mlir`

// FILE:      sparse_autograd.value_and_grad
// FILE:      mlir_reproducer: {
// FILE-NEXT: pipeline: "builtin.module(sparse-autograd-{{.*}}sparse-autograd-record-manifest,
// FILE-SAME: sparse-autograd-parallel-calls-to-runtime,

// AGAIN: error: 'func.func' op has no body to differentiate

func.func private @f(f64) -> f64
func.func @calls(%x: f64) -> (f64, f64) {
  %l, %d = sparse_autograd.value_and_grad @f(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return %l, %d : f64, f64
}
