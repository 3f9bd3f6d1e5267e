# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""What StableHLO's own lowering to linalg makes of JAX functions; the functions
are in Inputs/emit_stablehlo.py."""

import numpy as np

import frontends
from frontends import Case
from traced import (concatenate, convolve, exp, less, log_softmax, matmul,
                    maximum, mean, minimum, pad, reshape, rsqrt, sin, softmax,
                    sum_, tanh, total, transpose, where, windows)


def mlp(x, w1, b1, w2, b2):
    return tanh(matmul(maximum(matmul(x, w1) + b1, 0.0), w2) + b2)


def gelu_loss(x, w, b, y):
    h = matmul(x, w) + b
    slope = float(np.float32(np.sqrt(2 / np.pi)))
    inner = (h + h**3 * float(np.float32(0.044715))) * slope
    error = h * ((tanh(inner) + 1.0) * 0.5) - y
    return total(error * error) / 12.0


def layer_norm(x, scale, shift):
    centred = x - mean(x, 2, keepdims=True)
    variance = mean(centred * centred, 2, keepdims=True)
    return centred * rsqrt(variance + 0.0625) * scale + shift


def attention(q, k, v):
    def heads(x):
        return transpose(x, (0, 2, 1, 3))
    def stack(x):
        return reshape(x, (4,) + x.shape[2:])
    scores = matmul(stack(heads(q)), transpose(stack(heads(k)), (0, 2, 1)))
    causal = np.tril(np.ones((5, 5), bool))
    scores = where(causal[None], scores * 0.5, -np.inf)
    mixed = matmul(softmax(scores), stack(heads(v)))
    return heads(reshape(mixed, (2, 2, 5, 4)))


def convolution(x, w, b):
    # Of 5 rows 3 positions in steps of 2 are covered by 1 + 5 + 1; of 4 columns
    # all by 4 + 1.
    padded = pad(x, ((0, 0), (1, 1), (0, 1), (0, 0)))
    return maximum(convolve(padded, w, strides=(2, 1)) + b, 0.0)


def depthwise(x, w):
    result = 0.0
    for (i, j), patch in windows(x, (2, 2), dilations=(1, 2)).items():
        result = result + patch * w[i, j, 0]
    return result


def max_pool(x):
    patches = list(windows(x, (2, 2), strides=(2, 2)).values())
    result = patches[0]
    for patch in patches[1:]:
        result = maximum(result, patch)
    return result


def average_pool(x):
    # Of 5 columns 3 positions in steps of 2 are covered by 5 + 1.
    padded = pad(x, ((0, 0), (1, 1), (0, 1), (0, 0)))
    result = 0.0
    for patch in windows(padded, (3, 2), strides=(1, 2)).values():
        result = result + patch
    return result / 6.0


def embedding(table, tokens):
    return table[np.clip(tokens, 0, 5)] * 0.5


def cross_entropy(logits, labels):
    hot = (labels[:, None] == np.arange(5)) * 1.0
    return -mean(sum_(log_softmax(logits) * hot, 1), 0)


def picked_entropy(logits, labels):
    return -mean(log_softmax(logits)[np.arange(4), np.clip(labels, 0, 4)], 0)


def magnitude(y):
    return where(less(y, 0.0), -y, y)


def clamps(x, y):
    limited = minimum(maximum(x, -0.5), 0.75)
    larger = where(less(y, x), x * y, maximum(y, 0.25) - x)
    return limited * larger + magnitude(y) / (1.0 + exp(-x))


def positions(x, w):
    return x + sin(exp(w)[None] * np.arange(5.0)[:, None])


def moves(x, y):
    joined = concatenate([x[:, 1:], y[::-1], x[1:3, :3]], 0)
    padded = pad(joined, ((0, 1), (2, 0)))
    return reshape(padded[0:8:3, 0:5:2], (-1,))**3


def labels(*values):
    return {1: np.array(values)}


CASES = [
    Case("mlp", mlp),
    Case("gelu-loss", gelu_loss),
    Case("layer-norm", layer_norm),
    Case("attention", attention),
    Case("convolution", convolution),
    Case("depthwise", depthwise),
    Case("max-pool", max_pool),
    Case("average-pool", average_pool),
    Case("embedding", embedding, inputs=labels([1, 5, 1], [0, 7, -3])),
    Case("cross-entropy", cross_entropy, inputs=labels(2, 0, 4, 2)),
    Case("picked-entropy", picked_entropy, inputs=labels(2, 0, 4, 2)),
    Case("clamps", clamps),
    Case("positions", positions),
    Case("moves", moves),
]

if __name__ == "__main__":
    frontends.run("stablehlo", CASES)
