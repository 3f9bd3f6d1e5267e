//===- Emulator.cpp - Emulators and launches --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/Emulator.h"
#include "Block.h"
#include "Counting/CountDevice.h"
#include "Counting/Counter.h"
#include "Device/Failure.h"

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>

using namespace sparse_autograd::emulator;

namespace {
/// What any chip of the architectures that the project generates code for takes
/// (CUDA C++ Programming Guide, "Technical specifications per compute
/// capability").
constexpr int64_t maxThreads = 1024;
constexpr int64_t maxBlockExtent[] = {1024, 1024, 64};
constexpr int64_t maxGridExtent[] = {INT32_MAX, 65535, 65535};
constexpr int64_t maxStaticSharedBytes = 48 << 10;
constexpr int64_t maxLocalBytes = 512 << 10;

/// What the emulator has room for, around which nothing else lies.
constexpr int64_t maxSharedBytes = 16 << 20;
/// The least stack: what its own functions need, and as much for the kernel.
constexpr int64_t minStackBytes = 2 * static_cast<int64_t>(ownStackBytes);
} // namespace

struct SparseAutogradEmulator {
  SparseAutogradEmulatorOptions options;
  SparseAutogradEmulatorReport report = {};
  SparseAutogradEmulatorCounters counters = {};
  DeviceMemory memory;
  Block block;
  uint32_t lastEpoch = 0;
  /// Null unless launches are counted.
  std::unique_ptr<Counter> counter;
  std::string counts;

  __attribute__((format(printf, 4, 5))) int32_t refuse(int32_t fault,
                                                       const char *kernel,
                                                       const char *format, ...);
  int32_t checkLaunch(const SparseAutogradEmulatorKernel &kernel,
                      const SparseAutogradEmulatorLaunch &launch);
  bool runBlocks(uint32_t count);
};

/// Reports what no thread did, and returns the status.
int32_t SparseAutogradEmulator::refuse(int32_t fault, const char *kernel,
                                       const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  writeReport(report, fault, options.seed, kernel, format, arguments);
  va_end(arguments);
  return report.status;
}

int32_t SparseAutogradEmulator::checkLaunch(
    const SparseAutogradEmulatorKernel &kernel,
    const SparseAutogradEmulatorLaunch &launch) {
  constexpr int32_t fault = SPARSE_AUTOGRAD_EMULATOR_IMPOSSIBLE_LAUNCH;
  const char *name = kernel.name;
  for (int i = 0; i < 3; ++i) {
    if (launch.grid[i] < 1 || launch.grid[i] > maxGridExtent[i])
      return refuse(fault, name,
                    "a grid of %" PRId64 " blocks in %c is impossible: 1 to "
                    "%" PRId64 " are possible",
                    launch.grid[i], "xyz"[i], maxGridExtent[i]);
    if (launch.block[i] < 1 || launch.block[i] > maxBlockExtent[i])
      return refuse(fault, name,
                    "a block of %" PRId64 " threads in %c is impossible: 1 to "
                    "%" PRId64 " are possible",
                    launch.block[i], "xyz"[i], maxBlockExtent[i]);
    if (kernel.requiredBlock[0] && launch.block[i] != kernel.requiredBlock[i])
      return refuse(fault, name,
                    "a block of %" PRId64 " x %" PRId64 " x %" PRId64
                    " threads, but the kernel is compiled for %d x %d x %d",
                    launch.block[0], launch.block[1], launch.block[2],
                    kernel.requiredBlock[0], kernel.requiredBlock[1],
                    kernel.requiredBlock[2]);
  }
  int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  int64_t limit = kernel.maxThreads ? kernel.maxThreads : maxThreads;
  if (threads > limit)
    return refuse(fault, name,
                  "a block of %" PRId64 " threads is impossible: it may have "
                  "%" PRId64,
                  threads, limit);
  // Blocks are numbered in 32 bits.
  if (launch.grid[0] > INT32_MAX / launch.grid[1] ||
      launch.grid[0] * launch.grid[1] > INT32_MAX / launch.grid[2])
    return refuse(fault, name,
                  "a grid of %" PRId64 " x %" PRId64 " x %" PRId64
                  " blocks: the emulator takes up to 2^31 - 1 in all",
                  launch.grid[0], launch.grid[1], launch.grid[2]);
  if (kernel.staticSharedBytes > maxStaticSharedBytes)
    return refuse(fault, name,
                  "its variables take %d bytes of shared memory: %" PRId64
                  " are possible, and more only as dynamic shared memory",
                  kernel.staticSharedBytes, maxStaticSharedBytes);
  if (launch.dynamicSharedBytes < 0 ||
      launch.dynamicSharedBytes >
          options.maxSharedBytes - kernel.staticSharedBytes)
    return refuse(fault, name,
                  "%" PRId64 " bytes of dynamic shared memory, besides %d of "
                  "variables: a block may have %" PRId64,
                  launch.dynamicSharedBytes, kernel.staticSharedBytes,
                  options.maxSharedBytes);
  if (kernel.stackBytes > maxLocalBytes)
    return refuse(fault, name,
                  "its local variables take %" PRId64 " bytes: a thread may "
                  "have %" PRId64,
                  kernel.stackBytes, maxLocalBytes);
  return SPARSE_AUTOGRAD_SUCCESS;
}

/// Whether all blocks succeeded. With a seed they run in an order in which none
/// can tell which one is next.
bool SparseAutogradEmulator::runBlocks(uint32_t count) {
  RandomNumbers random(options.seed);
  uint64_t step = 1;
  uint64_t begin = 0;
  if (options.seed && count > 1) {
    // What has no common divisor with the count comes by every block.
    do
      step = 1 + random.below(count - 1);
    while (std::gcd(step, uint64_t(count)) != 1);
    begin = random.below(count);
  }
  for (uint64_t i = 0; i < count; ++i)
    if (!block.run(static_cast<uint32_t>((begin + i * step) % count)))
      return false;
  return true;
}

static int32_t failWithoutEmulator() {
  return sparse_autograd::runtime::fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                                        "the pointer to the emulator is null");
}

//===----------------------------------------------------------------------===//
// Emulators
//===----------------------------------------------------------------------===//

void sparseAutogradEmulatorGetDefaultOptions(
    SparseAutogradEmulatorOptions *options) {
  if (!options)
    return;
  *options = {};
  options->preemptionInterval = 8;
  options->maxSteps = int64_t(1) << 30;
  options->stackBytes = 64 << 10;
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  // Whose frames are larger.
  options->stackBytes = 256 << 10;
#endif
#endif
  options->maxSharedBytes = 227 << 10;
  options->maxDeviceBytes = -1;
  options->detectRaces = 1;
  options->detectUnwritten = 1;
  if (const char *text = std::getenv("SPARSE_AUTOGRAD_EMULATOR_SEED")) {
    char *end;
    uint64_t seed = std::strtoull(text, &end, 10);
    if (end != text && *end == '\0')
      options->seed = seed;
  }
}

SparseAutogradEmulator *
sparseAutogradEmulatorCreate(const SparseAutogradEmulatorOptions *options) {
  auto *emulator = new (std::nothrow) SparseAutogradEmulator();
  if (!emulator)
    return nullptr;
  if (options)
    emulator->options = *options;
  else
    sparseAutogradEmulatorGetDefaultOptions(&emulator->options);
  SparseAutogradEmulatorOptions &chosen = emulator->options;
  chosen.maxSharedBytes =
      std::min(std::max(chosen.maxSharedBytes, int64_t(0)), maxSharedBytes);
  chosen.stackBytes = std::max(chosen.stackBytes, minStackBytes);
  return emulator;
}

void sparseAutogradEmulatorDestroy(SparseAutogradEmulator *emulator) {
  delete emulator;
}

void sparseAutogradEmulatorSetSeed(SparseAutogradEmulator *emulator,
                                   uint64_t seed) {
  if (emulator)
    emulator->options.seed = seed;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void *sparseAutogradEmulatorAllocate(SparseAutogradEmulator *emulator,
                                     int64_t bytes) {
  if (!emulator) {
    (void)failWithoutEmulator();
    return nullptr;
  }
  int64_t limit = emulator->options.maxDeviceBytes;
  int64_t inUse = static_cast<int64_t>(emulator->memory.getBytes());
  void *buffer = nullptr;
  if (bytes >= 0 && (limit < 0 || bytes <= limit - inUse))
    buffer = emulator->memory.allocate(static_cast<size_t>(bytes),
                                       emulator->options.detectUnwritten != 0);
  if (!buffer)
    emulator->refuse(SPARSE_AUTOGRAD_EMULATOR_OUT_OF_MEMORY, nullptr,
                     "out of device memory: %" PRId64 " bytes were asked for, "
                     "%" PRId64 " are in use",
                     bytes, inUse);
  return buffer;
}

int32_t sparseAutogradEmulatorFree(SparseAutogradEmulator *emulator,
                                   void *buffer) {
  if (!emulator)
    return failWithoutEmulator();
  if (!buffer || emulator->memory.release(buffer))
    return SPARSE_AUTOGRAD_SUCCESS;
  return emulator->refuse(SPARSE_AUTOGRAD_EMULATOR_INVALID_ARGUMENT, nullptr,
                          "a device buffer was released that is none: released "
                          "twice?");
}

int32_t sparseAutogradEmulatorContains(const SparseAutogradEmulator *emulator,
                                       const void *address, int64_t bytes) {
  return emulator && bytes >= 0 &&
         emulator->memory.find(reinterpret_cast<uintptr_t>(address),
                               static_cast<size_t>(bytes)) != nullptr;
}

void sparseAutogradEmulatorMarkWritten(SparseAutogradEmulator *emulator,
                                       const void *address, int64_t bytes) {
  auto begin = reinterpret_cast<uintptr_t>(address);
  if (bytes < 0)
    return;
  auto length = static_cast<size_t>(bytes);
  if (Region *region = emulator->memory.find(begin, length))
    region->written.mark(begin - region->begin, length);
}

int32_t sparseAutogradEmulatorCopy(SparseAutogradEmulator *emulator,
                                   void *destination, const void *source,
                                   int64_t bytes) {
  auto to = reinterpret_cast<uintptr_t>(destination);
  auto from = reinterpret_cast<uintptr_t>(source);
  auto length = static_cast<size_t>(bytes);
  Region *target = bytes < 0 ? nullptr : emulator->memory.find(to, length);
  Region *origin = bytes < 0 ? nullptr : emulator->memory.find(from, length);
  if (!target || !origin)
    return emulator->refuse(SPARSE_AUTOGRAD_EMULATOR_INVALID_ARGUMENT, nullptr,
                            "a copy on the device %s %" PRId64
                            " bytes that are not in one buffer",
                            origin ? "writes" : "reads", bytes);
  std::memmove(destination, source, length);
  target->written.copy(to - target->begin, origin->written,
                       from - origin->begin, length);
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t
sparseAutogradEmulatorEncodeTensorMap(SparseAutogradEmulator *emulator,
                                      void *map,
                                      const SparseAutogradTensorTiles *tiles) {
  if (!emulator)
    return failWithoutEmulator();
  if (!map || !tiles)
    return emulator->refuse(SPARSE_AUTOGRAD_EMULATOR_INVALID_ARGUMENT, nullptr,
                            "the pointer to a tensor map, or to its tiles, is "
                            "null");
  if (encodeTensorMap(map, *tiles))
    return emulator->refuse(SPARSE_AUTOGRAD_EMULATOR_INVALID_ARGUMENT, nullptr,
                            "%s", sparseAutogradLastError());
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t
sparseAutogradEmulatorAddModule(SparseAutogradEmulator *emulator,
                                const SparseAutogradEmulatorModule *module) {
  if (!emulator)
    return failWithoutEmulator();
  if (!module || (module->variableCount > 0 && !module->variables))
    return emulator->refuse(SPARSE_AUTOGRAD_EMULATOR_INVALID_ARGUMENT, nullptr,
                            "the pointer to a module, or to its variables, is "
                            "null");
  if (module->version != SPARSE_AUTOGRAD_EMULATOR_VERSION)
    return emulator->refuse(SPARSE_AUTOGRAD_EMULATOR_INVALID_ARGUMENT, nullptr,
                            "the kernels are for version %u of the emulator, "
                            "which has version %u",
                            module->version, SPARSE_AUTOGRAD_EMULATOR_VERSION);
  for (int32_t i = 0; i < module->variableCount; ++i) {
    const SparseAutogradEmulatorVariable &variable = module->variables[i];
    emulator->memory.addVariable(variable.name, variable.address,
                                 static_cast<size_t>(variable.bytes),
                                 variable.isConstant != 0);
  }
  return SPARSE_AUTOGRAD_SUCCESS;
}

void sparseAutogradEmulatorRemoveModule(
    SparseAutogradEmulator *emulator,
    const SparseAutogradEmulatorModule *module) {
  if (!emulator || !module || !module->variables)
    return;
  for (int32_t i = 0; i < module->variableCount; ++i)
    emulator->memory.removeVariable(module->variables[i].address);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Whether a parameter is missing.
static bool hasNull(void **parameters, int32_t count) {
  return count > 0 && (!parameters || std::find(parameters, parameters + count,
                                                nullptr) != parameters + count);
}

int32_t sparseAutogradEmulatorLaunch(SparseAutogradEmulator *emulator,
                                     const SparseAutogradEmulatorKernel *kernel,
                                     const SparseAutogradEmulatorLaunch *launch,
                                     void **parameters) {
  if (!emulator)
    return failWithoutEmulator();
  emulator->counters = {};
  if (!kernel || !launch)
    return emulator->refuse(SPARSE_AUTOGRAD_EMULATOR_INVALID_ARGUMENT, nullptr,
                            "the pointer to a kernel, or to its launch, is "
                            "null");
  if (!kernel->function || hasNull(parameters, kernel->parameterCount))
    return emulator->refuse(SPARSE_AUTOGRAD_EMULATOR_INVALID_ARGUMENT,
                            kernel->name,
                            "the pointer to its function, or to a parameter, "
                            "is null");
  if (int32_t status = emulator->checkLaunch(*kernel, *launch))
    return status;
  LaunchState state = {};
  state.options = &emulator->options;
  state.memory = &emulator->memory;
  state.kernel = kernel;
  state.parameters = parameters;
  for (int i = 0; i < 3; ++i) {
    state.grid[i] = static_cast<uint32_t>(launch->grid[i]);
    state.block[i] = static_cast<uint32_t>(launch->block[i]);
  }
  state.dynamicSharedBytes = static_cast<size_t>(launch->dynamicSharedBytes);
  state.sharedBytes =
      static_cast<size_t>(kernel->staticSharedBytes) + state.dynamicSharedBytes;
  if (emulator->lastEpoch > UINT32_MAX / 2) {
    emulator->memory.forgetAccesses();
    emulator->block.forgetAccesses();
    emulator->lastEpoch = 0;
  }
  state.lastEpoch = &emulator->lastEpoch;
  state.firstEpoch = emulator->lastEpoch + 1;
  state.counters = &emulator->counters;
  state.report = &emulator->report;
  state.counter = emulator->counter.get();
  if (!emulator->block.prepareLaunch(state))
    return emulator->refuse(SPARSE_AUTOGRAD_EMULATOR_OUT_OF_MEMORY,
                            kernel->name,
                            "out of memory for the threads of a block");
  uint32_t blocks = state.grid[0] * state.grid[1] * state.grid[2];
  if (Counter *counter = state.counter)
    counter->beginLaunch(kernel->name, launch->grid, launch->block,
                         static_cast<int64_t>(state.sharedBytes));
  bool isDone = emulator->runBlocks(blocks);
  if (Counter *counter = state.counter)
    counter->endLaunch(/*isKept=*/isDone);
  return isDone ? int32_t(SPARSE_AUTOGRAD_SUCCESS) : emulator->report.status;
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

int32_t sparseAutogradEmulatorCount(SparseAutogradEmulator *emulator,
                                    const char *machine) {
  if (!emulator)
    return failWithoutEmulator();
  CountedMachine chosen;
  if (!machine) {
    emulator->counter.reset();
    return SPARSE_AUTOGRAD_SUCCESS;
  }
  if (!chosen.parse(machine))
    return emulator->refuse(SPARSE_AUTOGRAD_EMULATOR_INVALID_ARGUMENT, nullptr,
                            "%s", describeMachines(machine).c_str());
  emulator->counter = std::make_unique<Counter>(chosen);
  return SPARSE_AUTOGRAD_SUCCESS;
}

void sparseAutogradEmulatorSetRegisters(SparseAutogradEmulator *emulator,
                                        int64_t registers) {
  if (emulator && emulator->counter)
    emulator->counter->setRegisters(registers);
}

const char *sparseAutogradEmulatorGetCounts(SparseAutogradEmulator *emulator) {
  if (!emulator || !emulator->counter)
    return nullptr;
  emulator->counts =
      writeCounts(emulator->counter->getMachine(), emulator->counter->launches);
  return emulator->counts.c_str();
}

Counter *
sparse_autograd::emulator::getCounter(SparseAutogradEmulator *emulator) {
  return emulator->counter.get();
}

const SparseAutogradEmulatorReport *
sparseAutogradEmulatorGetReport(const SparseAutogradEmulator *emulator) {
  return emulator ? &emulator->report : nullptr;
}

void sparseAutogradEmulatorGetCounters(
    const SparseAutogradEmulator *emulator,
    SparseAutogradEmulatorCounters *counters) {
  if (emulator && counters)
    *counters = emulator->counters;
}
