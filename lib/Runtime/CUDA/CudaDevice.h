//===- CudaDevice.h - A GPU as a device of the runtime ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_CUDADEVICE_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_CUDADEVICE_H

#include "Device/DeviceInterface.h"
#include "Driver.h"
#include "MatrixProducts.h"
#include "SparseProducts.h"

#include <mutex>

namespace sparse_autograd {
namespace runtime {

/// Opens the GPU with this number. Called by one thread at a time.
int32_t openCudaDevice(int32_t number, std::unique_ptr<Device> &device);

/// A GPU: the primary context, which other libraries of the process share, made
/// current for each call, and a pool of memory of our own.
class CudaDevice final : public Device {
public:
  CudaDevice(const cuda::Driver &driver) : driver(driver) {}
  ~CudaDevice() override;

  /// To be called first, once.
  int32_t open(int32_t number);

  int32_t createStream(void *&handle) override;
  void destroyStream(void *handle) override;
  int32_t synchronize(void *handle, const char *lastKernel) override;
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
  int32_t multiply(Stream &stream, const MatrixProduct &product,
                   bool &done) override;
  int32_t multiplySparse(Stream &stream, const SparseProduct &product,
                         bool &done) override;
  int32_t beginSparseProduct(Stream &stream, const SparsePairProduct &product,
                             std::unique_ptr<BegunProduct> &begun) override;
  int32_t loadModule(const SparseAutogradImage &image, const char *forKernel,
                     std::unique_ptr<Module> &module) override;
  int32_t launch(Stream &stream, Kernel &kernel, const LaunchExtents &extents,
                 int64_t parameterCount, void **parameters) override;
  int32_t getMemory(int64_t &freeBytes, int64_t &pooledBytes) override;
  int32_t trimPool() override;
  int32_t setPoolLimit(int64_t bytes) override;

  // For its modules.

  /// Returned by inContext() instead of a code of the driver: it was not
  /// called, since the context was lost before.
  static constexpr cuda::Result notCalled = -1;

  /// Calls the driver with the context of this device.
  template <typename Call>
  cuda::Result inContext(Call call) {
    if (lost.load(std::memory_order_acquire))
      return notCalled;
    cuda::Result code = driver.ctxPushCurrent(context);
    if (code) {
      // Whatever the error is: nothing can be released any more.
      lose(code, "");
      return code;
    }
    code = call();
    cuda::Context popped = nullptr;
    cuda::Result codeOfPop = driver.ctxPopCurrent(&popped);
    return code ? code : codeOfPop;
  }

  /// Fails with `code`, which inContext() returned. What was tried is a text as
  /// of printf. `lastKernel` was launched last before.
  [[gnu::format(printf, 4, 5)]] int32_t
  failCall(cuda::Result code, const char *lastKernel, const char *format, ...);

  int32_t getCapability() const {
    return 10 * properties.computeMajor + properties.computeMinor;
  }

  const cuda::Driver driver;
  int64_t sharedBytesWithoutAsking = 0; ///< of a block

private:
  /// Has no later call reach the driver, because of `code`.
  void lose(cuda::Result code, const char *lastKernel);
  int32_t readProperties(int32_t number);
  int32_t createPool();
  cuda::Result allocateFromPool(Stream &stream, int64_t bytes, void *&address);

  cuda::DeviceHandle handle = 0;
  cuda::Context context = nullptr;
  cuda::Pool pool = nullptr;
  std::unique_ptr<MatrixProducts> products;
  std::unique_ptr<SparseProducts> sparseProducts;
  bool retained = false;

  /// Set once, when the context cannot be used any more.
  std::atomic<bool> lost{false};
  std::mutex lostLock;
  char lostReason[512] = {}; ///< set before `lost`
};

/// A module that the driver has loaded.
class CudaModule final : public Module {
public:
  CudaModule(CudaDevice &device, cuda::ModuleHandle handle)
      : device(device), handle(handle) {}
  ~CudaModule() override;
  int32_t getKernel(const char *name, std::unique_ptr<Kernel> &kernel) override;

private:
  CudaDevice &device;
  cuda::ModuleHandle handle;
};

class CudaKernel final : public Kernel {
public:
  CudaKernel(const char *name, cuda::Function function, int64_t staticBytes,
             int64_t allowedBytes)
      : Kernel(name), function(function), staticSharedBytes(staticBytes),
        allowedSharedBytes(allowedBytes) {}

  /// Has the driver allow launches with so much dynamic shared memory.
  int32_t allowDynamicShared(CudaDevice &device, int64_t bytes);

  const cuda::Function function;

private:
  const int64_t staticSharedBytes;
  /// What is allowed already; only grows, under the lock.
  std::atomic<int64_t> allowedSharedBytes;
  std::mutex lock;
};

} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_CUDADEVICE_H
