# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of whole functions against those of a mirror in NumPy.

A `Function` is the body of a function in MLIR and the same function in Python.
The mirror is analytic: it takes complex arrays, so that a complex step gives its
derivatives to the last digits; five-point differences of these give the second
derivatives. In types other than f64 the inputs are small integers and the
function a polynomial, so that every type computes it exactly.

In the text, <<4x5>> stands for a tensor type of the element type under test,
static or with ? for every extent; <<4x=5>> keeps an extent static; <<4|i1>>
has another element type; <<4x5#CSR>> an encoding of sparse_storage.py; <<T>> is
a scalar and <<>> a tensor of rank 0. !T is the element type, and !4 an extent in
a list of them: 4, or with dynamic shapes the value %s4. !empty<<4x5>> is a
tensor.empty of that type, of %s4 and %s5 with dynamic shapes.

The mirror of a function of sparse tensors takes and returns dense arrays. Those
of sparse arguments are zero where nothing is stored, in a random pattern; only
what the pattern of a result or a gradient holds is compared, and the pattern
itself.
"""

import re
from dataclasses import dataclass
from typing import Callable

import numpy as np

from execution import FLOATS, close, element_type_of, to_type
from sparse_storage import ENCODINGS, close_pattern, from_pattern, same_pattern

STEP = 2.0**-100


def expand(text, element_type, dynamic):
    def replace(match):
        text, _, encoding = match.group(1).partition("#")
        shape, _, element = text.partition("|")
        element = element or element_type
        if shape == "T":
            return element
        extents = []
        for extent in filter(None, shape.split("x")):
            fixed = extent.startswith("=")
            extents.append(extent.lstrip("=") if fixed or not dynamic else "?")
        suffix = f", #{encoding}" if encoding else ""
        return "tensor<" + "x".join(extents + [element]) + suffix + ">"
    def empty(match):
        extents = re.match(r"[^|#]*", match.group(1)).group().split("x")
        values = [f"%s{extent}" for extent in extents
                  if dynamic and extent and not extent.startswith("=")]
        return f"tensor.empty({', '.join(values)}) : <<{match.group(1)}>>"
    text = re.sub(r"!empty<<([^<>]*)>>", empty, text)
    text = re.sub(r"<<([^<>]*)>>", replace, text)
    text = text.replace("!T", element_type)
    return re.sub(r"!(\d+)", r"%s\1" if dynamic else r"\1", text)


def shape_of(type_):
    """The extents of a type such as <<4x=5>>; none for a scalar."""
    shape = re.match(r"<<([^|#<>]*)", type_).group(1)
    if shape == "T":
        return None
    return tuple(int(e.lstrip("=")) for e in shape.split("x") if e)


def encoding_of(type_):
    """The encoding of a type such as <<4x5#CSR>>; none if it is dense."""
    name = type_.strip("<>").partition("#")[2]
    return ENCODINGS[name] if name else None


@dataclass
class Function:
    """A function of %x0, %x1, ... whose body ends with its return."""
    name: str
    arguments: list  # types
    results: list
    body: str
    mirror: Callable  # arrays to an array or a tuple of arrays
    wrt: tuple = None  # all floating arguments by default
    helpers: str = ""  # other functions, named @{name}_...
    inputs: Callable = None  # rng, shapes -> list of arrays
    # The masks of what sparse arguments store to those of sparse results, all
    # with None for what is dense; by default each result has the pattern of
    # the first sparse argument.
    patterns: Callable = None
    fixed: dict = None  # values of arguments that are not differentiated
    exact: bool = True  # a polynomial with small integer values
    integer: bool = False  # with such values in f64 as well
    second: bool = True
    forward: bool = True
    reverse: bool = True

    def active(self):
        if self.wrt is not None:
            return self.wrt
        return tuple(i for i, t in enumerate(self.arguments)
                     if _is_float(t) and i not in (self.fixed or {}))

    def active_results(self):
        return tuple(i for i, t in enumerate(self.results) if _is_float(t))

    def values(self, arrays):
        """The mirror's results, as a tuple of arrays."""
        with np.errstate(all="ignore"):
            results = self.mirror(*arrays)
        if not isinstance(results, tuple):
            results = (results,)
        return tuple(np.asarray(r) for r in results)


def has_second(function):
    """Whether second derivatives are made of both kinds of first ones."""
    return function.second and function.reverse and function.forward


def _is_float(type_):
    if not type_.startswith("<<"):
        return element_type_of(type_).replace("!T", "f64") in FLOATS
    element = type_.strip("<>").partition("#")[0].partition("|")[2]
    return element == "" or element in ("f64", "f32", "f16", "bf16")


def _list(types):
    return ", ".join(types)


SECOND = {"for": "forward over reverse", "ror": "reverse over reverse",
          "rof": "reverse over forward"}


def add_function(program, function, element_type, dynamic, second=SECOND):
    """The entry of a function; returns its name. It takes the arguments, the
    cotangents of the floating results and the tangents of the active arguments;
    it returns results, gradients and tangents, then what both second
    derivatives make of the tangents: that of the gradients (forward over
    reverse, reverse over reverse, reverse over forward), `second` says which."""
    name = f"{function.name}_{element_type}{'_dynamic' if dynamic else ''}"

    def types_of(types):
        return [expand(t, element_type, dynamic) for t in types]

    arguments = types_of(function.arguments)
    results = types_of(function.results)
    active = [arguments[i] for i in function.active()]
    floats = [results[i] for i in function.active_results()]
    wrt = ", ".join(map(str, function.active()))
    texts = [*function.arguments, *function.results, function.helpers,
             function.body]
    for encoding in re.findall(r"<<[^<>]*#(\w+)>>", "".join(texts)):
        program.define_encoding(encoding, ENCODINGS[encoding])
    helpers = expand(function.helpers, element_type, dynamic)
    body = expand(function.body, element_type, dynamic)
    program.define(helpers.replace("@{name}", "@" + name))
    parameters = _list(f"%x{i}: {t}" for i, t in enumerate(arguments))
    program.define(f"""
func.func private @{name}_f({parameters}) -> ({_list(results)}) {{
{body.replace("@{name}", "@" + name)}
}}""")

    n, c, v = len(arguments), len(floats), len(active)
    x = _list(f"%a{i}" for i in range(n))
    ct = _list(f"%a{n + i}" for i in range(c))
    tangent = _list(f"%a{n + c + i}" for i in range(v))
    lines, returned, returned_types = [], [], []

    def emit(text, result, types, skip=0):
        lines.append(f"  %{result}:{len(types)} = {text} -> ({_list(types)})")
        for i, type_ in enumerate(types[skip:]):
            returned.append(f"%{result}#{skip + i}")
            returned_types.append(type_)

    if function.reverse:
        emit(f"sparse_autograd.vjp @{name}_f({x}) cotangents({ct}) "
             f"{{wrt = [{wrt}]}} : ({_list(arguments)}), ({_list(floats)})",
             "vjp", results + active)
    if function.forward:
        emit(f"sparse_autograd.jvp @{name}_f({x}) tangents({tangent}) "
             f"{{wrt = [{wrt}]}} : ({_list(arguments)}), ({_list(active)})",
             "jvp", results + floats,
             skip=len(results) if function.reverse else 0)
    if second and has_second(function):
        both = arguments + floats
        inner = _list(f"%b{i}: {t}" for i, t in enumerate(both))
        program.define(f"""
func.func private @{name}_g({inner}) -> ({_list(active)}) {{
  %r:{len(results) + v} = sparse_autograd.vjp @{name}_f({_list(f"%b{i}" for i in range(n))}) cotangents({_list(f"%b{n + i}" for i in range(c))}) {{wrt = [{wrt}]}} : ({_list(arguments)}), ({_list(floats)}) -> ({_list(results + active)})
  return {_list(f"%r#{len(results) + i}" for i in range(v))} : {_list(active)}
}}""")
        seconds = arguments + active
        inner = _list(f"%b{i}: {t}" for i, t in enumerate(seconds))
        program.define(f"""
func.func private @{name}_t({inner}) -> ({_list(floats)}) {{
  %r:{len(results) + c} = sparse_autograd.jvp @{name}_f({_list(f"%b{i}" for i in range(n))}) tangents({_list(f"%b{n + i}" for i in range(v))}) {{wrt = [{wrt}]}} : ({_list(arguments)}), ({_list(active)}) -> ({_list(results + floats)})
  return {_list(f"%r#{len(results) + i}" for i in range(c))} : {_list(floats)}
}}""")
        if "for" in second:
            emit(f"sparse_autograd.jvp @{name}_g({x}, {ct}) tangents({tangent}) "
                 f"{{wrt = [{wrt}]}} : ({_list(both)}), ({_list(active)})",
                 "for", active + active, skip=v)
        if "ror" in second:
            emit(f"sparse_autograd.vjp @{name}_g({x}, {ct}) "
                 f"cotangents({tangent}) {{wrt = [{wrt}]}} : "
                 f"({_list(both)}), ({_list(active)})",
                 "ror", active + active, skip=v)
        if "rof" in second:
            emit(f"sparse_autograd.vjp @{name}_t({x}, {tangent}) "
                 f"cotangents({ct}) {{wrt = [{wrt}]}} : "
                 f"({_list(seconds)}), ({_list(floats)})",
                 "rof", floats + active, skip=c)
    lines.append(f"  return {_list(returned)} : {_list(returned_types)}")
    program.entry(name, arguments + floats + active, returned_types,
                  "\n".join(lines))
    return name


# References.

def _weighted(function, arrays, cotangents):
    values = function.values(arrays)
    return sum((np.sum(values[i] * u) for i, u in
                zip(function.active_results(), cotangents)), 0.0)


def gradients(function, arrays, cotangents):
    """The gradient of <cotangents, f> by complex steps, one for each input."""
    result = []
    for index in function.active():
        gradient = np.zeros(arrays[index].shape)
        for at in np.ndindex(*gradient.shape):
            shifted = [np.array(a, complex) if i in function.active() else a
                       for i, a in enumerate(arrays)]
            shifted[index][at] += 1j * STEP
            gradient[at] = np.imag(_weighted(function, shifted,
                                             cotangents)) / STEP
        result.append(gradient)
    return result


def tangents(function, arrays, directions):
    """The tangents of the floating results by one complex step."""
    shifted = list(arrays)
    for index, direction in zip(function.active(), directions):
        shifted[index] = np.asarray(arrays[index] + 1j * STEP * direction)
    values = function.values(shifted)
    return [np.imag(values[i]) / STEP for i in function.active_results()]


def second_gradients(function, arrays, cotangents, directions, step):
    """The derivative of the gradients along the directions, by the five-point
    difference."""
    total = None
    for factor, weight in ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3),
                           (2, -1 / 12)):
        shifted = list(arrays)
        for index, direction in zip(function.active(), directions):
            shifted[index] = np.asarray(arrays[index] +
                                        factor * step * direction)
        terms = [weight / step * g
                 for g in gradients(function, shifted, cotangents)]
        total = terms if total is None else [a + b
                                             for a, b in zip(total, terms)]
    return total


def call_function(program, name, function, element_type, rng, second=SECOND,
                  label=""):
    """Calls what `add_function` added and compares with the mirror."""
    if not has_second(function):
        second = ()

    def draw(shape, integers):
        if integers:
            return rng.integers(-2, 3, size=shape or ()).astype(np.float64)
        return rng.uniform(-1.5, 1.5, size=shape or ())

    integers = element_type != "f64" or function.integer
    shapes = [shape_of(t) for t in function.arguments]
    if function.inputs:
        arrays = function.inputs(rng, shapes)
    else:
        arrays = [draw(shape, integers) for shape in shapes]
    for index, value in (function.fixed or {}).items():
        arrays[index] = np.asarray(value)
    arrays = [np.asarray(a) for a in arrays]
    encodings = [encoding_of(t) for t in function.arguments]
    masks = [close_pattern(rng.random(a.shape) < 0.5, encoding) if encoding
             else None for a, encoding in zip(arrays, encodings)]
    arrays = [_select(a, mask) for a, mask in zip(arrays, masks)]
    result_encodings = [encoding_of(t) for t in function.results]
    result_masks = _result_masks(function, masks, result_encodings)

    values = [np.real(v) for v in function.values(arrays)]
    cotangents = [_select(draw(values[i].shape, integers), result_masks[i])
                  for i in function.active_results()]
    directions = [_select(draw(arrays[i].shape, integers), masks[i])
                  for i in function.active()]

    # What the results are compared with: value, bound, name, and of a sparse
    # one its mask and encoding.
    expected = []
    tolerance = 0.0 if integers else 1e-13
    of_results = list(zip(result_masks, result_encodings))
    of_cotangents = [of_results[i] for i in function.active_results()]
    of_arguments = list(zip(masks, encodings))
    of_gradients = [of_arguments[i] for i in function.active()]

    def scale(terms):
        """The size that errors are relative to: the largest of the terms that a
        complex step shows, over all elements."""
        largest = max((np.abs(t).max(initial=0) for t in terms), default=0)
        return 4 * (1 + largest)

    def exactly(arrays):
        """Without what the square of a complex step leaves in integers."""
        return [np.round(a) for a in arrays] if integers else arrays

    def expect(arrays, bound, what, storages):
        for array, storage in zip(arrays, storages, strict=True):
            expected.append((_select(array, storage[0]), bound, what, storage))

    if function.reverse:
        found = exactly(gradients(function, arrays, cotangents))
        expect(values, tolerance * scale(values), "value", of_results)
        expect(found, tolerance * scale(found), "gradient", of_gradients)
    if function.forward:
        found = exactly(tangents(function, arrays, directions))
        if not function.reverse:
            expect(values, tolerance * scale(values), "value", of_results)
        expect(found, tolerance * scale(found), "tangent", of_cotangents)
    if second:
        # Polynomials of the fourth degree have no truncation error.
        step = 1.0 if integers else 1e-3
        found = exactly(second_gradients(function, arrays, cotangents,
                                         directions, step))
        bound = 0.0 if integers else 1e-9
        for what in filter(second.__contains__, SECOND):
            expect(found, bound * scale(found), SECOND[what], of_gradients)

    def check(*results):
        assert len(results) == len(expected), (len(results), len(expected))
        count = 0
        dense = []
        for actual, (value, bound, what, (mask, encoding)) in zip(results,
                                                                  expected):
            if encoding:
                count += same_pattern(
                    actual, from_pattern(value, mask, encoding), what)
                actual = actual.dense()
            count += close(actual, value, bound, what)
            dense.append(actual)
        if function.reverse and function.forward and not integers:
            first = len(function.results)
            pulled = dense[first:first + len(directions)]
            pushed = dense[first + len(directions):][:len(cotangents)]
            terms = [a * b for a, b in zip(pulled, directions)]
            others = [a * b for a, b in zip(pushed, cotangents)]
            left, right = (sum(np.sum(t) for t in ts) for ts in (terms, others))
            sizes = sum(np.sum(np.abs(t)) for t in terms + others)
            n = sum(t.size for t in terms + others)
            close(np.asarray(left), np.asarray(right),
                  64 * (n + 1) * 2.0**-53 * sizes, "adjoint identity")
            count += 1
        return count

    given = [*zip(arrays, of_arguments), *zip(cotangents, of_cotangents),
             *zip(directions, of_gradients)]
    program.call(name, [_store(array, *storage, element_type)
                        for array, storage in given], check, label)


def _select(array, mask):
    """The array, zero where a sparse tensor stores nothing."""
    return array if mask is None else np.where(mask, array, 0)


def _result_masks(function, masks, encodings):
    if not any(encodings):
        return [None] * len(encodings)
    if function.patterns:
        return list(function.patterns(*masks))
    mask = next(m for m in masks if m is not None)
    return [mask if encoding else None for encoding in encodings]


def _store(array, mask, encoding, element_type):
    if encoding is None:
        return array
    return from_pattern(to_type(array, element_type), mask, encoding)
