//===- DeviceABI.cpp - What compiled host code calls ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of DeviceABI.h: each is a function that returns a status, and
// around it one that raises, which holds nothing with a destructor.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/DeviceABI.h"
#include "DeviceBlocks.h"
#include "DeviceCounters.h"
#include "Devices.h"
#include "Failure.h"
#include "Images.h"
#include "TensorTiles.h"

#include <cinttypes>
#include <cstring>
#include <utility>

namespace sparse_autograd {
namespace runtime {

/// The frame of the calling thread, with a stream.
static int32_t enter(Frame *&frame) {
  ThreadState &state = threadState();
  frame = state.frame;
  if (!frame)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "the device was used outside of any entry");
  if (state.insideParallelFor)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "the device was used in the body of a parallel loop of the "
                "host");
  if (int32_t status = checkNotForked())
    return status;
  if (frame->stream)
    return SPARSE_AUTOGRAD_SUCCESS;
  for (Frame *outer = frame->parent; outer; outer = outer->parent)
    if (outer->stream) {
      frame->stream = outer->stream;
      return SPARSE_AUTOGRAD_SUCCESS;
    }
  if (int32_t status = acquireStream(frame->stream))
    return status;
  frame->ownsStream = true;
  return SPARSE_AUTOGRAD_SUCCESS;
}

void endDeviceUse(Frame &frame, bool succeeded) {
  // Of an entry that forked: all of it is the parent's.
  if (isForkedChild())
    return;
  delete frame.begunProduct;
  if (frame.deviceBlocks || frame.stream->usesHostMemory) {
    KeptError kept;
    int64_t count = deallocateDeviceBlocks(frame);
    if (succeeded)
      countDeviceEvent(deviceCounters.abandonedBlocks, count);
    if (frame.stream->usesHostMemory)
      (void)waitFor(*frame.stream);
    // Should that fail, the device has lost all that it was to do.
    frame.stream->usesHostMemory = false;
  }
  if (frame.ownsStream)
    releaseStream(frame.stream);
}

static int32_t allocate(int64_t bytes, void *&address) {
  if (bytes < 0)
    return fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                "an allocation of %" PRId64
                " bytes on the device: the size of a tensor overflowed",
                bytes);
  Frame *frame = nullptr;
  if (int32_t status = enter(frame))
    return status;
  return allocateDeviceBlock(*frame, bytes, address);
}

static int32_t deallocate(void *address) {
  Frame *frame = nullptr;
  if (int32_t status = enter(frame))
    return status;
  return deallocateDeviceBlock(*frame->stream, address);
}

/// The stream for a copy or a fill of `bytes` bytes.
static int32_t enterToMove(int64_t bytes, Stream *&stream) {
  Frame *frame = nullptr;
  if (bytes < 0)
    return fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                "a copy or fill of %" PRId64
                " bytes on the device: the size of a tensor overflowed",
                bytes);
  if (int32_t status = enter(frame))
    return status;
  stream = frame->stream;
  return SPARSE_AUTOGRAD_SUCCESS;
}

static int32_t copyIn(void *destination, const void *source, int64_t bytes) {
  Stream *stream = nullptr;
  int32_t status = enterToMove(bytes, stream);
  if (status || bytes == 0)
    return status;
  stream->usesHostMemory = true;
  if ((status = stream->device->copyIn(*stream, destination, source, bytes)))
    return status;
  countDeviceEvent(deviceCounters.bytesCopiedIn, bytes);
  return SPARSE_AUTOGRAD_SUCCESS;
}

static int32_t copyOut(void *destination, const void *source, int64_t bytes) {
  Stream *stream = nullptr;
  int32_t status = enterToMove(bytes, stream);
  if (status || bytes == 0)
    return status;
  stream->usesHostMemory = true;
  if ((status = stream->device->copyOut(*stream, destination, source, bytes)))
    return status;
  if ((status = waitFor(*stream)))
    return status;
  countDeviceEvent(deviceCounters.bytesCopiedOut, bytes);
  return SPARSE_AUTOGRAD_SUCCESS;
}

static int32_t copy(void *destination, const void *source, int64_t bytes) {
  Stream *stream = nullptr;
  int32_t status = enterToMove(bytes, stream);
  if (status || bytes == 0)
    return status;
  if ((status = stream->device->copy(*stream, destination, source, bytes)))
    return status;
  countDeviceEvent(deviceCounters.bytesCopiedOnDevice, bytes);
  return SPARSE_AUTOGRAD_SUCCESS;
}

static int32_t fill(void *destination, int64_t count, int64_t elementBytes,
                    uint64_t pattern) {
  if (elementBytes != 1 && elementBytes != 2 && elementBytes != 4 &&
      elementBytes != 8)
    return fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                "elements of %" PRId64
                " bytes cannot be filled on the device: 1, 2, 4 and 8 can",
                elementBytes);
  Stream *stream = nullptr;
  int32_t status = enterToMove(count, stream);
  if (status || count == 0)
    return status;
  return stream->device->fill(*stream, destination, count, elementBytes,
                              pattern);
}

static int32_t encodeTensorMap(void *map,
                               const SparseAutogradTensorTiles &tiles) {
  if (int32_t status = checkTiles(tiles))
    return status;
  Frame *frame = nullptr;
  if (int32_t status = enter(frame))
    return status;
  Device &device = *frame->stream->device;
  const DeviceProperties &properties = device.getProperties();
  if (properties.computeMajor < 9)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "%s (compute capability %d.%d) has no copies of tiles, which "
                "need 9.0",
                properties.name, properties.computeMajor,
                properties.computeMinor);
  return device.encodeTensorMap(map, tiles);
}

/// Checks what no device can run, and says which extent it is.
static int32_t checkExtents(const DeviceProperties &properties,
                            const char *kernel, const LaunchExtents &extents) {
  constexpr const char axes[] = {'x', 'y', 'z'};
  int64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (extents.grid[axis] < 0 || extents.grid[axis] > properties.maxGrid[axis])
      return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                  "kernel '%s': a grid of %" PRId64
                  " blocks in %c; %s takes %" PRId64 " at most",
                  kernel, extents.grid[axis], axes[axis], properties.name,
                  properties.maxGrid[axis]);
    if (extents.block[axis] < 1 ||
        extents.block[axis] > properties.maxBlock[axis])
      return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                  "kernel '%s': a block of %" PRId64
                  " threads in %c; %s takes 1 to %" PRId64,
                  kernel, extents.block[axis], axes[axis], properties.name,
                  properties.maxBlock[axis]);
    threads *= extents.block[axis];
  }
  if (threads > properties.maxThreads)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "kernel '%s': a block of %" PRId64 " threads; %s takes %" PRId64
                " at most",
                kernel, threads, properties.name, properties.maxThreads);
  if (extents.dynamicSharedBytes < 0 ||
      extents.dynamicSharedBytes > properties.maxSharedBytes)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "kernel '%s': %" PRId64
                " bytes of dynamic shared memory; %s has %" PRId64
                " for a block",
                kernel, extents.dynamicSharedBytes, properties.name,
                properties.maxSharedBytes);
  return SPARSE_AUTOGRAD_SUCCESS;
}

/// The program, and its constants, may be unloaded before an error is found.
static void setLastKernel(Stream &stream, const char *name) {
  size_t length = strnlen(name, kernelNameCapacity - 1);
  std::memcpy(stream.lastKernel, name, length);
  stream.lastKernel[length] = '\0';
}

/// Has a library of the device compute a product by `call`, a function of
/// Device: whether it does is `done`. `name` is for messages.
template <typename Product>
static int32_t
computeByLibrary(int32_t (Device::*call)(Stream &, const Product &, bool &),
                 const Product &product, const char *name, bool &done) {
  Frame *frame = nullptr;
  if (int32_t status = enter(frame))
    return status;
  Stream &stream = *frame->stream;
  if (int32_t status = (stream.device->*call)(stream, product, done))
    return status;
  if (done) {
    countDeviceEvent(deviceCounters.libraryProducts);
    setLastKernel(stream, name);
  }
  return SPARSE_AUTOGRAD_SUCCESS;
}

static int32_t contract(MatrixProduct &product, int64_t loopCount,
                        const SparseAutogradContractionLoop *loops,
                        bool &done) {
  bool isEmpty = false;
  for (int64_t i = 0; i < loopCount; ++i) {
    if (loops[i].extent < 0)
      return fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                  "a product of matrices on the device with an extent of "
                  "%" PRId64 ": the size of a tensor overflowed",
                  loops[i].extent);
    isEmpty |= loops[i].extent == 0;
  }
  // Sums of nothing are the program's.
  if (isEmpty || !findMatrixProduct(loopCount, loops, product))
    return SPARSE_AUTOGRAD_SUCCESS;
  return computeByLibrary(&Device::multiply, product,
                          "matrix product of a library", done);
}

/// Finds out whether one of the extents of a product is 0: sums of nothing are
/// the program's.
static int32_t checkSparseExtents(std::initializer_list<int64_t> extents,
                                  bool &isEmpty) {
  for (int64_t extent : extents) {
    if (extent < 0)
      return fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                  "a product with a sparse matrix on the device with an extent "
                  "of %" PRId64 ": the size of a tensor overflowed",
                  extent);
    isEmpty |= extent == 0;
  }
  return SPARSE_AUTOGRAD_SUCCESS;
}

static int32_t multiplySparse(const SparseProduct &product, bool &done) {
  bool isEmpty = false;
  int32_t status = checkSparseExtents(
      {product.rows, product.columns, product.stored, product.x.columns},
      isEmpty);
  if (status || isEmpty)
    return status;
  return computeByLibrary(&Device::multiplySparse, product,
                          "sparse product of a library", done);
}

static int32_t beginSparseProduct(const SparsePairProduct &product,
                                  int64_t &stored) {
  bool isEmpty = false;
  int32_t status =
      checkSparseExtents({product.a.rows, product.a.columns, product.a.stored,
                          product.b.columns, product.b.stored},
                         isEmpty);
  if (status || isEmpty)
    return status;
  Frame *frame = nullptr;
  if (int32_t status = enter(frame))
    return status;
  if (frame->begunProduct)
    return fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                "a product of sparse matrices was begun before the last one "
                "was ended");
  std::unique_ptr<BegunProduct> begun;
  Stream &stream = *frame->stream;
  if (int32_t status =
          stream.device->beginSparseProduct(stream, product, begun))
    return status;
  if (begun)
    stored = begun->stored;
  frame->begunProduct = begun.release();
  return SPARSE_AUTOGRAD_SUCCESS;
}

static int32_t endSparseProduct(void *positions, void *coordinates,
                                void *values) {
  Frame *frame = nullptr;
  if (int32_t status = enter(frame))
    return status;
  std::unique_ptr<BegunProduct> begun(
      std::exchange(frame->begunProduct, nullptr));
  if (!begun)
    return fail(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                "a product of sparse matrices was ended that was not begun");
  if (int32_t status = begun->end(positions, coordinates, values))
    return status;
  countDeviceEvent(deviceCounters.libraryProducts);
  setLastKernel(*frame->stream, "sparse product of a library");
  return SPARSE_AUTOGRAD_SUCCESS;
}

static int32_t launch(const SparseAutogradImage &image, const char *name,
                      const LaunchExtents &extents, int64_t parameterCount,
                      void **parameters) {
  if (image.version != SPARSE_AUTOGRAD_DEVICE_ABI_VERSION)
    return fail(SPARSE_AUTOGRAD_RUNTIME_ERROR,
                "kernel '%s': the program was compiled for version %u of the "
                "device's interface, the runtime library has version %u: "
                "compile it again, or load the library that belongs to it",
                name, image.version, SPARSE_AUTOGRAD_DEVICE_ABI_VERSION);
  Frame *frame = nullptr;
  if (int32_t status = enter(frame))
    return status;
  Stream &stream = *frame->stream;
  Device &device = *stream.device;
  if (int32_t status = checkExtents(device.getProperties(), name, extents))
    return status;
  if (!extents.grid[0] || !extents.grid[1] || !extents.grid[2])
    return SPARSE_AUTOGRAD_SUCCESS;
  Kernel *kernel = nullptr;
  if (int32_t status = getKernel(device, image, name, kernel))
    return status;
  if (int32_t status =
          device.launch(stream, *kernel, extents, parameterCount, parameters))
    return status;
  countDeviceEvent(deviceCounters.launches);
  setLastKernel(stream, name);
  return SPARSE_AUTOGRAD_SUCCESS;
}

static void raiseFailure(int32_t status) {
  if (status)
    sparseAutogradRaise(status, threadState().message);
}

} // namespace runtime
} // namespace sparse_autograd

using namespace sparse_autograd;

void *sparseAutogradDeviceAllocate(int64_t bytes) {
  void *address = nullptr;
  runtime::raiseFailure(runtime::allocate(bytes, address));
  return address;
}

void sparseAutogradDeviceDeallocate(void *address) {
  if (address)
    runtime::raiseFailure(runtime::deallocate(address));
}

void sparseAutogradDeviceCopyIn(void *destination, const void *source,
                                int64_t bytes) {
  runtime::raiseFailure(runtime::copyIn(destination, source, bytes));
}

void sparseAutogradDeviceCopyOut(void *destination, const void *source,
                                 int64_t bytes) {
  runtime::raiseFailure(runtime::copyOut(destination, source, bytes));
}

void sparseAutogradDeviceCopy(void *destination, const void *source,
                              int64_t bytes) {
  runtime::raiseFailure(runtime::copy(destination, source, bytes));
}

void sparseAutogradDeviceFill(void *destination, int64_t count,
                              int64_t elementBytes, uint64_t pattern) {
  runtime::raiseFailure(
      runtime::fill(destination, count, elementBytes, pattern));
}

void sparseAutogradDeviceEncodeTensorMap(
    void *map, const SparseAutogradTensorTiles *tiles) {
  runtime::raiseFailure(runtime::encodeTensorMap(map, *tiles));
}

int32_t sparseAutogradDeviceContract(int32_t factorElement,
                                     int32_t resultElement, int64_t loopCount,
                                     const SparseAutogradContractionLoop *loops,
                                     double alpha, const void *a, const void *b,
                                     double beta, void *c) {
  runtime::MatrixProduct product;
  product.factorElement = factorElement;
  product.resultElement = resultElement;
  product.alpha = alpha;
  product.beta = beta;
  product.a = a;
  product.b = b;
  product.c = c;
  bool done = false;
  runtime::raiseFailure(runtime::contract(product, loopCount, loops, done));
  return done;
}

int32_t sparseAutogradDeviceMultiplySparse(
    int32_t element, int32_t index, int64_t rows, int64_t columns,
    int64_t stored, const void *positions, const void *coordinates,
    const void *values, int64_t extent, double alpha, const void *y,
    int64_t yRowStride, int64_t yColumnStride, double beta, void *x,
    int64_t xRowStride, int64_t xColumnStride) {
  bool done = false;
  runtime::raiseFailure(runtime::multiplySparse(
      {/*isSampled=*/false,
       element,
       index,
       rows,
       columns,
       stored,
       positions,
       coordinates,
       const_cast<void *>(values),
       alpha,
       beta,
       {x, rows, extent, xRowStride, xColumnStride},
       {const_cast<void *>(y), columns, extent, yRowStride, yColumnStride}},
      done));
  return done;
}

int32_t sparseAutogradDeviceSampleProduct(
    int32_t element, int32_t index, int64_t rows, int64_t columns,
    int64_t stored, const void *positions, const void *coordinates,
    void *values, int64_t extent, double alpha, const void *y,
    int64_t yRowStride, int64_t yColumnStride, double beta, const void *x,
    int64_t xRowStride, int64_t xColumnStride) {
  bool done = false;
  runtime::raiseFailure(runtime::multiplySparse(
      {/*isSampled=*/true,
       element,
       index,
       rows,
       columns,
       stored,
       positions,
       coordinates,
       values,
       alpha,
       beta,
       {const_cast<void *>(x), rows, extent, xRowStride, xColumnStride},
       {const_cast<void *>(y), extent, columns, yRowStride, yColumnStride}},
      done));
  return done;
}

int64_t sparseAutogradDeviceBeginSparseProduct(
    int32_t element, int32_t index, int64_t rows, int64_t inner,
    int64_t columns, int64_t aStored, const void *aPositions,
    const void *aCoordinates, const void *aValues, int64_t bStored,
    const void *bPositions, const void *bCoordinates, const void *bValues) {
  int64_t stored = -1;
  runtime::raiseFailure(runtime::beginSparseProduct(
      {element,
       index,
       {rows, inner, aStored, aPositions, aCoordinates, aValues},
       {inner, columns, bStored, bPositions, bCoordinates, bValues}},
      stored));
  return stored;
}

void sparseAutogradDeviceEndSparseProduct(void *positions, void *coordinates,
                                          void *values) {
  runtime::raiseFailure(
      runtime::endSparseProduct(positions, coordinates, values));
}

void sparseAutogradDeviceLaunch(const SparseAutogradImage *image,
                                const char *kernel, int64_t gridX,
                                int64_t gridY, int64_t gridZ, int64_t blockX,
                                int64_t blockY, int64_t blockZ,
                                int64_t dynamicSharedBytes,
                                int64_t parameterCount, void **parameters) {
  runtime::LaunchExtents extents = {
      {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, dynamicSharedBytes};
  runtime::raiseFailure(
      runtime::launch(*image, kernel, extents, parameterCount, parameters));
}
