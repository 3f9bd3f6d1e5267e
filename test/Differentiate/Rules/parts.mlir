// RUN: sparse-opt %s --split-input-file --sparse-autograd-differentiate | FileCheck %s

// The gradient of what a loop reads a part of at a time is written in that part:
// an iteration takes no time for the rest. It starts from zeros, to which
// nothing need be added if every iteration reads another part.

// CHECK-LABEL: func.func private @elements__value_and_grad_0(
//       CHECK:   %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : tensor<12xf32>
//       CHECK:   scf.for
//       CHECK:   scf.for {{.*}} iter_args(%{{.+}} = %{{.+}}, %[[DX:.+]] = %[[ZERO]])
//   CHECK-NOT:     tensor<12xi1>
//   CHECK-NOT:     tensor.extract %[[DX]]
//       CHECK:     %[[NEXT:.+]] = tensor.insert %{{.+}} into %[[DX]][%[[I:.+]]] : tensor<12xf32>
//  CHECK-NEXT:     scf.yield %{{.+}}, %[[NEXT]]
func.func private @elements(%x: tensor<12xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %one = arith.constant 1.0 : f32
  %p = scf.for %i = %c0 to %c12 step %c1 iter_args(%before = %one) -> (f32) {
    %e = tensor.extract %x[%i] : tensor<12xf32>
    %after = arith.mulf %before, %e : f32
    scf.yield %after : f32
  }
  return %p : f32
}
func.func @elements_gradient(%x: tensor<12xf32>) -> (f32, tensor<12xf32>) {
  %v, %dx = sparse_autograd.value_and_grad @elements(%x) {wrt = [0]} : (tensor<12xf32>) -> (f32, tensor<12xf32>)
  return %v, %dx : f32, tensor<12xf32>
}

// -----

// Two iterations read the same element: what they contribute is added.

// CHECK-LABEL: func.func private @pairs__value_and_grad_0(
//       CHECK:   scf.for
//       CHECK:   scf.for {{.*}} iter_args(%{{.+}} = %{{.+}}, %[[DX:.+]] = %{{.+}})
//       CHECK:     %[[OLD:.+]] = tensor.extract %[[DX]][%[[I:.+]]] : tensor<6xf32>
//  CHECK-NEXT:     %[[NEW:.+]] = arith.addf %[[OLD]], %{{.+}} : f32
//  CHECK-NEXT:     %[[NEXT:.+]] = tensor.insert %[[NEW]] into %[[DX]][%[[I]]] : tensor<6xf32>
//  CHECK-NEXT:     scf.yield %{{.+}}, %[[NEXT]]
func.func private @pairs(%x: tensor<6xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c12 = arith.constant 12 : index
  %one = arith.constant 1.0 : f32
  %p = scf.for %i = %c0 to %c12 step %c1 iter_args(%before = %one) -> (f32) {
    %half = arith.divsi %i, %c2 : index
    %e = tensor.extract %x[%half] : tensor<6xf32>
    %after = arith.mulf %before, %e : f32
    scf.yield %after : f32
  }
  return %p : f32
}
func.func @pairs_gradient(%x: tensor<6xf32>) -> (f32, tensor<6xf32>) {
  %v, %dx = sparse_autograd.value_and_grad @pairs(%x) {wrt = [0]} : (tensor<6xf32>) -> (f32, tensor<6xf32>)
  return %v, %dx : f32, tensor<6xf32>
}

// -----

// Rows, of a tensor that is computed: its support is a mask, which is added to
// in the same way.

// CHECK-LABEL: func.func private @rows__value_and_grad_0(
//       CHECK:   scf.for {{.*}} iter_args(%{{.+}} = %{{.+}}, %[[DY:.+]] = %{{.+}}, %[[MASK:.+]] = %{{.+}}) -> (f32, tensor<?x8xf32>, tensor<?x8xi1>)
//       CHECK:     %[[OLD:.+]] = tensor.extract_slice %[[DY]][%[[I:.+]], 0] [1, 8] [1, 1]
//       CHECK:     %[[NEW:.+]] = linalg.generic {{.*}} ins(%[[OLD]], %{{.+}} : tensor<8xf32>, tensor<f32>)
//       CHECK:     %[[REACHED:.+]] = linalg.fill ins(%true : i1)
//   CHECK-DAG:     %[[NEXT_MASK:.+]] = tensor.insert_slice %[[REACHED]] into %[[MASK]][%[[I]], 0] [1, 8] [1, 1]
//   CHECK-DAG:     %[[NEXT:.+]] = tensor.insert_slice %[[NEW]] into %[[DY]][%[[I]], 0] [1, 8] [1, 1]
//       CHECK:     scf.yield %{{.+}}, %[[NEXT]], %[[NEXT_MASK]]
func.func private @rows(%x: tensor<?x8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %one = arith.constant 1.0 : f32
  %y = math.log %x : tensor<?x8xf32>
  %p = scf.for %i = %c0 to %n step %c1 iter_args(%before = %one) -> (f32) {
    %row = tensor.extract_slice %y[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    %sum = sparse_autograd.masked_reduce sum %row dims = [0] : tensor<8xf32> -> tensor<f32>
    %s = tensor.extract %sum[] : tensor<f32>
    %after = arith.mulf %before, %s : f32
    scf.yield %after : f32
  }
  return %p : f32
}
func.func @rows_gradient(%x: tensor<?x8xf32>) -> (f32, tensor<?x8xf32>) {
  %v, %dx = sparse_autograd.value_and_grad @rows(%x) {wrt = [0]} : (tensor<?x8xf32>) -> (f32, tensor<?x8xf32>)
  return %v, %dx : f32, tensor<?x8xf32>
}

// -----

// In a branch: the other one hands on what there is.

// CHECK-LABEL: func.func private @branch__value_and_grad_0(
//       CHECK:   scf.for
//       CHECK:   scf.for {{.*}} iter_args(%{{.+}} = %{{.+}}, %[[DX:.+]] = %{{.+}})
//       CHECK:     %[[BRANCHES:.+]] = scf.if %{{.+}} -> (tensor<12xf32>)
//       CHECK:       tensor.extract %[[DX]]
//       CHECK:       %[[ADDED:.+]] = tensor.insert %{{.+}} into %[[DX]]
//       CHECK:       scf.yield %[[ADDED]]
//       CHECK:     } else {
//  CHECK-NEXT:       scf.yield %[[DX]]
//  CHECK-NEXT:     }
//   CHECK-NOT:     tensor<12xf32>
//       CHECK:     scf.yield %{{.+}}, %[[BRANCHES]]
func.func private @branch(%x: tensor<12xf32>, %chosen: tensor<12xi1>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %one = arith.constant 1.0 : f32
  %p = scf.for %i = %c0 to %c12 step %c1 iter_args(%before = %one) -> (f32) {
    %is = tensor.extract %chosen[%i] : tensor<12xi1>
    %e = scf.if %is -> (f32) {
      %read = tensor.extract %x[%i] : tensor<12xf32>
      scf.yield %read : f32
    } else {
      scf.yield %one : f32
    }
    %after = arith.mulf %before, %e : f32
    scf.yield %after : f32
  }
  return %p : f32
}
func.func @branch_gradient(%x: tensor<12xf32>, %chosen: tensor<12xi1>) -> (f32, tensor<12xf32>) {
  %v, %dx = sparse_autograd.value_and_grad @branch(%x, %chosen) {wrt = [0]} : (tensor<12xf32>, tensor<12xi1>) -> (f32, tensor<12xf32>)
  return %v, %dx : f32, tensor<12xf32>
}
