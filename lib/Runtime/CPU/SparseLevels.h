//===- SparseLevels.h - The levels of sparse storage ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the makers and the validator of storage agree on. Internal to the
// runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CPU_SPARSELEVELS_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CPU_SPARSELEVELS_H

#include "SparseAutograd/Runtime/LevelFormats.h"

namespace sparse_autograd {
namespace runtime {

/// A tensor of MLIR has no more levels than bits in a set of them.
inline constexpr int64_t mostLevels = 64;

/// The first level that cannot be what it is after those before it; `levels`
/// if there is none.
inline int64_t checkFormats(int64_t levels, const LevelKind *kinds,
                            const int64_t *extents) {
  for (int64_t level = 0; level < levels; ++level)
    if (!isExtentOf(*kinds[level].format, extents[level]) ||
        checkLevel(level > 0 ? &kinds[level - 1] : nullptr, kinds[level]) !=
            LevelProblem::None)
      return level;
  return levels;
}

/// The product of two numbers >= 0; -1 if it is more than can be addressed,
/// whatever the elements are.
inline int64_t multiplyElements(int64_t a, int64_t b) {
  constexpr int64_t most = int64_t(1) << 58;
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product) || product > most)
    return -1;
  return product;
}

inline bool isWidth(int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CPU_SPARSELEVELS_H
