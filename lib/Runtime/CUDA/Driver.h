//===- Driver.h - The driver of CUDA, loaded at run time --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the runtime calls of libcuda.so.1, with declarations of its own: neither
// the library nor its header is needed to build. Names, numbers and layouts are
// those of the CUDA Driver API, whose ABI is stable: a function that changes
// gets another name (_v2). Internal to the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_DRIVER_H
#define SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_DRIVER_H

#include <cstddef>
#include <cstdint>

namespace sparse_autograd {
namespace runtime {
namespace cuda {

using Result = int;                 // CUresult
using DeviceHandle = int;           // CUdevice
using Address = unsigned long long; // CUdeviceptr
using Context = struct ContextOfDriver *;
using ModuleHandle = struct ModuleOfDriver *;
using Function = struct FunctionOfDriver *;
using StreamHandle = struct StreamOfDriver *;
using Pool = struct PoolOfDriver *;

/// CUmemPoolProps.
struct PoolProperties {
  int allocationType;
  int handleTypes;
  int locationType;
  int locationId;
  void *securityAttributes;
  size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};
static_assert(sizeof(PoolProperties) == 88, "layout of CUmemPoolProps");

/// Of CUresult, what the runtime tells apart.
enum : Result {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  notInitialized = 3,
  deinitialized = 4,
  stubLibrary = 34,
  deviceUnavailable = 46,
  noDevice = 100,
  invalidImage = 200,
  invalidContext = 201,
  noBinaryForGpu = 209,
  uncorrectableMemory = 214,
  invalidPtx = 218,
  uncorrectableLink = 220,
  noJitCompiler = 221,
  unsupportedPtxVersion = 222,
  jitDisabled = 223,
  contained = 226,
  invalidSource = 300,
  notFound = 500,
  illegalAddress = 700,
  launchOutOfResources = 701,
  launchTimeout = 702,
  contextIsDestroyed = 709,
  assertion = 710,
  hardwareStackError = 714,
  illegalInstruction = 715,
  misalignedAddress = 716,
  invalidAddressSpace = 717,
  invalidProgramCounter = 718,
  launchFailed = 719,
  tensorMemoryLeak = 721,
  systemNotReady = 802,
  systemDriverMismatch = 803,
  unsupportedCompatibility = 804,
  unknown = 999
};

/// Of CUdevice_attribute.
enum : int {
  maxThreadsPerBlock = 1,
  maxBlockX = 2, ///< then y, z
  maxGridX = 5,  ///< then y, z
  sharedBytesWithoutAsking = 8,
  multiprocessorCount = 16,
  computeCapabilityMajor = 75,
  computeCapabilityMinor = 76,
  sharedBytesIfAskedFor = 97,
  memoryPoolsSupported = 115
};

/// Of CUfunction_attribute.
enum : int { staticSharedBytes = 1, maxDynamicSharedBytes = 8 };

/// Of CUjit_option.
enum : int { jitErrorLogBuffer = 5, jitErrorLogBufferBytes = 6 };

/// Of CUmemPool_attribute.
enum : int { poolReleaseThreshold = 4, poolReservedNow = 5 };

constexpr int interleaveNone = 0;         // CU_TENSOR_MAP_INTERLEAVE_NONE
constexpr int promotionOf128Bytes = 2;    // CU_TENSOR_MAP_L2_PROMOTION_L2_128B
constexpr int fillWithZeros = 0;          // CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
constexpr unsigned streamNonBlocking = 1; // CU_STREAM_NON_BLOCKING
constexpr int allocationTypePinned = 1;   // CU_MEM_ALLOCATION_TYPE_PINNED
constexpr int locationTypeDevice = 1;     // CU_MEM_LOCATION_TYPE_DEVICE

/// FUNCTION(name of ours, name in the library, parameters).
#define SPARSE_AUTOGRAD_CUDA_FUNCTIONS(FUNCTION)                               \
  FUNCTION(init, cuInit, (unsigned flags))                                     \
  FUNCTION(driverGetVersion, cuDriverGetVersion, (int *version))               \
  FUNCTION(getErrorName, cuGetErrorName, (Result code, const char **name))     \
  FUNCTION(getErrorString, cuGetErrorString, (Result code, const char **text)) \
  FUNCTION(deviceGetCount, cuDeviceGetCount, (int *count))                     \
  FUNCTION(deviceGet, cuDeviceGet, (DeviceHandle * device, int number))        \
  FUNCTION(deviceGetName, cuDeviceGetName,                                     \
           (char *name, int capacity, DeviceHandle device))                    \
  FUNCTION(deviceGetAttribute, cuDeviceGetAttribute,                           \
           (int *value, int attribute, DeviceHandle device))                   \
  FUNCTION(deviceTotalMem, cuDeviceTotalMem_v2,                                \
           (size_t *bytes, DeviceHandle device))                               \
  FUNCTION(primaryCtxRetain, cuDevicePrimaryCtxRetain,                         \
           (Context * context, DeviceHandle device))                           \
  FUNCTION(primaryCtxRelease, cuDevicePrimaryCtxRelease_v2,                    \
           (DeviceHandle device))                                              \
  FUNCTION(ctxPushCurrent, cuCtxPushCurrent_v2, (Context context))             \
  FUNCTION(ctxPopCurrent, cuCtxPopCurrent_v2, (Context * context))             \
  FUNCTION(streamCreate, cuStreamCreate,                                       \
           (StreamHandle * stream, unsigned flags))                            \
  FUNCTION(streamDestroy, cuStreamDestroy_v2, (StreamHandle stream))           \
  FUNCTION(streamSynchronize, cuStreamSynchronize, (StreamHandle stream))      \
  FUNCTION(memGetInfo, cuMemGetInfo_v2, (size_t *free, size_t *total))         \
  FUNCTION(memPoolCreate, cuMemPoolCreate,                                     \
           (Pool * pool, const PoolProperties *properties))                    \
  FUNCTION(memPoolDestroy, cuMemPoolDestroy, (Pool pool))                      \
  FUNCTION(memPoolSetAttribute, cuMemPoolSetAttribute,                         \
           (Pool pool, int attribute, void *value))                            \
  FUNCTION(memPoolGetAttribute, cuMemPoolGetAttribute,                         \
           (Pool pool, int attribute, void *value))                            \
  FUNCTION(memPoolTrimTo, cuMemPoolTrimTo, (Pool pool, size_t bytesToKeep))    \
  FUNCTION(memAllocFromPoolAsync, cuMemAllocFromPoolAsync,                     \
           (Address * address, size_t bytes, Pool pool, StreamHandle stream))  \
  FUNCTION(memFreeAsync, cuMemFreeAsync,                                       \
           (Address address, StreamHandle stream))                             \
  FUNCTION(memcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                              \
           (Address destination, const void *source, size_t bytes,             \
            StreamHandle stream))                                              \
  FUNCTION(                                                                    \
      memcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                   \
      (void *destination, Address source, size_t bytes, StreamHandle stream))  \
  FUNCTION(memcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                              \
           (Address destination, Address source, size_t bytes,                 \
            StreamHandle stream))                                              \
  FUNCTION(memsetD8Async, cuMemsetD8Async,                                     \
           (Address destination, unsigned char value, size_t count,            \
            StreamHandle stream))                                              \
  FUNCTION(memsetD16Async, cuMemsetD16Async,                                   \
           (Address destination, unsigned short value, size_t count,           \
            StreamHandle stream))                                              \
  FUNCTION(memsetD32Async, cuMemsetD32Async,                                   \
           (Address destination, unsigned value, size_t count,                 \
            StreamHandle stream))                                              \
  FUNCTION(memsetD2D32Async, cuMemsetD2D32Async,                               \
           (Address destination, size_t pitch, unsigned value, size_t width,   \
            size_t height, StreamHandle stream))                               \
  FUNCTION(tensorMapEncodeTiled, cuTensorMapEncodeTiled,                       \
           (void *map, int elementType, unsigned rank, void *address,          \
            const uint64_t *extents, const uint64_t *strides,                  \
            const unsigned *box, const unsigned *steps, int interleave,        \
            int swizzle, int promotion, int fill))                             \
  FUNCTION(moduleLoadDataEx, cuModuleLoadDataEx,                               \
           (ModuleHandle * module, const void *data, unsigned optionCount,     \
            int *options, void **values))                                      \
  FUNCTION(moduleUnload, cuModuleUnload, (ModuleHandle module))                \
  FUNCTION(moduleGetFunction, cuModuleGetFunction,                             \
           (Function * function, ModuleHandle module, const char *name))       \
  FUNCTION(funcGetAttribute, cuFuncGetAttribute,                               \
           (int *value, int attribute, Function function))                     \
  FUNCTION(funcSetAttribute, cuFuncSetAttribute,                               \
           (Function function, int attribute, int value))                      \
  FUNCTION(launchKernel, cuLaunchKernel,                                       \
           (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, \
            unsigned blockX, unsigned blockY, unsigned blockZ,                 \
            unsigned dynamicSharedBytes, StreamHandle stream,                  \
            void **parameters, void **extra))

/// The functions of the library.
struct Driver {
#define SPARSE_AUTOGRAD_CUDA_FUNCTION(name, symbol, parameters)                \
  Result(*name) parameters;
  SPARSE_AUTOGRAD_CUDA_FUNCTIONS(SPARSE_AUTOGRAD_CUDA_FUNCTION)
#undef SPARSE_AUTOGRAD_CUDA_FUNCTION
  int version; ///< 12080 is 12.8
};

/// Loads the library and initialises it. It stays loaded. Fails as Failure.h
/// says.
int32_t loadDriver(Driver &driver);

/// "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)".
struct ErrorText {
  char text[256];
};
ErrorText describe(const Driver &driver, Result code);

/// What can be done about an error, to follow its text: ": do this", or "".
const char *getRemedy(Result code);

/// Whether nothing can be done in the context after this error.
bool endsContext(Result code);

/// Whether a kernel, launched at any time before, has caused this error.
bool isFaultOfKernel(Result code);

} // namespace cuda
} // namespace runtime
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_RUNTIME_CUDA_DRIVER_H
