# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Reference derivatives of the masked ops, with error bounds.

Written from the semantics (R1 to R10): the partial derivatives of a slice as
the table states them, never read where the mask does not select. `vjp` and `jvp`
return `Bounded` values: the reference and how far a computation in the type that
the op accumulates in may be off. f16 and bf16 are computed in f32; the result of
the op, from which some derivatives are made (semantics R6 to R10), comes rounded
to the narrow type.
"""

import numpy as np

import masked_ops
from bounded import Bounded

SOFTMAX_KINDS = ("masked_softmax", "masked_log_softmax")


def compute_type(element_type):
    return element_type if element_type in ("f64", "f32") else "f32"


def _spread(array, dims):
    return np.expand_dims(array, tuple(sorted(dims)))


def _forward(kind, x, mask, dims, element_type, ddof):
    """The result of the op as the derivative finds it, reduced dimensions as
    1: with the error of computing it, rounded to the element type."""
    u = masked_ops.accumulation_roundoff(element_type)
    if kind in SOFTMAX_KINDS:
        short = kind.removeprefix("masked_")
        value = getattr(masked_ops, short)(x, mask, dims)
        bound = getattr(masked_ops, short + "_bound")(x, u, mask, dims)
    else:
        value = masked_ops.reduce(kind, x, mask, dims, keepdims=True, ddof=ddof)
        bound = masked_ops.reduce_bound(kind, x, u, mask, dims, keepdims=True,
                                        ddof=ddof)
    result = Bounded(value, bound / masked_ops.SAFETY,
                     compute_type(element_type))
    # Already rounded where the element type is what is computed in.
    if element_type != compute_type(element_type):
        result = result.to(element_type)
    return Bounded(result.value, result.error, compute_type(element_type))


def _partials(kind, x, chosen, y, dims, element_type, ddof, ties):
    """The partial derivative of its slice's reduction by each element: Bounded
    on the chosen elements, exactly 0 on the others. `x` holds ones where
    nothing is chosen, so that no formula meets what is behind the mask."""
    t = compute_type(element_type)
    exact = Bounded(x, 0.0, t)
    n = chosen.sum(tuple(dims), keepdims=True)
    one = Bounded(np.ones(x.shape), 0.0, t)
    if kind == "sum":
        partial = one
    elif kind == "mean":
        partial = one / np.maximum(n, 1)
    elif kind in ("max", "min"):
        extreme = y.value
        ties_of = chosen & ((x == extreme) | (np.isnan(x) & np.isnan(extreme)))
        if ties == "first":
            partial = Bounded(_first(ties_of, dims), 0.0, t)
        else:
            count = np.maximum(ties_of.sum(tuple(dims), keepdims=True), 1)
            partial = (one / count).where(ties_of)
            # The share of a sole winner is exact.
            partial = Bounded(partial.value,
                              np.where(count == 1, 0, partial.error), t)
    elif kind == "prod":
        partial = _product_of_others(x, chosen, dims, t)
    elif kind in ("var", "std"):
        mean = (exact.where(chosen).sum(dims).expand(dims) /
                np.maximum(n, 1))
        freedom = np.maximum(n - ddof, 1)
        if kind == "var":
            partial = 2 * (exact - mean) / freedom
        else:
            partial = (exact - mean) / (y * freedom)
            partial = partial.where(y.value != 0)
        partial = partial.where(n > ddof)
    elif kind == "norm2":
        partial = (exact / y).where(y.value != 0)
    elif kind == "logsumexp":
        partial = (exact - y).exp().where(y.value != -np.inf)
        infinities = chosen & (x == np.inf)
        count = np.maximum(infinities.sum(tuple(dims), keepdims=True), 1)
        partial = ((one / count).where(infinities)).where(
            y.value == np.inf, partial)
    else:
        raise ValueError(f"no reduction of kind {kind!r}")
    return partial.where(chosen)


def _first(ties, dims):
    """1 at the first of the ties of each slice, in row-major order."""
    kept = [d for d in range(ties.ndim) if d not in dims]
    order = kept + sorted(dims)
    moved = np.transpose(ties, order)
    rows = int(np.prod([ties.shape[d] for d in kept], dtype=np.int64))
    columns = int(np.prod([ties.shape[d] for d in dims], dtype=np.int64))
    flat = moved.reshape(rows, columns)
    first = np.zeros(flat.shape)
    for row, out in zip(flat, first):
        if row.any():
            out[np.argmax(row)] = 1.0
    return np.transpose(first.reshape(moved.shape), np.argsort(order))


def _product_of_others(x, chosen, dims, element_type):
    kept = [d for d in range(x.ndim) if d not in dims]
    order = kept + sorted(dims)
    moved = np.transpose(np.where(chosen, x, 1.0), order)
    rows = int(np.prod([x.shape[d] for d in kept], dtype=np.int64))
    columns = int(np.prod([x.shape[d] for d in dims], dtype=np.int64))
    flat = moved.reshape(rows, columns)
    others = np.ones(flat.shape, np.longdouble)
    with np.errstate(all="ignore"):
        for row, out in zip(flat, others):
            for i in range(columns):
                out[i] = np.prod(np.delete(row, i), dtype=np.longdouble)
    others = np.transpose(others.reshape(moved.shape), np.argsort(order))
    u = masked_ops.EPSILON[element_type]
    error = masked_ops.gamma(columns + 2, u) * np.where(
        np.isfinite(others), np.abs(others), 0)
    return Bounded(others, error, element_type)


def _prepare(kind, x, mask, dims, mask_dims, element_type, ddof):
    x = np.asarray(x).astype(np.longdouble)
    chosen = masked_ops.selection(x, mask, mask_dims)
    x = np.where(chosen, x, 1.0)
    return x, chosen, _forward(kind, x, chosen, dims, element_type, ddof)


def vjp(kind, x, g, mask=None, dims=(), mask_dims=None, ddof=0, ties="shared",
        element_type="f64"):
    """The gradient of the op on x for the cotangent g of its result, which has
    the reduced dimensions as 1."""
    dims = tuple(sorted(dims))
    x, chosen, y = _prepare(kind, x, mask, dims, mask_dims, element_type, ddof)
    t = compute_type(element_type)
    with np.errstate(all="ignore"):
        g = Bounded(np.asarray(g).astype(np.longdouble), 0.0, t)
        if kind == "masked_softmax":
            g = g.where(chosen)
            inner = (y * g).where(chosen).sum(dims).expand(dims)
            return (y * (g - inner)).where(chosen)
        if kind == "masked_log_softmax":
            g = g.where(chosen)
            return (g - y.exp() * g.sum(dims).expand(dims)).where(chosen)
        partial = _partials(kind, x, chosen, y, dims, element_type, ddof, ties)
        return _scaled(g, partial, kind, ties).where(chosen & (
            partial.value != 0) | np.isnan(partial.value))


def _scaled(g, partial, kind, ties):
    """g times the partial; without a rounding where that is 0 or 1."""
    product = g * partial
    if kind == "sum" or (kind in ("max", "min") and ties == "first"):
        return Bounded(product.value, 0.0, g.type)
    return product


def jvp(kind, x, tangent, mask=None, dims=(), mask_dims=None, ddof=0,
        ties="shared", element_type="f64"):
    """The tangent of the op's result for the tangent of x; reduced dimensions
    as 1."""
    dims = tuple(sorted(dims))
    x, chosen, y = _prepare(kind, x, mask, dims, mask_dims, element_type, ddof)
    t = compute_type(element_type)
    with np.errstate(all="ignore"):
        tangent = Bounded(np.where(chosen, np.asarray(tangent), 0), 0.0, t)
        if kind == "masked_softmax":
            inner = (y * tangent).where(chosen).sum(dims).expand(dims)
            return (y * (tangent - inner)).where(chosen)
        if kind == "masked_log_softmax":
            inner = (y.exp() * tangent).where(chosen).sum(dims).expand(dims)
            return (tangent - inner).where(chosen)
        partial = _partials(kind, x, chosen, y, dims, element_type, ddof, ties)
        products = (tangent * partial).where(chosen & (
            partial.value != 0) | np.isnan(partial.value))
        return products.sum(dims).expand(dims)


# The same values as analytic functions, to differentiate by a complex step.

def analytic(kind, x, chosen, dims, ddof=0):
    """The op where it is smooth, on complex arrays; reduced dimensions as 1."""
    dims = tuple(dims)
    n = np.maximum(chosen.sum(dims, keepdims=True), 1)

    def total(v):
        return np.where(chosen, v, 0).sum(dims, keepdims=True)

    mean = total(x) / n
    peak = np.where(chosen, x.real, -np.inf).max(dims, keepdims=True,
                                                 initial=-np.inf)
    peak = np.where(np.isfinite(peak), peak, 0)
    if kind == "sum":
        return total(x)
    if kind == "mean":
        return mean
    if kind in ("max", "min"):
        sign = 1 if kind == "max" else -1
        best = np.where(chosen, sign * x.real, -np.inf).max(dims, keepdims=True)
        return total(np.where(sign * x.real == best, x, 0))
    if kind == "prod":
        return np.where(chosen, x, 1).prod(dims, keepdims=True)
    variance = total((x - mean)**2) / np.maximum(n - ddof, 1)
    if kind == "var":
        return variance
    if kind == "std":
        return np.sqrt(variance)
    if kind == "norm2":
        return np.sqrt(total(x**2))
    log_total = np.log(total(np.exp(x - peak)))
    if kind == "logsumexp":
        return peak + log_total
    if kind == "masked_softmax":
        return np.where(chosen, np.exp(x - peak - log_total), 0)
    if kind == "masked_log_softmax":
        return np.where(chosen, x - peak - log_total, 0)
    raise ValueError(kind)


def _check():
    """The derivatives are those of a complex step on the analytic values, and
    jvp and vjp are adjoint."""
    rng = np.random.default_rng(2)
    x = rng.uniform(0.5, 2.0, size=(3, 4, 5))
    mask = rng.random(x.shape) < 0.7
    mask[0, :, 0] = mask[0, 0] = True
    step = 1e-30
    for dims in ((1,), (0, 2), (0, 1, 2)):
        for kind in masked_ops.KINDS + SOFTMAX_KINDS:
            shape = x.shape if kind in SOFTMAX_KINDS else tuple(
                1 if d in dims else n for d, n in enumerate(x.shape))
            g = rng.normal(size=shape)
            v = rng.normal(size=x.shape)
            gradient = vjp(kind, x, g, mask, dims)
            for at in np.ndindex(*x.shape):
                shifted = x.astype(complex)
                shifted[at] += 1j * step
                with np.errstate(all="ignore"):
                    values = analytic(kind, shifted, mask, dims)
                expected = (values.imag / step * g).sum()
                assert abs(float(gradient.value[at]) -
                           expected) <= 1e-12 * (1 + abs(expected)), (
                    kind, dims, at, gradient.value[at], expected)
            tangent = jvp(kind, x, v, mask, dims)
            scale = 1 + np.abs(gradient.value * v).sum()
            assert abs((tangent.value * g).sum() -
                       (gradient.value * v).sum()) <= 1e-12 * scale, (
                           kind, dims)
            assert (gradient.value[~mask] == 0).all()
    ties = np.array([[1.0, 3.0, 3.0, np.nan], [np.nan, 2.0, np.nan, 5.0]])
    mask = np.array([[1, 1, 1, 0], [1, 1, 1, 0]], bool)
    g = np.ones((2, 1))
    np.testing.assert_array_equal(
        vjp("max", ties, g, mask, (1,)).value.astype(float),
        [[0, 0.5, 0.5, 0], [0.5, 0, 0.5, 0]])
    np.testing.assert_array_equal(
        vjp("max", ties, g, mask, (1,), ties="first").value.astype(float),
        [[0, 1, 0, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(
        vjp("prod", np.array([[2.0, 0, 5], [0, 0, 5]]), g, None,
            (1,)).value.astype(float), [[0, 10, 0], [0, 0, 0]])
    np.testing.assert_array_equal(
        vjp("logsumexp", np.array([[np.inf, 0, np.inf], [-np.inf] * 3]), g,
            None, (1,)).value.astype(float), [[0.5, 0, 0.5], [0, 0, 0]])
    print("masked_gradients: all checks passed")


if __name__ == "__main__":
    _check()
