# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""2:4 tensors that selections and conversions make, bit for bit in their storage,
against an independent derivation in NumPy (sparse_storage.py): every mask of a
group, every legal nibble, under-full and empty groups, zeros of both signs,
NaNs, ties, edges of every size, both orders of one choice; products with them,
their gradients, and their gradients stored as 2:4; NaNs opposite what is pruned."""

import itertools

import numpy as np

import selection24
from execution import FLOATS, Program, finish, same_bits, to_type
from selection24 import SELECTIONS, choose
from sparse_storage import (build_storage, from_dense, same_pattern,
                            structured_encoding)

rng = np.random.default_rng(2424)
ROWS, BATCH = structured_encoding(), structured_encoding(rank=3)
# Whole blocks of the packer, and parts of them; groups of a row even and odd.
SHAPES = [(1, 1), (3, 3), (4, 4), (5, 7), (8, 64), (13, 70), (33, 65), (64, 64),
          (66, 129), (68, 520), (0, 8), (8, 0)]


def stored(array, kept, encoding):
    coordinates = np.argwhere(kept)
    return build_storage(coordinates, array[tuple(coordinates.T)], array.shape,
                         encoding)


def compare(actual, array, kept, encoding, what):
    expected = stored(array, kept, encoding)
    return (same_pattern(actual, expected, what) +
            same_bits(actual.values, expected.values, what))


def numbers(shape, element_type):
    array = to_type(rng.integers(-3, 4, shape).astype(np.float64), element_type)
    array[(array == 0) & (rng.random(shape) < 0.5)] = -0.0
    for value in (np.nan, np.inf, -np.inf):
        array[rng.random(shape) < 0.04] = value
    return array


def selections(element_type):
    """Encoded results of every selection, of one order and of both, beside a
    dense one, and of batches."""
    program = Program(f"{element_type}_selections")
    program.define_encoding("Rows", ROWS)
    program.define_encoding("Batch", BATCH)
    dense, rows = f"tensor<?x?x{element_type}>", f"tensor<?x?x{element_type}, #Rows>"
    denses = f"tensor<?x?x?x{element_type}>"
    batch = f"tensor<?x?x?x{element_type}, #Batch>"
    for select in SELECTIONS:
        both = select != "row_wise"
        results = [rows, rows] if both else [rows]
        names = "%y, %t" if both else "%y"
        types = ", ".join(results)
        program.entry(f"both_{select}", [dense], results, f"""
  {names} = sparse_autograd.sparsify_24 %a0 select = {select} gradient = sparse
      : {dense} -> {types}
  return {names} : {types}""")
        program.entry(f"like_{select}", [dense, dense], [rows], f"""
  %y = sparse_autograd.sparsify_24_like %a0, %a1 select = {select} gradient = dense
      : {dense}, {dense} -> {rows}
  return %y : {rows}""")
        program.entry(f"batch_{select}", [denses], [batch], f"""
  %y = sparse_autograd.sparsify_24 %a0 select = {select} gradient = dense
      : {denses} -> {batch}
  return %y : {batch}""")
        for shape in SHAPES:
            array = numbers(shape, element_type)
            kept = choose(array[None], select)[0]

            def check(*found, array=array, kept=kept, select=select):
                count = compare(found[0], array, kept, ROWS, select)
                if len(found) == 2:
                    count += compare(found[1], array.T, kept.T, ROWS,
                                     f"{select}, transposed")
                return count + 1

            program.call(f"both_{select}", [array], check, str(shape))
        array, other = numbers((9, 70), element_type), numbers((9, 70), element_type)
        kept = choose(other[None], select)[0]
        program.call(f"like_{select}", [array, other], lambda y, a=array, k=kept:
                     compare(y, a, k, ROWS, "like"))
        for shape in ((3, 5, 6), (2, 8, 64), (0, 4, 4)):
            array = numbers(shape, element_type)
            kept = choose(array, select)
            program.call(f"batch_{select}", [array], lambda y, a=array, k=kept:
                         compare(y, a, k, BATCH, "batch") + 1)
    program.entry("mixed", [dense], [rows, dense], f"""
  %y, %t = sparse_autograd.sparsify_24 %a0 select = greedy gradient = dense
      : {dense} -> {rows}, {dense}
  return %y, %t : {rows}, {dense}""")
    array = numbers((21, 70), element_type)
    kept = choose(array[None], "greedy")[0]
    program.call("mixed", [array], lambda y, t: compare(y, array, kept, ROWS, "") +
                 same_bits(t, np.where(kept, array, to_type(np.zeros(()), element_type)).T))
    return program


def masks():
    """Every mask that both orders of a tile can have, and each pair of groups,
    by numbers that are selected as they are."""
    program = Program("masks")
    program.define_encoding("Rows", ROWS)
    dense, rows = "tensor<?x?xf32>", "tensor<?x?xf32, #Rows>"
    program.entry("convert", [dense], [rows], f"""
  %y = sparse_tensor.convert %a0 : {dense} to {rows}
  return %y : {rows}""")
    legal = [m for m in itertools.product((0, 1), repeat=4) if sum(m) <= 2]
    pairs = np.array([a + b for a in legal for b in legal], np.float32)
    for width in (8, 64, 68):
        tiled = np.resize(pairs, (len(pairs), width))
        array = np.where(tiled != 0, rng.normal(size=tiled.shape), -0.0).astype(np.float32)
        program.call("convert", [array], lambda y, a=array: compare(y, a, a != 0, ROWS, ""))
    tiles = [p for p in selection24.patterns(4, 4)]
    array = np.concatenate([np.where(p, rng.normal(size=(4, 4)), 0) for p in tiles],
                           axis=1).astype(np.float32)
    array[0, 0] = np.nan if tiles[0][0, 0] else 0
    program.call("convert", [array], lambda y: compare(y, array, array != 0, ROWS, ""))
    for shape, row, group in (((3, 64), 1, 15), ((70, 200), 69, 31), ((5, 6), 4, 0)):
        bad = np.zeros(shape, np.float32)
        bad[row, 4 * group:4 * group + 3] = np.nan
        program.call("convert", [bad], f"group {group} of row {row} stores more than 2")
    return program


PRODUCTS = {"W X": ("(m, k)", "(k, n)", "(m, n)"), "X W": ("(n, k)", "(k, m)", "(n, m)"),
            "X W^T": ("(m, k)", "(n, k)", "(n, m)"), "W^T X": ("(k, m)", "(k, n)", "(m, n)"),
            "X W swapped": ("(k, m)", "(n, k)", "(n, m)"),
            "transposed": ("(m, k)", "(n, k)", "(m, n)")}


def products(strategy, element_type):
    """Products with a 2:4 matrix as an argument, and of a selection with its
    gradients: integers, whose sums are exact in any order. What is pruned is
    NaN where the stored values are multiplied."""
    program = Program(f"products_{strategy}_{element_type}",
                      pipeline=f"product-24={strategy}")
    program.define_encoding("Rows", ROWS)
    w, x = f"tensor<?x?x{element_type}, #Rows>", "tensor<?x?xf32>"
    dense = f"tensor<?x?x{element_type}>"
    widen = "" if element_type == "f32" else f"""
    %v = arith.extf %p : {element_type} to f32"""
    factor = "%v" if widen else "%p"
    for number, (w_map, x_map, y_map) in enumerate(PRODUCTS.values()):
        place = [m.strip("()").split(", ") for m in (w_map, x_map)]
        dims = "".join(f"""
  %c{i} = arith.constant {(place[0] if d in place[0] else place[1]).index(d)} : index
  %d{i} = tensor.dim {"%w" if d in place[0] else "%x"}, %c{i} : {w if d in place[0] else x}"""
                       for i, d in enumerate(y_map.strip("()").split(", ")))
        maps = ", ".join(f"affine_map<(m, n, k) -> {m}>" for m in (w_map, x_map, y_map))
        program.define(f"""
func.func private @of_{number}(%w: {w}, %x: {x}) -> {x} {{{dims}
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%d0, %d1) : {x}
  %i = linalg.fill ins(%z : f32) outs(%e : {x}) -> {x}
  %y = linalg.generic {{indexing_maps = [{maps}],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%w, %x : {w}, {x}) outs(%i : {x}) {{
  ^bb0(%p: {element_type}, %q: f32, %s: f32):{widen}
    %t = arith.mulf {factor}, %q : f32
    %r = arith.addf %s, %t : f32
    linalg.yield %r : f32
  }} -> {x}
  return %y : {x}
}}
func.func private @of_selected_{number}(%v: {dense}, %x: {x}) -> {x} {{
  %w = sparse_autograd.sparsify_24 %v select = greedy gradient = sparse
      : {dense} -> {w}
  %y = func.call @of_{number}(%w, %x) : ({w}, {x}) -> {x}
  return %y : {x}
}}""")
        program.entry(f"product_{number}", [w, x, x], [x, w, x], f"""
  %y, %dw, %dx = sparse_autograd.vjp @of_{number}(%a0, %a1) cotangents(%a2)
      {{wrt = [0, 1]}} : ({w}, {x}), ({x}) -> ({x}, {w}, {x})
  return %y, %dw, %dx : {x}, {w}, {x}""")
        program.entry(f"selected_{number}", [dense, x, x], [x, dense, x], f"""
  %y, %dw, %dx = sparse_autograd.vjp @of_selected_{number}(%a0, %a1) cotangents(%a2)
      {{wrt = [0, 1]}} : ({dense}, {x}), ({x}) -> ({x}, {dense}, {x})
  return %y, %dw, %dx : {x}, {dense}, {x}""")
        spec = ",".join(m.strip("()").replace(", ", "") for m in (w_map, x_map))
        spec += "->" + y_map.strip("()").replace(", ", "")
        inputs, result = spec.split("->")
        left, right = inputs.split(",")
        for sizes in ({"m": 7, "n": 5, "k": 9}, {"m": 70, "n": 33, "k": 132},
                      {"m": 65, "n": 1, "k": 64}, {"m": 4, "n": 18, "k": 37}):
            shape = lambda letters: tuple(sizes[c] for c in letters)
            small = lambda s: rng.integers(-4, 5, s).astype(np.float32)
            array = to_type(rng.permutation(np.prod(shape(left))).reshape(shape(left)) % 251
                            - 125.0, element_type)
            kept = choose(array[None], "greedy")[0]
            other, cotangent = small(shape(right)), small(shape(result))
            selected = np.where(kept, array, 0).astype(np.float64)
            y = np.einsum(spec, selected, other)
            dw = np.einsum(f"{result},{right}->{left}", cotangent, other)
            dx = np.einsum(f"{result},{left}->{right}", cotangent, selected)

            def check(found, found_w, found_x, y=y, dw=dw, dx=dx, kept=kept, array=array):
                count = same_bits(found + 0.0, y.astype(np.float32), "product")
                count += same_bits(found_x + 0.0, dx.astype(np.float32), "dx")
                wanted = to_type(dw, element_type)
                if isinstance(found_w, np.ndarray):
                    return count + same_bits(found_w + to_type(np.zeros(()), element_type),
                                             np.where(kept, wanted, to_type(
                                                 np.zeros(()), element_type)), "dw")
                at, values = found_w.entries()
                return count + same_bits(values[kept[tuple(at.T)]] + values.dtype.type(0),
                                         wanted[tuple(at[kept[tuple(at.T)]].T)], "dw")

            program.call(f"product_{number}", [stored(array, kept, ROWS), other, cotangent],
                         check, spec)
            program.call(f"selected_{number}", [array, other, cotangent], check, spec)
    return program


def opposite(strategy, element_type):
    """NaNs of the dense matrix opposite pruned elements (semantics G9): read by a
    dense product, not by stored values."""
    program = Program(f"opposite_{strategy}_{element_type}",
                      pipeline=f"product-24={strategy}")
    program.define_encoding("Rows", ROWS)
    w, x = f"tensor<?x?x{element_type}, #Rows>", "tensor<?x?xf32>"
    widen = "" if element_type == "f32" else f"""
    %v = arith.extf %p : {element_type} to f32"""
    factor = "%v" if widen else "%p"
    for name, place in (("by_rows", "(m, k)"), ("by_columns", "(k, m)")):
        program.entry(name, [w, x, x], [x], f"""
  %y = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> {place}>,
      affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a0, %a1 : {w}, {x}) outs(%a2 : {x}) {{
  ^bb0(%p: {element_type}, %q: f32, %s: f32):{widen}
    %t = arith.mulf {factor}, %q : f32
    %r = arith.addf %s, %t : f32
    linalg.yield %r : f32
  }} -> {x}
  return %y : {x}""")
    for rows, terms, columns in ((7, 12, 3), (66, 132, 18)):
        weights = to_type(rng.integers(1, 5, (rows, terms)).astype(np.float64),
                          element_type)
        kept = np.tile([True, True, False, False], (rows, terms // 4))
        stored_weights = stored(weights, kept, ROWS)
        wide = np.where(kept, weights, 0).astype(np.float64)
        init = rng.integers(-4, 5, (rows, columns)).astype(np.float32)
        array = rng.integers(1, 5, (terms, columns)).astype(np.float32)
        y = (init + wide @ array).astype(np.float32)
        array[~kept[0]] = np.nan
        wanted = np.full_like(y, np.nan) if strategy == "dense" else y
        program.call("by_rows", [stored_weights, array, init],
                     lambda found, e=wanted: same_bits(np.abs(found), np.abs(e), "opposite"))
        # All of a column of W is pruned where a whole row of the result is.
        init = rng.integers(-4, 5, (terms, columns)).astype(np.float32)
        array = np.full((rows, columns), np.nan, np.float32)
        wanted = np.where(kept[0][:, None] | (strategy == "dense"), np.nan, init)
        program.call("by_columns", [stored_weights, array, init],
                     lambda found, e=wanted.astype(np.float32):
                     same_bits(np.abs(found), np.abs(e), "opposite"))
    return program


def constants():
    """Selections of constants, which the compiler stores."""
    program = Program("constants")
    program.define_encoding("Rows", ROWS)
    program.define_encoding("Batch", BATCH)
    for number, shape in enumerate(((1, 1), (4, 4), (3, 7), (9, 10), (2, 5, 6))):
        array = rng.integers(-9, 10, shape).astype(np.float32)
        name = "#Batch" if len(shape) == 3 else "#Rows"
        encoding = BATCH if len(shape) == 3 else ROWS
        dims = lambda s: "x".join(map(str, s))
        other = shape[:-2] + shape[:-3:-1]
        types = [f"tensor<{dims(s)}xf32, {name}>" for s in (shape, other)]
        dense = f"tensor<{dims(shape)}xf32>"
        program.entry(f"constant_{number}", [], types, f"""
  %w = arith.constant dense<{array.tolist()}> : {dense}
  %y, %t = sparse_autograd.sparsify_24 %w select = optimal gradient = sparse
      : {dense} -> {types[0]}, {types[1]}
  return %y, %t : {types[0]}, {types[1]}""")
        kept = choose(array.reshape((-1,) + shape[-2:]), "optimal").reshape(shape)
        turn = lambda a: np.ascontiguousarray(np.swapaxes(a, -1, -2))
        program.call(f"constant_{number}", [], lambda y, t, a=array, k=kept, e=encoding, f=turn:
                     compare(y, a, k, e, "constant") +
                     compare(t, f(a), f(k), e, "constant, transposed"))
    return program


def memory():
    """What a selection and a step with one take at most (semantics T4, T5): packed
    values and metadata, 0.5625 of dense bf16 for each order, and 2 bytes for a
    tile; never a mask of all elements."""
    program = Program("memory")
    program.define_encoding("Rows", ROWS)
    rows, columns, slack = 1024, 2048, 450_000
    elements, choice = rows * columns, 2 * (rows // 4) * (columns // 4)
    dense, stored_type = "tensor<?x?xbf16>", "tensor<?x?xbf16, #Rows>"
    for name, results in (("one", [stored_type]), ("both", [stored_type] * 2)):
        program.entry(name, [dense], results, f"""
  {"%y" if len(results) == 1 else "%y, %t"} = sparse_autograd.sparsify_24 %a0
      select = greedy gradient = sparse : {dense} -> {", ".join(results)}
  return {"%y" if len(results) == 1 else "%y, %t"} : {", ".join(results)}""")
    x = "tensor<?x?xf32>"
    program.define(f"""
func.func private @layer(%v: {dense}, %x: {x}) -> {x} {{
  %c0 = arith.constant 0 : index
  %m = tensor.dim %v, %c0 : {dense}
  %n = tensor.dim %x, %c0 : {x}
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %m) : {x}
  %i = linalg.fill ins(%z : f32) outs(%e : {x}) -> {x}
  %w = sparse_autograd.sparsify_24 %v select = greedy gradient = sparse
      : {dense} -> {stored_type}
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
      affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %w : {x}, {stored_type}) outs(%i : {x}) {{
  ^bb0(%p: f32, %q: bf16, %s: f32):
    %u = arith.extf %q : bf16 to f32
    %t = arith.mulf %p, %u : f32
    %r = arith.addf %s, %t : f32
    linalg.yield %r : f32
  }} -> {x}
  return %y : {x}
}}""")
    program.entry("step", [dense, x, x], [x, x], f"""
  %y, %dx = sparse_autograd.vjp @layer(%a0, %a1) cotangents(%a2) {{wrt = [1]}}
      : ({dense}, {x}), ({x}) -> ({x}, {x})
  return %y, %dx : {x}, {x}""")

    def at_most(wanted):
        def check(found):
            assert found["peak bytes"][1] <= wanted + slack, (found, wanted)
            return 1
        return check

    array = to_type(rng.standard_normal((rows, columns)), "bf16")
    packed = 9 * 2 * elements // 16
    assert packed == 0.5625 * 2 * elements and slack < elements
    program.call("one", [array], lambda y: 1, threads=1, repeats=1,
                 check_memory=at_most(packed + choice))
    program.call("both", [array], lambda y, t: 1, threads=1, repeats=1,
                 check_memory=at_most(2 * packed + choice))
    few = 4
    program.call("step", [array, np.ones((few, columns), np.float32),
                          np.ones((few, rows), np.float32)], lambda y, dx: 1, threads=1,
                 repeats=1,
                 check_memory=at_most(2 * packed + choice))
    return program


if __name__ == "__main__":
    finish([selections(t) for t in FLOATS] + [masks()] +
           [products(s, t) for s in ("fastest", "sparse", "dense")
            for t in ("f32", "bf16")] +
           [memory(), constants()] + [opposite(s, t) for s in ("sparse", "dense") for t in ("f32", "bf16")])
