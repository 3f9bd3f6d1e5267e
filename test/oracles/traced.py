# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Functions of arrays, their gradients, and bounds of the rounding errors.

A function written with the operators and the functions of this module takes

- NumPy arrays, complex ones for a complex step, or
- `Traced` values, which carry a `Bounded` (what a computation in a narrower type
  may be off by) and remember how they came about, so that `gradients` gives the
  gradients with bounds of their errors, op by op, in the usual reverse sweep.

A comparison that rounding could turn around is an error: choose other inputs.
"""

import numpy as np
from scipy import special

from bounded import Bounded


class Traced:
    """A Bounded, and how cotangents of it reach its operands."""

    __array_priority__ = 200
    __array_ufunc__ = None

    def __init__(self, value, operands=()):
        self.value = value
        self.operands = operands  # pairs of a Traced and a pullback

    @property
    def shape(self):
        return self.value.value.shape

    @property
    def type(self):
        return self.value.type

    def _lift(self, other):
        if isinstance(other, Traced):
            return other
        return Traced(Bounded(other, 0.0, self.type))

    def __add__(self, other):
        other = self._lift(other)
        return Traced(self.value + other.value, (
            (self, lambda ct: _unbroadcast(ct, self.shape)),
            (other, lambda ct: _unbroadcast(ct, other.shape))))

    def __mul__(self, other):
        other = self._lift(other)
        return Traced(self.value * other.value, (
            (self, lambda ct: _unbroadcast(ct * other.value, self.shape)),
            (other, lambda ct: _unbroadcast(ct * self.value, other.shape))))

    def __neg__(self):
        return Traced(-self.value, ((self, lambda ct: -ct),))

    def __truediv__(self, other):
        other = self._lift(other)
        result = self.value / other.value
        return Traced(result, (
            (self, lambda ct: _unbroadcast(ct / other.value, self.shape)),
            (other, lambda ct: _unbroadcast(-(ct * result / other.value),
                                            other.shape))))

    def __sub__(self, other):
        return self + (-self._lift(other))

    def __rsub__(self, other):
        return self._lift(other) - self

    def __rtruediv__(self, other):
        return self._lift(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def __pow__(self, power):
        result = self
        for _ in range(power - 1):
            result = result * self
        return result

    def __matmul__(self, other):
        return matmul(self, other)

    def __getitem__(self, at):
        shape = self.shape

        def scatter(ct):
            value = np.zeros(shape, np.longdouble)
            size = np.zeros(shape, np.longdouble)
            error = np.zeros(shape, np.longdouble)
            count = np.zeros(shape, np.int64)
            np.add.at(value, at, ct.value)
            np.add.at(size, at, np.abs(ct.value) + ct.error)
            np.add.at(error, at, ct.error)
            np.add.at(count, at, 1)
            # As Bounded.sum bounds a sum in any order.
            u = _unit(ct.type)
            error = error + count * u / (1 - count * u) * size * (count > 1)
            return Bounded(value, error, ct.type)

        return Traced(_map(self.value, lambda a: a[at]), ((self, scatter),))


def _unit(element_type):
    from masked_ops import EPSILON
    return EPSILON[element_type]


def _map(bounded, move):
    """What moves elements of the value moves those of the error."""
    return Bounded(move(bounded.value), move(bounded.error), bounded.type)


def _unbroadcast(ct, shape):
    """The sum over the dimensions along which `shape` was broadcast."""
    extra = tuple(range(ct.value.ndim - len(shape)))
    if extra:
        ct = ct.sum(extra)
    axes = tuple(d for d, extent in enumerate(shape)
                 if extent == 1 and ct.value.shape[d] != 1)
    if axes:
        ct = ct.sum(axes).expand(axes)
    return _map(ct, lambda a: np.broadcast_to(a, shape))


# Functions of either kind of arrays.

def _elementary(of_array, value, slope):
    """A function of one argument; `slope(x, y)` is its derivative, of Traced
    or Bounded values as of arrays."""
    def function(x):
        if not isinstance(x, Traced):
            return of_array(x)
        y = x.value.apply(value, lambda v: slope(v, value(v)))
        return Traced(y, ((x, lambda ct: ct * slope(x.value, y)),))
    return function


def _apply(x, function, derivative):
    return x.apply(function, derivative) if isinstance(x, Bounded) else (
        function(x))


exp = _elementary(np.exp, np.exp, lambda x, y: y)
log = _elementary(np.log, np.log, lambda x, y: 1 / x)
sqrt = _elementary(np.sqrt, np.sqrt, lambda x, y: 0.5 / y)
rsqrt = _elementary(lambda x: 1 / np.sqrt(x), lambda x: 1 / np.sqrt(x),
                    lambda x, y: -0.5 * (y * (y * y)))
tanh = _elementary(np.tanh, np.tanh, lambda x, y: (1 - y) * (1 + y))
sin = _elementary(np.sin, np.sin, lambda x, y: _apply(
    x, np.cos, lambda v: np.sin(v)))
erf = _elementary(
    special.erf,
    lambda v: special.erf(np.asarray(v, np.float64)).astype(np.longdouble),
    lambda x, y: float(2 / np.sqrt(np.pi)) * _apply(-(x * x), np.exp, np.exp))


def _real(x):
    return np.real(x.value.value if isinstance(x, Traced) else x)


def less(x, y):
    """x < y, where rounding cannot turn it around."""
    margin = sum(np.max(v.value.error, initial=0) for v in (x, y)
                 if isinstance(v, Traced))
    a, b = _real(x), _real(y)
    with np.errstate(invalid="ignore"):
        assert np.all((a == b) | (np.abs(a - b) > 8 * margin)), (
            "a comparison that rounding may decide")
    return a < b


def where(mask, x, y):
    """x where the mask holds, else y; what is not selected has the gradient
    zero, be it infinite."""
    mask = np.asarray(mask)
    if not isinstance(x, Traced) and not isinstance(y, Traced):
        return np.where(mask, x, y)
    x, y = (x if isinstance(x, Traced) else y._lift(x)), (
        y if isinstance(y, Traced) else x._lift(y))
    value = Bounded(np.where(mask, x.value.value, y.value.value),
                    np.where(mask, x.value.error, y.value.error), x.type)
    return Traced(value, (
        (x, lambda ct: _unbroadcast(ct.where(mask), x.shape)),
        (y, lambda ct: _unbroadcast(ct.where(~mask), y.shape))))


def maximum(x, y):
    """The larger; there are no ties."""
    return where(less(x, y), y, x)


def minimum(x, y):
    return where(less(x, y), x, y)


def sum_(x, axis, keepdims=False):
    axis = axis if isinstance(axis, tuple) else (axis,)
    if not isinstance(x, Traced):
        return np.sum(x, axis=axis, keepdims=keepdims)
    axis = tuple(d % len(x.shape) for d in axis)
    value = x.value.sum(axis)
    result = Traced(value, ((x, lambda ct: _map(
        ct.expand(axis), lambda a: np.broadcast_to(a, x.shape))),))
    if keepdims:
        result = reshape(result, tuple(
            1 if d in axis else extent for d, extent in enumerate(x.shape)))
    return result


def total(x):
    return sum_(x, tuple(range(len(x.shape))))


def mean(x, axis, keepdims=False):
    return sum_(x, axis, keepdims) / float(x.shape[axis])


def max_(x, axis):
    """The largest along a dimension that stays with extent 1."""
    at = np.expand_dims(np.argmax(_real(x), axis), axis)
    index = list(np.ogrid[tuple(map(slice, at.shape))])
    index[axis] = at
    return x[tuple(index)]


def reshape(x, shape):
    if not isinstance(x, Traced):
        return np.reshape(x, shape)
    return Traced(_map(x.value, lambda a: np.reshape(a, shape)), (
        (x, lambda ct: _map(ct, lambda a: np.reshape(a, x.shape))),))


def transpose(x, order):
    if not isinstance(x, Traced):
        return np.transpose(x, order)
    return Traced(_map(x.value, lambda a: np.transpose(a, order)), (
        (x, lambda ct: _map(ct, lambda a: np.transpose(
            a, np.argsort(order)))),))


def pad(x, amounts, value=0.0):
    if not isinstance(x, Traced):
        return np.pad(x, amounts, constant_values=value)
    inside = tuple(slice(low, low + extent)
                   for (low, _), extent in zip(amounts, x.shape))
    padded = Bounded(np.pad(x.value.value, amounts, constant_values=value),
                     np.pad(x.value.error, amounts), x.type)
    return Traced(padded, ((x, lambda ct: _map(ct, lambda a: a[inside])),))


def concatenate(xs, axis):
    if not any(isinstance(x, Traced) for x in xs):
        return np.concatenate(xs, axis)
    ends = np.cumsum([0] + [x.shape[axis] for x in xs])

    def part(i):
        at = tuple(slice(None) for _ in range(axis)) + (
            slice(ends[i], ends[i + 1]),)
        return lambda ct: _map(ct, lambda a: a[at])

    value = Bounded(np.concatenate([x.value.value for x in xs], axis),
                    np.concatenate([x.value.error for x in xs], axis),
                    xs[0].type)
    return Traced(value, tuple((x, part(i)) for i, x in enumerate(xs)))


def matmul(a, b):
    """Products of matrices, in stacks that have the same shape; b may be a
    vector."""
    if not isinstance(a, Traced) and not isinstance(b, Traced):
        return a @ b
    if len(b.shape) == 1:
        return sum_(a * b, -1)
    left = reshape(a, a.shape + (1,))
    right = reshape(b, b.shape[:-2] + (1,) + b.shape[-2:])
    return sum_(left * right, -2)


def softmax(x, axis=-1):
    e = exp(x - max_(x, axis % len(x.shape)))
    return e / sum_(e, axis, keepdims=True)


def log_softmax(x, axis=-1):
    shifted = x - max_(x, axis % len(x.shape))
    return shifted - log(sum_(exp(shifted), axis, keepdims=True))


def windows(x, size, strides=(1, 1), dilations=(1, 1)):
    """The places of a window of the middle dimensions of an NHWC array: for
    every position in it an NHWC array."""
    counts = [(x.shape[1 + d] - (size[d] - 1) * dilations[d] - 1) //
              strides[d] + 1 for d in range(2)]

    def places(d, at):
        begin = at * dilations[d]
        return slice(begin, begin + (counts[d] - 1) * strides[d] + 1,
                     strides[d])

    return {(i, j): x[:, places(0, i), places(1, j), :]
            for i in range(size[0]) for j in range(size[1])}


def convolve(x, w, strides=(1, 1), dilations=(1, 1)):
    """NHWC with HWIO."""
    terms = []
    for (i, j), patch in windows(x, w.shape[:2], strides, dilations).items():
        flat = reshape(patch, (-1, x.shape[3]))
        terms.append(reshape(matmul(flat, w[i, j]),
                             patch.shape[:3] + (w.shape[3],)))
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


# Gradients.

def gradients(function, arrays, active, cotangents, element_type):
    """The results, and the gradients of <cotangents, function> by the arguments
    `active`, as Bounded values; every other argument is passed as it is."""
    inputs = [Traced(Bounded(a, 0.0, element_type)) if i in active else a
              for i, a in enumerate(arrays)]
    results = function(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    reached = {}
    order, seen = [], set()

    def visit(node):
        stack = [(node, iter(node.operands))]
        seen.add(id(node))
        while stack:
            top, operands = stack[-1]
            following = next(operands, None)
            if following is None:
                order.append(top)
                stack.pop()
            elif id(following[0]) not in seen:
                seen.add(id(following[0]))
                stack.append((following[0], iter(following[0].operands)))

    def accumulate(node, ct):
        known = reached.get(id(node))
        reached[id(node)] = ct if known is None else known + ct

    for result, ct in zip(results, cotangents, strict=True):
        if id(result) not in seen:
            visit(result)
        accumulate(result, Bounded(ct, 0.0, element_type))
    for node in reversed(order):
        ct = reached.get(id(node))
        if ct is None:
            continue
        for operand, pullback in node.operands:
            accumulate(operand, pullback(ct))
    zeros = (Bounded(np.zeros(a.shape), 0.0, element_type) for a in arrays)
    return ([r.value for r in results],
            [reached.get(id(inputs[i]), zero)
             for i, zero in enumerate(zeros) if i in active])


def _check():
    """Gradients are those of a complex step; bounds hold in f32."""
    rng = np.random.default_rng(1)

    def function(x, w, v):
        y = softmax(tanh(x @ w)) * exp(v)[None]
        y = concatenate([y, maximum(x[:, :2], 0.25) * sin(v[:2])], 1)
        z = log_softmax(y) / (rsqrt(y * y + 1.5) + sqrt(y + 4.0))
        return convolve(reshape(pad(z, ((0, 0), (1, 0))), (2, 3, 2, 3)),
                        reshape(w, (2, 2, 3, 1))) + mean(z, 1)[0]

    arrays = [rng.normal(size=s) for s in ((6, 4), (4, 3), (3,))]
    ct = rng.normal(size=(2, 2, 1, 1))
    values, found = gradients(function, arrays, (0, 1, 2), [ct], "f32")
    plain = function(*arrays)
    assert np.allclose(plain, values[0].value.astype(float), rtol=1e-14)
    for index, gradient in enumerate(found):
        for at in np.ndindex(gradient.value.shape):
            shifted = [np.array(a, complex) for a in arrays]
            shifted[index][at] += 1e-30j
            step = np.sum(np.imag(function(*shifted)) * ct) / 1e-30
            assert abs(step - gradient.value[at]) < 1e-13, (index, at)
        assert np.median(gradient.error / (1 + np.abs(gradient.value))) < 1e-4
    narrow = function(*(a.astype(np.float32) for a in arrays))
    exact = gradients(function, [a.astype(np.float32) for a in arrays],
                      (0, 1, 2), [ct], "f32")[0][0]
    error = np.abs(narrow - exact.value)
    assert narrow.dtype == np.float32 and np.any(error > 0)
    assert np.all(error <= exact.error), (error, exact.error)
    print("traced: all checks passed")


if __name__ == "__main__":
    _check()
