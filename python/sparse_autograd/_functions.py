# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions within a program that is traced: of pytrees, with results of given types,
and the ops that call them."""

from . import _tree
from ._structured import array, astype, result_dtype
from ._trace import Array, ArrayType, TraceError, begin, current, inside, type_of, write


def result(value):
    try:
        return array(value)
    except TraceError:
        raise TraceError(
            f"the function returns a {type(value).__name__}: return arrays, numbers, and "
            "tuples, lists and dicts of them"
        ) from None


def flat(function, args):
    """A function of the leaves of `args`: arrays, those of the results, and the
    structure of the results."""
    leaves, structure = _tree.flatten(args)
    static = [None if type_of(leaf) is not None else leaf for leaf in leaves]
    arrays = [array(leaf) for leaf in leaves if type_of(leaf) is not None]

    def body(given):
        given = iter(given)
        values = [next(given) if type_of(l) is not None else s for l, s in zip(leaves, static)]
        results, shape = _tree.flatten(function(*_tree.unflatten(structure, iter(values))))
        return [result(r) for r in results], shape

    return arrays, body


def trace_inner(function, args):
    arrays, body = flat(function, args)
    f = current()
    name = getattr(function, "__name__", "function")
    inner, results, structure = write(f.program, name, [x.type for x in arrays], body, f)
    return arrays, inner, results, structure


def emit(op, inner, arrays, extra, flat, result_types):
    """Writes the call of a derivative; its results as arrays."""
    f = current()
    outside = [*arrays, *(value for value, _ in inner.captured)]
    words = f"({', '.join(f.use(x) for x in outside)})"
    more = ""
    if extra is not None:
        word, values = extra
        words += f" {word}({', '.join(f.use(v) for v in values)})"
        more = f", ({', '.join(str(v.type) for v in values)})"
    if flat is not None:
        words += f" {{wrt = {flat}}}"
    return emit_call(op, inner.name, words, outside, result_types, more)


def emit_call(op, callee, words, arguments, result_types, more=""):
    """Writes an op of the dialect that names a function; its results as arrays."""
    f = current()
    names = [f.fresh() for _ in result_types]
    types = ", ".join(str(x.type) for x in arguments)
    f.emit(
        f"{', '.join(names)} = sparse_autograd.{op} @{callee}{words} : ({types}){more} -> "
        f"({', '.join(map(str, result_types))})"
    )
    return [Array(f, name, type_) for name, type_ in zip(names, result_types)]


def like(results, shape, cotangents, what):
    leaves, given = _tree.flatten(cotangents)
    if given != shape:
        raise TraceError(f"{what} have another structure than the result")
    return same_types(results, [array(c) for c in leaves], what)


def same_types(wanted, given, what):
    if len(wanted) != len(given):
        raise TraceError(f"{what}: {len(wanted)} arrays are needed, not {len(given)}")
    result = []
    for w, g in zip(wanted, given):
        if g.type.weak and not g.ndim:
            g = array(g) if g.dtype == w.dtype else g.astype(w.dtype)
        if (g.dtype, g.ndim, g.type.format) != (w.dtype, w.ndim, w.type.format):
            raise TraceError(f"{what}: an array of {w.type} is needed, not of {g.type}")
        if g.type.shape != w.type.shape:
            f = current()
            g = f.op(f"tensor.cast {f.use(g)} : {g.type} to {w.type}", w.type)
        result.append(g)
    return result


def begin_inner(function, args, arrays=None):
    """A function of the leaves of `args`, not finished: (function, results, their
    structure). `arrays` stand for the leaves that are arrays, in types and extents."""
    given, body = flat(function, args)
    types = [x.type for x in (given if arrays is None else arrays)]
    name = getattr(function, "__name__", "function")
    return begin(current().program, name, types, body, current())


def common_type(types, what):
    """The type that arrays of these types are converted to."""
    stored = {t.format for t in types}
    ranks = {len(t.shape) for t in types}
    if len(stored) > 1 or len(ranks) > 1:
        raise TraceError(f"{what} differ: {' and '.join(dict.fromkeys(map(str, types)))}")
    dtype = result_dtype([Array(None, "", t) for t in types])
    shape = tuple(c[0] if len(set(c)) == 1 else None for c in zip(*(t.shape for t in types)))
    return ArrayType(shape, dtype, stored.pop(), all(t.weak for t in types))


def convert(x, type_):
    """An array as one of a type of its rank and format."""
    f = current()
    x = astype(x, type_.dtype) if x.dtype != type_.dtype else x
    if x.type.shape != type_.shape:
        x = f.op(f"tensor.cast {f.use(x)} : {x.type} to {type_}", type_)
    return x


def finish(function, results, types):
    """Ends a function with its results as arrays of these types."""
    with inside(function):
        function.finish([convert(r, t) for r, t in zip(results, types)])
