# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""All 64 patterns of 2 x 3 in the formats that differ most, in products, sampled
products, products of sparse matrices, sums and intersections."""

import numpy as np

from execution import Program, finish
from sparse_functions import (FORMATS, Variant, add_function, call_case,
                              make_case)
from sparse_tables import ELEMENTWISE, PAIRS, PRODUCTS

NAMES = ("CSR", "CSC", "COO", "DCSR", "BSR", "DenseRows")
ALL = {f.name: f for f in PRODUCTS + ELEMENTWISE + PAIRS}
# Of each function, the sizes and which sparse operands there are.
SIZES = {
    "spmm": dict(n=2, k=3, m=2),
    "sddmm_scaled": dict(n=2, k=2, m=3),
    "spgemm": dict(n=2, k=3, m=2),
    "add": dict(n=2, m=3),
    "multiply": dict(n=2, m=3),
}


def pattern(number, shape):
    return (number >> np.arange(6) & 1).astype(bool).reshape(shape)


def exhaustive():
    rng = np.random.default_rng(11)
    program = Program("patterns", 0, threads=1)
    for function in map(ALL.get, SIZES):
        sizes = SIZES[function.name]
        shapes = {i: tuple(sizes[d] for d in t.split("#")[0])
                  for i, t in enumerate(function.arguments) if "#" in t}
        for order, name in enumerate(NAMES):
            # A, and another format for what else there is.
            names = {"A": name, "B": NAMES[(order + 1) % 6],
                     "R": NAMES[(order + 3) % 6]}
            places = sorted({t.partition("#")[2] for t in
                             function.arguments + function.results} - {""})
            variant = Variant(
                tuple((p, FORMATS[2][names[p]]) for p in places),
                tuple((p, names[p]) for p in places))
            entry = add_function(program, function, variant)
            for number in range(64):
                # The second operand runs through all patterns in other order.
                masks = {argument: pattern((number * (1 + 36 * i) + 5 * i) % 64,
                                           shapes[argument])
                         for i, argument in enumerate(shapes)}
                case = make_case(rng, function, variant, sizes, masks)
                call_case(program, entry, function, variant, case,
                          f"pattern {number}")
    return program


finish([exhaustive()])
