// RUN: sparse-opt %s --sparse-autograd-differentiate | FileCheck %s

// A linalg.generic that reads one tensor or the other, as StableHLO concatenates
// them, is differentiated as loops: a position that one branch reads at is
// outside of the tensor in the other. What the loop carries is not kept: nobody
// reads it again.

// CHECK-LABEL: func.func private @concatenated__vjp_0_1(
//  CHECK-SAME:     %{{.+}}: tensor<3xf32>, %{{.+}}: tensor<5xf32>, %[[CT:.+]]: tensor<8xf32>)
//   CHECK-NOT:   tensor<8x8xf32>
//       CHECK:   %[[DONE:.+]]:3 = scf.for {{.*}} iter_args(%[[DY:.+]] = %[[CT]], %[[DA:.+]] = %{{.+}}, %[[DB:.+]] = %{{.+}}) -> (tensor<8xf32>, tensor<3xf32>, tensor<5xf32>)
//       CHECK:     %[[I:.+]] = arith.subi
//       CHECK:     %[[C:.+]] = tensor.extract %[[DY]][%[[I]]]
//       CHECK:     scf.if
//       CHECK:       tensor.extract %[[DA]]
//       CHECK:       tensor.insert %{{.+}} into %[[DA]]
//       CHECK:     } else {
//       CHECK:       tensor.extract %[[DB]]
//       CHECK:       tensor.insert %{{.+}} into %[[DB]]
//       CHECK:   return %{{.+}}, %[[DONE]]#1, %[[DONE]]#2
func.func private @concatenated(%a: tensor<3xf32>, %b: tensor<5xf32>) -> tensor<8xf32> {
  %c3 = arith.constant 3 : index
  %empty = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%empty : tensor<8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %is_first = arith.cmpi ult, %i, %c3 : index
    %e = scf.if %is_first -> (f32) {
      %x = tensor.extract %a[%i] : tensor<3xf32>
      scf.yield %x : f32
    } else {
      %j = arith.subi %i, %c3 : index
      %x = tensor.extract %b[%j] : tensor<5xf32>
      scf.yield %x : f32
    }
    linalg.yield %e : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

func.func @gradients(%a: tensor<3xf32>, %b: tensor<5xf32>, %ct: tensor<8xf32>) -> (tensor<3xf32>, tensor<5xf32>) {
  %r:3 = sparse_autograd.vjp @concatenated(%a, %b) cotangents(%ct) {wrt = [0, 1]}
      : (tensor<3xf32>, tensor<5xf32>), (tensor<8xf32>) -> (tensor<8xf32>, tensor<3xf32>, tensor<5xf32>)
  return %r#1, %r#2 : tensor<3xf32>, tensor<5xf32>
}
