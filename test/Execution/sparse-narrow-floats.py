# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Sums of f16 and bf16 over what sparse tensors store run in f32 and are rounded
once (semantics G11). 2048 in f16 and 256 in bf16 plus ones stay what they are if
every term is rounded."""

import numpy as np

from execution import Program, finish, same_bits, to_type
from sparse_storage import MATRICES, from_pattern, same_pattern

LARGE = {"f16": 2048.0, "bf16": 256.0}
ROW = np.ones((1, 9))

program = Program("narrow", 0, threads=1)


def define(name, t):
    a, m, v = (f"tensor<?x?x{t}, #{name}>", f"tensor<?x?x{t}>",
               f"tensor<?x{t}>")
    program.define(f"""
func.func private @spmv_{name}_{t}_f(%a: {a}, %x: {v}, %z: {v}) -> {v} {{
  %y = linalg.matvec ins(%a, %x : {a}, {v}) outs(%z : {v}) -> {v}
  return %y : {v}
}}
func.func private @spgemm_{name}_{t}_f(%a: {a}, %b: {a}) -> {a} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : {a}
  %m = tensor.dim %b, %c1 : {a}
  %e = tensor.empty(%n, %m) : {a}
  %y = linalg.matmul ins(%a, %b : {a}, {a}) outs(%e : {a}) -> {a}
  return %y : {a}
}}
func.func private @sddmm_{name}_{t}_f(%x: {m}, %w: {m}, %p: {a}) -> {a} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = arith.constant 0.0 : {t}
  %n = tensor.dim %x, %c0 : {m}
  %m = tensor.dim %w, %c1 : {m}
  %e = tensor.empty(%n, %m) : {m}
  %z = linalg.fill ins(%c : {t}) outs(%e : {m}) -> {m}
  %d = linalg.matmul ins(%x, %w : {m}, {m}) outs(%z : {m}) -> {m}
  %y = sparse_autograd.sample %d, %p : {m}, {a} -> {a}
  return %y : {a}
}}""")
    for kind, arguments, active in (("spmv", [a, v, v], 2),
                                    ("spgemm", [a, a], 2),
                                    ("sddmm", [m, m, a], 2)):
        result = v if kind == "spmv" else a
        results = [result] + arguments[:active]
        wrt = ", ".join(map(str, range(active)))
        values = ", ".join(f"%a{i}" for i in range(len(arguments)))
        program.entry(f"{kind}_{name}_{t}", arguments + [result], results, f"""
  %r:3 = sparse_autograd.vjp @{kind}_{name}_{t}_f({values}) cotangents(%a{len(arguments)}) {{wrt = [{wrt}]}} : ({", ".join(arguments)}), ({result}) -> ({", ".join(results)})
  return %r#0, %r#1, %r#2 : {", ".join(results)}""")


def dense(tensor):
    return tensor.dense() if hasattr(tensor, "dense") else tensor


def call(name, t):
    """In each call one of the results is a sum of a large number and 8 ones."""
    total = to_type(np.array(LARGE[t] + 8), t)
    row = ROW.copy()
    row[0, 0] = LARGE[t]

    def store(array):
        array = to_type(array, t)
        return from_pattern(array, np.ones(array.shape, bool), MATRICES[name])

    one, ones = np.ones((1, 1)), ROW
    for kind, number, arguments in (
            ("spmv", 0, [store(row), ROW[0], [0], [1]]),
            ("spmv", 2, [store(row.T), [1], ROW[0] * 0, ROW[0]]),
            ("spgemm", 0, [store(row), store(ones.T), store(one)]),
            ("spgemm", 1, [store(one), store(row), store(ones)]),
            ("spgemm", 2, [store(row.T), store(one), store(ones.T)]),
            ("sddmm", 0, [row, ones.T, store(one), store(one)]),
            ("sddmm", 1, [one, row, store(ones), store(ones)]),
            ("sddmm", 2, [row.T, one, store(ones.T), store(ones.T)])):
        def check(*results, number=number):
            return same_bits(dense(results[number]).reshape(-1)[:1],
                             total.reshape(1), f"result {number}")
        program.call(f"{kind}_{name}_{t}", arguments, check)


def convert(name, t):
    """Squares in f32 of narrow floats, and back."""
    narrow, wide = f"tensor<?x?x{t}, #{name}>", f"tensor<?x?xf32, #{name}>"
    program.define(f"""
func.func private @square_{name}_{t}_f(%a: {narrow}) -> {narrow} {{
  %w = arith.extf %a : {narrow} to {wide}
  %s = arith.mulf %w, %w : {wide}
  %y = arith.truncf %s : {wide} to {narrow}
  return %y : {narrow}
}}""")
    program.entry(f"square_{name}_{t}", [narrow, narrow], [narrow, narrow], f"""
  %r:2 = sparse_autograd.vjp @square_{name}_{t}_f(%a0) cotangents(%a1) {{wrt = [0]}} : ({narrow}), ({narrow}) -> ({narrow}, {narrow})
  return %r#0, %r#1 : {narrow}, {narrow}""")
    mask = np.array([[1, 0, 1, 1], [1, 1, 0, 0]], bool)
    a, g = (from_pattern(to_type(numbers, t), mask, MATRICES[name])
            for numbers in ([[1, 0, -3, 0], [2, 5, 0, 0]],
                            [[2, 0, 1, 3], [-1, 2, 0, 0]]))
    program.call(f"square_{name}_{t}", [a, g], lambda y, da: (
        same_pattern(y, a) + same_pattern(da, a) +
        same_bits(y.values, a.values * a.values) +
        same_bits(da.values, 2 * a.values * g.values)))


for _name in ("CSR", "CSC", "COO", "DCSR", "DenseRows", "BSR"):
    program.define_encoding(_name, MATRICES[_name])
    for _type in LARGE:
        define(_name, _type)
        call(_name, _type)
        if _name != "BSR":
            convert(_name, _type)
finish([program])
