//===- Counts.h - What a launch asks of a GPU -------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counters of a launch, the occupancy and the model of its time that follow
// from them, and their JSON. What is here is counted or modelled: nothing is
// measured. The counter (Counter.h) fills them in; docs/emulator.md has what
// each number means.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_COUNTING_COUNTS_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_COUNTING_COUNTS_H

#include "CacheModel.h"
#include "SparseAutograd/Runtime/EmulatorABI.h"
#include "SparseAutograd/Target/GPUMachine.h"

#include <string>
#include <vector>

namespace sparse_autograd {
namespace emulator {

/// A product, or 1 / `divisor` of it: multiprocessors, L2 and bandwidths.
struct CountedMachine {
  const GPUMachine *product = nullptr;
  int64_t divisor = 1;

  int64_t getMultiprocessors() const;
  int64_t getL2Bytes() const;
  /// Reads NAME or NAME/DIVISOR; false if it is neither.
  bool parse(const char *text);
};

/// Requests of one instruction.
struct PlaceCounts {
  const char *where = nullptr;
  int32_t space = 0; ///< a SparseAutogradEmulatedSpace
  int32_t kind = 0;  ///< a SparseAutogradEmulatedAccess
  uint32_t bytes = 0;
  uint64_t requests = 0, lanes = 0, sectors = 0, wavefronts = 0;
  /// Wavefronts of shared memory that conflicts of banks add.
  uint64_t conflicts = 0;
};

/// Requests of a warp to a space of memory, of all instructions.
struct SpaceCounts {
  uint64_t requests = 0, lanes = 0, bytes = 0;
  uint64_t sectors = 0, wavefronts = 0, conflicts = 0;
};

struct LaunchCounts {
  std::string kernel;
  int64_t grid[3] = {}, block[3] = {};
  int64_t sharedBytes = 0;
  /// Registers of a thread, or 0 if no one has said.
  int64_t registers = 0;

  SpaceCounts global, shared, local;
  uint64_t atomics = 0;
  Traffic traffic;
  /// Whether the code counts its instructions.
  bool hasInstructions = false;
  /// Warp instructions of each class, and those times the lanes that take part.
  uint64_t instructions[SPARSE_AUTOGRAD_CLASS_COUNT] = {};
  uint64_t laneInstructions = 0;
  /// Multiplications with additions on tensor cores.
  uint64_t tensorMacs = 0;
  /// The parts of the longest chain of a warp, and of all warps together.
  struct Chain {
    uint64_t global = 0, shared = 0, cycles = 0;
  };
  Chain longest, all;
  std::vector<PlaceCounts> places;

  int64_t getBlocks() const { return grid[0] * grid[1] * grid[2]; }
  int64_t getThreads() const { return block[0] * block[1] * block[2]; }
  int64_t getWarps() const { return (getThreads() + 31) / 32; }
  uint64_t getInstructions() const;
};

/// How many blocks a multiprocessor runs at once, and what limits that.
struct Occupancy {
  int64_t blocks = 1;
  const char *limit = "";
};
Occupancy getOccupancy(const CountedMachine &machine,
                       const LaunchCounts &counts);
/// The part of a first cache that shared memory leaves.
int64_t getL1Bytes(const CountedMachine &machine, const LaunchCounts &counts,
                   int64_t blocks);

/// The model of the time of a launch: its least, by each part of the machine.
struct TimeModel {
  struct Term {
    const char *name;
    double seconds;
  };
  std::vector<Term> terms;
  /// The greatest one, and the time with the launch.
  const char *bound = "";
  double seconds = 0;
};
TimeModel modelTime(const CountedMachine &machine, const LaunchCounts &counts,
                    const Occupancy &occupancy);

/// {"machine": ..., "launches": [...]}, with the most expensive places of each.
std::string writeCounts(const CountedMachine &machine,
                        const std::vector<LaunchCounts> &launches);

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_COUNTING_COUNTS_H
