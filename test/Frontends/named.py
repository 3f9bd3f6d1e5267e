# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Modules in the form that lowerings from StableHLO to linalg's named ops give:
map, reduce, broadcast and transpose."""

import numpy as np

import frontends
from frontends import Case
from traced import less, matmul, softmax, sum_, tanh, transpose, where


def mlp(x, w, b, v):
    h = matmul(x, w) + b
    return sum_(where(less(h, 0.0), tanh(h), h * tanh(h)) * v, 1)


def attention_row(q, k, v):
    scores = matmul(q, transpose(k, (0, 2, 1)))
    causal = np.tril(np.ones((4, 5), bool))
    return matmul(softmax(where(causal[None], scores, -np.inf)), v)


CASES = [
    Case("mlp", mlp, shapes={0: (4, 6)}),
    Case("attention-row", attention_row),
]

if __name__ == "__main__":
    frontends.run("named", CASES)
