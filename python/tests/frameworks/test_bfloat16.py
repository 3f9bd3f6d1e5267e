"""bfloat16: arrays of ml_dtypes, tensors of torch and of JAX, in and out. Sums are made
in float32 and rounded once (semantics G11)."""

import numpy as np
import pytest
import scipy.sparse as sp

ml_dtypes = pytest.importorskip("ml_dtypes")

import sparse_autograd as sa
import sparse_autograd.numpy as snp

B = np.dtype(ml_dtypes.bfloat16)
FAST = {"optimization_level": 1}
rng = np.random.default_rng(0)
# Half a unit in the last place.
U = 2.0**-8


def random(*shape):
    return rng.normal(size=shape).astype(B)


def wide(x):
    return np.asarray(x, np.float32)


def matrix(form="csr"):
    A = sp.random_array((12, 9), density=0.3, rng=rng, format="csr").asformat(form)
    if form == "bsr":
        A = A.tobsr((3, 3)).sorted_indices()
    data = A.data.astype(B)
    A.data = data
    return A


def with_values(A, values):
    """A with other values; SciPy's own functions know no bfloat16."""
    C = type(A)(A.shape, **({"blocksize": A.blocksize} if A.format == "bsr" else {}))
    for name in ("coords",) if A.format == "coo" else ("indptr", "indices"):
        setattr(C, name, getattr(A, name))
    C.data = values
    return C


def dense(A):
    return with_values(A, wide(A.data)).toarray()


def test_entries():
    entry = sa.Module.parse(
        "func.func @f(%x: tensor<?xbf16>, %s: bf16) -> (tensor<?xbf16>, bf16) {\n"
        "  %y = arith.addf %x, %x : tensor<?xbf16>\n  %t = arith.addf %s, %s : bf16\n"
        "  return %y, %t : tensor<?xbf16>, bf16\n}"
    ).compile(**FAST).f
    x = np.array([1.0, 2.5, np.nan, np.inf, -0.0], B)
    for given in (x, x.view(np.uint16), x[::-1][::-1]):
        y, t = entry(given, B.type(1.5))
        assert y.dtype == B and t.dtype == B and t == 3
        np.testing.assert_array_equal(wide(y), 2 * wide(x))
    out = np.zeros(5, B)
    y, _ = entry(x, 1.5, out=[out, None])
    np.testing.assert_array_equal(wide(out), 2 * wide(x))
    with pytest.raises(TypeError, match="give its bits, as np.uint16, or a bfloat16"):
        entry(np.ones(2, np.float16), 1.0)


def test_types_and_sums():
    x, y = random(1000), random(1000)
    assert sa.jit(lambda x: x * 2.0 + 1, **FAST)(x).dtype == B
    assert sa.jit(lambda x, y: x + y, **FAST)(x, wide(y)).dtype == np.float32
    assert sa.jit(lambda x, y: x + y, **FAST)(x, y.astype(np.float16)).dtype == np.float32
    assert sa.jit(lambda x: x * snp.arange(1000), **FAST)(x).dtype == B
    assert sa.jit(lambda x: x.astype(np.float16), **FAST)(x).dtype == np.float16
    assert sa.jit(lambda x: x.astype(B), **FAST)(np.ones(3)).dtype == B
    assert sa.jit(lambda x: snp.where(x > 0, x, 0.0), **FAST)(x).dtype == B
    total = sa.jit(lambda x: snp.sum(x * x), **FAST)(x)
    want = (wide(x) ** 2).sum(dtype=np.float64)
    assert total.dtype == B and abs(float(total) - want) <= U * want * 1.01


def test_gradients():
    def loss(w, x, y):
        return snp.mean((snp.tanh(x @ w) - y) ** 2)

    w, x, y = random(6), random(40, 6), random(40)
    step, reference = (sa.value_and_grad(loss, **FAST) for _ in range(2))
    value, g = step(w, x, y)
    want, wg = reference(*(np.asarray(a, np.float64) for a in (w, x, y)))
    assert value.dtype == B and g.dtype == B
    np.testing.assert_allclose(float(value), want, rtol=8 * U)
    np.testing.assert_allclose(wide(g), wg, rtol=8 * U, atol=8 * U * np.abs(wg).max())


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_sparse(form):
    A, X = matrix(form), random(9, 4)
    value, dA, dX = sa.value_and_grad(lambda A, X: snp.sum((A @ X) ** 2), wrt=(0, 1), **FAST)(A, X)
    assert dA.format == form and dA.data.dtype == B and dX.dtype == B
    Y = dense(A) @ wide(X)
    np.testing.assert_allclose(float(value), (Y**2).sum(), rtol=4 * U)
    want = 2 * dense(A).T @ Y
    np.testing.assert_allclose(wide(dX), want, rtol=4 * U, atol=4 * U * np.abs(want).max())
    want = (2 * Y @ wide(X).T) * with_values(A, np.ones(A.data.shape, np.float32)).toarray()
    np.testing.assert_allclose(dense(dA), want, rtol=4 * U, atol=4 * U * np.abs(want).max())


def test_torch():
    torch = pytest.importorskip("torch")
    import sparse_autograd.torch as st

    T = torch.bfloat16
    f = st.function(lambda A, X: snp.sum((A @ X) ** 2))
    full = torch.randn(8, 6) * (torch.rand(8, 6) < 0.5)
    for layout in ("dense", "csr", "coo"):
        A = full.to(T)
        A = {"dense": lambda: A, "csr": A.to_sparse_csr, "coo": lambda: A.to_sparse().coalesce()}[layout]()
        A, X = A.requires_grad_(), torch.randn(6, 3).to(T).requires_grad_()
        value = f(A, X)
        assert value.dtype == T
        dA, dX = torch.autograd.grad(value, (A, X))
        assert dA.dtype == dX.dtype == T and dA.layout == A.layout
        A_ = full.to(T).double().requires_grad_()
        X_ = X.detach().double().requires_grad_()
        wA, wX = torch.autograd.grad(((A_ @ X_) ** 2).sum(), (A_, X_))
        bound = 8 * U * wX.abs().max().item()
        torch.testing.assert_close(dX.double(), wX, rtol=8 * U, atol=bound)
        got = dA.to_dense().double()
        wA = wA if layout == "dense" else wA * (full.to(T) != 0)
        torch.testing.assert_close(got, wA, rtol=8 * U, atol=8 * U * wA.abs().max().item())
    # A transpose, and a cotangent that repeats one number.
    g = st.function(lambda x: x * 3)
    x = torch.arange(6.0).to(T).reshape(2, 3).T.requires_grad_()
    g(x).sum().backward()
    assert x.grad.dtype == T and (x.grad == 3).all()


def test_jax():
    jax = pytest.importorskip("jax")
    import jax.numpy as jnp

    import sparse_autograd.jax as sj

    f = sj.function(lambda x, m: snp.mean(x * x, where=m))
    x, m = jnp.asarray(random(5, 7)), jnp.asarray(rng.random((5, 7)) < 0.5)
    value, g = jax.jit(jax.value_and_grad(f))(x, m)
    assert value.dtype == g.dtype == jnp.bfloat16
    want = jnp.sum(jnp.where(m, jnp.asarray(x, jnp.float32) ** 2, 0)) / m.sum()
    np.testing.assert_allclose(float(value), float(want), rtol=4 * U)
    np.testing.assert_allclose(wide(g), np.where(m, 2 * wide(x) / int(m.sum()), 0), rtol=4 * U)
