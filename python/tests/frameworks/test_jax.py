"""Functions of JAX's arrays: jit, gradients of two orders, BCOO and BCSR, vmap refused."""

import subprocess
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
from jax.experimental import sparse as jsparse
from jax.test_util import check_grads

import sparse_autograd as sa
import sparse_autograd.jax as sj
import sparse_autograd.numpy as snp

rng = np.random.default_rng(0)


@sj.function
def masked_mean(x, m):
    return snp.mean(snp.log(x), where=m)


@sj.function
def product(A, X):
    return A @ X


def test_dense():
    x, m = jnp.asarray(rng.uniform(0.5, 2, (5, 7))), jnp.asarray(rng.random((5, 7)) < 0.5)
    f = lambda x: masked_mean(jnp.exp(x) + 1, m) * 2
    want = lambda x: jnp.sum(jnp.where(m, jnp.log(jnp.exp(x) + 1), 0)) / m.sum() * 2
    for got, expected in zip(jax.jit(jax.value_and_grad(f))(x), jax.value_and_grad(want)(x)):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)
    check_grads(f, (x,), order=2, modes=["rev"])
    # What is masked out reaches nothing: jax#18601 and its like.
    g = jax.grad(masked_mean)(jnp.array([1.0, jnp.nan, -2.0, 2.0]), jnp.array([True, False, False, True]))
    np.testing.assert_allclose(g, [0.5, 0, 0, 0.25])
    with pytest.raises(TypeError, match="vmap of masked_mean"):
        jax.vmap(lambda x: masked_mean(x, m))(jnp.stack([x, x]))
    count = masked_mean.compilations
    jax.jit(jax.value_and_grad(masked_mean))(x[:3], ~m[:3])
    assert masked_mean.compilations == count


def test_trees_numbers_and_types():
    f = sj.function(lambda p, s: {"y": (p["x"] @ p["w"]) * s, "n": snp.arange(2)})
    p = {"x": jnp.ones((2, 3), jnp.float32), "w": jnp.ones(3, jnp.float32)}
    out = f(p, jnp.float32(2))
    assert out["y"].dtype == jnp.float32 and out["y"].tolist() == [6, 6] and out["n"].tolist() == [0, 1]
    g = jax.grad(lambda p: f(p, jnp.float32(2))["y"].sum())(p)
    assert g["w"].tolist() == [4, 4, 4]
    with pytest.raises(TypeError, match="complex"):
        f({**p, "w": p["w"].astype(jnp.complex64)}, 1.0)


@pytest.mark.parametrize("form", ["BCOO", "BCSR"])
def test_sparse(form):
    dense = rng.random((6, 9)) * (rng.random((6, 9)) < 0.4)
    A, X = getattr(jsparse, form).fromdense(jnp.asarray(dense)), jnp.asarray(rng.normal(size=(9, 4)))
    loss = lambda A, X: jnp.sin(product(A, X)).sum()
    dA, dX = jax.jit(jsparse.grad(loss, (0, 1)))(A, X)
    wA, wX = jax.grad(lambda A, X: jnp.sin(A @ X).sum(), (0, 1))(jnp.asarray(dense), X)
    np.testing.assert_allclose(dX, wX, rtol=1e-12)
    got = dA.data if hasattr(dA, "data") else dA
    np.testing.assert_allclose(got, wA[np.nonzero(dense)], rtol=1e-12)
    with pytest.raises(sa.TraceError, match="return its todense"):
        sj.function(lambda A: A * 2)(A)
    with pytest.raises(Exception, match="contracted|shape|extent|dimension"):
        product(A, X[:3])


def cost(call):
    """The bytes that a call allocates in the runtime, and copies."""
    before = sa.counters()
    result = jax.block_until_ready(call())
    after = sa.counters()
    return result, *(after[n] - before[n] for n in ("allocated_bytes", "copied_bytes"))


@pytest.mark.parametrize("form", ["dense", "BCOO", "BCSR"])
def test_nothing_is_copied(form):
    """Arguments are read where JAX has them, and results written where it wants them."""
    dense = rng.random((60, 90)) * (rng.random((60, 90)) < 0.2)
    A, X = jnp.asarray(dense), jnp.asarray(rng.normal(size=(90, 16)))
    if form != "dense":
        A = getattr(jsparse, form).fromdense(A)
    # JAX gives the coordinates of BCOO as an array of structs, which the entry takes apart.
    structs = A.indices.nbytes if form == "BCOO" else 0
    forward = jax.jit(product)
    gradient = jax.jit(jsparse.grad(lambda A, X: jnp.sum(product(A, X) ** 2), 0) if structs else
                       jsparse.grad(lambda A, X: jnp.sum(product(A, X) ** 2), (0, 1)))
    for _ in range(2):
        y, allocated, copied = cost(lambda: forward(A, X))
    assert copied == structs and allocated == structs
    np.testing.assert_allclose(y, dense @ X, rtol=1e-12, atol=1e-14)
    for _ in range(2):
        _, allocated, copied = cost(lambda: gradient(A, X))
    assert copied == 2 * structs and allocated == 2 * structs


def test_errors_and_callbacks():
    take = sj.function(lambda table, i: snp.take(table, i))
    table = jnp.arange(12.0).reshape(4, 3)
    assert take(table, jnp.array([3, 0])).tolist() == [[9, 10, 11], [0, 1, 2]]
    with pytest.raises(Exception, match="out-of-bounds"):
        jax.block_until_ready(jax.jit(take)(table, jnp.array([7])))
    # A function that closes over an array sees its numbers at the time of the call.
    scale = np.array([2.0])
    f = jax.jit(sj.function(lambda x: x * scale))
    assert f(jnp.ones(1)) == 2
    scale[0] = 3
    assert f(jnp.ones(1)) == 3
    # Numbers, no elements, several results, threads.
    g = sj.function(lambda x, n: (snp.sum(x) * n, x + n, snp.arange(3)))
    total, y, three = jax.jit(g)(jnp.zeros((0, 4)), 2.0)
    assert total == 0 and y.shape == (0, 4) and three.tolist() == [0, 1, 2]
    calls = [jax.jit(g)(jnp.full((5, 4), float(i)), 2.0)[0] for i in range(20)]
    assert [float(c) for c in calls] == [40.0 * i for i in range(20)]


def test_code_of_another_process():
    call = jax.ffi.ffi_call("sparse_autograd.call", jax.ShapeDtypeStruct((2,), jnp.float64))
    sj._register()
    with pytest.raises(Exception, match="compiled by another process"):
        call(jnp.ones(2), id=np.int64(1), extents=np.array([0], np.int64))


def test_integers_that_jax_has_not():
    code = """
import jax.numpy as jnp, sparse_autograd.jax as sj, sparse_autograd.numpy as snp
f = sj.function(lambda x: (x * 2, snp.arange(2)))
y, i = f(jnp.array([1.0, 3.0, 2.0]))
print(y.tolist(), i, i.dtype)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split("\n")[0] == "[2.0, 6.0, 4.0] [0 1] int32"
