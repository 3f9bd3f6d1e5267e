# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What sparse arrays store, taken apart and put together, sums in whatever formats,
and rows that are added where lists of indices say."""

import numpy as np

from ._shapes import _index_of, _known
from ._structured import array, astype, result_dtype, shape_text, sparse
from ._trace import ArrayType, Format, TraceError, current
from ._values import is_float


def _need(x, what):
    x = array(x)
    if not sparse(x):
        raise TraceError(f"{what}: a sparse array is needed, not a dense one of {x.type}")
    return x


def stored_values(x):
    """The values that a sparse array stores, zeros included, in the order in which it
    stores them.

        total = snp.sum(snp.stored_values(A))
    """
    x, f = _need(x, "stored_values"), current()
    type_ = ArrayType((None,), x.dtype)
    return f.op(f"sparse_autograd.stored_values {f.use(x)} : {x.type} -> {type_}", type_)


def with_values(values, pattern):
    """A sparse array with the format and the pattern of another, and these values.

    B = snp.with_values(snp.exp(snp.stored_values(A)), A)
    """
    values, pattern, f = array(values), _need(pattern, "with_values"), current()
    if values.ndim != 1 or sparse(values):
        raise TraceError(f"with_values: values are a list, not an array of {values.type}")
    if values.type.shape != (None,):
        list_ = ArrayType((None,), values.dtype)
        values = f.op(f"tensor.cast {f.use(values)} : {values.type} to {list_}", list_)
    type_ = ArrayType(pattern.type.shape, values.dtype, pattern.type.format)
    return f.op(
        f"sparse_autograd.with_values {f.use(values)}, {f.use(pattern)} : {values.type}, "
        f"{pattern.type} -> {type_}",
        type_,
    )


def stored_coordinates(x, axis):
    """The coordinates of dimension `axis` that a sparse array stores: one for each
    stored value in COO, for each entry in CSR (axis 1) and CSC (axis 0), for each row
    that is stored of a row-sparse array (axis 0).

        rows, columns = snp.stored_coordinates(C, 0), snp.stored_coordinates(C, 1)
    """
    x, f = _need(x, "stored_coordinates"), current()
    axis %= x.ndim
    levels = {"csr": {1: 1}, "csc": {0: 1}, "rows": {0: 0}, "coo": {d: d for d in range(x.ndim)}}
    if axis not in levels.get(x.format, {}):
        raise TraceError(
            f"stored_coordinates: {x.format.upper()} stores no list of coordinates of axis {axis}"
        )
    type_ = ArrayType((None,), np.dtype(np.int64))
    name = f.fresh()
    level = levels[x.format][axis]
    f.emit(
        f"{name} = sparse_autograd.stored_coordinates {f.use(x)} {{level = {level} : index}} : "
        f"{x.type} -> tensor<?xindex>"
    )
    return f.op(f"arith.index_cast {name} : tensor<?xindex> to {type_}", type_)


def sparse_zeros_like(x, dtype=None):
    """Zeros that are stored where a sparse array stores something.

    Z = snp.sparse_zeros_like(A)
    """
    x, f = _need(x, "sparse_zeros_like"), current()
    type_ = ArrayType(x.type.shape, np.dtype(dtype) if dtype else x.dtype, x.type.format)
    return f.op(f"sparse_autograd.zeros {f.use(x)} : {x.type} -> {type_}", type_)


def accumulate(*arrays):
    """The sum of arrays of one shape in whatever formats, added in their order: dense
    if the first is, and otherwise in the format of the first. A row-sparse change of a
    dense table writes to its rows alone.

        table = snp.accumulate(table, change)
    """
    arrays = [array(x) for x in arrays]
    if not arrays:
        raise TraceError("accumulate of nothing")
    dtype = result_dtype(arrays)
    if not is_float(dtype):
        raise TraceError(f"accumulate: arrays of floats are needed, not of {dtype}")
    arrays = [astype(x, dtype) for x in arrays]
    first, f = arrays[0], current()
    for x in arrays:
        if x.ndim != first.ndim:
            raise TraceError(f"accumulate: arrays of {shape_text(first)} and {shape_text(x)}")
        if sparse(first) and not sparse(x):
            raise TraceError("accumulate: a dense array after a sparse one: give the dense one first")
    values, types = ", ".join(f.use(x) for x in arrays), ", ".join(str(x.type) for x in arrays)
    return f.op(f"sparse_autograd.accumulate {values} : {types} -> {first.type}", first.type)


def scatter_rows(rows, indices, count, width=64):
    """A row-sparse array of `count` rows: row r is the sum of the rows whose index is
    r, in the order of the list. An index out of range is an error of the call.

        change = snp.scatter_rows(rows, words, table.shape[0])
    """
    rows, indices, f = array(rows), array(indices), current()
    if indices.dtype.kind != "i" or not indices.ndim:
        raise TraceError(f"indices are a list of integers, not {indices.type}")
    if sparse(rows) or not is_float(rows.dtype) or rows.ndim <= indices.ndim:
        raise TraceError(
            f"scatter_rows: a dense array of floats with a row for each index is needed, not {rows.type}"
        )
    known = _known(count)
    type_ = ArrayType((known, *rows.type.shape[indices.ndim :]), rows.dtype, Format("rows", width))
    # The op takes the extent of the result as a number.
    extent = _index_of(count)
    return f.op(
        f"sparse_autograd.scatter_rows {f.use(rows)}, {f.use(indices)}, {extent} : {rows.type}, "
        f"{indices.type} -> {type_}",
        type_,
    )


def segment_sum(x, segments, count):
    """Sums of rows: row s of the `count` rows of the result is the sum of the rows of x
    whose segment is s, in order, so that it has the same bits every time; zero where
    there is none. A segment out of range is an error of the call.

        per_node = snp.segment_sum(messages, target, x.shape[0])
    """
    from ._products import todense
    from ._shapes import squeeze
    from ._products import _slice

    x, segments = array(x), array(segments)
    if x.ndim == segments.ndim:
        # The op is of rows: a column of one element each.
        return squeeze(segment_sum(_slice(x, [slice(None)] * x.ndim + [None]), segments, count), axis=-1)
    return todense(scatter_rows(x, segments, count))
