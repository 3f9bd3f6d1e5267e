"""Functions of torch's tensors: gradients of all orders and layouts, the machinery of
torch around them, and modules."""

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

import sparse_autograd as sa
import sparse_autograd.numpy as snp
import sparse_autograd.torch as st

D = torch.float64
torch.manual_seed(0)


def leaf(*shape):
    return torch.randn(shape, dtype=D, requires_grad=True)


def matrix(rows=6, columns=8):
    return torch.randn(rows, columns, dtype=D) * (torch.rand(rows, columns) < 0.4)


@st.function
def layer(x, w):
    return snp.sum(snp.tanh(x @ w), axis=1)


@st.function
def product(A, B):
    return A @ B


def by_parts(P):
    return lambda v, B: product(st.CSR(P.crow, P.col, v, P.shape), B)


def test_gradients_of_dense_leaves():
    x, w = leaf(3, 4), leaf(4, 2)
    assert torch.autograd.gradcheck(layer, (x, w))
    assert torch.autograd.gradgradcheck(layer, (x, w))
    # A stride of 0, transposes, numbers, 0 dimensions, results that are integers.
    y = layer(x.detach().T[:2].T.contiguous().requires_grad_(), w[:2])
    y.sum().backward()
    f = st.function(lambda tree, s, how="a": {"v": tree["x"] * s, "n": snp.arange(3)})
    x = leaf()
    result = f({"x": x}, 3.0, how="b")
    assert result["n"].dtype == torch.int64 and not result["n"].requires_grad
    result["v"].backward()
    assert x.grad == 3.0 and f.compilations == 2
    f({"x": x}, 4.0, how="b")
    assert f.compilations == 2


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr"])
def test_gradients_of_sparse_leaves(layout):
    dense = matrix()
    make = {
        "csr": torch.Tensor.to_sparse_csr, "csc": torch.Tensor.to_sparse_csc,
        "coo": lambda t: t.to_sparse().coalesce(), "bsr": lambda t: t.to_sparse_bsr((2, 2)),
    }[layout]  # fmt: skip
    A, B = make(dense).requires_grad_(), leaf(8, 3)
    # torch cannot store a gradient in CSC or BSR as `grad`; it returns one.
    dA, dB = torch.autograd.grad(product(A, B).sin().sum(), (A, B))
    D_, B_ = dense.clone().requires_grad_(), B.detach().clone().requires_grad_()
    (D_ @ B_).sin().sum().backward()
    torch.testing.assert_close(dB, B_.grad, rtol=1e-12, atol=1e-14)
    assert dA.layout == A.layout
    stored = dense != 0
    if layout == "bsr":
        stored = (
            stored.reshape(3, 2, 4, 2)
            .any(dim=3)
            .any(dim=1)[:, None, :, None]
            .expand(3, 2, 4, 2)
            .reshape(6, 8)
        )
    torch.testing.assert_close(dA.to_dense(), D_.grad * stored, rtol=1e-12, atol=1e-14)
    # Sums of sparse gradients keep the pattern.
    if layout in ("csr", "coo"):
        for _ in range(2):
            product(A, B).sin().sum().backward()
        torch.testing.assert_close(A.grad.to_dense(), 2 * dA.to_dense())
        assert A.grad._nnz() == A._nnz()


def test_checks_of_sparse_leaves():
    A, B = matrix().to_sparse_csr().requires_grad_(), leaf(8, 3)
    checks = dict(masked=True, check_undefined_grad=False, check_batched_grad=False)
    assert torch.autograd.gradcheck(product, (A, B), **checks)
    P = st.CSR.of(A.detach())
    v = P.values.clone().requires_grad_()
    assert torch.autograd.gradcheck(by_parts(P), (v, B))
    assert torch.autograd.gradgradcheck(by_parts(P), (v, B))
    # torch has no second check for results that are sparse: by hand, on the leaf.
    (dA,) = torch.autograd.grad(product(A, B).pow(2).sum(), A, create_graph=True)
    (second,) = torch.autograd.grad(dA.values().sum(), B)
    D_ = A.detach().to_dense().requires_grad_()
    (dD,) = torch.autograd.grad((D_ @ B).pow(2).sum(), D_, create_graph=True)
    (want,) = torch.autograd.grad((dD * (A.detach().to_dense() != 0)).sum(), B)
    torch.testing.assert_close(second, want, rtol=1e-12, atol=1e-12)


def test_custom_op_and_compile():
    op = torch.ops.sparse_autograd.call.default
    x, w, B = leaf(3, 4), leaf(4, 2), leaf(8, 3)
    P = st.CSR.of(matrix().to_sparse_csr())
    v = P.values.clone().requires_grad_()
    for arguments in (([x, w], [], layer.key), ([P.crow, P.col, v, B], [0, *P.shape], product.key)):
        result = torch.library.opcheck(op, arguments)
        assert len(result) == 4 and set(result.values()) == {"SUCCESS"}
    f = lambda v, B: by_parts(P)(v.exp(), B).sin().sum()
    compiled = torch.compile(f, fullgraph=True, backend="aot_eager", dynamic=True)
    for got, want in zip(torch.autograd.grad(compiled(v, B), (v, B)), torch.autograd.grad(f(v, B), (v, B))):
        torch.testing.assert_close(got, want, rtol=0, atol=0)
    with pytest.raises(Exception, match="takes tensors and CSR"):
        torch.compile(lambda x: layer(x, 2), fullgraph=True, backend="eager")(x)


def test_machinery():
    from torch.utils.checkpoint import checkpoint

    x, w = leaf(3, 4), leaf(4, 2)
    want = torch.autograd.grad(layer(x, w).sum(), (x, w))
    got = torch.autograd.grad(checkpoint(layer, x, w, use_reentrant=False).sum(), (x, w))
    torch.testing.assert_close(got, want)
    y = layer(x, w).sum()
    torch.autograd.grad(y, x, retain_graph=True)
    torch.testing.assert_close(torch.autograd.grad(y, x)[0], want[0])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        a, b = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)
        y = layer(a @ b, b)
        y.sum().backward()
    assert y.dtype == torch.float32 and a.grad.dtype == torch.float32
    with pytest.raises(TypeError, match=r"give its float\(\)"):
        layer(x.to(torch.complex64), w)
    with pytest.raises(TypeError, match=r"coalesce\(\)"):
        product(torch.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (6, 8), dtype=D), leaf(8, 3))
    with pytest.raises(sa.ArgumentError, match="test_torch.py"):
        layer(x, leaf(3, 2))


def test_masked_mean_three_ways():
    """The systems that set the floor: by zeroing, by a function of its own, by a hook;
    one compilation for all masks."""
    zeroing = st.function(lambda x, m: snp.sum(snp.where(m, x, 0.0)) / snp.sum(m))
    stated = sa.custom_vjp(lambda x, m: snp.mean(x, where=m)).defvjp(
        lambda x, m: (snp.mean(x, where=m), (m, snp.sum(m))),
        lambda kept, g: (snp.where(kept[0], g / kept[1], 0.0), None),
    )
    own, module = st.function(stated), st.MaskedMean()
    before = sa.compilation_count()
    for n in range(2, 12):
        x, m = leaf(n, 3), torch.rand(n, 3) < 0.5
        m[0, 0] = True
        want = (x.detach()[m]).mean(), m / m.sum()
        hooked = x.detach().clone().requires_grad_()
        hooked.register_hook(lambda g: g.masked_fill(~m, 0))
        for f, argument in ((zeroing, x), (own, x), (module, x), (module, hooked)):
            value = f(argument, m)
            (g,) = torch.autograd.grad(value, argument)
            torch.testing.assert_close(value.detach(), want[0])
            torch.testing.assert_close(g, want[1].to(D))
    assert sa.compilation_count() == before + 6
    # What is masked out reaches nothing: pytorch#41508, #156212, #69359.
    x = torch.tensor([1.0, float("nan"), 3.0], dtype=D, requires_grad=True)
    module(x, torch.tensor([True, False, True])).backward()
    assert x.grad.tolist() == [0.5, 0, 0.5]
    assert module(x, torch.zeros(3, dtype=torch.bool)) == 0


def test_linear_24():
    torch.manual_seed(0)
    model = torch.nn.Sequential(st.SparseLinear24(16, 32), torch.nn.ReLU(), st.SparseLinear24(32, 1))
    x = torch.randn(64, 16)
    y = x[:, :1] * x[:, 1:2]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 3
    kept = model[0].pruned() != 0
    assert (kept.reshape(32, 4, 4).sum(2) <= 2).all() and (kept.T.reshape(16, 8, 4).sum(2) <= 2).all()
    # Straight through: what is pruned has a gradient as well.
    assert (model[0].weight.grad[~kept] != 0).any()


def test_graph_convolution_and_attention():
    dense = (torch.rand(10, 10) < 0.3).to(D) + torch.eye(10, dtype=D)
    A, x = dense.to_sparse_csr(), leaf(10, 4)
    conv = st.GCNConv(4, 3, dtype=D)
    conv(A, x).sin().sum().backward()
    want = torch.autograd.grad(
        (dense @ (x @ conv.weight) + conv.bias).sin().sum(), (x, conv.weight, conv.bias)
    )
    torch.testing.assert_close((x.grad, conv.weight.grad, conv.bias.grad), want)
    compiled = torch.compile(conv, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(st.CSR.of(A), x), conv(A, x))
    q, k, v = leaf(10, 4), leaf(10, 4), leaf(10, 2)
    y = st.SparseAttention()(q, k, v, A)
    scores = (q @ k.T / 2).masked_fill(dense == 0, -torch.inf)
    want = torch.softmax(scores, 1) @ v
    torch.testing.assert_close(y, want)
    torch.testing.assert_close(
        torch.autograd.grad(y.sin().sum(), (q, k, v)), torch.autograd.grad(want.sin().sum(), (q, k, v))
    )


DISTRIBUTED = """
import os, sys, warnings
warnings.filterwarnings("ignore")
import torch, torch.distributed as dist, torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
import sparse_autograd.torch as st

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.e = torch.nn.Parameter(torch.randn(20, 4, dtype=torch.float64))
        self.conv = st.GCNConv(4, 3, dtype=torch.float64)
    def forward(self, a):
        return self.conv(a, self.e.tanh())

def data():
    torch.manual_seed(1)
    return torch.rand(16, 20, dtype=torch.float64) * (torch.rand(16, 20) < .3), torch.randn(16, 3, dtype=torch.float64)

def train(model, a, y):
    optimizer = torch.optim.Adam(model.parameters(), lr=.05)
    for _ in range(3):
        optimizer.zero_grad()
        (model(a.to_sparse_csr()) - y).square().mean().backward()
        optimizer.step()
    return model

def worker(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    a, y = (t.chunk(world)[rank] for t in data())
    model = train(DistributedDataParallel(Net()), a, y)
    # Row-sparse gradients are added up by gloo as sparse tensors.
    i = torch.tensor([[0, 2 + rank]])
    g = torch.sparse_coo_tensor(i, torch.ones(2, 3), (6, 3)).coalesce()
    dist.all_reduce(g)
    assert g.coalesce().indices().tolist() == [[0, 2, 3]] and g.coalesce().values()[0, 0] == 2
    if rank == 0:
        one = train(Net(), *data())
        print(max((p - q).abs().max().item() for p, q in zip(model.module.parameters(), one.parameters())))
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(worker, (2, int(sys.argv[1])), 2)
"""


def test_two_processes(tmp_path):
    import socket

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    script = tmp_path / "train.py"
    script.write_text(DISTRIBUTED)
    done = subprocess.run(
        [sys.executable, script, str(port)], capture_output=True, text=True, timeout=300, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) <= 1e-12


def cost(call):
    """What a call returns, and the bytes that it allocates in the runtime and copies."""
    before = sa.counters()
    result = call()
    after = sa.counters()
    return result, *(after[n] - before[n] for n in ("allocated_bytes", "copied_bytes"))


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr"])
def test_what_a_product_allocates(layout):
    dense = matrix(60, 80)
    make = {
        "csr": torch.Tensor.to_sparse_csr, "csc": torch.Tensor.to_sparse_csc,
        "coo": lambda t: t.to_sparse().coalesce(), "bsr": lambda t: t.to_sparse_bsr((2, 2)),
    }[layout]  # fmt: skip
    A, X = make(dense).requires_grad_(), leaf(80, 16)
    for reduce in (lambda y: y.sum(), lambda y: (y.sum(0) * weights).sum(), lambda y: (y * y).sum()):
        weights = torch.randn(16, dtype=D)
        reference = dense.clone().requires_grad_(), X.detach().clone().requires_grad_()
        wanted = torch.autograd.grad(reduce(reference[0] @ reference[1]), reference)
        for _ in range(2):  # The second time everything is compiled.
            y, allocated, copied = cost(lambda: product(A, X))
            assert allocated == y.numel() * 8 and copied == 0
            loss = reduce(y)
            (dA, dX), allocated, copied = cost(lambda: torch.autograd.grad(loss, (A, X)))
        # The values of the gradients, and nothing of the size of the cotangent.
        assert allocated == (dA.values().numel() + dX.numel()) * 8 and copied == 0
        torch.testing.assert_close(dX, wanted[1], rtol=1e-12, atol=1e-13)
        if layout != "bsr":
            torch.testing.assert_close(dA.to_dense(), wanted[0] * (dense != 0), rtol=1e-12, atol=1e-13)


def test_results_in_memory_of_torch():
    A, X, out = matrix().to_sparse_csr(), torch.randn(8, 3, dtype=D), torch.empty(6, 3, dtype=D)
    address = out.data_ptr()
    sa.jit(lambda A, X: A @ X)(st._to_array(A), X.numpy(), out=out)
    assert out.data_ptr() == address
    torch.testing.assert_close(out, A @ X)


def test_shared_patterns_are_not_written():
    A, X = matrix().to_sparse_csr().requires_grad_(), leaf(8, 3)
    crow, col = A.crow_indices().clone(), A.col_indices().clone()
    (dA,) = torch.autograd.grad(product(A, X).sum(), A)
    assert dA.crow_indices().data_ptr() == A.crow_indices().data_ptr()
    assert dA.values().data_ptr() != A.values().data_ptr()
    for _ in range(3):  # Accumulated in place.
        product(A, X).sum().backward()
    torch.testing.assert_close(A.grad.values(), 3 * dA.values())
    assert torch.equal(A.crow_indices(), crow) and torch.equal(A.col_indices(), col)
    # A result that is the argument does not share its values.
    same = st.function(lambda A: A)(A.detach())
    same.values().zero_()
    assert A.values().abs().sum() > 0


def test_repeated_cotangents_of_higher_orders():
    f = st.function(lambda x, w: snp.tanh(x @ w))
    x, w = leaf(3, 4), leaf(4, 2)
    x_, w_ = (t.detach().clone().requires_grad_() for t in (x, w))

    def second(f, x, w):
        dx, dw = torch.autograd.grad(f(x, w).sum(), (x, w), create_graph=True)
        return torch.autograd.grad((dx**2).sum() + dw.sum(), (x, w))

    wanted = second(lambda x, w: torch.tanh(x @ w), x_, w_)
    torch.testing.assert_close(second(f, x, w), wanted, rtol=1e-12, atol=1e-13)
    # By the cotangent itself, though its elements are one number.
    ct = torch.ones((), dtype=D).expand(3, 2).requires_grad_()
    (dx,) = torch.autograd.grad(f(x, w), x, ct, create_graph=True)
    (dct,) = torch.autograd.grad(dx.sum(), ct)
    (dx_,) = torch.autograd.grad(torch.tanh(x_ @ w_), x_, ct, create_graph=True)
    torch.testing.assert_close(dct, torch.autograd.grad(dx_.sum(), ct)[0], rtol=1e-12, atol=1e-13)
