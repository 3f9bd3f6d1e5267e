# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All ops that random programs are made of. An op with a rule for derivatives
belongs in one of these lists."""

import control_kinds
import linalg_kinds
import mask_kinds
import scalar_kinds
import tensor_kinds
import window_kinds
from mask_kinds import MASKED_REDUCE
from tensor_kinds import CONSTANT

KINDS = (scalar_kinds.KINDS + tensor_kinds.KINDS + linalg_kinds.KINDS +
         window_kinds.KINDS + mask_kinds.KINDS + control_kinds.KINDS)
NAMES = sorted({name for kind in KINDS for name in kind.names()})

__all__ = ["CONSTANT", "KINDS", "MASKED_REDUCE", "NAMES"]
