//===- Emulator.h - A GPU that is emulated on the CPU -------------*- C -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes kernels that are host functions: a grid of blocks, one after the
// other; in each block one fiber for each thread; warps of 32 threads. A kernel
// calls the functions of EmulatorABI.h wherever device code would touch memory
// or another thread. lib/Target/Emulator makes such kernels of the LLVM IR that
// goes to PTX; tests write them by hand. C11 and C++.
//
// The emulator is no simulator of a machine: it follows the rules of the PTX
// ISA, and where these leave something undefined it reports that.
//
// An error of a kernel ends its launch, and is reported to the caller: nothing
// aborts, and no exception is thrown. The fibers are dropped where they are.
// What the kernel has written to buffers until then stays.
//
// A null pointer, where it has no meaning stated, is
// SPARSE_AUTOGRAD_INVALID_ARGUMENT, with the reason in the report, or in
// sparseAutogradLastError() if the emulator is null; functions without a status
// then do nothing, and return null or 0.
//
// An emulator is used by one thread at a time. Several emulators are
// independent of each other.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_RUNTIME_EMULATOR_H
#define SPARSEAUTOGRAD_RUNTIME_EMULATOR_H

#include "SparseAutograd/Runtime/Export.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A kernel as a host function. parameters[i] points to the i-th parameter.
typedef struct SparseAutogradEmulatorKernel {
  const char *name;
  void (*function)(void **parameters);
  int32_t parameterCount;
  /// The bytes of its shared variables; dynamic shared memory follows them.
  int32_t staticSharedBytes;
  /// The bytes that its frames take of the stack of each thread.
  int64_t stackBytes;
  /// The extents of the only block that it runs with, or 0 (PTX's .reqntid).
  int32_t requiredBlock[3];
  /// The greatest number of threads of a block, or 0 (PTX's .maxntid).
  int32_t maxThreads;
} SparseAutogradEmulatorKernel;

/// A variable in global or constant memory that kernels refer to.
typedef struct SparseAutogradEmulatorVariable {
  const char *name;
  void *address;
  int64_t bytes;
  int32_t isConstant;
} SparseAutogradEmulatorVariable;

/// The version of SparseAutogradEmulatorModule and of EmulatorABI.h.
#define SPARSE_AUTOGRAD_EMULATOR_VERSION 2u

/// The kernels of one module of device code.
typedef struct SparseAutogradEmulatorModule {
  uint32_t version;
  int32_t kernelCount;
  int32_t variableCount;
  const SparseAutogradEmulatorKernel *kernels;
  const SparseAutogradEmulatorVariable *variables;
} SparseAutogradEmulatorModule;

//===----------------------------------------------------------------------===//
// Emulators
//===----------------------------------------------------------------------===//

typedef struct SparseAutogradEmulatorOptions {
  /// The order of threads and blocks: 0 is the plain one, in which a thread
  /// runs until it waits; any other number stands for an order that looks
  /// random, in which threads are also interrupted before they access memory.
  /// The same seed gives the same order.
  uint64_t seed;
  /// With a seed, one in so many accesses of memory is interrupted.
  int32_t preemptionInterval;
  /// The number of switches and accesses of memory after which a block is taken
  /// for one that does not end.
  int64_t maxSteps;
  /// The bytes of the stack of each thread, besides the variables of the
  /// kernel: how deep functions may call themselves.
  int64_t stackBytes;
  /// Bytes of shared memory that a block may have, up to 16 MiB. Static
  /// variables alone may have 48 KiB at most, as ptxas demands.
  int64_t maxSharedBytes;
  /// Bytes of all buffers together; negative: unlimited.
  int64_t maxDeviceBytes;
  /// Whether data races are looked for. That takes up to 18 bytes for each byte
  /// of a buffer that kernels access, more for types of less than 4 bytes.
  int32_t detectRaces;
  /// Whether reads of global and local memory are looked for that nothing has
  /// written. That takes a byte for each byte of a buffer until all of it has
  /// been written at once.
  int32_t detectUnwritten;
} SparseAutogradEmulatorOptions;

/// The options of an H100 (227 KiB of shared memory for a block), with the seed
/// of the environment variable SPARSE_AUTOGRAD_EMULATOR_SEED if it is a number,
/// else 0.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulatorGetDefaultOptions(SparseAutogradEmulatorOptions *options);

typedef struct SparseAutogradEmulator SparseAutogradEmulator;

/// A new emulator, or NULL if there is no memory. NULL stands for the default
/// options.
SPARSE_AUTOGRAD_RUNTIME_EXPORT SparseAutogradEmulator *
sparseAutogradEmulatorCreate(const SparseAutogradEmulatorOptions *options);

/// Releases the emulator with all of its buffers; NULL is fine.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulatorDestroy(SparseAutogradEmulator *emulator);

SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulatorSetSeed(SparseAutogradEmulator *emulator, uint64_t seed);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A buffer of global memory, aligned to 256 bytes, filled with bytes 0xFF (NaN
/// in every float type). The host may read and write it between launches, and
/// says so of what it has written (sparseAutogradEmulatorMarkWritten).
/// Returns NULL, and sets the report, if there is no memory or bytes < 0.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void *
sparseAutogradEmulatorAllocate(SparseAutogradEmulator *emulator, int64_t bytes);

/// Releases a buffer; NULL is fine. Returns
/// SPARSE_AUTOGRAD_INVALID_ARGUMENT for what is no buffer.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t
sparseAutogradEmulatorFree(SparseAutogradEmulator *emulator, void *buffer);

/// Whether [address, address + bytes) lies in one buffer or variable.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradEmulatorContains(
    const SparseAutogradEmulator *emulator, const void *address, int64_t bytes);

/// The host has written these bytes of a buffer. Does nothing for what is not
/// in one buffer.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulatorMarkWritten(SparseAutogradEmulator *emulator,
                                  const void *address, int64_t bytes);

/// Copies bytes between or within buffers, and what is known of which of them
/// have been written. Returns SPARSE_AUTOGRAD_INVALID_ARGUMENT for what is not
/// in one buffer.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t
sparseAutogradEmulatorCopy(SparseAutogradEmulator *emulator, void *destination,
                           const void *source, int64_t bytes);

struct SparseAutogradTensorTiles;
/// Writes a tensor map of 128 bytes to `map`, for kernels that copy tiles
/// (DeviceABI.h has the layout of `tiles`). Returns
/// SPARSE_AUTOGRAD_INVALID_ARGUMENT for tiles that no device has, or the
/// emulator does not.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradEmulatorEncodeTensorMap(
    SparseAutogradEmulator *emulator, void *map,
    const struct SparseAutogradTensorTiles *tiles);

/// Lets kernels access the variables of a module, which must outlive the
/// emulator or be removed. Returns SPARSE_AUTOGRAD_INVALID_ARGUMENT for a
/// module of another version.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t
sparseAutogradEmulatorAddModule(SparseAutogradEmulator *emulator,
                                const SparseAutogradEmulatorModule *module);

SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulatorRemoveModule(SparseAutogradEmulator *emulator,
                                   const SparseAutogradEmulatorModule *module);

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

typedef struct SparseAutogradEmulatorLaunch {
  int64_t grid[3];  ///< blocks in x, y, z
  int64_t block[3]; ///< threads in x, y, z
  int64_t dynamicSharedBytes;
} SparseAutogradEmulatorLaunch;

/// Executes a kernel and returns SPARSE_AUTOGRAD_SUCCESS, or another status
/// with the reason in the report: SPARSE_AUTOGRAD_INVALID_ARGUMENT for a launch
/// that is impossible, SPARSE_AUTOGRAD_OUT_OF_MEMORY,
/// SPARSE_AUTOGRAD_OUT_OF_RANGE for an access outside of memory, and
/// SPARSE_AUTOGRAD_RUNTIME_ERROR.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradEmulatorLaunch(
    SparseAutogradEmulator *emulator,
    const SparseAutogradEmulatorKernel *kernel,
    const SparseAutogradEmulatorLaunch *launch, void **parameters);

/// What can go wrong.
enum SparseAutogradEmulatorFault {
  SPARSE_AUTOGRAD_EMULATOR_NO_FAULT = 0,
  /// A grid, a block or an amount of shared memory that no chip takes, or this
  /// one does not.
  SPARSE_AUTOGRAD_EMULATOR_IMPOSSIBLE_LAUNCH = 1,
  SPARSE_AUTOGRAD_EMULATOR_OUT_OF_MEMORY = 2,
  /// An access outside of every buffer, outside of the block's shared memory,
  /// or outside of a local variable; a write to a constant.
  SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS = 3,
  SPARSE_AUTOGRAD_EMULATOR_MISALIGNED = 4,
  /// A read of memory that nothing has written: shared memory, that no thread
  /// of the block has; a local variable; a buffer, that neither a kernel nor
  /// the host has.
  SPARSE_AUTOGRAD_EMULATOR_UNINITIALIZED = 5,
  /// An access of what a cp.async or a bulk copy writes that has not been
  /// waited for, a write of what one reads; the end of who should have waited.
  SPARSE_AUTOGRAD_EMULATOR_PENDING_COPY = 6,
  /// Two accesses of the same bytes, one of which is a write and not both of
  /// which are atomic, that no barrier orders.
  SPARSE_AUTOGRAD_EMULATOR_DATA_RACE = 7,
  /// Threads wait at a barrier for others that ended or wait elsewhere.
  SPARSE_AUTOGRAD_EMULATOR_MISSING_AT_BARRIER = 8,
  /// Threads of one warp at two places with an aligned barrier.
  SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_BARRIER = 9,
  /// A barrier with a number that does not exist, or with a count of threads
  /// that is impossible or differs from that of other threads.
  SPARSE_AUTOGRAD_EMULATOR_INVALID_BARRIER = 10,
  /// Threads of a warp wait for each other in different collective operations,
  /// or with different masks or operands that must be the same.
  SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP = 11,
  /// A collective operation of a warp whose mask lacks the thread itself.
  SPARSE_AUTOGRAD_EMULATOR_NOT_IN_MASK = 12,
  /// A shuffle that reads from a thread that does not take part.
  SPARSE_AUTOGRAD_EMULATOR_INACTIVE_LANE = 13,
  /// An operand that has no meaning, as metadata of mma.sp that is not ordered.
  SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND = 14,
  /// A block that took more than maxSteps.
  SPARSE_AUTOGRAD_EMULATOR_TOO_MANY_STEPS = 15,
  /// An assertion or a trap of the kernel.
  SPARSE_AUTOGRAD_EMULATOR_ASSERTION = 16,
  /// What the host passed: a buffer that is none, a module of another version.
  SPARSE_AUTOGRAD_EMULATOR_INVALID_ARGUMENT = 17,
  /// An mbarrier that was not initialised, or twice, or whose counts overflow;
  /// an ordinary access of one.
  SPARSE_AUTOGRAD_EMULATOR_INVALID_MBARRIER = 18,
  /// A phase of an mbarrier that threads wait for and nothing completes.
  SPARSE_AUTOGRAD_EMULATOR_HANG = 19,
  /// What a thread wrote, and the asynchronous proxy reads, without a fence.
  SPARSE_AUTOGRAD_EMULATOR_MISSING_FENCE = 20,
  /// A result of wgmma that is used, or a thread that ends, before the product
  /// has been waited for.
  SPARSE_AUTOGRAD_EMULATOR_PENDING_PRODUCT = 21,
  /// An integer division by zero, or of the least integer by -1.
  SPARSE_AUTOGRAD_EMULATOR_INVALID_DIVISION = 22,
  /// Functions that call themselves too deep for the stack of the thread, or a
  /// local variable that is too large for it.
  SPARSE_AUTOGRAD_EMULATOR_STACK_OVERFLOW = 23
};

/// What went wrong, and where.
typedef struct SparseAutogradEmulatorReport {
  int32_t fault; ///< a SparseAutogradEmulatorFault
  int32_t status;
  uint64_t seed;
  /// Of the thread that found it; -1 where no thread did.
  int64_t block[3];
  int64_t thread[3];
  /// All of it, with the kernel's name, as text.
  char message[1024];
} SparseAutogradEmulatorReport;

/// What the last call that failed reported. The pointer is valid as long as the
/// emulator.
SPARSE_AUTOGRAD_RUNTIME_EXPORT const SparseAutogradEmulatorReport *
sparseAutogradEmulatorGetReport(const SparseAutogradEmulator *emulator);

/// What the last launch did.
typedef struct SparseAutogradEmulatorCounters {
  int64_t blocks;
  int64_t switches; ///< from one thread to another
  int64_t steps;    ///< accesses of memory and waits
} SparseAutogradEmulatorCounters;

SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulatorGetCounters(const SparseAutogradEmulator *emulator,
                                  SparseAutogradEmulatorCounters *counters);

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//
//
// What launches ask of a GPU, in a model of its caches (docs/emulator.md has
// what each number means). Kernels that were translated to count have their
// instructions counted as well. Nothing is measured.

/// Counts the launches from now on, for a machine with a description
/// (Target/GPUMachine.h): "h100", or "h100/16" for a part of it. NULL ends it,
/// and forgets what was counted. Returns SPARSE_AUTOGRAD_INVALID_ARGUMENT for
/// another name.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradEmulatorCount(
    SparseAutogradEmulator *emulator, const char *machine);

/// How many registers threads of the next launches have; 0: it is not known,
/// and does not limit how many blocks run at once.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradEmulatorSetRegisters(SparseAutogradEmulator *emulator,
                                   int64_t registers);

/// All that was counted, as JSON; NULL if nothing is. The text is valid until
/// the next call.
SPARSE_AUTOGRAD_RUNTIME_EXPORT const char *
sparseAutogradEmulatorGetCounts(SparseAutogradEmulator *emulator);

/// The same of all emulated devices of the process ("emulated"), whose launches
/// are counted from now on. May be called while none runs.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t
sparseAutogradCountDevice(const char *machine);
SPARSE_AUTOGRAD_RUNTIME_EXPORT const char *sparseAutogradGetDeviceCounts(void);

#ifdef __cplusplus
}
#endif

#endif // SPARSEAUTOGRAD_RUNTIME_EMULATOR_H
