# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Reductions and softmax of the rows of a sparse matrix, with gradients: rows
around the lanes of vectors, for processors with vectors of 32 and of 64 bytes
and without masks. A NaN is the result of its row alone, a zero that is a maximum
is +0 if one of the row is, and the bits are the same for every number of
threads, those of a sum also for both vectors (G15)."""

import numpy as np

from execution import Program, close, finish, same_bits
from sparse_storage import MATRICES, from_pattern, same_pattern

COLUMNS = 70
LENGTHS = (0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 70)
SPECIAL = np.array([-0.0, 0.0, np.nan, -np.nan, np.inf, -np.inf])


def get_processors():
    """Those whose code this machine runs."""
    with open("/proc/cpuinfo", encoding="ascii") as file:
        flags = set(file.read().split())
    names = ["generic"]
    if {"avx2", "fma", "bmi2"} <= flags:
        names.append("x86-64-v3")
    if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags:
        names.append("x86-64-v4")
    return names


def draw(rng, element, form):
    """Rows of all lengths in any order, and a cotangent."""
    dtype = np.float32 if element == "f32" else np.float64
    mask = np.zeros((3 * len(LENGTHS), COLUMNS), bool)
    for row, length in enumerate(rng.permutation(LENGTHS * 3)):
        mask[row, rng.choice(COLUMNS, length, replace=False)] = True
    x = rng.standard_normal(mask.shape).astype(dtype)
    if form == "special":
        rare = rng.random(mask.shape) < 0.02
        x[rare] = rng.choice(SPECIAL[:-1], rare.sum())
    elif form == "zeros":
        x = np.where(rng.random(mask.shape) < 0.6, -0.0, 0.0).astype(dtype)
    elif form == "least":
        x = np.where(rng.random(mask.shape) < 0.9, -np.inf, x).astype(dtype)
    x[~mask] = 0
    dy = np.where(mask, rng.standard_normal(mask.shape), 0).astype(dtype)
    return x, dy, mask


def signed_extremum(row, kind):
    """The extremum of a row, a NaN if it has one, -0 before +0."""
    if len(row) == 0:
        return -np.inf if kind == "max" else np.inf
    if np.isnan(row).any():
        return np.nan
    return max(row, key=lambda v: (v if kind == "max" else -v,
                                   np.signbit(v) == (kind == "min")))


def softmax(x, mask, dy):
    """The softmax of rows and its gradient, in f64."""
    y, dx = np.zeros_like(x), np.zeros_like(x)
    for i in range(len(x)):
        row = x[i, mask[i]]
        if len(row) == 0:
            continue
        with np.errstate(all="ignore"):
            e = np.exp(row - row.max())
            y[i, mask[i]] = p = e / e.sum()
            g = dy[i, mask[i]]
            dx[i, mask[i]] = p * (g - (p * g).sum())
    return y, dx


def same_or_nan(actual, expected):
    """Bits, of numbers; any NaN is one."""
    nan = np.isnan(expected)
    assert (np.isnan(actual) == nan).all(), (actual, expected)
    return same_bits(np.where(nan, 0, actual).astype(actual.dtype),
                     np.where(nan, 0, expected).astype(actual.dtype))


def make(processor, first):
    program = Program(f"rows_{processor}", 2, pipeline=f"cpu={processor}")
    program.define_encoding("CSR", MATRICES["CSR"])
    rng = np.random.default_rng(27)
    for element in ("f32", "f64"):
        sparse, mask_type = f"tensor<?x?x{element}, #CSR>", "tensor<?x?xi1, #CSR>"
        rows = f"tensor<?x{element}>"
        for kind in ("sum", "max", "min", "logsumexp"):
            program.entry(f"{kind}_{element}", [sparse], [rows], f"""
  %m = sparse_autograd.pattern %a0 : {sparse}
  %y = sparse_autograd.masked_reduce {kind} %a0, %m dims = [1] : {sparse}, {mask_type} -> {rows}
  return %y : {rows}""")
        program.define(f"""
func.func private @f_{element}(%x: {sparse}) -> {sparse} {{
  %m = sparse_autograd.pattern %x : {sparse}
  %y = sparse_autograd.masked_softmax %x, %m dims = [1] : {sparse}, {mask_type}
  return %y : {sparse}
}}""")
        values = f"tensor<?x{element}>"
        program.entry(f"softmax_{element}", [sparse, values], [sparse, sparse],
                      f"""
  %dy = sparse_autograd.with_values %a1, %a0 : {values}, {sparse} -> {sparse}
  %y, %dx = sparse_autograd.vjp @f_{element}(%a0) cotangents(%dy) {{wrt = [0]}} : ({sparse}), ({sparse}) -> ({sparse}, {sparse})
  return %y, %dx : {sparse}, {sparse}""")
        bound = 3e-6 if element == "f32" else 1e-14
        for form in ("numbers", "special", "zeros", "least"):
            x, dy, mask = draw(rng, element, form)
            storage = from_pattern(x, mask, MATRICES["CSR"])
            wide = x.astype(np.float64)
            seen = []
            for threads in (1, 2, 8):
                for kind in ("max", "min"):
                    expected = np.array([signed_extremum(r[m], kind)
                                         for r, m in zip(x, mask)], x.dtype)
                    program.call(f"{kind}_{element}", [storage],
                                 lambda y, e=expected: same_or_nan(y, e),
                                 f"{form} {threads}", threads=threads)

                def check_sum(y, x=wide, mask=mask, bound=bound,
                              key=(processor == "generic", element, form)):
                    with np.errstate(invalid="ignore"):
                        expected = np.where(mask, x, 0).sum(1)
                    return (close(y, expected, 20 * bound) +
                            same_or_nan(y, first.setdefault(key, y)))

                program.call(f"sum_{element}", [storage], check_sum,
                             f"{form} {threads}", threads=threads)
                if form == "special":
                    continue

                def check_logsumexp(y, x=wide, mask=mask, bound=bound):
                    masked = np.where(mask, x, -np.inf)
                    return close(y, np.logaddexp.reduce(masked, axis=1), bound)

                program.call(f"logsumexp_{element}", [storage], check_logsumexp,
                             f"{form} {threads}", threads=threads)
                if form == "least":
                    continue
                def check_softmax(y, dx, x=wide, dy=dy, mask=mask, seen=seen,
                                  storage=storage, bound=bound):
                    p, d = softmax(x, mask, dy.astype(np.float64))
                    count = same_pattern(y, storage) + same_pattern(dx, storage)
                    count += close(y.values, p[mask], bound)
                    count += close(dx.values, d[mask], 4 * bound)
                    seen.append((y.values, dx.values))
                    for one, other in zip(seen[0], seen[-1]):
                        count += same_bits(other, one)
                    return count

                program.call(f"softmax_{element}", [storage, dy[mask]],
                             check_softmax, f"{form} {threads}",
                             threads=threads)
    return program


sums = {}
finish([make(processor, sums) for processor in get_processors()])
