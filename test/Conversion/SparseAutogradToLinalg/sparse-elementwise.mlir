// RUN: sparse-opt %s --convert-sparse-autograd-to-linalg | FileCheck %s

// An elementwise op becomes a linalg.generic where no operand has the type of its
// result, which MLIR would write over; any other is left to MLIR.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// CHECK-LABEL: func @elementwise
// CHECK-SAME:  %[[A:.*]]: tensor<?x?xf64, #[[CSR:.*]]>, %[[B:.*]]: tensor<?x?xf64, #[[CSR]]>)
// CHECK:       %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : tensor<?x?xf64, #[[CSR]]>
// CHECK:       %[[EMPTY:.*]] = tensor.empty(%{{.*}}, %{{.*}}) : tensor<?x?xi1, #[[CSR]]>
// CHECK:       %[[GREATER:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[EMPTY]] : tensor<?x?xi1, #[[CSR]]>)
// CHECK:         arith.cmpf ogt
// CHECK:       return %[[SUM]], %[[GREATER]]
func.func @elementwise(%a: tensor<?x?xf64, #CSR>, %b: tensor<?x?xf64, #CSR>) -> (tensor<?x?xf64, #CSR>, tensor<?x?xi1, #CSR>) {
  %0 = arith.addf %a, %b : tensor<?x?xf64, #CSR>
  %1 = arith.cmpf ogt, %a, %b : tensor<?x?xf64, #CSR>
  return %0, %1 : tensor<?x?xf64, #CSR>, tensor<?x?xi1, #CSR>
}
