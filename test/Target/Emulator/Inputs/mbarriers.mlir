// Kernels with mbarriers, as MLIR has them; those with a parameter %faulty have
// a fault if it is true.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" @numbers
        : memref<64xf32, #gpu.address_space<workgroup>>

    // Each thread reads what another one wrote before it arrived.
    gpu.func @by_parity(%faulty: i1, %y: memref<64xf32>) kernel {
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c63 = arith.constant 63 : index
      %c64 = arith.constant 64 : index
      %ticks = arith.constant 1000 : index
      %false = arith.constant false
      %true = arith.constant true
      %isFirst = arith.cmpi eq, %t, %c0 : index
      %barriers = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
      nvgpu.mbarrier.init %barriers[%c1], %c64, predicate = %isFirst : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
      gpu.barrier
      %shared = memref.get_global @numbers
          : memref<64xf32, #gpu.address_space<workgroup>>
      %t32 = arith.index_cast %t : index to i32
      %v = arith.sitofp %t32 : i32 to f32
      memref.store %v, %shared[%t]
          : memref<64xf32, #gpu.address_space<workgroup>>
      %token = nvgpu.mbarrier.arrive %barriers[%c1] : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2> -> !nvgpu.mbarrier.token
      scf.if %faulty {
      } else {
        nvgpu.mbarrier.try_wait.parity %barriers[%c1], %false, %ticks : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>
      }
      %other = arith.subi %c63, %t : index
      %w = memref.load %shared[%other]
          : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %w, %y[%t] : memref<64xf32>
      gpu.return
    }

    // By a token; the first thread expects bytes besides that nobody sends.
    gpu.func @by_token(%faulty: i1, %y: memref<64xf32>) kernel {
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c63 = arith.constant 63 : index
      %c64 = arith.constant 64 : index
      %bytes = arith.constant 128 : index
      %isFirst = arith.cmpi eq, %t, %c0 : index
      %expects = arith.andi %isFirst, %faulty : i1
      %barriers = nvgpu.mbarrier.create -> !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
      scf.if %isFirst {
        nvgpu.mbarrier.init %barriers[%c0], %c64 : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
      }
      gpu.barrier
      %shared = memref.get_global @numbers
          : memref<64xf32, #gpu.address_space<workgroup>>
      %t32 = arith.index_cast %t : index to i32
      %v = arith.sitofp %t32 : i32 to f32
      memref.store %v, %shared[%t]
          : memref<64xf32, #gpu.address_space<workgroup>>
      scf.if %expects {
        nvgpu.mbarrier.arrive.expect_tx %barriers[%c0], %bytes : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
      } else {
        %token = nvgpu.mbarrier.arrive %barriers[%c0] : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>> -> !nvgpu.mbarrier.token
        scf.while : () -> () {
          %isDone = nvgpu.mbarrier.test.wait %barriers[%c0], %token : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>, !nvgpu.mbarrier.token
          %true = arith.constant true
          %again = arith.xori %isDone, %true : i1
          scf.condition(%again)
        } do {
          scf.yield
        }
      }
      %false = arith.constant false
      %ticks = arith.constant 1000 : index
      nvgpu.mbarrier.try_wait.parity %barriers[%c0], %false, %ticks : !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>>
      %other = arith.subi %c63, %t : index
      %w = memref.load %shared[%other]
          : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %w, %y[%t] : memref<64xf32>
      gpu.return
    }
  }
}
