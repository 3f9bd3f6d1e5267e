# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""`random` gives the bits that the reference gives: for every distribution and
type, every shape, any seed and counter, any number of threads (semantics M5)."""

import numpy as np

import masked_ops
from execution import FLOATS, Program, close, finish, same_bits

KEY = "tensor<i64>"  # so that all its bits arrive
KEYS = ((0, 0), (1, 0), (0, 1), (-1, -1), (2**63 - 1, -2**63), (-2**63, 7),
        (0x299F31D0A4093822, 0x0370734413198A2E))
SHAPES = ((0,), (1,), (7,), (0, 3), (5, 1), (33, 3), (129, 2))
# Of more chunks than one of a parallel loop, with a remainder.
LARGE = (1031, 97)
STATIC = (3, 4, 5)
DISTRIBUTIONS = [(kind, t, None) for kind in ("uniform", "normal")
                 for t in FLOATS]
DISTRIBUTIONS += [("bernoulli", "i1", p) for p in (0.0, 2.0**-53, 0.3, 1.0)]


def bits(distribution, key, shape):
    """A check of the bits of one array."""
    kind, element_type, probability = distribution
    expected = masked_ops.random(kind, *key, shape, element_type, probability)
    return lambda found: same_bits(found, expected, str((kind, key, shape)))


def entries():
    program = Program("bits", level=2)
    for number, distribution in enumerate(DISTRIBUTIONS):
        kind, t, probability = distribution
        how = "" if probability is None else (
            f" probability = {probability!r}")
        name = f"{kind}_{t}_{number}"
        types = {"static": f"tensor<{'x'.join(map(str, STATIC))}x{t}>",
                 "one": f"tensor<{t}>", "line": f"tensor<?x{t}>",
                 "table": f"tensor<?x?x{t}>"}
        extents = {"static": [], "one": [], "line": ["%a2"],
                   "table": ["%a2", "%a3"]}
        for shape, type_ in types.items():
            sizes = extents[shape]
            listed = f", [{', '.join(sizes)}]" if sizes else ""
            program.entry(f"{name}_{shape}",
                          [KEY, KEY] + ["index"] * len(sizes), [type_], f"""
  %seed = tensor.extract %a0[] : {KEY}
  %counter = tensor.extract %a1[] : {KEY}
  %y = sparse_autograd.random {kind} %seed, %counter{listed}{how} : {type_}
  return %y : {type_}""")
        for key in KEYS:
            program.call(f"{name}_static", key, bits(distribution, key, STATIC))
        program.call(f"{name}_one", KEYS[3], bits(distribution, KEYS[3], ()))
        for shape in SHAPES:
            program.call(f"{name}_{'line' if len(shape) == 1 else 'table'}",
                         [*KEYS[-1], *shape],
                         bits(distribution, KEYS[-1], shape))
        check = bits(distribution, KEYS[4], LARGE)
        for threads in (1, 2, 3):
            program.call(f"{name}_table", [*KEYS[4], *LARGE], check,
                         threads=threads)
    return program


def within_a_program():
    """Fused with what uses it, and under a derivative: dropout, whose mask and
    noise are constants of the gradient."""
    program = Program("within_a_program", level=3)
    x_type, m_type = "tensor<?x37xf64>", "tensor<?x37xi1>"
    program.define(f"""
func.func private @dropout(%x: {x_type}, %seed: i64, %step: i64) -> (tensor<f64>, {x_type}) {{
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %n = tensor.dim %x, %c0 : {x_type}
  %next = arith.addi %step, %one : i64
  %keep = sparse_autograd.random bernoulli %seed, %step, [%n] probability = 0.75 : {m_type}
  %noise = sparse_autograd.random normal %seed, %next, [%n] : {x_type}
  %p = arith.mulf %x, %noise : {x_type}
  %y = sparse_autograd.masked_reduce sum %p, %keep dims = [0, 1] : {x_type}, {m_type} -> tensor<f64>
  return %y, %p : tensor<f64>, {x_type}
}}""")
    program.entry("gradient", [x_type, "i64", "i64"],
                  ["tensor<f64>", x_type, x_type], f"""
  %y, %p, %dx = sparse_autograd.value_and_grad @dropout(%a0, %a1, %a2) {{wrt = [0]}}
      : ({x_type}, i64, i64) -> (tensor<f64>, {x_type}, {x_type})
  return %y, %p, %dx : tensor<f64>, {x_type}, {x_type}""")
    for rows, threads in ((0, 1), (5, 1), (300, 1), (300, 2), (300, 3)):
        x = np.random.default_rng(rows).normal(size=(rows, 37))
        seed, step = -5, 11
        keep = masked_ops.random("bernoulli", seed, step, x.shape,
                                 probability=0.75)
        noise = masked_ops.random("normal", seed, step + 1, x.shape)
        # Behind the mask x may be anything.
        x[~keep] = np.nan

        def check(y, p, dx, x=x, keep=keep, noise=noise):
            terms = (x * noise)[keep]
            bound = 4 * masked_ops.gamma(terms.size + 1, 2.0**-53)
            return (same_bits(p, x * noise, "product") +
                    same_bits(dx, np.where(keep, noise, 0), "gradient") +
                    close(y, terms.astype(np.longdouble).sum(),
                          bound * np.abs(terms).sum(), "value"))

        program.call("gradient", [x, seed, step], check, threads=threads)
    return program


finish([entries(), within_a_program()])
