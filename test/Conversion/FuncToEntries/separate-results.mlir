// RUN: sparse-opt %s --sparse-autograd --mlir-print-ir-after=sparse-autograd-emit-entries -o %t 2>&1 | FileCheck %s

// Results are in buffers of their own. What may be one buffer is compared at run
// time; what cannot be is not: the code is not to grow with the square of the
// number of results.

// CHECK-LABEL: func.func private @sparse_autograd.body.fresh
//       CHECK:   call @sparse_autograd.function.fresh
//   CHECK-NOT:   memref.extract_aligned_pointer_as_index
//   CHECK-NOT:   memref.copy
//       CHECK:   return
func.func @fresh(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %a = math.exp %x : tensor<?xf32>
  %b = math.sin %x : tensor<?xf32>
  %c = math.cos %x : tensor<?xf32>
  return %a, %b, %c : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// A result that may be the argument.
// CHECK-LABEL: func.func private @sparse_autograd.body.shared
//       CHECK:   %[[R:.+]]:2 = call @sparse_autograd.function.shared(%{{.+}}, %[[X:.+]], %{{.+}}) :
//   CHECK-DAG:   memref.extract_aligned_pointer_as_index %[[R]]#1
//   CHECK-DAG:   memref.extract_aligned_pointer_as_index %[[X]]
//       CHECK:   scf.if
//       CHECK:     memref.copy %[[R]]#1
func.func @shared(%a: tensor<8x8xf32>, %x: tensor<8xf32>, %c: i1) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %e = math.exp %x : tensor<8xf32>
  %y = scf.if %c -> tensor<8xf32> {
    scf.yield %x : tensor<8xf32>
  } else {
    %p = linalg.matvec ins(%a, %x : tensor<8x8xf32>, tensor<8xf32>) outs(%zero : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %p : tensor<8xf32>
  }
  return %e, %y : tensor<8xf32>, tensor<8xf32>
}
