# Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions: what the compiler and compiled code have to say."""

import dataclasses
import logging

_SEVERITIES = ("note", "remark", "warning", "error")


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message with its place; line and column count from 1, 0 is unknown."""

    severity: str
    file: str
    line: int
    column: int
    message: str

    def __str__(self):
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else ""
        prefix = f"{self.severity}: " if self.severity != "error" else ""
        return f"{place}{prefix}{self.message}"


class Error(Exception):
    """Any failure of the compiler or of compiled code."""

    def __init__(self, message, diagnostics=()):
        super().__init__(message)
        self.diagnostics = list(diagnostics)


class ProgramError(Error, ValueError):
    """The program, or an option, is not valid: `diagnostics` say where."""


class ArgumentError(Error, ValueError):
    """An entry was given extents or a sparse matrix that do not fit."""


class RangeError(Error, IndexError):
    """An index is out of range."""


class NotFoundError(Error, LookupError):
    """There is no entry, file or library of this name."""


class OutOfMemoryError(Error, MemoryError):
    """There is no more memory, or the limit that was set is reached."""


_CLASSES = {
    1: ArgumentError,
    2: OutOfMemoryError,
    3: RangeError,
    64: ProgramError,
    65: NotFoundError,
}


def check(outcome, remedy=None):
    """The value of an outcome (status, diagnostics, value) of _core, whose warnings are
    logged; raises what a status other than success means. `remedy` maps a message to advice."""
    status, diagnostics, value = outcome
    diagnostics = [Diagnostic(_SEVERITIES[s], *rest) for s, *rest in diagnostics]
    if status == 0:
        for d in diagnostics:
            if d.severity == "warning":
                logging.getLogger("sparse_autograd").warning("%s", d)
        return value
    # Remarks and warnings before an error are not what is wrong.
    shown = []
    for d in diagnostics:
        if d.severity == "error" or (d.severity == "note" and shown):
            shown.append(str(d))
    message = "\n".join(shown) or "out of memory"
    advice = remedy(message) if remedy else None
    if advice:
        message += f"\n{advice}"
    raise _CLASSES.get(status, Error)(message, diagnostics)
