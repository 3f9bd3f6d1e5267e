# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %if long %{0 320%} %else %{0 160%}
"""Random programs of ops on sparse and dense square matrices in random formats:
values, gradients on the patterns of all leaves, now and then tangents and second
derivatives. What has been met least, of ops in formats, is drawn.

A run of 320, that of a campaign, meets every op in every format 18 times, and
one of 160, that of the tests, 8 times. `sparse-random.py FIRST
COUNT` runs other ones; what follows are names of programs to run of these."""

import collections
import sys

from execution import Program, finish
from sparse_functions import (FILLS, FORMATS, add_function, call_case,
                              draw_mask, make_case)
from sparse_programs import KINDS, RandomProgram

numbers = [int(a) for a in sys.argv[1:] if a.isdigit()] or [0, 320]
sys.argv = [a for a in sys.argv if not a.isdigit()]
first, end = numbers[0], sum(numbers)
met = collections.Counter()


def programs():
    for start in range(first, end, 10):
        # Code that is optimized takes three times as long to make. Some make a
        # sparse gradient dense on its way (sparse-proof.py).
        program = Program(f"random{start}", int(start % 100 == 10), threads=1,
                          pipeline="prove-sparsity=false")
        for seed in range(start, min(start + 10, end)):
            drawn = RandomProgram(seed, met)
            function = drawn.function(f"program{seed}")
            # Every leaf is differentiated, and no op is dead.
            assert list(function.active()) == list(range(len(drawn.leaves)))
            variant = drawn.variant()
            kinds = dict(forward=seed % 4 == 0, second=seed % 20 == 0)
            entry = add_function(program, function, variant, **kinds)
            for number, size in enumerate((5, (1, 2, 3, 0)[seed % 4])):
                masks = {i: draw_mask(drawn.rng, (size, size), FILLS[
                    (seed + 2 * i + 3 * number) % len(FILLS)])
                         for i in range(3)}
                case = make_case(drawn.rng, function, variant, dict(n=size),
                                 masks)
                call_case(program, entry, function, variant, case, **kinds)
        yield program


drawn_programs = list(programs())
cells = {pair: met[pair] for pair in
         ((kind, name) for kind in KINDS if kind != "dense"
          for name in FORMATS[2])}
rarest = sorted(cells, key=cells.get)[:5]
print(f"{len(cells)} ops in formats, each at least {cells[rarest[0]]} times; "
      "the rarest: " + ", ".join(f"{kind} in {name} {cells[kind, name]}"
                                 for kind, name in rarest))
assert cells[rarest[0]] >= 18 * (end - first - 20) // 300
finish(drawn_programs)
