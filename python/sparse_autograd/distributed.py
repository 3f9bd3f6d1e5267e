# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training in several processes, on one machine or more, by torch.distributed: gradients
are added up, sparse ones as sparse ones, and rows exchanged.

Programs are those of one process. torch.distributed.init_process_group comes first; the
backend is one for the CPU, as gloo. All processes call a function in the same order.
"""

import numpy as np
import scipy.sparse as sp
import torch
import torch.distributed as dist

from ._values import RowSparse


def _gather(array, group):
    """An array of each process, which differ in their first extents alone."""
    mine = torch.from_numpy(np.ascontiguousarray(array))
    count = dist.get_world_size(group)
    lengths = [torch.zeros(1, dtype=torch.int64) for _ in range(count)]
    dist.all_gather(lengths, torch.tensor([len(mine)]), group=group)
    longest = max(map(int, lengths))
    # What is gathered has one shape.
    padded = mine.new_zeros((longest, *mine.shape[1:]))
    padded[: len(mine)] = mine
    parts = [torch.empty_like(padded) for _ in range(count)]
    dist.all_gather(parts, padded, group=group)
    return [part[: int(length)].numpy() for part, length in zip(parts, lengths)]


def all_reduce(gradient, group=None):
    """The sum of a gradient over all processes, which each of them has then, with the
    same bits: of a number, an array, a RowSparse, a sparse array with one pattern
    everywhere, or a tuple, a list or a dict of such.

    Of a RowSparse only rows that are stored are exchanged; the sum stores the rows that
    any process stores, and adds them in the order of the ranks.

        loss, *gradients = all_reduce(step(*tables, *batch))
    """
    if isinstance(gradient, dict):
        return {key: all_reduce(gradient[key], group) for key in sorted(gradient)}
    if isinstance(gradient, (tuple, list)):
        return type(gradient)(all_reduce(g, group) for g in gradient)
    if isinstance(gradient, RowSparse):
        indices, values = (_gather(x, group) for x in (gradient.indices, gradient.values))
        rows, places = np.unique(np.concatenate(indices), return_inverse=True)
        total = np.zeros((len(rows), *gradient.shape[1:]), gradient.dtype)
        first = 0
        for part in values:
            # The rows of one process are different ones.
            total[places[first : first + len(part)]] += part
            first += len(part)
        return RowSparse(rows, total, gradient.shape)
    if sp.issparse(gradient):
        result = gradient.copy()
        result.data = all_reduce(gradient.data, group)
        return result
    total = torch.from_numpy(np.array(gradient))
    dist.all_reduce(total, group=group)
    return total.numpy() if np.ndim(gradient) else total.numpy()[()]


class _GatherRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        parts = _gather(x.detach().numpy(), group)
        ctx.group = group
        ctx.first = sum(map(len, parts[: dist.get_rank(group)]))
        ctx.length = len(x)
        return torch.from_numpy(np.concatenate(parts))

    @staticmethod
    def backward(ctx, cotangent):
        # Each process has used all rows.
        total = cotangent.contiguous().clone()
        dist.all_reduce(total, group=ctx.group)
        return total[ctx.first : ctx.first + ctx.length], None


def gather_rows(x, group=None):
    """The rows of all processes' tensors, in the order of the ranks. The gradient of a
    process's rows is the sum of what all processes have computed for them, so that the
    loss of the whole is the sum of the losses of the processes.

        H = product(A, gather_rows(X @ W))  # A: the process's rows of the adjacency
    """
    return _GatherRows.apply(x, group)


def own_rows(count, group=None):
    """The rows that a process has of `count`: a slice; shares differ by one at most.

        A = adjacency[own_rows(adjacency.shape[0])]
    """
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    return slice(count * rank // size, count * (rank + 1) // size)


__all__ = ["all_reduce", "gather_rows", "own_rows"]
