# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Sparse tensors that grow in loops: carried from an empty one, or with another
pattern in each iteration, and returned as they are. Values, patterns and tangents,
in every format, through every kind of control flow."""

import itertools
import os

import numpy as np

from execution import Program, close, finish
from sparse_functions import FORMATS, closure
from sparse_storage import Storage, from_pattern, same_pattern

STEP = 2.0**-100
BOUNDS = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %d0 = tensor.dim %x, %c0 : !S
  %d1 = tensor.dim %x, %c1 : !S
"""

# What an iteration makes of %s with %x: text, and the same on pairs of a dense
# array and a mask.
STEPS = {
    "add": ("  %y = arith.addf %s, %x : !S",
            lambda s, x: (s[0] + x[0], s[1] | x[1])),
    "accumulate": (
        "  %y = sparse_autograd.accumulate %s, %x, %x : !S, !S, !S -> !S",
        lambda s, x: (s[0] + 2 * x[0], s[1] | x[1])),
    # The pattern shifts, so that each iteration stores more.
    "shift": ("""  %m = linalg.matmul ins(%s, %x : !S, !S) outs(%e : !S) -> !S
  %y = arith.addf %m, %x : !S""",
              lambda s, x: (s[0] @ x[0] + x[0], product(s, x) | x[1])),
    "power": ("  %y = linalg.matmul ins(%s, %x : !S, !S) outs(%e : !S) -> !S",
              lambda s, x: (s[0] @ x[0], product(s, x))),
}


def product(s, x):
    return (s[1].astype(int) @ x[1].astype(int)) > 0


def loop(iterations, step):
    return f"""
  %r = scf.for %i = %c0 to {iterations} step %c1 iter_args(%s = %start) -> (!S) {{
  {step}
    scf.yield %y : !S
  }}"""


# Control flow around a step: text, and how often it runs in n iterations.
FORMS = {
    "for": (lambda step: loop("%n", step), lambda n: n),
    "while": (lambda step: f"""
  %w:2 = scf.while (%i = %c0, %t = %start) : (index, !S) -> (index, !S) {{
    %more = arith.cmpi ult, %i, %n : index
    scf.condition(%more) %i, %t : index, !S
  }} do {{
  ^bb0(%i: index, %s: !S):
  {step}
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %y : index, !S
  }}
  %r = tensor.cast %w#1 : !S to !S""", lambda n: n),
    "nested": (lambda step: f"""
  %r = scf.for %o = %c0 to %n step %c1 iter_args(%outer = %start) -> (!S) {{
    %inner = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %outer) -> (!S) {{
    {step}
      scf.yield %y : !S
    }}
    scf.yield %inner : !S
  }}""", lambda n: 2 * n),
    "every_other": (lambda step: f"""
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (!S) {{
    %half = arith.remui %i, %c2 : index
    %is_even = arith.cmpi eq, %half, %c0 : index
    %b = scf.if %is_even -> (!S) {{
    {step}
      scf.yield %y : !S
    }} else {{
      scf.yield %s : !S
    }}
    scf.yield %b : !S
  }}""", lambda n: (n + 1) // 2),
    "branch": (lambda step: f"""
  %any = arith.cmpi ne, %n, %c0 : index
  %r = scf.if %any -> (!S) {{
    %s = tensor.cast %start : !S to !S
  {step}
    scf.yield %y : !S
  }} else {{
    scf.yield %start : !S
  }}""", lambda n: min(n, 1)),
    "select": (lambda step: f"""
  %s = tensor.cast %start : !S to !S
  {step}
  %any = arith.cmpi ne, %n, %c0 : index
  %r = arith.select %any, %y, %start : !S""", lambda n: min(n, 1)),
    "called": (lambda step: """
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (!S) {
    %y = func.call @{name}_step(%s, %x) : (!S, !S) -> !S
    scf.yield %y : !S
  }""", lambda n: n),
    "again": (lambda step: """
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (!S) {
    %y = sparse_autograd.checkpoint @{name}_step(%s, %x) : (!S, !S) -> !S
    scf.yield %y : !S
  }""", lambda n: n),
}

# What a loop starts from, of the type !S: text; the last two know their extents.
STARTS = {
    "empty": ("  %start = tensor.empty(%d0, %d1) : !S", None),
    "square": ("""  %none = tensor.empty() : !S0
  %start = tensor.cast %none : !S0 to !S""", 4),
    "itself": ("  %start = tensor.cast %x : !S to !S", None),
}


def add_function(program, name, form, step, start, format_):
    """An entry of the matrix, a direction and the number of iterations: the
    result and its tangent."""
    program.define_encoding(format_, FORMATS[2][format_])
    matrix = f"tensor<?x?xf64, #{format_}>"
    static = f"tensor<4x4xf64, #{format_}>"

    def written(text):
        return text.replace("!S0", static).replace("!S", matrix).replace(
            "{name}", name)

    begin = BOUNDS + "  %e = tensor.empty(%d0, %d1) : !S\n"
    text = STEPS[step][0]
    program.define(written(f"""
func.func private @{name}_step(%s: !S, %x: !S) -> !S {{{begin}
{text}
  return %y : !S
}}
func.func private @{name}_f(%x: !S, %n: index) -> !S {{{begin}
{STARTS[start][0]}
{FORMS[form][0](text)}
  return %r : !S
}}"""))
    program.entry(name, [matrix, matrix, "index"], [matrix, matrix], written(f"""
  %r:2 = sparse_autograd.jvp @{name}_f(%a0, %a2) tangents(%a1) {{wrt = [0]}} : (!S, index), (!S) -> (!S, !S)
  return %r#0, %r#1 : !S, !S"""))


def mirror(form, step, start, array, mask, count):
    carried = (array, mask)
    if start != "itself":
        carried = (np.zeros_like(array), np.zeros_like(mask))
    for _ in range(FORMS[form][1](count)):
        carried = STEPS[step][1](carried, (array, mask))
    return carried


def call(program, name, form, step, start, format_, rng, size, fill, count):
    encoding = FORMATS[2][format_]
    mask = closure(rng.random((size, size)) < fill, encoding)
    array, direction = (np.where(mask, rng.uniform(-1, 1, mask.shape), 0)
                        for _ in range(2))
    value, stored = mirror(form, step, start, array + 1j * STEP * direction,
                           mask, count)
    stored = closure(stored, encoding)
    bound = 1e-12 * (1 + np.abs(value.real).max(initial=0))

    def check(*results):
        compared = 0
        for got, wanted in zip(results, (value.real, value.imag / STEP),
                               strict=True):
            assert isinstance(got, Storage)
            wanted = from_pattern(wanted, stored, encoding)
            compared += same_pattern(got, wanted)
            compared += close(got.values, wanted.values, 100 * bound)
        return compared

    program.call(name, [from_pattern(array, mask, encoding),
                        from_pattern(direction, mask, encoding), count],
                 check, f"{size} {fill} {count}")


def programs():
    """Every form with every step; every format comes in turn."""
    rng = np.random.default_rng(53)
    formats = itertools.cycle(FORMATS[2])
    only = os.environ.get("EXECUTION_ONLY")  # for debugging
    for start, (_, size) in STARTS.items():
        # From an empty matrix a power stays empty.
        steps = [s for s in STEPS if (s == "power") == (start == "itself")]
        program = Program(f"growing_{start}", 0, threads=1)
        for form, step in itertools.product(FORMS, steps):
            format_ = next(formats)
            name = f"{form}_{step}_{start}_{format_}"
            if only and name not in only.split(","):
                continue
            add_function(program, name, form, step, start, format_)
            for number, count in enumerate((3, 0, 1)):
                call(program, name, form, step, start, format_, rng,
                     size or (4, 1, 5)[number], (0.3, 0.0, 0.6)[number], count)
            call(program, name, form, step, start, format_, rng, size or 0, 0.5,
                 2)
        yield program


finish(list(programs()))
