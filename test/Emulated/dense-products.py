# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env SPARSE_AUTOGRAD_DEVICE=emulated:12 %python %s
"""Products of dense matrices, in tiles where they are large: factors stored
either way, sums that begin with what there was, something done with each element
behind its sum, and extents on both sides of those of tiles."""

import numpy as np

from execution import Program, close, finish

EXTENTS = ((32, 32, 32), (64, 48, 16), (65, 33, 35), (33, 130, 47), (31, 64, 64),
           (96, 32, 17), (40, 40, 1), (50, 34, 0), (1, 1, 70))
LAYOUTS = {"NN": ("i, k", "k, j"), "TN": ("k, i", "k, j"),
           "NT": ("i, k", "j, k"), "TT": ("k, i", "j, k")}


def add(program, entry, layout, type_, extents=("?", "?", "?")):
    matrix = {"i": extents[0], "j": extents[1], "k": extents[2]}
    left, right, result = (
        f"tensor<{'x'.join(str(matrix[letter]) for letter in names.split(', '))}"
        f"x{type_}>" for names in (*LAYOUTS[layout], "i, j"))
    maps = ", ".join(f"affine_map<(i, j, k) -> ({names})>"
                     for names in (*LAYOUTS[layout], "i, j"))
    program.entry(entry, [left, right, result], [result, result], f"""
  %p = linalg.generic {{indexing_maps = [{maps}],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a0, %a1 : {left}, {right}) outs(%a2 : {result}) {{
    ^bb0(%x: {type_}, %y: {type_}, %s: {type_}):
      %m = arith.mulf %x, %y : {type_}
      %t = arith.addf %s, %m : {type_}
      linalg.yield %t : {type_}
  }} -> {result}
  %q = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%p : {result}) outs(%a2 : {result}) {{
    ^bb0(%x: {type_}, %o: {type_}):
      %y = math.absf %x : {type_}
      linalg.yield %y : {type_}
  }} -> {result}
  return %p, %q : {result}, {result}""")


def call(program, entry, layout, type_, extents, random):
    rows, columns, terms = extents
    dtype = {"f32": np.float32, "f64": np.float64}[type_]
    a, b, c = (random.standard_normal(shape).astype(dtype) for shape in
               ((rows, terms), (terms, columns), (rows, columns)))
    expected = a.astype(np.float64) @ b + c
    # Each addition and product rounds once.
    size = np.abs(a).astype(np.float64) @ np.abs(b) + np.abs(c)
    bound = (terms + 1) * np.finfo(dtype).eps * size
    factors = (a.T if layout[0] == "T" else a, b.T if layout[1] == "T" else b)

    def check(product, absolute):
        return (close(product, expected, bound, "product") +
                close(absolute, np.abs(expected), bound, "absolute"))

    program.call(entry, [np.ascontiguousarray(f) for f in factors] + [c], check,
                 f"{extents}")


def main():
    random = np.random.default_rng(20261122)
    program = Program("products", 0)
    for type_ in ("f32", "f64"):
        for layout in LAYOUTS:
            entry = f"product_{layout}_{type_}"
            add(program, entry, layout, type_)
            for extents in EXTENTS:
                call(program, entry, layout, type_, extents, random)
    fixed = (48, 64, 40)
    add(program, "fixed", "NN", "f32", fixed)
    call(program, "fixed", "NN", "f32", fixed, random)
    finish([program])


main()
