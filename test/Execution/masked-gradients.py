# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Values, gradients and tangents of every masked op in every type, static and
dynamic, against NumPy."""

import numpy as np

from execution import FLOATS, Program, finish
from masked_cases import KINDS, Op, add_op, call_op, random_case

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 127, 128, 129)
rng = np.random.default_rng(7)
programs = []
for element_type in FLOATS:
    program = Program(element_type)
    programs.append(program)
    for kind in KINDS:
        op = Op(kind, element_type, (3, 5), (1,), dynamic=True)
        add_op(program, kind + "_dynamic", op)
        for size in SIZES:
            for shape in ((3, size), (size, 2)):
                call_op(program, kind + "_dynamic", op,
                        *random_case(rng, op, shape), label=str(shape))
        op = Op(kind, element_type, (4, 7), (1,))
        add_op(program, kind, op)
        for _ in range(3):
            call_op(program, kind, op, *random_case(rng, op, (4, 7)))
finish(programs)
