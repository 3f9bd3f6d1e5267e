// The processor of a module (lib/Transforms/AttachCPU.cpp), by its name and features, checked against LLVM. (The names are
// of x86-64; test/Unit/Target has what passes read of it.)
// RUN: sparse-opt %s --sparse-autograd-attach-cpu="cpu=x86-64-v3 features=+avx512f" | FileCheck %s
// CHECK: module attributes {llvm.target = #llvm.target<triple = "{{.+}}", chip = "x86-64-v3", features = <["+avx512f"]>>}

// In place of another one.
// RUN: sparse-opt %s --sparse-autograd-attach-cpu="cpu=x86-64-v3 features=+avx512f" --sparse-autograd-attach-cpu | FileCheck %s --check-prefix=LAST
// LAST: module attributes {llvm.target = #llvm.target<triple = "{{.+}}", chip = "generic">}

// The pipeline attaches what it is asked for, else nothing.
// RUN: sparse-opt %s --sparse-autograd="compile-to=differentiate features=+avx2" | FileCheck %s --check-prefix=PIPELINE
// RUN: sparse-opt %s --sparse-autograd="compile-to=differentiate cpu=generic" | FileCheck %s --check-prefix=NONE
// PIPELINE: chip = "generic", features = <["+avx2"]>
// NONE-NOT: llvm.target

// RUN: not sparse-opt %s --sparse-autograd-attach-cpu=cpu=i8080 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not sparse-opt %s --sparse-autograd-attach-cpu=features=+steam 2>&1 | FileCheck %s --check-prefix=FEATURE
// CPU: attach-cpu.mlir:{{[0-9]+}}:1: error: LLVM does not know the processor 'i8080'
// FEATURE: attach-cpu.mlir:{{[0-9]+}}:1: error: LLVM does not know the feature 'steam'
module {
}
