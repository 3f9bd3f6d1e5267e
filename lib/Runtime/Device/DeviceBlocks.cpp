//===- DeviceBlocks.cpp - Memory of devices that is in use ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device memory has no room for a header that the host could read. So blocks
// are kept in a table of their addresses, which differ between devices, and
// each in a list of its frame. The pool is the device's own: of CUDA, that of
// the driver, which knows what the streams have done. One lock guards
// everything: a program allocates tensors, and takes longer to use one.
//
//===----------------------------------------------------------------------===//

#include "DeviceBlocks.h"
#include "DeviceCounters.h"
#include "DeviceInterface.h"
#include "Failure.h"

#include <mutex>
#include <new>

namespace sparse_autograd {
namespace runtime {

struct DeviceBlock {
  void *address;
  int64_t bytes;
  Frame *frame;
  DeviceBlock *previous; ///< of the frame
  DeviceBlock *next;
  DeviceBlock *nextInBucket;
};

/// A program has hundreds of blocks alive.
constexpr int bucketBits = 12;

namespace {
/// The blocks that are alive. Constant-initialised and never destroyed.
struct DeviceBlocks {
  std::mutex lock;
  DeviceBlock *buckets[1 << bucketBits] = {};

  DeviceBlock **findBucket(void *address);
  void add(DeviceBlock *block);
  /// Takes a block out of the table and its frame; null if there is none.
  DeviceBlock *remove(void *address);
};
} // namespace

static DeviceBlocks blocks;
DeviceCounters deviceCounters;

DeviceBlock **DeviceBlocks::findBucket(void *address) {
  // Multiplicative hashing: Knuth, The Art of Computer Programming, 6.4.
  uint64_t key = reinterpret_cast<uintptr_t>(address);
  return &buckets[(key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - bucketBits)];
}

void DeviceBlocks::add(DeviceBlock *block) {
  DeviceBlock **bucket = findBucket(block->address);
  block->nextInBucket = *bucket;
  *bucket = block;
  block->previous = nullptr;
  block->next = block->frame->deviceBlocks;
  if (block->next)
    block->next->previous = block;
  block->frame->deviceBlocks = block;

  DeviceCounters &counters = deviceCounters;
  countDeviceEvent(counters.allocations);
  countDeviceEvent(counters.allocatedBytes, block->bytes);
  countDeviceEvent(counters.liveBlocks);
  countDeviceEvent(counters.liveBytes, block->bytes);
  if (counters.peakLiveBlocks < counters.liveBlocks)
    counters.peakLiveBlocks = counters.liveBlocks.load();
  if (counters.peakLiveBytes < counters.liveBytes)
    counters.peakLiveBytes = counters.liveBytes.load();
}

DeviceBlock *DeviceBlocks::remove(void *address) {
  DeviceBlock **place = findBucket(address);
  while (*place && (*place)->address != address)
    place = &(*place)->nextInBucket;
  DeviceBlock *block = *place;
  if (!block)
    return nullptr;
  *place = block->nextInBucket;
  (block->previous ? block->previous->next : block->frame->deviceBlocks) =
      block->next;
  if (block->next)
    block->next->previous = block->previous;
  countDeviceEvent(deviceCounters.liveBlocks, -1);
  countDeviceEvent(deviceCounters.liveBytes, -block->bytes);
  return block;
}

int32_t allocateDeviceBlock(Frame &frame, int64_t bytes, void *&address) {
  std::unique_ptr<DeviceBlock> block(new (std::nothrow) DeviceBlock);
  if (!block)
    return failHostMemory();
  // A block of no bytes has an address of its own, too.
  if (int32_t status = frame.stream->device->allocate(
          *frame.stream, bytes ? bytes : 1, address))
    return status;
  block->address = address;
  block->bytes = bytes;
  block->frame = &frame;
  std::lock_guard<std::mutex> guard(blocks.lock);
  blocks.add(block.release());
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t deallocateDeviceBlock(Stream &stream, void *address) {
  std::unique_ptr<DeviceBlock> block;
  {
    std::lock_guard<std::mutex> guard(blocks.lock);
    block.reset(blocks.remove(address));
  }
  if (!block)
    return fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                "device memory was released that is not in use: released "
                "twice?");
  return stream.device->deallocate(stream, address);
}

int64_t deallocateDeviceBlocks(Frame &frame) {
  int64_t count = 0;
  // The frame has ended: nobody else adds to its list.
  while (frame.deviceBlocks) {
    (void)deallocateDeviceBlock(*frame.stream, frame.deviceBlocks->address);
    ++count;
  }
  return count;
}

} // namespace runtime
} // namespace sparse_autograd

using namespace sparse_autograd::runtime;

void sparseAutogradGetDeviceCounters(SparseAutogradDeviceCounters *counters) {
  if (!counters)
    return;
  std::lock_guard<std::mutex> guard(blocks.lock);
  const DeviceCounters &from = deviceCounters;
  counters->allocations = from.allocations;
  counters->allocatedBytes = from.allocatedBytes;
  counters->liveBlocks = from.liveBlocks;
  counters->liveBytes = from.liveBytes;
  counters->peakLiveBlocks = from.peakLiveBlocks;
  counters->peakLiveBytes = from.peakLiveBytes;
  counters->abandonedBlocks = from.abandonedBlocks;
  counters->launches = from.launches;
  counters->loads = from.loads;
  counters->bytesCopiedIn = from.bytesCopiedIn;
  counters->bytesCopiedOut = from.bytesCopiedOut;
  counters->bytesCopiedOnDevice = from.bytesCopiedOnDevice;
  counters->waits = from.waits;
  counters->libraryProducts = from.libraryProducts;
}

void sparseAutogradResetDeviceCounters(void) {
  std::lock_guard<std::mutex> guard(blocks.lock);
  DeviceCounters &counters = deviceCounters;
  counters.allocations = 0;
  counters.allocatedBytes = 0;
  counters.peakLiveBlocks = counters.liveBlocks.load();
  counters.peakLiveBytes = counters.liveBytes.load();
  counters.abandonedBlocks = 0;
  counters.launches = 0;
  counters.loads = 0;
  counters.bytesCopiedIn = 0;
  counters.bytesCopiedOut = 0;
  counters.bytesCopiedOnDevice = 0;
  counters.waits = 0;
  counters.libraryProducts = 0;
}
