# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Derivatives, first and second, of `checkpoint` (F3), `custom_vjp` (M4) and
the two functions of `split_vjp` (C3)."""

import numpy as np

import function_tests
from functions import Function

V, N, I = "<<4>>", "<<T|index>>", "<<T|i32>>"

# x w + x x, of two vectors.
INNER = f"""
func.func private @{{name}}_inner(%x: {V}, %w: {V}) -> {V} {{
  %0 = arith.mulf %x, %w : {V}
  %1 = arith.mulf %x, %x : {V}
  %2 = arith.addf %0, %1 : {V}
  return %2 : {V}
}}"""
CHECKPOINT = f"sparse_autograd.checkpoint @{{name}}_inner(%X, %x1) : ({V}, {V}) -> {V}"


def checkpoint(argument):
    return CHECKPOINT.replace("%X", argument)


def inner(x, w):
    return x * w + x * x


def repeat(n, step, x, *more):
    for i in range(int(n)):
        x = step(x, i, *more)
    return x


# The rule of x -> x x x, by hand: 3 x x is kept.
CUBE = f"""
func.func private @{{name}}_cube(%x: {V}, %n: {I}) -> ({V}, {I}) {{
  %0 = arith.mulf %x, %x : {V}
  %1 = arith.mulf %0, %x : {V}
  return %1, %n : {V}, {I}
}}
func.func private @{{name}}_forward(%x: {V}, %n: {I}) -> ({V}, {I}, {V}) {{
  %0 = arith.mulf %x, %x : {V}
  %1 = arith.mulf %0, %x : {V}
  %2 = arith.addf %0, %0 : {V}
  %3 = arith.addf %2, %0 : {V}
  return %1, %n, %3 : {V}, {I}, {V}
}}
func.func private @{{name}}_backward(%slope: {V}, %ct: {V}) -> {V} {{
  %0 = arith.mulf %slope, %ct : {V}
  return %0 : {V}
}}"""


def custom(argument, number="%x1"):
    return (f"sparse_autograd.custom_vjp @{{name}}_cube({argument}, {number}) "
            f"forward(@{{name}}_forward) backward(@{{name}}_backward) : "
            f"({V}, {I}) -> ({V}, {I})")


# The gradient of `inner`, by its two parts.
R = "!sparse_autograd.residuals<@{name}_inner_forward>"
SPLIT = INNER + f"""
sparse_autograd.split_vjp @{{name}}_inner as @{{name}}_inner_forward, @{{name}}_inner_backward {{wrt = [0, 1]}}
func.func private @{{name}}_inner_forward({V}, {V}) -> ({V}, {R})
func.func private @{{name}}_inner_backward({R}, {V}) -> ({V}, {V})"""
FORWARD = f"func.call @{{name}}_inner_forward(%X, %W) : ({V}, {V}) -> ({V}, {R})"
BACKWARD = f"func.call @{{name}}_inner_backward(%R, %x2) : ({R}, {V}) -> ({V}, {V})"


def forward(x, w):
    return FORWARD.replace("%X", x).replace("%W", w)


def backward(residuals):
    return BACKWARD.replace("%R", residuals)


def inner_gradient(x, w, ct):
    return inner(x, w), (w + 2 * x) * ct, x * ct


LOOP = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
"""

FUNCTIONS = [
    Function("checkpointed", [V, V], [V], f"""
  %y = {checkpoint("%x0")}
  %z = arith.mulf %y, %x0 : {V}
  return %z : {V}""", lambda x, w: inner(x, w) * x, helpers=INNER),
    Function("checkpointed_twice", [V, V], [V], f"""
  %y = {checkpoint("%x0")}
  %z = {checkpoint("%y")}
  return %z : {V}""", lambda x, w: inner(inner(x, w), w), helpers=INNER),
    Function("checkpointed_by_one", [V, V], [V], f"""
  %y = {checkpoint("%x0")}
  return %y : {V}""", inner, wrt=(1,), helpers=INNER),
    # A checkpoint of a checkpoint, with results of every kind.
    Function("nested_checkpoints", [V, V, I], [V, I, "<<T>>"], f"""
  %y, %n, %s = sparse_autograd.checkpoint @{{name}}_outer(%x0, %x1, %x2) : ({V}, {V}, {I}) -> ({V}, {I}, <<T>>)
  return %y, %n, %s : {V}, {I}, <<T>>""",
             lambda x, w, n: (inner(inner(x, w), w), np.int32(n + n),
                              inner(x, w)[1]),
             fixed={2: np.int32(5)}, helpers=INNER + f"""
func.func private @{{name}}_outer(%x: {V}, %x1: {V}, %n: {I}) -> ({V}, {I}, <<T>>) {{
  %c1 = arith.constant 1 : index
  %y = {checkpoint("%x")}
  %s = tensor.extract %y[%c1] : {V}
  %z = {checkpoint("%y")}
  %m = arith.addi %n, %n : i32
  return %z, %m, %s : {V}, {I}, <<T>>
}}"""),
    Function("checkpoint_in_loop", [V, V, N], [V], LOOP + f"""
  %y = scf.for %i = %c0 to %x2 step %c1 iter_args(%v = %x0) -> ({V}) {{
    %n = {checkpoint("%v")}
    scf.yield %n : {V}
  }}
  return %y : {V}""", lambda x, w, n: repeat(n, lambda v, _, w: inner(v, w),
                                             x, w),
             fixed={2: np.int64(2)}, helpers=INNER, integer=True),
    Function("checkpoint_in_branch", [V, V, "<<T|i1>>"], [V], f"""
  %y = scf.if %x2 -> ({V}) {{
    %n = {checkpoint("%x0")}
    scf.yield %n : {V}
  }} else {{
    scf.yield %x1 : {V}
  }}
  return %y : {V}""", lambda x, w, c: inner(x, w) if c else w,
             fixed={2: np.bool_(True)}, helpers=INNER),
    # What is behind a mask is computed again as well, and reaches nothing.
    Function("checkpoint_behind_mask", [V, V, "<<4|i1>>"], [V], f"""
  %y = {checkpoint("%x0")}
  %z = sparse_autograd.grad_mask %y, %x2 : {V}, <<4|i1>>
  return %z : {V}""", lambda x, w, m: np.where(m, inner(x, w),
                                               np.real(inner(x, w))),
             fixed={2: np.array([1, 0, 1, 0], bool)}, helpers=INNER,
             second=False, forward=False),

    Function("custom", [V, I], [V, I], f"""
  %y, %n = {custom("%x0")}
  %z = arith.mulf %y, %x0 : {V}
  return %z, %n : {V}, {I}""", lambda x, n: (x**4, np.int32(n)),
             fixed={1: np.int32(3)}, helpers=CUBE),
    Function("custom_in_loop", [V, I, N], [V], LOOP + f"""
  %y = scf.for %i = %c0 to %x2 step %c1 iter_args(%v = %x0) -> ({V}) {{
    %c, %n = {custom("%v")}
    %s = arith.subf %c, %x0 : {V}
    scf.yield %s : {V}
  }}
  return %y : {V}""", lambda x, n, k: repeat(k, lambda v, _, x: v**3 - x, x, x),
             fixed={1: np.int32(3), 2: np.int64(2)}, helpers=CUBE,
             exact=False),
    Function("custom_in_checkpoint", [V, I], [V], f"""
  %y = sparse_autograd.checkpoint @{{name}}_outer(%x0, %x1) : ({V}, {I}) -> {V}
  return %y : {V}""", lambda x, n: x**3 + x, fixed={1: np.int32(3)},
             helpers=CUBE + f"""
func.func private @{{name}}_outer(%x: {V}, %n: {I}) -> {V} {{
  %y, %m = {custom("%x", "%n")}
  %z = arith.addf %y, %x : {V}
  return %z : {V}
}}"""),
    # Backward functions that end in a loop and in a branch: (8 x ct, -ct).
    Function("custom_with_control_flow", [V, V], [V], f"""
  %y = sparse_autograd.custom_vjp @{{name}}_inner(%x0, %x1) forward(@{{name}}_forward) backward(@{{name}}_backward) : ({V}, {V}) -> {V}
  return %y : {V}""", lambda x, w: 4 * x * x - w, helpers=f"""
func.func private @{{name}}_inner(%x: {V}, %w: {V}) -> {V} {{
  %0 = arith.addf %x, %x : {V}
  %1 = arith.mulf %0, %0 : {V}
  %2 = arith.subf %1, %w : {V}
  return %2 : {V}
}}
func.func private @{{name}}_forward(%x: {V}, %w: {V}) -> ({V}, {V}, i1) {{
  %0 = func.call @{{name}}_inner(%x, %w) : ({V}, {V}) -> {V}
  %true = arith.constant true
  return %0, %x, %true : {V}, {V}, i1
}}
func.func private @{{name}}_backward(%x: {V}, %c: i1, %ct: {V}) -> ({V}, {V}) {{{LOOP}
  %c3 = arith.constant 3 : index
  %p = arith.mulf %x, %ct : {V}
  %dx = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %p) -> ({V}) {{
    %d = arith.addf %s, %s : {V}
    scf.yield %d : {V}
  }}
  %dw = scf.if %c -> ({V}) {{
    %n = arith.negf %ct : {V}
    scf.yield %n : {V}
  }} else {{
    scf.yield %ct : {V}
  }}
  return %dx, %dw : {V}, {V}
}}"""),
    # A backward function that the compiler could not differentiate.
    Function("custom_without_rules", [V], [V], f"""
  %y = sparse_autograd.custom_vjp @{{name}}_id(%x0) forward(@{{name}}_id) backward(@{{name}}_opaque) : ({V}) -> {V}
  return %y : {V}""", lambda x: x, second=False, forward=False,
             helpers=f"""
func.func private @{{name}}_id(%x: {V}) -> {V} {{
  return %x : {V}
}}
func.func private @{{name}}_opaque(%ct: {V}) -> {V} {{
  %0 = bufferization.alloc_tensor() copy(%ct) : {V}
  return %0 : {V}
}}"""),

    # The parts of a split derivative are functions like any other: what calls
    # them is differentiated again.
    Function("split", [V, V, V], [V, V, V], f"""
  %y, %r = {forward("%x0", "%x1")}
  %dx, %dw = {backward("%r")}
  return %y, %dx, %dw : {V}, {V}, {V}""", inner_gradient, helpers=SPLIT),
    Function("split_through_branch", [V, V, V, "<<T|i1>>"], [V, V], f"""
  %r = scf.if %x3 -> ({R}) {{
    %y, %r0 = {forward("%x0", "%x1")}
    scf.yield %r0 : {R}
  }} else {{
    %y, %r0 = {forward("%x1", "%x0")}
    scf.yield %r0 : {R}
  }}
  %dx, %dw = {backward("%r")}
  return %dx, %dw : {V}, {V}""",
             lambda x, w, ct, c: inner_gradient(*((x, w) if c else (w, x)),
                                                ct)[1:],
             fixed={3: np.bool_(False)}, helpers=SPLIT),
    Function("split_through_loop_and_call", [V, V, V], [V], LOOP + f"""
  %y, %r = {forward("%x0", "%x1")}
  %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%k = %r) -> ({R}) {{
    %dx, %dw = {backward("%k")}
    %y1, %r1 = {forward("%dx", "%dw")}
    scf.yield %r1 : {R}
  }}
  %dx = func.call @{{name}}_first(%last, %x2) : ({R}, {V}) -> {V}
  return %dx : {V}""",
             lambda x, w, ct: inner_gradient(*repeat(
                 2, lambda v, _: inner_gradient(*v, ct)[1:], (x, w)), ct)[1],
             exact=False, helpers=SPLIT + f"""
func.func private @{{name}}_first(%r: {R}, %x2: {V}) -> {V} {{
  %dx, %dw = {backward("%r")}
  return %dx : {V}
}}"""),
]

function_tests.run(FUNCTIONS, seed=31)
