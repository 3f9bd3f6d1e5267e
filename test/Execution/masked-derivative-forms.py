# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Gradients and tangents of the masked ops in every form of mask, of dimensions
and of attributes, with poison behind the mask: in the input, in its tangent and
in the cotangent of a softmax."""

import numpy as np

from execution import FLOATS, Program, finish
from masked_cases import (KINDS, Op, add_op, call_op, poison_all, random_case,
                          special_case)

# What an op has besides its kind and its type.
FORMS = (
    dict(shape=(9,), dims=(0,)),
    dict(shape=(4, 7), dims=(1, 0), keepdims=True),
    dict(shape=(4, 7), dims=(1,), mask_dims=(), dynamic=(0,)),
    dict(shape=(4, 7), dims=(1,), mask_dims=(0,), dynamic=(1,)),
    dict(shape=(4, 7), dims=(0,), mask_dims=(1, 0), keepdims=True),
    dict(shape=(4, 7), dims=(1,), masked=False),
    dict(shape=(4, 3), dims=()),
    dict(shape=(3, 4, 5), dims=(2, 0), mask_dims=(2,), dynamic=(0, 1)),
    dict(shape=(2, 3, 4, 5), dims=(1, 3), mask_dims=(3, 0, 1)),
    dict(shape=(2, 3, 2, 2, 3), dims=(4, 0, 2), mask_dims=(4, 1, 3),
         keepdims=True, dynamic=(1, 2)),
    dict(shape=(4, 0), dims=(1,)),
    dict(shape=(), dims=()),
    dict(shape=(0, 4), dims=(1,)),
    dict(shape=(3, 0), dims=(0,), mask_dims=(1,), keepdims=True),
)
# Of the kinds that have attributes: all their values.
OPTIONS = [("mean", dict(empty="nan"))]
OPTIONS += [(kind, dict(ddof=ddof)) for kind in ("var", "std")
            for ddof in (1, 3)]
OPTIONS += [(kind, dict(ties="first")) for kind in ("max", "min")]

rng = np.random.default_rng(31)


def forms(element_type):
    """Every form, with some kinds; with all of them over the types."""
    program = Program(f"{element_type}_forms", level=0)
    for number, form in enumerate(FORMS):
        for kind in KINDS[(number + FLOATS.index(element_type)) % 4::4]:
            op = Op(kind, element_type, **form)
            add_op(program, f"{kind}_{number}", op)
            call_op(program, f"{kind}_{number}", op, *poison_all(
                rng, op, *random_case(rng, op, op.shape)))
    return program


def options(element_type):
    """Attributes, where slices have ties and from none to all elements."""
    program = Program(f"{element_type}_options", level=1, threads=1)
    for number, (kind, attributes) in enumerate(OPTIONS):
        # The last row selects nothing: ties are within rows and across two.
        for form in (dict(shape=(24, 5), dims=(1,)),
                     dict(shape=(3, 12, 4), dims=(2, 0), dynamic=True)):
            op = Op(kind, element_type, **form, **attributes)
            name = f"{kind}_{number}_{len(op.shape)}"
            add_op(program, name, op)
            x, mask, g, t = random_case(rng, op, op.shape)
            x = rng.integers(-2, 3, size=x.shape)
            call_op(program, name, op, *poison_all(rng, op, x, mask, g, t))
    return program


def special(element_type):
    """NaN, infinities, ties and zeros among the selected."""
    program = Program(f"{element_type}_special",
                      level=3 if element_type == "f64" else 0)
    x, mask = special_case(rng)
    for kind, attributes in [(k, {}) for k in KINDS] + OPTIONS[-2:]:
        op = Op(kind, element_type, x.shape, (1,), **attributes)
        name = kind + attributes.get("ties", "")
        add_op(program, name, op)
        g = rng.normal(size=op.result_shape(x.shape))
        t = rng.normal(size=x.shape)
        call_op(program, name, op, *poison_all(rng, op, x, mask, g, t))
    return program


finish([forms(t) for t in FLOATS] + [options(t) for t in ("f32", "bf16")] +
       [special(t) for t in FLOATS])
