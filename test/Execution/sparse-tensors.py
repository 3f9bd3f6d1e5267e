# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Functions of sparse vectors and of sparse tensors of rank 3 and 4: values,
gradients on the patterns of the leaves, tangents."""

import numpy as np

from execution import finish
from sparse_functions import SparseFunction, table
from sparse_tables import contraction, elementwise, generic, unary


def einsum(name):
    return lambda x, p: np.einsum(name, *x)


VECTOR = [
    contraction("dot", "i,i->", "I", ["n#A", "n#B"], "",
                lambda x, p: x[0] @ x[1]),
    contraction("dot_dense", "i,i->", "I", ["n#A", "n"], "",
                lambda x, p: x[0] @ x[1], unmet=lambda p: {1: ~p[0]}),
    contraction("outer", "i,j->ij", "ij", ["n#A", "m#B"], "nm#R",
                lambda x, p: np.outer(*x),
                (lambda p, x: np.outer(p[0], p[1]),)),
    contraction("outer_dense", "i,j->ij", "ij", ["n#A", "m#B"], "nm",
                lambda x, p: np.outer(*x),
                unmet=lambda p: {"g0": ~np.outer(p[0], p[1])}),
    contraction("outer_with_dense", "i,j->ij", "ij", ["n#A", "m"], "nm",
                lambda x, p: np.outer(*x),
                unmet=lambda p: {"g0": ~p[0][:, None]}),
    contraction("matrix_vector", "ij,j->i", "iJ", ["nm#A", "m#B"], "n#R",
                lambda x, p: x[0] @ x[1],
                (lambda p, x: (p[0] & p[1]).any(1),)),
    contraction("matrix_vector_dense", "ij,j->i", "iJ", ["nm#A", "m#B"], "n",
                lambda x, p: x[0] @ x[1],
                unmet=lambda p: {"g0": ~(p[0] & p[1]).any(1)}),
    elementwise("add_vectors", ["n#A", "n#B"], "n#R", "addf",
                lambda x, p: x[0] + x[1], lambda p, x: p[0] | p[1]),
    elementwise("multiply_vectors", ["n#A", "n#B"], "n#R", "mulf",
                lambda x, p: x[0] * x[1], lambda p, x: p[0] & p[1]),
    unary("sine_of_vector", "  %y = math.sin %x0 : !", np.sin, type_="n#A"),
    SparseFunction("vector_copies", ["n#A"], ["n#B", "n"], """
  %y = sparse_tensor.convert %x0 : <<n#A>> to <<n#B>>
  %s = arith.mulf %y, %y : <<n#B>>
  %z = sparse_tensor.convert %s : <<n#B>> to <<n>>
  return %y, %z : <<n#B>>, <<n>>""", lambda x, p: (x[0], x[0] * x[0]),
                   (lambda p, x: p[0],)),
]
TENSOR = [
    contraction("mttkrp", "ikl,kj,lj->ij", "ijKL", ["nkl#T", "km", "lm"], "nm",
                einsum("ikl,kj,lj->ij"),
                unmet=lambda p: {1: ~p[0].any((0, 2))[:, None],
                                 2: ~p[0].any((0, 1))[:, None],
                                 "g0": ~p[0].any((1, 2))[:, None]}),
    contraction("mttkrp_last", "kli,kj,lj->ij", "ijKL", ["kln#T", "km", "lm"],
                "nm", einsum("kli,kj,lj->ij")),
    contraction("tensor_matrix", "ikl,kj->ijl", "ijlK", ["nkl#T", "km#A"],
                "nml", einsum("ikl,kj->ijl")),
    contraction("tensor_matrix_sparse", "ikl,kj->ijl", "ijlK",
                ["nkl#T", "km#A"], "nml#S", einsum("ikl,kj->ijl"),
                (lambda p, x: np.einsum("ikl,kj->ijl", p[0].astype(int),
                                        p[1].astype(int)) > 0,)),
    contraction("all_modes", "ikl,i,k,l->", "IKL", ["nkl#T", "n", "k", "l"],
                "", einsum("ikl,i,k,l->")),
    contraction("partial_trace", "iki->k", "Ik", ["nkn#T"], "k",
                einsum("iki->k")),
    elementwise("tensor_sum", ["nkl#T", "nkl#S"], "nkl#U", "addf",
                lambda x, p: x[0] + x[1], lambda p, x: p[0] | p[1]),
    elementwise("tensor_product", ["nkl#T", "nkl#S"], "nkl#U", "mulf",
                lambda x, p: x[0] * x[1], lambda p, x: p[0] & p[1]),
    elementwise("tensor_times_dense", ["nkl#T", "nkl"], "nkl#T", "mulf",
                lambda x, p: x[0] * x[1], 0, lambda p: {1: ~p[0]}),
    SparseFunction("tensor_copies", ["nkl#T"], ["nkl#S", "nkl"], """
  %y = sparse_tensor.convert %x0 : <<nkl#T>> to <<nkl#S>>
  %s = arith.mulf %y, %y : <<nkl#S>>
  %z = sparse_tensor.convert %s : <<nkl#S>> to <<nkl>>
  return %y, %z : <<nkl#S>>, <<nkl>>""", lambda x, p: (x[0], x[0] * x[0]),
                   (lambda p, x: p[0],)),
    SparseFunction("tensor_transpose", ["nkl#T"], ["lnk#S"], """
  %e = empty <<lnk#S>>
  %y = linalg.transpose ins(%x0 : <<nkl#T>>) outs(%e : <<lnk#S>>) permutation = [2, 0, 1]
  return %y : <<lnk#S>>""", lambda x, p: x[0].transpose(2, 0, 1),
                   (lambda p, x: p[0].transpose(2, 0, 1),)),
    # A sampled product of three factors: the gradient of an MTTKRP.
    SparseFunction("sampled_cp", ["nkl#T", "nm", "km", "lm"], ["nkl#T"],
                   "  %z = zeros <<nkl>>" + generic(
                       "im,km,lm->ikl", "iklM",
                       [("%x1", "nm"), ("%x2", "km"), ("%x3", "lm")],
                       ("%z", "nkl"), "%d", """
    %p = arith.mulf %b0, %b1 : f64
    %q = arith.mulf %p, %b2 : f64
    %s = arith.addf %o, %q : f64
    linalg.yield %s : f64""") + """
  %w = sparse_autograd.sample %d, %x0 : <<nkl>>, <<nkl#T>> -> <<nkl#T>>
  %y = arith.mulf %w, %x0 : <<nkl#T>>
  return %y : <<nkl#T>>""", lambda x, p: np.where(
      p[0], x[0] * np.einsum("im,km,lm->ikl", *x[1:]), 0), (0,)),
]
RANK4 = [
    contraction("contraction4", "ijkl,kl->ij", "ijKL", ["nmkl#F", "kl"], "nm",
                einsum("ijkl,kl->ij"),
                unmet=lambda p: {1: ~p[0].any((0, 1)),
                                 "g0": ~p[0].any((2, 3))}),
    contraction("contraction4_sparse", "ijkl,kl->ij", "ijKL",
                ["nmkl#F", "kl#A"], "nm", einsum("ijkl,kl->ij")),
    elementwise("square4", ["nmkl#F", "nmkl#F"], "nmkl#F", "mulf",
                lambda x, p: x[0] * x[1], lambda p, x: p[0] & p[1]),
    unary("tanh4", "  %y = math.tanh %x0 : !", np.tanh, type_="nmkl#F"),
]

finish([table("vectors", VECTOR, 5, 4), table("rank3", TENSOR, 4, 5),
        table("rank4", RANK4, 5, 3)])
