# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Every scalar op that is zero of zeros keeps the pattern of sparse operands,
with its derivatives; every other one is refused. Integers and truth values,
extrema of operands on several patterns, reductions to them."""

import subprocess

import numpy as np
import scipy.special

from execution import DTYPES, Program, close, finish
from sparse_functions import SparseFunction, table
from sparse_storage import (MATRICES, VECTORS, block_encoding, from_pattern,
                            same_pattern)
from sparse_tables import elementwise, generic

rng = np.random.default_rng(61)


def signed(low, high):
    """Away from zero, where some have kinks or poles."""
    return lambda rng, shape: (rng.uniform(low, high, shape) *
                               rng.choice([-1, 1], shape))


def positive(rng, shape):
    return rng.uniform(0.3, 0.9, shape)


def of_real(function):
    """A step function, whose derivative is zero."""
    return lambda x: function(np.real(x)) + 0j


# The op, what it computes, and where.
KEEP = {
    "math.sin": (np.sin, signed(0.2, 1.5)),
    "math.tan": (np.tan, signed(0.2, 1)),
    "math.sinh": (np.sinh, signed(0.2, 1.5)),
    "math.tanh": (np.tanh, signed(0.2, 1.5)),
    "math.asin": (np.arcsin, signed(0.1, 0.9)),
    "math.asinh": (np.arcsinh, signed(0.2, 1.5)),
    "math.atan": (np.arctan, signed(0.1, 0.9)),
    "math.atanh": (np.arctanh, signed(0.1, 0.9)),
    "math.erf": (scipy.special.erf, signed(0.2, 1.5)),
    "math.expm1": (np.expm1, signed(0.2, 1.5)),
    "math.log1p": (np.log1p, positive), "math.sqrt": (np.sqrt, positive),
    "math.cbrt": (lambda x: x ** (1 / 3), positive),
    "math.absf": (lambda x: np.where(x.real < 0, -x, x), signed(0.2, 1.5)),
    "math.floor": (of_real(np.floor), signed(0.1, 2.4)),
    "math.ceil": (of_real(np.ceil), signed(0.1, 2.4)),
    "math.round": (of_real(lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x)),
                   signed(0.1, 2.4)),
    "math.roundeven": (of_real(np.rint), signed(0.1, 2.4)),
    "math.trunc": (of_real(np.trunc), signed(0.1, 2.4)),
    "arith.negf": (np.negative, signed(0.2, 1.5)),
}
# Those that are not zero at zero, or not a number.
LEAVE = ("math.cos", "math.cosh", "math.acos", "math.exp", "math.exp2",
         "math.log", "math.log2", "math.log10", "math.rsqrt", "math.erfc")


def kept_function(op):
    function, draw = KEEP[op]

    def mirror(x, p):
        # A complex number takes another branch of a function at its cut.
        return np.where(p[0], function(np.where(p[0], x[0], 0.5)), 0)
    return SparseFunction(
        op.replace(".", "_"), ["nm#A"], ["nm#A"],
        f"  %y = {op} %x0 : <<nm#A>>\n  return %y : <<nm#A>>", mirror, (0,),
        draw=draw, zeros=False)


def larger(a, b):
    return np.where(np.real(a) > np.real(b), a, b)


def smaller(a, b):
    return np.where(np.real(a) < np.real(b), a, b)


EXTREMA = {"maximumf": larger, "minimumf": smaller, "maxnumf": larger,
           "minnumf": smaller}


def extremum(op):
    function = elementwise(op, ["nm#A", "nm#B"], "nm#R", op,
                           lambda x, p: EXTREMA[op](x[0], x[1]),
                           lambda p, x: p[0] | p[1], draw=signed(0.2, 1.5))
    function.zeros = False  # ties with what is absent
    return function


def row_extremum(op):
    """An absent element is a zero (semantics G4)."""
    infinity = "0xFFF0000000000000" if "max" in op else "0x7FF0000000000000"
    start = -np.inf if "max" in op else np.inf
    best = np.argmax if "max" in op else np.argmin
    return SparseFunction(f"row_{op}", ["nm#A"], ["n"], f"""
  %c = arith.constant {infinity} : f64
  %e = empty <<n>>
  %z = linalg.fill ins(%c : f64) outs(%e : <<n>>) -> <<n>>""" + generic(
      "ij->i", "iJ", [("%x0", "nm#A")], ("%z", "n"), "%y", f"""
    %s = arith.{op} %o, %b0 : f64
    linalg.yield %s : f64""") + "\n  return %y : <<n>>",
                          lambda x, p: np.array(
                              [r[best(r.real)] if r.size else start
                               for r in x[0]], x[0].dtype),
                          draw=signed(0.2, 1.5), zeros=False)


FUNCTIONS = [*map(kept_function, KEEP)]
PAIRS = [*map(extremum, EXTREMA),
         *(row_extremum(op) for op in EXTREMA)]

# Integers: what is computed of absent elements, and what the result stores.
UNION, BOTH, FIRST = (lambda a, b: a | b, lambda a, b: a & b, lambda a, b: a)
INTEGERS = {"addi": (np.add, UNION), "subi": (np.subtract, UNION),
            "muli": (np.multiply, BOTH), "andi": (np.bitwise_and, BOTH),
            "ori": (np.bitwise_or, UNION), "xori": (np.bitwise_xor, UNION),
            "divsi": (lambda a, b: np.trunc(a / b).astype(a.dtype), FIRST),
            "divui": (lambda a, b: (a.view(f"u{a.itemsize}") //
                                    b.view(f"u{b.itemsize}")).view(a.dtype),
                      FIRST)}
FORMATS = {"CSR": MATRICES["CSR"], "COO": MATRICES["COO"],
           "DCSC": MATRICES["DCSC"], "BSR": block_encoding((2, 2))}


def integers_program():
    program = Program("integers", 0, threads=1)
    for name, encoding in FORMATS.items():
        program.define_encoding(name, encoding)
    for number, op in enumerate(INTEGERS):
        compute, stores = INTEGERS[op]
        for element, dtype in (("i32", np.int32), ("i8", np.int8),
                               ("i1", np.bool_)):
            if element == "i1" and op not in ("andi", "ori", "xori"):
                continue
            names = [list(FORMATS)[(number + i) % 4] for i in range(3)]
            if "div" in op:
                names = [n if n != "BSR" else "CSR" for n in names]
            a, b, r = (f"tensor<?x?x{element}, #{n}>" for n in names)
            entry = f"{op}_{element}"
            maps = ", ".join(["affine_map<(i, j) -> (i, j)>"] * 3)
            program.entry(entry, [a, b], [r], f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a0, %c0 : {a}
  %m = tensor.dim %a0, %c1 : {a}
  %e = tensor.empty(%n, %m) : {r}
  %y = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}} ins(%a0, %a1 : {a}, {b}) outs(%e : {r}) {{
  ^bb0(%x: {element}, %z: {element}, %o: {element}):
    %s = arith.{op} %x, %z : {element}
    linalg.yield %s : {element}
  }} -> {r}
  return %y : {r}""")
            for repetition in range(6):
                shape = ((4, 5), (1, 1), (0, 3), (7, 2))[repetition % 4]
                masks = [rng.random(shape) < 0.5 for _ in range(2)]
                if "div" in op:  # by an absent element is by zero
                    masks[1] |= masks[0]
                arrays = [rng.integers(1, 60, shape).astype(dtype)
                          for _ in masks]
                storages = [from_pattern(x, m, FORMATS[n]) for x, m, n in
                            zip(arrays, masks, names)]
                closed = [np.zeros(shape, bool) for _ in masks]
                for mask, storage in zip(closed, storages):
                    mask[tuple(storage.entries()[0].T)] = True
                dense = [s.dense() for s in storages]
                pattern = stores(*closed)
                with np.errstate(all="ignore"):
                    wanted = np.where(pattern, compute(*[
                        np.where(pattern, x, 1) for x in dense])
                        if "div" in op else compute(*dense), 0).astype(dtype)
                expected = from_pattern(wanted, pattern, FORMATS[names[2]])

                def check(result, expected=expected):
                    return same_pattern(result, expected) + close(
                        result.values, expected.values)
                program.call(entry, storages, check, f"{repetition}")
    # What is not zero of dense ones.
    for number, element in enumerate(("i32", "i8", "i1", "i64")):
        dtype = DTYPES[element]
        for name, encoding in FORMATS.items():
            dense, stored = (f"tensor<?x?x{element}{s}>"
                             for s in ("", f", #{name}"))
            entry = f"from_dense_{element}_{name}"
            program.entry(entry, [dense], [stored], f"""
  %y = sparse_tensor.convert %a0 : {dense} to {stored}
  return %y : {stored}""")
            for shape in ((4, 5), (1, 1), (0, 3)):
                array = rng.integers(-1, 2, shape).astype(dtype)
                expected = from_pattern(array, array != 0, encoding)
                program.call(entry, [array], lambda result, expected=expected:
                             same_pattern(result, expected) +
                             close(result.values, expected.values))
    return program


def window_program():
    """A sparse operand at a sum of two loops, also times a number."""
    program = Program("window", 0, threads=1)
    program.define_encoding("V", VECTORS["SparseVector"])
    for name, index, stride, dilation in (
            ("left", "i + j", 1, 1), ("right", "j + i", 1, 1),
            ("strided", "2 * i + j", 2, 1), ("dilated", "i + 2 * j", 1, 2)):
        places = stride * np.arange(5)[:, None] + dilation * np.arange(3)
        extent = places.max() + 1
        program.entry(name, [f"tensor<{extent}xf64, #V>", "tensor<3xf64>"],
                      ["tensor<5xf64>"], f"""
  %c = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<5xf64>
  %z = linalg.fill ins(%c : f64) outs(%e : tensor<5xf64>) -> tensor<5xf64>
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j) -> ({index})>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}} ins(%a0, %a1 : tensor<{extent}xf64, #V>, tensor<3xf64>) outs(%z : tensor<5xf64>) {{
  ^bb0(%x: f64, %k: f64, %o: f64):
    %p = arith.mulf %x, %k : f64
    %r = arith.addf %o, %p : f64
    linalg.yield %r : f64
  }} -> tensor<5xf64>
  return %y : tensor<5xf64>""")
        for _ in range(5):
            a, w = rng.uniform(-1, 1, extent), rng.uniform(-1, 1, 3)
            mask = rng.random(extent) < 0.6
            wanted = np.where(mask, a, 0)[places] @ w
            program.call(name, [from_pattern(a, mask, VECTORS["SparseVector"]),
                                w], lambda y, wanted=wanted:
                         close(y, wanted, 1e-14))
    # Of both dimensions: a matrix starts more than one loop.
    for name, encoding in MATRICES.items():
        program.define_encoding(name, encoding)
        program.entry(f"windows_{name}",
                      [f"tensor<?x?xf64, #{name}>", "tensor<?x?xf64>",
                       "tensor<?x?xf64>"], ["tensor<?x?xf64>"], f"""
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j, k, l) -> (i + k, j + l)>, affine_map<(i, j, k, l) -> (k, l)>, affine_map<(i, j, k, l) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}}
      ins(%a0, %a1 : tensor<?x?xf64, #{name}>, tensor<?x?xf64>) outs(%a2 : tensor<?x?xf64>) {{
  ^bb0(%x: f64, %k: f64, %o: f64):
    %p = arith.mulf %x, %k : f64
    %r = arith.addf %o, %p : f64
    linalg.yield %r : f64
  }} -> tensor<?x?xf64>
  return %y : tensor<?x?xf64>""")
        for height, width in ((2, 3), (1, 4), (6, 1)):
            a, w = rng.uniform(-1, 1, (6, 7)), rng.uniform(-1, 1,
                                                           (height, width))
            mask = rng.random(a.shape) < 0.4
            windows = np.lib.stride_tricks.sliding_window_view(
                np.where(mask, a, 0), w.shape)
            wanted = np.einsum("ijkl,kl->ij", windows, w)
            program.call(f"windows_{name}", [from_pattern(a, mask, encoding), w,
                                             np.zeros(wanted.shape)],
                         lambda y, wanted=wanted: close(y, wanted, 1e-14),
                         f"{height} by {width}")
    return program


def two_results_program():
    """Two dense results of one op, the first of which does not read its init."""
    program = Program("two_results", 1, threads=1)
    dense = "tensor<?x?xf64>"
    maps = ", ".join(["affine_map<(i, j) -> (i, j)>"] * 3)
    for name, encoding in MATRICES.items():
        program.define_encoding(name, encoding)
        program.entry(f"two_results_{name}",
                      [f"tensor<?x?xf64, #{name}>", dense, dense],
                      [dense, dense], f"""
  %y:2 = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
      ins(%a0 : tensor<?x?xf64, #{name}>) outs(%a1, %a2 : {dense}, {dense}) {{
  ^bb0(%x: f64, %o: f64, %p: f64):
    %s = arith.mulf %x, %x : f64
    %r = arith.addf %p, %x : f64
    linalg.yield %s, %r : f64, f64
  }} -> ({dense}, {dense})
  return %y#0, %y#1 : {dense}, {dense}""")
        for shape in ((5, 6), (4, 1), (0, 3)):
            a, o, p = (rng.uniform(-1, 1, shape) for _ in range(3))
            mask = rng.random(shape) < 0.5
            there = np.where(mask, a, 0)
            program.call(
                f"two_results_{name}", [from_pattern(a, mask, encoding), o, p],
                lambda y, z, there=there, p=p: close(
                    y, there * there, 0, "written") + close(
                        z, p + there, 0, "added to"), f"{name} {shape}")
    return program


class Refused:
    """Has the members that `finish` looks at."""
    name, types, calls, failures, comparisons = "refused", {}, LEAVE, [], 0

    def run(self):
        for op in LEAVE:
            done = subprocess.run(
                ["sparse-opt", "--sparse-autograd", "-"], text=True,
                check=False, capture_output=True, input=f"""
#CSR = {MATRICES["CSR"].mlir()}
func.func @f(%a: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {{
  %y = {op} %a : tensor<?x?xf64, #CSR>
  return %y : tensor<?x?xf64, #CSR>
}}""")
            if done.returncode == 1 and "<stdin>:4:8: error: " in (
                    done.stderr) and ("is not zero where its sparse operands "
                                      "store nothing") in done.stderr:
                self.comparisons += 1
            else:
                self.failures.append(f"{op}: {done.stderr[:500]}")


finish([table("kept", FUNCTIONS, 2, 3), table("extrema", PAIRS, 3, 3),
        integers_program(), window_program(), two_results_program(),
        Refused()])
