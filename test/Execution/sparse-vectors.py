# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Sparse kernels whose dense loops are vectors: extents around the lanes of
vectors, constant and open, in all formats, with derivatives, and sums of every
element type; NaN where nothing meets it stays out of every lane. Compiled for
this machine, which has masks for open extents, or scalars there."""

import zlib
from dataclasses import replace

import numpy as np

from execution import Program, close, finish, to_type
from sparse_functions import (FILLS, add_function, call_case, dims_of,
                              draw_mask, make_case, place_of, variants)
from sparse_storage import MATRICES, from_pattern
from sparse_tables import PRODUCTS

# Strips have 32 lanes of f64, what is left of them 8.
SIZES = (dict(n=3, m=32, k=5), dict(n=4, m=33, k=70), dict(n=40, m=8, k=31),
         dict(n=9, m=7, k=64), dict(n=2, m=100, k=4), dict(n=70, m=4, k=9))


def products():
    program = Program("products", 1, threads=2, pipeline="cpu=native")
    rng = np.random.default_rng(11)
    for function in PRODUCTS:
        first = zlib.crc32(function.name.encode())
        for number, variant in enumerate(variants(function, 2)):
            sizes = dict(SIZES[(first + number) % len(SIZES)], l=3)
            if number % 2:
                variant = replace(variant, static=tuple(sizes.items()))
            entry = add_function(program, function, variant)
            # Of an open extent, those of every other case.
            for other in (SIZES if not variant.static else SIZES[:1]):
                if not variant.static:
                    sizes = dict(other, l=3)
                # Positions of i8 count few elements.
                is_narrow = any(e.position_type == "i8"
                                for _, e in variant.encodings)
                fills = ("row", "one") if is_narrow else FILLS
                masks = {
                    argument: draw_mask(
                        rng, tuple(sizes[d] for d in dims_of(text)),
                        fills[(number + argument) % len(fills)])
                    for argument, text in enumerate(function.arguments)
                    if place_of(text)}
                call_case(program, entry, function, variant,
                          make_case(rng, function, variant, sizes, masks),
                          unmet_too=True)
    return program


# Of an element type, that of its sums.
TYPES = {"f64": "f64", "f32": "f32", "f16": "f32", "bf16": "f32",
         "i64": "i64", "i32": "i32", "i16": "i32", "i8": "i8"}
BODY = """    %l = {multiply} %x, %y : {type}
    %t = {add} %s, %l : {type}
    linalg.yield %t : {type}"""


def element_types():
    """Products and sampled products, with sums of their type and of a wider."""
    program = Program("element_types", 2, threads=1, pipeline="cpu=native")
    csr = program.define_encoding("CSR", MATRICES["CSR"])
    rng = np.random.default_rng(12)
    for element, wide in TYPES.items():
        is_float = element[0] != "i"
        add, multiply = (("arith.addf", "arith.mulf") if is_float else
                         ("arith.addi", "arith.muli"))
        extend = ("arith.extf" if is_float else "arith.extsi")
        widen = "" if element == wide else (
            f"    %xw = {extend} %x : {element} to {wide}\n"
            f"    %yw = {extend} %y : {element} to {wide}\n")
        body = BODY.format(multiply=multiply, add=add, type=wide)
        if widen:
            body = widen + body.replace("%x, %y", "%xw, %yw")
        for extent in (4, 15, 16, 33, 64, 70, 129, None):
            e = "?" if extent is None else str(extent)
            sparse = f"tensor<?x?x{element}, #{csr}>"
            dense, result = f"tensor<?x{e}x{element}>", f"tensor<?x{e}x{wide}>"
            name = f"product_{element}_{extent}"
            program.entry(name, [sparse, dense, result], [result], f"""
  %r = linalg.generic {{
      indexing_maps = [affine_map<(i, j, n) -> (i, j)>, affine_map<(i, j, n) -> (j, n)>, affine_map<(i, j, n) -> (i, n)>],
      iterator_types = ["parallel", "reduction", "parallel"]}}
      ins(%a0, %a1 : {sparse}, {dense}) outs(%a2 : {result}) {{
  ^bb0(%x: {element}, %y: {element}, %s: {wide}):
{body}
  }} -> {result}
  return %r : {result}""")
            sampled = f"sampled_{element}_{extent}"
            pattern = f"tensor<?x?x{wide}, #{csr}>"
            program.entry(sampled, [dense, dense, pattern], [pattern], f"""
  %r = sparse_autograd.sampled_generic {{
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a0, %a1 : {dense}, {dense}) outs(%a2 : {pattern}) {{
  ^bb0(%x: {element}, %y: {element}, %s: {wide}):
{body}
  }} -> {pattern}
  return %r : {pattern}""")
            for columns in ((extent,) if extent else (1, 7, 64, 81, 150)):
                _call(program, rng, name, sampled, element, wide, columns)
    return program


def _call(program, rng, product, sampled, element, wide, columns):
    def draw(*shape):
        array = rng.integers(-4, 5, shape)
        return to_type(array if element[0] == "i" else array / 4, element)

    # Numbers of few bits: every order of a sum gives the same one.
    mask = rng.random((5, 9)) < 0.5
    a = np.where(mask, draw(5, 9), 0)
    b, c = draw(9, columns), draw(5, columns).astype(to_type(0, wide).dtype)
    wider = (lambda x: x.astype(np.int64 if element[0] == "i" else np.float64))

    def check_product(result):
        return close(result, to_type(wider(c) + wider(a) @ wider(b), wide))

    def check_sampled(result):
        expected = wider(u) @ wider(b).T + wider(p)
        return close(result.values, to_type(expected[mask], wide))

    program.call(product, [from_pattern(a, mask, MATRICES["CSR"]), b, c],
                 check_product, f"{columns} columns")
    u = draw(5, columns)
    p = np.where(mask, draw(5, 9), 0).astype(c.dtype)
    program.call(sampled, [u, b, from_pattern(p, mask, MATRICES["CSR"])],
                 check_sampled, f"{columns} terms")


finish([products(), element_types()])
