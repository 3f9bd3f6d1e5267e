// RUN: sparse-opt %s --sparse-autograd-differentiate --canonicalize --cse | FileCheck %s

// What carries a mask backward (G2), and what has none to carry.
// test/Execution/reach-functions.py executes these, sparse-masked.py those of
// sparse factors.

// The mask goes around the loop with the cotangent of what the loop carries,
// and is gathered for what every iteration reads.

func.func @masked_loop(%x: tensor<4xf64>, %m: tensor<4xi1>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %l = math.log %x : tensor<4xf64>
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> (tensor<4xf64>) {
    %s = arith.mulf %v, %l : tensor<4xf64>
    scf.yield %s : tensor<4xf64>
  }
  %sum = sparse_autograd.masked_reduce sum %y, %m dims = [0] : tensor<4xf64>, tensor<4xi1> -> tensor<f64>
  return %sum : tensor<f64>
}

// CHECK-LABEL: func.func private @masked_loop__value_and_grad_0
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<4xf64>, %[[M:[a-z0-9]+]]: tensor<4xi1>
// CHECK: scf.for
// CHECK-NOT: i1
// CHECK: scf.yield
// CHECK: %[[NONE:.*]] = linalg.fill ins(%{{.*}} : i1)
// The mask of what is carried stays the same here; that of %l is gathered.
// CHECK: %[[R:.*]]:3 = scf.for {{.*}} iter_args({{.*}}, %[[TOTAL:[a-z0-9]+]] = %[[NONE]]) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xi1>)
// CHECK: linalg.generic {{.*}} ins({{.*}}, %[[M]] :
// CHECK: %[[NEXT:.*]] = arith.ori %[[TOTAL]], %[[M]] : tensor<4xi1>
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[NEXT]]
// The logarithm is differentiated under what was gathered.
// CHECK: linalg.generic {{.*}} ins({{.*}}%[[R]]#2
// CHECK: arith.select

// A loop without a mask behind it carries none, however much it reads.

func.func @dense_loop(%x: tensor<4xf64>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %l = math.log %x : tensor<4xf64>
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> (tensor<4xf64>) {
    %s = arith.mulf %v, %l : tensor<4xf64>
    scf.yield %s : tensor<4xf64>
  }
  %sum = sparse_autograd.masked_reduce sum %y dims = [0] : tensor<4xf64> -> tensor<f64>
  return %sum : tensor<f64>
}

// CHECK-LABEL: func.func private @dense_loop__value_and_grad_0
// CHECK-NOT: i1
// CHECK: return

// Nor does one whose body spreads the cotangent over all of what it carries.

func.func @spreading_loop(%x: tensor<4xf64>, %m: tensor<4xi1>) -> tensor<f64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x, %w = %x) -> (tensor<4xf64>, tensor<4xf64>) {
    %s = arith.mulf %v, %w : tensor<4xf64>
    %t = arith.addf %w, %v : tensor<4xf64>
    scf.yield %s, %t : tensor<4xf64>, tensor<4xf64>
  }
  %sum = sparse_autograd.masked_reduce sum %y#0, %m dims = [0] : tensor<4xf64>, tensor<4xi1> -> tensor<f64>
  %all = sparse_autograd.masked_reduce sum %y#1 dims = [0] : tensor<4xf64> -> tensor<f64>
  %both = arith.addf %sum, %all : tensor<f64>
  return %both : tensor<f64>
}

// CHECK-LABEL: func.func private @spreading_loop__value_and_grad_0
// CHECK: scf.for
// CHECK: %{{.*}}:2 = scf.for {{.*}} -> (tensor<4xf64>, tensor<4xf64>)
// CHECK-NOT: i1
// CHECK: scf.yield

// A branch that is not taken selects nothing: the condition is the mask.

func.func @branch(%x: tensor<4xf64>, %c: i1) -> tensor<f64> {
  %l = math.log %x : tensor<4xf64>
  %zero = arith.constant dense<0.0> : tensor<f64>
  %y = scf.if %c -> (tensor<f64>) {
    %s = sparse_autograd.masked_reduce sum %l dims = [0] : tensor<4xf64> -> tensor<f64>
    scf.yield %s : tensor<f64>
  } else {
    scf.yield %zero : tensor<f64>
  }
  return %y : tensor<f64>
}

// CHECK-LABEL: func.func private @branch__value_and_grad_0
// CHECK-SAME: %{{[a-z0-9]+}}: tensor<4xf64>, %[[C:[a-z0-9]+]]: i1
// CHECK: linalg.generic {{.*}} ins({{.*}}, %[[C]] : {{.*}}, i1)
// CHECK: arith.select

// What a mask has selected already a branch hands on as it is.

func.func @masked_branch(%x: tensor<4xf64>, %m: tensor<4xi1>, %c: i1) -> tensor<f64> {
  %y = scf.if %c -> (tensor<4xf64>) {
    %s = arith.mulf %x, %x : tensor<4xf64>
    scf.yield %s : tensor<4xf64>
  } else {
    scf.yield %x : tensor<4xf64>
  }
  %sum = sparse_autograd.masked_reduce sum %y, %m dims = [0] : tensor<4xf64>, tensor<4xi1> -> tensor<f64>
  return %sum : tensor<f64>
}

// CHECK-LABEL: func.func private @masked_branch__value_and_grad_0
// CHECK: scf.if
// CHECK: arith.select
// CHECK: scf.if
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK: return

// An element taken from many masks the others; the only one has none.

func.func @element(%x: tensor<4xf64>) -> f64 {
  %c1 = arith.constant 1 : index
  %l = math.log %x : tensor<4xf64>
  %y = tensor.extract %l[%c1] : tensor<4xf64>
  return %y : f64
}

// CHECK-LABEL: func.func private @element__value_and_grad_0
// CHECK: tensor.insert %true into
// CHECK: arith.select

func.func @only_element(%x: tensor<1xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %l = math.log %x : tensor<1xf64>
  %y = tensor.extract %l[%c0] : tensor<1xf64>
  return %y : f64
}

// CHECK-LABEL: func.func private @only_element__value_and_grad_0
// CHECK-NOT: i1
// CHECK: return

// Windows that overlap take all elements or, with a stride, some.

func.func @all_windows(%x: tensor<4xf64>, %w: tensor<2xf64>) -> tensor<f64> {
  %l = math.log %x : tensor<4xf64>
  %zeros = arith.constant dense<0.0> : tensor<3xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%l, %w : tensor<4xf64>, tensor<2xf64>) outs(%zeros : tensor<3xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %out, %p : f64
    linalg.yield %s : f64
  } -> tensor<3xf64>
  %sum = sparse_autograd.masked_reduce sum %y dims = [0] : tensor<3xf64> -> tensor<f64>
  return %sum : tensor<f64>
}

// CHECK-LABEL: func.func private @all_windows__value_and_grad_0
// CHECK-NOT: i1
// CHECK: return

func.func @some_windows(%x: tensor<4xf64>, %w: tensor<2xf64>) -> tensor<f64> {
  %l = math.log %x : tensor<4xf64>
  %zeros = arith.constant dense<0.0> : tensor<1xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i * 3 + j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%l, %w : tensor<4xf64>, tensor<2xf64>) outs(%zeros : tensor<1xf64>) {
  ^bb0(%a: f64, %b: f64, %out: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %out, %p : f64
    linalg.yield %s : f64
  } -> tensor<1xf64>
  %sum = sparse_autograd.masked_reduce sum %y dims = [0] : tensor<1xf64> -> tensor<f64>
  return %sum : tensor<f64>
}

// CHECK-LABEL: func.func private @some_windows__value_and_grad_0
// CHECK: arith.cmpi ne
// CHECK: arith.select

// Of two results that are read by a mask and without one, the mask is kept.

func.func @masked_second(%x: tensor<4xf64>, %m: tensor<4xi1>) -> tensor<f64> {
  %e = tensor.empty() : tensor<4xf64>
  %y:2 = linalg.generic {
        indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]}
      ins(%x : tensor<4xf64>) outs(%e, %e : tensor<4xf64>, tensor<4xf64>) {
  ^bb0(%a: f64, %o: f64, %o_0: f64):
    %t = math.tanh %a : f64
    %l = math.log %a : f64
    linalg.yield %t, %l : f64, f64
  } -> (tensor<4xf64>, tensor<4xf64>)
  %s = sparse_autograd.masked_reduce sum %y#0 dims = [0] : tensor<4xf64> -> tensor<f64>
  %u = sparse_autograd.masked_reduce sum %y#1, %m dims = [0] : tensor<4xf64>, tensor<4xi1> -> tensor<f64>
  %sum = arith.addf %s, %u : tensor<f64>
  return %sum : tensor<f64>
}

// CHECK-LABEL: func.func private @masked_second__value_and_grad_0
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf64>, %[[M:[a-z0-9]+]]: tensor<4xi1>
// CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.*}}, %{{.*}}, %{{.*}}, %[[M]] :
// CHECK: ^bb0(%[[E:.*]]: f64, %{{.*}}: f64, %{{.*}}: f64, %[[CT:.*]]: f64, %[[IN:.*]]: i1,
// CHECK: %[[Q:.*]] = arith.divf %[[CT]], %[[E]]
// CHECK: arith.select %[[IN]], %[[Q]]

// Through a product with a sparse factor goes which columns a mask selects of;
// each of its terms is selected by the mask.

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @masked_columns(%a: tensor<4x8xf64, #csr>, %x: tensor<8x3xf64>, %m: tensor<4x3xi1>) -> tensor<f64> {
  %zero = arith.constant dense<0.0> : tensor<4x3xf64>
  %l = math.log %x : tensor<8x3xf64>
  %y = linalg.matmul ins(%a, %l : tensor<4x8xf64, #csr>, tensor<8x3xf64>) outs(%zero : tensor<4x3xf64>) -> tensor<4x3xf64>
  %sum = sparse_autograd.masked_reduce sum %y, %m dims = [0, 1] : tensor<4x3xf64>, tensor<4x3xi1> -> tensor<f64>
  return %sum : tensor<f64>
}

// CHECK-LABEL: func.func private @masked_columns__value_and_grad_1
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4x8xf64, #{{[a-z0-9]+}}>, %[[X:[a-z0-9]+]]: tensor<8x3xf64>, %[[M:[a-z0-9]+]]: tensor<4x3xi1>
// CHECK: linalg.generic {{.*}} ins(%[[A]], %{{.*}}, %[[M]] :
// CHECK: ^bb0(%{{.*}}: f64, %{{.*}}: f64, %[[SELECTED:.*]]: i1, %{{.*}}: f64):
// CHECK: %[[TERM:.*]] = arith.mulf
// CHECK: arith.select %[[SELECTED]], %[[TERM]]
// CHECK: %[[ANY:.*]] = linalg.generic {{.*}} ins(%[[M]] : tensor<4x3xi1>) outs(%{{.*}} : tensor<3xi1>)
// CHECK: arith.ori
// CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.*}}, %[[ANY]] : tensor<8x3xf64>, tensor<8x3xf64>, tensor<3xi1>)
// CHECK: ^bb0(%[[E:.*]]: f64, %[[CT:.*]]: f64, %[[IN:.*]]: i1,
// CHECK: %[[Q:.*]] = arith.divf %[[CT]], %[[E]]
// CHECK: arith.select %[[IN]], %[[Q]]

// A mask inside of it goes through the product alike.

func.func @masked_factors(%a: tensor<4x8xf64, #csr>, %x: tensor<8xf64>, %m: tensor<4x8xi1>) -> tensor<f64> {
  %zeros = arith.constant dense<0.0> : tensor<4xf64>
  %l = math.log %x : tensor<8xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a, %l, %m : tensor<4x8xf64, #csr>, tensor<8xf64>, tensor<4x8xi1>) outs(%zeros : tensor<4xf64>) {
  ^bb0(%e: f64, %v: f64, %c: i1, %out: f64):
    %zero = arith.constant 0.0 : f64
    %p = arith.mulf %e, %v : f64
    %t = arith.select %c, %p, %zero : f64
    %s = arith.addf %out, %t : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %sum = sparse_autograd.masked_reduce sum %y dims = [0] : tensor<4xf64> -> tensor<f64>
  return %sum : tensor<f64>
}

// CHECK-LABEL: func.func private @masked_factors__value_and_grad_1
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8xf64>, %[[M:[a-z0-9]+]]: tensor<4x8xi1>
// CHECK: %[[ANY:.*]] = linalg.generic {{.*}} ins(%[[M]] : tensor<4x8xi1>) outs(%{{.*}} : tensor<8xi1>)
// CHECK: arith.ori
// CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.*}}, %[[ANY]] : tensor<8xf64>, tensor<8xf64>, tensor<8xi1>)

// Of a mask behind it and another one inside, the one behind it does.

func.func @masked_twice(%a: tensor<4x8xf64, #csr>, %x: tensor<4xf64>, %m: tensor<4xi1>, %c: tensor<8xi1>) -> tensor<f64> {
  %zeros = arith.constant dense<0.0> : tensor<4xf64>
  %l = math.log %x : tensor<4xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a, %l, %c : tensor<4x8xf64, #csr>, tensor<4xf64>, tensor<8xi1>) outs(%zeros : tensor<4xf64>) {
  ^bb0(%e: f64, %v: f64, %d: i1, %out: f64):
    %zero = arith.constant 0.0 : f64
    %p = arith.mulf %e, %v : f64
    %t = arith.select %d, %p, %zero : f64
    %s = arith.addf %out, %t : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %sum = sparse_autograd.masked_reduce sum %y, %m dims = [0] : tensor<4xf64>, tensor<4xi1> -> tensor<f64>
  return %sum : tensor<f64>
}

// CHECK-LABEL: func.func private @masked_twice__value_and_grad_1
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf64>, %[[M:[a-z0-9]+]]: tensor<4xi1>
// CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.*}}, %[[M]] : tensor<4xf64>, tensor<4xf64>, tensor<4xi1>)

// The mask of one result says nothing of what another reads.

func.func @masked_result(%a: tensor<4x8xf64, #csr>, %x: tensor<4xf64>, %m: tensor<4xi1>, %c: tensor<4xi1>) -> tensor<f64> {
  %zeros = arith.constant dense<0.0> : tensor<4xf64>
  %l = math.log %x : tensor<4xf64>
  %y:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a, %l, %c : tensor<4x8xf64, #csr>, tensor<4xf64>, tensor<4xi1>) outs(%zeros, %zeros : tensor<4xf64>, tensor<4xf64>) {
  ^bb0(%e: f64, %v: f64, %d: i1, %out: f64, %out_0: f64):
    %zero = arith.constant 0.0 : f64
    %p = arith.mulf %e, %v : f64
    %s = arith.addf %out, %p : f64
    %t = arith.select %d, %p, %zero : f64
    %u = arith.addf %out_0, %t : f64
    linalg.yield %s, %u : f64, f64
  } -> (tensor<4xf64>, tensor<4xf64>)
  %s = sparse_autograd.masked_reduce sum %y#0, %m dims = [0] : tensor<4xf64>, tensor<4xi1> -> tensor<f64>
  %t = sparse_autograd.masked_reduce sum %y#1 dims = [0] : tensor<4xf64> -> tensor<f64>
  %sum = arith.addf %s, %t : tensor<f64>
  return %sum : tensor<f64>
}

// CHECK-LABEL: func.func private @masked_result__value_and_grad_1
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf64>,
// CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.*}} : tensor<4xf64>, tensor<4xf64>)
// CHECK-NEXT: ^bb0(%[[E:.*]]: f64, %[[CT:.*]]: f64,
// CHECK-NEXT: %[[Q:.*]] = arith.divf %[[CT]], %[[E]]
// CHECK-NEXT: linalg.yield %[[Q]]

// A mask over other dimensions than those of the operand is a mask of it where
// it selects anything.

func.func @masked_sum(%x: tensor<4xf64>, %m: tensor<3xi1>) -> tensor<f64> {
  %zeros = arith.constant dense<0.0> : tensor<3xf64>
  %l = math.log %x : tensor<4xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]} ins(%l : tensor<4xf64>) outs(%zeros : tensor<3xf64>) {
  ^bb0(%v: f64, %out: f64):
    %s = arith.addf %out, %v : f64
    linalg.yield %s : f64
  } -> tensor<3xf64>
  %sum = sparse_autograd.masked_reduce sum %y, %m dims = [0] : tensor<3xf64>, tensor<3xi1> -> tensor<f64>
  return %sum : tensor<f64>
}

// CHECK-LABEL: func.func private @masked_sum__value_and_grad_0
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf64>, %[[M:[a-z0-9]+]]: tensor<3xi1>
// CHECK: %[[ANY:.*]] = linalg.generic {{.*}} ins(%[[M]] : tensor<3xi1>) outs(%{{.*}} : tensor<4xi1>)
// CHECK: arith.ori
// CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.*}}, %[[ANY]] :

// A condition that the region reads from outside, and the diagonal of a mask.

func.func @condition(%c: i1, %x: tensor<4xf64>) -> tensor<f64> {
  %e = tensor.empty() : tensor<4xf64>
  %l = math.log %x : tensor<4xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%l : tensor<4xf64>) outs(%e : tensor<4xf64>) {
  ^bb0(%v: f64, %out: f64):
    %zero = arith.constant 0.0 : f64
    %s = arith.select %c, %v, %zero : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %sum = sparse_autograd.masked_reduce sum %y dims = [0] : tensor<4xf64> -> tensor<f64>
  return %sum : tensor<f64>
}

// CHECK-LABEL: func.func private @condition__value_and_grad_1
// CHECK-SAME: %[[C:[a-z0-9]+]]: i1, %[[X:[a-z0-9]+]]: tensor<4xf64>
// CHECK: %[[IN:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4xi1>)
// CHECK: linalg.yield %[[C]]
// CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.*}}, %[[IN]] :

func.func @diagonal(%x: tensor<4xf64>, %m: tensor<4x4xi1>) -> tensor<f64> {
  %e = tensor.empty() : tensor<4xf64>
  %l = math.log %x : tensor<4xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%l, %m : tensor<4xf64>, tensor<4x4xi1>) outs(%e : tensor<4xf64>) {
  ^bb0(%v: f64, %c: i1, %out: f64):
    %zero = arith.constant 0.0 : f64
    %s = arith.select %c, %v, %zero : f64
    linalg.yield %s : f64
  } -> tensor<4xf64>
  %sum = sparse_autograd.masked_reduce sum %y dims = [0] : tensor<4xf64> -> tensor<f64>
  return %sum : tensor<f64>
}

// CHECK-LABEL: func.func private @diagonal__value_and_grad_0
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf64>, %[[M:[a-z0-9]+]]: tensor<4x4xi1>
// CHECK: %[[IN:.*]] = linalg.generic {{.*}} ins(%[[M]] : tensor<4x4xi1>) outs(%{{.*}} : tensor<4xi1>)
// CHECK: linalg.generic {{.*}} ins(%[[X]], %{{.*}}, %[[IN]] :

func.func @calls(%x: tensor<4xf64>, %m: tensor<4xi1>, %c: i1, %o: tensor<1xf64>, %w: tensor<2xf64>, %a: tensor<4x8xf64, #csr>, %y: tensor<8x3xf64>, %n: tensor<4x3xi1>, %z: tensor<8xf64>, %p: tensor<4x8xi1>, %q: tensor<3xi1>, %r: tensor<4x4xi1>, %s: tensor<8xi1>) {
  sparse_autograd.value_and_grad @masked_loop(%x, %m) {wrt = [0]} : (tensor<4xf64>, tensor<4xi1>) -> (tensor<f64>, tensor<4xf64>)
  sparse_autograd.value_and_grad @dense_loop(%x) {wrt = [0]} : (tensor<4xf64>) -> (tensor<f64>, tensor<4xf64>)
  sparse_autograd.value_and_grad @spreading_loop(%x, %m) {wrt = [0]} : (tensor<4xf64>, tensor<4xi1>) -> (tensor<f64>, tensor<4xf64>)
  sparse_autograd.value_and_grad @branch(%x, %c) {wrt = [0]} : (tensor<4xf64>, i1) -> (tensor<f64>, tensor<4xf64>)
  sparse_autograd.value_and_grad @masked_branch(%x, %m, %c) {wrt = [0]} : (tensor<4xf64>, tensor<4xi1>, i1) -> (tensor<f64>, tensor<4xf64>)
  sparse_autograd.value_and_grad @element(%x) {wrt = [0]} : (tensor<4xf64>) -> (f64, tensor<4xf64>)
  sparse_autograd.value_and_grad @all_windows(%x, %w) {wrt = [0]} : (tensor<4xf64>, tensor<2xf64>) -> (tensor<f64>, tensor<4xf64>)
  sparse_autograd.value_and_grad @some_windows(%x, %w) {wrt = [0]} : (tensor<4xf64>, tensor<2xf64>) -> (tensor<f64>, tensor<4xf64>)
  sparse_autograd.value_and_grad @only_element(%o) {wrt = [0]} : (tensor<1xf64>) -> (f64, tensor<1xf64>)
  sparse_autograd.value_and_grad @masked_second(%x, %m) {wrt = [0]} : (tensor<4xf64>, tensor<4xi1>) -> (tensor<f64>, tensor<4xf64>)
  sparse_autograd.value_and_grad @masked_columns(%a, %y, %n) {wrt = [1]} : (tensor<4x8xf64, #csr>, tensor<8x3xf64>, tensor<4x3xi1>) -> (tensor<f64>, tensor<8x3xf64>)
  sparse_autograd.value_and_grad @masked_factors(%a, %z, %p) {wrt = [1]} : (tensor<4x8xf64, #csr>, tensor<8xf64>, tensor<4x8xi1>) -> (tensor<f64>, tensor<8xf64>)
  sparse_autograd.value_and_grad @masked_twice(%a, %x, %m, %s) {wrt = [1]} : (tensor<4x8xf64, #csr>, tensor<4xf64>, tensor<4xi1>, tensor<8xi1>) -> (tensor<f64>, tensor<4xf64>)
  sparse_autograd.value_and_grad @masked_result(%a, %x, %m, %m) {wrt = [1]} : (tensor<4x8xf64, #csr>, tensor<4xf64>, tensor<4xi1>, tensor<4xi1>) -> (tensor<f64>, tensor<4xf64>)
  sparse_autograd.value_and_grad @masked_sum(%x, %q) {wrt = [0]} : (tensor<4xf64>, tensor<3xi1>) -> (tensor<f64>, tensor<4xf64>)
  sparse_autograd.value_and_grad @condition(%c, %x) {wrt = [1]} : (i1, tensor<4xf64>) -> (tensor<f64>, tensor<4xf64>)
  sparse_autograd.value_and_grad @diagonal(%x, %r) {wrt = [0]} : (tensor<4xf64>, tensor<4x4xi1>) -> (tensor<f64>, tensor<4xf64>)
  return
}
