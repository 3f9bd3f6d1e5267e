# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Derivatives, first and second, of matrices that are centered and normalized.

Deviations from means add up to zero along the dimensions that the mean is of
and along no others, and factors leave sums that they do not change along
(semantics G14): some of these functions are such, some differ from one in the
number that a sum is divided by, in what is added up, or along what. Terms that
such a factor is left in are multiplied by it together, constants cancel, and what
two of them multiply is multiplied once.
"""

import numpy as np

import function_tests
from functions import Function

# What is left of the dimensions of a matrix when some are summed over.
LEFT = {(1,): "i", (0,): "j", (0, 1): ""}
TYPES = {"i": "<<3>>", "j": "<<4>>", "": "<<>>", "ij": "<<3x4>>"}


def generic(name, result, operands, region, loops=None, zero=False):
    """A linalg.generic; operands are (value, dimensions), `loops` an order."""
    loops = result if loops is None else loops
    maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(dims)})>"
                     for dims in [d for _, d in operands] + [result])
    iterators = ", ".join('"parallel"' if loop in result else '"reduction"'
                          for loop in loops)
    fill = f"""
  %{name}_init = linalg.fill ins(%zero : !T) outs(%{name}_empty : {TYPES[result]}) -> {TYPES[result]}"""
    return f"""
  %{name}_empty = !empty{TYPES[result]}{fill if zero else ""}
  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
      ins({", ".join(v for v, _ in operands)} : {", ".join(TYPES[d] for _, d in operands)})
      outs(%{name}_{"init" if zero else "empty"} : {TYPES[result]}) {{{region}
  }} -> {TYPES[result]}"""


SUM = """
  ^bb0(%a: !T, %out: !T):
    %s = arith.addf %out, %a : !T
    linalg.yield %s : !T"""
MEAN = """
  ^bb0(%a: !T, %out: !T):
    %m = arith.divf %a, %n : !T
    linalg.yield %m : !T"""
DEVIATION = """
  ^bb0(%a: !T, %b: !T, %out: !T):
    %c = arith.subf %a, %b : !T
    linalg.yield %c : !T"""
DEVIATION_FROM_SUM = """
  ^bb0(%a: !T, %b: !T, %out: !T):
    %m = arith.divf %b, %n : !T
    %c = arith.subf %a, %m : !T
    linalg.yield %c : !T"""
SQUARES = """
  ^bb0(%a: !T, %out: !T):
    %p = arith.mulf %a, %a : !T
    %s = arith.addf %out, %p : !T
    linalg.yield %s : !T"""
SCALE = """
  ^bb0(%a: !T, %out: !T):
    %s = arith.addf %a, %one : !T
    %r = math.rsqrt %s : !T
    linalg.yield %r : !T"""
PRODUCT = """
  ^bb0(%a: !T, %b: !T, %w: !T, %out: !T):
    %p = arith.mulf %a, %b : !T
    %q = arith.mulf %p, %w : !T
    linalg.yield %q : !T"""
ROOT = """
  ^bb0(%a: !T, %out: !T):
    %s = arith.addf %a, %one : !T
    %r = math.sqrt %s : !T
    linalg.yield %r : !T"""
QUOTIENT = """
  ^bb0(%a: !T, %b: !T, %w: !T, %out: !T):
    %p = arith.mulf %a, %w : !T
    %q = arith.divf %p, %b : !T
    linalg.yield %q : !T"""


# What the bodies of both begin with.
CONSTANTS = """
  %first = arith.constant 0 : index
  %second = arith.constant 1 : index
  %s3 = tensor.dim %x0, %first : <<3x4>>
  %s4 = tensor.dim %x0, %second : <<3x4>>
  %zero = arith.constant 0.0 : !T
  %one = arith.constant 1.0 : !T
"""


def normalized(name, centered, scaled, divisor=None, other=False, loops="ij",
               at_once=False, divides=False):
    """(x - mean) / sqrt(1 + sum of squares) * w. The mean is along `centered`,
    of x or of another matrix, the sum along `scaled`."""
    source, left, rest = "%x2" if other else "%x0", LEFT[centered], LEFT[scaled]
    number = divisor or {(1,): 4, (0,): 3, (0, 1): 12}[centered]
    mean = "sum" if at_once else "mean"
    # The loops of the sum need not be in the order of the dimensions.
    body = CONSTANTS + f"""  %n = arith.constant {number}.0 : !T""" + generic(
      "sum", left, [(source, "ij")], SUM, loops, zero=True)
    if not at_once:
        body += generic("mean", left, [("%sum", left)], MEAN)
    body += generic("c", "ij", [("%x0", "ij"), (f"%{mean}", left)],
                    DEVIATION_FROM_SUM if at_once else DEVIATION)
    body += generic("v", rest, [("%c", "ij")], SQUARES, "ij", zero=True)
    body += generic("r", rest, [("%v", rest)], ROOT if divides else SCALE)
    body += generic("y", "ij", [("%c", "ij"), ("%r", rest), ("%x1", "j")],
                    QUOTIENT if divides else PRODUCT)

    def mirror(x, w, z=None):
        c = x - (z if other else x).sum(centered, keepdims=True) / number
        return c / np.sqrt(1 + (c * c).sum(scaled, keepdims=True)) * w

    types = ["<<3x4>>", "<<4>>"] + ["<<3x4>>"] * other
    return Function(name, types, ["<<3x4>>"], body + "\n  return %y : <<3x4>>",
                    mirror, exact=False)


def scaled(name, along, factor, root=None, order="ij"):
    """x w s and the sum of x s, where s is a function of `factor` times the sum
    of squares: what w, x and s get is multiplied by the same."""
    left = LEFT[along]
    scale = "" if root is None else f"""
    %r = math.{root} %t : !T"""
    region = f"""
  ^bb0(%a: !T, %out: !T):
    %m = arith.mulf %a, %n : !T
    %t = arith.{"mulf %m, %n" if root is None else "addf %m, %one"} : !T{scale}
    linalg.yield {"%t" if root is None else "%r"} : !T"""
    scaled_sum = """
  ^bb0(%a: !T, %b: !T, %out: !T):
    %p = arith.mulf %a, %b : !T
    %q = arith.mulf %p, %n : !T
    %s = arith.addf %out, %q : !T
    linalg.yield %s : !T"""
    body = CONSTANTS + f"""  %n = arith.constant {factor} : !T"""
    body += generic("v", left, [("%x0", "ij")], SQUARES, order, zero=True)
    body += generic("r", left, [("%v", left)], region)
    body += generic("y", "ij", [("%x0", "ij"), ("%r", left), ("%x1", "j")],
                    PRODUCT, order)
    body += generic("z", "j", [("%x0", "ij"), ("%r", left)], scaled_sum, order,
                    zero=True)

    def mirror(x, w):
        v = (x * x).sum(along, keepdims=True) * factor
        s = {None: lambda: v * factor, "sqrt": lambda: np.sqrt(v + 1),
             "rsqrt": lambda: 1 / np.sqrt(v + 1)}[root]()
        return x * s * w, (x * s * factor).sum(0)

    return Function(name, ["<<3x4>>", "<<4>>"], ["<<3x4>>", "<<4>>"],
                    body + "\n  return %y, %z : <<3x4>>, <<4>>", mirror,
                    exact=False)


ROWS, COLUMNS, ALL = (1,), (0,), (0, 1)

function_tests.run([
    normalized("rows", ROWS, ROWS),
    normalized("columns", COLUMNS, COLUMNS),
    normalized("all", ALL, ALL),
    normalized("rows_by_all", ROWS, ALL),
    normalized("columns_by_all", COLUMNS, ALL),
    # What scales the deviations changes along what they are centered along.
    normalized("all_by_rows", ALL, ROWS),
    normalized("rows_by_columns", ROWS, COLUMNS),
    normalized("columns_by_rows", COLUMNS, ROWS),
    # In other forms.
    normalized("rows_in_order", ROWS, ROWS, loops="ji"),
    normalized("all_in_order", ALL, ALL, loops="ji"),
    normalized("rows_at_once", ROWS, ROWS, at_once=True),
    normalized("columns_divided", COLUMNS, COLUMNS, divides=True),
    normalized("rows_divided_at_once", ROWS, ROWS, at_once=True, divides=True),
    # No deviations from a mean.
    normalized("rows_by_three", ROWS, ROWS, divisor=3),
    normalized("rows_by_eight", ROWS, ROWS, divisor=8),
    normalized("all_by_four", ALL, ALL, divisor=4),
    normalized("of_another", ROWS, ROWS, other=True),
    normalized("columns_of_another", COLUMNS, COLUMNS, other=True, divides=True),
    # Constants that cancel, that do not, and that are rounded.
    scaled("rows_scaled", ROWS, 0.5),
    scaled("columns_scaled", COLUMNS, 0.25),
    scaled("all_scaled", ALL, 2.0),
    scaled("rows_by_root", ROWS, 2.0, "rsqrt"),
    scaled("columns_by_root", COLUMNS, 0.5, "sqrt"),
    scaled("all_by_root", ALL, 0.3, "rsqrt"),
    scaled("rows_by_root_in_order", ROWS, 4.0, "rsqrt", order="ji"),
], seed=11)
