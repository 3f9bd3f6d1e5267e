# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Offsets, sizes and extents of tensor ops that do not fit are an error of the
call, and nothing is read or written outside; those that just fit are right."""

import numpy as np

from execution import Program, finish, same_bits

program = Program("shapes", level=0, threads=1)
V, M = "tensor<?xf64>", "tensor<?x?xf64>"


def vector(n, first=0):
    return np.arange(first, first + n, dtype=np.float64)


def expect(array):
    return lambda result: same_bits(result, array)


program.entry("insert", [V, V, "index", "index", "index"], [V], f"""
  %r = tensor.insert_slice %a0 into %a1[%a2] [%a3] [%a4] : {V} into {V}
  return %r : {V}""")
OUTSIDE = "tensor.insert_slice: the slice does not lie in dimension 0"
HUGE = 2**62
for source, size, offset, count, stride, problem in (
        (4, 8, 0, 4, 1, None), (4, 8, 4, 4, 1, None), (3, 7, 0, 3, 3, None),
        (0, 8, 8, 0, 1, None), (0, 0, 0, 0, 1, None), (1, 8, 7, 1, 5, None),
        (4, 8, 5, 4, 1, OUTSIDE), (4, 8, -1, 4, 1, OUTSIDE),
        (1, 8, 8, 1, 1, OUTSIDE), (3, 6, 0, 3, 3, OUTSIDE),
        (4, 8, HUGE, 4, 1, OUTSIDE), (4, 8, 0, 4, HUGE, OUTSIDE),
        (4, 8, 0, -1, 1, OUTSIDE),
        (4, 8, 0, HUGE, HUGE, OUTSIDE),
        (1, 8, 0, 1, 0, "the stride of dimension 0 must be positive"),
        (4, 8, 0, 3, 1, "dimension 0 of the source must have the size"),
        (4, 8, 0, 5, 1, "dimension 0 of the source must have the size")):
    result = vector(size, 100)
    if problem is None and count:
        result[offset:offset + (count - 1) * stride + 1:stride] = vector(source)
    program.call("insert", [vector(source), vector(size, 100), offset, count,
                            stride], problem or expect(result),
                 str((source, size, offset, count, stride)))

program.entry("insert_row", [V, M, "index", "index"], [M], f"""
  %r = tensor.insert_slice %a0 into %a1[%a2, 0] [1, %a3] [1, 1] : {V} into {M}
  return %r : {M}""")
matrix = vector(6).reshape(2, 3)
for row, count, problem in ((1, 3, None), (2, 3, OUTSIDE),
                            (0, 4, "the slice does not lie in dimension 1"),
                            (0, 2, "dimension 0 of the source must")):
    result = matrix.copy()
    if problem is None:
        result[row] = vector(3, 7)
    program.call("insert_row", [vector(3, 7), matrix, row, count],
                 problem or expect(result), str((row, count)))

program.entry("expand", [V, "index", "index"], [M], f"""
  %r = tensor.expand_shape %a0 [[0, 1]] output_shape [%a1, %a2] : {V} into {M}
  return %r : {M}""")
for rows, columns, problem in (
        (2, 3, None), (6, 1, None), (4, 2, "must multiply to its own"),
        (0, 6, "must multiply to its own"),
        (-2, -3, "must not be negative")):
    program.call("expand", [vector(6), rows, columns],
                 problem or expect(vector(6).reshape(rows, columns)),
                 str((rows, columns)))

program.entry("concat", [M, M], [M], f"""
  %r = tensor.concat dim(0) %a0, %a1 : ({M}, {M}) -> {M}
  return %r : {M}""")
for columns, problem in ((3, None), (2, "dimension 1 of operand 1 must have")):
    other = vector(2 * columns, 50).reshape(2, columns)
    program.call("concat", [matrix, other],
                 problem or expect(np.concatenate([matrix, other])),
                 str(columns))

program.entry("pad", [V, "index", "index"], [V], f"""
  %zero = arith.constant 0.0 : f64
  %r = tensor.pad %a0 low[%a1] high[%a2] {{
  ^bb0(%i: index):
    tensor.yield %zero : f64
  }} : {V} to {V}
  return %r : {V}""")
for low, high, problem in ((0, 0, None), (2, 1, None),
                           (-1, 0, "the padding must not be negative"),
                           (0, -5, "the padding must not be negative"),
                           (2**63 - 4, 0, "is too large with its padding"),
                           (2**63 - 5, 1, "is too large with its padding"),
                           (2**63 - 1, 2**63 - 1, "is too large with its")):
    program.call("pad", [vector(4), low, high],
                 problem or expect(np.pad(vector(4), (low, high))),
                 str((low, high)))

# The result has the extents of its type, as a pad and a slice of its gradient
# take them from a cast.
program.define(f"""
func.func private @to_two_rows(%x: {M}, %low: index) -> tensor<2x3xf64> {{
  %zero = arith.constant 0.0 : f64
  %p = tensor.pad %x low[%low, 0] high[1, 0] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f64
  }} : {M} to {M}
  %y = tensor.cast %p : {M} to tensor<2x3xf64>
  return %y : tensor<2x3xf64>
}}""")
program.entry("pad_to_type", [M, "index", "tensor<2x3xf64>"],
              ["tensor<2x3xf64>", M], f"""
  %r:2 = sparse_autograd.vjp @to_two_rows(%a0, %a1) cotangents(%a2) {{wrt = [0]}}
      : ({M}, index), (tensor<2x3xf64>) -> (tensor<2x3xf64>, {M})
  return %r#0, %r#1 : tensor<2x3xf64>, {M}""")
MISFIT = "and its padding must add up to that of the result"
for rows, columns, low, problem in (
        (1, 3, 0, None), (0, 3, 1, None), (2, 3, 0, MISFIT), (0, 3, 0, MISFIT),
        (1, 2, 0, MISFIT), (1000, 3, 0, MISFIT), (0, 3, 5, MISFIT),
        (3, 3, -2, "the padding must not be negative")):
    values = vector(rows * columns, 1).reshape(rows, columns)
    padded = np.pad(values, ((max(low, 0), 1), (0, 0)))
    program.call("pad_to_type", [values, low, matrix],
                 problem or (lambda y, dx, padded=padded, rows=rows, low=low:
                             same_bits(y, padded) +
                             same_bits(dx, matrix[low:low + rows])),
                 str((rows, columns, low)))

# What a loop carries keeps its extents; the backward pass keeps it in one
# tensor.
program.define(f"""
func.func private @doubled(%x: {V}, %n: index) -> {V} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> ({V}) {{
    %w = tensor.concat dim(0) %v, %v : ({V}, {V}) -> {V}
    %s = math.absf %w : {V}
    scf.yield %s : {V}
  }}
  return %r : {V}
}}""")
program.entry("grow", [V, "index", V], [V, V], f"""
  %r:2 = sparse_autograd.vjp @doubled(%a0, %a1) cotangents(%a2) {{wrt = [0]}} : ({V}, index), ({V}) -> ({V}, {V})
  return %r#0, %r#1 : {V}, {V}""")
program.call("grow", [vector(4, 1), 1, vector(8)],
             lambda y, dx: same_bits(y, np.tile(vector(4, 1), 2)) +
             same_bits(dx, vector(4) + vector(4, 4)))
program.call("grow", [vector(4, 1), 2, vector(16)], "must have")

# A loop that is not differentiated in reverse may carry what grows, from a start
# of a known extent as well.
for kind, extent, start in (("none", 0, "tensor.empty() : tensor<0xf64>"),
                            ("some", 2, "arith.constant dense<[1.0, 2.0]> : "
                             "tensor<2xf64>")):
    program.define(f"""
func.func private @longer_{kind}(%x: tensor<1xf64>, %n: index) -> {V} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = {start}
  %t = tensor.cast %s : tensor<{extent}xf64> to {V}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %t) -> ({V}) {{
    %w = tensor.concat dim(0) %v, %x : ({V}, tensor<1xf64>) -> {V}
    scf.yield %w : {V}
  }}
  return %r : {V}
}}""")
    program.entry(f"longer_{kind}_jvp", ["tensor<1xf64>", "index"], [V, V], f"""
  %r:2 = sparse_autograd.jvp @longer_{kind}(%a0, %a1) tangents(%a0) {{wrt = [0]}} : (tensor<1xf64>, index), (tensor<1xf64>) -> ({V}, {V})
  return %r#0, %r#1 : {V}, {V}""")
    program.entry(f"longer_{kind}_vjp", ["tensor<1xf64>", "index", V],
                  ["tensor<1xf64>"], f"""
  %r:2 = sparse_autograd.vjp @longer_{kind}(%a0, %a1) cotangents(%a2) {{wrt = [0]}} : (tensor<1xf64>, index), ({V}) -> ({V}, tensor<1xf64>)
  return %r#1 : tensor<1xf64>""")
    for count in (0, 1, 3):
        first = [1.0, 2.0][:extent]
        program.call(f"longer_{kind}_jvp", [np.full(1, 7.0), count],
                     lambda y, t, first=first, count=count:
                     same_bits(y, np.array(first + count * [7.0])) +
                     same_bits(t, np.array(len(first) * [0.0] + count * [7.0])),
                     str(count))
    program.call(f"longer_{kind}_vjp", [np.full(1, 7.0), 3,
                                        vector(3 + extent)], "out-of-bounds")
finish([program])
