# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Tensors that store two of each four elements: made, checked, read, multiplied
and differentiated as by NumPy, bit for bit in their storage."""

import numpy as np

from execution import Program, close, finish, same_bits
from sparse_storage import (MATRICES, Encoding, Level, Storage, from_dense,
                            from_pattern, same_pattern, structured_encoding)

rng = np.random.default_rng(17)
ENCODINGS = {"Rows": structured_encoding(),
             "Columns": structured_encoding(columns=True),
             # Blocks of a permutation, which store more than was stored.
             "BlockColumns": Encoding((
                 Level("dense", 1), Level("compressed", 0, block=4, part="quotient"),
                 Level("dense", 0, block=4, part="remainder"))),
             "Vector": structured_encoding(rank=1),
             "Batch": structured_encoding(rank=3)}


def draw_mask(shape, encoding, density=1.0):
    """At most two of each four."""
    axis = encoding.levels[-1].dimension
    extent = shape[axis]
    rest = [n for d, n in enumerate(shape) if d != axis]
    ranks = rng.random((*rest, -(-extent // 4), 4)).argsort(axis=-1)
    mask = (ranks < 2) & (rng.random(ranks.shape) < density)
    mask = mask.reshape(*rest, 4 * ranks.shape[-2])[..., :extent]
    return np.moveaxis(mask, -1, axis)


def numbers(shape):
    """Small numbers, whose sums of products are exact."""
    return rng.integers(1, 9, shape) * rng.choice([-0.25, 0.5], shape)


def draw(shape, encoding, density=1.0):
    return np.where(draw_mask(shape, encoding, density), numbers(shape), 0.0)


def compare(expected):
    def check(result):
        count = same_pattern(result, expected)
        return count + same_bits(result.values, expected.values)
    return check


def conversions():
    program = Program("conversions")
    for name, encoding in ENCODINGS.items():
        program.define_encoding(name, encoding)
        rank = encoding.rank
        dense = f"tensor<{'?x' * rank}f64>"
        sparse = f"tensor<{'?x' * rank}f64, #{name}>"
        program.entry(f"to_{name}", [dense], [sparse], f"""
  %0 = sparse_tensor.convert %a0 : {dense} to {sparse}
  return %0 : {sparse}""")
        program.entry(f"from_{name}", [sparse], [dense], f"""
  %0 = sparse_tensor.convert %a0 : {sparse} to {dense}
  return %0 : {dense}""")
        program.entry(f"empty_{name}", ["index"], [sparse], f"""
  %0 = tensor.empty({', '.join(['%a0'] * rank)}) : {sparse}
  return %0 : {sparse}""")
        for extent in (0, 1, 3, 4, 5, 8, 13):
            shape = (extent, 7, extent)[:rank] if rank != 2 else (extent, 6)
            for density in (0.0, 0.6, 1.0):
                x = draw(shape, encoding, density)
                stored = from_dense(x, encoding)
                program.call(f"to_{name}", [x], compare(stored))
                program.call(f"from_{name}", [stored], lambda y, x=x: same_bits(y, x))
            zeros = np.zeros((extent,) * rank)
            program.call(f"empty_{name}", [extent],
                         compare(from_dense(zeros, encoding)))
    # A third element, in a group that is not the first, and padding.
    x = draw((6, 13), ENCODINGS["Rows"])
    x[4, 8:11] = 1
    program.call("to_Rows", [x], "group 2 of row 4 stores more than 2 of its 4 elements")
    program.call("to_Columns", [x.T.copy()], "group 2 of row 4 stores more than 2")
    x[4, 8] = 0
    x[4, 11] = np.nan
    program.call("to_Rows", [x], "group 2 of row 4 stores more than 2")
    # Claimed, but wrong: equal coordinates, and those in the wrong order.
    stored = from_dense(draw((6, 13), ENCODINGS["Rows"]), ENCODINGS["Rows"])
    for byte, text in ((0x44 | 0x10, "group 3 of row 2 has the coordinate 1 after 1"),
                       (0x24, "group 3 of row 2 has the coordinate 0 after 2")):
        bad = stored.components[0].copy()
        bad[5] = byte
        program.call("from_Rows",
                     [Storage([bad, stored.values], stored.shape, stored.encoding)],
                     f"argument 'arg0': level 2 (structured[2, 4]): {text}")
    # From and to another sparse format, and coordinates as a list.
    csr = program.define_encoding("CSR", MATRICES["CSR"])
    rows, other = "tensor<?x?xf64, #Rows>", f"tensor<?x?xf64, #{csr}>"
    program.entry("from_csr", [other], [rows], f"""
  %0 = sparse_tensor.convert %a0 : {other} to {rows}
  return %0 : {rows}""")
    program.entry("to_csr", [rows], [other], f"""
  %0 = sparse_tensor.convert %a0 : {rows} to {other}
  return %0 : {other}""")
    program.entry("coordinates", [rows], ["tensor<?xindex>"], f"""
  %0 = sparse_autograd.stored_coordinates %a0 {{level = 2 : index}} : {rows} -> tensor<?xindex>
  return %0 : tensor<?xindex>""")
    x = draw((6, 13), ENCODINGS["Rows"], 0.7)
    stored = from_dense(x, ENCODINGS["Rows"])
    program.call("from_csr", [from_dense(x, MATRICES["CSR"])], compare(stored))
    at, _ = stored.entries()
    mask = np.zeros(x.shape, bool)
    mask[tuple(at.T)] = True
    program.call("to_csr", [stored], compare(from_pattern(x, mask, MATRICES["CSR"])))
    packed = stored.components[0]
    pairs = np.repeat(packed, 4) >> np.tile([0, 2, 4, 6], len(packed)) & 3
    program.call("coordinates", [stored],
                 lambda y: same_bits(y, pairs[:len(stored.values)].astype(np.int64)))
    return program


def products():
    """W X, X W, W^T X, W V with both sparse, and W * C with a CSR matrix; with
    their gradients by the two operands."""
    program = Program("products")
    for name in ("Rows", "Columns"):
        program.define_encoding(name, ENCODINGS[name])
    program.define_encoding("CSR", MATRICES["CSR"])
    forms = {"left": ("mk,kn->mn", "(m, k)", "(k, n)"), "right": ("nk,mn->mk", "(n, k)", "(m, n)"),
             "transposed": ("km,kn->mn", "(k, m)", "(k, n)")}
    extents = {"m": 7, "n": 10, "k": 9}
    for encoding in ("Rows", "Columns"):
        for form, (einsum, w_map, x_map) in forms.items():
            name = f"{form}_{encoding}"
            w, x = f"tensor<?x?xf64, #{encoding}>", "tensor<?x?xf64>"
            loops, result = sorted(extents), einsum.split("->")[1]
            iterators = ", ".join('"parallel"' if d in result else '"reduction"'
                                  for d in loops)
            maps = ", ".join(f"affine_map<({', '.join(loops)}) -> {m}>" for m in (
                w_map, x_map, f"({', '.join(result)})"))
            dims = []
            for d in result:
                of = 0 if d in w_map else 1
                place = (w_map, x_map)[of].strip("()").split(", ").index(d)
                dims.append((of, place))
            text = "".join(f"""
  %c{i} = arith.constant {place} : index
  %d{i} = tensor.dim %a{of}, %c{i} : {(w, x)[of]}""" for i, (of, place) in enumerate(dims))
            body = f"""{text}
  %z = arith.constant 0.0 : f64
  %e = tensor.empty(%d0, %d1) : {x}
  %i = linalg.fill ins(%z : f64) outs(%e : {x}) -> {x}
  %y = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
      ins(%a0, %a1 : {w}, {x}) outs(%i : {x}) {{
  ^bb0(%p: f64, %q: f64, %s: f64):
    %t = arith.mulf %p, %q : f64
    %r = arith.addf %s, %t : f64
    linalg.yield %r : f64
  }} -> {x}
  return %y : {x}"""
            program.entry(f"{name}", [w, x], [x], body)
            program.entry(f"grad_{name}", [w, x, x], [x, w, x], f"""
  %0:3 = sparse_autograd.vjp @{name}(%a0, %a1) cotangents(%a2) {{wrt = [0, 1]}}
      : ({w}, {x}), ({x}) -> ({x}, {w}, {x})
  return %0#0, %0#1, %0#2 : {x}, {w}, {x}""")
            sizes = [tuple(extents[d] for d in part)
                     for part in einsum.replace("->", ",").split(",")]
            dense = draw(sizes[0], ENCODINGS[encoding], 0.8)
            stored = from_dense(dense, ENCODINGS[encoding])
            other = numbers(sizes[1])
            # What is not stored is not read as a factor.
            program.call(name, [stored, other],
                         lambda y, e=np.einsum(einsum, dense, other): close(y, e))
            ct = numbers(sizes[2])
            first, second = einsum.split("->")[0].split(",")
            by_w = np.einsum(f"{result},{second}->{first}", ct, other)
            by_x = np.einsum(f"{result},{first}->{second}", ct, dense)
            at, _ = stored.entries()
            kept = np.zeros(dense.shape, bool)
            kept[tuple(at.T)] = True
            expected = from_pattern(by_w, kept, ENCODINGS[encoding])

            def check(_, dw, dx, expected=expected, by_x=by_x):
                return (same_pattern(dw, expected) +
                        close(dw.values, expected.values) + close(dx, by_x))
            program.call(f"grad_{name}", [stored, other, ct], check)
    rows, csr = "tensor<?x?xf64, #Rows>", "tensor<?x?xf64, #CSR>"
    program.entry("both", [rows, csr], [csr], f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = tensor.dim %a0, %c0 : {rows}
  %d1 = tensor.dim %a0, %c1 : {rows}
  %e = tensor.empty(%d0, %d1) : {csr}
  %0 = linalg.mul ins(%a0, %a1 : {rows}, {csr}) outs(%e : {csr}) -> {csr}
  return %0 : {csr}""")
    w = draw((6, 13), ENCODINGS["Rows"])
    mask = rng.random(w.shape) < 0.5
    c = np.where(mask, numbers(w.shape), 0)
    stored = from_dense(w, ENCODINGS["Rows"])
    kept = np.zeros(w.shape, bool)
    kept[tuple(stored.entries()[0].T)] = True
    program.call("both", [stored, from_pattern(c, mask, MATRICES["CSR"])],
                 lambda y, e=from_pattern(w * c, mask & kept, MATRICES["CSR"]):
                 same_pattern(y, e) + close(y.values, e.values))
    return program


finish([conversions(), products()])
