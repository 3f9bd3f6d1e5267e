//===- Block.cpp - The threads of a block -----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include "Counting/Counter.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

using namespace sparse_autograd::emulator;

thread_local Block *Block::current = nullptr;

/// In the plain order, a thread that does not wait is interrupted after so many
/// steps all the same: it may look again and again at what another one writes.
constexpr int64_t plainInterval = 1 << 16;

Block::~Block() {
  if (sharedWindow)
    munmap(reinterpret_cast<void *>(sharedWindow), sharedWindowBytes);
}

//===----------------------------------------------------------------------===//
// Begin and end
//===----------------------------------------------------------------------===//

bool Block::prepareLaunch(const LaunchState &newLaunch) {
  launch = newLaunch;
  parameters.clear();
  threadCount = launch.block[0] * launch.block[1] * launch.block[2];
  // What the emulator itself needs of the stack, besides the kernel.
  size_t stackBytes = static_cast<size_t>(launch.options->stackBytes) +
                      static_cast<size_t>(launch.kernel->stackBytes);
  if (!stacks.reserve(threadCount, stackBytes))
    return false;
  if (threads.size() < threadCount)
    threads.resize(threadCount);
  warps.assign((threadCount + warpSize - 1) / warpSize, Warp());
  ready.assign(threadCount, 0);
  if (!sharedWindow) {
    void *window = mmap(nullptr, sharedWindowBytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (window == MAP_FAILED)
      return false;
    sharedWindow = reinterpret_cast<uintptr_t>(window);
    // Aligned to what descriptors of matrices can address, so that these bits
    // of an address are the place in shared memory.
    uintptr_t middle = sharedWindow + sharedWindowBytes / 2;
    shared = reinterpret_cast<char *>(middle & ~(sharedAlignment - 1));
  }
  if (launch.sharedBytes > sharedCapacity) {
    if (mprotect(shared, launch.sharedBytes, PROT_READ | PROT_WRITE) != 0)
      return false;
    sharedCapacity = launch.sharedBytes;
  }
  sharedShadow.resize(launch.sharedBytes);
  return true;
}

void Block::getBlockId(uint32_t number, uint32_t (&blockId)[3]) const {
  blockId[0] = number % launch.grid[0];
  blockId[1] = number / launch.grid[0] % launch.grid[1];
  blockId[2] = number / launch.grid[0] / launch.grid[1];
}

void Block::runThread() {
  Block &block = getCurrent();
  enter(block.getThread().context, block.scheduler);
  block.launch.kernel->function(block.launch.parameters);
  block.endThread();
}

void Block::begin(uint32_t newNumber) {
  number = newNumber;
  getBlockId(number, id);
  random = RandomNumbers(launch.options->seed + number * UINT64_C(0x100000001));
  steps = 0;
  stepsToPreemption = launch.options->seed ? 1 : plainInterval;
  hasFault = false;
  firstEpoch = ++*launch.lastEpoch;
  clocks.begin(threadCount, agentCount);
  clocks.beginEpoch(firstEpoch);
  // NaN in every float type, so that what is not written is seen in results
  // even where it is not reported.
  if (launch.sharedBytes)
    std::memset(shared, 0xFF, launch.sharedBytes);
  sharedStates.assign(launch.sharedBytes, Unwritten);
  sharedWrites.assign(launch.sharedBytes / 4 + 1, GenericWrite());
  sharedReaders.assign(launch.sharedBytes / 16 + 1, 0);
  for (Barrier &barrier : barriers)
    barrier = Barrier();
  mbarriers.clear();
  operations.clear();
  hasBulkLoads = false;
  stores.clear();
  progress = 0;
  firstReady = 0;
  readyCount = 0;
  liveCount = threadCount;
  std::fill(warps.begin(), warps.end(), Warp());
  products.assign(warps.size(), WarpProducts());
  groups.assign((warps.size() + warpsOfGroup - 1) / warpsOfGroup, Warpgroup());
  scheduler.stack = nullptr;
  if (launch.counter)
    launch.counter->beginBlock();
  for (uint32_t i = 0; i < threadCount; ++i) {
    Thread &thread = threads[i];
    thread.index = i;
    thread.id[0] = i % launch.block[0];
    thread.id[1] = i / launch.block[0] % launch.block[1];
    thread.id[2] = i / launch.block[0] / launch.block[1];
    thread.call = nullptr;
    thread.copies.clear();
    thread.copyGroup = 0;
    thread.copyCount = 0;
    thread.reads.clear();
    thread.bulkGroup = 0;
    thread.proxyFence = thread.initFence = 0;
    thread.failedTests = 0;
    thread.locals.clear();
    thread.progressAtTest = 0;
    thread.arrivedAt = 0;
    warps[thread.getWarp()].live |= 1u << thread.getLane();
    prepare(thread.context, stacks.get(i), stacks.getBytes(), runThread);
    makeReady(thread);
  }
}

bool Block::run(uint32_t newNumber) {
  current = this;
  begin(newNumber);
  ++launch.counters->blocks;
  // Threads switch to each other. They come back here when all of them have
  // ended, when none can run, or with a fault.
  pickThread();
  switchContext(scheduler, getThread().context);
  if (!hasFault && liveCount)
    reportDeadlock();
  launch.counters->steps += steps;
  if (launch.counter && !hasFault)
    launch.counter->endBlock();
  current = nullptr;
  return !hasFault;
}

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

void Block::makeReady(Thread &thread) {
  thread.state = Thread::State::Ready;
  ++warps[thread.getWarp()].ready;
  ready[(firstReady + readyCount++) % ready.size()] = thread.index;
}

bool Block::pickThread() {
  // Threads may wait for what happens by itself.
  while (!readyCount && !operations.empty())
    landOperations();
  if (!readyCount)
    return false;
  if (launch.options->seed) {
    size_t other = (firstReady + random.below(readyCount)) % ready.size();
    std::swap(ready[firstReady], ready[other]);
  }
  running = ready[firstReady];
  firstReady = (firstReady + 1) % ready.size();
  --readyCount;
  ++launch.counters->switches;
  return true;
}

void Block::yield() {
  Thread &self = getThread();
  ready[(firstReady + readyCount++) % ready.size()] = self.index;
  pickThread();
  if (&getThread() != &self)
    switchContext(self.context, getThread().context);
}

void Block::wait(Thread::State state, const char *operation,
                 const char *where) {
  Thread &self = getThread();
  if (++steps > launch.options->maxSteps)
    fail(self, SPARSE_AUTOGRAD_EMULATOR_TOO_MANY_STEPS, where,
         "has not ended after %lld steps of its block (an endless loop?)",
         static_cast<long long>(steps - 1));
  self.state = state;
  self.operation = operation;
  self.where = where;
  Warp &warp = warps[self.getWarp()];
  if (--warp.ready == 0 && warp.inActiveMask)
    resolveActiveMask(warp);
  if (!pickThread())
    switchContext(self.context, scheduler);
  else if (&getThread() != &self)
    switchContext(self.context, getThread().context);
}

void Block::step(const char *where) {
  ++progress;
  letOthersRun(where);
}

void Block::passTime(const char *where) {
  if (!getThread().failedTests)
    ++progress;
  letOthersRun(where);
}

void Block::letOthersRun(const char *where) {
  if (++steps > launch.options->maxSteps)
    fail(getThread(), SPARSE_AUTOGRAD_EMULATOR_TOO_MANY_STEPS, where,
         "has not ended after %lld steps of its block (an endless loop?)",
         static_cast<long long>(steps - 1));
  if (--stepsToPreemption > 0)
    return;
  stepsToPreemption = plainInterval;
  // At any time between its begin and its end.
  if (launch.options->seed && !operations.empty() && random.below(2))
    landOperations();
  if (launch.options->seed)
    stepsToPreemption =
        1 + random.below(2 * std::max(launch.options->preemptionInterval, 1));
  if (readyCount)
    yield();
}

void Block::endThread() {
  Thread &self = getThread();
  checkEndOfThread(self);
  checkProductsAtEnd(self);
  uint32_t warpIndex = self.getWarp();
  Warp &warp = warps[warpIndex];
  self.state = Thread::State::Ended;
  self.operation = self.where = nullptr;
  --liveCount;
  warp.live &= ~(1u << self.getLane());
  // Operations of a warp do not wait for threads that have ended.
  for (uint32_t lane = 0; lane < warpSize; ++lane) {
    uint32_t index = warpIndex * warpSize + lane;
    if (index < threadCount && threads[index].call)
      completeCalls(warpIndex, *threads[index].call, warp.complete[lane]);
  }
  if (--warp.ready == 0 && warp.inActiveMask)
    resolveActiveMask(warp);
  leave(self.context, pickThread() ? getThread().context : scheduler);
}

//===----------------------------------------------------------------------===//
// Operations of a warp
//===----------------------------------------------------------------------===//

/// Two calls that wait for each other must be calls of the same.
void Block::checkAgreement(const Thread &thread, const WarpCall &call) {
  uint32_t first = thread.getWarp() * warpSize;
  for (uint32_t lane = 0; lane < warpSize && first + lane < threadCount;
       ++lane) {
    const Thread &other = threads[first + lane];
    const WarpCall *otherCall = other.call;
    if (!otherCall || !(call.mask >> lane & 1) ||
        !(otherCall->mask >> thread.getLane() & 1))
      continue;
    bool isSame =
        call.operation == otherCall->operation && call.mask == otherCall->mask;
    bool isUniform = call.uniform == otherCall->uniform;
    bool isTogether = !call.isAligned || call.where == otherCall->where;
    if (isSame && isUniform && isTogether)
      continue;
    char text[256];
    describeThread(other, text, sizeof(text));
    if (!isSame)
      fail(thread, SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP, call.where,
           "executes %s with mask 0x%08x, but %s", call.operation, call.mask,
           text);
    if (!isUniform)
      fail(thread, SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP, call.where,
           "executes %s with operands that differ from those of its warp, but "
           "%s",
           call.operation, text);
    fail(thread, SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP, call.where,
         "executes %s, which all threads of a warp must do at the same place, "
         "but %s",
         call.operation, text);
  }
}

bool Block::completeCalls(uint32_t warp, const WarpCall &call,
                          void (*complete)(Block &, WarpCalls &)) {
  WarpCalls calls = {};
  uint32_t first = warp * warpSize;
  uint32_t wanted = call.mask & warps[warp].live;
  for (uint32_t lane = 0; lane < warpSize && first + lane < threadCount;
       ++lane) {
    WarpCall *other = threads[first + lane].call;
    bool takesPart = other && other->operation == call.operation &&
                     other->mask == call.mask &&
                     other->uniform == call.uniform && (call.mask >> lane & 1);
    if (takesPart)
      calls[lane] = other;
    else if (wanted >> lane & 1)
      return false;
  }
  complete(*this, calls);
  for (uint32_t lane = 0; lane < warpSize; ++lane) {
    if (!calls[lane])
      continue;
    Thread &thread = threads[first + lane];
    thread.call = nullptr;
    if (thread.state == Thread::State::InWarp)
      makeReady(thread);
  }
  return true;
}

void Block::collect(WarpCall &call, void (*complete)(Block &, WarpCalls &)) {
  Thread &self = getThread();
  if (!(call.mask >> self.getLane() & 1))
    fail(self, SPARSE_AUTOGRAD_EMULATOR_NOT_IN_MASK, call.where,
         "executes %s with mask 0x%08x, in which its own lane %u is not",
         call.operation, call.mask, self.getLane());
  step(call.where);
  checkAgreement(self, call);
  self.call = &call;
  warps[self.getWarp()].complete[self.getLane()] = complete;
  if (!completeCalls(self.getWarp(), call, complete))
    wait(Thread::State::InWarp, call.operation, call.where);
}

void Block::synchronizeWarp(uint32_t warp, uint32_t mask) {
  taking.clear();
  for (uint32_t lane = 0; lane < warpSize; ++lane)
    if (mask >> lane & 1)
      taking.push_back(warp * warpSize + lane);
  clocks.synchronize(taking, taking);
}

uint32_t Block::getActiveMask(const char *where) {
  Thread &self = getThread();
  ++warps[self.getWarp()].inActiveMask;
  wait(Thread::State::InActiveMask, "activemask", where);
  return self.result;
}

/// All threads of the warp wait: those that wait at one activemask are together
/// there. With a seed some are late.
void Block::resolveActiveMask(Warp &warp) {
  uint32_t first = static_cast<uint32_t>(&warp - warps.data()) * warpSize;
  uint32_t end = std::min(first + warpSize, threadCount);
  uint32_t late = launch.options->seed
                      ? static_cast<uint32_t>(random.next() & random.next())
                      : 0;
  warp.inActiveMask = 0;
  for (uint32_t index = first; index < end; ++index) {
    Thread &thread = threads[index];
    if (thread.state != Thread::State::InActiveMask)
      continue;
    uint32_t together[2] = {};
    for (uint32_t other = index; other < end; ++other)
      if (threads[other].state == Thread::State::InActiveMask &&
          threads[other].where == thread.where)
        together[late >> (other - first) & 1] |= 1u << (other - first);
    for (uint32_t mask : together)
      for (uint32_t lane = 0; lane < warpSize; ++lane)
        if (mask >> lane & 1) {
          threads[first + lane].result = mask;
          makeReady(threads[first + lane]);
        }
  }
}
