"""Biased matrix factorisation of sparse ratings: recommender.py [RATINGS.csv.gz]"""

import sys

import numpy as np
import scipy.sparse as sp
import sparse_autograd as sa
import sparse_autograd.numpy as snp


def errors(R, mean, bu, bi, P, Q):
    return snp.sample(mean + bu[:, None] + bi[None, :] + P @ Q.T, R) - R


def loss(R, train, mean, bu, bi, P, Q, l2b, l2f):
    squares = snp.sum(errors(R, mean, bu, bi, P, Q) ** 2, where=train)
    return squares + l2b * (snp.sum(bu**2) + snp.sum(bi**2)) + l2f * (snp.sum(P**2) + snp.sum(Q**2))


def fit(R, epochs, l2b, l2f, seed=0):
    normal = sa.jit(lambda counter, n: 0.1 * snp.random.normal(seed, counter, (n.shape[0], 8)))
    drawn = sa.jit(lambda R: snp.random.bernoulli(seed, 0, 0.8, R.shape))(R)
    mask = lambda m: sp.csr_array((m[R.tocoo().coords], R.indices, R.indptr), R.shape)
    train, held = mask(drawn), mask(~drawn)
    w = [np.zeros(R.shape[0]), np.zeros(R.shape[1]), normal(1, np.empty(R.shape[0])), normal(2, np.empty(R.shape[1]))]
    mean, step = R.data[train.data].mean(), sa.value_and_grad(loss, wrt=(3, 4, 5, 6))
    rmse = sa.jit(lambda R, m, *w: snp.sqrt(snp.mean(errors(R, *w) ** 2, where=m)))
    m, v = ([0 * x for x in w] for _ in range(2))
    for k in range(1, epochs + 1):
        _, *gradients = step(R, train, mean, *w, l2b, l2f)
        for x, g, a, b in zip(w, gradients, m, v):
            a[...], b[...] = 0.9 * a + 0.1 * g, 0.999 * b + 0.001 * g * g
            x -= 0.02 * a / (1 - 0.9**k) / (np.sqrt(b / (1 - 0.999**k)) + 1e-8)
    return rmse(R, train, mean, *w), rmse(R, held, mean, *w), step


if __name__ == "__main__":
    u, i, r = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1, usecols=(0, 1, 2)).T
    R = sp.csr_array((r, (np.unique(u, return_inverse=True)[1], np.unique(i, return_inverse=True)[1])))
    print("train RMSE %.3f, held-out RMSE %.3f" % fit(R, 300, 5.0, 12.0)[:2])
