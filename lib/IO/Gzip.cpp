//===- Gzip.cpp - Expansion of gzip files -----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inflate.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "SparseAutograd/IO/InputFile.h"

using namespace llvm;
using namespace sparse_autograd::io;

bool sparse_autograd::io::isGzip(StringRef bytes) {
  return bytes.starts_with("\x1f\x8b");
}

Expected<AlignedBuffer>
sparse_autograd::io::expandGzip(StringRef bytes, StringRef file,
                                const SizeLimits &limits) {
  AlignedBuffer output;
  if (!output.resize(0))
    return fileError(file, "no memory to expand the file",
                     "use a machine with more memory");
  uint64_t position = 0;
  do {
    StringRef rest = bytes.drop_front(position);
    if (!isGzip(rest))
      return byteError(file, position,
                       position ? "these bytes follow the last gzip member, "
                                  "and are not one"
                                : "this is not a gzip member",
                       "remove them, or compress the file again");
    uint64_t consumed = 0;
    switch (inflateStream(rest, InflateWrapper::Gzip, limits.expandedBytes,
                          output, consumed)) {
    case InflateStatus::Done:
      break;
    case InflateStatus::Truncated:
      return byteError(file, bytes.size(),
                       "the gzip file ends in the middle of a member",
                       "copy or compress it again");
    case InflateStatus::Corrupt:
      return byteError(file, position + consumed,
                       "the gzip data is corrupt here",
                       "copy or compress the file again");
    case InflateStatus::TooLarge:
      return byteError(file, position + consumed,
                       "the gzip file expands to more than the limit of " +
                           Twine(limits.expandedBytes) + " bytes",
                       "use a smaller file or raise the limit");
    case InflateStatus::NoMemory:
      return fileError(file, "no memory to expand the file",
                       "use a smaller file or a machine with more memory");
    }
    position += consumed;
  } while (position < bytes.size());
  return output;
}
