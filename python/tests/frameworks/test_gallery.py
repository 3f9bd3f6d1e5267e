"""The gradients of the gallery, examples/python, are those of torch: within 64 n u of
the largest element, n being how many terms an element sums up at most."""

import importlib.util
import pathlib

import numpy as np
import pytest
import scipy.sparse as sp

torch = pytest.importorskip("torch")

import sparse_autograd as sa
import sparse_autograd.numpy as snp

FOLDER = pathlib.Path(__file__).parents[3] / "examples/python"
rng = np.random.default_rng(0)


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compare(gradients, leaves, terms):
    for got, leaf in zip(gradients, leaves):
        want = leaf.grad.numpy()
        bound = 64 * terms * np.finfo(np.float64).eps / 2 * np.abs(want).max()
        assert np.abs(np.asarray(got) - want).max() <= bound


def tensors(arrays):
    return [torch.from_numpy(a.copy()).requires_grad_() for a in arrays]


def test_recommender():
    R = sp.random_array((30, 40), density=0.3, rng=rng, format="csr")
    R.sort_indices()
    train = sp.csr_array((rng.random(R.nnz) < 0.8, R.indices, R.indptr), R.shape)
    w = [rng.normal(size=s) for s in (30, 40, (30, 8), (40, 8))]
    value, *gradients = sa.value_and_grad(load("recommender").loss, wrt=(3, 4, 5, 6))(
        R, train, 0.5, *w, 0.25, 2.0
    )
    bu, bi, P, Q = leaves = tensors(w)
    u, i = (torch.from_numpy(c.astype(np.int64)) for c in R.tocoo().coords)
    e = (0.5 + bu[u] + bi[i] + (P[u] * Q[i]).sum(1) - torch.from_numpy(R.data))[torch.from_numpy(train.data)]
    loss = (e**2).sum() + 0.25 * ((bu**2).sum() + (bi**2).sum()) + 2 * ((P**2).sum() + (Q**2).sum())
    loss.backward()
    assert abs(value - loss.item()) <= 64 * R.nnz * 1.2e-16 * abs(loss.item())
    compare(gradients, leaves, 40 * 8)


def test_embeddings():
    U, I = rng.normal(size=(30, 8)), rng.normal(size=(20, 8))
    users, items, ratings = rng.integers(0, 30, 50), rng.integers(0, 20, 50), rng.normal(size=50)
    train = rng.random(50) < 0.8
    f = sa.value_and_grad(load("embeddings").loss, wrt=(0, 1), rows=(0, 1))
    _, *gradients = f(U, I, 0.5, users, items, ratings, train, 0.1)
    leaves = tensors([U, I])
    u, i = leaves[0][torch.from_numpy(users)], leaves[1][torch.from_numpy(items)]
    e = 0.5 + u[:, 0] + i[:, 0] + (u[:, 1:] * i[:, 1:]).sum(1) - torch.from_numpy(ratings)
    (((e**2)[torch.from_numpy(train)]).sum() + 0.1 * ((u**2).sum() + (i**2).sum())).backward()
    compare([g.toarray() for g in gradients], leaves, 50)


def test_gcn():
    A = sp.csr_array((rng.random((40, 40)) < 0.2) * rng.random((40, 40)))
    X = sp.csr_array((rng.random((40, 12)) < 0.3) * 1.0)
    hot, train = np.eye(4)[rng.integers(0, 4, 40)], rng.random(40) < 0.5
    w = [rng.normal(size=s) for s in ((12, 16), (16, 4))]
    network = load("gcn").network

    def loss(A, X, W1, W2):
        return snp.mean(-snp.sum(network(A, X, W1, W2) * hot, axis=1), where=train)

    gradients = sa.grad(loss, wrt=(2, 3))(A, X, *w)
    leaves = tensors(w)
    dense = [torch.from_numpy(m.toarray()) for m in (A, X)]
    logp = torch.log_softmax(dense[0] @ ((dense[0] @ (dense[1] @ leaves[0])).relu() @ leaves[1]), 1)
    (-(logp * torch.from_numpy(hot)).sum(1)[torch.from_numpy(train)].mean()).backward()
    compare(gradients, leaves, 40 * 40)


def test_attention():
    a = load("attention")
    i, j = np.arange(64)[:, None], np.arange(64)[None, :]
    allowed = ((i // 8 - j // 8) // 2 == 0) | (i < 2) | (j < 2)
    shapes = dict(tokens=(8, 32), places=(64, 32), query=(32, 32), key=(32, 32), value=(32, 32), out=(32, 8))
    w = {k: rng.normal(size=s) / 5 for k, s in shapes.items()}
    tokens = rng.integers(0, 8, 64)
    labels = np.roll(tokens, 8)
    _, g = sa.value_and_grad(a.loss)(w, tokens, labels, sp.csr_array(allowed, dtype=float))
    t = dict(zip(w, tensors(w.values())))
    x = t["tokens"][torch.from_numpy(tokens)] + t["places"]
    scores = (x @ t["query"]) @ (x @ t["key"]).T / 32**0.5
    weights = torch.softmax(scores.masked_fill(torch.from_numpy(~allowed), -torch.inf), 1)
    logits = weights @ (x @ t["value"]) @ t["out"]
    torch.nn.functional.cross_entropy(logits[8:], torch.from_numpy(labels[8:])).backward()
    compare([g[k] for k in w], t.values(), 64 * 32)
