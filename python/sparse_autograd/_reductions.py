# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, with NumPy's `axis`, `keepdims` and `where`, and softmax."""

import numpy as np

from ._shapes import broadcast_to
from ._structured import array, astype, broadcast_shape, drop_dims, generic, sparse, zeros
from ._trace import Array, ArrayType, TraceError, current
from ._values import is_float


def axes(axis, rank):
    """The dimensions of `axis`, None for all, sorted."""
    if axis is None:
        return list(range(rank))
    chosen = [axis] if isinstance(axis, int) else list(axis)
    for a in chosen:
        if not -rank <= a < rank:
            raise TraceError(f"axis {a} is out of bounds for an array of {rank} dimensions")
    return sorted({a % rank for a in chosen})


def _masked(x, where):
    """The array, which is broadcast if the mask is larger, and the words that give
    the mask to an op: what follows the array, the dimensions, the type."""
    if where is None:
        return x, "", "", ""
    mask = astype(where, np.bool_)
    shape = broadcast_shape([x.type.shape, mask.type.shape], "where=")
    if shape != x.type.shape:
        if sparse(x):
            raise TraceError("where= has more dimensions than the sparse array")
        x = broadcast_to(x, [mask.shape[d - (len(shape) - mask.ndim)]
                             if d >= len(shape) - mask.ndim and mask.type.shape[d - (len(shape) - mask.ndim)] == n
                             else x.shape[d - (len(shape) - x.ndim)]
                             for d, n in enumerate(shape)])
    first = x.ndim - mask.ndim
    kept = [d for d, n in enumerate(mask.type.shape) if n != 1 or x.type.shape[first + d] == 1]
    if len(kept) != mask.ndim:
        mask = drop_dims(mask, kept)
    if not mask.ndim and x.ndim:
        # A mask for everything has no dimension to range over.
        mask = broadcast_to(mask, [x.shape[0]])
        kept, first = [0], 0
    dims = [first + d for d in kept]
    words = "" if dims == list(range(x.ndim)) else f" mask_dims = {dims}"
    f = current()
    return x, f", {f.use(mask)}", words, f", {mask.type}"


def _floating(x):
    x = array(x)
    if is_float(x.dtype):
        return x
    return astype(x, np.float64)


def _reduce(kind, x, axis, where, keepdims, ddof=0, words=""):
    x = _floating(x)
    if not x.ndim and where is None and kind in ("sum", "mean", "max", "min", "prod"):
        return x
    x, mask, mask_dims, mask_type = _masked(x, where)
    dims = axes(axis, x.ndim)
    if keepdims:
        shape = tuple(1 if d in dims else n for d, n in enumerate(x.type.shape))
    else:
        shape = tuple(n for d, n in enumerate(x.type.shape) if d not in dims)
    type_ = ArrayType(shape, x.dtype)
    f = current()
    return f.op(
        f"sparse_autograd.masked_reduce {kind} {f.use(x)}{mask} dims = {dims}{mask_dims}"
        + (" keepdims" if keepdims else "")
        + (f" ddof = {ddof}" if ddof else "")
        + words
        + f" : {x.type}{mask_type} -> {type_}",
        type_,
    )


def _count(x, axis, where, keepdims):
    """The sum of integers, or of how many are true."""
    if where is not None or keepdims or sparse(x):
        raise TraceError("a sum of integers has an axis only: give astype(np.float64)")
    x = astype(x, np.int64)
    dims = axes(axis, x.ndim)
    kept = [d for d in range(x.ndim) if d not in dims]
    type_ = ArrayType(tuple(x.type.shape[d] for d in kept), x.dtype)
    start = zeros(type_, [(x, d) for d in kept])
    order = {d: i for i, d in enumerate(kept + dims)}
    return generic(
        [x], [[order[d] for d in range(x.ndim)]], list(range(len(kept))), start,
        lambda r, n, total: r("arith.addi {}, {} : i64", n[0], total),
    )


def sum(x, axis=None, where=None, keepdims=False):
    """As numpy.sum, of what `where` selects."""
    x = array(x)
    if not is_float(x.dtype):
        return _count(x, axis, where, keepdims)
    return _reduce("sum", x, axis, where, keepdims)


def mean(x, axis=None, where=None, keepdims=False, empty="zero"):
    """As numpy.mean, of what `where` selects; where it selects nothing 0, or NaN with
    empty="nan", and the gradient is zero."""
    if empty not in ("zero", "nan"):
        raise TraceError(f'empty is "zero" or "nan", not {empty!r}')
    return _reduce("mean", x, axis, where, keepdims, words=" empty = nan" if empty == "nan" else "")


def _extremum(kind, x, axis, where, keepdims, ties):
    if ties not in ("share", "first"):
        raise TraceError(f'ties is "share" or "first", not {ties!r}')
    words = " ties = first" if ties == "first" else ""
    return _reduce(kind, x, axis, where, keepdims, words=words)


def max(x, axis=None, where=None, keepdims=False, ties="share"):
    """As numpy.max, of what `where` selects; -inf where it selects nothing. Elements
    that tie share the gradient, or the first has all of it (ties="first")."""
    return _extremum("max", x, axis, where, keepdims, ties)


def min(x, axis=None, where=None, keepdims=False, ties="share"):
    """As numpy.min, of what `where` selects; inf where it selects nothing. Elements
    that tie share the gradient, or the first has all of it (ties="first")."""
    return _extremum("min", x, axis, where, keepdims, ties)


def prod(x, axis=None, where=None, keepdims=False):
    """As numpy.prod, of what `where` selects."""
    return _reduce("prod", x, axis, where, keepdims)


def var(x, axis=None, where=None, keepdims=False, ddof=0):
    """As numpy.var, of what `where` selects; 0 where that are `ddof` or fewer."""
    return _reduce("var", x, axis, where, keepdims, ddof)


def std(x, axis=None, where=None, keepdims=False, ddof=0):
    """As numpy.std, of what `where` selects; 0 where that are `ddof` or fewer."""
    return _reduce("std", x, axis, where, keepdims, ddof)


def norm(x, axis=None, where=None, keepdims=False):
    """The root of the sum of the squares of what `where` selects."""
    return _reduce("norm2", x, axis, where, keepdims)


def logsumexp(x, axis=None, where=None, keepdims=False):
    """The logarithm of the sum of the exponentials of what `where` selects; -inf
    where it selects nothing."""
    return _reduce("logsumexp", x, axis, where, keepdims)


def _softmax(op, x, axis, where):
    x = _floating(x)
    if sparse(x) and where is None:
        raise TraceError(
            "softmax of a sparse array: give where=pattern(x) for that of what is "
            "stored, or take its todense()"
        )
    x, mask, mask_dims, mask_type = _masked(x, where)
    f = current()
    return f.op(
        f"sparse_autograd.{op} {f.use(x)}{mask} dims = {axes(axis, x.ndim)}{mask_dims}"
        f" : {x.type}{mask_type}",
        x.type,
    )


def softmax(x, axis=-1, where=None):
    """Exponentials over their sum, of what `where` selects; 0 elsewhere."""
    return _softmax("masked_softmax", x, axis, where)


def log_softmax(x, axis=-1, where=None):
    """The logarithm of softmax where `where` selects; 0 elsewhere."""
    return _softmax("masked_log_softmax", x, axis, where)


for _function in (sum, mean, max, min, prod, var, std):
    setattr(Array, _function.__name__, _function)
