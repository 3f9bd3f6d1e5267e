//===- Limits.h - What a file may ask for -----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_IO_LIMITS_H
#define SPARSEAUTOGRAD_IO_LIMITS_H

#include <cstdint>

namespace sparse_autograd::io {

/// Upper bounds of what a reader accepts. Each is checked before memory of that
/// size is asked for, so that a file cannot ask for more than its reader
/// allows.
struct SizeLimits {
  /// Bytes of the file itself.
  uint64_t fileBytes = uint64_t(1) << 36;
  /// Bytes that a gzip file or a member of a zip file expands to.
  uint64_t expandedBytes = uint64_t(1) << 34;
  /// Bytes of one array or of the entries of one matrix in memory.
  uint64_t arrayBytes = uint64_t(1) << 34;
  /// Dimensions of an array.
  unsigned rank = 64;
  /// Members of a zip file.
  uint64_t members = uint64_t(1) << 16;
};

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_IO_LIMITS_H
