// A histogram, in shared memory first; and the greatest number.

// RUN: %lower_gpu %s | emulate-kernel - --grid=4 --block=64 --seeds=5 \
// RUN:   memref:i32:256:iota memref:i32:4:zero memref:i32:1:zero | FileCheck %s

// CHECK: 1: i32 [70, 70, 70, 46]
// CHECK: 2: i32 [255]

module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" @bins
        : memref<4xi32, #gpu.address_space<workgroup>>

    gpu.func @histogram(%x: memref<?xi32>, %counts: memref<?xi32>,
                        %greatest: memref<?xi32>) kernel {
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %threads = gpu.block_dim x
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %seven = arith.constant 7 : i32
      %four = arith.constant 4 : i32
      %bins = memref.get_global @bins
          : memref<4xi32, #gpu.address_space<workgroup>>
      %isBin = arith.cmpi ult, %t, %c4 : index
      scf.if %isBin {
        memref.store %zero, %bins[%t]
            : memref<4xi32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      %before = arith.muli %b, %threads : index
      %i = arith.addi %before, %t : index
      %v = memref.load %x[%i] : memref<?xi32>
      %mod = arith.remui %v, %seven : i32
      %bin32 = arith.remui %mod, %four : i32
      // 0, 4 to bin 0; 1, 5 to bin 1; 2, 6 to bin 2; 3 to bin 3; but for the
      // multiples of 3, which go to their own.
      %three = arith.constant 3 : i32
      %mod3 = arith.remui %v, %three : i32
      %isMultiple = arith.cmpi eq, %mod3, %zero : i32
      %own = arith.remui %v, %four : i32
      %chosen = arith.select %isMultiple, %own, %bin32 : i32
      %bin = arith.index_castui %chosen : i32 to index
      %old = memref.atomic_rmw addi %one, %bins[%bin]
          : (i32, memref<4xi32, #gpu.address_space<workgroup>>) -> i32
      %old2 = memref.atomic_rmw maxs %v, %greatest[%c0]
          : (i32, memref<?xi32>) -> i32
      gpu.barrier
      scf.if %isBin {
        %count = memref.load %bins[%t]
            : memref<4xi32, #gpu.address_space<workgroup>>
        %old3 = memref.atomic_rmw addi %count, %counts[%t]
            : (i32, memref<?xi32>) -> i32
      }
      gpu.return
    }
  }
}
