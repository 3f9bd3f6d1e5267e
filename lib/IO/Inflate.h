//===- Inflate.h - Expansion of deflated bytes ------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_IO_INFLATE_H
#define SPARSEAUTOGRAD_LIB_IO_INFLATE_H

#include "SparseAutograd/IO/DenseArray.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace sparse_autograd::io {

enum class InflateStatus { Done, Truncated, Corrupt, TooLarge, NoMemory };

/// What surrounds the deflated bytes.
enum class InflateWrapper { None, Gzip };

/// Expands one stream at the start of `input` and appends it to `output`, which
/// may grow to `maximumSize` bytes in all. `consumed` becomes the bytes of
/// `input` that were used: on an error, the place where it was found.
InflateStatus inflateStream(llvm::StringRef input, InflateWrapper wrapper,
                            uint64_t maximumSize, AlignedBuffer &output,
                            uint64_t &consumed);

} // namespace sparse_autograd::io

#endif // SPARSEAUTOGRAD_LIB_IO_INFLATE_H
