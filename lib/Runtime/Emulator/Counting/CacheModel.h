//===- CacheModel.h - Caches between multiprocessors and DRAM ---*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cache model of counted launches: sectored set-associative caches with
// least-recently-used replacement, an L1 for each multiprocessor and one L2.
// The L1 writes through and allocates for reads only; the L2 writes back.
// Called by the counter (Counter.h), which makes requests of accesses.
//
// Blocks run one after another in the emulator, and together on a GPU: the
// requests of a block are kept until as many blocks are there as the device
// has room for, and their warps then advance together, a request at a time. A
// block that ends gives its place to the next one.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_COUNTING_CACHEMODEL_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_COUNTING_CACHEMODEL_H

#include "SparseAutograd/Target/GPUMachine.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace sparse_autograd {
namespace emulator {

/// Sectors of a line: four bits.
using SectorMask = uint8_t;

/// A cache of one level.
class Cache {
public:
  /// What an access of some sectors of a line found.
  struct Result {
    SectorMask hits = 0;
    /// Those that it writes, and that had nothing to be written back before.
    SectorMask newlyDirty = 0;
  };

  /// An empty one of so many bytes.
  void begin(int64_t bytes);
  Result access(uint64_t line, SectorMask sectors, bool isWrite);

private:
  struct Way {
    uint64_t line = UINT64_MAX;
    uint64_t used = 0;
    SectorMask valid = 0;
    SectorMask dirty = 0;
  };
  Way *getSet(uint64_t line) {
    return &ways[hash(line) * GPUMachine::cacheWays];
  }
  uint64_t hash(uint64_t line) const;

  std::vector<Way> ways;
  uint64_t setCount = 0;
  uint64_t now = 0;
};

/// Sectors that went through each level in a launch. What a launch writes to
/// the L2 is written to DRAM once, at some time, and counts for this launch.
struct Traffic {
  uint64_t l1Reads = 0, l1Hits = 0;
  uint64_t l2Reads = 0, l2Hits = 0;
  uint64_t l2Writes = 0;
  uint64_t dramReads = 0, dramWrites = 0;
};

/// Lines of the requests of a warp, in order.
struct LineAccess {
  enum Kind : uint8_t { Read, ReadPastL1, Write, Update };
  uint64_t line = 0;
  SectorMask sectors = 0;
  Kind kind = Read;
  /// Whether it is the last one of its request.
  bool isLast = false;
};
using WarpTrace = std::vector<LineAccess>;
using BlockTrace = std::vector<WarpTrace>;

class CacheModel {
public:
  /// What the L2 holds stays until another machine is chosen.
  void chooseMachine(int64_t newMultiprocessors, int64_t l2Bytes);

  /// L1 caches of so many bytes; so many blocks run on a multiprocessor.
  void beginLaunch(int64_t l1Bytes, int64_t blocksOfEach);
  /// The next block; its requests run when others of its time are there.
  void addBlock(BlockTrace &&trace);
  /// Runs what is left.
  Traffic endLaunch();

private:
  struct Resident {
    BlockTrace trace;
    /// Where each warp is.
    std::vector<size_t> places;
    size_t multiprocessor = 0;
  };
  /// Runs requests while all places are taken, or to the end of all blocks.
  void run(bool toEnd);
  /// Has a warp ask for what is next; whether there is more of it.
  bool advance(Resident &resident, size_t warp);
  void access(Cache &l1, const LineAccess &access);

  size_t multiprocessors = 0;
  std::vector<Cache> l1;
  Cache l2;
  int64_t l2Bytes = 0;
  std::vector<Resident> residents;
  std::vector<size_t> freePlaces;
  std::deque<BlockTrace> waiting;
  Traffic traffic;
};

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_COUNTING_CACHEMODEL_H
