# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Selections of two of four elements (2:4 sparsity)."""

from ._structured import array, sparse
from ._trace import ArrayType, TraceError, current
from ._values import is_float

import numpy as np

_SELECTIONS = ("row_wise", "greedy", "optimal", "causal1122")


def _check(x, select, what):
    x = array(x)
    if sparse(x) or not is_float(x.dtype) or x.ndim < 2:
        raise TraceError(
            f"{what}: a dense array of floats and of two dimensions at least is needed, not {x.type}"
        )
    if select not in _SELECTIONS:
        raise TraceError(f"{what}: select is one of {', '.join(_SELECTIONS)}, not {select!r}")
    return x


def _gradient(gradient, what):
    if gradient in ("dense", "sparse", "ste"):
        return gradient
    if isinstance(gradient, tuple) and len(gradient) == 2:
        return f"scaled<{float(gradient[0])!r}, {float(gradient[1])!r}>"
    raise TraceError(
        f'{what}: gradient is "dense", "sparse", "ste" or two factors, of what is kept and of '
        f"what is pruned, not {gradient!r}"
    )


def sparsify_24(x, select="greedy", gradient="ste", transposed=False):
    """x with at most two of four neighbours, and zeros in place of the others.

    `select` is "row_wise" (of four elements of a row), "greedy", "optimal" or
    "causal1122" (of tiles of 4 x 4, so that the transpose is 2:4 as well); `gradient`
    is "ste" (it passes as it is), "dense" (that of what is kept), or the factors
    (kept, pruned). With `transposed` the transpose is returned as well, of the same
    choice (semantics T1 to T4).

        w, wt = snp.sparsify_24(weights, select="greedy", transposed=True)
    """
    x = _check(x, select, "sparsify_24")
    if transposed and select == "row_wise":
        raise TraceError("sparsify_24: the transpose of a row-wise selection is not 2:4: take another")
    f = current()
    words = f"select = {select} gradient = {_gradient(gradient, 'sparsify_24')}"
    if not transposed:
        return f.op(f"sparse_autograd.sparsify_24 {f.use(x)} {words} : {x.type} -> {x.type}", x.type)
    from ._trace import Array

    shape = x.type.shape
    other = ArrayType((*shape[:-2], shape[-1], shape[-2]), x.dtype)
    names = f.fresh(), f.fresh()
    f.emit(
        f"{names[0]}, {names[1]} = sparse_autograd.sparsify_24 {f.use(x)} {words} : {x.type} -> "
        f"{x.type}, {other}"
    )
    return Array(f, names[0], x.type), Array(f, names[1], other)


def sparsify_24_like(x, other, select="greedy", gradient="ste"):
    """x at the elements that a selection keeps of `other`, an array of its shape.

    s = snp.sparsify_24_like(change, weights)
    """
    x, other = _check(x, select, "sparsify_24_like"), _check(other, select, "sparsify_24_like")
    if other.ndim != x.ndim:
        raise TraceError("sparsify_24_like: both arrays have one shape")
    f = current()
    return f.op(
        f"sparse_autograd.sparsify_24_like {f.use(x)}, {f.use(other)} select = {select} "
        f"gradient = {_gradient(gradient, 'sparsify_24_like')} : {x.type}, {other.type} -> {x.type}",
        x.type,
    )


def choose_24(x, select="greedy"):
    """What `sparsify_24` keeps, as bits: an int16 for each tile of 4 x 4.

    bits = snp.choose_24(weights, select="optimal")
    """
    x = _check(x, select, "choose_24")
    tiles = tuple(None if n is None else -(-n // 4) for n in x.type.shape[-2:])
    type_, f = ArrayType((*x.type.shape[:-2], *tiles), np.dtype(np.int16)), current()
    return f.op(f"sparse_autograd.choose_24 {f.use(x)} select = {select} : {x.type} -> {type_}", type_)


def mask_24(choice, like):
    """The mask of a choice (`choose_24`), of the shape of the array `like`.

    kept = snp.mask_24(snp.choose_24(weights), weights)
    """
    choice, like = array(choice), array(like)
    if choice.dtype != np.int16 or choice.ndim != like.ndim:
        raise TraceError(f"mask_24: a choice is what choose_24 returns, not an array of {choice.type}")
    type_, f = ArrayType(like.type.shape, np.dtype(np.bool_)), current()
    extents = ", ".join(f.extent(like, d) for d, n in enumerate(like.type.shape) if n is None)
    words = f", [{extents}]" if extents else ""
    return f.op(f"sparse_autograd.mask_24 {f.use(choice)}{words} : {choice.type} -> {type_}", type_)
