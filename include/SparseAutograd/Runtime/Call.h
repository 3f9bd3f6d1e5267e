//===- Call.h - Calls of entries without copies -------------------*- C -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forms of calls beyond a SparseAutogradEntry (Runtime.h): patterns that are
// validated once, results that are shared with arguments or written to memory
// of the caller's. Every entry serves them: the form is stated by each call,
// and the manifest says what there is to share (docs/manifest.md). C99 and
// later, and C++.
//
// Every function may be called from any thread.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_RUNTIME_CALL_H
#define SPARSEAUTOGRAD_RUNTIME_CALL_H

#include "SparseAutograd/Runtime/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Validated patterns
//===----------------------------------------------------------------------===//

/// A level of the encoding of a sparse tensor, as the manifest describes it.
typedef struct SparseAutogradLevel {
  int64_t format;      ///< of enum SparseAutogradLevelFormat
  int64_t dimension;   ///< the dimension whose coordinate it has
  int64_t block;       ///< the extent of a block; 0 for the whole coordinate
  int64_t isRemainder; ///< of a block: 0 for the quotient, 1 for the remainder
} SparseAutogradLevel;

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradLevel) == 32,
                              "layout of a level");

/// An encoding: what the manifest says of the storage of a sparse argument.
typedef struct SparseAutogradEncoding {
  int64_t levelCount;
  const SparseAutogradLevel *levels;
  int64_t positionBytes;   ///< 1, 2, 4 or 8
  int64_t coordinateBytes; ///< 1, 2, 4 or 8
} SparseAutogradEncoding;

/// A pattern that has been validated: the positions, the coordinates and the
/// extents of a sparse tensor, without values. It never changes, so that any
/// number of calls, in any threads, may be given it at once
/// (SparseAutogradCall), which then do not validate the storage again.
typedef struct SparseAutogradPattern SparseAutogradPattern;

/// Who owns the lists of a pattern.
enum SparseAutogradOwnership {
  /// The caller, who neither changes nor releases them before the pattern is
  /// destroyed. A change is undefined behaviour of the calls that follow: they
  /// take the lists for valid.
  SPARSE_AUTOGRAD_BORROW = 0,
  /// The pattern, which copies them.
  SPARSE_AUTOGRAD_COPY = 1
};

/// Validates the storage of a sparse tensor (sparseAutogradCheckStorage) and
/// makes a pattern of it, to be destroyed by sparseAutogradPatternDestroy.
///
/// `storage` is what an entry takes as a sparse argument with that encoding,
/// which the pattern copies, the encoding as well; `name` begins messages, NULL
/// is nothing. The values are not looked at, but for how many they are.
///
///     SparseAutogradLevel csr[] = {{SPARSE_AUTOGRAD_LEVEL_DENSE, 0, 0, 0},
///                                  {SPARSE_AUTOGRAD_LEVEL_COMPRESSED, 1, 0,
///                                  0}};
///     SparseAutogradEncoding encoding = {2, csr, 4, 4};
///     SparseAutogradPattern *pattern;
///     int32_t status = sparseAutogradPatternCreate(
///         "A", &encoding, &storage, SPARSE_AUTOGRAD_BORROW, &pattern);
///
/// Returns SPARSE_AUTOGRAD_SUCCESS, SPARSE_AUTOGRAD_INVALID_ARGUMENT (also for
/// a null pointer and an encoding that does not exist) or
/// SPARSE_AUTOGRAD_OUT_OF_MEMORY; `*pattern` is NULL then.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t sparseAutogradPatternCreate(
    const char *name, const SparseAutogradEncoding *encoding,
    const void *storage, int32_t ownership, SparseAutogradPattern **pattern);

/// Destroys a pattern that no call uses any more; NULL is fine.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradPatternDestroy(SparseAutogradPattern *pattern);

/// The storage of a pattern: descriptors and extents, as an entry takes them,
/// `*words` words of 64 bits. That of the values has their number and a null
/// pointer: copy the words and set it. Valid as long as the pattern is; NULL
/// for NULL. `words` may be NULL.
SPARSE_AUTOGRAD_RUNTIME_EXPORT const void *
sparseAutogradPatternStorage(const SparseAutogradPattern *pattern,
                             int64_t *words);

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// How a call hands over a result.
enum SparseAutogradResultForm {
  /// In buffers of its own, as a SparseAutogradEntry does by itself.
  SPARSE_AUTOGRAD_RESULT_OWNED = 0,
  /// What the manifest says that a result shares with an argument or an earlier
  /// result (`same_as`, `pattern_of`) is not copied: its descriptors are those
  /// that were given, with `allocated` NULL. They are valid as long as that
  /// memory is; sparseAutogradFree takes the NULL. Elements of an i1 that are
  /// shared are the bytes that were given. All else is as above.
  SPARSE_AUTOGRAD_RESULT_SHARED = 1,
  /// In buffers of the caller's, the destinations: `results[i]` is filled
  /// before the call with descriptors whose memory is written. Extents are
  /// those of the result, strides those of a dense tensor in row-major order,
  /// `allocated` is not used and becomes NULL. A list of a sparse result of
  /// which `aligned` is NULL is handed over as with
  /// SPARSE_AUTOGRAD_RESULT_SHARED; extents of a sparse result are written. Of
  /// a scalar, as above.
  SPARSE_AUTOGRAD_RESULT_DESTINATION = 2
};

/// A call of an entry that says more than pointers. Set all of it to 0 first.
typedef struct SparseAutogradCall {
  /// Those of the entry; another number is SPARSE_AUTOGRAD_INVALID_ARGUMENT.
  int64_t argumentCount, resultCount;
  void *const *arguments; ///< as SparseAutogradEntry has them
  void *const *results;   ///< as SparseAutogradEntry has them
  /// NULL, or for each argument NULL or the pattern that it has. The storage of
  /// that argument has the lists of the pattern, by address, length and stride,
  /// and its extents; only the values are its own. It is not validated again.
  /// Anything else is SPARSE_AUTOGRAD_INVALID_ARGUMENT.
  const SparseAutogradPattern *const *patterns;
  /// NULL, or for each result its form, of enum SparseAutogradResultForm.
  const int32_t *resultForms;
} SparseAutogradCall;

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradCall) == 48,
                              "layout of a call");

/// Calls `entry`, an entry of compiled code, as `call` says, and returns what
/// it returns.
///
/// A destination that overlaps an argument or another destination is
/// SPARSE_AUTOGRAD_INVALID_ARGUMENT, before anything is written; so are extents
/// and strides that are not those of the result, which may be found when
/// destinations have been written. After a failure what destinations hold is
/// unspecified, and no other result was written.
///
/// A destination that is aligned to 64 bytes is written where the result is
/// computed, if the compiled code allocates the result once and for this entry;
/// any other is copied to at the end of the call
/// (SparseAutogradCallCounters.copiedBytes).
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t
sparseAutogradCall(SparseAutogradEntry entry, const SparseAutogradCall *call);

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

/// What entries did with arguments and results in this process.
typedef struct SparseAutogradCallCounters {
  /// Bytes of arguments and results that were copied: strided arguments, what
  /// results share with others, what is written to destinations at the end.
  int64_t copiedBytes;
  /// Bytes of positions and coordinates that were validated.
  int64_t checkedBytes;
} SparseAutogradCallCounters;

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradCallCounters) == 16,
                              "layout of the counters");

/// Writes the counters to `*counters`, unless it is NULL.
/// sparseAutogradResetCounters sets them to zero.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradGetCallCounters(SparseAutogradCallCounters *counters);

/// What the thread that called an entry did there beside the entry's loops, in
/// nanoseconds.
typedef struct SparseAutogradCallTimes {
  /// Copied what copiedBytes counts.
  int64_t copy;
  /// Validated the storage of sparse arguments.
  int64_t check;
  /// Brought entries of new patterns into order, and stored their positions
  /// and coordinates: where sparse values without a common pattern are added
  /// up, as the gradients of rows that a program reads, and where one is stored
  /// in another format.
  int64_t accumulate;
} SparseAutogradCallTimes;

SPARSE_AUTOGRAD_STATIC_ASSERT(sizeof(SparseAutogradCallTimes) == 24,
                              "layout of the times");

/// Writes the times of the last call of an entry that this thread made, those
/// that entry itself made included, to `*times`, unless it is NULL.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradGetCallTimes(SparseAutogradCallTimes *times);

#ifdef __cplusplus
}
#endif

#endif // SPARSEAUTOGRAD_RUNTIME_CALL_H
