# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jit, grad, value_and_grad, vjp, jvp, checkpoint: functions of arrays, compiled.

A function is compiled once for each rank, type and format of its arguments, whatever
their shapes, patterns and numbers. In a function that is being traced the derivatives
are ops of its program, so that they nest.
"""

import functools
import inspect
import threading

from . import _tree
from ._module import Module
from ._report import report
from ._functions import emit, like, result, same_types, trace_inner
from ._structured import array
from ._trace import ArrayType, Format, Program, TraceError, is_tracing, type_of, write
from ._values import is_float


def _split(leaves):
    """The types of the leaves that are arrays, in their places; others are part of the
    program."""
    types = [type_of(leaf, "an argument") for leaf in leaves]
    return tuple(
        ("static", leaf) if type_ is None else type_ for leaf, type_ in zip(leaves, types)
    )


def _labels(function, structure):
    """A name for each leaf of the arguments, after the parameters of the function."""
    _, _, (args, kwargs) = structure
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    labels = []
    for i, part in enumerate(args[2]):
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        name = positional[i].name if i < len(positional) else f"argument {i}"
        labels += _tree.names(part, name)
    for key, part in zip(kwargs[1], kwargs[2]):
        labels += _tree.names(part, key)
    return labels


class Compiled:
    """A function of arrays that is traced and compiled when it is first called with
    arguments of such types. `compilations` counts.

    The keyword `out`, unless the function has one of this name, is a tree like the
    result, with arrays that results are written to (Entry) and None for others:

        loss, dA, dx = step(A, x, out=(None, None, dx))
    """

    def __init__(self, function, inner, options):
        self._function, self._inner = function, inner
        self._options = options
        self._programs = {}
        self._lock = threading.Lock()
        functools.update_wrapper(self, function)
        self._name = getattr(function, "__name__", "function")
        self._takes_out = not _has_keyword(function, "out")

    @property
    def compilations(self):
        """How many programs were compiled, those found on disk included."""
        return sum(p.is_compiled for p in self._programs.values())

    @property
    def cache_hits(self):
        """How many of these programs were found on disk, compiled by another process."""
        return sum(s.cache_hits for p in list(self._programs.values()) for s in p.statistics())

    @property
    def report(self):
        """What its calls have cost, a Report: a dict that prints as a table.

            print(step.report)
        """
        return report([s for p in list(self._programs.values()) for s in p.statistics()])

    def __call__(self, *args, **kwargs):
        if is_tracing():
            return self._inner(*args, **kwargs)
        out = kwargs.pop("out", None) if self._takes_out else None
        program, leaves = self._find(args, kwargs)
        return program.call(leaves, out)

    def prepare(self, types):
        """The program for arrays of these types as arguments, compiled."""
        structure = (tuple, None, ((tuple, None, ("*",) * len(types)), (dict, (), ())))
        program = self._of_key((structure, tuple(types)))
        program.compile()
        return program

    def lower(self, *args, **kwargs):
        """The program for such arguments, a Module, before anything is run on it."""
        program, _ = self._find(args, kwargs)
        return Module.parse(program.text, f"<{self._name}>")

    def _find(self, args, kwargs):
        leaves, structure = _tree.flatten((args, kwargs))
        return self._of_key((structure, _split(leaves))), leaves

    def _of_key(self, key):
        with self._lock:
            try:
                program = self._programs.get(key)
            except TypeError:
                unhashable = next(k[1] for k in key[1] if isinstance(k, tuple) and not _is_hashable(k[1]))
                raise TraceError(
                    f"an argument is a {type(unhashable).__name__}: give arrays, numbers, and "
                    "tuples, lists and dicts of them"
                ) from None
            if program is None:
                labels = _labels(self._function, key[0])
                program = _Traced(self._name, self._inner, key, labels, self._options)
                self._programs[key] = program
        return program

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)


def _has_keyword(function, name):
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _is_hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


class _Traced:
    """A function traced for types."""

    def __init__(self, name, function, key, labels, options):
        structure, split = key
        self.places = [i for i, s in enumerate(split) if not isinstance(s, tuple)]
        self._options, self._lock, self._entry = options, threading.Lock(), None
        program = Program()

        def body(arrays):
            given = iter(arrays)
            leaves = [s[1] if isinstance(s, tuple) else next(given) for s in split]
            args, kwargs = _tree.unflatten(structure, iter(leaves))
            results, structure_ = _tree.flatten(function(*args, **kwargs))
            return [result(r) for r in results], structure_

        traced, results, self.structure = write(
            program, name, [split[i] for i in self.places], body, public=True,
            labels=[labels[i] for i in self.places],
        )
        self.symbol, self.results = traced.name, [r.type for r in results]
        self.arguments = [a.type for a in traced.all_arguments()]
        self.constants = [value for value, _ in program.constants]
        self.text = "\n".join(program.texts)

    @property
    def is_compiled(self):
        return self._entry is not None

    def statistics(self):
        """Of its compilation and its calls, if there were any."""
        return [self._compiled, self._entry._statistics] if self._entry else []

    def compile(self):
        """The entry."""
        with self._lock:
            if self._entry is None:
                module = Module.parse(self.text, f"<{self.symbol}>")
                executable = module.compile(**self._options)
                self._compiled = executable._statistics
                self._entry = executable[self.symbol]
        return self._entry

    def call(self, leaves, out=None):
        entry = self.compile()
        if out is not None:
            out = _tree.match(self.structure, out)
        results = entry(*(leaves[i] for i in self.places), *self.constants, out=out)
        if not isinstance(results, tuple):
            results = (results,)
        return _tree.unflatten(self.structure, iter(results))


def trace(function, types):
    """The program of a function of arrays of these types (`arguments`, `results`,
    `text`), which returns arrays or a tuple of them."""
    structure = (tuple, None, ((tuple, None, ("*",) * len(types)), (dict, (), ())))
    labels = [f"argument {i}" for i in range(len(types))]
    return _Traced(function.__name__, function, (structure, tuple(types)), labels, {})


def jit(function=None, **options):
    """Compiles a function of arrays: NumPy's, SciPy's sparse ones, numbers, and tuples,
    lists and dicts of them. Other arguments (strings, functions) are part of the
    program. `options` are those of Module.compile."""
    if function is None:
        return lambda f: jit(f, **options)
    return Compiled(function, function, options)


def _selected(args, wrt, what):
    """The positions, among the arrays of all arguments, of those of `wrt`, and the
    structure of each argument of `wrt`."""
    positions, structures, count, ranges = [], [], 0, []
    for arg in args:
        leaves, structure = _tree.flatten(arg)
        arrays = [leaf for leaf in leaves if type_of(leaf) is not None]
        ranges.append((count, arrays, len(arrays) == len(leaves), structure))
        count += len(arrays)
    for w in wrt:
        if not isinstance(w, int) or not -len(args) <= w < len(args):
            raise TraceError(f"wrt names argument {w!r}: there are {len(args)}, from 0")
        first, arrays, is_whole, structure = ranges[w]
        if not is_whole or not arrays:
            raise TraceError(f"wrt names argument {w}, which has leaves that are no arrays")
        for leaf in arrays:
            if not is_float(type_of(leaf).dtype):
                raise TraceError(
                    f"wrt names argument {w}, whose elements are {type_of(leaf).dtype}: only "
                    "floats are differentiable"
                )
        positions.append(range(first, first + len(arrays)))
        structures.append(structure)
    if len({p for r in positions for p in r}) != sum(map(len, positions)):
        raise TraceError("wrt names an argument twice")
    return positions, structures


def _gather(structures, positions, gradients, is_tuple):
    """The gradients of each argument in its structure."""
    gradients = iter(gradients)
    trees = [_tree.unflatten(s, iter([next(gradients) for _ in p])) for s, p in zip(structures, positions)]
    return tuple(trees) if is_tuple else trees[0]


def _row_sparse(type_, w):
    """The type of a gradient some rows of which are stored."""
    if type_.format or len(type_.shape) < 2:
        raise TraceError(f"rows names argument {w}, which is no dense array of rows, but {type_}")
    return ArrayType(type_.shape, type_.dtype, Format("rows", 64))


def _differentiated(function, wrt, finish, options, op="value_and_grad"):
    is_tuple = isinstance(wrt, (tuple, list))
    chosen = list(wrt) if is_tuple else [wrt]
    rows = options.pop("rows", ())
    rows = list(rows) if isinstance(rows, (tuple, list)) else [rows]
    if any(w not in chosen for w in rows):
        raise TraceError(f"rows names an argument that wrt does not: {rows} of {chosen}")

    def inner(*args):
        positions, structures = _selected(args, chosen, op)
        arrays, traced, results, shape = trace_inner(function, args)
        if not results or results[0].type.shape != () or not is_float(results[0].dtype):
            got = str(results[0].type) if results else "nothing"
            raise TraceError(f"the loss is a number, not {got}: take its sum or its mean")
        flat = [p for r in positions for p in r]
        order = sorted(range(len(flat)), key=lambda i: flat[i])
        gradient_types = [arrays[p].type for p in flat]
        first = 0
        for w, places in zip(chosen, positions):
            for k in range(first, first + len(places)) if w in rows else ():
                gradient_types[k] = _row_sparse(gradient_types[k], w)
            first += len(places)
        types = [r.type for r in results] + [gradient_types[i] for i in order]
        values = emit(op, traced, arrays, None, [flat[i] for i in order], types)
        gradients = [None] * len(flat)
        for i, value in zip(order, values[len(results):]):
            gradients[i] = value
        value = _tree.unflatten(shape, iter(values[: len(results)]))
        return finish(value, _gather(structures, positions, gradients, is_tuple), is_tuple)

    return Compiled(function, inner, options)


def value_and_grad(function, wrt=0, **options):
    """A function that returns what `function` returns, and then its gradients by the
    arguments of `wrt`, a position or several: `loss, da, db = value_and_grad(f, (0,
    1))(a, b)`. What `function` returns begins with the loss, a number; anything else is
    not differentiated. A gradient has the structure, types and formats of its argument;
    that of a sparse array has its pattern. `rows` are positions of `wrt` whose gradient
    is a RowSparse, with the rows that the function reads (by `take`):

        loss, dtable = value_and_grad(f, wrt=0, rows=0)(table, words)
    """
    return _differentiated(
        function, wrt, lambda value, g, is_tuple: (value, *g) if is_tuple else (value, g), options
    )


def grad(function, wrt=0, **options):
    """As value_and_grad, the gradient alone; a tuple if `wrt` is one."""
    return _differentiated(function, wrt, lambda value, g, is_tuple: g, options)


def vjp(function, wrt=0, **options):
    """A function `(*arguments, cotangents=c)` that returns what `function` returns and
    then the vector-Jacobian products by the arguments of `wrt`, as value_and_grad does.
    `c` has the structure of the result, whose arrays are floats."""
    is_tuple = isinstance(wrt, (tuple, list))
    chosen = list(wrt) if is_tuple else [wrt]

    def inner(*args, cotangents):
        positions, structures = _selected(args, chosen, "vjp")
        arrays, traced, results, shape = trace_inner(function, args)
        given = like(results, shape, cotangents, "cotangents")
        flat = [p for r in positions for p in r]
        order = sorted(range(len(flat)), key=lambda i: flat[i])
        types = [r.type for r in results] + [arrays[flat[i]].type for i in order]
        values = emit("vjp", traced, arrays, ("cotangents", given), [flat[i] for i in order], types)
        gradients = [None] * len(flat)
        for i, value in zip(order, values[len(results):]):
            gradients[i] = value
        value = _tree.unflatten(shape, iter(values[: len(results)]))
        products = _gather(structures, positions, gradients, is_tuple)
        return (value, *products) if is_tuple else (value, products)

    return Compiled(function, inner, options)


def jvp(function, wrt=0, **options):
    """A function `(*arguments, tangents=t)` that returns what `function` returns and its
    tangent, for the tangents of the arguments of `wrt`: `t` is that of the argument, or
    a tuple if `wrt` is one."""
    is_tuple = isinstance(wrt, (tuple, list))
    chosen = list(wrt) if is_tuple else [wrt]

    def inner(*args, tangents):
        positions, _ = _selected(args, chosen, "jvp")
        arrays, traced, results, shape = trace_inner(function, args)
        flat = [p for r in positions for p in r]
        leaves, _ = _tree.flatten(tangents)
        given = same_types([arrays[p] for p in flat], [array(t) for t in leaves], "tangents")
        order = sorted(range(len(flat)), key=lambda i: flat[i])
        if any(not is_float(r.dtype) for r in results):
            raise TraceError("jvp: a result has no floats, and so no tangent: leave it out")
        types = [r.type for r in results] * 2
        values = emit(
            "jvp", traced, arrays, ("tangents", [given[i] for i in order]), [flat[i] for i in order], types
        )
        count = len(results)
        return (_tree.unflatten(shape, iter(values[:count])), _tree.unflatten(shape, iter(values[count:])))

    return Compiled(function, inner, options)


def checkpoint(function):
    """The function; the backward pass computes it again instead of keeping what it
    computes. For use in a function that is traced."""

    @functools.wraps(function)
    def call(*args):
        arrays, traced, results, shape = trace_inner(function, args)
        values = emit("checkpoint", traced, arrays, None, None, [r.type for r in results])
        return _tree.unflatten(shape, iter(values))

    return call
