//===- CudaModule.cpp - Modules and kernels of a GPU ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads the code of an image that fits the GPU, and finds its kernels.
//
//===----------------------------------------------------------------------===//

#include "CodeChoice.h"
#include "CudaDevice.h"
#include "Device/Failure.h"

#include <cinttypes>
#include <new>

namespace sparse_autograd {
namespace runtime {

/// Whether another form of the same code may be accepted.
static bool isRefusal(cuda::Result code) {
  switch (code) {
  case cuda::invalidImage:
  case cuda::noBinaryForGpu:
  case cuda::invalidPtx:
  case cuda::noJitCompiler:
  case cuda::unsupportedPtxVersion:
  case cuda::jitDisabled:
  case cuda::invalidSource:
    return true;
  default:
    return false;
  }
}

int32_t CudaDevice::loadModule(const SparseAutogradImage &image,
                               const char *forKernel,
                               std::unique_ptr<Module> &module) {
  const int32_t capability = getCapability();
  const SparseAutogradCode *code =
      cuda::getNextCode(image, capability, nullptr);
  if (!code)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "kernel '%s': the program has no code for %s (sm_%d), only for "
                "%s: compile it with chip=sm_%d",
                forKernel, properties.name, capability,
                cuda::getNames(image).text, capability);

  int32_t status = SPARSE_AUTOGRAD_SUCCESS;
  for (; code; code = cuda::getNextCode(image, capability, code)) {
    if (code->kind == SPARSE_AUTOGRAD_CODE_PTX &&
        (code->bytes < 1 ||
         static_cast<const char *>(code->data)[code->bytes - 1] != '\0')) {
      status = fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                    "kernel '%s': the PTX for %s has no zero at its end",
                    forKernel, cuda::getName(*code).text);
      continue;
    }
    // What the driver's compiler says about PTX that it refuses.
    char log[384] = {};
    int options[] = {cuda::jitErrorLogBuffer, cuda::jitErrorLogBufferBytes};
    void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
    cuda::ModuleHandle handle = nullptr;
    cuda::Result result = inContext([&] {
      return driver.moduleLoadDataEx(&handle, code->data, 2, options, values);
    });
    if (result == cuda::success) {
      module.reset(new (std::nothrow) CudaModule(*this, handle));
      if (module)
        return SPARSE_AUTOGRAD_SUCCESS;
      (void)inContext([&] { return driver.moduleUnload(handle); });
      return failHostMemory();
    }
    // Loaded, but the context is not what it should be.
    if (handle)
      (void)inContext([&] { return driver.moduleUnload(handle); });
    status =
        failCall(result, "",
                 "kernel '%s': loading the code for %s on %s (sm_%d), "
                 "with a driver of CUDA %d.%d%s%s",
                 forKernel, cuda::getName(*code).text, properties.name,
                 capability, driver.version / 1000, driver.version % 1000 / 10,
                 *log ? ", which says: " : "", log);
    if (!isRefusal(result))
      break;
  }
  return status;
}

CudaModule::~CudaModule() {
  (void)device.inContext([&] { return device.driver.moduleUnload(handle); });
}

int32_t CudaModule::getKernel(const char *name,
                              std::unique_ptr<Kernel> &kernel) {
  cuda::Function function = nullptr;
  int staticBytes = 0;
  cuda::Result result = device.inContext([&] {
    if (cuda::Result code =
            device.driver.moduleGetFunction(&function, handle, name))
      return code;
    return device.driver.funcGetAttribute(&staticBytes, cuda::staticSharedBytes,
                                          function);
  });
  if (result)
    return device.failCall(result, "", "kernel '%s': finding it in its module",
                           name);
  // The driver's own rule for what needs no permission.
  int64_t allowed = device.sharedBytesWithoutAsking - staticBytes;
  kernel.reset(new (std::nothrow) CudaKernel(name, function, staticBytes,
                                             allowed < 0 ? 0 : allowed));
  return kernel ? SPARSE_AUTOGRAD_SUCCESS : failHostMemory();
}

int32_t CudaKernel::allowDynamicShared(CudaDevice &device, int64_t bytes) {
  if (bytes <= allowedSharedBytes.load(std::memory_order_acquire))
    return SPARSE_AUTOGRAD_SUCCESS;
  const DeviceProperties &properties = device.getProperties();
  if (bytes + staticSharedBytes > properties.maxSharedBytes)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "kernel '%s': %" PRId64 " bytes of dynamic and %" PRId64
                " bytes of static shared memory; %s has %" PRId64
                " for a block",
                name, bytes, staticSharedBytes, properties.name,
                properties.maxSharedBytes);
  // Another thread must not allow less after this one has allowed more.
  std::lock_guard<std::mutex> guard(lock);
  if (bytes <= allowedSharedBytes.load(std::memory_order_relaxed))
    return SPARSE_AUTOGRAD_SUCCESS;
  cuda::Result result = device.inContext([&] {
    return device.driver.funcSetAttribute(function, cuda::maxDynamicSharedBytes,
                                          static_cast<int>(bytes));
  });
  if (result)
    return device.failCall(result, "",
                           "kernel '%s': asking for %" PRId64
                           " bytes of dynamic shared memory",
                           name, bytes);
  allowedSharedBytes.store(bytes, std::memory_order_release);
  return SPARSE_AUTOGRAD_SUCCESS;
}

} // namespace runtime
} // namespace sparse_autograd
