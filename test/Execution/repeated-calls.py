# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s sparse-opt sparse-runner %t
"""Functions that call each other twice, in many levels: the gradient is that of the
program written out, and past a bound the call is refused (semantics F4). What is
not differentiated compiles in bounded time and memory: calls stay calls."""

import math
import pathlib
import subprocess
import sys

driver, runner, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
folder.mkdir(exist_ok=True)


def program(levels):
    lines = []
    for level in range(levels):
        lines += [f"func.func private @f{level}(%x: f64) -> f64 {{",
                  f"  %a = call @f{level + 1}(%x) : (f64) -> f64",
                  f"  %b = call @f{level + 1}(%a) : (f64) -> f64",
                  "  return %b : f64", "}"]
    return "\n".join(lines + [
        f"func.func private @f{levels}(%x: f64) -> f64 {{",
        "  %c = arith.constant 1.0e-5 : f64",
        "  %a = math.sin %x : f64", "  %b = arith.mulf %a, %c : f64",
        "  %s = arith.addf %x, %b : f64", "  return %s : f64", "}",
        "func.func @main(%x: f64) -> (f64, f64) {",
        "  %v, %g = sparse_autograd.value_and_grad @f0(%x) {wrt = [0]} : (f64) -> (f64, f64)",
        "  return %v, %g : f64, f64", "}"])


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# 2^25 calls of the last function.
deep = program(25)
refused = subprocess.run([driver, "--sparse-autograd-differentiate"], input=deep,
                         capture_output=True, text=True, check=False)
assert refused.returncode == 1, refused
assert "'f1' would have more than 16384 operations" in refused.stderr, refused.stderr
called = deep.replace("sparse_autograd.value_and_grad @f0(%x) {wrt = [0]} : (f64) -> (f64, f64)",
                      "func.call @f0(%x) : (f64) -> f64")
called = called.replace("%v, %g = func", "%v = func").replace("return %v, %g : f64, f64",
                                                              "return %v, %v : f64, f64")
compiled = run(driver, "--sparse-autograd", text=called)
assert compiled.count("\n") < 200_000, compiled.count("\n")

levels = 10
(folder / "program.mlir").write_text(program(levels))
printed = run(runner, folder / "program.mlir", "-O0", "--arg", "arg0=0.5")
value, gradient = (float(line.split(" = ")[1]) for line in printed.splitlines())
x, slope = 0.5, 1.0
for _ in range(2**levels):
    slope *= 1 + 1e-5 * math.cos(x)
    x += 1e-5 * math.sin(x)
assert math.isclose(value, x, rel_tol=1e-11), (value, x)
assert math.isclose(gradient, slope, rel_tol=1e-11), (gradient, slope)
