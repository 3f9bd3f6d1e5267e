"""Branches, loops, functions with a derivative of their own and functions in MLIR:
values and gradients against the same in Python."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import sparse_autograd as sa
import sparse_autograd.numpy as snp

rng = np.random.default_rng(2)
x = rng.uniform(0.5, 2, 3)


def difference(function, x, step=1e-6):
    gradient = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        gradient[i] = (function(up) - function(down)) / (2 * step)
    return gradient


def test_cond():
    def loss(p, x, y):
        taken = snp.cond(
            p > 0, lambda x: {"a": snp.log(x) * y, "b": 1.0}, lambda x: {"a": x - y, "b": snp.sum(x)}, x
        )
        return snp.sum(taken["a"]) * taken["b"]

    f = sa.value_and_grad(loss, wrt=(1, 2))
    value, dx, dy = f(1.0, x, 2 * x)
    np.testing.assert_allclose(value, np.sum(np.log(x) * 2 * x))
    np.testing.assert_allclose([dx, dy], [2 * np.ones(3), np.log(x)])
    value, dx, dy = f(-1.0, x, 2 * x)
    np.testing.assert_allclose(value, np.sum(-x) * x.sum())
    np.testing.assert_allclose([dx, dy], [np.zeros(3), -x.sum() * np.ones(3)], atol=1e-14)
    assert f.compilations == 1
    # A branch that is not taken reaches nothing, be it a NaN; arrays may be sparse.
    g = sa.grad(lambda x: snp.cond(snp.sum(x) > 0, lambda x: snp.sum(x), lambda x: snp.sum(snp.sqrt(-x)), x))
    np.testing.assert_array_equal(g(x), np.ones(3))
    A = sp.csr_array(np.diag(x))
    h = sa.grad(lambda A, p: snp.sum(snp.cond(p, lambda A: A * 3, lambda A: A * A, A)))
    np.testing.assert_allclose(h(A, True).data, 3)
    np.testing.assert_allclose(h(A, False).data, 2 * A.data)


def test_while_loop():
    f = sa.value_and_grad(
        lambda x: snp.while_loop(
            lambda s: s["v"] < 100, lambda s: {"v": s["v"] * s["v"], "n": s["n"] + 1}, {"v": x, "n": 0}
        )["v"]
    )
    assert f(3.0) == (6561.0, 8 * 3.0**7)
    assert f(200.0) == (200.0, 1.0)


@given(n=st.integers(0, 5))
def test_fori_loop(n):
    f = test_fori_loop.compiled

    def numpy_loss(x):
        v = np.ones(3)
        for i in range(n):
            v = v * x + i
        return v.sum()

    value, gradient = f(x, n)
    np.testing.assert_allclose(value, numpy_loss(x))
    np.testing.assert_allclose(gradient, difference(numpy_loss, x), rtol=1e-6, atol=1e-8)
    assert f.compilations == 1


test_fori_loop.compiled = sa.value_and_grad(
    lambda x, n: snp.sum(snp.fori_loop(0, n, lambda i, v: v * x + i, snp.ones_like(x)))
)


def test_scan():
    # A recurrent network: weights from outside, states that are stacked.
    def run(np, xs, w, scan):
        last, states = scan(
            lambda h, x: (np.tanh(w @ h + x), {"h": np.tanh(h), "n": np.sum(h)}),
            np.zeros(3) if np is not snp else snp.zeros_like(xs[0]),
            xs,
        )
        return np.sum(last) + np.sum(states["h"] ** 2) + np.sum(states["n"])

    def python_scan(body, carried, xs):
        ys = []
        for row in xs:
            carried, y = body(carried, row)
            ys.append(y)
        return carried, {k: np.array([y[k] for y in ys]) for k in ys[0]}

    w = rng.normal(size=(3, 3)) / 2
    f = sa.value_and_grad(lambda w, xs: run(snp, xs, w, snp.scan))
    for n in (2, 3, 5):
        xs = rng.normal(size=(n, 3))
        value, gradient = f(w, xs)
        np.testing.assert_allclose(value, run(np, xs, w, python_scan))
        np.testing.assert_allclose(
            gradient, difference(lambda w: run(np, xs, w, python_scan), w), rtol=1e-5, atol=1e-8
        )
    assert f.compilations == 1
    sums = sa.jit(lambda xs: snp.scan(lambda s, x: (s + x, s + x), 0.0, xs))
    total, partial = sums(np.arange(5, dtype=np.float32))
    assert total == 10 and partial.tolist() == [0, 1, 3, 6, 10] and partial.dtype == np.float32
    total, partial = sums(np.zeros(0, np.float32))
    assert total == 0 and partial.shape == (0,)
    last, powers = sa.jit(lambda x: snp.scan(lambda s, _: (s * 2, s), x, length=3))(x)
    np.testing.assert_allclose(powers, [x, 2 * x, 4 * x])
    with pytest.raises(sa.ArgumentError, match="test_control.py"):
        sa.jit(lambda a, b: snp.scan(lambda s, r: (s + r[0] * r[1], None), 0.0, (a, b)))(
            np.ones(3), np.ones(2)
        )


@pytest.mark.parametrize(
    "loop, message",
    [
        (lambda x: snp.cond(x, lambda x: x, lambda x: x, x), "condition is a number"),
        (lambda x: snp.cond(True, lambda x: x, lambda x: (x, x), x), "different structure"),
        (lambda x: snp.cond(True, lambda x: x, lambda x: snp.sum(x), x), "differ"),
        (lambda x: snp.while_loop(lambda v: v < 1, lambda v: v, x), "condition is a number"),
        (lambda x: snp.while_loop(lambda v: True, lambda v: (v, v), x), "another structure"),
        (lambda x: snp.scan(lambda c, v: c, 0.0, x), "a pair"),
        (lambda x: snp.scan(lambda c, v: (c, v), 0.0), "xs or the length"),
        (lambda x: snp.fori_loop(0, 2.5, lambda i, v: snp.stack([v]), x), "differ"),
    ],
)
def test_refused(loop, message):
    with pytest.raises(sa.TraceError, match=message):
        sa.jit(loop)(x)


def test_custom_vjp():
    scale = np.array(3.0)

    @sa.custom_vjp
    def clipped(tree, bound):
        return tree["x"] * scale, snp.arange(3)

    @sa.jit
    def unused(x):
        return x

    clipped.defvjp(
        lambda tree, bound: (clipped._function(tree, bound), {"bound": bound, "how": "clip"}),
        lambda kept, g: (
            {"x": snp.clip(g[0] * scale, -kept["bound"], kept["bound"])},
            snp.zeros_like(kept["bound"]),
        ),
    )
    np.testing.assert_allclose(clipped({"x": x}, 1.0)[0], 3 * x)
    f = sa.value_and_grad(lambda x, b: snp.sum(clipped({"x": x}, b)[0] * x), wrt=(0, 1))
    value, dx, db = f(x, 1.0)
    np.testing.assert_allclose(value, 3 * np.sum(x * x))
    np.testing.assert_allclose(dx, np.clip(3 * x, -1, 1) + 3 * x)
    assert db == 0

    @sa.custom_vjp
    def mean(x, m):
        return snp.mean(x, where=m)

    mean.defvjp(
        lambda x, m: (snp.mean(x, where=m), (m, snp.sum(m))),
        lambda kept, g: (snp.where(kept[0], g / kept[1], 0.0), None),
    )
    m = np.array([True, False, True])
    np.testing.assert_allclose(sa.grad(lambda x, m: mean(x, m) ** 2)(x, m), np.where(m, x[m].mean(), 0))

    with pytest.raises(sa.TraceError, match="no derivative yet"):
        sa.custom_vjp(lambda x: x)(x)
    with pytest.raises(sa.TraceError, match="array of floats from outside"):
        sa.grad(
            lambda x: snp.sum(sa.custom_vjp(lambda y: y * x).defvjp(lambda y: (y * x, y), lambda r, g: g)(x))
        )(x)
    for backward, message in [
        (lambda r, g: (g, g), "1 gradients"),
        (lambda r, g: snp.sum(g), "gradient of argument 0"),
        (lambda r, g: {"x": g}, "another structure"),
    ]:
        with pytest.raises(sa.TraceError, match=message):
            sa.jit(sa.custom_vjp(lambda y: y).defvjp(lambda y: (y, None), backward))(x)


def test_mlir_function():
    cubes = sa.mlir_function(
        """
        #CSR = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32}>
        func.func @cubes(%A: tensor<?x?xf64, #CSR>, %s: f64, %n: index) -> (tensor<?x?xf64, #CSR>, f64) {
          %y = func.call @square(%A) : (tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR>
          %z = arith.mulf %y, %A : tensor<?x?xf64, #CSR>
          return %z, %s : tensor<?x?xf64, #CSR>, f64
        }
        func.func @square(%A: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
          %y = arith.mulf %A, %A : tensor<?x?xf64, #CSR>
          return %y : tensor<?x?xf64, #CSR>
        }""",
        name="cubes",
    )
    A = sp.csr_array(np.diag(x))

    def loss(A):
        cubed, two = cubes(A, 2.0, 3)
        return snp.sum(cubed) * two + snp.sum(cubes(A, 1, 3)[0])

    value, gradient = sa.value_and_grad(loss)(A)
    np.testing.assert_allclose(value, 3 * np.sum(x**3))
    np.testing.assert_allclose(gradient.data, 9 * x**2)
    assert cubes(A, 2.0, 3)[1] == 2.0
    with pytest.raises(sa.TraceError, match="takes 3 arguments"):
        cubes(A)
    with pytest.raises(sa.TraceError, match="argument 0 of cubes is"):
        cubes(np.ones((2, 2)), 1.0, 1)
    with pytest.raises(sa.TraceError, match="there are: cubes, square"):
        sa.mlir_function("func.func @cubes() { return }\nfunc.func @square() { return }", name="f")
    with pytest.raises(sa.ProgramError, match="own.mlir:1"):
        sa.mlir_function("func.func @f( {", name="own.mlir")


def test_place_of_an_error_in_mlir():
    ratio = sa.mlir_function(
        """func.func @ratio(%x: tensor<?xf64>, %start: tensor<f64>) -> tensor<f64> {
          %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
              iterator_types = ["reduction"]} ins(%x : tensor<?xf64>) outs(%start : tensor<f64>) {
            ^bb0(%a: f64, %b: f64):
              %c = arith.divf %b, %a : f64
              linalg.yield %c : f64
          } -> tensor<f64>
          return %y : tensor<f64>
        }""",
        name="ratio",
    )
    assert ratio(x, 1.0) == pytest.approx(1 / x.prod())
    with pytest.raises(sa.ProgramError, match="ratio:[2-6]:.*no derivative rule"):
        sa.grad(lambda x: ratio(x, 1.0))(x)
