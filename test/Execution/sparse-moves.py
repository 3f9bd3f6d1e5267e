# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Reshapes, slices, concatenations and padding of sparse tensors in every format
and width: values, gradients on the patterns of the leaves, tangents, second
derivatives."""

import itertools
import os
import zlib
from dataclasses import replace

import numpy as np

from execution import Program, finish, same_bits
from sparse_functions import (FILLS, add_function, call_case, closure,
                              dims_of, draw_mask, make_case, variants)
from sparse_moves import JOINS, RESHAPES, SLICES
from sparse_storage import (MATRICES, VECTORS, build_storage, from_pattern,
                            same_pattern)


def calls(program, item, variant, sizes, second=False):
    function = item.function
    entry = add_function(program, function, variant, second)
    seed = zlib.crc32(entry.encode())
    rng = np.random.default_rng(seed)
    for number, extents in enumerate(sizes):
        masks = {}
        for argument, text in enumerate(function.arguments):
            shape = tuple(extents[d] for d in dims_of(text))
            fill = FILLS[(seed + number + 3 * argument) % len(FILLS)]
            masks[argument] = draw_mask(rng, shape, fill)
        case = make_case(rng, function, variant, extents, masks)
        call_case(program, entry, function, variant, case, second=second)


def fits(function, variant, sizes):
    """The sizes with which the narrowest type counts all that is stored."""
    if not any("i8" in (e.position_type, e.coordinate_type)
               for _, e in variant.encodings):
        return sizes
    return [extents for extents in sizes if sum(
        np.prod([extents[d] + 1 for d in dims_of(t)])
        for t in function.arguments) < 80]


def table(name, items, count=4):
    only = os.environ.get("EXECUTION_ONLY")  # for debugging
    program = Program(name, 0, threads=1)
    for item in items:
        if only and item.function.name not in only.split(","):
            continue
        for number, variant in enumerate(variants(item.function, count)):
            sizes = fits(item.function, variant, item.sizes)
            if not item.is_static:
                calls(program, item, variant, sizes)
            if not item.is_static and number:
                continue
            # With extents that the types say, and derivatives of derivatives.
            # The verifier has a slice begin inside of an extent that it knows.
            known = [s for s in sizes if all(s.values())] or sizes
            chosen = known[number % len(known)]
            static = replace(variant, static=tuple(chosen.items()))
            calls(program, item, static, [chosen], second=True)
            if not item.is_static:
                calls(program, item, replace(variant, names=tuple(
                    (p, n + "_second") for p, n in variant.names)), sizes[:1],
                      second=True)
    return program


def same(wanted):
    return lambda result: (same_pattern(result, wanted) +
                           same_bits(result.values, wanted.values))


def copies():
    """Between all formats, of numbers of which every bit is copied."""
    program = Program("copies", 0, threads=1)
    rng = np.random.default_rng(11)
    numbers = {"f32": np.array([0.0, 1.5, np.nan, -np.inf, -0.0], np.float32),
               "f16": np.array([0.0, 1.5, np.nan, np.inf, -0.0], np.float16),
               "i32": np.array([0, 1, -7, 2**31 - 1], np.int32),
               "i8": np.array([0, 1, -7, 127], np.int8),
               "i1": np.array([False, True])}
    for name, encoding in MATRICES.items():
        program.define_encoding(name, encoding)
    pairs = itertools.product(enumerate(MATRICES), enumerate(MATRICES))
    for (row, source), (column, target) in pairs:
        element = list(numbers)[(row + column) % len(numbers)]
        types = [f"tensor<?x?x{element}, #{n}>" for n in (source, target)]
        entry = f"{source}_to_{target}"
        program.entry(entry, types[:1], [types[1]] * 2, f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a0, %c0 : {types[0]}
  %m = tensor.dim %a0, %c1 : {types[0]}
  %c2 = arith.constant 2 : index
  %k = arith.divui %n, %c2 : index
  %l = arith.subi %n, %k : index
  %y = tensor.extract_slice %a0[%k, 0] [%l, %m] [1, 1] : {types[0]} to {types[1]}
  %z = tensor.concat dim(0) %a0, %y : ({types[0]}, {types[1]}) -> {types[1]}
  return %y, %z : {types[1]}, {types[1]}""")
        for shape in ((5, 4), (1, 3), (0, 2), (4, 33)):
            mask = closure(rng.random(shape) < 0.4, MATRICES[source])
            array = np.where(mask, rng.choice(numbers[element], shape),
                             numbers[element].dtype.type(0))

            def wanted(array, mask, encoding=MATRICES[target]):
                return from_pattern(array, closure(mask, encoding), encoding)
            part = slice(shape[0] // 2, None)
            first = wanted(array[part], mask[part])
            stored = closure(mask[part], MATRICES[target])
            both = wanted(np.concatenate([array, array[part]]),
                          np.concatenate([mask, stored]))
            program.call(entry, [from_pattern(array, mask, MATRICES[source])],
                         lambda y, z, first=first, both=both:
                         same(first)(y) + same(both)(z), f"{element} {shape}")
    return program


def reach():
    """What a slice leaves out has a gradient of zero, whatever comes before
    (semantics G2): the derivative of a square root at 0 is infinite."""
    program = Program("reach", 0, threads=1)
    for name in ("CSR", "DCSC", "BSR"):
        program.define_encoding(name, MATRICES[name])
        type_ = f"tensor<?x?xf64, #{name}>"
        part = f"tensor<2x?xf64, #{name}>"
        program.define(f"""
func.func private @slice_{name}_f(%x: {type_}) -> {part} {{
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : {type_}
  %r = math.sqrt %x : {type_}
  %y = tensor.extract_slice %r[1, 0] [2, %m] [1, 1] : {type_} to {part}
  return %y : {part}
}}
func.func private @insert_{name}_f(%x: {type_}, %s: {part}) -> {type_} {{
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : {type_}
  %r = math.sqrt %x : {type_}
  %y = tensor.insert_slice %s into %r[1, 0] [2, %m] [1, 1] : {part} into {type_}
  return %y : {type_}
}}""")
        program.entry(f"slice_{name}", [type_, part], [type_], f"""
  %r:2 = sparse_autograd.vjp @slice_{name}_f(%a0) cotangents(%a1) {{wrt = [0]}} : ({type_}), ({part}) -> ({part}, {type_})
  return %r#1 : {type_}""")
        program.entry(f"insert_{name}", [type_, part, type_], [type_], f"""
  %r:2 = sparse_autograd.vjp @insert_{name}_f(%a0, %a1) cotangents(%a2) {{wrt = [0]}} : ({type_}, {part}), ({type_}) -> ({type_}, {type_})
  return %r#1 : {type_}""")

        def store(array, encoding=MATRICES[name]):
            return from_pattern(array, np.ones(array.shape, bool), encoding)
        inside = np.zeros((4, 3))
        inside[1:3] = 4.0
        ones = np.ones((4, 3))
        program.call(f"slice_{name}", [store(inside), store(ones[:2])],
                     same(store(inside / 16)))
        outside = np.where(inside == 0, 4.0, 0.0)
        program.call(f"insert_{name}", [store(outside), store(ones[:2]),
                                        store(ones)],
                     same(store(outside / 16)))
    return program


def large():
    """Extents that no list could have."""
    program = Program("large", 0, threads=1)
    shape = (2**31, 2**30)
    program.define_encoding("Vector", VECTORS["SparseVector"])
    vector = "tensor<?xf64, #Vector>"
    places = [(0, 3), (5, 0), (5, 2**30 - 1), (2**31 - 1, 7),
              (2**31 - 1, 2**30 - 1)]
    values = np.arange(1.0, 6)
    for name in ("COO", "DCSR", "DCSC"):
        program.define_encoding(name, MATRICES[name])
        type_ = f"tensor<?x?xf64, #{name}>"
        program.entry(name, [type_], [vector, type_, type_], f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %n = tensor.dim %a0, %c0 : {type_}
  %m = tensor.dim %a0, %c1 : {type_}
  %v = tensor.collapse_shape %a0 [[0, 1]] : {type_} into {vector}
  %e = tensor.expand_shape %v [[0, 1]] output_shape [%m, %n] : {vector} into {type_}
  %l = arith.subi %n, %c5 : index
  %k = arith.subi %m, %c1 : index
  %s = tensor.extract_slice %a0[5, 1] [%l, %k] [1, 1] : {type_} to {type_}
  return %v, %e, %s : {vector}, {type_}, {type_}""")

        def store(places, values, shape, encoding=MATRICES[name]):
            return build_storage(places, values, shape, encoding)
        flat = [i * shape[1] + j for i, j in places]
        turned = [divmod(p, shape[0]) for p in flat]
        kept = [n for n, (i, j) in enumerate(places) if i >= 5 and j >= 1]
        wanted = (store([(p,) for p in flat], values, (shape[0] * shape[1],),
                        VECTORS["SparseVector"]),
                  store(turned, values, shape[::-1]),
                  store([(places[n][0] - 5, places[n][1] - 1) for n in kept],
                        values[kept], (shape[0] - 5, shape[1] - 1)))
        program.call(name, [store(places, values, shape)],
                     lambda *results, wanted=wanted: sum(
                         same(w)(r) for r, w in zip(results, wanted)))
    return program


finish([copies(), reach(), large(), table("reshapes", RESHAPES), table("slices", SLICES),
        table("joins", JOINS)])
