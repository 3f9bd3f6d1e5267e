# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Kernels large enough to be cut into many chunks: products and their
derivatives in every format, right, and the same bits on one thread and on
four."""

import numpy as np
import scipy.sparse

from execution import Program, close, finish, same_bits
from sparse_functions import FORMATS
from sparse_storage import build_storage

ROWS, COLUMNS, WIDTH = 1500, 900, 32
ENCODINGS = {n: FORMATS[2][n] for n in ("CSR", "CSC", "COO", "DCSR", "DCSC",
                                        "DenseRows", "Loose", "BSR", "BSR23")}
M = f"tensor<?x{WIDTH}xf64>"
program = Program("parallel", level=2)
rng = np.random.default_rng(5)

# Rows of very different length, some without an element.
lengths = np.minimum(rng.zipf(1.5, ROWS), COLUMNS // 2)
lengths[rng.random(ROWS) < 0.1] = 0
rows = np.repeat(np.arange(ROWS), lengths)
columns = np.concatenate([rng.choice(COLUMNS, n, replace=False)
                          for n in lengths])
matrix = scipy.sparse.csr_matrix(
    (rng.standard_normal(len(rows)), (rows, columns)), (ROWS, COLUMNS))
x = rng.standard_normal((COLUMNS, WIDTH))
dy = rng.standard_normal((ROWS, WIDTH))
assert matrix.nnz * WIDTH > 4 * 65536, "one chunk tests nothing"

for name, encoding in ENCODINGS.items():
    program.define_encoding(name, encoding)
    a = f"tensor<?x?xf64, #{name}>"
    program.define(f"""
func.func private @product_{name}(%a: {a}, %x: {M}) -> {M} {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %a, %c0 : {a}
  %e = tensor.empty(%n) : {M}
  %z = linalg.fill ins(%zero : f64) outs(%e : {M}) -> {M}
  %y = linalg.matmul ins(%a, %x : {a}, {M}) outs(%z : {M}) -> {M}
  return %y : {M}
}}""")
    program.entry(f"vjp_{name}", [a, M, M], [M, a, M], f"""
  %y, %da, %dx = sparse_autograd.vjp @product_{name}(%a0, %a1) cotangents(%a2) {{wrt = [0, 1]}} : ({a}, {M}), ({M}) -> ({M}, {a}, {M})
  return %y, %da, %dx : {M}, {a}, {M}""")

    coo = matrix.tocoo()
    storage = build_storage(np.stack([coo.row, coo.col], 1), coo.data,
                            matrix.shape, encoding)
    # What the format stores, zeros that fill blocks up included.
    coordinates, _ = storage.entries()
    first = []

    def check(y, da, dx, coordinates=coordinates, first=first, name=name):
        at = tuple(np.asarray(coordinates).T)
        expected = (dy[at[0]] * x[at[1]]).sum(1)
        count = close(y, matrix @ x, 1e-12, f"{name} product")
        count += close(da.dense()[at], expected, 1e-12, f"{name} gradient")
        count += close(dx, matrix.T @ dy, 1e-12, f"{name} transposed")
        values = (y, da.values, dx)
        if first:
            for one, other in zip(first, values):
                count += same_bits(other, one, f"{name} on other threads")
        first[:] = values
        return count

    for threads in (1, 4, 2):
        program.call(f"vjp_{name}", [storage, x, dy], check,
                     f"{name} {threads}", threads=threads)

finish([program])
