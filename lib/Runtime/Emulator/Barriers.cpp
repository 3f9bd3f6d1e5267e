//===- Barriers.cpp - Barriers of a block -----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include <algorithm>

using namespace sparse_autograd::emulator;

void Block::release(Barrier &barrier, uint32_t barrierId) {
  // A barrier of all threads orders everything, without a look at who knows
  // what of whom.
  if (barrier.waiting.size() == threadCount)
    clocks.beginEpoch(++*launch.lastEpoch);
  else
    clocks.synchronize(barrier.arrived, barrier.waiting);
  uint32_t count = static_cast<uint32_t>(barrier.arrived.size());
  uint32_t result =
      barrier.reduction == SPARSE_AUTOGRAD_REDUCE_AND  ? barrier.votes == count
      : barrier.reduction == SPARSE_AUTOGRAD_REDUCE_OR ? barrier.votes != 0
                                                       : barrier.votes;
  for (uint32_t index : barrier.waiting) {
    Thread &thread = threads[index];
    thread.result = result;
    if (thread.state == Thread::State::AtBarrier &&
        thread.barrier == static_cast<int32_t>(barrierId))
      makeReady(thread);
  }
  for (uint32_t index : barrier.arrived)
    threads[index].arrivedAt &= ~(1u << barrierId);
  std::fill_n(barrier.waitingOfWarp, maxWarps, 0);
  barrier.expected = 0;
  barrier.votes = 0;
  barrier.reduction = -1;
  barrier.arrived.clear();
  barrier.waiting.clear();
}

uint32_t Block::arrive(int32_t barrierId, int32_t count, bool isAligned,
                       bool waits, const char *name, const char *where,
                       int32_t reduction, bool predicate) {
  Thread &self = getThread();
  step(where);
  if (barrierId < 0 || barrierId >= barrierCount)
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_BARRIER, where,
         "executes %s with barrier %d: there are 0 to %d", name, barrierId,
         barrierCount - 1);
  if (count != -1 && (count < 1 || count % int32_t(warpSize) != 0))
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_BARRIER, where,
         "executes %s with a count of %d threads, which is no positive "
         "multiple of %u",
         name, count, warpSize);
  uint32_t expected = count == -1 ? threadCount : static_cast<uint32_t>(count);
  if (expected > threadCount)
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_BARRIER, where,
         "executes %s with a count of %u threads: the block has %u", name,
         expected, threadCount);
  Barrier &barrier = barriers[barrierId];
  if (barrier.expected && barrier.expected != expected)
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_BARRIER, where,
         "executes %s of barrier %d with a count of %u threads, but others "
         "have with a count of %u",
         name, barrierId, expected, barrier.expected);
  if (barrier.expected && barrier.reduction != reduction)
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_BARRIER, where,
         "executes %s of barrier %d, but others wait there in another "
         "reduction",
         name, barrierId);
  uint32_t bit = 1u << barrierId;
  if (self.arrivedAt & bit)
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_BARRIER, where,
         "executes %s of barrier %d, at which it has arrived already", name,
         barrierId);
  uint32_t &waitingOfWarp = barrier.waitingOfWarp[self.getWarp()];
  if (isAligned && waitingOfWarp && threads[waitingOfWarp - 1].where != where) {
    char text[256];
    describeThread(threads[waitingOfWarp - 1], text, sizeof(text));
    fail(self, SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_BARRIER, where,
         "executes %s, which all threads of a warp must do at the same place, "
         "but %s",
         name, text);
  }

  barrier.expected = expected;
  barrier.reduction = reduction;
  barrier.votes += predicate;
  barrier.arrived.push_back(self.index);
  self.arrivedAt |= bit;
  if (waits) {
    barrier.waiting.push_back(self.index);
    waitingOfWarp = self.index + 1;
  }
  if (barrier.arrived.size() == expected) {
    release(barrier, static_cast<uint32_t>(barrierId));
  } else if (waits) {
    self.barrier = barrierId;
    wait(Thread::State::AtBarrier, name, where);
  }
  return self.result;
}

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

void sparseAutogradEmulateBarrier(int32_t id, int32_t count, int32_t isAligned,
                                  const char *where) {
  Block::getCurrent().arrive(id, count, isAligned, /*waits=*/true,
                             "barrier.cta.sync", where);
}

void sparseAutogradEmulateBarrierArrive(int32_t id, int32_t count,
                                        int32_t isAligned, const char *where) {
  Block::getCurrent().arrive(id, count, isAligned, /*waits=*/false,
                             "barrier.cta.arrive", where);
}

int32_t sparseAutogradEmulateBarrierReduce(int32_t id, int32_t count,
                                           int32_t predicate, int32_t operation,
                                           int32_t isAligned,
                                           const char *where) {
  return static_cast<int32_t>(Block::getCurrent().arrive(
      id, count, isAligned, /*waits=*/true, "barrier.cta.red", where, operation,
      predicate != 0));
}
