# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""What only a call can tell is an error of the call: shapes that loops change,
positions out of range, windows that do not fit."""

import numpy as np

from execution import Program, close, finish

program = Program("errors", level=0, threads=1)
CHANGES = "must have"
BOUNDS = "out-of-bounds access"


def add_gradient(name, arguments, results, body, wrt=0):
    """The entry (arguments, cotangent) -> (value, gradient)."""
    parameters = ", ".join(f"%x{i}: {t}" for i, t in enumerate(arguments))
    program.define(f"func.func private @{name}_f({parameters}) -> {results} "
                   f"{{\n{body}\n}}")
    operands = ", ".join(f"%a{i}" for i in range(len(arguments)))
    types = ", ".join(arguments)
    program.entry(name, [*arguments, results], [results, arguments[wrt]], f"""
  %r:2 = sparse_autograd.vjp @{name}_f({operands}) cotangents(%a{len(arguments)}) {{wrt = [{wrt}]}} : ({types}), ({results}) -> ({results}, {arguments[wrt]})
  return %r#0, %r#1 : {results}, {arguments[wrt]}""")


def passes(*results):
    return sum(close(r, r, 0) for r in results)


V, M, I = "tensor<?xf64>", "tensor<?x?xf64>", "tensor<?x1xi64>"
LOOP = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index"""
CUT = """
    %s = arith.mulf %a, %a : tensor<?xf64>
    %d = tensor.dim %s, %c0 : tensor<?xf64>
    %h = arith.subi %d, %x2 : index
    %t = tensor.extract_slice %s[0] [%h] [1] : tensor<?xf64> to tensor<?xf64>"""

# Each iteration cuts x2 elements off.
add_gradient("shrinking_for", [V, "index", "index"], "f64", LOOP + f"""
  %y = scf.for %i = %c0 to %x1 step %c1 iter_args(%a = %x0) -> {V} {{{CUT}
    scf.yield %t : {V}
  }}
  %e = tensor.extract %y[%c0] : {V}
  return %e : f64""")
add_gradient("shrinking_while", [V, "index", "index"], "f64", LOOP + f"""
  %y:2 = scf.while (%a = %x0, %k = %c0) : ({V}, index) -> ({V}, index) {{
    %more = arith.cmpi slt, %k, %x1 : index
    scf.condition(%more) %a, %k : {V}, index
  }} do {{
  ^bb0(%a: {V}, %k: index):{CUT}
    %n = arith.addi %k, %c1 : index
    scf.yield %t, %n : {V}, index
  }}
  %e = tensor.extract %y#0[%c0] : {V}
  return %e : f64""")
for name in ("shrinking_for", "shrinking_while"):
    program.call(name, [np.ones(4), 2, 0, 1.0], passes, "same shape")
    program.call(name, [np.ones(4), 2, 1, 1.0], CHANGES, "smaller")
    program.call(name, [np.ones(4), 3, 1, 1.0], CHANGES, "smaller and smaller")

add_gradient("gather", [M, I], M, f"""
  %y = tensor.gather %x0[%x1] gather_dims([0]) : ({M}, {I}) -> {M}
  return %y : {M}""")
add_gradient("scatter", [M, M, I], M, f"""
  %y = tensor.scatter %x0 into %x1[%x2] scatter_dims([0]) unique : ({M}, {M}, {I}) -> {M}
  return %y : {M}""")
for at, expected in (([0, 2, 3], passes), ([0, 4, 3], BOUNDS),
                     ([0, -1, 3], BOUNDS)):
    indices = np.array(at)[:, None]
    program.call("gather", [np.ones((4, 2)), indices, np.ones((3, 2))],
                 expected, str(at))
    program.call("scatter", [np.ones((3, 2)), np.ones((4, 2)), indices,
                             np.ones((4, 2))], expected, str(at))

add_gradient("convolution", [V, V, V], V, f"""
  %y = linalg.conv_1d ins(%x0, %x1 : {V}, {V}) outs(%x2 : {V}) -> {V}
  return %y : {V}""")
for sizes, expected in (((6, 3, 4), passes), ((7, 3, 4), passes),
                        ((5, 3, 4), "incompatible with inferred dimension"),
                        ((0, 3, 4), "incompatible with inferred dimension")):
    program.call("convolution", [np.ones(sizes[0]), np.ones(sizes[1]),
                                 np.ones(sizes[2]), np.ones(sizes[2])],
                 expected, str(sizes))
finish([program])
