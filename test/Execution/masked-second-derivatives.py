# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Second derivatives of the masked ops: of gradients along a tangent, of
gradients and of tangents backward, with NaN and infinities behind the mask."""

import numpy as np

import function_tests
from functions import Function
from masked_cases import KINDS, poisoned
from masked_gradients import SOFTMAX_KINDS, analytic
from masked_ops import selection

# Rows that select all, some, one and no elements.
ROWS = np.array([[1, 1, 1, 1], [1, 0, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0]], bool)
# A polynomial of a degree whose differences are exact.
EXACT = ("sum",)
# Whose value over nothing is infinite: no difference is made from it.
INFINITE = ("max", "min", "logsumexp")


def masked(name, kind, dims, mask, mask_dims=None, keepdims=False, ddof=0,
           attributes="", shape=(4, 4)):
    """A masked op of a product: what its second derivatives are made of differs
    with both factors."""
    softmax = kind in SOFTMAX_KINDS
    chosen = selection(np.empty(shape), mask, mask_dims)
    x_type = "<<" + "x".join(map(str, shape)) + ">>"
    m_type = "<<" + "x".join(map(str, mask.shape)) + "|i1>>"
    y_type = x_type
    if not softmax:
        extents = [("=1" if d in dims else str(n)) for d, n in enumerate(shape)
                   if keepdims or d not in dims]
        y_type = "<<" + "x".join(extents) + ">>"
    op = kind if softmax else "masked_reduce " + kind
    result = "" if softmax else f" -> {y_type}"
    listed = "" if mask_dims is None else f" mask_dims = {list(mask_dims)}"
    body = f"""
  %p = arith.mulf %x0, %x1 : {x_type}
  %y = sparse_autograd.{op} %p, %x2 dims = {list(dims)}{listed} {attributes} : {x_type}, {m_type}{result}
  return %y : {y_type}"""

    def mirror(x, w, _):
        y = analytic(kind, x * w, chosen, dims, ddof)
        return y if softmax or keepdims else np.squeeze(y, tuple(dims))

    def inputs(rng, _):
        if kind in EXACT:
            x, w = rng.integers(-2, 3, size=(2, *shape)).astype(float)
        else:
            # Apart by more than what a difference steps.
            x = rng.permutation(np.linspace(-1.5, 1.5, chosen.size))
            x, w = x.reshape(shape), rng.uniform(0.9, 1.1, size=shape)
        return [poisoned(rng, x, chosen), poisoned(rng, w, chosen), mask]

    return Function(name, [x_type, x_type, m_type], [y_type], body, mirror,
                    fixed={2: mask}, inputs=inputs, exact=kind in EXACT,
                    integer=kind in EXACT)


FUNCTIONS = []
for _kind in KINDS:
    rows = ROWS[[0, 1, 2, 2]] if _kind in INFINITE else ROWS
    FUNCTIONS.append(masked(_kind, _kind, (1,), rows))
FUNCTIONS += [
    masked("var_unbiased", "var", (0,), ROWS.T, ddof=1,
           attributes="keepdims ddof = 1", keepdims=True),
    masked("std_unbiased", "std", (1,), ROWS[:, :3], mask_dims=(0, 2), ddof=1,
           attributes="ddof = 1", shape=(4, 2, 3)),
    masked("max_first", "max", (0, 2), ROWS[1], mask_dims=(2,),
           attributes="ties = first", shape=(2, 3, 4)),
    masked("prod_of_columns", "prod", (0,), ROWS[:, 1], mask_dims=(0,),
           attributes="keepdims", keepdims=True, shape=(4, 3)),
    masked("softmax_of_all", "masked_softmax", (0, 1), ROWS.T,
           mask_dims=(1, 0)),
]

function_tests.run(FUNCTIONS, seed=37)
