# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic differentiation of sparse and masked programs.

Programs in MLIR: `Module`, `load`. Functions of arrays in Python, which are
traced: `sparse_autograd.numpy`, and `jit`, `grad`, `value_and_grad`, `vjp`, `jvp`.
docs/python.md begins with the first loss.
"""

from . import _blas
from ._core import set_thread_count
from ._core import compilation_count, counters
from ._core import version as _version
from ._errors import (
    ArgumentError,
    Diagnostic,
    Error,
    NotFoundError,
    OutOfMemoryError,
    ProgramError,
    RangeError,
)
from ._report import Report
from ._module import Entry, Executable, Module, load
from ._trace import TraceError
from ._values import RowSparse, SparseTensor
from . import numpy, random
from ._custom import custom_vjp
from ._inline import mlir_function
from .transforms import checkpoint, grad, jit, jvp, value_and_grad, vjp

_blas.choose()
__version__ = _version().partition(",")[0]
__all__ = [
    "ArgumentError",
    "Diagnostic",
    "Entry",
    "Error",
    "Executable",
    "Module",
    "NotFoundError",
    "OutOfMemoryError",
    "ProgramError",
    "RangeError",
    "Report",
    "RowSparse",
    "SparseTensor",
    "TraceError",
    "checkpoint",
    "compilation_count",
    "counters",
    "custom_vjp",
    "grad",
    "jit",
    "jvp",
    "load",
    "mlir_function",
    "numpy",
    "random",
    "set_thread_count",
    "value_and_grad",
    "vjp",
]
