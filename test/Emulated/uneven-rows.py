# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env SPARSE_AUTOGRAD_DEVICE=emulated:13 %python %s
"""Sums of the rows of sparse matrices, which kernels cut into chunks of 64
entries from 4096 entries on: rows that are a chunk, or a little more or less, that
have all entries, and none, at the beginning, between chunks and at the end."""

import numpy as np

from execution import Program, close, finish, to_type
from sparse_storage import MATRICES, from_pattern

RANDOM = np.random.default_rng(20261122)
# How many entries each row has.
LENGTHS = {
    "even": [16] * 300,
    "all in one": [0] * 10 + [5000] + [0] * 10,
    "the first": [4200, 0, 0],
    "the last": [0, 1, 4200],
    "whole chunks": [64, 0, 64, 0, 0] * 33,
    "almost chunks": [63, 1, 65, 0, 127, 129, 0, 0, 128] * 9,
    "one less at the end": [64] * 64 + [63],
    "just enough": [64] * 64,
    "too few": [64] * 63 + [63],
    "none at first": [0] * 70 + [70] * 60 + [0] * 5,
    "power law": sorted(np.minimum(RANDOM.zipf(1.6, 900), 700))[::-1],
    "none": [0] * 3,
}
FORMATS = ("CSR", "CSR64")


def matrix(lengths, encoding, type_):
    columns = max(8, *lengths)
    mask = np.zeros((len(lengths), columns), bool)
    for row, length in zip(mask, lengths):
        row[RANDOM.permutation(columns)[:length]] = True
    values = to_type(RANDOM.standard_normal(mask.shape), type_)
    return mask, values, from_pattern(values, mask, encoding)


def add(program, name, type_):
    program.define_encoding(name, MATRICES["CSR"] if name == "CSR" else
                            MATRICES["CSR"].with_widths("i64", "index"))
    a, m, v = (f"tensor<?x?x{type_}, #{name}>", f"tensor<?x?x{type_}>",
               f"tensor<?x{type_}>")
    # Something is done with each sum, and it begins with what there was.
    program.entry(f"vector_{name}_{type_}", [a, v, v], [v, v], f"""
  %y = linalg.matvec ins(%a0, %a1 : {a}, {v}) outs(%a2 : {v}) -> {v}
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
      ins(%y : {v}) outs(%a2 : {v}) {{
    ^bb0(%s: {type_}, %o: {type_}):
      %p = math.absf %s : {type_}
      linalg.yield %p : {type_}
  }} -> {v}
  return %y, %r : {v}, {v}""")
    program.entry(f"matrix_{name}_{type_}", [a, m, m], [m], f"""
  %y = linalg.matmul ins(%a0, %a1 : {a}, {m}) outs(%a2 : {m}) -> {m}
  return %y : {m}""")
    program.entry(f"rows_{name}_{type_}", [a], [v, v], f"""
  %p = sparse_autograd.pattern %a0 : {a}
  %m = sparse_autograd.masked_reduce mean %a0, %p dims = [1] : {a}, tensor<?x?xi1, #{name}> -> {v}
  %l = sparse_autograd.masked_reduce max %a0, %p dims = [1] : {a}, tensor<?x?xi1, #{name}> -> {v}
  return %m, %l : {v}, {v}""")


def call(program, name, type_, label, lengths):
    mask, dense, stored = matrix(lengths, program.encodings[name], type_)
    exact = np.where(mask, dense, 0).astype(np.float64)
    eps = np.finfo(dense.dtype).eps

    def bound(size):
        return (mask.sum(1).max(initial=0) + 2) * eps * size

    x = to_type(RANDOM.standard_normal(mask.shape[1]), type_)
    z = to_type(RANDOM.standard_normal(mask.shape[0]), type_)
    product = exact @ x + z
    size = bound(np.abs(exact) @ np.abs(x) + np.abs(z))
    program.call(f"vector_{name}_{type_}", [stored, x, z], lambda y, r: (
        close(y, product, size, "y") + close(r, np.abs(product), size, "r")),
                 label)
    for columns in (1, 5, 33):
        b = to_type(RANDOM.standard_normal((mask.shape[1], columns)), type_)
        c = to_type(RANDOM.standard_normal((mask.shape[0], columns)), type_)
        expected = exact @ b + c
        error = bound(np.abs(exact) @ np.abs(b) + np.abs(c))

        def check(y, expected=expected, error=error):
            return close(y, expected, error, "y")
        program.call(f"matrix_{name}_{type_}", [stored, b, c], check,
                     f"{label}, {columns} columns")

    counts = mask.sum(1)
    means = exact.sum(1) / np.maximum(counts, 1)
    largest = np.where(counts == 0, 0,
                       np.where(mask, dense, -np.inf).max(1))

    def check_rows(mean, most):
        some = counts != 0
        return (close(mean[some], means[some],
                      bound(np.abs(exact).sum(1))[some], "mean") +
                close(most[some], largest[some], 0, "max"))
    program.call(f"rows_{name}_{type_}", [stored], check_rows, label)


def main():
    program = Program("rows", 0)
    for name, type_ in zip(FORMATS, ("f32", "f64")):
        add(program, name, type_)
        for label, lengths in LENGTHS.items():
            call(program, name, type_, label, lengths)
    finish([program])


main()
