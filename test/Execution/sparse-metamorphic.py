# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""What must not change, or only in a known way, when a sparse program's inputs
do: rows and columns in another order, explicit zeros, formats, factors of powers
of two, sums, block diagonals, values that are not read, threads."""

import numpy as np

from execution import SHARES_ROWS, Program, close, finish, same_bits
from sparse_functions import FORMATS, closure
from sparse_storage import from_pattern, same_pattern

M = "tensor<?x?xf64>"
ENCODINGS = {n: FORMATS[2][n] for n in ("CSR", "CSC", "COO", "COOColumns",
                                        "DCSR", "DCSC", "DenseRows", "Loose",
                                        "BSR", "BSR23")}
PLAIN = [n for n in ENCODINGS if "BSR" not in n and n != "DenseRows"]
rng = np.random.default_rng(23)


def sparse(name, element="f64"):
    return f"tensor<?x?x{element}, #{name}>"


def define(program, name):
    """Of each function, the value and the gradients."""
    a = sparse(name)
    extents = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = arith.constant 0.0 : f64"""
    program.define(f"""
func.func private @spmm_{name}_f(%a: {a}, %x: {M}) -> {M} {{{extents}
  %n = tensor.dim %a, %c0 : {a}
  %m = tensor.dim %x, %c1 : {M}
  %e = tensor.empty(%n, %m) : {M}
  %z = linalg.fill ins(%c : f64) outs(%e : {M}) -> {M}
  %y = linalg.matmul ins(%a, %x : {a}, {M}) outs(%z : {M}) -> {M}
  return %y : {M}
}}
func.func private @sddmm_{name}_f(%p: {a}, %x: {M}, %w: {M}) -> {a} {{{extents}
  %n = tensor.dim %x, %c0 : {M}
  %m = tensor.dim %w, %c1 : {M}
  %e = tensor.empty(%n, %m) : {M}
  %z = linalg.fill ins(%c : f64) outs(%e : {M}) -> {M}
  %d = linalg.matmul ins(%x, %w : {M}, {M}) outs(%z : {M}) -> {M}
  %y = sparse_autograd.sample %d, %p : {M}, {a} -> {a}
  return %y : {a}
}}
func.func private @softmax_{name}_f(%a: {a}) -> {a} {{
  %m = sparse_autograd.pattern %a : {a}
  %y = sparse_autograd.masked_softmax %a, %m dims = [1] : {a}, {sparse(name, "i1")}
  return %y : {a}
}}""")
    program.entry(f"spmm_{name}", [a, M, M], [M, a, M], f"""
  %y, %da, %dx = sparse_autograd.vjp @spmm_{name}_f(%a0, %a1) cotangents(%a2) {{wrt = [0, 1]}} : ({a}, {M}), ({M}) -> ({M}, {a}, {M})
  return %y, %da, %dx : {M}, {a}, {M}""")
    program.entry(f"sddmm_{name}", [a, M, M, a], [a, M, M], f"""
  %y, %dx, %dw = sparse_autograd.vjp @sddmm_{name}_f(%a0, %a1, %a2) cotangents(%a3) {{wrt = [1, 2]}} : ({a}, {M}, {M}), ({a}) -> ({a}, {M}, {M})
  return %y, %dx, %dw : {a}, {M}, {M}""")
    program.entry(f"softmax_{name}", [a, a], [a, a], f"""
  %y, %da = sparse_autograd.vjp @softmax_{name}_f(%a0) cotangents(%a1) {{wrt = [0]}} : ({a}), ({a}) -> ({a}, {a})
  return %y, %da : {a}, {a}""")


class Calls:
    """Calls of one program; what a call gave is known to those behind it."""

    def __init__(self, program):
        self.program = program

    def call(self, entry, arguments, check=None, label="", threads=None):
        found = []

        def keep(*results):
            found.extend(results)
            return check(*results) if check else 1

        self.program.call(entry, arguments, keep, label, threads)
        return found


def values_at(storage, coordinates):
    """What is stored at coordinates, all of which are."""
    places, values = storage.entries()
    table = {tuple(p): v for p, v in zip(places.tolist(), values)}
    return np.array([table[tuple(c)] for c in np.asarray(coordinates).tolist()])


def same_entries(actual, expected, coordinates, what):
    """The same bits at coordinates, given in the coordinates of each."""
    here, there = coordinates
    return same_bits(values_at(actual, here), values_at(expected, there), what)


def gamma(n):
    return 4 * n * 2.0**-53


def spmm_bounds(dense, x, g):
    n, k = dense.shape
    a, x, g = np.abs(dense), np.abs(x), np.abs(g)
    return (gamma(k + 1) * (a @ x), gamma(x.shape[1] + 1) * (g @ x.T),
            gamma(n + 1) * (a.T @ g))


def stored(array, mask, name):
    return from_pattern(array, mask, ENCODINGS[name])


def products(calls, name):
    encoding = ENCODINGS[name]
    n, k, m = 7, 9, 3
    mask = closure(rng.random((n, k)) < 0.35, encoding)
    a = np.where(mask, rng.uniform(-2, 2, (n, k)), 0.0)
    x, g = rng.uniform(-2, 2, (k, m)), rng.uniform(-2, 2, (n, m))
    entry = f"spmm_{name}"
    first = calls.call(entry, [stored(a, mask, name), x, g])
    bounds = spmm_bounds(a, x, g)
    at = np.argwhere(mask)

    # Rows in another order, and columns.
    if "BSR" not in name:
        order = rng.permutation(n)

        def rows(y, da, dx, order=order):
            inverse = np.argsort(order)
            moved = np.stack([inverse[at[:, 0]], at[:, 1]], 1)
            return (close(y, first[0][order], bounds[0][order], "y") +
                    same_entries(da, first[1], (moved, at), "da") +
                    close(dx, first[2], bounds[2], "dx"))
        calls.call(entry, [stored(a[order], mask[order], name), x, g[order]],
                   rows, "rows permuted")
        order = rng.permutation(k)

        def columns(y, da, dx, order=order):
            inverse = np.argsort(order)
            moved = np.stack([at[:, 0], inverse[at[:, 1]]], 1)
            return (close(y, first[0], bounds[0], "y") +
                    same_entries(da, first[1], (moved, at), "da") +
                    close(dx, first[2][order], bounds[2][order], "dx"))
        calls.call(entry, [stored(a[:, order], mask[:, order], name),
                           x[order], g], columns, "columns permuted")

    # More zeros are stored. Which of two sums a term is in depends on what is
    # stored before it, so that the bits may be others (semantics G3).
    more = closure(mask | (rng.random(mask.shape) < 0.3), encoding)

    def explicit(y, da, dx):
        assert da.values.size >= first[1].values.size
        full = g @ x.T
        places, numbers = da.entries()
        expected = full[tuple(places.T)]
        return (close(y, first[0], bounds[0], "y") +
                close(dx, first[2], bounds[2], "dx") +
                same_entries(da, first[1], (at, at), "da") +
                close(numbers, expected, bounds[1][tuple(places.T)], "da"))
    calls.call(entry, [stored(a, more, name), x, g], explicit, "more zeros")

    # Factors of powers of two are exact.
    for factor in (2.0**40, 2.0**-30):
        calls.call(entry, [stored(a * factor, mask, name), x, g],
                   lambda y, da, dx, f=factor: (
                       same_bits(y, first[0] * f, "y") +
                       same_bits(da.values, first[1].values, "da") +
                       same_bits(dx, first[2] * f, "dx")), f"A times {factor}")
        calls.call(entry, [stored(a, mask, name), x * factor, g * 4.0],
                   lambda y, da, dx, f=factor: (
                       same_bits(y, first[0] * f, "y") +
                       same_bits(da.values, first[1].values * (4.0 * f), "da") +
                       same_bits(dx, first[2] * 4.0, "dx")),
                   f"X times {factor}")

    # Threads change no bit.
    calls.call(entry, [stored(a, mask, name), x, g],
               lambda y, da, dx: (same_bits(y, first[0], "y") +
                                  same_bits(da.values, first[1].values, "da") +
                                  same_bits(dx, first[2], "dx")), "2 threads", 2)

    # A sum of matrices that store nothing in common.
    left = closure(mask & (rng.random(mask.shape) < 0.5), encoding)
    right = mask & ~left
    parts = [calls.call(entry, [stored(np.where(part, a, 0), part, name), x, g])
             for part in (left, right)]

    def linear(y, da, dx):
        count = close(y, parts[0][0] + parts[1][0], 2 * bounds[0], "y")
        count += close(dx, parts[0][2] + parts[1][2], 2 * bounds[2], "dx")
        for part, found in zip((left, right), parts):
            places = np.argwhere(part)
            count += same_entries(da, found[1], (places, places), "da")
        return count
    calls.call(entry, [stored(a, mask, name), x, g], linear, "sum")

    # A block diagonal. Blocks of the format do not straddle the matrices.
    n2, k2 = (12, 12) if "BSR" in name else (5, 4)
    shape = (6, 6) if "BSR" in name else (n, k)
    mask1 = closure(rng.random(shape) < 0.4, encoding)
    mask2 = closure(rng.random((n2, k2)) < 0.4, encoding)
    a1 = np.where(mask1, rng.uniform(-2, 2, shape), 0)
    a2 = np.where(mask2, rng.uniform(-2, 2, (n2, k2)), 0)
    x1, g1 = rng.uniform(-2, 2, (shape[1], m)), rng.uniform(-2, 2, (shape[0], m))
    x2, g2 = rng.uniform(-2, 2, (k2, m)), rng.uniform(-2, 2, (n2, m))
    one = calls.call(entry, [stored(a1, mask1, name), x1, g1])
    two = calls.call(entry, [stored(a2, mask2, name), x2, g2])

    def both(arrays):
        return np.block([[arrays[0], np.zeros((shape[0], k2), arrays[0].dtype)],
                         [np.zeros((n2, shape[1]), arrays[1].dtype), arrays[1]]])

    # Some formats store zeros of the other block.
    whole = spmm_bounds(both((a1, a2)), np.concatenate([x1, x2]),
                        np.concatenate([g1, g2]))

    def diagonal(y, da, dx):
        here, there = np.argwhere(mask1), np.argwhere(mask2)
        return (close(y, np.concatenate([one[0], two[0]]), whole[0], "y") +
                close(dx, np.concatenate([one[2], two[2]]), whole[2], "dx") +
                same_entries(da, one[1], (here, here), "upper da") +
                same_entries(da, two[1], (there + shape, there), "lower da"))
    # Where a format stores whole rows, these hold more than the blocks.
    joint = closure(both((mask1, mask2)), encoding)
    calls.call(entry, [stored(both((a1, a2)), joint, name),
                       np.concatenate([x1, x2]), np.concatenate([g1, g2])],
               diagonal, "block diagonal")


def samples(calls, name):
    """Values of a pattern are not read, nor are cotangents off the pattern."""
    encoding = ENCODINGS[name]
    mask = closure(rng.random((6, 5)) < 0.4, encoding)
    x, w = rng.uniform(-2, 2, (6, 4)), rng.uniform(-2, 2, (4, 5))
    g = rng.uniform(-2, 2, (6, 5))
    entry = f"sddmm_{name}"
    pattern = stored(np.ones((6, 5)), mask, name)
    cotangent = stored(g, mask, name)
    first = calls.call(entry, [pattern, x, w, cotangent])

    def same(y, dx, dw):
        return (same_pattern(y, first[0]) +
                same_bits(y.values, first[0].values, "y") +
                same_bits(dx, first[1], "dx") + same_bits(dw, first[2], "dw"))
    calls.call(entry, [pattern.with_values(np.full(pattern.values.shape,
                                                   np.nan)), x, w, cotangent],
               same, "NaN in the pattern")
    every = np.ones((6, 5), bool)
    calls.call(entry, [pattern, x, w, stored(
        np.where(mask, g, np.nan), every, name)], same, "NaN off the pattern")
    some = closure(mask & (rng.random(mask.shape) < 0.5), encoding)
    zeroed = calls.call(entry, [pattern, x, w,
                                stored(np.where(some, g, 0), mask, name)])
    calls.call(entry, [pattern, x, w, stored(g, some, name)],
               lambda y, dx, dw: (same_bits(dx, zeroed[1], "dx") +
                                  same_bits(dw, zeroed[2], "dw")),
               "a cotangent that stores less")


def softmaxes(calls, name):
    """Rows do not know each other; a shift of a row changes nothing."""
    encoding = ENCODINGS[name]
    mask = closure(rng.random((6, 5)) < 0.5, encoding)
    # Multiples of 1/4, to which 5 adds exactly.
    a = np.where(mask, rng.integers(-8, 8, (6, 5)) / 4, 0)
    g = rng.uniform(-2, 2, (6, 5))
    entry = f"softmax_{name}"
    first = calls.call(entry, [stored(a, mask, name), stored(g, mask, name)])

    def same(y, da):
        return (same_bits(y.values, first[0].values, "y") +
                same_bits(da.values, first[1].values, "da"))
    calls.call(entry, [stored(np.where(mask, a + 5, 0), mask, name),
                       stored(g, mask, name)], same, "shifted")
    if "BSR" in name:
        return
    kept = mask & (np.arange(6) % 2 == 0)[:, None]

    def rows(y, da):
        at = np.argwhere(kept)
        if SHARES_ROWS:
            # Their number changes the order of the sums.
            weights = first[0].dense()
            products = np.abs(weights * np.where(mask, g, 0))
            bound = products + weights * products.sum(1, keepdims=True)
            return (close(y.dense()[kept], weights[kept], gamma(6) * weights[kept], "y") +
                    close(da.dense()[kept], first[1].dense()[kept],
                          gamma(6) * bound[kept], "da"))
        return (same_entries(y, first[0], (at, at), "y") +
                same_entries(da, first[1], (at, at), "da"))
    calls.call(entry, [stored(a, kept, name), stored(g, kept, name)], rows,
               "every other row")


def formats(program, calls):
    """The same entries in every format, against each other; round trips."""
    n, k, m = 6, 8, 3
    # Everything, so that every format stores the same.
    a = rng.uniform(-2, 2, (n, k))
    x, g = rng.uniform(-2, 2, (k, m)), rng.uniform(-2, 2, (n, m))
    mask = np.ones((n, k), bool)
    found = {}
    for name in ENCODINGS:
        def alike(y, da, dx, name=name):
            y0, da0, dx0 = found["CSR"]
            bounds = spmm_bounds(a, x, g)
            return (close(y, y0, 2 * bounds[0], "y") +
                    close(da.dense(), da0.dense(), 2 * bounds[1], "da") +
                    close(dx, dx0, 2 * bounds[2], "dx"))
        check = alike if found else None
        found[name] = calls.call(f"spmm_{name}", [stored(a, mask, name), x, g],
                                 check, f"{name} as CSR")
    # From each format through all others and back: the same storage.
    for number, name in enumerate(PLAIN):
        others = PLAIN[number + 1:] + PLAIN[:number]
        lines, last = [], "%a0"
        for step, (one, other) in enumerate(zip([name] + others,
                                                others + [name])):
            lines.append(f"  %t{step} = sparse_tensor.convert {last} : "
                         f"{sparse(one)} to {sparse(other)}")
            last = f"%t{step}"
        lines.append(f"  return {last} : {sparse(name)}")
        program.entry(f"trip_{name}", [sparse(name)], [sparse(name)],
                      "\n".join(lines))
        for shape in ((6, 8), (1, 9), (33, 2), (0, 3), (4, 0)):
            some = rng.random(shape) < 0.4
            storage = stored(rng.choice([0.0, 1.5, np.nan, -np.inf, -0.25],
                                        shape), some, name)
            calls.call(f"trip_{name}", [storage],
                       lambda result, storage=storage: (
                           same_pattern(result, storage) +
                           same_bits(result.values, storage.values)),
                       str(shape))
    for name in ("BSR", "BSR23", "DenseRows"):
        program.entry(f"trip_{name}", [sparse("CSR")], [sparse("CSR"),
                                                        sparse(name)], f"""
  %b = sparse_tensor.convert %a0 : {sparse("CSR")} to {sparse(name)}
  %c = sparse_tensor.convert %b : {sparse(name)} to {sparse("CSR")}
  return %c, %b : {sparse("CSR")}, {sparse(name)}""")
        for shape in ((6, 6), (5, 7), (1, 1), (0, 3)):
            some = rng.random(shape) < 0.3
            array = np.where(some, rng.uniform(1, 2, shape), 0)

            def filled(csr, other, array=array, some=some, name=name):
                whole = closure(some, ENCODINGS[name])
                wanted, blocks = (stored(array, whole, "CSR"),
                                  stored(array, whole, name))
                return (same_pattern(csr, wanted) +
                        same_bits(csr.values, wanted.values) +
                        same_pattern(other, blocks) +
                        same_bits(other.values, blocks.values))
            calls.call(f"trip_{name}", [stored(array, some, "CSR")], filled,
                       str(shape))


def main():
    program = Program("metamorphic", 1, threads=1)
    for name, encoding in ENCODINGS.items():
        program.define_encoding(name, encoding)
        define(program, name)
    calls = Calls(program)
    for name in ENCODINGS:
        for _ in range(3):
            products(calls, name)
            samples(calls, name)
            softmaxes(calls, name)
    formats(program, calls)
    finish([program])


main()
