//===- XlaCall.h - entries as custom calls of XLA
//--------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What sparse_autograd.jax calls compiled code by: one handler for XLA's
// foreign functions, and a list of the entries that it may call. Arguments are
// read in XLA's buffers and results written there.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_PYTHON_XLACALL_H
#define SPARSEAUTOGRAD_PYTHON_XLACALL_H

#include "SparseAutograd/Runtime/Runtime.h"
#include <nanobind/nanobind.h>
#include <vector>

/// How a value of an entry is handed over.
enum class XlaValue {
  Number, ///< a buffer of rank 0
  Dense,  ///< a buffer
  CSR,    ///< buffers of values, coordinates and positions (BCSR)
  COO     ///< values, and coordinates as an array of structs (BCOO)
};

/// Has the handler call `entry` for the attribute `id`, as long as the process
/// lives. Results are numbers and dense.
void addXlaEntry(int64_t id, SparseAutogradEntry entry,
                 std::vector<XlaValue> arguments,
                 std::vector<XlaValue> results);

/// The handler, a capsule as jax.ffi.register_ffi_target takes it. Its
/// attributes are `id`, and `extents`, those of all sparse arguments.
nanobind::capsule getXlaHandler();

#endif // SPARSEAUTOGRAD_PYTHON_XLACALL_H
