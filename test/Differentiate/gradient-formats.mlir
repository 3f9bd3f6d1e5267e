// RUN: sparse-opt %s --split-input-file --sparse-autograd-differentiate --verify-diagnostics | FileCheck %s

// The format of a gradient is the one that the op asks for.

#rows = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : dense)}>

func.func private @read_twice(%t: tensor<?x4xf32>, %i: tensor<3xi32>, %j: tensor<3xi32>) -> tensor<3x4xf32> {
  %a = sparse_autograd.gather %t, %i : tensor<?x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
  %b = sparse_autograd.gather %t, %j : tensor<?x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
  %y = arith.addf %a, %b : tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// A dense gradient by default, a row-sparse one on request: two functions.
// CHECK-LABEL: func private @read_twice__vjp_0_sparse(
// CHECK-SAME: %[[TABLE:.*]]: tensor<?x4xf32>, %[[I:.*]]: tensor<3xi32>, %[[J:.*]]: tensor<3xi32>, %[[G:.*]]: tensor<3x4xf32>)
// CHECK-SAME: -> (tensor<3x4xf32>, tensor<?x4xf32, #{{[a-z0-9]*}}> {sparse_autograd.gradient_of = 0 : i64})
// CHECK-NOT: linalg.fill
// CHECK: %[[EXTENT:.*]] = tensor.dim %[[TABLE]], %{{.*}} : tensor<?x4xf32>
// CHECK: %[[ALL:.*]] = tensor.concat dim(0) %[[G]], %[[G]]
// CHECK: %[[INDICES:.*]] = tensor.concat dim(0) %[[J]], %[[I]]
// CHECK: sparse_autograd.scatter_rows %[[ALL]], %[[INDICES]], %[[EXTENT]]
// CHECK-LABEL: func private @read_twice__vjp_0(
// CHECK-NOT: scatter_rows
// CHECK: return %{{.*}}, %{{.*}} : tensor<3x4xf32>, tensor<?x4xf32>
func.func @formats(%t: tensor<?x4xf32>, %i: tensor<3xi32>, %j: tensor<3xi32>, %g: tensor<3x4xf32>)
    -> (tensor<?x4xf32>, tensor<?x4xf32, #rows>) {
  %d:2 = sparse_autograd.vjp @read_twice(%t, %i, %j) cotangents(%g) {wrt = [0]}
      : (tensor<?x4xf32>, tensor<3xi32>, tensor<3xi32>), (tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<?x4xf32>)
  %s:2 = sparse_autograd.vjp @read_twice(%t, %i, %j) cotangents(%g) {wrt = [0]}
      : (tensor<?x4xf32>, tensor<3xi32>, tensor<3xi32>), (tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<?x4xf32, #rows>)
  return %d#1, %s#1 : tensor<?x4xf32>, tensor<?x4xf32, #rows>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

func.func private @sine(%a: tensor<4x8xf32, #csr>) -> tensor<4x8xf32, #csr> {
  %s = math.sin %a : tensor<4x8xf32, #csr>
  return %s : tensor<4x8xf32, #csr>
}

// The dense gradient of a sparse argument counts absent elements too. A dense
// cotangent of a sparse result is read at its pattern, and stays sparse.
// CHECK-LABEL: func private @sine__vjp_0_dense(
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32, #[[CSR:.*]]>, %[[G:.*]]: tensor<4x8xf32>)
// CHECK-SAME: -> (tensor<4x8xf32, #[[CSR]]>, tensor<4x8xf32> {sparse_autograd.gradient_of = 0 : i64})
// CHECK: %[[READ:.*]] = sparse_autograd.sampled_generic {{.*}} ins(%[[G]] : tensor<4x8xf32>)
// CHECK: %[[D:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[READ]] : tensor<4x8xf32, #[[CSR]]>, tensor<4x8xf32, #[[CSR]]>) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK: math.cos
// CHECK: return %{{.*}}, %[[D]]
func.func @dense(%a: tensor<4x8xf32, #csr>, %g: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %d:2 = sparse_autograd.vjp @sine(%a) cotangents(%g) {wrt = [0]}
      : (tensor<4x8xf32, #csr>), (tensor<4x8xf32>) -> (tensor<4x8xf32, #csr>, tensor<4x8xf32>)
  return %d#1 : tensor<4x8xf32>
}

// -----

#columns = #sparse_tensor.encoding<{map = (i, j) -> (j : dense, i : compressed)}>
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>

func.func private @moved_and_selected(%a: tensor<4x8xf32, #csr>, %b: tensor<2x8xf32, #columns>) -> tensor<2x8xf32, #csr> {
  %c0 = arith.constant 0.0 : f32
  %s = math.sin %a : tensor<4x8xf32, #csr>
  %t = tensor.extract_slice %s[1, 0] [2, 8] [1, 1] : tensor<4x8xf32, #csr> to tensor<2x8xf32, #csr>
  %m = sparse_autograd.pattern %b : tensor<2x8xf32, #columns>
  %e = tensor.empty() : tensor<2x8xf32, #csr>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %t : tensor<2x8xi1, #columns>, tensor<2x8xf32, #csr>) outs(%e : tensor<2x8xf32, #csr>) {
  ^bb0(%p: i1, %x: f32, %o: f32):
    %r = arith.select %p, %x, %c0 : f32
    linalg.yield %r : f32
  } -> tensor<2x8xf32, #csr>
  return %y : tensor<2x8xf32, #csr>
}
// A mask of another pattern is read at that of what moves.
// CHECK-LABEL: func private @moved_and_selected__vjp_0(
// CHECK: %[[MASK:.*]] = sparse_autograd.pattern %{{.*}} : tensor<2x8xf32, #[[COLUMNS:.*]]>
// CHECK: %[[READ:.*]] = sparse_autograd.sampled_generic {{.*}} ins(%[[MASK]] : tensor<2x8xi1, #[[COLUMNS]]>) outs(%{{.*}} : tensor<2x8xi1, #[[CSR:.*]]>)
// CHECK: tensor.insert_slice %[[READ]] into %{{.*}}[1, 0] [2, 8] [1, 1] : tensor<2x8xi1, #[[CSR]]> into tensor<4x8xi1, #[[CSR]]>
func.func @selected(%a: tensor<4x8xf32, #csr>, %b: tensor<2x8xf32, #columns>, %g: tensor<2x8xf32, #csr>) -> tensor<4x8xf32, #csr> {
  %d:2 = sparse_autograd.vjp @moved_and_selected(%a, %b) cotangents(%g) {wrt = [0]}
      : (tensor<4x8xf32, #csr>, tensor<2x8xf32, #columns>), (tensor<2x8xf32, #csr>) -> (tensor<2x8xf32, #csr>, tensor<4x8xf32, #csr>)
  return %d#1 : tensor<4x8xf32, #csr>
}

// -----

#rows = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : dense)}>

// expected-note @below {{which depends on this argument}}
func.func private @decay(%t: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'linalg.generic' op makes dense the gradient of a tensor of type 'tensor<4x8xf32>', which is asked for as 'tensor<4x8xf32, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed, d1 : dense) }>>'; read rows with sparse_autograd.gather, outside of loops and branches, or ask for a dense gradient}}
  %s = arith.mulf %t, %t : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

func.func @whole_table(%t: tensor<4x8xf32>) -> tensor<4x8xf32, #rows> {
  // expected-error @below {{cannot be expanded: 'decay' is not differentiable as it stands}}
  %d:2 = sparse_autograd.vjp @decay(%t) cotangents(%t) {wrt = [0]}
      : (tensor<4x8xf32>), (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32, #rows>)
  return %d#1 : tensor<4x8xf32, #rows>
}

// -----

#rows = #sparse_tensor.encoding<{map = (i, j) -> (i : compressed, j : dense)}>

// expected-note @below {{which depends on this argument}}
func.func private @in_loop(%t: tensor<4x8xf32>, %i: tensor<2xindex>, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<2x8xf32>
  // expected-error @below {{'scf.for' op makes dense the gradient}}
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> tensor<2x8xf32> {
    %x = sparse_autograd.gather %t, %i : tensor<4x8xf32>, tensor<2xindex> -> tensor<2x8xf32>
    %y = arith.addf %s, %x : tensor<2x8xf32>
    scf.yield %y : tensor<2x8xf32>
  }
  return %r : tensor<2x8xf32>
}

func.func @loop(%t: tensor<4x8xf32>, %i: tensor<2xindex>, %n: index, %g: tensor<2x8xf32>) -> tensor<4x8xf32, #rows> {
  // expected-error @below {{cannot be expanded}}
  %d:2 = sparse_autograd.vjp @in_loop(%t, %i, %n) cotangents(%g) {wrt = [0]}
      : (tensor<4x8xf32>, tensor<2xindex>, index), (tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<4x8xf32, #rows>)
  return %d#1 : tensor<4x8xf32, #rows>
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>

// expected-note @below {{which depends on this argument}}
func.func private @list(%a: tensor<4x8xf32, #csr>) -> tensor<?xf32> {
  // expected-error @below {{'sparse_autograd.stored_values' op has no rule for the dense gradient of a sparse tensor of type 'tensor<4x8xf32, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>>'; make that tensor dense with sparse_tensor.convert first, or ask for a gradient with its pattern}}
  %s = sparse_autograd.stored_values %a : tensor<4x8xf32, #csr> -> tensor<?xf32>
  return %s : tensor<?xf32>
}

func.func @dense_list(%a: tensor<4x8xf32, #csr>, %g: tensor<?xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{cannot be expanded}}
  %d:2 = sparse_autograd.vjp @list(%a) cotangents(%g) {wrt = [0]}
      : (tensor<4x8xf32, #csr>), (tensor<?xf32>) -> (tensor<?xf32>, tensor<4x8xf32>)
  return %d#1 : tensor<4x8xf32>
}
