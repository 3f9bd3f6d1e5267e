# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %if long %{--count 100%} %else %{--count 3%} | FileCheck %s
# CHECK: {{[1-9][0-9]*}} functions, {{.*}} 0 failures
"""Functions of the tables that have no dense argument or result of n x m, at
extents of 20,000 at which one dense tensor of these would take 3.2 GB: values,
gradients, tangents and second derivatives in three ways, in formats that take
memory by what is stored. The runtime never counts more bytes than a fiftieth of
that; the numbers themselves are other tests'.

`--count N` is how many of the functions to take; the first is one whose product
of sparse matrices is sampled."""

import argparse
import sys
import zlib

import numpy as np

from execution import Program, finish
from sparse_functions import (FORMATS, Variant, add_function, dims_of,
                              place_of)
from sparse_storage import build_storage
from sparse_tables import COPIES, ELEMENTWISE, MORE, PAIRS, PRODUCTS

EXTENT, STORED = 20_000, 1500
LIMIT = 8 * EXTENT**2 // 50
SIZES = dict(n=EXTENT, m=EXTENT, k=4, l=3)
# By rank: lists by what is stored in all dimensions.
NAMES = {1: ("SparseVector",), 2: ("DCSR", "DCSC", "COO"),
         3: ("CSF", "COO3")}


def shape_of(text):
    return tuple(int(d) if d.isdigit() else SIZES.get(d, 3)
                 for d in dims_of(text) or "")


def is_small(text):
    return bool(place_of(text)) or shape_of(text).count(EXTENT) < 2


def draw(rng, text, encodings, known):
    """Tensors of one shape store elements at the same places."""
    shape = shape_of(text)
    if not place_of(text):
        return rng.random(shape)
    if shape not in known:
        known[shape] = np.unique(np.stack(
            [rng.integers(0, extent, STORED) for extent in shape], 1), axis=0)
    at = known[shape]
    return build_storage(at, rng.random(len(at)), shape,
                         encodings[place_of(text)])


def make_program(function, number):
    texts = function.arguments + function.results
    ranks = {place_of(t): len(dims_of(t)) for t in texts if place_of(t)}
    chosen = {place: NAMES[rank][(number + order) % len(NAMES[rank])]
              for order, (place, rank) in enumerate(sorted(ranks.items()))}
    encodings = {p: FORMATS[ranks[p]][name] for p, name in chosen.items()}
    program = Program(function.name, 0, threads=1)
    entry = add_function(program, function, Variant(
        tuple(encodings.items()), tuple(chosen.items())), second=True)
    rng, known = np.random.default_rng(number), {}
    arguments = [draw(rng, t, encodings, known)
                 for t in texts + function.arguments]

    def check_memory(memory):
        peak = memory["peak bytes"][1]
        assert peak <= LIMIT, f"{peak} bytes of at most {LIMIT}"
        return 1

    program.call(entry, arguments, lambda *results: len(results), repeats=1,
                 check_memory=check_memory)
    return program


options = argparse.ArgumentParser()
options.add_argument("--count", type=int, default=3)
count = options.parse_args().count
sys.argv[1:] = []
functions = [f for f in (*MORE, *PRODUCTS, *ELEMENTWISE, *PAIRS, *COPIES)
             if all(map(is_small, f.arguments + f.results))]
functions.sort(key=lambda f: (f.name != "sampled_spgemm",
                              zlib.crc32(f.name.encode())))
finish([make_program(f, n) for n, f in enumerate(functions[:count])])
