# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s %if long %{--count 5000 --seed 1%} %else %{--count 60%}
"""No poison behind a mask is seen (semantics G1, G2): values, gradients, tangents
and second derivatives of random programs have the same bits whatever stands
where the mask is false.

The table has a row for each op that holds a region or names a function, as
`derivative-rule-table --nesting` lists them from the registered ops, and fails
without one; its columns are the poisons. A program is made for each row in turn,
with ops of other rows in it and around it (Inputs/poison_rows.py), and is called
with every poison. Without any, its gradients and tangents obey the adjoint identity.

    poisoned-programs.py --count 200 --seed 3     # other programs
    poisoned-programs.py --seed 3 --only 17       # one of them, printed
    poisoned-programs.py --op scf.while           # of one row
"""

import argparse
import re
import subprocess
import sys

import numpy as np

from execution import Program, same_bits
from poison_rows import (ALL, D, ENDS, M, NESTING, S, SHAPE, SIGNATURE, TYPES,
                         Writer)
from sparse_storage import ENCODINGS

SIGNALLING = np.array(0x7FF4000000000001, np.uint64).view(np.float64)
POISONS = {
    "a quiet NaN": [np.nan], "a signalling NaN": [SIGNALLING],
    "infinity": [np.inf], "negative infinity": [-np.inf],
    "zero": [0.0, -0.0], "a negative number": [-1.0],
    "overflow": [1.7e308, -1.7e308], "underflow": [5e-324],
    "everything": [np.nan, SIGNALLING, np.inf, -np.inf, 0.0, -0.0, -1.0,
                   1.7e308, 5e-324]}
FORMATS = ("CSR", "CSC", "COO", "DCSR")
PER_MODULE = 10

# Derivatives of a function @name with a result of type y: the functions that they
# need, the text of what is called, and the types of its results.
GIVEN = "%x, %w, %m, %q, %c, %n"


def forward(name, y):
    return "", (f"sparse_autograd.jvp @{name}({GIVEN}) tangents(%tx, %tw) "
                f"{{wrt = [0, 1]}} : ({TYPES}), ({D}, {D}) -> ({y}, {y})"), [y, y]


def reverse(name, y):
    return "", (f"sparse_autograd.vjp @{name}({GIVEN}) cotangents(%ct) "
                f"{{wrt = [0, 1]}} : ({TYPES}), ({y}) -> ({y}, {D}, {D})"), [
                    y, D, D]


def _gradient(name, y):
    """A function for the gradients of @f."""
    return f"""
func.func private @{name}_g({SIGNATURE}, %ct: {y}) -> ({D}, {D}) {{
  %r:3 = {reverse(name, y)[1]}
  return %r#1, %r#2 : {D}, {D}
}}"""


def forward_over_reverse(name, y):
    return _gradient(name, y), (
        f"sparse_autograd.jvp @{name}_g({GIVEN}, %ct) tangents(%tx, %tw) "
        f"{{wrt = [0, 1]}} : ({TYPES}, {y}), ({D}, {D}) -> ({D}, {D}, {D}, "
        f"{D})"), [D] * 4


def reverse_over_reverse(name, y):
    return _gradient(name, y), (
        f"sparse_autograd.vjp @{name}_g({GIVEN}, %ct) cotangents(%tx, %tw) "
        f"{{wrt = [0, 1]}} : ({TYPES}, {y}), ({D}, {D}) -> ({D}, {D}, {D}, "
        f"{D})"), [D] * 4


def reverse_over_forward(name, y):
    return f"""
func.func private @{name}_t({SIGNATURE}, %tx: {D}, %tw: {D}) -> {y} {{
  %r:2 = {forward(name, y)[1]}
  return %r#1 : {y}
}}""", (f"sparse_autograd.vjp @{name}_t({GIVEN}, %tx, %tw) cotangents(%ct) "
        f"{{wrt = [0, 1]}} : ({TYPES}, {D}, {D}), ({y}) -> ({y}, {D}, {D})"), [
            y, D, D]


def third(name, y):
    """The gradient along a direction, twice."""
    return _gradient(name, y) + f"""
func.func private @{name}_h({SIGNATURE}, %tx: {D}, %tw: {D}, %ct: {y}) -> ({D}, {D}) {{
  %r:4 = {reverse_over_reverse(name, y)[1]}
  return %r#2, %r#3 : {D}, {D}
}}""", (f"sparse_autograd.vjp @{name}_h({GIVEN}, %tx, %tw, %ct) cotangents(%tx, "
        f"%tw) {{wrt = [0, 1]}} : ({TYPES}, {D}, {D}, {y}), ({D}, {D}) -> "
        f"({D}, {D}, {D}, {D})"), [D] * 4


def split(name, y):
    residuals = f"!sparse_autograd.residuals<@{name}_fw>"
    return f"""
sparse_autograd.split_vjp @{name} as @{name}_fw, @{name}_bw {{wrt = [0, 1]}}
func.func private @{name}_fw({TYPES}) -> ({y}, {residuals})
func.func private @{name}_bw({residuals}, {y}) -> ({D}, {D})
func.func private @{name}_both({SIGNATURE}, %ct: {y}) -> ({D}, {D}) {{
  %y, %r = func.call @{name}_fw({GIVEN}) : ({TYPES}) -> ({y}, {residuals})
  %g:2 = func.call @{name}_bw(%r, %ct) : ({residuals}, {y}) -> ({D}, {D})
  return %g#0, %g#1 : {D}, {D}
}}""", f"func.call @{name}_both({GIVEN}, %ct) : ({TYPES}, {y}) -> ({D}, {D})", [
        D, D]


SECOND = (forward_over_reverse, reverse_over_reverse, reverse_over_forward,
          split, split, third)


class PoisonedProgram:
    """The program of a number: its text, its entry and its calls."""

    def __init__(self, seed, number, row=None):
        rng = np.random.default_rng((seed, number))
        rows = list(ALL)
        self.row = row or rows[number % len(rows)]
        self.name = f"f{number}"
        writer = Writer(rng, self.name)
        value = "%x"
        if writer.chance(0.7):
            value = writer.step(value, D)
        value = writer.row(self.row, value, writer.choose((0, 1, 1, 2)))
        if writer.chance(0.5):
            value = writer.steps(value, writer.choose((0, 1)))
        result, self.y = writer.choose(ENDS)(writer, value)
        self.functions = [*writer.functions, "\n".join(
            [f"func.func private @{self.name}({SIGNATURE}) -> {self.y} {{",
             *writer.lines, f"  return {result} : {self.y}", "}"])]
        self.modes = [reverse, forward, writer.choose(SECOND)]
        self.label = f"program {number}: {', '.join(sorted(writer.rows))}"
        self.rng = rng
        self.encoding = writer.choose(FORMATS)

    def add(self, program):
        """Adds the text and the calls."""
        lines, returned, results = [], [], []
        functions = list(self.functions)
        for mode in self.modes:
            more, text, types = mode(self.name, self.y)
            functions.append(more)
            name = f"%{mode.__name__}"
            lines.append(f"  {name}:{len(types)} = {text}")
            returned += [f"{name}#{i}" for i in range(len(types))]
            results += types
        all_results = ", ".join(results)
        functions.append("\n".join([
            f"func.func private @{self.name}_all({SIGNATURE}, %tx: {D}, "
            f"%tw: {D}, %ct: {self.y}) -> ({all_results}) {{", *lines,
            f"  return {', '.join(returned)} : {all_results}", "}"]))
        program.define_encoding(self.encoding, ENCODINGS[self.encoding])

        def encoded(text):
            return text.replace("#E", f"#{self.encoding}")

        program.define(encoded("\n".join(functions)))
        program.entry(
            f"main{self.name}",
            [encoded(t) for t in (D, D, M, S, "i1", "index", D, D, self.y)],
            results, encoded(f"""
  %q = sparse_autograd.pattern %a3 : {S}
  %r:{len(results)} = func.call @{self.name}_all(%a0, %a1, %a2, %q, %a4, %a5, %a6, %a7, %a8)
      : ({TYPES}, {D}, {D}, {self.y}) -> ({all_results})
  return {', '.join(f"%r#{i}" for i in range(len(results)))} : {all_results}"""))
        self.call(program)

    def call(self, program):
        rng = self.rng
        mask = rng.random(SHAPE) < 0.6
        mask[0], mask[1:, 1] = [True, False, True, True], True
        y_shape = tuple(map(int, re.findall(r"(\d+)x", self.y)))
        x, w = rng.uniform(0.5, 2, SHAPE), rng.uniform(0.5, 1, SHAPE)
        tangents = rng.uniform(0.5, 1.5, (2, *SHAPE))
        ct = rng.uniform(0.5, 1.5, y_shape)
        at = np.argwhere(mask)
        pattern = (at, np.ones(len(at)), SHAPE)
        number = rng.integers(1, 3)
        condition = bool(rng.random() < 0.7)
        first = []

        def arrays(hide):
            of_result = hide(ct) if y_shape == SHAPE else ct
            return [hide(x), hide(w), mask, pattern, np.bool_(condition),
                    np.int64(number), hide(tangents[0]), hide(tangents[1]),
                    of_result]

        def check(*found):
            if not first:
                first.extend(found)
                for array in found:
                    assert np.all(np.isfinite(array)), "is not finite"
                check_adjoint(found, tangents, ct)
                return sum(np.size(array) for array in found)
            labels = [mode.__name__ for mode in self.modes
                      for _ in mode(self.name, self.y)[2]]
            return sum(same_bits(a, b, label) for label, a, b in
                       zip(labels, found, first, strict=True))

        entry = f"main{self.name}"
        program.call(entry, arrays(lambda array: array), check, self.label)
        for what, values in POISONS.items():
            def hide(array, values=values):
                result = array.copy()
                result[~mask] = rng.choice(values, size=np.sum(~mask))
                return result
            program.call(entry, arrays(hide), check, f"{self.label}: {what}")


def check_adjoint(found, tangents, ct):
    """That the gradients and the tangent, the first results, are of one linear
    map: a derivative that is zero has no poison either."""
    _, dx, dw, _, ty = found[:5]
    forward, backward = ct * ty, np.stack([dx, dw]) * tangents
    error = abs(forward.sum() - backward.sum())
    scale = 1 + np.abs(forward).sum() + np.abs(backward).sum()
    assert error < 1e-10 * scale, f"gradients and tangents differ by {error}"


def check_rows():
    """That the table has a row for each op of the registry, and no other."""
    ops = subprocess.run(["derivative-rule-table", "--nesting"], check=True,
                         capture_output=True, text=True).stdout.split()
    wrong = set(ops) ^ set(NESTING)
    for op in sorted(wrong):
        print(f"FAILED: {op} " + ("has no row" if op in ops else "is no op"))
    return len(wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--op", choices=ALL, help="a row")
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.count)
    if options.only is not None:
        numbers = [options.only]
    failures, comparisons, calls, seen = check_rows(), 0, 0, set()
    unanswered = 0
    for start in range(0, len(numbers), PER_MODULE):
        program = Program(f"poisoned_{numbers[start]}", level=0, threads=1)
        for number in numbers[start:start + PER_MODULE]:
            PoisonedProgram(options.seed, number, options.op).add(program)
        if options.only is not None:
            print("\n".join(program.text))
        program.run()
        for failure in program.failures:
            where = failure.split(" ", 2)[1]  # one line for a program
            if where not in seen:
                print("FAILED:", failure, flush=True)
            seen.add(where)
        failures += len(program.failures)
        comparisons += program.comparisons
        calls += len(program.calls)
        unanswered += program.unanswered
    print(f"{len(numbers)} programs, {calls} calls of which {unanswered} did "
          f"not run, {comparisons} numbers compared, {failures} failures in "
          f"{len(seen)} programs")
    sys.exit(1 if failures or comparisons == 0 else 0)


main()
