# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s | FileCheck %s
# CHECK: 40 ops keep the pattern of the argument
"""The time that is needed to know patterns and supports is linear in the length
of a loop whose values are each read twice."""

import re
import subprocess

OPS = 40
TYPE = "tensor<4x8xf64, #csr>"
DENSE = "tensor<4x8xf64>"


def chain(type_):
    """x * sin(x), again and again, carried by a loop."""
    body = "".join(f"""
    %y{i} = math.sin %x{i} : {type_}
    %x{i + 1} = arith.mulf %y{i}, %x{i} : {type_}""" for i in range(OPS))
    return f"""
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%x0 = %a) -> ({type_}) {{{body}
    scf.yield %x{OPS} : {type_}
  }}
  return %r : {type_}"""


def run(text, *passes):
    return subprocess.run(
        ["sparse-opt", *passes], input=text, capture_output=True, text=True,
        check=True, timeout=60).stdout


HEAD = """#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @f(%a: TYPE, %n: index) -> TYPE {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index"""

lowered = run(HEAD.replace("TYPE", TYPE) + chain(TYPE) + "\n}\n",
              "--sparse-autograd=compile-to=lower-sparse")
# Values alone are carried, and computed in one loop over them.
assert re.search(r"scf\.for .* iter_args\(%\w+ = %\w+\) -> \(tensor<\?xf64>\)",
                 lowered), lowered
# Of the gradient of a dense one nothing is proved, and that is known soon.
derivative = f"""
func.func @g(%a: {DENSE}, %n: index) -> {DENSE} {{
  %d:2 = sparse_autograd.vjp @f(%a, %n) cotangents(%a) {{wrt = [0]}}
      : ({DENSE}, index), ({DENSE}) -> ({DENSE}, {DENSE})
  return %d#1 : {DENSE}
}}
"""
proved = run(HEAD.replace("TYPE", DENSE) + chain(DENSE) + "\n}\n" + derivative,
             "--sparse-autograd-differentiate",
             "--sparse-autograd-prove-sparsity")
assert 'elements = "4 * 8"' in proved, proved
print(f"{OPS} ops keep the pattern of the argument")
