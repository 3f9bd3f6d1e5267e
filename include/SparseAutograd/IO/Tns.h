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
/// blank lines and lines that begin with # are skipped. The first entry tells
/// the rank. The extents are not in the file, but inferred from the entries, of
/// which there must be one.
llvm::Expected<CoordinateTensor> parseTns(llvm::StringRef text,
                                          llvm::StringRef file,
                                          Duplicates duplicates,
                                          const SizeLimits &limits);

/// Writes a line for each entry, values so that they are read back bit for bit
/// (but for the payload of a NaN); those of a pattern are 1. The extents are a
/// comment.
void writeTns(llvm::raw_ostream &stream, const CoordinateTensor &tensor);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_TNS_H
