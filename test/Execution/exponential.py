# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""The inline exponential of f32: its error, its edges, and the same bits for a
number wherever it stands."""

import numpy as np

from execution import Program, finish, same_bits

# Units in the last place, where products and sums are not fused.
BOUND = 1.2
# Above the one e^x is more than the largest f32, below the other less than half
# of the smallest.
OVERFLOW, UNDERFLOW = 88.7228394, -103.9720840


def numbers():
    """Numbers of every magnitude and sign, and all that are near an edge."""
    bits = np.arange(0, 1 << 32, 4093, dtype=np.uint64).astype(np.uint32)
    edges = np.float32([OVERFLOW, UNDERFLOW, np.log(2.0 ** -126), 89, -104])
    steps = np.arange(-50, 51, dtype=np.int32)
    return np.concatenate([
        bits.view(np.float32),
        np.linspace(-1, 1, 200001, dtype=np.float32),
        np.linspace(-105, 90, 400001, dtype=np.float32),
        (edges.view(np.int32)[:, None] + steps).view(np.float32).ravel(),
        np.float32([0.0, -0.0, np.inf, -np.inf, np.nan])])


def check_accuracy(x):
    def check(result):
        assert np.array_equal(np.isnan(result), np.isnan(x))
        assert np.all(result[x > OVERFLOW + 1e-5] == np.inf)
        assert np.all(result[x < UNDERFLOW - 1e-5] == 0)
        finite = np.isfinite(x) & (x < OVERFLOW - 1e-5)
        got = result[finite].astype(np.float64)
        wanted = np.exp(x[finite].astype(np.float64))
        unit = np.ldexp(1.0, np.maximum(np.frexp(wanted)[1] - 24, -149))
        error = np.abs(got - wanted) / unit
        worst = error.argmax()
        assert error[worst] <= BOUND, (
            f"{error[worst]} units at {x[finite][worst]!r}")
        return len(x)
    return check


program = Program("exponential", level=2)
for name, type_ in (("many", "tensor<?xf32>"), ("few", "tensor<3xf32>")):
    program.entry(name, [type_], [type_], f"""
  %y = math.exp %a0 : {type_}
  return %y : {type_}""")
x = numbers()
program.call("many", [x], check_accuracy(x))

# Whole vectors of a number, what is left over of them, and three on their own.
seen = {}


def remember(value):
    def check(result):
        seen[value] = result[0]
        return same_bits(result, np.full_like(result, result[0]))
    return check


def recall(value):
    return lambda result: same_bits(result, np.full_like(result, seen[value]))


for value in np.float32([-90.5, -1.25, 0.7, 88.3]):
    program.call("many", [np.full(1003, value)], remember(value))
    program.call("few", [np.full(3, value)], recall(value))
finish([program])
