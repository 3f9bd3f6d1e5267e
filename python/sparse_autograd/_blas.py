# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who computes products of dense matrices: the OpenBLAS of the package
scipy-openblas32, else that of the system. Where there is none a warning says so."""

import importlib.util
import os
import sys
import warnings

from . import _core

_UNUSED, _LOADED, _MISSING = range(3)
_is_settled = False


def choose():
    """Chooses the library of the package, if it is installed."""
    spec = importlib.util.find_spec("scipy_openblas32")
    for folder in (spec and spec.submodule_search_locations) or ():
        path = os.path.join(folder, "lib", "libscipy_openblas.so")
        if os.path.exists(path):
            _core.set_blas(path)


def _level_of_the_caller():
    """The stack level, as check() sees it, of the first function outside of the package."""
    folder, frame, level = os.path.dirname(__file__), sys._getframe(1), 1
    while frame and os.path.dirname(frame.f_code.co_filename) == folder:
        frame, level = frame.f_back, level + 1
    return level


def check():
    """After a call: warns, once, if it had a product and no library was found."""
    global _is_settled
    if _is_settled:
        return
    state, _ = _core.blas()
    _is_settled = state != _UNUSED
    if state == _MISSING:
        warnings.warn(
            "no OpenBLAS was found: products of dense matrices are computed by loops, several "
            "times slower; install scipy-openblas32",
            RuntimeWarning,
            stacklevel=_level_of_the_caller(),
        )
