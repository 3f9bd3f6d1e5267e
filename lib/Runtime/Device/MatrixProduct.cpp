//===- MatrixProduct.cpp - Contractions as products of matrices -*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Strides say all: a loop that does not index an operand moves nothing in it.
//
//===----------------------------------------------------------------------===//

#include "MatrixProduct.h"

namespace sparse_autograd {
namespace runtime {

namespace {
/// The loops of one kind.
struct LoopList {
  ProductLoop loops[maximalOuterLoops];
  int count = 0;

  bool add(const ProductLoop &loop);
  ProductLoop takeLongest();
};
} // namespace

/// Makes `inner`, within `outer`, a loop over what both run over, if the
/// elements of each operand lie as those of one loop.
static bool mergeLoops(const ProductLoop &outer, ProductLoop &inner) {
  for (int operand = 0; operand < 3; ++operand) {
    int64_t span;
    if (__builtin_mul_overflow(inner.extent, inner.strides[operand], &span) ||
        span != outer.strides[operand])
      return false;
  }
  int64_t extent;
  if (__builtin_mul_overflow(inner.extent, outer.extent, &extent))
    return false;
  inner.extent = extent;
  return true;
}

/// Returns false if there are too many.
bool LoopList::add(const ProductLoop &loop) {
  ProductLoop merged = loop;
  // What was merged may be so again.
  for (int i = 0; i < count;) {
    ProductLoop asOuter = loops[i];
    bool isInner = mergeLoops(merged, asOuter);
    if (isInner || mergeLoops(loops[i], merged)) {
      if (isInner)
        merged = asOuter;
      loops[i] = loops[--count];
      i = 0;
    } else {
      ++i;
    }
  }
  if (count == maximalOuterLoops)
    return false;
  loops[count++] = merged;
  return true;
}

/// The longest loop, which is no more in the list; of none, a single iteration.
ProductLoop LoopList::takeLongest() {
  if (count == 0)
    return {};
  int longest = 0;
  for (int i = 1; i < count; ++i)
    if (loops[i].extent > loops[longest].extent)
      longest = i;
  ProductLoop taken = loops[longest];
  loops[longest] = loops[--count];
  return taken;
}

bool findMatrixProduct(int64_t loopCount,
                       const SparseAutogradContractionLoop *loops,
                       MatrixProduct &product) {
  LoopList m, n, k, batch;
  for (int64_t i = 0; i < loopCount; ++i) {
    ProductLoop loop = {loops[i].extent,
                        {loops[i].aStride, loops[i].bStride, loops[i].cStride}};
    if (loop.extent == 1)
      continue;
    bool inA = loop.strides[0] != 0, inB = loop.strides[1] != 0;
    bool inC = loop.strides[2] != 0;
    for (int64_t stride : loop.strides)
      if (stride < 0)
        return false;
    // The same element of c again and again, for one factor or none.
    if (!inC && !(inA && inB))
      return false;
    // A constant added to each element of c.
    if (!inA && !inB)
      return false;
    LoopList &list = !inC ? k : !inB ? m : !inA ? n : batch;
    if (!list.add(loop))
      return false;
  }
  product.m = m.takeLongest();
  product.n = n.takeLongest();
  product.k = k.takeLongest();
  // Sums over several lists of terms are several products, one after another.
  if (k.count != 0)
    return false;
  product.batch = batch.count ? batch.takeLongest()
                  : m.count   ? m.takeLongest()
                              : n.takeLongest();
  product.outerCount = 0;
  LoopList *others[] = {&batch, &m, &n};
  for (LoopList *list : others)
    while (list->count) {
      if (product.outerCount == maximalOuterLoops)
        return false;
      product.outer[product.outerCount++] = list->takeLongest();
    }
  return true;
}

} // namespace runtime
} // namespace sparse_autograd
