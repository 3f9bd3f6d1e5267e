// RUN: sparse-opt %s --sparse-autograd-select-formats --remarks-filter=sparse-autograd-select-formats --remark-policy=all -o /dev/null 2>&1 | FileCheck %s
// RUN: sparse-opt %s --sparse-autograd-select-formats --remarks-filter=sparse-autograd-select-formats --remark-policy=all -o /dev/null 2>&1 | FileCheck %s --check-prefix=EQUAL

// Every choice is explained.

#CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// 1 and 4 for finding the element, 50 times, which is a guess; in parallel half
// of that.
// CHECK-DAG: [Missed] kept | Category:sparse-autograd-select-formats | Function=repeated | Cost=2.400000e+02, Remark="a copy with dimension 1 outermost would not pay for 1 uses", Saved=1.600000e+02
func.func @repeated(%a: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %z: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%w = %z) -> tensor<?xf64> {
    %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%w : tensor<?xf64>) -> tensor<?xf64>
    scf.yield %y : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// CHECK-DAG: [Passed] copied | Category:sparse-autograd-select-formats | Function=often | Cost=2.400000e+02, Remark="a copy with dimension 1 outermost pays for 1 uses", Saved=2.500000e+02
func.func @often(%a: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %r = scf.for %i = %c0 to %c100 step %c1 iter_args(%w = %z) -> tensor<?xf64> {
    %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%w : tensor<?xf64>) -> tensor<?xf64>
    scf.yield %y : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// CHECK-DAG: [Passed] stored | Category:sparse-autograd-select-formats | Function=open | Before=5.000000e+00, Cost=2.500000e+00, Remark="argument 0 is stored with dimension 1 outermost"
// CHECK-DAG: [Passed] stored | Category:sparse-autograd-select-formats | Function=open | Remark="argument 1 is stored as its type says: no other order costs less"
func.func @open(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %b: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  %w = linalg.matvec ins(%b, %y : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %w : tensor<?xf64>
}

// CHECK-DAG: [Missed] stored | Category:sparse-autograd-select-formats | Function=ordered | Remark="argument 0 is stored as its type says, although one with dimension 1 outermost costs less: sparse_autograd.stored_values depends on the order"
func.func @ordered(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %x: tensor<?xf64>, %z: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  %v = sparse_autograd.stored_values %a : tensor<?x?xf64, #CSR> -> tensor<?xf64>
  return %y, %v : tensor<?xf64>, tensor<?xf64>
}

// CHECK-DAG: [Passed] dense | Category:sparse-autograd-select-formats | Function=small | Remark="stays dense: it has at most 16 nonzeros"
func.func @small(%x: tensor<4x4xf64>, %v: tensor<4xf64>, %z: tensor<4xf64>) -> tensor<4xf64> {
  %a = sparse_tensor.convert %x : tensor<4x4xf64> to tensor<4x4xf64, #CSR>
  %y = linalg.matvec ins(%a, %v : tensor<4x4xf64, #CSR>, tensor<4xf64>) outs(%z : tensor<4xf64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}

// CHECK-DAG: [Missed] sparse | Category:sparse-autograd-select-formats | Function=returned | Remark="stays sparse, although it has at most 16 nonzeros: what reads it is not a structured op with dense results alone"
func.func @returned(%x: tensor<4x4xf64>) -> tensor<4x4xf64, #CSR> {
  %a = sparse_tensor.convert %x : tensor<4x4xf64> to tensor<4x4xf64, #CSR>
  return %a : tensor<4x4xf64, #CSR>
}

// CHECK-DAG: [Missed] stored | Category:sparse-autograd-select-formats | Function=two | Remark="argument 0 is stored as its type says, although one with dimension 1 outermost costs less: ops on it need the format of another tensor"
func.func @two(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %m: tensor<?x?xi1, #CSR>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> (tensor<?xf64>, tensor<?x?xf64, #CSR>) {
  %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  %s = sparse_autograd.masked_softmax %a, %m dims = [1] : tensor<?x?xf64, #CSR>, tensor<?x?xi1, #CSR>
  return %y, %s : tensor<?xf64>, tensor<?x?xf64, #CSR>
}

// The values of each of two operands would be brought into the other order in
// each run, for 12, to save half of 5.
// CHECK-DAG: [Missed] kept | Category:sparse-autograd-select-formats | Function=reordered | Cost=2.400000e+02, Remark="a copy of the pattern with dimension 1 outermost would not pay for 1 uses", Saved=-2.150000e+03
func.func @reordered(%a: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %m = sparse_autograd.pattern %a : tensor<?x?xf64, #CSR>
  %zero = arith.constant 0.0 : f64
  %r = scf.for %i = %c0 to %c100 step %c1 iter_args(%w = %z) -> tensor<?xf64> {
    %y = linalg.generic {
          indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
          iterator_types = ["parallel", "reduction"]}
        ins(%a, %m, %x : tensor<?x?xf64, #CSR>, tensor<?x?xi1, #CSR>, tensor<?xf64>) outs(%w : tensor<?xf64>) {
    ^bb0(%in: f64, %is: i1, %in_0: f64, %out: f64):
      %q = arith.mulf %in, %in_0 : f64
      %t = arith.select %is, %q, %zero : f64
      %s = arith.addf %out, %t : f64
      linalg.yield %s : f64
    } -> tensor<?xf64>
    scf.yield %y : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// An op that reads a tensor twice traverses it once, which costs as much as one
// that reads it once: the one by columns and the one by rows cost the same.
// CHECK-DAG: [Passed] stored | Category:sparse-autograd-select-formats | Function=both | Remark="argument 0 is stored as its type says: no other order costs less"
func.func @both(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %x: tensor<?xf64>, %z: tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64>) {
  %y = linalg.generic {
        indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
        iterator_types = ["parallel", "reduction"]}
      ins(%a, %a, %x : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%z : tensor<?xf64>) {
  ^bb0(%in: f64, %other: f64, %in_0: f64, %out: f64):
    %d = arith.mulf %in, %other : f64
    %q = arith.mulf %d, %in_0 : f64
    %s = arith.addf %out, %q : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  %w = linalg.matvec ins(%a, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  return %y, %w : tensor<?xf64>, tensor<?xf64>
}

// CHECK-DAG: [Passed] stored | Category:sparse-autograd-select-formats | Function=twice | Before=5.000000e+00, Cost=2.500000e+00, Remark="argument 0 is stored with dimension 1 outermost"
func.func @twice(%a: tensor<?x?xf64, #CSR> {sparse_autograd.any_format}, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.generic {
        indexing_maps = [affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (k, i)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
        iterator_types = ["parallel", "reduction"]}
      ins(%a, %a, %x : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%z : tensor<?xf64>) {
  ^bb0(%in: f64, %other: f64, %in_0: f64, %out: f64):
    %d = arith.mulf %in, %other : f64
    %q = arith.mulf %d, %in_0 : f64
    %s = arith.addf %out, %q : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// A copy for several uses is explained at the first.
func.func @shared(%a: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %r = scf.for %i = %c0 to %c100 step %c1 iter_args(%w = %z) -> tensor<?xf64> {
    // CHECK-DAG: remarks.mlir:[[# @LINE + 1]]:{{.*}} [Passed] copied | Category:sparse-autograd-select-formats | Function=shared | Cost=2.400000e+02, Remark="a copy with dimension 1 outermost pays for 2 uses", Saved=5.000000e+02
    %y = linalg.vecmat ins(%x, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%w : tensor<?xf64>) -> tensor<?xf64>
    %v = linalg.vecmat ins(%y, %a : tensor<?xf64>, tensor<?x?xf64, #CSR>) outs(%w : tensor<?xf64>) -> tensor<?xf64>
    scf.yield %v : tensor<?xf64>
  }
  return %r : tensor<?xf64>
}

// An order that costs the same is none that costs less: there is nothing to say.
// EQUAL-NOT: Function=equal
func.func @equal(%a: tensor<?x?xf64, #CSR>, %z: tensor<f64>) -> tensor<f64> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%a : tensor<?x?xf64, #CSR>) outs(%z : tensor<f64>) {
  ^bb0(%in: f64, %out: f64):
    %s = arith.addf %out, %in : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  return %y : tensor<f64>
}
