"""What calls copy and allocate, by the counters of the runtime: shared patterns,
results in memory of the caller's, arguments with strides."""

import functools
import gc

import numpy as np
import pytest
import scipy.sparse as sp

import sparse_autograd as sa
import sparse_autograd.numpy as snp

FAST = {"optimization_level": 1}
rng = np.random.default_rng(3)


def cost(call):
    """What a call returns, and the bytes that it allocates and copies."""
    before = sa.counters()
    result = call()
    after = sa.counters()
    names = "allocations", "allocated_bytes", "copied_bytes"
    return result, *(after[name] - before[name] for name in names)


def matrix(form="csr", shape=(30, 20), density=0.2):
    A = sp.random_array(shape, density=density, rng=rng, format="csr")
    return A.tobsr((2, 2)).sorted_indices() if form == "bsr" else A.asformat(form)


def aligned(shape, dtype=np.float64):
    """An array that begins at a multiple of 64 bytes."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.empty(size + 64, np.uint8)
    first = -raw.ctypes.data % 64
    return raw[first : first + size].view(dtype).reshape(shape)


def lists(A):
    return [*A.coords] if A.format == "coo" else [A.indptr, A.indices]


@functools.cache
def product():
    return sa.jit(lambda A, X: A @ X, **FAST)


@functools.cache
def pair():
    """A product and its backward function, two entries."""
    m = "tensor<?x?xf64, #csr>"
    return sa.Module.parse(f"""
      #csr = #sparse_tensor.encoding<{{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}}>
      func.func @spmm(%a: {m} {{sparse_autograd.name = "a"}},
                      %b: tensor<?x?xf64> {{sparse_autograd.name = "b"}}) -> tensor<?x?xf64> {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %m = tensor.dim %a, %c0 : {m}
        %n = tensor.dim %b, %c1 : tensor<?x?xf64>
        %z = arith.constant 0.0 : f64
        %e = tensor.empty(%m, %n) : tensor<?x?xf64>
        %i = linalg.fill ins(%z : f64) outs(%e : tensor<?x?xf64>) -> tensor<?x?xf64>
        %y = linalg.matmul ins(%a, %b : {m}, tensor<?x?xf64>) outs(%i : tensor<?x?xf64>) -> tensor<?x?xf64>
        return %y : tensor<?x?xf64>
      }}
      sparse_autograd.split_vjp @spmm as @forward, @backward {{wrt = [0, 1]}}
    """).compile(**FAST)


def test_a_pair_allocates_results_alone():
    A, B = matrix(), rng.normal(size=(20, 4))
    (Y, *residuals), _, allocated, copied = cost(lambda: pair().forward(A, B))
    np.testing.assert_allclose(Y, A @ B)
    assert allocated == Y.nbytes and copied == 0
    # Residuals that are arguments are these, for reading only.
    arrays = [a for r in residuals for a in ([*lists(r), r.data] if sp.issparse(r) else [r])]
    assert all(not a.flags.writeable for a in arrays)
    ct = np.ones_like(Y)
    (dA, dB), _, allocated, copied = cost(lambda: pair().backward(*residuals, ct))
    assert allocated == dA.data.nbytes + dB.nbytes and copied == 0
    np.testing.assert_allclose(dB, A.T @ ct)
    assert dA.indptr.ctypes.data == A.indptr.ctypes.data
    assert dA.indices.ctypes.data == A.indices.ctypes.data
    assert dA.data.flags.writeable and dB.flags.writeable


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_gradients_share_the_pattern(form):
    A, X = matrix(form), np.ones((20, 3))
    step = sa.value_and_grad(lambda A, X: snp.sum(A @ X), **FAST)
    (_, dA), *_, copied = cost(lambda: step(A, X))
    assert copied == 0
    for mine, yours in zip(lists(dA), lists(A)):
        assert np.shares_memory(mine, yours) and not mine.flags.writeable
    assert not np.shares_memory(dA.data, A.data) and dA.data.flags.writeable
    # They stay as long as the gradient does.
    wanted = dA.toarray()
    del A
    gc.collect()
    junk = [np.full(200, 7, np.int32) for _ in range(200)]
    assert (dA.toarray() == wanted).all() and junk
    # The usual arithmetic of SciPy.
    assert ((dA + dA).toarray() == 2 * wanted).all() and (dA.T.toarray() == wanted.T).all()
    assert (dA.copy().toarray() == wanted).all()


def test_results_that_are_arguments():
    A, x = matrix(), np.ones(3)
    B, y = sa.jit(lambda A, x: (A, x), **FAST)(A, x)
    # Of a dense argument it is a copy, of a sparse one it is the argument.
    assert not np.shares_memory(x, y) and y.flags.writeable
    assert np.shares_memory(A.data, B.data) and not B.data.flags.writeable
    # A result that shares the pattern of another result.
    def f(A, B):
        C = A @ B
        return C, C * 2

    C, D = sa.jit(f, **FAST)(A, matrix(shape=(20, 30)))
    assert np.shares_memory(C.indices, D.indices)
    wanted = 2 * C.toarray()
    del C
    gc.collect()
    assert (D.toarray() == wanted).all()


def test_destinations():
    A, X = matrix(), rng.normal(size=(20, 4))
    out = aligned((30, 4))
    Y, allocations, _, copied = cost(lambda: product()(A, X, out=out))
    assert Y is out and allocations == 0 and copied == 0
    np.testing.assert_allclose(out, A @ X)
    # Memory that is not aligned is copied to.
    out = aligned((31 * 4,))[1 : 1 + 30 * 4].reshape(30, 4)
    Y, _, _, copied = cost(lambda: product()(A, X, out=out))
    assert Y is out and copied == out.nbytes
    np.testing.assert_allclose(out, A @ X)

    step = sa.value_and_grad(lambda A, p: snp.sum((A @ p["X"]) ** 2), wrt=(0, 1), **FAST)
    value, dA, dp = step(A, {"X": X})
    g, data = aligned(X.shape), aligned(A.nnz)
    again, dA2, dp2 = step(A, {"X": X}, out=(None, data, {"X": g}))
    assert again == value and dp2["X"] is g and np.shares_memory(dA2.data, data)
    assert (g == dp["X"]).all() and (data == dA.data).all()
    assert dA2.indices.ctypes.data == A.indices.ctypes.data
    # A sparse array in place of its values, only some results, an entry.
    step(A, {"X": X}, out=(None, dA2, None))
    assert (dA2.data == dA.data).all()
    executable = step.lower(A, {"X": X}).compile(**FAST)
    entry = next(iter(executable.entries.values()))
    _, _, third = entry(A, X, out=[None, None, g])
    assert third is g


def test_destinations_that_are_refused():
    A, X = matrix(), rng.normal(size=(20, 4))
    f = product()
    f(A, X)
    for out, problem in [
        (np.zeros((30, 4), np.float32), "elements of float64, not float32"),
        (np.zeros(30), "has 2 dimensions to write, not 1"),
        ([[[0.0] * 4] * 30], "is written to an array, not to a list"),
    ]:
        with pytest.raises(TypeError, match=problem):
            f(A, X, out=out)
    with pytest.raises(TypeError, match="returns 1 results; out has 2"):
        next(iter(f.lower(A, X).compile(**FAST).entries.values()))(A, X, out=[None, None])
    with pytest.raises(sa.ArgumentError, match="extent 0 is 29, but that of the result is 30"):
        f(A, X, out=np.zeros((29, 4)))
    with pytest.raises(sa.ArgumentError, match="not dense in row-major order"):
        f(A, X, out=np.zeros((4, 30)).T)
    square = matrix(shape=(20, 20))
    with pytest.raises(sa.ArgumentError, match="overlaps an argument"):
        f(square, X, out=X)
    with pytest.raises((BufferError, ValueError), match="read-only|not writ"):
        f(A, X, out=np.broadcast_to(np.zeros((30, 1)), (30, 4)))
    loss = sa.jit(lambda x: snp.sum(x), **FAST)
    assert loss(np.ones(3), out=np.zeros(())) == 3
    # A function may have a parameter of this name.
    assert sa.jit(lambda x, out: x + out, **FAST)(1.0, out=2.0) == 3


def test_strides():
    f = sa.jit(lambda x, y: snp.sum(x * y, axis=1), **FAST)
    x, y = rng.normal(size=(8, 6)), rng.normal(size=(6, 16))
    for strided in (y.T[::2], y.T[::-2], y[:, :8].T):
        # The entry copies it once, and counts that.
        result, *_, copied = cost(lambda: f(x, strided))
        np.testing.assert_allclose(result, (x * strided).sum(axis=1))
        assert copied == strided.nbytes
    # Coordinates side by side, as an array of structs.
    dense = np.array([[1.0, 0, 2], [0, 3, 0]])
    A = sp.coo_array(dense)
    pairs = np.ascontiguousarray(np.stack(A.coords, axis=1))
    A.coords = tuple(pairs.T)
    assert A.coords[0].strides == (2 * pairs.itemsize,)
    assert (product()(A, np.eye(3)) == dense).all()


def test_no_blocks_are_left():
    step = sa.value_and_grad(lambda A, X: snp.sum((A @ X) ** 2), wrt=(0, 1), **FAST)
    A, X = matrix(), np.ones((20, 3))
    out = aligned(X.shape)
    step(A, X)
    gc.collect()
    before = sa.counters()["live_blocks"]
    for i in range(300):
        step(A, X, out=(None, None, out if i % 2 else None))
    gc.collect()
    assert sa.counters()["live_blocks"] == before


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("shape", [(), (1, 1), (4,), (30, 1)])
def test_broadcasts_in_products(form, shape):
    """A product with a sparse matrix reads what is broadcast where it is."""

    def gradients(c, A, X):
        y = A @ X
        _, dA, dX = sa.vjp(lambda A, X: A @ X, wrt=(0, 1))(A, X, cotangents=snp.broadcast_to(c, y.shape))
        return dA, dX

    f = sa.jit(gradients, **FAST)
    A, X, c = matrix(form), rng.normal(size=(20, 4)), rng.normal(size=shape)
    f(c, A, X)
    (dA, dX), _, allocated, copied = cost(lambda: f(c, A, X))
    assert allocated == dA.data.nbytes + dX.nbytes and copied == 0
    ct = np.broadcast_to(c, (30, 4))
    np.testing.assert_allclose(dX, A.T @ ct, rtol=1e-12, atol=1e-14)
    stored = A.copy()
    stored.data = np.ones_like(A.data)
    np.testing.assert_allclose(dA.toarray(), (ct @ X.T) * stored.toarray(), rtol=1e-12, atol=1e-14)
