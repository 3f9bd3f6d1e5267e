# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Results with a pattern of their own that consist of rows: conversions between
orders and from dense tensors, sums, differences and products of elements,
products of matrices, concatenations and slices; exactly, the same on 1, 2 and 8
threads, with rows that are empty, full or long, explicit zeros, NaNs and
infinities, and no rows or columns at all."""

import numpy as np

from execution import Program, finish
from sparse_storage import MATRICES, TENSORS, VECTORS, Storage, from_pattern

rng = np.random.default_rng(27)


def same(expected):
    """A check that a result has the lists of `expected`, a Storage."""
    def check(result):
        for number, (is_, wanted) in enumerate(
                zip(result.components, expected.components, strict=True)):
            assert is_.shape == wanted.shape, (number, is_.shape, wanted.shape)
            assert np.array_equal(is_, wanted, equal_nan=is_.dtype.kind == "f"
                                  ), (number, is_, wanted)
            if is_.dtype.kind == "f":
                is_number = ~np.isnan(wanted)
                assert np.array_equal(np.signbit(is_[is_number]),
                                      np.signbit(wanted[is_number])), number
        return sum(c.size for c in expected.components)
    return check


def draw_mask(shape, kind):
    mask = rng.random(shape) < (0.02 if shape[0] * shape[1] > 100000 else 0.3)
    if kind == "nothing":
        mask[...] = False
    elif kind == "empty rows":
        mask[rng.random(shape[0]) < 0.5] = False
    elif kind == "full row":
        mask[shape[0] // 2:][:1] = True
    elif kind == "one row":
        mask[...] = False
        mask[-1:] = rng.random((1, shape[1])) < 0.9
    return mask


def draw(mask, element):
    """Small integers, of which sums are exact, and zeros."""
    return (rng.integers(-4, 5, mask.shape) * mask).astype(element)


KINDS = ("random", "nothing", "empty rows", "full row", "one row")
SHAPES = ((0, 0), (1, 1), (0, 3), (3, 0), (1, 70), (70, 1), (5, 9), (40, 65),
          (300, 130))
# Some of several chunks.
LARGE = (2500, 1500)
ELEMENTWISE = {
    "add": ("%s = arith.addf %x, %y : {e}", np.add, "union"),
    "multiply": ("%s = arith.mulf %x, %y : {e}", np.multiply, "both"),
    # Functions of math are computed for the case at hand alone.
    "roots": ("""%p = math.absf %x : {e}
    %q = math.sqrt %p : {e}
    %s = arith.subf %q, %y : {e}""",
              lambda x, y: np.sqrt(np.abs(x)) - y, "union"),
    # With a dense tensor, which is read where something is stored.
    "scaled": ("""%t = arith.addf %x, %y : {e}
    %s = arith.mulf %t, %d : {e}""", None, "union"),
}


def add_entries(program, name, element, positions, coordinates):
    csr = MATRICES["CSR"].with_widths(positions, coordinates)
    csc = MATRICES["CSC"].with_widths(positions, coordinates)
    coo = MATRICES["COO"].with_widths(positions, coordinates)
    for label, encoding in (("CSR", csr), ("CSC", csc), ("COO", coo)):
        program.define_encoding(f"{label}_{name}", encoding)
    rows, columns, entries = (f"tensor<?x?x{element}, #{n}_{name}>"
                              for n in ("CSR", "CSC", "COO"))
    dense = f"tensor<?x?x{element}>"
    for source, to, kind in ((rows, columns, "to_columns"),
                             (columns, rows, "to_rows"),
                             (entries, rows, "of_entries"),
                             (dense, rows, "of_dense"),
                             (dense, columns, "of_dense_columns")):
        program.entry(f"{kind}_{name}", [source], [to], f"""
  %y = sparse_tensor.convert %a0 : {source} to {to}
  return %y : {to}""")
    extents = f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a0, %c0 : {rows}
  %n = tensor.dim %a1, %c1 : {rows}
  %e = tensor.empty(%m, %n) : {rows}"""
    maps = "affine_map<(i, j) -> (i, j)>"
    for kind, (region, _, _) in ELEMENTWISE.items():
        inputs = [rows, rows] + [dense] * (kind == "scaled")
        names = ", ".join(f"%a{i}" for i in range(len(inputs)))
        block = ", ".join(f"%{n}: {element}"
                          for n in ("xydo" if kind == "scaled" else "xyo"))
        program.entry(f"{kind}_{name}", inputs, [rows], f"""{extents}
  %y = linalg.generic {{
      indexing_maps = [{", ".join([maps] * (len(inputs) + 1))}],
      iterator_types = ["parallel", "parallel"]}}
      ins({names} : {", ".join(inputs)}) outs(%e : {rows}) {{
  ^bb0({block}):
    {region.format(e=element)}
    linalg.yield %s : {element}
  }} -> {rows}
  return %y : {rows}""")
    program.entry(f"matmul_{name}", [rows, rows], [rows], f"""{extents}
  %y = linalg.matmul ins(%a0, %a1 : {rows}, {rows}) outs(%e : {rows}) -> {rows}
  return %y : {rows}""")
    program.entry(f"concat_{name}", [rows, rows], [rows, rows], f"""
  %0 = tensor.concat dim(0) %a0, %a1 : ({rows}, {rows}) -> {rows}
  %1 = tensor.concat dim(1) %a0, %a1 : ({rows}, {rows}) -> {rows}
  return %0, %1 : {rows}, {rows}""")
    return csr, csc, coo


def call_all(program, name, formats, element, shape, kinds, threads,
             with_numbers=False):
    csr, csc, coo = formats
    masks = [draw_mask(shape, kind) for kind in kinds]
    a, b = (draw(mask, element) for mask in masks)
    if with_numbers:
        for values, mask in ((a, masks[0]), (b, masks[1])):
            at = np.argwhere(mask)
            for number in (np.nan, np.inf, -np.inf, -0.0):
                if len(at):
                    values[tuple(at[rng.integers(len(at))])] = number
    stored = [from_pattern(v, m, csr) for v, m in zip((a, b), masks)]
    label = f"{shape} {kinds} {threads}"

    def call(kind, arguments, check):
        program.call(f"{kind}_{name}", arguments, check, label, threads=threads)

    call("to_columns", [stored[0]], same(from_pattern(a, masks[0], csc)))
    call("to_rows", [from_pattern(a, masks[0], csc)], same(stored[0]))
    call("of_entries", [from_pattern(a, masks[0], coo)], same(stored[0]))
    for kind, encoding in (("of_dense", csr), ("of_dense_columns", csc)):
        call(kind, [a], same(from_pattern(a, a != 0, encoding)))
    d = rng.integers(1, 4, shape).astype(element)
    with np.errstate(invalid="ignore"):
        for kind, (_, function, where) in ELEMENTWISE.items():
            mask = (masks[0] | masks[1] if where == "union"
                    else masks[0] & masks[1])
            if kind == "scaled":
                value = np.where(masks[0] & masks[1], a + b,
                                 np.where(masks[0], a, b)) * d
            else:
                value = function(a, b)
                if kind == "add":
                    value = np.where(masks[0] & masks[1], value,
                                     np.where(masks[0], a, b))
                elif kind == "roots":
                    value = np.where(masks[1], value, np.sqrt(np.abs(a)))
                    value = np.where(masks[0], value, 0 - b)
            call(kind, stored + [d] * (kind == "scaled"),
                 same(from_pattern(value.astype(element), mask, csr)))

    def check_concat(first, second):
        return (same(from_pattern(np.concatenate([a, b], 0),
                                  np.concatenate(masks, 0), csr))(first) +
                same(from_pattern(np.concatenate([a, b], 1),
                                  np.concatenate(masks, 1), csr))(second))
    call("concat", stored, check_concat)
    if with_numbers:
        return
    # A product of matrices of other extents.
    right = draw_mask((shape[1], shape[0] + 3), kinds[1])
    c = draw(right, element)
    pattern = (masks[0].astype(np.float32) @ right.astype(np.float32)) > 0
    call("matmul", [stored[0], from_pattern(c, right, csr)],
         same(from_pattern((a @ c).astype(element) + 0, pattern, csr)))


programs = []
for level, (element, dtype, positions, coordinates) in enumerate((
        ("f64", np.float64, "i32", "i32"), ("f32", np.float32, "index", "index"),
        ("f32", np.float32, "i64", "i16"))):
    program = Program(f"new_rows_{positions}_{coordinates}", level=level)
    programs.append(program)
    name = f"{positions}_{coordinates}"
    formats = add_entries(program, name, element, positions, coordinates)
    for number, shape in enumerate(SHAPES):
        for shift in range(2):
            kinds = [KINDS[(number + shift) % 5], KINDS[(2 * number + shift) % 5]]
            call_all(program, name, formats, dtype, shape, kinds,
                     (1, 2, 8)[number % 3], with_numbers=shift == 1)
    if coordinates == "i16":
        continue
    for threads in (1, 2, 8):
        call_all(program, name, formats, dtype, LARGE,
                 ["empty rows", "full row"], threads)

# Several dense levels before the last one, and one level alone.
program = Program("new_rows_of_tensors", level=1)
programs.append(program)
program.define_encoding("DenseCSR", TENSORS["DenseCSR"])
program.define_encoding("CSF", TENSORS["CSF"])
cube, fibres = (f"tensor<?x?x?xf64, #{n}>" for n in ("DenseCSR", "CSF"))
program.entry("cube", [fibres], [cube], f"""
  %y = sparse_tensor.convert %a0 : {fibres} to {cube}
  return %y : {cube}""")
program.entry("cubes", [cube, cube], [cube], f"""
  %y = arith.addf %a0, %a1 : {cube}
  return %y : {cube}""")
program.entry("flat", [cube], ["tensor<?xf64, #Vector>"], f"""
  %y = tensor.collapse_shape %a0 [[0, 1, 2]] : {cube} into tensor<?xf64, #Vector>
  return %y : tensor<?xf64, #Vector>""")
program.text.insert(0, "#Vector = #sparse_tensor.encoding<{map = (i) -> "
                       "(i : compressed)}>")
program.encodings["Vector"] = vector = VECTORS["SparseVector"]
for shape in ((2, 3, 4), (0, 2, 2), (3, 0, 2), (2, 2, 0), (7, 5, 11)):
    masks = [rng.random(shape) < 0.4 for _ in range(2)]
    x, y = (rng.integers(1, 5, shape) * m * 1.0 for m in masks)
    first, second = (from_pattern(v, m, TENSORS["DenseCSR"])
                     for v, m in zip((x, y), masks))
    program.call("cube", [from_pattern(x, masks[0], TENSORS["CSF"])],
                 same(first), str(shape))
    program.call("cubes", [first, second],
                 same(from_pattern(x + y, masks[0] | masks[1],
                                   TENSORS["DenseCSR"])), str(shape))
    program.call("flat", [first],
                 same(from_pattern(x.ravel(), masks[0].ravel(), vector)),
                 str(shape))

# A workspace is not made for many more columns than there are entries.
program = Program("new_rows_of_many_columns", level=1)
programs.append(program)
program.define_encoding("CSR", MATRICES["CSR"])
rows = "tensor<?x?xf64, #CSR>"
program.entry("product", [rows, rows], [rows], f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a0, %c0 : {rows}
  %n = tensor.dim %a1, %c1 : {rows}
  %e = tensor.empty(%m, %n) : {rows}
  %y = linalg.matmul ins(%a0, %a1 : {rows}, {rows}) outs(%e : {rows}) -> {rows}
  return %y : {rows}""")


def wide(columns, entries):
    """A row of `columns` columns, of which these are stored."""
    at = np.array(entries, np.int64)
    return Storage([np.array([0, len(at)]), at, np.arange(1.0, len(at) + 1)],
                   (1, columns), MATRICES["CSR"])


def few_bytes(memory):
    assert memory["peak bytes"][1] < 1 << 20, memory
    return 1


one = wide(1, [0])
far = wide(1 << 40, [3, 1 << 20, (1 << 40) - 1])
program.call("product", [one, far], same(far), "far", repeats=1,
             check_memory=few_bytes)
near = wide(4000, [0, 63, 64, 4095 - 96])
program.call("product", [one, near], same(near), "near")
finish(programs)
