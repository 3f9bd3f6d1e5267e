// ptxas takes the kernels that the emulator executes, for sm_90a.

// REQUIRES: ptxas
// RUN: %assemble_hopper %S/Inputs/mbarriers.mlir -o %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MBARRIERS
// MBARRIERS-DAG: remark: by_parity on sm_90a: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled
// MBARRIERS-DAG: remark: by_token on sm_90a: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled

// RUN: %assemble_hopper %S/Inputs/tiles.mlir -o %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TILES
// The tensor map is no copy on a stack.
// TILES-DAG: remark: pipeline on sm_90a: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled
// TILES-DAG: remark: store on sm_90a: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled
// TILES-DAG: remark: by_map on sm_90a: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled
// TILES-DAG: remark: bytes on sm_90a: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled

// RUN: %python %S/Inputs/warpgroup_kernels.py > %t.mlir
// RUN: %assemble_hopper %t.mlir -o %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PRODUCTS
// PRODUCTS-COUNT-17: remark: {{[a-z0-9_]+}} on sm_90a: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled

// RUN: %python %S/Inputs/warpgroup_kernels.py pipeline > %t.mlir
// RUN: %assemble_hopper %t.mlir -o %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: remark: pipeline on sm_90a: {{[0-9]+}} registers, 0 bytes of stack, 0 bytes spilled
