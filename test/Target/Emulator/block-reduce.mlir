// y[0] += sum of exp(x): threads stride over x, then shuffles, shared memory, a
// barrier, shuffles of the first warp and one atomic addition for each block.

// RUN: %lower_gpu %s | emulate-kernel - --grid=3 --block=96 --seeds=3 \
// RUN:   --print=1 memref:f32:1000:zero memref:f32:1:zero i64=1000 \
// RUN: | FileCheck %s

// CHECK: 1: f32 [1000]

module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" @warps
        : memref<32xf32, #gpu.address_space<workgroup>>

    gpu.func @reduce(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) kernel {
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %threads = gpu.block_dim x
      %blocks = gpu.grid_dim x
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %i32 = arith.constant 32 : i32
      %before = arith.muli %b, %threads : index
      %first = arith.addi %before, %t : index
      %stride = arith.muli %threads, %blocks : index
      %acc = scf.for %i = %first to %n step %stride
          iter_args(%a = %zero) -> f32 {
        %v = memref.load %x[%i] : memref<?xf32>
        %e = math.exp %v : f32
        %r = arith.addf %a, %e : f32
        scf.yield %r : f32
      }
      %sum = func.call @warp_sum(%acc) : (f32) -> f32
      %lane = arith.remui %t, %c32 : index
      %warp = arith.divui %t, %c32 : index
      %isLeader = arith.cmpi eq, %lane, %c0 : index
      %shared = memref.get_global @warps
          : memref<32xf32, #gpu.address_space<workgroup>>
      scf.if %isLeader {
        memref.store %sum, %shared[%warp]
            : memref<32xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      %isFirst = arith.cmpi eq, %warp, %c0 : index
      scf.if %isFirst {
        %warps = arith.ceildivui %threads, %c32 : index
        %in = arith.cmpi ult, %lane, %warps : index
        %part = scf.if %in -> f32 {
          %v = memref.load %shared[%lane]
              : memref<32xf32, #gpu.address_space<workgroup>>
          scf.yield %v : f32
        } else {
          scf.yield %zero : f32
        }
        %total = func.call @warp_sum(%part) : (f32) -> f32
        scf.if %isLeader {
          %old = memref.atomic_rmw addf %total, %y[%c0]
              : (f32, memref<?xf32>) -> f32
        }
      }
      gpu.return
    }

    // A function that is not a kernel.
    func.func private @warp_sum(%x: f32) -> f32 {
      %width = arith.constant 32 : i32
      %o16 = arith.constant 16 : i32
      %o8 = arith.constant 8 : i32
      %o4 = arith.constant 4 : i32
      %o2 = arith.constant 2 : i32
      %o1 = arith.constant 1 : i32
      %s16, %p16 = gpu.shuffle down %x, %o16, %width : f32
      %a16 = arith.addf %x, %s16 : f32
      %s8, %p8 = gpu.shuffle down %a16, %o8, %width : f32
      %a8 = arith.addf %a16, %s8 : f32
      %s4, %p4 = gpu.shuffle down %a8, %o4, %width : f32
      %a4 = arith.addf %a8, %s4 : f32
      %s2, %p2 = gpu.shuffle down %a4, %o2, %width : f32
      %a2 = arith.addf %a4, %s2 : f32
      %s1, %p1 = gpu.shuffle down %a2, %o1, %width : f32
      %a1 = arith.addf %a2, %s1 : f32
      return %a1 : f32
    }
  }
}
