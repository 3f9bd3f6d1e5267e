// RUN: sparse-opt %s --sparse-autograd-launch-to-runtime > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=CODE < %t
// RUN: sparse-opt %s --sparse-autograd-launch-to-runtime --sparse-autograd-program-to-llvm --reconcile-unrealized-casts | FileCheck %s --check-prefix=LLVM

module attributes {gpu.container_module} {

// A kernel in four forms, launched with a memref, a number and an index; and
// memory of the device.

// The forms: a cubin of sm_80, one of sm_90a, which runs there alone, PTX with a
// zero behind it, and what is to be made of bitcode: 32 bytes that nothing here
// defines. A list of them, a variable for what is loaded, and the image of all.
// CODE: llvm.mlir.global internal constant @kernels.code0("cubin of 80") {{.*}}alignment = 16
// CODE: llvm.mlir.global internal constant @kernels.code1("cubin of 90a")
// CODE: llvm.mlir.global internal constant @kernels.code2(".version 7.0\00")
// CODE: llvm.mlir.global external constant @kernels.emulated() {{.*}}: !llvm.array<32 x i8>{{$}}
// CODE: llvm.mlir.global internal constant @kernels.bitcode("bitcode of 80") {{.*}}section = "sparse_autograd.emulated.kernels.emulated"
// CODE: llvm.mlir.global internal constant @kernels.codes() {{.*}}: !llvm.array<4 x struct<(i32, i32, i32, i32, ptr, i64, ptr)>>
// CODE-DAG: llvm.mlir.constant(80 : i32)
// CODE-DAG: llvm.mlir.constant(90 : i32)
// CODE-DAG: llvm.mlir.addressof @kernels.code0
// CODE-DAG: llvm.mlir.constant(11 : i64)
// CODE-DAG: llvm.mlir.addressof @kernels.code2
// CODE-DAG: llvm.mlir.constant(13 : i64)
// CODE-DAG: llvm.mlir.constant(4 : i32)
// CODE-DAG: llvm.mlir.addressof @kernels.emulated
// CODE-DAG: llvm.mlir.constant(32 : i64)
// CODE: llvm.mlir.global internal @kernels.slot() {{.*}}: !llvm.ptr
// CODE: llvm.mlir.global internal constant @kernels() {{.*}}: !llvm.struct<(i32, i32, ptr, ptr)>
// CODE: llvm.mlir.addressof @kernels.codes
// CODE: llvm.mlir.addressof @kernels.slot
// The images of the program, then null.
// CODE: llvm.mlir.global external constant @sparse_autograd_images() {{.*}}: !llvm.array<2 x ptr>
// CODE: %[[IMAGE:.*]] = llvm.mlir.addressof @kernels :
// CODE: %[[END:.*]] = llvm.mlir.zero
// CODE: %[[FIRST:.*]] = llvm.insertvalue %[[IMAGE]], %{{.*}}[0]
// CODE: llvm.insertvalue %[[END]], %[[FIRST]][1]
// CODE: llvm.mlir.global internal constant @kernels.scale.name("scale\00")
gpu.binary @kernels [
  #gpu.object<#nvvm.target<chip = "sm_80">, bin = "cubin of 80">,
  #gpu.object<#nvvm.target<chip = "sm_90a">, bin = "cubin of 90a">,
  #gpu.object<#nvvm.target<chip = "sm_80">, assembly = ".version 7.0">,
  #gpu.object<#nvvm.target<chip = "sm_80">, offload = "bitcode of 80">]

// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[FACTOR:.*]]: f32, %[[N:.*]]: index)
func.func @f(%x: memref<?xf32>, %factor: f32, %n: index) {
  // CHECK-DAG: %[[PLACES:.*]] = memref.alloca() : memref<7xi64>
  // CHECK-DAG: %[[WORDS:.*]] = memref.alloca() : memref<7xi64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %blocks = arith.ceildivui %n, %c128 : index
  %shared = arith.constant 512 : i32
  // CHECK: %[[D:.*]] = memref.alloc(%[[N]]) : memref<?xf32, #gpu.address_space<global>>
  %d = memref.alloc(%n) : memref<?xf32, #gpu.address_space<global>>
  // CHECK: call @sparseAutogradDeviceCopyIn(%{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i64)
  memref.copy %x, %d : memref<?xf32> to memref<?xf32, #gpu.address_space<global>>
  // The address twice, the offset, the extent and the stride; then the number,
  // in the low half of a word, and the index.
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[FACTOR]] : f32 to i32
  // CHECK: %[[WORD:.*]] = arith.extui %[[BITS]] : i32 to i64
  // CHECK: %[[FIFTH:.*]] = arith.constant 5 : index
  // CHECK: memref.store %[[WORD]], %{{.*}}[%[[FIFTH]]] : memref<7xi64>
  // CHECK-DAG: %[[IMAGE:.*]] = llvm.mlir.addressof @kernels : !llvm.ptr
  // CHECK-DAG: %[[NAME:.*]] = llvm.mlir.addressof @kernels.scale.name : !llvm.ptr
  // CHECK: %[[SHARED:.*]] = arith.extui %{{.*}} : i32 to i64
  // CHECK: %[[COUNT:.*]] = arith.constant 7 : i64
  // CHECK: call @sparseAutogradDeviceLaunch(%[[IMAGE]], %[[NAME]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[SHARED]], %[[COUNT]], %{{.*}})
  // CHECK-NOT: gpu.launch_func
  gpu.launch_func @kernels::@scale blocks in (%blocks, %c1, %c1) threads in (%c128, %c1, %c1)
      dynamic_shared_memory_size %shared
      args(%d : memref<?xf32, #gpu.address_space<global>>, %factor : f32, %n : index)
  // CHECK: %[[E:.*]] = memref.alloc
  %e = memref.alloc(%n) : memref<?xf32, #gpu.address_space<global>>
  // CHECK: call @sparseAutogradDeviceCopy(
  memref.copy %d, %e : memref<?xf32, #gpu.address_space<global>> to memref<?xf32, #gpu.address_space<global>>
  // CHECK: call @sparseAutogradDeviceCopyOut(
  memref.copy %e, %x : memref<?xf32, #gpu.address_space<global>> to memref<?xf32>
  memref.dealloc %d : memref<?xf32, #gpu.address_space<global>>
  memref.dealloc %e : memref<?xf32, #gpu.address_space<global>>
  return
}

// Of the host nothing changes.
// CHECK-LABEL: func.func @host(
// CHECK: memref.copy
func.func @host(%x: memref<4xf32>, %y: memref<4xf32>) {
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  return
}

}

// LLVM-LABEL: llvm.func @f(
// LLVM: llvm.call @sparseAutogradDeviceAllocate(
// LLVM: llvm.call @sparseAutogradDeviceCopyIn(
// LLVM: llvm.call @sparseAutogradDeviceLaunch(
// LLVM: llvm.call @sparseAutogradDeviceAllocate(
// LLVM: llvm.call @sparseAutogradDeviceCopyOut(
// LLVM: llvm.call @sparseAutogradDeviceDeallocate(
// LLVM: llvm.call @sparseAutogradDeviceDeallocate(
// LLVM-NOT: llvm.ptr<1>
