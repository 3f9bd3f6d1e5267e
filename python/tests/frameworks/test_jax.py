"""Functions of JAX's arrays: jit, gradients of two orders, BCOO and BCSR, vmap refused."""

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
    with pytest.raises(TypeError, match="bfloat16"):
        f({**p, "w": p["w"].astype(jnp.bfloat16)}, 1.0)


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
