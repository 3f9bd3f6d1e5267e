"""The recommender of embeddings.py in several processes, each with its share of the
ratings and gradients of the rows that these read:
torchrun --nproc-per-node 2 recommender.py RATINGS.csv.gz"""

import pathlib
import sys

import numpy as np
import sparse_autograd as sa
import torch.distributed as dist
from sparse_autograd.distributed import all_reduce

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from embeddings import loss


def fit(users, items, ratings, epochs, batches, l2, seed=0):
    rank, size, rng = dist.get_rank(), dist.get_world_size(), np.random.default_rng(seed)
    train, tables = rng.random(len(users)) < 0.8, [0.1 * rng.normal(size=(n.max() + 1, 8)) for n in (users, items)]
    m, v, losses = [0 * t for t in tables], [0 * t for t in tables], []
    mean, step = ratings[train].mean(), sa.value_and_grad(loss, wrt=(0, 1), rows=(0, 1))
    for k in range(epochs * batches):
        part = slice(k % batches + rank * batches, None, size * batches)
        mine = step(*tables, mean, users[part], items[part], ratings[part], train[part], l2)
        value, *gradients = all_reduce(mine)
        losses.append(float(value))
        for table, g, a, b in zip(tables, gradients, m, v):  # Adam on the rows that were read
            r = g.indices
            a[r], b[r] = 0.9 * a[r] + 0.1 * g.values, 0.999 * b[r] + 0.001 * g.values**2
            table[r] -= 0.02 * a[r] / (1 - 0.9 ** (k + 1)) / (np.sqrt(b[r] / (1 - 0.999 ** (k + 1))) + 1e-8)
    return losses


if __name__ == "__main__":
    dist.init_process_group("gloo")
    u, i, r = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1, usecols=(0, 1, 2)).T
    u, i = (np.unique(x, return_inverse=True)[1] for x in (u, i))
    losses = fit(u, i, r, 20, 25, 0.125)
    if dist.get_rank() == 0:
        print("loss of the last batch %.3f" % losses[-1])
