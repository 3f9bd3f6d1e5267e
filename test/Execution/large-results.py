# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Results that are larger than the caches: blocks of them are kept while an
iteration reads them, and sent past the caches; the next block is asked for. A
softmax and its derivative, over rows, columns and planes of odd extents, and as
a part of what is small enough to stay where it is, or has rows too long."""

import numpy as np

import masked_ops
from execution import Program, close, finish, same_bits

UNIT = masked_ops.EPSILON["f32"]


def check(x, mask, ct, dim, seen):
    """The results against the reference, and the bits of the call before."""
    value = masked_ops.softmax(x, mask, (dim,))
    value_bound = masked_ops.softmax_bound(x, UNIT, mask, (dim,))
    # dx = y (ct - s) with s the sum of y ct along the slice.
    wide = np.where(mask, ct, 0).astype(np.float64)
    total = np.sum(value * wide, dim, keepdims=True)
    magnitude = np.sum(value * np.abs(wide), dim, keepdims=True)
    gradient = np.where(mask, value * (wide - total), 0)
    terms = masked_ops.SAFETY * masked_ops.gamma(x.shape[dim] + 4, UNIT)
    total_bound = terms * magnitude + np.sum(value_bound * np.abs(wide), dim,
                                             keepdims=True)
    gradient_bound = (value_bound * (np.abs(wide) + magnitude) +
                      value * (total_bound + 4 * UNIT * np.abs(wide)))

    def compare(y, dx):
        if seen:
            return same_bits(y, seen[0]) + same_bits(dx, seen[1])
        seen.extend([y, dx])
        return (close(y, value, value_bound, "y") +
                close(dx, gradient, gradient_bound, "dx"))
    return compare


program = Program("large-results", level=3)
rng = np.random.default_rng(7)
for name, shape, dim in (("rows", (2051, 2077), 1), ("columns", (2051, 2077), 0),
                         ("planes", (3, 1237, 1193), 1),
                         ("lines", (9001, 7, 71), 2), ("few", (51, 77), 1), ("long", (31, 150001), 1)):
    x_type = f"tensor<{'?x' * len(shape)}f32>"
    mask_type = f"tensor<{'?x' * len(shape)}i1>"
    signature = f"({x_type}, {mask_type})"
    program.define(f"""
func.func private @{name}_softmax(%x: {x_type}, %mask: {mask_type}) -> {x_type} {{
  %y = sparse_autograd.masked_softmax %x, %mask dims = [{dim}]
      : {x_type}, {mask_type}
  return %y : {x_type}
}}""")
    program.entry(name, [x_type, mask_type, x_type], [x_type, x_type], f"""
  %y, %dx = sparse_autograd.vjp @{name}_softmax(%a0, %a1) cotangents(%a2) {{wrt = [0]}}
      : {signature}, ({x_type}) -> ({x_type}, {x_type})
  return %y, %dx : {x_type}, {x_type}""")
    x = rng.normal(size=shape).astype(np.float32)
    mask = rng.random(shape) < 0.4
    mask[:1] = False  # Slices that nothing selects.
    mask[..., :1] = False
    ct = rng.normal(size=shape).astype(np.float32)
    seen = []
    for threads in (1, 2):
        program.call(name, [x, mask, ct], check(x, mask, ct, dim, seen),
                     threads=threads)
finish([program])
