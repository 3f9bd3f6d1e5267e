// y = A x with A in CSR: a warp for each row, whose threads' sums are shuffled.

// RUN: %lower_gpu %s | emulate-kernel - --grid=2 --block=128 --seeds=4 \
// RUN:   --print=5 i32=7 memref:i32:[0,3,3,40,41,43,43,47] memref:i32:47:iota \
// RUN:   memref:f32:47:iota memref:f32:47:iota memref:f32:7:zero \
// RUN: | FileCheck %s

// Row r is the sum of p * p from pos[r] to pos[r + 1].
// CHECK: 5: f32 [5, 0, 20535, 1600, 3445, 0, 7926]

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @spmv(%rows: i32, %pos: memref<?xi32>, %crd: memref<?xi32>,
                   %val: memref<?xf32>, %x: memref<?xf32>, %y: memref<?xf32>)
        kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c32 = arith.constant 32 : index
      %zero = arith.constant 0.0 : f32
      %warp = arith.divui %thread, %c32 : index
      %lane = arith.remui %thread, %c32 : index
      %first = arith.muli %block, %c4 : index
      %row = arith.addi %first, %warp : index
      %count = arith.index_castui %rows : i32 to index
      %in = arith.cmpi ult, %row, %count : index
      scf.if %in {
        %next = arith.addi %row, %c1 : index
        %lo32 = memref.load %pos[%row] : memref<?xi32>
        %hi32 = memref.load %pos[%next] : memref<?xi32>
        %lo = arith.index_castui %lo32 : i32 to index
        %hi = arith.index_castui %hi32 : i32 to index
        %begin = arith.addi %lo, %lane : index
        %sum = scf.for %p = %begin to %hi step %c32
            iter_args(%acc = %zero) -> f32 {
          %c = memref.load %crd[%p] : memref<?xi32>
          %column = arith.index_castui %c : i32 to index
          %v = memref.load %val[%p] : memref<?xf32>
          %xv = memref.load %x[%column] : memref<?xf32>
          %n = math.fma %v, %xv, %acc : f32
          scf.yield %n : f32
        }
        %width = arith.constant 32 : i32
        %o16 = arith.constant 16 : i32
        %o8 = arith.constant 8 : i32
        %o4 = arith.constant 4 : i32
        %o2 = arith.constant 2 : i32
        %o1 = arith.constant 1 : i32
        %s16, %p16 = gpu.shuffle xor %sum, %o16, %width : f32
        %a16 = arith.addf %sum, %s16 : f32
        %s8, %p8 = gpu.shuffle xor %a16, %o8, %width : f32
        %a8 = arith.addf %a16, %s8 : f32
        %s4, %p4 = gpu.shuffle xor %a8, %o4, %width : f32
        %a4 = arith.addf %a8, %s4 : f32
        %s2, %p2 = gpu.shuffle xor %a4, %o2, %width : f32
        %a2 = arith.addf %a4, %s2 : f32
        %s1, %p1 = gpu.shuffle xor %a2, %o1, %width : f32
        %a1 = arith.addf %a2, %s1 : f32
        %isFirst = arith.cmpi eq, %lane, %c0 : index
        scf.if %isFirst {
          memref.store %a1, %y[%row] : memref<?xf32>
        }
      }
      gpu.return
    }
  }
}
