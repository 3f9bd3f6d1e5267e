# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Dense gradients of sparse arguments: derivatives by absent elements count as
well; and dense cotangents of sparse results, read at their patterns (semantics
G5, C2). The reference takes complex steps at every element."""

import zlib

import numpy as np

from execution import Program, close, finish
from sparse_functions import Typing, cases, gradients, place_of, variants
from sparse_storage import from_pattern
from sparse_tables import COPIES, ELEMENTWISE, MORE, PAIRS, PRODUCTS


def add(program, function, variant):
    name = f"{function.name}_{variant.label}"
    typing = Typing(variant)
    for (_, encoding_name), (_, encoding) in zip(variant.names,
                                                 variant.encodings):
        program.define_encoding(encoding_name, encoding)
    arguments = [typing.type(t) for t in function.arguments]
    results = [typing.type(t) for t in function.results]
    dense = [typing.type(t.split("#")[0]) for t in function.arguments]
    given = [typing.type(t.split("#")[0]) for t in function.results]
    parameters = ", ".join(f"%x{i}: {t}" for i, t in enumerate(arguments))
    program.define(typing.expand(function.helpers).replace("@{name}",
                                                           "@" + name))
    program.define(f"""
func.func private @{name}_f({parameters}) -> ({", ".join(results)}) {{
{typing.extents(function.arguments)}
{typing.expand(function.body).replace("@{name}", "@" + name)}
}}""")
    n, c = len(arguments), len(results)
    wrt = ", ".join(map(str, range(n)))
    program.entry(name, arguments + given, dense, f"""
  %r:{c + n} = sparse_autograd.vjp @{name}_f({", ".join(f"%a{i}" for i in range(n))})
      cotangents({", ".join(f"%a{n + i}" for i in range(c))}) {{wrt = [{wrt}]}}
      : ({", ".join(arguments)}), ({", ".join(given)}) -> ({", ".join(results + dense)})
  return {", ".join(f"%r#{c + i}" for i in range(n))} : {", ".join(dense)}""")
    return name


def call(program, name, function, variant, case, rng):
    encodings = dict(variant.encodings)
    arguments = [from_pattern(a, case.masks[i], encodings[place_of(t)])
                 if place_of(t) else np.asarray(a)
                 for i, (a, t) in enumerate(zip(case.arrays,
                                                function.arguments))]
    # Off the pattern of a result nothing is read of its cotangent.
    cotangents = [g if mask is None else
                  np.where(mask, g, rng.choice([np.nan, np.inf, 3.0]))
                  for g, mask in zip(case.cotangents, case.result_masks)]
    expected = gradients(function, case.arrays, case.masks, case.cotangents,
                         is_dense=True)
    largest = max((np.abs(e[np.isfinite(e)]).max(initial=0)
                   for e in expected), default=0)

    def check(*actual):
        return sum(close(a, e, 4e-13 * (1 + largest), f"gradient {i}")
                   for i, (a, e) in enumerate(zip(actual, expected)))

    program.call(name, arguments + cotangents, check, f"{name} {case.sizes}")


def table(name, functions):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    program = Program(name, 0, threads=1)
    for function in functions:
        for number, variant in enumerate(variants(function, 3)):
            entry = add(program, function, variant)
            for case in cases(rng, function, variant, 2, 2 * number):
                call(program, entry, function, variant, case, rng)
    return program


# Where zeros that are not stored share a maximum there is no derivative, and a
# list of what is stored has none by what is not, which is an error.
SMOOTH = [f for f in ELEMENTWISE
          if f.name not in ("row_maximum", "exp_of_values")]

finish([table("products", PRODUCTS), table("elementwise", SMOOTH),
        table("pairs", PAIRS), table("copies", COPIES), table("more", MORE)])
