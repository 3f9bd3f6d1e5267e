//===- Tns.h - The text format of FROSTT ------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_TNS_H
#define SPARSEAUTOGRAD_IO_TNS_H

#include "SparseAutograd/IO/CoordinateTensor.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace sparse_autograd::io {

/// Reads a sparse tensor as the FROSTT collection (Smith et al., 2017) stores
/// it: a line for each entry, its coordinates, counting from 1, and its value;
/// blank lines and lines that begin with # are skipped.
///
/// The format does not tell the extents. They are stated by a comment above the
/// entries, `# extents: 4 5 6`, as writeTns writes it, or by the header of
/// MLIR's "extended FROSTT", two lines of rank and number of entries and of the
/// extents. Without them they are inferred from the entries, of which there
/// must then be one, and so is the rank. A header is told from the entries of a
/// vector by the numbers in its lines; for a matrix without entries it needs
/// the comment `# extended FROSTT format` above it, which MLIR writes.
///
/// Values are F64, or I64 if all of them are integers of which one is not exact
/// as an f64.
llvm::Expected<CoordinateTensor> parseTns(llvm::StringRef text,
                                          llvm::StringRef file,
                                          Duplicates duplicates,
                                          const SizeLimits &limits);

/// Writes a line for each entry, values so that they are read back bit for bit
/// (but for the payload of a NaN); those of a pattern are 1. The extents are a
/// comment, which any reader of the format skips and ours reads. Values that
/// would be read as others are an error (checkHeldByText).
llvm::Error writeTns(llvm::raw_ostream &stream, const CoordinateTensor &tensor,
                     llvm::StringRef file);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_TNS_H
