# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Second derivatives of functions of sparse tensors: of gradients along a
tangent, of gradients and of tangents backward, on the patterns of the leaves."""

from execution import finish
from sparse_functions import table
from sparse_masked_tables import ATTENTION, SELECTED, STORED
from sparse_tables import COPIES, ELEMENTWISE, MORE, PAIRS, PRODUCTS

NAMES = ("spmm", "sddmm_scaled", "bilinear", "trace", "times_dense",
         "scaled_rows", "divided_rows", "tanh", "leaf_thrice", "spgemm",
         "multiply", "multiply_alike", "add", "sample_dense",
         "sampled_spgemm", "logsumexp_1", "var_0", "prod_1", "norm2_01",
         "masked_softmax_1", "masked_log_softmax_0", "logsumexp_of_dense")
FUNCTIONS = [f for f in PRODUCTS + ELEMENTWISE + PAIRS + COPIES + MORE +
             STORED + SELECTED if f.name in NAMES]
assert len(FUNCTIONS) == len(NAMES)

finish([table("second", FUNCTIONS, 2, 3, second=True),
        table("attention", ATTENTION, 2, 4, second=True)])
