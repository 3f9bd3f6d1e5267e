# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s | FileCheck %s
# CHECK: {{[1-9][0-9]* functions, [1-9][0-9]* calls, [1-9][0-9]*}} numbers compared, 0 failures
"""Steps of row-sparse optimizers, which are one loop over the rows of the
gradient: against NumPy, the rows that are not stored untouched, with what was
in the tables before, and the same bits on one thread and on four."""

import numpy as np

from execution import Program, close, finish, same_bits, to_type
from sparse_storage import Encoding, Level, from_pattern

TOLERANCE = {"f64": 1e-13, "f32": 1e-6, "f16": 4e-3}
rng = np.random.default_rng(3)
program = Program("updates", level=2)


def table_type(rank, element, encoding=None):
    suffix = f", #{encoding}" if encoding else ""
    return "tensor<?" + "x?" * (rank - 1) + f"x{element}{suffix}>"


def add(rank, element, index):
    """Adam without its corrections, with the rows' change returned too if
    `index` is i32: then it is computed outside of the loop."""
    encoding = program.define_encoding(
        f"Rows{rank}{index}",
        Encoding((Level("compressed", 0),
                  *(Level("dense", d) for d in range(1, rank))),
                 position_type=index, coordinate_type=index))
    t, s = table_type(rank, element), table_type(rank, element, encoding)
    dims = ", ".join(f"d{d}" for d in range(rank))
    same = f"affine_map<({dims}) -> ({dims})>"
    parallel = ", ".join(['"parallel"'] * rank)
    shows = index == "i32"

    def generic(ins, body):
        names = ", ".join(ins)
        types = ", ".join([s] * len(ins))
        arguments = ", ".join(f"%e{n}: {element}" for n in range(len(ins)))
        maps = ", ".join([same] * (len(ins) + 1))
        return f"""linalg.generic {{indexing_maps = [{maps}], iterator_types = [{parallel}]}}
      ins({names} : {types}) outs(%pattern : {s}) {{
    ^bb0({arguments}, %o: {element}):
{body}
      linalg.yield %r : {element}
  }} -> {s}"""

    dm = generic(["%a3", "%m"], f"""
      %d = arith.subf %e0, %e1 : {element}
      %r = arith.mulf %d, %tenth : {element}""")
    dv = generic(["%a3", "%v"], f"""
      %q = arith.mulf %e0, %e0 : {element}
      %d = arith.subf %q, %e1 : {element}
      %r = arith.mulf %d, %quarter : {element}""")
    dx = generic(["%m", "%dm", "%v", "%dv"], f"""
      %mn = arith.addf %e0, %e1 : {element}
      %vn = arith.addf %e2, %e3 : {element}
      %root = math.sqrt %vn : {element}
      %bottom = arith.addf %root, %quarter : {element}
      %step = arith.divf %mn, %bottom : {element}
      %r = arith.negf %step : {element}""")
    results = [t, t, t] + ([s] if shows else [])
    name = f"adam_{rank}_{element}_{index}"
    program.entry(name, [t, t, t, s], results, f"""
  %tenth = arith.constant 0.125 : {element}
  %quarter = arith.constant 0.25 : {element}
  %m = sparse_autograd.sample %a1, %a3 : {t}, {s} -> {s}
  %v = sparse_autograd.sample %a2, %a3 : {t}, {s} -> {s}
  %pattern = sparse_autograd.zeros %a3 : {s} -> {s}
  %dm = {dm}
  %dv = {dv}
  %dx = {dx}
  %x1 = sparse_autograd.accumulate %a0, %dx : {t}, {s} -> {t}
  %m1 = sparse_autograd.accumulate %a1, %dm : {t}, {s} -> {t}
  %v1 = sparse_autograd.accumulate %a2, %dv : {t}, {s} -> {t}
  return %x1, %m1, %v1{", %dx" if shows else ""} : {", ".join(results)}""")
    for shape in ((7, 3, 2), (1, 1, 1), (5, 0, 3), (6, 8, 1), (0, 4, 2),
                  (4000, 40, 2)):
        if element == "f64" or len(shape) < 1000:
            call(name, shape[:rank], element, program.encodings[encoding],
                 shows)


def call(name, shape, element, encoding, shows):
    def draw(low=-1.5):
        return to_type(rng.uniform(low, 1.5, shape), element)

    x, m, v, g = draw(), draw(), draw(0.1), draw()
    rows = rng.random(shape[0]) < 0.6
    mask = np.zeros(shape, bool)
    mask[rows] = True
    # What is not stored is not read.
    for table in (x, m, v):
        table[~rows & (rng.random(shape[0]) < 0.5)] = np.nan
    xw, mw, vw, gw = (np.asarray(a, np.float64) for a in (x, m, v, g))
    m1 = np.where(mask, mw + 0.125 * (gw - mw), mw)
    v1 = np.where(mask, vw + 0.25 * (gw * gw - vw), vw)
    dx = -m1 / (np.sqrt(np.where(mask, v1, 1)) + 0.25)
    x1 = np.where(mask, xw + dx, xw)
    first = []

    def check(*results):
        tolerance = TOLERANCE[element]
        count = 0
        for what, actual, expected, before in zip(
                "xmv", results, (x1, m1, v1), (x, m, v)):
            count += close(actual[rows], expected[rows], tolerance, what)
            count += same_bits(actual[~rows], before[~rows], f"{what} kept")
        if shows:
            count += close(results[3].values, dx[mask], tolerance, "change")
        values = [*results[:3]]
        if first:
            for one, other in zip(first, values):
                count += same_bits(other, one, "other threads")
        first[:] = values
        return count

    arguments = [x, m, v, from_pattern(np.where(mask, g, 0), mask, encoding)]
    for threads in (1, 4):
        program.call(name, arguments, check, f"{name} {shape}",
                     threads=threads)


for rank in (2, 3):
    add(rank, "f64", "index")
    add(rank, "f64", "i32")
add(2, "f32", "i64")
add(2, "f16", "index")

finish([program])
