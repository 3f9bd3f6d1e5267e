"""Several processes over torch.distributed (gloo): the losses of one process."""

import ast
import json
import os
import pathlib
import socket
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("torch")

FOLDER = pathlib.Path(__file__).parents[3] / "examples/python/distributed"

START = f"""
import json, sys
import numpy as np, scipy.sparse as sp, torch, torch.distributed as dist
sys.path.insert(0, {str(FOLDER)!r})
torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
rng = np.random.default_rng(0)
"""


def run(program, size):
    """What the processes print, as JSON, in the order of the ranks."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    environment = os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(size)}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", START + program + "\ndist.destroy_process_group()"],
            env=environment | {"RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]
    results = [p.communicate(timeout=300) for p in processes]
    assert all(p.returncode == 0 for p in processes), results
    return [json.loads(out) for out, _ in results]


def compare(program, sizes=(2,)):
    (one,) = run(program, 1)
    for size in sizes:
        for losses in run(program, size):
            np.testing.assert_allclose(losses, one, rtol=1e-12, atol=0)
    return one


def test_recommender():
    losses = compare("""
from recommender import fit
truth = [rng.normal(size=(n, 3)) for n in (60, 40)]
users, items = rng.integers(0, 60, 1500), rng.integers(0, 40, 1500)
ratings = 3 + (truth[0][users] * truth[1][items]).sum(1) + 0.1 * rng.normal(size=1500)
print(json.dumps(fit(users, items, ratings, 6, 5, 0.01)))
""")
    assert len(losses) == 30 and np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])


def test_graph_network():
    losses = compare("""
from gcn import fit
n = 101
A = sp.random_array((n, n), density=0.05, rng=rng, format="csr")
A.data[:] = 1
A = A + A.T + sp.eye_array(n)
A = sp.csr_array(sp.diags_array(1 / A.sum(axis=1)) @ A)
X = sp.random_array((n, 30), density=0.2, rng=rng, format="csr")
labels = np.asarray(X[:, :4].toarray().argmax(1))
print(json.dumps(fit(A, X, labels, rng.random(n) < 0.5, 20)))
""")
    assert len(losses) == 20 and losses[-1] < losses[0]


def test_sums():
    """Sums of numbers, arrays, sparse arrays and rows; of nothing, and in trees."""
    results = run("""
from sparse_autograd import RowSparse
from sparse_autograd.distributed import all_reduce, gather_rows, own_rows
rows = [np.array([0, 4]), np.array([], np.int64), np.array([1, 4, 5])][rank]
g = RowSparse(rows, np.full((len(rows), 2), 10.0 ** rank), (7, 2))
A = sp.csr_array(np.eye(3)) * float(rank)
tree = all_reduce({"n": 1.5, "x": (np.arange(3.0) * rank, g), "A": A})
total = tree["x"][1]
x = torch.full((rank, 2), float(rank), dtype=torch.float64).requires_grad_()
y = gather_rows(x)
(y * (rank + 1)).sum().backward()
share = own_rows(11)
print(json.dumps([float(tree["n"]), tree["x"][0].tolist(), total.indices.tolist(), total.values[:, 0].tolist(),
    tree["A"].diagonal().tolist(), y[:, 0].tolist(), x.grad.tolist(), [share.start, share.stop]]))
""", 3)
    for rank, (number, array, rows, values, diagonal, gathered, gradient, share) in enumerate(results):
        assert number == 4.5 and array == [0, 3, 6] and diagonal == [3, 3, 3]
        assert rows == [0, 1, 4, 5] and values == [1, 100, 101, 100]
        assert gathered == [1, 2, 2] and gradient == [[6, 6]] * rank
        assert share == [[0, 3], [3, 7], [7, 11]][rank]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda p: p.stem)
def test_lengths(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 50 and ast.parse(text)
