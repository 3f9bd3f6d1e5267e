# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Reference arithmetic that carries a bound of the rounding errors.

A `Bounded` holds a reference value (in extended precision) and how far a
computation in a type of unit roundoff `u` may be from it, by the model of
floating arithmetic: an operation rounds once, a sum of n terms is off by at most
gamma_n times the sum of their magnitudes, and errors of operands propagate to
first order and beyond. An elementary function counts as two roundings. The
factor `SAFETY` that tests may grant is applied once, by `allowance`.
"""

import numpy as np

from masked_ops import EPSILON, SAFETY, SUBNORMAL, gamma, rounding


def _times(a, b):
    """a * b, where 0 times anything that is not bounded is 0."""
    return np.where((a == 0) | (b == 0), 0, a * b)


class Bounded:
    """A value and a bound of the error of computing it in unit roundoff u."""

    __array_priority__ = 100

    def __init__(self, value, error=0.0, element_type="f64"):
        self.value = np.asarray(value, np.longdouble)
        self.error = np.broadcast_to(np.asarray(error, np.longdouble),
                                     self.value.shape)
        self.type = element_type

    # Building blocks.

    def _lift(self, other):
        if isinstance(other, Bounded):
            return other
        return Bounded(other, 0.0, self.type)

    def _rounded(self, value, error, roundings=1):
        with np.errstate(all="ignore"):
            value = np.asarray(value, np.longdouble)
            magnitude = np.where(np.isfinite(value), np.abs(value), 0) + error
            error = error + roundings * (EPSILON[self.type] * magnitude +
                                         SUBNORMAL[self.type])
            return Bounded(value, error, self.type)

    def allowance(self, element_type=None):
        """What a test allows: SAFETY times the bound, and one rounding to the
        type of the result."""
        of_result = rounding(self.value.astype(np.float64),
                             element_type) if element_type else 0.0
        return SAFETY * self.error.astype(np.float64) + of_result

    def to(self, element_type):
        """Rounded to another type, in which computing goes on."""
        result = Bounded(self.value, self.error, element_type)
        if EPSILON[element_type] <= EPSILON[self.type]:
            return result
        return result._rounded(self.value, self.error)

    # Arithmetic.

    def __add__(self, other):
        other = self._lift(other)
        with np.errstate(all="ignore"):
            return self._rounded(self.value + other.value,
                                 self.error + other.error)

    def __neg__(self):
        return Bounded(-self.value, self.error, self.type)

    def __sub__(self, other):
        return self + (-self._lift(other))

    def __mul__(self, other):
        other = self._lift(other)
        with np.errstate(all="ignore"):
            error = (_times(np.abs(self.value), other.error) +
                     _times(np.abs(other.value), self.error) +
                     _times(self.error, other.error))
            error = np.where(np.isnan(error), 0, error)
            return self._rounded(self.value * other.value, error)

    def __truediv__(self, other):
        other = self._lift(other)
        with np.errstate(all="ignore"):
            value = self.value / other.value
            error = (self.error + np.abs(value) * other.error) / (
                np.abs(other.value) - other.error)
            # A divisor that may be zero bounds nothing.
            error = np.where(np.abs(other.value) > other.error, error, np.inf)
            error = np.where(self.error + other.error == 0, 0, error)
            return self._rounded(value, error)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other):
        return self._lift(other) - self

    def __rtruediv__(self, other):
        return self._lift(other) / self

    def sum(self, axis):
        """A sum in any order, as gamma_n has it."""
        axis = tuple(axis)
        count = int(np.prod([self.value.shape[d] for d in axis],
                            dtype=np.int64))
        if not axis:
            return self
        with np.errstate(all="ignore"):
            terms = np.where(np.isfinite(self.value), np.abs(self.value), 0)
            terms = terms + self.error
            error = self.error.sum(axis) + (
                gamma(count, EPSILON[self.type]) * terms.sum(axis))
            return Bounded(self.value.sum(axis), error, self.type)

    def where(self, mask, other=0.0):
        """This where the mask selects, `other` elsewhere."""
        other = self._lift(other)
        return Bounded(np.where(mask, self.value, other.value),
                       np.where(mask, self.error, other.error), self.type)

    def expand(self, axis):
        axis = tuple(sorted(axis))
        return Bounded(np.expand_dims(self.value, axis),
                       np.expand_dims(self.error, axis), self.type)

    def apply(self, function, derivative):
        """An elementary function, with its derivative's magnitude taken over
        the interval of the error."""
        with np.errstate(all="ignore"):
            value = function(self.value)
            slopes = [np.abs(derivative(self.value + shift))
                      for shift in (-self.error, 0 * self.error, self.error)]
            slope = np.where(self.error > 0, np.fmax.reduce(slopes), 0)
            error = np.where(self.error > 0, slope * self.error, 0)
            # f16 and bf16 are computed in f32 and rounded once.
            wide = self.type in ("f64", "f32")
            return self._rounded(value, error, roundings=2 if wide else 1)

    def exp(self):
        return self.apply(np.exp, np.exp)

    def log(self):
        return self.apply(np.log, lambda x: 1 / x)

    def sqrt(self):
        return self.apply(np.sqrt, lambda x: 0.5 / np.sqrt(x))


def _check():
    """The bounds hold for computations in f32, and are no wider than they
    should be."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 40)).astype(np.float32)
    y = rng.uniform(0.5, 2, size=(50, 40)).astype(np.float32)

    def program(x, y, exp, total):
        return total(exp(x * y - x / y) * x) / (total(y) - 3)

    actual = program(x, y, np.exp, lambda v: v.sum(1, dtype=np.float32))
    bounded = program(Bounded(x, 0, "f32"), Bounded(y, 0, "f32"),
                      Bounded.exp, lambda v: v.sum((1,)))
    error = np.abs(actual - bounded.value)
    assert np.all(error <= bounded.error), (error, bounded.error)
    assert np.any(error > 0)
    relative = bounded.error / np.abs(bounded.value)
    assert np.median(relative) < 1e-4, np.median(relative)
    assert np.all(Bounded(x, 0, "f64").where(y > 1).error == 0)
    # What nothing is known of stays so, unless nothing is left of it.
    unknown = Bounded(0.0, np.inf)
    assert np.isinf((Bounded(2.0) * unknown).error)
    assert np.isinf((unknown * Bounded(2.0, 0.1)).error)
    assert (Bounded(0.0) * unknown).error < 1e-300
    print("bounded: all checks passed")


if __name__ == "__main__":
    _check()
