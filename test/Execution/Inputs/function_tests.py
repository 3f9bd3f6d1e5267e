# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a list of functions in every type, with static and dynamic shapes."""

import numpy as np

from execution import FLOATS, Program, finish
from functions import add_function, call_function


def run(functions, seed, level=1):
    rng = np.random.default_rng(seed)
    programs = []
    for element_type in FLOATS:
        for dynamic in (False, True):
            # The narrower types share all but the element type with f64: one
            # of the two kinds of shapes each is enough.
            if element_type in ("f32", "bf16") and dynamic:
                continue
            if element_type == "f16" and not dynamic:
                continue
            program = Program(
                f"{element_type}{'_dynamic' if dynamic else ''}", level)
            for function in functions:
                if element_type != "f64" and not function.exact:
                    continue
                name = add_function(program, function, element_type, dynamic)
                call_function(program, name, function, element_type, rng)
            programs.append(program)
    finish(programs)
