# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Values and both kinds of first derivatives of every op of arith and math with
a rule, in every type, at random points, at the limits and at kinks."""

import numpy as np

from execution import FLOATS, Program, finish
from scalar_programs import call_kinks, call_smooth, define
from scalar_rules import RULES

rng = np.random.default_rng(11)
programs = []
for element_type in FLOATS:
    program = Program(element_type, level=3 if element_type == "f64" else 1)
    programs.append(program)
    for rule in RULES:
        name = rule.op.replace(".", "_")
        define(program, rule, name, element_type)
        call_smooth(program, rule, name, element_type, rng)
        call_kinks(program, rule, name, element_type)
finish(programs)
