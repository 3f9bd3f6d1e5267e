//===- CacheModel.cpp - Caches between multiprocessors and DRAM -*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheModel.h"

#include <algorithm>

using namespace sparse_autograd;
using namespace sparse_autograd::emulator;

//===----------------------------------------------------------------------===//
// A cache
//===----------------------------------------------------------------------===//

void Cache::begin(int64_t bytes) {
  setCount = std::max<uint64_t>(
      1, static_cast<uint64_t>(bytes) /
             (GPUMachine::lineBytes * GPUMachine::cacheWays));
  ways.assign(setCount * GPUMachine::cacheWays, Way());
  now = 0;
}

uint64_t Cache::hash(uint64_t line) const {
  // Products hash addresses, so that no stride meets one set alone.
  uint64_t mixed = line * 0x9E3779B97F4A7C15;
  return static_cast<uint64_t>(
      static_cast<unsigned __int128>(mixed) * setCount >> 64);
}

Cache::Result Cache::access(uint64_t line, SectorMask sectors, bool isWrite) {
  Result result;
  Way *set = getSet(line), *oldest = set, *found = nullptr;
  for (Way *way = set; way != set + GPUMachine::cacheWays; ++way) {
    if (way->line == line) {
      found = way;
      break;
    }
    if (way->used < oldest->used)
      oldest = way;
  }
  if (!found) {
    found = oldest;
    *found = Way();
    found->line = line;
  }
  found->used = ++now;
  result.hits = found->valid & sectors;
  found->valid |= sectors;
  if (isWrite) {
    result.newlyDirty = sectors & ~found->dirty;
    found->dirty |= sectors;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// All caches
//===----------------------------------------------------------------------===//

void CacheModel::chooseMachine(int64_t newMultiprocessors, int64_t newL2Bytes) {
  multiprocessors = static_cast<size_t>(newMultiprocessors);
  l2Bytes = newL2Bytes;
  l2.begin(l2Bytes);
}

void CacheModel::beginLaunch(int64_t l1Bytes, int64_t blocksOfEach) {
  traffic = Traffic();
  l1.resize(multiprocessors);
  for (Cache &cache : l1)
    cache.begin(l1Bytes);
  size_t count = multiprocessors * static_cast<size_t>(blocksOfEach);
  residents.assign(count, Resident());
  freePlaces.clear();
  // One block goes to each multiprocessor before any has a second one.
  for (size_t i = count; i-- > 0;) {
    residents[i].multiprocessor = i % multiprocessors;
    freePlaces.push_back(i);
  }
  waiting.clear();
}

void CacheModel::addBlock(BlockTrace &&trace) {
  // One that asks for nothing takes no place.
  if (std::all_of(trace.begin(), trace.end(),
                  [](const WarpTrace &warp) { return warp.empty(); }))
    return;
  waiting.push_back(std::move(trace));
  run(/*toEnd=*/false);
}

void CacheModel::access(Cache &first, const LineAccess &access) {
  auto count = [](SectorMask sectors) -> uint64_t {
    return __builtin_popcount(sectors);
  };
  SectorMask wanted = access.sectors;
  bool isWrite = access.kind == LineAccess::Write;
  if (access.kind == LineAccess::Read) {
    traffic.l1Reads += count(wanted);
    SectorMask hits = first.access(access.line, wanted, /*isWrite=*/false).hits;
    traffic.l1Hits += count(hits);
    wanted &= ~hits;
    if (!wanted)
      return;
  }
  Cache::Result result = l2.access(
      access.line, wanted, isWrite || access.kind == LineAccess::Update);
  traffic.dramWrites += count(result.newlyDirty);
  if (isWrite) {
    traffic.l2Writes += count(wanted);
    return;
  }
  if (access.kind == LineAccess::Update)
    traffic.l2Writes += count(wanted);
  traffic.l2Reads += count(wanted);
  traffic.l2Hits += count(result.hits);
  traffic.dramReads += count(wanted & ~result.hits);
}

bool CacheModel::advance(Resident &resident, size_t warp) {
  const WarpTrace &trace = resident.trace[warp];
  size_t &place = resident.places[warp];
  while (place < trace.size()) {
    const LineAccess &next = trace[place++];
    access(l1[resident.multiprocessor], next);
    if (next.isLast)
      break;
  }
  return place < trace.size();
}

void CacheModel::run(bool toEnd) {
  while (true) {
    while (!freePlaces.empty() && !waiting.empty()) {
      Resident &resident = residents[freePlaces.back()];
      freePlaces.pop_back();
      resident.trace = std::move(waiting.front());
      waiting.pop_front();
      resident.places.assign(resident.trace.size(), 0);
    }
    // Blocks that are still to come would run beside these.
    if (!toEnd && waiting.empty())
      return;
    if (freePlaces.size() == residents.size())
      return;
    for (size_t i = 0; i < residents.size(); ++i) {
      Resident &resident = residents[i];
      if (resident.places.empty())
        continue;
      bool hasMore = false;
      for (size_t warp = 0; warp < resident.trace.size(); ++warp)
        hasMore |= advance(resident, warp);
      if (hasMore)
        continue;
      resident.trace.clear();
      resident.places.clear();
      freePlaces.push_back(i);
    }
  }
}

Traffic CacheModel::endLaunch() {
  run(/*toEnd=*/true);
  return traffic;
}
