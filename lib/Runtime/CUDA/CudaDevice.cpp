//===- CudaDevice.cpp - A GPU as a device of the runtime --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory, copies and launches by the driver.
//
// Streams do not wait for the default stream, so that entries and other
// libraries of the process do not wait for each other. The pool is our own:
// what bounds it does not bound the pool of others, and can be seen alone.
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"
#include "Device/Devices.h"
#include "Device/Failure.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

namespace sparse_autograd {
namespace runtime {

static cuda::StreamHandle getHandle(const Stream &stream) {
  return static_cast<cuda::StreamHandle>(stream.handle);
}

static cuda::Address getAddress(const void *address) {
  return reinterpret_cast<cuda::Address>(address);
}

//===----------------------------------------------------------------------===//
// Opening and closing
//===----------------------------------------------------------------------===//

int32_t openCudaDevice(int32_t number, std::unique_ptr<Device> &device) {
  cuda::Driver driver;
  if (int32_t status = cuda::loadDriver(driver))
    return status;
  std::unique_ptr<CudaDevice> opened(new (std::nothrow) CudaDevice(driver));
  if (!opened)
    return failHostMemory();
  if (int32_t status = opened->open(number))
    return status;
  device = std::move(opened);
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t CudaDevice::open(int32_t number) {
  std::snprintf(properties.device, sizeof(properties.device), "cuda:%d",
                number);
  int count = 0;
  if (cuda::Result code = driver.deviceGetCount(&count))
    return failCall(code, "", "%s: counting the GPUs", properties.device);
  if (count == 0)
    return failCall(cuda::noDevice, "", "%s", properties.device);
  if (number >= count)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "%s does not exist: CUDA sees %d GPU%s, from cuda:0 on (see "
                "nvidia-smi and CUDA_VISIBLE_DEVICES)",
                properties.device, count, count == 1 ? "" : "s");
  if (int32_t status = readProperties(number))
    return status;
  if (cuda::Result code = driver.primaryCtxRetain(&context, handle))
    return failCall(code, "", "%s: taking the context of %s", properties.device,
                    properties.name);
  retained = true;
  products.reset(new (std::nothrow) MatrixProducts(*this));
  sparseProducts.reset(new (std::nothrow) SparseProducts(*this));
  if (!products || !sparseProducts)
    return failHostMemory();
  return createPool();
}

int32_t CudaDevice::readProperties(int32_t number) {
  cuda::Result code = driver.deviceGet(&handle, number);
  if (!code)
    code =
        driver.deviceGetName(properties.name, sizeof(properties.name), handle);
  size_t totalBytes = 0;
  if (!code)
    code = driver.deviceTotalMem(&totalBytes, handle);
  auto get = [&](int attribute) {
    int value = 0;
    if (!code)
      code = driver.deviceGetAttribute(&value, attribute, handle);
    return value;
  };
  for (int axis = 0; axis < 3; ++axis) {
    properties.maxBlock[axis] = get(cuda::maxBlockX + axis);
    properties.maxGrid[axis] = get(cuda::maxGridX + axis);
  }
  properties.driverVersion = driver.version;
  properties.computeMajor = get(cuda::computeCapabilityMajor);
  properties.computeMinor = get(cuda::computeCapabilityMinor);
  properties.multiprocessors = get(cuda::multiprocessorCount);
  properties.maxThreads = get(cuda::maxThreadsPerBlock);
  properties.maxSharedBytes = get(cuda::sharedBytesIfAskedFor);
  properties.totalBytes = totalBytes;
  sharedBytesWithoutAsking = get(cuda::sharedBytesWithoutAsking);
  int hasPools = get(cuda::memoryPoolsSupported);
  if (code)
    return failCall(code, "", "%s: asking what it is", properties.device);
  if (!hasPools)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "%s: %s has no stream-ordered memory pools here, which a "
                "virtual GPU may lack",
                properties.device, properties.name);
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t CudaDevice::createPool() {
  cuda::PoolProperties request = {};
  request.allocationType = cuda::allocationTypePinned;
  request.locationType = cuda::locationTypeDevice;
  request.locationId = handle;
  cuda::Result code =
      inContext([&] { return driver.memPoolCreate(&pool, &request); });
  if (code)
    return failCall(code, "", "%s: making a pool of memory", properties.device);
  return SPARSE_AUTOGRAD_SUCCESS;
}

CudaDevice::~CudaDevice() {
  products.reset();
  sparseProducts.reset();
  if (pool)
    (void)inContext([&] { return driver.memPoolDestroy(pool); });
  // Also of a context that is lost: it is counted by the process.
  if (retained)
    (void)driver.primaryCtxRelease(handle);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

void CudaDevice::lose(cuda::Result code, const char *lastKernel) {
  std::lock_guard<std::mutex> guard(lostLock);
  if (lost.load(std::memory_order_relaxed))
    return;
  std::snprintf(lostReason, sizeof(lostReason), "%s%s%s%s",
                cuda::describe(driver, code).text,
                *lastKernel ? ", after kernel '" : "", lastKernel,
                *lastKernel ? "'" : "");
  lost.store(true, std::memory_order_release);
}

int32_t CudaDevice::failCall(cuda::Result code, const char *lastKernel,
                             const char *format, ...) {
  char tried[768];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(tried, sizeof(tried), format, arguments);
  va_end(arguments);

  if (code == notCalled)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "%s: not done, since %s was lost before by an error (%s): "
                "start the program again",
                tried, properties.device, lostReason);
  cuda::ErrorText error = cuda::describe(driver, code);
  if (!cuda::endsContext(code))
    return fail(code == cuda::outOfMemory ? SPARSE_AUTOGRAD_OUT_OF_MEMORY
                                          : SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "%s: %s%s", tried, error.text, cuda::getRemedy(code));

  lose(code, lastKernel);
  if (!cuda::isFaultOfKernel(code))
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "%s: %s%s; %s is lost for this process: start the program "
                "again",
                tried, error.text, cuda::getRemedy(code), properties.device);
  return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
              "%s: %s, in a kernel launched before%s%s%s; %s is lost for this "
              "process: start the program again, with CUDA_LAUNCH_BLOCKING=1 "
              "to see which kernel it is",
              tried, error.text, *lastKernel ? ", of which the last was '" : "",
              lastKernel, *lastKernel ? "'" : "", properties.device);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

int32_t CudaDevice::createStream(void *&result) {
  cuda::StreamHandle stream = nullptr;
  cuda::Result code = inContext(
      [&] { return driver.streamCreate(&stream, cuda::streamNonBlocking); });
  if (!code) {
    result = stream;
    return SPARSE_AUTOGRAD_SUCCESS;
  }
  if (stream)
    destroyStream(stream);
  return failCall(code, "", "%s: making a stream", properties.device);
}

void CudaDevice::destroyStream(void *stream) {
  (void)inContext([&] {
    return driver.streamDestroy(static_cast<cuda::StreamHandle>(stream));
  });
}

int32_t CudaDevice::synchronize(void *stream, const char *lastKernel) {
  cuda::Result code = inContext([&] {
    return driver.streamSynchronize(static_cast<cuda::StreamHandle>(stream));
  });
  if (!code)
    return SPARSE_AUTOGRAD_SUCCESS;
  return failCall(code, lastKernel, "waiting for %s", properties.device);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

cuda::Result CudaDevice::allocateFromPool(Stream &stream, int64_t bytes,
                                          void *&address) {
  cuda::Address allocated = 0;
  cuda::Result code = inContext([&] {
    return driver.memAllocFromPoolAsync(&allocated, bytes, pool,
                                        getHandle(stream));
  });
  address = reinterpret_cast<void *>(allocated);
  // Allocated, but the context is not what it should be.
  if (code && allocated)
    (void)inContext(
        [&] { return driver.memFreeAsync(allocated, getHandle(stream)); });
  return code;
}

int32_t CudaDevice::allocate(Stream &stream, int64_t bytes, void *&address) {
  cuda::Result code = allocateFromPool(stream, bytes, address);
  if (code == cuda::outOfMemory) {
    // What was released in the order of the stream is free after it.
    if (int32_t status = waitFor(stream))
      return status;
    if (int32_t status = trimPool())
      return status;
    code = allocateFromPool(stream, bytes, address);
  }
  if (!code)
    return SPARSE_AUTOGRAD_SUCCESS;
  if (code != cuda::outOfMemory)
    return failCall(code, stream.lastKernel,
                    "allocating %" PRId64 " bytes on the device", bytes);
  int64_t freeBytes = 0, pooledBytes = 0;
  if (int32_t status = getMemory(freeBytes, pooledBytes))
    return status;
  return fail(
      SPARSE_AUTOGRAD_OUT_OF_MEMORY,
      "out of memory on %s: %" PRId64 " bytes were asked for; of %" PRId64
      " bytes, %" PRId64 " are free, and this program's entries hold "
      "%" PRId64,
      properties.device, bytes, properties.totalBytes, freeBytes, pooledBytes);
}

int32_t CudaDevice::deallocate(Stream &stream, void *address) {
  cuda::Result code = inContext([&] {
    return driver.memFreeAsync(getAddress(address), getHandle(stream));
  });
  if (!code)
    return SPARSE_AUTOGRAD_SUCCESS;
  return failCall(code, stream.lastKernel, "releasing memory of the device");
}

int32_t CudaDevice::copyIn(Stream &stream, void *destination,
                           const void *source, int64_t bytes) {
  cuda::Result code = inContext([&] {
    return driver.memcpyHtoDAsync(getAddress(destination), source, bytes,
                                  getHandle(stream));
  });
  if (!code)
    return SPARSE_AUTOGRAD_SUCCESS;
  return failCall(code, stream.lastKernel,
                  "copying %" PRId64 " bytes to the device", bytes);
}

int32_t CudaDevice::copyOut(Stream &stream, void *destination,
                            const void *source, int64_t bytes) {
  cuda::Result code = inContext([&] {
    return driver.memcpyDtoHAsync(destination, getAddress(source), bytes,
                                  getHandle(stream));
  });
  if (!code)
    return SPARSE_AUTOGRAD_SUCCESS;
  return failCall(code, stream.lastKernel,
                  "copying %" PRId64 " bytes from the device", bytes);
}

int32_t CudaDevice::copy(Stream &stream, void *destination, const void *source,
                         int64_t bytes) {
  cuda::Result code = inContext([&] {
    return driver.memcpyDtoDAsync(getAddress(destination), getAddress(source),
                                  bytes, getHandle(stream));
  });
  if (!code)
    return SPARSE_AUTOGRAD_SUCCESS;
  return failCall(code, stream.lastKernel,
                  "copying %" PRId64 " bytes on the device", bytes);
}

int32_t CudaDevice::fill(Stream &stream, void *destination, int64_t count,
                         int64_t elementBytes, uint64_t pattern) {
  // Elements of equal halves are twice as many of half the size.
  if (elementBytes == 8 && (pattern >> 32) == (pattern & UINT32_MAX)) {
    elementBytes = 4;
    count *= 2;
  }
  cuda::Address address = getAddress(destination);
  cuda::StreamHandle handle = getHandle(stream);
  cuda::Result code = inContext([&] {
    switch (elementBytes) {
    case 1:
      return driver.memsetD8Async(address, pattern, count, handle);
    case 2:
      return driver.memsetD16Async(address, pattern, count, handle);
    case 4:
      return driver.memsetD32Async(address, pattern, count, handle);
    default:
      break;
    }
    // Two columns: the low halves, and the high ones.
    if (cuda::Result low = driver.memsetD2D32Async(
            address, 8, static_cast<unsigned>(pattern), 1, count, handle))
      return low;
    return driver.memsetD2D32Async(
        address + 4, 8, static_cast<unsigned>(pattern >> 32), 1, count, handle);
  });
  if (!code)
    return SPARSE_AUTOGRAD_SUCCESS;
  return failCall(code, stream.lastKernel,
                  "filling %" PRId64 " elements of %" PRId64
                  " bytes on the device",
                  count, elementBytes);
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

// The numbers of the runtime are those of the driver.
static_assert(SPARSE_AUTOGRAD_TENSOR_TF32 == 11 &&
                  SPARSE_AUTOGRAD_TENSOR_BF16 == 9 &&
                  SPARSE_AUTOGRAD_TENSOR_SWIZZLE_128B == 3,
              "CUtensorMapDataType and CUtensorMapSwizzle");

int32_t CudaDevice::encodeTensorMap(void *map,
                                    const SparseAutogradTensorTiles &tiles) {
  uint64_t extents[5], strides[4];
  unsigned box[5], steps[5];
  for (int i = 0; i < tiles.rank; ++i) {
    extents[i] = static_cast<uint64_t>(tiles.extents[i]);
    box[i] = static_cast<unsigned>(tiles.box[i]);
    steps[i] = static_cast<unsigned>(tiles.steps[i]);
    if (i)
      strides[i - 1] = static_cast<uint64_t>(tiles.strides[i - 1]);
  }
  // The driver wants the alignment that kernels need.
  alignas(64) unsigned char encoded[128];
  cuda::Result code = inContext([&] {
    return driver.tensorMapEncodeTiled(
        encoded, tiles.element, static_cast<unsigned>(tiles.rank),
        tiles.address, extents, strides, box, steps, cuda::interleaveNone,
        tiles.swizzle, cuda::promotionOf128Bytes, cuda::fillWithZeros);
  });
  if (code)
    return failCall(code, "", "making a map of a tensor of rank %d",
                    tiles.rank);
  std::memcpy(map, encoded, sizeof(encoded));
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t CudaDevice::getMemory(int64_t &freeBytes, int64_t &pooledBytes) {
  size_t free = 0, total = 0;
  uint64_t reserved = 0;
  cuda::Result code = inContext([&] {
    if (cuda::Result codeOfInfo = driver.memGetInfo(&free, &total))
      return codeOfInfo;
    return driver.memPoolGetAttribute(pool, cuda::poolReservedNow, &reserved);
  });
  if (code)
    return failCall(code, "", "%s: asking for its memory", properties.device);
  freeBytes = free;
  pooledBytes = reserved;
  return SPARSE_AUTOGRAD_SUCCESS;
}

int32_t CudaDevice::trimPool() {
  cuda::Result code = inContext([&] { return driver.memPoolTrimTo(pool, 0); });
  if (!code)
    return SPARSE_AUTOGRAD_SUCCESS;
  return failCall(code, "", "%s: giving unused memory back", properties.device);
}

int32_t CudaDevice::setPoolLimit(int64_t bytes) {
  uint64_t threshold = bytes < 0 ? UINT64_MAX : bytes;
  cuda::Result code = inContext([&] {
    return driver.memPoolSetAttribute(pool, cuda::poolReleaseThreshold,
                                      &threshold);
  });
  if (!code)
    return SPARSE_AUTOGRAD_SUCCESS;
  return failCall(code, "", "%s: bounding the memory kept for reuse",
                  properties.device);
}

int32_t CudaDevice::multiply(Stream &stream, const MatrixProduct &product,
                             bool &done) {
  return products->multiply(stream, product, done);
}

int32_t CudaDevice::multiplySparse(Stream &stream, const SparseProduct &product,
                                   bool &done) {
  return sparseProducts->multiply(stream, product, done);
}

int32_t CudaDevice::beginSparseProduct(Stream &stream,
                                       const SparsePairProduct &product,
                                       std::unique_ptr<BegunProduct> &begun) {
  return sparseProducts->begin(stream, product, begun);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

int32_t CudaDevice::launch(Stream &stream, Kernel &kernel,
                           const LaunchExtents &extents, int64_t parameterCount,
                           void **parameters) {
  auto &cudaKernel = static_cast<CudaKernel &>(kernel);
  if (int32_t status =
          cudaKernel.allowDynamicShared(*this, extents.dynamicSharedBytes))
    return status;
  cuda::Result code = inContext([&] {
    return driver.launchKernel(
        cudaKernel.function, extents.grid[0], extents.grid[1], extents.grid[2],
        extents.block[0], extents.block[1], extents.block[2],
        extents.dynamicSharedBytes, getHandle(stream), parameters,
        /*extra=*/nullptr);
  });
  if (!code)
    return SPARSE_AUTOGRAD_SUCCESS;
  return failCall(code, stream.lastKernel,
                  "kernel '%s': launching %" PRId64 " x %" PRId64 " x %" PRId64
                  " blocks of %" PRId64 " x %" PRId64 " x %" PRId64
                  " threads with %" PRId64 " bytes of dynamic shared memory",
                  kernel.name, extents.grid[0], extents.grid[1],
                  extents.grid[2], extents.block[0], extents.block[1],
                  extents.block[2], extents.dynamicSharedBytes);
}

} // namespace runtime
} // namespace sparse_autograd
