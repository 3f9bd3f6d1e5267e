# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Derivatives, first and second, of loops."""

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


def _rows(a, v):
    for i in range(3):
        v = v + a[i] * v[0]
    return v


def _dear(v, w, n):
    for i in range(n):
        v = np.sin(w @ v)
        if i % 2 == 1:
            v = np.cos(v)**2
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

def _while(condition, step):
    def run(x):
        while condition(np.real(x)):
            x = step(x)
        return x
    return run


def _growth(x, w):
    """The first region computes what it passes on."""
    count = 0
    while True:
        passed = x * w
        if not count < 3:
            return passed
        x, count = passed + x, count + 1


def _newton(a):
    x = a
    while np.abs(np.real(x * x - a)) > 1e-15:
        x = (x + a / x) / 2
    return x


def _while_in_for(x, w, n):
    for i in range(int(n)):
        k = 0
        while k < i:
            x, k = x * w, k + 1
        x = x + w
    return x


def _for_in_while(x, w):
    k = 0
    while k < 2:
        for _ in range(k + 1):
            x = x * w
        k += 1
    return x


def _switched(a, b, i):
    return {0: a * b, 2: a * a, -1: b}.get(int(i), a + b)


FUNCTIONS = [
    Function("repeated_square", ["<<T>>", N], ["<<T>>"], LOOP + """
  %y = scf.for %i = %c0 to %x1 step %c1 iter_args(%v = %x0) -> (<<T>>) {
    %s = arith.mulf %v, %v : <<T>>
    scf.yield %s : <<T>>
  }
  return %y : <<T>>""", power, fixed={1: np.int64(2)}),
    # The body yields what it does not carry, and does not read what it does.
    Function("yields_captured", ["<<2x3>>", "<<2x3>>", N], ["<<2x3>>"], LOOP + """
  %y = scf.for %i = %c0 to %x2 step %c1 iter_args(%v = %x0) -> (<<2x3>>) {
    scf.yield %x1 : <<2x3>>
  }
  return %y : <<2x3>>""", lambda x, w, n: w if n else x,
             fixed={2: np.int64(2)}),
    Function("carries_nothing", ["<<3>>", "<<=0x2>>", N], ["<<3>>", "<<=0x2>>"],
             LOOP + """
  %y:2 = scf.for %i = %c0 to %x2 step %c1 iter_args(%v = %x0, %e = %x1) -> (<<3>>, <<=0x2>>) {
    %s = arith.mulf %v, %v : <<3>>
    %z = arith.mulf %e, %e : <<=0x2>>
    scf.yield %s, %z : <<3>>, <<=0x2>>
  }
  return %y#0, %y#1 : <<3>>, <<=0x2>>""",
             lambda x, e, n: (power(x, n), power(e, n)),
             fixed={2: np.int64(2)}),
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
    # A region selects by a bit that is no operand.
    Function("selects_by_a_bit", ["<<4>>", "<<T|i1>>"], ["<<4>>"], """
  %e = arith.mulf %x0, %x0 : <<4>>
  %y = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]} ins(%e : <<4>>) outs(%e : <<4>>) {
  ^bb0(%a: <<T>>, %o: <<T>>):
    %zero = arith.constant 0.0 : <<T>>
    %p = arith.mulf %a, %a : <<T>>
    %s = arith.select %x1, %p, %zero : <<T>>
    linalg.yield %s : <<T>>
  } -> <<4>>
  return %y : <<4>>""", lambda x, c: x**4 if c else 0 * x,
             fixed={1: np.bool_(True)}),
    # The positions that a generic reads vary with the loop around it.
    Function("gathers_windows", ["<<6>>", "<<4>>"], ["<<4>>"], LOOP + """
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x1) -> (<<4>>) {
    %w = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]} ins(%v : <<4>>) outs(%v : <<4>>) {
    ^bb0(%a: <<T>>, %o: <<T>>):
      %j = linalg.index 0 : index
      %k = arith.addi %i, %j : index
      %e = tensor.extract %x0[%k] : <<6>>
      linalg.yield %e : <<T>>
    } -> <<4>>
    %t = arith.mulf %v, %w : <<4>>
    scf.yield %t : <<4>>
  }
  return %y : <<4>>""", lambda x, v: v * x[0:4] * x[1:5] * x[2:6]),
    # What is dear is kept, of extents that are known when the program runs,
    # with what a branch in the loop computes.
    Function("keeps_what_is_dear", ["<<4>>", "<<4x4>>", N], ["<<4>>"],
             LOOP + """
  %zero = arith.constant 0.0 : <<T>>
  %n = tensor.dim %x0, %c0 : <<4>>
  %y = scf.for %i = %c0 to %x2 step %c1 iter_args(%v = %x0) -> (<<4>>) {
    %empty = tensor.empty(%n) : tensor<?x!T>
    %zeros = linalg.fill ins(%zero : <<T>>) outs(%empty : tensor<?x!T>) -> tensor<?x!T>
    %start = tensor.cast %zeros : tensor<?x!T> to <<4>>
    %p = linalg.matvec ins(%x1, %v : <<4x4>>, <<4>>) outs(%start : <<4>>) -> <<4>>
    %s = math.sin %p : <<4>>
    %odd = arith.remsi %i, %c2 : index
    %is_odd = arith.cmpi eq, %odd, %c1 : index
    %t = scf.if %is_odd -> (<<4>>) {
      %c = math.cos %s : <<4>>
      %q = arith.mulf %c, %c : <<4>>
      scf.yield %q : <<4>>
    } else {
      scf.yield %s : <<4>>
    }
    scf.yield %t : <<4>>
  }
  return %y : <<4>>""", _dear, fixed={2: np.int64(3)}, exact=False),
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
    # scf.while: counted, then replayed.
    Function("while_squaring", ["<<4>>"], ["<<4>>"], LOOP + """
  %limit = arith.constant 2.0 : <<T>>
  %y = scf.while (%a = %x0) : (<<4>>) -> <<4>> {
    %first = tensor.extract %a[%c0] : <<4>>
    %more = arith.cmpf ogt, %first, %limit : <<T>>
    scf.condition(%more) %a : <<4>>
  } do {
  ^bb0(%a: <<4>>):
    %half = arith.constant 0.5 : <<T>>
    %h = tensor.splat %half : tensor<4x!T>
    %g = tensor.cast %h : tensor<4x!T> to <<4>>
    %s = arith.mulf %a, %g : <<4>>
    %t = arith.mulf %s, %a : <<4>>
    %u = arith.mulf %t, %g : <<4>>
    %n = arith.negf %u : <<4>>
    scf.yield %n : <<4>>
  }
  return %y : <<4>>""", _while(lambda x: x[0] > 2, lambda x: -x * x / 4),
             inputs=lambda rng, shapes: [np.array([6.0, 2, -4, 2])]),
    Function("while_no_iterations", ["<<T>>", "<<T>>"], ["<<T>>"], LOOP + """
  %false = arith.constant false
  %y = scf.while (%a = %x0) : (<<T>>) -> <<T>> {
    %b = arith.mulf %a, %x1 : <<T>>
    scf.condition(%false) %b : <<T>>
  } do {
  ^bb0(%b: <<T>>):
    %c = arith.mulf %b, %b : <<T>>
    scf.yield %c : <<T>>
  }
  return %y : <<T>>""", lambda x, w: x * w),
    Function("while_passing_on", ["<<3>>", "<<3>>"], ["<<3>>"], LOOP + """
  %r:2 = scf.while (%a = %x0, %k = %c0) : (<<3>>, index) -> (<<3>>, <<3>>) {
    %p = arith.mulf %a, %x1 : <<3>>
    %more = arith.cmpi slt, %k, %c3 : index
    %n = arith.addi %k, %c1 : index
    %d = arith.index_cast %n : index to i32
    %f = arith.sitofp %d : i32 to <<T>>
    %m = tensor.splat %f : tensor<3x!T>
    %c = tensor.cast %m : tensor<3x!T> to <<3>>
    scf.condition(%more) %p, %c : <<3>>, <<3>>
  } do {
  ^bb0(%p: <<3>>, %c: <<3>>):
    %i = tensor.extract %c[%c0] : <<3>>
    %d = arith.fptosi %i : <<T>> to i32
    %k = arith.index_cast %d : i32 to index
    %back = arith.divf %p, %x1 : <<3>>
    %s = arith.addf %p, %back : <<3>>
    scf.yield %s, %k : <<3>>, index
  }
  return %r#0 : <<3>>""", _growth, exact=False,
             inputs=lambda rng, shapes: [
                 rng.uniform(0.5, 1.5, size=s) for s in shapes]),
    # Several values with tangents, which are passed on in another order.
    Function("while_of_two", ["<<4>>", "<<T>>"], ["<<T>>", "<<4>>"], LOOP + """
  %r:3 = scf.while (%k = %c0, %a = %x0, %b = %x1) : (index, <<4>>, <<T>>) -> (<<T>>, index, <<4>>) {
    %more = arith.cmpi slt, %k, %c2 : index
    scf.condition(%more) %b, %k, %a : <<T>>, index, <<4>>
  } do {
  ^bb0(%b: <<T>>, %k: index, %a: <<4>>):
    %n = arith.addi %k, %c1 : index
    %e = tensor.splat %b : tensor<4x!T>
    %f = tensor.cast %e : tensor<4x!T> to <<4>>
    %p = arith.mulf %a, %f : <<4>>
    %q = arith.mulf %b, %b : <<T>>
    scf.yield %n, %p, %q : index, <<4>>, <<T>>
  }
  return %r#0, %r#2 : <<T>>, <<4>>""", lambda a, b: (b**4, a * b**3)),
    Function("while_newton", ["<<T>>"], ["<<T>>"], LOOP + """
  %half = arith.constant 0.5 : <<T>>
  %tiny = arith.constant 1.0e-15 : <<T>>
  %y = scf.while (%x = %x0) : (<<T>>) -> <<T>> {
    %s = arith.mulf %x, %x : <<T>>
    %d = arith.subf %s, %x0 : <<T>>
    %e = math.absf %d : <<T>>
    %more = arith.cmpf ogt, %e, %tiny : <<T>>
    scf.condition(%more) %x : <<T>>
  } do {
  ^bb0(%x: <<T>>):
    %q = arith.divf %x0, %x : <<T>>
    %s = arith.addf %x, %q : <<T>>
    %n = arith.mulf %s, %half : <<T>>
    scf.yield %n : <<T>>
  }
  return %y : <<T>>""", _newton, exact=False, second=False,
             inputs=lambda rng, shapes: [np.float64(1.44)]),
    Function("while_in_for", ["<<T>>", "<<T>>", N], ["<<T>>"], LOOP + """
  %y = scf.for %i = %c0 to %x2 step %c1 iter_args(%v = %x0) -> (<<T>>) {
    %r:2 = scf.while (%a = %v, %k = %c0) : (<<T>>, index) -> (<<T>>, index) {
      %more = arith.cmpi slt, %k, %i : index
      scf.condition(%more) %a, %k : <<T>>, index
    } do {
    ^bb0(%a: <<T>>, %k: index):
      %b = arith.mulf %a, %x1 : <<T>>
      %n = arith.addi %k, %c1 : index
      scf.yield %b, %n : <<T>>, index
    }
    %s = arith.addf %r#0, %x1 : <<T>>
    scf.yield %s : <<T>>
  }
  return %y : <<T>>""", _while_in_for, fixed={2: np.int64(3)}),
    Function("for_in_while", ["<<T>>", "<<T>>"], ["<<T>>"], LOOP + """
  %r:2 = scf.while (%a = %x0, %k = %c0) : (<<T>>, index) -> (<<T>>, index) {
    %more = arith.cmpi slt, %k, %c2 : index
    scf.condition(%more) %a, %k : <<T>>, index
  } do {
  ^bb0(%a: <<T>>, %k: index):
    %n = arith.addi %k, %c1 : index
    %b = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> (<<T>>) {
      %m = arith.mulf %v, %x1 : <<T>>
      scf.yield %m : <<T>>
    }
    scf.yield %b, %n : <<T>>, index
  }
  return %r#0 : <<T>>""", _for_in_while),
    Function("while_in_if", ["<<T>>", "<<T>>", "<<T|i1>>"], ["<<T>>"],
             LOOP + """
  %y = scf.if %x2 -> (<<T>>) {
    %r:2 = scf.while (%a = %x0, %k = %c0) : (<<T>>, index) -> (<<T>>, index) {
      %more = arith.cmpi slt, %k, %c2 : index
      scf.condition(%more) %a, %k : <<T>>, index
    } do {
    ^bb0(%a: <<T>>, %k: index):
      %n = arith.addi %k, %c1 : index
      %b = arith.mulf %a, %x1 : <<T>>
      scf.yield %b, %n : <<T>>, index
    }
    scf.yield %r#0 : <<T>>
  } else {
    scf.yield %x1 : <<T>>
  }
  return %y : <<T>>""", lambda x, w, _: x * w * w,
             fixed={2: np.bool_(True)}),
    # A while that no derivative goes through is left alone.
    Function("while_inactive", ["<<T>>"], ["<<T>>"], LOOP + """
  %ten = arith.constant 10.0 : <<T>>
  %one = arith.constant 1.0 : <<T>>
  %two = arith.constant 2.0 : <<T>>
  %w = scf.while (%a = %one) : (<<T>>) -> <<T>> {
    %more = arith.cmpf olt, %a, %ten : <<T>>
    scf.condition(%more) %a : <<T>>
  } do {
  ^bb0(%a: <<T>>):
    %b = arith.mulf %a, %two : <<T>>
    scf.yield %b : <<T>>
  }
  %y = arith.mulf %x0, %w : <<T>>
  return %y : <<T>>""", lambda x: 16 * x),
    *[Function(f"index_switch_{name}", ["<<T>>", "<<T>>", N], ["<<T>>"], """
  %y = scf.index_switch %x2 -> <<T>>
  case 0 {
    %p = arith.mulf %x0, %x1 : <<T>>
    scf.yield %p : <<T>>
  }
  case 2 {
    %s = arith.mulf %x0, %x0 : <<T>>
    scf.yield %s : <<T>>
  }
  case -1 {
    scf.yield %x1 : <<T>>
  }
  default {
    %s = arith.addf %x0, %x1 : <<T>>
    scf.yield %s : <<T>>
  }
  return %y : <<T>>""", _switched, fixed={2: np.int64(case)})
      for name, case in (("first", 0), ("second", 2), ("last", -1),
                         ("default", 1))],
    Function("index_switch_default_only", ["<<T>>", N], ["<<T>>"], """
  %y = scf.index_switch %x1 -> <<T>>
  default {
    %s = arith.mulf %x0, %x0 : <<T>>
    scf.yield %s : <<T>>
  }
  return %y : <<T>>""", lambda x, i: x * x, fixed={1: np.int64(0)}),
    Function("execute_region", ["<<T>>", "<<T>>"], ["<<T>>"], """
  %y = scf.execute_region -> <<T>> {
    %p = arith.mulf %x0, %x1 : <<T>>
    scf.yield %p : <<T>>
  }
  return %y : <<T>>""", lambda a, b: a * b),
    Function("forall", ["<<4x3>>", "<<4x3>>"], ["<<4x3>>"], LOOP + """
  %y = scf.forall (%i) in (4) shared_outs(%o = %x1) -> (<<4x3>>) {
    %row = tensor.extract_slice %x0[%i, 0] [1, 3] [1, 1] : <<4x3>> to tensor<1x3x!T>
    %s = arith.mulf %row, %row : tensor<1x3x!T>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i, 0] [1, 3] [1, 1] : tensor<1x3x!T> into <<4x3>>
    }
  }
  return %y : <<4x3>>""", lambda a, o: a * a + 0 * o),
    Function("forall_of_some", ["<<4>>", "<<4>>", N], ["<<4>>"], LOOP + """
  %y = scf.forall (%i) = (%c1) to (%x2) step (%c2) shared_outs(%o = %x1) -> (<<4>>) {
    %a = tensor.extract_slice %x0[%i] [1] [1] : <<4>> to tensor<1x!T>
    %b = tensor.extract_slice %o[%i] [1] [1] : <<4>> to tensor<1x!T>
    %s = arith.mulf %a, %b : tensor<1x!T>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1x!T> into <<4>>
    }
  }
  return %y : <<4>>""",
             lambda a, o, n: np.where([False, True, False, True], a * o, o),
             fixed={2: np.int64(4)}),
    Function("parallel", ["<<4x3>>", "<<T>>"], ["<<T>>"], LOOP + """
  %c4 = arith.constant 4 : index
  %y = scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %c3) step (%c1, %c1) init (%x1) -> <<T>> {
    %a = tensor.extract %x0[%i, %j] : <<4x3>>
    %s = arith.mulf %a, %a : <<T>>
    scf.reduce(%s : <<T>>) {
    ^bb0(%u: <<T>>, %v: <<T>>):
      %sum = arith.addf %u, %v : <<T>>
      scf.reduce.return %sum : <<T>>
    }
  }
  return %y : <<T>>""", lambda a, c: c + (a * a).sum()),
]

function_tests.run(FUNCTIONS, seed=6)
