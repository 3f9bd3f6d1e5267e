# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Integers that are divided by zero, or the smallest one by -1, are an error of
the call, alone and as elements of dense and sparse tensors; what is not divided
is not."""

import numpy as np
import scipy.sparse

from execution import Program, finish, same_bits
from sparse_storage import MATRICES

ZERO = "{}: the divisor must not be zero"
LEAST = "{}: the smallest integer must not be divided by -1"


def truncate(a, b):
    """The quotient, rounded to zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


SIGNED = {"arith.divsi": truncate,
          "arith.remsi": lambda a, b: a - b * truncate(a, b),
          "arith.ceildivsi": lambda a, b: -(-a // b),
          "arith.floordivsi": lambda a, b: a // b}
UNSIGNED = {"arith.divui": lambda a, b: a // b,
            "arith.remui": lambda a, b: a % b,
            "arith.ceildivui": lambda a, b: -(-a // b)}
WIDTHS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


def expect(value):
    return lambda result: same_bits(result, value)


def scalars(level):
    program = Program(f"scalars_{level}", level=level, threads=1)
    for t, dtype in WIDTHS.items():
        least = int(np.iinfo(dtype).min)
        for op, exact in {**SIGNED, **UNSIGNED}.items():
            name = f"{op[6:]}_{t}"
            program.entry(name, [t, t], [t], f"""
  %r = {op} %a0, %a1 : {t}
  return %r : {t}""")
            for a, b in ((7, 2), (7, 0), (0, 0), (100, 100)):
                program.call(name, [dtype(a), dtype(b)],
                             expect(dtype(exact(a, b))) if b
                             else ZERO.format(op), f"{a} {b}")
            if op in SIGNED:
                program.call(name, [dtype(least), dtype(-1)], LEAST.format(op))
                program.call(name, [dtype(least + 1), dtype(-1)],
                             expect(dtype(exact(least + 1, -1))))
    return program


def tensors(level):
    program = Program(f"tensors_{level}", level=level)
    v = "tensor<?xi32>"
    program.entry("each", [v, v], [v], f"""
  %r = arith.divsi %a0, %a1 : {v}
  return %r : {v}""")
    program.entry("shared", [v, "i32"], [v], f"""
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}} outs(%a0 : {v}) {{
  ^bb0(%x: i32):
    %q = arith.remui %x, %a1 : i32
    linalg.yield %q : i32
  }} -> {v}
  return %r : {v}""")
    for n in (0, 1, 7, 1000):
        x = np.arange(n, dtype=np.int32)
        divisors = x % 5 + 1
        program.call("each", [x, divisors], expect(x // divisors))
        program.call("shared", [x, 3], expect(x % 3))
        program.call("shared", [x, 0],
                     ZERO.format("arith.remui") if n else expect(x))
        if n:
            def but_one(values, other, n=n):
                return np.where(np.arange(n) == n // 2, np.int32(other), values)

            program.call("each", [x, but_one(divisors, 0)],
                         ZERO.format("arith.divsi"))
            program.call("each", [but_one(x, np.iinfo(np.int32).min),
                                  but_one(divisors, -1)],
                         LEAST.format("arith.divsi"))
    program.define_encoding("CSR", MATRICES["CSR"])
    s, m = "tensor<?x?xi32, #CSR>", "tensor<?x?xi32>"
    program.entry("stored", [s, m], [s], f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a0, %c0 : {s}
  %m = tensor.dim %a0, %c1 : {s}
  %e = tensor.empty(%n, %m) : {s}
  %r = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%a0, %a1 : {s}, {m}) outs(%e : {s}) {{
  ^bb0(%x: i32, %y: i32, %o: i32):
    %q = arith.divsi %x, %y : i32
    linalg.yield %q : i32
  }} -> {s}
  return %r : {s}""".replace("#id", "affine_map<(i, j) -> (i, j)>"))
    x = scipy.sparse.csr_matrix(np.diag([6, 8, 9]).astype(np.int32))
    program.call("stored", [x, np.zeros((3, 3), np.int32)],
                 ZERO.format("arith.divsi"))
    # What is divided by the other zeros is not stored.
    divisors = np.diag([3, 2, 1]).astype(np.int32)
    program.call("stored", [x, divisors], lambda result: same_bits(
        result.dense(), np.diag([2, 4, 9]).astype(np.int32)))
    return program


finish([scalars(0), scalars(3), tensors(0), tensors(3)])
