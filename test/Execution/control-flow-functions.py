# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Derivatives, first and second, of branches, calls and conversions."""

import numpy as np

import function_tests
from functions import Function


def power(x, n):
    for _ in range(int(n)):
        x = x * x
    return x


def _collatz(x, n):
    for i in range(n):
        x = x * x if i % 2 == 0 else x + x
    return x


N = "<<T|index>>"

LOOP = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
"""


FUNCTIONS = [
    # Branches.
    Function("branch", ["<<4>>", "<<T|i1>>"], ["<<4>>"], """
  %y = scf.if %x1 -> (<<4>>) {
    %s = arith.mulf %x0, %x0 : <<4>>
    scf.yield %s : <<4>>
  } else {
    scf.yield %x0 : <<4>>
  }
  return %y : <<4>>""", lambda x, c: x * x, fixed={1: np.bool_(True)}),
    Function("other_branch", ["<<4>>", "<<4>>", "<<T|i1>>"],
             ["<<4>>", "<<4>>"], """
  %y:2 = scf.if %x2 -> (<<4>>, <<4>>) {
    %s = arith.mulf %x0, %x0 : <<4>>
    scf.yield %s, %x0 : <<4>>, <<4>>
  } else {
    %s = arith.mulf %x1, %x0 : <<4>>
    scf.yield %x0, %s : <<4>>, <<4>>
  }
  return %y#0, %y#1 : <<4>>, <<4>>""", lambda x, w, c: (x + 0 * w, w * x),
             fixed={2: np.bool_(False)}),
    # The gradient of the window has the extents of what it looks at.
    Function("branch_of_a_window", ["<<3x4>>", "<<1x1>>", "<<T|i1>>"],
             ["<<3x4>>"], """
  %y = scf.if %x2 -> (<<3x4>>) {
    scf.yield %x0 : <<3x4>>
  } else {
    %v = linalg.conv_2d ins(%x0, %x1 : <<3x4>>, <<1x1>>) outs(%x0 : <<3x4>>) -> <<3x4>>
    scf.yield %v : <<3x4>>
  }
  return %y : <<3x4>>""", lambda x, k, c: x + x * k[0, 0],
             fixed={2: np.bool_(False)}),
    Function("branch_of_a_constant", ["<<T>>", "<<T|i1>>"], ["<<T>>"], """
  %y = scf.if %x1 -> (<<T>>) {
    %k = arith.constant 2.0 : <<T>>
    scf.yield %k : <<T>>
  } else {
    %s = arith.mulf %x0, %x0 : <<T>>
    scf.yield %s : <<T>>
  }
  %z = arith.mulf %y, %x0 : <<T>>
  return %z : <<T>>""", lambda x, c: 2 * x, fixed={1: np.bool_(True)}),
    Function("branch_in_a_loop", ["<<4>>", N], ["<<4>>"], LOOP + """
  %y = scf.for %i = %c0 to %x1 step %c1 iter_args(%v = %x0) -> (<<4>>) {
    %r = arith.remui %i, %c2 : index
    %even = arith.cmpi eq, %r, %c0 : index
    %w = scf.if %even -> (<<4>>) {
      %s = arith.mulf %v, %v : <<4>>
      scf.yield %s : <<4>>
    } else {
      %s = arith.addf %v, %v : <<4>>
      scf.yield %s : <<4>>
    }
    scf.yield %w : <<4>>
  }
  return %y : <<4>>""", _collatz, fixed={1: np.int64(3)}),
    Function("loop_in_a_branch", ["<<4>>", N, "<<T|i1>>"], ["<<4>>"], LOOP + """
  %y = scf.if %x2 -> (<<4>>) {
    %z = scf.for %i = %c0 to %x1 step %c1 iter_args(%v = %x0) -> (<<4>>) {
      %s = arith.mulf %v, %x0 : <<4>>
      scf.yield %s : <<4>>
    }
    scf.yield %z : <<4>>
  } else {
    scf.yield %x0 : <<4>>
  }
  return %y : <<4>>""", lambda x, n, c: x**3,
             fixed={1: np.int64(2), 2: np.bool_(True)}),
    # Calls.
    Function("calls", ["<<4>>", "<<4>>"], ["<<4>>"], """
  %a, %b = func.call @{name}_pair(%x0, %x1) : (<<4>>, <<4>>) -> (<<4>>, <<4>>)
  %c = func.call @{name}_square(%b) : (<<4>>) -> <<4>>
  %d = arith.addf %a, %c : <<4>>
  return %d : <<4>>""", lambda x, w: x * w + (x + w)**2, helpers="""
func.func private @{name}_square(%x: <<4>>) -> <<4>> {
  %y = arith.mulf %x, %x : <<4>>
  return %y : <<4>>
}
func.func private @{name}_pair(%x: <<4>>, %w: <<4>>) -> (<<4>>, <<4>>) {
  %y = arith.mulf %x, %w : <<4>>
  %z = arith.addf %x, %w : <<4>>
  %u = func.call @{name}_square(%z) : (<<4>>) -> <<4>>
  return %y, %z : <<4>>, <<4>>
}"""),
    Function("calls_in_a_loop", ["<<4>>", N], ["<<4>>"], LOOP + """
  %y = scf.for %i = %c0 to %x1 step %c1 iter_args(%v = %x0) -> (<<4>>) {
    %s = func.call @{name}_square(%v) : (<<4>>) -> <<4>>
    scf.yield %s : <<4>>
  }
  return %y : <<4>>""", lambda x, n: x**4, fixed={1: np.int64(2)}, helpers="""
func.func private @{name}_square(%x: <<4>>) -> <<4>> {
  %y = arith.mulf %x, %x : <<4>>
  return %y : <<4>>
}"""),
    # Results that need care.
    Function("returns_its_argument", ["<<4>>", "<<4>>"],
             ["<<4>>", "<<4>>", "<<4>>"], """
  %y = arith.mulf %x0, %x1 : <<4>>
  return %x0, %y, %y : <<4>>, <<4>>, <<4>>""",
             lambda x, w: (x + 0 * w, x * w, x * w)),
    Function("ignores_an_argument", ["<<4>>", "<<3>>"], ["<<4>>"], """
  %y = arith.mulf %x0, %x0 : <<4>>
  return %y : <<4>>""", lambda x, w: x * x + 0 * w.sum()),
    Function("integer_results", ["<<4>>", "<<T|i64>>"],
             ["i64", "<<4>>", "index"], """
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x0, %c0 : <<4>>
  %y = arith.mulf %x0, %x0 : <<4>>
  return %x1, %y, %n : i64, <<4>>, index""",
             lambda x, i: (i, x * x, np.int64(4)), fixed={1: np.int64(-7)}),
    # Conversions, bits and positions.
    Function("narrower", ["<<4|f32>>"], ["<<4|f64>>"], """
  %a = arith.mulf %x0, %x0 : <<4|f32>>
  %b = arith.extf %a : <<4|f32>> to <<4|f64>>
  %c = arith.mulf %b, %b : <<4|f64>>
  %d = arith.truncf %c : <<4|f64>> to <<4|f32>>
  %e = arith.mulf %d, %x0 : <<4|f32>>
  %y = arith.extf %e : <<4|f32>> to <<4|f64>>
  return %y : <<4|f64>>""", lambda x: x**5,
             exact=False, integer=True),
    Function("whole", ["<<4>>"], ["<<4>>"], """
  %i = arith.fptosi %x0 : <<4>> to <<4|i32>>
  %f = arith.sitofp %i : <<4|i32>> to <<4>>
  %y = arith.mulf %f, %x0 : <<4>>
  return %y : <<4>>""", lambda x: np.trunc(np.real(x)) * x, exact=False),
    Function("powers", ["<<4>>", "<<4|i32>>"], ["<<4>>"], """
  %y = math.fpowi %x0, %x1 : <<4>>, <<4|i32>>
  return %y : <<4>>""", lambda x, n: x**n,
             fixed={1: np.array([3, 1, 0, -2], np.int32)}, exact=False,
             inputs=lambda rng, shapes: [rng.uniform(0.5, 2, size=4), None]),
    # The least power has no predecessor.
    Function("least_power", ["<<2>>", "<<2|i32>>"], ["<<2>>"], """
  %y = math.fpowi %x0, %x1 : <<2>>, <<2|i32>>
  return %y : <<2>>""", lambda x, n: 0 * x,
             fixed={1: np.full(2, -2**31, np.int32)}, exact=False,
             inputs=lambda rng, shapes: [np.array([2.0, -3.0]), None]),
    Function("sine_and_cosine", ["<<T>>"], ["<<T>>", "<<T>>"], """
  %s, %c = math.sincos %x0 : <<T>>
  return %s, %c : <<T>>, <<T>>""", lambda x: (np.sin(x), np.cos(x)),
             exact=False),
]

function_tests.run(FUNCTIONS, seed=6)
