# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of sparse tensors: products, elementwise ops, copies."""

import numpy as np

from sparse_functions import SparseFunction


def generic(maps, iterators, inputs, init, result, body):
    """The text of a linalg.generic. `maps` is "ik,kj->ij", `iterators` the
    loops' letters in order, those of reductions in capitals; `inputs` and
    `init` are pairs of a value and a type; `body` is of %b0, %b1, ... and %o."""
    loops = iterators.lower()
    listed = [m for m in maps.replace("->", ",").split(",")]
    affine = ", ".join(
        f"affine_map<({', '.join(loops)}) -> ({', '.join(m)})>"
        for m in listed)
    kinds = ", ".join('"reduction"' if c.isupper() else '"parallel"'
                      for c in iterators)
    arguments = ", ".join([f"%b{i}: f64" for i in range(len(inputs))] +
                          ["%o: f64"])

    def types(text):
        return text if text == "f64" else f"<<{text}>>"

    operands = ""
    if inputs:
        operands = (f"ins({', '.join(v for v, _ in inputs)} : "
                    f"{', '.join(types(t) for _, t in inputs)}) ")
    return f"""
  {result} = linalg.generic {{indexing_maps = [{affine}], iterator_types = [{kinds}]}} {operands}outs({init[0]} : <<{init[1]}>>) {{
  ^bb0({arguments}):
{body}
  }} -> <<{init[1]}>>"""


def product_of(count, sums=True):
    """The body of a sum of products of `count` factors, or of one product."""
    lines, last = [], "%b0"
    for i in range(1, count):
        lines.append(f"    %p{i} = arith.mulf {last}, %b{i} : f64")
        last = f"%p{i}"
    if sums:
        lines.append(f"    %s = arith.addf %o, {last} : f64")
        last = "%s"
    lines.append(f"    linalg.yield {last} : f64")
    return "\n".join(lines)


def combine(op):
    """The body of an elementwise op of two operands."""
    return f"""    %s = arith.{op} %b0, %b1 : f64
    linalg.yield %s : f64"""


def contraction(name, maps, iterators, arguments, result, mirror, patterns=(),
                unmet=None):
    """A sum of products, from zeros or from nothing stored, or products."""
    made = "empty" if "#" in result else "zeros"
    body = f"  %z = {made} <<{result}>>" + generic(
        maps, iterators, [(f"%x{i}", t) for i, t in enumerate(arguments)],
        ("%z", result), "%y", product_of(len(arguments),
                                       sums=not iterators.islower()))
    return SparseFunction(name, arguments, [result],
                          body + f"\n  return %y : <<{result}>>", mirror,
                          patterns, unmet)


def elementwise(name, arguments, result, op, mirror, pattern, unmet=None,
                maps=None, draw=None):
    rank = len(result.split("#")[0])
    letters = "ijkl"[:rank]
    maps = maps or f"{letters},{letters}->{letters}"
    body = f"  %z = empty <<{result}>>" + generic(
        maps, letters, [(f"%x{i}", t) for i, t in enumerate(arguments)],
        ("%z", result), "%y", combine(op))
    patterns = (pattern,) if "#" in result else ()
    return SparseFunction(name, arguments, [result],
                          body + f"\n  return %y : <<{result}>>", mirror,
                          patterns, unmet, draw=draw)


def unary(name, lines, function, zeros=True, type_="nm#A"):
    """Of stored values only; `lines` compute %y of %x0."""
    return SparseFunction(
        name, [type_], [type_],
        f"{lines.replace('!', f'<<{type_}>>')}\n  return %y : <<{type_}>>",
        lambda x, p: np.where(p[0], function(x[0]), 0), (0,), zeros=zeros)


def _some(p, number, axis):
    return p[number].any(axis)


def _product_meets(p):
    return (p[0].astype(int) @ p[1].astype(int)) > 0


def _unmet_spmm(p):
    return {1: ~_some(p, 0, 0)[:, None], "g0": ~_some(p, 0, 1)[:, None]}


# Of one sparse matrix and dense operands.
PRODUCTS = [
    SparseFunction("spmv", ["nk#A", "k"], ["n"], """
  %z = zeros <<n>>
  %y = linalg.matvec ins(%x0, %x1 : <<nk#A>>, <<k>>) outs(%z : <<n>>) -> <<n>>
  return %y : <<n>>""", lambda x, p: x[0] @ x[1],
                   unmet=lambda p: {1: ~_some(p, 0, 0), "g0": ~_some(p, 0, 1)}),
    SparseFunction("vector_matrix", ["n", "nk#A"], ["k"], """
  %z = zeros <<k>>
  %y = linalg.vecmat ins(%x0, %x1 : <<n>>, <<nk#A>>) outs(%z : <<k>>) -> <<k>>
  return %y : <<k>>""", lambda x, p: x[0] @ x[1],
                   unmet=lambda p: {0: ~_some(p, 1, 1), "g0": ~_some(p, 1, 0)}),
    SparseFunction("spmm", ["nk#A", "km"], ["nm"], """
  %z = zeros <<nm>>
  %y = linalg.matmul ins(%x0, %x1 : <<nk#A>>, <<km>>) outs(%z : <<nm>>) -> <<nm>>
  return %y : <<nm>>""", lambda x, p: x[0] @ x[1], unmet=_unmet_spmm),
    SparseFunction("spmm_added", ["nk#A", "km", "nm"], ["nm"], """
  %y = linalg.matmul ins(%x0, %x1 : <<nk#A>>, <<km>>) outs(%x2 : <<nm>>) -> <<nm>>
  return %y : <<nm>>""", lambda x, p: x[0] @ x[1] + x[2],
                   unmet=lambda p: {1: ~_some(p, 0, 0)[:, None]}),
    contraction("spmm_transposed", "ki,kj->ij", "ijK", ["kn#A", "km"], "nm",
                lambda x, p: x[0].T @ x[1],
                unmet=lambda p: {1: ~_some(p, 0, 1)[:, None],
                                 "g0": ~_some(p, 0, 0)[:, None]}),
    contraction("spmm_by_transpose", "ik,jk->ij", "ijK", ["nk#A", "mk"], "nm",
                lambda x, p: x[0] @ x[1].T,
                unmet=lambda p: {1: ~_some(p, 0, 0)[None, :],
                                 "g0": ~_some(p, 0, 1)[:, None]}),
    SparseFunction("dense_sparse", ["nk", "km#A"], ["nm"], """
  %z = zeros <<nm>>
  %y = linalg.matmul ins(%x0, %x1 : <<nk>>, <<km#A>>) outs(%z : <<nm>>) -> <<nm>>
  return %y : <<nm>>""", lambda x, p: x[0] @ x[1],
                   unmet=lambda p: {0: ~_some(p, 1, 1)[None, :],
                                    "g0": ~_some(p, 1, 0)[None, :]}),
    SparseFunction("sddmm", ["nm#A", "nk", "km"], ["nm#A"], """
  %z = zeros <<nm>>
  %d = linalg.matmul ins(%x1, %x2 : <<nk>>, <<km>>) outs(%z : <<nm>>) -> <<nm>>
  %y = sparse_autograd.sample %d, %x0 : <<nm>>, <<nm#A>> -> <<nm#A>>
  return %y : <<nm#A>>""",
                   lambda x, p: np.where(p[0], x[1] @ x[2], 0), (0,),
                   unmet=lambda p: {1: ~_some(p, 0, 1)[:, None],
                                    2: ~_some(p, 0, 0)[None, :]}),
    SparseFunction("sddmm_scaled", ["nm#A", "nk", "mk"], ["nm#A"],
                   "  %z = zeros <<nm>>" + generic(
                       "ik,jk->ij", "ijK", [("%x1", "nk"), ("%x2", "mk")],
                       ("%z", "nm"), "%d", product_of(2)) + """
  %m = sparse_autograd.pattern %x0 : <<nm#A>>
  %w = sparse_autograd.sample %d, %m : <<nm>>, <<nm#A|i1>> -> <<nm#A>>
  %y = arith.mulf %w, %x0 : <<nm#A>>
  return %y : <<nm#A>>""",
                   lambda x, p: np.where(p[0], x[0] * (x[1] @ x[2].T), 0), (0,),
                   unmet=lambda p: {1: ~_some(p, 0, 1)[:, None],
                                    2: ~_some(p, 0, 0)[:, None]}),
    contraction("bilinear", "ij,i,j->", "IJ", ["nm#A", "n", "m"], "",
                lambda x, p: x[1] @ x[0] @ x[2],
                unmet=lambda p: {1: ~_some(p, 0, 1), 2: ~_some(p, 0, 0)}),
    contraction("row_sums", "ij->i", "iJ", ["nm#A"], "n",
                lambda x, p: x[0].sum(1)),
    contraction("column_sums", "ij->j", "jI", ["nm#A"], "m",
                lambda x, p: x[0].sum(0)),
    contraction("trace", "ii->", "I", ["nn#A"], "",
                lambda x, p: np.trace(x[0])),
    contraction("diagonal_product", "ii,i->i", "i", ["nn#A", "n"], "n",
                lambda x, p: np.diag(x[0]) * x[1])
]
# Elementwise, of one sparse matrix.
ELEMENTWISE = [
    elementwise("times_dense", ["nm#A", "nm"], "nm#A", "mulf",
                lambda x, p: x[0] * x[1], 0, lambda p: {1: ~p[0]}),
    elementwise("dense_times_to_dense", ["nm", "nm#A"], "nm", "mulf",
                lambda x, p: x[0] * x[1], None,
                lambda p: {0: ~p[1], "g0": ~p[1]}),
    elementwise("plus_dense", ["nm#A", "nm"], "nm", "addf",
                lambda x, p: x[0] + x[1], None),
    elementwise("dense_minus", ["nm", "nm#A"], "nm", "subf",
                lambda x, p: x[0] - x[1], None),
    elementwise("scaled_rows", ["n", "nm#A"], "nm#A", "mulf",
                lambda x, p: x[0][:, None] * x[1], 1,
                lambda p: {0: ~_some(p, 1, 1)}, maps="i,ij->ij"),
    elementwise("scaled_columns", ["nm#A", "m"], "nm#A", "mulf",
                lambda x, p: x[0] * x[1], 0,
                lambda p: {1: ~_some(p, 0, 0)}, maps="ij,j->ij"),
    elementwise("scaled", ["f64", "nm#A"], "nm#A", "mulf",
                lambda x, p: x[0] * x[1], 1, maps=",ij->ij"),
    elementwise("scaled_by_rank_0", ["nm#A", ""], "nm#A", "mulf",
                lambda x, p: x[0] * x[1], 0, maps="ij,->ij"),
    elementwise("divided_rows", ["nm#A", "n"], "nm#A", "divf",
                lambda x, p: x[0] / (x[1][:, None]), 0,
                lambda p: {1: ~_some(p, 0, 1)}, maps="ij,i->ij",
                draw=lambda rng, shape: rng.uniform(0.5, 1.5, shape)),
    SparseFunction("times_row_number", ["nm#A"], ["nm#A"],
                   "  %z = empty <<nm#A>>" + generic(
                       "ij->ij", "ij", [("%x0", "nm#A")], ("%z", "nm#A"), "%y",
                       """
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i64
    %f = arith.sitofp %k : i64 to f64
    %s = arith.mulf %b0, %f : f64
    linalg.yield %s : f64""") + "\n  return %y : <<nm#A>>",
                   lambda x, p: x[0] * np.arange(len(x[0]))[:, None], (0,)),
    # Of numbers from outside: a constant first, then one with a derivative.
    SparseFunction("scaled_from_outside", ["f64", "nm#A"], ["nm#A"], """
  %c = arith.constant 0.5 : f64
  %z = empty <<nm#A>>""" + generic("ij->ij", "ij", [("%x1", "nm#A")],
                                   ("%z", "nm#A"), "%y", """
    %h = arith.mulf %b0, %c : f64
    %s = arith.mulf %h, %x0 : f64
    linalg.yield %s : f64""") + "\n  return %y : <<nm#A>>",
                   lambda x, p: 0.5 * x[0] * x[1], (1,)),
    unary("tanh", "  %y = math.tanh %x0 : !", np.tanh),
    unary("sin", "  %y = math.sin %x0 : !", np.sin),
    unary("negated", "  %y = arith.negf %x0 : !", lambda x: -x),
    unary("square", "  %y = arith.mulf %x0, %x0 : !", lambda x: x * x),
    # By the list of what is stored, read twice.
    unary("exp_of_values", """
  %v = sparse_autograd.stored_values %x0 : ! -> tensor<?xf64>
  %e = math.exp %v : tensor<?xf64>
  %s = arith.mulf %e, %v : tensor<?xf64>
  %y = sparse_autograd.with_values %s, %x0 : tensor<?xf64>, ! -> !""",
          lambda x: x * np.exp(x)),
    unary("expm1", "  %s = math.tanh %x0 : !\n  %e = math.expm1 %s : !\n"
          "  %y = arith.subf %e, %x0 : !",
          lambda x: np.exp(np.tanh(x)) - 1 - x),
    SparseFunction("relu", ["nm#A"], ["nm#A"], """
  %c = arith.constant 0.0 : f64
  %z = empty <<nm#A>>""" + generic("ij->ij", "ij", [("%x0", "nm#A")],
                                   ("%z", "nm#A"), "%y", """
    %p = arith.cmpf ogt, %b0, %c : f64
    %s = arith.select %p, %b0, %c : f64
    linalg.yield %s : f64""") + "\n  return %y : <<nm#A>>",
                   lambda x, p: np.where(x[0].real > 0, x[0], 0), (0,),
                   zeros=False),
    SparseFunction("absolute", ["nm#A"], ["nm#A"],
                   "  %y = math.absf %x0 : <<nm#A>>\n  return %y : <<nm#A>>",
                   lambda x, p: np.where(x[0].real < 0, -x[0], x[0]), (0,),
                   zeros=False),
    unary("fma", "  %y = math.fma %x0, %x0, %x0 : !", lambda x: x * x + x),
    SparseFunction("relu_of_tensors", ["nm#A"], ["nm#A"], """
  %z = sparse_autograd.zeros %x0 : <<nm#A>> -> <<nm#A>>
  %p = arith.cmpf ogt, %x0, %z : <<nm#A>>
  %y = arith.select %p, %x0, %z : <<nm#A|i1>>, <<nm#A>>
  return %y : <<nm#A>>""", lambda x, p: np.where(x[0].real > 0, x[0], 0), (0,),
                   zeros=False),
    # An absent element is a zero (semantics G4).
    SparseFunction("row_maximum", ["nm#A"], ["n"], """
  %c = arith.constant 0xFFF0000000000000 : f64
  %e = empty <<n>>
  %z = linalg.fill ins(%c : f64) outs(%e : <<n>>) -> <<n>>""" + generic(
      "ij->i", "iJ", [("%x0", "nm#A")], ("%z", "n"), "%y", """
    %s = arith.maximumf %o, %b0 : f64
    linalg.yield %s : f64""") + "\n  return %y : <<n>>",
                   lambda x, p: np.array(
                       [r[np.argmax(r.real)] if r.size else -np.inf
                        for r in x[0]], x[0].dtype), zeros=False),
    SparseFunction("leaf_thrice", ["nn#A", "nm"], ["nm"], """
  %z = zeros <<nm>>
  %t = math.tanh %x0 : <<nn#A>>
  %a = linalg.matmul ins(%x0, %x1 : <<nn#A>>, <<nm>>) outs(%z : <<nm>>) -> <<nm>>
  %b = linalg.matmul ins(%x0, %a : <<nn#A>>, <<nm>>) outs(%a : <<nm>>) -> <<nm>>
  %y = linalg.matmul ins(%t, %b : <<nn#A>>, <<nm>>) outs(%b : <<nm>>) -> <<nm>>
  return %y : <<nm>>""",
                   lambda x, p: (np.eye(len(x[0])) + np.tanh(x[0])) @ (
                       x[0] @ x[0] @ x[1] + x[0] @ x[1])),
]


def _spgemm(result, name):
    return contraction(name, "ik,kj->ij", "ijK", ["nk#A", "km#B"], result,
                       lambda x, p: x[0] @ x[1],
                       (lambda p, x: _product_meets(p),),
                       lambda p: {"g0": ~_product_meets(p)})


# Of two sparse matrices.
PAIRS = [
    _spgemm("nm", "spgemm_dense"),
    _spgemm("nm#R", "spgemm"),
    contraction("spgemm_transposed", "ki,kj->ij", "ijK", ["kn#A", "km#B"],
                "nm#R", lambda x, p: x[0].T @ x[1],
                (lambda p, x: (p[0].T.astype(int) @ p[1].astype(int)) > 0,)),
    elementwise("add", ["nm#A", "nm#B"], "nm#R", "addf",
                lambda x, p: x[0] + x[1], lambda p, x: p[0] | p[1]),
    elementwise("add_to_dense", ["nm#A", "nm#B"], "nm", "addf",
                lambda x, p: x[0] + x[1], None,
                lambda p: {"g0": ~(p[0] | p[1])}),
    elementwise("subtract", ["nm#A", "nm#B"], "nm#R", "subf",
                lambda x, p: x[0] - x[1], lambda p, x: p[0] | p[1]),
    elementwise("add_transposed", ["nm#A", "mn#B"], "nm#R", "addf",
                lambda x, p: x[0] + x[1].T, lambda p, x: p[0] | p[1].T,
                maps="ij,ji->ij"),
    elementwise("multiply", ["nm#A", "nm#B"], "nm#R", "mulf",
                lambda x, p: x[0] * x[1], lambda p, x: p[0] & p[1]),
    elementwise("multiply_to_dense", ["nm#A", "nm#B"], "nm", "mulf",
                lambda x, p: x[0] * x[1], None,
                lambda p: {"g0": ~(p[0] & p[1])}),
    SparseFunction("add_alike", ["nm#A", "nm#A"], ["nm#A"],
                   "  %y = arith.addf %x0, %x1 : <<nm#A>>\n"
                   "  return %y : <<nm#A>>", lambda x, p: x[0] + x[1],
                   (lambda p, x: p[0] | p[1],)),
    SparseFunction("multiply_alike", ["nm#A", "nm#A"], ["nm#A"],
                   "  %y = arith.mulf %x0, %x1 : <<nm#A>>\n"
                   "  return %y : <<nm#A>>", lambda x, p: x[0] * x[1],
                   (lambda p, x: p[0] & p[1],)),
    SparseFunction("inner", ["nm#A", "nm#B"], [""],
                   "  %z = zeros <<>>" + generic(
                       "ij,ij->", "IJ", [("%x0", "nm#A"), ("%x1", "nm#B")],
                       ("%z", ""), "%y", product_of(2)) +
                   "\n  return %y : <<>>", lambda x, p: (x[0] * x[1]).sum()),
    SparseFunction("sampled_spgemm", ["nk#A", "km#B", "nm#R"], ["nm#R"], """
  %z = zeros <<nm>>
  %d = linalg.matmul ins(%x0, %x1 : <<nk#A>>, <<km#B>>) outs(%z : <<nm>>) -> <<nm>>
  %y = sparse_autograd.sample %d, %x2 : <<nm>>, <<nm#R>> -> <<nm#R>>
  return %y : <<nm#R>>""", lambda x, p: np.where(p[2], x[0] @ x[1], 0), (2,)),
]
# Copies between storages.
COPIES = [
    SparseFunction("convert", ["nm#A"], ["nm#R"], """
  %y = sparse_tensor.convert %x0 : <<nm#A>> to <<nm#R>>
  return %y : <<nm#R>>""", lambda x, p: x[0], (lambda p, x: p[0],)),
    SparseFunction("convert_to_dense", ["nm#A"], ["nm"], """
  %y = sparse_tensor.convert %x0 : <<nm#A>> to <<nm>>
  return %y : <<nm>>""", lambda x, p: x[0],
                   unmet=lambda p: {"g0": ~p[0]}),
    SparseFunction("convert_from_dense", ["nm"], ["nm#R"], """
  %y = sparse_tensor.convert %x0 : <<nm>> to <<nm#R>>
  return %y : <<nm#R>>""", lambda x, p: np.where(p["r0"], x[0], 0),
                   (lambda p, x: x[0] != 0,),
                   draw=lambda rng, shape: rng.uniform(-1, 1, shape) *
                   (rng.random(shape) < 0.3)),
    SparseFunction("transpose", ["nm#A"], ["mn#R"], """
  %e = empty <<mn#R>>
  %y = linalg.transpose ins(%x0 : <<nm#A>>) outs(%e : <<mn#R>>) permutation = [1, 0]
  return %y : <<mn#R>>""", lambda x, p: x[0].T, (lambda p, x: p[0].T,)),
    # MLIR replaces both by their operand, were they left as they are.
    SparseFunction("transpose_twice", ["nm#A"], ["mn#A", "nm#R", "nm#R"], """
  %e = empty <<mn#A>>
  %t = linalg.transpose ins(%x0 : <<nm#A>>) outs(%e : <<mn#A>>) permutation = [1, 0]
  %f = empty <<nm#R>>
  %y = linalg.transpose ins(%t : <<mn#A>>) outs(%f : <<nm#R>>) permutation = [1, 0]
  %z = linalg.transpose ins(%x0 : <<nm#A>>) outs(%f : <<nm#R>>) permutation = [0, 1]
  return %t, %y, %z : <<mn#A>>, <<nm#R>>, <<nm#R>>""",
                   lambda x, p: (x[0].T, x[0], x[0]),
                   (lambda p, x: p[0].T, lambda p, x: p["r0"].T,
                    lambda p, x: p[0])),
    SparseFunction("transpose_to_dense", ["nm#A"], ["mn"], """
  %e = empty <<mn>>
  %y = linalg.transpose ins(%x0 : <<nm#A>>) outs(%e : <<mn>>) permutation = [1, 0]
  return %y : <<mn>>""", lambda x, p: x[0].T,
                   unmet=lambda p: {"g0": ~p[0].T}),
    SparseFunction("sample_dense", ["nm", "nm#A"], ["nm#A"], """
  %s = arith.mulf %x0, %x0 : <<nm>>
  %y = sparse_autograd.sample %s, %x1 : <<nm>>, <<nm#A>> -> <<nm#A>>
  return %y : <<nm#A>>""", lambda x, p: np.where(p[1], x[0] * x[0], 0), (1,),
                   unmet=lambda p: {0: ~p[1]}),
]

# Alike to others, so that some formats each suffice.
_ALIKE = ("dense_minus", "scaled_columns", "scaled_by_rank_0",
          "scaled_from_outside", "times_row_number", "divided_rows", "sin",
          "negated", "expm1", "absolute", "fma", "relu_of_tensors",
          "spgemm_transposed", "subtract", "add_transposed",
          "multiply_to_dense", "inner", "sampled_spgemm")
MORE = [f for f in ELEMENTWISE + PAIRS if f.name in _ALIKE]
assert len(MORE) == len(_ALIKE)
ELEMENTWISE = [f for f in ELEMENTWISE if f not in MORE]
PAIRS = [f for f in PAIRS if f not in MORE]
