# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Contractions with a 2:4 factor on either side, transposed or not, with columns of
several dimensions, batched, scaled, subtracted, of every type, with what follows
them: values and gradients against NumPy. All numbers are integers, so that sums
are exact in any order."""

import numpy as np

from execution import Program, finish, same_bits, to_type
from selection24 import choose
from sparse_storage import structured_encoding

rng = np.random.default_rng(424)
SIZES = {"b": 3, "s": 5, "m": 14, "n": 6, "k": 37}

# The letters of W, X and the result; W stores groups along its last.
CONTRACTIONS = {
    "rows": "mk,kn->mn", "layer": "mk,bsk->bsm", "layer_swapped": "bsk,mk->bsm",
    "layer_backward": "mk,bsm->bsk", "columns_first": "mk,kbs->mbs",
    "columns_apart": "mk,bks->bms", "columns_exchanged": "mk,sbk->bsm",
    "batched": "bmk,bkn->bmn", "batched_backward": "bmk,bmn->bkn",
    "batched_swapped": "bnk,bmk->bnm", "vector": "mk,k->m",
    "two_sums": "mk,bsk->sm",
}
# The types of W, X and the result, and what a term is computed in.
TYPES = [("f32", "f32", "f32"), ("bf16", "f32", "f32"), ("f16", "f32", "f32"),
         ("bf16", "bf16", "f32"), ("f16", "f16", "f32"), ("f64", "f64", "f64"),
         ("f32", "f64", "f64")]


def tensor(letters, element, encoding=""):
    return f"tensor<{'?x' * len(letters)}{element}{encoding}>"


def body(w, x, y, is_left, scale, is_difference):
    """The region of a contraction whose sum is of type y."""
    first, second = (w, x) if is_left else (x, w)
    lines, factors = [], []
    for name, element in (("%p", first), ("%q", second)):
        factors.append(name if element == y else name + "w")
        if element != y:
            lines.append(f"{name}w = arith.extf {name} : {element} to {y}")
    lines.append(f"%t = arith.mulf {factors[0]}, {factors[1]} : {y}")
    term = "%t"
    if scale:
        lines.append(f"%u = arith.mulf %scale, %t : {y}")
        term = "%u"
    lines.append(f"%r = arith.{'subf' if is_difference else 'addf'} %s, {term} : {y}")
    return f"""  ^bb0(%p: {first}, %q: {second}, %s: {y}):
    """ + "\n    ".join(lines + [f"linalg.yield %r : {y}"])


def contraction(program, name, spec, types, scale=None, is_difference=False,
                follows=""):
    """An entry with the result, the gradient of what is selected and that of X."""
    w, x, y = types
    inputs, result = spec.split("->")
    places = inputs.split(",")
    is_left = "m" in places[0] and "k" in places[0] and not (
        places[1] in ("mk", "bmk"))
    of_w, of_x = places if is_left else places[::-1]
    letters = "".join(dict.fromkeys(of_w + of_x))
    encoding = "#Batch" if len(of_w) == 3 else "#Rows"
    stored, dense = tensor(of_w, w, f", {encoding}"), tensor(of_w, w)
    other, sums = tensor(of_x, x), tensor(result, y)
    maps = ", ".join(f"affine_map<({', '.join(letters)}) -> ({', '.join(p)})>"
                     for p in (*places, result))
    kinds = ", ".join('"parallel"' if c in result else '"reduction"' for c in letters)
    operands = ("%w, %x", f"{stored}, {other}") if is_left else (
        "%x, %w", f"{other}, {stored}")
    constant = f"  %scale = arith.constant {scale:.1f} : {y}\n" if scale else ""
    program.define(f"""
func.func private @{name}_of(%v: {dense}, %x: {other}, %z: {sums}) -> {sums} {{
{constant}  %w = sparse_autograd.sparsify_24 %v select = greedy gradient = sparse
      : {dense} -> {stored}
  %y = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins({operands[0]} : {operands[1]}) outs(%z : {sums}) {{
{body(w, x, y, is_left, scale, is_difference)}
  }} -> {sums}
{follows.format(sums=sums, y=y)}  return {"%f" if follows else "%y"} : {sums}
}}""")
    program.entry(name, [dense, other, sums, sums], [sums, dense, other], f"""
  %y, %dw, %dx = sparse_autograd.vjp @{name}_of(%a0, %a1, %a2) cotangents(%a3)
      {{wrt = [0, 1]}} : ({dense}, {other}, {sums}), ({sums}) -> ({sums}, {dense}, {other})
  return %y, %dw, %dx : {sums}, {dense}, {other}""")
    shape = lambda of: tuple(SIZES[c] for c in of)
    small = lambda of, element: to_type(
        rng.integers(-3, 4, shape(of)).astype(np.float64), element)
    array = to_type(rng.permutation(np.prod(shape(of_w))).reshape(shape(of_w)) % 7
                    - 3.0, w)
    kept = choose(array.reshape((-1,) + array.shape[-2:]), "greedy").reshape(array.shape)
    factor, begin, cotangent = small(of_x, x), small(result, y), small(result, y)
    selected = np.where(kept, array, 0).astype(np.float64)
    sign = (scale or 1.0) * (-1.0 if is_difference else 1.0)
    value = begin + sign * np.einsum(f"{of_w},{of_x}->{result}", selected,
                                     factor.astype(np.float64))
    g = cotangent.astype(np.float64)
    if follows:
        # Equal operands of a maximum share its cotangent.
        g = np.where(value > 0, 2 * g, np.where(value == 0, g, 0))
        value = np.maximum(2 * value, 0)
    missing = [c for c in of_x if c not in of_w + result]
    dw = sign * np.einsum(f"{result},{of_x}->{of_w}", g, factor.astype(np.float64))
    dx = sign * np.einsum(f"{result},{of_w}->{''.join(c for c in of_x if c not in missing)}",
                          g, selected)
    if missing:
        dx = np.broadcast_to(np.expand_dims(
            dx, [of_x.index(c) for c in missing]), shape(of_x))

    def check(found, found_w, found_x):
        # The sign of a zero depends on the order of a sum.
        zero = lambda element: to_type(np.zeros(()), element)
        pairs = ((found, value, y, name), (found_w, np.where(kept, dw, 0), w, "dw"),
                 (found_x, dx, x, "dx"))
        return sum(same_bits(a + zero(t), to_type(b + 0.0, t), what)
                   for a, b, t, what in pairs)

    program.call(name, [array, factor, begin, cotangent], check, spec)


# Twice the product, and a relu of it.
FOLLOWS = """  %two = arith.constant 2.0 : {y}
  %none = arith.constant 0.0 : {y}
  %f = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
      ins(%y : {sums}) outs(%z : {sums}) {{
  ^bb0(%p: {y}, %o: {y}):
    %d = arith.mulf %two, %p : {y}
    %r = arith.maximumf %d, %none : {y}
    linalg.yield %r : {y}
  }} -> {sums}
"""


def programs(strategy):
    for types in TYPES:
        program = Program(f"contractions_{strategy}_{'_'.join(types)}",
                          pipeline=f"product-24={strategy}")
        program.define_encoding("Rows", structured_encoding())
        program.define_encoding("Batch", structured_encoding(rank=3))
        for name, spec in CONTRACTIONS.items():
            if types in TYPES[:1] or name in ("rows", "layer", "layer_backward"):
                contraction(program, name, spec, types)
        contraction(program, "scaled", "mk,bsk->bsm", types, scale=2.0)
        contraction(program, "subtracted", "mk,kn->mn", types, is_difference=True)
        contraction(program, "both", "kn,mk->mn", types, scale=4.0, is_difference=True)
        contraction(program, "followed", "mk,kn->mn", types, follows=FOLLOWS)
        yield program


if __name__ == "__main__":
    finish(list(programs("fastest")))
