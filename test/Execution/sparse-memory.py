# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Entries on sparse tensors, called 10,000 times in one process: functions with
their derivatives, training loops, and calls that fail where something has been
allocated already. After every call the runtime holds what it held before, and
nothing grows."""

import os

import numpy as np

from execution import Program, finish
from sparse_functions import (Variant, add_function, call_case, closure,
                              draw_mask, make_case, FORMATS)
from sparse_masked_tables import ATTENTION, STORED
from sparse_storage import MATRICES, Storage, from_pattern
from sparse_tables import COPIES, ELEMENTWISE, PAIRS, PRODUCTS

REPEATS = 10_000
# A sanitizer keeps what is released, for a while, and counts leaks itself.
IS_SANITIZED = "ASAN_OPTIONS" in os.environ
rng = np.random.default_rng(31)


def is_flat(memory):
    """What the runtime counts is the same after every call."""
    assert memory["live bytes"] == [0, 0], memory
    assert memory["live blocks"] == [0, 0], memory
    for name in ("allocations", "peak bytes", "pooled bytes"):
        low, high = memory[name]
        assert low == high, f"{name}: {memory}"
    # A heap is not exact: chunks of the caller's are larger now and then. What
    # is lost in each call would be more than a byte.
    for name in ("heap bytes", "resident bytes"):
        low, high = memory.get(name, (0, 0))
        assert high - low < REPEATS - 1000 or IS_SANITIZED, f"{name}: {memory}"
    return 2 * REPEATS


def repeat(program):
    """The last call."""
    program.repeats[len(program.calls) - 1] = (REPEATS, is_flat)


def functions_program():
    """Values, gradients and tangents."""
    program = Program("functions", 1, threads=1)
    functions = {f.name: f for f in
                 PRODUCTS + ELEMENTWISE + PAIRS + COPIES + STORED + ATTENTION}
    for number, (name, formats) in enumerate((
            ("spmm", ("CSR",)), ("sddmm", ("CSC",)),
            ("spgemm", ("CSR", "COO", "DCSR")), ("add", ("BSR", "CSC", "COO")),
            ("convert", ("COO", "BSR23")), ("tanh", ("DCSR",)),
            ("convert_from_dense", ("CSR",)))):
        function = functions[name]
        places = sorted({t.partition("#")[2] for t in
                         function.arguments + function.results} - {""})
        encodings = [FORMATS[2][f].with_widths("i32", "i32") for f in formats]
        variant = Variant(tuple(zip(places, encodings, strict=True)),
                          tuple(zip(places, formats)))
        entry = add_function(program, function, variant)
        sizes = dict(n=7, m=5, k=6)
        masks = {i: draw_mask(rng, tuple(sizes[d] for d in t.split("#")[0]),
                              "many")
                 for i, t in enumerate(function.arguments) if "#" in t}
        call_case(program, entry, function, variant,
                  make_case(rng, function, variant, sizes, masks))
        repeat(program)
    return program


CSR, M, V = "tensor<?x?xf64, #CSR>", "tensor<?x?xf64>", "tensor<?xf64>"
NARROW = "tensor<?x?xf64, #Narrow>"
EXTENTS = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64"""


def training_program():
    """Sparse weights, trained by gradient descent: a loop that carries them,
    one that decides after each step whether to go on, and the gradient of what
    comes of a loop by where it began."""
    program = Program("training", 1, threads=1)
    program.define_encoding("CSR", MATRICES["CSR"])
    alike = "affine_map<(i, j) -> (i, j)>"
    program.define(f"""
func.func private @loss(%w: {CSR}, %x: {M}, %y: {M}) -> f64 {{{EXTENTS}
  %minus = arith.constant -1.0 : f64
  %s = tensor.empty() : tensor<f64>
  %z = linalg.fill ins(%zero : f64) outs(%s : tensor<f64>) -> tensor<f64>
  %n = tensor.dim %y, %c0 : {M}
  %m = tensor.dim %y, %c1 : {M}
  %e = tensor.empty(%n, %m) : {M}
  %o = linalg.fill ins(%zero : f64) outs(%e : {M}) -> {M}
  %p = linalg.matmul ins(%w, %x : {CSR}, {M}) outs(%o : {M}) -> {M}
  %d = arith.subf %p, %y : {M}
  %q = arith.mulf %d, %d : {M}
  %t = linalg.generic {{indexing_maps = [{alike}, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}} ins(%q : {M}) outs(%z : tensor<f64>) {{
  ^bb0(%a: f64, %b: f64):
    %r = arith.addf %a, %b : f64
    linalg.yield %r : f64
  }} -> tensor<f64>
  %l = tensor.extract %t[] : tensor<f64>
  return %l : f64
}}
func.func private @step(%w: {CSR}, %x: {M}, %y: {M}) -> ({CSR}, f64) {{{EXTENTS}
  %rate = arith.constant 0.01 : f64
  %l, %g = sparse_autograd.value_and_grad @loss(%w, %x, %y) {{wrt = [0]}} : ({CSR}, {M}, {M}) -> (f64, {CSR})
  %n = tensor.dim %w, %c0 : {CSR}
  %m = tensor.dim %w, %c1 : {CSR}
  %e = tensor.empty(%n, %m) : {CSR}
  %next = linalg.generic {{indexing_maps = [{alike}, {alike}, {alike}], iterator_types = ["parallel", "parallel"]}} ins(%w, %g : {CSR}, {CSR}) outs(%e : {CSR}) {{
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %b, %rate : f64
    %q = arith.subf %a, %p : f64
    linalg.yield %q : f64
  }} -> {CSR}
  return %next, %l : {CSR}, f64
}}
func.func private @trained(%w: {CSR}, %x: {M}, %y: {M}) -> {CSR} {{{EXTENTS}
  %steps = arith.constant 5 : index
  %r = scf.for %i = %c0 to %steps step %c1 iter_args(%v = %w) -> {CSR} {{
    %next, %l = func.call @step(%v, %x, %y) : ({CSR}, {M}, {M}) -> ({CSR}, f64)
    scf.yield %next : {CSR}
  }}
  return %r : {CSR}
}}""")
    program.entry("fit", [CSR, M, M], [CSR], f"""
  %r = func.call @trained(%a0, %a1, %a2) : ({CSR}, {M}, {M}) -> {CSR}
  return %r : {CSR}""")
    program.entry("fit_while", [CSR, M, M], [CSR, "f64"], f"""{EXTENTS}
  %much = arith.constant 1.0e9 : f64
  %few = arith.constant 7.0 : f64
  %r:2 = scf.while (%v = %a0, %l = %much) : ({CSR}, f64) -> ({CSR}, f64) {{
    %more = arith.cmpf ogt, %l, %few : f64
    scf.condition(%more) %v, %l : {CSR}, f64
  }} do {{
  ^bb0(%v: {CSR}, %l: f64):
    %next, %after = func.call @step(%v, %a1, %a2) : ({CSR}, {M}, {M}) -> ({CSR}, f64)
    scf.yield %next, %after : {CSR}, f64
  }}
  return %r#0, %r#1 : {CSR}, f64""")
    program.entry("gradient", [CSR, M, M, CSR], [CSR, CSR, M], f"""
  %y, %w, %x = sparse_autograd.vjp @trained(%a0, %a1, %a2) cotangents(%a3) {{wrt = [0, 1]}} : ({CSR}, {M}, {M}), ({CSR}) -> ({CSR}, {CSR}, {M})
  return %y, %w, %x : {CSR}, {CSR}, {M}""")
    mask = rng.random((6, 5)) < 0.5
    w, x, y = (rng.uniform(-1, 1, shape) for shape in ((6, 5), (5, 4), (6, 4)))
    stored = from_pattern(w, mask, MATRICES["CSR"])

    def steps(w, x):
        """Losses before each step, and the weights after it."""
        w = np.where(mask, w, 0)
        while True:
            d = w @ x - y
            w = w - 0.01 * np.where(mask, 2 * d @ x.T, 0)
            yield np.sum(d * d), w

    def after(count, w, x):
        return [v for _, (_, v) in zip(range(count), steps(w, x))][-1]

    def near(got, wanted):
        got = got.dense() if isinstance(got, Storage) else got
        assert np.allclose(got, wanted, rtol=1e-12, atol=1e-12), (got, wanted)
        return np.size(wanted)

    program.call("fit", [stored, x, y], lambda r: near(r, after(5, w, x)))
    repeat(program)
    few, last = next((l, v) for l, v in steps(w, x) if l <= 7)
    assert np.sum((np.where(mask, w, 0) @ x - y)**2) > 7
    program.call("fit_while", [stored, x, y],
                 lambda r, l: near(r, last) + near(l, few))
    repeat(program)

    def by_steps(at, shape):
        """The gradient by complex steps."""
        result = np.zeros(shape)
        for place in np.ndindex(shape):
            z = [w.astype(complex), x.astype(complex)]
            z[at][place] += 1e-30j
            result[place] = np.sum(after(5, *z).imag * c) / 1e-30
        return result

    c = np.where(mask, rng.uniform(-1, 1, (6, 5)), 0)
    by_w = np.where(mask, by_steps(0, (6, 5)), 0)
    by_x = by_steps(1, (5, 4))
    program.call("gradient", [stored, x, y,
                              from_pattern(c, mask, MATRICES["CSR"])],
                 lambda r, g, h: near(r, after(5, w, x)) + near(g, by_w) +
                 near(h, by_x))
    repeat(program)
    return program


def failures_program():
    """Calls that fail when they have allocated: the storage of an argument,
    extents, an index, numbers that do not fit a narrow type, in a loop and in
    a derivative too."""
    program = Program("failures", 1, threads=1)
    program.define_encoding("CSR", MATRICES["CSR"])
    program.define_encoding("Narrow",
                            MATRICES["CSR"].with_widths("i8", "i8"))
    alike = "affine_map<(i, j) -> (i, j)>"

    def square(value, name):
        return f"""
  %{name}_n = tensor.dim {value}, %c0 : {CSR}
  %{name}_m = tensor.dim {value}, %c1 : {CSR}
  %{name}_e = tensor.empty(%{name}_n, %{name}_m) : {CSR}
  %{name} = linalg.generic {{indexing_maps = [{alike}, {alike}], iterator_types = ["parallel", "parallel"]}} ins({value} : {CSR}) outs(%{name}_e : {CSR}) {{
  ^bb0(%{name}_a: f64, %{name}_o: f64):
    %{name}_p = arith.mulf %{name}_a, %{name}_a : f64
    linalg.yield %{name}_p : f64
  }} -> {CSR}"""

    program.define(f"""
func.func private @narrowed(%a: {CSR}) -> {NARROW} {{{EXTENTS}{square("%a", "s")}
  %y = sparse_tensor.convert %s : {CSR} to {NARROW}
  return %y : {NARROW}
}}""")
    program.entry("narrow", [CSR], [CSR, NARROW], f"""{EXTENTS}{square("%a0", "s")}
  %y = func.call @narrowed(%a0) : ({CSR}) -> {NARROW}
  return %s, %y : {CSR}, {NARROW}""")
    program.entry("narrow_gradient", [CSR, NARROW], [NARROW, CSR], f"""
  %y, %g = sparse_autograd.vjp @narrowed(%a0) cotangents(%a1) {{wrt = [0]}} : ({CSR}), ({NARROW}) -> ({NARROW}, {CSR})
  return %y, %g : {NARROW}, {CSR}""")
    program.entry("narrow_loop", [CSR], [NARROW, CSR], f"""{EXTENTS}
  %c3 = arith.constant 3 : index
  %e = tensor.empty(%c3, %c3) : {NARROW}
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %e, %w = %a0) -> ({NARROW}, {CSR}) {{
    %y = func.call @narrowed(%w) : ({CSR}) -> {NARROW}{square("%w", "s")}
    scf.yield %y, %s : {NARROW}, {CSR}
  }}
  return %r#0, %r#1 : {NARROW}, {CSR}""")
    program.entry("product", [CSR, CSR, M], [M, CSR], f"""{EXTENTS}{square("%a0", "s")}
  %n = tensor.dim %a0, %c0 : {CSR}
  %m = tensor.dim %a1, %c1 : {CSR}
  %f = tensor.empty(%n, %m) : {CSR}
  %p = linalg.matmul ins(%s, %a1 : {CSR}, {CSR}) outs(%f : {CSR}) -> {CSR}
  %y = linalg.matmul ins(%p, %a2 : {CSR}, {M}) outs(%a2 : {M}) -> {M}
  return %y, %p : {M}, {CSR}""")

    program.entry("element", [CSR, M, "index"], ["f64", CSR], f"""{EXTENTS}{square("%a0", "s")}
  %y = linalg.matmul ins(%s, %a1 : {CSR}, {M}) outs(%a1 : {M}) -> {M}
  %r = tensor.extract %y[%a2, %c0] : {M}
  return %r, %s : f64, {CSR}""")

    def row(count):
        columns = max(count, 3)
        mask = np.arange(columns)[None, :] < count
        return from_pattern(np.ones((1, columns)), mask, MATRICES["CSR"])

    def fail(entry, arguments, message):
        program.call(entry, arguments, message)
        repeat(program)

    many = row(256)
    for entry in ("narrow", "narrow_loop"):
        fail(entry, [many], "does not fit")
    narrow = program.encodings["Narrow"]
    fail("narrow_gradient", [
        many, from_pattern(np.ones((1, 3)), np.ones((1, 3)) > 0, narrow)],
        "does not fit")
    a = from_pattern(rng.uniform(1, 2, (4, 4)), rng.random((4, 4)) < 0.5,
                     MATRICES["CSR"])
    fail("product", [a, row(3), np.ones((4, 4))], "must have the extent of")
    fail("product", [a, a, np.ones((5, 5))],
         "must have the extent of")
    fail("element", [a, np.ones((4, 4)), 4], "out-of-bounds access")
    broken = list(a.components)
    broken[1] = broken[1] + np.uint64(9)
    fail("product", [a, Storage(broken, (4, 4), a.encoding), np.ones((4, 4))],
         "argument 'arg1': level 1 (compressed)")
    return program


finish([functions_program(), training_program(), failures_program()])
