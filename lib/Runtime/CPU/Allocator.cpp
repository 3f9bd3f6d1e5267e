//===- Allocator.cpp - Blocks, the pool and the counters --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of compiled code. A block is a header and what was asked for; released
// blocks are kept by size class, up to a bound, and handed out again, the most
// recently released first (its pages are mapped and perhaps in a cache). One
// lock guards everything: compiled code allocates tensors, not list nodes.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/CompilerABI.h"
#include "ThreadState.h"

#include <cerrno>
#include <cstdlib>
#include <mutex>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define SPARSE_AUTOGRAD_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SPARSE_AUTOGRAD_POISON 1
#endif
#endif
#ifdef SPARSE_AUTOGRAD_POISON
#include <sanitizer/asan_interface.h>
#endif

namespace sparse_autograd {
namespace runtime {

/// With a sanitizer half of the header is what must not be touched before a
/// block; elsewhere it is no larger than what it holds.
#ifdef SPARSE_AUTOGRAD_POISON
constexpr int64_t headerBytes = 128;
#else
constexpr int64_t headerBytes = 64;
#endif
[[maybe_unused]] constexpr int64_t usedHeaderBytes = 64;

/// The header of a block. In use, `previous` and `next` link the blocks of a
/// frame; in the pool, those of a size class.
struct alignas(headerBytes) Block {
  Block *previous;
  Block *next;
  Block *older; ///< in the pool: the order of release
  Block *newer;
  Frame *frame; ///< null once the block has left its frame
  int64_t capacity;
  int64_t bytes;
  uint32_t state;
  uint32_t sizeClass;

  void *payload() { return reinterpret_cast<char *>(this) + headerBytes; }
  static Block *of(void *payload) {
    return reinterpret_cast<Block *>(static_cast<char *>(payload) -
                                     headerBytes);
  }
};
static_assert(sizeof(Block) == headerBytes, "the payload follows the header");

/// Values of Block::state that foreign memory is unlikely to hold.
constexpr uint32_t blockInUse = 0x5ba11ce5;
constexpr uint32_t blockInPool = 0x5ba0f4ee;

/// Sizes are rounded up to eight steps a doubling, so by an eighth at most.
constexpr int minimalShift = 6;
constexpr int stepsPerDoubling = 8;
/// More than any address space has; keeps the arithmetic below from overflow.
constexpr int64_t largestBlock = int64_t(1) << 56;
constexpr uint32_t numSizeClasses = (56 - minimalShift) * stepsPerDoubling + 9;

/// From this size on, blocks are aligned to huge pages and ask for them: a
/// fault for 2 MiB instead of 512 for 4 KiB.
constexpr int64_t hugePageBytes = int64_t(2) << 20;
constexpr int64_t hugeBlockBytes = 2 * hugePageBytes;

constexpr int64_t defaultPoolLimit = int64_t(1) << 30;

/// Rounds the size of a block, header included, up to that of its class.
static int64_t roundToSizeClass(int64_t total, uint32_t &sizeClass) {
  int exponent = 63 - __builtin_clzll(static_cast<uint64_t>(total - 1));
  int shift = exponent - 3;
  if (shift < minimalShift)
    shift = minimalShift;
  int64_t steps = ((total - 1) >> shift) + 1;
  sizeClass = (shift - minimalShift) * stepsPerDoubling + steps;
  return steps << shift;
}

static void poison([[maybe_unused]] Block *block) {
#ifdef SPARSE_AUTOGRAD_POISON
  __asan_poison_memory_region(reinterpret_cast<char *>(block) + usedHeaderBytes,
                              block->capacity - usedHeaderBytes);
#endif
}

static void unpoison([[maybe_unused]] Block *block,
                     [[maybe_unused]] int64_t bytes) {
#ifdef SPARSE_AUTOGRAD_POISON
  __asan_unpoison_memory_region(block->payload(), bytes);
#endif
}

namespace {
/// The state of the allocator. Constant-initialised and never destroyed, so
/// results may be released while the process ends.
struct Allocator {
  std::mutex lock;
  Block *classes[numSizeClasses] = {};
  Block *oldest = nullptr;
  Block *newest = nullptr;
  int64_t poolLimit = -1; ///< -1: not yet read from the environment
  int64_t memoryLimit = -1;
  int64_t liveCapacity = 0;
  SparseAutogradCounters counters = {};

  int64_t currentPoolLimit();
  void link(Block *block, Frame *frame);
  void unlink(Block *block);
  void addToPool(Block *block);
  void removeFromPool(Block *block);
  Block *evict(int64_t keptBytes, Block *evicted = nullptr);
  Block *retire(Block *block, Block *evicted);
};
} // namespace

static Allocator allocator;

int64_t Allocator::currentPoolLimit() {
  if (poolLimit >= 0)
    return poolLimit;
  poolLimit = defaultPoolLimit;
  if (const char *text = std::getenv("SPARSE_AUTOGRAD_POOL_BYTES")) {
    char *end = nullptr;
    errno = 0;
    long long value = std::strtoll(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0 && value >= 0)
      poolLimit = value;
  }
  return poolLimit;
}

void Allocator::link(Block *block, Frame *frame) {
  block->frame = frame;
  block->previous = nullptr;
  block->next = nullptr;
  if (!frame)
    return;
  block->next = frame->blocks;
  if (block->next)
    block->next->previous = block;
  frame->blocks = block;
}

void Allocator::unlink(Block *block) {
  if (!block->frame)
    return;
  if (block->previous)
    block->previous->next = block->next;
  else
    block->frame->blocks = block->next;
  if (block->next)
    block->next->previous = block->previous;
  block->frame = nullptr;
}

void Allocator::addToPool(Block *block) {
  block->state = blockInPool;
  block->previous = nullptr;
  block->next = classes[block->sizeClass];
  if (block->next)
    block->next->previous = block;
  classes[block->sizeClass] = block;
  block->newer = nullptr;
  block->older = newest;
  (newest ? newest->newer : oldest) = block;
  newest = block;
  counters.pooledBytes += block->capacity;
  poison(block);
}

void Allocator::removeFromPool(Block *block) {
  if (block->previous)
    block->previous->next = block->next;
  else
    classes[block->sizeClass] = block->next;
  if (block->next)
    block->next->previous = block->previous;
  (block->older ? block->older->newer : oldest) = block->newer;
  (block->newer ? block->newer->older : newest) = block->older;
  counters.pooledBytes -= block->capacity;
}

/// Takes the longest unused blocks out of the pool until it holds no more than
/// `keptBytes`, and returns them before `evicted`, linked by `next`: they are
/// freed after the lock is released.
Block *Allocator::evict(int64_t keptBytes, Block *evicted) {
  while (oldest && counters.pooledBytes > keptBytes) {
    Block *block = oldest;
    removeFromPool(block);
    block->next = evicted;
    evicted = block;
  }
  return evicted;
}

/// Ends the life of a block in use: into the pool, or, if it is larger than all
/// of that, to the front of the evicted ones, which are returned.
Block *Allocator::retire(Block *block, Block *evicted) {
  unlink(block);
  --counters.liveBlocks;
  counters.liveBytes -= block->bytes;
  liveCapacity -= block->capacity;
  if (block->capacity <= currentPoolLimit()) {
    addToPool(block);
    return evicted;
  }
  block->next = evicted;
  return block;
}

static void freeChain(Block *block) {
  while (block) {
    Block *next = block->next;
    unpoison(block, block->capacity - headerBytes);
    block->state = 0;
    std::free(block);
    block = next;
  }
}

static Block *allocateFromSystem(int64_t capacity) {
  bool huge = capacity >= hugeBlockBytes;
  void *memory = nullptr;
  if (posix_memalign(&memory, huge ? hugePageBytes : headerBytes, capacity))
    return nullptr;
#if defined(__linux__)
  // Only advice: where the system does not follow it, pages are small.
  if (huge)
    (void)madvise(memory, capacity, MADV_HUGEPAGE);
#endif
  return static_cast<Block *>(memory);
}

/// Releases a block and returns true; false if it is not in use.
static bool release(void *payload) {
  if (!payload)
    return true;
  Block *block = Block::of(payload);
  Block *evicted = nullptr;
  {
    std::lock_guard<std::mutex> guard(allocator.lock);
    if (block->state != blockInUse)
      return false;
    evicted = allocator.retire(block, nullptr);
    evicted = allocator.evict(allocator.currentPoolLimit(), evicted);
  }
  freeChain(evicted);
  return true;
}

void detachBlocks(Frame &frame) {
  std::lock_guard<std::mutex> guard(allocator.lock);
  while (frame.blocks)
    allocator.unlink(frame.blocks);
}

void releaseBlocks(Frame &frame) {
  Block *evicted = nullptr;
  {
    std::lock_guard<std::mutex> guard(allocator.lock);
    while (frame.blocks)
      evicted = allocator.retire(frame.blocks, evicted);
    evicted = allocator.evict(allocator.currentPoolLimit(), evicted);
  }
  freeChain(evicted);
}

namespace {
enum class Refusal { none, system, limit };

/// What allocate() found, so that the caller raises when no lock is held.
struct Allocation {
  Block *block;
  Refusal refusal;
  int64_t held;
  int64_t limit;
};
} // namespace

static Allocation allocate(int64_t bytes, Frame *frame) {
  Allocation result = {nullptr, Refusal::none, 0, -1};
  if (bytes > largestBlock - headerBytes) {
    result.refusal = Refusal::system;
    return result;
  }
  uint32_t sizeClass = 0;
  int64_t capacity = roundToSizeClass(bytes + headerBytes, sizeClass);

  Block *block = nullptr;
  Block *evicted = nullptr;
  {
    std::lock_guard<std::mutex> guard(allocator.lock);
    int64_t limit = allocator.memoryLimit;
    result.limit = limit;
    result.held = allocator.liveCapacity;
    if (limit >= 0 && allocator.liveCapacity + capacity > limit) {
      result.refusal = Refusal::limit;
      return result;
    }
    if ((block = allocator.classes[sizeClass])) {
      allocator.removeFromPool(block);
      ++allocator.counters.poolHits;
    } else if (limit >= 0) {
      evicted = allocator.evict(limit - allocator.liveCapacity - capacity);
    }
    // Reserved now, so that two threads do not share what is left.
    allocator.liveCapacity += capacity;
  }
  freeChain(evicted);
  if (!block && !(block = allocateFromSystem(capacity))) {
    sparseAutogradTrimPool();
    block = allocateFromSystem(capacity);
  }

  std::lock_guard<std::mutex> guard(allocator.lock);
  if (!block) {
    allocator.liveCapacity -= capacity;
    result.refusal = Refusal::system;
    return result;
  }
  SparseAutogradCounters &counters = allocator.counters;
  ++counters.allocations;
  counters.allocatedBytes += bytes;
  ++counters.liveBlocks;
  counters.liveBytes += bytes;
  if (counters.peakLiveBytes < counters.liveBytes)
    counters.peakLiveBytes = counters.liveBytes;
  block->capacity = capacity;
  block->bytes = bytes;
  block->sizeClass = sizeClass;
  block->state = blockInUse;
  poison(block);
  unpoison(block, bytes);
  allocator.link(block, frame);
  result.block = block;
  return result;
}

} // namespace runtime
} // namespace sparse_autograd

using namespace sparse_autograd::runtime;

void *sparseAutogradAllocate(int64_t bytes) {
  if (bytes < 0)
    sparseAutogradRaiseWithValues(
        SPARSE_AUTOGRAD_INVALID_ARGUMENT,
        "an allocation of {} bytes: the size of a tensor overflowed", 1,
        &bytes);
  Frame *frame = threadState().frame;
  if (frame && frame->expectedResult >= 0)
    if (void *destination = takeExpected(*frame, bytes))
      return destination;
  Allocation allocation = allocate(bytes, frame);
  if (allocation.refusal == Refusal::limit) {
    int64_t values[] = {bytes, allocation.held, allocation.limit};
    sparseAutogradRaiseWithValues(
        SPARSE_AUTOGRAD_OUT_OF_MEMORY,
        "out of memory: {} bytes were asked for, {} are in use and the limit "
        "is {}",
        3, values);
  }
  if (allocation.refusal == Refusal::system)
    sparseAutogradRaiseWithValues(SPARSE_AUTOGRAD_OUT_OF_MEMORY,
                                  "out of memory: the system refused {} bytes",
                                  1, &bytes);
  return allocation.block->payload();
}

static const char releasedTwice[] =
    "a buffer was released that is not in use: released twice?";

void sparseAutogradDeallocate(void *block) {
  if (isDestination(block))
    return;
  if (!release(block))
    sparseAutogradRaise(SPARSE_AUTOGRAD_INVALID_ARGUMENT, releasedTwice);
}

int32_t sparseAutogradFree(void *allocated) {
  if (release(allocated))
    return SPARSE_AUTOGRAD_SUCCESS;
  setLastError(SPARSE_AUTOGRAD_INVALID_ARGUMENT, releasedTwice);
  return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
}

void sparseAutogradSetMemoryLimit(int64_t bytes) {
  Block *evicted = nullptr;
  {
    std::lock_guard<std::mutex> guard(allocator.lock);
    allocator.memoryLimit = bytes < 0 ? -1 : bytes;
    if (bytes >= 0)
      evicted = allocator.evict(bytes - allocator.liveCapacity);
  }
  freeChain(evicted);
}

void sparseAutogradSetPoolLimit(int64_t bytes) {
  Block *evicted = nullptr;
  {
    std::lock_guard<std::mutex> guard(allocator.lock);
    allocator.poolLimit = bytes < 0 ? 0 : bytes;
    evicted = allocator.evict(allocator.poolLimit);
  }
  freeChain(evicted);
}

void sparseAutogradTrimPool(void) {
  Block *evicted = nullptr;
  {
    std::lock_guard<std::mutex> guard(allocator.lock);
    evicted = allocator.evict(0);
  }
  freeChain(evicted);
}

void sparseAutogradGetCounters(SparseAutogradCounters *counters) {
  if (!counters)
    return;
  std::lock_guard<std::mutex> guard(allocator.lock);
  *counters = allocator.counters;
  counters->entryCalls = entryCallCount();
  counters->parallelRegions = parallelRegionCount();
}

void sparseAutogradResetCounters(void) {
  std::lock_guard<std::mutex> guard(allocator.lock);
  SparseAutogradCounters &counters = allocator.counters;
  counters.allocations = 0;
  counters.allocatedBytes = 0;
  counters.poolHits = 0;
  counters.peakLiveBytes = counters.liveBytes;
  resetEntryCallCount();
  resetParallelRegionCount();
  resetCopiedByteCount();
  resetCheckedByteCount();
}
