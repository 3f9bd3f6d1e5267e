# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Derivatives, first and second, of loops, branches, calls and conversions."""

import numpy as np

import function_tests
from functions import Function


def power(x, n):
    for _ in range(int(n)):
        x = x * x
    return x


def _pairs(a, b, n):
    for _ in range(n):
        a, b = b, a * b
    return a, b


def _table(x, n):
    total = 0 * x[0]
    for i in range(n):
        total = total + x[i] * x[i] * (i + 1)
    return total


def _nested(x, w):
    for i in range(3):
        for j in range(i):
            x = x * w + w * j
        x = x + w
    return x


def _collatz(x, n):
    for i in range(n):
        x = x * x if i % 2 == 0 else x + x
    return x


def _rows(a, v):
    for i in range(3):
        v = v + a[i] * v[0]
    return v


def _counted(x, n):
    count = 1
    for _ in range(n):
        x, count = x * count, count + 1
    return x


N = "<<T|index>>"
LOOP = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
"""

FUNCTIONS = [
    Function("repeated_square", ["<<T>>", N], ["<<T>>"], LOOP + """
  %y = scf.for %i = %c0 to %x1 step %c1 iter_args(%v = %x0) -> (<<T>>) {
    %s = arith.mulf %v, %v : <<T>>
    scf.yield %s : <<T>>
  }
  return %y : <<T>>""", power, fixed={1: np.int64(2)}),
    Function("no_iterations", ["<<T>>", N], ["<<T>>"], LOOP + """
  %y = scf.for %i = %c3 to %x1 step %c1 iter_args(%v = %x0) -> (<<T>>) {
    %s = arith.mulf %v, %v : <<T>>
    scf.yield %s : <<T>>
  }
  return %y : <<T>>""", lambda x, n: x, fixed={1: np.int64(0)}),
    Function("steps_of_two", ["<<T>>", "<<T>>", N], ["<<T>>"], LOOP + """
  %y = scf.for %i = %c1 to %x2 step %c2 iter_args(%v = %x0) -> (<<T>>) {
    %s = arith.mulf %v, %x1 : <<T>>
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to <<T>>
    %t = arith.addf %s, %k : <<T>>
    scf.yield %t : <<T>>
  }
  return %y : <<T>>""", lambda x, w, n: ((x * w + 1) * w + 3),
             fixed={2: np.int64(4)}),
    Function("counts_in_i32", ["<<T>>", "<<T|i32>>"], ["<<T>>"], """
  %lower = arith.constant -3 : i32
  %step = arith.constant 2 : i32
  %y = scf.for %i = %lower to %x1 step %step iter_args(%v = %x0) -> (<<T>>) : i32 {
    %k = arith.sitofp %i : i32 to <<T>>
    %s = arith.mulf %v, %x0 : <<T>>
    %t = arith.addf %s, %k : <<T>>
    scf.yield %t : <<T>>
  }
  return %y : <<T>>""", lambda x, n: (x * x - 3) * x - 1,
             fixed={1: np.int32(0)}),
    Function("tensors", ["<<4>>", "<<4>>", N], ["<<4>>"], LOOP + """
  %y = scf.for %i = %c0 to %x2 step %c1 iter_args(%v = %x0) -> (<<4>>) {
    %s = arith.mulf %v, %x1 : <<4>>
    %t = arith.addf %s, %x0 : <<4>>
    scf.yield %t : <<4>>
  }
  return %y : <<4>>""", lambda x, w, n: (x * w + x) * w + x,
             fixed={2: np.int64(2)}),
    Function("pairs_that_swap", ["<<3>>", "<<3>>", N], ["<<3>>", "<<3>>"],
             LOOP + """
  %y:2 = scf.for %i = %c0 to %x2 step %c1 iter_args(%a = %x0, %b = %x1) -> (<<3>>, <<3>>) {
    %s = arith.mulf %a, %b : <<3>>
    scf.yield %b, %s : <<3>>, <<3>>
  }
  return %y#0, %y#1 : <<3>>, <<3>>""", lambda a, b, n: _pairs(a, b, n),
             fixed={2: np.int64(2)}),
    Function("carries_a_count", ["<<3>>", N], ["<<3>>"], LOOP + """
  %one = arith.constant 1 : i32
  %y:2 = scf.for %i = %c0 to %x1 step %c1 iter_args(%a = %x0, %n = %one) -> (<<3>>, i32) {
    %k = arith.sitofp %n : i32 to <<T>>
    %e = tensor.splat %k : tensor<3x!T>
    %f = tensor.cast %e : tensor<3x!T> to <<3>>
    %s = arith.mulf %a, %f : <<3>>
    %m = arith.addi %n, %one : i32
    scf.yield %s, %m : <<3>>, i32
  }
  %z = arith.mulf %y#0, %y#0 : <<3>>
  return %z : <<3>>""", lambda x, n: _counted(x, n)**2,
             fixed={1: np.int64(2)}),
    Function("reads_a_table", ["<<5>>", N], ["<<T>>"], LOOP + """
  %zero = arith.constant 0.0 : <<T>>
  %y = scf.for %i = %c0 to %x1 step %c1 iter_args(%sum = %zero) -> (<<T>>) {
    %v = tensor.extract %x0[%i] : <<5>>
    %s = arith.mulf %v, %v : <<T>>
    %j = arith.addi %i, %c1 : index
    %k = arith.index_cast %j : index to i32
    %w = arith.sitofp %k : i32 to <<T>>
    %t = arith.mulf %s, %w : <<T>>
    %u = arith.addf %sum, %t : <<T>>
    scf.yield %u : <<T>>
  }
  return %y : <<T>>""", _table, fixed={1: np.int64(5)}),
    Function("writes_a_table", ["<<5>>", "<<5>>"], ["<<5>>"], LOOP + """
  %n = arith.constant 4 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x1) -> (<<5>>) {
    %j = arith.addi %i, %c1 : index
    %v = tensor.extract %t[%i] : <<5>>
    %w = tensor.extract %x0[%i] : <<5>>
    %s = arith.mulf %v, %w : <<T>>
    %u = tensor.insert %s into %t[%j] : <<5>>
    scf.yield %u : <<5>>
  }
  return %y : <<5>>""",
             lambda x, t: t[0] * np.concatenate(
                 [np.ones(1), np.cumprod(x[:4])]) + 0 * t + 0 * x),
    Function("rows", ["<<3x=4>>", "<<=4>>"], ["<<=4>>"], LOOP + """
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x1) -> (<<=4>>) {
    %row = tensor.extract_slice %x0[%i, 0] [1, 4] [1, 1] : <<3x=4>> to <<=4>>
    %s = tensor.extract %v[%c0] : <<=4>>
    %e = tensor.splat %s : <<=4>>
    %m = arith.mulf %row, %e : <<=4>>
    %t = arith.addf %v, %m : <<=4>>
    scf.yield %t : <<=4>>
  }
  return %y : <<=4>>""", _rows),
    Function("nested", ["<<T>>", "<<T>>"], ["<<T>>"], LOOP + """
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x0) -> (<<T>>) {
    %z = scf.for %j = %c0 to %i step %c1 iter_args(%u = %v) -> (<<T>>) {
      %m = arith.mulf %u, %x1 : <<T>>
      %k = arith.index_cast %j : index to i32
      %f = arith.sitofp %k : i32 to <<T>>
      %g = arith.mulf %x1, %f : <<T>>
      %a = arith.addf %m, %g : <<T>>
      scf.yield %a : <<T>>
    }
    %b = arith.addf %z, %x1 : <<T>>
    scf.yield %b : <<T>>
  }
  return %y : <<T>>""", _nested),
    Function("only_captures", ["<<4>>", N], ["<<4>>"], LOOP + """
  %zero = arith.constant 0.0 : <<T>>
  %z = linalg.fill ins(%zero : <<T>>) outs(%x0 : <<4>>) -> <<4>>
  %y = scf.for %i = %c0 to %x1 step %c1 iter_args(%v = %z) -> (<<4>>) {
    %s = arith.mulf %x0, %x0 : <<4>>
    %t = arith.addf %v, %s : <<4>>
    scf.yield %t : <<4>>
  }
  return %y : <<4>>""", lambda x, n: n * x * x, fixed={1: np.int64(3)}),
    Function("result_of_no_tangent", ["<<4>>", "<<4>>", N], ["<<4>>"],
             LOOP + """
  %y:2 = scf.for %i = %c0 to %x2 step %c1 iter_args(%v = %x0, %u = %x1) -> (<<4>>, <<4>>) {
    %s = arith.mulf %v, %u : <<4>>
    scf.yield %s, %u : <<4>>, <<4>>
  }
  return %y#0 : <<4>>""", lambda x, u, n: x * u**3, wrt=(0,),
             fixed={2: np.int64(3)}),
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
    Function("sine_and_cosine", ["<<T>>"], ["<<T>>", "<<T>>"], """
  %s, %c = math.sincos %x0 : <<T>>
  return %s, %c : <<T>>, <<T>>""", lambda x: (np.sin(x), np.cos(x)),
             exact=False),
]

function_tests.run(FUNCTIONS, seed=6)
