#!/usr/bin/env python3
"""Compares a step of a graph network with PyTorch and JAX, on one core.

The step is the loss of a network of two layers (Kipf and Welling) without
dropout and its gradients by both weights, in f32. It is traced by the Python
package of this project; PyTorch has CSR matrices, lists of edges, and lists of
edges compiled (`--compile`); JAX has BCOO. What is not installed is not
measured. All losses are compared, then the steps are timed in turn, and the best
of the rounds counts. See README.md.
"""

import argparse
import json
import os
import sys
import time

# One thread: to be said before the libraries start.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + (
    " --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402

HIDDEN, DECAY = 16, np.float32(2.5e-4)


def to_csr(matrix):
    matrix = sp.csr_array(matrix).astype(np.float32).sorted_indices()
    matrix.indices = matrix.indices.astype(np.int32)
    matrix.indptr = matrix.indptr.astype(np.int32)
    return matrix


class Problem:
    """The normalized adjacency and features, and what the loss compares with."""

    def __init__(self, path, nodes):
        rng = np.random.default_rng(0)
        if path:
            z = np.load(path)
            adjacency, features = (sp.csr_array(
                (np.ones(len(z[f"{name}_indices"])), z[f"{name}_indices"],
                 z[f"{name}_indptr"])) for name in ("adj", "feat"))
            labels, train = z["label"], np.isin(np.arange(len(z["label"])),
                                                z["train"])
        else:
            half = sp.random_array((nodes, nodes), density=2.5 / nodes, rng=rng)
            adjacency = ((half + half.T) != 0).astype(np.float64)
            features = sp.random_array((nodes, nodes // 2), density=0.05, rng=rng)
            features = (features != 0).astype(np.float64)
            labels, train = rng.integers(0, 7, nodes), rng.random(nodes) < 0.1
        adjacency = adjacency + sp.eye_array(adjacency.shape[0])
        roots = sp.diags_array(1 / np.sqrt(adjacency.sum(axis=1)))
        rows = sp.diags_array(1 / np.maximum(features.sum(axis=1), 1))
        self.A, self.X = to_csr(roots @ adjacency @ roots), to_csr(rows @ features)
        self.hot = np.eye(labels.max() + 1, dtype=np.float32)[labels]
        self.train = train
        self.W1, self.W2 = (rng.uniform(-0.1, 0.1, shape).astype(np.float32)
                            for shape in ((self.X.shape[1], HIDDEN),
                                          (HIDDEN, self.hot.shape[1])))


def make_program(p):
    import sparse_autograd as sa
    import sparse_autograd.numpy as snp

    def loss(A, X, hot, train, W1, W2):
        H = snp.maximum(A @ (X @ W1), 0)
        logp = snp.log_softmax(A @ (H @ W2))
        return (snp.mean(-snp.sum(logp * hot, axis=1), where=train) +
                DECAY * snp.sum(W1**2))

    step = sa.value_and_grad(loss, (4, 5))
    return {"program": lambda: step(p.A, p.X, p.hot, p.train, p.W1, p.W2)}


def make_torch(p, compiled):
    import torch

    torch.set_num_threads(1)
    weights = [torch.from_numpy(w).requires_grad_() for w in (p.W1, p.W2)]
    hot, train = torch.from_numpy(p.hot), torch.from_numpy(np.flatnonzero(p.train))

    def by_csr(matrix):
        csr = torch.sparse_csr_tensor(
            *map(torch.from_numpy, (matrix.indptr, matrix.indices, matrix.data)),
            matrix.shape)
        return lambda y: csr @ y

    def by_edges(matrix):
        coo = matrix.tocoo()
        row, column = (torch.from_numpy(c.astype(np.int64)) for c in coo.coords)
        value = torch.from_numpy(coo.data)[:, None]
        rows = matrix.shape[0]
        return lambda y: torch.zeros(rows, y.shape[1]).index_add(
            0, row, value * y[column])

    def make(product, wrap=lambda f: f):
        byA, byX = product(p.A), product(p.X)

        def loss(W1, W2):
            logp = torch.log_softmax(byA(torch.relu(byA(byX(W1))) @ W2), 1)
            return -(logp * hot).sum(1)[train].mean() + float(DECAY) * (W1**2).sum()

        wrapped = wrap(loss)

        def step():
            value = wrapped(*weights)
            return value.detach(), *torch.autograd.grad(value, weights)

        return step

    steps = {"torch CSR": make(by_csr), "torch edges": make(by_edges)}
    if compiled:
        steps["torch edges, compiled"] = make(by_edges, torch.compile)
    return steps


def make_jax(p):
    import jax
    import jax.numpy as jnp
    from jax.experimental import sparse as jsparse

    def to_bcoo(matrix):
        coo = matrix.tocoo()
        return jsparse.BCOO((jnp.array(coo.data), jnp.stack(coo.coords, 1)),
                            shape=matrix.shape, indices_sorted=True,
                            unique_indices=True)

    A, X = to_bcoo(p.A), to_bcoo(p.X)

    def loss(weights, A, X):
        W1, W2 = weights
        logp = jax.nn.log_softmax(A @ (jax.nn.relu(A @ (X @ W1)) @ W2))
        each = jnp.where(p.train, -jnp.sum(logp * p.hot, 1), 0)
        return jnp.sum(each) / p.train.sum() + DECAY * jnp.sum(W1**2)

    step = jax.jit(jax.value_and_grad(loss))

    def run():
        value, gradients = jax.block_until_ready(step((p.W1, p.W2), A, X))
        return value, *gradients

    return {"jax BCOO": run}


def collect(p, compiled):
    steps = make_program(p)
    for name, make in (("torch", lambda: make_torch(p, compiled)),
                       ("jax", lambda: make_jax(p))):
        try:
            steps |= make()
        except ImportError:
            print(f"{name}: not measured, it is not installed")
    return steps


def check(steps):
    """Compares losses and gradients with the program's, compiling all."""
    expected = [np.asarray(part) for part in steps["program"]()]
    for name, step in steps.items():
        for part, other in zip(expected, step()):
            error = np.max(np.abs(part - np.asarray(other)))
            if not error <= 1e-4 * max(1, np.max(np.abs(part))):
                sys.exit(f"{name} differs from the program by {error:.3g}")


def measure(steps, rounds, calls):
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(rounds):
        for name, step in steps.items():
            step()
            for _ in range(calls):
                begin = time.perf_counter()
                step()
                best[name] = min(best[name], time.perf_counter() - begin)
    return best


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="an .npz file with the members of examples/gcn.mlir; else random data")
    parser.add_argument("--nodes", type=int, default=2000, help="of random data")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=5, help="of a round")
    parser.add_argument("--compile", action="store_true", help="measure torch.compile, which takes a minute, too")
    parser.add_argument("--require", type=float, metavar="RATIO", help="fail if a peer takes less than RATIO times as long as the program")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()

    steps = collect(Problem(options.data, options.nodes), options.compile)
    check(steps)
    best = measure(steps, options.rounds, options.calls)
    print(f"{'step':24}{'ms':>8}{'x program':>11}")
    for name, seconds in best.items():
        print(f"{name:24}{1e3 * seconds:8.3f}{seconds / best['program']:11.2f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(best, file, indent=1)
    peers = {name: s for name, s in best.items() if name != "program"}
    if options.require and peers:
        least = min(peers.values()) / best["program"]
        if least < options.require:
            sys.exit(f"a peer takes {least:.2f} times as long as the program, less than {options.require}")


if __name__ == "__main__":
    main()
