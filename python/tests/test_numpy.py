"""sparse_autograd.numpy against NumPy and SciPy: values, types and errors."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import sparse_autograd as sa
import sparse_autograd.numpy as snp

rng = np.random.default_rng(0)
X, Y = rng.uniform(0.2, 2, (3, 4)), rng.uniform(0.2, 2, (3, 4))
ROW, COLUMN = rng.uniform(0.2, 2, 4), rng.uniform(0.2, 2, (3, 1))
M = np.array([[1, 0, 1, 1], [0, 1, 0, 1], [1, 1, 1, 1]], bool)
N = np.arange(-6, 6).reshape(3, 4)


def check(function, *args, tolerance=1e-12, reference=None):
    """The traced function returns what the function returns with NumPy."""
    got = sa.jit(lambda *a: function(snp, *a), optimization_level=1)(*args)
    want = (reference or (lambda *a: function(np, *a)))(*args)
    assert np.asarray(got).dtype == np.asarray(want).dtype
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


UNARY = "abs negative exp expm1 log log1p sqrt square reciprocal sin cos tan sinh cosh tanh arctan floor ceil isnan".split()
BINARY = "add subtract multiply divide power maximum minimum equal not_equal less less_equal greater greater_equal".split()


def test_elementwise():
    for names in (UNARY[:9], UNARY[9:]):
        got = sa.jit(lambda x: [getattr(snp, n)(x) for n in names], optimization_level=1)(X)
        for name, value in zip(names, got):
            np.testing.assert_allclose(value, getattr(np, name)(X), rtol=1e-13, err_msg=name)
    for other in (Y, ROW, COLUMN, 1.5, np.float32(0.5)):
        got = sa.jit(lambda x, y: [getattr(snp, n)(x, y) for n in BINARY], optimization_level=1)(X, other)
        for name, value in zip(BINARY, got):
            want = getattr(np, name)(X, other)
            assert value.dtype == want.dtype and value.shape == want.shape, name
            np.testing.assert_allclose(value, want, rtol=1e-13, err_msg=name)


@given(data=st.data())
def test_types(data):
    types = [np.bool_, np.int8, np.int32, np.int64, np.float32, np.float64]
    a = np.array([3, 0, 2]).astype(data.draw(st.sampled_from(types)))
    b = data.draw(st.sampled_from([np.array([1, 1, 2]).astype(t) for t in types] + [2, 2.5, True]))
    name = data.draw(st.sampled_from(["add", "multiply", "maximum", "divide", "less", "where"]))
    if name == "maximum" and a.dtype == bool and np.asarray(b).dtype == bool:
        return
    call = (lambda np: np.where(a > 1, a, b)) if name == "where" else (lambda np: getattr(np, name)(a, b))
    # Operands are arguments, or numbers of the program.
    got = sa.jit(lambda a, b: snp.where(a > 1, a, b) if name == "where" else getattr(snp, name)(a, b))(a, b)
    want = call(np)
    if name == "divide" and want.dtype == np.float16:
        want = want.astype(np.float64)  # Of small integers, too, a quotient is a float64.
    assert got.dtype == want.dtype or name == "divide"
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_operators():
    check(lambda np, x, y: 2 * x - y / 3 + x**2 - x**-1 + 2**x + (-x) + abs(y) + x**0.5 + (x**1.5), X, Y)
    check(lambda np, x, y: (x > y) & ~(x == y) | (y <= 1), X, Y)
    check(lambda np, n: n * 2 - n**2 + abs(n), N)
    check(lambda np, n: n / 4, N)
    check(lambda np, x: np.clip(x, 0.5, 1.0), X)
    check(lambda np, x: np.where(np.isnan(x), 0.0, x), np.where(M, X, np.nan))
    check(lambda np, x: x + np.float32(1), X.astype(np.float32))
    check(lambda np, x: x * np.inf, X)
    check(lambda np, x: x[1:3, ::1] + 1e300 + 1e-300, X)


REDUCTIONS = "sum mean max min prod var std".split()


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    def function(np, x, m, row):
        f = getattr(np, name)
        initial = {"initial": -9.0} if name == "max" and np is not snp else {"initial": 9.0} if name == "min" and np is not snp else {}
        return (
            f(x), f(x, axis=0), f(x, axis=-1, keepdims=True), f(x, axis=(0, 1)),
            f(x, where=m, **initial), f(x, axis=1, where=m, **initial), f(x, axis=0, where=row, **initial),
        )

    row = np.array([[True], [False], [True]])
    got = sa.jit(lambda *a: function(snp, *a), optimization_level=1)(X, M, row)
    for a, b in zip(got, function(np, X, M, row)):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_more_reductions():
    import scipy.special as special

    check(lambda np, x: np.softmax(x), X, reference=lambda x: special.softmax(x, axis=-1))
    check(lambda np, x: np.log_softmax(x, axis=0), X, reference=lambda x: special.log_softmax(x, axis=0))
    check(lambda np, x: np.logsumexp(x, axis=1), X, reference=lambda x: special.logsumexp(x, axis=1))
    check(lambda np, x: np.norm(x, axis=1), X, reference=lambda x: np.linalg.norm(x, axis=1))
    check(lambda np, m: np.sum(m), M)
    check(lambda np, n: np.sum(n, axis=0), N)
    check(lambda np, x: np.var(x, ddof=1), X)
    masked = sa.jit(lambda x, m: snp.softmax(x, where=m))(X, M)
    assert (masked[~M] == 0).all() and np.allclose(masked.sum(1), 1)


@pytest.mark.parametrize(
    "a, b",
    [((3, 4), (4, 2)), ((4,), (4, 2)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)),
     ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (1, 4, 5)), ((3, 4), (2, 4, 5)), ((1, 4), (4, 1)), ((0, 4), (4, 2))],
)
def test_matmul(a, b):
    check(lambda np, x, y: x @ y, rng.normal(size=a), rng.normal(size=b))


def test_shapes():
    check(lambda np, x: x.T, X)
    check(lambda np, x: np.transpose(x, (1, 2, 0)), rng.normal(size=(2, 3, 4)))
    check(lambda np, x: np.reshape(x, (2, 6)), X)
    check(lambda np, x: x.reshape(-1), X)
    check(lambda np, x: x.reshape(2, -1), X)
    check(lambda np, x: np.reshape(x, (x.shape[1], x.shape[0])), X)
    check(lambda np, x: np.expand_dims(x, (0, 2)), X)
    check(lambda np, x: np.squeeze(x[None, :, None]), X)
    check(lambda np, x: np.broadcast_to(x, (2, x.shape[0])), ROW)
    check(lambda np, x, y: np.concatenate([x, y], axis=1), X, Y)
    check(lambda np, x: np.zeros_like(x) + np.ones_like(x) * np.full_like(x, 3), X)
    check(lambda np, x: x / x.shape[0] + x.size, X)
    check(lambda np, x: x.sum() / x.shape[1], X)


def test_indexing():
    index = np.array([2, 0, 2])
    check(lambda np, x: x[1], X)
    check(lambda np, x: x[-1, 2], X)
    check(lambda np, x: x[:, 1:], X)
    check(lambda np, x: x[1:-1, :3], X)
    check(lambda np, x: x[..., None] + x[:, None, :], X)
    check(lambda np, x, i: x[i], X, index)
    check(lambda np, x, i: np.take(x, i, axis=0), X, index)
    check(lambda np, x, i: x[i.reshape(3, 1)], X, index)
    check(lambda np, x, i: x[i], X, index.astype(np.int32))


FORMATS = ["csr", "csc", "coo"]


@pytest.mark.parametrize("form", FORMATS)
def test_sparse(form):
    dense = np.where(M, X, 0.0)
    a = getattr(sp, f"{form}_array")(dense)
    if form == "coo":
        a.sum_duplicates()
        a = sp.csr_array(dense).tocoo()

    def program(a, x, y):
        return dict(
            spmm=a @ y, left=x.T @ a, times=a * x, half=a / 2, square=a**2, twice=a + a, tanh=snp.tanh(a),
            relu=snp.maximum(a - 2 * a, 0.0), total=snp.sum(a), rows=snp.mean(a, axis=1), plus=a + x,
            peaks=snp.max(a, axis=1, where=snp.pattern(a)), dense=a.todense(), t=a.T @ x,
            sampled=snp.sample(x @ y @ x, a), scale=a * snp.sum(x), softmax=snp.softmax(a, where=snp.pattern(a)),
        )

    y = rng.normal(size=(4, 3))
    got = sa.jit(program, optimization_level=1)(a, X, y)
    want = dict(
        spmm=dense @ y, left=X.T @ dense, times=dense * X, half=dense / 2, square=dense**2, twice=2 * dense,
        tanh=np.tanh(dense), relu=np.maximum(-dense, 0), total=dense.sum(), rows=dense.mean(1), plus=dense + X,
        peaks=np.max(dense, axis=1, where=M, initial=-1), dense=dense, t=dense.T @ X,
        sampled=np.where(M, X @ y @ X, 0), scale=dense * X.sum(),
    )
    e = np.where(M, np.exp(dense), 0)
    want["softmax"] = e / e.sum(1, keepdims=True)
    for name, value in want.items():
        result = got[name]
        is_sparse = name in ("times", "half", "square", "twice", "tanh", "relu", "sampled", "scale", "softmax")
        assert sp.issparse(result) == is_sparse, name
        if is_sparse:
            assert result.format == form and result.nnz == a.nnz
            result = result.toarray()
        np.testing.assert_allclose(result, value, rtol=1e-12, atol=1e-14, err_msg=name)


def test_product_of_sparse():
    a, b = sp.csr_array(np.where(M, X, 0)), sp.csr_array(np.where(M.T, Y.T, 0))
    result = sa.jit(lambda a, b: a @ b)(a, b)
    assert result.format == "csr"
    np.testing.assert_allclose(result.toarray(), (a @ b).toarray(), rtol=1e-12)


A = sp.csr_array(np.where(M, X, 0))


@pytest.mark.parametrize(
    "function, args, message",
    [
        (lambda x: snp.exp(x), (A,), "exp of a sparse array is not zero where nothing is stored"),
        (lambda x: x + 1, (A,), "the result is dense: ask for that with todense"),
        (lambda x: snp.softmax(x), (A,), "give where=pattern"),
        (lambda x: x.reshape(-1), (A,), "reshape of a sparse array: take its todense"),
        (lambda x: x if x.sum() > 0 else -x, (X,), "a branch on a traced array.*numpy.where"),
        (lambda x: np.exp(x), (X,), "NumPy function|ufunc"),
        (lambda x: float(x), (1.0,), "a number of a traced array"),
        (lambda x: [y for y in x], (X,), "a loop over a traced array"),
        (lambda x: len(x), (X,), "use its shape"),
        (lambda x: range(x.shape[0]), (X,), "an extent is open while tracing"),
        (lambda x: x[x > 1], (X,), "a mask as an index has a result of open size"),
        (lambda x: x.sum(axis=2), (X,), "axis 2 is out of bounds"),
        (lambda x: "text", (X,), "the function returns a str"),
        (lambda x: snp.pattern(x), (X,), "pattern: a sparse array is needed"),
        (lambda x: x @ 2.0, (X,), "matmul of a number"),
        (lambda x: x, (X.astype(complex),), "has elements of complex128: give bool"),
        (lambda x: x, (A.todia(),), "is stored as DIA: give its tocsr"),
        (lambda x: x, ({1, 2},), "an argument is a set"),
        (lambda x: x, (np.ma.masked_array(X, M),), "is a masked array: give its data"),
        (lambda x: x, (sa.SparseTensor([], ()),), "is a SparseTensor"),
    ],
)
def test_refused(function, args, message):
    with pytest.raises(TypeError, match=message):
        sa.jit(function)(*args)


def test_callables_without_a_name():
    assert sa.jit(functools.partial(snp.add, 1.0))(2.0) == 3.0


def test_outside_of_a_trace():
    with pytest.raises(sa.TraceError, match="decorate it with sparse_autograd.jit"):
        snp.exp(1.0)


def test_errors_have_the_line_of_python():
    @sa.jit
    def add(x, y):
        return x + y  # here

    line = add._function.__code__.co_firstlineno + 2
    with pytest.raises(sa.ArgumentError, match=rf"test_numpy.py:{line}:16: .*must have the extent"):
        add(np.ones(3), np.ones(4))


def test_numbers_of_numpy():
    # np.float64 is a float, too; its type does not give way.
    f = sa.jit(lambda x, s: x * s)
    assert f(X.astype(np.float32), np.float64(2)).dtype == np.float64
    assert f(X.astype(np.float32), 2.0).dtype == np.float32
