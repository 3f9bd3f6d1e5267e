# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Derivatives, first and second, of linalg.generic and of named ops."""

import numpy as np

import function_tests
from functions import Function

MAPS = {
    "i": "affine_map<(i, j) -> (i)>", "j": "affine_map<(i, j) -> (j)>",
    "ij": "affine_map<(i, j) -> (i, j)>", "ji": "affine_map<(i, j) -> (j, i)>",
    "": "affine_map<(i, j) -> ()>", "i0": "affine_map<(i, j) -> (i, 0)>",
}


def generic(maps, iterators, ins, outs, region, results):
    """A linalg.generic over (i, j); `ins` and `outs` are (value, type)s."""
    maps = ", ".join(MAPS[m] for m in maps)
    iterators = ", ".join(f'"{i}"' for i in iterators)

    def operands(keyword, pairs):
        if not pairs:
            return ""
        return (f"{keyword}({', '.join(v for v, _ in pairs)} : "
                f"{', '.join(t for _, t in pairs)})")

    return (f"linalg.generic {{indexing_maps = [{maps}], "
            f"iterator_types = [{iterators}]}} {operands('ins', ins)} "
            f"{operands('outs', outs)} {{\n{region}\n}} -> {results}")


PAR, RED = "parallel", "reduction"
FUNCTIONS = [
    # Contractions.
    Function("matmul", ["<<3x4>>", "<<4x2>>", "<<3x2>>"], ["<<3x2>>"], """
  %y = linalg.matmul ins(%x0, %x1 : <<3x4>>, <<4x2>>) outs(%x2 : <<3x2>>) -> <<3x2>>
  return %y : <<3x2>>""", lambda a, b, c: c + a @ b),
    Function("matmul_of_one", ["<<3x3>>", "<<3x3>>"], ["<<3x3>>"], """
  %y = linalg.matmul ins(%x0, %x0 : <<3x3>>, <<3x3>>) outs(%x1 : <<3x3>>) -> <<3x3>>
  return %y : <<3x3>>""", lambda a, c: c + a @ a),
    Function("matmul_transposed", ["<<4x3>>", "<<2x4>>", "<<3x2>>"],
             ["<<3x2>>"], """
  %y = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%x0, %x1 : <<4x3>>, <<2x4>>) outs(%x2 : <<3x2>>) -> <<3x2>>
  return %y : <<3x2>>""", lambda a, b, c: c + a.T @ b.T),
    Function("batch_matmul", ["<<2x3x4>>", "<<2x4x2>>", "<<2x3x2>>"],
             ["<<2x3x2>>"], """
  %y = linalg.batch_matmul ins(%x0, %x1 : <<2x3x4>>, <<2x4x2>>) outs(%x2 : <<2x3x2>>) -> <<2x3x2>>
  return %y : <<2x3x2>>""", lambda a, b, c: c + a @ b),
    Function("matvec", ["<<3x4>>", "<<4>>", "<<3>>"], ["<<3>>"], """
  %y = linalg.matvec ins(%x0, %x1 : <<3x4>>, <<4>>) outs(%x2 : <<3>>) -> <<3>>
  return %y : <<3>>""", lambda a, b, c: c + a @ b),
    Function("vecmat", ["<<3>>", "<<3x4>>", "<<4>>"], ["<<4>>"], """
  %y = linalg.vecmat ins(%x0, %x1 : <<3>>, <<3x4>>) outs(%x2 : <<4>>) -> <<4>>
  return %y : <<4>>""", lambda a, b, c: c + a @ b),
    Function("dot", ["<<5>>", "<<5>>", "<<>>"], ["<<>>"], """
  %y = linalg.dot ins(%x0, %x1 : <<5>>, <<5>>) outs(%x2 : <<>>) -> <<>>
  return %y : <<>>""", lambda a, b, c: c + a @ b),
    Function("sampled_product", ["<<3x4>>", "<<3x2>>", "<<2x4>>", "<<3x4>>"],
             ["<<3x4>>"], """
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x0, %x1, %x2 : <<3x4>>, <<3x2>>, <<2x4>>) outs(%x3 : <<3x4>>) {
  ^bb0(%s: <<T>>, %a: <<T>>, %b: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %b : <<T>>
    %1 = arith.mulf %s, %0 : <<T>>
    %2 = arith.addf %out, %1 : <<T>>
    linalg.yield %2 : <<T>>
  } -> <<3x4>>
  return %y : <<3x4>>""", lambda s, a, b, c: c + s * (a @ b)),
    # Elementwise generics: broadcasts, transposes, scalars, positions.
    Function("broadcast", ["<<3x4>>", "<<4>>", "<<3>>", "<<3x4>>"],
             ["<<3x4>>"], "%y = " + generic(
                 ["ij", "j", "i", "ij"], [PAR, PAR],
                 [("%x0", "<<3x4>>"), ("%x1", "<<4>>"), ("%x2", "<<3>>")],
                 [("%x3", "<<3x4>>")], """
  ^bb0(%a: <<T>>, %b: <<T>>, %c: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %b : <<T>>
    %1 = arith.subf %0, %c : <<T>>
    linalg.yield %1 : <<T>>""", "<<3x4>>") + "\nreturn %y : <<3x4>>",
             lambda a, b, c, o: a * b - c[:, None] + 0 * o),
    Function("transposed", ["<<4x3>>", "<<3x4>>", "<<3x4>>"], ["<<3x4>>"],
             "%y = " + generic(["ji", "ij", "ij"], [PAR, PAR],
                               [("%x0", "<<4x3>>"), ("%x1", "<<3x4>>")],
                               [("%x2", "<<3x4>>")], """
  ^bb0(%a: <<T>>, %b: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %b : <<T>>
    %1 = arith.mulf %0, %a : <<T>>
    linalg.yield %1 : <<T>>""", "<<3x4>>") + "\nreturn %y : <<3x4>>",
             lambda a, b, o: a.T * b * a.T + 0 * o),
    Function("reads_out", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"],
             "%y = " + generic(["ij", "ij"], [PAR, PAR],
                               [("%x0", "<<3x4>>")], [("%x1", "<<3x4>>")], """
  ^bb0(%a: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %out : <<T>>
    linalg.yield %0 : <<T>>""", "<<3x4>>") + "\nreturn %y : <<3x4>>",
             lambda a, o: a * o),
    Function("scalar_operand", ["<<3x4>>", "<<T>>", "<<3x4>>"], ["<<3x4>>"],
             "%y = " + generic(["ij", "", "ij"], [PAR, PAR],
                               [("%x0", "<<3x4>>"), ("%x1", "<<T>>")],
                               [("%x2", "<<3x4>>")], """
  ^bb0(%a: <<T>>, %s: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %s : <<T>>
    %1 = arith.addf %0, %s : <<T>>
    linalg.yield %1 : <<T>>""", "<<3x4>>") + "\nreturn %y : <<3x4>>",
             lambda a, s, o: a * s + s + 0 * o),
    Function("captured_scalar", ["<<3x4>>", "<<T>>", "<<3x4>>"], ["<<3x4>>"],
             "%s = arith.mulf %x1, %x1 : <<T>>\n%y = " +
             generic(["ij", "ij"], [PAR, PAR], [("%x0", "<<3x4>>")],
                     [("%x2", "<<3x4>>")], """
  ^bb0(%a: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %s : <<T>>
    linalg.yield %0 : <<T>>""", "<<3x4>>") + "\nreturn %y : <<3x4>>",
             lambda a, s, o: a * s * s + 0 * o),
    Function("column_of_one", ["<<3x=1>>", "<<3x4>>", "<<3x4>>"], ["<<3x4>>"],
             "%y = " + generic(["i0", "ij", "ij"], [PAR, PAR],
                               [("%x0", "<<3x=1>>"), ("%x1", "<<3x4>>")],
                               [("%x2", "<<3x4>>")], """
  ^bb0(%a: <<T>>, %b: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %b : <<T>>
    linalg.yield %0 : <<T>>""", "<<3x4>>") + "\nreturn %y : <<3x4>>",
             lambda a, b, o: a * b + 0 * o),
    Function("two_results", ["<<3x4>>", "<<4>>", "<<3x4>>", "<<4x3>>"],
             ["<<3x4>>", "<<4x3>>"], "%y:2 = " + generic(
                 ["ij", "j", "ij", "ji"], [PAR, PAR],
                 [("%x0", "<<3x4>>"), ("%x1", "<<4>>")],
                 [("%x2", "<<3x4>>"), ("%x3", "<<4x3>>")], """
  ^bb0(%a: <<T>>, %b: <<T>>, %o: <<T>>, %p: <<T>>):
    %0 = arith.mulf %a, %b : <<T>>
    %1 = arith.addf %0, %p : <<T>>
    linalg.yield %0, %1 : <<T>>, <<T>>""", "(<<3x4>>, <<4x3>>)") +
             "\nreturn %y#0, %y#1 : <<3x4>>, <<4x3>>",
             lambda a, b, o, p: (a * b + 0 * o, (a * b).T + p)),
    Function("positions", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"],
             "%y = " + generic(["ij", "ij"], [PAR, PAR],
                               [("%x0", "<<3x4>>")], [("%x1", "<<3x4>>")], """
  ^bb0(%a: <<T>>, %out: <<T>>):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.addi %i, %j : index
    %l = arith.index_cast %k : index to i32
    %w = arith.sitofp %l : i32 to <<T>>
    %0 = arith.mulf %a, %w : <<T>>
    %1 = arith.mulf %0, %a : <<T>>
    linalg.yield %1 : <<T>>""", "<<3x4>>") + "\nreturn %y : <<3x4>>",
             lambda a, o: a * a * np.add.outer(range(3), range(4)) + 0 * o),
    Function("positive_part", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"],
             "%y = " + generic(["ij", "ij"], [PAR, PAR],
                               [("%x0", "<<3x4>>")], [("%x1", "<<3x4>>")], """
  ^bb0(%a: <<T>>, %out: <<T>>):
    %zero = arith.constant 0.0 : <<T>>
    %c = arith.cmpf ogt, %a, %zero : <<T>>
    %s = arith.mulf %a, %a : <<T>>
    %0 = arith.select %c, %s, %zero : <<T>>
    linalg.yield %0 : <<T>>""", "<<3x4>>") + "\nreturn %y : <<3x4>>",
             lambda a, o: np.where(np.real(a) > 0, a * a, 0) + 0 * o,
             exact=False),
    # Reductions.
    Function("row_sums", ["<<3x4>>", "<<3>>"], ["<<3>>"], "%y = " + generic(
        ["ij", "i"], [PAR, RED], [("%x0", "<<3x4>>")], [("%x1", "<<3>>")], """
  ^bb0(%a: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %a : <<T>>
    %1 = arith.addf %0, %out : <<T>>
    linalg.yield %1 : <<T>>""", "<<3>>") + "\nreturn %y : <<3>>",
             lambda a, c: c + (a * a).sum(1)),
    Function("weighted_columns", ["<<3x4>>", "<<3>>", "<<4>>"], ["<<4>>"],
             "%y = " + generic(["ij", "i", "j"], [RED, PAR],
                               [("%x0", "<<3x4>>"), ("%x1", "<<3>>")],
                               [("%x2", "<<4>>")], """
  ^bb0(%a: <<T>>, %w: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %w : <<T>>
    %1 = arith.subf %out, %0 : <<T>>
    linalg.yield %1 : <<T>>""", "<<4>>") + "\nreturn %y : <<4>>",
             lambda a, w, c: c - w @ a),
    Function("two_sums", ["<<3x4>>", "<<3>>", "<<>>"], ["<<3>>", "<<>>"],
             "%y:2 = " + generic(["ij", "i", ""], [RED, RED],
                                 [("%x0", "<<3x4>>")],
                                 [("%x1", "<<3>>"), ("%x2", "<<>>")], """
  ^bb0(%a: <<T>>, %o: <<T>>, %p: <<T>>):
    %0 = arith.addf %o, %a : <<T>>
    %1 = arith.mulf %a, %a : <<T>>
    %2 = arith.addf %p, %1 : <<T>>
    linalg.yield %0, %2 : <<T>>, <<T>>""", "(<<3>>, <<>>)").replace(
        '["reduction", "reduction"]', '["parallel", "reduction"]') +
             "\nreturn %y#0, %y#1 : <<3>>, <<>>",
             lambda a, c, d: (c + a.sum(1), d + (a * a).sum())),
    Function("sum_of_all", ["<<3x4>>", "<<>>"], ["<<>>"], "%y = " + generic(
        ["ij", ""], [RED, RED], [("%x0", "<<3x4>>")], [("%x1", "<<>>")], """
  ^bb0(%a: <<T>>, %out: <<T>>):
    %1 = arith.addf %out, %a : <<T>>
    linalg.yield %1 : <<T>>""", "<<>>") + "\nreturn %y : <<>>",
             lambda a, c: c + a.sum(), second=True),
    Function("row_products", ["<<3x4>>", "<<3>>"], ["<<3>>"], "%y = " + generic(
        ["ij", "i"], [PAR, RED], [("%x0", "<<3x4>>")], [("%x1", "<<3>>")], """
  ^bb0(%a: <<T>>, %out: <<T>>):
    %1 = arith.mulf %out, %a : <<T>>
    linalg.yield %1 : <<T>>""", "<<3>>") + "\nreturn %y : <<3>>",
             lambda a, c: c * a.prod(1)),
    Function("row_maxima", ["<<3x4>>", "<<3>>"], ["<<3>>"], "%y = " + generic(
        ["ij", "i"], [PAR, RED], [("%x0", "<<3x4>>")], [("%x1", "<<3>>")], """
  ^bb0(%a: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %a : <<T>>
    %1 = arith.maximumf %0, %out : <<T>>
    linalg.yield %1 : <<T>>""", "<<3>>") + "\nreturn %y : <<3>>",
             lambda a, c: _maximum(a * a, c), exact=False),
    Function("column_minima", ["<<3x4>>", "<<4>>"], ["<<4>>"],
             "%y = " + generic(["ij", "j"], [RED, PAR],
                               [("%x0", "<<3x4>>")], [("%x1", "<<4>>")], """
  ^bb0(%a: <<T>>, %out: <<T>>):
    %1 = arith.minimumf %out, %a : <<T>>
    linalg.yield %1 : <<T>>""", "<<4>>") + "\nreturn %y : <<4>>",
             lambda a, c: -_maximum(-a.T, -c), exact=False),
    Function("exponentials", ["<<3x4>>", "<<3>>", "<<3>>"], ["<<3>>"],
             "%y = " + generic(["ij", "i", "i"], [PAR, RED],
                               [("%x0", "<<3x4>>"), ("%x1", "<<3>>")],
                               [("%x2", "<<3>>")], """
  ^bb0(%a: <<T>>, %b: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %b : <<T>>
    %1 = math.exp %0 : <<T>>
    %2 = arith.addf %out, %1 : <<T>>
    linalg.yield %2 : <<T>>""", "<<3>>") + "\nreturn %y : <<3>>",
             lambda a, b, c: c + np.exp(a * b[:, None]).sum(1), exact=False),
    # Named ops.
    Function("named_elementwise", ["<<3x4>>", "<<3x4>>", "<<3x4>>"],
             ["<<3x4>>"], """
  %0 = linalg.mul ins(%x0, %x1 : <<3x4>>, <<3x4>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  %1 = linalg.sub ins(%0, %x0 : <<3x4>>, <<3x4>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  %2 = linalg.add ins(%1, %1 : <<3x4>>, <<3x4>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  %3 = linalg.negf ins(%2 : <<3x4>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  %4 = linalg.copy ins(%3 : <<3x4>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  return %4 : <<3x4>>""", lambda a, b, o: -2 * (a * b - a) + 0 * o),
    Function("named_functions", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"], """
  %0 = linalg.exp ins(%x0 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %1 = linalg.log ins(%0 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %2 = linalg.tanh ins(%1 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %3 = linalg.div ins(%2, %0 : <<3x4>>, <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %4 = linalg.sqrt ins(%0 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %5 = linalg.mul ins(%3, %4 : <<3x4>>, <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  return %5 : <<3x4>>""",
             lambda a, o: np.tanh(a) / np.exp(a) * np.exp(a / 2) + 0 * o,
             exact=False),
    Function("named_moves", ["<<3x4>>", "<<4x3>>", "<<2x4x3>>", "<<2x4x3>>"],
             ["<<2x4x3>>"], """
  %0 = linalg.transpose ins(%x0 : <<3x4>>) outs(%x1 : <<4x3>>) permutation = [1, 0]
  %1 = linalg.broadcast ins(%0 : <<4x3>>) outs(%x2 : <<2x4x3>>) dimensions = [0]
  %2 = linalg.mul ins(%1, %x3 : <<2x4x3>>, <<2x4x3>>) outs(%x2 : <<2x4x3>>) -> <<2x4x3>>
  return %2 : <<2x4x3>>""",
             lambda a, o, p, b: a.T[None] * b + 0 * p),
    Function("named_reduce", ["<<3x4>>", "<<3>>"], ["<<3>>"], """
  %0 = linalg.reduce {arith.addf} ins(%x0 : <<3x4>>) outs(%x1 : <<3>>) dimensions = [1]
  return %0 : <<3>>""", lambda a, c: c + a.sum(1)),
    Function("named_map", ["<<3x4>>", "<<3x4>>", "<<3x4>>"], ["<<3x4>>"], """
  %0 = linalg.map {arith.mulf} ins(%x0, %x1 : <<3x4>>, <<3x4>>) outs(%x2 : <<3x4>>)
  return %0 : <<3x4>>""", lambda a, b, o: a * b + 0 * o),
    Function("fill", ["<<T>>", "<<3x4>>", "<<3x4>>"], ["<<3x4>>"], """
  %0 = linalg.fill ins(%x0 : <<T>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %1 = arith.mulf %0, %x2 : <<3x4>>
  return %1 : <<3x4>>""", lambda s, o, b: s * b + 0 * o),
    # A convolution has a tangent; its transpose would scatter.
    Function("convolution", ["<<6>>", "<<3>>", "<<4>>"], ["<<4>>"], """
  %y = linalg.conv_1d ins(%x0, %x1 : <<6>>, <<3>>) outs(%x2 : <<4>>) -> <<4>>
  return %y : <<4>>""", lambda a, w, c: c + np.stack(
        [(a[i:i + 3] * w).sum() for i in range(4)]), reverse=False),
    Function("convolution_weights", ["<<6>>", "<<3>>", "<<4>>"], ["<<4>>"], """
  %y = linalg.conv_1d ins(%x0, %x1 : <<6>>, <<3>>) outs(%x2 : <<4>>) -> <<4>>
  return %y : <<4>>""", lambda a, w, c: c + np.stack(
        [(a[i:i + 3] * w).sum() for i in range(4)]), wrt=(1, 2)),
    # Elementwise ops on tensors, without linalg.
    Function("elementwise", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"], """
  %0 = arith.mulf %x0, %x1 : <<3x4>>
  %1 = arith.addf %0, %x0 : <<3x4>>
  %2 = arith.mulf %1, %1 : <<3x4>>
  return %2 : <<3x4>>""", lambda a, b: (a * b + a)**2),
    Function("two_layers", ["<<3x4>>", "<<4x5>>", "<<5x2>>", "<<3x5>>",
                            "<<3x2>>"], ["<<3x2>>"], """
  %0 = linalg.matmul ins(%x0, %x1 : <<3x4>>, <<4x5>>) outs(%x3 : <<3x5>>) -> <<3x5>>
  %1 = math.tanh %0 : <<3x5>>
  %2 = linalg.matmul ins(%1, %x2 : <<3x5>>, <<5x2>>) outs(%x4 : <<3x2>>) -> <<3x2>>
  return %2 : <<3x2>>""", lambda x, v, w, o, p: p + np.tanh(o + x @ v) @ w,
             exact=False),
]


def _maximum(values, start):
    """The larger of `start` and the largest of each row, on complex arrays."""
    best = np.argmax(values.real, axis=1)
    largest = np.take_along_axis(values, best[:, None], 1)[:, 0]
    return np.where(np.real(start) > np.real(largest), start, largest)


function_tests.run(FUNCTIONS, seed=3)
