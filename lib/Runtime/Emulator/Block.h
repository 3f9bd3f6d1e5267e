//===- Block.h - The threads of a block -------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes the blocks of a launch. What waits for what is here; what the
// instructions compute is in the files named after them. Internal to the
// emulator.
//
// Frames of kernels are dropped when a fault is found, so nothing that owns
// memory may be on the stack of a thread when it switches or reports.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_BLOCK_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_BLOCK_H

#include "DeviceMemory.h"
#include "Fiber.h"
#include "Shadow.h"
#include "SparseAutograd/Runtime/Emulator.h"
#include "SparseAutograd/Runtime/EmulatorABI.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "TensorMap.h"
#include "WrittenBytes.h"

#include <cstdarg>
#include <cstdio>
#include <memory>
#include <vector>

namespace sparse_autograd {
namespace emulator {

class Block;
class Counter;

constexpr uint32_t maxWarps = 32;
constexpr uint32_t warpsOfGroup = 4;
/// What the emulator's own functions need of a stack.
constexpr size_t ownStackBytes = 16 << 10;

/// Numbers that depend on the seed only (SplitMix64).
class RandomNumbers {
public:
  explicit RandomNumbers(uint64_t state = 0) : state(state) {}
  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  /// From 0 to bound - 1.
  uint32_t below(uint32_t bound) {
    return static_cast<uint32_t>((next() >> 32) * bound >> 32);
  }

private:
  uint64_t state;
};

/// A collective operation of a warp, as one of its threads calls it. It lives
/// on the stack of the thread while that waits.
struct WarpCall {
  /// Its name in PTX. The same operation has the same pointer.
  const char *operation;
  uint32_t mask;
  /// What must be the same in all threads besides.
  uint32_t uniform = 0;
  /// Whether all threads must be at the same place.
  bool isAligned = false;
  const char *where = nullptr;
  /// What the operation takes from the thread and gives to it.
  void *data = nullptr;

  WarpCall(const char *operation, uint32_t mask, const char *where, void *data)
      : operation(operation), mask(mask), where(where), data(data) {}
  /// One that all threads must make, at the same place.
  WarpCall(const char *operation, const char *where, void *data)
      : operation(operation), mask(UINT32_MAX), isAligned(true), where(where),
        data(data) {}
};

/// The calls of the threads that take part; null for the others.
using WarpCalls = WarpCall *[warpSize];

/// A cp.async that has not been waited for.
struct PendingCopy {
  char *shared;
  const char *global;
  uint32_t bytes;
  uint32_t sourceBytes;
  uint32_t group;
  const char *where;
  /// Which of the copies of its thread it is.
  uint64_t number = 0;
};

/// Shared memory that an asynchronous operation reads until it is waited for.
struct AsyncRead {
  size_t offset = 0;
  size_t bytes = 0;
  uint32_t group = 0;
  const char *where = nullptr;
};

/// What is done at some later time, by no thread.
struct AsyncOperation {
  /// The arrival of copies with cp.async; a copy to or from shared memory.
  enum class Kind { Arrival, Load, Store };

  Kind kind = Kind::Arrival;
  const char *name = nullptr;
  const char *where = nullptr;
  uint32_t thread = 0;
  /// Where its mbarrier is.
  uint32_t barrier = 0;
  /// Of an arrival: the copies of the thread that were asked for before.
  uint64_t endNumber = 0;
  char *shared = nullptr;
  uint32_t bytes = 0;
  /// Of a store.
  uint32_t group = 0;
  /// What is copied: bytes, or a tile if it has a rank.
  char *global = nullptr;
  Tile tile;
};

/// A variable on the stack of a thread.
struct LocalVariable {
  uintptr_t begin = 0;
  size_t bytes = 0;
  const char *where = nullptr;
};

struct Thread {
  enum class State {
    Ready,
    AtBarrier,
    AtMbarrier,
    InWarpgroup,
    InWarp,
    InActiveMask,
    Ended
  };

  Context context;
  State state = State::Ready;
  uint32_t index = 0;
  uint32_t id[3] = {};
  /// What it waits in, and where that is.
  const char *operation = nullptr;
  const char *where = nullptr;
  /// The barrier that it waits at; of an mbarrier, where it is in shared
  /// memory.
  int32_t barrier = 0;
  /// The phase of an mbarrier that it waits for, or the product that all warps
  /// of its warpgroup must have come to.
  uint64_t phase = 0;
  bool isAligned = false;
  /// A bit for each barrier at which it has arrived, and not all others.
  uint32_t arrivedAt = 0;
  /// The collective operation that it waits in.
  WarpCall *call = nullptr;
  /// What the operation that it waited in gives to it.
  uint32_t result = 0;
  std::vector<PendingCopy> copies;
  uint32_t copyGroup = 0;
  uint64_t copyCount = 0;
  /// Of bulk copies from shared memory: what they read; the current group.
  std::vector<AsyncRead> reads;
  uint32_t bulkGroup = 0;
  /// The step of its last fence.proxy.async, and of its last
  /// fence.mbarrier_init; 0 if there was none.
  int64_t proxyFence = 0;
  int64_t initFence = 0;
  /// How often it found a phase of an mbarrier incomplete, one time after the
  /// other, while no thread did anything else.
  uint32_t failedTests = 0;
  uint64_t progressAtTest = 0;
  /// Those of the frames that have not ended, in the order of their begin.
  std::vector<LocalVariable> locals;

  uint32_t getWarp() const { return index / warpSize; }
  uint32_t getLane() const { return index % warpSize; }
};

/// One of the 16 barriers of a block.
struct Barrier {
  uint32_t expected = 0; ///< 0: no thread has arrived
  uint32_t votes = 0;
  /// A SparseAutogradEmulatedReduction of the votes; -1: none.
  int32_t reduction = -1;
  std::vector<uint32_t> arrived;
  std::vector<uint32_t> waiting;
  /// For each warp one of the threads that wait, plus 1; 0 if there is none.
  uint32_t waitingOfWarp[maxWarps] = {};
};

/// What is complete when an mbarrier completes a phase: copies with cp.async of
/// a thread, those before a number; or a bulk copy to shared memory.
struct LandedCopies {
  uint32_t thread = 0;
  uint64_t endNumber = 0;
  size_t offset = 0;
  size_t bytes = 0; ///< 0: it is no bulk copy
  const char *where = nullptr;
};

/// An object of shared memory on which threads and copies arrive.
struct Mbarrier {
  uint32_t offset = 0;
  bool isValid = false;
  /// Arrivals that complete a phase, and those that are left of this one.
  uint32_t expected = 0;
  uint32_t pending = 0;
  /// Bytes that are still to be completed.
  int64_t bytes = 0;
  /// The current phase. Those before it are complete.
  uint64_t phase = 0;
  /// Where it was initialised, by which thread, and in which step.
  const char *where = nullptr;
  uint32_t initThread = 0;
  int64_t initStep = 0;
  /// What is released in the current phase, and was in the last complete one.
  ReleasedClocks arriving;
  ReleasedClocks completed;
  /// What lands in the current phase, and what has landed in earlier ones that
  /// no thread has waited for.
  std::vector<LandedCopies> landing;
  std::vector<LandedCopies> landed;
};

/// What the threads of a warp do with wgmma.
struct WarpProducts {
  /// Products are numbered from 1 on; so many have been asked for, and so many
  /// have been waited for.
  uint32_t issued = 0;
  uint32_t completed = 0;
  /// Whether there was a wgmma.fence since the last wait.
  bool isFenced = false;
  /// The last product of each group.
  std::vector<uint32_t> groupEnds;
  /// What is read until it is waited for; the group is the product.
  std::vector<AsyncRead> reads;
};

/// A product that the warps of a warpgroup must all execute.
struct WarpgroupCall {
  const char *where = nullptr;
  int32_t type = 0;
  int32_t n = 0;
  uint64_t descriptorA = 0;
  uint64_t descriptorB = 0;
  /// Whether what it reads has been given free, and which clock of the agent
  /// says so.
  bool isComplete = false;
  uint32_t clock = 0;
};
struct Warpgroup {
  std::vector<WarpgroupCall> calls;
};

/// What a launch and its blocks have in common.
struct LaunchState {
  const SparseAutogradEmulatorOptions *options;
  DeviceMemory *memory;
  const SparseAutogradEmulatorKernel *kernel;
  void **parameters;
  uint32_t grid[3];
  uint32_t block[3];
  size_t sharedBytes;
  size_t dynamicSharedBytes;
  /// Increases from launch to launch, and with each epoch of a block.
  uint32_t *lastEpoch;
  uint32_t firstEpoch;
  SparseAutogradEmulatorCounters *counters;
  /// Null unless what the launch asks of a machine is counted.
  Counter *counter;
  SparseAutogradEmulatorReport *report;
};

/// Fills in a report of what no thread did; `kernel` may be null.
void writeReport(SparseAutogradEmulatorReport &report, int32_t fault,
                 uint64_t seed, const char *kernel, const char *format,
                 va_list arguments);

/// What an access does, for reports: "reads".
const char *getVerb(int32_t kind);
/// Whether an access only writes.
inline bool isWrite(int32_t kind) {
  return kind == SPARSE_AUTOGRAD_STORE || kind == SPARSE_AUTOGRAD_ATOMIC_STORE;
}

/// Executes blocks, one at a time. What it allocates serves the next ones.
class Block {
public:
  Block() = default;
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;
  ~Block();

  /// Whether there is memory for the blocks of a launch.
  bool prepareLaunch(const LaunchState &newLaunch);
  /// Executes the block with this number; false if there was a fault, which is
  /// in the report.
  bool run(uint32_t number);

  /// Forgets the accesses of all launches until now.
  void forgetAccesses() { sharedShadow.forget(); }

  /// The block that the calling thread executes, and its current thread.
  static Block &getCurrent() { return *current; }
  Thread &getThread() { return threads[running]; }
  /// The thread with a lane of the current one's warp.
  const Thread &getThreadOfWarp(uint32_t lane) {
    return threads[getThread().getWarp() * warpSize + lane];
  }
  const LaunchState &getLaunch() const { return launch; }
  uint32_t getThreadCount() const { return threadCount; }
  const uint32_t *getId() const { return id; }
  int64_t getSteps() const { return steps; }
  char *getShared() const { return shared; }

  //===--------------------------------------------------------------------===//
  // Faults
  //===--------------------------------------------------------------------===//

  /// Reports what `thread` does wrong, "reads ...", and ends the launch.
  [[noreturn]] __attribute__((format(printf, 5, 6))) void
  fail(const Thread &thread, int32_t fault, const char *where, const char *text,
       ...);

  //===--------------------------------------------------------------------===//
  // Scheduling
  //===--------------------------------------------------------------------===//

  /// A step of the current thread, before which others may run.
  void step(const char *where);
  /// One of a computation, or of a loop that tests an mbarrier.
  void passTime(const char *where);
  /// Ends the current thread.
  [[noreturn]] void endThread();

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  void access(uintptr_t address, size_t bytes, size_t alignment, int32_t kind,
              const char *where);
  /// Tells the counter, if there is one, of an access that has been checked.
  void count(const Thread &thread, uintptr_t address, size_t bytes,
             int32_t kind, const char *where, bool isPastL1 = false) {
    if (__builtin_expect(launch.counter != nullptr, 0))
      countAccess(thread, address, bytes, kind, where, isPastL1);
  }
  /// Reports an access of what a bulk copy may still write.
  void checkStores(const Thread &thread, uintptr_t address, size_t bytes,
                   int32_t kind, const char *where);
  /// Checks and records an access of the thread; the address is in shared
  /// memory.
  void accessShared(const Thread &thread, uintptr_t address, size_t bytes,
                    int32_t kind, const char *where, bool isKept = true);
  /// As accessShared, for any memory but the shared one.
  void accessGlobal(const Thread &thread, uintptr_t address, size_t bytes,
                    int32_t kind, const char *where);
  void checkAlignment(const Thread &thread, uintptr_t address, size_t alignment,
                      int32_t kind, const char *where);
  /// Begins a local variable of the current thread.
  void beginLocal(uintptr_t variable, size_t bytes, const char *where);
  /// Checks and records an access of a variable of the thread, or of any of its
  /// variables if there is no `variable`. The address is anywhere, or in its
  /// stack.
  void accessLocal(const Thread &thread, uintptr_t variable, uintptr_t address,
                   size_t bytes, int32_t kind, const char *where);
  /// Reports a stack without room for so many bytes more.
  void checkStack(size_t bytes, const char *where);
  int32_t getSpace(uintptr_t address) const;
  /// Whether it is in the shared memory or nearer to it than to anything else.
  bool isNearShared(uintptr_t address) const {
    return address - sharedWindow < sharedWindowBytes;
  }
  /// The bytes are being written by a cp.async from now on.
  void beginCopy(const PendingCopy &copy);
  /// Writes what a cp.async copies.
  void perform(const PendingCopy &copy);
  /// Performs the copies of a thread up to a group.
  void finishCopies(Thread &thread, uint32_t endGroup);

  //===--------------------------------------------------------------------===//
  // Bulk copies
  //===--------------------------------------------------------------------===//

  /// The copy of a parameter that is passed by value.
  const void *getParameter(const void *parameter, size_t bytes);
  /// Into shared memory if there is an mbarrier, else out of it.
  void copyBulk(void *to, const void *from, int32_t bytes, const void *object,
                const char *where);
  void copyTile(void *place, const void *map, int32_t rank,
                const int32_t *coordinates, const void *object,
                const char *where);
  void prefetchTile(const void *map, int32_t rank, const char *where);
  void waitForStores(int32_t groups, bool isRead, const char *where);

  //===--------------------------------------------------------------------===//
  // Waiting for others
  //===--------------------------------------------------------------------===//

  /// Arrives at a barrier, and waits there if `waits`. Returns the result of
  /// the reduction, if it is one.
  uint32_t arrive(int32_t barrierId, int32_t count, bool isAligned, bool waits,
                  const char *name, const char *where, int32_t reduction = -1,
                  bool predicate = false);

  /// Waits for the threads of the mask. The last one calls `complete` with the
  /// calls of all.
  void collect(WarpCall &call, void (*complete)(Block &, WarpCalls &));

  uint32_t getActiveMask(const char *where);

  //===--------------------------------------------------------------------===//
  // Products of a warpgroup
  //===--------------------------------------------------------------------===//

  void fenceProducts(const char *where);
  void commitProducts(const char *where);
  void waitForProducts(int32_t groups, const char *where);
  /// Returns the number of the product, for useProduct.
  uint32_t multiply(const SparseAutogradEmulatedWarpgroupProduct &product,
                    void *sums, const char *where);
  void useProduct(uint32_t product, const char *where);
  /// Reads 16 bytes of shared memory for a product of the thread's warp.
  void readPiece(const Thread &thread, uint32_t offset, const char *name,
                 const char *where);

  //===--------------------------------------------------------------------===//
  // Barriers in shared memory
  //===--------------------------------------------------------------------===//

  void initialize(const void *address, int32_t count, const char *where);
  void invalidate(const void *address, const char *where);
  /// Arrives `count` times after `bytes` bytes more are expected, and returns
  /// the state before; flags are of SparseAutogradEmulatedArrival.
  uint64_t arriveAt(const void *address, int32_t count, int32_t bytes,
                    int32_t flags, const char *name, const char *where);
  /// mbarrier.expect_tx, or mbarrier.complete_tx if `bytes` is negative.
  void expect(const void *address, int64_t bytes, const char *name,
              const char *where);
  bool waitAt(const void *address, uint64_t state, int32_t flags,
              const char *where);
  void arriveWithCopies(const void *address, bool isCounted, const char *where);
  void fenceProxies(bool isForMbarriers, const char *where);

  /// Orders what the threads of a mask did before what they do.
  void synchronizeWarp(uint32_t warp, uint32_t mask);
  /// The threads of a warp that have not ended.
  uint32_t getLiveLanes(uint32_t warp) const { return warps[warp].live; }

private:
  /// What is waited for in a warp.
  struct Warp {
    uint32_t live = 0;
    uint32_t ready = 0; ///< how many of its threads are
    uint32_t inActiveMask = 0;
    void (*complete[warpSize])(Block &, WarpCalls &) = {};
  };

  static constexpr uintptr_t sharedWindowBytes = uintptr_t(64) << 20;
  static constexpr uintptr_t sharedAlignment = uintptr_t(256) << 10;
  static constexpr int32_t barrierCount = 16;
  /// More mbarriers than this share agents, and with them what is known.
  static constexpr uint32_t mbarrierAgents = 64;
  /// Those of mbarriers, then one for each warpgroup.
  static constexpr uint32_t agentCount =
      mbarrierAgents + maxWarps / warpsOfGroup;

  static void runThread();
  void countAccess(const Thread &thread, uintptr_t address, size_t bytes,
                   int32_t kind, const char *where, bool isPastL1);
  void begin(uint32_t number);
  /// The next thread to run; false if none can.
  bool pickThread();
  void makeReady(Thread &thread);
  /// Lets another thread run until this one is ready again.
  void wait(Thread::State state, const char *operation, const char *where);
  void yield();
  /// Counts a step of the current thread, and lets others run if it is time.
  void letOthersRun(const char *where);
  void resolveActiveMask(Warp &warp);
  bool isParameter(uintptr_t address, size_t bytes) const;
  /// As accessGlobal, for buffers and variables alone.
  void accessBuffer(const Thread &thread, const void *address, size_t bytes,
                    int32_t kind, const char *where);
  void readTile(const void *map, int32_t rank, const int32_t *coordinates,
                Tile &tile, const char *where);
  void accessTile(const Thread &thread, const Tile &tile, int32_t kind,
                  const char *where);
  void beginLoad(AsyncOperation &operation, const void *object,
                 size_t alignment);
  void beginStore(AsyncOperation &operation, size_t alignment);
  void moveTile(const Tile &tile, char *place, bool isLoad);
  void move(const AsyncOperation &operation);
  /// Whether the asynchronous proxy sees what was written in a step if `reader`
  /// asks it to read.
  bool isFenced(uint32_t writer, int64_t when, const Thread &reader,
                bool isMbarrier) const;
  void checkFenced(const Thread &thread, size_t offset, size_t bytes,
                   const char *name, const char *where);
  /// Notes what a thread has written now, for checkFenced.
  void noteWrite(uint32_t thread, size_t offset, size_t bytes);
  void countReaders(size_t offset, size_t bytes, int32_t change);
  [[noreturn]] void reportReader(const Thread &thread, size_t offset,
                                 size_t bytes, int32_t kind, const char *where);
  void computeProduct(WarpCalls &calls);
  /// The products that all warps of a warpgroup have executed.
  uint32_t getCommonProducts(uint32_t group) const;
  /// Has those run again who wait for what is done now.
  void wakeWarpgroup(uint32_t group);
  /// Gives free what the products of a warpgroup up to a number read.
  void completeProducts(uint32_t group, uint32_t number);
  /// Checks whether a warp may begin a product now, and counts it.
  void startProduct(const Thread &thread,
                    const SparseAutogradEmulatedWarpgroupProduct &product,
                    const char *name, const char *where);
  void checkProductsAtEnd(const Thread &thread);
  /// Reports what a thread has not waited for.
  void checkEndOfThread(const Thread &thread);
  void release(Barrier &barrier, uint32_t barrierId);
  /// The mbarrier that an instruction of a thread names, or a fault.
  Mbarrier &getMbarrier(const Thread &thread, const void *address,
                        const char *name, const char *where);
  /// The one at an offset; null if there is none.
  Mbarrier *findMbarrier(uint32_t offset);
  uint32_t getAgent(const Mbarrier &barrier) const;
  void countArrivals(const Thread &thread, Mbarrier &barrier, uint32_t count,
                     const char *name, const char *where);
  void completeIfDone(const Thread &thread, Mbarrier &barrier, const char *name,
                      const char *where);
  /// Has a thread know what a phase ordered and copied.
  void acquire(const Thread &thread, Mbarrier &barrier, bool isRelaxed);
  /// Counts a test that found a phase incomplete; a fault if nothing else
  /// happens any more.
  void failTest(Thread &thread, const Mbarrier &barrier, const char *where);
  /// Does one asynchronous operation, or all of them in the plain order.
  void landOperations();
  void land(const AsyncOperation &operation);
  void describeMbarrier(const Mbarrier &barrier, char *buffer,
                        size_t size) const;
  /// Checks that shared memory has these bytes; returns where they are.
  size_t checkShared(const Thread &thread, uintptr_t address, size_t bytes,
                     int32_t kind, const char *where);
  /// Whether all that take part have called, and are done now.
  bool completeCalls(uint32_t warp, const WarpCall &call,
                     void (*complete)(Block &, WarpCalls &));
  void checkAgreement(const Thread &thread, const WarpCall &call);
  /// An access of a thread, or of another agent, at its clock.
  Access makeAccess(uint32_t agent, int32_t kind, const char *where) const;
  /// Reports a race of an access of shared memory with an earlier one, and
  /// keeps it for later ones.
  void orderShared(const Thread &thread, size_t offset, size_t bytes,
                   int32_t kind, const char *where, bool isKept = true);
  [[noreturn]] void reportRace(const Thread &thread, const Access &earlier,
                               size_t offset, size_t bytes, int32_t kind,
                               const char *where, const char *place);
  [[noreturn]] void reportOutside(const Thread &thread, uintptr_t address,
                                  size_t bytes, int32_t kind,
                                  const char *where);
  /// "thread (1, 0, 0) waits in ...".
  void describeThread(const Thread &thread, char *buffer, size_t size) const;
  void getBlockId(uint32_t number, uint32_t (&blockId)[3]) const;
  void setReport(const Thread &thread, int32_t fault, const char *where,
                 const char *format, va_list arguments);
  /// Reports what is wrong with how a thread waits.
  __attribute__((format(printf, 4, 5))) void
  reportWaiting(const Thread &thread, int32_t fault, const char *format, ...);
  const Thread *findMissing(const Thread &waiting) const;
  /// Says why no thread can run.
  void reportDeadlock();

  static thread_local Block *current;

  LaunchState launch = {};
  Context scheduler;
  Stacks stacks;
  std::vector<Thread> threads;
  uint32_t threadCount = 0;
  uint32_t number = 0;
  uint32_t id[3] = {};
  uint32_t running = 0;
  uint32_t liveCount = 0;
  bool hasFault = false;
  RandomNumbers random;
  int64_t steps = 0;
  int64_t stepsToPreemption = 0;

  /// The threads that can run: a ring, which has room for all.
  std::vector<uint32_t> ready;
  size_t firstReady = 0;
  size_t readyCount = 0;

  std::vector<Warp> warps;
  std::vector<WarpProducts> products;
  std::vector<Warpgroup> groups;
  /// Of a product.
  std::vector<double> factors;
  /// Of synchronizeWarp, which must not allocate on a stack.
  std::vector<uint32_t> taking;
  Barrier barriers[barrierCount];
  std::vector<Mbarrier> mbarriers;
  std::vector<AsyncOperation> operations;
  bool hasBulkLoads = false;
  /// Bulk copies to global memory that have not been waited for, done or not.
  std::vector<AsyncOperation> stores;
  /// Increases with all that threads do, except to look at mbarriers and to let
  /// time pass in between.
  uint64_t progress = 0;

  /// Around the shared memory, so that what is just outside of it is nothing
  /// else.
  uintptr_t sharedWindow = 0;
  char *shared = nullptr;
  size_t sharedCapacity = 0;
  /// For each byte: whether it was written, whether a copy is going to, one in
  /// bulk, and whether it belongs to an mbarrier.
  enum ByteState : uint8_t {
    Unwritten = 0,
    Written = 1,
    Pending = 2,
    OfMbarrier = 4,
    OfBulkCopy = 8
  };
  std::vector<uint8_t> sharedStates;
  /// For each 4 bytes: who wrote there last, but for copies in bulk, and when.
  struct GenericWrite {
    int64_t step = 0; ///< 0: nobody
    uint32_t thread = 0;
  };
  std::vector<GenericWrite> sharedWrites;
  /// For each 16 bytes: the asynchronous operations that read there.
  std::vector<uint16_t> sharedReaders;
  /// Parameters that are passed by value, and their copies.
  struct Release {
    void operator()(char *memory) const;
  };
  struct Parameter {
    const void *source;
    std::unique_ptr<char, Release> copy;
    size_t bytes;
  };
  std::vector<Parameter> parameters;
  /// Of the stacks of all threads, one after the other.
  WrittenBytes localWritten;
  /// For how many bytes of stacks that is, and of which size each is.
  size_t localCapacity = 0;
  size_t localPitch = 0;
  Shadow sharedShadow;
  uint32_t firstEpoch = 0;
  Clocks clocks;
};

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_BLOCK_H
