"""A graph network whose adjacency matrix and features are cut by rows, a part for each
process: torchrun --nproc-per-node 2 gcn.py cora.npz"""

import sys

import numpy as np
import scipy.sparse as sp
import sparse_autograd.torch as st
import torch
import torch.distributed as dist
from sparse_autograd.distributed import gather_rows, own_rows

product = st.function(lambda A, X: A @ X)


def loss(A, X, labels, train, W1, W2, count):
    H = torch.relu(product(A, gather_rows(product(X, W1))))
    logp = torch.log_softmax(product(A, gather_rows(H @ W2)), dim=1)
    return -logp[torch.arange(len(labels)), labels][train].sum() / count


def fit(A, X, labels, train, epochs, hidden=16):
    mine, parts = own_rows(A.shape[0]), [A.tocsr(), X.tocsr()]
    parts = [M[mine].sorted_indices() for M in parts]
    A, X = (torch.sparse_csr_tensor(*map(torch.from_numpy, (M.indptr, M.indices, M.data)), M.shape) for M in parts)
    generator, shapes = torch.Generator().manual_seed(0), ((X.shape[1], hidden), (hidden, int(labels.max()) + 1))
    W = [(torch.rand(s, generator=generator, dtype=torch.float64) - 0.5).mul(0.5).requires_grad_() for s in shapes]
    optimizer, losses, count = torch.optim.Adam(W, lr=0.01), [], int(train.sum())
    for _ in range(epochs):
        optimizer.zero_grad()
        value = loss(A, X, torch.from_numpy(labels[mine]), torch.from_numpy(train[mine]), *W, count)
        value.backward()
        for t in (value.detach(), *(w.grad for w in W)):  # The sums of all processes.
            dist.all_reduce(t)
        optimizer.step()
        losses.append(value.item())
    return losses


if __name__ == "__main__":
    dist.init_process_group("gloo")
    z = np.load(sys.argv[1])
    A, X = (sp.csr_array((np.ones(len(z[n + "_indices"])), z[n + "_indices"], z[n + "_indptr"])) for n in ("adj", "feat"))
    A = A + sp.eye_array(A.shape[0])
    losses = fit(sp.diags_array(1 / A.sum(axis=1)) @ A, X, z["label"], np.isin(np.arange(A.shape[0]), z["train"]), 100)
    if dist.get_rank() == 0:
        print("loss %.3f" % losses[-1])
