# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""What numbers are, and how they are rounded: f64 to bf16 once, not by way of
f32; infinities and normal numbers in every type; signs that come from a
narrower one; what is stored or compared is what a loop goes on with."""

import numpy as np

from execution import FLOATS, Program, close, finish, same_bits, to_type

# Bits of precision, and the exponent of the smallest normal number.
FORMATS = {"f64": (53, -1022), "f32": (24, -126), "f16": (11, -14),
           "bf16": (8, -126)}
LARGEST = {"f64": np.finfo(np.float64).max, "f32": np.finfo(np.float32).max,
           "f16": 65504.0, "bf16": (2 - 2.0**-7) * 2.0**127}


def round_to_bf16(x):
    """To the nearest number of bf16, ties to even, from f64 in one step."""
    x = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(x)
        # The last place of x, not below that of the subnormal numbers.
        place = np.maximum(exponent - 8, -126 - 7)
        rounded = np.ldexp(np.rint(np.ldexp(x, -place)), place)
        rounded = np.where(np.isfinite(x), rounded, x)
        largest = LARGEST["bf16"]
        return np.where(np.abs(rounded) > largest,
                        np.copysign(np.inf, rounded),
                        rounded).astype(np.float32)


def doubles(rng):
    """Numbers about those of bf16 and the middles between two of them."""
    exponents = np.concatenate([rng.integers(-140, 129, 4000),
                                [-134, -133, -127, -126, 126, 127, 128] * 40])
    base = np.ldexp(rng.integers(128, 257, exponents.size) / 128.0, exponents)
    half = np.ldexp(1.0, np.maximum(exponents - 8, -134))
    near = np.concatenate([base, base + half, base - half])
    # An f64 next to a tie, which in f32 is the tie.
    near = np.concatenate([near, np.nextafter(near, np.inf),
                           np.nextafter(near, -np.inf),
                           near * (1 + 2.0**-40), near * (1 - 2.0**-30)])
    special = [0.0, np.inf, np.nan, 5e-324, LARGEST["bf16"], LARGEST["f32"],
               LARGEST["f64"], 2.0**-133, 2.0**-134, 1.5 * 2.0**-134]
    near = np.concatenate([near, special])
    return np.concatenate([near, -near])


program = Program("rounding", level=1)
program.entry("round", ["tensor<?xf64>"], ["tensor<?xbf16>"], """
  %r = arith.truncf %a0 : tensor<?xf64> to tensor<?xbf16>
  return %r : tensor<?xbf16>""")
program.entry("round_one", ["f64"], ["bf16"], """
  %r = arith.truncf %a0 : f64 to bf16
  return %r : bf16""")
numbers = doubles(np.random.default_rng(5))
expected = round_to_bf16(numbers)
assert np.array_equal(expected[:0], to_type(numbers[:0], "bf16"))
finite = ~np.isnan(numbers)
program.call("round", [numbers[finite]],
             lambda r: same_bits(r, expected[finite]))
program.call("round", [numbers[~finite]],
             lambda r: np.isnan(r).all() and r.size or 1 / 0)
# 1 + 2^-8 + 2^-40 is above the middle of 1 and 1 + 2^-7; in f32 it is the
# middle, which would become 1.
program.call("round_one", [1 + 2.0**-8 + 2.0**-40],
             lambda r: same_bits(r, np.float32(1 + 2.0**-7)))

# NumPy rounds to f16 in one step. With no instruction for it LLVM calls a
# library, which is not there.
program.entry("round_f16", ["tensor<?xf64>"], ["tensor<?xf16>"], """
  %r = arith.truncf %a0 : tensor<?xf64> to tensor<?xf16>
  return %r : tensor<?xf16>""")
rng = np.random.default_rng(6)
with np.errstate(over="ignore"):
    half = np.ldexp(rng.uniform(-1, 1, 4000), rng.integers(-27, 16, 4000))
    half = half.astype(np.float16)
    ties = (half.astype(np.float64) +
            np.nextafter(half, np.float16(np.inf)).astype(np.float64)) / 2
    near = np.concatenate([half, ties, np.nextafter(ties, np.inf),
                           np.nextafter(ties, -np.inf),
                           ties * (1 + 2.0**-40), numbers])
    halves = near.astype(np.float16)
program.call("round_f16", [near], lambda r, e=halves: same_bits(r, e))

for t in FLOATS:
    precision, least = FORMATS[t]
    program.entry(f"kinds_{t}", [f"tensor<?x{t}>"],
                  ["tensor<?xi1>", "tensor<?xi1>"], f"""
  %i = math.isinf %a0 : tensor<?x{t}>
  %n = math.isnormal %a0 : tensor<?x{t}>
  return %i, %n : tensor<?xi1>, tensor<?xi1>""")
    normal = np.ldexp(1.0, least)
    largest_subnormal = normal - np.ldexp(1.0, least - precision + 1)
    values = [0.0, 1.0, normal, largest_subnormal,
              np.ldexp(1.0, least - precision + 1), LARGEST[t], np.inf, np.nan]
    is_infinity = np.array([0, 0, 0, 0, 0, 0, 1, 0] * 2, bool)
    is_normal = np.array([0, 1, 1, 0, 0, 1, 0, 0] * 2, bool)
    array = to_type(np.array(values + [-v for v in values]), t)
    program.call(f"kinds_{t}", [array],
                 lambda i, n, a=is_infinity, b=is_normal:
                 same_bits(i, a) + same_bits(n, b), t)


def signs(level):
    """copysign of a constant and of an argument. Code that is not optimized took
    the sign of a bf16 for that of the constant."""
    program = Program(f"signs_{level}", level)
    for sign in FLOATS:
        for t in FLOATS:
            if t != sign and t not in ("f64", "f32")[:FLOATS.index(sign)]:
                continue
            op = "arith.extf" if t != sign else "tensor.cast"
            given = to_type(np.array([-1.0, 1.0, -0.0, 0.0, -np.inf, np.inf]),
                            sign)
            size = to_type(np.array([1.5, -1.5, 0.0, -0.0, np.inf, 2.0]), t)
            # Apart: two in one loop are computed in another way.
            for name, magnitude, expected in (
                    ("constant", "arith.constant dense<0.5>", 0.5),
                    ("argument", f"tensor.cast %a1 : tensor<6x{t}> to", size)):
                program.entry(f"{name}_{t}_{sign}",
                              [f"tensor<6x{sign}>", f"tensor<6x{t}>"],
                              [f"tensor<6x{t}>"], f"""
  %s = {op} %a0 : tensor<6x{sign}> to tensor<6x{t}>
  %m = {magnitude} {":" * (name == "constant")} tensor<6x{t}>
  %r = math.copysign %m, %s : tensor<6x{t}>
  return %r : tensor<6x{t}>""")
                signed = to_type(np.copysign(expected, given), t)
                program.call(f"{name}_{t}_{sign}", [given, size],
                             lambda r, e=signed: same_bits(r, e), t)
    return program


def deviations(level):
    """One element deviates by 0 from itself: the loop of the mean computes it
    from numbers that it stores, and that of the deviations from what is stored,
    for the program or for its derivative."""
    program = Program(f"deviations_{level}", level)
    rng = np.random.default_rng(7)
    shape = (37, 5)
    for t in ("f16", "bf16"):
        x, row = f"tensor<?x?x{t}>", f"tensor<?x{t}>"
        for op in ("math.log1p", "math.exp", "math.tanh"):
            name = f"{op[5:]}_{t}"
            program.define(f"""
func.func private @{name}(%x: {x}, %m: tensor<?x?xi1>) -> ({row}, {x}) {{
  %u = {op} %x : {x}
  %v = arith.mulf %u, %x : {x}
  %r = sparse_autograd.masked_reduce std %v, %m dims = [1] : {x}, tensor<?x?xi1> -> {row}
  return %r, %u : {row}, {x}
}}""")
            program.entry(f"value_{name}", [x, "tensor<?x?xi1>"], [row, x], f"""
  %r:2 = func.call @{name}(%a0, %a1) : ({x}, tensor<?x?xi1>) -> ({row}, {x})
  return %r#0, %r#1 : {row}, {x}""")
            program.entry(f"vjp_{name}", [x, "tensor<?x?xi1>", row, x], [row, x],
                          f"""
  %r:3 = sparse_autograd.vjp @{name}(%a0, %a1) cotangents(%a2, %a3) {{wrt = [0]}}
      : ({x}, tensor<?x?xi1>), ({row}, {x}) -> ({row}, {x}, {x})
  return %r#0, %r#2 : {row}, {x}""")
            values = to_type(rng.uniform(-0.9, 3, shape), t)
            mask = np.zeros(shape, bool)
            mask[np.arange(37), rng.integers(0, 5, 37)] = True
            zeros = to_type(np.zeros(37), t)
            cotangents = [to_type(rng.uniform(0.5, 1, s), t) for s in (37, shape)]
            for kind, more in (("value", []), ("vjp", cotangents)):
                program.call(f"{kind}_{name}", [values, mask, *more],
                             lambda r, _, e=zeros: same_bits(r, e))
    return program


def minima(level):
    """A minimum, which is stored, is the operand that it came from: its
    cotangent goes there."""
    program = Program(f"minima_{level}", level)
    x = np.random.default_rng(8).uniform(0.5, 2, 63)
    for t in ("f16", "bf16"):
        v = f"tensor<?x{t}>"
        program.define(f"""
func.func private @least_{t}(%x: {v}, %y: {v}) -> {v} {{
  %u = math.rsqrt %x : {v}
  %r = arith.minnumf %u, %y : {v}
  return %r : {v}
}}""")
        program.entry(f"vjp_{t}", [v, v, v], [v, v, v], f"""
  %r:3 = sparse_autograd.vjp @least_{t}(%a0, %a1) cotangents(%a2) {{wrt = [0, 1]}}
      : ({v}, {v}), ({v}) -> ({v}, {v}, {v})
  return %r#0, %r#1, %r#2 : {v}, {v}, {v}""")
        values, large, ones = (to_type(n, t) for n in (x, x + 5, np.ones(63)))
        exact = np.asarray(values, np.float64)

        def check(least, dx, dy, x=exact, t=t):
            eps = 2.0 ** (1 - FORMATS[t][0])
            return (close(least, x**-0.5, 2 * eps, "minimum")
                    + close(dx, -0.5 * x**-1.5, 6 * eps, "its gradient")
                    + close(dy, np.zeros(63), 0.0, "the other"))

        program.call(f"vjp_{t}", [values, large, ones], check)
    return program


finish([program, signs(0), signs(3), deviations(0), deviations(3), minima(0),
        minima(3)])
