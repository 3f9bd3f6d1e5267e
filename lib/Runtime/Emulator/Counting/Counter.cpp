//===- Counter.cpp - Requests of the warps of a block -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Counter.h"

#include "Emulator/Shadow.h"

#include <algorithm>
#include <cstring>

using namespace sparse_autograd;
using namespace sparse_autograd::emulator;

/// Numbers of what is executed in a loop differ from those in others.
static uint64_t mix(uint64_t context, uint64_t number) {
  uint64_t z = (context ^ number * 0x9E3779B97F4A7C15) + 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  return (z ^ (z >> 27)) * 0x94D049BB133111EB;
}

Counter::Counter(const CountedMachine &machine) : machine(machine) {
  caches.chooseMachine(machine.getMultiprocessors(), machine.getL2Bytes());
}

//===----------------------------------------------------------------------===//
// Launches and blocks
//===----------------------------------------------------------------------===//

void Counter::beginLaunch(const char *kernel, const int64_t (&grid)[3],
                          const int64_t (&block)[3], int64_t sharedBytes) {
  counts = LaunchCounts();
  counts.kernel = kernel;
  std::copy(grid, grid + 3, counts.grid);
  std::copy(block, block + 3, counts.block);
  counts.sharedBytes = sharedBytes;
  counts.registers = registers;
  places.clear();
  warpCount = static_cast<uint32_t>(counts.getWarps());
  if (warps.size() < warpCount)
    warps.resize(warpCount);
  lanes.resize(static_cast<size_t>(warpCount) * warpSize);
  Occupancy occupancy = getOccupancy(machine, counts);
  caches.beginLaunch(getL1Bytes(machine, counts, occupancy.blocks),
                     occupancy.blocks);
}

void Counter::beginBlock() {
  for (uint32_t i = 0; i < warpCount; ++i) {
    Warp &warp = warps[i];
    warp.events.clear();
    warp.addresses.clear();
    warp.index.clear();
    warp.first = none;
  }
  for (Lane &lane : lanes) {
    lane.last = none;
    lane.context = 0;
    lane.loops.clear();
  }
}

Counter::Event &Counter::meet(uint32_t thread, const void *place) {
  Lane &lane = lanes[thread];
  Warp &warp = warps[thread / warpSize];
  uint32_t bit = 1u << thread % warpSize;
  auto take = [&](uint32_t number) -> Event & {
    lane.last = number;
    warp.events[number].lanes |= bit;
    return warp.events[number];
  };
  uint64_t context = lane.context;
  while (true) {
    uint32_t next =
        lane.last == none ? warp.first : warp.events[lane.last].next;
    if (next != none && warp.events[next].place == place &&
        warp.events[next].context == context &&
        !(warp.events[next].lanes & bit))
      return take(next);
    auto [found, isNew] = warp.index.try_emplace(
        {place, context}, static_cast<uint32_t>(warp.events.size()));
    if (isNew) {
      Event event;
      event.place = place;
      event.context = context;
      event.next = next;
      (lane.last == none ? warp.first : warp.events[lane.last].next) =
          found->second;
      warp.events.push_back(event);
      return take(found->second);
    }
    if (!(warp.events[found->second].lanes & bit))
      return take(found->second);
    // It was here before: this is another time.
    context = mix(context, 1);
  }
}

void Counter::enter(uint32_t thread,
                    const SparseAutogradEmulatedBasicBlock &block) {
  Lane &lane = lanes[thread];
  lane.context = 0;
  if (block.loop) {
    if (lane.loops.size() <= block.loop)
      lane.loops.resize(block.loop + 1);
    Loop &loop = lane.loops[block.loop];
    if (block.isHeader) {
      uint64_t around =
          block.loopAround ? lane.loops[block.loopAround].context : 0;
      if (loop.around != around)
        loop.iteration = 0;
      loop.around = around;
      loop.context = mix(mix(around, block.loop), ++loop.iteration);
    }
    lane.context = loop.context;
  }
  meet(thread, &block);
}

void Counter::access(uint32_t thread, const CountedAccess &access) {
  Warp &warp = warps[thread / warpSize];
  Event &event = meet(thread, access.where);
  if (event.addresses == none) {
    event.addresses = static_cast<uint32_t>(warp.addresses.size());
    warp.addresses.resize(warp.addresses.size() + warpSize);
    event.bytes = access.bytes;
    event.space = access.space;
    event.kind = access.kind;
    event.isPastL1 = access.isPastL1;
  }
  warp.addresses[event.addresses + thread % warpSize] = access.address;
}

void Counter::endBlock() {
  BlockTrace block(warpCount);
  for (uint32_t i = 0; i < warpCount; ++i) {
    const Warp &warp = warps[i];
    LaunchCounts::Chain chain;
    for (uint32_t number = warp.first; number != none;
         number = warp.events[number].next) {
      const Event &event = warp.events[number];
      if (event.addresses != none) {
        countRequest(warp, event, block[i]);
        continue;
      }
      counts.hasInstructions = true;
      const auto &code =
          *static_cast<const SparseAutogradEmulatedBasicBlock *>(event.place);
      uint64_t active = __builtin_popcount(event.lanes);
      for (int j = 0; j < SPARSE_AUTOGRAD_CLASS_COUNT; ++j) {
        counts.instructions[j] += code.instructions[j];
        counts.laneInstructions += code.instructions[j] * active;
      }
      counts.tensorMacs += code.tensorMacs;
      chain.global += code.chainGlobal;
      chain.shared += code.chainShared;
      chain.cycles += code.chainCycles;
    }
    counts.all.global += chain.global;
    counts.all.shared += chain.shared;
    counts.all.cycles += chain.cycles;
    // By the nominal length, as the code was weighed.
    auto getLength = [](const LaunchCounts::Chain &c) {
      return c.global * SPARSE_AUTOGRAD_NOMINAL_GLOBAL_LATENCY +
             c.shared * SPARSE_AUTOGRAD_NOMINAL_SHARED_LATENCY + c.cycles;
    };
    if (getLength(chain) > getLength(counts.longest))
      counts.longest = chain;
  }
  caches.addBlock(std::move(block));
}

void Counter::endLaunch(bool isKept) {
  counts.traffic = caches.endLaunch();
  if (!isKept)
    return;
  for (const auto &[where, place] : places)
    counts.places.push_back(place);
  // The places of equal cost by their names, whose addresses differ each time.
  std::sort(counts.places.begin(), counts.places.end(),
            [](const PlaceCounts &a, const PlaceCounts &b) {
              uint64_t costOfA = a.sectors + a.wavefronts;
              uint64_t costOfB = b.sectors + b.wavefronts;
              if (costOfA != costOfB)
                return costOfA > costOfB;
              return std::strcmp(a.where, b.where) < 0;
            });
  launches.push_back(std::move(counts));
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

/// Of 32 banks of 4 bytes. What lanes read of one word is read once; accesses
/// of 8 bytes go by half a warp, those of 16 by a quarter.
void Counter::countShared(const Warp &warp, const Event &event,
                          PlaceCounts &place) {
  constexpr unsigned banks = 32, wordBytes = 4;
  unsigned atOnce = event.bytes > 8 ? 8 : event.bytes > 4 ? 16 : warpSize;
  uint64_t words[warpSize * 4];
  for (unsigned first = 0; first < warpSize; first += atOnce) {
    unsigned count = 0;
    for (unsigned lane = first; lane < first + atOnce; ++lane) {
      if (!(event.lanes >> lane & 1))
        continue;
      uint64_t address = warp.addresses[event.addresses + lane];
      uint64_t end = address + std::min<uint64_t>(event.bytes, 16);
      for (uint64_t word = address / wordBytes; word * wordBytes < end; ++word)
        if (count < warpSize * 4)
          words[count++] = word;
    }
    if (!count)
      continue;
    std::sort(words, words + count);
    count = static_cast<unsigned>(std::unique(words, words + count) - words);
    unsigned inBank[banks] = {};
    unsigned most = 1;
    for (unsigned i = 0; i < count; ++i)
      most = std::max(most, ++inBank[words[i] % banks]);
    place.wavefronts += most;
    place.conflicts += most - (count + banks - 1) / banks;
  }
}

void Counter::countRequest(const Warp &warp, const Event &event,
                           WarpTrace &trace) {
  auto *where = static_cast<const char *>(event.place);
  PlaceCounts &place = places[where];
  place.where = where;
  place.space = event.space;
  place.kind = event.kind;
  place.bytes = event.bytes;
  PlaceCounts before = place;
  uint64_t active = __builtin_popcount(event.lanes);
  ++place.requests;
  place.lanes += active;
  SpaceCounts *space = &counts.global;
  if (event.space == SPARSE_AUTOGRAD_SPACE_SHARED) {
    space = &counts.shared;
    countShared(warp, event, place);
  } else if (event.space == SPARSE_AUTOGRAD_SPACE_LOCAL) {
    // Local variables of a warp lie next to each other, word by word.
    space = &counts.local;
    uint64_t bytes = active * event.bytes;
    place.sectors +=
        (bytes + GPUMachine::sectorBytes - 1) / GPUMachine::sectorBytes;
    place.wavefronts +=
        (bytes + GPUMachine::lineBytes - 1) / GPUMachine::lineBytes;
  } else {
    // Sectors of the lines, in the order of their addresses.
    size_t begin = trace.size();
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if (!(event.lanes >> lane & 1))
        continue;
      uint64_t address = warp.addresses[event.addresses + lane];
      uint64_t last = (address + event.bytes - 1) / GPUMachine::sectorBytes;
      for (uint64_t sector = address / GPUMachine::sectorBytes; sector <= last;
           ++sector) {
        LineAccess line;
        line.line = sector / 4;
        line.sectors = static_cast<SectorMask>(1 << sector % 4);
        line.kind = event.kind == SPARSE_AUTOGRAD_STORE ||
                            event.kind == SPARSE_AUTOGRAD_ATOMIC_STORE
                        ? LineAccess::Write
                    : event.kind == SPARSE_AUTOGRAD_ATOMIC ? LineAccess::Update
                    : event.isPastL1 ? LineAccess::ReadPastL1
                                     : LineAccess::Read;
        if (trace.size() > begin && trace.back().line == line.line)
          trace.back().sectors |= line.sectors;
        else
          trace.push_back(line);
      }
    }
    std::sort(trace.begin() + static_cast<int64_t>(begin), trace.end(),
              [](const LineAccess &a, const LineAccess &b) {
                return a.line < b.line;
              });
    size_t end = begin;
    for (size_t i = begin; i < trace.size(); ++i)
      if (end > begin && trace[end - 1].line == trace[i].line)
        trace[end - 1].sectors |= trace[i].sectors;
      else
        trace[end++] = trace[i];
    trace.resize(end);
    trace.back().isLast = true;
    for (size_t i = begin; i < end; ++i)
      place.sectors += __builtin_popcount(trace[i].sectors);
    // The L1 looks up a line in a cycle.
    place.wavefronts += end - begin;
    if (event.kind == SPARSE_AUTOGRAD_ATOMIC)
      ++counts.atomics;
  }
  ++space->requests;
  space->lanes += active;
  space->bytes += active * event.bytes;
  space->sectors += place.sectors - before.sectors;
  space->wavefronts += place.wavefronts - before.wavefronts;
  space->conflicts += place.conflicts - before.conflicts;
}
