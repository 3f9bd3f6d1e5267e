# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""One of two tensors, by a branch that computes nothing and by a select with a
scalar condition, which the former becomes: the tensors have other extents, and
sparse ones other patterns. So have the gradients."""

import numpy as np

from execution import Program, close, finish
from sparse_functions import FORMATS
from sparse_storage import build_storage

DENSE = "tensor<?x4xf64>"
program = Program("chosen", level=0)
formats = {"dense": (DENSE, None)}
for name in ("CSR", "COO", "BSR"):
    program.define_encoding(name, FORMATS[2][name])
    formats[name] = f"tensor<?x4xf64, #{name}>", FORMATS[2][name]

OPS = {"branch": """
  %y = scf.if %c -> {0} {{
    scf.yield %a : {0}
  }} else {{
    scf.yield %b : {0}
  }}""", "select": """
  %y = arith.select %c, %a, %b : {0}"""}

rng = np.random.default_rng(4)
for name, (type_, encoding) in formats.items():
    for op, text in OPS.items():
        entry = f"{op}_{name}"
        program.define(f"""
func.func private @f_{entry}(%c: i1, %a: {type_}, %b: {type_}) -> ({type_}, f64) {{
  {text.format(type_)}
  %zero = arith.constant dense<0.0> : tensor<f64>
  %s = linalg.generic {{
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
        iterator_types = ["reduction", "reduction"]}}
      ins(%y : {type_}) outs(%zero : tensor<f64>) {{
  ^bb0(%u: f64, %o: f64):
    %p = arith.mulf %u, %u : f64
    %r = arith.addf %o, %p : f64
    linalg.yield %r : f64
  }} -> tensor<f64>
  %v = tensor.extract %s[] : tensor<f64>
  return %y, %v : {type_}, f64
}}""")
        program.define(f"""
func.func private @sum_{entry}(%c: i1, %a: {type_}, %b: {type_}) -> f64 {{
  %y, %v = func.call @f_{entry}(%c, %a, %b) : (i1, {type_}, {type_}) -> ({type_}, f64)
  return %v : f64
}}""")
        program.entry(entry, ["i1", type_, type_], [type_, type_, type_, "index"], f"""
  %c0 = arith.constant 0 : index
  %y, %v = func.call @f_{entry}(%a0, %a1, %a2) : (i1, {type_}, {type_}) -> ({type_}, f64)
  %w, %da, %db = sparse_autograd.value_and_grad @sum_{entry}(%a0, %a1, %a2) {{wrt = [1, 2]}} : (i1, {type_}, {type_}) -> (f64, {type_}, {type_})
  %rows = tensor.dim %y, %c0 : {type_}
  return %y, %da, %db, %rows : {type_}, {type_}, {type_}, index""")
        for first in (True, False):
            a, b = rng.standard_normal((3, 4)), rng.standard_normal((5, 4))
            if encoding:
                at = [np.argwhere(rng.random(x.shape) < 0.4) for x in (a, b)]
                a, b = (build_storage(i, x[tuple(i.T)], x.shape, encoding)
                        for i, x in zip(at, (a, b)))

            def check(y, da, db, rows, a=a, b=b, first=first):
                chosen, gradient, other = (a, da, db) if first else (b, db, da)
                left = b if first else a
                assert rows == (3 if first else 5), rows
                if not isinstance(a, np.ndarray):
                    for result, like in ((y, chosen), (gradient, chosen),
                                         (other, left)):
                        assert np.array_equal(result.entries()[0],
                                              like.entries()[0])
                    y, gradient, other, chosen, left = (
                        x.dense() for x in (y, gradient, other, chosen, left))
                return (close(y, chosen, 0.0, "value")
                        + close(gradient, 2 * chosen, 0.0, "gradient")
                        + close(other, 0 * left, 0.0, "other gradient"))

            program.call(entry, [np.array(first), a, b], check,
                         f"{entry} {first}")

finish([program])
