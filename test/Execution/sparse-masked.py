# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Masked reductions and softmaxes of what sparse tensors store, and the sampled
product, softmax and product of sparse attention: values, gradients, tangents.
Empty slices, and NaN where the mask does not select, are among the cases."""

from execution import finish
from sparse_functions import table
from sparse_masked_tables import ATTENTION, SELECTED, STORED

finish([table("stored", STORED, 3, 4), table("selected", SELECTED, 4, 3),
        table("attention", ATTENTION, 3)])
