# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %if long %{11%} %else %{1%}
"""Derivatives of branches, and of loops with branches, that read, make and return
sparse tensors of different patterns: values, gradients, tangents and, of every
other function, second derivatives.

`sparse-branches.py COUNT` takes each function in COUNT formats."""

import dataclasses
import itertools
import os
import sys

import numpy as np

from execution import Program, finish
from sparse_functions import (FILLS, FORMATS, WIDTHS, SparseFunction, Variant,
                              add_function, call_case, draw_elements,
                              draw_mask, make_case)
from sparse_tables import generic

# %p holds for about half of the numbers drawn, and says which branch is taken.
CONDITION = """
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %p = arith.cmpf ogt, %x0, %zero : f64
"""
A, V = "<<nn#A>>", "<<n>>"


def product(matrix, vector, result):
    """The text of a product of a matrix and a vector."""
    return (f"  %z_{result} = zeros <<n>>\n  %{result} = linalg.matvec "
            f"ins({matrix}, {vector} : {A}, {V}) outs(%z_{result} : {V}) -> {V}")


def hadamard(a, b, result):
    return f"  %e_{result} = empty <<nn#A>>" + generic(
        "ij,ij->ij", "ij", [(a, "nn#A"), (b, "nn#A")],
        (f"%e_{result}", "nn#A"), f"%{result}", """
    %m = arith.mulf %b0, %b1 : f64
    linalg.yield %m : f64""")


def matmul(a, b, result):
    return (f"  %e_{result} = empty <<nn#A>>\n  %{result} = linalg.matmul "
            f"ins({a}, {b} : {A}, {A}) outs(%e_{result} : {A}) -> {A}")


def is_taken(x):
    return np.real(x[0]) > 0


def make(name, arguments, result, body, mirror, pattern=None, helpers=""):
    """A function of a number that chooses, and others, of one result."""
    return SparseFunction(
        name, ["f64", *arguments], [result],
        CONDITION + body + f"\n  return %r : <<{result}>>", mirror,
        () if pattern is None else (pattern,), helpers=helpers)


FUNCTIONS = [
    # What one branch keeps for the transpose, as it costs much to compute, has
    # the pattern of an argument.
    make("kept", ["nn#A", "nn", "n"], "n", f"""
  %r = scf.if %p -> ({V}) {{
    scf.yield %x3 : {V}
  }} else {{
    %z = zeros <<nn>>
    %d = linalg.matmul ins(%x2, %x2 : <<nn>>, <<nn>>) outs(%z : <<nn>>) -> <<nn>>
    %s = sparse_autograd.sample %d, %x1 : <<nn>>, {A} -> {A}
    %t = math.tanh %s : {A}
    %h = arith.mulf %t, %x1 : {A}
{product("%h", "%x3", "y")}
    scf.yield %y : {V}
  }}""", lambda x, p: x[3] if is_taken(x) else
         (np.tanh(x[2] @ x[2]) * x[1]) @ x[3]),
    make("kept_by_both", ["nn#A", "nn#B", "n"], "n", f"""
  %r = scf.if %p -> ({V}) {{
    %s = math.sin %x2 : <<nn#B>>
    %t = math.tanh %s : <<nn#B>>
    %z = zeros <<n>>
    %y = linalg.matvec ins(%t, %x3 : <<nn#B>>, {V}) outs(%z : {V}) -> {V}
    scf.yield %y : {V}
  }} else {{
    %s = math.sin %x1 : {A}
    %t = math.tanh %s : {A}
{product("%t", "%x3", "y")}
    scf.yield %y : {V}
  }}""", lambda x, p: np.tanh(np.sin(x[2])) @ x[3] if is_taken(x) else
         np.tanh(np.sin(x[1])) @ x[3]),
    make("reduced", ["nn#A"], "n", f"""
  %z = zeros <<n>>
  %r = scf.if %p -> ({V}) {{
    scf.yield %z : {V}
  }} else {{
    %m = sparse_autograd.pattern %x1 : {A}
    %v = sparse_autograd.masked_reduce var %x1, %m dims = [1] : {A}, <<nn#A|i1>> -> {V}
    scf.yield %v : {V}
  }}""", lambda x, p: np.zeros(len(x[1])) if is_taken(x) else np.array(
      [np.mean((r[m] - np.mean(r[m]))**2) if m.any() else 0
       for r, m in zip(x[1], p[1])], dtype=x[1].dtype)),
    # A pattern that a branch makes is made again for the transpose.
    make("made", ["nn#A", "nn#A", "n"], "n", f"""
  %r = scf.if %p -> ({V}) {{
{matmul("%x1", "%x2", "t")}
    %s = math.tanh %t : {A}
{product("%s", "%x3", "y")}
    scf.yield %y : {V}
  }} else {{
{product("%x1", "%x3", "y")}
    scf.yield %y : {V}
  }}""", lambda x, p: (np.tanh(x[1] @ x[2]) if is_taken(x) else x[1]) @ x[3]),
    # The branches have other patterns than each other.
    make("chosen", ["nn#A", "nn#A"], "nn#A", f"""
  %r = scf.if %p -> ({A}) {{
    %s = math.sin %x1 : {A}
    scf.yield %s : {A}
  }} else {{
    scf.yield %x2 : {A}
  }}""", lambda x, p: np.sin(x[1]) if is_taken(x) else x[2],
         lambda p, x: p[1] if is_taken(x) else p[2]),
    make("chosen_product", ["nn#A", "nn#A", "n"], "n", f"""
  %s = scf.if %p -> ({A}) {{
{matmul("%x1", "%x2", "t")}
    scf.yield %t : {A}
  }} else {{
{hadamard("%x1", "%x2", "t")}
    scf.yield %t : {A}
  }}
  %h = math.tanh %s : {A}
{product("%h", "%x3", "r")}""", lambda x, p: np.tanh(
    x[1] @ x[2] if is_taken(x) else x[1] * x[2]) @ x[3]),
    make("none_or_some", ["nn#A"], "nn#A", f"""
  %e = empty <<nn#A>>
  %r = scf.if %p -> ({A}) {{
    %s = math.sin %x1 : {A}
    scf.yield %s : {A}
  }} else {{
    scf.yield %e : {A}
  }}""", lambda x, p: np.sin(x[1]) if is_taken(x) else 0 * x[1],
         lambda p, x: p[1] & is_taken(x)),
    make("selected", ["nn#A", "nn#A"], "nn#A", f"""
  %s = math.sin %x1 : {A}
  %r = arith.select %p, %s, %x2 : {A}""",
         lambda x, p: np.sin(x[1]) if is_taken(x) else x[2],
         lambda p, x: p[1] if is_taken(x) else p[2]),
    # A loop that makes the same new pattern in each iteration.
    make("made_in_loop", ["nn#A", "nn#A", "n"], "n", f"""
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %x3) -> ({V}) {{
{matmul("%x1", "%x2", "t")}
    %h = math.sin %t : {A}
{product("%h", "%s", "y")}
    %u = math.tanh %y : {V}
    scf.yield %u : {V}
  }}""", lambda x, p: np.tanh(np.sin(x[1] @ x[2]) @ np.tanh(
      np.sin(x[1] @ x[2]) @ x[3]))),
    make("branch_in_loop", ["nn#A", "nn#A", "n"], "n", f"""
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x3) -> ({V}) {{
    %first = arith.cmpi eq, %i, %c0 : index
    %q = arith.andi %first, %p : i1
    %h = scf.if %q -> ({A}) {{
      %t = math.sin %x1 : {A}
      scf.yield %t : {A}
    }} else {{
      %t = math.sin %x2 : {A}
      scf.yield %t : {A}
    }}
{product("%h", "%s", "y")}
    %u = math.tanh %y : {V}
    scf.yield %u : {V}
  }}""", lambda x, p: np.tanh(np.sin(x[2]) @ np.tanh(np.sin(x[2]) @ np.tanh(
      np.sin(x[1] if is_taken(x) else x[2]) @ x[3])))),
    make("while_reads", ["nn#A", "n"], "n", f"""
  %w:2 = scf.while (%i = %c0, %s = %x2) : (index, {V}) -> (index, {V}) {{
    %more = arith.cmpi ult, %i, %c2 : index
    scf.condition(%more) %i, %s : index, {V}
  }} do {{
  ^bb0(%i: index, %s: {V}):
    %t = math.sin %x1 : {A}
{product("%t", "%s", "y")}
    %u = math.tanh %y : {V}
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %u : index, {V}
  }}
  %r = tensor.cast %w#1 : {V} to {V}""", lambda x, p: np.tanh(np.sin(
      x[1]) @ np.tanh(np.sin(x[1]) @ x[2]))),
    make("again", ["nn#A", "nn#A", "n"], "n", f"""
  %r = sparse_autograd.checkpoint @{{name}}_inner(%x0, %x1, %x2, %x3) : (f64, {A}, {A}, {V}) -> {V}""",
         lambda x, p: np.tanh(x[1] @ x[2] if is_taken(x) else
                              np.sin(x[1])) @ x[3],
         helpers=f"""
func.func private @{{name}}_inner(%x0: f64, %x1: {A}, %x2: {A}, %x3: {V}) -> {V} {{
{CONDITION}
  %d_n = tensor.dim %x1, %c0 : {A}
  %s = scf.if %p -> ({A}) {{
{matmul("%x1", "%x2", "t")}
    scf.yield %t : {A}
  }} else {{
    %t = math.sin %x1 : {A}
    scf.yield %t : {A}
  }}
  %h = math.tanh %s : {A}
{product("%h", "%x3", "r")}
  return %r : {V}
}}"""),
]



def programs(count):
    """Each function in `count` formats, with both branches taken, on matrices of
    4 x 4 and less."""
    only = os.environ.get("EXECUTION_ONLY")  # for debugging
    rng = np.random.default_rng(59)
    formats = itertools.cycle(FORMATS[2].items())
    widths = itertools.cycle(WIDTHS)
    program = Program("branches", 0, threads=1)
    for position, function in enumerate(FUNCTIONS):
        if only and function.name not in only.split(","):
            continue
        for number in range(count):
            second = (position + number) % 2 == 0
            chosen = [(place, *next(formats), next(widths)) for place in "AB"]
            variant = Variant(
                tuple((p, e.with_widths(*w)) for p, _, e, w in chosen),
                tuple((p, f"{n}_{w[0]}_{w[1]}") for p, n, _, w in chosen))
            entry = add_function(program, function, variant, second=second)
            for size, condition, shift in ((4, 1.0, 0), (4, -1.0, 3),
                                           (number % 2, 1.0, 1),
                                           (1 - number % 2, -1.0, 2)):
                masks = {i: draw_mask(rng, (size, size), FILLS[
                    (i + shift + number) % len(FILLS)])
                         for i, t in enumerate(function.arguments) if "#" in t}
                case = make_case(rng, with_condition(function, condition),
                                 variant, dict(n=size), masks)
                call_case(program, entry, function, variant, case, second=second)
    return [program]


def with_condition(function, condition):
    """The function with arguments drawn so that the condition is `condition`."""
    def draw(rng, shape):
        return draw_elements(rng, shape) if shape else condition
    return dataclasses.replace(function, draw=draw)


# What follows are names of programs.
finish(programs(int(sys.argv.pop(1))))
