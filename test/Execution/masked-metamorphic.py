# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""What must not change a bit of values, gradients and tangents of masked ops:
what is behind the mask, the order of the rows, the number of threads, how a
mask is put together; and what changes them in a way that is known exactly."""

import numpy as np

from execution import DTYPES, Program, close, finish, same_bits, to_type
from masked_cases import KINDS, Op, add_op, poison_all, random_case

# The power of 2 by which a value grows with its input, and a gradient.
GROWTH = {"sum": (1, 0), "mean": (1, 0), "max": (1, 0), "min": (1, 0),
          "var": (2, 1), "std": (1, 0), "norm2": (1, 0)}
SHIFTED = ("masked_softmax", "masked_log_softmax")
# Exact on small integers, and linear in cotangent and tangent as they all are.
EXACT = ("sum", "max", "min", "prod")
# Vectorized, their elementary functions are those of libmvec, but of libm in the
# remainder of a loop: a row's bits depend on where it is.
ELEMENTARY = ("logsumexp", *SHIFTED)
# What changes nothing in a reduction, where a mask inside leaves out.
NEUTRAL = {"sum": "0.0", "prod": "1.0", "max": "{-inf}", "min": "{inf}"}
INFINITY = {"f64": ("0x7FF0000000000000", "0xFFF0000000000000")}
# Signalling NaNs, whose bits no rounding leads to.
SIGNALLING = {"f64": (0x7FF4000000000001, np.uint64),
              "f32": (0x7FA00001, np.uint32), "f16": (0x7D01, np.uint16),
              "bf16": (0x7FA00000, np.uint32)}
LARGEST = {"f64": 1.7e308, "f32": 3.4e38, "f16": 65504.0, "bf16": 3.3e38}


def poisons(element_type):
    bits, words = SIGNALLING[element_type]
    nan = np.array(bits, words).view(DTYPES[element_type])
    return [np.nan, np.inf, -np.inf, -LARGEST[element_type], nan, -nan]


class Comparison:
    """Calls an entry and compares what it gives with what its first call, on
    `arrays`, gave."""

    def __init__(self, program, name, op, arrays):
        self.program, self.name, self.op = program, name, op
        self.arrays = self.typed(*arrays)
        self.first = None

        def keep(*results):
            self.first = results
            assert all(np.any(r) for r in results if r.size), "all zero"
            return 1

        program.call(name, self.arrays, keep)

    def typed(self, x, mask, g, t):
        return [to_type(x, self.op.type), mask, to_type(g, self.op.type),
                to_type(t, self.op.type)]

    def call(self, arrays, expected, label, **keywords):
        """`expected` makes value, gradient and tangent of the first ones."""
        def check(*results):
            return sum(same_bits(a, b, f"{label}: {what}") for a, b, what in
                       zip(results, expected(*self.first),
                           ("value", "gradient", "tangent"), strict=True))

        self.program.call(self.name, arrays, check, **keywords)


def same(*results):
    return results


def behind_the_mask(comparison):
    x, mask, g, t = comparison.arrays
    op = comparison.op
    chosen = op.chosen(x, mask)
    for poison in poisons(op.type):
        def hide(array):
            result = array.copy()
            result[~chosen] = poison
            return result
        comparison.call([hide(x), mask, hide(g) if op.is_softmax else g,
                         hide(t)], same, f"{poison} behind the mask")


def rows(comparison, rng):
    x, mask, g, t = comparison.arrays
    order = rng.permutation(len(x))
    half = len(x) // 2
    comparison.call([a[order] for a in (x, mask, g, t)],
                    lambda *found: [a[order] for a in found], "permuted rows")
    for part, what in ((slice(half), "upper"), (slice(half, None), "lower")):
        comparison.call([a[part] for a in (x, mask, g, t)],
                        lambda *found, part=part: [a[part] for a in found],
                        f"{what} half")


def powers_of_two(comparison):
    x, mask, g, t = comparison.arrays
    for factor in (8.0, 0.25):
        if comparison.op.kind in GROWTH:
            of_value, of_slope = (factor**e for e in
                                  GROWTH[comparison.op.kind])
            comparison.call(
                [x * x.dtype.type(factor), mask, g, t],
                lambda y, dx, ty, v=x.dtype.type(of_value),
                s=x.dtype.type(of_slope): (y * v, dx * s, ty * s),
                f"x times {factor}")
        scale = x.dtype.type(factor)
        comparison.call([x, mask, g * scale, t * scale],
                        lambda y, dx, ty, s=scale: (y, dx * s, ty * s),
                        f"cotangent and tangent times {factor}")


def shifted(comparison):
    """The first arrays hold multiples of 1/4, to which 5 adds exactly."""
    x, mask, g, t = comparison.arrays
    comparison.call([x + x.dtype.type(5), mask, g, t], same, "x plus 5")


def linear(comparison, rng):
    """A sum of two cotangents, and of two tangents, of small integers."""
    x, mask, g, t = comparison.arrays
    h = to_type(rng.integers(-3, 4, size=g.shape), comparison.op.type)
    u = to_type(rng.integers(-3, 4, size=t.shape), comparison.op.type)
    first, second = [], []
    for found, arrays in ((first, [g, t]), (second, [h, u])):
        comparison.program.call(comparison.name, [x, mask, *arrays],
                                lambda *r, found=found: found.extend(r) or 1)

    def check(_, dx, ty):
        return (close(dx, first[1] + second[1], 0, "sum of gradients") +
                close(ty, first[2] + second[2], 0, "sum of tangents"))

    comparison.program.call(comparison.name, [x, mask, g + h, t + u], check)


def within_rows(element_type, level, rng):
    """Reductions of rows, so that what happens in one stays in it."""
    program = Program(f"{element_type}_rows", level=level)
    for kind in KINDS:
        op = Op(kind, element_type, (3, 5), (1,), dynamic=True)
        add_op(program, kind, op)
        for shape in ((6, 9), (37, 33)):
            # Powers stay far from the limits of the type.
            x, mask, g, t = random_case(rng, op, shape)
            if kind == "prod":
                x = rng.choice([0.75, 1.25, -1.0], size=shape)
            comparison = Comparison(program, kind, op, (x, mask, g, t))
            behind_the_mask(comparison)
            if level < 2 or kind not in ELEMENTARY:
                rows(comparison, rng)
            # Results of f16 may be subnormal.
            if element_type != "f16":
                powers_of_two(comparison)
        integers = rng.integers(-3, 4, size=(6, 9)) * (
            0.25 if kind in SHIFTED else 1.0)
        if kind == "prod":
            integers = rng.choice([1.0, -1.0, 2.0], size=(6, 9))
        if kind in ("max", "min"):
            integers = np.arange(54.0).reshape(9, 6).T
        comparison = Comparison(program, kind, op, (
            integers, rng.random((6, 9)) < 0.7,
            rng.integers(-3, 4, size=op.result_shape((6, 9))),
            rng.integers(-3, 4, size=(6, 9))))
        if kind in SHIFTED:
            shifted(comparison)
        if kind in EXACT:
            linear(comparison, rng)
    return program


def across_threads(element_type, rng):
    """Reductions along each dimension and along both, of arrays that several
    threads share."""
    program = Program(f"{element_type}_threads", level=0, threads=1)
    for kind in KINDS:
        for dims, shapes in (((1,), ((513, 67), (2, 20011))),
                             ((0,), ((1023, 33), (20011, 2))),
                             ((0, 1), ((257, 131),))):
            op = Op(kind, element_type, (3, 5), dims, dynamic=True)
            name = f"{kind}_{''.join(map(str, dims))}"
            add_op(program, name, op)
            for shape in shapes:
                x, mask, g, t = random_case(rng, op, shape)
                # Products that neither vanish nor overflow.
                x = 2.0**(x / 64) if kind == "prod" else x
                comparison = Comparison(program, name, op, (x, mask, g, t))
                for threads in (2, 3, 4):
                    comparison.call(comparison.arrays, same,
                                    f"{threads} threads of {shape}",
                                    threads=threads)
    return program


def higher_derivatives(rng):
    """Poison in all arrays, also in the direction of a second derivative: of a
    gradient along a tangent, of that again, and of a gradient backward."""
    program = Program("higher_derivatives", level=0)
    x, m = "tensor<5x7xf64>", "tensor<5x7xi1>"
    for kind in KINDS:
        op = Op(kind, "f64", (5, 7), (1,))
        y = op.y_type
        program.define(f"""
func.func private @{kind}_f(%x: {x}, %m: {m}) -> {y} {{
  %q = arith.mulf %x, %x : {x}
  %y = {op.text('%q', '%m')}
  return %y : {y}
}}
func.func private @{kind}_g(%x: {x}, %m: {m}, %c: {y}) -> {x} {{
  %y, %d = sparse_autograd.vjp @{kind}_f(%x, %m) cotangents(%c) {{wrt = [0]}}
      : ({x}, {m}), ({y}) -> ({y}, {x})
  return %d : {x}
}}
func.func private @{kind}_h(%x: {x}, %m: {m}, %c: {y}, %t: {x}) -> {x} {{
  %y, %d = sparse_autograd.jvp @{kind}_g(%x, %m, %c) tangents(%t) {{wrt = [0]}}
      : ({x}, {m}, {y}), ({x}) -> ({x}, {x})
  return %d : {x}
}}""")
        program.entry(kind, [x, m, y, x], [x, x, x], f"""
  %h = func.call @{kind}_h(%a0, %a1, %a2, %a3) : ({x}, {m}, {y}, {x}) -> {x}
  %g, %r = sparse_autograd.vjp @{kind}_g(%a0, %a1, %a2) cotangents(%a3) {{wrt = [0]}}
      : ({x}, {m}, {y}), ({x}) -> ({x}, {x})
  %i, %t = sparse_autograd.jvp @{kind}_h(%a0, %a1, %a2, %a3) tangents(%a3) {{wrt = [0]}}
      : ({x}, {m}, {y}, {x}), ({x}) -> ({x}, {x})
  return %h, %r, %t : {x}, {x}, {x}""")
        arrays, first = random_case(rng, op, (5, 7)), []

        def check(*found, mask=arrays[1], first=first):
            for what, array in zip(("forward", "backward", "third"), found):
                assert np.all(np.isfinite(array)), f"{what}: not finite"
                assert np.all(array[~mask] == 0), f"{what}: behind the mask"
            if not first:
                first.extend(found)
            return sum(map(same_bits, found, first))

        program.call(kind, arrays, check)
        for _ in range(2):
            program.call(kind, poison_all(rng, op, *arrays), check, "poison")
    return program


def masks(element_type, rng):
    """A constant mask that is true everywhere is none; a conjunction is the
    same inside and outside of the program, also where one of its masks selects
    before the reduction does."""
    program = Program(f"{element_type}_masks", level=1)
    shape = (5, 11)
    x_type, m_type = f"tensor<5x11x{element_type}>", "tensor<5x11xi1>"
    positive, negative = INFINITY[element_type]
    for kind in KINDS:
        op = Op(kind, element_type, shape, (1,))
        bare = Op(kind, element_type, shape, (1,), masked=False)
        # Of x and the masks m, n and both: pairs that are the same.
        forms = [
            ("", bare.text("%x", "")),
            (f"%c = arith.constant dense<true> : {m_type}",
             op.text("%x", "%c")),
            ("", op.text("%x", "%both")),
            (f"%c = arith.andi %m, %n : {m_type}", op.text("%x", "%c")),
        ]
        if kind in NEUTRAL:
            neutral = NEUTRAL[kind].replace("{inf}", positive).replace(
                "{-inf}", negative)
            forms += [forms[2], (
                f"%e = arith.constant dense<{neutral}> : {x_type}\n"
                f"  %s = arith.select %m, %x, %e : {m_type}, {x_type}",
                op.text("%s", "%n"))]
        given = ", ".join([x_type] + [m_type] * 3)
        calls, returned = [], []
        for number, (before, text) in enumerate(forms):
            program.define(f"""
func.func private @{kind}_{number}(%x: {x_type}, %m: {m_type}, %n: {m_type}, %both: {m_type}) -> {op.y_type} {{
  {before}
  %y = {text}
  return %y : {op.y_type}
}}""")
            calls.append(
                f"  %r{number}:2 = sparse_autograd.vjp @{kind}_{number}(%a0, "
                f"%a1, %a2, %a3) cotangents(%a4) {{wrt = [0]}} : ({given}), "
                f"({op.y_type}) -> ({op.y_type}, {x_type})")
            returned += [f"%r{number}#0", f"%r{number}#1"]
        types = [op.y_type, x_type] * len(forms)
        program.entry(kind, [x_type, m_type, m_type, m_type, op.y_type], types,
                      "\n".join(calls) + f"""
  return {', '.join(returned)} : {', '.join(types)}""")
        m, n = rng.random((2, *shape)) < 0.7
        x, g = rng.normal(size=shape), rng.normal(size=op.result_shape(shape))
        # The first two take all of x.
        program.call(kind, [to_type(x, element_type), m, n, m & n,
                            to_type(g, element_type)], pairs(slice(0, 4)))
        x[~(m & n)] = np.nan
        if op.is_softmax:
            g[~(m & n)] = np.nan
        program.call(kind, [to_type(x, element_type), m, n, m & n,
                            to_type(g, element_type)], pairs(slice(4, None)))
    return program


def pairs(part):
    """A check that every second form gives what the one before it gives."""
    def check(*found):
        found, count = found[part], 0
        for at in range(0, len(found), 4):
            for what, a, b in zip(("value", "gradient"), found[at + 2:at + 4],
                                  found[at:at + 2]):
                count += same_bits(a, b, f"pair {at // 4}: {what}")
        return count
    return check


rng = np.random.default_rng(47)
finish([within_rows("f64", 3, rng), within_rows("f32", 3, rng),
        within_rows("f16", 0, rng), within_rows("bf16", 1, rng),
        across_threads("f32", rng), higher_derivatives(rng),
        masks("f64", rng)])
