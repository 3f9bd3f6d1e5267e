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
from traced import (convolve, erf, less, log_softmax, matmul, maximum, mean,
                    pad, reshape, rsqrt, softmax, transpose, where, windows)


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


def nhwc(x):
    return transpose(x, (0, 2, 3, 1))


def nchw(x):
    return transpose(x, (0, 3, 1, 2))


def convolution(x, w, b):
    padded = pad(nhwc(x), ((0, 0), (1, 1), (1, 1), (0, 0)))
    y = maximum(convolve(padded, transpose(w, (2, 3, 1, 0))) + b, 0.0)
    patches = list(windows(y, (2, 2), strides=(2, 2)).values())
    result = patches[0]
    for patch in patches[1:]:
        # Negative numbers have become ties at zero.
        result = where(less(result, patch), patch, result)
    return nchw(result)


def average_pool(x):
    patches = windows(nhwc(x), (2, 2), strides=(2, 1)).values()
    return nchw(sum(patches, start=0.0) / 4.0)


def embedding(table, tokens):
    return table[tokens]


def cross_entropy(logits, labels):
    return -mean(log_softmax(logits)[np.arange(4), labels], 0)


def batch_norm(x, weight, bias):
    centre = np.array([0.375, -0.25, 0.125])
    rate = 1 / np.sqrt(np.array([1.5, 0.75, 2.25]) + 1e-5)
    return nchw((nhwc(x) - centre) * rate * weight + bias)


def rms_norm(x, weight):
    return x * rsqrt(mean(x * x, 2, keepdims=True) + 0.125) * weight


CASES = [
    Case("mlp", mlp, shapes={0: (4, 6)}),
    Case("mlp-checked", mlp_checked, shapes={0: (3, 4), 1: (4, 5), 2: (5,)},
         refused=[({1: (3, 5)}, "mismatching contracting dimension"),
                  ({2: (4,)}, "mismatched size for broadcast")]),
    Case("layer-norm", layer_norm),
    Case("attention", attention),
    Case("convolution", convolution),
    Case("average-pool", average_pool, shapes={0: (2, 3, 6, 5)}),
    Case("embedding", embedding, shapes={1: (2, 3)},
         inputs={1: np.array([[1, 5, 1], [0, 4, 1]])}),
    Case("cross-entropy", cross_entropy, inputs={1: np.array([2, 0, 4, 2])}),
    Case("batch-norm", batch_norm),
    Case("rms-norm-dynamic", rms_norm, shapes={0: (2, 3, 8)}),
]

if __name__ == "__main__":
    frontends.run("torch", CASES)
