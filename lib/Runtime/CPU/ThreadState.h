//===- ThreadState.h - What the runtime knows of a thread -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The frame that a thread allocates into, the place that an error jumps to, and
// the last error. Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CPU_THREADSTATE_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CPU_THREADSTATE_H

#include "SparseAutograd/Runtime/Call.h"

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace sparse_autograd {
namespace runtime {

struct Block;
struct BegunProduct;
struct DeviceBlock;
struct Stream;

/// One call of an entry: the blocks allocated by it that are still alive.
/// The list is guarded by the allocator's lock, since the bodies of a parallel
/// loop allocate into the frame of the thread that runs the loop.
struct Frame {
  Frame *parent = nullptr;
  Block *blocks = nullptr;
  /// The stream of a frame that uses a device, and what it allocated there.
  Stream *stream = nullptr;
  bool ownsStream = false; ///< it is not that of an outer frame
  DeviceBlock *deviceBlocks = nullptr;
  BegunProduct *begunProduct = nullptr; ///< by a library of the device
  /// What the caller says of this call, and the record of the entry's
  /// descriptors; null where it says nothing.
  const SparseAutogradCall *call = nullptr;
  const int64_t *record = nullptr;
  /// The result that the next block is for, if it has a destination.
  int64_t expectedResult = -1, expectedList = 0;
};

/// Where an error goes.
struct JumpTarget {
  JumpTarget *previous;
  std::jmp_buf buffer;
};

/// The text of an error, of a fixed size so that running out of memory can be
/// reported without allocating.
constexpr size_t messageCapacity = 1024;

struct ThreadState {
  Frame *frame = nullptr;
  JumpTarget *target = nullptr;
  bool insideParallelFor = false;
  /// The call that the next guard serves.
  const SparseAutogradCall *call = nullptr;
  /// Of the outermost call that was made last.
  SparseAutogradCallTimes times = {};
  int32_t status = 0;
  char message[messageCapacity] = {};
};

/// The state of the calling thread. It has no destructor to run, so it may be
/// used while a thread ends.
ThreadState &threadState();

/// Calls `work`, and adds the nanoseconds that it takes, unless it raises, to a
/// time of the calling thread's.
template <typename Work>
void addTime(int64_t SparseAutogradCallTimes::*time, Work work) {
  auto now = [] {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return int64_t(t.tv_sec) * 1000000000 + t.tv_nsec;
  };
  int64_t begin = now();
  work();
  threadState().times.*time += now() - begin;
}

/// Sets the status and the message of the calling thread; a long message is cut
/// between two characters.
void setLastError(int32_t status, const char *message);

/// Calls `callee(context)` and returns true; false if it raised, with the error
/// in the thread's state. The frames that an error jumps over must have no
/// destructors to run.
bool runProtected(void (*callee)(void *context), void *context);

/// Counts for sparseAutogradGetCounters.
int64_t entryCallCount();
int64_t parallelRegionCount();
int64_t copiedByteCount();
int64_t checkedByteCount();
void resetEntryCallCount();
void resetParallelRegionCount();
void resetCopiedByteCount();
void resetCheckedByteCount();

/// Of the call that the innermost frame serves: the pattern of an argument,
/// null if there is none; whether a result is written to `block`.
const SparseAutogradPattern *getPattern(int64_t argument);
bool isDestination(const void *block);

/// The destination of the result that a frame expects, if it takes a block of
/// so many bytes; null otherwise. The frame expects no other then.
void *takeExpected(Frame &frame, int64_t bytes);

/// Gives the blocks of a frame to its caller.
void detachBlocks(Frame &frame);

/// Releases the blocks of a frame.
void releaseBlocks(Frame &frame);

/// Ends the use of a device by a frame that has a stream: what it allocated
/// there is released, and the device no longer reads or writes memory of the
/// host for it. Leaves the last error as it is.
void endDeviceUse(Frame &frame, bool succeeded);

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CPU_THREADSTATE_H
