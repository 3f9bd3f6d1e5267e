//===- Counter.h - Requests of the warps of a block -------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Coalescing of what threads do into what their warps ask for. Called by the
// emulator's block (Block.h) for each access of a thread, and by code that
// counts its instructions for each basic block.
//
// Lanes take part in the same request if they are at the same instruction in
// the same iterations of the loops around it: SIMT execution in which lanes
// meet again where a loop or a branch ends. Code that was not compiled to count
// has no loops here; lanes then meet at their k-th times at a place.
//
// The events of a warp are a list in the order in which its lanes come to them.
// Lanes run one after another, and mostly find what the one before has left.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_COUNTING_COUNTER_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_COUNTING_COUNTER_H

#include "Counts.h"

#include <unordered_map>

namespace sparse_autograd {
namespace emulator {

/// An access of a thread, at the address that the counter gave its buffer.
struct CountedAccess {
  uint64_t address = 0;
  uint32_t bytes = 0;
  int32_t space = 0; ///< a SparseAutogradEmulatedSpace
  int32_t kind = 0;  ///< a SparseAutogradEmulatedAccess
  bool isPastL1 = false;
  const char *where = nullptr;
};

class Counter {
public:
  explicit Counter(const CountedMachine &machine);

  const CountedMachine &getMachine() const { return machine; }
  /// Registers of a thread of the next launches; 0: not known.
  void setRegisters(int64_t newRegisters) { registers = newRegisters; }

  void beginLaunch(const char *kernel, const int64_t (&grid)[3],
                   const int64_t (&block)[3], int64_t sharedBytes);
  void beginBlock();
  /// A thread comes to a basic block.
  void enter(uint32_t thread, const SparseAutogradEmulatedBasicBlock &block);
  void access(uint32_t thread, const CountedAccess &access);
  void endBlock();
  /// Keeps the counts unless the launch has failed.
  void endLaunch(bool isKept);

  std::vector<LaunchCounts> launches;

private:
  static constexpr uint32_t none = UINT32_MAX;

  /// What lanes of a warp do together.
  struct Event {
    const void *place = nullptr; ///< of a basic block, or of an access
    uint64_t context = 0;
    uint32_t lanes = 0;
    uint32_t next = none;
    /// Of an access: where its 32 addresses are; else `none`.
    uint32_t addresses = none;
    uint32_t bytes = 0;
    int32_t space = 0, kind = 0;
    bool isPastL1 = false;
  };
  struct Key {
    const void *place;
    uint64_t context;
    bool operator==(const Key &other) const {
      return place == other.place && context == other.context;
    }
  };
  struct HashOfKey {
    size_t operator()(const Key &key) const {
      return (reinterpret_cast<uintptr_t>(key.place) ^ key.context) *
                 0x9E3779B97F4A7C15 >>
             7;
    }
  };
  struct Warp {
    std::vector<Event> events;
    std::vector<uint64_t> addresses;
    std::unordered_map<Key, uint32_t, HashOfKey> index;
    uint32_t first = none;
  };
  /// Where a thread is in a loop.
  struct Loop {
    uint64_t around = 0;
    uint64_t iteration = 0;
    uint64_t context = 0;
  };
  struct Lane {
    uint32_t last = none; ///< the event of its warp where it was last
    uint64_t context = 0;
    std::vector<Loop> loops;
  };

  /// The event of a thread at a place.
  Event &meet(uint32_t thread, const void *place);
  void countRequest(const Warp &warp, const Event &event, WarpTrace &trace);
  void countShared(const Warp &warp, const Event &event, PlaceCounts &place);

  CountedMachine machine;
  CacheModel caches;
  int64_t registers = 0;
  LaunchCounts counts;
  std::unordered_map<const void *, PlaceCounts> places;
  std::vector<Warp> warps;
  std::vector<Lane> lanes;
  uint32_t warpCount = 0;
};

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_COUNTING_COUNTER_H
