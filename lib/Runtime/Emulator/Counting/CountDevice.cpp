//===- CountDevice.cpp - Counts of the emulated device ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CountDevice.h"

#include "Counter.h"
#include "Device/Failure.h"
#include "SparseAutograd/Runtime/Runtime.h"

#include <iterator>
#include <mutex>

using namespace sparse_autograd;
using namespace sparse_autograd::emulator;

namespace {
struct DeviceCounts {
  std::mutex lock;
  /// As it was chosen; empty: nothing is counted.
  std::string name;
  CountedMachine machine;
  std::vector<LaunchCounts> launches;
  std::string text;
};
} // namespace

static DeviceCounts &getCounts() {
  static DeviceCounts counts;
  return counts;
}

std::string sparse_autograd::emulator::describeMachines(const char *machine) {
  std::string text = std::string("there is no description of the machine '") +
                     machine + "'; there are ";
  for (const GPUMachine &known : gpuMachines)
    text += std::string(&known == gpuMachines ? "" : ", ") + known.name;
  return text + ", and parts of them, as h100/16";
}

void sparse_autograd::emulator::prepareCounts(
    SparseAutogradEmulator *emulator) {
  DeviceCounts &counts = getCounts();
  std::lock_guard<std::mutex> guard(counts.lock);
  const Counter *counter = getCounter(emulator);
  if (counts.name.empty()) {
    if (counter)
      (void)sparseAutogradEmulatorCount(emulator, nullptr);
    return;
  }
  if (!counter || counter->getMachine().product != counts.machine.product ||
      counter->getMachine().divisor != counts.machine.divisor)
    (void)sparseAutogradEmulatorCount(emulator, counts.name.c_str());
}

void sparse_autograd::emulator::collectCounts(
    SparseAutogradEmulator *emulator) {
  Counter *counter = getCounter(emulator);
  if (!counter)
    return;
  DeviceCounts &counts = getCounts();
  std::lock_guard<std::mutex> guard(counts.lock);
  std::move(counter->launches.begin(), counter->launches.end(),
            std::back_inserter(counts.launches));
  counter->launches.clear();
}

int32_t sparseAutogradCountDevice(const char *machine) {
  DeviceCounts &counts = getCounts();
  std::lock_guard<std::mutex> guard(counts.lock);
  CountedMachine chosen;
  if (machine && !chosen.parse(machine))
    return runtime::fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT, "%s",
                         describeMachines(machine).c_str());
  counts.machine = chosen;
  counts.name = machine ? machine : "";
  counts.launches.clear();
  return SPARSE_AUTOGRAD_SUCCESS;
}

const char *sparseAutogradGetDeviceCounts(void) {
  DeviceCounts &counts = getCounts();
  std::lock_guard<std::mutex> guard(counts.lock);
  if (counts.name.empty())
    return nullptr;
  counts.text = writeCounts(counts.machine, counts.launches);
  return counts.text.c_str();
}
