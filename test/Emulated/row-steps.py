# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Programs whose assertions fail go on, and read what has not been written.
# RUN: env -u EXECUTION_PIPELINE SPARSE_AUTOGRAD_DEVICE=emulated SPARSE_AUTOGRAD_EMULATOR_UNWRITTEN=0 %python %s
# RUN: env -u EXECUTION_PIPELINE SPARSE_AUTOGRAD_DEVICE=emulated:13 SPARSE_AUTOGRAD_EMULATOR_UNWRITTEN=0 %python %s
# RUN: env -u EXECUTION_PIPELINE SPARSE_AUTOGRAD_DEVICE=emulated:29 SPARSE_AUTOGRAD_EMULATOR_UNWRITTEN=0 %python %s
"""Steps on the rows of tables that a batch names, of which the host does not know how
many there are: lists are longer than what they hold, and kernels have more threads
than there is to do. The tables are those of the CPU, to the bit; so are the errors."""

import numpy as np

from device_comparison import Comparison
from execution import finish
from sparse_storage import Encoding, Level

comparison = Comparison("row_steps")
rng = np.random.default_rng(7)


def add(name, shape, positions, coordinates, index="index"):
    """x - g / 8 and m + g, with the sum g of the rows of a list."""
    rank = 1 + len(shape)
    encoding = Encoding(
        (Level("compressed", 0),
         *(Level("dense", dim) for dim in range(1, rank))), positions, coordinates)
    for program in comparison.programs:
        program.define_encoding(name, encoding)
    extents = "".join(f"{extent}x" for extent in shape)
    table = f"tensor<?x{extents}f64>"
    gradient = f"tensor<?x{extents}f64, #{name}>"
    dims = ", ".join(f"d{dim}" for dim in range(rank))
    same = f"affine_map<({dims}) -> ({dims})>"
    parallel = ", ".join(['"parallel"'] * rank)
    entry = f"step_{name}"
    comparison.entry(entry, [table, table, table, f"tensor<?x{index}>"],
                     [table, table], f"""
  %c0 = arith.constant 0 : index
  %rate = arith.constant -0.125 : f64
  %n = tensor.dim %a0, %c0 : {table}
  %g = sparse_autograd.scatter_rows %a2, %a3, %n : {table}, tensor<?x{index}> -> {gradient}
  %zeros = sparse_autograd.zeros %g : {gradient} -> {gradient}
  %dx = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = [{parallel}]}}
      ins(%g : {gradient}) outs(%zeros : {gradient}) {{
    ^bb0(%e: f64, %o: f64):
      %p = arith.mulf %e, %rate : f64
      linalg.yield %p : f64
  }} -> {gradient}
  %x = sparse_autograd.accumulate %a0, %dx : {table}, {gradient} -> {table}
  %m = sparse_autograd.accumulate %a1, %g : {table}, {gradient} -> {table}
  return %x, %m : {table}, {table}""")
    return entry


def step(entry, shape, rows, ids, label):
    """`ids` of a table of so many rows."""
    x, m = (rng.standard_normal((rows, *shape)) for _ in range(2))
    g = rng.standard_normal((len(ids), *shape))
    expected_x, expected_m = x.copy(), m.copy()
    total = np.zeros_like(x)
    np.add.at(total, ids, g)
    expected_x -= total / 8
    expected_m += total

    def check(new_x, new_m):
        assert np.allclose(new_x, expected_x) and np.allclose(new_m, expected_m)
    comparison.call(entry, [x, m, g, ids], label, check)


def fail(entry, shape, rows, ids, message):
    tables = [np.zeros((rows, *shape))] * 2
    comparison.fail(entry, [*tables, np.zeros((len(ids), *shape)), ids], message)


WIDE = (3,)
wide = add("Wide", WIDE, "i32", "i32")
# Lists of up to 256 entries are sorted by other kernels than longer ones.
for length in (0, 1, 2, 64, 255, 256, 257, 320, 513, 1100):
    for rows in (1, 7, 300, 5000):
        step(wide, WIDE, rows, rng.integers(0, rows, length), f"{length} of {rows}")
for length in (200, 700):
    step(wide, WIDE, 900, np.arange(length), "all of them, sorted")
    step(wide, WIDE, 900, np.arange(length)[::-1].copy(), "reversed")
    step(wide, WIDE, 900, rng.permutation(900)[:length], "each once")
    step(wide, WIDE, 900, np.sort(rng.integers(0, 900, length)), "sorted")
    step(wide, WIDE, 900, np.full(length, 899), "one row")
    last = np.arange(length)
    last[-2:] = last[-2:][::-1]
    step(wide, WIDE, 900, last, "but the last two")
step(wide, WIDE, 1, np.zeros(0, np.int64), "none of one")

DEEP = (2, 70)
deep = add("Deep", DEEP, "index", "i64", "i32")
for length in (1, 260):
    step(deep, DEEP, 50, rng.integers(0, 50, length, np.int32), f"{length} deep")

# Whether numbers fit narrow lists the runtime is asked where the length of the
# batch, or of the table, does not tell.
narrow = add("Narrow", WIDE, "i8", "i8")
step(narrow, WIDE, 256, rng.integers(0, 256, 255), "as many as fit")
step(narrow, WIDE, 256, rng.integers(0, 40, 600), "few rows of many")
step(narrow, WIDE, 400, rng.integers(0, 256, 90), "a large table")
fail(narrow, WIDE, 256, np.arange(256), "the position 256 does not fit 1 bytes")
fail(narrow, WIDE, 400, np.array([5, 399, 0]),
     "the coordinate 399 does not fit 1 bytes")

# An index that is out of range is found out late, and nothing is touched by it.
for length in (3, 400):
    for bad in (-1, 40, 41, 2**40, -2**63):
        ids = rng.integers(0, 40, length)
        ids[length // 2] = bad
        fail(wide, WIDE, 40, ids, "scatter_rows: an index is out of range")
fail(wide, WIDE, 0, np.zeros(1, np.int64), "scatter_rows: an index is out of range")
step(wide, WIDE, 0, np.zeros(0, np.int64), "nothing")

finish(comparison.programs)
