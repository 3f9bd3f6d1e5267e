# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Long rows of which a mask selects few elements are computed of these alone:
values, gradients and tangents of what computes exponentials, and the mean of
logarithms, with poison behind the mask; rows of which nothing, a few elements,
or everything is selected; on one thread and on two."""

import numpy as np

from execution import FLOATS, Program, close, finish, same_bits
from masked_cases import Op, add_op, call_op, poison_all, random_case

KINDS = ("logsumexp", "masked_softmax", "masked_log_softmax")
rng = np.random.default_rng(11)


def select_few(mask):
    """About a quarter: a row of all, one of one element, one of none."""
    mask &= rng.random(mask.shape) < 0.25
    mask[0] = True
    mask[1] = False
    mask[1, -1] = True
    mask[2] = False
    return mask


programs = []
for element_type in FLOATS:
    program = Program(element_type)
    programs.append(program)
    for kind in KINDS:
        for dynamic, shape in ((True, (7, 2500)), (True, (7, 4099)),
                               (False, (6, 2113))):
            op = Op(kind, element_type, shape, (1,), dynamic=dynamic)
            name = f"{kind}_{shape[1]}"
            add_op(program, name, op)
            x, mask, g, t = random_case(rng, op, shape)
            mask = select_few(mask)
            call_op(program, name, op, *poison_all(rng, op, x, mask, g, t),
                    label=str(shape))

program = Program("logarithms", level=3)
programs.append(program)
program.define("""
func.func private @f(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>) -> tensor<?xf32> {
  %log = math.log %x : tensor<?x?xf32>
  %y = sparse_autograd.masked_reduce mean %log, %mask dims = [1]
      : tensor<?x?xf32>, tensor<?x?xi1> -> tensor<?xf32>
  return %y : tensor<?xf32>
}""")
types = ["tensor<?x?xf32>", "tensor<?x?xi1>", "tensor<?xf32>"]
program.entry("logs", types, ["tensor<?xf32>", "tensor<?x?xf32>"], """
  %y, %dx = sparse_autograd.vjp @f(%a0, %a1) cotangents(%a2) {wrt = [0]}
      : (tensor<?x?xf32>, tensor<?x?xi1>), (tensor<?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>)
  return %y, %dx : tensor<?xf32>, tensor<?x?xf32>""")
# The second result is larger than the caches, and its rows begin anywhere.
for shape in ((9, 2501), (1501, 4099)):
    mask = select_few(rng.random(shape) < 1)
    x = np.where(mask, rng.uniform(0.5, 3, shape), 0).astype(np.float32)
    ct = rng.normal(size=shape[:1]).astype(np.float32)
    wide = np.where(mask, x, 1).astype(np.float64)
    count = np.maximum(mask.sum(1), 1)
    value = np.log(wide).sum(1) / count
    bound = 4 * shape[1] * 2.0**-24 * np.abs(np.log(wide)).sum(1) / count
    gradient = np.where(mask, ct[:, None] / (count[:, None] * wide), 0)
    seen = []

    def check(y, dx, value=value, bound=bound, gradient=gradient, seen=seen):
        if seen:
            return same_bits(y, seen[0]) + same_bits(dx, seen[1])
        seen.extend([y, dx])
        return (close(y, value, bound + 2.0**-24, "y") +
                close(dx, gradient, 2.0**-22 * np.abs(gradient), "dx"))

    for threads in (1, 2):
        program.call("logs", [x, mask, ct], check, threads=threads)
finish(programs)
