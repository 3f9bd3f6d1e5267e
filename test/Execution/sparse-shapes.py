# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Sparse tensors of static extents, and of extents that no list could have;
copies from every format to every other."""

import itertools
import zlib
from dataclasses import replace

import numpy as np

from execution import Program, finish, same_bits
from sparse_functions import (FORMATS, WIDTHS, add_function, call_case, cases,
                              closure, variants)
from sparse_masked_tables import ATTENTION, STORED
from sparse_storage import (MATRICES, build_storage, from_pattern,
                            same_pattern)
from sparse_tables import COPIES, ELEMENTWISE, PAIRS, PRODUCTS

# All extents, or some.
STATIC = (dict(n=5, m=7, k=3, l=2), dict(n=1, m=33), dict(k=8, m=3),
          dict(n=4, m=0, k=2, l=1), dict(n=0, k=5))
FUNCTIONS = ("spmv", "spmm", "sddmm", "times_dense", "row_maximum", "spgemm",
             "spgemm_dense", "add", "multiply", "add_alike", "convert",
             "transpose", "convert_from_dense", "logsumexp_1",
             "masked_softmax_0", "mean_01", "attention")


def static():
    program = Program("static", 1, threads=1)
    rng = np.random.default_rng(3)
    functions = [f for f in PRODUCTS + ELEMENTWISE + PAIRS + COPIES + STORED +
                 ATTENTION if f.name in FUNCTIONS]
    assert len(functions) == len(FUNCTIONS)
    for function in functions:
        first = zlib.crc32(function.name.encode())
        for number, variant in enumerate(variants(function, 3)):
            extents = STATIC[(first + number) % len(STATIC)]
            variant = replace(variant, static=tuple(extents.items()))
            entry = add_function(program, function, variant)
            for case in cases(rng, function, variant, 3, first % 97):
                call_case(program, entry, function, variant, case,
                          unmet_too=True)
    return program


def conversions():
    """Every pair, with values that are copied as they are."""
    program = Program("conversions", 0, threads=1)
    rng = np.random.default_rng(5)
    names = []
    for number, (name, encoding) in enumerate(FORMATS[2].items()):
        widths = WIDTHS[number % len(WIDTHS)]
        names.append(program.define_encoding(
            f"{name}_{widths[0]}_{widths[1]}", encoding.with_widths(*widths)))
    for source, target in itertools.product(names, names):
        entry = f"{source}_to_{target}"
        types = [f"tensor<?x?xf32, #{n}>" for n in (source, target)]
        program.entry(entry, types[:1], types[1:], f"""
  %y = sparse_tensor.convert %a0 : {types[0]} to {types[1]}
  return %y : {types[1]}""")
        for shape in ((2, 3), (7, 5), (33, 4), (0, 3)):
            mask = closure(rng.random(shape) < 0.4, program.encodings[source])
            array = rng.choice(np.array([0.0, 1.5, np.nan, -np.inf, -0.25],
                                        np.float32), shape)
            array[~mask] = 0
            wanted = from_pattern(array,
                                  closure(mask, program.encodings[target]),
                                  program.encodings[target])
            program.call(entry, [from_pattern(array, mask,
                                              program.encodings[source])],
                         lambda result, wanted=wanted: (
                             same_pattern(result, wanted) +
                             same_bits(result.values, wanted.values)),
                         str(shape))
    return program


# Large extents: whatever is as long as one of them cannot be allocated.

SHAPE = (2**40, 2**41 + 5)
FIRST = [(0, 3), (0, SHAPE[1] - 1), (5, 3), (SHAPE[0] - 1, 0),
         (SHAPE[0] - 1, SHAPE[1] - 1), (7**10, 11**8)]
SECOND = [(0, 3), (1, SHAPE[1] - 1), (5, 4), (SHAPE[0] - 1, SHAPE[1] - 1)]
LISTED = ("COO", "COOColumns", "DCSR", "DCSC")


def large():
    program = Program("large", 0, threads=1)
    rng = np.random.default_rng(7)
    for name in LISTED:
        program.define_encoding(name, MATRICES[name])
    for name in LISTED:
        type_ = f"tensor<?x?xf64, #{name}>"
        element = "affine_map<(i, j) -> (i, j)>"
        program.define(f"""
func.func private @f_{name}(%a: {type_}, %b: {type_}) -> ({type_}, {type_}, f64) {{
  %t = math.tanh %a : {type_}
  %s = arith.addf %t, %b : {type_}
  %q = arith.mulf %a, %b : {type_}
  %c = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<f64>
  %z = linalg.fill ins(%c : f64) outs(%e : tensor<f64>) -> tensor<f64>
  %d = linalg.generic {{indexing_maps = [{element}, {element}, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}} ins(%s, %a : {type_}, {type_}) outs(%z : tensor<f64>) {{
  ^bb0(%x: f64, %y: f64, %o: f64):
    %m = arith.mulf %x, %y : f64
    %r = arith.addf %o, %m : f64
    linalg.yield %r : f64
  }} -> tensor<f64>
  %v = tensor.extract %d[] : tensor<f64>
  return %s, %q, %v : {type_}, {type_}, f64
}}""")
        types = [type_, type_, "f64", type_, type_]
        program.entry(f"large_{name}", [type_, type_, *types[:3]], types, f"""
  %r:5 = sparse_autograd.vjp @f_{name}(%a0, %a1) cotangents(%a2, %a3, %a4) {{wrt = [0, 1]}} : ({type_}, {type_}), ({type_}, {type_}, f64) -> ({", ".join(types)})
  return %r#0, %r#1, %r#2, %r#3, %r#4 : {", ".join(types)}""")

        def store(entries, encoding=MATRICES[name]):
            return build_storage(list(entries), list(entries.values()), SHAPE,
                                 encoding)

        a, b = (dict(zip(places, rng.uniform(-1.5, 1.5, len(places))))
                for places in (FIRST, SECOND))
        g = {place: rng.uniform(-1, 1) for place in {**a, **b}}
        h = {place: rng.uniform(-1, 1) for place in a if place in b}
        union = {p: np.tanh(a.get(p, 0)) + b.get(p, 0) for p in g}
        both = {p: a[p] * b[p] for p in h}
        # Of <g, s> + <h, q> + 2 <s, a>.
        of_a = {p: (g[p] + 2 * a[p]) / np.cosh(a[p])**2 + 2 * union[p] +
                h.get(p, 0) * b.get(p, 0) for p in a}
        of_b = {p: g[p] + 2 * a.get(p, 0) + h.get(p, 0) * a.get(p, 0)
                for p in b}
        expected = [store(union), store(both),
                    np.array(sum(union[p] * a[p] for p in a)), store(of_a),
                    store(of_b)]

        def check(*results, expected=expected):
            count = 0
            for got, wanted in zip(results, expected):
                if hasattr(wanted, "values"):
                    count += same_pattern(got, wanted)
                    got, wanted = got.values, wanted.values
                assert np.allclose(got, wanted, rtol=1e-13, atol=1e-13)
                count += wanted.size
            return count
        program.call(f"large_{name}", [store(a), store(b), store(g), store(h),
                                       2.0], check)
        for target in LISTED:
            other = f"tensor<?x?xf64, #{target}>"
            program.entry(f"large_{name}_{target}", [type_], [other, other], f"""
  %y = sparse_tensor.convert %a0 : {type_} to {other}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a0, %c0 : {type_}
  %m = tensor.dim %a0, %c1 : {type_}
  %e = tensor.empty(%m, %n) : {other}
  %z = linalg.transpose ins(%a0 : {type_}) outs(%e : {other}) permutation = [1, 0]
  return %y, %z : {other}, {other}""")
            copy = store(a, MATRICES[target])
            turned = build_storage([(j, i) for i, j in a], list(a.values()),
                                   SHAPE[::-1], MATRICES[target])

            def check_copies(*results, expected=(copy, turned)):
                return sum(same_pattern(got, wanted) +
                           same_bits(got.values, wanted.values)
                           for got, wanted in zip(results, expected))
            program.call(f"large_{name}_{target}", [store(a)], check_copies)
    return program


finish([static(), conversions(), large()])
