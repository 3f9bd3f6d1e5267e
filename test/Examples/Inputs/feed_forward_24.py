# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One step of examples/feed_forward_24.mlir against NumPy, and that training
brings the loss down."""

import pathlib
import sys

import numpy as np

from execution import Program, close, finish
from selection24 import choose


def step(w1, w2, x, target, rate, decay):
    s1, s2 = (np.where(choose(w, "greedy"), w, 0) for w in (w1, w2))
    sums = x @ s1.T
    hidden = np.maximum(sums, 0)
    error = hidden @ s2.T - target
    g = 2 * error / error.size
    g2 = g.T @ hidden
    g1 = ((g @ s2) * (sums > 0)).T @ x
    return (np.mean(error**2), w1 - rate * (g1 + decay * (w1 - s1)),
            w2 - rate * (g2 + decay * (w2 - s2)))


program = Program("feed_forward_24")
program.define(pathlib.Path(sys.argv.pop(1)).read_text(encoding="utf-8"))
matrix = "tensor<?x?xf64>"
program.types["step"] = ([matrix] * 4 + ["f64"] * 2,
                         ["tensor<f64>", matrix, matrix])
program.types["train"] = (["i64"], ["tensor<f64>"])
rng = np.random.default_rng(0)
for tokens, width, inner in ((24, 16, 32), (10, 7, 13)):
    arguments = [rng.normal(size=shape) for shape in
                 ((inner, width), (width, inner), (tokens, width),
                  (tokens, width))] + [0.1, 0.01]
    wanted = step(*arguments)

    def check(*found, wanted=wanted):
        return sum(close(a, b, 1e-12 * (1 + np.abs(b)))
                   for a, b in zip(found, wanted))

    program.call("step", arguments, check)


def falls(loss):
    assert 0 < loss < 4, f"the loss goes from 11.5 to {loss}"
    return 1


program.call("train", [0], falls)
finish([program])
