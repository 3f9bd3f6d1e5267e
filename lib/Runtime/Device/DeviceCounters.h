//===- DeviceCounters.h - What was done on devices --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Behind sparseAutogradGetDeviceCounters. Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_DEVICECOUNTERS_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_DEVICECOUNTERS_H

#include <atomic>
#include <cstdint>

namespace sparse_autograd {
namespace runtime {

/// See SparseAutogradDeviceCounters. Those of blocks change only under the lock
/// of the blocks.
struct DeviceCounters {
  std::atomic<int64_t> allocations{0};
  std::atomic<int64_t> allocatedBytes{0};
  std::atomic<int64_t> liveBlocks{0};
  std::atomic<int64_t> liveBytes{0};
  std::atomic<int64_t> peakLiveBlocks{0};
  std::atomic<int64_t> peakLiveBytes{0};
  std::atomic<int64_t> abandonedBlocks{0};
  std::atomic<int64_t> launches{0};
  std::atomic<int64_t> loads{0};
  std::atomic<int64_t> bytesCopiedIn{0};
  std::atomic<int64_t> bytesCopiedOut{0};
  std::atomic<int64_t> bytesCopiedOnDevice{0};
  std::atomic<int64_t> waits{0};
  std::atomic<int64_t> libraryProducts{0};
};

extern DeviceCounters deviceCounters;

inline void countDeviceEvent(std::atomic<int64_t> &counter,
                             int64_t amount = 1) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_DEVICECOUNTERS_H
