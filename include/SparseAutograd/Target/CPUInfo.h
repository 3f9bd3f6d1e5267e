//===- CPUInfo.h - numbers of a processor -----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The record of TargetInfo.h for a core. The runtime reads the generic one as
// well: this header includes nothing of LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TARGET_CPUINFO_H
#define SPARSEAUTOGRAD_TARGET_CPUINFO_H

#include <cstdint>

namespace sparse_autograd {

/// A core of a processor.
struct CPUInfo {
  /// The bits of a vector register, and how many of them there are: those that
  /// LLVM's vectorizer uses.
  int64_t vectorBits = 128;
  int64_t vectorRegisters = 16;
  /// The bytes of a cache line.
  int64_t lineBytes = 64;
  /// The lines that a vector of a row which a list names has at least for it to
  /// be worth a prefetch, if it is read, and if it is written.
  int64_t prefetchedLinesRead = 4, prefetchedLinesWritten = 2;
  /// The short loops that it remembers the lengths of when they run again,
  /// about; and the entries that rows have on average at most for gathers of
  /// what they name to be worth it.
  int64_t predictedLoops = 8192, gatheredEntries = 32;
  /// The bytes of the caches: of the first level, of what a core has for
  /// itself, and of what it may expect of the one that cores share.
  int64_t firstCacheBytes = int64_t(32) << 10;
  int64_t coreCacheBytes = int64_t(2) << 20;
  int64_t sharedCacheBytes = int64_t(16) << 20;

  /// The numbers of type `bits` wide that a vector register holds.
  constexpr int64_t getLanes(int64_t bits) const { return vectorBits / bits; }

  /// The least bytes of elements that are loaded and stored under a mask by one
  /// instruction: AVX has those of 4 and more, AVX-512 all; 0 if there are no
  /// masks.
  constexpr int64_t getMaskedBytes() const {
    return vectorBits >= 512 ? 1 : vectorBits >= 256 ? 4 : 0;
  }
};

/// What every processor has.
inline constexpr CPUInfo genericCPU;

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TARGET_CPUINFO_H
