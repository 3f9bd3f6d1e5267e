//===- Device.h - The device of compiled code, for its users ------*- C -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which device entries of GPU programs run on, what it is, and what they did
// there. Entries are called as Runtime.h says, wherever they compute: their
// arguments and results are in the memory of the host. C11 and C++.
//
// Nothing here has to be called. The library of the driver is loaded, and the
// device opened, by the first entry that needs it, or by the first call here
// that does.
//
// Every function may be called from any thread. All that return int32_t return
// SPARSE_AUTOGRAD_SUCCESS, or another status with the reason in
// sparseAutogradLastError().
//
// A process that has opened a device and forks must not use one in the child:
// CUDA does not survive that. Entries in the child fail, and say so; what the
// parent had opened is not touched.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_RUNTIME_DEVICE_H
#define SPARSEAUTOGRAD_RUNTIME_DEVICE_H

#include "SparseAutograd/Runtime/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// The choice of a device
//===----------------------------------------------------------------------===//

/// Chooses the device of the process, and opens it. The names are:
///
///     cuda, cuda:0, cuda:1 ...   a GPU, by the number that CUDA gives it
///     emulated, emulated:7 ...   a GPU on the CPU, with checks (Emulator.h);
///                                the number is the seed of its order of
///                                threads, 0 that of the environment
///
/// The default is the environment variable SPARSE_AUTOGRAD_DEVICE, else "cuda".
/// NULL goes back to it, and opens nothing. If the call fails, the choice stays
/// what it was. Entries that run stay on the device that they began on.
///
/// The driver is libcuda.so.1, or what SPARSE_AUTOGRAD_CUDA_DRIVER names, of
/// CUDA 12.0 or later.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t
sparseAutogradSetDevice(const char *name);

/// As sparseAutogradSetDevice, for the entries called from this thread. NULL:
/// those run on the device of the process.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t
sparseAutogradSetThreadDevice(const char *name);

/// What a device is.
typedef struct SparseAutogradDeviceInfo {
  char device[32];         ///< its name here: "cuda:0"
  char name[256];          ///< the maker's name: "NVIDIA H200"
  int32_t driverVersion;   ///< of CUDA: 12080 is 12.8
  int32_t computeMajor;    ///< the compute capability
  int32_t computeMinor;    ///<
  int32_t multiprocessors; ///< that run blocks at the same time
  int64_t maxSharedBytes;  ///< of a block
  int64_t totalBytes;      ///< of memory
  int64_t freeBytes;       ///< of those, in nobody's use now
  int64_t pooledBytes; ///< memory that the runtime holds, in use or for reuse
} SparseAutogradDeviceInfo;

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradDeviceInfo) == 336,
                              "layout of what a device is");

/// Writes to `*info` what the device of this thread is. Returns
/// SPARSE_AUTOGRAD_INVALID_ARGUMENT if `info` is NULL.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t
sparseAutogradGetDeviceInfo(SparseAutogradDeviceInfo *info);

//===----------------------------------------------------------------------===//
// Waiting and memory
//===----------------------------------------------------------------------===//

/// Waits until the device of this thread has done all that entries, of any
/// thread, had it do. What an entry returns is complete without.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradSynchronizeDevice(void);

/// Gives all memory of the device of this thread that is kept for reuse back to
/// the system.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradTrimDevicePool(void);

/// Bounds the memory that each device keeps for reuse when it has been waited
/// for. The default is the value of SPARSE_AUTOGRAD_DEVICE_POOL_BYTES, else no
/// bound, which a negative number means: memory that is given back costs a
/// millisecond or more to get again. Applies to open devices and later ones.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t
sparseAutogradSetDevicePoolLimit(int64_t bytes);

/// Releases all that the runtime holds of devices and their driver, as the end
/// of the process does. What needs a device afterwards opens it again. Fails
/// with SPARSE_AUTOGRAD_INVALID_ARGUMENT while an entry uses one.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradCloseDevices(void);

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

/// What the runtime did on the devices in this process. Bytes are those asked
/// for.
typedef struct SparseAutogradDeviceCounters {
  int64_t allocations;    ///< blocks allocated
  int64_t allocatedBytes; ///< bytes in them
  int64_t liveBlocks;     ///< blocks in use now
  int64_t liveBytes;      ///< bytes in them
  int64_t peakLiveBlocks; ///< the most blocks in use at one time
  int64_t peakLiveBytes;  ///< the most bytes in use at one time
  /// Blocks that entries left when they succeeded: mistakes of the compiler.
  int64_t abandonedBlocks;
  int64_t launches;            ///< kernels launched
  int64_t loads;               ///< modules of kernels loaded
  int64_t bytesCopiedIn;       ///< from the host to a device
  int64_t bytesCopiedOut;      ///< from a device to the host
  int64_t bytesCopiedOnDevice; ///< from a device to itself
  int64_t waits;               ///< times that the host waited for a device
  int64_t libraryProducts;     ///< products of matrices by a library
} SparseAutogradDeviceCounters;

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradDeviceCounters) == 112,
                              "layout of the counters");

/// Writes the counters to `*counters`, unless it is NULL.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradGetDeviceCounters(SparseAutogradDeviceCounters *counters);

/// Sets the counters to zero, the peaks to what is in use now, and leaves
/// liveBlocks and liveBytes, which are not events.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradResetDeviceCounters(void);

#ifdef __cplusplus
}
#endif

#endif // SPARSEAUTOGRAD_RUNTIME_DEVICE_H
