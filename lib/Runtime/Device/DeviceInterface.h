//===- DeviceInterface.h - What the runtime asks of a device ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What each kind of device implements, as lib/Runtime/CUDA and
// lib/Runtime/Emulator do. All functions may be called by several threads at
// once, each with streams of its own, and fail as Failure.h says. Internal to
// the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_DEVICEINTERFACE_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_DEVICEINTERFACE_H

#include "MatrixProduct.h"
#include "SparseAutograd/Runtime/Device.h"
#include "SparseAutograd/Runtime/DeviceABI.h"
#include "SparseProduct.h"

#include <atomic>
#include <memory>

namespace sparse_autograd {
namespace runtime {

class Device;

/// As much of a kernel's name as messages show when it is too late to ask.
constexpr size_t kernelNameCapacity = 128;

/// The calls of one entry, in order. A device keeps its streams until it is
/// closed; a stream that no entry uses waits in a list for the next one.
struct Stream {
  Device *device = nullptr;
  void *handle = nullptr;
  Stream *next = nullptr; ///< of the same device; does not change
  Stream *nextIdle = nullptr;
  /// Whether copies from or to the host may not have been done yet.
  bool usesHostMemory = false;
  /// The last kernel launched since the host waited, or "".
  char lastKernel[kernelNameCapacity] = {};
};

/// What a launch is made of. All extents are at least 1.
struct LaunchExtents {
  int64_t grid[3];
  int64_t block[3];
  int64_t dynamicSharedBytes;
};

/// A kernel of a module that is loaded.
class Kernel {
public:
  Kernel(const char *name) : name(name) {}
  virtual ~Kernel() = default;

  const char *name; ///< a constant of the program
  Kernel *next = nullptr;
};

/// A module that is loaded; its destructor unloads it, when nothing of it runs
/// and its kernels are gone.
class Module {
public:
  virtual ~Module() = default;
  virtual int32_t getKernel(const char *name,
                            std::unique_ptr<Kernel> &kernel) = 0;
};

/// What is always the same of a device.
struct DeviceProperties {
  char device[32] = {}; ///< what sparseAutogradSetDevice takes
  char name[256] = {};
  int32_t driverVersion = 0;
  int32_t computeMajor = 0;
  int32_t computeMinor = 0;
  int32_t multiprocessors = 0;
  int64_t maxGrid[3] = {};
  int64_t maxBlock[3] = {};
  int64_t maxThreads = 0; ///< of a block
  int64_t maxSharedBytes = 0;
  int64_t totalBytes = 0;
};

/// An open device; its destructor closes it, when all that is of it is gone.
class Device {
public:
  Device() = default;
  virtual ~Device() = default;
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceProperties &getProperties() const { return properties; }

  virtual int32_t createStream(void *&handle) = 0;
  /// Fails in silence: there is nothing that could be done.
  virtual void destroyStream(void *handle) = 0;
  /// Waits for a stream. `lastKernel` is for the message.
  virtual int32_t synchronize(void *handle, const char *lastKernel) = 0;

  /// `bytes` is at least 1.
  virtual int32_t allocate(Stream &stream, int64_t bytes, void *&address) = 0;
  virtual int32_t deallocate(Stream &stream, void *address) = 0;

  /// Neither waits. `bytes` is at least 1.
  virtual int32_t copyIn(Stream &stream, void *destination, const void *source,
                         int64_t bytes) = 0;
  virtual int32_t copyOut(Stream &stream, void *destination, const void *source,
                          int64_t bytes) = 0;
  virtual int32_t copy(Stream &stream, void *destination, const void *source,
                       int64_t bytes) = 0;
  /// Elements of 1, 2, 4 or 8 bytes; at least one.
  virtual int32_t fill(Stream &stream, void *destination, int64_t count,
                       int64_t elementBytes, uint64_t pattern) = 0;

  /// Writes a map of 128 bytes. The tiles are valid.
  virtual int32_t encodeTensorMap(void *map,
                                  const SparseAutogradTensorTiles &tiles) = 0;

  /// Computes a product by a library, in the order of the stream, and sets
  /// `done`, which was false. Leaves it, and does nothing, if there is none, or
  /// it has no such products.
  virtual int32_t multiply(Stream &stream, const MatrixProduct &product,
                           bool &done) {
    return SPARSE_AUTOGRAD_SUCCESS;
  }

  /// As multiply().
  virtual int32_t multiplySparse(Stream &stream, const SparseProduct &product,
                                 bool &done) {
    return SPARSE_AUTOGRAD_SUCCESS;
  }

  /// Computes a product of two sparse matrices by a library; leaves `begun`
  /// null, and does nothing, as multiply().
  virtual int32_t beginSparseProduct(Stream &stream,
                                     const SparsePairProduct &product,
                                     std::unique_ptr<BegunProduct> &begun) {
    return SPARSE_AUTOGRAD_SUCCESS;
  }

  /// `forKernel` is for messages.
  virtual int32_t loadModule(const SparseAutogradImage &image,
                             const char *forKernel,
                             std::unique_ptr<Module> &module) = 0;
  virtual int32_t launch(Stream &stream, Kernel &kernel,
                         const LaunchExtents &extents, int64_t parameterCount,
                         void **parameters) = 0;

  /// What of the memory is in nobody's use, and what the pool holds.
  virtual int32_t getMemory(int64_t &freeBytes, int64_t &pooledBytes) = 0;
  virtual int32_t trimPool() = 0;
  /// Negative: no bound.
  virtual int32_t setPoolLimit(int64_t bytes) = 0;

  // What follows is of Devices.cpp.

  Device *next = nullptr;
  /// The streams, those of entries that run included. Only grows.
  std::atomic<Stream *> streams{nullptr};
  Stream *idleStreams = nullptr; ///< guarded by the lock of all devices

protected:
  DeviceProperties properties;
};

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_DEVICE_DEVICEINTERFACE_H
