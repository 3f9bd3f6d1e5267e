# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s | FileCheck %s
# CHECK: {{[1-9][0-9]* functions, [1-9][0-9]* calls, [1-9][0-9]*}} numbers compared, 0 failures
"""Reading rows of tables and adding to them: gather with dense and row-sparse
gradients, scatter_rows, accumulate, their second derivatives and errors
(semantics S7, S8), against NumPy."""

import numpy as np

from execution import Program, close, finish, same_bits, to_type
from sparse_storage import (MATRICES, Encoding, Level, from_pattern,
                            same_pattern)

TOLERANCE = {"f64": 1e-12, "f32": 2e-6, "f16": 4e-3, "bf16": 3e-2}
rng = np.random.default_rng(11)
program = Program("rows", 1)


def row_encoding(rank, positions="index", coordinates="index"):
    return Encoding((Level("compressed", 0),
                     *(Level("dense", d) for d in range(1, rank))),
                    position_type=positions, coordinate_type=coordinates)


def unknown(rank, element, encoding=None):
    suffix = f", #{encoding}" if encoding else ""
    return "tensor<" + "?x" * rank + element + suffix + ">"


def stored_rows(storage, rows, expected, tolerance, what):
    """Compares a row-sparse result with rows of a dense array."""
    if expected.size == 0:
        return close(storage.values, np.zeros(0), 0, what)
    rows = np.unique(rows)
    positions, coordinates, values = storage.components
    count = close(positions, [0, len(rows)], 0, what)
    count += close(coordinates, rows, 0, what)
    return count + close(values, expected[rows].ravel(), tolerance, what)


def scatter(rows, indices, shape):
    """The sums of rows, each at its index."""
    result = np.zeros(shape)
    np.add.at(result, indices, rows)
    return result


def add_gather(rank, index_rank, element, index, positions, coordinates):
    """f(t, i, j) = t[i] * t[j] + t[i], its derivatives and theirs."""
    name = f"gather_{rank}_{index_rank}_{element}_{index}_{positions}_{coordinates}"
    encoding = program.define_encoding(
        f"Rows{rank}_{positions}_{coordinates}",
        row_encoding(rank, positions, coordinates))
    t = unknown(rank, element)
    s = unknown(rank, element, encoding)
    i = unknown(index_rank, index)
    y = unknown(index_rank + rank - 1, element)
    program.define(f"""
func.func private @{name}_f(%t: {t}, %i: {i}, %j: {i}) -> {y} {{
  %a = sparse_autograd.gather %t, %i : {t}, {i} -> {y}
  %b = sparse_autograd.gather %t, %j : {t}, {i} -> {y}
  %p = arith.mulf %a, %b : {y}
  %r = arith.addf %p, %a : {y}
  return %r : {y}
}}
func.func private @{name}_g(%t: {t}, %g: {y}, %i: {i}, %j: {i}) -> {s} {{
  %r:2 = sparse_autograd.vjp @{name}_f(%t, %i, %j) cotangents(%g) {{wrt = [0]}}
      : ({t}, {i}, {i}), ({y}) -> ({y}, {s})
  return %r#1 : {s}
}}""")
    program.entry(name, [t, i, i, y, t, s], [y, s, t, y, s, s, t, y], f"""
  %v:2 = sparse_autograd.vjp @{name}_f(%a0, %a1, %a2) cotangents(%a3) {{wrt = [0]}}
      : ({t}, {i}, {i}), ({y}) -> ({y}, {s})
  %d:2 = sparse_autograd.vjp @{name}_f(%a0, %a1, %a2) cotangents(%a3) {{wrt = [0]}}
      : ({t}, {i}, {i}), ({y}) -> ({y}, {t})
  %j:2 = sparse_autograd.jvp @{name}_f(%a0, %a1, %a2) tangents(%a4) {{wrt = [0]}}
      : ({t}, {i}, {i}), ({t}) -> ({y}, {y})
  %h:2 = sparse_autograd.jvp @{name}_g(%a0, %a3, %a1, %a2) tangents(%a4) {{wrt = [0]}}
      : ({t}, {y}, {i}, {i}), ({t}) -> ({s}, {s})
  %q:3 = sparse_autograd.vjp @{name}_g(%a0, %a3, %a1, %a2) cotangents(%a5) {{wrt = [0, 1]}}
      : ({t}, {y}, {i}, {i}), ({s}) -> ({s}, {s}, {y})
  %k:3 = sparse_autograd.vjp @{name}_g(%a0, %a3, %a1, %a2) cotangents(%a5) {{wrt = [0, 1]}}
      : ({t}, {y}, {i}, {i}), ({s}) -> ({s}, {t}, {y})
  return %v#0, %v#1, %d#1, %j#1, %h#1, %q#1, %k#1, %q#2
      : {y}, {s}, {t}, {y}, {s}, {s}, {t}, {y}""")
    for shape, index_shape in (((7, 3, 2), (5, 2)), ((1, 4, 1), (3, 1)),
                               ((9, 1, 5), (0, 4)), ((40, 2, 3), (17, 3)),
                               ((6, 0, 2), (2, 2))):
        shape, index_shape = shape[:rank], index_shape[:index_rank]
        call_gather(name, shape, index_shape, element, encoding)


def call_gather(name, shape, index_shape, element, encoding):
    def draw(shape):
        return to_type(rng.uniform(-1.5, 1.5, shape), element)

    # The last row of a table is not read.
    first, second = (rng.integers(0, max(shape[0] - 1, 1), index_shape)
                     for _ in range(2))
    table, along = draw(shape), draw(shape)
    g = draw(index_shape + shape[1:])
    # A cotangent of the gradient stores rows that the gradient does not, and
    # leaves some of its rows out.
    mask = np.zeros(shape, bool)
    mask[rng.random(shape[0]) < 0.7] = True
    u = np.where(mask, draw(shape), 0)
    wide = [np.asarray(a, np.float64) for a in (table, along, g, u)]
    t, d, c, w = wide
    both = np.concatenate([np.ravel(first), np.ravel(second)])
    a, b = t[first], t[second]

    def pull(of_a, of_b):
        return scatter(of_a, first, shape) + scatter(of_b, second, shape)

    gradient = pull(c * b + c, c * a)
    hessian = pull(c * d[second], c * d[first])
    # Of <u, gradient>, in which u counts where the gradient has a row.
    w = np.where(np.isin(np.arange(shape[0]), both).reshape(
        (-1,) + (1,) * (len(shape) - 1)), w, 0)
    by_table = pull(c * w[second], c * w[first])
    by_cotangent = w[first] * (b + 1) + w[second] * a

    def check(*results):
        tolerance = TOLERANCE[element]
        count = close(results[0], a * b + a, tolerance, "value")
        count += stored_rows(results[1], both, gradient, tolerance, "gradient")
        count += close(results[2], gradient, tolerance, "dense gradient")
        count += close(results[3], d[first] * b + a * d[second] + d[first],
                       tolerance, "tangent")
        count += stored_rows(results[4], both, hessian, tolerance, "jvp of vjp")
        count += stored_rows(results[5], both, by_table, tolerance,
                             "vjp of vjp")
        count += close(results[6], by_table, tolerance, "dense vjp of vjp")
        return count + close(results[7], by_cotangent, tolerance,
                             "vjp of vjp by the cotangent")

    program.call(name, [table, first, second, g, along,
                        from_pattern(u, mask, program.encodings[encoding])],
                 check, f"{name} {shape} {index_shape}")


for rank, index_rank in ((2, 1), (1, 1), (3, 1), (2, 0), (2, 2), (1, 2),
                         (1, 0), (3, 2), (3, 0)):
    add_gather(rank, index_rank, "f64", "i32", "index", "index")
for element in ("f32", "f16", "bf16"):
    add_gather(2, 1, element, "i64", "i64", "i32")
for index, positions, coordinates in (("index", "i32", "i32"),
                                      ("i8", "i16", "i8"),
                                      ("i16", "i8", "i64")):
    add_gather(2, 1, "f64", index, positions, coordinates)


# Sums are made in the order of the list, in f32 for f16 and bf16, and rounded
# once: 2048 in f16 and 256 in bf16 plus ones stay what they are otherwise.
for element, large in (("f16", 2048.0), ("bf16", 256.0), ("f32", 2.0**24)):
    s = unknown(2, element, program.define_encoding("Rows2", row_encoding(2)))
    program.entry(f"sum_{element}", [unknown(2, element), "tensor<?xi32>"],
                  [s], f"""
  %n = arith.constant 4 : index
  %r = sparse_autograd.scatter_rows %a0, %a1, %n : {unknown(2, element)}, tensor<?xi32> -> {s}
  return %r : {s}""")
    rows = np.ones((10, 2), np.float32)
    rows[0] = large
    exact = large + 9 if element != "f32" else np.float32(large)
    program.call(f"sum_{element}", [to_type(rows, element), np.full(10, 2)],
                 lambda result, exact=exact, element=element: same_bits(
                     result.values, to_type(np.full(2, exact), element),
                     "sum"), "sum")


# accumulate, of every format into every other.
def add_accumulate(result, operands):
    name = "accumulate_" + "_".join([*operands, "to", result])

    def type_of(name):
        if name == "dense":
            return "tensor<?x?xf64>"
        return f"tensor<?x?xf64, #{name}>"

    for format_ in {result, *operands} - {"dense"}:
        program.define_encoding(format_, FORMATS[format_])
    types = [type_of(o) for o in operands]
    r = type_of(result)
    values = ", ".join(f"%a{n}" for n in range(len(operands)))
    named = ", ".join(f"%a{n}: {t}" for n, t in enumerate(types))
    listed = ", ".join(types)
    wrt = ", ".join(map(str, range(len(operands))))
    program.define(f"""
func.func private @{name}_f({named}) -> {r} {{
  %r = sparse_autograd.accumulate {values} : {listed} -> {r}
  return %r : {r}
}}""")
    n = len(operands)
    program.entry(name, types + [r], [r] + types, f"""
  %r:{n + 1} = sparse_autograd.vjp @{name}_f({values}) cotangents(%a{n}) {{wrt = [{wrt}]}}
      : ({listed}), ({r}) -> ({r}, {listed})
  return {", ".join(f"%r#{k}" for k in range(n + 1))} : {r}, {listed}""")
    for shape in ((4, 6), (0, 3), (5, 1), (12, 12)):
        arrays, masks, arguments = [], [], []
        for operand in operands:
            mask = rng.random(shape) < 0.3
            if operand == "dense":
                mask[...] = True
            elif operand == "Rows2":
                mask = np.broadcast_to(mask.any(axis=1, keepdims=True), shape)
            array = np.where(mask, rng.uniform(-1, 1, shape), 0)
            arrays.append(array)
            masks.append(mask)
            arguments.append(array if operand == "dense" else
                             from_pattern(array, mask, FORMATS[operand]))
        union = np.any(masks, axis=0)
        if result == "Rows2":
            union = np.broadcast_to(union.any(axis=1, keepdims=True), shape)
        g = rng.uniform(-1, 1, shape)
        if result != "dense":
            g = np.where(union, g, 0)
        arguments.append(g if result == "dense" else
                         from_pattern(g, union, FORMATS[result]))

        expected_results = list(zip([result, *operands],
                                    [sum(arrays), *([g] * n)],
                                    [union, *masks]))

        def check(*results, expected_results=expected_results):
            count = 0
            for number, (actual, (format_, array, mask)) in enumerate(zip(
                    results, expected_results)):
                what = f"result {number}"
                if format_ == "dense":
                    count += close(actual, array, 1e-14, what)
                    continue
                expected = from_pattern(array, mask, FORMATS[format_])
                count += same_pattern(actual, expected, what)
                count += close(actual.values, expected.values, 1e-14, what)
            return count

        program.call(name, arguments, check, f"{name} {shape}")


FORMATS = {"CSR": MATRICES["CSR"], "CSC": MATRICES["CSC"],
           "COO": MATRICES["COO"], "DCSR": MATRICES["DCSR"],
           "Rows2": row_encoding(2)}
for format_ in FORMATS:
    add_accumulate(format_, [format_])
    add_accumulate("dense", ["dense", format_])
    add_accumulate("dense", [format_, "dense"])
    add_accumulate("dense", [format_])
    for other in FORMATS:
        add_accumulate(format_, [format_, other])
add_accumulate("CSR", ["COO", "CSC", "CSR"])
add_accumulate("Rows2", ["Rows2", "Rows2", "Rows2", "Rows2"])
add_accumulate("dense", ["CSR", "dense", "COO", "dense", "DCSR"])


# Errors at run time.
program.entry("range", ["tensor<?x2xf64>", "tensor<?xi32>"],
              ["tensor<?x2xf64>"], """
  %r = sparse_autograd.gather %a0, %a1 : tensor<?x2xf64>, tensor<?xi32> -> tensor<?x2xf64>
  return %r : tensor<?x2xf64>""")
program.entry("rows_range", ["tensor<?x2xf64, #Rows2>", "tensor<?xi32>"],
              ["tensor<?x2xf64>"], """
  %r = sparse_autograd.gather %a0, %a1 : tensor<?x2xf64, #Rows2>, tensor<?xi32> -> tensor<?x2xf64>
  return %r : tensor<?x2xf64>""")
program.entry("scatter", ["tensor<?x2xf64>", "tensor<?xi32>"],
              ["tensor<?x2xf64, #Rows2>"], """
  %n = arith.constant 4 : index
  %r = sparse_autograd.scatter_rows %a0, %a1, %n : tensor<?x2xf64>, tensor<?xi32> -> tensor<?x2xf64, #Rows2>
  return %r : tensor<?x2xf64, #Rows2>""")
table = np.ones((4, 2))
storage = from_pattern(table, np.ones(table.shape, bool), FORMATS["Rows2"])
for bad in (-1, 4, 2**31 - 1, -2**31):
    indices = np.array([0, bad, 1], np.int32)
    program.call("range", [table, indices], "out-of-bounds access")
    program.call("rows_range", [storage, indices],
                 ":8: sparse_autograd.gather: an index is out of range")
    program.call("scatter", [table[:3], indices],
                 ":8: sparse_autograd.scatter_rows: an index is out of "
                 "range")
program.call("scatter", [table, np.zeros(3, np.int32)],
             "dimension 0 of the rows must have the extent of that of the "
             "indices")
program.call("range", [np.ones((0, 2)), np.zeros(1, np.int32)],
             "out-of-bounds access")

finish([program])
