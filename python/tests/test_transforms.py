"""Derivatives of traced functions, compilations, pytrees, and the programs that the
package is for: masked means, matrix factorisation, a graph network."""

import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import sparse_autograd as sa
import sparse_autograd.numpy as snp

rng = np.random.default_rng(1)


def difference(function, x, step=1e-6):
    """The gradient of a function of an array by central differences."""
    gradient = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        gradient[i] = (function(up) - function(down)) / (2 * step)
    return gradient


LOSSES = {
    "broadcast": lambda np, x: np.sum((x[:, None, :] - x[None, :, :]) ** 2 / 3),
    "matmul": lambda np, x: np.sum(np.tanh(x @ x.T) ** 2),
    "shapes": lambda np, x: np.sum(np.exp(np.concatenate([x.reshape(-1), x[1:, 0]]) / 4) ** 1.5),
    "statistics": lambda np, x: np.var(x) + np.std(x, axis=0).sum() + np.max(x) + np.prod(x, axis=1).mean(),
    "selection": lambda np, x: np.sum(np.where(x > 0.5, np.log(abs(x) + 1), x**3) * np.maximum(x, 0.1)),
    "rows": lambda np, x: np.mean(x[np.array([2, 0, 2])] ** 2 / np.sqrt(1 + x**2)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients(name):
    loss, x = LOSSES[name], rng.uniform(-1, 2, (3, 4))
    value, gradient = sa.value_and_grad(lambda x: loss(snp, x))(x)
    np.testing.assert_allclose(value, loss(np, x), rtol=1e-12)
    np.testing.assert_allclose(gradient, difference(lambda x: loss(np, x), x), rtol=1e-6, atol=1e-8)


def test_one_compilation_for_all_shapes_masks_and_patterns():
    loss = sa.value_and_grad(lambda a, x, m: snp.mean((a @ x) ** 2, where=m), wrt=(0, 1))
    before = sa.compilation_count()
    for n in range(2, 12):
        a = sp.random_array((n, n + 1), density=0.5, rng=rng, format="csr")
        a.sort_indices()
        x, m = rng.normal(size=(n + 1, n)), rng.random((n, n)) < 0.5
        value, da, dx = loss(a, x, m)
        product = a @ x
        count = max(m.sum(), 1)
        np.testing.assert_allclose(value, (product**2)[m].sum() / count, rtol=1e-12, atol=1e-15)
        g = np.where(m, 2 * product / count, 0)
        np.testing.assert_allclose(dx, a.T @ g, rtol=1e-10, atol=1e-14)
        np.testing.assert_allclose(da.data, (g @ x.T)[a.tocoo().coords], rtol=1e-10, atol=1e-14)
        assert (da.indices == a.indices).all() and (da.indptr == a.indptr).all()
    assert loss.compilations == 1 and sa.compilation_count() == before + 1
    loss(a.astype(np.float32), x.astype(np.float32), m)
    loss(a.tocsc(), x, m)
    assert loss.compilations == 3


def test_pytrees():
    def loss(params, batch):
        x, y = batch
        h = snp.tanh(x @ params["w"][0] + params["b"])
        return snp.mean((h @ params["w"][1] - y) ** 2), {"h": h, "n": None}

    params = {"w": [rng.normal(size=(4, 3)), rng.normal(size=(3, 2))], "b": rng.normal(size=3)}
    batch = rng.normal(size=(5, 4)), rng.normal(size=(5, 2))
    f = sa.value_and_grad(loss)
    (value, aux), gradient = f(params, batch)
    assert set(gradient) == {"w", "b"} and isinstance(gradient["w"], list) and aux["n"] is None
    assert aux["h"].shape == (5, 3)

    def numpy_loss(b):
        h = np.tanh(batch[0] @ params["w"][0] + b)
        return np.mean((h @ params["w"][1] - batch[1]) ** 2)

    np.testing.assert_allclose(value, numpy_loss(params["b"]), rtol=1e-12)
    np.testing.assert_allclose(gradient["b"], difference(numpy_loss, params["b"]), rtol=1e-6)
    with pytest.raises(sa.ArgumentError, match="<|test_transforms.py"):
        f({**params, "b": np.ones(2)}, batch)
    with pytest.raises(TypeError, match=r"argument 'params\['b'\]'|has elements"):
        f({**params, "b": params["b"].astype(complex)}, batch)


def test_numbers_static_arguments_and_closures():
    table = rng.normal(size=4)

    @sa.jit
    def f(x, scale, how="add", *, shift=0):
        return x * scale + table if how == "add" else x * scale - table + shift

    x = np.ones(4)
    np.testing.assert_allclose(f(x, 2), 2 + table)
    np.testing.assert_allclose(f(x, 3), 3 + table)
    assert f.compilations == 1
    np.testing.assert_allclose(f(x, 2.5, "sub", shift=1), 2.5 - table + 1)
    assert f.compilations == 2
    # A number of Python has the type of the array.
    assert f(x.astype(np.float32), 2.0).dtype == np.float64  # of the table
    assert sa.jit(lambda x, s: x * s)(x.astype(np.float32), 0.1).dtype == np.float32


def test_nested():
    square = lambda x: x**3
    assert sa.grad(sa.grad(square))(2.0) == 12.0
    x = rng.normal(size=3)
    # A Hessian-vector product, which closes over v.
    f = lambda x: snp.sum(snp.exp(x) * x)
    hvp = sa.jit(lambda x, v: sa.grad(lambda x: snp.sum(sa.grad(f)(x) * v))(x))
    v = rng.normal(size=3)
    np.testing.assert_allclose(hvp(x, v), np.exp(x) * (2 + x) * v, rtol=1e-12)
    np.testing.assert_allclose(sa.grad(lambda x: sa.checkpoint(f)(x) * 2)(x), 2 * np.exp(x) * (1 + x), rtol=1e-12)


def test_vjp_and_jvp():
    f = lambda a, x: (a @ x, snp.sum(a))
    a, x = sp.csr_array(np.array([[1.0, 0, 2], [0, 3, 0]])), rng.normal(size=(3, 2))
    ct = rng.normal(size=(2, 2))
    (y, s), da, dx = sa.vjp(f, wrt=(0, 1))(a, x, cotangents=(ct, 0.0))
    np.testing.assert_allclose(y, a @ x)
    np.testing.assert_allclose(dx, a.T @ ct)
    np.testing.assert_allclose(da.data, (ct @ x.T)[a.tocoo().coords])
    t = rng.normal(size=(3, 2))
    (y, s), (ty, ts) = sa.jvp(f, wrt=1)(a, x, tangents=t)
    np.testing.assert_allclose(ty, a @ t)
    assert ts == 0
    with pytest.raises(sa.TraceError, match="cotangents have another structure"):
        sa.vjp(f)(a, x, cotangents=ct)


def test_masks_of_gradients():
    m = np.array([True, False, True])
    g = sa.grad(lambda x, m: snp.sum(snp.grad_mask(x, m) ** 2))(np.arange(3.0), m)
    assert list(g) == [0, 0, 4]
    assert list(sa.grad(lambda x: snp.sum(x * snp.stop_gradient(x)))(np.arange(3.0))) == [0, 1, 2]
    # What a mask leaves out influences nothing, NaN included.
    x = np.array([1.0, 0.0, np.e])
    value, g = sa.value_and_grad(lambda x, m: snp.mean(snp.log(x), where=m))(x, m)
    np.testing.assert_allclose(value, 0.5)
    np.testing.assert_allclose(g, [0.5, 0, 0.5 / np.e])


@pytest.mark.parametrize(
    "function, wrt, args, message",
    [
        (lambda x: x, 0, (np.ones(3),), "the loss is a number, not tensor<\\?xf64>: take its sum or its mean"),
        (lambda n: snp.sum(n * 1.0), 0, (np.arange(3),), "argument 0, whose elements are int64: only floats"),
        (lambda x: snp.sum(x), 1, (np.ones(3),), "wrt names argument 1: there are 1"),
        (lambda x: snp.sum(x), (0, 0), (np.ones(3),), "names an argument twice"),
        (lambda x: snp.sum(x["a"]), 0, ({"a": np.ones(3), "b": "no"},), "leaves that are no arrays"),
    ],
)
def test_refused(function, wrt, args, message):
    with pytest.raises(sa.TraceError, match=message):
        sa.value_and_grad(function, wrt)(*args)


def test_lower():
    f = sa.value_and_grad(lambda x: snp.sum(x**2))
    module = f.lower(np.ones(3))
    assert "sparse_autograd.value_and_grad" in module.mlir
    assert "sparse_autograd.value_and_grad" not in module.run("differentiate").mlir
    assert f.compilations == 0


def test_threads_compile_once():
    f, results = sa.jit(lambda x: snp.exp(x) * 2), []
    threads = [threading.Thread(target=lambda: results.append(f(np.zeros(3))[0])) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2.0] * 6 and f.compilations == 1


# ===------------------------------------------------------------------------=== #
# Programs
# ===------------------------------------------------------------------------=== #


def test_masked_mean_in_three_ways():
    x, m = rng.normal(size=(6, 5)), rng.random((6, 5)) < 0.6
    x[~m] = np.nan
    by_where = sa.value_and_grad(lambda x, m: snp.mean(x**2, where=m))
    by_zeros = sa.value_and_grad(lambda x, m: snp.sum(snp.where(m, x**2, 0.0)) / snp.sum(m))
    by_hook = sa.value_and_grad(lambda x, m: snp.mean(snp.grad_mask(x, m) ** 2, where=m))
    for f in (by_where, by_zeros, by_hook):
        for mask in (m, m & (x > 0)):
            value, gradient = f(x, mask)
            np.testing.assert_allclose(value, np.mean(x[mask] ** 2), rtol=1e-12)
            np.testing.assert_allclose(gradient, np.where(mask, 2 * x / mask.sum(), 0), rtol=1e-12)
        assert f.compilations == 1


def adam(f, data, weights, steps, rate):
    """Trains in place; the losses."""
    m, v = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    losses = []
    for k in range(1, steps + 1):
        loss, *gradients = f(*data, *weights)
        losses.append(float(loss))
        for w, a, b, g in zip(weights, m, v, gradients):
            a += 0.1 * (g - a)
            b += 0.001 * (g * g - b)
            w -= rate * (a / (1 - 0.9**k)) / (np.sqrt(b / (1 - 0.999**k)) + 1e-8)
    return losses


def test_matrix_factorisation():
    users, items = 60, 40
    P0, Q0 = rng.normal(size=(users, 3)), rng.normal(size=(items, 3))
    R = sp.csr_array(np.where(rng.random((users, items)) < 0.4, P0 @ Q0.T, 0.0))

    def loss(R, P, Q, bu, bi):
        E = snp.sample(P @ Q.T + bu[:, None] + bi[None, :], R) - R
        return snp.mean(E**2, where=snp.pattern(R)) + 1e-4 * (snp.mean(P**2) + snp.mean(Q**2))

    f = sa.value_and_grad(loss, wrt=(1, 2, 3, 4))
    w = [0.1 * rng.normal(size=(users, 4)), 0.1 * rng.normal(size=(items, 4)), np.zeros(users), np.zeros(items)]
    _, *gradients = f(R, *w)
    coo = R.tocoo()
    u, i = coo.coords
    e = (w[0][u] * w[1][i]).sum(1) + w[2][u] + w[3][i] - coo.data
    want = np.zeros_like(w[0])
    np.add.at(want, u, 2 * e[:, None] * w[1][i] / len(e))
    np.testing.assert_allclose(gradients[0], want + 2e-4 * w[0] / w[0].size, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(gradients[2], np.bincount(u, 2 * e / len(e), users), rtol=1e-10, atol=1e-15)
    losses = adam(f, (R,), w, 300, 0.05)
    assert losses[-1] < 0.02 * losses[0]
    assert f.compilations == 1


def test_sampled_product_takes_the_memory_of_what_is_sampled():
    program = """
import numpy as np, scipy.sparse as sp, sparse_autograd as sa, sparse_autograd.numpy as snp
rng = np.random.default_rng(0)
R = sp.random_array((400, 3000), density=0.01, rng=rng, format="csr")
R.sort_indices()
f = sa.value_and_grad(
    lambda R, P, Q, u, i: snp.sum((snp.sample(P @ Q.T + u[:, None] + i[None, :], R) - R) ** 2), (1, 2, 3, 4))
f(R, np.ones((400, 4)), np.ones((3000, 4)), np.ones(400), np.ones(3000))
print(sa.counters()["peak_live_bytes"])
"""
    peak = int(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
    assert peak < 400 * 3000 * 8 / 4


def test_graph_network():
    n, classes = 90, 3
    label = np.arange(n) % classes
    A = sp.csr_array(((rng.random((n, n)) < np.where(label[:, None] == label, 0.2, 0.02)) | np.eye(n, dtype=bool)) * 1.0)
    A = sp.csr_array(A + A.T)
    degree = 1 / np.sqrt(A.sum(axis=1))
    A = sp.csr_array(sp.diags_array(degree) @ A @ sp.diags_array(degree))
    A.sort_indices()
    X = sp.csr_array((rng.random((n, 20)) < 0.1) * 1.0)
    hot, train = np.eye(classes)[label], rng.random(n) < 0.3

    def loss(A, X, hot, train, W1, W2):
        H = snp.maximum(A @ (X @ W1), 0.0)
        logp = snp.log_softmax(A @ (H @ W2))
        return snp.mean(snp.sum(-(logp * hot), axis=1), where=train) + 5e-4 * snp.sum(W1**2)

    f = sa.value_and_grad(loss, wrt=(4, 5))
    W = [rng.normal(size=(20, 16)) * 0.3, rng.normal(size=(16, classes)) * 0.3]

    def numpy_loss(W2):
        Z = A @ (np.maximum(A @ (X @ W[0]), 0) @ W2)
        logp = Z - np.log(np.exp(Z).sum(1, keepdims=True))
        return np.mean(-(logp * hot).sum(1)[train]) + 5e-4 * (W[0] ** 2).sum()

    value, _, d2 = f(A, X, hot, train, *W)
    np.testing.assert_allclose(value, numpy_loss(W[1]), rtol=1e-12)
    np.testing.assert_allclose(d2, difference(numpy_loss, W[1]), rtol=1e-5, atol=1e-9)
    adam(f, (A, X, hot, train), W, 200, 0.05)
    Z = A @ (np.maximum(A @ (X @ W[0]), 0) @ W[1])
    assert (Z.argmax(1) == label)[~train].mean() > 0.85
    assert f.compilations == 1


def test_sparse_layer_accumulates_sparse_gradients():
    W = sp.csr_array(np.where(rng.random((5, 6)) < 0.5, rng.normal(size=(5, 6)), 0.0))
    f = sa.grad(lambda W, x: snp.sum((W @ x) ** 2))
    total = f(W, np.ones((6, 2)))
    for _ in range(2):
        total.data += f(W, np.ones((6, 2))).data
    want = 3 * 2 * (W @ np.ones((6, 2))) @ np.ones((2, 6))
    np.testing.assert_allclose(total.data, want[W.tocoo().coords], rtol=1e-12)
