"""Selections, random numbers, parts of arrays, and what sparse arrays store."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import special

import sparse_autograd as sa
import sparse_autograd.numpy as snp

rng = np.random.default_rng(3)
x = rng.uniform(0.1, 0.9, 5)
A = sp.csr_array(np.array([[1.0, 0, 2], [0, 3, 0]]))

UNARY = {
    **{
        n: getattr(np, n)
        for n in "arccos arcsin arcsinh arctanh cbrt exp2 log10 log2 rint trunc sign".split()
    },
    "arccosh": lambda x: np.arccosh(1 + x),
    "erf": special.erf,
    "erfc": special.erfc,
    "rsqrt": lambda x: x**-0.5,
}
BINARY = "arctan2 copysign fmax fmin fmod remainder floor_divide".split()


def test_more_elementwise():
    def call(name, np, x):
        return snp.arccosh(1 + x) if name == "arccosh" else getattr(snp, name)(x)

    f = sa.jit(
        lambda x: [
            sa.value_and_grad(lambda x: (snp.sum(call(n, snp, x)), call(n, snp, x)))(x) for n in UNARY
        ],
        optimization_level=1,
    )
    for (name, reference), ((_, value), gradient) in zip(UNARY.items(), f(x)):
        np.testing.assert_allclose(value, reference(x), rtol=1e-12, err_msg=name)
        slope = (reference(x + 1e-6) - reference(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(gradient, slope, rtol=1e-5, atol=1e-7, err_msg=name)
    y = rng.uniform(-2, 2, 5)
    got = sa.jit(lambda x, y: [getattr(snp, n)(y, x) for n in BINARY], optimization_level=1)(x, y)
    for name, value in zip(BINARY, got):
        np.testing.assert_allclose(value, getattr(np, name)(y, x), rtol=1e-12, err_msg=name)
    a, b = np.array([-7, 7, 6, 0]), np.array([2, -2, 3, 5])
    got = sa.jit(lambda a, b: (a // b, a % b, snp.logical_xor(a > 0, b > 0)))(a, b)
    for value, want in zip(got, (a // b, a % b, (a > 0) ^ (b > 0))):
        np.testing.assert_array_equal(value, want)
    with pytest.raises(sa.Error, match="test_arrays.py.*divisor must not be zero"):
        sa.jit(lambda a, b: a // b)(a, 0 * b)
    special_numbers = np.array([np.nan, np.inf, -np.inf, 1.0])
    got = sa.jit(lambda x: (snp.isfinite(x), snp.isinf(x), snp.clip(x, -2, 2), snp.fma(x, 2.0, 1)))(
        special_numbers
    )
    for value, want in zip(
        got,
        (
            np.isfinite(special_numbers),
            np.isinf(special_numbers),
            np.clip(special_numbers, -2, 2),
            special_numbers * 2 + 1,
        ),
    ):
        np.testing.assert_array_equal(value, want)
    n = np.array([2, -1, 0, 3, 1])
    value, gradient = sa.value_and_grad(lambda x, n: (snp.sum(x**n), x**n))(x, n)
    np.testing.assert_allclose(value[1], x ** n.astype(float), rtol=1e-12)
    np.testing.assert_allclose(gradient, n * x ** (n - 1.0), rtol=1e-12)


def test_sparsify_24():
    w = rng.normal(size=(8, 12))
    for select in ("row_wise", "causal1122"):
        f = sa.value_and_grad(
            lambda w: (
                snp.sum(snp.sparsify_24(w, select, gradient=(1, 0.5)) ** 2),
                snp.mask_24(snp.choose_24(w, select), w),
            ),
            optimization_level=0,
        )
        (value, mask), gradient = f(w)
        np.testing.assert_allclose(value, (w[mask] ** 2).sum())
        np.testing.assert_allclose(gradient, np.where(mask, 2 * w, 0))
        assert (mask.reshape(8, 3, 4).sum(axis=2) <= 2).all()
    s, t, like = sa.jit(lambda w: (*snp.sparsify_24(w, transposed=True), snp.sparsify_24_like(w * 0 + 1, w)))(
        w
    )
    np.testing.assert_array_equal(s.T, t)
    np.testing.assert_array_equal(like, s != 0)
    ste = sa.grad(lambda w, c: snp.sum(snp.sparsify_24(w) * c))
    np.testing.assert_array_equal(ste(w, 2 * w), 2 * w)
    for wrong, message in [
        (lambda w: snp.sparsify_24(w, "best"), "one of row_wise"),
        (lambda w: snp.sparsify_24(w, gradient="half"), "two factors"),
        (lambda w: snp.sparsify_24(w[0]), "two dimensions"),
        (lambda w: snp.sparsify_24(w, "row_wise", transposed=True), "not 2:4"),
        (lambda w: snp.mask_24(w, w), "choose_24"),
    ]:
        with pytest.raises(sa.TraceError, match=message):
            sa.jit(wrong)(w)


def test_random():
    f = sa.jit(
        lambda seed, x: (
            snp.random.uniform(seed, 0, x.shape),
            snp.random.normal(seed, 1, (1000,), np.float32),
            snp.random.bernoulli(seed, 2, 0.25, (1000,)),
        )
    )
    u, z, b = f(7, np.ones((3, 2)))
    assert u.shape == (3, 2) and ((0 <= u) & (u < 1)).all() and z.dtype == np.float32
    assert abs(z.mean()) < 0.15 and abs(z.std() - 1) < 0.1 and abs(b.mean() - 0.25) < 0.06
    again = f(7, np.ones((4, 2)))
    np.testing.assert_array_equal(again[0][:3], u)
    assert (f(8, np.ones((3, 2)))[0] != u).all() and f.compilations == 1
    for wrong in (
        lambda: snp.random.uniform(1.5, 0, (2,)),
        lambda: snp.random.bernoulli(1, 0, 2.0, (2,)),
        lambda: snp.random.normal(1, 0, (2,), np.int32),
    ):
        with pytest.raises(sa.TraceError):
            sa.jit(wrong)()


def test_parts():
    x = rng.normal(size=(4, 3))
    f = sa.value_and_grad(
        lambda x: (lambda y: (snp.sum(y**2), y))(x.at[1:3, 0].set(7).at[-1].add(snp.ones_like(x[0])))
    )
    (_, y), gradient = f(x)
    want = x.copy()
    want[1:3, 0] = 7
    want[-1] += 1
    np.testing.assert_allclose(y, want)
    slope = 2 * want
    slope[1:3, 0] = 0
    np.testing.assert_allclose(gradient, slope)
    i = np.array([1, 3, 1])
    added = sa.jit(lambda x, i: x.at[i].add(2.0))(x, i)
    want = x.copy()
    np.add.at(want, i, 2.0)
    np.testing.assert_allclose(added, want)
    got = sa.jit(
        lambda x: (
            snp.pad(x, ((1, 0), (0, 2)), 5),
            snp.stack([x, 2 * x], axis=-1),
            snp.take(x, np.array([[0, 2]]), axis=1),
            snp.arange(x.shape[1]),
            snp.one_hot(np.array([1, 0]), x.shape[1]),
        )
    )(x)
    wants = (
        np.pad(x, ((1, 0), (0, 2)), constant_values=5),
        np.stack([x, 2 * x], axis=-1),
        np.take(x, np.array([[0, 2]]), axis=1),
        np.arange(3),
        np.eye(3)[[1, 0]],
    )
    for value, want in zip(got, wants):
        np.testing.assert_array_equal(value, want)
    assert sa.grad(lambda x: snp.sum(snp.pad(x, 1)))(x).tolist() == np.ones((4, 3)).tolist()
    for wrong in (
        lambda x: x.at[None].set(1),
        lambda x: x.at[0, 0, 0].set(1),
        lambda x: snp.pad(x, -1),
        lambda x: snp.take(x, i, axis=2),
        lambda x: snp.stack([]),
    ):
        with pytest.raises(sa.TraceError):
            sa.jit(wrong)(x)


def test_segment_sum():
    # What scatters and segments: exact, in order, refused out of range.
    x, s = rng.normal(size=(6, 2)), np.array([4, 0, 4, 1, 0, 4])
    f = sa.value_and_grad(lambda x, s: (lambda y: (snp.sum(y**2), y))(snp.segment_sum(x, s, 5)))
    (_, y), gradient = f(x, s)
    want = np.zeros((5, 2))
    np.add.at(want, s, x)
    np.testing.assert_array_equal(y, want)
    np.testing.assert_allclose(gradient, 2 * want[s])
    assert sa.jit(lambda x, s: snp.segment_sum(x, s, 5))(x[:, 0], s).tolist() == want[:, 0].tolist()
    for wrong in (5, -1):
        with pytest.raises(sa.ArgumentError, match="an index is out of range"):
            f(x, np.where(s == 1, wrong, s))


def test_row_sparse():
    table, words = rng.normal(size=(100, 4)), np.array([[3, 90], [3, 1]], np.int32)
    f = sa.value_and_grad(lambda table, words: snp.sum(snp.take(table, words) ** 2), rows=0)
    value, gradient = f(table, words)
    assert isinstance(gradient, sa.RowSparse) and gradient.indices.tolist() == [1, 3, 90]
    assert gradient.values.shape == (3, 4) and gradient.dtype == np.float64
    dense = sa.grad(lambda table, words: snp.sum(snp.take(table, words) ** 2))(table, words)
    np.testing.assert_array_equal(gradient.toarray(), dense)
    total, scaled, rows = sa.jit(lambda t, g: (snp.accumulate(t, g), g * 2, snp.take(g, np.array([3, 4]))))(
        table, gradient
    )
    np.testing.assert_array_equal(total, table + dense)
    np.testing.assert_array_equal(scaled.toarray(), 2 * dense)
    np.testing.assert_array_equal(rows, dense[[3, 4]])
    scattered = sa.jit(
        lambda r: (
            snp.scatter_rows(r, np.array([5, 5]), 7),
            snp.stored_coordinates(snp.scatter_rows(r, np.array([5, 5]), 7), 0),
        )
    )(np.ones((2, 4)))
    assert (
        scattered[0].shape == (7, 4) and scattered[0].indices.tolist() == [5] and scattered[1].tolist() == [5]
    )
    assert f.compilations == 1
    for wrong in (dict(rows=1), dict(wrt=0, rows=(0, 0))):
        with pytest.raises(sa.TraceError):
            sa.grad(lambda x, y: snp.sum(x), **wrong)(table[0], table)
    with pytest.raises(TypeError, match="a RowSparse"):
        sa.jit(lambda g: g * 2).lower(gradient).compile()["_lambda_"](table)


def test_stored():
    value, gradient = sa.value_and_grad(lambda A: snp.sum(snp.exp(snp.stored_values(A))))(A)
    np.testing.assert_allclose(value, np.exp(A.data).sum())
    np.testing.assert_allclose(gradient.data, np.exp(A.data))
    B = sa.jit(lambda A, v: snp.with_values(v * 2, A))(A, np.array([1.0, 2, 3]))
    assert B.format == "csr" and B.data.tolist() == [2, 4, 6] and B.indices.tolist() == A.indices.tolist()
    rows, columns = sa.jit(lambda C: (snp.stored_coordinates(C, 0), snp.stored_coordinates(C, 1)))(A.tocoo())
    assert rows.tolist() == [0, 0, 1] and columns.tolist() == [0, 2, 1]
    assert sa.jit(lambda A: snp.sparse_zeros_like(A, np.float32))(A).data.tolist() == [0, 0, 0]
    assert sa.jit(lambda A, B: snp.accumulate(A, B))(A, sp.csr_array(np.eye(2, 3))).toarray().tolist() == [
        [2, 0, 2],
        [0, 4, 0],
    ]
    for wrong in (
        lambda A: snp.stored_values(snp.todense(A)),
        lambda A: snp.stored_coordinates(A, 0),
        lambda A: snp.accumulate(A, snp.todense(A)),
        lambda A: snp.with_values(1.0, A),
        lambda A: snp.accumulate(),
    ):
        with pytest.raises(sa.TraceError):
            sa.jit(wrong)(A)


def test_options_of_reductions():
    nothing = np.zeros(3, bool)
    value, gradient = sa.value_and_grad(lambda x, m: snp.mean(x, where=m, empty="nan"))(np.ones(3), nothing)
    assert np.isnan(value) and gradient.tolist() == [0, 0, 0]
    assert sa.grad(lambda x: snp.max(x, ties="first"))(np.ones(3)).tolist() == [1, 0, 0]
    assert sa.grad(lambda x: snp.min(x))(np.ones(2)).tolist() == [0.5, 0.5]
    mask = np.array([True, False])
    assert sa.grad(lambda x, m: snp.sum(snp.grad_mask(x, m)))(np.ones((2, 2)), mask).tolist() == [
        [1, 0],
        [1, 0],
    ]
    for wrong in (
        lambda x: snp.mean(x, empty="one"),
        lambda x: snp.max(x, ties="last"),
        lambda x: snp.grad_mask(x, True),
    ):
        with pytest.raises(sa.TraceError):
            sa.jit(wrong)(np.ones(3))
