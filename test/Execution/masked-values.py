# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Values of the masked ops without a derivative: every form of mask and of
dimensions, extents that break things, NaN and infinities before and behind the
mask."""

import numpy as np

from execution import FLOATS, Program, finish
from masked_cases import (KINDS, SPECIAL_COLUMNS, Op, add_values, call_values,
                          poisoned, random_case, special_case)

SIZES = (0, 1, 2, 3, 7, 8, 31, 32, 33, 127, 128, 129)

# What an op has besides its kind and its type.
FORMS = (
    dict(shape=(9,), dims=(0,)),
    dict(shape=(33,), dims=(0,), keepdims=True, dynamic=True),
    dict(shape=(9,), dims=(0,), mask_dims=()),
    dict(shape=(4, 7), dims=(0,), keepdims=True),
    dict(shape=(4, 7), dims=(1, 0)),
    dict(shape=(4, 7), dims=(1,), mask_dims=(0,), dynamic=(1,)),
    dict(shape=(4, 7), dims=(1,), mask_dims=(1,)),
    dict(shape=(4, 7), dims=(1,), mask_dims=(1, 0), dynamic=(0,)),
    dict(shape=(4, 7), dims=(1,), masked=False),
    dict(shape=(4, 7), dims=()),
    dict(shape=(4, 1), dims=(1,)),
    dict(shape=(4, 0), dims=(1,)),
    dict(shape=(0, 4), dims=(1,), keepdims=True),
    dict(shape=(3, 4, 5), dims=(1,), mask_dims=(2, 0)),
    dict(shape=(3, 4, 5), dims=(0, 2), keepdims=True, dynamic=(0, 1)),
    dict(shape=(3, 4, 5), dims=(2, 0), mask_dims=(1,), dynamic=True),
    dict(shape=(2, 3, 4, 5), dims=(1, 3), mask_dims=(3, 1), keepdims=True),
    dict(shape=(2, 3, 4, 5), dims=(0, 2), mask_dims=(0, 1, 3), dynamic=True),
    dict(shape=(2, 3, 4, 5), dims=(0, 1, 2, 3)),
)

rng = np.random.default_rng(23)


def case(op, shape):
    """x and mask of a shape, with poison behind the mask."""
    x, mask, _, _ = random_case(rng, op, shape)
    return poisoned(rng, x, op.chosen(x, mask)), mask


def forms(element_type):
    """Every form, with some kinds; with all of them over the types."""
    program = Program(f"{element_type}_forms",
                      level=2 if element_type == "f32" else 0)
    for number, form in enumerate(FORMS):
        for kind in KINDS[(number + FLOATS.index(element_type)) % 4::4]:
            op = Op(kind, element_type, **form)
            name = f"{kind}_{number}"
            add_values(program, name, [op])
            call_values(program, name, [op], *case(op, op.shape))
    return program


def options(element_type):
    """The attributes of one kind: ddof, and what an empty slice is."""
    program = Program(f"{element_type}_options", level=1, threads=1)
    for form in (dict(shape=(5, 6), dims=(1,)),
                 dict(shape=(6, 5, 2), dims=(0,), mask_dims=(0, 1),
                      dynamic=True)):
        ops = [Op(kind, element_type, ddof=ddof, **form)
               for kind in ("var", "std") for ddof in (1, 2, 5, 100)]
        ops.append(Op("mean", element_type, empty="nan", **form))
        ops += [Op(kind, element_type, ties="first", **form)
                for kind in ("max", "min")]
        name = f"options_{len(form['shape'])}"
        add_values(program, name, ops)
        for density in (0.0, 0.3, 0.6, 1.0):
            x, mask, _, _ = random_case(rng, ops[0], ops[0].shape, density)
            call_values(program, name, ops, x, mask, f"density {density}")
    return program


def together(element_type):
    """All kinds of the same arrays: fused into one loop over the rows."""
    program = Program(f"{element_type}_together",
                      level=3 if element_type == "f64" else 1)
    for dims, shapes in (((1,), [(5, n) for n in SIZES] + [(129, 3)]),
                         ((0,), [(n, 3) for n in SIZES] + [(2, 129)])):
        ops = [Op(kind, element_type, (5, 5), dims, dynamic=True)
               for kind in KINDS]
        name = f"together_{dims[0]}"
        add_values(program, name, ops)
        for number, shape in enumerate(shapes):
            call_values(program, name, ops, *case(ops[0], shape),
                        label=str(shape))
            program.calls[-1] = (*program.calls[-1][:-1], 1 + number % 2)
    x, mask = special_case(rng)
    static = [Op(kind, element_type, x.shape, (1,)) for kind in KINDS]
    add_values(program, "special_rows", static)
    call_values(program, "special_rows", static, x, mask)
    call_values(program, "together_0", ops, x.T, mask.T, "special columns")
    return program


finish([forms(t) for t in FLOATS] + [options(t) for t in ("f64", "bf16")] +
       [together(t) for t in FLOATS])
