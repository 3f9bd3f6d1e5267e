# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env EXECUTION_PIPELINE="target=gpu libraries=cusparse" SPARSE_AUTOGRAD_DEVICE=cuda \
# RUN:   SPARSE_AUTOGRAD_CUDA_DRIVER=%fake_driver SPARSE_AUTOGRAD_CUSPARSE=%fake_driver %python %s
# RUN: env EXECUTION_PIPELINE="target=gpu emulate=true libraries=cusparse" SPARSE_AUTOGRAD_DEVICE=emulated:17 %python %s
"""Products with a sparse matrix for a library, SpMM and SDDMM with dense matrices in
both orders, and SpGEMM, with indices of 32 and 64 bits: by a fake cuSPARSE on a driver
that has no kernels, and by the program's own kernels where there is no library. Whole
numbers, so that every sum is exact."""

import os

import numpy as np

from execution import Program, finish
from sparse_storage import MATRICES, from_pattern

# Rows, columns, and the other extent.
EXTENTS = ((4, 5, 6), (1, 7, 1), (9, 1, 3), (6, 6, 33))
# What is always the program's: sums of nothing.
OTHER_EXTENTS = ((3, 4, 0), (0, 3, 2), (3, 0, 2))


SCALE = 3.0


def body(type_, form):
    """A term is added, subtracted, or scaled by argument 3 and added."""
    operation = "subf" if form == "less" else "addf"
    product = "%m = arith.mulf %x, %y"
    if form == "scaled":
        product = f"%n = arith.mulf %x, %y : {type_}\n      %m = arith.mulf %a3, %n"
    return f"""{{
    ^bb0(%x: {type_}, %y: {type_}, %s: {type_}):
      {product} : {type_}
      %t = arith.{operation} %s, %m : {type_}
      linalg.yield %t : {type_}
  }}"""


def add_multiply(program, entry, name, type_, layout, form):
    """x (+)= s y."""
    sparse, dense = f"tensor<?x?x{type_}, #{name}>", f"tensor<?x?x{type_}>"
    maps = ", ".join(f"affine_map<(i, j, k) -> ({names})>"
                     for names in ("i, k", layout, "i, j"))
    if form == "alone":
        init, start = "%zeros", f"""
  %c0 = arith.constant 0 : index
  %cj = arith.constant {layout.split(", ").index("j")} : index
  %rows = tensor.dim %a0, %c0 : {sparse}
  %columns = tensor.dim %a1, %cj : {dense}
  %zero = arith.constant 0.0 : {type_}
  %empty = tensor.empty(%rows, %columns) : {dense}
  %zeros = linalg.fill ins(%zero : {type_}) outs(%empty : {dense}) -> {dense}"""
    else:
        init, start = "%a2", ""
    program.entry(entry, [sparse, dense] + [dense] * (form != "alone")
                  + [type_] * (form == "scaled"), [dense],
                  f"""{start}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a0, %a1 : {sparse}, {dense}) outs({init} : {dense}) {body(type_, form)} -> {dense}
  return %r : {dense}""")


def add_weighted(program, entry, name, type_, sign):
    """x (+-)= scale w s y, with a weight of each row."""
    sparse, dense = f"tensor<?x?x{type_}, #{name}>", f"tensor<?x?x{type_}>"
    vector = f"tensor<?x{type_}>"
    maps = ", ".join(f"affine_map<(i, j, k) -> ({names})>"
                     for names in ("k, j", "i", "i, k", "i, j"))
    program.entry(entry, [sparse, dense, vector, dense, type_], [dense], f"""
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a1, %a2, %a0 : {dense}, {vector}, {sparse}) outs(%a3 : {dense}) {{
    ^bb0(%y: {type_}, %w: {type_}, %x: {type_}, %s: {type_}):
      %m = arith.mulf %w, %x : {type_}
      %n = arith.mulf %m, %y : {type_}
      %o = arith.mulf %a4, %n : {type_}
      %t = arith.{sign} %s, %o : {type_}
      linalg.yield %t : {type_}
  }} -> {dense}
  return %r : {dense}""")


def add_sample(program, entry, name, type_, layouts, form):
    """s += x y, where s stores something."""
    sparse, dense = f"tensor<?x?x{type_}, #{name}>", f"tensor<?x?x{type_}>"
    maps = ", ".join(f"affine_map<(i, j, k) -> ({names})>"
                     for names in (*layouts, "i, j"))
    start, init = "", "%a0"
    if form == "alone":
        start = f"\n  %zeros = sparse_autograd.zeros %a0 : {sparse} -> {sparse}"
        init = "%zeros"
    program.entry(entry, [sparse, dense, dense] + [type_] * (form == "scaled"), [sparse],
                  f"""{start}
  %r = sparse_autograd.sampled_generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a1, %a2 : {dense}, {dense}) outs({init} : {sparse}) {body(type_, form)} -> {sparse}
  return %r : {sparse}""")


def product_of_pair(number, x, y, type_, sparse, form):
    """%p{number} = x y, of sparse matrices."""
    text = f"""
  %m{number} = tensor.dim {x}, %c0 : {sparse}
  %n{number} = tensor.dim {y}, %c1 : {sparse}
  %e{number} = tensor.empty(%m{number}, %n{number}) : {sparse}
  %p{number} = """
    if form == "named":
        return text + f"""linalg.matmul ins({x}, {y} : {sparse}, {sparse}) outs(%e{number} : {sparse}) -> {sparse}"""
    # The right factor first, and another order of loops.
    maps = ", ".join(f"affine_map<(k, i, j) -> ({names})>"
                     for names in ("k, j", "i, k", "i, j"))
    return text + f"""linalg.generic {{indexing_maps = [{maps}], iterator_types = ["reduction", "parallel", "parallel"]}}
      ins({y}, {x} : {sparse}, {sparse}) outs(%e{number} : {sparse}) {body(type_, "added")} -> {sparse}"""


def add_pair(program, entry, name, type_, form):
    """a b, or, of `power`, a^4 b."""
    sparse = f"tensor<?x?x{type_}, #{name}>"
    text = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index"""
    left = "%a0"
    if form == "power":
        left = "%power"
        text += f"""
  %c3 = arith.constant 3 : index
  %power = scf.for %i = %c0 to %c3 step %c1 iter_args(%carried = %a0) -> ({sparse}) {{{product_of_pair(0, "%carried", "%a0", type_, sparse, form)}
    scf.yield %p0 : {sparse}
  }}"""
    program.entry(entry, [sparse, sparse], [sparse],
                  text + product_of_pair(1, left, "%a1", type_, sparse, form) + f"""
  return %p1 : {sparse}""")


def numbers(random, dtype, *shape):
    return random.integers(-4, 5, shape).astype(dtype)


def pattern(random, rows, columns):
    mask = random.random((rows, columns)) < 0.4
    if mask.size:
        mask[-1, 0] = True  # Something is stored, and rows may be empty.
    return mask


def same(expected):
    def check(result):
        np.testing.assert_array_equal(
            result.values if hasattr(result, "values") else result, expected)
        return max(1, expected.size)
    return check


def call_multiply(program, entry, name, dtype, layout, form, extents, random):
    rows, columns, extent = extents
    s = numbers(random, dtype, rows, columns)
    mask = pattern(random, rows, columns)
    y, x = numbers(random, dtype, columns, extent), numbers(random, dtype, rows, extent)
    product = np.where(mask, s, 0) @ y
    expected = {"alone": product, "added": x + product, "less": x - product,
                "scaled": x + SCALE * product}[form]
    arguments = [from_pattern(s, mask, program.encodings[name]),
                 np.ascontiguousarray(y.T) if layout == "j, k" else y]
    program.call(entry, arguments + [x] * (form != "alone") + [SCALE] * (form == "scaled"),
                 same(expected), f"{extents}")


def call_weighted(program, entry, name, dtype, sign, extents, random):
    """Rows that store nothing have a weight that is no number: it meets nothing."""
    rows, columns, extent = extents
    s = numbers(random, dtype, rows, columns)
    mask = pattern(random, rows, columns)
    if rows > 1:
        mask[0] = False
    y, x = numbers(random, dtype, columns, extent), numbers(random, dtype, rows, extent)
    w = numbers(random, dtype, rows)
    product = SCALE * w[:, None] * (np.where(mask, s, 0) @ y)
    w[~mask.any(axis=1)] = np.nan
    program.call(entry, [from_pattern(s, mask, program.encodings[name]), y, w, x, SCALE],
                 same(x + product if sign == "addf" else x - product), f"{extents}")


def call_sample(program, entry, name, dtype, layouts, form, extents, random):
    rows, columns, extent = extents
    s = numbers(random, dtype, rows, columns)
    mask = pattern(random, rows, columns)
    x, y = numbers(random, dtype, rows, extent), numbers(random, dtype, extent, columns)
    product = x @ y
    expected = {"alone": product, "added": s + product, "less": s - product,
                "scaled": s + SCALE * product}[form]
    program.call(entry, [from_pattern(s, mask, program.encodings[name]),
                         np.ascontiguousarray(x.T) if layouts[0] == "k, i" else x,
                         np.ascontiguousarray(y.T) if layouts[1] == "j, k" else y]
                 + [SCALE] * (form == "scaled"),
                 same(expected[mask]), f"{extents}")


def call_pair(program, entry, name, dtype, form, extents, random):
    rows, inner, columns = extents
    if form == "power":
        rows = inner
    a, b = numbers(random, dtype, rows, inner), numbers(random, dtype, inner, columns)
    a_mask, b_mask = pattern(random, rows, inner), pattern(random, inner, columns)
    if a_mask.size and b_mask.size:
        b_mask[0] = True  # There is something in each power, and in its product with b.
        if form == "power":
            a_mask[0, 0] = True
    encoding = program.encodings[name]
    product, mask = np.where(b_mask, b, 0), b_mask
    for _ in range(4 if form == "power" else 1):
        product, mask = np.where(a_mask, a, 0) @ product, a_mask @ mask
    expected = from_pattern(product, mask, encoding)

    def check(result):
        for given, wanted in zip(result.components, expected.components, strict=True):
            np.testing.assert_array_equal(given, wanted)
        return 1 + mask.sum()

    program.call(entry, [from_pattern(a, a_mask, encoding), from_pattern(b, b_mask, encoding)],
                 check, f"{extents}")


def main():
    random = np.random.default_rng(20261124)
    program = Program("library_sparse_products", 0)
    program.define_encoding("CSR", MATRICES["CSR"])
    program.define_encoding("CSR32", MATRICES["CSR"].with_widths("i32", "i32"))
    has_kernels = os.environ["SPARSE_AUTOGRAD_DEVICE"] != "cuda"
    all_extents = EXTENTS + OTHER_EXTENTS * has_kernels
    for name, type_, dtype in (("CSR32", "f32", np.float32),
                               ("CSR", "f64", np.float64)):
        for form in ("alone", "added", "less", "scaled"):
            for layout in ("k, j", "j, k"):
                entry = f"multiply_{type_}_{form}_{layout[0]}"
                add_multiply(program, entry, name, type_, layout, form)
                for extents in all_extents:
                    call_multiply(program, entry, name, dtype, layout, form, extents, random)
        for form in ("alone", "added", "less", "scaled"):
            for layouts in (("i, k", "k, j"), ("i, k", "j, k"), ("k, i", "k, j")):
                entry = f"sample_{type_}_{form}_{layouts[0][0]}{layouts[1][0]}"
                add_sample(program, entry, name, type_, layouts, form)
                for extents in all_extents:
                    call_sample(program, entry, name, dtype, layouts, form, extents, random)
        # A kernel multiplies the elements by the weights.
        for sign in ("addf", "subf") * has_kernels:
            entry = f"weighted_{type_}_{sign}"
            add_weighted(program, entry, name, type_, sign)
            for extents in all_extents:
                call_weighted(program, entry, name, dtype, sign, extents, random)
        for form in ("named", "generic", "power"):
            entry = f"pair_{type_}_{form}"
            add_pair(program, entry, name, type_, form)
            for extents in all_extents:
                call_pair(program, entry, name, dtype, form, extents, random)
    finish([program])


main()
