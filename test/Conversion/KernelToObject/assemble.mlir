// What ptxas makes of kernels, for each kind of chip: nothing is spilled, and
// nothing lies on a stack.

// REQUIRES: ptxas
// RUN: sparse-opt %S/../KernelToNVVM/kernels.mlir --pass-pipeline="builtin.module(gpu.module(sparse-autograd-kernel-to-nvvm), sparse-autograd-kernel-to-object{chips=sm_80,sm_90,sm_90a,sm_100 ptx=sm_80 report=true})" -o %t.mlir 2> %t.report
// RUN: FileCheck %s --check-prefix=OBJECTS --input-file=%t.mlir
// RUN: FileCheck %s --input-file=%t.report
// RUN: grep remark %t.report | FileCheck %s --check-prefix=ALL

// OBJECTS: gpu.binary @rows [#gpu.object<#nvvm.target<O = 3, chip = "sm_80">, bin = "{{.*}}#gpu.object<#nvvm.target<O = 3, chip = "sm_90">, bin = "{{.*}}chip = "sm_90a">, bin = "{{.*}}chip = "sm_100">, bin = "{{.*}}chip = "sm_80">, assembly = "

// CHECK-COUNT-4: spmv on sm_{{[0-9a]+}}: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled, 0 bytes of shared memory
// CHECK-COUNT-4: sum on sm_{{[0-9a]+}}: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled, 0 bytes of shared memory
// CHECK-COUNT-4: reverse on sm_{{[0-9a]+}}: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled, 0 bytes of shared memory
// A number for each of 32 warps.
// CHECK-COUNT-4: total on sm_{{[0-9a]+}}: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled, 128 bytes of shared memory

// ALL-COUNT-20: 0 bytes of stack, 0 bytes spilled
// ALL-NOT: remark
