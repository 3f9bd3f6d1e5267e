// Products of matrices by one warp; matrices.py runs them.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" @sharedA
        : memref<16x16xf16, #gpu.address_space<workgroup>> {alignment = 16}
    memref.global "private" @sharedB
        : memref<16x8xf16, #gpu.address_space<workgroup>> {alignment = 16}

    // C = A B in f16 and f32: cp.async, ldmatrix (of B transposed), mma.sync.
    gpu.func @dense(%a: memref<16x16xf16>, %b: memref<16x8xf16>,
                    %c: memref<16x8xf32>) kernel {
      %lane = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %sharedA = memref.get_global @sharedA
          : memref<16x16xf16, #gpu.address_space<workgroup>>
      %sharedB = memref.get_global @sharedB
          : memref<16x8xf16, #gpu.address_space<workgroup>>
      %half = arith.divui %lane, %c2 : index
      %odd = arith.remui %lane, %c2 : index
      %column = arith.muli %odd, %c8 : index
      %token = nvgpu.device_async_copy %a[%half, %column],
          %sharedA[%half, %column], 8 {bypassL1}
          : memref<16x16xf16>
            to memref<16x16xf16, #gpu.address_space<workgroup>>
      %group = nvgpu.device_async_create_group %token
      %isLow = arith.cmpi ult, %lane, %c16 : index
      scf.if %isLow {
        %row = vector.load %b[%lane, %c0] : memref<16x8xf16>, vector<8xf16>
        vector.store %row, %sharedB[%lane, %c0]
            : memref<16x8xf16, #gpu.address_space<workgroup>>, vector<8xf16>
      }
      nvgpu.device_async_wait %group {numGroups = 0 : i32}
      gpu.barrier
      %row = arith.remui %lane, %c16 : index
      %upper = arith.divui %lane, %c16 : index
      %begin = arith.muli %upper, %c8 : index
      %fa = nvgpu.ldmatrix %sharedA[%row, %begin]
          {numTiles = 4 : i32, transpose = false}
          : memref<16x16xf16, #gpu.address_space<workgroup>>
            -> vector<4x2xf16>
      %fb = nvgpu.ldmatrix %sharedB[%row, %c0]
          {numTiles = 2 : i32, transpose = true}
          : memref<16x8xf16, #gpu.address_space<workgroup>> -> vector<2x2xf16>
      %fc = arith.constant dense<0.0> : vector<2x2xf32>
      %fd = nvgpu.mma.sync (%fa, %fb, %fc) {mmaShape = [16, 8, 16]}
          : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>)
            -> vector<2x2xf32>
      %g = arith.divui %lane, %c4 : index
      %t = arith.remui %lane, %c4 : index
      %g8 = arith.addi %g, %c8 : index
      %t2 = arith.muli %t, %c2 : index
      %low = vector.extract %fd[0] : vector<2xf32> from vector<2x2xf32>
      %high = vector.extract %fd[1] : vector<2xf32> from vector<2x2xf32>
      vector.store %low, %c[%g, %t2] : memref<16x8xf32>, vector<2xf32>
      vector.store %high, %c[%g8, %t2] : memref<16x8xf32>, vector<2xf32>
      gpu.return
    }

    // C = A B where of A two of four columns are stored, with their indices.
    gpu.func @sparse(%a: memref<16x16xf16>, %metadata: memref<16x2xi16>,
                     %b: memref<8x32xf16>, %c: memref<16x8xf32>) kernel {
      %lane = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %c24 = arith.constant 24 : index
      %f0 = arith.constant 0.0 : f32
      %g = arith.divui %lane, %c4 : index
      %t = arith.remui %lane, %c4 : index
      %odd = arith.remui %lane, %c2 : index
      %g8 = arith.addi %g, %c8 : index
      %t2 = arith.muli %t, %c2 : index
      %t8 = arith.addi %t2, %c8 : index
      %t16 = arith.addi %t2, %c16 : index
      %t24 = arith.addi %t2, %c24 : index
      %low = memref.load %metadata[%g, %odd] : memref<16x2xi16>
      %high = memref.load %metadata[%g8, %odd] : memref<16x2xi16>
      %low32 = arith.extui %low : i16 to i32
      %high32 = arith.extui %high : i16 to i32
      %s16 = arith.constant 16 : i32
      %shifted = arith.shli %high32, %s16 : i32
      %word = arith.ori %low32, %shifted : i32
      %shared = memref.get_global @sharedA
          : memref<16x16xf16, #gpu.address_space<workgroup>>
      %half = arith.divui %lane, %c2 : index
      %column = arith.muli %odd, %c8 : index
      %token = nvgpu.device_async_copy %a[%half, %column],
          %shared[%half, %column], 8 {bypassL1}
          : memref<16x16xf16>
            to memref<16x16xf16, #gpu.address_space<workgroup>>
      %group = nvgpu.device_async_create_group %token
      nvgpu.device_async_wait %group {numGroups = 0 : i32}
      gpu.barrier
      %row = arith.remui %lane, %c16 : index
      %upper = arith.divui %lane, %c16 : index
      %begin = arith.muli %upper, %c8 : index
      %fa = nvgpu.ldmatrix %shared[%row, %begin]
          {numTiles = 4 : i32, transpose = false}
          : memref<16x16xf16, #gpu.address_space<workgroup>>
            -> vector<4x2xf16>
      %a0 = vector.extract %fa[0] : vector<2xf16> from vector<4x2xf16>
      %a1 = vector.extract %fa[1] : vector<2xf16> from vector<4x2xf16>
      %a2 = vector.extract %fa[2] : vector<2xf16> from vector<4x2xf16>
      %a3 = vector.extract %fa[3] : vector<2xf16> from vector<4x2xf16>
      %b0 = vector.load %b[%g, %t2] : memref<8x32xf16>, vector<2xf16>
      %b1 = vector.load %b[%g, %t8] : memref<8x32xf16>, vector<2xf16>
      %b2 = vector.load %b[%g, %t16] : memref<8x32xf16>, vector<2xf16>
      %b3 = vector.load %b[%g, %t24] : memref<8x32xf16>, vector<2xf16>
      %selector = arith.constant 0 : i32
      %d = nvvm.mma.sp.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1, %b2, %b3]
          C[%f0, %f0, %f0, %f0] sparseMetadata[%word] selector[%selector]
          {orderedMetadata, shape = #nvvm.shape<m = 16, n = 8, k = 32>}
          : (vector<2xf16>, vector<2xf16>, f32)
            -> !llvm.struct<(f32, f32, f32, f32)>
      %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
      %d1 = llvm.extractvalue %d[1] : !llvm.struct<(f32, f32, f32, f32)>
      %d2 = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>
      %d3 = llvm.extractvalue %d[3] : !llvm.struct<(f32, f32, f32, f32)>
      %t21 = arith.addi %t2, %c1 : index
      memref.store %d0, %c[%g, %t2] : memref<16x8xf32>
      memref.store %d1, %c[%g, %t21] : memref<16x8xf32>
      memref.store %d2, %c[%g8, %t2] : memref<16x8xf32>
      memref.store %d3, %c[%g8, %t21] : memref<16x8xf32>
      gpu.return
    }

    // C = A B in tf32, B column by column.
    gpu.func @tf32(%a: memref<16x8xf32>, %b: memref<8x8xf32>,
                   %c: memref<16x8xf32>) kernel {
      %lane = gpu.thread_id x
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      %g = arith.divui %lane, %c4 : index
      %t = arith.remui %lane, %c4 : index
      %g8 = arith.addi %g, %c8 : index
      %t4 = arith.addi %t, %c4 : index
      %t2 = arith.muli %t, %c2 : index
      %zero = arith.constant dense<0.0> : vector<4x1xf32>
      %zeroB = arith.constant dense<0.0> : vector<2x1xf32>
      %x0 = memref.load %a[%g, %t] : memref<16x8xf32>
      %x1 = memref.load %a[%g8, %t] : memref<16x8xf32>
      %x2 = memref.load %a[%g, %t4] : memref<16x8xf32>
      %x3 = memref.load %a[%g8, %t4] : memref<16x8xf32>
      %fa0 = vector.insert %x0, %zero[0, 0] : f32 into vector<4x1xf32>
      %fa1 = vector.insert %x1, %fa0[1, 0] : f32 into vector<4x1xf32>
      %fa2 = vector.insert %x2, %fa1[2, 0] : f32 into vector<4x1xf32>
      %fa = vector.insert %x3, %fa2[3, 0] : f32 into vector<4x1xf32>
      %y0 = memref.load %b[%t, %g] : memref<8x8xf32>
      %y1 = memref.load %b[%t4, %g] : memref<8x8xf32>
      %fb0 = vector.insert %y0, %zeroB[0, 0] : f32 into vector<2x1xf32>
      %fb = vector.insert %y1, %fb0[1, 0] : f32 into vector<2x1xf32>
      %fc = arith.constant dense<0.0> : vector<2x2xf32>
      %fd = nvgpu.mma.sync (%fa, %fb, %fc)
          {mmaShape = [16, 8, 8], tf32Enabled}
          : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>)
            -> vector<2x2xf32>
      %low = vector.extract %fd[0] : vector<2xf32> from vector<2x2xf32>
      %high = vector.extract %fd[1] : vector<2xf32> from vector<2x2xf32>
      vector.store %low, %c[%g, %t2] : memref<16x8xf32>, vector<2xf32>
      vector.store %high, %c[%g8, %t2] : memref<16x8xf32>, vector<2xf32>
      gpu.return
    }

    gpu.func @f64(%a: memref<8x4xf64>, %b: memref<4x8xf64>,
                  %c: memref<8x8xf64>) kernel {
      %lane = gpu.thread_id x
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %g = arith.divui %lane, %c4 : index
      %t = arith.remui %lane, %c4 : index
      %t2 = arith.muli %t, %c2 : index
      %x = memref.load %a[%g, %t] : memref<8x4xf64>
      %y = memref.load %b[%t, %g] : memref<4x8xf64>
      %fa = vector.broadcast %x : f64 to vector<1x1xf64>
      %fb = vector.broadcast %y : f64 to vector<1x1xf64>
      %fc = arith.constant dense<0.0> : vector<1x2xf64>
      %fd = nvgpu.mma.sync (%fa, %fb, %fc) {mmaShape = [8, 8, 4]}
          : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>)
            -> vector<1x2xf64>
      %row = vector.extract %fd[0] : vector<2xf64> from vector<1x2xf64>
      vector.store %row, %c[%g, %t2] : memref<8x8xf64>, vector<2xf64>
      gpu.return
    }
  }
}
