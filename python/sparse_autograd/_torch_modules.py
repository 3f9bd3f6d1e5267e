# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of torch whose work is on sparse or masked data."""

import math

import torch

from . import numpy as snp
from .torch import CSR, function


def _masked_mean(x, mask):
    return snp.mean(x, where=mask)


def _convolution(adjacency, x, weight):
    return adjacency @ (x @ weight)


def _linear_24(select):
    def product(x, weight):
        return x @ snp.sparsify_24(weight, select, "ste").T

    product.__name__ = "linear_24"
    return product


def _attention(q, k, v, pattern, scale):
    scores = snp.sample(q @ k.T, pattern) * scale
    return snp.softmax(scores, where=snp.pattern(scores)) @ v


_mean, _gcn, _attend = function(_masked_mean), function(_convolution), function(_attention)


class MaskedMean(torch.nn.Module):
    """The mean of what a mask selects: `MaskedMean()(x, mask)`. What it leaves out,
    NaN included, reaches neither the mean nor a gradient; the mean of nothing is 0."""

    def forward(self, x, mask):
        return _mean(x, mask)


class GCNConv(torch.nn.Module):
    """A convolution of a graph, A (x W) + b, with A a sparse CSR tensor, or CSR(...)
    where torch.compile compiles it.

        h = GCNConv(16, 7)(A, x)
    """

    def __init__(self, inputs, outputs, bias=True, dtype=None):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(inputs, outputs, dtype=dtype))
        self.bias = torch.nn.Parameter(torch.zeros(outputs, dtype=dtype)) if bias else None
        torch.nn.init.xavier_uniform_(self.weight)

    def forward(self, adjacency, x):
        y = _gcn(adjacency, x, self.weight)
        return y if self.bias is None else y + self.bias


class SparseLinear24(torch.nn.Module):
    """As torch.nn.Linear, with two of four neighbours of the weights: the others are
    zeros in the product, and have the gradient of a dense layer (straight through), so
    that they can come back. `select` is that of sparsify_24; `pruned()` are the weights
    of the product.

        y = SparseLinear24(64, 128)(x)
    """

    def __init__(self, inputs, outputs, bias=True, select="greedy", dtype=None):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(outputs, inputs, dtype=dtype))
        self.bias = torch.nn.Parameter(torch.zeros(outputs, dtype=dtype)) if bias else None
        torch.nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        self._product = function(_linear_24(select))
        self._select = function(lambda w: snp.sparsify_24(w, select))

    def pruned(self):
        """The weights with zeros where they are pruned."""
        return self._select(self.weight)

    def forward(self, x):
        y = self._product(x.reshape(-1, x.shape[-1]), self.weight)
        y = y.reshape(*x.shape[:-1], y.shape[-1])
        return y if self.bias is None else y + self.bias


class SparseAttention(torch.nn.Module):
    """Attention among the pairs that a sparse CSR tensor stores, of any values: row i
    of the pattern has the keys that query i sees. Scores are computed there alone.

        y = SparseAttention()(q, k, v, pattern)
    """

    def __init__(self, scale=None):
        super().__init__()
        self.scale = scale

    def forward(self, q, k, v, pattern):
        scale = self.scale or 1 / math.sqrt(q.shape[-1])
        return _attend(q, k, v, pattern, q.new_tensor(scale))
