# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Extents that do not fit are an error of the call: masks are not broadcast,
and cotangents and tangents have the shape of what they belong to."""

import numpy as np

from execution import Program, finish
from masked_cases import KINDS, Op, add_op, add_values

DIFFERENT = "must have the extent of dimension"

program = Program("errors", level=0, threads=1)


def floats(*shape):
    return np.ones(shape, np.float32)


def mask(*shape):
    return np.ones(shape, bool)


for kind in KINDS:
    op = Op(kind, "f32", (3, 4), (1,), dynamic=True)
    add_values(program, kind, [op])
    for shape in ((3, 1), (1, 4), (3, 5), (0, 4)):
        program.call(kind, [floats(3, 4), mask(*shape)], DIFFERENT, str(shape))
    # Also where there is nothing to read.
    program.call(kind, [floats(0, 4), mask(0, 5)], DIFFERENT, "no rows")
for kind, mask_dims, shapes in (("max", (0,), ((4,), (2,))),
                                ("masked_softmax", (1, 0), ((3, 4), (4, 2)))):
    op = Op(kind, "f32", (3, 4), (1,), mask_dims=mask_dims, dynamic=True)
    add_values(program, f"{kind}_mask_dims", [op])
    for shape in shapes:
        program.call(f"{kind}_mask_dims", [floats(3, 4), mask(*shape)],
                     DIFFERENT, str(shape))
    op = Op(kind, "f32", (3, 4), (1,), dynamic=True)
    add_op(program, f"{kind}_derivatives", op)
    result = op.result_shape((3, 4))
    for g, t in (((4,) * len(result), (3, 4)), (result, (3, 1)),
                 (result, (4, 4))):
        program.call(f"{kind}_derivatives",
                     [floats(3, 4), mask(3, 4), floats(*g), floats(*t)],
                     DIFFERENT, str((g, t)))
matrix = "tensor<?x?xf32>"
program.entry("random", ["i64", "index", "index"], [matrix], f"""
  %y = sparse_autograd.random uniform %a0, %a0, [%a1, %a2] : {matrix}
  return %y : {matrix}""")
for rows, columns in ((-1, 3), (-1, 0), (-1, -1), (2**40, 2**40)):
    program.call("random", [0, rows, columns],
                 "the size of a tensor overflowed")
finish([program])
