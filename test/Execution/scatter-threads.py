# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Loops that write to rows that a list names, on one thread and on owners of
rows (four and more): right, and the same bits on any number of threads. Widths around the strips of columns, matrices
with hubs, empty rows and few columns, coordinates that repeat."""

import numpy as np
import scipy.sparse

from execution import Program, close, finish, same_bits
from sparse_functions import FORMATS
from sparse_storage import build_storage

THREADS = (1, 2, 4, 7, 64)
STATIC, OPEN = (8, 16, 32, 64, 96, 128, 192), (1, 7, 16, 40, 64, 80, 130)
rng = np.random.default_rng(11)


def on_threads(program, entry, arguments, expected, bound, label):
    first = []

    def check(result):
        count = close(result, expected, bound, label)
        if first:
            count += same_bits(result, first[0], label)
        first[:] = [result]
        return count

    for threads in THREADS:
        program.call(entry, arguments, check, f"{label}, {threads} threads",
                     threads=threads)


def make_matrix(rows, columns, entries, hub):
    """Rows of very different length, some without an element; `hub`, a column,
    is named by half of the rows."""
    lengths = rng.poisson(entries / rows, rows)
    lengths[rng.random(rows) < 0.2] = 0
    matrix = scipy.sparse.lil_matrix((rows, columns))
    for row, length in enumerate(lengths):
        names = rng.choice(columns, min(length, columns), replace=False)
        if length and rng.random() < 0.5:
            names[0] = hub
        matrix[row, names] = 1
    matrix = matrix.tocsr()
    matrix.data[:] = rng.standard_normal(matrix.nnz)
    return matrix


# 5000 columns have blocks of several rows, 300 and 3 have not.
MATRICES = {"many": make_matrix(700, 5000, 20000, 4999),
            "few": make_matrix(2000, 300, 20000, 17),
            "three": make_matrix(9000, 3, 20000, 1)}


def define(program, name, type_, width, encoding, is_transposed):
    a, m = f"tensor<?x?x{type_}, #{encoding}>", f"tensor<?x{width}x{type_}>"
    rows, columns = ("(k, i)", 1) if is_transposed else ("(i, k)", 0)
    sizes = "%n, %m" if width == "?" else "%n"
    program.entry(name, [a, m], [m], f"""
  %c{columns} = arith.constant {columns} : index
  %one = arith.constant 1 : index
  %zero = arith.constant 0.0 : {type_}
  %n = tensor.dim %a0, %c{columns} : {a}
  %m = tensor.dim %a1, %one : {m}
  %e = tensor.empty({sizes}) : {m}
  %z = linalg.fill ins(%zero : {type_}) outs(%e : {m}) -> {m}
  %y = linalg.matmul
      indexing_maps = [affine_map<(i, j, k) -> {rows}>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%a0, %a1 : {a}, {m}) outs(%z : {m}) -> {m}
  return %y : {m}""")


def products(program, encoding, type_, is_transposed, widths):
    dtype = np.dtype({"f32": np.float32, "f64": np.float64}[type_])
    for is_open, width in widths:
        shown = "?" if is_open else width
        entry = (f"{'transposed' if is_transposed else 'product'}_{encoding}"
                 f"_{type_}_{'open' if is_open else width}")
        if entry not in program.defined:
            define(program, entry, type_, shown, encoding, is_transposed)
            program.defined.add(entry)
        for label, matrix in MATRICES.items():
            coo = matrix.tocoo()
            storage = build_storage(np.stack([coo.row, coo.col], 1),
                                    coo.data.astype(dtype), matrix.shape,
                                    FORMATS[2][encoding])
            used = matrix.astype(dtype)
            used = used.T if is_transposed else used
            x = rng.standard_normal((used.shape[1], width)).astype(dtype)
            # As sums of so many terms are rounded at most.
            terms = used.getnnz(axis=1).max()
            bound = terms * np.finfo(dtype).eps * np.max(abs(used) @ abs(x))
            on_threads(program, entry, [storage, x],
                       used.astype(np.float64) @ x.astype(np.float64), bound,
                       f"{entry} of {label}, {width} columns")


TABLE, COUNT = 3000, 20000


def gathered(program, width):
    """The gradient of rows that are gathered: numbers repeat."""
    name = "open" if width == "?" else width
    m = f"tensor<?x{width}xf32>"
    program.define(f"""
func.func private @gather_{name}(%t: {m}, %list: tensor<?xi32>) -> {m} {{
  %rows = sparse_autograd.gather %t, %list : {m}, tensor<?xi32> -> {m}
  return %rows : {m}
}}""")
    entry = f"gathered_{name}"
    program.entry(entry, [m, "tensor<?xi32>", m], [m], f"""
  %y, %d = sparse_autograd.vjp @gather_{name}(%a0, %a1) cotangents(%a2) {{wrt = [0]}} : ({m}, tensor<?xi32>), ({m}) -> ({m}, {m})
  return %d : {m}""")
    columns = 40 if width == "?" else width
    table = rng.standard_normal((TABLE, columns)).astype(np.float32)
    numbers = np.minimum(rng.zipf(1.3, COUNT) - 1, TABLE - 1).astype(np.int32)
    cotangent = rng.standard_normal((COUNT, columns)).astype(np.float32)
    expected = np.zeros((TABLE, columns))
    np.add.at(expected, numbers, cotangent.astype(np.float64))
    terms = np.bincount(numbers).max()
    on_threads(program, entry, [table, numbers, cotangent], expected,
               terms**2 * np.finfo(np.float32).eps * abs(cotangent).max(), entry)


# Vectors are short on the least processor, and long on this one.
programs = []
for processor in ("generic", "native"):
    program = Program(f"scatter_{processor}", level=2,
                      pipeline=f"cpu={processor}")
    program.defined = set()
    for name in ("CSR", "COO", "DCSR"):
        program.define_encoding(name, FORMATS[2][name])
    widths = [(False, width) for width in STATIC]
    widths += [(True, width) for width in OPEN]
    products(program, "CSR", "f32", True, widths)
    products(program, "CSR", "f64", True, [(False, 64), (True, 40)])
    products(program, "DCSR", "f32", True, [(False, 64), (True, 80)])
    # Rows that the list of rows of COO names.
    products(program, "COO", "f32", False, [(False, 64), (True, 40)])
    for width in (32, 64, "?"):
        gathered(program, width)
    programs.append(program)

finish(programs)
