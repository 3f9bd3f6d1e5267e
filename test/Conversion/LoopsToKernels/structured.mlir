// RUN: sparse-opt %s --split-input-file --sparse-autograd-products-to-kernels --sparse-autograd-loops-to-kernels | FileCheck %s
// RUN: sparse-opt %s --split-input-file --sparse-autograd-products-to-kernels --remarks-filter=".*contractions.*" --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#device = #gpu.address_space<global>

// A product of bf16 whose left factor stores two of each four terms is computed by
// sparse tensor cores (mma.sp). Its rows are those of fragments. A strip has 64 terms,
// of which 32 are stored, and the metadata of these, as 2:4 storage has it: a word of
// a row is 32 terms. Large tiles are launched where factors are copied by groups, and
// their memory is asked for.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[W:[^:]*]]: memref<?x?xbf16, {{[^,]*}}, %[[M:[^:]*]]: memref<?xi8, {{[^,]*}}, %[[X:[^:]*]]: memref<?x?xbf16, {{[^,]*}}, %[[C:[^:]*]]: memref<?x?xf32, {{[^,]*}}, %[[N:[^:]*]]: index, %[[COLUMNS:[^:]*]]: index, %[[K:[^:]*]]: index)
// CHECK:       %[[TILES:.*]] = arith.cmpi uge, %{{.*}}, %c128
// CHECK:       %[[STORED:.*]] = memref.dim %[[W]], %c1
// CHECK:       %[[GROUPS:.*]] = arith.divui %[[STORED]], %c2
// CHECK:       %[[REST:.*]] = arith.remui %[[K]], %c32
// CHECK:       arith.cmpi eq, %[[REST]], %c0
// CHECK:       %[[LARGE:.*]] = arith.andi %[[TILES]]
// CHECK:       scf.if %[[LARGE]] {
// CHECK:         gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c256{{.*}} dynamic_shared_memory_size %c57344
// CHECK:           %[[MEMORY:.*]] = gpu.dynamic_shared_memory
// CHECK:           %[[LEFT:.*]] = memref.view %[[MEMORY]][%c0{{.*}} to memref<2x128x40xbf16
// CHECK:           %[[RIGHT:.*]] = memref.view %[[MEMORY]][%c20480{{.*}} to memref<2x64x136xbf16
// CHECK:           %[[BYTES:.*]] = memref.view %[[MEMORY]][%c55296{{.*}} to memref<2x128x8xi8
// CHECK:           %[[HALVES:.*]] = memref.view %[[MEMORY]][%c55296{{.*}} to memref<2x128x4xi16
// CHECK:           %[[WORDS:.*]] = memref.view %[[MEMORY]][%c55296{{.*}} to memref<2x128x2xi32
// CHECK-NOT:       memref.load %[[W]]
// CHECK-COUNT-2:   nvgpu.device_async_copy %[[W]]{{.*}}, %[[LEFT]]
// CHECK-COUNT-4:   nvgpu.device_async_copy %[[X]]{{.*}}, %[[RIGHT]]
// CHECK:           scf.if
// CHECK:             arith.muli %{{.*}}, %[[GROUPS]]
// CHECK:             nvgpu.device_async_copy %[[M]][%{{.*}}], %[[BYTES]][%{{.*}}], 4 :
// CHECK:           } else {
// CHECK-NEXT:        %[[NONE:.*]] = arith.constant -286331154 : i32
// CHECK-NEXT:        memref.store %[[NONE]], %[[WORDS]]
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           scf.for {{.*}} to %[[K]] step %c64
// CHECK:             nvvm.cp.async.wait.group 0
// CHECK:             gpu.barrier
// CHECK:             memref.load %[[HALVES]]
// CHECK:             memref.load %[[HALVES]]
// CHECK:             arith.shli %{{.*}}, %c16
// CHECK:             %[[META:.*]] = arith.ori
// CHECK-COUNT-4:     nvgpu.ldmatrix %[[RIGHT]]{{.*}} {numTiles = 4 : i32, transpose = true}
// CHECK:             nvgpu.ldmatrix %[[LEFT]]{{.*}} {numTiles = 4 : i32, transpose = false}
// CHECK:             %[[FIRST:.*]] = arith.constant 0 : i32
// CHECK-NEXT:        nvvm.mma.sp.sync {{.*}} sparseMetadata[%[[META]]] selector[%[[FIRST]]] {multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, orderedMetadata, shape = #nvvm.shape<m = 16, n = 8, k = 32>} : (i32, i32, f32)
// CHECK-COUNT-15:    nvvm.mma.sp.sync
// CHECK-COUNT-4:     nvgpu.ldmatrix %[[RIGHT]]
// CHECK:             %[[SECOND:.*]] = arith.constant 1 : i32
// CHECK-NEXT:        nvvm.mma.sp.sync {{.*}} sparseMetadata[%[[META]]] selector[%[[SECOND]]]
// CHECK-COUNT-15:    nvvm.mma.sp.sync
// CHECK-NOT:         nvvm.mma.sp.sync
// CHECK:             scf.yield
// CHECK:           memref.view %[[MEMORY]][%c0{{.*}} to memref<8x16x40xf32
// CHECK:           math.absf
// CHECK:         } {nvvm.minctasm = 2 : i32}
// CHECK:       } else {
// CHECK:         gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c128
// CHECK-SAME:      workgroup(%{{.*}} : memref<44544xi8
// CHECK:           memref.view {{.*}} to memref<3x64x40xbf16
// Where rows of metadata begin within words these are assembled.
// CHECK:           nvgpu.device_async_copy %[[M]]
// CHECK:         } else {
// CHECK-COUNT-8:   memref.load %[[M]]
// CHECK:           nvvm.mma.sp.sync
// CHECK:         } {nvvm.minctasm = 4 : i32}
// CHECK:       gpu.launch
// CHECK-NOT:     workgroup
// CHECK:         memref.load %[[M]]
// CHECK:         arith.cmpi ult, %{{.*}}, %[[K]]
func.func @rows(%w: memref<?x?xbf16, #device>, %m: memref<?xi8, #device>, %x: memref<?x?xbf16, #device>, %c: memref<?x?xf32, #device>, %rows: index, %columns: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%rows, %columns) step (%c1, %c1) {
    %s = sparse_autograd.inner_product %w[%i] by %m along 1, %x[%j] along 0, %k from %zero
        : memref<?x?xbf16, #device> by memref<?xi8, #device>, memref<?x?xbf16, #device>, f32
    %r = math.absf %s : f32
    memref.store %r, %c[%i, %j] : memref<?x?xf32, #device>
  }
  return
}

// -----

#device = #gpu.address_space<global>

// Its rows may be the columns of the result, as in x w^T: then fragments have columns
// of the result in their rows, and go through shared memory the other way round, two
// rows of two fragments at a time. f16 has registers of two elements. Of extents that
// are known nothing is left to decide; 48 is no multiple of 32, the terms of a word.

// CHECK-LABEL: func.func @columns(
// CHECK-SAME:    %[[W:[^:]*]]: memref<40x24xf16, {{[^,]*}}, %[[M:[^:]*]]: memref<240xi8
// CHECK-NOT:   gpu.launch
// CHECK:       gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c128
// CHECK:         %[[LEFT:.*]] = memref.view {{.*}} to memref<3x64x40xf16
// CHECK:         memref.view {{.*}} to memref<3x64x72xf16
// CHECK-NOT:     nvgpu.device_async_copy %[[M]]
// CHECK:         memref.load %[[M]]
// CHECK:         nvvm.mma.sp.sync {{.*}} {{{.*}}orderedMetadata, shape = #nvvm.shape<m = 16, n = 8, k = 32>} : (vector<2xf16>, vector<2xf16>, f32)
// CHECK:         %[[STAGED:.*]] = memref.view {{.*}} to memref<4x16x36xf32
// CHECK-COUNT-16: memref.store %{{.*}}, %[[STAGED]]
// CHECK:         scf.for {{.*}} to %c16
// CHECK:           memref.load %[[STAGED]]
// CHECK:           memref.store {{.*}} : memref<64x40xf32
// CHECK-NOT:   gpu.launch
// CHECK:       return
func.func @columns(%w: memref<40x24xf16, #device>, %m: memref<240xi8, #device>, %x: memref<64x48xf16, #device>, %c: memref<64x40xf32, #device>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%c64, %c40) step (%c1, %c1) {
    %before = memref.load %c[%i, %j] : memref<64x40xf32, #device>
    %s = sparse_autograd.inner_product %w[%j] by %m along 1, %x[%i] along 1, %c48 from %before
        : memref<40x24xf16, #device> by memref<240xi8, #device>, memref<64x48xf16, #device>, f32
    memref.store %s, %c[%i, %j] : memref<64x40xf32, #device>
  }
  return
}

// -----

#device = #gpu.address_space<global>

// f32 is never computed in less: loops over what is stored.

// REMARK: Missed{{.*}}Function=wide{{.*}}loops compute sums of products with a 2:4 matrix: tensor cores compute those of f16 and bf16, f32 in less precision

// CHECK-LABEL: func.func @wide(
// CHECK-NOT:   mma
// CHECK:       arith.mulf
// CHECK-NOT:   mma
// CHECK:       return
func.func @wide(%w: memref<64x32xf32, #device>, %m: memref<512xi8, #device>, %x: memref<64x64xf32, #device>, %c: memref<64x64xf32, #device>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c64, %c64) step (%c1, %c1) {
    %s = sparse_autograd.inner_product %w[%i] by %m along 1, %x[%j] along 0, %c64 from %zero
        : memref<64x32xf32, #device> by memref<512xi8, #device>, memref<64x64xf32, #device>, f32
    memref.store %s, %c[%i, %j] : memref<64x64xf32, #device>
  }
  return
}
