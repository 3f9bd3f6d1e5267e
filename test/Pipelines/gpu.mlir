// RUN: sparse-opt %s --sparse-autograd="target=gpu emulate=true" --mlir-print-ir-before=sparse-autograd-launch-to-runtime -o %t.mlir 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: sparse-opt %s --sparse-autograd=target=gpu | FileCheck %s --check-prefix=PTX

// A program for a GPU, before and after the runtime takes over. All kernels are
// in one module; the host launches them, allocates and copies.

// KERNELS-LABEL: func.func @gradient(
// KERNELS-NOT:   linalg.
// KERNELS-NOT:   scf.for
// KERNELS:       memref.copy %{{.*}} : memref<?xf32> to memref<?xf32, #gpu.address_space<global>>
// KERNELS:       gpu.launch_func @kernels::@gradient_kernel
// KERNELS-NOT:   scf.for
// KERNELS:       memref.copy %{{.*}} : memref<?xf32, #gpu.address_space<global>> to memref<?xf32>
// KERNELS:       return
// KERNELS:       gpu.binary @kernels

// CHECK-NOT: {{= (memref|scf|arith|math|tensor)\.|^ *(memref|linalg|gpu)\.|func\.func}}
// CHECK-DAG: llvm.func @sparseAutogradDeviceLaunch(
// CHECK-DAG: llvm.func @sparseAutogradDeviceAllocate(
// CHECK-DAG: llvm.func @sparseAutogradDeviceCopyIn(
// CHECK-DAG: llvm.func @sparseAutogradDeviceCopyOut(
// CHECK-DAG: llvm.func @_sparse_autograd_entry_gradient(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
// CHECK-DAG: llvm.mlir.global {{.*}}@kernels.bitcode
// CHECK-DAG: llvm.mlir.global {{.*}}@sparse_autograd_manifest

// Without a chip there is PTX, which drivers compile.
// PTX:       .target sm_80

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

func.func private @loss(%a: tensor<?x?xf32, #CSR>, %x: tensor<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %a, %c0 : tensor<?x?xf32, #CSR>
  %empty = tensor.empty(%n) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %y = linalg.matvec ins(%a, %x : tensor<?x?xf32, #CSR>, tensor<?xf32>) outs(%zeros : tensor<?xf32>) -> tensor<?xf32>
  %sum = sparse_autograd.masked_reduce sum %y dims = [0] : tensor<?xf32> -> tensor<f32>
  %value = tensor.extract %sum[] : tensor<f32>
  return %value : f32
}

func.func @gradient(%a: tensor<?x?xf32, #CSR>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %loss, %dx = sparse_autograd.value_and_grad @loss(%a, %x) {wrt = [1]}
      : (tensor<?x?xf32, #CSR>, tensor<?xf32>) -> (f32, tensor<?xf32>)
  return %dx : tensor<?xf32>
}
