// RUN: sparse-opt %s --sparse-autograd=compile-to=differentiate | FileCheck %s --check-prefixes=CHECK,PLAIN,DIFF
// RUN: sparse-opt %s --sparse-autograd=compile-to=select-formats | FileCheck %s --check-prefixes=CHECK,PLAIN,SELECT
// RUN: sparse-opt %s --sparse-autograd=compile-to=lower-sparse | FileCheck %s --check-prefixes=CHECK,SPARSE
// RUN: sparse-opt %s --sparse-autograd | FileCheck %s --check-prefix=TARGET
// RUN: sparse-opt %s --sparse-autograd=threads=1 | FileCheck %s --check-prefix=ONE

// What the IR is at the end of each phase.

// DIFF-NOT: sparse_autograd.manifest
// SELECT:   sparse_autograd.manifest = "{{.*}}gradient
// SPARSE:   sparse_autograd.manifest = "{{.*}}gradient

// The loss is inlined into its only caller; its derivative is plain IR.
// CHECK-NOT: @loss
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: sparse_autograd.mask_of = "x"{{.*}} -> tensor<?x?xf32> {{(attributes {sparse_autograd.gradients = array<i64: 0, 0>} )?}}{

// PLAIN-NOT: value_and_grad
// PLAIN:     sparse_autograd.masked_reduce sum
// PLAIN-NOT: value_and_grad
// PLAIN:     sparse_autograd.log
// PLAIN-NOT: value_and_grad
// PLAIN:     return

// SPARSE-NOT: sparse_autograd.
// SPARSE:     cf.assert %{{.*}}, "{{.*}}phases.mlir
// SPARSE-NOT: sparse_autograd.
// SPARSE:     linalg.generic
// SPARSE-NOT: sparse_autograd.masked
// SPARSE:     sparse_autograd.log
// SPARSE-NOT: sparse_autograd.
// SPARSE:     return

// Nothing but the LLVM dialect is left; entries have the C ABI.
// TARGET-NOT: {{memref|scf|linalg|arith|math|tensor|func\.func}}
// TARGET-DAG: llvm.func @sparseAutogradParallelFor(
// TARGET-DAG: llvm.func @_sparse_autograd_entry_gradient(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
// TARGET-DAG: llvm.mlir.global {{.*}}@sparse_autograd_manifest

// ONE-NOT: @sparseAutogradParallelFor
// ONE: llvm.func @_sparse_autograd_entry_gradient
// ONE-NOT: @sparseAutogradParallelFor

func.func private @loss(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> f32 {
  %square = arith.mulf %x, %x : tensor<?x?xf32>
  %sum = sparse_autograd.masked_reduce sum %square, %mask dims = [0, 1]
      : tensor<?x?xf32>, tensor<?x?xi1> -> tensor<f32>
  %value = tensor.extract %sum[] : tensor<f32>
  return %value : f32
}

func.func @gradient(
    %x: tensor<?x?xf32> {sparse_autograd.name = "x"},
    %mask: tensor<?x?xi1> {sparse_autograd.name = "mask", sparse_autograd.mask_of = "x"})
    -> tensor<?x?xf32> {
  %loss, %dx = sparse_autograd.value_and_grad @loss(%x, %mask) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>) -> (f32, tensor<?x?xf32>)
  sparse_autograd.log "loss" %loss : f32
  return %dx : tensor<?x?xf32>
}
