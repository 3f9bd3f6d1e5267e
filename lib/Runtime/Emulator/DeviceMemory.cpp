//===- DeviceMemory.cpp - Buffers of an emulated device ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace sparse_autograd::emulator;

/// Bytes before and behind each buffer that belong to none, so that an access
/// just outside of one does not hit another one. As much as cudaMalloc aligns.
constexpr size_t guardBytes = 256;

DeviceMemory::~DeviceMemory() {
  for (const auto &region : regions)
    std::free(region->allocation);
}

Region *DeviceMemory::findBefore(uintptr_t address) const {
  auto after = std::upper_bound(regions.begin(), regions.end(), address,
                                [](uintptr_t value, const auto &region) {
                                  return value < region->begin;
                                });
  return after == regions.begin() ? nullptr : std::prev(after)->get();
}

Region *DeviceMemory::findAfter(uintptr_t address) const {
  auto after = std::upper_bound(regions.begin(), regions.end(), address,
                                [](uintptr_t value, const auto &region) {
                                  return value < region->begin;
                                });
  return after == regions.end() ? nullptr : after->get();
}

/// What the addresses of buffers are multiples of.
static size_t getCountedBytes(size_t length) {
  constexpr size_t unit = 512;
  return (length / unit + 1) * unit;
}

uint64_t DeviceMemory::placeCounted(size_t length) {
  size_t bytes = getCountedBytes(length);
  std::vector<uint64_t> &released = freeCounted[bytes];
  uint64_t address = nextCounted;
  if (released.empty()) {
    nextCounted += bytes;
    return address;
  }
  address = released.back();
  released.pop_back();
  return address;
}

void DeviceMemory::insert(std::unique_ptr<Region> region) {
  region->countedAddress = placeCounted(region->bytes);
  region->shadow.resize(region->bytes);
  auto place = std::upper_bound(
      regions.begin(), regions.end(), region->begin,
      [](uintptr_t value, const auto &other) { return value < other->begin; });
  regions.insert(place, std::move(region));
}

void DeviceMemory::erase(size_t index) {
  last = nullptr;
  freeCounted[getCountedBytes(regions[index]->bytes)].push_back(
      regions[index]->countedAddress);
  std::free(regions[index]->allocation);
  regions.erase(regions.begin() + index);
}

void *DeviceMemory::allocate(size_t size, bool notesWritten) {
  if (size > SIZE_MAX / 2)
    return nullptr;
  size_t rounded = (size + guardBytes - 1) / guardBytes * guardBytes;
  char *allocation = static_cast<char *>(
      std::aligned_alloc(guardBytes, rounded + 2 * guardBytes));
  if (!allocation)
    return nullptr;
  std::memset(allocation, 0xFF, rounded + 2 * guardBytes);
  auto region = std::make_unique<Region>();
  region->begin = reinterpret_cast<uintptr_t>(allocation) + guardBytes;
  region->bytes = size;
  region->allocation = allocation;
  region->written.begin(size, /*areWritten=*/!notesWritten);
  insert(std::move(region));
  bytes += size;
  return allocation + guardBytes;
}

bool DeviceMemory::release(void *buffer) {
  for (size_t i = 0; i < regions.size(); ++i)
    if (regions[i]->allocation &&
        regions[i]->begin == reinterpret_cast<uintptr_t>(buffer)) {
      bytes -= regions[i]->bytes;
      erase(i);
      return true;
    }
  return false;
}

void DeviceMemory::addVariable(const char *name, void *address, size_t size,
                               bool isConstant) {
  auto region = std::make_unique<Region>();
  region->begin = reinterpret_cast<uintptr_t>(address);
  region->bytes = size;
  region->name = name;
  region->isConstant = isConstant;
  region->written.begin(size, /*areWritten=*/true);
  insert(std::move(region));
}

void DeviceMemory::removeVariable(void *address) {
  for (size_t i = 0; i < regions.size(); ++i)
    if (!regions[i]->allocation &&
        regions[i]->begin == reinterpret_cast<uintptr_t>(address))
      return erase(i);
}

void DeviceMemory::forgetAccesses() {
  for (const auto &region : regions)
    region->shadow.forget();
}
