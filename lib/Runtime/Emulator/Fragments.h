//===- Fragments.h - The parts of matrices that threads hold ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What mma and wgmma have in common. Which thread holds which elements is in
// the PTX ISA, sections "Matrix fragments for mma", "Matrix fragments for
// sparse mma" and "Asynchronous warpgroup level matrix register fragment". In
// all of them a thread is named by its group (lane / 4) and its place in the
// group (lane % 4). Internal to the emulator.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_FRAGMENTS_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_FRAGMENTS_H

#include "Block.h"

namespace sparse_autograd {
namespace emulator {

enum class Element { F16, BF16, TF32, F32, F64 };

/// Whether a register holds two of them.
inline bool isPair(Element element) {
  return element == Element::F16 || element == Element::BF16;
}
inline uint32_t getBytes(Element element) {
  return element == Element::F64 ? 8 : isPair(element) ? 2 : 4;
}
double readElement(const char *from, Element element);
/// Rounds a sum: f16, f32 or f64.
void writeElement(char *to, Element element, double value);

/// A place in a matrix.
struct Place {
  uint32_t row;
  uint32_t column;
};

/// Element i of a thread's part of 16 rows of A (f64: of 8).
Place getPlaceInA(Element factors, uint32_t lane, uint32_t i);
/// Element i of a thread's part of as many rows of the sums.
inline Place getPlaceInSums(uint32_t lane, uint32_t i) {
  return {lane / 4 + i / 2 % 2 * 8, lane % 4 * 2 + i % 2 + i / 4 * 8};
}

/// Which elements of a sparse A are stored. The metadata has 4 bits for each
/// two stored elements of 16 bits, which are those of four columns: two indices
/// of 2 bits. Of tf32 it has 4 bits for each stored element, of two columns:
/// the indices of its halves, as if they had 16 bits. A register has the
/// metadata of rows r and r + 8, for 16 columns (tf32: 8).
struct Metadata {
  Element factors;
  bool isOrdered;
  /// Of the four threads of a group, the first one that is read.
  uint32_t firstThread;
  /// Of each thread.
  uint32_t words[warpSize];

  /// Which column a stored element of a row is in.
  uint32_t getColumn(Block &block, const WarpCalls &calls, uint32_t row,
                     uint32_t stored) const;
};

/// Reports an operation that needs the whole warp, if that is not there.
void checkWholeWarp(Block &block, const WarpCalls &calls);

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_FRAGMENTS_H
