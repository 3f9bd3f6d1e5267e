"""The kernels that are measured: their data, what they compute, what they move.

Each kernel is a program that repeats a step (programs/*.mlir). `expected` is
what some steps compute, in f64, for small data; `expected_part` is some of what
one step computes, for large data: of each result a function that takes a part of
it, or of each row one sum, and what that has to be. `bytes` is what a step has to move if
each operand is read and each result written once, `flops` its multiplications
and additions.
"""

import functools
import zlib

import numpy as np

from compiled import Sparse


class Csr:
    """A matrix by rows: positions, columns and values."""

    def __init__(self, indptr, indices, values, shape):
        self.indptr, self.indices, self.values, self.shape = indptr, indices, values, shape

    @property
    def nnz(self):
        return len(self.indices)

    def row_of_entries(self):
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def take_rows(self, rows):
        lengths = np.diff(self.indptr)[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        entries = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], lengths)
        return Csr(indptr, self.indices[entries], self.values[entries],
                   (len(rows), self.shape[1])), entries

    def storage(self, values=None):
        return Sparse([self.indptr, self.indices, self.values if values is None else values],
                      self.shape)

    def transposed(self):
        order = np.argsort(self.indices, kind="stable")
        counts = np.bincount(self.indices, minlength=self.shape[1])
        return Csr(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
                   self.row_of_entries()[order].astype(np.int32), self.values[order],
                   self.shape[::-1])

    def scaled_to_one(self):
        """Values divided so that each row adds up to one: powers of the matrix
        neither grow nor vanish."""
        sums = segment_sums(self.values.astype(np.float64), self.indptr)
        values = (self.values / np.repeat(sums, np.diff(self.indptr))).astype(np.float32)
        return Csr(self.indptr, self.indices, values, self.shape)


def from_edges(rows, columns, size, rng):
    """The matrix of a list of edges, each once, with values from 0.5 to 1.5."""
    # Sorted here: np.unique takes many times as long on long lists.
    keys = np.sort(rows.astype(np.int64) * size + columns)
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    rows, columns = np.divmod(keys, size)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=size))])
    values = rng.random(len(keys), np.float32) + np.float32(0.5)
    return Csr(indptr.astype(np.int32), columns.astype(np.int32), values, (size, size))


def rmat(scale, degree, rng):
    """R-MAT (Chakrabarti, Zhan and Faloutsos, SDM 2004), probabilities 0.57,
    0.19, 0.19 and 0.05, with nodes renumbered at random."""
    size, count = 1 << scale, degree << scale
    rows, columns = np.zeros(count, np.int32), np.zeros(count, np.int32)
    for _ in range(scale):
        draw = rng.random(count, np.float32)
        rows = 2 * rows + (draw >= 0.76)
        columns = 2 * columns + (((draw >= 0.57) & (draw < 0.76)) | (draw >= 0.95))
    names = rng.permutation(size)
    return from_edges(names[rows], names[columns], size, rng)


def power_law(scale, degree, rng):
    """Rows whose lengths fall as a power (exponent 2), columns at random."""
    size = 1 << scale
    weights = rng.permutation(1 / np.sqrt(1 + np.arange(size)))
    lengths = np.maximum(1, (weights * (degree * size / weights.sum())).astype(np.int64))
    rows = np.repeat(np.arange(size), np.minimum(lengths, size))
    return from_edges(rows, rng.integers(0, size, len(rows)), size, rng)


def banded(scale, degree, rng):
    """`degree` neighbouring entries around the diagonal."""
    size = 1 << scale
    rows = np.repeat(np.arange(size), degree)
    columns = rows + np.tile(np.arange(degree) - degree // 2, size)
    inside = (columns >= 0) & (columns < size)
    return from_edges(rows[inside], columns[inside], size, rng)


GRAPHS = {"rmat": rmat, "powerlaw": power_law, "banded": banded}


@functools.lru_cache(maxsize=None)
def graph_of(name, scale, degree):
    """The same graph for all kernels, made once; nobody changes it."""
    return GRAPHS[name](scale, degree, np.random.default_rng(
        [20261122, zlib.crc32(name.encode()), scale, degree]))


def segment_sums(values, indptr):
    """The sum of the values of each row; 0 of a row without any."""
    sums = np.zeros((len(indptr) - 1,) + values.shape[1:], values.dtype)
    filled = np.diff(indptr) > 0
    if len(values):
        sums[filled] = np.add.reduceat(values, indptr[:-1][filled], axis=0)
    return sums


def product(a, x):
    """A x in f64. SciPy is used where it is there, since it needs less memory."""
    x = x.astype(np.float64)
    try:
        import scipy.sparse
        matrix = scipy.sparse.csr_matrix(
            (a.values.astype(np.float64), a.indices, a.indptr), a.shape)
        return matrix @ x
    except ImportError:
        values = a.values.astype(np.float64).reshape((-1,) + (1,) * (x.ndim - 1))
        return segment_sums(values * x[a.indices], a.indptr)


def worst_error(found, expected):
    """The largest error of a row, as a share of the norm of the row or, if that
    is larger, of the root of the mean of their squares."""
    found, expected = np.asarray(found), np.asarray(expected, np.float64)
    if found.shape != expected.shape:
        return np.inf
    if not expected.size:
        return 0.0
    rows = expected.shape[0] if expected.ndim else 1
    difference = (found.astype(np.float64) - expected).reshape(rows, -1)
    norms = np.linalg.norm(expected.reshape(rows, -1), axis=1)
    scale = np.maximum(norms, np.sqrt(np.mean(norms**2)))
    errors = np.linalg.norm(difference, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(errors == 0, 0, errors / scale)
    return float(shares.max()) if np.all(np.isfinite(shares)) else np.inf


def some_rows(size, rng, count=1024):
    return np.unique(rng.integers(0, size, min(count, size)))


def at(rows):
    """Takes these rows of a result."""
    return lambda found: found[rows]


def everything(found):
    return found


def projected(weights):
    """Takes the weighted sum of each row of a result."""
    return lambda found: found.astype(np.float64) @ weights


def random_weights(count, rng):
    """Weights that are not near zero, so that none of what they weigh is lost."""
    return (rng.random(count) + 0.5) * rng.choice([-1.0, 1.0], count)


class Kernel:
    """One program with its data. `graphs` says whether it is measured on each
    graph; `tolerance` bounds worst_error; `options` are the compiler's, for a
    `source` that others may have as well."""

    family, graphs, tolerance, options = "", True, 1e-5, ()

    def __init__(self, name, program=None):
        self.name, self.program = name, program or name
        self.source = self.program

    def generator(self, graph):
        return np.random.default_rng([20261122, zlib.crc32(f"{self.name} {graph}".encode())])


class SpMV(Kernel):
    family = "spmv"

    def make(self, sizes, graph, rng):
        a = graph_of(graph, sizes["vector_scale"], sizes["degree"]).scaled_to_one()
        return {"matrix": a, "a": a.storage(), "x": rng.standard_normal(a.shape[1], np.float32)}

    def expected(self, data, steps):
        x = data["x"]
        for _ in range(steps):
            x = product(data["matrix"], x)
        return {"x": x}

    def expected_part(self, data, rng):
        return {"x": (everything, product(data["matrix"], data["x"]))}

    def bytes(self, data):
        a = data["matrix"]
        return 8 * a.nnz + 4 * len(a.indptr) + 8 * a.shape[0]

    def flops(self, data):
        return 2 * data["matrix"].nnz


class SpMM(SpMV):
    family = "spmm"

    def __init__(self, width):
        super().__init__(f"spmm{width}")
        self.width = width

    def make(self, sizes, graph, rng):
        a = graph_of(graph, sizes["matrix_scale"], sizes["degree"]).scaled_to_one()
        return {"matrix": a, "a": a.storage(),
                "x": rng.standard_normal((a.shape[1], self.width), np.float32)}

    def expected_part(self, data, rng):
        # (A X) w = A (X w): all rows for the price of one column.
        weights = random_weights(self.width, rng)
        return {"x": (projected(weights), product(self.operand(data), data["x"] @ weights))}

    @staticmethod
    def operand(data):
        return data["matrix"]

    def bytes(self, data):
        a = data["matrix"]
        return 8 * a.nnz + 4 * len(a.indptr) + 8 * a.shape[0] * self.width

    def flops(self, data):
        return 2 * data["matrix"].nnz * self.width


class SpMMTransposed(SpMM):
    family = "transposed"

    def __init__(self, width):
        super().__init__(width)
        self.name = self.program = self.source = f"spmm_transposed{width}"

    def make(self, sizes, graph, rng):
        # Columns that add up to one are rows of the transposed matrix.
        a = graph_of(graph, sizes["matrix_scale"], sizes["degree"])
        sums = np.bincount(a.indices, a.values, minlength=a.shape[1])
        a = Csr(a.indptr, a.indices, (a.values / sums[a.indices]).astype(np.float32), a.shape)
        return {"matrix": a, "a": a.storage(),
                "x": rng.standard_normal((a.shape[0], self.width), np.float32)}

    def expected(self, data, steps):
        x, transposed = data["x"], data["matrix"].transposed()
        for _ in range(steps):
            x = product(transposed, x)
        return {"x": x}

    @staticmethod
    def operand(data):
        return data["matrix"].transposed()


class SDDMM(Kernel):
    family = "sddmm"

    def __init__(self, width):
        super().__init__(f"sddmm{width}")
        self.width = width

    def make(self, sizes, graph, rng):
        a = graph_of(graph, sizes["matrix_scale"], sizes["degree"])
        return {"matrix": a, "v": a.storage(),
                "x": rng.standard_normal((a.shape[0], self.width), np.float32),
                "y": rng.standard_normal((a.shape[1], self.width), np.float32)}

    @staticmethod
    def _products(a, rows, data):
        x, y = data["x"].astype(np.float64), data["y"].astype(np.float64)
        return np.einsum("ek,ek->e", x[rows], y[a.indices])

    def expected(self, data, steps):
        a = data["matrix"]
        return {"v": a.values + steps * self._products(a, a.row_of_entries(), data)}

    def expected_part(self, data, rng):
        chosen = some_rows(data["matrix"].shape[0], rng)
        sub, entries = data["matrix"].take_rows(chosen)
        return {"v": (at(entries), sub.values + self._products(sub, chosen[sub.row_of_entries()], data))}

    def bytes(self, data):
        a = data["matrix"]
        return 12 * a.nnz + 4 * len(a.indptr) + 4 * self.width * sum(a.shape)

    def flops(self, data):
        return 2 * data["matrix"].nnz * self.width


class MaskedMean(Kernel):
    family, graphs = "masked", False

    def make(self, sizes, graph, rng):
        n = sizes["masked"]
        x = rng.standard_normal((n, n), np.float32)
        mask = rng.random((n, n), np.float32) < 0.5
        mask[n // 2] = False  # a row without any has no mean
        return {"x": x + np.float32(1), "mask": mask, "rate": 0.5}

    def expected(self, data, steps):
        x, mask, losses = data["x"].astype(np.float64), data["mask"], 0.0
        counts = mask.sum(1)
        for _ in range(steps):
            means = np.where(mask, x, 0).sum(1) / np.maximum(counts, 1)
            losses += (means**2).sum()
            gradient = 2 * means / np.maximum(counts, 1)
            x = x - data["rate"] * np.where(mask, gradient[:, None], 0)
        return {"x": x, "losses": np.array(losses)}

    def expected_part(self, data, rng):
        rows = some_rows(len(data["x"]), rng)
        part = dict(data, x=data["x"][rows], mask=data["mask"][rows])
        return {"x": (at(rows), self.expected(part, 1)["x"])}

    def bytes(self, data):
        return 9 * data["x"].size  # x and the mask in, x out

    def flops(self, data):
        return 3 * data["x"].size


class MaskedSoftmax(Kernel):
    family, graphs = "masked", False

    def make(self, sizes, graph, rng):
        n = sizes["masked"]
        mask = rng.random((n, n), np.float32) < 0.5
        mask[:, 0] = True
        return {"x": rng.standard_normal((n, n), np.float32), "mask": mask,
                "dy": rng.standard_normal((n, n), np.float32), "rate": 0.5}

    def expected(self, data, steps):
        x, mask, dy = data["x"].astype(np.float64), data["mask"], data["dy"].astype(np.float64)
        for _ in range(steps):
            largest = np.max(np.where(mask, x, -np.inf), axis=1, keepdims=True)
            y = np.where(mask, np.exp(np.where(mask, x - largest, 0)), 0)
            y /= y.sum(1, keepdims=True)
            x = x - data["rate"] * y * (dy - (y * dy).sum(1, keepdims=True))
            dy = y
        return {"x": x, "y": dy}

    def expected_part(self, data, rng):
        rows = some_rows(len(data["x"]), rng)
        part = dict(data, x=data["x"][rows], mask=data["mask"][rows], dy=data["dy"][rows])
        return {name: (at(rows), values) for name, values in self.expected(part, 1).items()}

    def bytes(self, data):
        return 17 * data["x"].size  # x, the mask and the cotangent in, x and y out

    def flops(self, data):
        return 8 * data["x"].size


class Attention(Kernel):
    family, width = "attention", 64

    def make(self, sizes, graph, rng):
        a = graph_of(graph, sizes["attention_scale"], sizes["degree"])
        data = {name: rng.standard_normal((a.shape[0], self.width), np.float32)
                for name in ("q", "k", "v", "target")}
        return {"matrix": a, "pattern": a.storage(np.ones(a.nnz, np.bool_)), "rate": 0.1, **data}

    @staticmethod
    def gradients(a, q, k, v, target, wanted=None):
        """The loss and the gradients by q, k and v; a has the rows of q. Only
        the rows `wanted` of the gradients by k and v, if they are given."""
        rows, columns = a.row_of_entries(), a.indices
        scale = 1 / np.sqrt(q.shape[1])
        scores = scale * np.einsum("ek,ek->e", q[rows], k[columns])
        largest = np.full(a.shape[0], -np.inf)
        np.maximum.at(largest, rows, scores)
        weights = np.exp(scores - largest[rows])
        weights /= segment_sums(weights, a.indptr)[rows]
        by_weight = np.einsum("ek,ek->e", target[rows], v[columns])
        by_score = scale * weights * (
            by_weight - segment_sums(weights * by_weight, a.indptr)[rows])
        dk, dv = np.zeros_like(k), np.zeros_like(v)
        kept = slice(None) if wanted is None else np.isin(columns, wanted)
        np.add.at(dk, columns[kept], by_score[kept, None] * q[rows[kept]])
        np.add.at(dv, columns[kept], weights[kept, None] * target[rows[kept]])
        dq = segment_sums(by_score[:, None] * k[columns], a.indptr)
        return (weights * by_weight).sum(), dq, dk, dv

    def expected(self, data, steps):
        q, k, v, target = (data[n].astype(np.float64) for n in ("q", "k", "v", "target"))
        losses, rate = 0.0, data["rate"]
        for _ in range(steps):
            loss, dq, dk, dv = self.gradients(data["matrix"], q, k, v, target)
            losses += loss
            q, k, v = q - rate * dq, k - rate * dk, v - rate * dv
        return {"q": q, "k": k, "v": v, "losses": np.array(losses)}

    def expected_part(self, data, rng):
        # Rows of k and v depend on every row of the pattern that names them.
        a = data["matrix"]
        columns = some_rows(a.shape[1], rng, 16)
        of_columns = np.unique(a.row_of_entries()[np.isin(a.indices, columns)])
        rows = np.union1d(some_rows(a.shape[0], rng, 16), of_columns)
        k, v = data["k"].astype(np.float64), data["v"].astype(np.float64)
        q, target = (data[n][rows].astype(np.float64) for n in ("q", "target"))
        _, dq, dk, dv = self.gradients(a.take_rows(rows)[0], q, k, v, target, columns)
        rate = data["rate"]
        return {"q": (at(rows), q - rate * dq), "k": (at(columns), (k - rate * dk)[columns]),
                "v": (at(columns), (v - rate * dv)[columns])}

    def bytes(self, data):
        # The pattern and the target in; queries, keys and values in and out.
        a = data["matrix"]
        return 4 * a.nnz + 4 * len(a.indptr) + 4 * 7 * data["q"].size

    def flops(self, data):
        return 2 * 6 * data["matrix"].nnz * self.width


class RowUpdate(Kernel):
    family, graphs = "row_update", False

    def make(self, sizes, graph, rng):
        rows, batch = sizes["table"], sizes["batch"]
        shape = (rows, 64)
        # Nobody's moments are near zero, where Adam would magnify rounding.
        return {"table": rng.random(shape, np.float32) - np.float32(0.5),
                "m": rng.random(shape, np.float32) - np.float32(0.5),
                "v": rng.random(shape, np.float32) + np.float32(0.1),
                "batch": rng.integers(0, rows, batch),
                "target": rng.standard_normal((batch, 64), np.float32),
                "stride": 7919}

    @staticmethod
    def step(table, m, v, ids, target, number):
        """Adam on the rows that are read; returns them, changed, and the loss."""
        rows, places = np.unique(ids, return_inverse=True)
        errors = table[ids] - target
        gradient = np.zeros((len(rows), table.shape[1]))
        np.add.at(gradient, places.reshape(-1), 2 * errors)
        m1 = m[rows] + 0.1 * (gradient - m[rows])
        v1 = v[rows] + 0.001 * (gradient**2 - v[rows])
        change = (m1 / (1 - 0.9**number)) / (np.sqrt(v1 / (1 - 0.999**number)) + 1e-8)
        return rows, table[rows] - 0.02 * change, m1, v1, (errors**2).sum()

    def expected(self, data, steps):
        table, m, v, target = (data[n].astype(np.float64) for n in ("table", "m", "v", "target"))
        losses = 0.0
        for number in range(steps):
            ids = (data["batch"] + number * data["stride"]) % len(table)
            rows, table[rows], m[rows], v[rows], loss = self.step(
                table, m, v, ids, target, number + 1)
            losses += loss
        return {"table": table, "m": m, "v": v, "losses": np.array(losses)}

    def expected_part(self, data, rng):
        # The rows of the batch, and some that it does not read.
        rows = np.union1d(data["batch"], some_rows(len(data["table"]), rng))
        table, m, v = (data[n][rows].astype(np.float64) for n in ("table", "m", "v"))
        part = {"table": table, "m": m, "v": v, "target": data["target"],
                "batch": np.searchsorted(rows, data["batch"]), "stride": 0}
        results = self.expected(part, 1)
        return {**{n: (at(rows), results[n]) for n in ("table", "m", "v")},
                "losses": (everything, results["losses"])}

    def bytes(self, data):
        read = len(np.unique(data["batch"]))
        return 6 * 4 * 64 * read + 4 * data["target"].size + 8 * len(data["batch"])

    def flops(self, data):
        return 20 * 64 * len(np.unique(data["batch"]))


class AttentionByRows(Attention):
    """The same with one kernel for what is done to a row, forward and backward."""

    family, options = "attention_rows", ("--whole-rows",)

    def __init__(self, name):
        super().__init__(name)
        self.source = "attention"


class Gcn(Kernel):
    family, graphs = "gcn", False
    # The first step of Adam is the sign of the gradient: where that is nearly
    # zero, rounding decides. The loss has no such places.
    tolerance = 2e-3

    def make(self, sizes, graph, rng):
        edges = rmat(sizes["gcn_scale"], sizes["gcn_degree"], rng)
        nodes, inputs = edges.shape[0], sizes["features"]
        rows, own = edges.row_of_entries(), np.arange(nodes)
        n = from_edges(np.concatenate([rows, edges.indices, own]),
                       np.concatenate([edges.indices, rows, own]), nodes, rng)
        roots = 1 / np.sqrt(np.diff(n.indptr))
        n.values = (roots[n.row_of_entries()] * roots[n.indices]).astype(np.float32)
        count = min(16, inputs)
        features = from_edges(np.repeat(own, count), rng.integers(0, inputs, nodes * count),
                              max(nodes, inputs), rng)
        x = Csr(features.indptr[:nodes + 1], features.indices, features.values, (nodes, inputs))
        x = x.scaled_to_one()

        def weights(rows, columns):
            width = np.float32(np.sqrt(24 / (rows + columns)))
            return width * (rng.random((rows, columns), np.float32) - np.float32(0.5))

        return {"matrix": n, "n": n.storage(), "features": x, "x": x.storage(),
                "labels": rng.integers(0, 7, nodes).astype(np.int32),
                "selected": rng.random(nodes) < 0.5,
                "w1": weights(inputs, 16), "w2": weights(16, 7)}

    @staticmethod
    def gradients(n, nt, x, xt, labels, selected, w1, w2):
        layer1 = product(n, product(x, w1))
        units = np.maximum(layer1, 0)
        logits = product(n, units @ w2)
        shifted = logits - logits.max(1, keepdims=True)
        logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
        nodes = np.arange(len(labels))
        count = selected.sum()
        loss = -logs[nodes, labels][selected].sum() / count
        d = np.exp(logs)
        d[nodes, labels] -= 1
        d *= selected[:, None] / count
        d = product(nt, d)
        d1 = (d @ w2.T) * (layer1 > 0)
        return loss, product(xt, product(nt, d1)), units.T @ d

    def expected(self, data, steps):
        n, x = data["matrix"], data["features"]
        fixed = (n, n.transposed(), x, x.transposed(), data["labels"], data["selected"])
        weights = [data["w1"].astype(np.float64), data["w2"].astype(np.float64)]
        moments = [(np.zeros_like(w), np.zeros_like(w)) for w in weights]
        losses = 0.0
        for number in range(1, steps + 1):
            loss, *gradients = self.gradients(*fixed, *weights)
            losses += loss
            for i, g in enumerate(gradients):
                m, v = moments[i]
                m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
                moments[i] = m, v
                weights[i] = weights[i] - 0.01 * (m / (1 - 0.9**number)) / (
                    np.sqrt(v / (1 - 0.999**number)) + 1e-8)
        return {"w1": weights[0], "w2": weights[1], "losses": np.array(losses)}

    def expected_part(self, data, rng):
        results = self.expected(data, 1)
        # All of it, and as one: see `tolerance`.
        as_one = lambda found: found.reshape(1, -1)  # noqa: E731
        return {"w1": (as_one, as_one(results["w1"])), "w2": (as_one, as_one(results["w2"])),
                "losses": (everything, results["losses"])}

    def bytes(self, data):
        # Four products with N, two with X, and of their dense operands and
        # results: 16 and 7 numbers for each node.
        n, x = data["matrix"], data["features"]
        sparse = 4 * (8 * n.nnz + 4 * len(n.indptr)) + 2 * (8 * x.nnz + 4 * len(x.indptr))
        return sparse + 4 * n.shape[0] * (2 * (4 * 16) + 2 * (4 * 7))

    def flops(self, data):
        n, x = data["matrix"], data["features"]
        return 2 * (2 * n.nnz * (16 + 7) + 2 * x.nnz * 16 + 3 * n.shape[0] * 16 * 7)


class Copy(Kernel):
    family, graphs = "copy", False

    def make(self, sizes, graph, rng):
        return {"x": rng.random(sizes["copy"], np.float32) - np.float32(0.5), "c": -1.0}

    def expected(self, data, steps):
        return {"x": data["x"].astype(np.float64) * (-1.0)**steps}

    def expected_part(self, data, rng):
        rows = some_rows(len(data["x"]), rng, 1 << 20)
        return {"x": (at(rows), -data["x"][rows])}

    def bytes(self, data):
        return 8 * data["x"].size

    def flops(self, data):
        return data["x"].size


class Product24(Kernel):
    """In f16, which rounds each result: a row is off by about 2^-11 of its norm."""

    family, graphs, tolerance = "product_24", False, 2e-3

    def make(self, sizes, graph, rng):
        n = sizes["product"]
        w = rng.standard_normal((n, n), np.float32)
        # Of four neighbours the two that are larger: sums of n / 2 terms, which keep
        # the size of x.
        groups = np.pad(np.abs(w), ((0, 0), (0, -n % 4))).reshape(n, -1, 4)
        order = np.argsort(np.argsort(-groups, axis=2, kind="stable"), axis=2)
        kept = (order < 2).reshape(n, -1)[:, :n]
        norms = np.linalg.norm(np.where(kept, w, 0), axis=1, keepdims=True)
        # Rounded numbers may be equal: what is selected is what is not zero.
        w = np.where(kept, w / norms, 0).astype(np.float16)
        return {"w": w,
                "x": rng.standard_normal((n, n), np.float32).astype(np.float16)}

    def expected(self, data, steps):
        x, w = data["x"].astype(np.float64), data["w"].astype(np.float64)
        for _ in range(steps):
            x = x @ w.T
        return {"x": x}

    def expected_part(self, data, rng):
        rows = some_rows(len(data["x"]), rng, 64)
        w = data["w"].astype(np.float32)
        return {"x": (at(rows), data["x"][rows].astype(np.float32) @ w.T)}

    def bytes(self, data):
        # Values and metadata of W, X and the result.
        return data["w"].size * 9 // 8 + 4 * data["x"].size

    def flops(self, data):
        # Those of the stored terms.
        return data["x"].size * data["w"].shape[1]


class Product24Dense(Product24):
    family, options = "product_24_dense", ("--product-24=dense",)

    def __init__(self, name):
        super().__init__(name)
        self.source = "product_24"


WIDTHS = {"spmm": (32, 64, 128, 256), "spmm_transposed": (64,), "sddmm": (64, 128)}

# In the order in which they are measured: first what the others are compared with.
KERNELS = {kernel.name: kernel for kernel in (
    Copy("copy"), SpMV("spmv"), *map(SpMM, WIDTHS["spmm"]), *map(SDDMM, WIDTHS["sddmm"]),
    *map(SpMMTransposed, WIDTHS["spmm_transposed"]), RowUpdate("row_update"),
    MaskedMean("masked_mean"), MaskedSoftmax("masked_softmax"), Attention("attention"),
    AttentionByRows("attention_rows"), Gcn("gcn"), Product24("product_24"),
    Product24Dense("product_24_dense"))}

# Extents: powers of two of nodes, entries of a row, elements. Large data are some
# times what a cache of 60 MB holds. Of more than 256 indices a device sorts the
# list, and that has to be checked at every size; sums of rows of 4096 entries and
# more are cut into chunks, and that in whole at the small one.
SIZES = {
    "full": {"vector_scale": 20, "matrix_scale": 18, "attention_scale": 17, "degree": 16,
             "masked": 8192, "table": 1 << 20, "batch": 1 << 16, "gcn_scale": 17,
             "gcn_degree": 6, "features": 512, "copy": 1 << 27, "product": 8192},
    "small": {"vector_scale": 10, "matrix_scale": 10, "attention_scale": 10, "degree": 8,
              "masked": 200, "table": 1000, "batch": 300, "gcn_scale": 11,
              "gcn_degree": 4, "features": 40, "copy": 100000, "product": 100},
    "tiny": {"vector_scale": 6, "matrix_scale": 4, "attention_scale": 4, "degree": 3,
             "masked": 37, "table": 50, "batch": 270, "gcn_scale": 5,
             "gcn_degree": 2, "features": 12, "copy": 1000, "product": 64},
}
