//===- Call.h - NumPy arrays as arguments and results of entries ----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between arrays and the descriptors of Runtime.h. What fits what is checked
// before, in Python (sparse_autograd/_values.py).
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_PYTHON_CALL_H
#define SPARSEAUTOGRAD_PYTHON_CALL_H

#include "SparseAutograd-c/Executable.h"
#include <nanobind/nanobind.h>

/// Calls the entry `name`. `arguments` has a pair for each: the list of its
/// arrays, aligned and with strides that are whole elements, and the extents;
/// the extents are None but for a sparse tensor, of which the arrays are the
/// components, and the list is a bare array for a number. `results` has a
/// quadruple for each: whether it is a number, a list of (DLPack code, bits,
/// rank) of its arrays, the number of extents that follow these, and its form
/// (SparseAutogradResultForm in Call.h). `destinations` is None, or for each
/// result None or a list with, for each of its arrays, None or the array that
/// it is written to.
///
/// Returns (status, diagnostics, results, times), the times those of
/// SparseAutogradCallTimes, and each result a pair: the list of its arrays and
/// the list of its extents. An array is its destination, if it has
/// one, or owns its buffer, or is that of an argument or of a result before it,
/// which it keeps alive, and then is for reading only. The GIL is released
/// while the entry runs.
nanobind::tuple callEntry(const SparseAutogradExecutable *executable,
                          const char *name, nanobind::list arguments,
                          nanobind::list results,
                          nanobind::object destinations);

/// The list as tuples (severity, file, line, column, message); releases it.
nanobind::list takeDiagnostics(SparseAutogradDiagnostics *list);

#endif // SPARSEAUTOGRAD_PYTHON_CALL_H
