// Kernels with copies of tiles.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global internal @tiles() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<768 x f32>
    llvm.mlir.global internal @objects() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<6 x i64>

    // Tiles of 8x32 of a matrix x with 32 columns, three of which are on their way:
    // thread 32 asks for them, and 32 threads add their columns up. Barriers 0
    // to 2 are for full buffers, 3 to 5 for empty ones. If %faulty is true the
    // producer does not wait for empty buffers.
    gpu.func @pipeline(%x: !llvm.ptr<1>, %map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64}, %y: !llvm.ptr<1>, %count: i32, %faulty: i1) kernel {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %c0 = llvm.mlir.constant(0 : i32) : i32
      %c1 = llvm.mlir.constant(1 : i32) : i32
      %c2 = llvm.mlir.constant(2 : i32) : i32
      %c3 = llvm.mlir.constant(3 : i32) : i32
      %c7 = llvm.mlir.constant(7 : i32) : i32
      %c8 = llvm.mlir.constant(8 : i32) : i32
      %c32 = llvm.mlir.constant(32 : i32) : i32
      %c256 = llvm.mlir.constant(256 : i32) : i32
      %bytes = llvm.mlir.constant(1024 : i32) : i32
      %ticks = llvm.mlir.constant(100000 : i32) : i32
      %zero = llvm.mlir.constant(0.0 : f32) : f32
      %true = llvm.mlir.constant(true) : i1
      %tiles = llvm.mlir.addressof @tiles : !llvm.ptr<3>
      %objects = llvm.mlir.addressof @objects : !llvm.ptr<3>
      %isFirst = arith.cmpi eq, %t, %c0 : i32
      scf.if %isFirst {
        nvvm.prefetch tensormap, %map : !llvm.ptr
        scf.for %i = %c0 to %c3 step %c1 : i32 {
          %full = llvm.getelementptr %objects[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.init %full, %c1 : !llvm.ptr<3>, i32
          %j = arith.addi %i, %c3 : i32
          %empty = llvm.getelementptr %objects[%j] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.init %empty, %c32 : !llvm.ptr<3>, i32
        }
        nvvm.fence.mbarrier.init
      }
      gpu.barrier
      %isProducer = arith.cmpi eq, %t, %c32 : i32
      scf.if %isProducer {
        scf.for %i = %c0 to %count step %c1 : i32 {
          %s = arith.remui %i, %c3 : i32
          %round = arith.divui %i, %c3 : i32
          %parity = arith.remui %round, %c2 : i32
          %other = arith.xori %parity, %c1 : i32
          %j = arith.addi %s, %c3 : i32
          %full = llvm.getelementptr %objects[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %empty = llvm.getelementptr %objects[%j] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          scf.if %faulty {
          } else {
            nvvm.mbarrier.try_wait.parity %empty, %other, %ticks : !llvm.ptr<3>, i32, i32
          }
          nvvm.mbarrier.arrive.expect_tx %full, %bytes, predicate = %true : !llvm.ptr<3>, i32, i1
          %offset = arith.muli %s, %c256 : i32
          %place = llvm.getelementptr %tiles[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
          %cluster = llvm.addrspacecast %place : !llvm.ptr<3> to !llvm.ptr<7>
          %row = arith.muli %i, %c8 : i32
          nvvm.cp.async.bulk.tensor.shared.cluster.global %cluster, %map, %full, box[%c0, %row] predicate = %true : !llvm.ptr<7>, !llvm.ptr
        }
      }
      %isConsumer = arith.cmpi ult, %t, %c32 : i32
      scf.if %isConsumer {
        %sum = scf.for %i = %c0 to %count step %c1 iter_args(%a = %zero) -> f32 : i32 {
          %s = arith.remui %i, %c3 : i32
          %round = arith.divui %i, %c3 : i32
          %parity = arith.remui %round, %c2 : i32
          %j = arith.addi %s, %c3 : i32
          %full = llvm.getelementptr %objects[%s] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          %empty = llvm.getelementptr %objects[%j] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
          nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
          %offset = arith.muli %s, %c256 : i32
          %place = llvm.getelementptr %tiles[%offset] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
          %tileSum = scf.for %r = %c0 to %c8 step %c1 iter_args(%b = %a) -> f32 : i32 {
            %before = arith.muli %r, %c32 : i32
            %e = arith.addi %before, %t : i32
            %p = llvm.getelementptr %place[%e] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
            %v = llvm.load %p : !llvm.ptr<3> -> f32
            %c = arith.addf %b, %v : f32
            scf.yield %c : f32
          }
          %state = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
          scf.yield %tileSum : f32
        }
        %to = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
        llvm.store %sum, %to : f32, !llvm.ptr<1>
      }
      gpu.return
    }

    // A tile of 8x32, which 32 threads write, goes to the matrix of the map at
    // (%row, 0); its last rows may lie outside. If %faulty is true, the fence is
    // for global memory, and nobody tells the copy of what threads wrote.
    gpu.func @store(%x: !llvm.ptr<1>, %map: !llvm.ptr, %row: i32, %faulty: i1) kernel {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %c0 = llvm.mlir.constant(0 : i32) : i32
      %c1 = llvm.mlir.constant(1 : i32) : i32
      %c8 = llvm.mlir.constant(8 : i32) : i32
      %c32 = llvm.mlir.constant(32 : i32) : i32
      %tiles = llvm.mlir.addressof @tiles : !llvm.ptr<3>
      scf.for %r = %c0 to %c8 step %c1 : i32 {
        %before = arith.muli %r, %c32 : i32
        %e = arith.addi %before, %t : i32
        %v = arith.sitofp %e : i32 to f32
        %p = llvm.getelementptr %tiles[%e] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
        llvm.store %v, %p : f32, !llvm.ptr<3>
      }
      scf.if %faulty {
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}
      } else {
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      }
      gpu.barrier
      %isFirst = arith.cmpi eq, %t, %c0 : i32
      scf.if %isFirst {
        nvvm.cp.async.bulk.tensor.global.shared.cta %map, %tiles, box[%c0, %row] : !llvm.ptr, !llvm.ptr<3>
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
      }
      gpu.return
    }

    // The first and the last 32 numbers of x change their places.
    gpu.func @bytes(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %c0 = llvm.mlir.constant(0 : i32) : i32
      %c1 = llvm.mlir.constant(1 : i32) : i32
      %half = llvm.mlir.constant(128 : i32) : i32
      %all = llvm.mlir.constant(256 : i32) : i32
      %ticks = llvm.mlir.constant(100000 : i32) : i32
      %tiles = llvm.mlir.addressof @tiles : !llvm.ptr<3>
      %object = llvm.mlir.addressof @objects : !llvm.ptr<3>
      %high = llvm.getelementptr %tiles[32] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
      %xHigh = llvm.getelementptr %x[32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      %yHigh = llvm.getelementptr %y[32] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
      %cluster = llvm.addrspacecast %tiles : !llvm.ptr<3> to !llvm.ptr<7>
      %clusterHigh = llvm.addrspacecast %high : !llvm.ptr<3> to !llvm.ptr<7>
      %isFirst = arith.cmpi eq, %t, %c0 : i32
      scf.if %isFirst {
        nvvm.mbarrier.init %object, %c1 : !llvm.ptr<3>, i32
        nvvm.fence.mbarrier.init
        nvvm.mbarrier.arrive.expect_tx %object, %all : !llvm.ptr<3>, i32
        nvvm.cp.async.bulk.prefetch %x, %all : !llvm.ptr<1>
        nvvm.cp.async.bulk.shared.cluster.global %cluster, %xHigh, %object, %half : !llvm.ptr<7>, !llvm.ptr<1>
        nvvm.cp.async.bulk.shared.cluster.global %clusterHigh, %x, %object, %half : !llvm.ptr<7>, !llvm.ptr<1>
        nvvm.mbarrier.try_wait.parity %object, %c0, %ticks : !llvm.ptr<3>, i32, i32
        nvvm.cp.async.bulk.global.shared.cta %y, %tiles, %half : !llvm.ptr<1>, !llvm.ptr<3>
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.global.shared.cta %yHigh, %high, %half : !llvm.ptr<1>, !llvm.ptr<3>
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 1 {read}
        nvvm.cp.async.bulk.wait_group 0
      }
      gpu.return
    }

    // The tile at row 8 of x, with ops of MLIR for it.
    memref.global "private" @tile
        : memref<8x32xf32, #gpu.address_space<workgroup>> {alignment = 128}
    gpu.func @by_map(%x: memref<16x32xf32>, %map: !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>, %y: memref<8x32xf32>) kernel {
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %bytes = arith.constant 1024 : index
      %ticks = arith.constant 1000 : index
      %false = arith.constant false
      %isFirst = arith.cmpi eq, %t, %c0 : index
      %b = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
      nvgpu.tma.prefetch.descriptor %map : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>
      nvgpu.mbarrier.init %b[%c0], %c1, predicate = %isFirst : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
      scf.if %isFirst {
        nvvm.fence.mbarrier.init
      }
      gpu.barrier
      %tile = memref.get_global @tile : memref<8x32xf32, #gpu.address_space<workgroup>>
      nvgpu.mbarrier.arrive.expect_tx %b[%c0], %bytes, predicate = %isFirst : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
      nvgpu.tma.async.load %map[%c0, %c8], %b[%c0] to %tile, predicate = %isFirst : !nvgpu.tensormap.descriptor<tensor = memref<8x32xf32, #gpu.address_space<workgroup>>, swizzle = none, l2promo = none, oob = zero, interleave = none>, !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>> -> memref<8x32xf32, #gpu.address_space<workgroup>>
      nvgpu.mbarrier.try_wait.parity %b[%c0], %false, %ticks : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
      scf.for %i = %c0 to %c8 step %c1 {
        %v = memref.load %tile[%i, %t] : memref<8x32xf32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%i, %t] : memref<8x32xf32>
      }
      gpu.return
    }
  }
}
