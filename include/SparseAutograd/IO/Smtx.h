//===- Smtx.h - Sparsity patterns of the DLMC collection --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_SMTX_H
#define SPARSEAUTOGRAD_IO_SMTX_H

#include "SparseAutograd/IO/CoordinateMatrix.h"
#include "SparseAutograd/IO/CoordinateTensor.h"
#include "SparseAutograd/IO/Limits.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace sparse_autograd::io {

/// Reads a pattern as the Deep Learning Matrix Collection (Gale et al., 2020)
/// stores it: line 1 `rows, columns, nnz`, line 2 rows + 1 offsets into line 3,
/// the column of each entry, counting from 0. The columns of a row may stand in
/// any order.
llvm::Expected<CoordinateMatrix> parseSmtx(llvm::StringRef text,
                                           llvm::StringRef file,
                                           Duplicates duplicates,
                                           const SizeLimits &limits);

/// Writes a pattern; an error unless the rank is 2 and each value, if there are
/// values, is 1, as which it is read again.
llvm::Error writeSmtx(llvm::raw_ostream &stream, const CoordinateTensor &tensor,
                      llvm::StringRef file);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_SMTX_H
