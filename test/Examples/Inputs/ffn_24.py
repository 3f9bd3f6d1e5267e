# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training by examples/ffn_24.mlir against NumPy on dense weights with the same
masks: the loss of every step, and the weights."""

import pathlib
import sys

import numpy as np

from execution import Program, close, finish
from selection24 import choose


def train(w1, w2, x, target, rate, steps, refresh):
    losses = []
    for step in range(steps):
        if step % refresh == 0:
            kept1, kept2 = (choose(w[None], "greedy")[0] for w in (w1, w2))
        s1, s2 = np.where(kept1, w1, 0), np.where(kept2, w2, 0)
        sums = x @ s1.T
        hidden = np.maximum(sums, 0)
        error = hidden @ s2.T - target
        losses.append(np.mean(error**2))
        g = 2 * error / error.size
        g1 = ((g @ s2) * (sums > 0)).T @ x
        w1 = w1 - rate * np.where(kept1, g1, 0)
        w2 = w2 - rate * np.where(kept2, g.T @ hidden, 0)
    return np.array(losses), w1, w2


program = Program("ffn_24")
program.define(pathlib.Path(sys.argv.pop(1)).read_text(encoding="utf-8"))
matrix = "tensor<?x?xf64>"
program.types["train"] = ([matrix] * 4 + ["f64", "index", "index"],
                          ["tensor<?xf64>", matrix, matrix])
rng = np.random.default_rng(0)
for tokens, width, inner, refresh in ((24, 16, 32, 7), (10, 7, 13, 1), (9, 12, 20, 100)):
    arguments = [rng.normal(size=shape) for shape in
                 ((inner, width), (width, inner), (tokens, width), (tokens, width))]
    arguments += [0.05, 40, refresh]
    wanted = train(*arguments)
    assert wanted[0][-1] < wanted[0][0] / 2, "the reference does not learn"

    def check(*found, wanted=wanted):
        return sum(close(a, b, 1e-10 * (1 + np.abs(b)))
                   for a, b in zip(found, wanted))

    program.call("train", arguments, check)
finish([program])
