//===- Runtime.h - What a user of compiled code calls -------------*- C -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of the CPU runtime for programs that call compiled functions:
// how an entry is called and what it returns, who owns which buffer, threads,
// memory, counters and progress lines. C99 and later, and C++.
//
// What compiled code itself calls is in CompilerABI.h. A user never needs it.
//
// Every function may be called from any thread, and entries may run in several
// threads at once. Settings (threads, limits, handlers) are those of the
// process; the last error is that of a thread.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_RUNTIME_RUNTIME_H
#define SPARSEAUTOGRAD_RUNTIME_RUNTIME_H

#include "SparseAutograd/Runtime/Export.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Version
//===----------------------------------------------------------------------===//

/// The version of this interface and of CompilerABI.h. It changes whenever
/// code compiled for one version could misbehave with another.
#define SPARSE_AUTOGRAD_RUNTIME_VERSION 2u

/// The version that the loaded library implements. Whoever loads compiled code
/// compares it with the one the code was compiled for, before the first call.
SPARSE_AUTOGRAD_RUNTIME_EXPORT uint32_t sparseAutogradRuntimeVersion(void);

//===----------------------------------------------------------------------===//
// Status and errors
//===----------------------------------------------------------------------===//

/// What an entry returns. A code not listed here is an error too: a log handler
/// may stop an entry with one of its own.
enum SparseAutogradStatus {
  SPARSE_AUTOGRAD_SUCCESS = 0,
  /// The caller's fault: shapes that do not fit, a null pointer, storage that
  /// breaks an invariant.
  SPARSE_AUTOGRAD_INVALID_ARGUMENT = 1,
  /// The system, or the limit that was set, has no more memory.
  SPARSE_AUTOGRAD_OUT_OF_MEMORY = 2,
  /// An index out of range.
  SPARSE_AUTOGRAD_OUT_OF_RANGE = 3,
  /// Any other failure while the code ran.
  SPARSE_AUTOGRAD_RUNTIME_ERROR = 4,
  /// The caller asked the entry to stop.
  SPARSE_AUTOGRAD_CANCELLED = 5
};

/// The message of the last call that failed on this thread, "" if none has.
/// As with errno, a call that succeeds leaves it alone. The text is valid until
/// the next failure on the same thread; it is truncated to 1023 bytes.
SPARSE_AUTOGRAD_RUNTIME_EXPORT const char *sparseAutogradLastError(void);

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// A compiled function as its callers see it.
///
/// `arguments[i]` points to the i-th argument and `results[i]` to the place of
/// the i-th result: for a tensor, a SparseAutogradMemRef<rank>; for a tensor
/// with an encoding, its storage (see "Sparse tensors"); for a scalar, the
/// scalar itself (an i1 is one byte, index is int64_t). The manifest of the
/// compiled code lists their types, in order.
///
/// A byte of an i1, in a tensor or alone, is false if it is 0 and true
/// otherwise; those of results are 0 or 1.
///
/// Before it reads through them an entry checks `arguments` and `results`, each
/// pointer in these and in the descriptors: one that is null, or not aligned
/// for what it points to, is SPARSE_AUTOGRAD_INVALID_ARGUMENT, as are extents
/// that are negative or whose product overflows. A pointer to no elements may
/// be anything. That memory is as large as a descriptor says is the caller's
/// word.
///
/// Ownership: arguments are borrowed for the duration of the call and never
/// written. The entry fills `*results[i]`; a tensor's buffer is then the
/// caller's, released with `sparseAutogradFree(descriptor.allocated)`. Each
/// result has a buffer of its own, which no argument shares.
///
/// Returns SPARSE_AUTOGRAD_SUCCESS, or another status with the reason in
/// sparseAutogradLastError(). After a failure no result was written and nothing
/// stays allocated.
typedef int32_t (*SparseAutogradEntry)(void *const *arguments,
                                       void *const *results);

/// A tensor of rank 0: element 0 is at `aligned + offset`, in elements.
typedef struct SparseAutogradMemRef0 {
  void *allocated; ///< what sparseAutogradFree takes, for a result
  void *aligned;   ///< what offset and strides count from
  int64_t offset;  ///< in elements
} SparseAutogradMemRef0;

/// Defines SparseAutogradMemRef<rank>, a tensor of that rank: element
/// (i, j, ...) is at `aligned + offset + i * strides[0] + j * strides[1] +
/// ...`, in elements. An argument's `allocated` is not used.
#define SPARSE_AUTOGRAD_DEFINE_MEMREF(rank)                                    \
  typedef struct SparseAutogradMemRef##rank {                                  \
    void *allocated;                                                           \
    void *aligned;                                                             \
    int64_t offset;                                                            \
    int64_t sizes[rank];                                                       \
    int64_t strides[rank];                                                     \
  } SparseAutogradMemRef##rank;                                                \
  SPARSE_AUTOGRAD_STATIC_ASSERT(offsetof(SparseAutogradMemRef##rank, sizes) == \
                                    24,                                        \
                                "layout of the memref descriptor");            \
  SPARSE_AUTOGRAD_STATIC_ASSERT(                                               \
      offsetof(SparseAutogradMemRef##rank, strides) == 24 + 8 * (rank),        \
      "layout of the memref descriptor");                                      \
  SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradMemRef##rank) ==          \
                                    24 + 16 * (rank),                          \
                                "layout of the memref descriptor")

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradMemRef0) == 24,
                              "layout of the memref descriptor");
SPARSE_AUTOGRAD_DEFINE_MEMREF(1);
SPARSE_AUTOGRAD_DEFINE_MEMREF(2);
SPARSE_AUTOGRAD_DEFINE_MEMREF(3);
SPARSE_AUTOGRAD_DEFINE_MEMREF(4);
SPARSE_AUTOGRAD_DEFINE_MEMREF(5);
SPARSE_AUTOGRAD_DEFINE_MEMREF(6);
SPARSE_AUTOGRAD_DEFINE_MEMREF(7);
SPARSE_AUTOGRAD_DEFINE_MEMREF(8);

//===----------------------------------------------------------------------===//
// Sparse tensors
//===----------------------------------------------------------------------===//
//
// A sparse tensor is stored level by level, as the levels of its encoding say
// (those of MLIR's sparse_tensor dialect). The elements of a level have the
// elements of the level before as parents; the first level has one parent, and
// each element of the last level has a value.
//
// Which elements the parents have, and which lists, is said by the format of
// the level, a row of LevelFormats.def.
//
// The elements of a parent are in the order of their coordinates, which differ.
// Where a level is not unique, coordinates repeat, and all levels that follow
// are singletons: this level and those are in lexicographic order together, and
// no two of their elements are the same (COO, with an array for each level).
//
// Positions and coordinates are unsigned numbers of 1, 2, 4 or 8 bytes; those
// of 8 bytes are below 2^63.
//
// What an entry takes or fills is an array of 64-bit words: for each level in
// turn a SparseAutogradMemRef1 of its positions, if it has any, and one of its
// coordinates, if it has any; one of the values; then the extent of each
// dimension. A result's buffers are the caller's, each released on its own.

/// The format of a level, SPARSE_AUTOGRAD_LEVEL_DENSE and so on, as
/// LevelFormats.def has them; add SPARSE_AUTOGRAD_LEVEL_NONUNIQUE where
/// coordinates may repeat.
enum SparseAutogradLevelFormat {
#define SPARSE_AUTOGRAD_LEVEL_FORMAT(ID, CODE, ...)                            \
  SPARSE_AUTOGRAD_LEVEL_##ID = CODE,
#include "SparseAutograd/Runtime/LevelFormats.def"
  SPARSE_AUTOGRAD_LEVEL_NONUNIQUE = 256
};

/// Checks that storage is what the comment above says: positions begin at 0 (of
/// a loose level: anywhere), never decrease, and end with the number of
/// coordinates (of a loose level: at most there); coordinates are below the
/// extent of their level, in order, and do not repeat; all lengths are right;
/// none overflows; no pointer is null, or not aligned, but one to no elements.
/// Reads each array once; allocates nothing.
///
/// `formats` and `extents` are those of the `levels` levels, and `components`
/// the descriptors of the storage, in its order: an argument of an entry as it
/// is. `name` begins the message, as in "name: level 1 (compressed): ..."; NULL
/// is nothing. Returns SPARSE_AUTOGRAD_SUCCESS, else
/// SPARSE_AUTOGRAD_INVALID_ARGUMENT, and sparseAutogradLastError() names the
/// level, what is wrong, and at which index.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradCheckStorage(
    const char *name, int64_t levels, const int64_t *formats,
    const int64_t *extents, int64_t positionBytes, int64_t coordinateBytes,
    const SparseAutogradMemRef1 *components);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Releases the buffer of a result (its descriptor's `allocated`). NULL is
/// fine. Returns SPARSE_AUTOGRAD_INVALID_ARGUMENT for a buffer released twice,
/// as long as its memory has not been handed out again; any other pointer that
/// did not come from an entry is undefined behaviour, as with free().
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradFree(void *allocated);

/// Bounds what the runtime holds of the system's memory: the blocks in use,
/// rounded up as they are allocated (at most an eighth more than asked for,
/// and 64 bytes), and those kept for reuse, which are given back first. An
/// entry that needs more fails with SPARSE_AUTOGRAD_OUT_OF_MEMORY. A negative
/// number means no limit (the default). Blocks already in use stay.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradSetMemoryLimit(int64_t bytes);

/// Bounds the memory kept for reuse after it was released. Fresh memory costs
/// a page fault for every page, which for a large buffer is more than the pass
/// that fills it. The default is the value of the environment variable
/// SPARSE_AUTOGRAD_POOL_BYTES, else 1 GiB; 0 keeps nothing. What exceeds the
/// new bound is given back at once, the longest unused first.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradSetPoolLimit(int64_t bytes);

/// Gives all memory kept for reuse back to the system.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradTrimPool(void);

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// How many threads one entry may use, its caller included; 0 or less goes back
/// to the default, which is OpenMP's (the processors this process may run on,
/// or OMP_NUM_THREADS). Results do not depend on it, not in one bit.
///
/// An entry called inside an OpenMP parallel region of the caller runs on the
/// thread that calls it, unless the caller allows nested regions. A process
/// that cannot create the threads it asks for is stopped by the OpenMP library:
/// where threads are scarce, set a smaller count.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradSetThreadCount(int32_t threads);

/// How many threads an entry called now from this thread may use: at least 1.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradGetThreadCount(void);

//===----------------------------------------------------------------------===//
// BLAS
//===----------------------------------------------------------------------===//

/// Who computes the products of dense matrices.
enum SparseAutogradBlasState {
  /// Nobody yet: the library is loaded with the first product.
  SPARSE_AUTOGRAD_BLAS_UNUSED = 0,
  /// The BLAS that was loaded.
  SPARSE_AUTOGRAD_BLAS_LOADED = 1,
  /// Loops of the runtime, several times slower: no library was found, or the
  /// runtime was built without one.
  SPARSE_AUTOGRAD_BLAS_MISSING = 2
};

/// Has products of dense matrices computed by the library at `path`: OpenBLAS
/// with integers of 32 bits, whose functions may begin with `scipy_`, as those
/// of the package scipy-openblas32 do. NULL is the default, the library that
/// the runtime was configured with, else libopenblas.so.0; so is a library that
/// cannot be loaded. Returns SPARSE_AUTOGRAD_INVALID_ARGUMENT once a product
/// was computed.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradSetBlas(const char *path);

/// Who computes products, of enum SparseAutogradBlasState. `*file`, unless
/// `file` is NULL, becomes the file of the library, or NULL.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradGetBlas(const char **file);

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

/// What the runtime did in this process. Bytes are those asked for, except
/// `pooledBytes`.
typedef struct SparseAutogradCounters {
  int64_t allocations;     ///< blocks allocated
  int64_t allocatedBytes;  ///< bytes in them
  int64_t poolHits;        ///< of the allocations, those served by the pool
  int64_t liveBlocks;      ///< blocks in use now
  int64_t liveBytes;       ///< bytes in them
  int64_t peakLiveBytes;   ///< the most bytes in use at one time
  int64_t pooledBytes;     ///< memory kept for reuse now, as rounded up
  int64_t entryCalls;      ///< entries called, the nested ones included
  int64_t parallelRegions; ///< loops that ran on more than one thread
} SparseAutogradCounters;

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradCounters) == 72,
                              "layout of the counters");

/// Writes the counters to `*counters`, unless it is NULL.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradGetCounters(SparseAutogradCounters *counters);

/// Sets the counters to zero, the peak to the bytes in use now, and leaves
/// liveBlocks, liveBytes and pooledBytes, which are not events.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradResetCounters(void);

//===----------------------------------------------------------------------===//
// Progress lines
//===----------------------------------------------------------------------===//

/// What a SparseAutogradLogValue holds.
enum SparseAutogradLogKind {
  SPARSE_AUTOGRAD_LOG_INTEGER = 0, ///< int64_t
  SPARSE_AUTOGRAD_LOG_FLOAT = 1    ///< double
};

/// A logged number: the 8 bytes of an int64_t or of a double.
typedef union SparseAutogradLogValue {
  int64_t integer;
  double floating;
} SparseAutogradLogValue;

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradLogValue) == 8,
                              "layout of a logged value");

/// One `sparse_autograd.log`: `count` values with their names. All of it
/// belongs to the compiled code and is valid during the call of the handler.
typedef struct SparseAutogradLogRecord {
  int64_t count;
  const char *const *names;
  const int8_t *kinds; ///< enum SparseAutogradLogKind
  const SparseAutogradLogValue *values;
} SparseAutogradLogRecord;

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradLogRecord) == 32,
                              "layout of a log record");

/// Receives the records, on the thread that runs the entry. It returns
/// SPARSE_AUTOGRAD_SUCCESS, or a status with which the entry then stops, as
/// with any error (SPARSE_AUTOGRAD_CANCELLED is meant for that). It may call
/// entries. It must not leave by an exception or by longjmp.
typedef int32_t (*SparseAutogradLogHandler)(
    const SparseAutogradLogRecord *record, void *userData);

/// Sets the handler of the process and the pointer that it is called with. NULL
/// goes back to the default handler, which prints each record to the standard
/// output as a line and flushes it:
///
///     epoch 12  train RMSE 0.8123  held-out RMSE 0.8812
///
/// Where entries run in other threads meanwhile, a record of theirs may still
/// reach the previous handler once.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradSetLogHandler(SparseAutogradLogHandler handler, void *userData);

/// How many significant digits the default handler prints of a floating value:
/// 1 to 17, other numbers are brought into that range. 6 is the default; 17
/// tells any two doubles apart. The locale has no influence.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradSetLogPrecision(int32_t significantDigits);

#ifdef __cplusplus
}
#endif

#endif // SPARSEAUTOGRAD_RUNTIME_RUNTIME_H
