# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the functions of `numpy` have in common: operands, broadcasting, structured
ops and casts in their regions."""

import numpy as np
import scipy.sparse as sp

from ._trace import Array, ArrayType, Extent, TraceError, constant_array, current, location
from ._values import is_bfloat16, is_float

_WEAK = {"b": True, "i": 1, "f": 1.0}


def operand(value):
    """An array of anything that is one; numbers of Python stay what they are."""
    if isinstance(value, Array) or type(value) in (bool, int, float):
        return value
    if isinstance(value, Extent):
        return value.array()
    if isinstance(value, np.generic):
        return literal(value.item(), value.dtype)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return literal(value.item(), value.dtype)
    if isinstance(value, (np.ndarray, sp.sparray, sp.spmatrix)):
        return constant_array(value)
    if isinstance(value, (list, tuple)):
        if any(isinstance(x, (Array, Extent)) for x in value):
            raise TraceError("a list of traced arrays is no array: use stack or concatenate")
        return constant_array(np.asarray(value))
    raise TraceError(f"a {type(value).__name__} is no array")


def array(value):
    """As numpy.asarray: anything that is an array, or makes one, in the program."""
    value = operand(value)
    if isinstance(value, Array):
        return value
    dtype = np.dtype({bool: np.bool_, int: np.int64, float: np.float64}[type(value)])
    result = literal(value, dtype)
    result.type = ArrayType((), dtype, weak=True)
    return result


def spell(value, dtype):
    """A number as MLIR writes it, of a dtype."""
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind == "i":
        return str(int(value))
    value = float(value)
    if value != value or value in (float("inf"), float("-inf")):
        bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[dtype.itemsize]
        return hex(int(np.array(value, dtype).view(bits)))
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e")


def literal(value, dtype):
    """A constant of rank 0."""
    type_ = ArrayType((), np.dtype(dtype))
    return current().op(f"arith.constant dense<{spell(value, type_.dtype)}> : {type_}", type_)


def result_dtype(operands):
    """NumPy's type of an operation on these."""
    kinds = []
    for x in operands:
        if isinstance(x, Array):
            kinds.append(_WEAK.get(x.dtype.kind, 1.0) if x.type.weak else x.dtype)
        else:
            kinds.append(x)
    # NumPy does not know how its own types and this one meet. As in torch and JAX integers
    # and numbers give way, and of two halves none holds the other.
    strong = [k for k in kinds if isinstance(k, np.dtype)]
    if narrow := [k for k in strong if is_bfloat16(k)]:
        floats = [k for k in strong if k.kind == "f"]
        return np.result_type(np.float32, *floats) if floats else narrow[0]
    return np.result_type(*kinds)


def is_weak(operands):
    return all(not isinstance(x, Array) or x.type.weak for x in operands)


def sparse(x):
    return isinstance(x, Array) and x.type.format is not None


# ===------------------------------------------------------------------------=== #
# Regions
# ===------------------------------------------------------------------------=== #


class Region:
    """The scalar ops of a structured op."""

    def __init__(self):
        self.lines, self._location = [], location()

    def __call__(self, text, *names):
        result = current().fresh()
        self.lines.append(f"    {result} = {text.format(*names)} loc({self._location})")
        return result

    def constant(self, value, dtype):
        type_ = ArrayType((), dtype).element
        text = spell(value, dtype)
        return self(f"arith.constant {text}" + ("" if dtype.kind == "b" else f" : {type_}"))

    def cast(self, name, source, target):
        """A number of one dtype as one of another, as NumPy converts it."""
        if source == target:
            return name
        a, b = ArrayType((), source).element, ArrayType((), target).element
        if target.kind == "b":
            zero = self.constant(0, source)
            compare = "cmpf une," if is_float(source) else "cmpi ne,"
            return self(f"arith.{compare} {{}}, {{}} : {a}", name, zero)
        narrower = source.itemsize > target.itemsize
        if is_float(source) and is_float(target) and source.itemsize == target.itemsize:
            # Of float16 and bfloat16 none holds the other.
            wide = np.dtype(np.float32)
            return self.cast(self.cast(name, source, wide), wide, target)
        if is_float(source) and is_float(target):
            op = "truncf" if narrower else "extf"
        elif is_float(source):
            op = "fptosi"
        elif is_float(target):
            op = "uitofp" if source.kind == "b" else "sitofp"
        else:
            op = "extui" if source.kind == "b" else "trunci" if narrower else "extsi"
        return self(f"arith.{op} {{}} : {a} to {b}", name)


# ===------------------------------------------------------------------------=== #
# Extents and structured ops
# ===------------------------------------------------------------------------=== #


def merge(extents, what):
    """The extent of a dimension of operands: an extent of 1 gives way."""
    known = {n for n in extents if n not in (None, 1)}
    if len(known) > 1:
        raise TraceError(f"{what}: the extents {' and '.join(map(str, sorted(known)))} differ")
    if known:
        return known.pop()
    return None if None in extents else 1


def broadcast_shape(shapes, what):
    """The shape that shapes broadcast to."""
    rank = max((len(s) for s in shapes), default=0)
    padded = [(1,) * (rank - len(s)) + s for s in shapes]
    return tuple(merge(column, what) for column in zip(*padded))


def without_units(x, loops):
    """An array and its loops without the dimensions that are broadcast: `loops` has
    the number of a loop for each dimension, None for one that is dropped."""
    if None not in loops:
        return x, list(loops)
    if sparse(x):
        raise TraceError(
            f"a sparse array of the shape {shape_text(x)} is not broadcast: take its "
            "todense()"
        )
    kept = [d for d, loop in enumerate(loops) if loop is not None]
    return drop_dims(x, kept), [loops[d] for d in kept]


def drop_dims(x, kept):
    """Drops the dimensions of extent 1 that are not kept."""
    shape = x.type.shape
    groups, group = [], []
    for d in range(len(shape)):
        if d in kept and any(k in kept for k in group):
            groups.append(group)
            group = []
        group.append(d)
    if kept:
        groups.append(group)
    type_ = ArrayType(tuple(shape[d] for d in kept), x.dtype, weak=x.type.weak)
    f = current()
    return f.op(f"tensor.collapse_shape {f.use(x)} {groups} : {x.type} into {type_}", type_)


def shape_text(x):
    return "(" + ", ".join("?" if n is None else str(n) for n in x.type.shape) + ")"


def empty(type_, sources):
    """An empty tensor; `sources` has, for each dimension, an array and its dimension
    that the extent is taken from."""
    f = current()
    extents = [
        f.extent(*source) for n, source in zip(type_.shape, sources) if n is None
    ]
    return f.op(f"tensor.empty({', '.join(extents)}) : {type_}", type_)


def zeros(type_, sources):
    """A tensor of zeros; a sparse one stores nothing."""
    start = empty(type_, sources)
    if type_.format:
        return start
    return filled(start, 0)


def filled(start, value):
    f, element = current(), start.type.element
    number = f.fresh()
    text = spell(value, start.dtype)
    f.emit(f"{number} = arith.constant {text}" + ("" if start.dtype.kind == "b" else f" : {element}"))
    return f.op(
        f"linalg.fill ins({number} : {element}) outs({f.use(start)} : {start.type}) "
        f"-> {start.type}",
        start.type,
    )


def full(x, value):
    """An array of one number with the type of another; of a sparse one, stored where
    that stores something."""
    if not sparse(x):
        return filled(empty(x.type, [(x, d) for d in range(x.ndim)]), value)
    if value:
        raise TraceError("a sparse array is filled with zeros only")
    f = current()
    return f.op(f"sparse_autograd.zeros {f.use(x)} : {x.type} -> {x.type}", x.type)


def generic(inputs, loops, result_loops, start, body):
    """A linalg.generic: `loops` has the loops of the dimensions of each input, those
    that are not among `result_loops` reduce. `body(region, numbers, sum)` returns
    the number that is stored."""
    f, region = current(), Region()
    count = max([*result_loops, *(l for ls in loops for l in ls)], default=-1) + 1
    dims = ", ".join(f"d{i}" for i in range(count))
    maps = ", ".join(
        f"affine_map<({dims}) -> ({', '.join(f'd{l}' for l in ls)})>"
        for ls in [*loops, result_loops]
    )
    kinds = ", ".join('"parallel"' if l in result_loops else '"reduction"' for l in range(count))
    numbers = [f.fresh() for _ in inputs]
    total = f.fresh()
    stored = body(region, numbers, total)
    arguments = ", ".join(
        f"{n}: {x.type.element}" for n, x in zip([*numbers, total], [*inputs, start])
    )
    ins = ""
    if inputs:
        ins = f"ins({', '.join(f.use(x) for x in inputs)} : {', '.join(str(x.type) for x in inputs)}) "
    lines = "\n".join(region.lines)
    return f.op(
        f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {ins}"
        f"outs({f.use(start)} : {start.type}) {{\n  ^bb0({arguments}):\n{lines}\n"
        f"    linalg.yield {stored} : {start.type.element}\n  }} -> {start.type}",
        start.type,
    )


def source_of(shape, arrays, what):
    """For each dimension of a broadcast shape an array, and its dimension, that has
    its extent."""
    sources = []
    for k, extent in enumerate(shape):
        found = None
        for x in arrays:
            d = k - (len(shape) - x.ndim)
            if d >= 0 and x.type.shape[d] == extent:
                found = (x, d)
                break
        sources.append(found)
    return sources


def elementwise(what, operands, dtype, body, at_zero, cast_to=None):
    """An elementwise op with NumPy's broadcasting.

    `body(region, numbers)` computes an element from numbers of the dtype `cast_to`
    (None: each of its own). `at_zero(values)` is the result where sparse operands
    store nothing: `values` has 0 for these, the numbers of constants, and None for
    what is not known; it is None if that is not known. If it is 0 the result is
    sparse, as the first sparse operand.
    """
    operands = [operand(x) for x in operands]
    arrays = [x for x in operands if isinstance(x, Array)]
    if not arrays:
        operands[0] = array(operands[0])
        arrays = [operands[0]]
    shape = broadcast_shape([x.type.shape for x in arrays], what)
    form = None
    stored = [x for x in arrays if sparse(x)]
    if stored:
        values = [0 if sparse(x) else x if not isinstance(x, Array) else None for x in operands]
        if at_zero(values) == 0:
            form = stored[0].type.format
            if stored[0].type.shape != shape:
                raise TraceError(
                    f"{what}: a sparse array of the shape {shape_text(stored[0])} is not "
                    "broadcast: take its todense()"
                )
        elif not any(not sparse(x) and x.type.shape == shape for x in arrays):
            raise TraceError(
                f"{what} of a sparse array is not zero where nothing is stored, so that "
                "the result is dense: ask for that with todense()"
            )
    type_ = ArrayType(shape, np.dtype(dtype), form, is_weak(operands))
    inputs, loops = [], []
    rank = len(shape)
    for x in arrays:
        first = rank - x.ndim
        places = [
            None if n == 1 and shape[first + d] != 1 else first + d
            for d, n in enumerate(x.type.shape)
        ]
        x, places = without_units(x, places)
        inputs.append(x)
        loops.append(places)
    start = empty(type_, source_of(shape, arrays, what))

    def write(region, numbers, _):
        names, given = [], iter(zip(numbers, inputs))
        for x in operands:
            if isinstance(x, Array):
                name, x = next(given)
                names.append(region.cast(name, x.dtype, cast_to) if cast_to else name)
            else:
                names.append(region.constant(x, cast_to or np.dtype(dtype)))
        return body(region, names)

    return generic(inputs, loops, list(range(rank)), start, write)


def astype(x, dtype):
    """The elements converted to a dtype; itself if they have it."""
    x, dtype = array(x), np.dtype(dtype)
    if x.dtype == dtype and not x.type.weak:
        return x
    result = elementwise("astype", [x], dtype, lambda r, n: r.cast(n[0], x.dtype, dtype), lambda v: v[0])
    result.type = ArrayType(result.type.shape, dtype, result.type.format)
    return result
