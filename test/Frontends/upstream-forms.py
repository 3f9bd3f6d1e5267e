# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""The forms that MLIR's own tests of linalg and tensor exercise: maps of every
kind, rank 0, unit extents, the rarer named ops, slices that drop dimensions."""

from dataclasses import replace

import numpy as np
from scipy import special

import function_tests
from functions import Function


def generic(maps, iterators, ins, outs, region, results, attributes=""):
    """A linalg.generic; `ins` and `outs` are (value, type)s, and a map is such
    as "i,j -> i+j,0"."""
    def parse(text):
        dims, _, of = text.partition("->")
        return f"affine_map<({dims.strip()}) -> ({of.strip()})>"

    def operands(keyword, pairs):
        return (f"{keyword}({', '.join(v for v, _ in pairs)} : "
                f"{', '.join(t for _, t in pairs)})") if pairs else ""

    names = {"p": '"parallel"', "r": '"reduction"'}
    return (f"linalg.generic {{{attributes}indexing_maps = "
            f"[{', '.join(map(parse, maps))}], iterator_types = "
            f"[{', '.join(names[i] for i in iterators)}]}} "
            f"{operands('ins', ins)} {operands('outs', outs)} {{\n{region}\n}}"
            f" -> {results}")


SQUARE = """
  ^bb0(%a: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %a : <<T>>
    linalg.yield %0 : <<T>>"""
PRODUCT = """
  ^bb0(%a: <<T>>, %b: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %b : <<T>>
    linalg.yield %0 : <<T>>"""
ADDED_PRODUCT = """
  ^bb0(%a: <<T>>, %b: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %b : <<T>>
    %1 = arith.addf %out, %0 : <<T>>
    linalg.yield %1 : <<T>>"""
ADDED = """
  ^bb0(%a: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %a : <<T>>
    %1 = arith.addf %out, %0 : <<T>>
    linalg.yield %1 : <<T>>"""


def elementwise(kind, *operands, maps=""):
    return (f"linalg.elementwise kind=#linalg.elementwise_kind<{kind}> {maps} "
            f"ins({', '.join(operands)} : {', '.join(['<<3x4>>'] * len(operands))})"
            f" outs(%o : <<3x4>>) -> <<3x4>>")


FUNCTIONS = [
    # Maps.
    Function("rank_0", ["<<>>", "<<>>"], ["<<>>"], "%y = " + generic(
        ["->", "->", "->"], "", [("%x0", "<<>>"), ("%x1", "<<>>")],
        [("%x0", "<<>>")], PRODUCT, "<<>>") + "\nreturn %y : <<>>",
             lambda a, b: a * b),
    Function("unit_loops", ["<<=1x3x=1>>", "<<3x=1>>"], ["<<3x=1>>"], "%y = " +
             generic(["i,j,k -> i,j,k", "i,j,k -> j,i"], "ppr",
                     [("%x0", "<<=1x3x=1>>")], [("%x1", "<<3x=1>>")], ADDED,
                     "<<3x=1>>") + "\nreturn %y : <<3x=1>>",
             lambda a, o: o + (a * a)[0]),
    Function("kept_dimension", ["<<3x4>>", "<<3x=1>>"], ["<<3x=1>>"], "%y = " +
             generic(["i,j -> i,j", "i,j -> i,0"], "pr", [("%x0", "<<3x4>>")],
                     [("%x1", "<<3x=1>>")], ADDED, "<<3x=1>>") +
             "\nreturn %y : <<3x=1>>",
             lambda a, o: o + (a * a).sum(1, keepdims=True)),
    Function("reduction_first", ["<<4x3>>", "<<4>>", "<<3>>"], ["<<3>>"],
             "%y = " + generic(["j,i -> j,i", "j,i -> j", "j,i -> i"], "rp",
                               [("%x0", "<<4x3>>"), ("%x1", "<<4>>")],
                               [("%x2", "<<3>>")], ADDED_PRODUCT, "<<3>>") +
             "\nreturn %y : <<3>>", lambda a, w, o: o + w @ a),
    Function("outer_product", ["<<3>>", "<<4>>", "<<3x4>>"], ["<<3x4>>"],
             "%y = " + generic(["i,j -> i", "i,j -> j", "i,j -> i,j"], "pp",
                               [("%x0", "<<3>>"), ("%x1", "<<4>>")],
                               [("%x2", "<<3x4>>")], PRODUCT, "<<3x4>>") +
             "\nreturn %y : <<3x4>>",
             lambda a, b, o: np.outer(a, b) + 0 * o),
    Function("permuted_3d", ["<<2x3x4>>", "<<4x2x3>>"], ["<<4x2x3>>"],
             "%y = " + generic(["i,j,k -> j,k,i", "i,j,k -> i,j,k"], "ppp",
                               [("%x0", "<<2x3x4>>")], [("%x1", "<<4x2x3>>")],
                               SQUARE, "<<4x2x3>>") +
             "\nreturn %y : <<4x2x3>>",
             lambda a, o: (a * a).transpose(2, 0, 1) + 0 * o),
    Function("permuted_output", ["<<2x3x4>>", "<<4x2x3>>"], ["<<4x2x3>>"],
             "%y = " + generic(["i,j,k -> i,j,k", "i,j,k -> k,i,j"], "ppp",
                               [("%x0", "<<2x3x4>>")], [("%x1", "<<4x2x3>>")],
                               SQUARE, "<<4x2x3>>") +
             "\nreturn %y : <<4x2x3>>",
             lambda a, o: (a * a).transpose(2, 0, 1) + 0 * o),
    Function("tensor_of_four", ["<<2x3x2x2>>", "<<2x2x3>>", "<<3x2>>"],
             ["<<3x2>>"], "%y = " + generic(
                 ["a,b,c,d -> a,b,c,d", "a,b,c,d -> a,d,b", "a,b,c,d -> b,c"],
                 "rppr", [("%x0", "<<2x3x2x2>>"), ("%x1", "<<2x2x3>>")],
                 [("%x2", "<<3x2>>")], ADDED_PRODUCT, "<<3x2>>") +
             "\nreturn %y : <<3x2>>",
             lambda a, b, o: o + np.einsum("abcd,adb->bc", a, b)),
    Function("attributes", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"], "%y = " +
             generic(["i,j -> i,j", "i,j -> i,j"], "pp", [("%x0", "<<3x4>>")],
                     [("%x1", "<<3x4>>")], SQUARE, "<<3x4>>",
                     'doc = "squares", library_call = "squares", ') +
             "\nreturn %y : <<3x4>>", lambda a, o: a * a + 0 * o),
    Function("unused_input", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"], "%y = " +
             generic(["i,j -> i,j", "i,j -> i,j", "i,j -> i,j"], "pp",
                     [("%x0", "<<3x4>>"), ("%x1", "<<3x4>>")],
                     [("%x1", "<<3x4>>")], """
  ^bb0(%a: <<T>>, %b: <<T>>, %out: <<T>>):
    %0 = arith.mulf %a, %a : <<T>>
    linalg.yield %0 : <<T>>""", "<<3x4>>") + "\nreturn %y : <<3x4>>",
             lambda a, o: a * a + 0 * o),
    Function("index_and_value", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"], """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = tensor.dim %x0, %c0 : <<3x4>>
  %d1 = tensor.dim %x0, %c1 : <<3x4>>
  %e = tensor.empty(%d0, %d1) : tensor<?x?xi32>
  %c = tensor.cast %e : tensor<?x?xi32> to <<3x4|i32>>
  %y:2 = """ + generic(["i,j -> i,j", "i,j -> i,j", "i,j -> i,j"], "pp",
                       [("%x0", "<<3x4>>")],
                       [("%x1", "<<3x4>>"), ("%c", "<<3x4|i32>>")], """
  ^bb0(%a: <<T>>, %o: <<T>>, %p: i32):
    %i = linalg.index 1 : index
    %k = arith.index_cast %i : index to i32
    %0 = arith.mulf %a, %a : <<T>>
    linalg.yield %0, %k : <<T>>, i32""", "(<<3x4>>, <<3x4|i32>>)") + """
  %z = arith.sitofp %y#1 : <<3x4|i32>> to <<3x4>>
  %r = arith.mulf %z, %y#0 : <<3x4>>
  return %r : <<3x4>>""", lambda a, o: a * a * np.arange(4) + 0 * o),
    Function("three_results", ["<<3x4>>", "<<3x4>>", "<<4x3>>"],
             ["<<3x4>>", "<<4x3>>", "<<3x4>>"], "%y:3 = " + generic(
                 ["i,j -> i,j", "i,j -> i,j", "i,j -> j,i", "i,j -> i,j"],
                 "pp", [("%x0", "<<3x4>>")],
                 [("%x1", "<<3x4>>"), ("%x2", "<<4x3>>"), ("%x1", "<<3x4>>")],
                 """
  ^bb0(%a: <<T>>, %o: <<T>>, %p: <<T>>, %q: <<T>>):
    %0 = arith.mulf %a, %o : <<T>>
    %1 = arith.addf %0, %p : <<T>>
    %2 = arith.subf %q, %1 : <<T>>
    linalg.yield %0, %1, %2 : <<T>>, <<T>>, <<T>>""",
                 "(<<3x4>>, <<4x3>>, <<3x4>>)") +
             "\nreturn %y#0, %y#1, %y#2 : <<3x4>>, <<4x3>>, <<3x4>>",
             lambda a, o, p: (a * o, (a * o).T + p, o - a * o - p.T)),
    # Named contractions.
    Function("contract", ["<<3x4>>", "<<2x4>>", "<<2x3>>"], ["<<2x3>>"], """
  %y = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (j, i)>]
      ins(%x0, %x1 : <<3x4>>, <<2x4>>) outs(%x2 : <<2x3>>) -> <<2x3>>
  return %y : <<2x3>>""", lambda a, b, o: o + b @ a.T),
    Function("contract_batches", ["<<2x3x4>>", "<<2x4>>", "<<3x2>>"],
             ["<<3x2>>"], """
  %y = linalg.contract indexing_maps = [affine_map<(b, i, k) -> (b, i, k)>, affine_map<(b, i, k) -> (b, k)>, affine_map<(b, i, k) -> (i, b)>]
      ins(%x0, %x1 : <<2x3x4>>, <<2x4>>) outs(%x2 : <<3x2>>) -> <<3x2>>
  return %y : <<3x2>>""",
             lambda a, b, o: o + np.einsum("bik,bk->ib", a, b)),
    Function("batch_matvec", ["<<2x3x4>>", "<<2x4>>", "<<2x3>>"], ["<<2x3>>"],
             """
  %y = linalg.batch_matvec ins(%x0, %x1 : <<2x3x4>>, <<2x4>>) outs(%x2 : <<2x3>>) -> <<2x3>>
  return %y : <<2x3>>""", lambda a, b, o: o + np.einsum("bik,bk->bi", a, b)),
    Function("batch_vecmat", ["<<2x3>>", "<<2x3x4>>", "<<2x4>>"], ["<<2x4>>"],
             """
  %y = linalg.batch_vecmat ins(%x0, %x1 : <<2x3>>, <<2x3x4>>) outs(%x2 : <<2x4>>) -> <<2x4>>
  return %y : <<2x4>>""", lambda a, b, o: o + np.einsum("bk,bkj->bj", a, b)),
    Function("batch_reduce_matmul", ["<<2x3x4>>", "<<2x4x2>>", "<<3x2>>"],
             ["<<3x2>>"], """
  %y = linalg.batch_reduce_matmul ins(%x0, %x1 : <<2x3x4>>, <<2x4x2>>) outs(%x2 : <<3x2>>) -> <<3x2>>
  return %y : <<3x2>>""",
             lambda a, b, o: o + np.einsum("bik,bkj->ij", a, b)),
    Function("batch_matmul_maps", ["<<2x4x3>>", "<<2x4x2>>", "<<2x3x2>>"],
             ["<<2x3x2>>"], """
  %y = linalg.batch_matmul indexing_maps = [affine_map<(b, i, j, k) -> (b, k, i)>, affine_map<(b, i, j, k) -> (b, k, j)>, affine_map<(b, i, j, k) -> (b, i, j)>]
      ins(%x0, %x1 : <<2x4x3>>, <<2x4x2>>) outs(%x2 : <<2x3x2>>) -> <<2x3x2>>
  return %y : <<2x3x2>>""",
             lambda a, b, o: o + np.einsum("bki,bkj->bij", a, b)),
    Function("mmt4d", ["<<2x2x2x3>>", "<<1x2x2x3>>", "<<2x1x2x2>>"],
             ["<<2x1x2x2>>"], """
  %y = linalg.mmt4d ins(%x0, %x1 : <<2x2x2x3>>, <<1x2x2x3>>) outs(%x2 : <<2x1x2x2>>) -> <<2x1x2x2>>
  return %y : <<2x1x2x2>>""",
             lambda a, b, o: o + np.einsum("ikmr,jknr->ijmn", a, b)),
    # Named elementwise ops.
    Function("elementwise_kinds", ["<<3x4>>", "<<3x4>>", "<<3x4>>"],
             ["<<3x4>>"], f"""
  %o = arith.addf %x2, %x2 : <<3x4>>
  %0 = {elementwise("mul", "%x0", "%x1")}
  %1 = {elementwise("sub", "%0", "%x0")}
  %2 = {elementwise("square", "%1")}
  %3 = {elementwise("negf", "%2")}
  %4 = {elementwise("add", "%3", "%x1")}
  return %4 : <<3x4>>""", lambda a, b, o: b - (a * b - a)**2 + 0 * o),
    Function("elementwise_functions", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"], f"""
  %o = arith.addf %x1, %x1 : <<3x4>>
  %0 = {elementwise("exp", "%x0")}
  %1 = {elementwise("reciprocal", "%0")}
  %2 = {elementwise("tanh", "%1")}
  %3 = {elementwise("sqrt", "%0")}
  %4 = {elementwise("rsqrt", "%0")}
  %5 = {elementwise("div", "%2", "%3")}
  %6 = {elementwise("powf", "%0", "%4")}
  %7 = {elementwise("log", "%6")}
  %8 = {elementwise("mul", "%5", "%7")}
  return %8 : <<3x4>>""", lambda a, o: np.tanh(np.exp(-a)) / np.exp(a / 2) *
             a * np.exp(-a / 2) + 0 * o, exact=False),
    Function("elementwise_map", ["<<4x3>>", "<<4>>", "<<3x4>>"], ["<<3x4>>"],
             """
  %y = linalg.elementwise kind=#linalg.elementwise_kind<mul> indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>]
      ins(%x0, %x1 : <<4x3>>, <<4>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  return %y : <<3x4>>""", lambda a, b, o: a.T * b + 0 * o),
    Function("elementwise_select", ["<<3x4>>", "<<3x4>>", "<<3x4|i1>>",
                                    "<<3x4>>"], ["<<3x4>>"], """
  %p = arith.mulf %x0, %x1 : <<3x4>>
  %y = linalg.select ins(%x2, %p, %x0 : <<3x4|i1>>, <<3x4>>, <<3x4>>) outs(%x3 : <<3x4>>) -> <<3x4>>
  return %y : <<3x4>>""", lambda a, b, m, o: np.where(m, a * b, a) + 0 * o,
             fixed={2: np.arange(12).reshape(3, 4) % 3 == 0}),
    Function("named_unary", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"], """
  %0 = linalg.square ins(%x0 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %1 = linalg.exp ins(%0 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %2 = linalg.rsqrt ins(%1 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %3 = linalg.reciprocal ins(%1 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %4 = linalg.abs ins(%x0 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %5 = linalg.floor ins(%x0 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %6 = linalg.mul ins(%2, %3 : <<3x4>>, <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %7 = linalg.mul ins(%6, %4 : <<3x4>>, <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %8 = linalg.add ins(%7, %5 : <<3x4>>, <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  return %8 : <<3x4>>""", lambda a, o: np.exp(-1.5 * a * a) * a * np.sign(
        np.real(a)) + np.floor(np.real(a)) + 0 * o, exact=False),
    Function("named_extrema", ["<<3x4>>", "<<3x4>>", "<<3x4>>"], ["<<3x4>>"],
             """
  %0 = linalg.max ins(%x0, %x1 : <<3x4>>, <<3x4>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  %1 = linalg.min ins(%x0, %x1 : <<3x4>>, <<3x4>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  %2 = linalg.mul ins(%0, %0 : <<3x4>>, <<3x4>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  %3 = linalg.sub ins(%2, %1 : <<3x4>>, <<3x4>>) outs(%x2 : <<3x4>>) -> <<3x4>>
  return %3 : <<3x4>>""", lambda a, b, o: np.where(
        np.real(a) > np.real(b), a * a - b, b * b - a) + 0 * o, exact=False),
    Function("named_erf", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"], """
  %0 = linalg.erf ins(%x0 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  %1 = linalg.mul ins(%0, %x0 : <<3x4>>, <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  return %1 : <<3x4>>""", lambda a, o: special.erf(a) * a + 0 * o,
             exact=False),
    Function("reduce_two_dimensions", ["<<2x3x4>>", "<<3>>"], ["<<3>>"], """
  %y = linalg.reduce {arith.addf} ins(%x0 : <<2x3x4>>) outs(%x1 : <<3>>) dimensions = [0, 2]
  %z = arith.mulf %y, %y : <<3>>
  return %z : <<3>>""", lambda a, o: (o + a.sum((0, 2)))**2),
    Function("reduce_pairs", ["<<3x4>>", "<<3x4>>", "<<3>>", "<<3>>"],
             ["<<3>>", "<<3>>"], """
  %y:2 = linalg.reduce ins(%x0, %x1 : <<3x4>>, <<3x4>>) outs(%x2, %x3 : <<3>>, <<3>>) dimensions = [1]
    (%a: <<T>>, %b: <<T>>, %s: <<T>>, %t: <<T>>) {
      %0 = arith.mulf %a, %b : <<T>>
      %1 = arith.addf %s, %0 : <<T>>
      %2 = arith.subf %t, %a : <<T>>
      linalg.yield %1, %2 : <<T>>, <<T>>
    }
  return %y#0, %y#1 : <<3>>, <<3>>""",
             lambda a, b, s, t: (s + (a * b).sum(1), t - a.sum(1))),
    Function("broadcast_two", ["<<3>>", "<<2x3x4>>"], ["<<2x3x4>>"], """
  %s = arith.mulf %x0, %x0 : <<3>>
  %y = linalg.broadcast ins(%s : <<3>>) outs(%x1 : <<2x3x4>>) dimensions = [0, 2]
  return %y : <<2x3x4>>""",
             lambda a, o: np.broadcast_to((a * a)[None, :, None], (2, 3, 4)) +
             0 * o),
    Function("transpose_of_rank_1", ["<<3>>", "<<3>>"], ["<<3>>"], """
  %s = arith.mulf %x0, %x0 : <<3>>
  %y = linalg.transpose ins(%s : <<3>>) outs(%x1 : <<3>>) permutation = [0]
  return %y : <<3>>""", lambda a, o: a * a + 0 * o),
    # Tensor ops.
    Function("drop_dimension", ["<<3x4x2>>"], ["<<4x2>>"], """
  %s = arith.mulf %x0, %x0 : <<3x4x2>>
  %y = tensor.extract_slice %s[1, 0, 0] [1, !4, !2] [1, 1, 1] : <<3x4x2>> to <<4x2>>
  return %y : <<4x2>>""".replace("%s = arith", """%s4 = arith.constant 4 : index
  %s2 = arith.constant 2 : index
  %s = arith"""), lambda a: (a * a)[1]),
    Function("strided_slice", ["<<7x6>>"], ["<<3x2>>"], """
  %s3 = arith.constant 3 : index
  %s2 = arith.constant 2 : index
  %s = arith.mulf %x0, %x0 : <<7x6>>
  %y = tensor.extract_slice %s[1, 2] [!3, !2] [2, 3] : <<7x6>> to <<3x2>>
  return %y : <<3x2>>""", lambda a: (a * a)[1:6:2, 2:6:3]),
    Function("add_dimension", ["<<4>>", "<<3x4>>"], ["<<3x4>>"], """
  %s4 = arith.constant 4 : index
  %s = arith.mulf %x0, %x0 : <<4>>
  %y = tensor.insert_slice %s into %x1[1, 0] [1, !4] [1, 1] : <<4>> into <<3x4>>
  return %y : <<3x4>>""",
             lambda a, o: np.stack([o[0], a * a + 0 * o[1], o[2]])),
    Function("strided_insert", ["<<2x2>>", "<<5x4>>"], ["<<5x4>>"], """
  %s2 = arith.constant 2 : index
  %s = arith.mulf %x0, %x0 : <<2x2>>
  %t = arith.mulf %x1, %x1 : <<5x4>>
  %y = tensor.insert_slice %s into %t[0, 1] [!2, !2] [3, 2] : <<2x2>> into <<5x4>>
  return %y : <<5x4>>""", lambda a, o: _inserted(a * a, o * o)),
    Function("expand_collapse", ["<<2x3x4>>"], ["<<2x=3x2x=2>>"], """
  %s2 = arith.constant 2 : index
  %s = arith.mulf %x0, %x0 : <<2x3x4>>
  %c = tensor.cast %s : <<2x3x4>> to tensor<?x3x4x!T>
  %d = tensor.collapse_shape %c [[0], [1, 2]] : tensor<?x3x4x!T> into tensor<?x12x!T>
  %f = tensor.expand_shape %d [[0], [1, 2, 3]] output_shape [%s2, 3, 2, 2] : tensor<?x12x!T> into tensor<?x3x2x2x!T>
  %y = tensor.cast %f : tensor<?x3x2x2x!T> to <<2x=3x2x=2>>
  return %y : <<2x=3x2x=2>>""", lambda a: (a * a).reshape(2, 3, 2, 2)),
    Function("expand_to_units", ["<<4>>"], ["<<=1x4x=1>>"], """
  %s4 = arith.constant 4 : index
  %s = arith.mulf %x0, %x0 : <<4>>
  %y = tensor.expand_shape %s [[0, 1, 2]] output_shape [1, !4, 1] : <<4>> into <<=1x4x=1>>
  return %y : <<=1x4x=1>>""", lambda a: (a * a).reshape(1, 4, 1)),
    Function("collapse_to_rank_0", ["<<=1x=1>>"], ["<<>>"], """
  %s = arith.mulf %x0, %x0 : <<=1x=1>>
  %y = tensor.collapse_shape %s [] : <<=1x=1>> into <<>>
  return %y : <<>>""", lambda a: (a * a).reshape(())),
    Function("elements_by_position", ["<<3x4>>"], ["<<T>>"], """
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = tensor.extract %x0[%c1, %c2] : <<3x4>>
  %b = tensor.extract %x0[%c2, %c1] : <<3x4>>
  %p = arith.mulf %a, %b : <<T>>
  %q = arith.addf %p, %a : <<T>>
  return %q : <<T>>""", lambda a: a[1, 2] * a[2, 1] + a[1, 2]),
    Function("inserted_elements", ["<<T>>", "<<3x4>>"], ["<<3x4>>"], """
  %c1 = arith.constant 1 : index
  %p = arith.mulf %x0, %x0 : <<T>>
  %s = arith.mulf %x1, %x1 : <<3x4>>
  %y = tensor.insert %p into %s[%c1, %c1] : <<3x4>>
  %z = tensor.insert %x0 into %y[%c1, %c1] : <<3x4>>
  return %z : <<3x4>>""", lambda a, x: _one_element(a, x * x)),
    Function("asymmetric_pad", ["<<2x3>>"], ["<<2x6>>"], """
  %zero = arith.constant 0.0 : <<T>>
  %s = arith.mulf %x0, %x0 : <<2x3>>
  %y = tensor.pad %s nofold low[0, 2] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : <<T>>
  } : <<2x3>> to <<2x6>>
  return %y : <<2x6>>""", lambda a: np.pad(a * a, ((0, 0), (2, 1)))),
    # Control flow around tensors.
    Function("loop_over_rows", ["<<3x4>>", "<<4>>"], ["<<4>>"], """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s4 = arith.constant 4 : index
  %n = tensor.dim %x0, %c0 : <<3x4>>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x1) -> (<<4>>) {
    %row = tensor.extract_slice %x0[%i, 0] [1, !4] [1, 1] : <<3x4>> to <<4>>
    %p = arith.mulf %acc, %row : <<4>>
    %q = arith.addf %p, %row : <<4>>
    scf.yield %q : <<4>>
  }
  return %y : <<4>>""", lambda a, x: _recurrence(a, x)),
    Function("branch_on_extent", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"], """
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x0, %c0 : <<3x4>>
  %c = arith.cmpi uge, %n, %c3 : index
  %y = scf.if %c -> (<<3x4>>) {
    %p = arith.mulf %x0, %x1 : <<3x4>>
    scf.yield %p : <<3x4>>
  } else {
    scf.yield %x0 : <<3x4>>
  }
  return %y : <<3x4>>""", lambda a, b: a * b),
    Function("first_element", ["<<4>>", "<<=1x=1>>", "<<4>>"], ["<<4>>"],
                 "%y = " + generic(["i -> i", "i -> 0,0", "i -> i"], "p",
                                   [("%x0", "<<4>>"), ("%x1", "<<=1x=1>>")],
                                   [("%x2", "<<4>>")], PRODUCT, "<<4>>") +
                 "\nreturn %y : <<4>>", lambda a, b, o: a * b[0] + 0 * o),
    Function("softmax", ["<<3x4>>", "<<3x4>>"], ["<<3x4>>"], """
  %y = linalg.softmax dimension(1) ins(%x0 : <<3x4>>) outs(%x1 : <<3x4>>) -> <<3x4>>
  return %y : <<3x4>>""", lambda a, o: np.exp(a) / np.exp(a).sum(
        1, keepdims=True) + 0 * o, exact=False),
    Function("pack", ["<<4x6>>", "<<2x2x2x3>>"], ["<<2x2x2x3>>"], """
  %s = arith.mulf %x0, %x0 : <<4x6>>
  %c = tensor.cast %s : <<4x6>> to tensor<4x6x!T>
  %d = tensor.cast %x1 : <<2x2x2x3>> to tensor<2x2x2x3x!T>
  %p = linalg.pack %c inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %d : tensor<4x6x!T> -> tensor<2x2x2x3x!T>
  %y = tensor.cast %p : tensor<2x2x2x3x!T> to <<2x2x2x3>>
  return %y : <<2x2x2x3>>""", lambda a, o: (a * a).reshape(
        2, 2, 2, 3).transpose(0, 2, 1, 3) + 0 * o),
    Function("reshape", ["<<6>>"], ["tensor<2x3x!T>"], """
  %s = arith.mulf %x0, %x0 : <<6>>
  %c = tensor.cast %s : <<6>> to tensor<6x!T>
  %shape = arith.constant dense<[2, 3]> : tensor<2xi64>
  %y = tensor.reshape %c(%shape) : (tensor<6x!T>, tensor<2xi64>) -> tensor<2x3x!T>
  return %y : tensor<2x3x!T>""", lambda a: (a * a).reshape(2, 3)),
    Function("generate", ["<<T>>", "<<4>>"], ["tensor<4x!T>"], """
  %y = tensor.generate {
  ^bb0(%i: index):
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to <<T>>
    %p = arith.mulf %f, %x0 : <<T>>
    %q = arith.mulf %p, %x0 : <<T>>
    tensor.yield %q : <<T>>
  } : tensor<4x!T>
  %c = tensor.cast %x1 : <<4>> to tensor<4x!T>
  %z = arith.mulf %y, %c : tensor<4x!T>
  return %z : tensor<4x!T>""", lambda a, b: a * a * np.arange(4) * b),
]


def _inserted(a, o):
    o = o + 0 * a.sum()
    o[0:4:3, 1:4:2] = a
    return o


def _one_element(a, x):
    x = x + 0 * a
    x[1, 1] = a
    return x


def _recurrence(a, x):
    for row in a:
        x = x * row + row
    return x


if __name__ == "__main__":
    # Second derivatives are other tests' business.
    function_tests.run([replace(f, second=False) for f in FUNCTIONS], seed=11)
