//===- DeclarationsTest.cpp - Our declarations and those of cuda.h *- C++
//-*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the header of CUDA is at hand, the compiler compares with it what the
// runtime declares of the driver: every function, number and layout.
//
//===----------------------------------------------------------------------===//

#include "CUDA/Driver.h"
#include "SameFunction.h"

#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif

// Earlier ones lack some of the names.
#if defined(CUDA_VERSION) && CUDA_VERSION >= 13000

namespace cuda = sparse_autograd::runtime::cuda;

#define SPARSE_AUTOGRAD_CHECK(name, symbol, parameters)                        \
  static_assert(                                                               \
      IsSameFunction<decltype(cuda::Driver::name), decltype(&(symbol))>(),     \
      #symbol);
SPARSE_AUTOGRAD_CUDA_FUNCTIONS(SPARSE_AUTOGRAD_CHECK)
#undef SPARSE_AUTOGRAD_CHECK

#define SPARSE_AUTOGRAD_CHECK(ours, theirs)                                    \
  static_assert(static_cast<int>(cuda::ours) == static_cast<int>(theirs),      \
                #theirs)
SPARSE_AUTOGRAD_CHECK(invalidValue, CUDA_ERROR_INVALID_VALUE);
SPARSE_AUTOGRAD_CHECK(outOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SPARSE_AUTOGRAD_CHECK(notInitialized, CUDA_ERROR_NOT_INITIALIZED);
SPARSE_AUTOGRAD_CHECK(deinitialized, CUDA_ERROR_DEINITIALIZED);
SPARSE_AUTOGRAD_CHECK(stubLibrary, CUDA_ERROR_STUB_LIBRARY);
SPARSE_AUTOGRAD_CHECK(deviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
SPARSE_AUTOGRAD_CHECK(noDevice, CUDA_ERROR_NO_DEVICE);
SPARSE_AUTOGRAD_CHECK(invalidImage, CUDA_ERROR_INVALID_IMAGE);
SPARSE_AUTOGRAD_CHECK(invalidContext, CUDA_ERROR_INVALID_CONTEXT);
SPARSE_AUTOGRAD_CHECK(noBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SPARSE_AUTOGRAD_CHECK(uncorrectableMemory, CUDA_ERROR_ECC_UNCORRECTABLE);
SPARSE_AUTOGRAD_CHECK(invalidPtx, CUDA_ERROR_INVALID_PTX);
SPARSE_AUTOGRAD_CHECK(uncorrectableLink, CUDA_ERROR_NVLINK_UNCORRECTABLE);
SPARSE_AUTOGRAD_CHECK(noJitCompiler, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
SPARSE_AUTOGRAD_CHECK(unsupportedPtxVersion,
                      CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SPARSE_AUTOGRAD_CHECK(jitDisabled, CUDA_ERROR_JIT_COMPILATION_DISABLED);
SPARSE_AUTOGRAD_CHECK(contained, CUDA_ERROR_CONTAINED);
SPARSE_AUTOGRAD_CHECK(invalidSource, CUDA_ERROR_INVALID_SOURCE);
SPARSE_AUTOGRAD_CHECK(notFound, CUDA_ERROR_NOT_FOUND);
SPARSE_AUTOGRAD_CHECK(illegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SPARSE_AUTOGRAD_CHECK(launchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SPARSE_AUTOGRAD_CHECK(launchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
SPARSE_AUTOGRAD_CHECK(contextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SPARSE_AUTOGRAD_CHECK(assertion, CUDA_ERROR_ASSERT);
SPARSE_AUTOGRAD_CHECK(hardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
SPARSE_AUTOGRAD_CHECK(illegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SPARSE_AUTOGRAD_CHECK(misalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
SPARSE_AUTOGRAD_CHECK(invalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
SPARSE_AUTOGRAD_CHECK(invalidProgramCounter, CUDA_ERROR_INVALID_PC);
SPARSE_AUTOGRAD_CHECK(launchFailed, CUDA_ERROR_LAUNCH_FAILED);
SPARSE_AUTOGRAD_CHECK(tensorMemoryLeak, CUDA_ERROR_TENSOR_MEMORY_LEAK);
SPARSE_AUTOGRAD_CHECK(systemNotReady, CUDA_ERROR_SYSTEM_NOT_READY);
SPARSE_AUTOGRAD_CHECK(systemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SPARSE_AUTOGRAD_CHECK(unsupportedCompatibility,
                      CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
SPARSE_AUTOGRAD_CHECK(unknown, CUDA_ERROR_UNKNOWN);
SPARSE_AUTOGRAD_CHECK(maxThreadsPerBlock,
                      CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SPARSE_AUTOGRAD_CHECK(maxBlockX, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
SPARSE_AUTOGRAD_CHECK(maxGridX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
SPARSE_AUTOGRAD_CHECK(sharedBytesWithoutAsking,
                      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SPARSE_AUTOGRAD_CHECK(multiprocessorCount,
                      CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SPARSE_AUTOGRAD_CHECK(computeCapabilityMajor,
                      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SPARSE_AUTOGRAD_CHECK(computeCapabilityMinor,
                      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SPARSE_AUTOGRAD_CHECK(sharedBytesIfAskedFor,
                      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SPARSE_AUTOGRAD_CHECK(memoryPoolsSupported,
                      CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
SPARSE_AUTOGRAD_CHECK(staticSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SPARSE_AUTOGRAD_CHECK(maxDynamicSharedBytes,
                      CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SPARSE_AUTOGRAD_CHECK(jitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
SPARSE_AUTOGRAD_CHECK(jitErrorLogBufferBytes,
                      CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SPARSE_AUTOGRAD_CHECK(poolReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SPARSE_AUTOGRAD_CHECK(poolReservedNow, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
SPARSE_AUTOGRAD_CHECK(interleaveNone, CU_TENSOR_MAP_INTERLEAVE_NONE);
SPARSE_AUTOGRAD_CHECK(promotionOf128Bytes, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
SPARSE_AUTOGRAD_CHECK(fillWithZeros, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
SPARSE_AUTOGRAD_CHECK(streamNonBlocking, CU_STREAM_NON_BLOCKING);
SPARSE_AUTOGRAD_CHECK(allocationTypePinned, CU_MEM_ALLOCATION_TYPE_PINNED);
SPARSE_AUTOGRAD_CHECK(locationTypeDevice, CU_MEM_LOCATION_TYPE_DEVICE);
#undef SPARSE_AUTOGRAD_CHECK

using Properties = cuda::PoolProperties;
static_assert(sizeof(Properties) == sizeof(CUmemPoolProps));
static_assert(offsetof(Properties, handleTypes) ==
              offsetof(CUmemPoolProps, handleTypes));
static_assert(offsetof(Properties, locationType) ==
              offsetof(CUmemPoolProps, location.type));
static_assert(offsetof(Properties, locationId) ==
              offsetof(CUmemPoolProps, location.id));
static_assert(offsetof(Properties, maxSize) ==
              offsetof(CUmemPoolProps, maxSize));
static_assert(offsetof(Properties, usage) == offsetof(CUmemPoolProps, usage));

TEST(Declarations, AreThoseOfCuda) { SUCCEED() << "compiled"; }

#else

TEST(Declarations, AreThoseOfCuda) {
  GTEST_SKIP() << "there is no cuda.h of CUDA 13.0 or later";
}

#endif
