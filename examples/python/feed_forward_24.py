"""A feed-forward block whose two weight matrices are 2:4 sparse (SR-STE)."""

import numpy as np
import sparse_autograd as sa
import sparse_autograd.numpy as snp


def block(w1, w2, x):
    s1, t1 = snp.sparsify_24(w1, "greedy", "ste", transposed=True)
    s2, t2 = snp.sparsify_24(w2, "greedy", "ste", transposed=True)
    return snp.maximum(x @ t1, 0) @ t2, s1, s2


def loss(w1, w2, x, target):
    y, s1, s2 = block(w1, w2, x)
    return snp.mean((y - target) ** 2), s1, s2


def fit(steps=200, seed=0):
    draw = lambda kind, n, shape: sa.jit(lambda: getattr(snp.random, kind)(seed, n, shape))()
    x, step = draw("normal", 0, (64, 16)), sa.value_and_grad(loss, wrt=(0, 1))
    target = sa.jit(block)(draw("uniform", 1, (32, 16)), draw("uniform", 2, (16, 32)), x)[0]
    w = [draw("uniform", 3, (32, 16)), draw("uniform", 4, (16, 32))]
    losses = []
    for _ in range(steps):
        (value, *kept), *gradients = step(*w, x, target)
        for v, s, g in zip(w, kept, gradients):
            v -= 2e-2 * (g + 2e-4 * (v - s))  # what is pruned decays
        losses.append(float(value))
    return losses, kept, step


if __name__ == "__main__":
    losses = fit()[0]
    print("loss %.4f to %.6f" % (losses[0], losses[-1]))
