# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""2:4 selection in NumPy, tile by tile, as the definitions have it (semantics T2,
T3). Arrays of bf16 are float32, as everywhere in the tests."""

import functools
import itertools

import numpy as np

SELECTIONS = ("greedy", "optimal", "row_wise", "causal1122")


def _order(elements):
    """The positions of a list of floats, largest magnitude first: NaNs, then
    numbers, of equal ones the first."""
    def key(at):
        magnitude = abs(float(elements[at]))
        return (0, 0.0, at) if np.isnan(magnitude) else (1, -magnitude, at)
    return sorted(range(len(elements)), key=key)


def _walk(tile, groups, limits):
    """Keeps elements, group after group, each in its order, while there is room
    in the row and in the column."""
    kept = np.zeros(tile.shape, bool)
    for group in groups:
        for at in _order([tile[p] for p in group]):
            row, column = group[at]
            if kept[row].sum() < limits[row] and kept[:, column].sum() < 2:
                kept[row, column] = True
    return kept


@functools.cache
def patterns(rows, columns):
    """The sets of at most two elements a row and a column that have the most
    elements, as a boolean array; those that keep the lowest index first."""
    choices = [c for n in range(3)
               for c in itertools.combinations(range(columns), n)]
    found = []
    for chosen in itertools.product(choices, repeat=rows):
        pattern = np.zeros((rows, columns), bool)
        for row, kept in enumerate(chosen):
            pattern[row, list(kept)] = True
        if pattern.sum(axis=0).max() <= 2:
            found.append(pattern)
    most = max(p.sum() for p in found)
    found = [p for p in found if p.sum() == most]
    return np.array(sorted(found, key=lambda p: tuple(~p.ravel())))


def norms(tile, candidates):
    """Of each pattern: how many NaNs and infinities, and the sum of the rest in
    the order of the definition."""
    rows, columns = tile.shape
    wide = np.float64 if tile.dtype == np.float64 else np.float32
    padded = np.zeros((len(candidates), 4, 4), wide)
    kept = np.where(np.isfinite(tile), np.abs(tile.astype(wide)), 0)
    padded[:, :rows, :columns] = np.where(candidates, kept, 0)
    of_rows = np.zeros((len(candidates), 4), wide)
    for column in range(4):  # at most two are not zero
        of_rows = of_rows + padded[:, :, column]
    sums = (of_rows[:, 0] + of_rows[:, 1]) + (of_rows[:, 2] + of_rows[:, 3])
    nans = (candidates & np.isnan(tile)).sum(axis=(1, 2))
    infinities = (candidates & np.isinf(tile)).sum(axis=(1, 2))
    return nans, infinities, sums


def _optimal(tile):
    candidates = patterns(*tile.shape)
    best = max(zip(*norms(tile, candidates), -np.arange(len(candidates))))
    return candidates[-best[3]]


def choose_of_tile(tile, select):
    rows, columns = tile.shape
    if select == "optimal":
        return _optimal(tile)
    lines = [[(r, c) for c in range(columns)] for r in range(rows)]
    if select == "greedy":
        return _walk(tile, [sum(lines, [])], (2, 2, 2, 2))
    if select == "causal1122":
        return _walk(tile, lines, (1, 1, 2, 2))
    kept = np.zeros(tile.shape, bool)
    for row in range(rows):
        kept[row, _order(tile[row])[:2]] = True
    return kept


def choose(array, select):
    """Which elements of an array of two dimensions or more are kept."""
    array = np.asarray(array)
    kept = np.zeros(array.shape, bool)
    rows, columns = array.shape[-2:]
    for batch in np.ndindex(array.shape[:-2]):
        for i in range(0, rows, 4):
            for j in range(0, columns, 4):
                at = (*batch, slice(i, i + 4), slice(j, j + 4))
                kept[at] = choose_of_tile(array[at], select)
    return kept


def gradient(kept, cotangent, mode):
    """What a mode of the gradient, or a pair of scales, makes of a cotangent."""
    zero = np.zeros_like(cotangent)
    if mode == "ste":
        return cotangent
    if mode in ("dense", "sparse"):
        return np.where(kept, cotangent, zero)

    def scaled(scale):
        return zero if scale == 0 else cotangent * cotangent.dtype.type(scale)
    return np.where(kept, scaled(mode[0]), scaled(mode[1]))


def _check():
    """Rules that every choice keeps, and tiles whose choice is known."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        tile = rng.standard_normal((4, 4))
        norms = {}
        for select in ("greedy", "optimal", "row_wise", "causal1122"):
            kept = choose_of_tile(tile, select)
            # Seven elements are of none of the 90 patterns, and may be larger.
            if kept.sum() == 8:
                norms[select] = np.abs(tile[kept]).sum()
            assert kept.sum(1).max() <= 2, (select, kept)
            assert select == "row_wise" or kept.sum(0).max() <= 2, (select, kept)
        for less, more in (("greedy", "optimal"), ("optimal", "row_wise")):
            # The same elements may be added in another order.
            assert norms.get(less, 0) <= norms[more] * (1 + 1e-14), (tile, norms)
    # Of equal elements the first ones; a NaN before all, a zero after all.
    equal = np.ones((1, 4))
    assert choose_of_tile(equal, "row_wise").tolist() == [[True, True, False, False]]
    row = np.array([[-0.0, 1.0, np.nan, np.inf]])
    assert choose_of_tile(row, "row_wise").tolist() == [[False, False, True, True]]
    first = choose_of_tile(np.diag([4.0, 3.0, 2.0, 1.0]), "greedy")
    assert first.diagonal().all(), first
    np.testing.assert_array_equal(
        gradient(first, np.full((4, 4), 2.0), (0.5, 0)), np.where(first, 1.0, 0.0))
    print("selection24: all checks passed")


if __name__ == "__main__":
    _check()
