// RUN: sparse-opt %s --sparse-autograd-differentiate --split-input-file --verify-diagnostics

// No rule on the active path (G7).
func.func private @opaque(f64) -> f64
// expected-note@+1 {{which depends on this argument}}
func.func @f(%x: f64) -> f64 {
  // expected-note@+1 {{it depends on this 'math.sin'}}
  %s = math.sin %x : f64
  // expected-error@+1 {{'func.call' op has no derivative rule; attach an external model of LinearizableOpInterface to it, or keep it off the differentiated path with sparse_autograd.stop_gradient}}
  %y = func.call @opaque(%s) : (f64) -> f64
  return %y : f64
}
func.func @g(%x: f64) -> (f64, f64) {
  // expected-error@+1 {{cannot be expanded: 'f' is not differentiable as it stands}}
  %r:2 = sparse_autograd.value_and_grad @f(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return %r#0, %r#1 : f64, f64
}

// -----

// An op without a rule that does not reach the result is no error.
func.func private @opaque(f64) -> f64
func.func @f(%x: f64) -> f64 {
  %unused = func.call @opaque(%x) : (f64) -> f64
  %y = math.sin %x : f64
  return %y : f64
}
func.func @g(%x: f64) -> (f64, f64) {
  %r:2 = sparse_autograd.value_and_grad @f(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return %r#0, %r#1 : f64, f64
}

// -----

// Nor is one in a region: what a loop or a branch only compares has no tangent,
// in no direction.
func.func private @opaque(f64) -> f64
func.func @loop(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (f64) {
    %compared = func.call @opaque(%v) : (f64) -> f64
    %c = arith.cmpf ogt, %compared, %v : f64
    %s = math.sin %v : f64
    %r = arith.select %c, %s, %v : f64
    scf.yield %r : f64
  }
  return %y : f64
}
func.func @branch(%x: f64, %c: i1) -> f64 {
  %y = scf.if %c -> (f64) {
    %compared = func.call @opaque(%x) : (f64) -> f64
    %d = arith.cmpf ogt, %compared, %x : f64
    %s = math.sin %x : f64
    %r = arith.select %d, %s, %x : f64
    scf.yield %r : f64
  } else {
    scf.yield %x : f64
  }
  return %y : f64
}
func.func @unbounded(%x: f64) -> f64 {
  %y = scf.while (%v = %x) : (f64) -> f64 {
    %compared = func.call @opaque(%v) : (f64) -> f64
    %c = arith.cmpf ogt, %compared, %v : f64
    scf.condition(%c) %v : f64
  } do {
  ^bb0(%v: f64):
    %compared = func.call @opaque(%v) : (f64) -> f64
    %c = arith.cmpf ogt, %compared, %v : f64
    %s = math.sin %v : f64
    %r = arith.select %c, %s, %v : f64
    scf.yield %r : f64
  }
  return %y : f64
}
func.func @called(%x: f64, %n: index) -> f64 {
  %y = func.call @loop(%x, %n) : (f64, index) -> f64
  return %y : f64
}
func.func @g(%x: f64, %n: index, %c: i1) {
  sparse_autograd.value_and_grad @loop(%x, %n) {wrt = [0]} : (f64, index) -> (f64, f64)
  sparse_autograd.jvp @loop(%x, %n) tangents(%x) {wrt = [0]} : (f64, index), (f64) -> (f64, f64)
  sparse_autograd.value_and_grad @branch(%x, %c) {wrt = [0]} : (f64, i1) -> (f64, f64)
  sparse_autograd.jvp @branch(%x, %c) tangents(%x) {wrt = [0]} : (f64, i1), (f64) -> (f64, f64)
  sparse_autograd.value_and_grad @unbounded(%x) {wrt = [0]} : (f64) -> (f64, f64)
  sparse_autograd.jvp @unbounded(%x) tangents(%x) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  sparse_autograd.value_and_grad @called(%x, %n) {wrt = [0]} : (f64, index) -> (f64, f64)
  sparse_autograd.jvp @called(%x, %n) tangents(%x) {wrt = [0]} : (f64, index), (f64) -> (f64, f64)
  return
}

// -----

// The notes lead out of a loop, in reverse.
func.func private @opaque(f64) -> f64
// expected-note@+1 {{which depends on this argument}}
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{which depends on this argument}}
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (f64) {
    // expected-error@+1 {{'func.call' op has no derivative rule}}
    %r = func.call @opaque(%v) : (f64) -> f64
    scf.yield %r : f64
  }
  return %y : f64
}
func.func @g(%x: f64, %n: index) -> (f64, f64) {
  // expected-error@+1 {{cannot be expanded: 'f' is not differentiable as it stands}}
  %r:2 = sparse_autograd.value_and_grad @f(%x, %n) {wrt = [0]} : (f64, index) -> (f64, f64)
  return %r#0, %r#1 : f64, f64
}

// -----

// The notes lead out of a loop, forward.
func.func private @opaque(f64) -> f64
// expected-note@+1 {{which depends on this argument}}
func.func @f(%x: f64, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{which depends on this argument}}
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> (f64) {
    // expected-error@+1 {{'func.call' op has no derivative rule}}
    %r = func.call @opaque(%v) : (f64) -> f64
    scf.yield %r : f64
  }
  return %y : f64
}
func.func @g(%x: f64, %n: index) -> (f64, f64) {
  // expected-error@+1 {{cannot be expanded: 'f' is not differentiable as it stands}}
  %r:2 = sparse_autograd.jvp @f(%x, %n) tangents(%x) {wrt = [0]} : (f64, index), (f64) -> (f64, f64)
  return %r#0, %r#1 : f64, f64
}

// -----

// Recursion (G13).
func.func @f(%x: f64) -> f64 {
  // expected-error@+1 {{recursion through 'f' is not differentiated; write a loop}}
  %y = func.call @f(%x) : (f64) -> f64
  return %y : f64
}
func.func @g(%x: f64) -> (f64, f64) {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.value_and_grad @f(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return %r#0, %r#1 : f64, f64
}

// -----

// A derivative of the function that it is called from (G13).
func.func @f(%x: f64) -> f64 {
  // expected-error@+1 {{differentiates 'f', which calls this derivative: recursion is not differentiated}}
  %r:2 = sparse_autograd.value_and_grad @f(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return %r#1 : f64
}

// -----

// Unstructured control flow (G13).
// expected-error@+1 {{has unstructured control flow, which is not differentiated; use scf.if and scf.for}}
func.func @f(%x: f64, %c: i1) -> f64 {
  cf.cond_br %c, ^a, ^b
^a:
  return %x : f64
^b:
  %y = arith.addf %x, %x : f64
  return %y : f64
}
func.func @g(%x: f64, %c: i1) -> (f64, f64) {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.value_and_grad @f(%x, %c) {wrt = [0]} : (f64, i1) -> (f64, f64)
  return %r#0, %r#1 : f64, f64
}

// -----

// Side effects on the path (G13).
func.func @f(%x: f64, %m: memref<f64>) -> f64 {
  // expected-error@+1 {{has side effects on a value that is being differentiated; only programs on values are differentiated, move it out of the function}}
  memref.store %x, %m[] : memref<f64>
  %y = math.sin %x : f64
  return %y : f64
}
func.func @g(%x: f64, %m: memref<f64>) -> (f64, f64) {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.value_and_grad @f(%x, %m) {wrt = [0]} : (f64, memref<f64>) -> (f64, f64)
  return %r#0, %r#1 : f64, f64
}

// -----

// expected-error@+1 {{has no body to differentiate}}
func.func private @declared(f64) -> f64
func.func @g(%x: f64) -> (f64, f64) {
  // expected-error@+1 {{cannot be expanded}}
  %r:2 = sparse_autograd.value_and_grad @declared(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return %r#0, %r#1 : f64, f64
}

// -----

// A checkpoint of the function that it stands in (G13).
func.func private @f(%x: f64) -> f64 {
  // expected-error@+1 {{recursion through 'f' is not differentiated; write a loop}}
  %y = sparse_autograd.checkpoint @f(%x) : (f64) -> f64
  return %y : f64
}
func.func @g(%x: f64) -> (f64, f64) {
  // expected-error@+1 {{cannot be expanded: 'f' is not differentiable as it stands}}
  %r:2 = sparse_autograd.value_and_grad @f(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return %r#0, %r#1 : f64, f64
}

// -----

// A checkpoint of a function without a body.
func.func private @declared(f64) -> f64
func.func private @of_declared(%x: f64) -> f64 {
  // expected-error@+1 {{'declared' has no body to differentiate}}
  %y = sparse_autograd.checkpoint @declared(%x) : (f64) -> f64
  return %y : f64
}
func.func @grad_of_declared(%x: f64) -> (f64, f64) {
  // expected-error@+1 {{cannot be expanded: 'of_declared' is not differentiable as it stands}}
  %r:2 = sparse_autograd.value_and_grad @of_declared(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return %r#0, %r#1 : f64, f64
}

// -----

// A function that calls its own backward part (G13).
// expected-error@+1 {{defines functions that 'f' calls itself: recursion is not differentiated}}
sparse_autograd.split_vjp @f as @f_forward, @f_backward {wrt = [0]}
func.func private @f_forward(f64) -> (f64, !sparse_autograd.residuals<@f_forward>)
func.func private @f(%x: f64) -> f64 {
  %y, %r = func.call @f_forward(%x) : (f64) -> (f64, !sparse_autograd.residuals<@f_forward>)
  return %y : f64
}

// -----

// The parts of a function without a rule.
func.func private @opaque(f64) -> f64
// expected-note@+1 {{which depends on this argument}}
func.func private @f(%x: f64) -> f64 {
  // expected-error@+1 {{has no derivative rule}}
  %y = func.call @opaque(%x) : (f64) -> f64
  return %y : f64
}
// expected-error@+1 {{cannot be expanded: 'f' is not differentiable as it stands}}
sparse_autograd.split_vjp @f as @f_forward, @f_backward {wrt = [0]}

// -----

// Residuals are for the backward function.
sparse_autograd.split_vjp @f as @f_forward, @f_backward {wrt = [0]}
func.func private @f_forward(f64) -> (f64, !sparse_autograd.residuals<@f_forward>)
func.func private @f(%x: f64) -> f64 {
  return %x : f64
}
func.func private @g(%x: f64) {
  %y, %r = func.call @f_forward(%x) : (f64) -> (f64, !sparse_autograd.residuals<@f_forward>)
  // expected-error@+1 {{reads or makes '!sparse_autograd.residuals<@f_forward>'; residuals go through calls and the ops of scf to the backward function only}}
  %k = builtin.unrealized_conversion_cast %r : !sparse_autograd.residuals<@f_forward> to f64
  return
}

// -----

// The transpose of the user's backward function, which has no rule; in reverse
// it is called.
func.func private @f(%x: f64) -> f64 {
  return %x : f64
}
func.func private @opaque(f64) -> f64
// expected-note@+1 {{which depends on this argument}}
func.func private @backward(%ct: f64) -> f64 {
  // expected-error@+1 {{has no derivative rule}}
  %r = func.call @opaque(%ct) : (f64) -> f64
  return %r : f64
}
func.func private @loss(%x: f64) -> f64 {
  // expected-error@+1 {{cannot be expanded: 'backward' is not differentiable as it stands}}
  %y = sparse_autograd.custom_vjp @f(%x) forward(@f) backward(@backward) : (f64) -> f64
  return %y : f64
}
func.func @g(%x: f64) -> (f64, f64, f64, f64) {
  %r:2 = sparse_autograd.value_and_grad @loss(%x) {wrt = [0]} : (f64) -> (f64, f64)
  %t:2 = sparse_autograd.jvp @loss(%x) tangents(%x) {wrt = [0]} : (f64), (f64) -> (f64, f64)
  return %r#0, %r#1, %t#0, %t#1 : f64, f64, f64, f64
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
#id = affine_map<(i, j) -> (i, j)>

func.func private @two(%a: tensor<4x8xf64, #csr>, %e: tensor<4x8xf64, #csr>) -> (tensor<4x8xf64, #csr>, tensor<4x8xf64, #csr>) {
  // expected-error@+1 {{'linalg.generic' op makes a sparse tensor and something else; use an op for each result}}
  %y:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf64, #csr>) outs(%e, %e : tensor<4x8xf64, #csr>, tensor<4x8xf64, #csr>) {
  ^bb0(%u: f64, %o: f64, %p: f64):
    %s = math.sin %u : f64
    %t = math.tan %u : f64
    linalg.yield %s, %t : f64, f64
  } -> (tensor<4x8xf64, #csr>, tensor<4x8xf64, #csr>)
  return %y#0, %y#1 : tensor<4x8xf64, #csr>, tensor<4x8xf64, #csr>
}
func.func @jvp(%a: tensor<4x8xf64, #csr>, %e: tensor<4x8xf64, #csr>) -> (tensor<4x8xf64, #csr>, tensor<4x8xf64, #csr>) {
  // expected-error@+1 {{cannot be expanded: 'two' is not differentiable as it stands}}
  %r:4 = sparse_autograd.jvp @two(%a, %e) tangents(%a) {wrt = [0]}
      : (tensor<4x8xf64, #csr>, tensor<4x8xf64, #csr>), (tensor<4x8xf64, #csr>)
      -> (tensor<4x8xf64, #csr>, tensor<4x8xf64, #csr>, tensor<4x8xf64, #csr>, tensor<4x8xf64, #csr>)
  return %r#2, %r#3 : tensor<4x8xf64, #csr>, tensor<4x8xf64, #csr>
}

// -----

// A loop that carries another pattern in each iteration (F1).

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
!S = tensor<?x?xf64, #csr>

func.func private @power(%a: !S, %n: index) -> !S {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %a, %c0 : !S
  %e = tensor.empty(%d, %d) : !S
  // expected-error@+1 {{this loop carries a sparse tensor of type 'tensor<?x?xf64, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>>' whose pattern may change from one iteration to the next; its gradient would have to keep every pattern. Keep to the pattern that the loop starts from (sparse_autograd.sample), carry a dense tensor (sparse_tensor.convert), write the iterations out, or differentiate with sparse_autograd.jvp}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (!S) {
    // expected-note@+1 {{this 'linalg.generic' makes the next pattern}}
    %y = linalg.matmul ins(%s, %a : !S, !S) outs(%e : !S) -> !S
    scf.yield %y : !S
  }
  return %r : !S
}
func.func @gradient_of_power(%a: !S, %n: index) -> !S {
  // expected-error@+1 {{cannot be expanded: 'power' is not differentiable as it stands}}
  %r:2 = sparse_autograd.vjp @power(%a, %n) cotangents(%a) {wrt = [0]} : (!S, index), (!S) -> (!S, !S)
  return %r#1 : !S
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
!S = tensor<?x?xf64, #csr>

// Nothing of it is needed but its pattern.
func.func private @sum_from_empty(%a: !S, %n: index) -> !S {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %a, %c0 : !S
  %e = tensor.empty(%d, %d) : !S
  // expected-error@+1 {{whose pattern may change from one iteration to the next}}
  %r:2 = scf.while (%i = %c0, %s = %e) : (index, !S) -> (index, !S) {
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %s : index, !S
  } do {
  ^bb0(%i: index, %s: !S):
    // expected-note@+1 {{this 'linalg.generic' makes the next pattern}}
    %y = arith.addf %s, %a : !S
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %y : index, !S
  }
  return %r#1 : !S
}
func.func @gradient_of_sum(%a: !S, %n: index) -> !S {
  // expected-error@+1 {{cannot be expanded: 'sum_from_empty' is not differentiable as it stands}}
  %r:2 = sparse_autograd.vjp @sum_from_empty(%a, %n) cotangents(%a) {wrt = [0]} : (!S, index), (!S) -> (!S, !S)
  return %r#1 : !S
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
!S = tensor<?x?xf64, #csr>

// One of two patterns, in a loop in a loop.
func.func private @branches(%a: !S, %b: !S, %n: index) -> !S {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{whose pattern may change from one iteration to the next}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a) -> (!S) {
    // expected-note@+1 {{this 'scf.for' makes the next pattern}}
    %o = scf.for %k = %c0 to %n step %c1 iter_args(%u = %s) -> (!S) {
      %first = arith.cmpi eq, %k, %i : index
      %y = scf.if %first -> (!S) {
        scf.yield %u : !S
      } else {
        %p = arith.mulf %u, %b : !S
        scf.yield %p : !S
      }
      scf.yield %y : !S
    }
    scf.yield %o : !S
  }
  return %r : !S
}
func.func @gradient_of_branches(%a: !S, %b: !S, %n: index) -> !S {
  // expected-error@+1 {{cannot be expanded: 'branches' is not differentiable as it stands}}
  %r:2 = sparse_autograd.vjp @branches(%a, %b, %n) cotangents(%a) {wrt = [0]} : (!S, !S, index), (!S) -> (!S, !S)
  return %r#1 : !S
}

// -----

#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
!S = tensor<?x?xf64, #csr>
!V = tensor<?xf64>

// Not differentiated itself, but a factor of what is.
func.func private @factor(%a: !S, %v: !V, %n: index) -> !V {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %a, %c0 : !S
  %e = tensor.empty(%d, %d) : !S
  %z = arith.constant 0.0 : f64
  %ve = tensor.empty(%d) : !V
  %vz = linalg.fill ins(%z : f64) outs(%ve : !V) -> !V
  // expected-error@+1 {{whose pattern may change from one iteration to the next}}
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a, %w = %v) -> (!S, !V) {
    // expected-note@+1 {{this 'linalg.generic' makes the next pattern}}
    %y = linalg.matmul ins(%s, %a : !S, !S) outs(%e : !S) -> !S
    %u = linalg.matvec ins(%s, %w : !S, !V) outs(%vz : !V) -> !V
    scf.yield %y, %u : !S, !V
  }
  return %r#1 : !V
}
func.func @gradient_of_factor(%a: !S, %v: !V, %n: index) -> !V {
  // expected-error@+1 {{cannot be expanded: 'factor' is not differentiable as it stands}}
  %r:2 = sparse_autograd.vjp @factor(%a, %v, %n) cotangents(%v) {wrt = [1]} : (!S, !V, index), (!V) -> (!V, !V)
  return %r#1 : !V
}
