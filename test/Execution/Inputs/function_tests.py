# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a list of functions in every type, with static and dynamic shapes."""

import os

import numpy as np

from execution import Program, finish
from functions import SECOND, add_function, call_function


# Element type, dynamic shapes, second derivatives, optimization level. What
# differs between the types is conversions and rounding, which the first
# derivatives show.
KINDS = (("f64", False, tuple(SECOND), 1), ("f64", True, ("ror",), 0),
         ("f32", True, (), 0), ("f16", False, (), 0), ("bf16", False, (), 0))


def programs(functions, seed, kinds=KINDS):
    rng = np.random.default_rng(seed)
    only = os.environ.get("EXECUTION_ONLY")  # for debugging
    result = []
    for element_type, dynamic, second, level in kinds:
        program = Program(f"{element_type}{'_dynamic' if dynamic else ''}",
                          level)
        for function in functions:
            if only and function.name not in only.split(","):
                continue
            if element_type != "f64" and not function.exact:
                continue
            name = add_function(program, function, element_type, dynamic,
                                second)
            call_function(program, name, function, element_type, rng, second)
        result.append(program)
    return result


def run(functions, seed):
    finish(programs(functions, seed))
