# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays with a part replaced, padded, stacked, and lists of numbers."""

import numpy as np

from ._products import _bounds
from ._shapes import _index_of, _known, _refuse_sparse, broadcast_to, concatenate, expand_dims
from ._sparse import segment_sum
from ._structured import array, astype, spell
from ._trace import Array, ArrayType, TraceError, current


class _At:
    """`x.at[key]`, to replace a part of an array or to add to it: the result is another
    array, and x stays as it is."""

    def __init__(self, x, key=None):
        self._x, self._key = x, key

    def __getitem__(self, key):
        return _At(self._x, key)

    def set(self, value):
        """The array with these numbers in the part: `x.at[1:, 0].set(0)`. What is
        replaced has the gradient zero."""
        x = self._x
        _refuse_sparse(x, "at[].set")
        keys = list(self._key) if isinstance(self._key, tuple) else [self._key]
        if any(k is None or k is Ellipsis or isinstance(k, (Array, np.ndarray, list)) for k in keys):
            raise TraceError("at[].set takes integers and slices; select with where")
        if len(keys) > x.ndim:
            raise TraceError(f"too many indices of an array of {x.ndim} dimensions")
        keys += [slice(None)] * (x.ndim - len(keys))
        f, offsets, sizes, strides, shape, kept = current(), [], [], [], [], []
        for d, k in enumerate(keys):
            n = x.type.shape[d]
            if isinstance(k, slice) and k == slice(None):
                offset, size, stride, single = "0", str(n) if n is not None else f.extent(x, d), "1", False
            else:
                offset, size, stride, single = _bounds(f, x, d, k)
            offsets.append(offset), sizes.append(size), strides.append(stride)
            if not single:
                shape.append(None if size.startswith("%") else int(size))
                kept.append(size)
        value = astype(array(value), x.dtype)
        part = broadcast_to(value, [_Named(s) if s.startswith("%") else int(s) for s in kept])
        return f.op(
            f"tensor.insert_slice {f.use(part)} into {f.use(x)}[{', '.join(offsets)}] "
            f"[{', '.join(sizes)}] [{', '.join(strides)}] : {part.type} into {x.type}",
            x.type,
        )

    def add(self, value):
        """The array with rows added where a list of integers says, each as often as
        the list names it and in its order: `table.at[words].add(rows)`. Of a part that
        slices name, `x.at[1:].add(1)`, the sum."""
        x = self._x
        if isinstance(self._key, (Array, np.ndarray, list)):
            rows = array(self._key)
            shape = [*rows.shape, *x.shape[1:]]
            return x + segment_sum(broadcast_to(astype(array(value), x.dtype), shape), rows, x.shape[0])
        return self.set(x[self._key] + value)


class _Named:
    """An extent that has a name already."""

    def __new__(cls, name):
        from ._trace import Extent

        extent = Extent([])
        extent.name = lambda: name
        return extent


Array.at = property(_At)


def pad(x, pad_width, constant_values=0):
    """As numpy.pad with constants: `pad(x, ((1, 1), (0, 2)))`."""
    x, f = array(x), current()
    _refuse_sparse(x, "pad")
    if isinstance(pad_width, int):
        pad_width = [(pad_width, pad_width)] * x.ndim
    if len(pad_width) == 2 and all(isinstance(n, int) for n in pad_width):
        pad_width = [tuple(pad_width)] * x.ndim
    if len(pad_width) != x.ndim or any(not isinstance(n, int) or n < 0 for pair in pad_width for n in pair):
        raise TraceError("pad: a pair of numbers, not negative, is needed for each dimension")
    shape = tuple(None if n is None else n + a + b for n, (a, b) in zip(x.type.shape, pad_width))
    type_, number = ArrayType(shape, x.dtype), f.fresh()
    text = spell(constant_values, x.dtype)
    f.emit(f"{number} = arith.constant {text}" + ("" if x.dtype.kind == "b" else f" : {type_.element}"))
    low, high = (", ".join(str(pair[k]) for pair in pad_width) for k in (0, 1))
    places = ", ".join(f"{f.fresh()}: index" for _ in pad_width)
    return f.op(
        f"tensor.pad {f.use(x)} low[{low}] high[{high}] {{\n  ^bb0({places}):\n"
        f"    tensor.yield {number} : {type_.element}\n  }} : {x.type} to {type_}",
        type_,
    )


def stack(arrays, axis=0):
    """As numpy.stack, of dense arrays: `stack([x, y])`."""
    arrays = [array(x) for x in arrays]
    if not arrays:
        raise TraceError("stack of nothing")
    return concatenate(
        [expand_dims(x, axis) for x in arrays], axis if axis >= 0 else arrays[0].ndim + 1 + axis
    )


def arange(n, dtype=np.int64):
    """As numpy.arange of one number, which may be an extent: `arange(x.shape[1])`."""
    f, type_ = current(), ArrayType((_known(n),), np.dtype(np.int64))
    extent = "" if _known(n) is not None else _index_of(n)
    start = f.op(f"tensor.empty({extent}) : {type_}", type_)
    i, number, out = f.fresh(), f.fresh(), f.fresh()
    result = f.op(
        "linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = "
        f'["parallel"]}} outs({f.use(start)} : {type_}) {{\n  ^bb0({out}: i64):\n'
        f"    {i} = linalg.index 0 : index\n    {number} = arith.index_cast {i} : index to i64\n"
        f"    linalg.yield {number} : i64\n  }} -> {type_}",
        type_,
    )
    return astype(result, dtype)


def one_hot(indices, count, dtype=np.float64):
    """A row for each index, 1 there and 0 elsewhere: `one_hot(labels, 7)`."""
    indices = array(indices)
    return astype(expand_dims(indices, indices.ndim) == arange(count), dtype)
