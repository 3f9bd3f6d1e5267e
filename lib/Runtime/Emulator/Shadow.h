//===- Shadow.h - What is known of the accesses of memory -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shadow memory: for each granule of a piece of memory, the last accesses that
// another one could race with. Internal to the emulator.
//
// The order of accesses. A barrier that all threads of a block pass begins a
// new epoch: what happened before is ordered before everything that follows. A
// barrier of fewer threads, and bar.warp.sync, order what their threads did
// before they came; that is a vector clock of each thread (Clocks). Accesses of
// different blocks of a launch are not ordered at all, launches are. An
// mbarrier orders what came before an arrival before what follows a wait: the
// clocks of those that arrive are kept with it (ReleasedClocks). What a copy
// writes that an mbarrier reports is the work of no thread; each mbarrier has
// an agent for it, with a clock like that of a thread.
//
// As in FastTrack (Flanagan and Freund, PLDI 2009), the last write is enough:
// if it is ordered before an access, so are those before it. Of reads (and of
// atomic operations, which do not race with each other) any number may be
// unordered. Two are kept, those that are furthest apart: of different blocks,
// or else of different warps. A write that is ordered after both, but not after
// a third one, is missed; that takes barriers of parts of a block or a warp.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_SHADOW_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_SHADOW_H

#include "SparseAutograd/Runtime/EmulatorABI.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sparse_autograd {
namespace emulator {

constexpr uint32_t warpSize = 32;

/// An access, and when it happened.
struct Access {
  uint32_t epoch = 0; ///< 0: there was none
  uint32_t block = 0;
  uint32_t clock = 0;
  uint16_t thread = 0;
  uint16_t kind = 0; ///< SparseAutogradEmulatedAccess
  const char *where = nullptr;
};

/// What is ordered before those that wait for something.
struct ReleasedClocks {
  uint32_t epoch = 0; ///< 0: nothing is
  std::vector<uint32_t> clocks;
};

/// What the threads of a block know of each other within an epoch. The agents
/// of asynchronous operations are numbered behind the threads.
class Clocks {
public:
  /// Before the first access of a block.
  void begin(uint32_t threadCount, uint32_t agentCount);
  /// Orders everything until now before everything that follows.
  void beginEpoch(uint32_t newEpoch) { epoch = newEpoch; }
  uint32_t getEpoch() const { return epoch; }
  uint32_t getClock(uint32_t thread) const { return clocks[thread]; }

  /// Orders what `releasing` did before what `acquiring`, which are some of
  /// them, do from now on.
  void synchronize(const std::vector<uint32_t> &releasing,
                   const std::vector<uint32_t> &acquiring);

  /// Adds what a thread or an agent did until now to `to`. No agent knows of
  /// others.
  void release(uint32_t thread, ReleasedClocks &to);
  /// Orders what was released before what a thread does from now on.
  void acquire(uint32_t thread, const ReleasedClocks &from);

  /// Ends what an agent did until now; returns the clock that those know who
  /// know of it.
  uint32_t advance(uint32_t agent) { return ++clocks[agent]; }
  /// Has a thread know what an agent did before it came to a clock.
  void learn(uint32_t thread, uint32_t agent, uint32_t clock);

  /// Whether an access of this block is ordered before what `thread` does now.
  bool isBefore(const Access &access, uint32_t thread) const {
    if (access.epoch < epoch || access.thread == thread)
      return true;
    return !known.empty() && rowEpochs[thread] == epoch &&
           known[thread * count + access.thread] > access.clock;
  }

private:
  void prepareKnown();
  /// What a thread knows in this epoch: a clock of each agent.
  uint32_t *getKnown(uint32_t thread);

  uint32_t threadCount = 0;
  /// With the agents.
  uint32_t count = 0;
  uint32_t epoch = 0;
  std::vector<uint32_t> clocks;
  /// known[t * count + u]: the accesses of u with a smaller clock are ordered
  /// before what t does now; if rowEpochs[t] is the epoch, else nothing is
  /// known. Empty until it is needed.
  std::vector<uint32_t> known;
  std::vector<uint32_t> rowEpochs;
  std::vector<uint32_t> joined;
};

/// The shadow of a piece of memory.
class Shadow {
public:
  /// One for so many bytes.
  void resize(size_t newBytes);
  /// Forgets all accesses.
  void forget() { cells.reset(); }

  /// Records an access of [offset, offset + bytes), and returns an earlier one
  /// that it races with, or a null pointer. Accesses before `firstEpoch` are
  /// forgotten. If there is no memory for it, nothing is recorded any more.
  /// Does not record it unless it is to be kept.
  const Access *record(const Access &access, size_t offset, size_t bytes,
                       uint32_t firstEpoch, const Clocks &clocks,
                       bool isKept = true);
  /// Records a write that was checked when it was asked for; or a read.
  void overwrite(const Access &access, size_t offset, size_t bytes);
  void addRead(const Access &access, size_t offset, size_t bytes);

private:
  struct Cell {
    Access write;
    Access others[2];
  };
  struct Release {
    void operator()(Cell *cells) const;
  };

  void refine(unsigned newGranularity);
  /// Has granules of which an access takes whole ones; false if there is no
  /// memory for them.
  bool prepare(size_t offset, size_t bytes);
  static const Access *recordIn(Cell &cell, const Access &access,
                                uint32_t firstEpoch, const Clocks &clocks,
                                bool isKept);

  size_t bytes = 0;
  /// The logarithm of the bytes of a granule: 2, unless a smaller type was
  /// accessed.
  unsigned granularity = 2;
  std::unique_ptr<Cell, Release> cells;
};

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_SHADOW_H
