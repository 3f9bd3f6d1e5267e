// RUN: sparse-opt %s --canonicalize | FileCheck %s

// The dialect takes part in the canonicalization once it is loaded.
func.func @load(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sparse_autograd.stop_gradient %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The dimension that is dropped is the last, although the first is one as well.

// CHECK-LABEL: func.func @extract(
//       CHECK:   %[[SLICE:.+]] = tensor.extract_slice %{{.+}}[1, 0, %{{.+}}] [1, 4, 1] [1, 2, 1] : tensor<?x?x?xf32> to tensor<1x4xf32>
//       CHECK:   %[[CAST:.+]] = tensor.cast %[[SLICE]] : tensor<1x4xf32> to tensor<?x?xf32>
//       CHECK:   return %[[CAST]]
func.func @extract(%x: tensor<?x?x?xf32>, %k: index) -> tensor<?x?xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %slice = tensor.extract_slice %x[%c1, 0, %k] [1, %c4, 1] [1, %c2, 1] : tensor<?x?x?xf32> to tensor<1x?xf32>
  %y = tensor.cast %slice : tensor<1x?xf32> to tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @insert(
//  CHECK-SAME:     %{{.+}}: tensor<?x?x?xf32>, %[[V:[^:]+]]: tensor<1x?xf32>
//       CHECK:   %[[CAST:.+]] = tensor.cast %[[V]] : tensor<1x?xf32> to tensor<1x4xf32>
//       CHECK:   tensor.insert_slice %[[CAST]] into %{{.+}}[1, 0, %{{.+}}] [1, 4, 1] [1, 1, 1] : tensor<1x4xf32> into tensor<?x?x?xf32>
func.func @insert(%x: tensor<?x?x?xf32>, %v: tensor<1x?xf32>, %k: index) -> tensor<?x?x?xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %y = tensor.insert_slice %v into %x[%c1, 0, %k] [1, %c4, 1] [1, 1, 1] : tensor<1x?xf32> into tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @parallel_insert(
//  CHECK-SAME:     %{{.+}}: tensor<?x?x?xf32>, %[[V:[^:]+]]: tensor<1x?xf32>
//       CHECK:   scf.forall
//       CHECK:     %[[CAST:.+]] = tensor.cast %[[V]] : tensor<1x?xf32> to tensor<1x4xf32>
//       CHECK:     scf.forall.in_parallel {
//  CHECK-NEXT:       tensor.parallel_insert_slice %[[CAST]] into %{{.+}}[1, 0, %{{.+}}] [1, 4, 1] [1, 1, 1] : tensor<1x4xf32> into tensor<?x?x?xf32>
//  CHECK-NEXT:     }
func.func @parallel_insert(%x: tensor<?x?x?xf32>, %v: tensor<1x?xf32>, %n: index) -> tensor<?x?x?xf32> {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : index
  %y = scf.forall (%k) in (%n) shared_outs(%out = %x) -> tensor<?x?x?xf32> {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %v into %out[%c1, 0, %k] [1, %c4, 1] [1, 1, 1] : tensor<1x?xf32> into tensor<?x?x?xf32>
      tensor.parallel_insert_slice %v into %out[%k, 0, %k] [1, %c0, 1] [1, 1, 1] : tensor<1x?xf32> into tensor<?x?x?xf32>
    }
  }
  return %y : tensor<?x?x?xf32>
}

// Without elements it does not matter where a slice begins.

// CHECK-LABEL: func.func @empty(
//  CHECK-SAME:     %[[X:[^:]+]]: tensor<2x?x?xf32>, %[[N:[^:]+]]: index
//       CHECK:   %[[EMPTY:.+]] = tensor.empty(%[[N]]) : tensor<0x?xf32>
//       CHECK:   %[[CAST:.+]] = tensor.cast %[[EMPTY]] : tensor<0x?xf32> to tensor<?x?xf32>
//       CHECK:   return %[[CAST]], %[[X]]
func.func @empty(%x: tensor<2x?x?xf32>, %n: index, %v: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<2x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %y = tensor.extract_slice %x[%c2, 0, 0] [%c0, %n, 1] [1, 1, 1] : tensor<2x?x?xf32> to tensor<?x?xf32>
  %z = tensor.insert_slice %v into %x[%c2, 0, 0] [%c0, %n, 1] [1, 1, 1] : tensor<?x?xf32> into tensor<2x?x?xf32>
  return %y, %z : tensor<?x?xf32>, tensor<2x?x?xf32>
}

// A slice that does not lie in its tensor is for the run to refuse.

// CHECK-LABEL: func.func @extract_outside(
//       CHECK:   tensor.extract_slice %{{.+}}[%{{.+}}, %{{.+}}, 0] [1, 2, 1] [1, 1, 1] : tensor<1x4x?xf32> to tensor<1x2xf32>
func.func @extract_outside(%x: tensor<1x4x?xf32>) -> tensor<1x2xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %y = tensor.extract_slice %x[%c0, %c3, 0] [1, 2, 1] [1, 1, 1] : tensor<1x4x?xf32> to tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}
