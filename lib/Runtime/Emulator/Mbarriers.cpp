//===- Mbarriers.cpp - Barriers in shared memory ----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mbarrier, as the PTX ISA has it in "Parallel synchronization and
// communication instructions: mbarrier". What is in the 8 bytes of an object is
// nobody's business; the emulator has it beside.
//
// A copy that has landed is not known to have until a thread has waited for its
// phase: until then its bytes stay pending, and reading them is a fault.
//
//===----------------------------------------------------------------------===//

#include "Block.h"

#include <algorithm>

using namespace sparse_autograd::emulator;

static constexpr size_t objectBytes = 8;
/// The largest count of arrivals, and of bytes (PTX ISA, "Valid values of the
/// contents of the mbarrier object").
static constexpr int64_t maxCount = (1 << 20) - 1;
/// When no thread has done anything else for so long, nothing will happen.
static constexpr uint32_t maxFailedTests = 1000;

/// A state has the phase and, below it, the arrivals that were left.
static constexpr unsigned countBits = 20;

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

Mbarrier *Block::findMbarrier(uint32_t offset) {
  for (Mbarrier &barrier : mbarriers)
    if (barrier.offset == offset && barrier.isValid)
      return &barrier;
  return nullptr;
}

uint32_t Block::getAgent(const Mbarrier &barrier) const {
  return threadCount +
         static_cast<uint32_t>(&barrier - mbarriers.data()) % mbarrierAgents;
}

void Block::describeMbarrier(const Mbarrier &barrier, char *buffer,
                             size_t size) const {
  std::snprintf(buffer, size,
                "which is in phase %llu with %u of %u arrivals and %lld bytes "
                "to come",
                static_cast<unsigned long long>(barrier.phase), barrier.pending,
                barrier.expected, static_cast<long long>(barrier.bytes));
}

void Block::initialize(const void *object, int32_t count, const char *where) {
  Thread &self = getThread();
  step(where);
  uintptr_t address = reinterpret_cast<uintptr_t>(object);
  checkAlignment(self, address, objectBytes, SPARSE_AUTOGRAD_STORE, where);
  auto offset = static_cast<uint32_t>(
      checkShared(self, address, objectBytes, SPARSE_AUTOGRAD_STORE, where));
  if (const Mbarrier *earlier = findMbarrier(offset))
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER, where,
         "initialises the mbarrier at offset %u of shared memory again, which "
         "was initialised%s%s%s and not invalidated since",
         offset, earlier->where ? " [" : "",
         earlier->where ? earlier->where : "", earlier->where ? "]" : "");
  if (count < 1 || count > maxCount)
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, where,
         "initialises an mbarrier for %d arrivals: 1 to %lld are possible",
         count, static_cast<long long>(maxCount));
  accessShared(self, address, objectBytes, SPARSE_AUTOGRAD_STORE, where);
  std::fill_n(&sharedStates[offset], objectBytes,
              static_cast<uint8_t>(Written | OfMbarrier));
  // An object that is invalid now may have agents' work in its name: it stays.
  mbarriers.emplace_back();
  Mbarrier &barrier = mbarriers.back();
  barrier.offset = offset;
  barrier.isValid = true;
  barrier.expected = barrier.pending = static_cast<uint32_t>(count);
  barrier.where = where;
  barrier.initThread = self.index;
  barrier.initStep = steps;
}

Mbarrier &Block::getMbarrier(const Thread &thread, const void *object,
                             const char *name, const char *where) {
  uintptr_t address = reinterpret_cast<uintptr_t>(object);
  checkAlignment(thread, address, objectBytes, SPARSE_AUTOGRAD_ATOMIC, where);
  size_t offset =
      checkShared(thread, address, objectBytes, SPARSE_AUTOGRAD_ATOMIC, where);
  Mbarrier *barrier = findMbarrier(static_cast<uint32_t>(offset));
  if (!barrier)
    fail(thread, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER, where,
         "executes %s at offset %zu of shared memory, where no mbarrier has "
         "been initialised",
         name, offset);
  orderShared(thread, offset, objectBytes, SPARSE_AUTOGRAD_ATOMIC, where);
  return *barrier;
}

void Block::invalidate(const void *object, const char *where) {
  Thread &self = getThread();
  step(where);
  Mbarrier &barrier = getMbarrier(self, object, "mbarrier.inval", where);
  for (uint32_t i = 0; i < threadCount; ++i)
    if (threads[i].state == Thread::State::AtMbarrier &&
        threads[i].barrier == static_cast<int32_t>(barrier.offset)) {
      char text[256];
      describeThread(threads[i], text, sizeof(text));
      fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER, where,
           "invalidates the mbarrier at offset %u of shared memory, but %s",
           barrier.offset, text);
    }
  barrier.isValid = false;
  std::fill_n(&sharedStates[barrier.offset], objectBytes,
              static_cast<uint8_t>(Unwritten));
  orderShared(self, barrier.offset, objectBytes, SPARSE_AUTOGRAD_STORE, where);
}

//===----------------------------------------------------------------------===//
// Arrivals
//===----------------------------------------------------------------------===//

void Block::completeIfDone(const Thread &thread, Mbarrier &barrier,
                           const char *name, const char *where) {
  if (barrier.bytes < -maxCount || barrier.bytes > maxCount)
    fail(
        thread, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER, where,
        "has the mbarrier at offset %u of shared memory expect %lld bytes with "
        "%s: %lld are possible",
        barrier.offset, static_cast<long long>(barrier.bytes), name,
        static_cast<long long>(maxCount));
  if (barrier.pending)
    return;
  if (barrier.bytes < 0)
    fail(thread, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER, where,
         "completes %lld bytes more than phase %llu of the mbarrier at offset "
         "%u of shared memory expects, with %s",
         static_cast<long long>(-barrier.bytes),
         static_cast<unsigned long long>(barrier.phase), barrier.offset, name);
  if (barrier.bytes)
    return;
  uint64_t completed = barrier.phase++;
  barrier.pending = barrier.expected;
  std::swap(barrier.completed, barrier.arriving);
  barrier.arriving.epoch = 0;
  barrier.landed.insert(barrier.landed.end(), barrier.landing.begin(),
                        barrier.landing.end());
  barrier.landing.clear();
  for (uint32_t i = 0; i < threadCount; ++i) {
    Thread &waiting = threads[i];
    if (waiting.state == Thread::State::AtMbarrier &&
        waiting.barrier == static_cast<int32_t>(barrier.offset) &&
        waiting.phase <= completed)
      makeReady(waiting);
  }
}

void Block::countArrivals(const Thread &thread, Mbarrier &barrier,
                          uint32_t count, const char *name, const char *where) {
  if (count > barrier.pending)
    fail(thread, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER, where,
         "arrives %u times at the mbarrier at offset %u of shared memory with "
         "%s, of which phase %llu has %u of %u arrivals and %lld bytes to come",
         count, barrier.offset, name,
         static_cast<unsigned long long>(barrier.phase), barrier.pending,
         barrier.expected, static_cast<long long>(barrier.bytes));
  barrier.pending -= count;
}

uint64_t Block::arriveAt(const void *object, int32_t count, int32_t bytes,
                         int32_t flags, const char *name, const char *where) {
  Thread &self = getThread();
  step(where);
  Mbarrier &barrier = getMbarrier(self, object, name, where);
  uint64_t state = barrier.phase << countBits | barrier.pending;
  if (count < 1 || count > maxCount || bytes < 0)
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, where,
         "executes %s with %d arrivals and %d bytes", name, count, bytes);
  if (!(flags & SPARSE_AUTOGRAD_ARRIVAL_IS_RELAXED))
    clocks.release(self.index, barrier.arriving);
  if (flags & SPARSE_AUTOGRAD_ARRIVAL_MUST_NOT_COMPLETE &&
      static_cast<uint32_t>(count) == barrier.pending &&
      !(barrier.bytes + bytes))
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER, where,
         "completes phase %llu of the mbarrier at offset %u of shared memory "
         "with %s, which must not",
         static_cast<unsigned long long>(barrier.phase), barrier.offset, name);
  countArrivals(self, barrier, static_cast<uint32_t>(count), name, where);
  barrier.bytes += bytes;
  // It cannot exceed what is expected: it did not exceed what is pending.
  if (flags & SPARSE_AUTOGRAD_ARRIVAL_DROPS)
    barrier.expected -= static_cast<uint32_t>(count);
  completeIfDone(self, barrier, name, where);
  return state;
}

void Block::expect(const void *object, int64_t bytes, const char *name,
                   const char *where) {
  Thread &self = getThread();
  step(where);
  Mbarrier &barrier = getMbarrier(self, object, name, where);
  barrier.bytes += bytes;
  completeIfDone(self, barrier, name, where);
}

void Block::arriveWithCopies(const void *object, bool isCounted,
                             const char *where) {
  Thread &self = getThread();
  step(where);
  const char *name = "cp.async.mbarrier.arrive";
  Mbarrier &barrier = getMbarrier(self, object, name, where);
  if (!isCounted) {
    if (barrier.pending == maxCount)
      fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER, where,
           "has an mbarrier expect more than %lld arrivals",
           static_cast<long long>(maxCount));
    ++barrier.pending;
  }
  AsyncOperation operation;
  operation.name = name;
  operation.where = where;
  operation.thread = self.index;
  operation.barrier = barrier.offset;
  operation.endNumber = self.copyCount;
  operations.push_back(operation);
}

//===----------------------------------------------------------------------===//
// What happens by itself
//===----------------------------------------------------------------------===//

void Block::land(const AsyncOperation &operation) {
  const Thread &thread = threads[operation.thread];
  if (operation.kind == AsyncOperation::Kind::Store) {
    move(operation);
    return;
  }
  Mbarrier *barrier = findMbarrier(operation.barrier);
  if (!barrier)
    fail(
        thread, SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER, operation.where,
        "has asked for %s at the mbarrier at offset %u of shared memory, which "
        "was invalidated before that was done",
        operation.name, operation.barrier);
  LandedCopies landed;
  landed.thread = operation.thread;
  landed.endNumber = operation.endNumber;
  landed.where = operation.where;
  bool isLoad = operation.kind == AsyncOperation::Kind::Load;
  if (isLoad) {
    move(operation);
    landed.offset = static_cast<size_t>(operation.shared - shared);
    landed.bytes = operation.bytes;
    barrier->bytes -= operation.bytes;
  }
  barrier->landing.push_back(landed);
  if (!isLoad)
    countArrivals(thread, *barrier, 1, operation.name, operation.where);
  completeIfDone(thread, *barrier, operation.name, operation.where);
}

void Block::landOperations() {
  ++progress;
  if (!launch.options->seed) {
    for (size_t i = 0; i < operations.size(); ++i)
      land(operations[i]);
    operations.clear();
    return;
  }
  size_t chosen = random.below(static_cast<uint32_t>(operations.size()));
  AsyncOperation operation = operations[chosen];
  operations.erase(operations.begin() + static_cast<ptrdiff_t>(chosen));
  land(operation);
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

void Block::acquire(const Thread &thread, Mbarrier &barrier, bool isRelaxed) {
  if (isRelaxed)
    return;
  if (!barrier.landed.empty()) {
    uint32_t agent = getAgent(barrier);
    auto recordWrite = [&](size_t offset, size_t bytes, const char *where) {
      if (launch.options->detectRaces)
        sharedShadow.overwrite(makeAccess(agent, SPARSE_AUTOGRAD_STORE, where),
                               offset, bytes);
    };
    for (const LandedCopies &landed : barrier.landed) {
      if (landed.bytes) {
        std::fill_n(&sharedStates[landed.offset], landed.bytes,
                    static_cast<uint8_t>(Written));
        recordWrite(landed.offset, landed.bytes, landed.where);
        continue;
      }
      std::vector<PendingCopy> &copies = threads[landed.thread].copies;
      size_t kept = 0;
      for (const PendingCopy &copy : copies) {
        if (copy.number >= landed.endNumber) {
          copies[kept++] = copy;
          continue;
        }
        perform(copy);
        auto offset = static_cast<size_t>(copy.shared - shared);
        noteWrite(landed.thread, offset, copy.bytes);
        recordWrite(offset, copy.bytes, copy.where);
      }
      copies.resize(kept);
    }
    barrier.landed.clear();
    clocks.release(agent, barrier.completed);
  }
  clocks.acquire(thread.index, barrier.completed);
}

void Block::failTest(Thread &thread, const Mbarrier &barrier,
                     const char *where) {
  if (thread.progressAtTest != progress)
    thread.failedTests = 0;
  thread.progressAtTest = progress;
  if (++thread.failedTests > maxFailedTests) {
    char state[192];
    describeMbarrier(barrier, state, sizeof(state));
    fail(
        thread, SPARSE_AUTOGRAD_EMULATOR_HANG, where,
        "tests the mbarrier at offset %u of shared memory, %s, again and again "
        "while no thread does anything else",
        barrier.offset, state);
  }
  if (readyCount)
    yield();
}

bool Block::waitAt(const void *object, uint64_t state, int32_t flags,
                   const char *where) {
  Thread &self = getThread();
  letOthersRun(where);
  bool isBlocking = flags & SPARSE_AUTOGRAD_WAIT_BLOCKS;
  bool isRelaxed = flags & SPARSE_AUTOGRAD_WAIT_IS_RELAXED;
  const char *name = isBlocking ? "mbarrier.try_wait" : "mbarrier.test_wait";
  Mbarrier &barrier = getMbarrier(self, object, name, where);
  uint64_t phase = state >> countBits;
  if (flags & SPARSE_AUTOGRAD_WAIT_FOR_PARITY) {
    if (state > 1)
      fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, where,
           "executes %s with the parity %llu, which is not 0 or 1", name,
           static_cast<unsigned long long>(state));
    // The current phase has this parity, or the one before it.
    bool isCurrent = (barrier.phase & 1) == state;
    phase = isCurrent ? barrier.phase : barrier.phase - 1;
    if (!isCurrent && barrier.phase == 0)
      return true;
  } else if (phase > barrier.phase || phase + 1 < barrier.phase) {
    fail(
        self, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, where,
        "executes %s with a state of phase %llu of the mbarrier at offset %u "
        "of shared memory, which is in phase %llu: it must be that one, or the "
        "one before",
        name, static_cast<unsigned long long>(phase), barrier.offset,
        static_cast<unsigned long long>(barrier.phase));
  }
  if (phase >= barrier.phase && !operations.empty())
    landOperations();
  if (phase < barrier.phase) {
    self.failedTests = 0;
    acquire(self, barrier, isRelaxed);
    return true;
  }
  if (!isBlocking || (launch.options->seed && random.below(8) == 0)) {
    failTest(self, barrier, where);
    return false;
  }
  uint32_t offset = barrier.offset;
  self.barrier = static_cast<int32_t>(offset);
  self.phase = phase;
  wait(Thread::State::AtMbarrier, name, where);
  // Others may have initialised more of them.
  if (Mbarrier *later = findMbarrier(offset))
    acquire(self, *later, isRelaxed);
  return true;
}

void Block::fenceProxies(bool isForMbarriers, const char *where) {
  step(where);
  Thread &self = getThread();
  (isForMbarriers ? self.initFence : self.proxyFence) = steps;
}

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

void sparseAutogradEmulateMbarrierInit(void *barrier, int32_t count,
                                       const char *where) {
  Block::getCurrent().initialize(barrier, count, where);
}

void sparseAutogradEmulateMbarrierInvalidate(void *barrier, const char *where) {
  Block::getCurrent().invalidate(barrier, where);
}

uint64_t sparseAutogradEmulateMbarrierArrive(void *barrier, int32_t count,
                                             int32_t bytes, int32_t flags,
                                             const char *where) {
  const char *name = flags & SPARSE_AUTOGRAD_ARRIVAL_EXPECTS_BYTES
                         ? "mbarrier.arrive.expect_tx"
                     : flags & SPARSE_AUTOGRAD_ARRIVAL_MUST_NOT_COMPLETE
                         ? "mbarrier.arrive.noComplete"
                     : flags & SPARSE_AUTOGRAD_ARRIVAL_DROPS
                         ? "mbarrier.arrive_drop"
                         : "mbarrier.arrive";
  return Block::getCurrent().arriveAt(barrier, count, bytes, flags, name,
                                      where);
}

void sparseAutogradEmulateMbarrierExpect(void *barrier, int32_t bytes,
                                         const char *where) {
  Block::getCurrent().expect(barrier, bytes, "mbarrier.expect_tx", where);
}

void sparseAutogradEmulateMbarrierComplete(void *barrier, int32_t bytes,
                                           const char *where) {
  Block::getCurrent().expect(barrier, -int64_t(bytes), "mbarrier.complete_tx",
                             where);
}

int32_t sparseAutogradEmulateMbarrierWait(void *barrier, uint64_t state,
                                          int32_t flags, const char *where) {
  return Block::getCurrent().waitAt(barrier, state, flags, where);
}

int32_t sparseAutogradEmulateMbarrierPendingCount(uint64_t state) {
  return static_cast<int32_t>(state & maxCount);
}

void sparseAutogradEmulateCopyArrive(void *barrier, int32_t isCounted,
                                     const char *where) {
  Block::getCurrent().arriveWithCopies(barrier, isCounted != 0, where);
}

void sparseAutogradEmulateProxyFence(int32_t isForMbarriers,
                                     const char *where) {
  Block::getCurrent().fenceProxies(isForMbarriers != 0, where);
}
