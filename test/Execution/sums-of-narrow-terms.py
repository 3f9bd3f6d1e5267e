# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Terms of f16 and bf16 are not rounded before they are added (semantics G11), in
no sum that differentiation makes. All terms of a sum are one product of two
narrow numbers, and there are so few that f32 holds every partial sum: the sum is
exact in any order, and is rounded once. Rounded terms would give another number."""

from fractions import Fraction
from string import Template

import numpy as np

from execution import Program, finish, same_bits, to_type
from sparse_storage import ENCODINGS, from_pattern

# Of f16 few, whose products have 20 bits.
COUNT = {"f16": 11, "bf16": 255}


def rounded(number, t):
    """A fraction that f64 holds, rounded once."""
    return Fraction(float(to_type(np.float64(float(number)), t)))


def shows_rounding(term, t):
    count = COUNT[t]
    return rounded(count * term, t) != rounded(count * rounded(term, t), t)


def factors(t):
    """Two numbers of a type: sums of their products, and of the squares of the
    first, show whether terms were rounded."""
    step = Fraction(1, 2**7 if t == "bf16" else 2**9)
    return next((a, b) for i in range(1, 64) for j in range(1, 64)
                for a, b in [(1 + i * step, 1 + j * step)]
                if shows_rounding(a * b, t) and shows_rounding(a * a, t))


MAPS = """
#i = affine_map<(i) -> (i)>
#0 = affine_map<(i) -> (0)>
#ij = affine_map<(i, j) -> (i, j)>
#ii = affine_map<(i, j) -> (i)>
#jj = affine_map<(i, j) -> (j)>
"""

# What a function of %w, a tensor of one element, computes: N elements of f32 that
# are that of %w, times that of %x where it is read, so that the cotangent of %w
# is a sum of N terms. T is the narrow type.
BODIES = {
    "body": """
  %e = tensor.empty() : tensor<${N}xf32>
  %y = linalg.generic {indexing_maps = [#0, #i, #i], iterator_types = ["parallel"]}
      ins(%w, %x : tensor<1x$T>, tensor<${N}x$T>) outs(%e : tensor<${N}xf32>) {
  ^bb0(%a: $T, %b: $T, %o: f32):
    %c = arith.extf %a : $T to f32
    %d = arith.extf %b : $T to f32
    %p = arith.mulf %c, %d : f32
    linalg.yield %p : f32
  } -> tensor<${N}xf32>""",
    "narrow_body": """
  %e = tensor.empty() : tensor<${N}xf32>
  %y = linalg.generic {indexing_maps = [#0, #i, #i], iterator_types = ["parallel"]}
      ins(%w, %x : tensor<1x$T>, tensor<${N}x$T>) outs(%e : tensor<${N}xf32>) {
  ^bb0(%a: $T, %b: $T, %o: f32):
    %p = arith.mulf %a, %b : $T
    %c = arith.extf %p : $T to f32
    linalg.yield %c : f32
  } -> tensor<${N}xf32>""",
    "matmul": """
  %k = tensor.expand_shape %w [[0, 1]] output_shape [1, 1] : tensor<1x$T> into tensor<1x1x$T>
  %l = tensor.expand_shape %x [[0, 1]] output_shape [1, $N] : tensor<${N}x$T> into tensor<1x${N}x$T>
  %z = arith.constant dense<0.0> : tensor<1x${N}xf32>
  %m = linalg.matmul ins(%k, %l : tensor<1x1x$T>, tensor<1x${N}x$T>) outs(%z : tensor<1x${N}xf32>) -> tensor<1x${N}xf32>
  %y = tensor.collapse_shape %m [[0, 1]] : tensor<1x${N}xf32> into tensor<${N}xf32>""",
    "broadcast": """
  %r = tensor.collapse_shape %w [] : tensor<1x$T> into tensor<$T>
  %e = tensor.empty() : tensor<${N}x$T>
  %b = linalg.broadcast ins(%r : tensor<$T>) outs(%e : tensor<${N}x$T>) dimensions = [0]
  %p = arith.mulf %b, %x : tensor<${N}x$T>
  %y = arith.extf %p : tensor<${N}x$T> to tensor<${N}xf32>""",
    "splat": """
  %c0 = arith.constant 0 : index
  %r = tensor.extract %w[%c0] : tensor<1x$T>
  %b = tensor.splat %r : tensor<${N}x$T>
  %p = arith.mulf %b, %x : tensor<${N}x$T>
  %y = arith.extf %p : tensor<${N}x$T> to tensor<${N}xf32>""",
    "pad": """
  %c0 = arith.constant 0 : index
  %r = tensor.extract %w[%c0] : tensor<1x$T>
  %n = tensor.empty() : tensor<0x$T>
  %b = tensor.pad %n low[0] high[$N] {
  ^bb0(%i: index):
    tensor.yield %r : $T
  } : tensor<0x$T> to tensor<${N}x$T>
  %p = arith.mulf %b, %x : tensor<${N}x$T>
  %y = arith.extf %p : tensor<${N}x$T> to tensor<${N}xf32>""",
    "loop": """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant $N : index
  %e = arith.constant dense<0.0> : tensor<${N}xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%o = %e) -> tensor<${N}xf32> {
    %a = tensor.extract %w[%c0] : tensor<1x$T>
    %b = tensor.extract %x[%i] : tensor<${N}x$T>
    %p = arith.mulf %a, %b : $T
    %c = arith.extf %p : $T to f32
    %q = tensor.insert %c into %o[%i] : tensor<${N}xf32>
    scf.yield %q : tensor<${N}xf32>
  }""",
    "captured": """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant $N : index
  %a = tensor.extract %w[%c0] : tensor<1x$T>
  %e = arith.constant dense<0.0> : tensor<${N}xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%o = %e) -> tensor<${N}xf32> {
    %b = tensor.extract %x[%i] : tensor<${N}x$T>
    %ok = arith.cmpi ult, %i, %n : index
    %c = scf.if %ok -> f32 {
      %p = arith.mulf %a, %b : $T
      %d = arith.extf %p : $T to f32
      scf.yield %d : f32
    } else {
      %d = arith.extf %b : $T to f32
      scf.yield %d : f32
    }
    %q = tensor.insert %c into %o[%i] : tensor<${N}xf32>
    scf.yield %q : tensor<${N}xf32>
  }""",
    "gather": """
  %t = tensor.expand_shape %w [[0, 1]] output_shape [1, 1] : tensor<1x$T> into tensor<1x1x$T>
  %z = arith.constant dense<0> : tensor<${N}xindex>
  %g = sparse_autograd.gather %t, %z : tensor<1x1x$T>, tensor<${N}xindex> -> tensor<${N}x1x$T>
  %b = tensor.collapse_shape %g [[0, 1]] : tensor<${N}x1x$T> into tensor<${N}x$T>
  %p = arith.mulf %b, %x : tensor<${N}x$T>
  %y = arith.extf %p : tensor<${N}x$T> to tensor<${N}xf32>""",
    # Of a mean the cotangent is divided by the number of elements, here 1.
    "masked": """
  %r = tensor.collapse_shape %w [] : tensor<1x$T> into tensor<$T>
  %e = tensor.empty() : tensor<${N}x$T>
  %b = linalg.broadcast ins(%r : tensor<$T>) outs(%e : tensor<${N}x$T>) dimensions = [0]
  %p = arith.mulf %b, %x : tensor<${N}x$T>
  %f = tensor.expand_shape %p [[0, 1]] output_shape [$N, 1] : tensor<${N}x$T> into tensor<${N}x1x$T>
  %m = sparse_autograd.masked_reduce mean %f dims = [1] : tensor<${N}x1x$T> -> tensor<${N}x$T>
  %y = arith.extf %m : tensor<${N}x$T> to tensor<${N}xf32>""",
    # The rows of a sparse matrix with one column, times %w.
    "sparse": """
  %z = arith.constant dense<0.0> : tensor<${N}xf32>
  %y = linalg.generic {indexing_maps = [#ij, #jj, #ii], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<${N}x1x$T, #CSR>, tensor<1x$T>) outs(%z : tensor<${N}xf32>) {
  ^bb0(%a: $T, %b: $T, %o: f32):
    %c = arith.extf %a : $T to f32
    %d = arith.extf %b : $T to f32
    %p = arith.mulf %c, %d : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<${N}xf32>""",
}

CSR = ENCODINGS["CSR"]
program = Program("terms", 1, threads=1)
program.define(MAPS)
program.define_encoding("CSR", CSR)
program.define_encoding("DenseRows", ENCODINGS["DenseRows"])


def define(name, body, t):
    """The gradient of what is squared and halved, by reverse mode, and how it
    changes, in two ways: all are sums of COUNT terms, of the cotangent, or of 1,
    times the elements of %x."""
    matrix = ", #CSR" if name == "sparse" else ""
    n = COUNT[t]
    x = f"tensor<{n}{'x1' if matrix else ''}x{t}{matrix}>"
    w, y = f"tensor<1x{t}>", f"tensor<{n}xf32>"
    f = f"{name}_{t}"
    body = Template(body).substitute(N=n, T=t)
    program.define(f"""
func.func private @{f}_f(%w: {w}, %x: {x}) -> {y} {{{body}
  return %y : {y}
}}
func.func private @{f}_loss(%w: {w}, %x: {x}) -> tensor<f32> {{
  %y = func.call @{f}_f(%w, %x) : ({w}, {x}) -> {y}
  %h = arith.constant dense<0.5> : {y}
  %q = arith.mulf %y, %y : {y}
  %r = arith.mulf %q, %h : {y}
  %s = sparse_autograd.masked_reduce sum %r dims = [0] : {y} -> tensor<f32>
  return %s : tensor<f32>
}}
func.func private @{f}_gradient(%w: {w}, %x: {x}) -> {w} {{
  %s, %g = sparse_autograd.value_and_grad @{f}_loss(%w, %x) {{wrt = [0]}} : ({w}, {x}) -> (tensor<f32>, {w})
  return %g : {w}
}}""")
    program.entry(f"{f}_vjp", [w, x, y], [w], f"""
  %r:2 = sparse_autograd.vjp @{f}_f(%a0, %a1) cotangents(%a2) {{wrt = [0]}} : ({w}, {x}), ({y}) -> ({y}, {w})
  return %r#1 : {w}""")
    program.entry(f"{f}_second", [w, x, w], [w, w], f"""
  %r:2 = sparse_autograd.vjp @{f}_gradient(%a0, %a1) cotangents(%a2) {{wrt = [0]}} : ({w}, {x}), ({w}) -> ({w}, {w})
  %t:2 = sparse_autograd.jvp @{f}_gradient(%a0, %a1) tangents(%a2) {{wrt = [0]}} : ({w}, {x}), ({w}) -> ({w}, {w})
  return %r#1, %t#1 : {w}, {w}""")


def call(name, t):
    a, b = factors(t)
    n = COUNT[t]

    def total(term):
        return to_type(np.array([float(rounded(n * term, t))]), t)

    x = to_type(np.full(n, float(a)), t)
    if name == "sparse":
        x = from_pattern(x[:, None], np.ones((n, 1), bool), CSR)
    one = to_type(np.ones(1), t)
    program.call(f"{name}_{t}_vjp",
                 [one, x, np.full(n, float(b), np.float32)],
                 lambda g: same_bits(g, total(a * b)))
    program.call(f"{name}_{t}_second", [one, x, one],
                 lambda r, s: same_bits(r, total(a * a)) +
                 same_bits(s, total(a * a)))


for t in ("f16", "bf16"):
    for name, body in BODIES.items():
        define(name, body, t)
        call(name, t)

# Two dimensions: rows of a table that are added, dense and row-sparse ones, a
# sum of several tensors, tangents, and sums that the program has itself.
for t in ("f16", "bf16"):
    a, b = factors(t)
    n = COUNT[t]
    table, rows, sparse = (f"tensor<1x1x{t}>", f"tensor<{n}x1xf32>",
                           f"tensor<1x1x{t}, #DenseRows>")
    program.define(f"""
func.func private @rows_{t}_f(%w: {table}, %i: tensor<{n}xindex>) -> {rows} {{
  %g = sparse_autograd.gather %w, %i : {table}, tensor<{n}xindex> -> tensor<{n}x1x{t}>
  %y = arith.extf %g : tensor<{n}x1x{t}> to {rows}
  return %y : {rows}
}}""")
    one = to_type(np.ones((1, 1)), t)
    term = Fraction(float(np.float32(float(a * b))))
    assert term == a * b
    total = to_type(np.full((1, 1), float(rounded(n * term, t))), t)
    for name, result in (("dense", table), ("row_sparse", sparse)):
        program.entry(f"rows_{t}_{name}", [table, f"tensor<{n}xindex>", rows],
                      [result], f"""
  %r:2 = sparse_autograd.vjp @rows_{t}_f(%a0, %a1) cotangents(%a2) {{wrt = [0]}} : ({table}, tensor<{n}xindex>), ({rows}) -> ({rows}, {result})
  return %r#1 : {result}""")
        program.call(f"rows_{t}_{name}",
                     [one, np.zeros(n, np.int64),
                      np.full((n, 1), float(term), np.float32)],
                     lambda g, e=total: same_bits(
                         g.dense() if hasattr(g, "dense") else g, e))

    # What several readers add to one value: 1 and twice half of its last place.
    v = f"tensor<2x{t}>"
    wide = "tensor<2xf32>"
    program.define(f"""
func.func private @readers_{t}_f(%x: {v}, %c: {wide}, %d: {wide}) -> ({wide}, {wide}, {wide}) {{
  %y = arith.extf %x : {v} to {wide}
  %p = arith.mulf %y, %c : {wide}
  %q = arith.mulf %y, %d : {wide}
  %r = arith.subf %q, %y : {wide}
  %z = arith.negf %y : {wide}
  return %p, %r, %z : {wide}, {wide}, {wide}
}}""")
    cotangents = ", ".join([wide] * 3)
    program.entry(f"readers_{t}", [v, wide, wide], [v], f"""
  %o = arith.constant dense<1.0> : {wide}
  %m = arith.constant dense<-1.0> : {wide}
  %r:4 = sparse_autograd.vjp @readers_{t}_f(%a0, %a1, %a2) cotangents(%o, %o, %m) {{wrt = [0]}} : ({v}, {wide}, {wide}), ({cotangents}) -> ({cotangents}, {v})
  return %r#3 : {v}""")
    half = Fraction(1, 2**8 if t == "bf16" else 2**11)
    program.call(f"readers_{t}",
                 [to_type(np.ones(2), t), np.full(2, 1.0, np.float32),
                  np.full(2, float(3 * half), np.float32)],
                 lambda g, e=to_type(np.full(2, float(rounded(1 + 3 * half, t))),
                                     t): same_bits(g, e))

    matrix, vector = f"tensor<1x{n}x{t}>", f"tensor<{n}x{t}>"
    program.define(f"""
func.func private @matvec_{t}_f(%m: {matrix}, %v: {vector}) -> tensor<1x{t}> {{
  %z = arith.constant dense<0.0> : tensor<1x{t}>
  %y = linalg.matvec ins(%m, %v : {matrix}, {vector}) outs(%z : tensor<1x{t}>) -> tensor<1x{t}>
  return %y : tensor<1x{t}>
}}""")
    program.entry(f"matvec_{t}", [matrix, vector], [f"tensor<1x{t}>"] * 2, f"""
  %r:2 = sparse_autograd.jvp @matvec_{t}_f(%a0, %a1) tangents(%a0) {{wrt = [0]}} : ({matrix}, {vector}), ({matrix}) -> (tensor<1x{t}>, tensor<1x{t}>)
  return %r#0, %r#1 : tensor<1x{t}>, tensor<1x{t}>""")
    program.call(f"matvec_{t}",
                 [to_type(np.full((1, n), float(a)), t),
                  to_type(np.full(n, float(b)), t)],
                 lambda y, d, e=total[0]: same_bits(y, e) + same_bits(d, e))

finish([program])
