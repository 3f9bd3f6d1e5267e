# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Random programs of ops on sparse and dense square matrices in random formats:
values, gradients on the patterns of the leaves, tangents, now and then second
derivatives. `sparse-random.py FIRST COUNT` runs other ones."""

import collections
import sys

from execution import Program, finish
from sparse_functions import (FILLS, FORMATS, add_function, call_case,
                              draw_mask, make_case)
from sparse_programs import KINDS, RandomProgram

met = collections.Counter()


def programs(first, count):
    for start in range(first, first + count, 25):
        # Some make a sparse gradient dense on its way (sparse-proof.py).
        program = Program(f"random{start}", start // 25 % 2, threads=1,
                          pipeline="prove-sparsity=false")
        for seed in range(start, min(start + 25, first + count)):
            drawn = RandomProgram(seed)
            met.update(drawn.met)
            function = drawn.function(f"program{seed}")
            # Every leaf is differentiated.
            assert list(function.active()) == list(range(len(drawn.leaves)))
            variant = drawn.variant()
            second = seed % 4 == 0
            entry = add_function(program, function, variant, second)
            for number, size in enumerate((5, (1, 2, 3, 0)[seed % 4])):
                masks = {i: draw_mask(drawn.rng, (size, size), FILLS[
                    (seed + 2 * i + 3 * number) % len(FILLS)])
                         for i in range(3)}
                case = make_case(drawn.rng, function, variant, dict(n=size),
                                 masks)
                call_case(program, entry, function, variant, case,
                          second=second)
        yield program


arguments = [int(a) for a in sys.argv[1:] if a.isdigit()] or [25, 50]
sys.argv = [a for a in sys.argv if not a.isdigit()]  # the rest are names
drawn_programs = list(programs(*arguments))
cells = {(kind, name): met[kind, name] for kind in KINDS if kind != "dense"
         for name in FORMATS[2]}
print(f"each op in each format in at least {min(cells.values())} programs; "
      f"{sum(n >= 20 for n in cells.values())} of {len(cells)} in 20 or more")
finish(drawn_programs)
