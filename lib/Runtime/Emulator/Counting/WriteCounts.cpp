//===- WriteCounts.cpp - Counts as JSON -------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Counts.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

using namespace sparse_autograd;
using namespace sparse_autograd::emulator;

/// Of a launch.
static constexpr size_t placesListed = 12;

static constexpr const char *classNames[SPARSE_AUTOGRAD_CLASS_COUNT] = {
    "integer", "f32",      "f64",     "conversion", "special",
    "memory",  "exchange", "barrier", "tensor",     "control"};
static constexpr const char *spaceNames[] = {"none", "global", "shared",
                                             "constant", "local"};
static constexpr const char *kindNames[] = {"load", "store", "atomic",
                                            "atomic store"};

namespace {
/// Text of JSON, with commas where they belong.
class Writer {
public:
  __attribute__((format(printf, 2, 3))) void add(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char buffer[512];
    std::vsnprintf(buffer, sizeof(buffer), format, arguments);
    va_end(arguments);
    text += buffer;
  }
  void open(const char *name, char bracket) {
    separate();
    if (name)
      add("\"%s\": ", name);
    text += bracket;
    isFirst = true;
  }
  void close(char bracket) {
    text += bracket;
    isFirst = false;
  }
  void number(const char *name, uint64_t value) {
    separate();
    add("\"%s\": %" PRIu64, name, value);
  }
  void seconds(const char *name, double value) {
    separate();
    add("\"%s\": %.4g", name, value);
  }
  void string(const char *name, const char *value) {
    separate();
    add("\"%s\": \"", name);
    for (; *value; ++value) {
      if (*value == '"' || *value == '\\')
        text += '\\';
      if (static_cast<unsigned char>(*value) >= ' ')
        text += *value;
    }
    text += '"';
  }
  void extents(const char *name, const int64_t (&extents)[3]) {
    separate();
    add("\"%s\": [%" PRId64 ", %" PRId64 ", %" PRId64 "]", name, extents[0],
        extents[1], extents[2]);
  }

  std::string text;

private:
  void separate() {
    if (!isFirst)
      text += ", ";
    isFirst = false;
  }
  bool isFirst = true;
};
} // namespace

static void writePlace(Writer &writer, const PlaceCounts &place) {
  writer.open(nullptr, '{');
  writer.string("where", place.where ? place.where : "");
  writer.string("space", spaceNames[place.space]);
  writer.string("kind", kindNames[place.kind]);
  writer.number("bytes", place.bytes);
  writer.number("requests", place.requests);
  writer.number("lanes", place.lanes);
  writer.number("sectors", place.sectors);
  writer.number("wavefronts", place.wavefronts);
  writer.number("conflicts", place.conflicts);
  writer.close('}');
}

static void writeLaunch(Writer &writer, const CountedMachine &machine,
                        const LaunchCounts &counts) {
  writer.open(nullptr, '{');
  writer.string("kernel", counts.kernel.c_str());
  writer.extents("grid", counts.grid);
  writer.extents("block", counts.block);
  writer.number("blocks", counts.getBlocks());
  writer.number("shared_bytes", counts.sharedBytes);

  writer.open("counted", '{');
  writer.number("global_requests", counts.global.requests);
  writer.number("global_lanes", counts.global.lanes);
  writer.number("global_bytes", counts.global.bytes);
  writer.number("global_sectors", counts.global.sectors);
  writer.number("global_wavefronts", counts.global.wavefronts);
  writer.number("atomic_requests", counts.atomics);
  writer.number("shared_requests", counts.shared.requests);
  writer.number("shared_wavefronts", counts.shared.wavefronts);
  writer.number("shared_conflicts", counts.shared.conflicts);
  writer.number("local_requests", counts.local.requests);
  writer.number("local_sectors", counts.local.sectors);
  if (counts.hasInstructions) {
    writer.number("warp_instructions", counts.getInstructions());
    writer.number("lane_instructions", counts.laneInstructions);
    writer.number("tensor_macs", counts.tensorMacs);
    writer.open("instructions", '{');
    for (int i = 0; i < SPARSE_AUTOGRAD_CLASS_COUNT; ++i)
      writer.number(classNames[i], counts.instructions[i]);
    writer.close('}');
    writer.open("longest_chain", '{');
    writer.number("global_accesses", counts.longest.global);
    writer.number("shared_accesses", counts.longest.shared);
    writer.number("other_cycles", counts.longest.cycles);
    writer.close('}');
  }
  writer.close('}');

  Occupancy occupancy = getOccupancy(machine, counts);
  writer.open("model", '{');
  const Traffic &traffic = counts.traffic;
  writer.number("l1_read_sectors", traffic.l1Reads);
  writer.number("l1_hit_sectors", traffic.l1Hits);
  writer.number("l2_read_sectors", traffic.l2Reads);
  writer.number("l2_hit_sectors", traffic.l2Hits);
  writer.number("l2_write_sectors", traffic.l2Writes);
  writer.number("dram_read_sectors", traffic.dramReads);
  writer.number("dram_write_sectors", traffic.dramWrites);
  writer.number("blocks_of_multiprocessor", occupancy.blocks);
  writer.number("warps_of_multiprocessor",
                occupancy.blocks * counts.getWarps());
  writer.string("occupancy_limit", occupancy.limit);
  writer.number("registers", counts.registers);
  TimeModel model = modelTime(machine, counts, occupancy);
  writer.open("least_seconds", '{');
  for (const TimeModel::Term &term : model.terms)
    writer.seconds(term.name, term.seconds);
  writer.close('}');
  writer.string("bound", model.bound);
  writer.seconds("seconds", model.seconds);
  writer.close('}');

  writer.open("places", '[');
  for (size_t i = 0; i < std::min(placesListed, counts.places.size()); ++i)
    writePlace(writer, counts.places[i]);
  writer.close(']');
  writer.close('}');
}

std::string sparse_autograd::emulator::writeCounts(
    const CountedMachine &machine, const std::vector<LaunchCounts> &launches) {
  Writer writer;
  writer.open(nullptr, '{');
  writer.string("machine", machine.product->name);
  writer.number("machine_divisor", machine.divisor);
  writer.string("note", "counted on the emulator; times, caches and occupancy "
                        "are a model");
  writer.open("launches", '[');
  for (const LaunchCounts &launch : launches) {
    writer.text += "\n ";
    writeLaunch(writer, machine, launch);
  }
  writer.close(']');
  writer.close('}');
  return writer.text;
}
