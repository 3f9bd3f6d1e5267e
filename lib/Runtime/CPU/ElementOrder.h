//===- ElementOrder.h - Order of the elements of levels ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether the coordinates of a level, or of a pair of levels as in COO, are in
// range and increase below each parent: one pass over them, in vectors and in
// parallel chunks, and one over the parents. Internal to the validator of
// storage, which finds out by itself where something is wrong.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CPU_ELEMENTORDER_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CPU_ELEMENTORDER_H

#include "SparseAutograd/Runtime/CompilerABI.h"

#include <atomic>

namespace sparse_autograd {
namespace runtime {

/// The coordinates of levels that are checked together: of one level, or of two
/// of which the first is not unique.
template <typename C>
struct Coordinates {
  const C *outer, *inner; ///< element 0 of each; `inner` null for one level
  int64_t outerStride, innerStride;
  C outerLast, innerLast; ///< the largest that there may be
};

/// What is counted of elements: those of which a coordinate is too large, and
/// those that are not greater than the element before.
struct Violations {
  int64_t tooLarge = 0, descents = 0;
};

/// Counts violations of the elements [begin, end), begin > 0: without a branch
/// an element, so that it becomes vectors.
template <typename C, bool isContiguous, bool isPair>
[[gnu::always_inline]] inline void countIn(const Coordinates<C> &c,
                                           int64_t begin, int64_t end,
                                           Violations &violations) {
  // In narrow numbers, of which a vector has more.
  constexpr int64_t blockElements = int64_t(1) << 20;
  int64_t outerStride = isContiguous ? 1 : c.outerStride;
  int64_t innerStride = isContiguous ? 1 : c.innerStride;
  const C *outers = c.outer, *inners = c.inner;
  C outerLast = c.outerLast, innerLast = c.innerLast;
  for (int64_t block = begin; block < end; block += blockElements) {
    int64_t rest = end - block;
    int64_t blockEnd = block + (rest < blockElements ? rest : blockElements);
    int32_t tooLarge = 0, descents = 0;
    for (int64_t i = block; i < blockEnd; ++i) {
      C outer = outers[i * outerStride], before = outers[(i - 1) * outerStride];
      bool increases = before < outer;
      tooLarge += outer > outerLast;
      if constexpr (isPair) {
        C inner = inners[i * innerStride];
        increases |=
            (before == outer) & (inners[(i - 1) * innerStride] < inner);
        tooLarge += inner > innerLast;
      }
      descents += !increases;
    }
    violations.tooLarge += tooLarge;
    violations.descents += descents;
  }
}

template <typename C>
[[gnu::always_inline]] inline void countAny(const Coordinates<C> &c,
                                            int64_t begin, int64_t end,
                                            Violations &violations) {
  bool isContiguous = c.outerStride == 1 && (!c.inner || c.innerStride == 1);
  if (c.inner)
    return isContiguous ? countIn<C, true, true>(c, begin, end, violations)
                        : countIn<C, false, true>(c, begin, end, violations);
  return isContiguous ? countIn<C, true, false>(c, begin, end, violations)
                      : countIn<C, false, false>(c, begin, end, violations);
}

#if defined(__x86_64__)
template <typename C>
[[gnu::target("avx2")]] void countWithAVX2(const Coordinates<C> &c,
                                           int64_t begin, int64_t end,
                                           Violations &violations) {
  countAny(c, begin, end, violations);
}
#endif

template <typename C>
void countViolations(const Coordinates<C> &c, int64_t begin, int64_t end,
                     Violations &violations) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    return countWithAVX2(c, begin, end, violations);
#endif
  countAny(c, begin, end, violations);
}

/// Of the first elements of the parents [begin, end), how many do not increase:
/// they need not.
template <typename P, typename C>
int64_t countFirstDescents(const Coordinates<C> &c, const P *positions,
                           int64_t positionsOfParent, int64_t begin,
                           int64_t end) {
  int64_t descents = 0;
  for (int64_t parent = begin; parent < end; ++parent) {
    const P *place = positions + positionsOfParent * parent;
    bool isFirst = (place[0] < place[1]) & (place[0] > 0);
    // Some element where there is none to ask about.
    int64_t i = isFirst ? static_cast<int64_t>(place[0]) : 1;
    C outer = c.outer[i * c.outerStride];
    C before = c.outer[(i - 1) * c.outerStride];
    bool increases = before < outer;
    if (c.inner)
      increases |= (before == outer) & (c.inner[(i - 1) * c.innerStride] <
                                        c.inner[i * c.innerStride]);
    descents += isFirst & !increases;
  }
  return descents;
}

/// The sum over chunks, in parallel where there are several.
template <typename Chunk>
struct ParallelCount {
  const Chunk &chunk;
  std::atomic<int64_t> sum{0};

  static int64_t run(int64_t count, int64_t grain, const Chunk &chunk) {
    ParallelCount state = {chunk};
    sparseAutogradParallelFor(
        count, grain,
        [](void *environment, int64_t begin, int64_t end) {
          auto &state = *static_cast<ParallelCount *>(environment);
          state.sum.fetch_add(state.chunk(begin, end),
                              std::memory_order_relaxed);
        },
        &state);
    return state.sum.load();
  }
};

template <typename Chunk>
int64_t countInParallel(int64_t count, int64_t grain, const Chunk &chunk) {
  return ParallelCount<Chunk>::run(count, grain, chunk);
}

/// Whether all elements of all parents are in range and increase, however few a
/// parent has.
///
/// An element that does not increase is the first one of a parent if there are
/// as many of these as of those.
template <typename P, typename C>
bool areElementsInOrder(const Coordinates<C> &c, const P *positions,
                        int64_t parents, int64_t positionsOfParent,
                        int64_t elements) {
  constexpr int64_t elementsOfChunk = int64_t(1) << 18;
  constexpr int64_t parentsOfChunk = int64_t(1) << 16;
  if (elements == 0)
    return true;
  if (c.outer[0] > c.outerLast || (c.inner && c.inner[0] > c.innerLast))
    return false;
  if (elements == 1)
    return true;
  std::atomic<bool> isFine{true};
  int64_t descents = countInParallel(
      elements - 1, elementsOfChunk, [&](int64_t begin, int64_t end) {
        Violations violations;
        countViolations(c, begin + 1, end + 1, violations);
        if (violations.tooLarge)
          isFine.store(false, std::memory_order_relaxed);
        return violations.descents;
      });
  if (!isFine.load())
    return false;
  // Elements of an order that is right throughout need no positions.
  if (descents == 0)
    return true;
  return descents ==
         countInParallel(parents, parentsOfChunk,
                         [&](int64_t begin, int64_t end) {
                           return countFirstDescents(
                               c, positions, positionsOfParent, begin, end);
                         });
}

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CPU_ELEMENTORDER_H
