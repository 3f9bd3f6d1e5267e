# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %if long %{3%} %else %{1%}
"""`sparse_tensor.convert` from each floating type to each other one, between sparse
storages and from and to dense tensors: values, gradients, tangents and second
derivatives. The numbers are small integers, which all types hold, and so are the
derivatives of what follows; what is rounded is compared as well.

`sparse-element-types.py COUNT` takes each conversion in COUNT formats."""

import itertools
import sys

import numpy as np

from execution import FLOATS, Program, close, finish, to_type
from sparse_functions import FORMATS, WIDTHS, closure
from sparse_storage import Storage, from_pattern, same_pattern

KINDS = ("between", "to_dense", "to_sparse")
# By kind, whether the source and the result are sparse.
SPARSE = {"between": (True, True), "to_dense": (True, False),
          "to_sparse": (False, True)}


def add_function(program, name, source, result):
    """Entries of a conversion %t of %x, on its own and as f = %t^2: the results,
    the gradient, tangent, and the tangent of the gradient."""
    program.define(f"""
func.func private @{name}_f(%x: {source}) -> {result} {{
  %t = sparse_tensor.convert %x : {source} to {result}
  %y = arith.mulf %t, %t : {result}
  return %y : {result}
}}
func.func private @{name}_g(%x: {source}, %g: {result}) -> {source} {{
  %r:2 = sparse_autograd.vjp @{name}_f(%x) cotangents(%g) {{wrt = [0]}} : ({source}), ({result}) -> ({result}, {source})
  return %r#1 : {source}
}}""")
    program.entry(f"{name}_alone", [source], [result], f"""
  %t = sparse_tensor.convert %a0 : {source} to {result}
  return %t : {result}""")
    program.entry(name, [source, result, source],
                  [result, source, result, source], f"""
  %j:2 = sparse_autograd.jvp @{name}_f(%a0) tangents(%a2) {{wrt = [0]}} : ({source}), ({source}) -> ({result}, {result})
  %h:2 = sparse_autograd.jvp @{name}_g(%a0, %a1) tangents(%a2) {{wrt = [0]}} : ({source}, {result}), ({source}) -> ({source}, {source})
  return %j#0, %h#0, %j#1, %h#1 : {result}, {source}, {result}, {source}""")


def call(program, name, encodings, types, kind, rng, size, fill):
    """`encodings` and element `types` of the source and the result."""
    masks = [closure(rng.random((size, size)) < fill, encodings[0])
             if SPARSE[kind][0] else np.ones((size, size), bool)]
    array = np.where(masks[0], rng.integers(-4, 5, masks[0].shape), 0.0)
    # From a dense tensor what is not zero is stored.
    kept = masks[0] if SPARSE[kind][0] else array != 0

    def mask_of(kept):
        return closure(kept, encodings[1]) if SPARSE[kind][1] else np.ones(
            kept.shape, bool)

    def store(values, mask, side):
        values = to_type(np.where(mask, values, 0), types[side])
        return from_pattern(values, mask, encodings[side]) if SPARSE[kind][
            side] else values

    def check_all(expected):
        def check(*results):
            count = 0
            for got, wanted in zip(results, expected, strict=True):
                if isinstance(wanted, Storage):
                    count += same_pattern(got, wanted)
                    got, wanted = got.values, wanted.values
                count += close(got, wanted)
            return count
        return check

    masks.append(mask_of(kept))
    cotangent = np.where(masks[1], rng.integers(-2, 3, kept.shape), 0.0)
    direction = np.where(masks[0], rng.integers(-2, 3, kept.shape), 0.0)
    # Where the result stores nothing it depends on nothing.
    both = masks[0] & masks[1]
    expected = [store(np.where(both, v, 0), masks[side], side)
                for v, side in ((array**2, 1), (2 * array * cotangent, 0),
                                (2 * array * direction, 1),
                                (2 * direction * cotangent, 0))]

    program.call(name, [store(array, masks[0], 0), store(cotangent, masks[1], 1),
                        store(direction, masks[0], 0)],
                 check_all(expected), f"{size} {fill}")
    # Numbers that are rounded, some of them to zero.
    source = to_type(np.where(masks[0], rng.uniform(-9, 9, kept.shape) * np.where(
        rng.random(kept.shape) < 0.2, 1e-7 if "f16" == types[0] else 1e-60, 1),
                              0), types[0])
    wanted = to_type(source, types[1])
    stored = mask_of(masks[0] if SPARSE[kind][0] else wanted != 0)
    program.call(f"{name}_alone", [store(source, masks[0], 0)],
                 check_all([store(wanted, stored, 1)]), f"{size} {fill} rounded")


def programs(count):
    rng = np.random.default_rng(61)
    formats = itertools.cycle(FORMATS[2].items())
    widths = itertools.cycle(WIDTHS)
    for kind in KINDS:
        program = Program(kind, 0, threads=1)
        for types in itertools.permutations(FLOATS, 2):
            for number in range(count):
                encodings, texts = [], []
                for side in range(2):
                    text = f"tensor<?x?x{types[side]}"
                    name, encoding = next(formats)
                    width = next(widths)
                    encodings.append(encoding.with_widths(*width))
                    if SPARSE[kind][side]:
                        label = program.define_encoding(
                            f"{name}_{width[0]}_{width[1]}", encodings[-1])
                        text += f", #{label}"
                    texts.append(text + ">")
                name = f"{kind}_{'_'.join(types)}_{number}"
                add_function(program, name, *texts)
                for size, fill in ((4, 0.4), (0, 0.5), (3, 0.0)):
                    call(program, name, encodings, types, kind, rng, size, fill)
        yield program


count = int(sys.argv.pop(1))
# What follows are names of programs.
finish(list(programs(count)))
