# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Derivatives, first and second, of masked ops with elementwise producers and
consumers, which are fused with them, where the producers have neither a value
nor a derivative behind the mask (semantics G2)."""

import numpy as np

import function_tests
from functions import Function

MASK = np.array([[1, 1, 0, 1, 0], [0, 1, 0, 0, 1], [1, 1, 1, 1, 1],
                 [0, 0, 1, 0, 0]], bool)
# Where a logarithm, a root, a quotient and their derivatives are undefined.
BEHIND = np.array([0.0, -1.0, np.nan, np.inf, -0.0, -np.inf])
X, M, ROWS = "<<4x5>>", "<<4x5|i1>>", "<<4>>"
SPREAD = ("[affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, "
          "affine_map<(i, j) -> (i, j)>]")


def inputs(rng, shapes):
    x, w = rng.uniform(0.5, 2, size=(2, *MASK.shape))
    x[~MASK] = rng.choice(BEHIND, size=np.sum(~MASK))
    w[~MASK] = rng.choice(BEHIND, size=np.sum(~MASK))
    return [x, w][:len(shapes) - 1] + [MASK]


def total(v, mask):
    return np.where(mask, v, 0).sum(1)


def normalized(x, w, m):
    p = np.log(x) * w
    n = m.sum(1)
    c = p - (total(p, m) / n)[:, None]
    return np.sqrt(total(c**2, m)) + total(c**3, m)


def computed_mask(x, _):
    m = (np.real(x) > 0.25) & (np.real(x) < 100)
    n = np.maximum(m.sum(1), 1)
    mean = total(np.log(x), m) / n
    return total((np.log(x) - mean[:, None])**2, m) / n


def attention(x, w, m):
    scores = np.where(m, np.sqrt(x), 0)
    e = np.where(m, np.exp(scores), 0)
    return total(e / e.sum(1)[:, None] / w, m)


def function(name, body, mirror, arguments=2):
    arguments = [X] * arguments + [M]
    return Function(name, arguments, [ROWS], body, mirror, inputs=inputs,
                    fixed={len(arguments) - 1: MASK}, exact=False)


FUNCTIONS = [
    function("mean_of_logarithm", f"""
  %p = math.log %x0 : {X}
  %y = sparse_autograd.masked_reduce mean %p, %x1 dims = [1] : {X}, {M} -> {ROWS}
  return %y : {ROWS}""",
             lambda x, m: total(np.log(x), m) / m.sum(1), arguments=1),
    function("product_of_quotients", f"""
  %r = math.sqrt %x0 : {X}
  %p = arith.divf %r, %x1 : {X}
  %y = sparse_autograd.masked_reduce prod %p, %x2 dims = [1] : {X}, {M} -> {ROWS}
  return %y : {ROWS}""",
             lambda x, w, m: np.where(m, np.sqrt(x) / w, 1).prod(1)),
    function("exponentials_of_powers", f"""
  %p = math.powf %x0, %x1 : {X}
  %y = sparse_autograd.masked_reduce logsumexp %p, %x2 dims = [1] : {X}, {M} -> {ROWS}
  return %y : {ROWS}""",
             lambda x, w, m: np.log(total(np.exp(x**w), m))),
    function("normalized_rows", f"""
  %l = math.log %x0 : {X}
  %p = arith.mulf %l, %x1 : {X}
  %mean = sparse_autograd.masked_reduce mean %p, %x2 dims = [1] : {X}, {M} -> {ROWS}
  %c = linalg.generic {{indexing_maps = {SPREAD}, iterator_types = ["parallel", "parallel"]}}
      ins(%p, %mean : {X}, {ROWS}) outs(%p : {X}) {{
  ^bb0(%a: <<T>>, %b: <<T>>, %out: <<T>>):
    %0 = arith.subf %a, %b : <<T>>
    linalg.yield %0 : <<T>>
  }} -> {X}
  %norm = sparse_autograd.masked_reduce norm2 %c, %x2 dims = [1] : {X}, {M} -> {ROWS}
  %c2 = arith.mulf %c, %c : {X}
  %c3 = arith.mulf %c2, %c : {X}
  %cubes = sparse_autograd.masked_reduce sum %c3, %x2 dims = [1] : {X}, {M} -> {ROWS}
  %y = arith.addf %norm, %cubes : {ROWS}
  return %y : {ROWS}""", normalized),
    function("attention", f"""
  %s = math.sqrt %x0 : {X}
  %p = sparse_autograd.masked_softmax %s, %x2 dims = [1] : {X}, {M}
  %q = arith.divf %p, %x1 : {X}
  %y = sparse_autograd.masked_reduce sum %q, %x2 dims = [1] : {X}, {M} -> {ROWS}
  return %y : {ROWS}""", attention),
    # The mask is a function of what is differentiated.
    function("computed_mask", f"""
  %c0 = arith.constant 0.25 : <<T>>
  %c1 = arith.constant 100.0 : <<T>>
  %least = linalg.fill ins(%c0 : <<T>>) outs(%x0 : {X}) -> {X}
  %most = linalg.fill ins(%c1 : <<T>>) outs(%x0 : {X}) -> {X}
  %large = arith.cmpf ogt, %x0, %least : {X}
  %small = arith.cmpf olt, %x0, %most : {X}
  %m = arith.andi %large, %small : {M}
  %p = math.log %x0 : {X}
  %y = sparse_autograd.masked_reduce var %p, %m dims = [1] : {X}, {M} -> {ROWS}
  return %y : {ROWS}""", computed_mask, arguments=1),
    # Selected by hand, and summed without a mask.
    function("selected", f"""
  %zero = arith.constant 0.0 : <<T>>
  %p = arith.divf %x1, %x0 : {X}
  %q = math.log %p : {X}
  %z = linalg.fill ins(%zero : <<T>>) outs(%x0 : {X}) -> {X}
  %s = arith.select %x2, %q, %z : {M}, {X}
  %y = sparse_autograd.masked_reduce sum %s dims = [1] : {X} -> {ROWS}
  return %y : {ROWS}""", lambda x, w, m: total(np.log(w / x), m)),
]
function_tests.run(FUNCTIONS, seed=53)
