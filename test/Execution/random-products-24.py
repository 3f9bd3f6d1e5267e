# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Products of f16 and bf16 with a 2:4 matrix as an argument, of random extents on
both sides of those of a device's tiles, in every form: W on either side, its rows the
rows or the columns of the result, batches of X, or of both, types of fixed or open
extents, sums that begin with what there was or with zeros, something done with each
element. Integers are exact in any order of a sum, so that the CPU and a device have
the same bits; of other numbers there is a bound, NaN and infinities behind what is not
stored stay out of it."""

import numpy as np

from execution import Program, close, finish, same_bits, to_type
from sparse_storage import from_pattern, structured_encoding

SEEDS = 20
# The letters of W, X and the result; W stores groups along k.
FORMS = ("mk,kn->mn", "mk,nk->mn", "kn,mk->nm", "nk,mk->nm", "mk,bkn->bmn",
         "bnk,mk->bnm", "bmk,bkn->bmn", "bnk,bmk->bnm", "nbk,mk->bnm")


def tensor(letters, element, extents, is_fixed, encoding=""):
    sizes = "x".join(str(extents[c]) if is_fixed else "?" for c in letters)
    return f"tensor<{sizes}x{element}{encoding}>"


def random_mask(rng, shape):
    """At most two of each four, some groups under-full or empty."""
    rows, k = int(np.prod(shape[:-1])), shape[-1]
    groups = -(-k // 4)
    order = np.argsort(rng.random((rows, groups, 4)), axis=-1)
    kept = (order < 2) & (rng.random((rows, groups, 4)) < 0.9)
    return kept.reshape(rows, 4 * groups)[:, :k].reshape(shape)


def is_of_w(letters):
    return "m" in letters


def add(program, name, form, element, extents, rng):
    """One entry, and its calls."""
    inputs, result = form.split("->")
    places = inputs.split(",")
    of_w = next(p for p in places if is_of_w(p))
    of_x = next(p for p in places if not is_of_w(p))
    is_fixed, has_zeros = rng.random() < 0.5, rng.random() < 0.5
    follows = rng.choice(["nothing", "bias", "rounded"])
    letters = "".join(dict.fromkeys(result + "k"))
    stored = tensor(of_w, element, extents, is_fixed,
                    ", #Batch" if len(of_w) == 3 else ", #Rows")
    other = tensor(of_x, element, extents, is_fixed)
    sums = tensor(result, "f32", extents, is_fixed)
    last = tensor(result[-1], "f32", extents, is_fixed)
    maps = ", ".join(f"affine_map<({', '.join(letters)}) -> ({', '.join(p)})>"
                     for p in (*places, result))
    kinds = ", ".join('"reduction"' if c == "k" else '"parallel"' for c in letters)
    is_w_first = is_of_w(places[0])
    operands = (f"%a0, %a1 : {stored}, {other}" if is_w_first else
                f"%a1, %a0 : {other}, {stored}")
    begin = "%a2"
    body = ""
    if has_zeros:
        begin = "%z"
        body += f"""
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%a2 : {sums}) -> {sums}"""
    body += f"""
  %y = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins({operands}) outs({begin} : {sums}) {{
  ^bb0(%p: {element}, %q: {element}, %s: f32):
    %pw = arith.extf %p : {element} to f32
    %qw = arith.extf %q : {element} to f32
    %t = arith.mulf %pw, %qw : f32
    %r = arith.addf %s, %t : f32
    linalg.yield %r : f32
  }} -> {sums}"""
    own = f"affine_map<({', '.join(result)}) -> ({', '.join(result)})>"
    parallel = ", ".join(['"parallel"'] * len(result))
    value, type_ = "%y", sums
    if follows == "bias":
        body += f"""
  %o = linalg.generic {{indexing_maps = [{own}, affine_map<({', '.join(result)}) -> ({result[-1]})>,
      {own}], iterator_types = [{parallel}]}}
      ins(%y, %a3 : {sums}, {last}) outs(%a2 : {sums}) {{
  ^bb0(%p: f32, %q: f32, %s: f32):
    %b = arith.addf %p, %q : f32
    linalg.yield %b : f32
  }} -> {sums}"""
        value = "%o"
    elif follows == "rounded":
        type_ = tensor(result, element, extents, is_fixed)
        body += f"""
  %o = arith.truncf %y : {sums} to {type_}"""
        value = "%o"
    program.entry(name, [stored, other, sums, last], [type_],
                  body + f"\n  return {value} : {type_}")

    shape = lambda of: tuple(extents[c] for c in of)
    mask = random_mask(rng, shape(of_w))
    encoding = structured_encoding(rank=len(of_w))

    def call(w, x, c, bias, compare, label):
        with np.errstate(invalid="ignore"):
            exact = np.einsum(f"{of_w},{of_x}->{result}",
                              np.where(mask, w, 0).astype(np.float64), x.astype(np.float64))
        size = np.einsum(f"{of_w},{of_x}->{result}", np.abs(np.where(mask, w, 0)).astype(
            np.float64), np.abs(x).astype(np.float64))
        if not has_zeros:
            exact, size = exact + c, size + np.abs(c)
        if follows == "bias":
            exact, size = exact + bias, size + np.abs(bias)
        program.call(name, [from_pattern(w, mask, encoding), x, c, bias],
                     lambda found: compare(found, exact, size),
                     f"{form} {extents} {label}")

    out = element if follows == "rounded" else "f32"
    integer = lambda of, t: to_type(rng.integers(-2, 3, shape(of)).astype(np.float64), t)
    call(integer(of_w, element), integer(of_x, element), integer(result, "f32"),
         integer(result[-1], "f32"),
         lambda found, exact, size: same_bits(found + 0, to_type(exact, out) + 0, name),
         "integers")
    normal = lambda of, t: to_type(rng.standard_normal(shape(of)), t)
    # Tensor cores may cut the last bit off each time.
    terms = extents["k"]
    eps = {"f16": 2.0**-10, "bf16": 2.0**-7}[element] if follows == "rounded" else 0.0
    call(normal(of_w, element), normal(of_x, element), normal(result, "f32"),
         normal(result[-1], "f32"),
         lambda found, exact, size: close(
             found, exact, 2 * (terms + 2) * np.finfo(np.float32).eps * size + eps * size,
             name), "normal")


def random_extents(rng):
    """Around those of tiles and of what one instruction copies, as often as not."""
    def extent(tile):
        if rng.random() < 0.5:
            return int(tile * rng.integers(1, 3) + rng.integers(-1, 2) * rng.choice([1, 8]))
        return int(rng.integers(33, 100))
    return {"b": int(rng.integers(1, 4)), "m": extent(64), "n": extent(32),
            "k": extent(64) if rng.random() < 0.6 else int(32 * rng.integers(1, 5))}


def random_program(seed):
    rng = np.random.default_rng([24, seed])
    program = Program(f"seed_{seed}",
                      pipeline=f"product-24={rng.choice(['sparse', 'fastest', 'sparse'])}")
    program.define_encoding("Rows", structured_encoding())
    program.define_encoding("Batch", structured_encoding(rank=3))
    for number in range(2):
        form = FORMS[(2 * seed + number) % len(FORMS)]
        element = ("bf16", "f16")[(seed + number) % 2]
        add(program, f"product_{seed}_{number}", form, element, random_extents(rng), rng)
    return program


if __name__ == "__main__":
    finish([random_program(seed) for seed in range(SEEDS)])
