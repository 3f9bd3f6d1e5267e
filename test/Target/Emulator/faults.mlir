// For every kind of fault a kernel that has it, and the same kernel without it:
// the parameter %faulty says which.

// RUN: %lower_gpu %s > %t

module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" @numbers
        : memref<64xf32, #gpu.address_space<workgroup>>

    // RUN: emulate-kernel %t --kernel=no_barrier --block=64 --seeds=5 i1=0 \
    // RUN:   memref:f32:64:zero | FileCheck %s --check-prefix=BARRIER
    // RUN: not emulate-kernel %t --kernel=no_barrier --block=64 --seed=3 i1=1 \
    // RUN:   memref:f32:64:zero 2>&1 | FileCheck %s --check-prefix=NO-BARRIER
    // BARRIER: 1: f32 [63, 62, 61, {{.*}} 1, 0]
    // NO-BARRIER: error: kernel 'no_barrier', block (0, 0, 0), thread (40, 0, 0) reads 4 bytes at offset 92 of shared memory, of which no thread has written byte 92, at [@no_barrier:{{[0-9]+}}: %{{.*}} = load float, ptr addrspace(3) %{{.*}}, align 4] (seed 3)
    gpu.func @no_barrier(%faulty: i1, %y: memref<64xf32>) kernel {
      %t = gpu.thread_id x
      %c63 = arith.constant 63 : index
      %shared = memref.get_global @numbers
          : memref<64xf32, #gpu.address_space<workgroup>>
      %t32 = arith.index_cast %t : index to i32
      %v = arith.sitofp %t32 : i32 to f32
      memref.store %v, %shared[%t]
          : memref<64xf32, #gpu.address_space<workgroup>>
      scf.if %faulty {
      } else {
        gpu.barrier
      }
      %other = arith.subi %c63, %t : index
      %w = memref.load %shared[%other]
          : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %w, %y[%t] : memref<64xf32>
      gpu.return
    }

    // The last barrier of a tile is missing: the next round writes what others
    // still read.
    // RUN: emulate-kernel %t --kernel=write_after_read --block=64 --seeds=5 \
    // RUN:   i1=0 memref:f32:64:zero | FileCheck %s --check-prefix=ROUNDS
    // RUN: not emulate-kernel %t --kernel=write_after_read --block=64 i1=1 \
    // RUN:   memref:f32:64:zero 2>&1 | FileCheck %s --check-prefix=RACE
    // ROUNDS: 1: f32 [3, 3, 3, {{.*}}, 3]
    // RACE: thread (0, 0, 0) reads 4 bytes at offset 252 of shared memory, which thread (63, 0, 0) wrote [@write_after_read:{{[0-9]+}}: store float {{.*}}], and no barrier is between them, at [@write_after_read:{{[0-9]+}}: %{{.*}} = load float{{.*}}] (seed 0)
    gpu.func @write_after_read(%faulty: i1, %y: memref<64xf32>) kernel {
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c63 = arith.constant 63 : index
      %one = arith.constant 1.0 : f32
      %zero = arith.constant 0.0 : f32
      %shared = memref.get_global @numbers
          : memref<64xf32, #gpu.address_space<workgroup>>
      %other = arith.subi %c63, %t : index
      %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %zero) -> f32 {
        memref.store %one, %shared[%t]
            : memref<64xf32, #gpu.address_space<workgroup>>
        gpu.barrier
        %w = memref.load %shared[%other]
            : memref<64xf32, #gpu.address_space<workgroup>>
        %s = arith.addf %a, %w : f32
        scf.if %faulty {
        } else {
          gpu.barrier
        }
        scf.yield %s : f32
      }
      memref.store %sum, %y[%t] : memref<64xf32>
      gpu.return
    }

    // RUN: not emulate-kernel %t --kernel=divergent --block=64 --seed=1 i1=1 \
    // RUN:   memref:i32:64:zero 2>&1 | FileCheck %s --check-prefix=DIVERGENT
    // RUN: emulate-kernel %t --kernel=divergent --block=64 --seeds=5 i1=0 \
    // RUN:   memref:i32:64:zero
    // DIVERGENT: kernel 'divergent', block (0, 0, 0), thread (30, 0, 0) executes barrier.cta.sync, which all threads of a warp must do at the same place, but thread (29, 0, 0) waits in barrier.cta.sync of barrier 0 [@divergent:{{[0-9]+}}: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)], at [@divergent:{{[0-9]+}}: call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)] (seed 1)
    gpu.func @divergent(%faulty: i1, %y: memref<64xi32>) kernel {
      %t = gpu.thread_id x
      %t32 = arith.index_cast %t : index to i32
      %c1 = arith.constant 1 : index
      %bit = arith.andi %t, %c1 : index
      %isOdd = arith.cmpi eq, %bit, %c1 : index
      %differs = arith.andi %isOdd, %faulty : i1
      scf.if %differs {
        memref.store %t32, %y[%t] : memref<64xi32>
        gpu.barrier
      } else {
        gpu.barrier
      }
      gpu.return
    }

    // RUN: not emulate-kernel %t --kernel=early_end --block=64 --seed=2 i1=1 \
    // RUN:   2>&1 | FileCheck %s --check-prefix=EARLY
    // RUN: emulate-kernel %t --kernel=early_end --block=64 --seeds=5 i1=0
    // EARLY: waits in barrier.cta.sync of barrier 0, at which 60 of 64 threads have arrived, but thread (60, 0, 0) has ended, at [@early_end:{{[0-9]+}}: call void {{.*}}barrier{{.*}}] (seed 2)
    gpu.func @early_end(%faulty: i1) kernel {
      %t = gpu.thread_id x
      %c60 = arith.constant 60 : index
      %isLast = arith.cmpi uge, %t, %c60 : index
      %ends = arith.andi %isLast, %faulty : i1
      scf.if %ends {
      } else {
        gpu.barrier
      }
      gpu.return
    }

    // RUN: not emulate-kernel %t --kernel=uninitialized --block=64 i1=1 \
    // RUN:   memref:f32:64:zero 2>&1 | FileCheck %s --check-prefix=UNINIT
    // RUN: emulate-kernel %t --kernel=uninitialized --block=64 --seeds=5 i1=0 \
    // RUN:   memref:f32:64:zero
    // UNINIT: thread (63, 0, 0) reads 4 bytes at offset 252 of shared memory, of which no thread has written byte 252, at [@uninitialized:{{[0-9]+}}: %{{.*}} = load float
    gpu.func @uninitialized(%faulty: i1, %y: memref<64xf32>) kernel {
      %t = gpu.thread_id x
      %c32 = arith.constant 32 : index
      %one = arith.constant 1.0 : f32
      %shared = memref.get_global @numbers
          : memref<64xf32, #gpu.address_space<workgroup>>
      %isLow = arith.cmpi ult, %t, %c32 : index
      %true = arith.constant true
      %all = arith.xori %faulty, %true : i1
      %writes = arith.ori %isLow, %all : i1
      scf.if %writes {
        memref.store %one, %shared[%t]
            : memref<64xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      %v = memref.load %shared[%t]
          : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %v, %y[%t] : memref<64xf32>
      gpu.return
    }

    // RUN: not emulate-kernel %t --kernel=out_of_bounds --grid=2 --block=32 \
    // RUN:   memref:f32:50:zero i64=64 2>&1 | FileCheck %s --check-prefix=BOUNDS
    // RUN: emulate-kernel %t --kernel=out_of_bounds --grid=2 --block=32 \
    // RUN:   --seeds=3 memref:f32:50:zero i64=50 \
    // RUN: | FileCheck %s --check-prefix=IN-BOUNDS
    // BOUNDS: kernel 'out_of_bounds', block (1, 0, 0), thread (18, 0, 0) writes 4 bytes at address 0x{{[0-9a-f]+}}, 0 bytes behind the end of a buffer of 200 bytes, at [@out_of_bounds:{{[0-9]+}}: store float
    // IN-BOUNDS: 0: f32 [1, 1, {{.*}}, 1]
    gpu.func @out_of_bounds(%y: memref<?xf32>, %n: index) kernel {
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %c32 = arith.constant 32 : index
      %one = arith.constant 1.0 : f32
      %before = arith.muli %b, %c32 : index
      %i = arith.addi %before, %t : index
      %in = arith.cmpi ult, %i, %n : index
      scf.if %in {
        memref.store %one, %y[%i] : memref<?xf32>
      }
      gpu.return
    }

    // Each block adds to the same number, not atomically or so.
    // RUN: not emulate-kernel %t --kernel=between_blocks --grid=3 i1=1 \
    // RUN:   memref:f32:1:zero 2>&1 | FileCheck %s --check-prefix=BLOCKS
    // RUN: emulate-kernel %t --kernel=between_blocks --grid=3 --seeds=3 i1=0 \
    // RUN:   memref:f32:1:zero | FileCheck %s --check-prefix=ATOMIC
    // BLOCKS: block (1, 0, 0), thread (0, 0, 0) reads 4 bytes at offset 0 of a buffer of 4 bytes, which thread (0, 0, 0) of block (0, 0, 0) wrote [@between_blocks:{{[0-9]+}}: store {{.*}}], and blocks are not ordered
    // ATOMIC: 1: f32 [3]
    gpu.func @between_blocks(%faulty: i1, %y: memref<1xf32>) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1.0 : f32
      scf.if %faulty {
        %old = memref.load %y[%c0] : memref<1xf32>
        %new = arith.addf %old, %one : f32
        memref.store %new, %y[%c0] : memref<1xf32>
      } else {
        %old = memref.atomic_rmw addf %one, %y[%c0] : (f32, memref<1xf32>) -> f32
      }
      gpu.return
    }

    // RUN: not emulate-kernel %t --kernel=half_warp --block=32 i1=1 \
    // RUN:   memref:f32:32:iota 2>&1 | FileCheck %s --check-prefix=HALF
    // RUN: emulate-kernel %t --kernel=half_warp --block=32 --seeds=3 i1=0 \
    // RUN:   memref:f32:32:iota | FileCheck %s --check-prefix=WHOLE
    // HALF: thread (16, 0, 0) executes bar.warp.sync with mask 0xffffffff, but thread (0, 0, 0) waits in shfl.sync.bfly with mask 0xffffffff [@half_warp:{{[0-9]+}}: %{{.*}} = call {{.*}}shfl.sync.bfly{{.*}}], at [@half_warp:
    // WHOLE: 1: f32 [1, 0, 3, 2, {{.*}}, 31, 30]
    gpu.func @half_warp(%faulty: i1, %y: memref<32xf32>) kernel {
      %t = gpu.thread_id x
      %c16 = arith.constant 16 : index
      %one = arith.constant 1 : i32
      %all = arith.constant -1 : i32
      %width = arith.constant 32 : i32
      %v = memref.load %y[%t] : memref<32xf32>
      %isUpper = arith.cmpi uge, %t, %c16 : index
      %differs = arith.andi %isUpper, %faulty : i1
      scf.if %differs {
        nvvm.bar.warp.sync %all : i32
      } else {
        %w, %p = gpu.shuffle xor %v, %one, %width : f32
        memref.store %w, %y[%t] : memref<32xf32>
      }
      gpu.return
    }

    // RUN: not emulate-kernel %t --kernel=no_wait --block=32 i1=1 \
    // RUN:   memref:f32:128:iota memref:f32:32:zero 2>&1 \
    // RUN: | FileCheck %s --check-prefix=NO-WAIT
    // RUN: emulate-kernel %t --kernel=no_wait --block=32 --seeds=3 i1=0 --print=2 \
    // RUN:   memref:f32:128:iota memref:f32:32:zero \
    // RUN: | FileCheck %s --check-prefix=WAIT
    // NO-WAIT: reads 4 bytes at offset {{[0-9]+}} of shared memory, which a cp.async writes that has not been waited for, at [@no_wait:{{[0-9]+}}: %{{.*}} = load float
    // WAIT: 2: f32 [0, 1, 2, {{.*}}, 31]
    gpu.func @no_wait(%faulty: i1, %x: memref<128xf32>, %y: memref<32xf32>)
        kernel {
      %t = gpu.thread_id x
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %shared = memref.get_global @numbers
          : memref<64xf32, #gpu.address_space<workgroup>>
      %isLow = arith.cmpi ult, %t, %c16 : index
      scf.if %isLow {
        %i = arith.muli %t, %c4 : index
        %token = nvgpu.device_async_copy %x[%i], %shared[%i], 4
            : memref<128xf32> to memref<64xf32, #gpu.address_space<workgroup>>
        %group = nvgpu.device_async_create_group %token
      }
      scf.if %faulty {
      } else {
        nvvm.cp.async.wait.group 0
      }
      gpu.barrier
      %v = memref.load %shared[%t]
          : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %v, %y[%t] : memref<32xf32>
      gpu.return
    }

    // RUN: not emulate-kernel %t --kernel=misaligned --block=2 i64=2 \
    // RUN:   memref:f32:16:iota 2>&1 | FileCheck %s --check-prefix=MISALIGNED
    // RUN: emulate-kernel %t --kernel=misaligned --block=2 i64=4 \
    // RUN:   memref:f32:16:iota | FileCheck %s --check-prefix=ALIGNED
    // MISALIGNED: thread (1, 0, 0) reads address 0x{{[0-9a-f]+}}, which is not aligned to 16 bytes, at [@misaligned:{{[0-9]+}}: %{{.*}} = load <4 x float>
    // ALIGNED: 1: f32 [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]
    gpu.func @misaligned(%stride: index, %y: memref<16xf32>) kernel {
      %t = gpu.thread_id x
      %c8 = arith.constant 8 : index
      %i = arith.muli %t, %stride : index
      %v = vector.load %y[%i] {alignment = 16} : memref<16xf32>, vector<4xf32>
      %j = arith.addi %i, %c8 : index
      vector.store %v, %y[%j] {alignment = 16} : memref<16xf32>, vector<4xf32>
      gpu.return
    }

    // A loop that accesses nothing.
    // RUN: not emulate-kernel %t --kernel=endless --max-steps=1000 \
    // RUN:   memref:i32:[27] 2>&1 | FileCheck %s --check-prefix=ENDLESS
    // RUN: emulate-kernel %t --kernel=endless --max-steps=1000 memref:i32:[1]
    // ENDLESS: has not ended after 1000 steps of its block (an endless loop?), at [@endless:
    gpu.func @endless(%y: memref<1xi32>) kernel {
      %c0 = arith.constant 0 : index
      %one = arith.constant 1 : i32
      %three = arith.constant 3 : i32
      %start = memref.load %y[%c0] : memref<1xi32>
      // 27 and what follows from it, without an end.
      %last = scf.while (%v = %start) : (i32) -> i32 {
        %go = arith.cmpi ne, %v, %one : i32
        scf.condition(%go) %v : i32
      } do {
      ^bb0(%v: i32):
        %w = arith.muli %v, %three : i32
        %next = arith.xori %w, %v : i32
        scf.yield %next : i32
      }
      memref.store %last, %y[%c0] : memref<1xi32>
      gpu.return
    }
  }
}

// What no chip takes.
// RUN: not emulate-kernel %t --kernel=divergent --block=1025 i1=0 memref:i32:64:zero 2>&1 \
// RUN: | FileCheck %s --check-prefix=BLOCK
// RUN: not emulate-kernel %t --kernel=divergent --shared=300000 i1=0 memref:i32:64:zero 2>&1 \
// RUN: | FileCheck %s --check-prefix=SHARED
// BLOCK: error: kernel 'divergent': a block of 1025 threads in x is impossible
// SHARED: error: kernel 'divergent': 300000 bytes of dynamic shared memory, besides 256 of variables: a block may have 232448
