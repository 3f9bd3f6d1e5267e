"""Checks examples/gcn_edges.mlir against an independent NumPy training run.

  gcn_edges.py MLIR FOLDER

Trains on a directed graph with edges of different weights, some nodes without
edges and some stored zeros, from given initial values. The loss of every epoch
and the weights of the edges at the end must agree with NumPy, which works on
dense matrices with gradients written by hand, to 1e-8.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, load_npz, save_npz

TOLERANCE = 1e-8
NODES, INPUTS, HIDDEN, CLASSES, EPOCHS = 60, 5, 8, 3, 60


def problem():
    rng = np.random.default_rng(7)
    labels = rng.integers(0, CLASSES, NODES)
    inside = labels[:, None] == labels[None, :]
    stored = rng.random((NODES, NODES)) < np.where(inside, 0.2, 0.05)
    stored |= np.eye(NODES, dtype=bool)
    stored[[3, 17]] = False
    adjacency = np.where(stored, rng.uniform(0.5, 2, stored.shape), 0)
    edges = np.where(stored, rng.normal(1, 0.2, stored.shape), 0)
    # Stored zeros: an edge that has no weight yet, and one that is none.
    i, j = np.nonzero(stored)
    edges[i[::11], j[::11]] = 0
    adjacency[i[5::31], j[5::31]] = 0
    order = rng.permutation(NODES)
    return {"adjacency": adjacency, "edges": edges,
            "features": rng.normal(size=(NODES, INPUTS))
            + np.eye(CLASSES, INPUTS)[labels],
            "labels": labels.astype(np.int32),
            "train": order[:20].astype(np.int32),
            "test": order[20:].astype(np.int32),
            "w1": rng.normal(0, 0.6, (INPUTS, HIDDEN)),
            "w2": rng.normal(0, 0.6, (HIDDEN, CLASSES))}, stored


def fit(data, stored):
    """The losses, the accuracy and the weights of the edges."""
    x, train, labels = data["features"], data["train"], data["labels"]
    sums = data["adjacency"].sum(axis=1, keepdims=True)
    graph = np.divide(data["adjacency"], sums, where=sums != 0,
                      out=np.zeros_like(data["adjacency"]))
    parameters = [data[name].copy() for name in ("w1", "w2", "edges")]
    m = [np.zeros_like(p) for p in parameters]
    v = [np.zeros_like(p) for p in parameters]
    wanted = np.eye(CLASSES)[labels]

    def forward():
        w1, w2, edges = parameters
        p = graph * edges
        layer = p @ (x @ w1)
        units = np.maximum(layer, 0)
        return p, layer, units, p @ (units @ w2)

    losses = []
    for epoch in range(1, EPOCHS + 1):
        w1, w2, _ = parameters
        p, layer, units, logits = forward()
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        losses.append(-np.log((shares * wanted).sum(axis=1))[train].mean())
        of_logits = np.zeros_like(logits)
        of_logits[train] = (shares - wanted)[train] / len(train)
        back = p.T @ of_logits
        of_layer = (back @ w2.T) * (layer > 0)
        of_p = of_logits @ (units @ w2).T + of_layer @ (x @ w1).T
        gradients = [x.T @ (p.T @ of_layer), units.T @ back,
                     np.where(stored, graph * of_p, 0)]
        for k, g in enumerate(gradients):
            m[k] = 0.9 * m[k] + 0.1 * g
            v[k] = 0.999 * v[k] + 0.001 * g * g
            parameters[k] = parameters[k] - 0.01 * (
                m[k] / (1 - 0.9 ** epoch)
                / (np.sqrt(v[k] / (1 - 0.999 ** epoch)) + 1e-8))
    logits = forward()[3]
    # A node without edges has equal logits: a tie is a hit.
    hits = (logits * wanted).sum(axis=1) == logits.max(axis=1)
    return np.array(losses), hits[data["test"]].mean(), parameters[2]


def run(example, folder, data, stored):
    """The same of the example, and the pattern of the edges."""
    command = ["sparse-runner", example, "--entry=fit", "--arg",
               f"epochs={EPOCHS}"]
    i, j = np.nonzero(stored)
    for name, value in data.items():
        if name in ("adjacency", "edges"):
            file = folder / f"{name}.npz"
            save_npz(file, csr_array((value[i, j], (i, j)), value.shape))
        else:
            file = folder / f"{name}.npy"
            np.save(file, value)
        command += ["--arg", f"{name}={file}"]
    results = {"losses": folder / "losses.npy",
               "test_accuracy": folder / "accuracy.npy",
               "learned_edges": folder / "learned.npz"}
    for name, file in results.items():
        command += ["--result", f"{name}={file}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    learned = load_npz(results["learned_edges"]).tocoo()
    pattern = np.zeros(stored.shape, bool)
    pattern[learned.coords] = True
    return (np.load(results["losses"]), np.load(results["test_accuracy"]),
            learned.toarray(), pattern)


def main():
    example, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    data, stored = problem()
    losses, accuracy, edges = fit(data, stored)
    found, found_accuracy, learned, pattern = run(example, folder, data, stored)
    if (pattern != stored).any():
        sys.exit("the weights of the edges have left their pattern")
    if losses[-1] > losses[0] / 4:
        sys.exit(f"NumPy itself does not learn: {losses[0]} to {losses[-1]}")
    still = (edges == data["edges"])[stored].mean()
    if not 0 < still < 0.5:
        sys.exit(f"{still:.0%} of the edges do not learn")
    difference = np.abs(found - losses) / losses
    if found.shape != losses.shape or not difference.max() <= TOLERANCE:
        sys.exit(f"the losses differ: {found}\nNumPy has {losses}")
    of_edges = np.abs(learned - edges).max()
    if not of_edges <= TOLERANCE:
        sys.exit(f"the weights of the edges differ by {of_edges}")
    if found_accuracy != accuracy:
        sys.exit(f"the accuracy is {found_accuracy}, NumPy has {accuracy}")
    print(f"{EPOCHS} epochs, loss {losses[0]:.4f} to {losses[-1]:.4f}, "
          f"largest relative difference {difference.max():.1e}")
    print(f"{stored.sum()} weights of edges, largest difference {of_edges:.1e}")


if __name__ == "__main__":
    main()
