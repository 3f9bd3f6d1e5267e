//===- Shadow.cpp - What is known of the accesses of memory -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shadow.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace sparse_autograd::emulator;

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

void Clocks::begin(uint32_t newThreadCount, uint32_t agentCount) {
  threadCount = newThreadCount;
  count = threadCount + agentCount;
  clocks.assign(count, 0);
  known.clear();
}

void Clocks::prepareKnown() {
  if (!known.empty())
    return;
  known.assign(size_t(threadCount) * count, 0);
  rowEpochs.assign(threadCount, 0);
}

uint32_t *Clocks::getKnown(uint32_t thread) {
  prepareKnown();
  uint32_t *row = &known[size_t(thread) * count];
  if (rowEpochs[thread] != epoch)
    std::fill_n(row, count, 0);
  rowEpochs[thread] = epoch;
  return row;
}

void Clocks::synchronize(const std::vector<uint32_t> &releasing,
                         const std::vector<uint32_t> &acquiring) {
  prepareKnown();
  joined.assign(count, 0);
  for (uint32_t thread : releasing) {
    if (rowEpochs[thread] == epoch) {
      const uint32_t *row = &known[size_t(thread) * count];
      for (uint32_t i = 0; i < count; ++i)
        joined[i] = std::max(joined[i], row[i]);
    }
  }
  for (uint32_t thread : releasing)
    joined[thread] = std::max(joined[thread], ++clocks[thread]);
  // Each of them has released, so what it knows is in the union.
  for (uint32_t thread : acquiring) {
    std::copy(joined.begin(), joined.end(), &known[size_t(thread) * count]);
    rowEpochs[thread] = epoch;
  }
}

void Clocks::release(uint32_t thread, ReleasedClocks &to) {
  // What was released in earlier epochs is ordered by their end.
  if (to.epoch != epoch) {
    to.epoch = epoch;
    to.clocks.assign(count, 0);
  }
  if (thread < threadCount && !known.empty() && rowEpochs[thread] == epoch) {
    const uint32_t *row = &known[size_t(thread) * count];
    for (uint32_t i = 0; i < count; ++i)
      to.clocks[i] = std::max(to.clocks[i], row[i]);
  }
  to.clocks[thread] = std::max(to.clocks[thread], ++clocks[thread]);
}

void Clocks::acquire(uint32_t thread, const ReleasedClocks &from) {
  if (from.epoch != epoch)
    return;
  uint32_t *row = getKnown(thread);
  for (uint32_t i = 0; i < count; ++i)
    row[i] = std::max(row[i], from.clocks[i]);
}

void Clocks::learn(uint32_t thread, uint32_t agent, uint32_t clock) {
  uint32_t &seen = getKnown(thread)[agent];
  seen = std::max(seen, clock);
}

//===----------------------------------------------------------------------===//
// Shadow
//===----------------------------------------------------------------------===//

void Shadow::Release::operator()(Cell *cells) const { std::free(cells); }

void Shadow::resize(size_t newBytes) {
  if (newBytes == bytes)
    return;
  bytes = newBytes;
  cells.reset();
  granularity = 2;
}

/// Cuts the granules into smaller ones.
void Shadow::refine(unsigned newGranularity) {
  size_t count = (bytes >> newGranularity) + 1;
  // Memory that is zero by itself takes no room until it is written to.
  std::unique_ptr<Cell, Release> finer(
      static_cast<Cell *>(std::calloc(count, sizeof(Cell))));
  if (finer && cells) {
    unsigned shift = granularity - newGranularity;
    for (size_t i = 0; i < count; ++i) {
      const Cell &cell = cells.get()[i >> shift];
      if (cell.write.epoch || cell.others[0].epoch || cell.others[1].epoch)
        finer.get()[i] = cell;
    }
  }
  cells = std::move(finer);
  granularity = newGranularity;
}

const Access *Shadow::recordIn(Cell &cell, const Access &access,
                               uint32_t firstEpoch, const Clocks &clocks,
                               bool isKept) {
  auto isOrdered = [&](const Access &earlier) {
    if (earlier.epoch < firstEpoch)
      return true;
    return earlier.block == access.block &&
           clocks.isBefore(earlier, access.thread);
  };
  bool isStore = access.kind == SPARSE_AUTOGRAD_STORE;
  if (!isOrdered(cell.write))
    return &cell.write;
  for (const Access &other : cell.others)
    if ((isStore || other.kind != access.kind) && !isOrdered(other))
      return &other;
  if (!isKept)
    return nullptr;
  if (isStore) {
    cell.write = access;
    // What is ordered after this access is ordered after these.
    cell.others[0].epoch = cell.others[1].epoch = 0;
    return nullptr;
  }
  for (Access &other : cell.others) {
    bool isOwn = other.block == access.block && other.thread == access.thread;
    // An atomic operation tells more than a read of the same thread.
    if (isOwn && other.epoch == access.epoch && other.clock == access.clock &&
        other.kind == SPARSE_AUTOGRAD_ATOMIC)
      return nullptr;
    if (isOrdered(other)) {
      other = access;
      return nullptr;
    }
  }
  auto getDistance = [](const Access &a, const Access &b) {
    if (a.block != b.block)
      return 2;
    return a.thread / warpSize != b.thread / warpSize ? 1 : 0;
  };
  if (getDistance(cell.others[0], access) >
      getDistance(cell.others[0], cell.others[1]))
    cell.others[1] = access;
  return nullptr;
}

bool Shadow::prepare(size_t offset, size_t length) {
  unsigned needed = (offset | length) % 4 == 0   ? 2
                    : (offset | length) % 2 == 0 ? 1
                                                 : 0;
  if (!cells || needed < granularity)
    refine(std::min(needed, granularity));
  return cells != nullptr;
}

void Shadow::overwrite(const Access &access, size_t offset, size_t length) {
  if (!prepare(offset, length))
    return;
  Cell cell;
  cell.write = access;
  std::fill(&cells.get()[offset >> granularity],
            &cells.get()[(offset + length - 1) >> granularity] + 1, cell);
}

void Shadow::addRead(const Access &access, size_t offset, size_t length) {
  if (!prepare(offset, length))
    return;
  size_t end = (offset + length - 1) >> granularity;
  for (size_t i = offset >> granularity; i <= end; ++i) {
    Access *others = cells.get()[i].others;
    // In the place of its own last one, or of what is of an earlier epoch.
    bool isSecond =
        others[0].epoch == access.epoch && others[0].thread != access.thread;
    others[isSecond] = access;
  }
}

const Access *Shadow::record(const Access &access, size_t offset, size_t length,
                             uint32_t firstEpoch, const Clocks &clocks,
                             bool isKept) {
  if (!prepare(offset, length))
    return nullptr;
  size_t end = (offset + length - 1) >> granularity;
  for (size_t i = offset >> granularity; i <= end; ++i)
    if (const Access *race =
            recordIn(cells.get()[i], access, firstEpoch, clocks, isKept))
      return race;
  return nullptr;
}
