// Transposes a square matrix through dynamic shared memory, of which two views
// exist; static shared memory is beside it.

// RUN: %lower_gpu %s > %t
// RUN: emulate-kernel %t --block=4,4 --shared=128 --seeds=4 --print=1 \
// RUN:   memref:f32:4x4:iota memref:f32:4x4:zero | FileCheck %s
// RUN: not emulate-kernel %t --block=4,4 --shared=124 \
// RUN:   memref:f32:4x4:iota memref:f32:4x4:zero 2>&1 \
// RUN: | FileCheck %s --check-prefix=SMALL

// The second view has the numbers plus 100.
// CHECK: 1: f32 [100, 104, 108, 112, 101, 105, 109, 113, 102, 106, 110, 114, 103, 107, 111, 115]

// SMALL: thread (3, 3, 0) writes 4 bytes at offset 140 of shared memory, of which the block has 140 bytes

module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" @static
        : memref<4xf32, #gpu.address_space<workgroup>>

    gpu.func @transpose(%x: memref<4x4xf32>, %y: memref<4x4xf32>) kernel {
      %i = gpu.thread_id y
      %j = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %hundred = arith.constant 100.0 : f32
      %isFirst = arith.cmpi eq, %i, %c0 : index
      %static = memref.get_global @static
          : memref<4xf32, #gpu.address_space<workgroup>>
      scf.if %isFirst {
        memref.store %hundred, %static[%j]
            : memref<4xf32, #gpu.address_space<workgroup>>
      }
      %memory = gpu.dynamic_shared_memory
          : memref<?xi8, #gpu.address_space<workgroup>>
      %first = memref.view %memory[%c0][]
          : memref<?xi8, #gpu.address_space<workgroup>>
            to memref<4x4xf32, #gpu.address_space<workgroup>>
      %second = memref.view %memory[%c64][]
          : memref<?xi8, #gpu.address_space<workgroup>>
            to memref<4x4xf32, #gpu.address_space<workgroup>>
      %v = memref.load %x[%i, %j] : memref<4x4xf32>
      memref.store %v, %first[%i, %j]
          : memref<4x4xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %w = memref.load %first[%j, %i]
          : memref<4x4xf32, #gpu.address_space<workgroup>>
      %h = memref.load %static[%i]
          : memref<4xf32, #gpu.address_space<workgroup>>
      %sum = arith.addf %w, %h : f32
      memref.store %sum, %second[%i, %j]
          : memref<4x4xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %r = memref.load %second[%i, %j]
          : memref<4x4xf32, #gpu.address_space<workgroup>>
      memref.store %r, %y[%i, %j] : memref<4x4xf32>
      gpu.return
    }
  }
}
