# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Products of dense matrices that are met by a sparse one, as a formula says
it: y = sum of A * tanh(X Y) or of A * tanh(X Y) * sin(X Y), without a sample in
the program. The value and the gradient of A at extents of which a dense matrix
would not fit the memory, and with NaN where A stores nothing; and so the
gradients of X and Y, which are dense: the cotangents of X Y and of what is made
of it are stored where A stores something."""

import numpy as np

from execution import Program, close, finish
from sparse_functions import FORMATS
from sparse_storage import build_storage

K = 6
X, Y = f"tensor<?x{K}xf64>", f"tensor<{K}x?xf64>"
M = "tensor<?x?xf64>"
program = Program("factors", level=2)
rng = np.random.default_rng(8)

# Of an element p of X Y, t: as a program says it, as NumPy does, and dt/dp.
ONE = "%t = math.tanh %p : {0}", np.tanh, lambda p: 1 - np.tanh(p) ** 2
TWO = """%t0 = math.tanh %p : {0}
  %t1 = math.sin %p : {0}
  %t = arith.mulf %t0, %t1 : {0}""", lambda p: np.tanh(p) * np.sin(p), \
    lambda p: (1 - np.tanh(p) ** 2) * np.sin(p) + np.tanh(p) * np.cos(p)

for name, (text, function, slope_of) in (("CSR", ONE), ("CSC", TWO),
                                         ("COO", TWO), ("DCSR", ONE)):
    encoding = FORMATS[2][name]
    program.define_encoding(name, encoding)
    a = f"tensor<?x?xf64, #{name}>"
    program.define(f"""
func.func private @f_{name}(%a: {a}, %x: {X}, %y: {Y}) -> f64 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %a, %c0 : {a}
  %m = tensor.dim %a, %c1 : {a}
  %e = tensor.empty(%n, %m) : {M}
  %z = linalg.fill ins(%zero : f64) outs(%e : {M}) -> {M}
  %p = linalg.matmul ins(%x, %y : {X}, {Y}) outs(%z : {M}) -> {M}
  {text.format(M)}
  %e0 = tensor.empty() : tensor<f64>
  %z0 = linalg.fill ins(%zero : f64) outs(%e0 : tensor<f64>) -> tensor<f64>
  %s = linalg.generic {{
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
        iterator_types = ["reduction", "reduction"]}}
      ins(%a, %t : {a}, {M}) outs(%z0 : tensor<f64>) {{
  ^bb0(%u: f64, %v: f64, %o: f64):
    %q = arith.mulf %u, %v : f64
    %r = arith.addf %o, %q : f64
    linalg.yield %r : f64
  }} -> tensor<f64>
  %value = tensor.extract %s[] : tensor<f64>
  return %value : f64
}}""")
    program.entry(f"sparse_{name}", [a, X, Y], ["f64", a], f"""
  %v, %da = sparse_autograd.value_and_grad @f_{name}(%a0, %a1, %a2) {{wrt = [0]}} : ({a}, {X}, {Y}) -> (f64, {a})
  return %v, %da : f64, {a}""")
    program.entry(f"all_{name}", [a, X, Y], ["f64", a, X, Y], f"""
  %v, %da, %dx, %dy = sparse_autograd.value_and_grad @f_{name}(%a0, %a1, %a2) {{wrt = [0, 1, 2]}} : ({a}, {X}, {Y}) -> (f64, {a}, {X}, {Y})
  return %v, %da, %dx, %dy : f64, {a}, {X}, {Y}""")

    for rows, columns, count in ((60_000, 70_000, 5_000), (7, 5, 9)):
        at = np.unique(rng.integers(0, rows * columns, count))
        at = np.stack([at // columns, at % columns], 1)
        # Of row 2 and column 3 nothing is stored.
        at = at[(at[:, 0] != 2) & (at[:, 1] != 3)]
        values = rng.standard_normal(len(at))
        x = rng.standard_normal((rows, K))
        y = rng.standard_normal((K, columns))
        xs, ys = x[at[:, 0]], y[:, at[:, 1]].T
        products = (xs * ys).sum(1)
        of_product = function(products)
        slope = values * slope_of(products)
        expected_x, expected_y = np.zeros_like(x), np.zeros_like(y.T)
        np.add.at(expected_x, at[:, 0], slope[:, None] * ys)
        np.add.at(expected_y, at[:, 1], slope[:, None] * xs)

        def check(value, da, dx=None, dy=None, at=at, da_expected=of_product,
                  x=expected_x,
                  y=expected_y.T, expected=(values * of_product).sum(), name=name):
            coordinates, stored = da.entries()
            order = np.lexsort(np.asarray(coordinates).T[::-1])
            assert np.array_equal(np.asarray(coordinates)[order], at), name
            count = close(value, expected, 1e-10, f"{name} value")
            count += close(stored[order], da_expected, 1e-12, f"{name} dA")
            if dx is not None:
                count += close(dx, x, 1e-12, f"{name} dX")
                count += close(dy, y, 1e-12, f"{name} dY")
            return count

        def check_memory(memory, extents=rows + columns):
            # Positions, the gradients of X and Y, and a few lists: nothing of the
            # size of X Y.
            assert memory["peak bytes"][1] < (64 + 16 * K) * extents + 1_000_000, memory
            return 1

        storage = build_storage(at, values, (rows, columns), encoding)
        x[2], y[:, 3] = np.nan, np.inf
        for entry in ("sparse", "all"):
            program.call(f"{entry}_{name}", [storage, x, y], check,
                         f"{entry} {name} {rows}", repeats=1,
                         check_memory=check_memory)

finish([program])
