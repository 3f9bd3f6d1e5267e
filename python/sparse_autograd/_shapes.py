# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes: transpose, reshape, broadcasting, joining, and what indexing does."""

import numpy as np

from ._structured import array, drop_dims, elementwise, empty, filled, generic, merge, result_dtype, astype, sparse
from ._trace import Array, ArrayType, Extent, Format, TraceError, current


def _refuse_sparse(x, what):
    if sparse(x):
        raise TraceError(f"{what} of a sparse array: take its todense()")


def transpose(x, axes=None):
    """As numpy.transpose; that of CSR is CSC."""
    x = array(x)
    order = list(reversed(range(x.ndim))) if axes is None else [a % x.ndim for a in axes]
    if sorted(order) != list(range(x.ndim)):
        raise TraceError(f"axes {axes} are no order of {x.ndim} dimensions")
    if order == list(range(x.ndim)):
        return x
    form = x.type.format
    if form:
        if form.name not in ("csr", "csc", "coo") or x.ndim != 2:
            raise TraceError(f"transpose of a sparse array in {form.name.upper()}: take its todense()")
        form = Format({"csr": "csc", "csc": "csr"}.get(form.name, form.name), form.width)
    type_ = ArrayType(tuple(x.type.shape[d] for d in order), x.dtype, form)
    start, f = empty(type_, [(x, d) for d in order]), current()
    return f.op(
        f"linalg.transpose ins({f.use(x)} : {x.type}) outs({f.use(start)} : {start.type}) "
        f"permutation = {order}",
        type_,
    )


def expand_dims(x, axis):
    """As numpy.expand_dims."""
    x = array(x)
    _refuse_sparse(x, "expand_dims")
    chosen = [axis] if isinstance(axis, int) else list(axis)
    rank = x.ndim + len(chosen)
    new = {a % rank for a in chosen}
    return _with_units(x, [d in new for d in range(rank)])


def _with_units(x, is_new):
    """Dimensions of extent 1 where `is_new` is true."""
    if not any(is_new):
        return x
    old = iter(range(x.ndim))
    sources = [None if new else next(old) for new in is_new]
    shape = tuple(1 if s is None else x.type.shape[s] for s in sources)
    type_ = ArrayType(shape, x.dtype, weak=x.type.weak)
    groups, group = [], []
    for d, source in enumerate(sources):
        if source is not None and any(sources[k] is not None for k in group):
            groups.append(group)
            group = []
        group.append(d)
    if x.ndim:
        groups.append(group)
    f = current()
    extents = ", ".join("1" if s is None else _extent(f, x, s) for s in sources)
    return f.op(
        f"tensor.expand_shape {f.use(x)} {groups} output_shape [{extents}] : {x.type} into {type_}",
        type_,
    )


def _extent(f, x, d):
    n = x.type.shape[d]
    return str(n) if n is not None else f.extent(x, d)


def squeeze(x, axis=None):
    """As numpy.squeeze. Without an axis, extents that are known to be 1 go."""
    x = array(x)
    _refuse_sparse(x, "squeeze")
    ones = [d for d, n in enumerate(x.type.shape) if n == 1]
    if axis is not None:
        chosen = [axis] if isinstance(axis, int) else list(axis)
        wrong = [a for a in chosen if a % x.ndim not in ones]
        if wrong:
            raise TraceError(f"squeeze of axis {wrong[0]}, whose extent is not 1")
        ones = [a % x.ndim for a in chosen]
    kept = [d for d in range(x.ndim) if d not in ones]
    return drop_dims(x, kept) if ones else x


def _known(extent):
    return None if isinstance(extent, Extent) else int(extent)


def _index_of(extent):
    """An extent as an index."""
    return extent.name() if isinstance(extent, Extent) else current().index(int(extent))


def reshape(x, shape):
    """As numpy.reshape; an extent of -1 is what is left."""
    x = array(x)
    _refuse_sparse(x, "reshape")
    extents = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    f = current()
    if -1 in [_known(e) for e in extents]:
        rest = [_index_of(e) for e in extents if _known(e) != -1]
        size, others = x.size, f.index(1)
        total = _index_of(size)
        for name in rest:
            product = f.fresh()
            f.emit(f"{product} = arith.muli {others}, {name} : index")
            others = product
        # The quotient of nothing by nothing is nothing.
        one, divisor, left = f.index(1), f.fresh(), f.fresh()
        f.emit(f"{divisor} = arith.maxui {others}, {one} : index")
        f.emit(f"{left} = arith.divui {total}, {divisor} : index")
        names = [left if _known(e) == -1 else _index_of(e) for e in extents]
        known = [None if _known(e) == -1 else _known(e) for e in extents]
    else:
        names = [_index_of(e) for e in extents]
        known = [_known(e) for e in extents]
    target = ArrayType(tuple(known), x.dtype, weak=x.type.weak)
    count = f.fresh()
    if names:
        f.emit(f"{count} = tensor.from_elements {', '.join(names)} : tensor<{len(names)}xindex>")
    else:
        f.emit(f"{count} = tensor.empty() : tensor<0xindex>")
    return f.op(
        f"tensor.reshape {f.use(x)}({count}) : ({x.type}, tensor<{len(names)}xindex>) -> {target}",
        target,
    )


def broadcast_to(x, shape):
    """As numpy.broadcast_to."""
    x = array(x)
    _refuse_sparse(x, "broadcast_to")
    known = tuple(_known(e) for e in shape)
    rank, first = len(known), len(known) - x.ndim
    if first < 0:
        raise TraceError(f"an array of {x.ndim} dimensions is not broadcast to {rank}")
    for d, n in enumerate(x.type.shape):
        merge([n, known[first + d]], "broadcast_to")
    kept = [d for d, n in enumerate(x.type.shape) if n != 1 or known[first + d] == 1]
    if len(kept) != x.ndim:
        x = drop_dims(x, kept)
    f = current()
    type_ = ArrayType(known, x.dtype)
    names = ", ".join(_index_of(e) for e in shape if _known(e) is None)
    start = f.op(f"tensor.empty({names}) : {type_}", type_)
    return generic([x], [[first + d for d in kept]], list(range(rank)), start, lambda r, n, _: n[0])


def concatenate(arrays, axis=0):
    """As numpy.concatenate, of dense arrays."""
    arrays = [array(x) for x in arrays]
    for x in arrays:
        _refuse_sparse(x, "concatenate")
    rank, dtype = arrays[0].ndim, result_dtype(arrays)
    if not rank or any(x.ndim != rank for x in arrays):
        raise TraceError("concatenate: the arrays have no or different numbers of dimensions")
    arrays, axis = [astype(x, dtype) for x in arrays], axis % rank
    shape = [
        merge([x.type.shape[d] for x in arrays], "concatenate") if d != axis else None
        for d in range(rank)
    ]
    lengths = [x.type.shape[axis] for x in arrays]
    shape[axis] = None if None in lengths else sum(lengths)
    # Extents that are known must be those of all, which the op asks for.
    shape = [n if all(x.type.shape[d] == n for x in arrays) or d == axis else None for d, n in enumerate(shape)]
    type_, f = ArrayType(tuple(shape), dtype), current()
    values = ", ".join(f.use(x) for x in arrays)
    types = ", ".join(str(x.type) for x in arrays)
    return f.op(f"tensor.concat dim({axis}) {values} : ({types}) -> {type_}", type_)


def full_like(x, value, dtype=None):
    """As numpy.full_like, a dense array."""
    x = array(x)
    type_ = ArrayType(x.type.shape, np.dtype(dtype) if dtype else x.dtype)
    return filled(empty(type_, [(x, d) for d in range(x.ndim)]), value)


def zeros_like(x, dtype=None):
    """As numpy.zeros_like, a dense array."""
    return full_like(x, 0, dtype)


def ones_like(x, dtype=None):
    """As numpy.ones_like, a dense array."""
    return full_like(x, 1, dtype)


Array.T = property(transpose)
Array.transpose = lambda self, *axes: transpose(self, axes or None)
Array.reshape = lambda self, *shape: reshape(self, shape[0] if len(shape) == 1 else shape)
