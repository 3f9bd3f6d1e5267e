# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env SPARSE_AUTOGRAD_DEVICE=emulated:0 %python %s
# RUN: env EXECUTION_SAMPLE=1/3 SPARSE_AUTOGRAD_DEVICE=emulated:21 %python %s
# RUN: env EXECUTION_SAMPLE=1/3 SPARSE_AUTOGRAD_DEVICE=emulated:22 %python %s
"""Products of dense matrices of f16 and bf16, by tensor cores where they are large:
factors stored either way, parts of larger matrices, extents on both sides of those of
tiles and of what one instruction copies, sums that begin with what there was, results
of f32 and of the narrow type, something done with each element behind its sum, and
derivatives. Factors are small integers, so that sums are exact in any order; those of
other numbers have a bound."""

import numpy as np

from execution import Program, close, finish, same_bits, to_type

RANDOM = np.random.default_rng(20261123)
# Rows, columns, terms.
EXTENTS = ((32, 32, 32), (64, 48, 40), (65, 33, 35), (33, 130, 65), (130, 65, 33),
           (31, 64, 64), (64, 31, 64), (64, 64, 31), (1, 1, 70), (130, 1, 130),
           (96, 72, 128), (33, 40, 170), (40, 40, 0))
LAYOUTS = {"NN": ("i, k", "k, j"), "TN": ("k, i", "k, j"),
           "NT": ("i, k", "j, k"), "TT": ("k, i", "j, k")}


def matrix(names, extents, type_):
    sizes = dict(zip("ijk", extents))
    return f"tensor<{'x'.join(str(sizes[name]) for name in names.split(', '))}x{type_}>"


def product(layout, types, left="%a0", right="%a1", out="%a2"):
    """A product, and half the size of each of its elements."""
    narrow, wide, result, extended = types
    maps = ", ".join(f"affine_map<(i, j, k) -> ({names})>"
                     for names in (*LAYOUTS[layout], "i, j"))
    body = f"""
      %m = arith.mulf %x, %y : {narrow}""" if narrow == wide else f"""
      %u = arith.extf %x : {narrow} to {wide}
      %v = arith.extf %y : {narrow} to {wide}
      %m = arith.mulf %u, %v : {wide}"""
    return f"""
  %p = linalg.generic {{indexing_maps = [{maps}],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins({left}, {right} : {extended[0]}, {extended[1]}) outs({out} : {result}) {{
    ^bb0(%x: {narrow}, %y: {narrow}, %s: {wide}):{body}
      %t = arith.addf %s, %m : {wide}
      linalg.yield %t : {wide}
  }} -> {result}
  %half = arith.constant 0.5 : {wide}
  %q = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}}
      ins(%p : {result}) outs({out} : {result}) {{
    ^bb0(%x: {wide}, %o: {wide}):
      %y = math.absf %x : {wide}
      %z = arith.mulf %y, %half : {wide}
      linalg.yield %z : {wide}
  }} -> {result}"""


def add(program, entry, layout, narrow, wide, extents=("?", "?", "?")):
    left, right = (matrix(names, extents, narrow) for names in LAYOUTS[layout])
    result = matrix("i, j", extents, wide)
    program.entry(entry, [left, right, result], [result, result], product(
        layout, (narrow, wide, result, (left, right))) + f"""
  return %p, %q : {result}, {result}""")


def add_zero(program, entry, narrow):
    """Begins with zeros, and has factors that are parts of matrices."""
    t, wide = f"tensor<?x?x{narrow}>", "tensor<?x?xf32>"
    program.entry(entry, [t, t, "index", "index", "index"], [wide, wide], f"""
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %l = tensor.extract_slice %a0[1, 2] [%a2, %a4] [1, 1] : {t} to {t}
  %r = tensor.extract_slice %a1[3, 1] [%a4, %a3] [1, 1] : {t} to {t}
  %e = tensor.empty(%a2, %a3) : {wide}
  %n = linalg.fill ins(%zero : f32) outs(%e : {wide}) -> {wide}""" + product(
        "NN", (narrow, "f32", wide, (t, t)), "%l", "%r", "%n") + f"""
  return %p, %q : {wide}, {wide}""")


def add_derivative(program, entry, narrow):
    t = f"tensor<?x?x{narrow}>"
    program.define(f"""func.func private @of_{entry}(%a: {t}, %b: {t}) -> {t} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : {narrow}
  %rows = tensor.dim %a, %c0 : {t}
  %columns = tensor.dim %b, %c1 : {t}
  %e = tensor.empty(%rows, %columns) : {t}
  %n = linalg.fill ins(%zero : {narrow}) outs(%e : {t}) -> {t}
  %y = linalg.matmul ins(%a, %b : {t}, {t}) outs(%n : {t}) -> {t}
  return %y : {t}
}}
""")
    program.entry(entry, [t, t, t], [t, t, t], f"""
  %y, %da, %db = sparse_autograd.vjp @of_{entry}(%a0, %a1) cotangents(%a2) {{wrt = [0, 1]}}
      : ({t}, {t}), ({t}) -> ({t}, {t}, {t})
  return %y, %da, %db : {t}, {t}, {t}""")


def integers(shape, type_):
    return to_type(RANDOM.integers(-3, 4, shape), type_)


def call(program, entry, layout, narrow, wide, extents):
    rows, columns, terms = extents
    a, b = integers((rows, terms), narrow), integers((terms, columns), narrow)
    c = integers((rows, columns), wide)
    exact = a.astype(np.float64) @ b + c
    factors = (a.T if layout[0] == "T" else a, b.T if layout[1] == "T" else b)

    def check(sums, halves):
        return (same_bits(sums + 0, to_type(exact, wide) + 0, "product") +
                same_bits(halves, to_type(np.abs(exact) / 2, wide), "half"))

    program.call(entry, [np.ascontiguousarray(f) for f in factors] + [c], check,
                 f"{extents}")


def call_normal(program, entry, narrow, extents):
    """What is not exact, and an infinity, which stays in its row and its column."""
    rows, columns, terms = extents
    a = to_type(RANDOM.standard_normal((rows, terms)), narrow)
    b = to_type(RANDOM.standard_normal((terms, columns)), narrow)
    c = RANDOM.standard_normal((rows, columns)).astype(np.float32)
    size = np.abs(a).astype(np.float64) @ np.abs(b) + np.abs(c)
    # Tensor cores may cut the last bit off each time.
    bound = 2 * (terms + 1) * np.finfo(np.float32).eps * size
    a[rows - 1, terms - 1] = np.inf
    b[0, 0] = np.nan
    with np.errstate(invalid="ignore"):
        expected = a.astype(np.float64) @ b + c
    program.call(entry, [a, b, c], lambda sums, halves: (
        close(sums, expected, bound, "product") +
        close(halves, np.abs(expected) / 2, bound, "half")), f"normal {extents}")


def call_derivative(program, entry, narrow, extents):
    rows, columns, terms = extents
    a, b = integers((rows, terms), narrow), integers((terms, columns), narrow)
    c = integers((rows, columns), narrow)
    exact = [x.astype(np.float64) @ y for x, y in ((a, b), (c, b.T), (a.T, c))]

    def check(*results):
        return sum(same_bits(result + 0, to_type(each, narrow) + 0, name)
                   for result, each, name in zip(results, exact, ("product", "left", "right")))

    program.call(entry, [a, b, c], check, f"{extents}")


def call_zero(program, entry, narrow, extents):
    rows, columns, terms = extents
    a, b = integers((rows + 3, terms + 5), narrow), integers((terms + 3, columns + 1), narrow)
    exact = (a[1:rows + 1, 2:terms + 2].astype(np.float64) @
             b[3:terms + 3, 1:columns + 1])

    def check(sums, halves):
        return (same_bits(sums + 0, exact.astype(np.float32) + 0, "product") +
                same_bits(halves, (np.abs(exact) / 2).astype(np.float32), "half"))

    program.call(entry, [a, b, rows, columns, terms], check, f"parts, {extents}")


def main():
    program = Program("products", 0)
    for narrow in ("f16", "bf16"):
        for wide in ("f32", narrow):
            for layout in LAYOUTS:
                entry = f"product_{layout}_{narrow}_{wide}"
                add(program, entry, layout, narrow, wide)
                for extents in EXTENTS:
                    call(program, entry, layout, narrow, wide, extents)
        call_normal(program, f"product_NN_{narrow}_f32", narrow, (70, 45, 67))
        call_normal(program, f"product_NN_{narrow}_f32", narrow, (33, 64, 72))
        add_zero(program, f"zero_{narrow}", narrow)
        call_zero(program, f"zero_{narrow}", narrow, (64, 40, 48))
        call_zero(program, f"zero_{narrow}", narrow, (33, 35, 39))
        add_derivative(program, f"derivative_{narrow}", narrow)
        for extents in ((64, 40, 48), (33, 65, 50)):
            call_derivative(program, f"derivative_{narrow}", narrow, extents)
    fixed = (48, 64, 40)
    add(program, "fixed", "NT", "bf16", "f32", fixed)
    call(program, "fixed", "NT", "bf16", "f32", fixed)
    # Enough for large tiles, of which there is one row.
    call(program, "product_NN_f16_f32", "NN", "f16", "f32", (33, 127 * 128 + 8, 104))
    finish([program])


main()
