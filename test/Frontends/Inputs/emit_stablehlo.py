# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes stablehlo/*.mlir: what JAX and StableHLO's own lowering make of the
functions below.

No test runs this, and nothing else of the project needs JAX; the files that are
there were written with JAX 0.10.2 by

    pip install jax && python emit_stablehlo.py
"""

import os

import jax
import jax.numpy as jnp
from jax import lax
from jax._src.lib.mlir import passmanager
from jaxlib.mlir.dialects import stablehlo


def mlp(x, w1, b1, w2, b2):
    hidden = jax.nn.relu(x @ w1 + b1)
    return jnp.tanh(hidden @ w2 + b2)


def gelu_loss(x, w, b, y):
    out = jax.nn.gelu(x @ w + b, approximate=True)
    return jnp.mean((out - y)**2)


def layer_norm(x, scale, shift):
    mean = jnp.mean(x, -1, keepdims=True)
    variance = jnp.var(x, -1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 0.0625) * scale + shift


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * 0.5
    n = q.shape[1]
    causal = lax.broadcasted_iota(jnp.int32, (n, n), 0) >= (
        lax.broadcasted_iota(jnp.int32, (n, n), 1))
    scores = jnp.where(causal, scores, -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)


def convolution(x, w, b):
    y = lax.conv_general_dilated(x, w, (2, 1), "SAME",
                                 dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jax.nn.relu(y + b)


def depthwise(x, w):
    return lax.conv_general_dilated(
        x, w, (1, 1), "VALID", feature_group_count=3, rhs_dilation=(1, 2),
        dimension_numbers=("NHWC", "HWIO", "NHWC"))


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1),
                             "VALID")


def average_pool(x):
    return lax.reduce_window(x, 0.0, lax.add, (1, 3, 2, 1), (1, 1, 2, 1),
                             "SAME") / 6.0


def embedding(table, tokens):
    return jnp.take(table, tokens, axis=0, mode="clip") * 0.5


def cross_entropy(logits, labels):
    log_probabilities = jax.nn.log_softmax(logits)
    hot = jax.nn.one_hot(labels, logits.shape[-1], dtype=logits.dtype)
    return -jnp.mean(jnp.sum(hot * log_probabilities, -1))


def picked_entropy(logits, labels):
    log_probabilities = jax.nn.log_softmax(logits)
    picked = jnp.take_along_axis(log_probabilities, labels[:, None], axis=1,
                                 mode="clip")
    return -jnp.mean(picked)


def clamps(x, y):
    limited = jnp.clip(x, -0.5, 0.75)
    larger = jnp.where(x > y, x * y, jnp.maximum(y, 0.25) - x)
    return limited * larger + jnp.abs(y) * jax.nn.sigmoid(x)


def positions(x, w):
    steps = jnp.arange(x.shape[0], dtype=x.dtype)
    rates = jnp.exp(w)
    return x + jnp.sin(steps[:, None] * rates[None, :])


def moves(x, y):
    joined = jnp.concatenate([x[:, 1:], y[::-1], x[1:3, :3]], axis=0)
    padded = jnp.pad(joined, ((0, 1), (2, 0)))
    return lax.slice(padded, (0, 0), (8, 5), (3, 2)).reshape(-1) ** 3


def f(*shape, of=jnp.float32):
    return jax.ShapeDtypeStruct(shape, of)


def i(*shape):
    return f(*shape, of=jnp.int32)


FUNCTIONS = {
    mlp: (f(4, 6), f(6, 8), f(8), f(8, 3), f(3)),
    gelu_loss: (f(4, 6), f(6, 3), f(3), f(4, 3)),
    layer_norm: (f(2, 3, 7), f(7), f(7)),
    attention: (f(2, 5, 2, 4), f(2, 5, 2, 4), f(2, 5, 2, 4)),
    convolution: (f(2, 5, 4, 3), f(3, 2, 3, 2), f(2)),
    depthwise: (f(2, 5, 6, 3), f(2, 2, 1, 3)),
    max_pool: (f(2, 4, 6, 3),),
    average_pool: (f(2, 4, 5, 3),),
    embedding: (f(6, 4), i(2, 3)),
    cross_entropy: (f(4, 5), i(4)),
    picked_entropy: (f(4, 5), i(4)),
    clamps: (f(3, 7), f(3, 7)),
    positions: (f(5, 3), f(3)),
    moves: (f(4, 4), f(2, 3)),
}

def emit(function, shapes):
    module = jax.jit(function).lower(*shapes).compiler_ir("stablehlo")
    with module.context:
        passmanager.PassManager.parse(
            "builtin.module(func.func(chlo-legalize-to-stablehlo),"
            "stablehlo-legalize-to-linalg)").run(module.operation)
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          "stablehlo")
    name = function.__name__.replace("_", "-") + ".mlir"
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(str(module))


def main():
    stablehlo.register_stablehlo_passes()
    for function, shapes in FUNCTIONS.items():
        emit(function, shapes)


if __name__ == "__main__":
    main()
