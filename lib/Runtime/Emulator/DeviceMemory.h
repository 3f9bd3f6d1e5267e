//===- DeviceMemory.h - Buffers of an emulated device -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the emulator.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_DEVICEMEMORY_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_DEVICEMEMORY_H

#include "Shadow.h"
#include "WrittenBytes.h"

#include <map>
#include <memory>
#include <vector>

namespace sparse_autograd {
namespace emulator {

/// A buffer, or a variable of a module.
struct Region {
  uintptr_t begin = 0;
  size_t bytes = 0;
  bool isConstant = false;
  /// Of a variable; else null.
  const char *name = nullptr;
  /// What the buffer is a part of: guards surround it.
  void *allocation = nullptr;
  /// Its address for the caches of counted launches, which is the same in each
  /// run.
  uint64_t countedAddress = 0;
  Shadow shadow;
  WrittenBytes written;

  uintptr_t getEnd() const { return begin + bytes; }
  bool contains(uintptr_t address, size_t length) const {
    return address >= begin && length <= bytes &&
           address - begin <= bytes - length;
  }
};

class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  ~DeviceMemory();

  /// A new buffer, or null. Its bytes count as written unless that is noted.
  void *allocate(size_t bytes, bool notesWritten);
  /// Whether it was a buffer.
  bool release(void *buffer);
  void addVariable(const char *name, void *address, size_t bytes,
                   bool isConstant);
  void removeVariable(void *address);

  /// The region that begins at or before the address; null if none does.
  Region *findBefore(uintptr_t address) const;
  /// The region with all of these bytes, or null.
  Region *find(uintptr_t address, size_t length) const {
    if (last && last->contains(address, length))
      return last;
    Region *region = findBefore(address);
    if (!region || !region->contains(address, length))
      return nullptr;
    return last = region;
  }
  /// The first region that begins behind the address, or null.
  Region *findAfter(uintptr_t address) const;
  size_t getBytes() const { return bytes; }
  /// Forgets the accesses of all launches until now.
  void forgetAccesses();

private:
  void insert(std::unique_ptr<Region> region);
  void erase(size_t index);
  /// A counted address for so many bytes: that of the last buffer of this size
  /// that was released, as a pool of memory hands it out, or a new one.
  uint64_t placeCounted(size_t length);

  /// In the order of their addresses.
  std::vector<std::unique_ptr<Region>> regions;
  /// Where the next counted address is, and those that were released, by size.
  uint64_t nextCounted = 0;
  std::map<size_t, std::vector<uint64_t>> freeCounted;
  /// Of all buffers.
  size_t bytes = 0;
  /// Where the last access was.
  mutable Region *last = nullptr;
};

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_EMULATOR_DEVICEMEMORY_H
