// RUN: sparse-opt %s --sparse-autograd-differentiate --sparse-autograd-prove-sparsity | FileCheck %s

// How many elements of dense gradients may differ from zero.

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> ()>

// A mask, through what is elementwise.
func.func private @masked(%x: tensor<?x?xf64>, %m: tensor<?x?xi1>) -> tensor<f64> {
  %l = math.log %x : tensor<?x?xf64>
  %y = arith.mulf %l, %x : tensor<?x?xf64>
  %s = sparse_autograd.masked_reduce sum %y, %m dims = [0, 1] : tensor<?x?xf64>, tensor<?x?xi1> -> tensor<f64>
  return %s : tensor<f64>
}
// CHECK-LABEL: func private @masked__value_and_grad_0(
// CHECK-SAME: {sparse_autograd.bound = {bytes = "8 * dim(0, 0) * dim(0, 1)", elements = "count(1)"}

// Times a scalar, which comes first.
func.func private @scaled(%c: f64, %x: tensor<5x3xf64>, %m: tensor<5x3xi1>) -> tensor<f64> {
  %e = tensor.empty() : tensor<5x3xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %x : f64, tensor<5x3xf64>) outs(%e : tensor<5x3xf64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %r = arith.mulf %p, %q : f64
    linalg.yield %r : f64
  } -> tensor<5x3xf64>
  %s = sparse_autograd.masked_reduce sum %y, %m dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
  return %s : tensor<f64>
}
// CHECK-LABEL: func private @scaled__value_and_grad_1(
// CHECK-SAME: elements = "count(2)"

// What is stored, added to what is anywhere.
// CHECK-LABEL: func.func @added(
// CHECK-SAME: elements = "5 * 3"
func.func @added(%a: tensor<5x3xf64, #csr>, %b: tensor<5x3xf64>) -> (tensor<5x3xf64> {sparse_autograd.gradient_of = 1 : i64}) {
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<5x3xf64, #csr>) outs(%b : tensor<5x3xf64>) {
  ^bb0(%p: f64, %o: f64):
    %r = arith.addf %o, %p : f64
    linalg.yield %r : f64
  } -> tensor<5x3xf64>
  return %y : tensor<5x3xf64>
}

// A mask of rows selects whole rows, of a product as well.
func.func private @masked_rows(%x: tensor<5x3xf64>, %w: tensor<3x4xf64>, %m: tensor<5xi1>) -> tensor<f64> {
  %zero = arith.constant dense<0.0> : tensor<5x4xf64>
  %p = linalg.matmul ins(%x, %w : tensor<5x3xf64>, tensor<3x4xf64>) outs(%zero : tensor<5x4xf64>) -> tensor<5x4xf64>
  %s = sparse_autograd.masked_reduce sum %p, %m dims = [0, 1] {mask_dims = array<i64: 0>} : tensor<5x4xf64>, tensor<5xi1> -> tensor<f64>
  return %s : tensor<f64>
}
// CHECK-LABEL: func private @masked_rows__value_and_grad_0_1(
// CHECK-SAME: {sparse_autograd.bound = {bytes = "8 * 5 * 3", elements = "count(2) * 3"}, sparse_autograd.gradient_of = 0 : i64}
// CHECK-SAME: {sparse_autograd.bound = {bytes = "8 * 3 * 4", elements = "3 * 4"}, sparse_autograd.gradient_of = 1 : i64}

// Two masks, and where a sparse factor stores something.
func.func private @three(%x: tensor<5x3xf64>, %m: tensor<5x3xi1>, %n: tensor<5x3xi1>, %a: tensor<5x3xf64, #csr>) -> tensor<f64> {
  %zero = arith.constant dense<0.0> : tensor<f64>
  %s = sparse_autograd.masked_reduce sum %x, %m dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
  %t = sparse_autograd.masked_reduce mean %x, %n dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
  %u = linalg.generic {indexing_maps = [#id, #id, #all], iterator_types = ["reduction", "reduction"]}
      ins(%a, %x : tensor<5x3xf64, #csr>, tensor<5x3xf64>) outs(%zero : tensor<f64>) {
  ^bb0(%p: f64, %q: f64, %o: f64):
    %r = arith.mulf %p, %q : f64
    %v = arith.addf %o, %r : f64
    linalg.yield %v : f64
  } -> tensor<f64>
  %v = arith.addf %s, %t : tensor<f64>
  %y = arith.addf %u, %v : tensor<f64>
  return %y : tensor<f64>
}
// CHECK-LABEL: func private @three__value_and_grad_0(
// CHECK-SAME: elements = "{{(count\(1\) \+ count\(2\) \+ nnz\(3\)|nnz\(3\) \+ count\([12]\) \+ count\([12]\)|count\(2\) \+ count\(1\) \+ nnz\(3\))}}"

// A loop: a mask from outside is that of each iteration, one that an iteration
// makes is another one in each.
func.func private @loop(%x: tensor<5x3xf64>, %m: tensor<5x3xi1>, %n: index) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<f64>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%o = %zero) -> tensor<f64> {
    %t = sparse_autograd.masked_reduce sum %x, %m dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
    %y = arith.addf %o, %t : tensor<f64>
    scf.yield %y : tensor<f64>
  }
  return %s : tensor<f64>
}
// CHECK-LABEL: func private @loop__value_and_grad_0(
// CHECK-SAME: elements = "count(1)"

func.func private @inner_mask(%x: tensor<5x3xf64>, %n: index) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<f64>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%o = %zero) -> tensor<f64> {
    %e = tensor.empty() : tensor<5x3xi1>
    %m = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<5x3xi1>) {
    ^bb0(%b: i1):
      %i = linalg.index 0 : index
      %is = arith.cmpi eq, %i, %k : index
      linalg.yield %is : i1
    } -> tensor<5x3xi1>
    %t = sparse_autograd.masked_reduce sum %x, %m dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
    %y = arith.addf %o, %t : tensor<f64>
    scf.yield %y : tensor<f64>
  }
  return %s : tensor<f64>
}
// CHECK-LABEL: func private @inner_mask__value_and_grad_0(
// CHECK-SAME: elements = "5 * 3"

// What is transposed in each iteration: a mask and its transpose.
func.func private @transposed(%x: tensor<3x3xf64>, %m: tensor<3x3xi1>, %n: index) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<f64>
  %s:2 = scf.for %k = %c0 to %n step %c1 iter_args(%o = %zero, %u = %x) -> (tensor<f64>, tensor<3x3xf64>) {
    %t = sparse_autograd.masked_reduce sum %u, %m dims = [0, 1] : tensor<3x3xf64>, tensor<3x3xi1> -> tensor<f64>
    %y = arith.addf %o, %t : tensor<f64>
    %e = tensor.empty() : tensor<3x3xf64>
    %v = linalg.transpose ins(%u : tensor<3x3xf64>) outs(%e : tensor<3x3xf64>) permutation = [1, 0]
    scf.yield %y, %v : tensor<f64>, tensor<3x3xf64>
  }
  return %s#0 : tensor<f64>
}
// CHECK-LABEL: func private @transposed__value_and_grad_0(
// CHECK-SAME: elements = "count(1) + count(1)"

// Two that change places: of the one that is not read first, too.
func.func private @swapped(%x: tensor<5x3xf64>, %z: tensor<5x3xf64>, %m: tensor<5x3xi1>, %n: index) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<f64>
  %s:3 = scf.for %k = %c0 to %n step %c1 iter_args(%o = %zero, %u = %x, %v = %z) -> (tensor<f64>, tensor<5x3xf64>, tensor<5x3xf64>) {
    %t = sparse_autograd.masked_reduce sum %u, %m dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
    %y = arith.addf %o, %t : tensor<f64>
    scf.yield %y, %v, %u : tensor<f64>, tensor<5x3xf64>, tensor<5x3xf64>
  }
  return %s#0 : tensor<f64>
}
// CHECK-LABEL: func private @swapped__value_and_grad_0_1(
// CHECK-SAME: elements = "count(2)"}, sparse_autograd.gradient_of = 0 : i64}
// CHECK-SAME: elements = "count(2)"}, sparse_autograd.gradient_of = 1 : i64}

// A branch, and one that makes the mask.
func.func private @branch(%x: tensor<5x3xf64>, %m: tensor<5x3xi1>, %l: tensor<5x3xi1>, %c: i1) -> tensor<f64> {
  %s = scf.if %c -> tensor<f64> {
    %t = sparse_autograd.masked_reduce sum %x, %m dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
    scf.yield %t : tensor<f64>
  } else {
    %t = sparse_autograd.masked_reduce sum %x, %l dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
    scf.yield %t : tensor<f64>
  }
  return %s : tensor<f64>
}
// CHECK-LABEL: func private @branch__value_and_grad_0(
// CHECK-SAME: elements = "count(1) + count(2)"

func.func private @branch_mask(%x: tensor<5x3xf64>, %y: tensor<5x3xf64>, %c: i1) -> tensor<f64> {
  %zero = arith.constant dense<0.0> : tensor<f64>
  %s = scf.if %c -> tensor<f64> {
    %m = arith.cmpf olt, %x, %y : tensor<5x3xf64>
    %t = sparse_autograd.masked_reduce sum %x, %m dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
    scf.yield %t : tensor<f64>
  } else {
    scf.yield %zero : tensor<f64>
  }
  return %s : tensor<f64>
}
// CHECK-LABEL: func private @branch_mask__value_and_grad_0(
// CHECK-SAME: elements = "5 * 3"

// Nothing reaches it.
func.func private @unread(%x: tensor<5x3xf64>, %y: tensor<f64>) -> tensor<f64> {
  return %y : tensor<f64>
}
// CHECK-LABEL: func private @unread__value_and_grad_0(
// CHECK-SAME: {sparse_autograd.bound = {bytes = "8 * 5 * 3", elements = "0"}

// A union of more than four sets is everything.
func.func private @five(%x: tensor<5x3xf64>, %a: tensor<5x3xi1>, %b: tensor<5x3xi1>, %c: tensor<5x3xi1>, %d: tensor<5x3xi1>, %e: tensor<5x3xi1>) -> tensor<f64> {
  %0 = sparse_autograd.masked_reduce sum %x, %a dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
  %1 = sparse_autograd.masked_reduce sum %x, %b dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
  %2 = sparse_autograd.masked_reduce sum %x, %c dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
  %3 = sparse_autograd.masked_reduce sum %x, %d dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
  %4 = sparse_autograd.masked_reduce sum %x, %e dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
  %5 = arith.addf %0, %1 : tensor<f64>
  %6 = arith.addf %5, %2 : tensor<f64>
  %7 = arith.addf %6, %3 : tensor<f64>
  %8 = arith.addf %7, %4 : tensor<f64>
  return %8 : tensor<f64>
}
// CHECK-LABEL: func private @five__value_and_grad_0(
// CHECK-SAME: elements = "5 * 3"

// A zero that is a number does not undo an infinity.
func.func private @product(%x: tensor<5x3xf64>, %y: tensor<5x3xf64>, %m: tensor<5x3xi1>) -> tensor<f64> {
  %p = sparse_autograd.grad_mask %x, %m : tensor<5x3xf64>, tensor<5x3xi1>
  %t = arith.mulf %p, %y : tensor<5x3xf64>
  %n = arith.constant dense<true> : tensor<5x3xi1>
  %s = sparse_autograd.masked_reduce sum %t, %n dims = [0, 1] : tensor<5x3xf64>, tensor<5x3xi1> -> tensor<f64>
  return %s : tensor<f64>
}
// CHECK-LABEL: func private @product__value_and_grad_0_1(
// CHECK-SAME: elements = "count(2)"}, sparse_autograd.gradient_of = 0 : i64}
// CHECK-SAME: elements = "5 * 3"}, sparse_autograd.gradient_of = 1 : i64}

func.func @all(%x: tensor<?x?xf64>, %m: tensor<?x?xi1>, %y: tensor<5x3xf64>, %w: tensor<3x4xf64>, %r: tensor<5xi1>,
    %n: tensor<5x3xi1>, %a: tensor<5x3xf64, #csr>, %k: index, %s: tensor<f64>, %z: tensor<3x3xf64>, %l: tensor<3x3xi1>, %c: i1, %d: f64) {
  %0:2 = sparse_autograd.value_and_grad @masked(%x, %m) {wrt = [0]} : (tensor<?x?xf64>, tensor<?x?xi1>) -> (tensor<f64>, tensor<?x?xf64>)
  %1:3 = sparse_autograd.value_and_grad @masked_rows(%y, %w, %r) {wrt = [0, 1]}
      : (tensor<5x3xf64>, tensor<3x4xf64>, tensor<5xi1>) -> (tensor<f64>, tensor<5x3xf64>, tensor<3x4xf64>)
  %2:2 = sparse_autograd.value_and_grad @three(%y, %n, %n, %a) {wrt = [0]}
      : (tensor<5x3xf64>, tensor<5x3xi1>, tensor<5x3xi1>, tensor<5x3xf64, #csr>) -> (tensor<f64>, tensor<5x3xf64>)
  %3:2 = sparse_autograd.value_and_grad @loop(%y, %n, %k) {wrt = [0]} : (tensor<5x3xf64>, tensor<5x3xi1>, index) -> (tensor<f64>, tensor<5x3xf64>)
  %4:2 = sparse_autograd.value_and_grad @inner_mask(%y, %k) {wrt = [0]} : (tensor<5x3xf64>, index) -> (tensor<f64>, tensor<5x3xf64>)
  %5:2 = sparse_autograd.value_and_grad @unread(%y, %s) {wrt = [0]} : (tensor<5x3xf64>, tensor<f64>) -> (tensor<f64>, tensor<5x3xf64>)
  %6:3 = sparse_autograd.value_and_grad @product(%y, %y, %n) {wrt = [0, 1]}
      : (tensor<5x3xf64>, tensor<5x3xf64>, tensor<5x3xi1>) -> (tensor<f64>, tensor<5x3xf64>, tensor<5x3xf64>)
  %7:2 = sparse_autograd.value_and_grad @five(%y, %n, %n, %n, %n, %n) {wrt = [0]}
      : (tensor<5x3xf64>, tensor<5x3xi1>, tensor<5x3xi1>, tensor<5x3xi1>, tensor<5x3xi1>, tensor<5x3xi1>) -> (tensor<f64>, tensor<5x3xf64>)
  %8:2 = sparse_autograd.value_and_grad @transposed(%z, %l, %k) {wrt = [0]} : (tensor<3x3xf64>, tensor<3x3xi1>, index) -> (tensor<f64>, tensor<3x3xf64>)
  %9:3 = sparse_autograd.value_and_grad @swapped(%y, %y, %n, %k) {wrt = [0, 1]}
      : (tensor<5x3xf64>, tensor<5x3xf64>, tensor<5x3xi1>, index) -> (tensor<f64>, tensor<5x3xf64>, tensor<5x3xf64>)
  %10:2 = sparse_autograd.value_and_grad @branch(%y, %n, %n, %c) {wrt = [0]}
      : (tensor<5x3xf64>, tensor<5x3xi1>, tensor<5x3xi1>, i1) -> (tensor<f64>, tensor<5x3xf64>)
  %11:2 = sparse_autograd.value_and_grad @branch_mask(%y, %y, %c) {wrt = [0]} : (tensor<5x3xf64>, tensor<5x3xf64>, i1) -> (tensor<f64>, tensor<5x3xf64>)
  %12:2 = sparse_autograd.value_and_grad @scaled(%d, %y, %n) {wrt = [1]} : (f64, tensor<5x3xf64>, tensor<5x3xi1>) -> (tensor<f64>, tensor<5x3xf64>)
  return
}
