"""What benchmark/gpu compares results with: the comparison and some references.
Run in the folder of the bundle."""

import itertools
import os
import sys

import numpy as np

sys.path.insert(0, os.getcwd())
import bench  # noqa: E402
import kernels  # noqa: E402
import measure  # noqa: E402

x = np.arange(12.0).reshape(4, 3)
assert kernels.worst_error(x.astype(np.float32), x) == 0
for row in range(4):
    wrong = x.copy()
    wrong[row, 1] += 1e-3
    assert kernels.worst_error(wrong, x) > 1e-5, row
assert kernels.worst_error(x * np.nan, x) == np.inf
assert kernels.worst_error(np.where(x == 5, np.nan, x), x) == np.inf
assert kernels.worst_error(np.where(x == 5, np.inf, x), x) == np.inf
assert kernels.worst_error(x[:3], x) == np.inf
assert kernels.worst_error(x.reshape(3, 4), x) == np.inf
# Zeros have to be zero, beside numbers and alone.
assert kernels.worst_error(np.array([1e-3, 1]), np.array([0.0, 1])) > 1e-5
assert kernels.worst_error(np.array([1e-30]), np.array([0.0])) == np.inf
assert bench.complaint({}, 1) and bench.complaint({"x": np.nan}, 1)
assert bench.complaint({"x": 1.1}, 1) and not bench.complaint({"x": 1.0}, 1)

# Matrices are sorted, each entry once; what is transposed, taken or summed is
# that of the dense matrix.
for name, make in kernels.GRAPHS.items():
    a = make(5, 4, np.random.default_rng(3))
    dense = np.zeros(a.shape)
    dense[a.row_of_entries(), a.indices] = a.values
    assert np.count_nonzero(dense) == a.nnz > 60, name
    assert all(np.all(np.diff(a.indices[b:e]) > 0) for b, e in zip(a.indptr, a.indptr[1:]))
    v = np.random.default_rng(4).standard_normal((32, 2))
    assert np.allclose(kernels.product(a, v), dense @ v)
    assert np.allclose(kernels.product(a.transposed(), v), dense.T @ v)
    rows = np.array([0, 7, 31])
    part, entries = a.take_rows(rows)
    assert np.allclose(kernels.product(part, v), dense[rows] @ v)
    assert np.array_equal(part.values, a.values[entries])
    assert np.allclose(kernels.segment_sums(a.values, a.indptr), dense.sum(1), rtol=1e-5)
    assert np.allclose(kernels.product(a.scaled_to_one(), np.ones(32))[dense.any(1)], 1)

# Gradients of the references are those of differences.
rng = np.random.default_rng(5)
a = kernels.rmat(3, 3, rng)
arrays = [rng.standard_normal((8, 4)) for _ in range(4)]
gradients = kernels.Attention.gradients(a, *arrays)[1:]
x = a.scaled_to_one()
labels, selected = rng.integers(0, 3, 8), np.arange(8) % 2 == 0
weights = [rng.standard_normal((8, 4)), rng.standard_normal((4, 3))]
fixed = (a, a.transposed(), x, x.transposed(), labels, selected)
by_weights = kernels.Gcn.gradients(*fixed, *weights)[1:]
for loss, variables, found in (
        (lambda: kernels.Attention.gradients(a, *arrays)[0], arrays[:3], gradients),
        (lambda: kernels.Gcn.gradients(*fixed, *weights)[0], weights, by_weights)):
    for variable, gradient in zip(variables, found):
        for place in ((0, 0), (3, 2)):
            old = variable[place]
            variable[place] = old + 1e-5
            above = loss()
            variable[place] = old - 1e-5
            below = loss()
            variable[place] = old
            assert abs((above - below) / 2e-5 - gradient[place]) < 1e-6

# Of the bars, one holds only if each of its cells was measured and is fast enough,
# and so was each peer, in all its ways.
report = object.__new__(measure.Report)
report.present, report.way = {"cuSPARSE": "1", "PyTorch": "1"}, None


def verdict(seconds, peers, count=3, end=("done", False)):
    graphs = list(kernels.GRAPHS)[:count]
    report.rows = [{"kernel": "spmv", "family": "spmv", "graph": g, "seconds": seconds,
                    "peers": {}} for g in graphs]
    for peer, graph in itertools.product(peers, graphs):
        item = peer, "spmv", graph
        report.take(item, "compared", "first", {"seconds": peers[peer]})
        report.take(item, "compared", "second", {"error": "not supported"})
        report.take(item, *end)
    return next(v["verdict"] for v in report.judge() if v["family"] == "spmv")


assert verdict(1.0, {"cuSPARSE": 1.1, "PyTorch": 1.2}) == "holds"
assert verdict(1.0, {"cuSPARSE": 1.1, "PyTorch": 0.9}) == "missed"
assert verdict(1.0, {"cuSPARSE": 1.1}) == "not measured"
assert verdict(1.0, {"cuSPARSE": 1.1, "PyTorch": 1.2}, 2) == "not measured"
for end in (("fail", "the process ended"), ("done", True)):
    assert verdict(1.0, {"cuSPARSE": 1.1, "PyTorch": 1.2}, end=end) == "not measured"
print("all comparisons are as they should be")
