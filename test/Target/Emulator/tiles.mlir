// Copies of tiles and of bytes, which no thread does.

// RUN: %lower_hopper %S/Inputs/tiles.mlir > %t

// Twelve tiles of 8 rows go through three buffers; of the last tile four rows lie
// outside of the matrix, and are zero. Element (r, c) is 32 r + c, so that column
// c adds up to 32 (91 * 92 / 2) + 92 c.
// RUN: emulate-kernel %t --kernel=pipeline --block=64 --seeds=8 --print=2 \
// RUN:   f32:92x32:iota tensormap=0:92x32:8x32:0 f32:32:zero i32=12 i1=0 \
// RUN:   | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: 2: f32 [133952, 134044, 134136, {{.*}}, 136804]

// The producer does not wait for empty buffers: the fourth tile comes before the
// first one is read, or before it has landed.
// RUN: not emulate-kernel %t --kernel=pipeline --block=64 --print=2 \
// RUN:   f32:92x32:iota tensormap=0:92x32:8x32:0 f32:32:zero i32=12 i1=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FULL
// FULL: error: kernel 'pipeline', block (0, 0, 0), thread (32, 0, 0) arrives 1 times at the mbarrier at offset {{[0-9]+}} of shared memory with mbarrier.arrive.expect_tx, of which phase 0 has 0 of 1 arrivals and 1024 bytes to come
// RUN: not emulate-kernel %t --kernel=pipeline --block=64 --seed=1 --print=2 \
// RUN:   f32:92x32:iota tensormap=0:92x32:8x32:0 f32:32:zero i32=12 i1=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OVERWRITTEN
// OVERWRITTEN: writes 1024 bytes at offset {{[0-9]+}} of shared memory, which an asynchronous copy wrote [@pipeline:{{.*}}], and this thread has not waited for its mbarrier

// RUN: emulate-kernel %t --kernel=store --block=32 --seeds=4 --print=0 \
// RUN:   f32:12x32:zero tensormap:0:12x32:8x32:0 i32=6 i1=0 \
// RUN:   | FileCheck %s --check-prefix=STORE
// STORE: 0: f32 [0, 0, {{(0, )*0, 1, 2, 3}}, {{.*}}, 190, 191]
// RUN: not emulate-kernel %t --kernel=store --block=32 \
// RUN:   f32:12x32:zero tensormap:0:12x32:8x32:0 i32=6 i1=1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FENCE
// FENCE: error: kernel 'store', block (0, 0, 0), thread (0, 0, 0) has cp.async.bulk.tensor read 1024 bytes at offset {{[0-9]+}} of shared memory, where thread (0, 0, 0) has written byte {{[0-9]+}}, and no fence.proxy.async is between them, at [@store:{{[0-9]+}}: call void @llvm.nvvm.cp.async.bulk.tensor.s2g.tile.2d(

// RUN: emulate-kernel %t --kernel=bytes --block=32 --seeds=4 --print=1 \
// RUN:   f32:64:iota f32:64:zero | FileCheck %s --check-prefix=BYTES
// BYTES: 1: f32 [32, 33, {{.*}}, 62, 63, 0, 1, 2, {{.*}}, 30, 31]

// RUN: emulate-kernel %t --kernel=by_map --block=32 --seeds=4 --print=2 \
// RUN:   memref:f32:16x32:iota tensormap=0:16x32:8x32:0 memref:f32:8x32:zero \
// RUN:   | FileCheck %s --check-prefix=MAP
// MAP: 2: f32 [256, 257, 258, {{.*}}, 510, 511]

// Multicast is to the blocks of a cluster, of which there is one.
// RUN: not emulate-kernel %S/Inputs/multicast.ll 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MULTICAST
// MULTICAST: error: the emulator cannot execute this code: the intrinsic 'llvm.nvvm.cp.async.bulk.tensor.g2s.tile.1d' is not emulated
