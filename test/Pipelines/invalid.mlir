// RUN: not sparse-opt %s --sparse-autograd=target=gpu 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: not sparse-opt %s --sparse-autograd=threads=2 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not sparse-opt %s --sparse-autograd=compile-to=middle 2>&1 | FileCheck %s --check-prefix=PHASE

// GPU: target 'gpu' is not available in this version; use target=cpu
// THREADS: threads must be 0 (the runtime decides) or 1; set any other number in the runtime, when the code runs
// PHASE: Cannot find option named 'middle'

func.func @f() {
  return
}
