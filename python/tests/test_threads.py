"""What users of sparse training have asked for in public threads, by family: each test
is the situation of the threads that it names."""

import numpy as np
import pytest
import scipy.sparse as sp

import sparse_autograd as sa
import sparse_autograd.numpy as snp

rng = np.random.default_rng(5)
FAST = {"optimization_level": 1}  # To compile: what is asked for is not speed.


def random(rows, columns, density=0.2):
    matrix = sp.random_array((rows, columns), density=density, rng=rng, format="csr")
    matrix.sort_indices()
    return matrix


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_gradients_keep_the_pattern(form):
    """pytorch#98929, #86963, #41128, #118883, #109445: gradients of CSR, CSC and BSR
    that have the format and the pattern, and never densify."""
    A = random(4000, 4000, 1e-3)
    A = A.tobsr((2, 2)).sorted_indices() if form == "bsr" else A.asformat(form)
    X = np.ones((4000, 2))
    f = sa.value_and_grad(lambda A, X: snp.sum((A @ X) ** 2), wrt=(0, 1), **FAST)
    before = sa.counters()["peak_live_bytes"]  # Of the tests before this one.
    value, dA, dX = f(A, X)
    assert dA.format == form and dA.shape == A.shape and dA.dtype == A.dtype
    assert dA.data.shape == A.data.shape
    product = A @ X
    if form == "csr":
        assert (dA.indices == A.indices).all() and (dA.indptr == A.indptr).all()
        rows, columns = A.tocoo().coords
        np.testing.assert_allclose(dA.data, 2 * (product[rows] * X[columns]).sum(1), rtol=1e-12)
    np.testing.assert_allclose(dX, 2 * (A.T @ product), rtol=1e-10, atol=1e-12)
    # A dense matrix would take 128 MB.
    assert sa.counters()["peak_live_bytes"] <= max(before, 8_000_000)


def test_sparse_arrays_in_a_compiler():
    """pytorch#169119, #171865, #164823, #150083, #150656: sparse tensors as arguments,
    results and intermediate values of one compiled function; a new pattern is no reason
    to compile."""

    def f(A, X):
        B = A * 2 + A
        return snp.sum(B @ X, axis=0), B, B.T @ (B @ X)

    step = sa.jit(f, **FAST)
    for n in (3, 10, 50):
        A, X = random(n, n + 2), np.ones((n + 2, 3))
        total, B, back = step(A, X)
        np.testing.assert_allclose(total, (3 * A @ X).sum(axis=0), rtol=1e-12)
        np.testing.assert_allclose(back, 9 * A.T @ (A @ X), rtol=1e-12, atol=1e-14)
        assert B.nnz == A.nnz
    assert step.compilations == 1


def test_closures_and_cotangents():
    """jax#14655: a sparse array that a function closes over is an argument of the code,
    not a constant in it. jax#37647: a vjp has the shape of its argument. jax#33922,
    #40624, #40625, #39959: gradients by all parts of a sparse program, in every format."""
    A = random(300, 300)
    f = sa.value_and_grad(lambda x: snp.sum(snp.sin(A @ x)), **FAST)
    x = rng.normal(size=300)
    value, gradient = f(x)
    np.testing.assert_allclose(gradient, A.T @ np.cos(A @ x), rtol=1e-10, atol=1e-12)
    assert len(f.lower(x).mlir) < 5000
    A.data *= 2  # The numbers are those at the time of the call.
    np.testing.assert_allclose(f(x)[1], A.T @ np.cos(A @ x), rtol=1e-10, atol=1e-12)
    y, dA, dx = sa.vjp(lambda A, x: A @ x, wrt=(0, 1))(A, x[:, None], cotangents=np.ones((300, 1)))
    assert y.shape == (300, 1) and dx.shape == (300, 1) and dA.shape == A.shape and dA.nnz == A.nnz


def test_nothing_is_selected():
    """pytorch#41508, #156212: rows that a mask leaves out as a whole make no NaN, forward
    or backward. #116461, #69359: masked means and variances."""
    x = rng.normal(size=(3, 4))
    m = np.array([[True, True, False, False], [False] * 4, [True] * 4])
    x[~m] = np.nan
    x[1, 0] = np.inf
    for function in (snp.softmax, snp.log_softmax):
        loss = sa.value_and_grad(
            lambda x, m: (snp.sum(function(x, where=m) ** 2, where=m), function(x, where=m))
        )
        (value, y), gradient = loss(x, m)
        assert np.isfinite(value) and np.isfinite(y).all() and np.isfinite(gradient).all()
        assert (y[~m] == 0).all() and (gradient[~m] == 0).all()
    for function, want in ((snp.mean, np.mean), (snp.var, np.var), (snp.std, np.std)):
        f = sa.value_and_grad(lambda x, m: (lambda y: (snp.sum(y), y))(function(x, axis=1, where=m)))
        (value, y), gradient = f(x, m)
        np.testing.assert_allclose(y, [want(x[0, :2]), 0, want(x[2])], rtol=1e-12)
        assert np.isfinite(gradient).all() and (gradient[~m] == 0).all()


def test_sums_by_index_are_right_and_the_same():
    """pytorch#108569, PyG#2788: the same bits every time, for every number of threads.
    pytorch#191571: an index that is out of range is an error, and not zeros."""
    x, rows = rng.normal(size=(20000, 4)).astype(np.float32), rng.integers(0, 50, 20000)
    f = sa.value_and_grad(lambda x, rows: (lambda y: (snp.sum(y**2), y))(snp.segment_sum(x, rows, 50)))
    results = []
    try:
        for threads in (1, 2, 3, 2):
            sa.set_thread_count(threads)
            (_, y), gradient = f(x, rows)
            results.append(y.tobytes() + gradient.tobytes())
    finally:
        sa.set_thread_count(0)
    assert len(set(results)) == 1
    want = np.zeros((50, 4), np.float32)
    np.add.at(want, rows, x)
    np.testing.assert_array_equal(y, want)
    with pytest.raises(sa.Error, match="out of range"):
        f(x, np.where(rows == 7, 50, rows))


def test_products_of_sparse_arrays():
    """pytorch_sparse#45, #92, pytorch#95169, jax#13118: the product of two sparse arrays
    has gradients by both, on their patterns."""
    A, B = random(30, 40), random(40, 20)
    f = sa.value_and_grad(lambda A, B: (lambda C: (snp.sum(C * C), C))(A @ B), wrt=(0, 1))
    (value, C), dA, dB = f(A, B)
    dense = A.toarray() @ B.toarray()
    np.testing.assert_allclose(C.toarray(), dense, rtol=1e-12)
    np.testing.assert_allclose(value, (dense**2).sum(), rtol=1e-12)
    np.testing.assert_allclose(dA.data, (2 * dense @ B.toarray().T)[A.tocoo().coords], rtol=1e-12)
    np.testing.assert_allclose(dB.data, (2 * A.toarray().T @ dense)[B.tocoo().coords], rtol=1e-12)
