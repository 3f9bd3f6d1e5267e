# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Products of a sparse matrix and a vector, and their gradients, on both sides of
where vectors gather: few rows and many, short ones and long ones, without entries
and around the lanes of a vector; every width of coordinates; one and two threads
with the same bits."""

import numpy as np
import scipy.sparse

from execution import Program, close, finish, same_bits
from sparse_storage import MATRICES as MATRIX_FORMATS, build_storage

CSR = MATRIX_FORMATS["CSR"]
ENCODINGS = {"Wide": CSR, "Narrow": CSR.with_widths("i32", "i32"),
             "Short": CSR.with_widths("i32", "i16")}
rng = np.random.default_rng(12)
programs = []


def make_matrix(rows, columns, mean):
    lengths = np.minimum(rng.poisson(mean, rows), columns)
    lengths[:34] = np.minimum(np.arange(34), columns)  # around 8, 16, 32
    lengths[rng.random(rows) < 0.05] = 0
    row = np.repeat(np.arange(rows), lengths)
    column = np.concatenate([rng.choice(columns, n, replace=False)
                             for n in lengths])
    values = rng.standard_normal(len(row))
    return scipy.sparse.csr_matrix((values, (row, column)), (rows, columns))


MATRICES = {"few rows": make_matrix(500, 300, 6),
            "many rows": make_matrix(9000, 700, 6),
            "long rows": make_matrix(8200, 90, 40)}

for processor in ("generic", "native"):
    program = Program(f"gathered_{processor}", 2, pipeline=f"cpu={processor}")
    for name, encoding in ENCODINGS.items():
        program.define_encoding(name, encoding)
        for element, dtype in (("f32", np.float32), ("f64", np.float64)):
            a, v = f"tensor<?x?x{element}, #{name}>", f"tensor<?x{element}>"
            program.define(f"""
func.func private @product_{name}_{element}(%a: {a}, %x: {v}) -> {v} {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : {element}
  %n = tensor.dim %a, %c0 : {a}
  %e = tensor.empty(%n) : {v}
  %z = linalg.fill ins(%zero : {element}) outs(%e : {v}) -> {v}
  %y = linalg.matvec ins(%a, %x : {a}, {v}) outs(%z : {v}) -> {v}
  return %y : {v}
}}""")
            program.entry(f"vjp_{name}_{element}", [a, v, v], [v, a, v], f"""
  %y, %da, %dx = sparse_autograd.vjp @product_{name}_{element}(%a0, %a1) cotangents(%a2) {{wrt = [0, 1]}} : ({a}, {v}), ({v}) -> ({v}, {a}, {v})
  return %y, %da, %dx : {v}, {a}, {v}""")
            for label, matrix in MATRICES.items():
                coo = matrix.tocoo()
                storage = build_storage(np.stack([coo.row, coo.col], 1),
                                        coo.data.astype(dtype), matrix.shape,
                                        encoding)
                used = scipy.sparse.csr_matrix(matrix.astype(dtype))
                exact = used.astype(np.float64)
                x = rng.standard_normal(used.shape[1]).astype(dtype)
                dy = rng.standard_normal(used.shape[0]).astype(dtype)
                terms = max(used.getnnz(axis=0).max(), used.getnnz(axis=1).max())
                bound = terms * np.finfo(dtype).eps * max(
                    np.max(abs(exact) @ abs(x)), np.max(abs(exact.T) @ abs(dy)))
                first = []

                def check(y, da, dx, exact=exact, x=x, dy=dy, coo=coo,
                          bound=bound, first=first, label=label):
                    count = close(y, exact @ x.astype(np.float64), bound, label)
                    count += close(dx, exact.T @ dy.astype(np.float64), bound,
                                   label)
                    count += close(da.values,
                                   dy[coo.row].astype(np.float64) * x[coo.col],
                                   bound, label)
                    values = (y, da.values, dx)
                    for one, other in zip(first, values):
                        count += same_bits(other, one, label)
                    first[:] = values
                    return count

                for threads in (1, 2):
                    program.call(f"vjp_{name}_{element}", [storage, x, dy],
                                 check, f"{label}, {threads} threads",
                                 threads=threads)
    programs.append(program)

finish(programs)
