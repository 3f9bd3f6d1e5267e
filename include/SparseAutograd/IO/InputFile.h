//===- InputFile.h - Files as readers see them ------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_INPUTFILE_H
#define SPARSEAUTOGRAD_IO_INPUTFILE_H

#include "SparseAutograd/IO/DenseArray.h"
#include "SparseAutograd/IO/Limits.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace sparse_autograd::io {

/// Reads the whole of a regular file into memory. Directories, FIFOs, sockets
/// and devices are refused, without waiting on them. The file is copied, not
/// mapped: one that is truncated meanwhile is an error, not a fault.
llvm::Expected<AlignedBuffer> readFile(llvm::StringRef path,
                                       const SizeLimits &limits);

/// As readFile, and expands a file that is gzip by its content.
llvm::Expected<AlignedBuffer> readExpandedFile(llvm::StringRef path,
                                               const SizeLimits &limits);

/// Whether the bytes begin as a gzip file does.
bool isGzip(llvm::StringRef bytes);

/// Expands gzip data of one or more members (RFC 1952), checking lengths and
/// checksums; bytes that follow the last member are an error. `file` is the
/// name for diagnostics.
llvm::Expected<AlignedBuffer> expandGzip(llvm::StringRef bytes,
                                         llvm::StringRef file,
                                         const SizeLimits &limits);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_INPUTFILE_H
