# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""The choice of formats changes no value (semantics G9): copies in another
order in loops, of tensors and of patterns, arguments that leave their format
open, and small tensors that stay dense, against NumPy and against the same
program with the format that its types say."""

import numpy as np
import scipy.sparse

from execution import Program, close, finish
from sparse_functions import FORMATS
from sparse_storage import from_pattern

ENCODINGS = {n: FORMATS[2][n] for n in ("CSR", "CSC", "COO", "COOColumns",
                                        "DCSR", "DCSC", "Loose", "BSR")}
RUNS = 60
M = "tensor<?x32xf64>"
rng = np.random.default_rng(11)
program = Program("formats", level=2)


def product(result, a, x, out, type_a, transposed):
    order = "(k, i)" if transposed else "(i, k)"
    return f"""
    {result} = linalg.generic {{
          indexing_maps = [affine_map<(i, j, k) -> {order}>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}}
        ins({a}, {x} : {type_a}, {M}) outs({out} : {M}) {{
    ^bb0(%l: f64, %r: f64, %o: f64):
      %p = arith.mulf %l, %r : f64
      %s = arith.addf %o, %p : f64
      linalg.yield %s : f64
    }} -> {M}"""


def chain(a, scales):
    """x <- A^T (A x) / 2 in a loop; with `scales` A is divided by the number of
    the iteration, counted from 1."""
    scaled = f"""
    %k = arith.addi %i, %c1 : index
    %n = arith.index_cast %k : index to i64
    %f = arith.sitofp %n : i64 to f64
    %e = tensor.empty(%rows, %columns) : {a}
    %b = linalg.generic {{
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}}
        ins(%a0 : {a}) outs(%e : {a}) {{
    ^bb0(%v: f64, %w: f64):
      %q = arith.divf %v, %f : f64
      linalg.yield %q : f64
    }} -> {a}""" if scales else ""
    b = "%b" if scales else "%a0"
    return f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %half = arith.constant 0.5 : f64
  %runs = arith.constant {RUNS} : index
  %rows = tensor.dim %a0, %c0 : {a}
  %columns = tensor.dim %a0, %c1 : {a}
  %e0 = tensor.empty(%rows) : {M}
  %e1 = tensor.empty(%columns) : {M}
  %z0 = linalg.fill ins(%zero : f64) outs(%e0 : {M}) -> {M}
  %z1 = linalg.fill ins(%zero : f64) outs(%e1 : {M}) -> {M}
  %r = scf.for %i = %c0 to %runs step %c1 iter_args(%x = %a1) -> {M} {{{scaled}
    {product("%y", b, "%x", "%z0", a, False)}
    {product("%t", b, "%y", "%z1", a, True)}
    %h = tensor.splat %half[%columns] : {M}
    %m = arith.mulf %t, %h : {M}
    scf.yield %m : {M}
  }}"""


def chain_reference(a, x, scales):
    for run in range(RUNS):
        b = a / (run + 1) if scales else a
        x = b.T @ (b @ x) / 2
    return x


matrix = scipy.sparse.random(40, 30, 0.15, random_state=3,
                             data_rvs=rng.standard_normal).tocsr()
matrix /= scipy.sparse.linalg.norm(matrix, ord=2)
mask = np.zeros(matrix.shape, bool)
mask[matrix.nonzero()] = True
x = rng.standard_normal((30, 32))
for name, encoding in ENCODINGS.items():
    program.define_encoding(name, encoding)
    a = f"tensor<?x?xf64, #{name}>"
    storage = from_pattern(matrix.toarray(), mask, encoding)
    for scales in (False, True):
        entry = f"chain_{name}_{int(scales)}"
        program.entry(entry, [a, M], [M], chain(a, scales)
                      + f"\n  return %r : {M}")
        expected = chain_reference(matrix, x, scales)

        def check(y, expected=expected, entry=entry):
            return close(y, expected, 1e-12 * np.abs(expected).max(), entry)

        for threads in (1, 4):
            program.call(entry, [storage, x], check, entry, threads=threads)

        # The argument and one of its results leave the format open: the
        # reader of files stores the matrix as the manifest says.
        body = chain(a, scales) + f"""
  %g = linalg.generic {{
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}}
      ins(%a0 : {a}) outs(%g0 : {a}) {{
  ^bb0(%v: f64, %w: f64):
    %q = arith.mulf %v, %v : f64
    linalg.yield %q : f64
  }} -> {a}
  return %r, %g : {M}, {a}"""
        body = body.replace("%e0 = tensor.empty(%rows)",
                            f"%g0 = tensor.empty(%rows, %columns) : {a}\n"
                            "  %e0 = tensor.empty(%rows)")
        entry = f"open_{entry}"
        program.entry(entry, [a, M], [M, a], body)
        program.text[-1] = program.text[-1].replace(
            f"%a0: {a}", f"%a0: {a} {{sparse_autograd.any_format}}")

        def check_open(y, g, expected=expected, entry=entry):
            count = close(y, expected, 1e-12 * np.abs(expected).max(), entry)
            return count + close(g.dense(), matrix.toarray() ** 2, 1e-15, entry)

        if name != "BSR":
            program.call(entry, [matrix, x], check_open, entry)

# Small tensors, with what a selection must not let through.
for element, special in (("f64", True), ("f32", True), ("i32", False)):
    dense, vector = f"tensor<6x5x{element}>", f"tensor<5x{element}>"
    a = f"tensor<6x5x{element}, #CSR>"
    program.entry(f"small_{element}", [dense, vector], [f"tensor<6x{element}>"],
                  f"""
  %zero = arith.constant {"0.0" if special else "0"} : {element}
  %e = tensor.empty() : tensor<6x{element}>
  %z = linalg.fill ins(%zero : {element}) outs(%e : tensor<6x{element}>) -> tensor<6x{element}>
  %a = sparse_tensor.convert %a0 : {dense} to {a}
  %y = linalg.matvec ins(%a, %a1 : {a}, {vector}) outs(%z : tensor<6x{element}>) -> tensor<6x{element}>
  return %y : tensor<6x{element}>""")
    values = rng.integers(-2, 3, (6, 5)).astype(
        np.float64 if element == "f64" else np.float32 if special else np.int32)
    other = np.arange(1, 6).astype(values.dtype)
    values[:, 1] = 0
    values[2] = 0
    if special:
        other[1] = np.nan  # met by zeros alone
        values[3, 2] = np.nan
        values[4, 0] = -0.0
    expected = np.array([sum(v * o for v, o in zip(row, other) if v != 0)
                         for row in values], values.dtype)
    program.call(f"small_{element}", [values, other],
                 lambda y, e=expected, n=element: close(y, e, 0.0, n), element)

# What a hint says may be wrong: 5 nonzeros are said to be among 600 elements, of
# which half are not zero, and so the tensor stays dense; or 500 among 600, and
# so few are there.
for name, hint, share in (("few", 5, 0.5), ("full", 500, 0.01)):
    dense, vector = "tensor<20x30xf64>", "tensor<30xf64>"
    a = "tensor<20x30xf64, #CSR>"
    program.entry(f"hint_{name}", [dense, vector], ["tensor<20xf64>"], f"""
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<20xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<20xf64>) -> tensor<20xf64>
  %a = sparse_tensor.convert %a0 {{sparse_autograd.nnz = {hint}}} : {dense} to {a}
  %y = linalg.matvec ins(%a, %a1 : {a}, {vector}) outs(%z : tensor<20xf64>) -> tensor<20xf64>
  return %y : tensor<20xf64>""")
    values = rng.standard_normal((20, 30)) * (rng.random((20, 30)) < share)
    values[:, 4] = 0
    other = rng.standard_normal(30)
    expected = values @ other
    other[4] = np.nan  # met by zeros alone
    program.call(f"hint_{name}", [values, other],
                 lambda y, e=expected, n=name: close(y, e, 1e-13, n), name)

finish([program])
