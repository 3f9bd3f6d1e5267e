// Barriers in shared memory as MLIR lowers them: no inline PTX is left.

// RUN: %lower_hopper %S/Inputs/mbarriers.mlir > %t
// RUN: emulate-kernel %t --kernel=by_parity --block=64 --seeds=5 i1=0 \
// RUN:   memref:f32:64:zero | FileCheck %s
// RUN: emulate-kernel %t --kernel=by_token --block=64 --seeds=5 i1=0 \
// RUN:   memref:f32:64:zero | FileCheck %s
// RUN: not emulate-kernel %t --kernel=by_parity --block=64 i1=1 \
// RUN:   memref:f32:64:zero 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not emulate-kernel %t --kernel=by_token --block=64 i1=1 \
// RUN:   memref:f32:64:zero 2>&1 | FileCheck %s --check-prefix=HANG

// CHECK: 1: f32 [63, 62, 61, {{.*}} 1, 0]

// EARLY: error: kernel 'by_parity', block (0, 0, 0), thread ({{[0-9]+}}, 0, 0) reads 4 bytes at offset {{[0-9]+}} of shared memory, of which no thread has written byte
// HANG: error: kernel 'by_token', block (0, 0, 0), thread ({{[0-9]+}}, 0, 0) {{.*}} the mbarrier at offset {{[0-9]+}} of shared memory, which is in phase 0 with 0 of 64 arrivals and 128 bytes to come, {{.*}} at [@by_token:{{[0-9]+}}: {{.*}}mbarrier.{{test|try}}.wait
