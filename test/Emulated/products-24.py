# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env SPARSE_AUTOGRAD_DEVICE=emulated:5 %python %s
"""Products with a 2:4 matrix of bf16 on a device: large tiles, whose shared memory is
asked for, with W as either factor; the layer of a network whose gradient of X reads
the packed transpose; the matrix expanded where `product-24` says so; extents that
loops are chosen for at run time. Numbers are small integers: sums are exact."""

import numpy as np

from execution import Program, finish, same_bits, to_type
from selection24 import choose
from sparse_storage import from_pattern, structured_encoding

rng = np.random.default_rng(2425)
ADD_PRODUCT = """  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %pw = arith.extf %p : bf16 to f32
    %qw = arith.extf %q : bf16 to f32
    %t = arith.mulf %pw, %qw : f32
    %r = arith.addf %s, %t : f32
    linalg.yield %r : f32
"""
W, X, Y = "tensor<?x?xbf16, #Rows>", "tensor<?x?xbf16>", "tensor<?x?xf32>"


def product(places, kinds, operands, out):
    maps = ", ".join(f"affine_map<(z, m, n, k) -> ({p})>" for p in places)
    return f"""
  %y = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins({operands}) outs({out}) {{
{ADD_PRODUCT}  }} -> tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>"""


def masked(shape):
    kept = np.zeros(shape, bool)
    for index in np.ndindex(*shape[:-1]):
        for begin in range(0, shape[-1], 4):
            group = kept[index][begin:begin + 4]
            group[rng.permutation(len(group))[:2]] = True
    return kept


def small(shape, type_="bf16"):
    return to_type(rng.integers(-2, 3, shape).astype(np.float64), type_)


def large():
    """As many matrices as large tiles are launched for, of less than one each."""
    program = Program("large", pipeline="product-24=sparse")
    program.define_encoding("Rows", structured_encoding())
    kinds = '"parallel", "parallel", "parallel", "reduction"'
    x, y = "tensor<?x?x?xbf16>", "tensor<?x?x?xf32>"
    for name, places in (("rows", ("m, k", "z, k, n", "z, m, n")),
                         ("columns", ("m, k", "z, n, k", "z, n, m"))):
        program.entry(name, [W, x, y], [y], product(
            places, kinds, f"%a0, %a1 : {W}, {x}", f"%a2 : {y}"))
        for m, n, k in ((72, 40, 64), (33, 48, 96), (40, 33, 40)):
            w, kept = small((m, k)), masked((m, k))
            b = small((128, k, n) if name == "rows" else (128, n, k))
            begin = small((128, m, n) if name == "rows" else (128, n, m), "f32")
            spec = "mk,zkn->zmn" if name == "rows" else "mk,znk->znm"
            exact = begin + np.einsum(spec, np.where(kept, w, 0).astype(np.float64),
                                      b.astype(np.float64))
            program.call(name, [from_pattern(w, kept, structured_encoding()), b, begin],
                         lambda found, e=exact: same_bits(
                             found + 0, e.astype(np.float32) + 0, "large"),
                         f"{name} {m} {n} {k}")
    return program


def layer(strategy):
    """y = x w^T of a selection, in bf16, and its gradients."""
    program = Program(f"layer_{strategy}", pipeline=f"product-24={strategy}")
    program.define_encoding("Rows", structured_encoding())
    program.define(f"""
func.func private @layer(%v: {X}, %x: {X}) -> {X} {{
  %c0 = arith.constant 0 : index
  %m = tensor.dim %v, %c0 : {X}
  %n = tensor.dim %x, %c0 : {X}
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %m) : {Y}
  %i = linalg.fill ins(%zero : f32) outs(%e : {Y}) -> {Y}
  %w = sparse_autograd.sparsify_24 %v select = greedy gradient = dense : {X} -> {W}
  %y = linalg.generic {{indexing_maps = [affine_map<(n, m, k) -> (n, k)>,
      affine_map<(n, m, k) -> (m, k)>, affine_map<(n, m, k) -> (n, m)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x, %w : {X}, {W}) outs(%i : {Y}) {{
{ADD_PRODUCT}  }} -> {Y}
  %r = arith.truncf %y : {Y} to {X}
  return %r : {X}
}}""")
    program.entry("step", [X, X, X], [X, X, X], f"""
  %y, %dw, %dx = sparse_autograd.vjp @layer(%a0, %a1) cotangents(%a2) {{wrt = [0, 1]}}
      : ({X}, {X}), ({X}) -> ({X}, {X}, {X})
  return %y, %dw, %dx : {X}, {X}, {X}""")
    for m, n, k in ((64, 40, 96), (48, 33, 64), (41, 37, 70), (8, 3, 12)):
        v, x, dy = small((m, k)), small((n, k)), small((n, m))
        kept = choose(v[None], "greedy")[0]
        w = np.where(kept, v, 0).astype(np.float64)
        wide = [a.astype(np.float64) for a in (x, dy)]
        exact = (wide[0] @ w.T, np.where(kept, wide[1].T @ wide[0], 0), wide[1] @ w)
        program.call("step", [v, x, dy], lambda *found, e=exact: sum(
            same_bits(f + to_type(np.zeros(()), "bf16"), to_type(each + 0.0, "bf16"), name)
            for f, each, name in zip(found, e, ("y", "dw", "dx"))), f"{m} {n} {k}")
    return program


if __name__ == "__main__":
    finish([large()] + [layer(s) for s in ("fastest", "dense")])
