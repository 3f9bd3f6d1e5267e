# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Masked reductions and softmaxes of what sparse tensors store, and the sampled
product, softmax and product of sparse attention: values, gradients, tangents.
Empty slices, and NaN where the mask does not select, are among the cases."""

import numpy as np

from execution import Program, close, finish
from sparse_functions import table
from sparse_masked_tables import ATTENTION, SELECTED, STORED
from sparse_storage import MATRICES, from_pattern


def columns_program():
    """A mask on a product with a sparse factor: of a column of which it selects
    nothing no logarithm is differentiated."""
    program = Program("columns", 0, threads=1)
    rng = np.random.default_rng(5)
    dense, mask = "tensor<?x?xf64>", "tensor<?x?xi1>"
    for name, encoding in MATRICES.items():
        program.define_encoding(name, encoding)
        sparse = f"tensor<?x?xf64, #{name}>"
        program.define(f"""
func.func private @f_{name}(%a: {sparse}, %x: {dense}, %z: {dense}, %m: {mask}) -> tensor<f64> {{
  %l = math.log %x : {dense}
  %y = linalg.matmul ins(%a, %l : {sparse}, {dense}) outs(%z : {dense}) -> {dense}
  %s = sparse_autograd.masked_reduce sum %y, %m dims = [0, 1] : {dense}, {mask} -> tensor<f64>
  return %s : tensor<f64>
}}""")
        program.entry(name, [sparse, dense, dense, mask], [dense], f"""
  %g:2 = sparse_autograd.value_and_grad @f_{name}(%a0, %a1, %a2, %a3) {{wrt = [1]}}
      : ({sparse}, {dense}, {dense}, {mask}) -> (tensor<f64>, {dense})
  return %g#1 : {dense}""")
        stored = rng.random((6, 4)) < 0.5
        a = np.where(stored, rng.uniform(-1, 1, stored.shape), 0)
        x, selected = rng.uniform(0.5, 2, (4, 3)), rng.random((6, 3)) < 0.5
        selected[0], selected[:, 1] = True, False
        expected = a.T @ selected / x
        x[:, 1] = 0
        program.call(name, [from_pattern(a, stored, encoding), x,
                            np.zeros((6, 3)), selected],
                     lambda g, expected=expected: close(g, expected, 1e-13))
    return program


def factors_program():
    """Masks inside of such a product: one of its elements, and one of one of its
    two results, the other one of which has a mask behind it."""
    program = Program("factors", 0, threads=1)
    rng = np.random.default_rng(6)
    vector, mask, masks = "tensor<?xf64>", "tensor<?xi1>", "tensor<?x?xi1>"

    def product(types, maps, results, end):
        """The logarithm %l times a sparse matrix: %p, and %s under a mask."""
        maps = ", ".join(f"affine_map<(i, j) -> ({map})>" for map in
                         ["i, j", *maps, *["i"] * results])
        vectors = ", ".join([vector] * results)
        return f"""linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "reduction"]}}
      ins(%a, %l, %c : {", ".join(types)}) outs({", ".join(["%z"] * results)} : {vectors}) {{
  ^bb0(%e: f64, %v: f64, %d: i1, {", ".join(f"%o{i}: f64" for i in range(results))}):
    %zero = arith.constant 0.0 : f64
    %p = arith.mulf %e, %v : f64
    %s = arith.select %d, %p, %zero : f64
{end}
  }} -> ({vectors})"""

    for name, encoding in MATRICES.items():
        program.define_encoding(name, encoding)
        sparse = f"tensor<?x?xf64, #{name}>"
        element = product([sparse, vector, masks], ["j", "i, j"], 1, """
    %t = arith.addf %o0, %s : f64
    linalg.yield %t : f64""")
        result = product([sparse, vector, mask], ["i", "i"], 2, """
    %t = arith.addf %o0, %p : f64
    %u = arith.addf %o1, %s : f64
    linalg.yield %t, %u : f64, f64""")
        program.define(f"""
func.func private @f_element_{name}(%a: {sparse}, %x: {vector}, %z: {vector}, %c: {masks}) -> tensor<f64> {{
  %l = math.log %x : {vector}
  %y = {element}
  %s = sparse_autograd.masked_reduce sum %y dims = [0] : {vector} -> tensor<f64>
  return %s : tensor<f64>
}}
func.func private @f_result_{name}(%a: {sparse}, %x: {vector}, %z: {vector}, %c: {mask}, %m: {mask}) -> tensor<f64> {{
  %l = math.log %x : {vector}
  %y:2 = {result}
  %s = sparse_autograd.masked_reduce sum %y#0, %m dims = [0] : {vector}, {mask} -> tensor<f64>
  %t = sparse_autograd.masked_reduce sum %y#1 dims = [0] : {vector} -> tensor<f64>
  %u = arith.addf %s, %t : tensor<f64>
  return %u : tensor<f64>
}}""")
        for place, types in (("element", [sparse, vector, vector, masks]),
                             ("result", [sparse, vector, vector, mask, mask])):
            arguments = ", ".join(f"%a{i}" for i in range(len(types)))
            program.entry(f"{place}_{name}", types, [vector], f"""
  %g:2 = sparse_autograd.value_and_grad @f_{place}_{name}({arguments}) {{wrt = [1]}}
      : ({", ".join(types)}) -> (tensor<f64>, {vector})
  return %g#1 : {vector}""")
        stored = rng.random((6, 4)) < 0.5
        a = np.where(stored, rng.uniform(-1, 1, stored.shape), 0)
        tensor = from_pattern(a, stored, encoding)
        x, selected = rng.uniform(0.5, 2, 4), rng.random((6, 4)) < 0.5
        selected[0], selected[:, 1] = True, False
        expected = np.where(selected, a, 0).sum(0) / x
        x[1] = 0
        program.call(f"element_{name}", [tensor, x, np.zeros(6), selected],
                     lambda g, expected=expected: close(g, expected, 1e-13))
        x = rng.uniform(0.5, 2, 6)
        inside, behind = np.arange(6) % 3 == 0, np.arange(6) % 2 == 0
        expected = a.sum(1) * (1. * inside + behind) / x
        program.call(f"result_{name}", [tensor, x, np.zeros(6), inside, behind],
                     lambda g, expected=expected: close(g, expected, 1e-13))
    return program


finish([table("stored", STORED, 3, 4), table("selected", SELECTED, 4, 3),
        table("attention", ATTENTION, 3), columns_program(),
        factors_program()])
