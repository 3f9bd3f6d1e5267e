// RUN: sparse-opt %s --pass-pipeline="builtin.module(gpu.module(sparse-autograd-kernel-to-nvvm))" | FileCheck %s

// The dot product of a row and a vector, a warp for each row: 4 rows a block.
// CHECK-LABEL: gpu.module @rows
gpu.module @rows {
  // CHECK: llvm.func @spmv({{.*}}) attributes {gpu.kernel, {{.*}}nvvm.kernel
  // CHECK-DAG: nvvm.read.ptx.sreg.ctaid.x
  // CHECK-DAG: nvvm.read.ptx.sreg.tid.x
  // CHECK: llvm.call_intrinsic "llvm.fma"
  // Five shuffles add what 32 lanes have.
  // CHECK-COUNT-5: nvvm.shfl.sync bfly {{.*}} : f32 -> f32
  // CHECK-NOT: nvvm.shfl
  // CHECK: llvm.return
  gpu.func @spmv(%positions: memref<?xi32>, %coordinates: memref<?xi32>, %values: memref<?xf32>,
                 %x: memref<?xf32>, %y: memref<?xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %rows = memref.dim %y, %c0 : memref<?xf32>
    %block = gpu.block_id x
    %thread = gpu.thread_id x
    %warp = arith.divui %thread, %c32 : index
    %lane = arith.remui %thread, %c32 : index
    %first = arith.muli %block, %c4 : index
    %row = arith.addi %first, %warp : index
    %inside = arith.cmpi ult, %row, %rows : index
    scf.if %inside {
      %next = arith.addi %row, %c1 : index
      %begin32 = memref.load %positions[%row] : memref<?xi32>
      %end32 = memref.load %positions[%next] : memref<?xi32>
      %begin = arith.index_castui %begin32 : i32 to index
      %end = arith.index_castui %end32 : i32 to index
      %start = arith.addi %begin, %lane : index
      %sum = scf.for %q = %start to %end step %c32 iter_args(%s = %zero) -> f32 {
        %column32 = memref.load %coordinates[%q] : memref<?xi32>
        %column = arith.index_castui %column32 : i32 to index
        %a = memref.load %values[%q] : memref<?xf32>
        %b = memref.load %x[%column] : memref<?xf32>
        %t = math.fma %a, %b, %s : f32
        scf.yield %t : f32
      }
      %all = gpu.subgroup_reduce add %sum : (f32) -> f32
      %isFirst = arith.cmpi eq, %lane, %c0 : index
      scf.if %isFirst {
        memref.store %all, %y[%row] : memref<?xf32>
      }
    }
    gpu.return
  }
}

// Of 64 bits two halves are moved.
// CHECK-LABEL: gpu.module @wide
gpu.module @wide {
  // CHECK: llvm.func @sum
  // CHECK-COUNT-10: nvvm.shfl.sync bfly {{.*}} : i32 -> i32
  // CHECK-NOT: nvvm.shfl
  // CHECK: llvm.return
  gpu.func @sum(%x: memref<32xf64>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xf64>
    %s = gpu.subgroup_reduce add %v : (f64) -> f64
    memref.store %s, %x[%i] : memref<32xf64>
    gpu.return
  }
}

// Dynamic shared memory is a variable of no extent that is allocated elsewhere.
// CHECK-LABEL: gpu.module @shared
// CHECK: llvm.mlir.global external @{{.*}}() {addr_space = 3 : i32, alignment = {{[0-9]*}} : i64} : !llvm.array<0 x i8>
gpu.module @shared {
  // CHECK: llvm.func @reverse
  // CHECK: nvvm.barrier
  gpu.func @reverse(%x: memref<64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c63 = arith.constant 63 : index
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %tile = memref.view %bytes[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<64xf32>
    memref.store %v, %tile[%i] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %j = arith.subi %c63, %i : index
    %w = memref.load %tile[%j] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %w, %x[%i] : memref<64xf32>
    gpu.return
  }
}

// Of a block: through shared memory.
// CHECK-LABEL: gpu.module @block
gpu.module @block {
  // CHECK: llvm.func @total
  // CHECK: nvvm.shfl.sync
  // CHECK: nvvm.barrier
  gpu.func @total(%x: memref<256xf32>, %y: memref<f32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<256xf32>
    %s = gpu.all_reduce add %v uniform {} : (f32) -> f32
    memref.store %s, %y[] : memref<f32>
    gpu.return
  }
}

// Functions of math are those of libdevice.
// CHECK-LABEL: gpu.module @functions
gpu.module @functions {
  // CHECK: llvm.call @__nv_expf(
  // CHECK: llvm.call @__nv_tanh(
  gpu.func @f(%x: memref<32xf32>, %y: memref<32xf64>) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<32xf32>
    %e = math.exp %v : f32
    memref.store %e, %x[%i] : memref<32xf32>
    %w = memref.load %y[%i] : memref<32xf64>
    %t = math.tanh %w : f64
    memref.store %t, %y[%i] : memref<32xf64>
    gpu.return
  }
}
