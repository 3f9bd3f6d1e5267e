# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: %python %s
"""Functions of sparse matrices in every format and width: values, gradients on
the patterns of the leaves, tangents."""

from execution import finish
from sparse_functions import table
from sparse_tables import COPIES, ELEMENTWISE, MORE, PAIRS, PRODUCTS

finish([table("products", PRODUCTS, 3), table("elementwise", ELEMENTWISE, 2),
        table("pairs", PAIRS, 3), table("copies", COPIES, 3),
        table("more", MORE, 3, 4)])
