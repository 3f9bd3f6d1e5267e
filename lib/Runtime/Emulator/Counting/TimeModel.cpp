//===- TimeModel.cpp - The least time of counted work -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Roofline of a launch: each part of the machine takes at least its work over
// its rate, and the longest one is the model. Multiprocessors without a block
// do nothing, so that kernels of few blocks are slow in it.
//
//===----------------------------------------------------------------------===//

#include "Counts.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace sparse_autograd;
using namespace sparse_autograd::emulator;

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

bool CountedMachine::parse(const char *text) {
  size_t length = std::strcspn(text, "/");
  product = findGPUMachine(text, length);
  divisor = 1;
  if (!product || !text[length])
    return product != nullptr;
  char *end;
  divisor = std::strtoll(text + length + 1, &end, 10);
  return *end == '\0' && divisor >= 1 && divisor <= product->multiprocessors;
}

int64_t CountedMachine::getMultiprocessors() const {
  return std::max<int64_t>(1, product->multiprocessors / divisor);
}

int64_t CountedMachine::getL2Bytes() const {
  return product->sharedCacheBytes / divisor;
}

uint64_t LaunchCounts::getInstructions() const {
  uint64_t sum = 0;
  for (uint64_t count : instructions)
    sum += count;
  return sum;
}

//===----------------------------------------------------------------------===//
// Occupancy
//===----------------------------------------------------------------------===//

static int64_t roundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

Occupancy sparse_autograd::emulator::getOccupancy(const CountedMachine &machine,
                                                  const LaunchCounts &counts) {
  const GPUMachine &gpu = *machine.product;
  Occupancy result = {gpu.blocks, "blocks"};
  auto limit = [&](int64_t blocks, const char *name) {
    if (blocks < result.blocks)
      result = {std::max<int64_t>(blocks, 1), name};
  };
  int64_t warps = counts.getWarps();
  limit(gpu.warps / warps, "warps");
  if (counts.sharedBytes)
    limit(gpu.sharedBytes /
              (counts.sharedBytes + GPUMachine::reservedSharedBytes),
          "shared memory");
  if (counts.registers)
    limit(gpu.registers / (warps * roundUp(counts.registers * 32,
                                           GPUMachine::registerUnit)),
          "registers");
  return result;
}

int64_t sparse_autograd::emulator::getL1Bytes(const CountedMachine &machine,
                                              const LaunchCounts &counts,
                                              int64_t blocks) {
  const GPUMachine &gpu = *machine.product;
  int64_t shared =
      counts.sharedBytes
          ? blocks * (counts.sharedBytes + GPUMachine::reservedSharedBytes)
          : 0;
  int64_t least = gpu.firstCacheBytes - gpu.sharedBytes;
  return std::max(least, gpu.firstCacheBytes - shared);
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

TimeModel sparse_autograd::emulator::modelTime(const CountedMachine &machine,
                                               const LaunchCounts &counts,
                                               const Occupancy &occupancy) {
  const GPUMachine &gpu = *machine.product;
  auto divisor = static_cast<double>(machine.divisor);
  auto get = [](uint64_t count) { return static_cast<double>(count); };
  double cycle = 1e-9 / gpu.gigahertz;
  int64_t blocks = std::max<int64_t>(counts.getBlocks(), 1);
  auto busy =
      static_cast<double>(std::min(blocks, machine.getMultiprocessors()));
  TimeModel model;
  auto add = [&](const char *name, double seconds) {
    model.terms.push_back({name, seconds});
    if (seconds > model.seconds) {
      model.seconds = seconds;
      model.bound = name;
    }
  };
  const Traffic &traffic = counts.traffic;
  auto getBytes = [&](uint64_t sectors) {
    return get(sectors) * GPUMachine::sectorBytes;
  };
  add("DRAM",
      getBytes(traffic.dramReads + traffic.dramWrites) /
          (gpu.dramGigabytes * 1e9 * GPUMachine::dramEfficiency / divisor));
  double l2Bytes = getBytes(traffic.l2Reads + traffic.l2Writes);
  add("L2", std::max(l2Bytes / (gpu.l2Gigabytes * 1e9 / divisor),
                     l2Bytes / (gpu.l2BytesPerCycle * busy) * cycle));
  add("L1", get(counts.global.wavefronts + counts.local.wavefronts +
                counts.shared.wavefronts) /
                busy * cycle);
  auto getClass = [&](int which) { return get(counts.instructions[which]); };
  add("issue", get(counts.getInstructions()) / (busy * gpu.schedulers) * cycle);
  // Lanes of a unit take a warp instruction in 32 / lanes cycles.
  auto addUnit = [&](const char *name, int which, int64_t lanes) {
    add(name, getClass(which) * 32 / (busy * lanes) * cycle);
  };
  addUnit("f32", SPARSE_AUTOGRAD_CLASS_F32, gpu.float32Lanes);
  addUnit("f64", SPARSE_AUTOGRAD_CLASS_F64, gpu.float64Lanes);
  addUnit("integer", SPARSE_AUTOGRAD_CLASS_INTEGER, gpu.integerLanes);
  addUnit("special", SPARSE_AUTOGRAD_CLASS_SPECIAL, gpu.specialLanes);
  add("tensor", get(counts.tensorMacs) / (busy * gpu.tensorMacsF16) * cycle);

  // A global access takes as long as the level that has it.
  auto average = [&](uint64_t hits, uint64_t all, double here, double there) {
    double share = all ? get(hits) / get(all) : 1;
    return share * here + (1 - share) * there;
  };
  double beyond = average(traffic.l2Hits, traffic.l2Reads,
                          static_cast<double>(gpu.l2Latency),
                          static_cast<double>(gpu.dramLatency));
  double latency = average(traffic.l1Hits, traffic.l1Reads,
                           static_cast<double>(gpu.l1Latency), beyond);
  auto getCycles = [&](const LaunchCounts::Chain &chain) {
    return get(chain.global) * latency +
           get(chain.shared) * static_cast<double>(gpu.sharedLatency) +
           get(chain.cycles);
  };
  auto warps = static_cast<double>(
      std::min(blocks, machine.getMultiprocessors() * occupancy.blocks) *
      counts.getWarps());
  add("longest warp", getCycles(counts.longest) * cycle);
  add("latency", getCycles(counts.all) / warps * cycle);
  model.seconds += GPUMachine::launchSeconds;
  return model;
}
