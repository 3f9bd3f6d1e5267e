# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env EXECUTION_PIPELINE="target=gpu libraries=cublaslt" SPARSE_AUTOGRAD_DEVICE=cuda \
# RUN:   SPARSE_AUTOGRAD_CUDA_DRIVER=%fake_driver SPARSE_AUTOGRAD_CUBLASLT=%fake_driver %python %s
# RUN: env EXECUTION_PIPELINE="target=gpu emulate=true libraries=cublaslt" SPARSE_AUTOGRAD_DEVICE=emulated:14 %python %s
"""Products of dense matrices for a library, in every layout, and of batches: by a
fake cuBLASLt on a driver that has no kernels, and by the program's own kernels
where there is no library. Whole numbers, so that every sum is exact."""

import os

import numpy as np

from execution import Program, element_type_of, finish, to_type

LETTERS = "bhijk"
# The letters of the factors and of the result: products of matrices in all
# orders; of batches, one of whose factors may be the same for all; the heads of
# attention; rows of several batches; a sum over two lists of terms.
PRODUCTS = [f"{a},{b}->{c}" for a in ("ik", "ki") for b in ("kj", "jk")
            for c in ("ij", "ji")] + [
    "bik,bkj->bij", "bik,bjk->bij", "bik,kj->bij", "bki,bij->bkj",
    "bihk,bjhk->bhij", "bhij,bjhk->bihk", "bhik,kj->bhij", "bik,bij->kj"]
EXTENTS = (dict(b=2, h=3, i=4, j=5, k=6), dict(b=1, h=2, i=1, j=3, k=1),
           dict(b=3, h=1, i=7, j=1, k=2))
# What is always the program's: sums of nothing, and what is no product of matrices.
OTHER_EXTENTS = (dict(b=2, h=2, i=3, j=3, k=0), dict(b=0, h=2, i=3, j=3, k=2))
OTHER_PRODUCTS = ["bij,ji->b", "ij,j->i"]


def add(program, entry, letters, factor, result, form):
    """One entry: the product alone, added to an argument, or subtracted from it
    and scaled by another."""
    *operands, output = letters.replace("->", ",").split(",")
    used = [letter for letter in LETTERS if letter in letters]
    maps = ", ".join(
        f"affine_map<({', '.join(used)}) -> ({', '.join(names)})>"
        for names in (*operands, output))
    iterators = ", ".join('"parallel"' if letter in output else '"reduction"'
                          for letter in used)
    types = [f"tensor<{'?x' * len(names)}{factor}>" for names in operands]
    types.append(f"tensor<{'?x' * len(output)}{result}>")
    extents, init = "", "%a2"
    if form == "alone":
        names = []
        for letter in output:
            operand = 0 if letter in operands[0] else 1
            place = operands[operand].index(letter)
            extents += f"""
  %p_{letter} = arith.constant {place} : index
  %d_{letter} = tensor.dim %a{operand}, %p_{letter} : {types[operand]}"""
            names.append(f"%d_{letter}")
        extents += f"""
  %zero = arith.constant 0.0 : {result}
  %empty = tensor.empty({', '.join(names)}) : {types[2]}
  %init = linalg.fill ins(%zero : {result}) outs(%empty : {types[2]}) -> {types[2]}"""
        init = "%init"
    body = "%t = arith.addf %s, %m : " if form != "scaled" else "%t = arith.subf %s, %n : "
    scaling = f"%n = arith.mulf %m, %a3 : {result}" if form == "scaled" else ""
    extend = factor != result
    product = "\n      ".join(filter(None, [
        extend and f"%xe = arith.extf %x : {factor} to {result}",
        extend and f"%ye = arith.extf %y : {factor} to {result}",
        "%m = arith.mulf %xe, %ye" if extend else "%m = arith.mulf %x, %y"]))
    arguments = types[:2] + ([] if form == "alone" else [types[2]]) + (
        [result] if form == "scaled" else [])
    program.entry(entry, arguments, [types[2]], f"""{extents}
  %p = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
      ins(%a0, %a1 : {types[0]}, {types[1]}) outs({init} : {types[2]}) {{
    ^bb0(%x: {factor}, %y: {factor}, %s: {result}):
      {product} : {result}
      {scaling}
      {body}{result}
      linalg.yield %t : {result}
  }} -> {types[2]}
  return %p : {types[2]}""")
    return arguments


def call(program, entry, letters, arguments, form, extents, random):
    *operands, output = letters.replace("->", ",").split(",")
    values = [to_type(random.integers(-4, 5, [extents[l] for l in names]),
                      element_type_of(type_))
              for names, type_ in zip((*operands, output), arguments)]
    expected = np.einsum(letters, *(v.astype(np.float64) for v in values[:2]))
    if form == "added":
        expected = values[2] + expected
    elif form == "scaled":
        values.append(np.asarray(3, values[2].dtype))
        expected = values[2] - 3 * expected

    def check(result):
        np.testing.assert_array_equal(result, expected)
        return expected.size

    program.call(entry, values, check, f"{extents}")


def main():
    random = np.random.default_rng(20261123)
    program = Program("library_products", 0)
    has_kernels = os.environ["SPARSE_AUTOGRAD_DEVICE"] != "cuda"
    products = PRODUCTS + OTHER_PRODUCTS * has_kernels
    all_extents = EXTENTS + OTHER_EXTENTS * has_kernels
    for number, letters in enumerate(products):
        for factor, result in (("f32", "f32"), ("f64", "f64"), ("f16", "f32"),
                               ("bf16", "f32")):
            form = ("alone", "added", "scaled")[(number + len(factor)) % 3]
            entry = f"product_{number}_{factor}_{form}"
            arguments = add(program, entry, letters, factor, result, form)
            for extents in all_extents:
                call(program, entry, letters, arguments, form, extents, random)
    finish([program])


main()
