// RUN: sparse-opt %s --convert-sparse-autograd-to-linalg --verify-each | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[M:.*]]: tensor<?x?xi1>
func.func @softmax(%x: tensor<?x?xf32>, %m: tensor<?x?xi1>) -> tensor<?x?xf32> {
  // CHECK: %[[MAX:.*]] = linalg.generic
  // CHECK: arith.maximumf
  // The exponentials are computed once.
  // CHECK: %[[E:.*]] = linalg.generic
  // CHECK-SAME: iterator_types = ["parallel", "parallel"]
  // CHECK-SAME: ins(%[[X]], %[[M]], %[[MAX]] : tensor<?x?xf32>, tensor<?x?xi1>, tensor<?xf32>)
  // CHECK: ^bb0(%[[XI:.*]]: f32, %[[MI:.*]]: i1, %[[PEAK:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[SHIFTED:.*]] = arith.subf %[[XI]], %[[PEAK]] : f32
  // CHECK: %[[EXP:.*]] = math.exp %[[SHIFTED]] : f32
  // CHECK: arith.select %[[MI]], %[[EXP]], %{{.*}} : f32
  // CHECK: %[[SUM:.*]] = linalg.generic
  // CHECK-SAME: ins(%[[E]],
  // CHECK-NOT: math.exp
  // CHECK: arith.addf
  // CHECK: %[[RECIPROCAL:.*]] = linalg.generic
  // CHECK-SAME: ins(%[[SUM]] : tensor<?xf32>)
  // CHECK: arith.divf
  // CHECK: %[[Y:.*]] = linalg.generic
  // CHECK-SAME: iterator_types = ["parallel", "parallel"]
  // CHECK-SAME: ins(%[[E]], %[[M]], %[[RECIPROCAL]] : tensor<?x?xf32>, tensor<?x?xi1>, tensor<?xf32>)
  // CHECK: ^bb0(%[[EI:.*]]: f32, %[[MI:.*]]: i1, %[[FACTOR:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[SHARE:.*]] = arith.mulf %[[EI]], %[[FACTOR]] : f32
  // CHECK: %[[SELECTED:.*]] = arith.select %[[MI]], %[[SHARE]], %{{.*}} : f32
  // CHECK: linalg.yield %[[SELECTED]]
  // CHECK: return %[[Y]]
  %0 = sparse_autograd.masked_softmax %x, %m dims = [1] : tensor<?x?xf32>, tensor<?x?xi1>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @log_softmax
// CHECK-SAME: %[[X:.*]]: tensor<4x8xbf16>, %[[M:.*]]: tensor<8xi1>
func.func @log_softmax(%x: tensor<4x8xbf16>, %m: tensor<8xi1>) -> tensor<4x8xbf16> {
  // CHECK: %[[MAX:.*]] = linalg.generic
  // CHECK: %[[SUM:.*]] = linalg.generic
  // CHECK: %[[LOG:.*]] = linalg.generic
  // CHECK-SAME: ins(%[[SUM]] : tensor<4xf32>)
  // CHECK: math.log
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[X]], %[[M]], %[[MAX]], %[[LOG]] : tensor<4x8xbf16>, tensor<8xi1>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: ^bb0(%{{.*}}: bf16, %[[MI:.*]]: i1, %[[PEAK:.*]]: f32, %[[LOGTOTAL:.*]]: f32, %{{.*}}: bf16):
  // CHECK: %[[SHIFTED:.*]] = arith.subf %{{.*}}, %[[PEAK]] : f32
  // CHECK: %[[VALUE:.*]] = arith.subf %[[SHIFTED]], %[[LOGTOTAL]] : f32
  // CHECK: %[[SELECTED:.*]] = arith.select %[[MI]], %[[VALUE]], %{{.*}} : f32
  // CHECK: arith.truncf %[[SELECTED]] : f32 to bf16
  %0 = sparse_autograd.masked_log_softmax %x, %m dims = [1] mask_dims = [1] : tensor<4x8xbf16>, tensor<8xi1>
  return %0 : tensor<4x8xbf16>
}
