# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""The masked ops on a tape: values and partial derivatives of operands that
have errors themselves, from the table of the semantics (R1 to R10).

What the mask leaves out is replaced before anything is computed, and has no
support (semantics G1, G2).
"""

import numpy as np

from bounded import Bounded
from masked_gradients import _first
from masked_ops import EPSILON, gamma
from tape import NONE, ORDINARY, Tape, constant, wide


def _sum(x, dims):
    """A sum over dimensions that stay, as extents of 1."""
    return x.sum(dims).expand(dims) if dims else x


def _product_of_others(x, dims):
    """Of every element, the product of the others of its slice."""
    kept = [d for d in range(x.value.ndim) if d not in dims]
    order = kept + list(dims)
    shape = [x.value.shape[d] for d in order]
    rows = int(np.prod(shape[:len(kept)], dtype=np.int64))
    columns = int(np.prod(shape[len(kept):], dtype=np.int64))

    def others(array):
        flat = np.transpose(array, order).reshape(rows, columns)
        one = np.ones((rows, 1), np.longdouble)
        before = np.cumprod(np.concatenate([one, flat[:, :-1]], 1), 1)
        after = np.cumprod(np.concatenate([one, flat[:, :0:-1]], 1), 1)
        result = before * after[:, ::-1] if columns else flat
        return np.transpose(result.reshape(shape), np.argsort(order))

    value = others(x.value)
    most = others(np.abs(x.value) + x.error)
    return Bounded(value, most - np.abs(value) +
                   gamma(columns + 2, EPSILON[x.type]) * most, x.type)


def _extremum(kind, x, chosen, dims, ties):
    """The value and the shares of the elements; a share that depends on
    rounding has no bound."""
    sign = 1 if kind == "max" else -1
    v = np.where(chosen, sign * x.value, -np.inf)
    best = v.max(axis=dims, keepdims=True, initial=-np.inf)
    error = np.where(chosen, x.error, 0)
    slack = error.max(axis=dims, keepdims=True, initial=0)
    close = chosen & (v + x.error + slack >= best)
    tied = chosen & (v == best)
    many = close.sum(axis=dims, keepdims=True)
    inexact = (np.where(close, error, 0).max(axis=dims, keepdims=True,
                                             initial=0) > 0) & (many > 1)
    count = np.maximum(tied.sum(axis=dims, keepdims=True), 1)
    share = _first(tied, dims) if ties == "first" else tied / count
    error_of_share = np.where((count > 1) & (ties != "first"),
                              EPSILON[x.type], 0)
    share = Bounded(share, np.where(close & inexact, np.inf,
                                    error_of_share * share), x.type)
    of_best = np.where(close, error, 0).max(axis=dims, keepdims=True, initial=0)
    return Bounded(sign * best, of_best, x.type), share


def _moments(x, chosen, n, dims):
    mean = _sum(x, dims) / np.maximum(n, 1)
    return (x - mean).where(chosen)


def _variance(x, chosen, n, dims, ddof):
    deviation = _moments(x, chosen, n, dims)
    freedom = np.maximum(n - ddof, 1)
    value = _sum(deviation * deviation, dims) / freedom
    return deviation, freedom, value.where((n > ddof) & (n > 0))


def reduce(tape, kind, x, chosen, dims, ddof=0, ties="shared"):
    """`masked_reduce` of a number; reduced dimensions stay as 1."""
    dims = tuple(sorted(dims))
    narrow, t = x.type, wide(x.type)
    neutral = 1.0 if kind == "prod" else 0.0
    given = x.bounded.to(t).where(chosen, neutral)
    n = chosen.sum(axis=dims, keepdims=True)
    one = constant(np.ones(x.shape), t)

    def rounded(value):
        """The result as the derivative finds it."""
        return value.to(narrow).to(t)

    if kind == "sum":
        result, partial = _sum(given, dims), one
    elif kind == "mean":
        result = _sum(given, dims) / np.maximum(n, 1)
        partial = one / np.maximum(n, 1)
    elif kind in ("max", "min"):
        result, partial = _extremum(kind, given, chosen, dims, ties)
    elif kind == "prod":
        partial = _product_of_others(given, dims)
        value = given.value.prod(axis=dims, keepdims=True)
        most = (np.abs(given.value) + given.error).prod(axis=dims,
                                                        keepdims=True)
        terms = int(np.prod([x.shape[d] for d in dims], dtype=np.int64))
        result = Bounded(value, most - np.abs(value) +
                         gamma(terms, EPSILON[t]) * most, t)
    elif kind in ("var", "std"):
        deviation, freedom, result = _variance(given, chosen, n, dims, ddof)
        single = (n <= ddof) | (n <= 1)
        result = result.where(~single)
        if kind == "var":
            partial = 2 * deviation / freedom
        else:
            result = result.apply(np.sqrt, lambda v: 0.5 / np.sqrt(v))
            partial = deviation / (rounded(result) * freedom)
        partial = partial.where(~single)
    elif kind == "norm2":
        total = _sum(given * given, dims)
        zero = (given.value == 0).all(axis=dims, keepdims=True) & (
            given.error == 0).all(axis=dims, keepdims=True)
        result = total.apply(np.sqrt, lambda v: 0.5 / np.sqrt(v)).where(~zero)
        partial = (given / rounded(result)).where(~zero)
    elif kind == "logsumexp":
        result = _logsumexp(given, chosen, dims)
        empty = n == 0
        partial = (given - rounded(result)).exp().where(~empty)
        result = result.where(~empty, -np.inf)
    else:
        raise ValueError(f"no reduction of kind {kind!r}")
    partial = partial.where(chosen)
    return _linear(tape, x, result.to(narrow), partial, chosen, dims)


def _logsumexp(x, chosen, dims):
    best = np.where(chosen, x.value, -np.inf).max(axis=dims, keepdims=True,
                                                  initial=-np.inf)
    best = np.where(np.isfinite(best), best, 0)
    # The maximum that is subtracted is added again: its error is nothing.
    terms = (x - constant(best, x.type)).exp().where(chosen)
    return _sum(terms, dims).log() + constant(best, x.type)


def _linear(tape, x, result, partial, chosen, dims):
    """A result of a slice with the partial derivative by each element."""
    t, narrow = partial.type, x.type

    def push(tangents):
        tangent = tangents[0].to(t).where(chosen)
        return _sum((partial * tangent).where(chosen), dims).to(narrow)

    def pull(cotangent, support):
        gradient = (partial * cotangent.to(t)).where(chosen)
        support = np.where(chosen, np.broadcast_to(support, x.shape), NONE)
        return [(gradient.to(narrow), support)]

    return tape.node([x], result, push, pull)


def softmax(tape, x, chosen, dims, logarithm=False):
    """`masked_softmax`, or `masked_log_softmax`."""
    dims = tuple(sorted(dims))
    narrow, t = x.type, wide(x.type)
    given = x.bounded.to(t).where(chosen)
    best = np.where(chosen, given.value, -np.inf).max(
        axis=dims, keepdims=True, initial=-np.inf)
    best = constant(np.where(np.isfinite(best), best, 0), t)
    shifted = given - best
    terms = shifted.exp().where(chosen)
    total = _sum(terms, dims).where(chosen.any(axis=dims, keepdims=True), 1.0)
    if logarithm:
        result = (shifted - total.log()).where(chosen)
    else:
        result = (terms / total).where(chosen)
    y = result.to(narrow).to(t)
    p = y.exp().where(chosen) if logarithm else y

    def push(tangents):
        tangent = tangents[0].to(t).where(chosen)
        inner = _sum(p * tangent, dims)
        if logarithm:
            return (tangent - inner).where(chosen).to(narrow)
        return (p * (tangent - inner)).where(chosen).to(narrow)

    def pull(cotangent, support):
        g = cotangent.to(t).where(chosen)
        if logarithm:
            gradient = g - p * _sum(g, dims)
        else:
            gradient = p * (g - _sum(p * g, dims))
        of_slice = support.max(axis=dims, keepdims=True, initial=NONE)
        support = np.where(chosen, np.broadcast_to(of_slice, x.shape), NONE)
        return [(gradient.where(chosen).to(narrow), support)]

    return tape.node([x], result.to(narrow), push, pull)


def _check():
    """Equal to the oracles of one op at a time, where operands are exact."""
    import masked_gradients
    import masked_ops

    rng = np.random.default_rng(4)
    x = rng.uniform(0.5, 2, size=(3, 4, 5))
    chosen = rng.random(x.shape) < 0.6
    chosen[1] = False
    x[~chosen] = np.nan
    for dims in ((1,), (0, 2), (0, 1, 2)):
        for kind in masked_ops.KINDS + masked_gradients.SOFTMAX_KINDS:
            tape = Tape()
            number = tape.argument(x, "f64")
            if kind in masked_gradients.SOFTMAX_KINDS:
                y = softmax(tape, number, chosen, dims, "log" in kind)
                expected = getattr(masked_ops, kind.removeprefix("masked_"))(
                    x, chosen, dims)
            else:
                y = reduce(tape, kind, number, chosen, dims)
                expected = masked_ops.reduce(kind, x, chosen, dims,
                                             keepdims=True)
            np.testing.assert_allclose(y.value.astype(float), expected, 1e-14)
            g, v = rng.normal(size=y.shape), rng.normal(size=x.shape)
            gradient, support = tape.reverse([(y.index, constant(g, "f64"))])[0]
            tangent = tape.forward({0: constant(v, "f64")})[y.index]
            for actual, of in ((gradient, "vjp"), (tangent, "jvp")):
                of = getattr(masked_gradients, of)(
                    kind, x, g if of == "vjp" else v, chosen, dims)
                np.testing.assert_allclose(
                    actual.value.astype(float), of.value.astype(float),
                    rtol=1e-12, atol=1e-14)
                assert np.all(actual.error <= 4 * of.error + 1e-14), kind
            assert np.array_equal(support == ORDINARY, chosen)
    print("masked_tape: all checks passed")


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        _check()
