# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Reference values of the masked ops and of `random`, with error bounds.

Everything is plain NumPy, written from the semantics and not from the lowering.
`reduce`, `softmax` and `log_softmax` take arrays of any float type, compute in
extended precision where the platform has it, and return float64. What the mask
does not select is never read into the result. `*_bound` is the largest error
that a computation in a type of unit roundoff `u` may make, per element of the
result: 4 gamma_n times the sum of the magnitudes of the terms, propagated op by
op, with gamma_n = n u / (1 - n u). Add `rounding` for a narrower result type.

`random` returns the exact elements of `sparse_autograd.random`.

    python3 masked_ops.py        checks this file against published values
"""

import numpy as np

KINDS = ("sum", "mean", "max", "min", "prod", "var", "std", "norm2",
         "logsumexp")
EPSILON = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
SUBNORMAL = {"f64": 2.0**-1074, "f32": 2.0**-149, "f16": 2.0**-24,
             "bf16": 2.0**-133}
SAFETY = 4.0  # the factor c of the bounds


def accumulation_roundoff(element_type):
    """The unit roundoff of the type that `element_type` is reduced in."""
    return EPSILON["f64" if element_type == "f64" else "f32"]


def rounding(value, element_type):
    """The largest error of one rounding of `value` to `element_type`."""
    magnitude = np.where(np.isfinite(value), np.abs(value), 0.0)
    return EPSILON[element_type] * magnitude + SUBNORMAL[element_type]


def gamma(n, u):
    return n * u / (1.0 - n * u)


def selection(x, mask, mask_dims=None):
    """The mask, spread over the dimensions of x that it does not list."""
    if mask is None:
        return np.ones(x.shape, bool)
    mask = np.asarray(mask, bool)
    dims = range(x.ndim) if mask_dims is None else mask_dims
    # Dimension k of the mask is dimension dims[k] of x.
    order = sorted(range(mask.ndim), key=lambda k: list(dims)[k])
    mask = np.transpose(mask, order)
    shape = [x.shape[d] if d in dims else 1 for d in range(x.ndim)]
    return np.broadcast_to(mask.reshape(shape), x.shape)


def _slices(x, mask, dims, mask_dims):
    """Input and selection as (slices, elements), and the shape of slices."""
    x = np.asarray(x).astype(np.longdouble)
    chosen = selection(x, mask, mask_dims)
    kept = [d for d in range(x.ndim) if d not in dims]
    shape = tuple(x.shape[d] for d in kept)
    order = kept + [d for d in range(x.ndim) if d in dims]
    rows = int(np.prod(shape, dtype=np.int64))
    columns = int(np.prod([x.shape[d] for d in dims], dtype=np.int64))
    return (np.transpose(x, order).reshape(rows, columns),
            np.transpose(chosen, order).reshape(rows, columns), shape)


def _reduce_slice(kind, x, ddof, empty):
    """The reduction of the selected elements x of one slice."""
    n = x.size
    if kind == "sum":
        return x.sum()
    if kind == "mean":
        if n == 0:
            return np.nan if empty == "nan" else 0.0
        return x.sum() / n
    if kind == "max":
        return x.max(initial=-np.inf)
    if kind == "min":
        return x.min(initial=np.inf)
    if kind == "prod":
        return x.prod()
    if kind in ("var", "std"):
        if n <= ddof or n == 0:
            return 0.0
        variance = ((x - x.sum() / n)**2).sum() / (n - ddof)
        return np.sqrt(variance) if kind == "std" else variance
    if kind == "norm2":
        return np.sqrt((x**2).sum())
    if kind == "logsumexp":
        largest = x.max(initial=-np.inf)
        if not np.isfinite(largest):
            return largest
        return largest + np.log(np.exp(x - largest).sum())
    raise ValueError(f"no reduction of kind {kind!r}")


def _per_slice(function, x, mask, dims, mask_dims, keepdims):
    values, chosen, shape = _slices(x, mask, dims, mask_dims)
    with np.errstate(all="ignore"):
        result = np.array([float(function(row[select]))
                           for row, select in zip(values, chosen)],
                          dtype=np.float64).reshape(shape)
    if keepdims:
        result = np.expand_dims(result, tuple(sorted(dims)))
    return result


def reduce(kind, x, mask=None, dims=(), mask_dims=None, keepdims=False, ddof=0,
           empty="default"):
    """`sparse_autograd.masked_reduce`, in float64."""
    return _per_slice(lambda row: _reduce_slice(kind, row, ddof, empty), x,
                      mask, dims, mask_dims, keepdims)


def _exponentiated(x):
    """What has a rounding error in a sum of exponentials: an element of -inf
    adds an exact 0. Nothing where the result is an infinity or a NaN."""
    return x[x > -np.inf] if np.isfinite(x.max(initial=-np.inf)) else x[:0]


def _exponentials(x, u):
    """exp(x - max), their sum, and bounds of the relative error of each."""
    largest = x.max(initial=-np.inf)
    shifted = x - largest
    terms = np.exp(shifted)
    total = terms.sum()
    # The rounding of the difference scales with it; exp itself is good to an
    # ulp, two units.
    relative = (np.abs(shifted) + 3.0) * u
    of_total = (terms * relative).sum() / total + gamma(x.size, u)
    return shifted, terms, total, relative, of_total


def _bound_of_slice(kind, x, u, ddof):
    if kind == "logsumexp":
        x = _exponentiated(x)
    n = x.size
    if n == 0 or not np.all(np.isfinite(x)) or kind in ("max", "min"):
        return 0.0
    magnitude = np.abs(x).sum()
    if kind == "sum":
        return gamma(n, u) * magnitude
    if kind == "mean":
        return gamma(n + 2, u) * magnitude / n
    if kind == "prod":
        return gamma(n, u) * np.abs(x.prod())
    if kind in ("var", "std"):
        if n <= ddof:
            return 0.0
        deviation = x - x.sum() / n
        of_mean = gamma(n + 2, u) * magnitude / n
        squares = (deviation**2).sum()
        error = (gamma(n + 4, u) * squares + n * of_mean**2 +
                 2 * of_mean * np.abs(deviation).sum()) / (n - ddof)
        if kind == "var":
            return error
        std = np.sqrt(squares / (n - ddof))
        root = np.sqrt(error)
        return (min(error / std, root) if std > 0 else root) + u * std
    if kind == "norm2":
        return gamma(n + 4, u) * np.sqrt((x**2).sum())
    if kind == "logsumexp":
        shifted, _, total, _, of_total = _exponentials(x, u)
        log_total = np.log(total)
        result = x.max() + log_total
        return of_total + 2 * u * np.abs(log_total) + u * np.abs(result)
    raise ValueError(f"no reduction of kind {kind!r}")


def reduce_bound(kind, x, u, mask=None, dims=(), mask_dims=None,
                 keepdims=False, ddof=0):
    """How far `masked_reduce` in a type of unit roundoff u may be off."""
    return SAFETY * _per_slice(
        lambda row: _bound_of_slice(kind, row, u, ddof), x, mask, dims,
        mask_dims, keepdims)


def _per_element(function, x, mask, dims, mask_dims):
    """Calls function on the selected elements of every slice; 0 elsewhere."""
    x = np.asarray(x)
    values, chosen, shape = _slices(x, mask, dims, mask_dims)
    result = np.zeros(values.shape, np.float64)
    with np.errstate(all="ignore"):
        for row, select, out in zip(values, chosen, result):
            if select.any():
                out[select] = function(row[select])
    kept = [d for d in range(x.ndim) if d not in dims]
    order = kept + [d for d in range(x.ndim) if d in dims]
    result = result.reshape([x.shape[d] for d in order])
    return np.transpose(result, np.argsort(order).astype(int))


def _softmax_slice(x):
    terms = np.exp(x - x.max())
    return terms / terms.sum()


def _log_softmax_slice(x):
    shifted = x - x.max()
    return shifted - np.log(np.exp(shifted).sum())


def softmax(x, mask=None, dims=(), mask_dims=None):
    """`sparse_autograd.masked_softmax`, in float64."""
    return _per_element(_softmax_slice, x, mask, dims, mask_dims)


def log_softmax(x, mask=None, dims=(), mask_dims=None):
    """`sparse_autograd.masked_log_softmax`, in float64."""
    return _per_element(_log_softmax_slice, x, mask, dims, mask_dims)


def _softmax_bound(bound, x, mask, dims, mask_dims):
    def bound_of_slice(row):
        result = np.zeros_like(row)
        rounded = _exponentiated(row)
        if rounded.size:
            result[row > -np.inf] = bound(rounded)
        return result
    return SAFETY * _per_element(bound_of_slice, x, mask, dims, mask_dims)


def softmax_bound(x, u, mask=None, dims=(), mask_dims=None):
    def bound(row):
        _, terms, total, relative, of_total = _exponentials(row, u)
        return terms / total * (relative + of_total + 2 * u)
    return _softmax_bound(bound, x, mask, dims, mask_dims)


def log_softmax_bound(x, u, mask=None, dims=(), mask_dims=None):
    def bound(row):
        shifted, _, total, _, of_total = _exponentials(row, u)
        log_total = np.log(total)
        return (u * np.abs(shifted) + of_total + 2 * u * np.abs(log_total) +
                u * np.abs(shifted - log_total))
    return _softmax_bound(bound, x, mask, dims, mask_dims)


# Random numbers.

_LOW = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)


def philox(low, high, seed):
    """The Philox 4x32-10 blocks of the 128-bit counters (low, high), arrays of
    uint64, as two arrays of uint64: words 0 and 1, words 2 and 3."""
    c0, c1 = low & _LOW, low >> _WORD
    c2, c3 = high & _LOW, high >> _WORD
    k0, k1 = seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF
    for _ in range(10):
        p0, p1 = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = ((p1 >> _WORD) ^ c1 ^ np.uint64(k0), p1 & _LOW,
                          (p0 >> _WORD) ^ c3 ^ np.uint64(k1), p0 & _LOW)
        k0 = (k0 + 0x9E3779B9) & 0xFFFFFFFF
        k1 = (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0 | (c1 << _WORD), c2 | (c3 << _WORD)


def random_bits(seed, counter, count):
    """The 64 bits behind each of the first `count` elements."""
    position = np.arange(count, dtype=np.uint64)
    high = np.full(count, counter & 0xFFFFFFFFFFFFFFFF, np.uint64)
    even, odd = philox(position >> np.uint64(1), high,
                       seed & 0xFFFFFFFFFFFFFFFF)
    return np.where(position & np.uint64(1), odd, even)


# Wichura's PPND16: numerators and denominators by region, constants first.
_CENTRAL = (
    (3.3871328727963666080e0, 1.3314166789178437745e+2,
     1.9715909503065514427e+3, 1.3731693765509461125e+4,
     4.5921953931549871457e+4, 6.7265770927008700853e+4,
     3.3430575583588128105e+4, 2.5090809287301226727e+3),
    (1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2,
     5.3941960214247511077e+3, 2.1213794301586595867e+4,
     3.9307895800092710610e+4, 2.8729085735721942674e+4,
     5.2264952788528545610e+3))
_TAIL = (
    (1.42343711074968357734e0, 4.63033784615654529590e0,
     5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
     6.89767334985100004550e-1, 1.48103976427480074590e-1,
     1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9))
_FAR_TAIL = (
    (6.65790464350110377720e0, 5.46378491116411436990e0,
     1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1,
     1.48753612908506148525e-2, 7.86869131145613259100e-4,
     1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15))


def _exact_log(x):
    """log of positive normal float64, in operations that round in one way."""
    bits = x.view(np.int64)
    exponent = (bits - np.int64(0x3FE6A09E667F3BCD)) >> np.int64(52)
    mantissa = (bits - (exponent << np.int64(52))).view(np.float64)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    square = s * s
    series = np.full_like(s, 1.0 / 21.0)
    for power in range(19, 0, -2):
        series = series * square + 1.0 / power
    return exponent.astype(np.float64) * float.fromhex(
        "0x1.62e42fefa39efp-1") + (s + s) * series


def normal_quantile(p):
    """The inverse of the normal distribution function on (0, 1)."""
    p = np.asarray(p, np.float64)
    q = p - 0.5
    root = np.sqrt(-_exact_log(np.where(q < 0, p, 1.0 - p)))
    regions = ((np.abs(q) <= 0.425, _CENTRAL, 0.180625 - q * q, q),
               (root <= 5.0, _TAIL, root - 1.6, np.where(q < 0, -1.0, 1.0)),
               (root > 5.0, _FAR_TAIL, root - 5.0, np.where(q < 0, -1.0, 1.0)))
    values = []
    for _, (numerator, denominator), argument, factor in regions:
        n, d = np.full_like(p, numerator[7]), np.full_like(p, denominator[7])
        for k in range(6, -1, -1):
            n, d = n * argument + numerator[k], d * argument + denominator[k]
        values.append(n / d * factor)
    return np.select([region[0] for region in regions], values)


def random(distribution, seed, counter, shape, element_type="f64",
           probability=None):
    """`sparse_autograd.random`: the exact elements, bf16 as float32."""
    count = int(np.prod(shape, dtype=np.int64))
    bits = random_bits(seed, counter, count)
    if distribution == "uniform":
        precision = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}[element_type]
        value = (bits >> np.uint64(64 - precision)).astype(np.float64)
        value = value * 2.0**-precision
        return value.astype({"f64": np.float64, "f32": np.float32,
                             "f16": np.float16,
                             "bf16": np.float32}[element_type]).reshape(shape)
    if distribution == "bernoulli":
        value = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return (value < probability).reshape(shape)
    if distribution != "normal":
        raise ValueError(f"no distribution {distribution!r}")
    cell = (bits >> np.uint64(12)).astype(np.float64)
    value = normal_quantile((cell + 0.5) * 2.0**-52).reshape(shape)
    if element_type == "f64":
        return value
    value = value.astype(np.float32)
    if element_type == "f16":
        return value.astype(np.float16)
    return round_to_bf16(value) if element_type == "bf16" else value


def round_to_bf16(x):
    """Finite float32 rounded to bf16, ties to even, kept as float32."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    bits = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)


def _check():
    """Known answers: Philox's from its authors' test vectors (Random123), the
    quantiles from printed tables."""
    def block(low, high, seed):
        return tuple(int(half[0]) for half in philox(
            np.array([low], np.uint64), np.array([high], np.uint64), seed))

    ones = 0xFFFFFFFFFFFFFFFF
    assert block(0, 0, 0) == (0xE169C58D6627E8D5, 0x9B00DBD8BC57AC4C)
    assert block(ones, ones, ones) == (0x41C83B0E408F276D, 0x6D5451FDA20BC7C6)
    assert block(0x85A308D3243F6A88, 0x0370734413198A2E,
                 0x299F31D0A4093822) == (0x94FDCCEBD16CFE09,
                                         0x24126EA15001E420)
    known = {0.5: 0.0, 0.975: 1.9599639845400542, 0.9: 1.2815515655446004,
             1e-3: -3.090232306167813, 1e-12: -7.034483825301132}
    for p, expected in known.items():
        assert abs(normal_quantile([p])[0] - expected) <= 2e-15 * max(
            1.0, abs(expected)), (p, normal_quantile([p])[0])
    x = np.array([[1.0, np.nan, 3.0], [np.inf, np.nan, -np.inf]])
    mask = np.array([[True, False, True], [False, False, False]])
    expected = {"sum": [4.0, 0.0], "mean": [2.0, 0.0], "max": [3.0, -np.inf],
                "min": [1.0, np.inf], "prod": [3.0, 1.0], "var": [1.0, 0.0],
                "std": [1.0, 0.0], "norm2": [np.sqrt(10.0), 0.0],
                "logsumexp": [3.0 + np.log1p(np.exp(-2.0)), -np.inf]}
    for kind in KINDS:
        np.testing.assert_allclose(reduce(kind, x, mask, dims=(1,)),
                                   expected[kind], rtol=1e-15)
    assert np.isnan(reduce("mean", x, mask, (1,), empty="nan")[1])
    assert (softmax(x, mask, (1,))[~mask] == 0).all()
    print("masked_ops: all checks passed")


if __name__ == "__main__":
    _check()
