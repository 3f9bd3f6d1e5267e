# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env EXECUTION_PIPELINE="target=gpu libraries=cusparse" SPARSE_AUTOGRAD_DEVICE=cuda \
# RUN:   SPARSE_AUTOGRAD_CUDA_DRIVER=%fake_driver SPARSE_AUTOGRAD_CUSPARSE=%fake_driver %python %s
# RUN: env EXECUTION_PIPELINE="target=gpu emulate=true libraries=cusparse" SPARSE_AUTOGRAD_DEVICE=emulated:17 %python %s
"""Products with a sparse matrix for a library, SpMM and SDDMM, with dense matrices in
both orders, and indices of 32 and 64 bits: by a fake cuSPARSE on a driver that has no
kernels, and by the program's own kernels where there is no library. Whole numbers, so that every sum is exact."""

import os

import numpy as np

from execution import Program, finish
from sparse_storage import MATRICES, from_pattern

# Rows, columns, and the other extent.
EXTENTS = ((4, 5, 6), (1, 7, 1), (9, 1, 3), (6, 6, 33))
# What is always the program's: sums of nothing.
OTHER_EXTENTS = ((3, 4, 0), (0, 3, 2), (3, 0, 2))


def body(type_, operation):
    return f"""{{
    ^bb0(%x: {type_}, %y: {type_}, %s: {type_}):
      %m = arith.mulf %x, %y : {type_}
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
    program.entry(entry, [sparse, dense] + [dense] * (form != "alone"), [dense],
                  f"""{start}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a0, %a1 : {sparse}, {dense}) outs({init} : {dense}) {body(type_, "subf" if form == "less" else "addf")} -> {dense}
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
    program.entry(entry, [sparse, dense, dense], [sparse], f"""{start}
  %r = sparse_autograd.sampled_generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a1, %a2 : {dense}, {dense}) outs({init} : {sparse}) {body(type_, "subf" if form == "less" else "addf")} -> {sparse}
  return %r : {sparse}""")


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
    expected = {"alone": product, "added": x + product, "less": x - product}[form]
    arguments = [from_pattern(s, mask, program.encodings[name]),
                 np.ascontiguousarray(y.T) if layout == "j, k" else y]
    program.call(entry, arguments + [x] * (form != "alone"), same(expected),
                 f"{extents}")


def call_sample(program, entry, name, dtype, layouts, form, extents, random):
    rows, columns, extent = extents
    s = numbers(random, dtype, rows, columns)
    mask = pattern(random, rows, columns)
    x, y = numbers(random, dtype, rows, extent), numbers(random, dtype, extent, columns)
    product = x @ y
    expected = {"alone": product, "added": s + product, "less": s - product}[form]
    program.call(entry, [from_pattern(s, mask, program.encodings[name]),
                         np.ascontiguousarray(x.T) if layouts[0] == "k, i" else x,
                         np.ascontiguousarray(y.T) if layouts[1] == "j, k" else y],
                 same(expected[mask]), f"{extents}")


def main():
    random = np.random.default_rng(20261124)
    program = Program("library_sparse_products", 0)
    program.define_encoding("CSR", MATRICES["CSR"])
    program.define_encoding("CSR32", MATRICES["CSR"].with_widths("i32", "i32"))
    has_kernels = os.environ["SPARSE_AUTOGRAD_DEVICE"] != "cuda"
    all_extents = EXTENTS + OTHER_EXTENTS * has_kernels
    for name, type_, dtype in (("CSR32", "f32", np.float32),
                               ("CSR", "f64", np.float64)):
        for form in ("alone", "added", "less"):
            for layout in ("k, j", "j, k"):
                entry = f"multiply_{type_}_{form}_{layout[0]}"
                add_multiply(program, entry, name, type_, layout, form)
                for extents in all_extents:
                    call_multiply(program, entry, name, dtype, layout, form, extents, random)
            for layouts in (("i, k", "k, j"), ("i, k", "j, k"), ("k, i", "k, j")):
                entry = f"sample_{type_}_{form}_{layouts[0][0]}{layouts[1][0]}"
                add_sample(program, entry, name, type_, layouts, form)
                for extents in all_extents:
                    call_sample(program, entry, name, dtype, layouts, form, extents, random)
    finish([program])


main()
