# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""A byte of an i1 that is neither 0 nor 1 is true: whatever reads a mask, the
results have the same bits as with a mask of 0 and 1, and bytes of 0 and 1."""

import numpy as np

from execution import PIPELINE, Program, finish, same_bits
from masked_cases import KINDS, Op, add_op, random_case
from sparse_storage import ENCODINGS, Storage, from_pattern

BYTES = (1, 2, 3, 0x7F, 0x80, 0xFE, 0xFF)
MATRIX = "tensor<?x?xi1>"
rng = np.random.default_rng(31)


def unusual(mask):
    """The mask with other bytes for true."""
    others = rng.choice(np.array(BYTES, np.uint8), size=mask.shape)
    return np.where(mask, others, np.uint8(0)).view(np.bool_)


def with_unusual(argument):
    if isinstance(argument, Storage):
        return argument.with_values(unusual(argument.values))
    is_mask = getattr(argument, "dtype", None) == np.bool_
    return unusual(argument) if is_mask else argument


def compare(program, name, arguments):
    """Calls an entry with masks of 0 and 1, then with others."""
    expected = []

    def keep(*results):
        expected.extend(results)
        return 1

    def check(*results):
        count = 0
        for result, other in zip(results, expected, strict=True):
            if isinstance(result, Storage):
                result, other = result.values, other.values
            if result.dtype == np.bool_:
                assert np.all(result.view(np.uint8) <= 1), "bytes of a result"
            count += same_bits(result, other)
        return count

    program.call(name, arguments, keep)
    program.call(name, [with_unusual(a) for a in arguments], check)


def masked_ops(level):
    program = Program(f"ops_{level}", level=level)
    for kind in KINDS:
        for number, form in enumerate((
                dict(shape=(5, 37), dims=(1,), dynamic=True),
                dict(shape=(19, 5), dims=(0,), mask_dims=(0,)))):
            element_type = "f32" if number else "f64"
            op = Op(kind, element_type, **form)
            name = f"{kind}_{number}"
            add_op(program, name, op)
            compare(program, name, list(random_case(rng, op, op.shape)))
    # Rows so sparse that they may be compressed.
    op = Op("masked_softmax", "f32", (4, 700), (1,), dynamic=True)
    add_op(program, "sparse_rows", op)
    compare(program, "sparse_rows",
            list(random_case(rng, op, op.shape, density=0.05)))
    return program


def moves(level):
    """What returns the bytes that it got, moved or computed with."""
    program = Program(f"moves_{level}", level=level)
    bodies = {
        "itself": "  return %a0 : tensor<?x?xi1>",
        "transposed": """  %e = tensor.empty(%d1, %d0) : tensor<?x?xi1>
  %y = linalg.transpose ins(%a0 : tensor<?x?xi1>) outs(%e : tensor<?x?xi1>) permutation = [1, 0]
  return %y : tensor<?x?xi1>""",
        "part": """  %p = tensor.extract_slice %a0[1, 1] [2, 3] [1, 1] : tensor<?x?xi1> to tensor<2x3xi1>
  %y = tensor.cast %p : tensor<2x3xi1> to tensor<?x?xi1>
  return %y : tensor<?x?xi1>""",
        "differences": """  %y = arith.xori %a0, %a1 : tensor<?x?xi1>
  return %y : tensor<?x?xi1>""",
        "chosen": """  %y = arith.select %a2, %a0, %a1 : tensor<?x?xi1>
  return %y : tensor<?x?xi1>"""}
    for name, body in bodies.items():
        program.entry(name, [MATRIX, MATRIX, "i1"], [MATRIX], f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = tensor.dim %a0, %c0 : {MATRIX}
  %d1 = tensor.dim %a0, %c1 : {MATRIX}
{body}""")
    program.entry("widened", [MATRIX], ["tensor<?x?xi32>", "tensor<?x?xf64>"],
                  f"""
  %y = arith.extui %a0 : {MATRIX} to tensor<?x?xi32>
  %z = arith.sitofp %a0 : {MATRIX} to tensor<?x?xf64>
  return %y, %z : tensor<?x?xi32>, tensor<?x?xf64>""")
    program.entry("one", ["tensor<i1>"], ["tensor<i1>"],
                  "  return %a0 : tensor<i1>")
    a, b = (rng.random((4, 35)) < 0.5 for _ in range(2))
    for name in bodies:
        compare(program, name, [a, b, True])
    compare(program, "widened", [a])
    compare(program, "one", [np.array(True)])
    program.define_encoding("CSR", ENCODINGS["CSR"])
    sparse = "tensor<?x?xi1, #CSR>"
    program.entry("stored", [sparse], [sparse], f"  return %a0 : {sparse}")
    compare(program, "stored", [from_pattern(a, a | b, ENCODINGS["CSR"])])
    return program


finish([masked_ops(1 if PIPELINE else 3), moves(0)])
