# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""What `grad_mask` and `stop_gradient` do to derivatives (semantics M1, M2)."""

import numpy as np

import function_tests
from execution import Program, finish, same_bits
from functions import Function

M = np.array([[1, 0, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0]], bool)
N = np.array([[1, 1, 0, 1], [0, 1, 1, 0], [1, 0, 1, 1]], bool)
X, B = "<<3x4>>", "<<3x4|i1>>"


def grad_mask(x, mask):
    """The derivative of a complex step is its imaginary part."""
    return np.real(x) + 1j * np.where(mask, np.imag(x), 0)


def stop(x):
    return np.real(x)


def _called(x, m):
    for mask in (m, ~m):
        x = grad_mask(x, mask) * x
    return x


FUNCTIONS = [
    Function("square", [X, B], [X], f"""
  %g = sparse_autograd.grad_mask %x0, %x1 : {X}, {B}
  %y = arith.mulf %g, %g : {X}
  return %y : {X}""", lambda x, m: grad_mask(x, m)**2, fixed={1: M}),
    Function("accumulated", [X, X, B], [X], f"""
  %s = arith.mulf %x0, %x1 : {X}
  %g = sparse_autograd.grad_mask %s, %x2 : {X}, {B}
  %a = arith.mulf %g, %x1 : {X}
  %b = arith.mulf %g, %g : {X}
  %c = arith.addf %a, %b : {X}
  %y = arith.subf %c, %s : {X}
  return %y : {X}""",
             lambda x, w, m: (grad_mask(x * w, m) * w +
                              grad_mask(x * w, m)**2 - x * w), fixed={2: M}),
    Function("two_masks", [X, B, B], [X], f"""
  %f = sparse_autograd.grad_mask %x0, %x1 : {X}, {B}
  %g = sparse_autograd.grad_mask %f, %x2 : {X}, {B}
  %y = arith.mulf %g, %f : {X}
  return %y : {X}""",
             lambda x, m, n: (grad_mask(grad_mask(x, m), n) *
                              grad_mask(x, m)), fixed={1: M, 2: N}),
    Function("columns", [X, "<<4|i1>>"], [X], f"""
  %g = sparse_autograd.grad_mask %x0, %x1 mask_dims = [1] : {X}, <<4|i1>>
  %y = arith.mulf %g, %x0 : {X}
  return %y : {X}""", lambda x, m: grad_mask(x, m) * x, fixed={1: M[0]}),
    Function("transposed", [X, "<<4x3|i1>>"], [X], f"""
  %g = sparse_autograd.grad_mask %x0, %x1 mask_dims = [1, 0] : {X}, <<4x3|i1>>
  %y = arith.mulf %g, %x0 : {X}
  return %y : {X}""", lambda x, m: grad_mask(x, m.T) * x, fixed={1: M.T}),
    Function("one_bit", [X, "<<|i1>>", "<<|i1>>"], [X], f"""
  %g = sparse_autograd.grad_mask %x0, %x1 mask_dims = [] : {X}, <<|i1>>
  %h = sparse_autograd.grad_mask %x0, %x2 mask_dims = [] : {X}, <<|i1>>
  %y = arith.mulf %g, %h : {X}
  return %y : {X}""",
             lambda x, m, n: grad_mask(x, m) * grad_mask(x, n),
             fixed={1: np.bool_(True), 2: np.bool_(False)}),
    Function("constant_masks", ["<<=3x=4>>"], ["<<=3x=4>>"], """
  %t = arith.constant dense<true> : tensor<3x4xi1>
  %f = arith.constant dense<false> : tensor<4xi1>
  %g = sparse_autograd.grad_mask %x0, %t : <<=3x=4>>, tensor<3x4xi1>
  %h = sparse_autograd.grad_mask %x0, %f mask_dims = [1] : <<=3x=4>>, tensor<4xi1>
  %y = arith.mulf %g, %h : <<=3x=4>>
  return %y : <<=3x=4>>""", lambda x: x * stop(x)),
    Function("row_sums", [X, B, "<<3|i1>>"], ["<<3>>"], f"""
  %p = arith.mulf %x0, %x0 : {X}
  %s = sparse_autograd.masked_reduce sum %p, %x1 dims = [1] : {X}, {B} -> <<3>>
  %y = sparse_autograd.grad_mask %s, %x2 : <<3>>, <<3|i1>>
  return %y : <<3>>""",
             lambda x, m, n: grad_mask(np.where(m, x * x, 0).sum(1), n),
             fixed={1: N, 2: N[:, 0]}),
    Function("called_in_a_loop", [X, B], [X], f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %y:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %x0, %m = %x1) -> ({X}, {B}) {{
    %r:2 = func.call @{{name}}_body(%v, %m) : ({X}, {B}) -> ({X}, {B})
    scf.yield %r#0, %r#1 : {X}, {B}
  }}
  return %y#0 : {X}""", _called, fixed={1: M}, helpers=f"""
func.func private @{{name}}_body(%v: {X}, %m: {B}) -> ({X}, {B}) {{
  %g = sparse_autograd.grad_mask %v, %m : {X}, {B}
  %y = arith.mulf %g, %v : {X}
  %t = arith.constant true
  %s = tensor.splat %t : tensor<3x4xi1>
  %c = tensor.cast %s : tensor<3x4xi1> to {B}
  %n = arith.xori %m, %c : {B}
  return %y, %n : {X}, {B}
}}"""),
    Function("stopped_factor", [X, X], [X], f"""
  %p = arith.mulf %x0, %x1 : {X}
  %s = sparse_autograd.stop_gradient %p : {X}
  %y = arith.mulf %s, %x0 : {X}
  return %y : {X}""", lambda x, w: stop(x * w) * x),
    Function("stopped_scalar", ["<<T>>", "<<T>>"], ["<<T>>"], """
  %s = sparse_autograd.stop_gradient %x0 : <<T>>
  %p = arith.mulf %s, %x1 : <<T>>
  %y = arith.addf %p, %x0 : <<T>>
  return %y : <<T>>""", lambda x, w: stop(x) * w + x),
    Function("stopped_everywhere", [X], ["<<3>>"], f"""
  %s = sparse_autograd.stop_gradient %x0 : {X}
  %y = sparse_autograd.masked_reduce sum %s dims = [1] : {X} -> <<3>>
  return %y : <<3>>""", lambda x: stop(x).sum(1)),
    Function("straight_through", [X, B], [X], f"""
  %z = arith.subf %x0, %x0 : {X}
  %q = arith.select %x1, %x0, %z : {B}, {X}
  %d = arith.subf %q, %x0 : {X}
  %s = sparse_autograd.stop_gradient %d : {X}
  %y = arith.addf %x0, %s : {X}
  return %y : {X}""",
             lambda x, m: x + stop(np.where(m, x, 0) - x), fixed={1: M}),
]
for function in FUNCTIONS:
    # In the derivative too a gradient is stopped: differences do not show it.
    function.second = False


def identities(element_type):
    """In bits: what passes forward, and that nothing passes back."""
    program = Program(f"{element_type}_identities", level=2)
    x_type, m_type = f"tensor<3x4x{element_type}>", "tensor<3x4xi1>"

    def define(name, body):
        program.define(f"""
func.func private @{name}_f(%x: {x_type}, %m: {m_type}) -> {x_type} {{
{body}
  return %y : {x_type}
}}""")
        program.entry(name, [x_type, m_type, x_type], [x_type, x_type], f"""
  %y, %dx = sparse_autograd.vjp @{name}_f(%a0, %a1) cotangents(%a2) {{wrt = [0]}}
      : ({x_type}, {m_type}), ({x_type}) -> ({x_type}, {x_type})
  return %y, %dx : {x_type}, {x_type}""")

    define("itself", f"""
  %y = sparse_autograd.grad_mask %x, %m : {x_type}, {m_type}""")
    define("logarithm", f"""
  %g = sparse_autograd.grad_mask %x, %m : {x_type}, {m_type}
  %y = math.log %g : {x_type}""")
    define("stopped", f"""
  %y = sparse_autograd.stop_gradient %x : {x_type}""")
    poison = np.array([[np.nan, np.inf, -np.inf, -0.0], [-1, 0, np.nan, 2]] * 2)
    x = np.where(M, [[4, 1, 0.5, 2]], poison[:3]).astype(np.float32)
    g = np.where(M, [[1, 2, 3, 4]], poison[::-1][:3]).astype(np.float32)
    x, g = (v.astype({"f64": np.float64, "f16": np.float16}.get(
        element_type, np.float32)) for v in (x, g))
    zero = np.zeros_like(x)

    def itself(y, dx):
        return same_bits(y, x, "value") + same_bits(dx, np.where(M, g, zero))

    def logarithm(_, dx):
        return same_bits(dx, np.where(M, g / np.where(M, x, 1), zero))

    def stopped(y, dx):
        return same_bits(y, x, "value") + same_bits(dx, zero)

    for check in (itself, logarithm, stopped):
        program.call(check.__name__, [x, M, g], check)
    return program


def stopped_again():
    """The derivative of a derivative: what is stopped stays stopped."""
    program = Program("stopped_again")
    program.define("""
func.func private @f(%x: f64) -> f64 {
  %s = sparse_autograd.stop_gradient %x : f64
  %p = arith.mulf %x, %x : f64
  %y = arith.mulf %p, %s : f64
  return %y : f64
}
func.func private @d(%x: f64) -> f64 {
  %y, %d = sparse_autograd.value_and_grad @f(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return %d : f64
}
func.func private @dd(%x: f64) -> f64 {
  %y, %d = sparse_autograd.value_and_grad @d(%x) {wrt = [0]} : (f64) -> (f64, f64)
  return %d : f64
}""")
    program.entry("derivatives", ["f64"], ["f64"] * 4, """
  %y = func.call @f(%a0) : (f64) -> f64
  %d, %dd = sparse_autograd.value_and_grad @d(%a0) {wrt = [0]} : (f64) -> (f64, f64)
  %e, %ddd = sparse_autograd.value_and_grad @dd(%a0) {wrt = [0]} : (f64) -> (f64, f64)
  return %y, %d, %dd, %ddd : f64, f64, f64, f64""")

    def check(*found):
        # With s for the stopped x: x^2 s, 2 x s, 2 s, 0.
        return sum(same_bits(a, np.float64(b)) for a, b in
                   zip(found, (27, 18, 6, 0)))

    program.call("derivatives", [3.0], check)
    return program


finish(function_tests.programs(FUNCTIONS, seed=41) +
       [identities(t) for t in ("f64", "f32", "f16", "bf16")] +
       [stopped_again()])
