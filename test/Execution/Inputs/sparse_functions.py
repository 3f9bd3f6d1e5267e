# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of functions of sparse tensors against those of a mirror in NumPy.

The mirror is analytic and dense: it takes complex arrays with zeros where a
sparse argument stores nothing, and what every sparse argument stores, so that a
complex step at each stored element gives the gradient on the pattern.

A tensor type is written by the letters of its dimensions, which are loops or
extents, and the place of its encoding: "nk#A" is a matrix of n x k whose format
a `Variant` chooses as its A, "nm" is dense and "f64" a scalar. In the text of a
body <<nk#A>> stands for the type, <<nk#A|i1>> for the one with other elements;
`%z = zeros <<nm>>` and `%e = empty <<nm#R>>` for tensors of these extents.
%d_n is the extent n.
"""

import os
import re
import zlib
from dataclasses import dataclass, field
from typing import Callable

import numpy as np

from execution import Program, close, same_bits
from functions import STEP
from sparse_storage import (MATRICES, TENSORS, VECTORS, Encoding, Level,
                            Storage, block_encoding, build_storage,
                            from_pattern, same_pattern)

_COORDINATES = [Level("singleton", d, unique=d == 3) for d in range(1, 4)]
# By rank.
FORMATS = {
    1: {**VECTORS, "DenseVector": Encoding((Level("dense", 0),)),
        "LooseVector": Encoding((Level("loose_compressed", 0),)),
        "BlockVector": Encoding((Level("compressed", 0, True, 3, "quotient"),
                                 Level("dense", 0, True, 3, "remainder")))},
    2: {**MATRICES, "BSR23": block_encoding((2, 3))},
    3: {**TENSORS, "RowsOfCOO": Encoding((
        Level("dense", 1), Level("compressed", 0, False),
        Level("singleton", 2)))},
    4: {"CSF4": Encoding(tuple(Level("compressed", d) for d in range(4))),
        "COO4": Encoding((Level("compressed", 0, False), *_COORDINATES)),
        "DenseBatch": Encoding((Level("dense", 0), Level("dense", 2),
                                Level("compressed", 3),
                                Level("compressed", 1)))},
}
WIDTHS = (("index", "index"), ("i64", "i32"), ("i32", "i64"), ("i32", "i32"),
          ("i16", "i8"), ("i8", "i16"), ("i64", "i64"))


@dataclass
class SparseFunction:
    """A function of %x0, %x1, ... whose body ends with its return."""
    name: str
    arguments: list  # such as "nk#A"
    results: list
    body: str
    # Gets the arrays and, by number, the patterns of the sparse arguments;
    # returns the results, of which sparse ones hold zeros off their patterns.
    # The patterns of sparse results are there as "r0" and so on.
    mirror: Callable
    # For each sparse result, its pattern from those of the arguments: the
    # number of an argument or a function of patterns and arrays.
    patterns: tuple = ()
    # Which elements of dense arguments, and of cotangents of dense results (by
    # "g0" and so on), meet nothing that is stored: from the patterns, arrays of
    # booleans by number.
    unmet: Callable = None
    helpers: str = ""  # other functions, named @{name}_...
    draw: Callable = None  # rng, shape -> the elements of arguments
    zeros: bool = True  # whether zeros are stored explicitly

    def active(self):
        return range(len(self.arguments))

    def values(self, arrays, patterns):
        with np.errstate(all="ignore"):
            results = self.mirror(arrays, patterns)
        if not isinstance(results, tuple):
            results = (results,)
        return [np.asarray(r) for r in results]


@dataclass(frozen=True)
class Variant:
    """The encodings of a function: pairs of a name and an encoding."""
    encodings: tuple  # of pairs: place, encoding
    names: tuple  # of pairs: place, name
    static: tuple = ()  # of pairs: letter, extent; all others are dynamic

    @property
    def label(self):
        return "_".join(name for _, name in self.names) + (
            "_static" if self.static else "")


def dims_of(type_):
    """The letters of a type; none of a scalar."""
    return None if type_ == "f64" else type_.split("#")[0]


def place_of(type_):
    return type_.partition("#")[2]


class Typing:
    """Writes types and extents for a variant."""

    def __init__(self, variant):
        self.names, self.static = dict(variant.names), dict(variant.static)

    def type(self, text, element="f64"):
        if text == "f64":
            return element
        dims, _, place = text.partition("#")
        extents = [d if d.isdigit() else str(self.static.get(d, "?"))
                   for d in dims]
        suffix = f", #{self.names[place]}" if place else ""
        return "tensor<" + "x".join(extents + [element]) + suffix + ">"

    def expand(self, body):
        def of_type(match):
            text, _, element = match.group(1).partition("|")
            return self.type(text, element or "f64")

        def empty(match):
            name, kind, text = match.groups()
            dynamic = ", ".join(f"%d_{d}" for d in dims_of(text)
                                if d not in self.static)
            type_ = self.type(text)
            made = name if kind == "empty" else f"{name}_e"
            lines = f"  {made} = tensor.empty({dynamic}) : {type_}"
            if kind == "zeros":
                lines += (
                    f"\n  {name}_c = arith.constant 0.0 : f64\n  {name} = "
                    f"linalg.fill ins({name}_c : f64) outs({made} : {type_}) "
                    f"-> {type_}")
            return lines

        body = re.sub(r" *(%\w+) = (zeros|empty) <<([^<>]*)>>", empty, body)
        return re.sub(r"<<([^<>]*)>>", of_type, body)

    def extents(self, arguments):
        """The values %d_n and so on."""
        lines, seen = [], set()
        for number, text in enumerate(arguments):
            for d, letter in enumerate(dims_of(text) or ""):
                if letter in seen:
                    continue
                seen.add(letter)
                lines.append(f"  %d_{letter}_i = arith.constant {d} : index")
                lines.append(
                    f"  %d_{letter} = tensor.dim %x{number}, %d_{letter}_i : "
                    f"{self.type(text)}")
        return "\n".join(lines)


def add_function(program, function, variant, second=False, forward=True):
    """The entry of a function: arguments and cotangents to results and
    gradients; if `forward`, with tangents to tangents as well, and if `second`
    to the tangents of the gradients, forward over reverse, reverse over reverse
    and reverse over forward; returns its name."""
    assert forward or not second
    name = f"{function.name}_{variant.label}"
    typing = Typing(variant)
    for (_, encoding_name), (_, encoding) in zip(variant.names,
                                                 variant.encodings):
        program.define_encoding(encoding_name, encoding)
    arguments = [typing.type(t) for t in function.arguments]
    results = [typing.type(t) for t in function.results]
    program.define(typing.expand(function.helpers).replace("@{name}",
                                                           "@" + name))
    parameters = ", ".join(f"%x{i}: {t}" for i, t in enumerate(arguments))
    body = typing.expand(function.body).replace("@{name}", "@" + name)
    program.define(f"""
func.func private @{name}_f({parameters}) -> ({", ".join(results)}) {{
{typing.extents(function.arguments)}
{body}
}}""")
    wrt = ", ".join(map(str, function.active()))
    n, c = len(arguments), len(results)

    def values(first, count, name="a"):
        return ", ".join(f"%{name}{i}" for i in range(first, first + count))

    def listed(types):
        return ", ".join(types)

    def vjp(callee, inputs, outputs, first="", over="", gradients=n):
        """The call; of the arguments the first `gradients` get one."""
        return (f"sparse_autograd.vjp @{callee}({first}) cotangents({over}) "
                f"{{wrt = [{wrt}]}} : ({listed(inputs)}), ({listed(outputs)}) "
                f"-> ({listed(outputs + inputs[:gradients])})")

    def jvp(callee, inputs, outputs, first="", along=""):
        return (f"sparse_autograd.jvp @{callee}({first}) tangents({along}) "
                f"{{wrt = [{wrt}]}} : ({listed(inputs)}), "
                f"({listed(arguments)}) -> ({listed(outputs + outputs)})")

    x, g, t = values(0, n), values(n, c), values(n + c, n)
    lines = [f"  %vjp:{c + n} = " + vjp(f"{name}_f", arguments, results, x, g)]
    returned = [f"%vjp#{i}" for i in range(c + n)]
    types = results + arguments
    inputs = arguments + results
    if forward:
        lines.append(f"  %jvp:{2 * c} = " +
                     jvp(f"{name}_f", arguments, results, x, t))
        returned += [f"%jvp#{c + i}" for i in range(c)]
        types = types + results
        inputs = inputs + arguments
    if second:
        inner = arguments + results
        named = ", ".join(f"%b{i}: {t_}" for i, t_ in enumerate(inner))
        kept = listed([f"%r#{c + i}" for i in range(n)])
        program.define(f"""
func.func private @{name}_g({named}) -> ({listed(arguments)}) {{
  %r:{c + n} = {vjp(f"{name}_f", arguments, results, values(0, n, "b"), values(n, c, "b"))}
  return {kept} : {listed(arguments)}
}}""")
        along = arguments + arguments
        named = ", ".join(f"%b{i}: {t_}" for i, t_ in enumerate(along))
        kept = listed([f"%r#{c + i}" for i in range(c)])
        program.define(f"""
func.func private @{name}_t({named}) -> ({listed(results)}) {{
  %r:{2 * c} = {jvp(f"{name}_f", arguments, results, values(0, n, "b"), values(n, n, "b"))}
  return {kept} : {listed(results)}
}}""")
        lines += [
            f"  %for:{2 * n} = " + jvp(f"{name}_g", inner, arguments,
                                       f"{x}, {g}", t),
            f"  %ror:{2 * n} = " + vjp(f"{name}_g", inner, arguments,
                                       f"{x}, {g}", t),
            f"  %rof:{c + n} = " + vjp(f"{name}_t", along, results,
                                       f"{x}, {t}", g)]
        returned += [f"%for#{n + i}" for i in range(n)]
        returned += [f"%ror#{n + i}" for i in range(n)]
        returned += [f"%rof#{c + i}" for i in range(n)]
        types = types + 3 * arguments
    lines.append(f"  return {listed(returned)} : {listed(types)}")
    program.entry(name, inputs, types, "\n".join(lines))
    return name


# References.

def closure(mask, encoding):
    """What an encoding stores when it stores `mask`: blocks, rows, or all."""
    coordinates = np.argwhere(mask)
    stored = build_storage(coordinates, np.ones(len(coordinates)), mask.shape,
                           encoding).entries()[0]
    result = np.zeros(mask.shape, bool)
    result[tuple(stored.T)] = True
    return result


def _weighted(values, cotangents):
    # What is infinite stays so.
    return sum((np.sum(np.where(np.isfinite(v.real), v, 0) * g)
                for v, g in zip(values, cotangents)), 0.0)


def gradients(function, arrays, patterns, cotangents, is_dense=False):
    """The gradient of <cotangents, f> by complex steps at all that is stored; if
    `is_dense`, at all elements."""
    result = []
    for index in function.active():
        gradient = np.zeros(np.shape(arrays[index]))
        pattern = np.ones(gradient.shape, bool)
        if not is_dense:
            pattern = patterns.get(index, pattern)
        for at in map(tuple, np.argwhere(pattern)):
            shifted = [np.array(a, complex) for a in arrays]
            shifted[index][at] += 1j * STEP
            gradient[at] = np.imag(_weighted(
                function.values(shifted, patterns), cotangents)) / STEP
        result.append(gradient)
    return result


def tangents(function, arrays, patterns, directions):
    shifted = [a + 1j * STEP * t for a, t in zip(arrays, directions)]
    return [np.imag(v) / STEP for v in function.values(shifted, patterns)]


def second_gradients(function, arrays, patterns, cotangents, directions):
    """The derivative of the gradients along directions, by the five-point
    difference."""
    step, total = 1e-3, None
    for factor, weight in ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3),
                           (2, -1 / 12)):
        shifted = [a + factor * step * t for a, t in zip(arrays, directions)]
        terms = [weight / step * g for g in
                 gradients(function, shifted, patterns, cotangents)]
        total = terms if total is None else [a + b
                                             for a, b in zip(total, terms)]
    return total


@dataclass
class Case:
    """The numbers of one call."""
    sizes: dict
    masks: dict  # of sparse arguments, by number; closed under the encoding
    arrays: list
    cotangents: list
    directions: list
    result_masks: list = field(default_factory=list)


SIZES = ((3, 4, 2), (7, 5, 3), (1, 1, 1), (0, 3, 2), (2, 8, 1), (31, 2, 3),
         (3, 0, 2), (2, 33, 3), (5, 7, 8), (2, 3, 0), (32, 3, 1), (1, 7, 2),
         (8, 1, 5), (3, 2, 32))
FILLS = ("some", "many", "none", "one", "row", "full", "column")


def draw_mask(rng, shape, fill):
    """A pattern: some, no, one or all elements, or a row or a column of them."""
    mask = np.zeros(shape, bool)
    if fill in ("some", "many"):
        # Some rows and columns are empty.
        mask = rng.random(shape) < (0.3 if fill == "some" else 0.6)
        for axis, extent in enumerate(shape):
            kept = np.expand_dims(rng.random(extent) < 0.8, tuple(
                d for d in range(len(shape)) if d != axis))
            mask &= kept
    elif fill == "full" or 0 in shape:
        mask[...] = True
    elif fill != "none":
        place = tuple(rng.integers(shape).tolist())
        if fill == "row":
            place = place[:-1]
        elif fill == "column":
            place = (slice(None), *place[1:])
        mask[place] = True
    return mask


def cases(rng, function, variant, count, start):
    """Cases of sizes and fills in turn, from number `start` on."""
    letters = sorted({d for t in function.arguments for d in dims_of(t) or ""})
    static = dict(variant.static)
    # What many dimensions store may be more than a narrow type counts.
    is_narrow = any(e.position_type == "i8" and e.rank > 2
                    for _, e in variant.encodings)
    limit = 5 if is_narrow else None
    result = []
    for number in range(start, start + count):
        sizes = dict(zip("nmkl", np.roll(SIZES[number % len(SIZES)],
                                         number // len(SIZES)).tolist() + [3]))
        sizes = {d: static.get(d, min(sizes[d], limit or sizes[d]))
                 for d in letters}
        masks = {}
        for argument, text in enumerate(function.arguments):
            if place_of(text):
                shape = tuple(sizes[d] for d in dims_of(text))
                fill = FILLS[(number + 3 * argument) % len(FILLS)]
                masks[argument] = draw_mask(rng, shape, fill)
        result.append(make_case(rng, function, variant, sizes, masks))
    return result


def draw_elements(rng, shape):
    return rng.uniform(-1.5, 1.5, size=shape)


def make_case(rng, function, variant, sizes, masks):
    """Numbers for patterns; explicit zeros are among what is stored."""
    encodings = dict(variant.encodings)
    draw = function.draw or draw_elements
    arrays, closed = [], {}
    for number, text in enumerate(function.arguments):
        shape = tuple(sizes[d] for d in dims_of(text) or "")
        array = np.asarray(draw(rng, shape))
        if place_of(text):
            mask = closure(masks[number], encodings[place_of(text)])
            if function.zeros:
                array = array * (rng.random(shape) < 0.85)
            array, closed[number] = np.where(mask, array, 0.0), mask
        arrays.append(array)
    result_masks, sources = [], list(function.patterns)
    for number, text in enumerate(function.results):
        mask = None
        if place_of(text):
            source = sources.pop(0)
            mask = closed[source] if isinstance(source, int) else closure(
                source(closed, arrays), encodings[place_of(text)])
            closed[f"r{number}"] = mask
        result_masks.append(mask)
    values = function.values(arrays, closed)

    def masked(array, mask):
        return array if mask is None else np.where(mask, array, 0.0)

    cotangents = [masked(draw_elements(rng, v.shape), mask)
                  for v, mask in zip(values, result_masks)]
    directions = [masked(draw_elements(rng, a.shape), closed.get(i))
                  for i, a in enumerate(arrays)]
    return Case(sizes, closed, arrays, cotangents, directions, result_masks)


def call_case(program, name, function, variant, case, label="",
              unmet_too=False, second=False, forward=True):
    """Calls what `add_function` added and compares with the mirror; if
    `unmet_too`, again with NaN and infinities where nothing meets them."""
    encodings = dict(variant.encodings)

    def store(array, text, mask):
        if not place_of(text):
            return np.asarray(array)
        return from_pattern(array, mask, encodings[place_of(text)])

    def store_all(arrays, texts, masks):
        return [store(*both) for both in zip(arrays, texts, masks)]

    argument_masks = [case.masks.get(i) for i in function.active()]
    typed = ((function.results, case.result_masks),
             (function.arguments, argument_masks),
             (function.results, case.result_masks))
    values = [np.real(v) for v in function.values(case.arrays, case.masks)]
    pulled = gradients(function, case.arrays, case.masks, case.cotangents)
    computed = [values, pulled]
    if forward:
        computed.append(tangents(function, case.arrays, case.masks,
                                 case.directions))
    expected = []
    for arrays, (texts, masks), what in zip(computed, typed,
                                            ("value", "gradient", "tangent")):
        largest = max((np.abs(a[np.isfinite(a)]).max(initial=0)
                       for a in arrays), default=0)
        for number, both in enumerate(zip(arrays, texts, masks)):
            expected.append((store(*both), 4e-13 * (1 + largest),
                             f"{what} {number}"))
    if second:
        found = second_gradients(function, case.arrays, case.masks,
                                 case.cotangents, case.directions)
        largest = max((np.abs(a).max(initial=0) for a in found), default=0)
        for what in ("forward over reverse", "reverse over reverse",
                     "reverse over forward"):
            expected += [(store(*both), 4e-9 * (1 + largest), what)
                         for both in zip(found, *typed[1])]
    seen = []

    def check(*actual):
        count = 0
        assert len(actual) == len(expected), (len(actual), len(expected))
        numbers = []
        for got, (wanted, bound, what) in zip(actual, expected):
            if isinstance(wanted, Storage):
                count += same_pattern(got, wanted, what)
                got, wanted = got.values, wanted.values
            count += close(got, wanted, bound, what)
            numbers.append(got)
        seen.append(numbers)
        if not forward:
            return count
        first = len(values)
        gradient = numbers[first:first + len(pulled)]
        tangent = numbers[first + len(pulled):][:first]
        terms = [a * b for a, b in zip(gradient, stored_directions)]
        others = [a * b for a, b in zip(tangent, stored_cotangents)]
        left, right = (sum(np.sum(t) for t in ts) for ts in (terms, others))
        sizes = sum(np.sum(np.abs(t)) for t in terms + others)
        n = sum(t.size for t in terms + others)
        close(np.asarray(left), np.asarray(right),
              64 * (n + 1) * 2.0**-53 * sizes, "adjoint identity")
        return count + 1

    def numbers_of(tensors):
        return [t.values if isinstance(t, Storage) else t for t in tensors]

    arguments = store_all(case.arrays, function.arguments, argument_masks)
    cotangents = store_all(case.cotangents, function.results,
                           case.result_masks)
    directions = store_all(case.directions if forward else [],
                           function.arguments, argument_masks)
    stored_cotangents = numbers_of(cotangents)
    stored_directions = numbers_of(directions)
    label = f"{label} {case.sizes}"
    program.call(name, [*arguments, *cotangents, *directions], check, label)
    if not unmet_too or not function.unmet:
        return

    def check_same(*actual):
        assert seen, "the call without NaN failed"
        return sum(same_bits(got, before, f"result {number} among NaN")
                   for number, (got, before) in
                   enumerate(zip(numbers_of(actual), seen[0], strict=True)))

    unmet = function.unmet(case.masks)

    def poisoned(tensor, key, number):
        if key not in unmet or isinstance(tensor, Storage):
            return tensor
        worst = np.resize([np.nan, np.inf, -np.inf], tensor.shape)
        return np.where(np.broadcast_to(unmet[key], tensor.shape),
                        np.roll(worst, number), tensor)

    program.call(name, [
        *(poisoned(t, i, i) for i, t in enumerate(arguments)),
        *(poisoned(t, f"g{i}", i) for i, t in enumerate(cotangents)),
        *(poisoned(t, i, i + 1) for i, t in enumerate(directions))],
                 check_same, label + " among NaN")


# Tables.

def variants(function, count):
    """Every place meets every format of its rank, in other company than before,
    and every width, if there are as many variants; else each function meets
    other ones."""
    ranks = {place_of(t): len(dims_of(t))
             for t in function.arguments + function.results if place_of(t)}
    first = zlib.crc32(function.name.encode()[::-1]) if count < 11 else 0
    for number in range(first, first + count):
        chosen = []
        for order, (place, rank) in enumerate(sorted(ranks.items())):
            # From the name of the function, so that tables grow freely.
            shift = zlib.crc32(function.name.encode()) * order
            names = list(FORMATS[rank])
            name = names[(number * (1 + order) + shift) % len(names)]
            widths = WIDTHS[(number + 2 * order) % len(WIDTHS)]
            chosen.append((place, name, widths, FORMATS[rank][name]))
        yield Variant(tuple((p, e.with_widths(*w)) for p, _, w, e in chosen),
                      tuple((p, f"{n}_{w[0]}_{w[1]}") for p, n, w, _ in chosen))


def table(name, functions, calls, count=11, pending=(), second=False):
    """A program of functions in `count` variants, each called `calls` times;
    without those that `pending` gives a reason to leave out."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    only = os.environ.get("EXECUTION_ONLY")  # for debugging
    # What is proved of the functions is another test's (sparse-proof.py); of a
    # masked product of sparse elements the derivative goes through dense ones.
    program = Program(name, 0, threads=1, pipeline="prove-sparsity=false")
    for function in functions:
        if only and function.name not in only.split(","):
            continue
        if function.name in pending and not only:
            print(f"skipped: {function.name}: {pending[function.name]}")
            continue
        for number, variant in enumerate(variants(function, count)):
            entry = add_function(program, function, variant, second)
            for case in cases(rng, function, variant, calls, number * calls):
                call_case(program, entry, function, variant, case,
                          unmet_too=True, second=second)
    return program
