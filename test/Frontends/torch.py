# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Modules in the form in which torch-mlir hands over models: linalg on tensors,
weights as they lie in torch, named ops for products and convolutions and
generics for the rest."""

import numpy as np

import frontends
from frontends import Case
from traced import (erf, matmul, maximum, mean, reshape, rsqrt, softmax,
                    transpose, where)


def mlp(x, w1, b1, w2, b2):
    hidden = maximum(matmul(x, transpose(w1, (1, 0))) + b1, 0.0)
    return matmul(hidden, transpose(w2, (1, 0))) + b2


def mlp_checked(x, w, b):
    h = matmul(x, w) + b
    return h * ((erf(h / np.sqrt(2.0)) + 1.0) * 0.5)


def layer_norm(x, weight, bias):
    centred = x - mean(x, 2, keepdims=True)
    variance = mean(centred * centred, 2, keepdims=True)
    return centred * rsqrt(variance + float(np.float32(1e-6))) * weight + bias


CAUSAL = np.tril(np.ones((5, 5), bool))


def heads(x):
    return reshape(transpose(x, (0, 2, 1, 3)), (4, 5, 3))


def attention(q, k, v):
    scores = matmul(heads(q), transpose(heads(k), (0, 2, 1)))
    scores = where(CAUSAL[None], scores / float(np.float32(1.73205)), -np.inf)
    mixed = reshape(matmul(softmax(scores), heads(v)), (2, 2, 5, 3))
    return transpose(mixed, (0, 2, 1, 3))


CASES = [
    Case("mlp", mlp, shapes={0: (4, 6)}),
    Case("mlp-checked", mlp_checked, shapes={0: (3, 4), 1: (4, 5), 2: (5,)},
         refused=[({1: (3, 5)}, "mismatching contracting dimension"),
                  ({2: (4,)}, "mismatched size for broadcast")]),
    Case("layer-norm", layer_norm),
    Case("attention", attention),
]

if __name__ == "__main__":
    frontends.run("torch", CASES)
