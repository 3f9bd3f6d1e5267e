# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control flow that depends on numbers: branches and loops of a traced program, with
the names of jax.lax. Bodies are functions of arrays, or of pytrees of them; they may
use arrays from outside, whose gradients they contribute to.
"""

import json

import numpy as np

from . import _tree
from ._functions import begin_inner, common_type, convert, finish
from ._structured import array, astype, empty, filled, sparse
from ._trace import Array, ArrayType, Extent, TraceError, current, located
from ._values import is_float


def _leaves(tree, what):
    """The arrays of a tree, and its structure."""
    leaves, structure = _tree.flatten(tree)
    try:
        return [array(leaf) for leaf in leaves], structure
    except TraceError:
        raise TraceError(f"{what} holds something that is no array or number") from None


def _number(x, dtype, what):
    """The number of an array of rank 0, a value of MLIR."""
    x = astype(array(x), dtype)
    if x.ndim:
        raise TraceError(f"{what} is a number, not an array of {x.ndim} dimensions")
    f, name = current(), current().fresh()
    f.emit(f"{name} = tensor.extract {f.use(x)}[] : {x.type}")
    return name


def _rank0(name):
    """An index as an array of rank 0."""
    f, number = current(), current().fresh()
    f.emit(f"{number} = arith.index_cast {name} : index to i64")
    type_ = ArrayType((), np.dtype(np.int64))
    return f.op(f"tensor.from_elements {number} : {type_}", type_)


def _yield(op, names, types):
    return f"{op} {', '.join(names)} : {', '.join(map(str, types))}" if names else op


def _emit(head, types, tail):
    """Writes an op with regions; its results as arrays."""
    f = current()
    names = [f.fresh() for _ in types]
    left = f"{', '.join(names)} = " if names else ""
    f.emit(f"{left}{head}{tail}")
    return [Array(f, name, type_) for name, type_ in zip(names, types)]


def cond(predicate, then, otherwise, *operands):
    """`then(*operands)` where the number `predicate` is true, else
    `otherwise(*operands)`. Only the one that is taken is computed, and has gradients.

        sa.numpy.cond(snp.sum(x) > 0, lambda x: snp.log(x), lambda x: 0 * x, x)
    """
    flag, f = _number(predicate, np.bool_, "the condition"), current()
    arrays, _ = _array_leaves(operands)
    branches = [begin_inner(function, operands) for function in (then, otherwise)]
    (_, first, structure), (_, second, other) = branches
    if structure != other:
        raise TraceError("cond: the branches return trees of different structure")
    types = [common_type([a.type, b.type], "cond: results of the branches") for a, b in zip(first, second)]
    parts = []
    for function, results, _ in branches:
        finish(function, results, types)
        call, names = f.call(function, [f.use(x) for x in arrays], types)
        parts.append(f"{{\n    {call}\n    {_yield('scf.yield', names, types)}\n  }}")
    results = _emit(f"scf.if {flag} -> ({', '.join(map(str, types))}) ", types, " else ".join(parts))
    return _tree.unflatten(structure, iter(results))


def _array_leaves(args):
    """The leaves of arguments that are arrays, and the types of these."""
    from ._trace import type_of

    leaves, _ = _tree.flatten(args)
    arrays = [array(leaf) for leaf in leaves if type_of(leaf) is not None]
    return arrays, [x.type for x in arrays]


def _settle(trace, init, structure, what):
    """Traces the body of a loop for what it carries, until the types of that stay: a
    number of Python takes the type of an array, an extent that changes is open.
    `trace(carried)` returns a function that is not finished, the arrays that are
    carried on, their structure, and anything else."""
    for _ in range(4):
        function, carried, shape, rest = trace(init)
        if shape != structure:
            raise TraceError(f"{what}: what is carried on has another structure than what is carried")
        types = [
            common_type([a.type, b.type], f"{what}: what is carried and carried on")
            for a, b in zip(init, carried)
        ]
        if all(str(t) == str(x.type) for t, x in zip(types, init)):
            return function, carried, init, rest
        init = [convert(x, t) for x, t in zip(init, types)]
    raise TraceError(f"{what}: the types of what is carried change from one iteration to the next")


def while_loop(condition, body, init):
    """`init`, then `body(carried)` again and again as long as `condition(carried)`, a
    number, is true; what is carried at last. A backward pass counts the iterations
    first, so that a gradient costs memory for each of them.

        sa.numpy.while_loop(lambda x: x < 100, lambda x: x * 2, x)
    """
    init, structure = _leaves(init, "what a loop carries")

    def trace(carried):
        function, results, shape = begin_inner(body, (_tree.unflatten(structure, iter(carried)),))
        return function, results, shape, None

    step, results, init, _ = _settle(trace, init, structure, "while_loop")
    types, f = [x.type for x in init], current()
    test, flags, _ = begin_inner(condition, (_tree.unflatten(structure, iter(init)),))
    if len(flags) != 1 or flags[0].ndim:
        raise TraceError("while_loop: the condition is a number")
    boolean = ArrayType((), np.dtype(np.bool_))
    finish(test, flags, [boolean])
    finish(step, results, types)
    before, after = [f.fresh() for _ in types], [f.fresh() for _ in types]
    asked, (answer,) = f.call(test, before, [boolean])
    flag = f.fresh()
    done, names = f.call(step, after, types)
    given = ", ".join(f"{b} = {f.use(x)}" for b, x in zip(before, init))
    listed = ", ".join(map(str, types))
    block = ", ".join(f"{a}: {t}" for a, t in zip(after, types))
    loop = _emit(
        f"scf.while ({given}) : ({listed}) -> ({listed}) {{\n    {asked}\n"
        f"    {located(f'{flag} = tensor.extract {answer}[] : {boolean}')}\n"
        f"    scf.condition({flag}) {', '.join(before)} : {listed}\n  }} do {{\n",
        types,
        f"  ^bb0({block}):\n    {done}\n    {_yield('scf.yield', names, types)}\n  }}",
    )
    return _tree.unflatten(structure, iter(loop))


def fori_loop(lower, upper, body, init):
    """`body(i, carried)` for each i from `lower` to `upper`, which is not reached;
    what is carried at last.

        sa.numpy.fori_loop(0, 10, lambda i, x: x + i, x)
    """
    carried, _ = _loop(lower, upper, lambda i, c, _: (body(i, c), None), init, None)
    return carried


def scan(body, init, xs=None, length=None):
    """`carried, y = body(carried, x)` for the rows x of `xs`, arrays of one length (or
    `length` times, with None): what is carried at last, and the y, one upon the other.

        total, sums = sa.numpy.scan(lambda s, x: (s + x, s + x), 0.0, xs)
    """
    rows, _ = _leaves(xs, "scan: xs")
    if any(not x.ndim or sparse(x) for x in rows):
        raise TraceError("scan: xs are dense arrays of one dimension at least")
    if not rows and length is None:
        raise TraceError("scan: give xs or the length")
    count = rows[0].shape[0] if rows else length
    return _loop(0, count, lambda _, c, x: body(c, x), init, xs)


def _bound(n):
    if isinstance(n, Extent):
        return n.name()
    if isinstance(n, (int, np.integer)) and not isinstance(n, bool):
        return current().index(int(n))
    number, f = _number(n, np.int64, "a bound of a loop"), current()
    name = f.fresh()
    f.emit(f"{name} = arith.index_cast {number} : i64 to index")
    return name


def _loop(lower, upper, body, init, xs):
    """A loop over numbers and, with xs, rows: what it carries, and what it stacks."""
    f = current()
    rows, row_structure = _leaves(xs, "scan: xs")
    init, structure = _leaves(init, "what a loop carries")
    index = ArrayType((), np.dtype(np.int64))
    row_types = [ArrayType(x.type.shape[1:], x.dtype) for x in rows]
    parts = {}

    def function(i, carried, x):
        result = body(i, carried, x)
        if not isinstance(result, tuple) or len(result) != 2:
            raise TraceError("scan: the body returns a pair: what is carried on, and what is stacked")
        leaves, shape = _tree.flatten(result[0])
        parts["count"], parts["shape"] = len(leaves), shape
        parts["stacked"] = _tree.flatten(result[1])[1]
        return result

    def trace(carried):
        stand_ins = [Array(f, "", t) for t in (index, *(c.type for c in carried), *row_types)]
        args = (
            stand_ins[0],
            _tree.unflatten(structure, iter(stand_ins[1 : 1 + len(carried)])),
            _tree.unflatten(row_structure, iter(stand_ins[1 + len(carried) :])),
        )
        inner, results, _ = begin_inner(function, args)
        n = parts["count"]
        return inner, results[:n], parts["shape"], results[n:]

    step, results, init, stacked = _settle(trace, init, structure, "scan")
    for y in stacked:
        if sparse(y):
            raise TraceError("scan: sparse arrays are not stacked")
    types, stacked_types = [x.type for x in init], [ArrayType(y.type.shape, y.dtype) for y in stacked]
    finish(step, [*results, *stacked], [*types, *stacked_types])
    low, high, one = _bound(lower), _bound(upper), f.index(1)
    wholes, sizes = _stacks(
        step, init, rows, row_types, types, stacked_types, xs is None and upper, high, low
    )
    i = f.fresh()
    lines, row_names = [], []
    for x, t in zip(rows, row_types):
        name = f.fresh()
        extents = [str(n) if n is not None else f.extent(x, d + 1) for d, n in enumerate(t.shape)]
        lines.append(f"{name} = {_part('extract_slice', f.use(x), i, extents)} : {x.type} to {t}")
        row_names.append(name)
    number, counter = f.fresh(), f.fresh()
    lines.append(f"{number} = arith.index_cast {i} : index to i64")
    lines.append(f"{counter} = tensor.from_elements {number} : {index}")
    inside, wholes_inside = [f.fresh() for _ in types], [f.fresh() for _ in wholes]
    call, names = f.call(step, [counter, *inside, *row_names], [*types, *stacked_types])
    lines.append(call)
    place = i
    if wholes and low != f.index(0):
        place = f.fresh()
        lines.append(f"{place} = arith.subi {i}, {low} : index")
    carried_on = names[: len(types)]
    for name, whole, given, extents in zip(names[len(types) :], wholes, wholes_inside, sizes):
        t, next_ = stacked_types[len(carried_on) - len(types)], f.fresh()
        lines.append(
            f"{next_} = {_part(f'insert_slice {name} into', given, place, extents)} : {t} into {whole.type}"
        )
        carried_on = [*carried_on, next_]
    all_types = [*types, *(w.type for w in wholes)]
    given = ", ".join(f"{a} = {f.use(x)}" for a, x in zip([*inside, *wholes_inside], [*init, *wholes]))
    iter_args = f" iter_args({given}) -> ({', '.join(map(str, all_types))})" if all_types else ""
    lines.append(_yield("scf.yield", carried_on, all_types))
    text = "".join(f"    {located(line)}\n" for line in lines)
    loop = _emit(f"scf.for {i} = {low} to {high} step {one}{iter_args} {{\n", all_types, f"{text}  }}")
    n = len(types)
    return (
        _tree.unflatten(structure, iter(loop[:n])),
        _tree.unflatten(parts["stacked"], iter(loop[n:])),
    )


def _part(op, name, i, extents):
    """One row of a tensor, as the slice ops write it."""
    zeros, ones = ["0"] * len(extents), ["1"] * len(extents)
    return (
        f"tensor.{op} {name}[{', '.join([i, *zeros])}] [{', '.join(['1', *extents])}] "
        f"[{', '.join(['1', *ones])}]"
    )


def _stacks(step, init, rows, row_types, types, stacked_types, count, high, low):
    """What the rows that a loop stacks are written into, and the extents of a row. An
    extent that is open is that of a row which is computed for zeros; the compiler
    follows extents, so that nothing but them is computed."""
    f = current()
    known = count if isinstance(count, int) and not isinstance(count, bool) else None
    if rows:
        known = rows[0].type.shape[0]
    names = []
    if any(n is None for t in stacked_types for n in t.shape):
        given = []
        for x, t in zip(rows, row_types):
            row = filled(empty(t, [(x, d + 1) for d in range(len(t.shape))]), 0)
            given.append(f.use(row))
        zero = _rank0(f.index(0))
        call, names = f.call(step, [f.use(zero), *(f.use(x) for x in init), *given], [*types, *stacked_types])
        f.lines.append(f"  {call}")
    length = f.fresh()
    if stacked_types:
        f.emit(f"{length} = arith.subi {high}, {low} : index")
    wholes, sizes = [], []
    for k, t in enumerate(stacked_types):
        extents = []
        for d, n in enumerate(t.shape):
            source = Array(f, names[len(types) + k], t) if n is None else None
            extents.append(str(n) if n is not None else f.extent(source, d))
        type_ = ArrayType((known, *t.shape), t.dtype)
        open_ = ([length] if known is None else []) + [e for e in extents if e.startswith("%")]
        wholes.append(f.op(f"tensor.empty({', '.join(open_)}) : {type_}", type_))
        sizes.append(extents)
    return wholes, sizes


def progress(**values):
    """A line of named numbers while a program runs, a record of the logger
    "sparse_autograd" (level INFO) with the numbers as its `values`. Not for functions
    that are differentiated: put it around them.

        sa.numpy.progress(epoch=i, loss=loss)
    """
    names, types = [], []
    for name, value in values.items():
        x = array(value)
        if x.dtype.kind != "i" and not is_float(x.dtype):
            raise TraceError(f"progress: {name} is no number")
        names.append((name, _number(x, x.dtype, f"progress: {name}")))
        types.append(x.type.element)
    listed = ", ".join(f"{json.dumps(name)} {value}" for name, value in names)
    current().emit(f"sparse_autograd.log {listed}" + (f" : {', '.join(types)}" if types else ""))
