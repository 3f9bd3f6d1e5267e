# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env SPARSE_AUTOGRAD_DEVICE=emulated:18 %python %s
"""Matrices of whose rows a thread does two or four columns at once where these divide
their length, which is known or found out by the program: sparse products, with and
without rows that are cut into chunks, sampled products, masked rows, and what is done
of each element."""

import numpy as np

from execution import Program, close, finish, to_type
from sparse_storage import MATRICES, from_pattern

RANDOM = np.random.default_rng(20261123)
WIDTHS = (1, 2, 4, 6, 12, 15, 24, 64)
ELEMENT = "affine_map<(i, j) -> (i, j)>"


def entry_of(kind, type_, name):
    return f"{kind}_{type_}_{'any' if name == '?' else name}"


def add_sparse(program, type_, width):
    a, m = f"tensor<?x?x{type_}, #CSR>", f"tensor<?x{width}x{type_}>"
    mask, square = "tensor<?x?xi1, #CSR>", f"tensor<?x?x{type_}>"
    program.entry(entry_of("product", type_, width), [a, m, m], [m], f"""
  %y = linalg.matmul ins(%a0, %a1 : {a}, {m}) outs(%a2 : {m}) -> {m}
  return %y : {m}""")
    program.entry(entry_of("sampled", type_, width), [a, m, m], [a], f"""
  %zero = arith.constant 0.0 : {type_}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %a0, %c0 : {a}
  %columns = tensor.dim %a0, %c1 : {a}
  %empty = tensor.empty(%rows, %columns) : {square}
  %none = linalg.fill ins(%zero : {type_}) outs(%empty : {square}) -> {square}
  %all = linalg.generic {{
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a1, %a2 : {m}, {m}) outs(%none : {square}) {{
    ^bb0(%x: {type_}, %y: {type_}, %s: {type_}):
      %p = arith.mulf %x, %y : {type_}
      %n = arith.addf %s, %p : {type_}
      linalg.yield %n : {type_}
  }} -> {square}
  %pattern = sparse_autograd.pattern %a0 : {a}
  %r = sparse_autograd.sample %all, %pattern : {square}, {mask} -> {a}
  return %r : {a}""")


def add_dense(program, type_, width):
    m, b, v = f"tensor<?x{width}x{type_}>", f"tensor<?x{width}xi1>", f"tensor<?x{type_}>"
    program.entry(entry_of("masked", type_, width), [m, b], [v, m], f"""
  %s = sparse_autograd.masked_reduce sum %a0, %a1 dims = [1] : {m}, {b} -> {v}
  %p = sparse_autograd.masked_softmax %a0, %a1 dims = [1] : {m}, {b}
  return %s, %p : {v}, {m}""")
    # Elements of a table are read in a branch, where the mask is true.
    program.entry(entry_of("elements", type_, width), [m, b, f"tensor<?x{type_}>"], [m], f"""
  %zero = arith.constant 0.0 : {type_}
  %r = linalg.generic {{
      indexing_maps = [{ELEMENT}, {ELEMENT}, {ELEMENT}], iterator_types = ["parallel", "parallel"]}}
      ins(%a0, %a1 : {m}, {b}) outs(%a0 : {m}) {{
    ^bb0(%x: {type_}, %is: i1, %o: {type_}):
      %row = linalg.index 0 : index
      %y = scf.if %is -> ({type_}) {{
        %t = tensor.extract %a2[%row] : {v}
        %p = arith.mulf %x, %t : {type_}
        scf.yield %p : {type_}
      }} else {{
        scf.yield %zero : {type_}
      }}
      linalg.yield %y : {type_}
  }} -> {m}
  return %r : {m}""")
    # Neighbours in a row of the result are none in what is read.
    t = f"tensor<{width}x?x{type_}>"
    program.entry(entry_of("transposed", type_, width), [m, t], [m], f"""
  %r = linalg.generic {{
      indexing_maps = [affine_map<(i, j) -> (j, i)>, {ELEMENT}, {ELEMENT}],
      iterator_types = ["parallel", "parallel"]}}
      ins(%a1, %a0 : {t}, {m}) outs(%a0 : {m}) {{
    ^bb0(%x: {type_}, %y: {type_}, %o: {type_}):
      %p = arith.addf %x, %y : {type_}
      linalg.yield %p : {type_}
  }} -> {m}
  return %r : {m}""")


def call_sparse(program, type_, name, width, rows, columns, density):
    mask = RANDOM.random((rows, columns)) < density
    dense = to_type(RANDOM.standard_normal(mask.shape), type_)
    stored = from_pattern(dense, mask, program.encodings["CSR"])
    exact = np.where(mask, dense, 0).astype(np.float64)
    eps = np.finfo(dense.dtype).eps
    x = to_type(RANDOM.standard_normal((columns, width)), type_)
    y = to_type(RANDOM.standard_normal((rows, width)), type_)
    product = exact @ x + y
    size = (mask.sum(1).max(initial=0) + 2) * eps * (np.abs(exact) @ np.abs(x) + np.abs(y))
    label = f"{mask.sum()} stored, {width} columns"
    program.call(entry_of("product", type_, name), [stored, x, y],
                 lambda z: close(z, product, size, "product"), label)
    scores = y.astype(np.float64) @ x.T
    bound = (width + 2) * eps * (np.abs(y) @ np.abs(x).T)
    program.call(entry_of("sampled", type_, name), [stored, y, x],
                 lambda s: close(s.values, scores[mask], bound[mask], "scores"), label)


def call_dense(program, type_, name, width, rows):
    x = to_type(RANDOM.standard_normal((rows, width)), type_)
    mask = RANDOM.random(x.shape) < 0.6
    eps = np.finfo(x.dtype).eps
    kept = np.where(mask, x, 0).astype(np.float64)
    largest = np.where(mask, x, -np.inf).max(1, keepdims=True, initial=-np.inf)
    weights = np.where(mask, np.exp(np.where(mask, x - np.maximum(largest, -9), 0.0)), 0)
    weights /= np.maximum(weights.sum(1, keepdims=True), 1e-30)
    size = (width + 2) * eps * np.abs(kept).sum(1)
    label = f"{rows} rows of {width}"
    program.call(entry_of("masked", type_, name), [x, mask], lambda s, p: (
        close(s, kept.sum(1), size, "sum") +
        close(p, weights, (width + 16) * eps * weights, "softmax")), label)
    table = to_type(RANDOM.standard_normal(rows), type_)
    program.call(entry_of("elements", type_, name), [x, mask, table], lambda y: close(
        y, np.where(mask, x * table[:, None], 0), 0, "elements"), label)
    other = to_type(RANDOM.standard_normal((width, rows)), type_)
    program.call(entry_of("transposed", type_, name), [x, other],
                 lambda y: close(y, other.T + x, 0, "transposed"), label)


def main():
    program = Program("vectors", 0)
    program.define_encoding("CSR", MATRICES["CSR"])
    for type_ in ("f32", "f64"):
        for name, widths in [*((str(width), (width,)) for width in WIDTHS), ("?", (7, 64))]:
            add_sparse(program, type_, name)
            add_dense(program, type_, name)
            for width in widths:
                call_sparse(program, type_, name, width, 40, 60, 0.2)
                for rows in (1, 70):
                    call_dense(program, type_, name, width, rows)
        for name, width in (("6", 6), ("64", 64), ("?", 24)):
            call_sparse(program, type_, name, width, 100, 120, 0.5)
    finish([program])


main()
