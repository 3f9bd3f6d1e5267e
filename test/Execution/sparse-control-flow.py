# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s | FileCheck %s
# CHECK: {{[1-9][0-9]* functions, [1-9][0-9]* calls, [1-9][0-9]*}} numbers compared, 0 failures
"""Derivatives of loops, branches and checkpoints that read, carry and choose
sparse tensors."""

import numpy as np

from function_tests import run
from functions import Function

ENCODINGS = ["CSR", "CSC", "COO", "BSR", "DCSR"]
BOUNDS = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : !T"""


def read_by_loop(encoding):
    """A matrix from outside of the loop, read in each iteration."""
    a = f"<<4x4#{encoding}>>"
    return Function(
        f"read_by_loop_{encoding}", [a, "<<4>>"], ["<<4>>"], BOUNDS + f"""
  %s4 = tensor.dim %x0, %c0 : {a}
  %empty = !empty<<4>>
  %init = linalg.fill ins(%zero : !T) outs(%empty : <<4>>) -> <<4>>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x1) -> <<4>> {{
    %p = linalg.matvec ins(%x0, %s : {a}, <<4>>) outs(%init : <<4>>) -> <<4>>
    %y = arith.addf %p, %x1 : <<4>>
    scf.yield %y : <<4>>
  }}
  return %r : <<4>>""",
        lambda a, x: a @ (a @ (a @ x + x) + x) + x,
        exact=False, patterns=lambda a: (None,))


def carried_by_loop(encoding):
    """Each iteration hands on another matrix of the same pattern."""
    a = f"<<4x4#{encoding}>>"
    maps = ", ".join(["affine_map<(i, j) -> (i, j)>"] * 3)

    def mirror(a):
        s = a
        for _ in range(3):
            s = np.tanh(s) * a
        return s

    return Function(
        f"carried_by_loop_{encoding}", [a], [a], BOUNDS + f"""
  %s4 = tensor.dim %x0, %c0 : {a}
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x0) -> {a} {{
    %empty = !empty{a}
    %y = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
        ins(%s, %x0 : {a}, {a}) outs(%empty : {a}) {{
    ^bb0(%si: !T, %ai: !T, %out: !T):
      %t = math.tanh %si : !T
      %p = arith.mulf %t, %ai : !T
      linalg.yield %p : !T
    }} -> {a}
    scf.yield %y : {a}
  }}
  return %r : {a}""",
        mirror, exact=False)


def chosen_by_branch(encoding):
    """A branch that computes a matrix, or hands on the one there is."""
    a = f"<<4x4#{encoding}>>"
    maps = ", ".join(["affine_map<(i, j) -> (i, j)>"] * 2)
    return Function(
        f"chosen_by_branch_{encoding}", [a, "<<4>>"], ["<<4>>"], BOUNDS + f"""
  %s4 = tensor.dim %x0, %c0 : {a}
  %init0 = !empty<<4>>
  %init = linalg.fill ins(%zero : !T) outs(%init0 : <<4>>) -> <<4>>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x1) -> <<4>> {{
    %is_first = arith.cmpi eq, %i, %c0 : index
    %m = scf.if %is_first -> {a} {{
      %empty = !empty{a}
      %y = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
          ins(%x0 : {a}) outs(%empty : {a}) {{
      ^bb0(%ai: !T, %out: !T):
        %p = arith.mulf %ai, %ai : !T
        linalg.yield %p : !T
      }} -> {a}
      scf.yield %y : {a}
    }} else {{
      scf.yield %x0 : {a}
    }}
    %p = linalg.matvec ins(%m, %s : {a}, <<4>>) outs(%init : <<4>>) -> <<4>>
    scf.yield %p : <<4>>
  }}
  return %r : <<4>>""",
        lambda a, x: a @ (a @ ((a * a) @ x)),
        exact=False, patterns=lambda a: (None,))


def computed_again(encoding):
    """A checkpoint around what a sparse and a dense argument go through."""
    a = f"<<4x4#{encoding}>>"
    name = f"computed_again_{encoding}"
    maps = ", ".join(["affine_map<(i, j) -> (i, j)>"] * 2)
    return Function(
        name, [a, "<<4>>"], ["<<4>>"], f"""
  %y = sparse_autograd.checkpoint @{name}_inner(%x0, %x1) : ({a}, <<4>>) -> <<4>>
  return %y : <<4>>""",
        lambda a, x: np.tanh(a) @ np.exp(x), exact=False,
        patterns=lambda a: (None,), helpers=f"""
func.func private @{name}_inner(%x0: {a}, %x1: <<4>>) -> <<4>> {{{BOUNDS}
  %s4 = tensor.dim %x0, %c0 : {a}
  %empty = !empty{a}
  %t = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
      ins(%x0 : {a}) outs(%empty : {a}) {{
  ^bb0(%ai: !T, %out: !T):
    %p = math.tanh %ai : !T
    linalg.yield %p : !T
  }} -> {a}
  %e = math.exp %x1 : <<4>>
  %init0 = !empty<<4>>
  %init = linalg.fill ins(%zero : !T) outs(%init0 : <<4>>) -> <<4>>
  %y = linalg.matvec ins(%t, %e : {a}, <<4>>) outs(%init : <<4>>) -> <<4>>
  return %y : <<4>>
}}""")


run([make(encoding) for encoding in ENCODINGS
     for make in (read_by_loop, carried_by_loop, chosen_by_branch,
                  computed_again)], 12)
