//===- WarpOperations.cpp - What the threads of a warp do -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include <algorithm>

using namespace sparse_autograd::emulator;

// Each operation is told from others by the pointer to its name.
static const char warpSyncName[] = "bar.warp.sync";
static const char *const shuffleNames[] = {"shfl.sync.up", "shfl.sync.down",
                                           "shfl.sync.bfly", "shfl.sync.idx"};
static const char *const voteNames[] = {"vote.sync.all", "vote.sync.any",
                                        "vote.sync.uni", "vote.sync.ballot"};
static const char *const reduceNames[] = {
    "redux.sync.add",  "redux.sync.min", "redux.sync.max", "redux.sync.umin",
    "redux.sync.umax", "redux.sync.and", "redux.sync.or",  "redux.sync.xor"};
static const char matchAnyName[] = "match.any.sync";
static const char matchAllName[] = "match.all.sync";
static const char electName[] = "elect.sync";

/// Reports an operation that does not exist.
template <size_t count>
static const char *getName(const char *const (&names)[count], int32_t kind,
                           const char *where) {
  if (kind >= 0 && static_cast<size_t>(kind) < count)
    return names[kind];
  Block &block = Block::getCurrent();
  block.fail(block.getThread(), SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, where,
             "executes operation %d of a warp, which does not exist", kind);
}

/// The data of the call of a lane.
template <typename T>
static T &getData(WarpCalls &calls, uint32_t lane) {
  return *static_cast<T *>(calls[lane]->data);
}

//===----------------------------------------------------------------------===//
// Synchronization
//===----------------------------------------------------------------------===//

void sparseAutogradEmulateWarpSync(uint32_t mask, const char *where) {
  WarpCall call(warpSyncName, mask, where, nullptr);
  Block &block = Block::getCurrent();
  block.collect(call, [](Block &block, WarpCalls &calls) {
    uint32_t present = 0;
    for (uint32_t lane = 0; lane < warpSize; ++lane)
      present |= uint32_t(calls[lane] != nullptr) << lane;
    block.synchronizeWarp(block.getThread().getWarp(), present);
  });
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

namespace {
struct ShuffleData {
  int32_t kind;
  uint32_t value;
  uint32_t lane;
  uint32_t clamp;
  uint32_t result;
  bool isInRange;
};
} // namespace

/// The lane that one reads from, and whether it is in range; as the pseudo-code
/// of shfl.sync in the PTX ISA.
static int32_t getSource(const ShuffleData &data, int32_t lane,
                         bool &isInRange) {
  int32_t b = data.lane & 31;
  int32_t c = data.clamp & 31;
  int32_t segment = data.clamp >> 8 & 31;
  int32_t maxLane = (lane & segment) | (c & ~segment);
  int32_t minLane = lane & segment;
  int32_t source = lane;
  switch (data.kind) {
  case SPARSE_AUTOGRAD_SHUFFLE_UP:
    source = lane - b;
    isInRange = source >= maxLane;
    break;
  case SPARSE_AUTOGRAD_SHUFFLE_DOWN:
    source = lane + b;
    isInRange = source <= maxLane;
    break;
  case SPARSE_AUTOGRAD_SHUFFLE_BUTTERFLY:
    source = lane ^ b;
    isInRange = source <= maxLane;
    break;
  default:
    source = minLane | (b & ~segment);
    isInRange = source <= maxLane;
    break;
  }
  return isInRange ? source : lane;
}

uint32_t sparseAutogradEmulateShuffle(int32_t kind, uint32_t mask,
                                      uint32_t value, uint32_t lane,
                                      uint32_t clamp, int32_t *isInRange,
                                      const char *where) {
  ShuffleData data = {kind, value, lane, clamp, 0, false};
  WarpCall call(getName(shuffleNames, kind, where), mask, where, &data);
  Block::getCurrent().collect(call, [](Block &block, WarpCalls &calls) {
    for (uint32_t lane = 0; lane < warpSize; ++lane) {
      if (!calls[lane])
        continue;
      ShuffleData &data = getData<ShuffleData>(calls, lane);
      int32_t source =
          getSource(data, static_cast<int32_t>(lane), data.isInRange);
      if (!calls[source])
        block.fail(block.getThreadOfWarp(lane),
                   SPARSE_AUTOGRAD_EMULATOR_INACTIVE_LANE, calls[lane]->where,
                   "reads from lane %d with %s and mask 0x%08x, but that lane "
                   "does not take part",
                   source, calls[lane]->operation, calls[lane]->mask);
      data.result = getData<ShuffleData>(calls, source).value;
    }
  });
  if (isInRange)
    *isInRange = data.isInRange;
  return data.result;
}

//===----------------------------------------------------------------------===//
// Votes, reductions and matches
//===----------------------------------------------------------------------===//

namespace {
struct ReduceData {
  int32_t kind;
  uint64_t value;
  uint32_t result;
};
} // namespace

uint32_t sparseAutogradEmulateVote(int32_t kind, uint32_t mask,
                                   int32_t predicate, const char *where) {
  ReduceData data = {kind, predicate != 0, 0};
  WarpCall call(getName(voteNames, kind, where), mask, where, &data);
  Block::getCurrent().collect(call, [](Block &, WarpCalls &calls) {
    uint32_t ballot = 0;
    uint32_t present = 0;
    int32_t kind = 0;
    for (uint32_t lane = 0; lane < warpSize; ++lane) {
      if (!calls[lane])
        continue;
      present |= 1u << lane;
      const ReduceData &data = getData<ReduceData>(calls, lane);
      kind = data.kind;
      ballot |= uint32_t(data.value) << lane;
    }
    uint32_t result = kind == SPARSE_AUTOGRAD_VOTE_ALL   ? ballot == present
                      : kind == SPARSE_AUTOGRAD_VOTE_ANY ? ballot != 0
                      : kind == SPARSE_AUTOGRAD_VOTE_UNI
                          ? ballot == 0 || ballot == present
                          : ballot;
    for (uint32_t lane = 0; lane < warpSize; ++lane)
      if (calls[lane])
        getData<ReduceData>(calls, lane).result = result;
  });
  return data.result;
}

static uint32_t reduce(int32_t operation, uint32_t a, uint32_t b) {
  switch (operation) {
  case SPARSE_AUTOGRAD_REDUCE_ADD:
    return a + b;
  case SPARSE_AUTOGRAD_REDUCE_MIN:
    return static_cast<uint32_t>(
        std::min(static_cast<int32_t>(a), static_cast<int32_t>(b)));
  case SPARSE_AUTOGRAD_REDUCE_MAX:
    return static_cast<uint32_t>(
        std::max(static_cast<int32_t>(a), static_cast<int32_t>(b)));
  case SPARSE_AUTOGRAD_REDUCE_UMIN:
    return std::min(a, b);
  case SPARSE_AUTOGRAD_REDUCE_UMAX:
    return std::max(a, b);
  case SPARSE_AUTOGRAD_REDUCE_AND:
    return a & b;
  case SPARSE_AUTOGRAD_REDUCE_OR:
    return a | b;
  default:
    return a ^ b;
  }
}

uint32_t sparseAutogradEmulateReduce(int32_t operation, uint32_t mask,
                                     uint32_t value, const char *where) {
  ReduceData data = {operation, value, 0};
  WarpCall call(getName(reduceNames, operation, where), mask, where, &data);
  Block::getCurrent().collect(call, [](Block &, WarpCalls &calls) {
    bool isFirst = true;
    uint32_t result = 0;
    for (uint32_t lane = 0; lane < warpSize; ++lane) {
      if (!calls[lane])
        continue;
      const ReduceData &data = getData<ReduceData>(calls, lane);
      uint32_t value = static_cast<uint32_t>(data.value);
      result = isFirst ? value : reduce(data.kind, result, value);
      isFirst = false;
    }
    for (uint32_t lane = 0; lane < warpSize; ++lane)
      if (calls[lane])
        getData<ReduceData>(calls, lane).result = result;
  });
  return data.result;
}

/// Gives each thread the mask of those with its value.
static void matchValues(Block &, WarpCalls &calls) {
  for (uint32_t lane = 0; lane < warpSize; ++lane) {
    if (!calls[lane])
      continue;
    ReduceData &data = getData<ReduceData>(calls, lane);
    for (uint32_t other = 0; other < warpSize; ++other)
      if (calls[other] && getData<ReduceData>(calls, other).value == data.value)
        data.result |= 1u << other;
  }
}

uint32_t sparseAutogradEmulateMatchAny(uint32_t mask, uint64_t value,
                                       const char *where) {
  ReduceData data = {0, value, 0};
  WarpCall call(matchAnyName, mask, where, &data);
  Block::getCurrent().collect(call, matchValues);
  return data.result;
}

uint32_t sparseAutogradEmulateMatchAll(uint32_t mask, uint64_t value,
                                       int32_t *areEqual, const char *where) {
  ReduceData data = {0, value, 0};
  WarpCall call(matchAllName, mask, where, &data);
  Block::getCurrent().collect(call, [](Block &block, WarpCalls &calls) {
    matchValues(block, calls);
    uint32_t present = 0;
    for (uint32_t lane = 0; lane < warpSize; ++lane)
      present |= uint32_t(calls[lane] != nullptr) << lane;
    for (uint32_t lane = 0; lane < warpSize; ++lane)
      if (calls[lane] && getData<ReduceData>(calls, lane).result != present)
        getData<ReduceData>(calls, lane).result = 0;
  });
  if (areEqual)
    *areEqual = data.result != 0;
  return data.result;
}

uint32_t sparseAutogradEmulateActiveMask(const char *where) {
  return Block::getCurrent().getActiveMask(where);
}

int32_t sparseAutogradEmulateElect(uint32_t mask, uint32_t *leader,
                                   const char *where) {
  ReduceData data = {0, 0, 0};
  WarpCall call(electName, mask, where, &data);
  Block &block = Block::getCurrent();
  block.collect(call, [](Block &, WarpCalls &calls) {
    uint32_t first = 0;
    while (!calls[first])
      ++first;
    for (uint32_t lane = 0; lane < warpSize; ++lane)
      if (calls[lane])
        getData<ReduceData>(calls, lane).result = first;
  });
  if (leader)
    *leader = data.result;
  return data.result == block.getThread().getLane();
}

//===----------------------------------------------------------------------===//
// Special registers and ends
//===----------------------------------------------------------------------===//

int64_t sparseAutogradEmulateRegister(int32_t which) {
  Block &block = Block::getCurrent();
  const Thread &thread = block.getThread();
  const LaunchState &launch = block.getLaunch();
  uint32_t bit = 1u << thread.getLane();
  switch (which) {
  case SPARSE_AUTOGRAD_TID_X:
  case SPARSE_AUTOGRAD_TID_Y:
  case SPARSE_AUTOGRAD_TID_Z:
    return thread.id[which - SPARSE_AUTOGRAD_TID_X];
  case SPARSE_AUTOGRAD_NTID_X:
  case SPARSE_AUTOGRAD_NTID_Y:
  case SPARSE_AUTOGRAD_NTID_Z:
    return launch.block[which - SPARSE_AUTOGRAD_NTID_X];
  case SPARSE_AUTOGRAD_CTAID_X:
  case SPARSE_AUTOGRAD_CTAID_Y:
  case SPARSE_AUTOGRAD_CTAID_Z:
    return block.getId()[which - SPARSE_AUTOGRAD_CTAID_X];
  case SPARSE_AUTOGRAD_NCTAID_X:
  case SPARSE_AUTOGRAD_NCTAID_Y:
  case SPARSE_AUTOGRAD_NCTAID_Z:
    return launch.grid[which - SPARSE_AUTOGRAD_NCTAID_X];
  case SPARSE_AUTOGRAD_LANEID:
    return thread.getLane();
  case SPARSE_AUTOGRAD_WARPID:
    return thread.getWarp();
  case SPARSE_AUTOGRAD_NWARPID:
    return (block.getThreadCount() + warpSize - 1) / warpSize;
  case SPARSE_AUTOGRAD_LANEMASK_EQ:
    return bit;
  case SPARSE_AUTOGRAD_LANEMASK_LT:
    return bit - 1;
  case SPARSE_AUTOGRAD_LANEMASK_LE:
    return bit | (bit - 1);
  case SPARSE_AUTOGRAD_LANEMASK_GT:
    return ~(bit | (bit - 1));
  case SPARSE_AUTOGRAD_LANEMASK_GE:
    return ~(bit - 1);
  case SPARSE_AUTOGRAD_CLOCK:
    return block.getSteps();
  case SPARSE_AUTOGRAD_DYNAMIC_SMEM_SIZE:
    return static_cast<int64_t>(launch.dynamicSharedBytes);
  case SPARSE_AUTOGRAD_TOTAL_SMEM_SIZE:
    return static_cast<int64_t>(launch.sharedBytes);
  default:
    block.fail(thread, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, nullptr,
               "reads special register %d, which does not exist", which);
  }
}

void sparseAutogradEmulateExit(void) { Block::getCurrent().endThread(); }

void sparseAutogradEmulateTrap(const char *message, const char *where) {
  Block &block = Block::getCurrent();
  block.fail(block.getThread(), SPARSE_AUTOGRAD_EMULATOR_ASSERTION, where, "%s",
             message);
}
