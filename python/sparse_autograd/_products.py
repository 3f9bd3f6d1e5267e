# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices, what is of sparse arrays alone, indexing, and masks of
gradients."""

import numpy as np

from ._shapes import _with_units, transpose
from ._structured import (
    array,
    astype,
    drop_dims,
    generic,
    merge,
    result_dtype,
    shape_text,
    sparse,
    without_units,
    zeros,
)
from ._trace import Array, ArrayType, Extent, TraceError, current
from ._values import is_float


def matmul(x, y):
    """As numpy.matmul. A product with a sparse array visits what that stores; that of
    two sparse ones is sparse, in the format of the first."""
    x, y = array(x), array(y)
    if not x.ndim or not y.ndim:
        raise TraceError("matmul of a number: multiply by it")
    dtype = result_dtype([x, y])
    if dtype.kind == "b":
        raise TraceError("matmul of booleans: give astype(np.float64)")
    x, y = astype(x, dtype), astype(y, dtype)
    inner = merge([x.type.shape[-1], y.type.shape[-2 if y.ndim > 1 else 0]], "matmul")
    batch = max(x.ndim - 2, y.ndim - 2, 0)
    extents = []
    for k in range(batch):
        dims = [(a, k - (batch - (a.ndim - 2))) for a in (x, y)]
        extents.append(merge([a.type.shape[d] for a, d in dims if d >= 0], "matmul"))
    # The loops: those of the batch, then row, column, and the one that is summed.
    rows, columns = x.ndim > 1, y.ndim > 1
    row, column = batch, batch + rows
    summed = batch + rows + columns
    loops, sources = [], {}
    for a, last in ((x, [row] * rows + [summed]), (y, [summed] + [column] * columns)):
        first = batch - max(a.ndim - 2, 0)
        places = [*range(first, batch), *last]
        for d, loop in enumerate(places):
            n = a.type.shape[d]
            if loop < batch and n == 1 and extents[loop] != 1:
                places[d] = None
            elif loop != summed and n == (extents[loop] if loop < batch else n):
                sources.setdefault(loop, (a, d))
        loops.append(places)
    shape = list(extents)
    shape += x.type.shape[-2:-1] + (y.type.shape[-1:] if columns else ())
    form = x.type.format if sparse(x) and sparse(y) and len(shape) == 2 else None
    if form and form.name == "bsr":
        raise TraceError("matmul of two sparse arrays in BSR: give tocsr()")
    type_ = ArrayType(tuple(shape), dtype, form)
    start = zeros(type_, [sources[k] for k in range(len(shape))])
    mul, add = ("mulf", "addf") if is_float(dtype) else ("muli", "addi")

    def body(region, numbers, total):
        product = region(f"arith.{mul} {{}}, {{}} : {type_.element}", *numbers)
        return region(f"arith.{add} {{}}, {{}} : {type_.element}", total, product)

    (x, places), (y, others) = without_units(x, loops[0]), without_units(y, loops[1])
    return generic([x, y], [places, others], list(range(len(shape))), start, body)


def dot(x, y):
    """As numpy.dot, of arrays of at most two dimensions."""
    x, y = array(x), array(y)
    if not x.ndim or not y.ndim:
        return x * y
    if x.ndim > 2 or y.ndim > 2:
        raise TraceError("dot of more than two dimensions: use matmul")
    return matmul(x, y)


# ===------------------------------------------------------------------------=== #
# Sparse arrays
# ===------------------------------------------------------------------------=== #


def _need_sparse(x, what):
    if not sparse(x):
        raise TraceError(f"{what}: a sparse array is needed, not a dense one of {x.type}")


def pattern(x):
    """The mask of what a sparse array stores, zeros included; itself sparse."""
    x = array(x)
    _need_sparse(x, "pattern")
    type_, f = ArrayType(x.type.shape, np.dtype(np.bool_), x.type.format), current()
    return f.op(f"sparse_autograd.pattern {f.use(x)} : {x.type}", type_)


def sample(x, where):
    """The elements of a dense array at the pattern of a sparse one. A product that is
    sampled is computed there alone."""
    x, where = array(x), array(where)
    _need_sparse(where, "sample")
    if sparse(x) or not is_float(x.dtype) or x.ndim != where.ndim:
        raise TraceError(f"sample: a dense array of floats and of the pattern's shape is needed, not {x.type}")
    type_, f = ArrayType(x.type.shape, x.dtype, where.type.format), current()
    return f.op(
        f"sparse_autograd.sample {f.use(x)}, {f.use(where)} : {x.type}, {where.type} -> {type_}", type_
    )


def todense(x):
    """A sparse array as a dense one; itself if it is dense."""
    x = array(x)
    if not sparse(x):
        return x
    type_, f = ArrayType(x.type.shape, x.dtype), current()
    return f.op(f"sparse_tensor.convert {f.use(x)} : {x.type} to {type_}", type_)


# ===------------------------------------------------------------------------=== #
# Indexing
# ===------------------------------------------------------------------------=== #


def take(x, indices, axis=0):
    """As numpy.take along an axis, by default the first: rows of a table, dense or
    row-sparse. An index out of range is an error of the call; negative ones are."""
    x, indices = array(x), array(indices)
    if not x.ndim or (sparse(x) and (x.format != "rows" or axis != 0)):
        raise TraceError("take is of a dense array, or of rows of a row-sparse one")
    if not -x.ndim <= axis < x.ndim:
        raise TraceError(f"axis {axis} is out of bounds for an array of {x.ndim} dimensions")
    if indices.dtype.kind != "i":
        raise TraceError(f"indices are integers, not {indices.dtype}")
    axis %= x.ndim
    if axis:
        rest = [d for d in range(x.ndim) if d != axis]
        rows = take(transpose(x, [axis, *rest]), indices)
        n = indices.ndim
        return transpose(rows, [*range(n, n + axis), *range(n), *range(n + axis, rows.ndim)])
    if not indices.ndim:
        return drop_dims(take(x, _with_units(indices, [True])), list(range(1, x.ndim)))
    f = current()
    index_type = str(indices.type).replace(indices.type.element, "index")
    type_ = ArrayType(indices.type.shape + x.type.shape[1:], x.dtype)
    name = f.fresh()
    f.emit(f"{name} = arith.index_cast {f.use(indices)} : {indices.type} to {index_type}")
    return f.op(f"sparse_autograd.gather {f.use(x)}, {name} : {x.type}, {index_type} -> {type_}", type_)


gather = take


def _index(x, key):
    """x[key]: None, full slices, `...`, one array of integers first, integers and
    slices of extents that are known."""
    keys = list(key) if isinstance(key, tuple) else [key]
    given = sum(k is not None and k is not Ellipsis for k in keys)
    if sum(k is Ellipsis for k in keys) > 1 or given > x.ndim:
        raise TraceError(f"too many indices of an array of {x.ndim} dimensions")
    if not any(k is Ellipsis for k in keys):
        keys.append(Ellipsis)
    at = next(i for i, k in enumerate(keys) if k is Ellipsis)
    keys[at : at + 1] = [slice(None)] * (x.ndim - given)
    first = next((i for i, k in enumerate(keys) if k is not None), None)
    if first is not None and isinstance(keys[first], (Array, np.ndarray, list)):
        if keys[first].dtype.kind == "b" if hasattr(keys[first], "dtype") else False:
            raise TraceError(
                "a mask as an index has a result of open size: give it to a reduction "
                "as where=, or select with sparse_autograd.numpy.where"
            )
        rows = array(keys[first])
        x = take(x, rows)
        keys[first : first + 1] = [slice(None)] * rows.ndim
    if any(isinstance(k, (Array, np.ndarray, list)) for k in keys):
        raise TraceError("an array is an index of the first dimension only: use take")
    return _slice(x, keys)


def _slice(x, keys):
    offsets, sizes, strides, shape, kept, d = [], [], [], [], [], 0
    is_whole = True
    f = current()
    for k in keys:
        if k is None:
            continue
        n = x.type.shape[d]
        if isinstance(k, slice) and k == slice(None):
            offsets.append("0"), strides.append("1")
            sizes.append(str(n) if n is not None else f.extent(x, d))
            shape.append(n), kept.append(d)
        else:
            is_whole = False
            start, size, step, single = _bounds(f, x, d, k)
            offsets.append(start), sizes.append(size), strides.append(step)
            shape.append(int(size) if not size.startswith("%") else None)
            if not single:
                kept.append(d)
        d += 1
    if not is_whole:
        if sparse(x):
            raise TraceError("a part of a sparse array: take its todense()")
        type_ = ArrayType(tuple(shape), x.dtype)
        x = f.op(
            f"tensor.extract_slice {f.use(x)}[{', '.join(offsets)}] [{', '.join(sizes)}] "
            f"[{', '.join(strides)}] : {x.type} to {type_}",
            type_,
        )
        if len(kept) != x.ndim:
            x = drop_dims(x, kept)
    is_new, positions = [], iter(keys)
    for k in positions:
        if k is None:
            is_new.append(True)
        elif isinstance(k, slice):
            is_new.append(False)
    if any(is_new):
        if sparse(x):
            raise TraceError("a new dimension of a sparse array: take its todense()")
        x = _with_units(x, is_new)
    return x


def _bounds(f, x, d, k):
    """(offset, size, stride, whether the dimension goes) of an index or a slice."""
    if isinstance(k, (int, np.integer)) and not isinstance(k, bool):
        if k >= 0:
            return str(int(k)), "1", "1", True
        offset = _minus(f, f.extent(x, d), -int(k))
        return offset, "1", "1", True
    if not isinstance(k, slice):
        raise TraceError(f"an index is an integer, a slice, None, ... or an array, not {k!r}")
    start = 0 if k.start is None else k.start
    step = 1 if k.step is None else k.step
    stop = k.stop
    if any(not isinstance(b, int) or b < 0 for b in (start, step)) or step < 1:
        raise TraceError("the start and the step of a slice are numbers, not negative")
    if isinstance(stop, int) and stop >= 0:
        return str(start), str(max(0, -(-(stop - start) // step))), str(step), False
    if step != 1 or isinstance(stop, Extent):
        raise TraceError("a slice with a step has a stop that is a number")
    end = f.extent(x, d) if stop is None else _minus(f, f.extent(x, d), -stop)
    return str(start), _minus(f, end, start), "1", False


def _minus(f, name, n):
    if n == 0:
        return name
    result = f.fresh()
    other = f.index(n)
    f.emit(f"{result} = arith.subi {name}, {other} : index")
    return result


# ===------------------------------------------------------------------------=== #
# Gradients
# ===------------------------------------------------------------------------=== #


def stop_gradient(x):
    """The array; its gradient is zero."""
    x, f = array(x), current()
    return f.op(f"sparse_autograd.stop_gradient {f.use(x)} : {x.type}", x.type)


def grad_mask(x, where):
    """The array; its gradient is what the mask `where`, which is broadcast to its
    shape, selects."""
    x, mask, f = array(x), astype(where, np.bool_), current()
    first = x.ndim - mask.ndim
    if first < 0 or not mask.ndim:
        raise TraceError(f"grad_mask: a mask of {shape_text(mask)} for an array of {shape_text(x)}")
    kept = [d for d, n in enumerate(mask.type.shape) if n != 1 or x.type.shape[first + d] == 1]
    if len(kept) != mask.ndim:
        mask = drop_dims(mask, kept)
    dims = [first + d for d in kept]
    words = "" if dims == list(range(x.ndim)) else f" mask_dims = {dims}"
    return f.op(
        f"sparse_autograd.grad_mask {f.use(x)}, {f.use(mask)}{words} : {x.type}, {mask.type}", x.type
    )


Array.__matmul__ = matmul
Array.__rmatmul__ = lambda self, other: matmul(other, self)
Array.__getitem__ = _index
Array.dot = dot
Array.todense = todense
Array.toarray = todense
