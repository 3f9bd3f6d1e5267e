# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s | FileCheck %s
# CHECK: {{[1-9][0-9]*}} gradients bounded by what is stored
# CHECK: {{[1-9][0-9]*}} of 100 random programs proved
# CHECK: rows: {{[1-9][0-9]*}} bytes of at most
# CHECK: masks: {{[1-9][0-9]*}} dense gradients
"""What --sparse-autograd-prove-sparsity says is so: of each function of the
tables the gradient of a sparse leaf is bounded by what the leaf stores, which is
what other tests find it to store; a random program is proved or refused at an
op; and rows that are read take at most what the bound says, and half of it at
least where no row is read twice. Of dense gradients no more elements differ from
zero than masks select, with NaN where they do not."""

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
    line = re.search(rf"func\.func private @{function}__(vjp|value_and_grad)\w*\(.*", text)
    found = re.findall(r"sparse_autograd.bound = {bytes = \"([^\"]*)\", "
                       r"elements = \"([^\"]*)\"}, "
                       r"sparse_autograd.gradient_of = (\d+)", line.group(0))
    return {int(argument): (elements, size)
            for size, elements, argument in found}


def check_bounds(text, function, name):
    sparse = [n for n, t in enumerate(function.arguments) if place_of(t)]
    found = bounds(text, name + "_f")
    # Dense ones take what the argument takes.
    found = {n: found[n] for n in found if n in sparse}
    expected = {n: (f"nnz({n})", f"8 * nnz({n})") for n in sparse}
    # What goes through a branch, which may yield one of two patterns, has no
    # bound; nor has what grows in a loop.
    if re.search(r"scf\.(if|for|while)", text):
        expected = {n: expected[n] for n in found}
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

# Masks: of elements, of rows, both, in a loop. The losses are functions of x, a
# mask of its elements, one of its rows and a factor.
X, M, R, W = "tensor<?x3xf64>", "tensor<?x3xi1>", "tensor<?xi1>", "tensor<3x4xf64>"
P, S = "tensor<?x4xf64>", "tensor<f64>"
OF_ROWS = "dims = [0, 1] {mask_dims = array<i64: 0>}"
LOSSES = [("count(1)", f"""
  %l = math.log %x : {X}
  %q = arith.mulf %l, %x : {X}
  %y = sparse_autograd.masked_reduce sum %q, %m dims = [0, 1] : {X}, {M} -> {S}"""),
          ("count(2) * 3", f"""
  %n = tensor.dim %x, %c0 : {X}
  %e = tensor.empty(%n) : {P}
  %f = arith.constant 0.0 : f64
  %z = linalg.fill ins(%f : f64) outs(%e : {P}) -> {P}
  %p = linalg.matmul ins(%x, %w : {X}, {W}) outs(%z : {P}) -> {P}
  %y = sparse_autograd.masked_reduce sum %p, %r {OF_ROWS} : {P}, {R} -> {S}"""),
          ("count(1) + count(2) * 3", f"""
  %s = sparse_autograd.masked_reduce mean %x, %m dims = [0, 1] : {X}, {M} -> {S}
  %t = sparse_autograd.masked_reduce sum %x, %r {OF_ROWS} : {X}, {R} -> {S}
  %y = arith.addf %s, %t : {S}"""),
          ("count(1)", f"""
  %y = scf.for %k = %c0 to %c4 step %c1 iter_args(%o = %zero) -> {S} {{
    %l = math.sqrt %x : {X}
    %t = sparse_autograd.masked_reduce sum %l, %m dims = [0, 1] : {X}, {M} -> {S}
    %u = arith.addf %o, %t : {S}
    scf.yield %u : {S}
  }}""")]
program = Program("masks", 0)
for number, (_, body) in enumerate(LOSSES):
    program.define(f"""
func.func private @loss{number}(%x: {X}, %m: {M}, %r: {R}, %w: {W}) -> {S} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : {S}{body}
  return %y : {S}
}}""")
    program.entry(f"entry{number}", [X, M, R, W], [X], f"""
  %g:2 = sparse_autograd.value_and_grad @loss{number}(%a0, %a1, %a2, %a3) {{wrt = [0]}}
      : ({X}, {M}, {R}, {W}) -> ({S}, {X})
  return %g#1 : {X}""")
text, error = prove(program)
assert text, error


def compare_masked(number, elements, m, r):
    x = rng.random(m.shape) + 0.5
    selected = np.zeros(m.shape, bool)
    if "count(1)" in elements:
        selected |= m
    if "count(2)" in elements:
        selected |= r[:, None]
    x[~selected] = np.nan
    at_most = eval(elements, {"count": lambda k: int([m, r][k - 1].sum())})  # noqa: S307

    def check(gradient):
        differ = np.count_nonzero(gradient)
        assert differ == selected.sum() <= at_most, (elements, differ, at_most)
        return 1

    program.call(f"entry{number}", [x, m, r, rng.random((3, 4)) + 0.5], check)


for number, (expected, _) in enumerate(LOSSES):
    elements = bounds(text, f"loss{number}")[0][0]
    # A sum may begin with either.
    assert sorted(elements.split(" + ")) == sorted(expected.split(" + ")), elements
    for _ in range(5):
        compare_masked(number, elements, rng.random((6, 3)) < 0.5,
                       rng.random(6) < 0.4)
    compare_masked(number, elements, np.zeros((6, 3), bool), np.zeros(6, bool))
program.run()
assert not program.failures, program.failures
print(f"masks: {program.comparisons} dense gradients")
