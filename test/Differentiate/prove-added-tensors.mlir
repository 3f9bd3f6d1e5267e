// RUN: sparse-opt %s --split-input-file --sparse-autograd-differentiate --sparse-autograd-prove-sparsity --verify-diagnostics | FileCheck %s
// RUN: not sparse-opt %s --split-input-file --sparse-autograd=compile-to=differentiate -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEFAULT
// RUN: sparse-opt %s --split-input-file --sparse-autograd="compile-to=differentiate prove-sparsity=false" -o /dev/null

// DEFAULT: makes a dense 'tensor<?x?xf32>' in 'scaled_derivative'

// Dense tensors that a derivative adds to a program on sparse tensors. Those that
// differentiation no longer makes are written out: a function says by an
// attribute what it is the derivative of.

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>
#ij = affine_map<(i, k, j) -> (i, j)>
#j = affine_map<(i, k, j) -> (j)>
#jk = affine_map<(i, k, j) -> (j, k)>
#ik = affine_map<(i, k, j) -> (i, k)>

func.func private @scaled(%a: tensor<?x?xf32, #csr>, %s: tensor<?xf32>, %b: tensor<?x16xf32>, %z: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %y = linalg.generic {indexing_maps = [#ij, #j, #jk, #ik], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %s, %b : tensor<?x?xf32, #csr>, tensor<?xf32>, tensor<?x16xf32>) outs(%z : tensor<?x16xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32, %out: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.mulf %p, %w : f32
    %r = arith.addf %out, %q : f32
    linalg.yield %r : f32
  } -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// A sparse matrix times a vector, stored as a dense matrix.
func.func private @scaled_derivative(
    // expected-note @below {{it is made of this sparse tensor}}
    %a: tensor<?x?xf32, #csr>,
    %s: tensor<?xf32>, %b: tensor<?x16xf32>, %z: tensor<?x16xf32>)
    -> tensor<?x16xf32> attributes {sparse_autograd.derivative_of = @scaled} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xf32, #csr>
  %m = tensor.dim %s, %c0 : tensor<?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  // expected-error @below {{the derivative makes a dense 'tensor<?x?xf32>' in 'scaled_derivative': no dense tensor of 'scaled', no argument and no gradient that is asked for spans its dimensions 0 and 1, so that it may take more memory than all of these; select by a mask, the sparse_autograd.pattern of a sparse tensor for instance, what a reduction is made of, compute what a sparse tensor is multiplied by where that stores something, with sparse_autograd.sample, or set prove-sparsity=false if there is memory for it}}
  %p = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<?x?xf32, #csr>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %out: f32):
    %q = arith.mulf %u, %v : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  %y = linalg.matmul ins(%p, %b : tensor<?x?xf32>, tensor<?x16xf32>) outs(%z : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

#csf = #sparse_tensor.encoding<{map = (i, k, l) -> (i : compressed, k : compressed, l : compressed)}>
#t = affine_map<(i, j, k, l) -> (i, k, l)>
#kj = affine_map<(i, j, k, l) -> (k, j)>
#lj = affine_map<(i, j, k, l) -> (l, j)>
#ij = affine_map<(i, j, k, l) -> (i, j)>
#ijl = affine_map<(i, j, k, l) -> (i, j, l)>

// Nothing of this product is sparse, but what it is multiplied by.
func.func private @mttkrp(%t: tensor<?x?x?xf32, #csf>, %b: tensor<?x32xf32>, %c: tensor<?x32xf32>, %z: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %y = linalg.generic {indexing_maps = [#t, #kj, #lj, #ij], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%t, %b, %c : tensor<?x?x?xf32, #csf>, tensor<?x32xf32>, tensor<?x32xf32>) outs(%z : tensor<?x32xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32, %out: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.mulf %p, %w : f32
    %r = arith.addf %out, %q : f32
    linalg.yield %r : f32
  } -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

func.func private @mttkrp_derivative(
    // expected-note @below {{on the way to this sparse tensor}}
    %t: tensor<?x?x?xf32, #csf>,
    %b: tensor<?x32xf32>, %c: tensor<?x32xf32>, %z: tensor<?x32xf32>, %ct: tensor<?x32xf32>)
    -> tensor<?x32xf32> attributes {sparse_autograd.derivative_of = @mttkrp} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ct, %c0 : tensor<?x32xf32>
  %m = tensor.dim %c, %c0 : tensor<?x32xf32>
  %e = tensor.empty(%n, %m) : tensor<?x32x?xf32>
  // expected-error @below {{the derivative makes a dense 'tensor<?x32x?xf32>' in 'mttkrp_derivative': no dense tensor of 'mttkrp', no argument and no gradient that is asked for spans its dimensions 0 and 2}}
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, l) -> (i, j)>, affine_map<(i, j, l) -> (l, j)>, affine_map<(i, j, l) -> (i, j, l)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%ct, %c : tensor<?x32xf32>, tensor<?x32xf32>) outs(%e : tensor<?x32x?xf32>) {
  ^bb0(%u: f32, %v: f32, %out: f32):
    %q = arith.mulf %u, %v : f32
    linalg.yield %q : f32
  } -> tensor<?x32x?xf32>
  // expected-note @below {{this op reads it}}
  %s = sparse_autograd.stop_gradient %p : tensor<?x32x?xf32>
  // expected-note @below {{this op reads it}}
  %db = linalg.generic {indexing_maps = [#t, #ijl, #kj], iterator_types = ["reduction", "parallel", "parallel", "reduction"]}
      ins(%t, %s : tensor<?x?x?xf32, #csf>, tensor<?x32x?xf32>) outs(%z : tensor<?x32xf32>) {
  ^bb0(%u: f32, %v: f32, %out: f32):
    %q = arith.mulf %u, %v : f32
    %r = arith.addf %out, %q : f32
    linalg.yield %r : f32
  } -> tensor<?x32xf32>
  return %db : tensor<?x32xf32>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// Constant extents that are equal are no reason to take dimensions for each
// other: all of these are 8, and there is a dense tensor of 8 x 8.
func.func private @equal_extents(%a: tensor<8x8xf32, #csr>, %x: tensor<8x8xf32>, %s: tensor<8xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = linalg.matmul ins(%a, %x : tensor<8x8xf32, #csr>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
func.func private @equal_extents_derivative(
    // expected-note @below {{it is made of this sparse tensor}}
    %a: tensor<8x8xf32, #csr>,
    %x: tensor<8x8xf32>, %s: tensor<8xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32>
    attributes {sparse_autograd.derivative_of = @equal_extents} {
  // expected-error @below {{the derivative makes a dense 'tensor<8x8xf32>' in 'equal_extents_derivative'}}
  %d = sparse_tensor.convert %a : tensor<8x8xf32, #csr> to tensor<8x8xf32>
  %y = linalg.matmul ins(%d, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// What the program makes dense itself, in a function that it calls, may be dense.
func.func private @densify(%a: tensor<?x?xf32, #csr>) -> tensor<?x?xf32> {
  %d = sparse_tensor.convert %a : tensor<?x?xf32, #csr> to tensor<?x?xf32>
  %e = math.exp %d : tensor<?x?xf32>
  return %e : tensor<?x?xf32>
}
func.func private @calls(%a: tensor<?x?xf32, #csr>, %x: tensor<?x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %d = func.call @densify(%a) : (tensor<?x?xf32, #csr>) -> tensor<?x?xf32>
  %y = linalg.matmul ins(%d, %x : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// CHECK-LABEL: func private @calls__vjp_1(
//  CHECK-SAME:   attributes {sparse_autograd.derivative_of = @calls}
func.func @accept_calls(%a: tensor<?x?xf32, #csr>, %x: tensor<?x?xf32>, %z: tensor<?x?xf32>, %ct: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r:2 = sparse_autograd.vjp @calls(%a, %x, %z) cotangents(%ct) {wrt = [1]}
      : (tensor<?x?xf32, #csr>, tensor<?x?xf32>, tensor<?x?xf32>), (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return %r#1 : tensor<?x?xf32>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// The iterations of a loop are no dimension of the program: values may be kept
// for each of them.
func.func private @steps(%a: tensor<?x?xf32, #csr>, %x: tensor<?x16xf32>, %n: index) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%rows) : tensor<?x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> tensor<?x16xf32> {
    %p = linalg.matmul ins(%a, %h : tensor<?x?xf32, #csr>, tensor<?x16xf32>) outs(%z : tensor<?x16xf32>) -> tensor<?x16xf32>
    %t = math.tanh %p : tensor<?x16xf32>
    scf.yield %t : tensor<?x16xf32>
  }
  return %y : tensor<?x16xf32>
}

// CHECK-LABEL: func private @steps__vjp_0_1(
//       CHECK:   tensor<?x?x16xf32>
func.func @accept_steps(%a: tensor<?x?xf32, #csr>, %x: tensor<?x16xf32>, %n: index, %ct: tensor<?x16xf32>) -> (tensor<?x?xf32, #csr>, tensor<?x16xf32>) {
  %r:3 = sparse_autograd.vjp @steps(%a, %x, %n) cotangents(%ct) {wrt = [0, 1]}
      : (tensor<?x?xf32, #csr>, tensor<?x16xf32>, index), (tensor<?x16xf32>) -> (tensor<?x16xf32>, tensor<?x?xf32, #csr>, tensor<?x16xf32>)
  return %r#1, %r#2 : tensor<?x?xf32, #csr>, tensor<?x16xf32>
}

// -----

#rows = affine_map<(i, j) -> (i)>
#columns = affine_map<(i, j) -> (j)>
#id = affine_map<(i, j) -> (i, j)>

// A program without a sparse tensor is not concerned.
func.func private @outer(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<f32>) -> tensor<f32> {
  return %z : tensor<f32>
}
// CHECK-LABEL: func private @accept_dense(
func.func private @accept_dense(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<f32>) -> tensor<f32>
    attributes {sparse_autograd.derivative_of = @outer} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [#rows, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %out: f32):
    %q = arith.mulf %u, %v : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%p, %p : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<f32>) {
  ^bb0(%u: f32, %v: f32, %out: f32):
    %q = arith.mulf %u, %v : f32
    %r = arith.addf %q, %out : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// An element that is not stored is a zero, which may be the maximum. Of that which
// leaves out NaNs the numbers are told by a dense tensor.
// expected-note @below {{it is made of this sparse tensor}}
func.func private @maximum_number(%a: tensor<?x?xf64, #csr>, %z: tensor<?xf64>) -> tensor<?xf64> {
  // expected-error @below {{the derivative makes a dense 'tensor<?x?xf64>' in 'maximum_number__vjp_0'}}
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<?x?xf64, #csr>) outs(%z : tensor<?xf64>) {
  ^bb0(%u: f64, %out: f64):
    %m = arith.maxnumf %u, %out : f64
    linalg.yield %m : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}
func.func @reject_maximum_number(%a: tensor<?x?xf64, #csr>, %z: tensor<?xf64>, %ct: tensor<?xf64>) -> tensor<?x?xf64, #csr> {
  %r:2 = sparse_autograd.vjp @maximum_number(%a, %z) cotangents(%ct) {wrt = [0]}
      : (tensor<?x?xf64, #csr>, tensor<?xf64>), (tensor<?xf64>) -> (tensor<?xf64>, tensor<?x?xf64, #csr>)
  return %r#1 : tensor<?x?xf64, #csr>
}

// -----

// The extremum of what is stored, and how many zeros are not.
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// CHECK-LABEL: func private @maximum__vjp_0(
//  CHECK-SAME:     %[[A:.+]]: tensor<?x?xf64, #[[CSR:.+]]>, %{{.+}}: tensor<?xf64>, %{{.+}}: tensor<?xf64>)
//   CHECK-NOT:   tensor<?x?xf64>
//       CHECK:   %[[P:.+]] = sparse_autograd.pattern %[[A]]
//       CHECK:   sparse_autograd.masked_reduce max %[[A]], %[[P]] dims = [1]
//   CHECK-NOT:   tensor<?x?xf64>
//       CHECK:   return
func.func private @maximum(%a: tensor<?x?xf64, #csr>, %z: tensor<?xf64>) -> tensor<?xf64> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<?x?xf64, #csr>) outs(%z : tensor<?xf64>) {
  ^bb0(%u: f64, %out: f64):
    %m = arith.maximumf %u, %out : f64
    linalg.yield %m : f64
  } -> tensor<?xf64>
  return %y : tensor<?xf64>
}
func.func @accept_maximum(%a: tensor<?x?xf64, #csr>, %z: tensor<?xf64>, %ct: tensor<?xf64>) -> tensor<?x?xf64, #csr> {
  %r:2 = sparse_autograd.vjp @maximum(%a, %z) cotangents(%ct) {wrt = [0]}
      : (tensor<?x?xf64, #csr>, tensor<?xf64>), (tensor<?xf64>) -> (tensor<?xf64>, tensor<?x?xf64, #csr>)
  return %r#1 : tensor<?x?xf64, #csr>
}
