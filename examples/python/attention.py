"""Sparse attention that learns to copy the token one block before."""

import numpy as np
import scipy.sparse as sp
import sparse_autograd as sa
import sparse_autograd.numpy as snp

POSITIONS, BLOCK, TOKENS, WIDTH = 64, 8, 8, 32


def loss(w, tokens, labels, pattern):
    x = snp.take(w["tokens"], tokens) + w["places"]
    scores = snp.sample((x @ w["query"]) @ (x @ w["key"]).T / WIDTH**0.5, pattern)
    weights = snp.softmax(scores, where=snp.pattern(scores))
    logp = snp.log_softmax(weights @ (x @ w["value"]) @ w["out"])
    hit = snp.one_hot(labels, TOKENS)
    return snp.mean(-snp.sum(logp * hit, axis=1), where=snp.arange(POSITIONS) >= BLOCK), logp


def fit(steps=300, seed=0):
    i, j = np.arange(POSITIONS)[:, None], np.arange(POSITIONS)[None, :]
    pattern = sp.csr_array(((i // BLOCK - j // BLOCK) // 2 == 0) | (i < 2) | (j < 2), dtype=float)
    shapes = dict(tokens=(TOKENS, WIDTH), places=(POSITIONS, WIDTH), query=(WIDTH, WIDTH), key=(WIDTH, WIDTH))
    shapes |= dict(value=(WIDTH, WIDTH), out=(WIDTH, TOKENS))
    rng, step = np.random.default_rng(seed), sa.value_and_grad(loss)
    w = {k: rng.uniform(-1, 1, s) * np.sqrt(6 / sum(s)) for k, s in shapes.items()}
    m, v = ({k: np.zeros(s) for k, s in shapes.items()} for _ in range(2))
    for k in range(1, steps + 2):
        tokens = rng.integers(0, TOKENS, POSITIONS)
        labels = np.roll(tokens, BLOCK)
        (value, logp), g = step(w, tokens, labels, pattern)
        for n in w:
            m[n] += 0.1 * (g[n] - m[n])
            v[n] += 0.001 * (g[n] ** 2 - v[n])
            w[n] -= 0.01 * m[n] / (1 - 0.9**k) / (np.sqrt(v[n] / (1 - 0.999**k)) + 1e-8)
    return value, (np.argmax(logp, axis=1) == labels)[BLOCK:].mean(), step  # of a sequence not seen


if __name__ == "__main__":
    print("loss %.4f, accuracy %.3f" % fit()[:2])
