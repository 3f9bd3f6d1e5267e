# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Reshapes, slices, concatenations and padding of sparse tensors in every format
and width: values, gradients on the patterns of the leaves, tangents, second
derivatives."""

import os
import zlib
from dataclasses import replace

import numpy as np

from execution import Program, finish
from sparse_functions import (FILLS, add_function, call_case, dims_of,
                              draw_mask, make_case, place_of, variants)
from sparse_moves import JOINS, RESHAPES, SLICES


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


def table(name, items, count=6):
    only = os.environ.get("EXECUTION_ONLY")  # for debugging
    program = Program(name, 0, threads=1)
    for item in items:
        if only and item.function.name not in only.split(","):
            continue
        for number, variant in enumerate(variants(item.function, count)):
            sizes = fits(item.function, variant, item.sizes)
            if not item.is_static:
                calls(program, item, variant, sizes)
            if not item.is_static and number % 3:
                continue
            # With extents that the types say, and derivatives of derivatives.
            # The verifier has a slice begin inside of an extent that it knows.
            known = [s for s in sizes if all(s.values())] or sizes
            chosen = known[number % len(known)]
            static = replace(variant, static=tuple(chosen.items()))
            calls(program, item, static, [chosen], second=True)
            if not item.is_static:
                calls(program, item, replace(variant, names=tuple(
                    (p, n + "_second") for p, n in variant.names)), sizes[:2],
                      second=True)
    return program


finish([table("reshapes", RESHAPES), table("slices", SLICES),
        table("joins", JOINS)])
