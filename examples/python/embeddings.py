"""A recommender of embeddings with row-sparse gradients: embeddings.py [RATINGS.csv.gz]"""

import sys

import numpy as np
import sparse_autograd as sa
import sparse_autograd.numpy as snp


def errors(U, I, mean, users, items, ratings):
    u, i = snp.take(U, users), snp.take(I, items)
    return mean + u[:, 0] + i[:, 0] + snp.sum(u[:, 1:] * i[:, 1:], axis=1) - ratings, u, i


def loss(U, I, mean, users, items, ratings, train, l2):
    e, u, i = errors(U, I, mean, users, items, ratings)
    return snp.sum(e**2, where=train) + l2 * (snp.sum(u**2) + snp.sum(i**2))


def fit(users, items, ratings, epochs, batches, l2, seed=0):
    rng = np.random.default_rng(seed)
    train, tables = rng.random(len(users)) < 0.8, [0.1 * rng.normal(size=(n.max() + 1, 8)) for n in (users, items)]
    m, v = ([0 * t for t in tables] for _ in range(2))
    mean, step = ratings[train].mean(), sa.value_and_grad(loss, wrt=(0, 1), rows=(0, 1))
    for k in range(epochs * batches):
        part = slice(k % batches, None, batches)
        _, *gradients = step(*tables, mean, users[part], items[part], ratings[part], train[part], l2)
        for table, g, a, b in zip(tables, gradients, m, v):  # Adam on the rows that were read
            r = g.indices
            a[r], b[r] = 0.9 * a[r] + 0.1 * g.values, 0.999 * b[r] + 0.001 * g.values**2
            table[r] -= 0.02 * a[r] / (1 - 0.9 ** (k + 1)) / (np.sqrt(b[r] / (1 - 0.999 ** (k + 1))) + 1e-8)
    e = sa.jit(lambda *args: errors(*args)[0])(*tables, mean, users, items, ratings)
    return np.sqrt((e[~train] ** 2).mean()), step


if __name__ == "__main__":
    u, i, r = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1, usecols=(0, 1, 2)).T
    u, i = (np.unique(x, return_inverse=True)[1] for x in (u, i))
    print("held-out RMSE %.3f" % fit(u, i, r, 20, 25, 0.125)[0])
