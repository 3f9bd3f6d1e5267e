# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""`value_and_grad`, `vjp` and `jvp` of a masked loss of several arguments, for
any of them in any order (semantics C1, C2, C4)."""

import numpy as np

from execution import Program, close, finish, same_bits, to_type
from functions import Function, expand, gradients, tangents
from masked_gradients import analytic

X, W, S, T, M, U = ("<<3x4>>", "<<4>>", "<<T>>", "<<T|i32>>", "<<3x4|i1>>",
                    "<<2x5>>")
ARGUMENTS = [X, W, S, T, M, U]
# The loss, then results of both kinds that are not differentiated by
# value_and_grad.
RESULTS = [S, "<<3>>", "<<T|i32>>", X]
MAPS = ("[affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, "
        "affine_map<(i, j) -> (i, j)>]")
BODY = f"""
  %p = linalg.generic {{indexing_maps = {MAPS}, iterator_types = ["parallel", "parallel"]}}
      ins(%x0, %x1 : {X}, {W}) outs(%x0 : {X}) {{
  ^bb0(%a: <<T>>, %b: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %b : <<T>>
    %1 = arith.addf %0, %x2 : <<T>>
    linalg.yield %1 : <<T>>
  }} -> {X}
  %q = sparse_autograd.masked_softmax %p, %x4 dims = [1] : {X}, {M}
  %r = arith.mulf %q, %p : {X}
  %l = sparse_autograd.masked_reduce norm2 %r, %x4 dims = [0, 1] : {X}, {M} -> <<>>
  %loss = tensor.extract %l[] : <<>>
  %rows = sparse_autograd.masked_reduce std %p, %x4 dims = [1] : {X}, {M} -> <<3>>
  %n = arith.addi %x3, %x3 : i32
  return %loss, %rows, %n, %q : {', '.join(RESULTS)}"""
MASK = np.array([[1, 0, 1, 1], [0, 1, 0, 0], [0, 0, 0, 0]], bool)
SUBSETS = ((0,), (1,), (5,), (0, 1, 2), (2, 0), (5, 2, 1, 0))


def loss(x, w, s, n, mask, _):
    p = x * w + s
    q = analytic("masked_softmax", p, mask, (1,))
    norm = analytic("norm2", q * p, mask, (0, 1))
    return (norm.reshape(()), analytic("std", p, mask, (1,)).reshape(-1),
            np.asarray(n + n), q)


FUNCTION = Function("loss", ARGUMENTS, RESULTS, BODY, loss, fixed={3: 0, 4: 0})


def define(program, element_type, dynamic):
    """Entries for every subset and kind, of the arguments, two cotangents of
    floating results besides that of the loss, and tangents."""
    def typed(types):
        return [expand(t, element_type, dynamic) for t in types]

    arguments, results = typed(ARGUMENTS), typed(RESULTS)
    floats = [results[i] for i in FUNCTION.active_results()]
    a, r = ", ".join(arguments), ", ".join(results)
    f = ", ".join(floats)
    parameters = ", ".join(f"%x{i}: {t}" for i, t in enumerate(arguments))
    program.define(f"""
func.func private @loss({parameters}) -> ({r}) {{
{expand(BODY, element_type, dynamic)}
}}""")
    given = ", ".join(f"%a{i}" for i in range(len(arguments)))
    names = ("value_and_grad", "vjp", "jvp")
    for subset in SUBSETS:
        of_subset = [arguments[i] for i in subset]
        first = len(arguments) + len(floats)
        cotangents = ", ".join(f"%a{i}" for i in range(len(arguments), first))
        directions = ", ".join(f"%a{first + i}" for i in subset)
        wrt = f"{{wrt = [{', '.join(map(str, subset))}]}}"
        s = ", ".join(of_subset)
        ops = {
            "value_and_grad": f"({given}) {wrt} : ({a})",
            "vjp": f"({given}) cotangents({cotangents}) {wrt} : ({a}), ({f})",
            "jvp": f"({given}) tangents({directions}) {wrt} : ({a}), ({s})",
        }
        body, returned, types = [], [], []
        for name in names:
            more = floats if name == "jvp" else of_subset
            count = len(results) + len(more)
            body.append(f"  %{name}:{count} = sparse_autograd.{name} @loss"
                        f"{ops[name]} -> ({', '.join(results + more)})")
            returned += [f"%{name}#{i}" for i in range(count)]
            types += results + more
        body.append(f"  return {', '.join(returned)} : {', '.join(types)}")
        program.entry("of_" + "_".join(map(str, subset)),
                      arguments + floats + arguments, types, "\n".join(body))


def call(program, element_type, rng):
    """Calls the entry of each subset. Derivatives in all of them are the same
    numbers: in f64 within 1e-13 of a complex step, in f32 in bits."""
    def draw(*shape):
        return to_type(rng.uniform(0.5, 1.5, size=shape), element_type)

    arrays = [draw(3, 4), draw(4), draw(), np.int32(-7), MASK, draw(2, 5)]
    arrays[0][~MASK] = np.nan
    directions = [draw(*np.shape(a)) for a in arrays]
    directions[3:5] = np.int32(0), MASK
    wide = [a.astype(float) if a.dtype.kind == "f" else a for a in arrays]
    values = [np.real(v) for v in FUNCTION.values(wide)]
    cotangents = [draw(*values[i].shape) for i in FUNCTION.active_results()]
    only_loss = [np.ones(()), *(0 * c for c in cotangents[1:])]
    seen = {}

    def compare(actual, expected, what):
        if element_type == "f64":
            scale = 4 * (1 + np.abs(expected).max(initial=0))
            return close(actual, expected, 1e-13 * scale, what)
        return same_bits(actual, seen.setdefault(what, actual), what)

    def gradient(index, cotangents):
        if element_type != "f64":
            return None
        where = FUNCTION.active().index(index)
        return gradients(FUNCTION, wide, cotangents)[where]

    def tangent(subset):
        if element_type != "f64":
            return [None] * len(FUNCTION.active_results())
        return tangents(FUNCTION, wide, [
            directions[i] if i in subset else np.zeros(np.shape(directions[i]))
            for i in FUNCTION.active()])

    def check(subset):
        def check_results(*found):
            found, count = list(found), 0

            def take(expected, what):
                return compare(found.pop(0), expected, what)

            for name, given in (("value_and_grad", only_loss),
                                ("vjp", cotangents), ("jvp", None)):
                for i, value in enumerate(values):
                    count += take(value, f"result {i}")
                if given is not None:
                    for i in subset:
                        count += take(gradient(i, given), f"{name} by {i}")
                    continue
                for i, expected in enumerate(tangent(subset)):
                    count += take(expected, f"tangent {i} along {subset}")
            assert not found
            return count
        return check_results

    for subset in SUBSETS:
        program.call("of_" + "_".join(map(str, subset)),
                     [*arrays, *cotangents, *directions], check(subset))


def unused():
    """What does not reach the result has a zero gradient of its extents, also
    where the function does not look at it at all; a loss of rank 0."""
    program = Program("unused")
    t = "tensor<?x3xf32>"
    program.define(f"""
func.func private @f(%x: {t}, %y: tensor<f32>, %n: i64) -> (tensor<f32>, i64) {{
  return %y, %n : tensor<f32>, i64
}}
func.func private @g(%x: {t}) -> {t} {{
  %half = arith.constant dense<0.5> : tensor<2x3xf32>
  %y = tensor.cast %half : tensor<2x3xf32> to {t}
  return %y : {t}
}}""")
    program.entry("zeros", [t, "tensor<f32>", "i64"],
                  ["tensor<f32>", "i64", "tensor<f32>", t, t, t], f"""
  %r:4 = sparse_autograd.value_and_grad @f(%a0, %a1, %a2) {{wrt = [1, 0]}}
      : ({t}, tensor<f32>, i64) -> (tensor<f32>, i64, tensor<f32>, {t})
  %y, %dx = sparse_autograd.vjp @g(%a0) cotangents(%a0) {{wrt = [0]}} : ({t}), ({t}) -> ({t}, {t})
  %z, %ty = sparse_autograd.jvp @g(%a0) tangents(%a0) {{wrt = [0]}} : ({t}), ({t}) -> ({t}, {t})
  return %r#0, %r#1, %r#2, %r#3, %dx, %ty : tensor<f32>, i64, tensor<f32>, {t}, {t}, {t}""")
    x = np.full((2, 3), np.nan, np.float32)
    zero = np.zeros_like(x)

    def check(*found):
        expected = (np.float32(3), np.int64(8), np.float32(1), zero, zero, zero)
        return sum(same_bits(a, b) for a, b in zip(found, expected))

    program.call("zeros", [x, np.float32(3), np.int64(8)], check)
    return program


rng = np.random.default_rng(43)
programs = [unused()]
for t, dynamic in (("f64", False), ("f32", True)):
    program = Program(f"{t}_{'dynamic' if dynamic else 'static'}",
                      level=1 if t == "f64" else 0)
    define(program, t, dynamic)
    call(program, t, rng)
    programs.append(program)
finish(programs)
