"""A graph network of two layers (Kipf and Welling): gcn.py cora.npz"""

import sys

import numpy as np
import scipy.sparse as sp
import sparse_autograd as sa
import sparse_autograd.numpy as snp


def network(A, X, W1, W2, drop=lambda x, n: x):
    H = snp.maximum(A @ (drop(X, 0) @ W1), 0)
    return snp.log_softmax(A @ (drop(H, 1) @ W2))


def loss(A, X, hot, train, W1, W2, seed, epoch):
    kept = lambda x, n: snp.random.bernoulli(seed, 2 * epoch + n, 0.5, x.shape)
    logp = network(A, X, W1, W2, lambda x, n: x * snp.where(kept(x, n), 2.0, 0.0))
    return snp.mean(-snp.sum(logp * hot, axis=1), where=train) + 2.5e-4 * snp.sum(W1**2)


def fit(A, X, labels, train, epochs, seed=0, hidden=16):
    A, E = A + sp.eye_array(A.shape[0]), sp.diags_array(1 / np.maximum(X.sum(axis=1), 1))
    D = sp.diags_array(1 / np.sqrt(A.sum(axis=1)))
    A, X = (M.tocsr().sorted_indices() for M in (D @ A @ D, E @ X))
    rng, hot, step = np.random.default_rng(seed), np.eye(labels.max() + 1)[labels], sa.value_and_grad(loss, (4, 5))
    shapes = (X.shape[1], hidden), (hidden, hot.shape[1])
    w, m, v = ([a * rng.uniform(-1, 1, s) * np.sqrt(6 / sum(s)) for s in shapes] for a in (1, 0, 0))
    for k in range(1, epochs + 1):
        for x, g, a, b in zip(w, step(A, X, hot, train, *w, seed, k)[1:], m, v):
            a[...], b[...] = 0.9 * a + 0.1 * g, 0.999 * b + 0.001 * g * g
            x -= 0.01 * a / (1 - 0.9**k) / (np.sqrt(b / (1 - 0.999**k)) + 1e-8)
    return np.argmax(sa.jit(network)(A, X, *w), axis=1), step


if __name__ == "__main__":
    z = np.load(sys.argv[1])
    A, X = (sp.csr_array((np.ones(len(z[n + "_indices"])), z[n + "_indices"], z[n + "_indptr"])) for n in ("adj", "feat"))
    guess, _ = fit(A, X, z["label"], np.isin(np.arange(len(z["label"])), z["train"]), 200)
    print("test accuracy %.3f" % (guess == z["label"])[z["test"]].mean())
