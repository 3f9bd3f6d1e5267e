# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masked reductions and softmaxes of what sparse tensors store, and attention."""

import numpy as np

from masked_gradients import SOFTMAX_KINDS, analytic
from masked_ops import KINDS
from sparse_functions import SparseFunction

EMPTY = {"max": -np.inf, "min": np.inf, "logsumexp": -np.inf, "prod": 1.0}
# Where these are zero they have a kink, and equal elements share.
KINKED = ("max", "min", "norm2", "std")


def masked(kind, x, chosen, dims, **options):
    """The op on complex arrays; the values of semantics R1 to R10 over nothing."""
    if 0 in x.shape:
        x, chosen = (np.pad(a, [(0, int(n == 0)) for n in x.shape])
                     for a in (x, chosen))
    y = np.asarray(analytic(kind, x, chosen, dims, **options))
    if kind in EMPTY:
        y = np.where(chosen.any(dims, keepdims=True), y, EMPTY[kind])
    return y


def reduction(name, kind, dims, x_type, mask_type=None, attributes="", **options):
    """`mask_type` is the type of another argument whose pattern selects; x
    selects what it stores otherwise."""
    is_softmax = kind in SOFTMAX_KINDS
    letters = x_type.split("#")[0]
    result = x_type if is_softmax else "".join(
        l for d, l in enumerate(letters) if d not in dims)
    other = mask_type or x_type
    number = 1 if mask_type else 0
    op = kind if is_softmax else "masked_reduce " + kind
    arrow = "" if is_softmax else f" -> <<{result}>>"
    body = f"""
  %m = sparse_autograd.pattern %x{number} : <<{other}>>
  %y = sparse_autograd.{op} %x0, %m dims = {list(dims)} {attributes} : <<{x_type}>>, <<{other}|i1>>{arrow}
  return %y : <<{result}>>"""

    def mirror(x, p):
        y = masked(kind, x[0], p[number], dims, **options)
        if not is_softmax:
            y = np.squeeze(y, dims)
            # An empty extent that was padded.
            return y[tuple(slice(n) for d, n in enumerate(x[0].shape)
                           if d not in dims)]
        y = y[tuple(slice(n) for n in x[0].shape)]
        return y

    def unmet(p):
        found = {}
        if "#" not in x_type:
            found[0] = ~p[number]
        if not is_softmax:
            found["g0"] = ~p[number].any(dims)
        return found

    return SparseFunction(
        name, [x_type] + ([mask_type] if mask_type else []), [result], body,
        mirror, (0,) if "#" in result else (), unmet,
        zeros=kind not in KINKED,
        draw=_positive if kind == "prod" and mask_type else None)


def _positive(rng, shape):
    return rng.uniform(0.5, 1.5, shape)


STORED = [reduction(f"{kind}_{''.join(map(str, dims))}", kind, dims, "nm#A")
          for kind in KINDS + SOFTMAX_KINDS for dims in ((0,), (1,), (0, 1))]
STORED += [
    reduction("mean_over_rank3", "mean", (1,), "nkl#A"),
    reduction("softmax_over_rank3", "masked_softmax", (0, 2), "nkl#A"),
    reduction("logsumexp_of_vector", "logsumexp", (0,), "n#A"),
    reduction("var_unbiased", "var", (1,), "nm#A", attributes="ddof = 1",
              ddof=1),
]
# Of a dense tensor, and of a sparse one that stores something else.
SELECTED = [reduction(f"{kind}_of_dense", kind, (1,), "nm", "nm#A")
            for kind in KINDS + SOFTMAX_KINDS]
SELECTED += [reduction(f"{kind}_of_other", kind, (0,), "nm#A", "nm#B")
             for kind in ("sum", "mean", "var", "std", "norm2")]


def _softmax(scores, pattern):
    return masked("masked_softmax", scores, pattern,
                  (1,))[:scores.shape[0], :scores.shape[1]]


def _attention(x, p):
    scores = np.where(p[0], 0.5 * (x[1] @ x[2].T), 0)
    return _softmax(scores, p[0]) @ x[3]


ATTENTION = [SparseFunction(
    "attention", ["nm#A", "nk", "mk", "ml"], ["nl"], """
  %kt_e = empty <<km>>
  %kt = linalg.transpose ins(%x2 : <<mk>>) outs(%kt_e : <<km>>) permutation = [1, 0]
  %z = zeros <<nm>>
  %d = linalg.matmul ins(%x1, %kt : <<nk>>, <<km>>) outs(%z : <<nm>>) -> <<nm>>
  %s = sparse_autograd.sample %d, %x0 : <<nm>>, <<nm#A>> -> <<nm#A>>
  %half = arith.constant 0.5 : f64
  %h = empty <<nm#A>>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%s, %half : <<nm#A>>, f64) outs(%h : <<nm#A>>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    linalg.yield %p : f64
  } -> <<nm#A>>
  %m = sparse_autograd.pattern %x0 : <<nm#A>>
  %w = sparse_autograd.masked_softmax %t, %m dims = [1] : <<nm#A>>, <<nm#A|i1>>
  %u = zeros <<nl>>
  %y = linalg.matmul ins(%w, %x3 : <<nm#A>>, <<ml>>) outs(%u : <<nl>>) -> <<nl>>
  return %y : <<nl>>""", _attention,
    unmet=lambda p: {1: ~p[0].any(1)[:, None], 2: ~p[0].any(0)[:, None],
                     3: ~p[0].any(0)[:, None], "g0": ~p[0].any(1)[:, None]})]
