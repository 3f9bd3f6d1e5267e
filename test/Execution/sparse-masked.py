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


finish([table("stored", STORED, 3, 4), table("selected", SELECTED, 4, 3),
        table("attention", ATTENTION, 3), columns_program()])
