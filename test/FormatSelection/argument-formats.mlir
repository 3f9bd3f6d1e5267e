// RUN: sparse-opt %s --sparse-autograd-select-formats | FileCheck %s

// What an argument that leaves its format open is stored as.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// CHECK-DAG: #[[CSR:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
// CHECK-DAG: #[[CSC:.*]] = #sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 : compressed) }>

// CHECK-LABEL: func.func @columns
// CHECK-SAME:  %[[A:.*]]: tensor<?x?xf64, #[[CSC]]>, %[[X:[a-z0-9]+]]: tensor<?xf64>, %{{.*}}: tensor<?xf64>)
// CHECK-NOT:   sparse_tensor.convert
// CHECK:       linalg.vecmat ins(%[[X]], %[[A]] : tensor<?xf64>, tensor<?x?xf64, #[[CSC]]>)
func.func @columns(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// Without the attribute the type counts.

// CHECK-LABEL: func.func @stated
// CHECK-SAME:  tensor<?x?xf64, #[[CSR]]>
func.func @stated(%a: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// Values of the pattern follow, and results that have the attribute; others are
// converted back.

// CHECK-LABEL: func.func @follow
// CHECK-SAME:  %[[A:.*]]: tensor<?x?xf64, #[[CSC]]>
// CHECK-SAME:  -> (tensor<?xf64>, tensor<?x?xf64, #[[CSC]]>, tensor<?x?xf64, #[[CSR]]>)
// CHECK:       %[[G:.*]] = sparse_autograd.zeros %[[A]] : tensor<?x?xf64, #[[CSC]]> -> tensor<?x?xf64, #[[CSC]]>
// CHECK:       %[[BACK:.*]] = sparse_tensor.convert %[[G]] : tensor<?x?xf64, #[[CSC]]> to tensor<?x?xf64, #[[CSR]]>
// CHECK:       return %{{.*}}, %[[G]], %[[BACK]]
func.func @follow(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %x: tensor<?xf64>, %z: tensor<?xf64>)
    -> (tensor<?xf64>, tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, tensor<?x?xf64, #CSR>) {
  %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  %g = sparse_autograd.zeros %a : tensor<?x?xf64, #CSR> -> tensor<?x?xf64, #CSR>
  return %y, %g, %g : tensor<?xf64>, tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>
}

// What runs in a loop counts more.

// CHECK-LABEL: func.func @loop
// CHECK-SAME:  %{{.*}}: tensor<?x?xf64, #[[CSC]]>
// CHECK:       linalg.matvec
// CHECK:       scf.for
// CHECK:         linalg.vecmat
func.func @loop(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %v = linalg.matvec ins(%a, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%w = %z) -> tensor<?xf64> {
    %y = linalg.vecmat ins(%v, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%w : tensor<?xf64>) -> tensor<?xf64>
    scf.yield %y : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// Columns are not apart if one of two results is a sum over all of them.

// CHECK-LABEL: func.func @two_sums
// CHECK-SAME:  %{{.*}}: tensor<?x?xf64, #[[CSR]]>
func.func @two_sums(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %z: tensor<?xf64>, %t: tensor<f64>) -> (tensor<?xf64>, tensor<f64>) {
  %y:2 = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> ()>],
        iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<?x?xf64, #CSR>) outs(%z, %t : tensor<?xf64>, tensor<f64>) {
  ^bb0(%in: f64, %column: f64, %all: f64):
    %s = arith.addf %column, %in : f64
    %u = arith.addf %all, %in : f64
    linalg.yield %s, %u : f64, f64
  } -> (tensor<?xf64>, tensor<f64>)
  return %y#0, %y#1 : tensor<?xf64>, tensor<f64>
}

// Neither are rows that several windows read, as columns are.

// CHECK-LABEL: func.func @windows
// CHECK-SAME:  %{{.*}}: tensor<?x?xf64, #[[CSC]]>
func.func @windows(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %w: tensor<2xf64>, %z: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %y = linalg.generic {
        indexing_maps = [affine_map<(i, j, k) -> (i + k, j)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %w : tensor<?x?xf64, #CSR>, tensor<2xf64>) outs(%z : tensor<?x?xf64>) {
  ^bb0(%in: f64, %weight: f64, %out: f64):
    %p = arith.mulf %in, %weight : f64
    %s = arith.addf %out, %p : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}

// A list of values is one in an order.

// CHECK-LABEL: func.func @ordered
// CHECK-SAME:  tensor<?x?xf64, #[[CSR]]>
func.func @ordered(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %x: tensor<?xf64>, %z: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  %v = sparse_autograd.stored_values %a : tensor<?x?xf64, #CSR> -> tensor<?xf64>
  return %y, %v : tensor<?xf64>, tensor<?xf64>
}

// Callers would have to follow.

// CHECK-LABEL: func.func @called
// CHECK-SAME:  tensor<?x?xf64, #[[CSR]]>
func.func @called(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}
func.func @caller(%a: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = func.call @called(%a, %x, %z) : (tensor<?x?xf64, #CSR>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// Another tensor has the same format, together with it.

// CHECK-LABEL: func.func @two
// CHECK-SAME:  tensor<?x?xf64, #[[CSR]]>, %{{.*}}: tensor<?x?xi1, #[[CSR]]>
func.func @two(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %m: tensor<?x?xi1, #CSR>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> (tensor<?xf64>, tensor<?x?xf64, #CSR>) {
  %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  %s = sparse_autograd.masked_softmax %a, %m dims = [1] : tensor<?x?xf64, #CSR>, tensor<?x?xi1, #CSR>
  return %y, %s : tensor<?xf64>, tensor<?x?xf64, #CSR>
}

// CHECK-LABEL: func.func @carried
// CHECK-SAME:  tensor<?x?xf64, #[[CSR]]>, %{{.*}}: tensor<?x?xf64, #[[CSR]]>
func.func @carried(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %b: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %z: tensor<?xf64>, %n: index) -> (tensor<?xf64>, tensor<?x?xf64, #CSR>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> tensor<?x?xf64, #CSR> {
    scf.yield %b : tensor<?x?xf64, #CSR>
  }
  return %y, %r : tensor<?xf64>, tensor<?x?xf64, #CSR>
}

// A function of several blocks keeps what its types say.

// CHECK-LABEL: func.func @blocks
// CHECK-SAME:  tensor<?x?xf64, #[[CSR]]>
func.func @blocks(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %x: tensor<?xf64>, %z: tensor<?xf64>, %c: i1) -> tensor<?xf64> {
  cf.cond_br %c, ^product, ^end(%z : tensor<?xf64>)
^product:
  %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  cf.br ^end(%y : tensor<?xf64>)
^end(%r: tensor<?xf64>):
  return %r : tensor<?xf64>
}

// What moves elements needs the order of its operand.

// CHECK-LABEL: func.func @moved
// CHECK-SAME:  tensor<?x?xf64, #[[CSR]]>
func.func @moved(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %x: tensor<?xf64>, %z: tensor<?xf64>) -> (tensor<?xf64>, tensor<2x3xf64, #CSR>) {
  %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  %s = tensor.extract_slice %a[0, 0] [2, 3] [1, 1] : tensor<?x?xf64, #CSR> to tensor<2x3xf64, #CSR>
  return %y, %s : tensor<?xf64>, tensor<2x3xf64, #CSR>
}

// Of one that its type stores by columns the other order is that by rows.

#CSC = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>

// CHECK-LABEL: func.func @rows
// CHECK-SAME:  %[[A:.*]]: tensor<?x?xf64, #[[CSR]]>, %[[X:[a-z0-9]+]]: tensor<?xf64>
// CHECK:       linalg.matvec ins(%[[A]], %[[X]] : tensor<?x?xf64, #[[CSR]]>, tensor<?xf64>)
func.func @rows(%a: tensor<?x?xf64, #CSC> {sparse_autograd.any_format}, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.matvec ins(%a, %x : tensor<?x?xf64, #CSC>, tensor<?xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y : tensor<?xf64>
}
