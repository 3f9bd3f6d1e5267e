# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s sparse-runner %t
"""Ops that hold regions within one another, of which one computes a tensor that the
innermost one alone reads: gradients and tangents go through all that is between."""

import itertools
import math
import pathlib
import subprocess
import sys

runner, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(exist_ok=True)

# An op that yields what its body does: by name, its text around the body. No number
# of iterations is known, or the loop would be none.
LEVELS = {
    "if": ("scf.if %c -> f64 {{", "scf.yield {r} : f64\n}} else {{\nscf.yield %zero : f64\n}}"),
    "for": ("scf.for %i{k} = %start to %n step %one iter_args(%s{k} = %zero) -> f64 {{",
            "%t{k} = arith.addf %s{k}, {r} : f64\nscf.yield %t{k} : f64\n}}"),
    "region": ("scf.execute_region -> f64 no_inline {{", "scf.yield {r} : f64\n}}"),
    "while": ("scf.while (%n{k} = %start, %s{k} = %zero) : (index, f64) -> (index, f64) {{\n"
              "%b{k} = arith.cmpi ult, %n{k}, %n : index\n"
              "scf.condition(%b{k}) %n{k}, %s{k} : index, f64\n}} do {{\n"
              "^bb0(%m{k}: index, %u{k}: f64):",
              "%t{k} = arith.addf %u{k}, {r} : f64\n%w{k} = arith.addi %m{k}, %one : index\n"
              "scf.yield %w{k}, %t{k} : index, f64\n}}"),
}
DEPTH = 3


def nest(kinds, source, level=0):
    """The lines of an op of kind kinds[level], and what it yields; level `source`
    computes the tensor."""
    if level == DEPTH:
        return ["%e = tensor.extract %v[%start] : tensor<2xf64>"], "%e"
    before, after = LEVELS[kinds[level]]
    tensor = ["%v = math.sqrt %x : tensor<2xf64>"] if level == source else []
    body, result = nest(kinds, source, level + 1)
    pair = kinds[level] == "while"
    return ([f"%r{level}{':2' if pair else ''} = " + before.format(k=level), *tensor,
             *body, after.format(k=level, r=result)],
            f"%r{level}{'#1' if pair else ''}")


functions, calls, results = [], [], []
nests = [(kinds, source) for kinds in itertools.product(LEVELS, repeat=DEPTH)
         for source in range(DEPTH - 1)]
for number, (kinds, source) in enumerate(nests):
    lines, result = nest(kinds, source)
    functions += [f"func.func private @f{number}(%x: tensor<2xf64>, %c: i1, %n: index) -> f64 {{",
                  "%zero = arith.constant 0.0 : f64", "%start = arith.constant 0 : index",
                  "%one = arith.constant 1 : index", *lines, f"return {result} : f64", "}"]
    calls += [f"%y{number}, %g{number} = sparse_autograd.value_and_grad @f{number}(%x, %c, %n) "
              "{wrt = [0]} : (tensor<2xf64>, i1, index) -> (f64, tensor<2xf64>)",
              f"%q{number}, %d{number} = sparse_autograd.jvp @f{number}(%x, %c, %n) tangents(%ones) "
              "{wrt = [0]} : (tensor<2xf64>, i1, index), (tensor<2xf64>) -> (f64, f64)",
              f"%h{number} = tensor.extract %g{number}[%start] : tensor<2xf64>"]
    results += [f"%y{number}", f"%h{number}", f"%d{number}"]
types = ", ".join(["f64"] * len(results))
(folder / "program.mlir").write_text("\n".join([
    *functions, f"func.func @main(%at: f64, %c: i1, %n: index) -> ({types}) {{",
    "%start = arith.constant 0 : index", "%ones = arith.constant dense<1.0> : tensor<2xf64>",
    "%x = tensor.splat %at : tensor<2xf64>", *calls,
    f"return {', '.join(results)} : {types}", "}"]))

done = subprocess.run([runner, folder / "program.mlir", "-O0", "--arg", "arg0=0.3", "--arg", "arg1=1",
                       "--arg", "arg2=1"],
                      capture_output=True, text=True, check=False)
assert done.returncode == 0, done.stderr[:2000]
found = [float(line.split(" = ")[1]) for line in done.stdout.splitlines()]
assert len(found) == 3 * len(nests), len(found)
expected = [0.3**0.5] + 2 * [0.5 * 0.3**-0.5]
for (kinds, source), numbers in zip(nests, zip(*3 * [iter(found)])):
    for what, number, right in zip(("value", "gradient", "tangent"), numbers, expected):
        assert math.isclose(number, right, rel_tol=1e-14), (kinds, source, what, number, right)
