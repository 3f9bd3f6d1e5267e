# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the ops of arith and math compute and what their derivatives are.

The formulas are written from calculus, on `Bounded` values, in a form that is
accurate on the points that are sampled: what they allow is what a computation
of that form may be off in the type.
"""

import math
from dataclasses import dataclass, field
from typing import Callable

import numpy as np

LN2, LN10 = np.log(np.longdouble(2)), np.log(np.longdouble(10))
TWO_OVER_SQRT_PI = 2 / np.sqrt(np.longdouble("3.14159265358979323846264338328"))

# Functions of NumPy that are missing in extended precision.
ERF = np.vectorize(math.erf, otypes=[np.longdouble])
ERFC = np.vectorize(math.erfc, otypes=[np.longdouble])


@dataclass
class Rule:
    """An op on floats, its value and its partial derivatives."""
    op: str
    value: Callable  # on extended precision
    partials: Callable  # Bounded operands, then the Bounded result: Bounded
    intervals: list  # of each operand
    points: list = field(default_factory=list)  # further ones, to the limits
    kinks: list = field(default_factory=list)  # (operands, partials), exact
    roundings: int = 2  # of the value
    smooth: bool = True  # has second derivatives worth testing

    def text(self, operands):
        """The op on values of these names, without its type."""
        if self.op == "math.clampf":
            return "math.clampf {} to [{}, {}]".format(*operands)
        return f"{self.op} {', '.join(operands)}"

    @property
    def arity(self):
        return len(self.intervals)


def _one(b):
    return b * 0 + 1


def _constant(value):
    def partial(*leaves):
        like = leaves[0]
        return type(like)(np.full(like.value.shape, value, np.longdouble), 0,
                          like.type)
    return partial


def _exactly(*values):
    return lambda *leaves: [_constant(v)(*leaves) for v in values]


def _cofunction(x):
    return ((1 - x) * (1 + x)).sqrt()


def _hypotenuse(x):
    # sqrt(1 + x^2) has no cancellation; extended precision does not overflow.
    return (1 + x * x).sqrt()


def _sin(x):
    return x.apply(np.sin, np.cos)


def _cos(x):
    return x.apply(np.cos, np.sin)


def _sinh(x):
    return x.apply(np.sinh, np.cosh)


def _cosh(x):
    return x.apply(np.cosh, np.sinh)


def _sign(x):
    return type(x)(np.sign(x.value), 0, x.type)


def _pow_partials(a, b, y):
    power = (a.log() * (b - 1)).exp()
    by_base = b * type(a)(np.power(a.value, b.value - 1), power.error, a.type)
    return [by_base, y * a.log()]


def _fused(a, b, c):
    """a * b + c, rounded once also in extended precision: where the sum cancels,
    the rounding of the product there is larger than that of the sum in f64. The
    product is split as by Dekker (A floating-point technique for extending the
    available precision, 1971), the sum as by Knuth."""
    def halves(x):
        high = x * np.longdouble(2**32 + 1)
        high = high - (high - x)
        return high, x - high
    a, b, c = (np.asarray(x, np.longdouble) for x in (a, b, c))
    product, (ah, al), (bh, bl) = a * b, halves(a), halves(b)
    rest = ((ah * bh - product) + ah * bl + al * bh) + al * bl
    total = product + c
    added = total - product
    rest = rest + ((product - (total - added)) + (c - added))
    return np.where(np.isfinite(rest) & (total + rest != 0), total + rest,
                    total)


def _round_half_away(x):
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


NAN, INF = math.nan, math.inf
ANY = (-2, 2)
WHOLE = [((v,), (0,)) for v in (0.0, 1.0, 0.5, -0.5, 1.5, -2.5, 57344.0, INF,
                                -INF, NAN)]
STEP = dict(intervals=[(-3, 3)], roundings=0, smooth=False)


def _extremum(op, value, nan_is_result):
    smaller = op.startswith("min")
    win, lose = ((0, 1), (1, 0)) if smaller else ((1, 0), (0, 1))
    kinks = [((1.5, 1.5), (0.5, 0.5)), ((3.0, 1.0), win), ((1.0, 3.0), lose),
             ((-INF, -INF), (0.5, 0.5)), ((INF, 1.0), win),
             ((0.0, -0.0), (0.5, 0.5))]
    kinks.append(((NAN, 1.0), (1, 0) if nan_is_result else (0, 1)))
    kinks.append(((1.0, NAN), (0, 1) if nan_is_result else (1, 0)))
    kinks.append(((NAN, NAN), (0.5, 0.5)))

    def partials(a, b, _):
        first = a.value < b.value if smaller else a.value > b.value
        share = np.where(a.value == b.value, 0.5, first)
        return [type(a)(share, 0, a.type), type(a)(1 - share, 0, a.type)]

    return Rule("arith." + op, value, partials, [ANY, ANY], kinks=kinks,
                roundings=0, smooth=False)


RULES = [
    Rule("arith.addf", lambda a, b: a + b, _exactly(1, 1), [ANY, ANY],
         roundings=1),
    Rule("arith.subf", lambda a, b: a - b, _exactly(1, -1), [ANY, ANY],
         roundings=1),
    Rule("arith.mulf", lambda a, b: a * b, lambda a, b, y: [b, a], [ANY, ANY],
         roundings=1),
    Rule("arith.divf", lambda a, b: a / b,
         lambda a, b, y: [1 / b, -(y / b)], [ANY, (0.5, 2)], roundings=1),
    Rule("arith.negf", lambda x: -x, _exactly(-1), [ANY], roundings=0),
    Rule("arith.remf", np.fmod,
         lambda a, b, y: [_constant(1)(a), type(a)(
             -np.trunc(a.value / b.value), 0, a.type)],
         [(4.2, 4.8), (1.9, 2.05)], roundings=0, smooth=False,
         kinks=[((4.0, 2.0), (1, -2)), ((-4.5, 2.0), (1, 2)),
                ((0.5, 2.0), (1, 0))]),
    _extremum("maximumf", np.maximum, True),
    _extremum("minimumf", np.minimum, True),
    _extremum("maxnumf", np.fmax, False),
    _extremum("minnumf", np.fmin, False),
    Rule("math.absf", np.abs, lambda x, y: [_sign(x)], [ANY], roundings=0,
         kinks=[((0.0,), (0,)), ((-0.0,), (0,)), ((-INF,), (-1,))],
         smooth=False),
    Rule("math.acos", np.arccos, lambda x, y: [-1 / _cofunction(x)],
         [(-0.9, 0.9)], points=[(0.999,), (-0.998,)]),
    Rule("math.acosh", np.arccosh,
         lambda x, y: [1 / ((x - 1).sqrt() * (x + 1).sqrt())], [(1.2, 4)],
         points=[(1.001,), (30000.0,)]),
    Rule("math.asin", np.arcsin, lambda x, y: [1 / _cofunction(x)],
         [(-0.9, 0.9)], points=[(0.999,), (-0.998,)]),
    Rule("math.asinh", np.arcsinh, lambda x, y: [1 / _hypotenuse(x)],
         [(-4, 4)], points=[(30000.0,), (-500.0,)]),
    Rule("math.atan", np.arctan, lambda x, y: [1 / (1 + x * x)], [(-4, 4)],
         points=[(100.0,), (-0.001,)]),
    Rule("math.atan2", np.arctan2,
         lambda a, b, y: [b / (a * a + b * b), -(a / (a * a + b * b))],
         [ANY, (0.5, 2)], points=[(-1.5, -0.5), (3.0, -1e-3), (100.0, 200.0)]),
    Rule("math.atanh", np.arctanh, lambda x, y: [1 / ((1 - x) * (1 + x))],
         [(-0.9, 0.9)], points=[(0.99,)]),
    Rule("math.cbrt", np.cbrt, lambda x, y: [1 / (3 * (y * y))], [(0.1, 4)],
         points=[(-0.5,), (-3.0,)], kinks=[((0.0,), (INF,))]),
    Rule("math.ceil", np.ceil, _exactly(0), kinks=WHOLE, **STEP),
    Rule("math.clampf", lambda a, b, c: np.maximum(np.minimum(a, c), b),
         lambda a, b, c, y: [
             type(a)((a.value > b.value) & (a.value < c.value), 0, a.type),
             type(a)(a.value < b.value, 0, a.type),
             type(a)(a.value > c.value, 0, a.type)],
         [(-3, 3), (-1.5, -1), (1, 1.5)], roundings=0, smooth=False,
         kinks=[((1.0, 0.0, 1.0), (0.5, 0, 0.5)),
                ((0.0, 0.0, 1.0), (0.5, 0.5, 0)),
                ((NAN, 0.0, 1.0), (1, 0, 0))]),
    Rule("math.copysign", np.copysign,
         lambda a, b, y: [type(a)(np.sign(a.value) * np.copysign(1, b.value),
                                  0, a.type), _constant(0)(a)],
         [ANY, ANY], roundings=0, smooth=False,
         kinks=[((0.0, 1.0), (0, 0)), ((2.0, -0.0), (-1, 0))]),
    Rule("math.cos", np.cos, lambda x, y: [-_sin(x)], [(-4, 4)]),
    Rule("math.cosh", np.cosh, lambda x, y: [_sinh(x)], [(-3, 3)],
         points=[(8.0,), (0.001,)]),
    Rule("math.erf", ERF,
         lambda x, y: [TWO_OVER_SQRT_PI * (-(x * x)).exp()], [(-3, 3)]),
    Rule("math.erfc", ERFC,
         lambda x, y: [-(TWO_OVER_SQRT_PI * (-(x * x)).exp())], [(-2, 2)]),
    Rule("math.exp", np.exp, lambda x, y: [y], [(-3, 3)], points=[(-8.0,)],
         kinks=[((-INF,), (0,)), ((0.0,), (1,))]),
    Rule("math.exp2", np.exp2, lambda x, y: [LN2 * y], [(-4, 4)]),
    Rule("math.expm1", np.expm1, lambda x, y: [x.exp()], [(-3, 3)],
         points=[(-8.0,), (1e-4,)]),
    Rule("math.floor", np.floor, _exactly(0), kinks=WHOLE, **STEP),
    Rule("math.fma", _fused,
         lambda a, b, c, y: [b, a, _constant(1)(a)], [ANY, ANY, ANY],
         roundings=1),
    Rule("math.log", np.log, lambda x, y: [1 / x], [(0.2, 4)],
         points=[(0.001,), (1.001,)], kinks=[((0.0,), (INF,))]),
    Rule("math.log10", np.log10, lambda x, y: [1 / (LN10 * x)], [(0.2, 4)]),
    Rule("math.log1p", np.log1p, lambda x, y: [1 / (1 + x)], [(-0.8, 3)],
         points=[(1e-4,)]),
    Rule("math.log2", np.log2, lambda x, y: [1 / (LN2 * x)], [(0.2, 4)]),
    Rule("math.powf", np.power, _pow_partials, [(0.2, 3), (-2.5, 2.5)],
         kinks=[((0.0, 0.0), (0, 0)), ((0.0, 1.0), (1, 0)),
                ((0.0, 2.0), (0, 0)), ((0.0, 0.5), (INF, 0)),
                ((0.0, -1.0), (-INF, -INF)),
                ((-2.0, 2.0), (-4, NAN))]),
    Rule("math.round", _round_half_away, _exactly(0), kinks=WHOLE,
         **STEP),
    Rule("math.roundeven", np.rint, _exactly(0), kinks=WHOLE,
         **STEP),
    Rule("math.rsqrt", lambda x: 1 / np.sqrt(x),
         lambda x, y: [-0.5 * y * (y * y)], [(0.3, 4)], roundings=3),
    Rule("math.sin", np.sin, lambda x, y: [_cos(x)], [(-4, 4)]),
    Rule("math.sinh", np.sinh, lambda x, y: [_cosh(x)], [(-3, 3)],
         points=[(8.0,)]),
    Rule("math.sqrt", np.sqrt, lambda x, y: [0.5 / y], [(0.3, 4)],
         roundings=1, kinks=[((0.0,), (INF,))]),
    Rule("math.tan", np.tan, lambda x, y: [1 + y * y], [(-1.2, 1.2)]),
    Rule("math.tanh", np.tanh, lambda x, y: [(1 - y) * (1 + y)], [(-3, 3)],
         points=[(0.001,), (-9.0,)], kinks=[((INF,), (0,))]),
    Rule("math.trunc", np.trunc, _exactly(0), kinks=WHOLE, **STEP),
]
