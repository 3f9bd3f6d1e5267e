// RUN: sparse-opt %s --split-input-file --sparse-autograd-differentiate --sparse-autograd-prove-sparsity --verify-diagnostics | FileCheck %s
// RUN: not sparse-opt %s --split-input-file --sparse-autograd=compile-to=differentiate -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEFAULT
// RUN: sparse-opt %s --split-input-file --sparse-autograd="compile-to=differentiate prove-sparsity=false" -o /dev/null

// DEFAULT: makes the gradient of a sparse tensor dense

// What sparse gradients take at most, and what would make them dense.

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

func.func private @product(%a: tensor<?x?xf32, #csr>, %x: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = linalg.matmul ins(%a, %x : tensor<?x?xf32, #csr>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// The dense gradient of a dense argument takes what the argument takes.
// CHECK-LABEL: func private @product__vjp_0_1(
// CHECK-SAME: tensor<?x?xf32, #{{[a-z0-9]*}}> {sparse_autograd.bound = {bytes = "4 * nnz(0)", elements = "nnz(0)"}, sparse_autograd.gradient_of = 0 : i64}, tensor<?x?xf32> {sparse_autograd.bound = {bytes = "4 * dim(1, 0) * dim(1, 1)", elements = "dim(1, 0) * dim(1, 1)"}, sparse_autograd.gradient_of = 1 : i64})
func.func @accept_product(%a: tensor<?x?xf32, #csr>, %x: tensor<?x?xf32>, %g: tensor<?x?xf32>)
    -> (tensor<?x?xf32, #csr>, tensor<?x?xf32>) {
  %r:3 = sparse_autograd.vjp @product(%a, %x, %g) cotangents(%g) {wrt = [0, 1]}
      : (tensor<?x?xf32, #csr>, tensor<?x?xf32>, tensor<?x?xf32>), (tensor<?x?xf32>)
      -> (tensor<?x?xf32>, tensor<?x?xf32, #csr>, tensor<?x?xf32>)
  return %r#1, %r#2 : tensor<?x?xf32, #csr>, tensor<?x?xf32>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// A product of what was made dense, with elementwise ops on the way: the
// cotangent is sampled before the product and before these ops.
func.func private @densify(%a: tensor<8x4xf64, #csr>, %x: tensor<4x8xf64>, %b: tensor<8x4xf64>) -> tensor<8x8xf64> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf64>
  %d = sparse_tensor.convert %a : tensor<8x4xf64, #csr> to tensor<8x4xf64>
  %s = math.tanh %d : tensor<8x4xf64>
  %p = arith.mulf %s, %b : tensor<8x4xf64>
  %y = linalg.matmul ins(%p, %x : tensor<8x4xf64>, tensor<4x8xf64>) outs(%zero : tensor<8x8xf64>) -> tensor<8x8xf64>
  return %y : tensor<8x8xf64>
}

// CHECK-LABEL: func private @densify__vjp_0(
// CHECK-SAME: {sparse_autograd.bound = {bytes = "8 * nnz(0)", elements = "nnz(0)"}
// CHECK-COUNT-2: sparse_autograd.sampled_generic
func.func @accept_sampled(%a: tensor<8x4xf64, #csr>, %x: tensor<4x8xf64>, %b: tensor<8x4xf64>, %g: tensor<8x8xf64>)
    -> tensor<8x4xf64, #csr> {
  %r:2 = sparse_autograd.vjp @densify(%a, %x, %b) cotangents(%g) {wrt = [0]}
      : (tensor<8x4xf64, #csr>, tensor<4x8xf64>, tensor<8x4xf64>), (tensor<8x8xf64>) -> (tensor<8x8xf64>, tensor<8x4xf64, #csr>)
  return %r#1 : tensor<8x4xf64, #csr>
}

// -----

#rows = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : dense), posWidth = 32, crdWidth = 16}>

func.func private @read(%t: tensor<?x4xf32>, %i: tensor<?x2xi32>, %j: tensor<3x2xi32>) -> (tensor<?x2x4xf32>, tensor<3x2x4xf32>) {
  %a = sparse_autograd.gather %t, %i : tensor<?x4xf32>, tensor<?x2xi32> -> tensor<?x2x4xf32>
  %b = sparse_autograd.gather %t, %j : tensor<?x4xf32>, tensor<3x2xi32> -> tensor<3x2x4xf32>
  return %a, %b : tensor<?x2x4xf32>, tensor<3x2x4xf32>
}

// CHECK-LABEL: func private @read__vjp_0_sparse(
// CHECK-SAME: sparse_autograd.bound = {bytes = "4 * (6 + dim(1, 0) * 2) * 4 + 8 + 2 * (6 + dim(1, 0) * 2)", elements = "(6 + dim(1, 0) * 2) * 4"}
func.func @accept_rows(%t: tensor<?x4xf32>, %i: tensor<?x2xi32>, %j: tensor<3x2xi32>, %g: tensor<?x2x4xf32>, %h: tensor<3x2x4xf32>)
    -> tensor<?x4xf32, #rows> {
  %r:3 = sparse_autograd.vjp @read(%t, %i, %j) cotangents(%g, %h) {wrt = [0]}
      : (tensor<?x4xf32>, tensor<?x2xi32>, tensor<3x2xi32>), (tensor<?x2x4xf32>, tensor<3x2x4xf32>)
      -> (tensor<?x2x4xf32>, tensor<3x2x4xf32>, tensor<?x4xf32, #rows>)
  return %r#2 : tensor<?x4xf32, #rows>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// What the caller gives is there, cast or with its gradient stopped.
// CHECK-LABEL: func.func @accept_given(
// CHECK-SAME: {sparse_autograd.bound = {bytes = "8 * nnz(0)", elements = "nnz(0)"}
func.func @accept_given(%a: tensor<?x?xf64, #csr>, %g: tensor<8x4xf64>) -> (tensor<?x?xf64, #csr> {sparse_autograd.gradient_of = 0 : i64}) {
  %c = tensor.cast %g : tensor<8x4xf64> to tensor<?x?xf64>
  %s = sparse_autograd.stop_gradient %c : tensor<?x?xf64>
  %r = sparse_autograd.sample %s, %a : tensor<?x?xf64>, tensor<?x?xf64, #csr> -> tensor<?x?xf64, #csr>
  return %r : tensor<?x?xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// The dense gradient of another argument needs the dense product as a whole: it
// is there anyway.
func.func private @shared(%a: tensor<?x?xf64, #csr>, %b: tensor<?x?xf64>, %x: tensor<?x?xf64>, %z: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %d = sparse_tensor.convert %a : tensor<?x?xf64, #csr> to tensor<?x?xf64>
  %e = arith.addf %d, %b : tensor<?x?xf64>
  %y = linalg.matmul ins(%e, %x : tensor<?x?xf64>, tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}

// CHECK-LABEL: func private @shared__vjp_0_1(
// CHECK-SAME: {sparse_autograd.bound = {bytes = "8 * nnz(0)", elements = "nnz(0)"}, sparse_autograd.gradient_of = 0 : i64}, tensor<?x?xf64> {sparse_autograd.bound = {bytes = "8 * dim(1, 0) * dim(1, 1)"
func.func @accept_shared(%a: tensor<?x?xf64, #csr>, %b: tensor<?x?xf64>, %x: tensor<?x?xf64>, %g: tensor<?x?xf64>)
    -> (tensor<?x?xf64, #csr>, tensor<?x?xf64>) {
  %r:3 = sparse_autograd.vjp @shared(%a, %b, %x, %g) cotangents(%g) {wrt = [0, 1]}
      : (tensor<?x?xf64, #csr>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>), (tensor<?x?xf64>)
      -> (tensor<?x?xf64>, tensor<?x?xf64, #csr>, tensor<?x?xf64>)
  return %r#1, %r#2 : tensor<?x?xf64, #csr>, tensor<?x?xf64>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// The product is sampled at two patterns: at each it is computed on its own.
func.func private @sampled_twice(%a: tensor<?x?xf64, #csr>, %b: tensor<?x?xf64, #csr>, %x: tensor<?x?xf64>, %z: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %c = sparse_tensor.convert %a : tensor<?x?xf64, #csr> to tensor<?x?xf64>
  %d = sparse_tensor.convert %b : tensor<?x?xf64, #csr> to tensor<?x?xf64>
  %e = arith.mulf %c, %d : tensor<?x?xf64>
  %y = linalg.matmul ins(%e, %x : tensor<?x?xf64>, tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}

// CHECK-LABEL: func private @sampled_twice__vjp_0_1(
// CHECK-SAME: {sparse_autograd.bound = {bytes = "8 * nnz(0)", elements = "nnz(0)"}, sparse_autograd.gradient_of = 0 : i64}, tensor<?x?xf64, #{{.*}}> {sparse_autograd.bound = {bytes = "8 * nnz(1)", elements = "nnz(1)"}, sparse_autograd.gradient_of = 1 : i64}
// CHECK: sparse_autograd.sampled_generic {{.*}}"reduction"
// CHECK: sparse_autograd.sampled_generic {{.*}}"reduction"
func.func @accept_sampled_twice(%a: tensor<?x?xf64, #csr>, %b: tensor<?x?xf64, #csr>, %x: tensor<?x?xf64>, %g: tensor<?x?xf64>)
    -> (tensor<?x?xf64, #csr>, tensor<?x?xf64, #csr>) {
  %r:3 = sparse_autograd.vjp @sampled_twice(%a, %b, %x, %g) cotangents(%g) {wrt = [0, 1]}
      : (tensor<?x?xf64, #csr>, tensor<?x?xf64, #csr>, tensor<?x?xf64>, tensor<?x?xf64>), (tensor<?x?xf64>)
      -> (tensor<?x?xf64>, tensor<?x?xf64, #csr>, tensor<?x?xf64, #csr>)
  return %r#1, %r#2 : tensor<?x?xf64, #csr>, tensor<?x?xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// Asked for, a dense gradient is no error.
func.func private @asked(%a: tensor<?x?xf64, #csr>, %b: tensor<?x?xf64>, %x: tensor<?x?xf64>, %z: tensor<?x?xf64>) -> tensor<?x?xf64> {
  %d = sparse_tensor.convert %a : tensor<?x?xf64, #csr> to tensor<?x?xf64>
  %e = arith.addf %d, %b : tensor<?x?xf64>
  %y = linalg.matmul ins(%e, %x : tensor<?x?xf64>, tensor<?x?xf64>) outs(%z : tensor<?x?xf64>) -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>
}

// CHECK-LABEL: func private @asked__vjp_0_dense_1(
// CHECK-SAME: tensor<?x?xf64> {sparse_autograd.bound = {bytes = "8 * dim(0, 0) * dim(0, 1)", elements = "dim(0, 0) * dim(0, 1)"}
func.func @accept_asked(%a: tensor<?x?xf64, #csr>, %b: tensor<?x?xf64>, %x: tensor<?x?xf64>, %g: tensor<?x?xf64>)
    -> (tensor<?x?xf64>, tensor<?x?xf64>) {
  %r:3 = sparse_autograd.vjp @asked(%a, %b, %x, %g) cotangents(%g) {wrt = [0, 1]}
      : (tensor<?x?xf64, #csr>, tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>), (tensor<?x?xf64>)
      -> (tensor<?x?xf64>, tensor<?x?xf64>, tensor<?x?xf64>)
  return %r#1, %r#2 : tensor<?x?xf64>, tensor<?x?xf64>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// The rows of a dense softmax depend on all of their elements.
// expected-note @below {{to the gradient of this argument}}
func.func private @softmax(%a: tensor<4x8xf64, #csr>, %x: tensor<8x4xf64>) -> tensor<4x4xf64> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf64>
  %d = sparse_tensor.convert %a : tensor<4x8xf64, #csr> to tensor<4x8xf64>
  // expected-note @below {{what comes of it goes through this op}}
  %s = sparse_autograd.masked_softmax %d dims = [1] : tensor<4x8xf64>
  // expected-error @below {{this makes the gradient of a sparse tensor dense: it is sampled from a 'tensor<4x8xf64>' that nothing else needs; sample what this op reads or makes with sparse_autograd.sample, select it by a mask, or ask for a gradient of type 'tensor<4x8xf64>'}}
  %y = linalg.matmul ins(%s, %x : tensor<4x8xf64>, tensor<8x4xf64>) outs(%zero : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %y : tensor<4x4xf64>
}

func.func @reject_softmax(%a: tensor<4x8xf64, #csr>, %x: tensor<8x4xf64>, %g: tensor<4x4xf64>) -> tensor<4x8xf64, #csr> {
  %r:2 = sparse_autograd.vjp @softmax(%a, %x) cotangents(%g) {wrt = [0]}
      : (tensor<4x8xf64, #csr>, tensor<8x4xf64>), (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4x8xf64, #csr>)
  return %r#1 : tensor<4x8xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// So do they in a derivative of two functions: the joint one is looked at.
// expected-note @below {{to the gradient of this argument}}
func.func private @softmax(%a: tensor<4x8xf64, #csr>, %x: tensor<8x4xf64>) -> tensor<4x4xf64> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf64>
  %d = sparse_tensor.convert %a : tensor<4x8xf64, #csr> to tensor<4x8xf64>
  // expected-note @below {{what comes of it goes through this op}}
  %s = sparse_autograd.masked_softmax %d dims = [1] : tensor<4x8xf64>
  // expected-error @below {{this makes the gradient of a sparse tensor dense}}
  %y = linalg.matmul ins(%s, %x : tensor<4x8xf64>, tensor<8x4xf64>) outs(%zero : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %y : tensor<4x4xf64>
}
sparse_autograd.split_vjp @softmax as @softmax_forward, @softmax_backward {wrt = [0]}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// A branch that stays sparse does not hide what is dense beside it.
// expected-note @below {{to the gradient of this argument}}
func.func private @beside_branch(%a: tensor<4x8xf64, #csr>, %x: tensor<8x4xf64>, %c: i1) -> tensor<4x4xf64> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf64>
  // expected-note @below {{what comes of it goes through this op}}
  %d = sparse_tensor.convert %a : tensor<4x8xf64, #csr> to tensor<4x8xf64>
  // expected-note @below {{what comes of it goes through this op}}
  %s = sparse_autograd.masked_softmax %d dims = [1] : tensor<4x8xf64>
  // expected-error @below {{this makes the gradient of a sparse tensor dense}}
  %y = linalg.matmul ins(%s, %x : tensor<4x8xf64>, tensor<8x4xf64>) outs(%zero : tensor<4x4xf64>) -> tensor<4x4xf64>
  %z = scf.if %c -> tensor<4x4xf64> {
    %p = linalg.matmul ins(%a, %x : tensor<4x8xf64, #csr>, tensor<8x4xf64>) outs(%zero : tensor<4x4xf64>) -> tensor<4x4xf64>
    scf.yield %p : tensor<4x4xf64>
  } else {
    scf.yield %zero : tensor<4x4xf64>
  }
  %r = arith.addf %y, %z : tensor<4x4xf64>
  return %r : tensor<4x4xf64>
}

func.func @reject_beside_branch(%a: tensor<4x8xf64, #csr>, %x: tensor<8x4xf64>, %c: i1, %g: tensor<4x4xf64>) -> tensor<4x8xf64, #csr> {
  %r:2 = sparse_autograd.vjp @beside_branch(%a, %x, %c) cotangents(%g) {wrt = [0]}
      : (tensor<4x8xf64, #csr>, tensor<8x4xf64>, i1), (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4x8xf64, #csr>)
  return %r#1 : tensor<4x8xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// Nor does a branch hide what is dense inside.
// expected-note @below {{to the gradient of this argument}}
func.func private @inside_branch(%a: tensor<4x8xf64, #csr>, %x: tensor<8x4xf64>, %c: i1) -> tensor<4x4xf64> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf64>
  // expected-note @below {{what comes of it goes through this op}}
  %z = scf.if %c -> tensor<4x4xf64> {
    %d = sparse_tensor.convert %a : tensor<4x8xf64, #csr> to tensor<4x8xf64>
    // expected-error @below {{this makes the gradient of a sparse tensor dense}}
    %s = sparse_autograd.masked_softmax %d dims = [1] : tensor<4x8xf64>
    %y = linalg.matmul ins(%s, %x : tensor<4x8xf64>, tensor<8x4xf64>) outs(%zero : tensor<4x4xf64>) -> tensor<4x4xf64>
    scf.yield %y : tensor<4x4xf64>
  } else {
    scf.yield %zero : tensor<4x4xf64>
  }
  return %z : tensor<4x4xf64>
}

func.func @reject_inside_branch(%a: tensor<4x8xf64, #csr>, %x: tensor<8x4xf64>, %c: i1, %g: tensor<4x4xf64>) -> tensor<4x8xf64, #csr> {
  %r:2 = sparse_autograd.vjp @inside_branch(%a, %x, %c) cotangents(%g) {wrt = [0]}
      : (tensor<4x8xf64, #csr>, tensor<8x4xf64>, i1), (tensor<4x4xf64>) -> (tensor<4x4xf64>, tensor<4x8xf64, #csr>)
  return %r#1 : tensor<4x8xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>

// Of two that are dense the first is named.
// expected-note @below {{to the gradient of this argument}}
func.func @reject_first(%a: tensor<4x8xf64, #csr>, %x: tensor<4x4xf64>, %y: tensor<4x8xf64>)
    -> (tensor<4x8xf64, #csr> {sparse_autograd.gradient_of = 0 : i64}) {
  %zero = arith.constant dense<0.0> : tensor<4x8xf64>
  // expected-error @below {{this makes the gradient of a sparse tensor dense}}
  %p = linalg.matmul ins(%x, %y : tensor<4x4xf64>, tensor<4x8xf64>) outs(%zero : tensor<4x8xf64>) -> tensor<4x8xf64>
  // expected-note @below {{what comes of it goes through this op}}
  %s = sparse_autograd.sampled_generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<4x8xf64>) outs(%a : tensor<4x8xf64, #csr>) {
  ^bb0(%e: f64, %o: f64):
    %v = math.sin %e : f64
    linalg.yield %v : f64
  } -> tensor<4x8xf64, #csr>
  %q = linalg.matmul ins(%x, %y : tensor<4x4xf64>, tensor<4x8xf64>) outs(%y : tensor<4x8xf64>) -> tensor<4x8xf64>
  %t = sparse_autograd.sampled_generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<4x8xf64>) outs(%a : tensor<4x8xf64, #csr>) {
  ^bb0(%e: f64, %o: f64):
    %v = math.cos %e : f64
    linalg.yield %v : f64
  } -> tensor<4x8xf64, #csr>
  // expected-note @below {{what comes of it goes through this op}}
  %r = arith.addf %s, %t : tensor<4x8xf64, #csr>
  return %r : tensor<4x8xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// The products before and behind each element are made of all elements of a row.
// expected-note @below {{to the gradient of this argument}}
func.func private @product_of_stored(%a: tensor<4x8xf64, #csr>) -> tensor<4xf64> {
  %m = sparse_autograd.pattern %a : tensor<4x8xf64, #csr>
  // expected-error @below {{this makes the gradient of a sparse tensor dense: it is sampled from a 'tensor<4x8xf64>'}}
  %y = sparse_autograd.masked_reduce prod %a, %m dims = [1] : tensor<4x8xf64, #csr>, tensor<4x8xi1, #csr> -> tensor<4xf64>
  return %y : tensor<4xf64>
}

func.func @reject_product(%a: tensor<4x8xf64, #csr>, %g: tensor<4xf64>) -> tensor<4x8xf64, #csr> {
  %r:2 = sparse_autograd.vjp @product_of_stored(%a) cotangents(%g) {wrt = [0]}
      : (tensor<4x8xf64, #csr>), (tensor<4xf64>) -> (tensor<4xf64>, tensor<4x8xf64, #csr>)
  return %r#1 : tensor<4x8xf64, #csr>
}

// -----

#rows = #sparse_tensor.encoding<{map = (i) -> (i : compressed)}>

// A row of one number, and a list whose length nothing tells.
func.func private @biases(%t: tensor<?xf64>, %i: tensor<3xindex>) -> tensor<3xf64> {
  %x = sparse_autograd.gather %t, %i : tensor<?xf64>, tensor<3xindex> -> tensor<3xf64>
  return %x : tensor<3xf64>
}
func.func private @counted(%t: tensor<?xf64>, %n: index) -> tensor<?xf64> {
  %i = tensor.empty(%n) : tensor<?xindex>
  %c0 = arith.constant 0 : index
  %zeros = linalg.fill ins(%c0 : index) outs(%i : tensor<?xindex>) -> tensor<?xindex>
  %x = sparse_autograd.gather %t, %zeros : tensor<?xf64>, tensor<?xindex> -> tensor<?xf64>
  return %x : tensor<?xf64>
}

// CHECK-LABEL: func private @biases__vjp_0_sparse(
// CHECK-SAME: {sparse_autograd.bound = {bytes = "8 * 3 + 16 + 8 * 3", elements = "3"}
// CHECK-LABEL: func private @counted__vjp_0_sparse(
// CHECK-SAME: {sparse_autograd.gradient_of = 0 : i64})
func.func @accept_vectors(%t: tensor<?xf64>, %i: tensor<3xindex>, %n: index, %g: tensor<3xf64>, %h: tensor<?xf64>)
    -> (tensor<?xf64, #rows>, tensor<?xf64, #rows>) {
  %r:2 = sparse_autograd.vjp @biases(%t, %i) cotangents(%g) {wrt = [0]}
      : (tensor<?xf64>, tensor<3xindex>), (tensor<3xf64>) -> (tensor<3xf64>, tensor<?xf64, #rows>)
  %s:2 = sparse_autograd.vjp @counted(%t, %n) cotangents(%h) {wrt = [0]}
      : (tensor<?xf64>, index), (tensor<?xf64>) -> (tensor<?xf64>, tensor<?xf64, #rows>)
  return %r#1, %s#1 : tensor<?xf64, #rows>, tensor<?xf64, #rows>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// Nothing, zeros and constants take no memory of their own, nor do elementwise ops
// on what the caller gives, with a condition or not.
// CHECK-LABEL: func.func @accept_constants(
func.func @accept_constants(%a: tensor<8x4xf64, #csr>, %x: tensor<8x4xf64>, %c: i1)
    -> (tensor<8x4xf64, #csr> {sparse_autograd.gradient_of = 0 : i64}) {
  %zero = arith.constant 0.0 : f64
  %ones = arith.constant dense<1.0> : tensor<8x4xf64>
  %e = tensor.empty() : tensor<8x4xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<8x4xf64>) -> tensor<8x4xf64>
  %h = math.sin %x : tensor<8x4xf64>
  %s = arith.select %c, %h, %x : tensor<8x4xf64>
  %p = arith.mulf %s, %ones : tensor<8x4xf64>
  %0 = sparse_autograd.sample %e, %a : tensor<8x4xf64>, tensor<8x4xf64, #csr> -> tensor<8x4xf64, #csr>
  %1 = sparse_autograd.sample %z, %a : tensor<8x4xf64>, tensor<8x4xf64, #csr> -> tensor<8x4xf64, #csr>
  %2 = sparse_autograd.sample %p, %a : tensor<8x4xf64>, tensor<8x4xf64, #csr> -> tensor<8x4xf64, #csr>
  %3 = sparse_autograd.sample %ones, %a : tensor<8x4xf64>, tensor<8x4xf64, #csr> -> tensor<8x4xf64, #csr>
  %4 = arith.addf %0, %1 : tensor<8x4xf64, #csr>
  %5 = arith.addf %2, %3 : tensor<8x4xf64, #csr>
  %6 = arith.addf %4, %5 : tensor<8x4xf64, #csr>
  return %6 : tensor<8x4xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// A product below elementwise ops is none of these.
// expected-note @below {{to the gradient of this argument}}
func.func @reject_below_elementwise(%a: tensor<4x4xf64, #csr>, %x: tensor<4x4xf64>)
    -> (tensor<4x4xf64, #csr> {sparse_autograd.gradient_of = 0 : i64}) {
  // expected-error @below {{this makes the gradient of a sparse tensor dense}}
  %p = linalg.matmul ins(%x, %x : tensor<4x4xf64>, tensor<4x4xf64>) outs(%x : tensor<4x4xf64>) -> tensor<4x4xf64>
  // expected-note @below {{what comes of it goes through this op}}
  %q = arith.mulf %x, %p : tensor<4x4xf64>
  // expected-note @below {{what comes of it goes through this op}}
  %s = sparse_autograd.sample %q, %a : tensor<4x4xf64>, tensor<4x4xf64, #csr> -> tensor<4x4xf64, #csr>
  return %s : tensor<4x4xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>

// One of two results may be read elsewhere.
// expected-note @below {{to the gradient of this argument}}
func.func @reject_two_results(%a: tensor<4x4xf64, #csr>, %x: tensor<4x4xf64>)
    -> (tensor<4x4xf64, #csr> {sparse_autograd.gradient_of = 0 : i64}) {
  // expected-error @below {{this makes the gradient of a sparse tensor dense}}
  %p:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x4xf64>) outs(%x, %x : tensor<4x4xf64>, tensor<4x4xf64>) {
  ^bb0(%u: f64, %o: f64, %r: f64):
    %v = math.sin %u : f64
    %w = math.cos %u : f64
    linalg.yield %v, %w : f64, f64
  } -> (tensor<4x4xf64>, tensor<4x4xf64>)
  // expected-note @below {{what comes of it goes through this op}}
  %s = sparse_autograd.sample %p#0, %a : tensor<4x4xf64>, tensor<4x4xf64, #csr> -> tensor<4x4xf64, #csr>
  return %s : tensor<4x4xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// Of a diagonal the other elements are those of what it is written to.
// expected-note @below {{to the gradient of this argument}}
func.func @reject_diagonal(%a: tensor<4x4xf64, #csr>, %x: tensor<4xf64>, %y: tensor<4x4xf64>)
    -> (tensor<4x4xf64, #csr> {sparse_autograd.gradient_of = 0 : i64}) {
  // expected-error @below {{this makes the gradient of a sparse tensor dense}}
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf64>) outs(%y : tensor<4x4xf64>) {
  ^bb0(%u: f64, %o: f64):
    linalg.yield %u : f64
  } -> tensor<4x4xf64>
  // expected-note @below {{what comes of it goes through this op}}
  %s = sparse_autograd.sample %p, %a : tensor<4x4xf64>, tensor<4x4xf64, #csr> -> tensor<4x4xf64, #csr>
  return %s : tensor<4x4xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// What a loop carries is dense, unless somebody needs the loop.
// expected-note @below {{to the gradient of this argument}}
func.func @reject_carried(%a: tensor<4x4xf64, #csr>, %x: tensor<4x4xf64>, %n: index)
    -> (tensor<4x4xf64, #csr> {sparse_autograd.gradient_of = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{what comes of it goes through this op}}
  // expected-error @below {{this makes the gradient of a sparse tensor dense}}
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%g = %a, %d = %x) -> (tensor<4x4xf64, #csr>, tensor<4x4xf64>) {
    // expected-note @below {{what comes of it goes through this op}}
    %s = sparse_autograd.sample %d, %a : tensor<4x4xf64>, tensor<4x4xf64, #csr> -> tensor<4x4xf64, #csr>
    %e = math.sin %d : tensor<4x4xf64>
    scf.yield %s, %e : tensor<4x4xf64, #csr>, tensor<4x4xf64>
  }
  return %r#0 : tensor<4x4xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// CHECK-LABEL: func.func @accept_carried(
// CHECK-SAME: {sparse_autograd.bound = {bytes = "8 * nnz(0)", elements = "nnz(0)"}
func.func @accept_carried(%a: tensor<4x4xf64, #csr>, %x: tensor<4x4xf64>, %n: index)
    -> (tensor<4x4xf64, #csr> {sparse_autograd.gradient_of = 0 : i64}, tensor<4x4xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%g = %a, %d = %x) -> (tensor<4x4xf64, #csr>, tensor<4x4xf64>) {
    %s = sparse_autograd.sample %d, %a : tensor<4x4xf64>, tensor<4x4xf64, #csr> -> tensor<4x4xf64, #csr>
    %e = math.sin %d : tensor<4x4xf64>
    scf.yield %s, %e : tensor<4x4xf64, #csr>, tensor<4x4xf64>
  }
  return %r#0, %r#1 : tensor<4x4xf64, #csr>, tensor<4x4xf64>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// Behind the condition of a loop come its results.
// expected-note @below {{to the gradient of this argument}}
func.func @reject_while(%a: tensor<4x4xf64, #csr>, %x: tensor<4x4xf64>)
    -> (tensor<4x4xf64, #csr> {sparse_autograd.gradient_of = 0 : i64}) {
  %true = arith.constant true
  // expected-note @below {{what comes of it goes through this op}}
  %r:2 = scf.while (%c = %true) : (i1) -> (i1, tensor<4x4xf64, #csr>) {
    // expected-error @below {{this makes the gradient of a sparse tensor dense}}
    %p = linalg.matmul ins(%x, %x : tensor<4x4xf64>, tensor<4x4xf64>) outs(%x : tensor<4x4xf64>) -> tensor<4x4xf64>
    // expected-note @below {{what comes of it goes through this op}}
    %s = sparse_autograd.sample %p, %a : tensor<4x4xf64>, tensor<4x4xf64, #csr> -> tensor<4x4xf64, #csr>
    scf.condition(%c) %c, %s : i1, tensor<4x4xf64, #csr>
  } do {
  ^bb0(%c: i1, %s: tensor<4x4xf64, #csr>):
    %false = arith.constant false
    scf.yield %false : i1
  }
  return %r#1 : tensor<4x4xf64, #csr>
}

// -----

#rows = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : dense)}>

// A list of known length counts where its type leaves the length open; a sum of
// which one list is not known has no bound.
func.func private @read_cast(%t: tensor<?x4xf32>, %i: tensor<3xi32>) -> tensor<?x4xf32> {
  %j = tensor.cast %i : tensor<3xi32> to tensor<?xi32>
  %a = sparse_autograd.gather %t, %j : tensor<?x4xf32>, tensor<?xi32> -> tensor<?x4xf32>
  return %a : tensor<?x4xf32>
}
func.func private @read_both(%t: tensor<?x4xf32>, %i: tensor<3xi32>, %n: index) -> (tensor<3x4xf32>, tensor<?x4xf32>) {
  %zero = arith.constant 0 : i32
  %e = tensor.empty(%n) : tensor<?xi32>
  %j = linalg.fill ins(%zero : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  %a = sparse_autograd.gather %t, %i : tensor<?x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
  %b = sparse_autograd.gather %t, %j : tensor<?x4xf32>, tensor<?xi32> -> tensor<?x4xf32>
  return %a, %b : tensor<3x4xf32>, tensor<?x4xf32>
}

// CHECK-LABEL: func private @read_cast__vjp_0_sparse(
// CHECK-SAME: elements = "3 * 4"
// CHECK-LABEL: func private @read_both__vjp_0_sparse(
// CHECK-SAME: {sparse_autograd.gradient_of = 0 : i64})
func.func @accept_lists(%t: tensor<?x4xf32>, %i: tensor<3xi32>, %n: index, %g: tensor<?x4xf32>, %h: tensor<3x4xf32>)
    -> (tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows>) {
  %r:2 = sparse_autograd.vjp @read_cast(%t, %i) cotangents(%g) {wrt = [0]}
      : (tensor<?x4xf32>, tensor<3xi32>), (tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32, #rows>)
  %s:3 = sparse_autograd.vjp @read_both(%t, %i, %n) cotangents(%h, %g) {wrt = [0]}
      : (tensor<?x4xf32>, tensor<3xi32>, index), (tensor<3x4xf32>, tensor<?x4xf32>)
      -> (tensor<3x4xf32>, tensor<?x4xf32>, tensor<?x4xf32, #rows>)
  return %r#1, %s#2 : tensor<?x4xf32, #rows>, tensor<?x4xf32, #rows>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>

// A scalar that comes first hides no product.
// expected-note @below {{to the gradient of this argument}}
func.func @reject_behind_scalar(%a: tensor<4x4xf64, #csr>, %x: tensor<4x4xf64>, %f: f64)
    -> (tensor<4x4xf64, #csr> {sparse_autograd.gradient_of = 0 : i64}) {
  // expected-error @below {{this makes the gradient of a sparse tensor dense}}
  %p = linalg.matmul ins(%x, %x : tensor<4x4xf64>, tensor<4x4xf64>) outs(%x : tensor<4x4xf64>) -> tensor<4x4xf64>
  // expected-note @below {{what comes of it goes through this op}}
  %s = sparse_autograd.sampled_generic {indexing_maps = [affine_map<(i, j) -> ()>, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%f, %p : f64, tensor<4x4xf64>) outs(%a : tensor<4x4xf64, #csr>) {
  ^bb0(%u: f64, %v: f64, %o: f64):
    %q = arith.divf %v, %u : f64
    linalg.yield %q : f64
  } -> tensor<4x4xf64, #csr>
  return %s : tensor<4x4xf64, #csr>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// A gradient without a bound says nothing of the next one.
// CHECK-LABEL: func.func @accept_second(
// CHECK-SAME: -> (tensor<4x4xf64, #{{[a-z0-9]*}}> {sparse_autograd.gradient_of = 0 : i64}, tensor<4x4xf64, #{{[a-z0-9]*}}> {sparse_autograd.bound = {bytes = "8 * nnz(0)", elements = "nnz(0)"}, sparse_autograd.gradient_of = 1 : i64})
func.func @accept_second(%a: tensor<4x4xf64, #csr>, %b: tensor<4x4xf64, #csr>)
    -> (tensor<4x4xf64, #csr> {sparse_autograd.gradient_of = 0 : i64}, tensor<4x4xf64, #csr> {sparse_autograd.gradient_of = 1 : i64}) {
  %s = arith.addf %a, %b : tensor<4x4xf64, #csr>
  %z = sparse_autograd.zeros %a : tensor<4x4xf64, #csr> -> tensor<4x4xf64, #csr>
  return %s, %z : tensor<4x4xf64, #csr>, tensor<4x4xf64, #csr>
}

// -----

// A function of several blocks is no derivative; its first block returns nothing.
// CHECK-LABEL: func.func @accept_blocks(
// CHECK-SAME: -> (f64 {sparse_autograd.name = "y"})
func.func @accept_blocks(%c: i1, %x: f64, %y: f64) -> (f64 {sparse_autograd.name = "y"}) {
  cf.cond_br %c, ^end(%x : f64), ^end(%y : f64)
^end(%z: f64):
  return %z : f64
}
