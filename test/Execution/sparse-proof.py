# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s | FileCheck %s
# CHECK: {{[1-9][0-9]*}} gradients bounded by what is stored
# CHECK: {{[1-9][0-9]*}} of 100 random programs proved
# CHECK: rows: {{[1-9][0-9]*}} bytes of at most
"""What --sparse-autograd-prove-sparsity says is so: of each function of the
tables the gradient of a sparse leaf is bounded by what the leaf stores, which is
what other tests find it to store; a random program is proved or refused at an
op; and rows that are read take at most what the bound says, and half of it at
least where no row is read twice."""

import re
import subprocess

import numpy as np

from execution import Program
from sparse_functions import add_function, place_of, variants
from sparse_programs import RandomProgram
from sparse_storage import Encoding, Level
from sparse_tables import COPIES, ELEMENTWISE, MORE, PAIRS, PRODUCTS


def prove(program):
    """The derivatives of a program with their bounds, or the error."""
    done = subprocess.run(
        ["sparse-opt", "--sparse-autograd-differentiate",
         "--sparse-autograd-prove-sparsity"], input="\n".join(program.text),
        capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None, done.stderr


def bounds(text, function):
    """By argument, the bounds of the gradients of @function, if they have
    one."""
    line = re.search(rf"func\.func private @{function}__vjp\w*\(.*", text)
    found = re.findall(r"sparse_autograd.bound = {bytes = \"([^\"]*)\", "
                       r"elements = \"([^\"]*)\"}, "
                       r"sparse_autograd.gradient_of = (\d+)", line.group(0))
    return {int(argument): (elements, size)
            for size, elements, argument in found}


def check_bounds(text, function, name):
    sparse = [n for n, t in enumerate(function.arguments) if place_of(t)]
    found = bounds(text, name + "_f")
    expected = {n: (f"nnz({n})", f"8 * nnz({n})") for n in sparse}
    assert found == expected, (name, found, expected)
    return len(sparse)


count = 0
for function in [*PRODUCTS, *ELEMENTWISE, *PAIRS, *COPIES, *MORE]:
    for variant in variants(function, 1):
        program = Program("proof", 0)
        name = add_function(program, function, variant)
        text, error = prove(program)
        assert text, error
        count += check_bounds(text, function, name)
print(f"{count} gradients bounded by what is stored")

proved = refused = 0
for seed in range(100):
    drawn = RandomProgram(seed)
    function = drawn.function(f"program{seed}")
    program = Program("proof", 0)
    name = add_function(program, function, drawn.variant())
    text, error = prove(program)
    if text is None:
        first = error.splitlines()[0]
        assert "makes the gradient of a sparse tensor dense" in first, error
        assert "to the gradient of this argument" in error, error
        refused += 1
        continue
    check_bounds(text, function, name)
    proved += 1
print(f"{proved} of 100 random programs proved, {refused} refused")

# Rows.
program = Program("rows", 0)
program.define_encoding("Rows", Encoding((Level("compressed", 0),
                                          Level("dense", 1)), "i32", "i16"))
table, indices, rows = "tensor<?x4xf32>", "tensor<?xi32>", "tensor<?x4xf32>"
gradient = "tensor<?x4xf32, #Rows>"
program.define(f"""
func.func private @read(%t: {table}, %i: {indices}) -> {rows} {{
  %x = sparse_autograd.gather %t, %i : {table}, {indices} -> {rows}
  return %x : {rows}
}}""")
program.entry("entry", [table, indices, rows], [gradient], f"""
  %r:2 = sparse_autograd.vjp @read(%a0, %a1) cotangents(%a2) {{wrt = [0]}}
      : ({table}, {indices}), ({rows}) -> ({rows}, {gradient})
  return %r#1 : {gradient}""")
elements, size = bounds(prove(program)[0], "read")[0]


def compare(chosen, is_distinct):
    names = {"dim": lambda argument, dim: [[1000, 4], chosen.shape][argument][
        dim]}
    at_most = [eval(e, names) for e in (elements, size)]  # noqa: S307

    def check(result):
        measured = [result.values.size, sum(c.nbytes
                                            for c in result.components)]
        for value, bound in zip(measured, at_most):
            assert value <= bound, (measured, at_most)
            assert not is_distinct or bound <= 2 * value, (measured, at_most)
        print(f"rows: {measured[1]} bytes of at most {at_most[1]}")
        return 2

    program.call("entry", [np.zeros((1000, 4), np.float32), chosen,
                           np.ones((len(chosen), 4), np.float32)], check)


rng = np.random.default_rng(3)
compare(rng.permutation(1000)[:100].astype(np.int32), True)
compare(rng.integers(0, 30, 100).astype(np.int32), False)
compare(np.zeros(0, np.int32), False)
program.run()
assert program.comparisons == 6 and not program.failures, program.failures
