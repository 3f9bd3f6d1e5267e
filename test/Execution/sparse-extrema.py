# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Maxima and minima of sparse tensors, of which an absent element is a zero: a
gradient is shared by the elements that attain the extremum, absent ones among
them (semantics G4, R3), and no dense tensor is made for it."""

import numpy as np

from execution import Program, close, finish
from sparse_storage import MATRICES, from_pattern, same_pattern

SHAPES = ((6, 5), (1, 4), (5, 1), (0, 3), (3, 0))
VALUES = np.array([-1.0, -0.0, 0.0, 1.0, 2.0, np.nan])


def of_generic(combiner, axis):
    kept = "(i)" if axis == 1 else "(j)"
    iterators = ('["parallel", "reduction"]' if axis == 1
                 else '["reduction", "parallel"]')
    start = "0xFFF0000000000000" if combiner == "maximumf" else "0x7FF0000000000000"
    return f"""
  %start = arith.constant {start} : f64
  %axis = arith.constant {1 - axis} : index
  %n = tensor.dim %x, %axis : X
  %e = tensor.empty(%n) : tensor<?xf64>
  %z = linalg.fill ins(%start : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> {kept}>], iterator_types = {iterators}}} ins(%x : X) outs(%z : tensor<?xf64>) {{
  ^bb0(%a: f64, %o: f64):
    %m = arith.{combiner} %a, %o : f64
    linalg.yield %m : f64
  }} -> tensor<?xf64>"""


def of_reduce(kind, axis):
    return f"""
  %y = sparse_autograd.masked_reduce {kind} %x dims = [{axis}] : X -> tensor<?xf64>"""


def expected(x, mask, g, kind, axis):
    """The extrema, the gradient, and by the tangents t = x + 1 their tangents."""
    size = x.shape[axis]
    pick = np.maximum if kind == "max" else np.minimum
    y = pick.reduce(x, axis=axis, initial=-np.inf if kind == "max" else np.inf)
    along = np.expand_dims(y, axis)
    ties = np.where(np.isnan(along), np.isnan(x), x == along)
    count = np.maximum(ties.sum(axis, keepdims=True), 1)
    gradient = np.where(ties & mask, np.expand_dims(g, axis) / count, 0)
    assert size or not gradient.size
    return y, gradient


def make(name):
    program = Program(f"extrema_{name}", 0, threads=1)
    encoding = MATRICES[name]
    program.define_encoding(name, encoding)
    type_, y = f"tensor<?x?xf64, #{name}>", "tensor<?xf64>"
    rng = np.random.default_rng(len(name))
    for kind, axis, form in [(k, a, f) for k in ("max", "min") for a in (0, 1)
                             for f in ("generic", "reduce")]:
        body = (of_reduce(kind, axis) if form == "reduce" else
                of_generic(kind + "imumf", axis))
        entry = f"{kind}{axis}_{form}"
        program.define(f"func.func private @f_{entry}(%x: X) -> {y} {{{body}\n  "
                       f"return %y : {y}\n}}".replace("X", type_))
        program.entry(entry, [type_, y, type_], [y, type_, y], f"""
  %r:2 = sparse_autograd.vjp @f_{entry}(%a0) cotangents(%a1) {{wrt = [0]}} : ({type_}), ({y}) -> ({y}, {type_})
  %t:2 = sparse_autograd.jvp @f_{entry}(%a0) tangents(%a2) {{wrt = [0]}} : ({type_}), ({type_}) -> ({y}, {y})
  return %r#0, %r#1, %t#1 : {y}, {type_}, {y}""")
        for shape in SHAPES:
            for density in (0, 0.4, 0.8, 1):
                mask = rng.random(shape) < density
                values = VALUES if density == 0.4 else VALUES[:-1]
                x = np.where(mask, rng.choice(values, shape), 0)
                t = np.where(mask, rng.uniform(-1, 1, shape), 0)
                g = rng.uniform(0.5, 1, shape[1 - axis])
                top, gradient = expected(x, mask, g, kind, axis)
                # <g, tangents> is <gradient, t> row by row.
                _, ones = expected(x, mask, np.ones_like(g), kind, axis)
                tangents = (ones * t).sum(axis)
                like = from_pattern(gradient, mask, encoding)

                def check(value, dx, dy, top=top, like=like,
                          tangents=tangents):
                    assert np.array_equal(value, top, equal_nan=True), (value, top)
                    return (same_pattern(dx, like) +
                            close(dx.values, like.values, 1e-14, "gradient") +
                            close(dy, tangents, 1e-14, "tangent"))

                program.call(entry, [from_pattern(x, mask, encoding), g,
                                     from_pattern(t, mask, encoding)], check,
                             f"{shape} {density}")
    return program


finish([make(name) for name in ("CSR", "CSC", "DCSR", "COO")])
