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


def two_sums(first):
    """The sums of rows, from `first` on, and that of all squares."""
    return "%y:2 = " + generic(["ij", "i", ""], [PAR, RED],
                               [("%x0", "<<3x4>>")],
                               [(first, "<<3>>"), ("%x2", "<<>>")], """
  ^bb0(%a: <<T>>, %o: <<T>>, %p: <<T>>):
    %0 = arith.addf %o, %a : <<T>>
    %1 = arith.mulf %a, %a : <<T>>
    %2 = arith.addf %p, %1 : <<T>>
    linalg.yield %0, %2 : <<T>>, <<T>>""", "(<<3>>, <<>>)") + (
        "\nreturn %y#0, %y#1 : <<3>>, <<>>")


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
    # Over static extents of 0, in the loop over rows of what is not empty.
    Function("empty_products", ["<<=0x4>>", "<<4x=0>>", "<<4>>", "<<=0>>"],
             ["<<4>>", "<<4>>", "<<=0>>"], """
  %p = linalg.reduce {arith.mulf} ins(%x0 : <<=0x4>>) outs(%x2 : <<4>>) dimensions = [0]
  %q = linalg.reduce {arith.mulf} ins(%x1 : <<4x=0>>) outs(%p : <<4>>) dimensions = [1]
  %r = linalg.reduce {arith.mulf} ins(%x0 : <<=0x4>>) outs(%x3 : <<=0>>) dimensions = [1]
  %s = arith.mulf %q, %p : <<4>>
  return %q, %s, %r : <<4>>, <<4>>, <<=0>>""",
             lambda x, y, p, r: (p + 0, p * p, r + 0)),
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
    # The first of which has no cotangent.
    Function("second_of_two_results", ["<<3x4>>", "<<4>>", "<<3x4>>", "<<4x3>>"],
             ["<<3x4>>", "<<4x3>>"], "%y:2 = " + generic(
                 ["ij", "j", "ij", "ji"], [PAR, PAR],
                 [("%x0", "<<3x4>>"), ("%x1", "<<4>>")],
                 [("%x2", "<<3x4>>"), ("%x3", "<<4x3>>")], """
  ^bb0(%a: <<T>>, %b: <<T>>, %o: <<T>>, %p: <<T>>):
    %0 = arith.mulf %a, %b : <<T>>
    %1 = arith.addf %0, %p : <<T>>
    linalg.yield %0, %1 : <<T>>, <<T>>""", "(<<3x4>>, <<4x3>>)") + """
  %s = sparse_autograd.stop_gradient %y#0 : <<3x4>>
  return %s, %y#1 : <<3x4>>, <<4x3>>""",
             lambda a, b, o, p: (np.real(a * b) + 0 * o, (a * b).T + p)),
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
             two_sums("%x1"),
             lambda a, c, d: (c + a.sum(1), d + (a * a).sum())),
    # The first of which starts from what has no derivative.
    Function("second_of_two_sums", ["<<3x4>>", "<<3>>", "<<>>"],
             ["<<3>>", "<<>>"],
             "%c = sparse_autograd.stop_gradient %x1 : <<3>>\n" +
             two_sums("%c"),
             lambda a, c, d: (np.real(c) + a.sum(1), d + (a * a).sum())),
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
    # Ops that stand for several others.
    Function("softmax", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"], """
  %0 = linalg.softmax dimension(1) ins(%x0 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  return %0 : <<3x4>>""",
             lambda a, o: np.exp(a) / np.exp(a).sum(1, keepdims=True) + 0 * o,
             exact=False),
    Function("softmax_of_columns", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"], """
  %0 = linalg.softmax dimension(0) ins(%x0 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  return %0 : <<3x4>>""",
             lambda a, o: np.exp(a) / np.exp(a).sum(0, keepdims=True) + 0 * o,
             exact=False),
    Function("pack", ["<<5x7>>", "<<2x2x=3x=4>>", "<<T>>"], ["<<2x2x=3x=4>>"],
             """
  %s = arith.mulf %x0, %x0 : <<5x7>>
  %0 = linalg.pack %s padding_value(%x2 : <<T>>) inner_dims_pos = [0, 1] inner_tiles = [3, 4] into %x1 : <<5x7>> -> <<2x2x=3x=4>>
  return %0 : <<2x2x=3x=4>>""",
             lambda a, o, p: _packed(a * a, p) + 0 * o),
    Function("pack_outer", ["<<6x8>>", "<<2x2x=4x=3>>"], ["<<2x2x=4x=3>>"],
             """
  %s = arith.mulf %x0, %x0 : <<6x8>>
  %0 = linalg.pack %s outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 3] into %x1 : <<6x8>> -> <<2x2x=4x=3>>
  return %0 : <<2x2x=4x=3>>""",
             lambda a, o: (a * a).reshape(2, 3, 2, 4).transpose(2, 0, 3, 1) +
             0 * o),
    Function("unpack", ["<<2x2x=3x=4>>", "<<5x7>>"], ["<<5x7>>"], """
  %s = arith.mulf %x0, %x0 : <<2x2x=3x=4>>
  %0 = linalg.unpack %s inner_dims_pos = [0, 1] inner_tiles = [3, 4] into %x1 : <<2x2x=3x=4>> -> <<5x7>>
  return %0 : <<5x7>>""",
             lambda a, o: (a * a).transpose(0, 2, 1, 3).reshape(6, 8)[:5, :7] +
             0 * o),
    # Contractions with maps of the user, batches, tiles, and mixed precision.
    Function("batch_matmul_transposed", ["<<2x4x3>>", "<<2x2x4>>",
                                         "<<2x3x2>>"], ["<<2x3x2>>"], """
  %y = linalg.batch_matmul indexing_maps = [affine_map<(b, i, j, k) -> (b, k, i)>, affine_map<(b, i, j, k) -> (b, j, k)>, affine_map<(b, i, j, k) -> (b, i, j)>]
      ins(%x0, %x1 : <<2x4x3>>, <<2x2x4>>) outs(%x2 : <<2x3x2>>) -> <<2x3x2>>
  return %y : <<2x3x2>>""",
             lambda a, b, c: c + np.einsum("bki,bjk->bij", a, b)),
    Function("batch_matmul_broadcast", ["<<3x4>>", "<<2x4x2>>", "<<2x3x2>>"],
             ["<<2x3x2>>"], """
  %y = linalg.batch_matmul indexing_maps = [affine_map<(b, i, j, k) -> (i, k)>, affine_map<(b, i, j, k) -> (b, k, j)>, affine_map<(b, i, j, k) -> (b, i, j)>]
      ins(%x0, %x1 : <<3x4>>, <<2x4x2>>) outs(%x2 : <<2x3x2>>) -> <<2x3x2>>
  return %y : <<2x3x2>>""", lambda a, b, c: c + a @ b,
             second=False),
    Function("batch_reduce_matmul", ["<<2x3x4>>", "<<2x4x2>>", "<<3x2>>"],
             ["<<3x2>>"], """
  %y = linalg.batch_reduce_matmul ins(%x0, %x1 : <<2x3x4>>, <<2x4x2>>) outs(%x2 : <<3x2>>) -> <<3x2>>
  return %y : <<3x2>>""", lambda a, b, c: c + (a @ b).sum(0),
             second=False),
    Function("batch_matvec", ["<<2x3x4>>", "<<2x4>>", "<<2x3>>"], ["<<2x3>>"],
             """
  %y = linalg.batch_matvec ins(%x0, %x1 : <<2x3x4>>, <<2x4>>) outs(%x2 : <<2x3>>) -> <<2x3>>
  return %y : <<2x3>>""", lambda a, b, c: c + np.einsum("bij,bj->bi", a, b),
             second=False),
    Function("batch_vecmat", ["<<2x3>>", "<<2x3x4>>", "<<2x4>>"], ["<<2x4>>"],
             """
  %y = linalg.batch_vecmat ins(%x0, %x1 : <<2x3>>, <<2x3x4>>) outs(%x2 : <<2x4>>) -> <<2x4>>
  return %y : <<2x4>>""", lambda a, b, c: c + np.einsum("bi,bij->bj", a, b),
             second=False),
    Function("contract", ["<<2x4x3>>", "<<4x2x2>>", "<<3x2>>"], ["<<3x2>>"], """
  %y = linalg.contract indexing_maps = [affine_map<(i, j, k, l) -> (l, k, i)>, affine_map<(i, j, k, l) -> (k, l, j)>, affine_map<(i, j, k, l) -> (i, j)>]
      ins(%x0, %x1 : <<2x4x3>>, <<4x2x2>>) outs(%x2 : <<3x2>>) -> <<3x2>>
  return %y : <<3x2>>""",
             lambda a, b, c: c + np.einsum("lki,klj->ij", a, b)),
    Function("mmt4d", ["<<2x2x=2x=3>>", "<<1x2x=2x=3>>", "<<2x1x=2x=2>>"],
             ["<<2x1x=2x=2>>"], """
  %y = linalg.mmt4d ins(%x0, %x1 : <<2x2x=2x=3>>, <<1x2x=2x=3>>) outs(%x2 : <<2x1x=2x=2>>) -> <<2x1x=2x=2>>
  return %y : <<2x1x=2x=2>>""",
             lambda a, b, c: c + np.einsum("ikpq,jkrq->ijpr", a, b),
             second=False),
    Function("batch_mmt4d", ["<<1x2x1x=2x=3>>", "<<1x1x1x=2x=3>>",
                             "<<1x2x1x=2x=2>>"], ["<<1x2x1x=2x=2>>"], """
  %y = linalg.batch_mmt4d ins(%x0, %x1 : <<1x2x1x=2x=3>>, <<1x1x1x=2x=3>>) outs(%x2 : <<1x2x1x=2x=2>>) -> <<1x2x1x=2x=2>>
  return %y : <<1x2x1x=2x=2>>""",
             lambda a, b, c: c + np.einsum("bikpq,bjkrq->bijpr", a, b),
             second=False),
    Function("matmul_mixed", ["<<3x4|f16>>", "<<4x2|f16>>", "<<3x2|f32>>"],
             ["<<3x2|f32>>"], """
  %y = linalg.matmul ins(%x0, %x1 : <<3x4|f16>>, <<4x2|f16>>) outs(%x2 : <<3x2|f32>>) -> <<3x2|f32>>
  return %y : <<3x2|f32>>""", lambda a, b, c: c + a @ b, integer=True),
    Function("elementwise_op", ["<<3x4>>", "<<4x3>>", "<<3x4>>"], ["<<3x4>>"],
             """
  %0 = linalg.elementwise kind=#linalg.elementwise_kind<mul> indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>]
      ins(%x0, %x1 : <<3x4>>, <<4x3>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  %1 = linalg.elementwise kind=#linalg.elementwise_kind<square> ins(%0 : <<3x4>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  return %1 : <<3x4>>""", lambda a, b, o: (a * b.T)**2 + 0 * o),
    Function("more_named", ["<<3x4>>", "<<3x4>>", "<<3x4|i1>>"], ["<<3x4>>"], """
  %0 = linalg.square ins(%x0 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %1 = linalg.reciprocal ins(%0 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %2 = linalg.rsqrt ins(%1 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %3 = linalg.erf ins(%x0 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %4 = linalg.floor ins(%3 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %5 = linalg.ceil ins(%4 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %6 = linalg.round ins(%5 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %7 = linalg.add ins(%2, %6 : <<3x4>>, <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %8 = linalg.powf ins(%7, %7 : <<3x4>>, <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %9 = linalg.select ins(%x2, %8, %x0 : <<3x4|i1>>, <<3x4>>, <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  return %9 : <<3x4>>""",
             lambda a, o, m: np.where(m, a**a, a) + 0 * o, exact=False,
             inputs=lambda rng, shapes: [
                 rng.uniform(0.5, 1.5, size=shapes[0]), np.zeros(shapes[1]),
                 rng.integers(0, 2, size=shapes[2]).astype(bool)],
             second=False),
    Function("more_extrema", ["<<3x4>>", "<<3x4>>", "<<3x4>>"], ["<<3x4>>"], """
  %0 = linalg.max ins(%x0, %x1 : <<3x4>>, <<3x4>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  %1 = linalg.abs ins(%0 : <<3x4>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  %2 = linalg.min ins(%1, %x0 : <<3x4>>, <<3x4>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  return %2 : <<3x4>>""", lambda a, b, o: _smaller(_absolute(
                 -_smaller(-a, -b)), a) + 0 * o, exact=False,
             second=False),
    Function("row_numbers", ["<<3x4>>", "<<3>>"], ["<<3>>"], "%y = " + generic(
        ["ij", "i"], [PAR, RED], [("%x0", "<<3x4>>")], [("%x1", "<<3>>")], """
  ^bb0(%a: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %a : <<T>>
    %1 = arith.maxnumf %0, %out : <<T>>
    linalg.yield %1 : <<T>>""", "<<3>>") + "\nreturn %y : <<3>>",
             lambda a, c: _maximum(a * a, c), exact=False),
    Function("column_numbers", ["<<3x4>>", "<<4>>"], ["<<4>>"],
             "%y = " + generic(["ij", "j"], [RED, PAR],
                               [("%x0", "<<3x4>>")], [("%x1", "<<4>>")], """
  ^bb0(%a: <<T>>, %out: <<T>>):
    %1 = arith.minnumf %out, %a : <<T>>
    linalg.yield %1 : <<T>>""", "<<4>>") + "\nreturn %y : <<4>>",
             lambda a, c: -_maximum(-a.T, -c), exact=False),
    # The extent of a loop that one operand does not have is that of the other.
    Function("sum_of_sums", ["<<3>>", "<<4>>", "<<3>>"], ["<<3>>"],
             "%y = " + generic(["i", "j", "i"], [PAR, RED],
                               [("%x0", "<<3>>"), ("%x1", "<<4>>")],
                               [("%x2", "<<3>>")], """
  ^bb0(%a: <<T>>, %b: <<T>>, %out: <<T>>):
    %0 = arith.addf %a, %b : <<T>>
    %1 = arith.addf %out, %0 : <<T>>
    linalg.yield %1 : <<T>>""", "<<3>>") + "\nreturn %y : <<3>>",
             lambda a, b, c: c + 4 * a + b.sum()),
    # Sums of more terms than f16 and bf16 can count are summed in f32 (G11).
    Function("long_sums", ["<<3072x2>>", "<<2>>", "<<3072x2>>"], ["<<>>"],
             "%y = " + generic(["ij", "j", "ij"], [PAR, PAR],
                               [("%x0", "<<3072x2>>"), ("%x1", "<<2>>")],
                               [("%x2", "<<3072x2>>")], """
  ^bb0(%a: <<T>>, %b: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %b : <<T>>
    linalg.yield %0 : <<T>>""", "<<3072x2>>") + """
  %s = sparse_autograd.masked_reduce sum %y dims = [0, 1] : <<3072x2>> -> <<>>
  return %s : <<>>""", lambda a, b, o: (a * b).sum(),
             wrt=(1,), inputs=lambda rng, shapes: [
                 np.ones(shapes[0]), np.array([1.0, 2.0]), np.zeros(shapes[2])],
             second=False, forward=False),
    # Windows of any other form: a trace, and every second element.
    Function("trace", ["<<3x3>>", "<<>>"], ["<<>>"], """
  %s = arith.mulf %x0, %x0 : <<3x3>>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%s : <<3x3>>) outs(%x1 : <<>>) {
  ^bb0(%a: <<T>>, %out: <<T>>):
    %0 = arith.addf %a, %out : <<T>>
    linalg.yield %0 : <<T>>
  } -> <<>>
  return %y : <<>>""", lambda a, c: c + np.trace(a * a)),
    Function("every_second", ["<<7x2>>", "<<3>>"], ["<<3>>"], """
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i * 2 + 1, 0)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x0 : <<7x2>>) outs(%x1 : <<3>>) {
  ^bb0(%a: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %a : <<T>>
    linalg.yield %0 : <<T>>
  } -> <<3>>
  return %y : <<3>>""", lambda a, o: a[1:7:2, 0]**2 + 0 * o),
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


def _packed(a, padding):
    whole = np.full((6, 8), padding, complex)
    whole[:5, :7] = a
    return whole.reshape(2, 3, 2, 4).transpose(0, 2, 1, 3)


def _smaller(a, b):
    return np.where(np.real(a) < np.real(b), a, b)


def _absolute(a):
    return np.where(np.real(a) < 0, -a, a)


def _maximum(values, start):
    """The larger of `start` and the largest of each row, on complex arrays."""
    best = np.argmax(values.real, axis=1)
    largest = np.take_along_axis(values, best[:, None], 1)[:, 0]
    return np.where(np.real(start) > np.real(largest), start, largest)


function_tests.run(FUNCTIONS, seed=3)
