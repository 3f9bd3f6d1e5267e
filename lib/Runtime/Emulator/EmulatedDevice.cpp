//===- EmulatedDevice.cpp - The emulator as a device ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything is done at once, on the thread that asks for it. Each stream has
// an emulator of its own, with what the entry allocated, so that entries in
// several threads do not meet.
//
//===----------------------------------------------------------------------===//

#include "EmulatedDevice.h"
#include "Counting/CountDevice.h"
#include "Device/Failure.h"
#include "SparseAutograd/Runtime/Emulator.h"
#include "TensorMap.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <unistd.h>
#include <vector>

namespace sparse_autograd {
namespace runtime {

namespace {
/// What is behind a stream.
struct EmulatedStream {
  SparseAutogradEmulator *emulator = nullptr;
  /// Whose variables the emulator knows.
  std::vector<const SparseAutogradEmulatorModule *> modules;
  /// Held by a launch, and while a module is forgotten.
  std::mutex lock;

  EmulatedStream() = default;
  EmulatedStream(const EmulatedStream &) = delete;
  EmulatedStream &operator=(const EmulatedStream &) = delete;
  ~EmulatedStream() { sparseAutogradEmulatorDestroy(emulator); }

  /// Fails as the emulator says, unless `status` is 0.
  int32_t report(int32_t status) const {
    return status ? fail(status, "%s",
                         sparseAutogradEmulatorGetReport(emulator)->message)
                  : status;
  }
  /// Fails unless all of the bytes are in one buffer.
  int32_t check(const void *address, int64_t bytes, const char *what) const {
    if (sparseAutogradEmulatorContains(emulator, address, bytes))
      return SPARSE_AUTOGRAD_SUCCESS;
    return fail(SPARSE_AUTOGRAD_OUT_OF_RANGE,
                "%s %lld bytes that are not in one buffer of the device", what,
                static_cast<long long>(bytes));
  }
};

class EmulatedDevice final : public Device {
public:
  int32_t open(int32_t number);

  int32_t createStream(void *&handle) override;
  void destroyStream(void *handle) override;
  int32_t synchronize(void *, const char *) override {
    return SPARSE_AUTOGRAD_SUCCESS;
  }
  int32_t allocate(Stream &stream, int64_t bytes, void *&address) override;
  int32_t deallocate(Stream &stream, void *address) override;
  int32_t copyIn(Stream &stream, void *destination, const void *source,
                 int64_t bytes) override;
  int32_t copyOut(Stream &stream, void *destination, const void *source,
                  int64_t bytes) override;
  int32_t copy(Stream &stream, void *destination, const void *source,
               int64_t bytes) override;
  int32_t fill(Stream &stream, void *destination, int64_t count,
               int64_t elementBytes, uint64_t pattern) override;
  int32_t encodeTensorMap(void *map,
                          const SparseAutogradTensorTiles &tiles) override;
  int32_t loadModule(const SparseAutogradImage &image, const char *forKernel,
                     std::unique_ptr<Module> &module) override;
  int32_t launch(Stream &stream, Kernel &kernel, const LaunchExtents &extents,
                 int64_t parameterCount, void **parameters) override;
  int32_t getMemory(int64_t &freeBytes, int64_t &pooledBytes) override;
  int32_t trimPool() override { return SPARSE_AUTOGRAD_SUCCESS; }
  int32_t setPoolLimit(int64_t) override { return SPARSE_AUTOGRAD_SUCCESS; }

private:
  SparseAutogradEmulatorOptions options;
};

/// Kernels that are functions of the host.
class KernelsOfHost final : public Module {
public:
  KernelsOfHost(EmulatedDevice &device,
                const SparseAutogradEmulatorModule &module)
      : device(device), module(module) {}
  ~KernelsOfHost() override;
  int32_t getKernel(const char *name, std::unique_ptr<Kernel> &kernel) override;

private:
  EmulatedDevice &device;
  const SparseAutogradEmulatorModule &module;
};

class KernelOfHost final : public Kernel {
public:
  KernelOfHost(const char *name, const SparseAutogradEmulatorModule &module,
               const SparseAutogradEmulatorKernel &kernel)
      : Kernel(name), module(module), kernel(kernel) {}

  const SparseAutogradEmulatorModule &module;
  const SparseAutogradEmulatorKernel &kernel;
};
} // namespace

static EmulatedStream &get(Stream &stream) {
  return *static_cast<EmulatedStream *>(stream.handle);
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

int32_t openEmulatedDevice(int32_t number, std::unique_ptr<Device> &device) {
  std::unique_ptr<EmulatedDevice> opened(new (std::nothrow) EmulatedDevice);
  if (!opened)
    return failHostMemory();
  if (int32_t status = opened->open(number))
    return status;
  device = std::move(opened);
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t EmulatedDevice::open(int32_t number) {
  sparseAutogradEmulatorGetDefaultOptions(&options);
  if (number != 0)
    options.seed = static_cast<uint64_t>(number);
  // A program whose assertion fails goes on until the host looks, and may read
  // what has not been written then.
  const char *detects = std::getenv("SPARSE_AUTOGRAD_EMULATOR_UNWRITTEN");
  options.detectUnwritten = detects && std::strcmp(detects, "1") == 0;
  std::snprintf(properties.device, sizeof(properties.device), "emulated:%d",
                number);
  std::snprintf(properties.name, sizeof(properties.name),
                "a GPU, emulated on the CPU");
  // Those of an H100, except that its blocks run one after another.
  properties.computeMajor = 9;
  properties.multiprocessors = 1;
  properties.maxGrid[0] = INT_MAX;
  properties.maxGrid[1] = properties.maxGrid[2] = 65535;
  properties.maxBlock[0] = properties.maxBlock[1] = 1024;
  properties.maxBlock[2] = 64;
  properties.maxThreads = 1024;
  properties.maxSharedBytes = options.maxSharedBytes;
  properties.totalBytes =
      options.maxDeviceBytes >= 0
          ? options.maxDeviceBytes
          : int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t EmulatedDevice::getMemory(int64_t &freeBytes, int64_t &pooledBytes) {
  freeBytes =
      std::min(properties.totalBytes,
               int64_t(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE));
  pooledBytes = 0;
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t EmulatedDevice::createStream(void *&handle) {
  std::unique_ptr<EmulatedStream> stream(new (std::nothrow) EmulatedStream);
  if (!stream)
    return failHostMemory();
  stream->emulator = sparseAutogradEmulatorCreate(&options);
  if (!stream->emulator)
    return failHostMemory();
  handle = stream.release();
  return SPARSE_AUTOGRAD_SUCCESS;
}

void EmulatedDevice::destroyStream(void *handle) {
  delete static_cast<EmulatedStream *>(handle);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

int32_t EmulatedDevice::allocate(Stream &stream, int64_t bytes,
                                 void *&address) {
  address = sparseAutogradEmulatorAllocate(get(stream).emulator, bytes);
  return get(stream).report(address ? int32_t(SPARSE_AUTOGRAD_SUCCESS)
                                    : int32_t(SPARSE_AUTOGRAD_OUT_OF_MEMORY));
}

int32_t EmulatedDevice::deallocate(Stream &stream, void *address) {
  return get(stream).report(
      sparseAutogradEmulatorFree(get(stream).emulator, address));
}

int32_t EmulatedDevice::copyIn(Stream &stream, void *destination,
                               const void *source, int64_t bytes) {
  int32_t status =
      get(stream).check(destination, bytes, "a copy from the host writes");
  if (status)
    return status;
  std::memcpy(destination, source, static_cast<size_t>(bytes));
  sparseAutogradEmulatorMarkWritten(get(stream).emulator, destination, bytes);
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t EmulatedDevice::copyOut(Stream &stream, void *destination,
                                const void *source, int64_t bytes) {
  int32_t status = get(stream).check(source, bytes, "a copy to the host reads");
  if (!status)
    std::memcpy(destination, source, static_cast<size_t>(bytes));
  return status;
}

int32_t EmulatedDevice::copy(Stream &stream, void *destination,
                             const void *source, int64_t bytes) {
  int32_t status =
      get(stream).check(source, bytes, "a copy on the device reads");
  if (!status)
    status =
        get(stream).check(destination, bytes, "a copy on the device writes");
  if (!status)
    status = get(stream).report(sparseAutogradEmulatorCopy(
        get(stream).emulator, destination, source, bytes));
  return status;
}

int32_t EmulatedDevice::fill(Stream &stream, void *destination, int64_t count,
                             int64_t elementBytes, uint64_t pattern) {
  // A product that overflows is in no buffer.
  int64_t bytes;
  if (__builtin_mul_overflow(count, elementBytes, &bytes))
    bytes = INT64_MAX;
  if (int32_t status = get(stream).check(destination, bytes, "a fill writes"))
    return status;
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(static_cast<char *>(destination) + i * elementBytes, &pattern,
                static_cast<size_t>(elementBytes));
  sparseAutogradEmulatorMarkWritten(get(stream).emulator, destination, bytes);
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t
EmulatedDevice::encodeTensorMap(void *map,
                                const SparseAutogradTensorTiles &tiles) {
  return emulator::encodeTensorMap(map, tiles);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

int32_t EmulatedDevice::loadModule(const SparseAutogradImage &image,
                                   const char *forKernel,
                                   std::unique_ptr<Module> &module) {
  const SparseAutogradCode *codes = image.codes, *end = codes + image.codeCount;
  const SparseAutogradCode *code =
      std::find_if(codes, end, [](const SparseAutogradCode &candidate) {
        return candidate.kind == SPARSE_AUTOGRAD_CODE_HOST;
      });
  if (code == end)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "kernel '%s' was not compiled for the emulator: the program "
                "has it for GPUs only",
                forKernel);
  const auto &kernels =
      *static_cast<const SparseAutogradEmulatorModule *>(code->data);
  if (kernels.version != SPARSE_AUTOGRAD_EMULATOR_VERSION)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "kernel '%s' was compiled for version %u of the emulator; this "
                "is version %u",
                forKernel, kernels.version, SPARSE_AUTOGRAD_EMULATOR_VERSION);
  module.reset(new (std::nothrow) KernelsOfHost(*this, kernels));
  return module ? int32_t(SPARSE_AUTOGRAD_SUCCESS) : failHostMemory();
}

KernelsOfHost::~KernelsOfHost() {
  for (Stream *stream = device.streams.load(std::memory_order_acquire); stream;
       stream = stream->next) {
    EmulatedStream &emulated = get(*stream);
    std::lock_guard<std::mutex> guard(emulated.lock);
    auto place =
        std::find(emulated.modules.begin(), emulated.modules.end(), &module);
    if (place == emulated.modules.end())
      continue;
    sparseAutogradEmulatorRemoveModule(emulated.emulator, &module);
    emulated.modules.erase(place);
  }
}

int32_t KernelsOfHost::getKernel(const char *name,
                                 std::unique_ptr<Kernel> &kernel) {
  const SparseAutogradEmulatorKernel *end = module.kernels + module.kernelCount;
  const SparseAutogradEmulatorKernel *found = std::find_if(
      module.kernels, end, [&](const SparseAutogradEmulatorKernel &candidate) {
        return std::strcmp(candidate.name, name) == 0;
      });
  if (found == end)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "there is no kernel '%s' in the code for the emulator", name);
  kernel.reset(new (std::nothrow) KernelOfHost(name, module, *found));
  return kernel ? int32_t(SPARSE_AUTOGRAD_SUCCESS) : failHostMemory();
}

int32_t EmulatedDevice::launch(Stream &stream, Kernel &kernel,
                               const LaunchExtents &extents,
                               int64_t parameterCount, void **parameters) {
  auto &launched = static_cast<KernelOfHost &>(kernel);
  if (launched.kernel.parameterCount != parameterCount)
    return fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                "kernel '%s': it has %d parameters, not %lld", kernel.name,
                launched.kernel.parameterCount,
                static_cast<long long>(parameterCount));
  EmulatedStream &emulated = get(stream);
  std::lock_guard<std::mutex> guard(emulated.lock);
  const SparseAutogradEmulatorModule *module = &launched.module;
  if (std::find(emulated.modules.begin(), emulated.modules.end(), module) ==
      emulated.modules.end()) {
    if (int32_t status = emulated.report(
            sparseAutogradEmulatorAddModule(emulated.emulator, module)))
      return status;
    emulated.modules.push_back(module);
  }
  SparseAutogradEmulatorLaunch launch = {
      {extents.grid[0], extents.grid[1], extents.grid[2]},
      {extents.block[0], extents.block[1], extents.block[2]},
      extents.dynamicSharedBytes};
  emulator::prepareCounts(emulated.emulator);
  int32_t status = sparseAutogradEmulatorLaunch(
      emulated.emulator, &launched.kernel, &launch, parameters);
  emulator::collectCounts(emulated.emulator);
  return emulated.report(status);
}

} // namespace runtime
} // namespace sparse_autograd
