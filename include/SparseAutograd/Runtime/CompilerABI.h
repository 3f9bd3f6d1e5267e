//===- CompilerABI.h - What compiled code calls -------------------*- C -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of the CPU runtime that the compiler emits calls to. Programs
// that call compiled code need Runtime.h only.
//
// An entry is a function of type SparseAutogradEntry whose body the compiler
// emits as a second function, without a return value, and which is nothing but
//
//     return sparseAutogradGuard(body, arguments, results);
//
// Everything else here is called between the guard and its return, on the
// guard's thread or in a body of sparseAutogradParallelFor.
//
// Errors. sparseAutogradRaise ends the entry by longjmp to the innermost guard
// of the thread. That is well defined although frames of compiled code lie
// between: they are C frames, without destructors, cleanups or exception
// tables, and everything that they own is memory of this allocator, which the
// guard knows of and releases. User code between two guards (a log handler that
// calls an entry) is never jumped over, since the inner guard is nearer.
// Checking a status after every call instead would cost compiled code a branch
// at each call and, in every region of a structured loop, a way out that
// structured control flow does not have.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_RUNTIME_COMPILERABI_H
#define SPARSEAUTOGRAD_RUNTIME_COMPILERABI_H

#include "SparseAutograd/Runtime/Call.h"

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Guard and errors
//===----------------------------------------------------------------------===//

/// Runs `body(arguments, results)` in a new frame and returns its status.
///
/// The body writes to the results at its very end, after the last call that
/// can raise; so after an error they are untouched. On success the blocks that
/// the frame allocated and that are still alive are the buffers of the results:
/// they leave the frame and are the caller's. On error they are released.
///
/// Guards nest (user code that an entry calls may call an entry) and run
/// concurrently in different threads.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int32_t
sparseAutogradGuard(void (*body)(void *const *arguments, void *const *results),
                    void *const *arguments, void *const *results);

/// Ends the innermost guard of this thread with `status` (0 is taken for
/// SPARSE_AUTOGRAD_RUNTIME_ERROR) and `message`, which is copied; NULL is "".
///
/// In a body of sparseAutogradParallelFor it ends the chunk; see there.
///
/// Outside any guard there is no caller to return to and, as this function
/// cannot return, no way to go on. The compiler never emits that. Should
/// hand-written code do it, the message is printed to the standard error and
/// the process ends with exit code 70 (EX_SOFTWARE), without running the exit
/// handlers of a program whose state is unknown.
SPARSE_AUTOGRAD_RUNTIME_EXPORT SPARSE_AUTOGRAD_NORETURN void
sparseAutogradRaise(int32_t status, const char *message);

/// As sparseAutogradRaise, with each "{}" of the message replaced by the next
/// of `count` numbers; a "{}" beyond them stays: "index {} is out of range, the
/// extent is {}".
SPARSE_AUTOGRAD_RUNTIME_EXPORT SPARSE_AUTOGRAD_NORETURN void
sparseAutogradRaiseWithValues(int32_t status, const char *message,
                              int64_t count, const int64_t *values);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// A block of `bytes` bytes, aligned to 64, not initialised, owned by the
/// innermost frame. 0 is fine: the pointer is one of its own. Never NULL.
/// Raises SPARSE_AUTOGRAD_INVALID_ARGUMENT for a negative number (an extent
/// that overflowed) and SPARSE_AUTOGRAD_OUT_OF_MEMORY, naming the bytes.
/// May be called in a body of sparseAutogradParallelFor.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void *sparseAutogradAllocate(int64_t bytes);

/// Releases a block of sparseAutogradAllocate; NULL is fine. Raises
/// SPARSE_AUTOGRAD_INVALID_ARGUMENT under the conditions under which
/// sparseAutogradFree returns it.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradDeallocate(void *block);

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//
//
// What the body of an entry asks about the call that it serves
// (SparseAutogradCall). The record of an entry is made of what its manifest
// says: the numbers of arguments and of results; then for each of these, in
// order, how many descriptors it has (none, for a scalar), and for each
// descriptor the rank and the bytes of an element.

/// Begins the body: checks the numbers and forms of the call against the
/// record, which lives as long as the call. Raises
/// SPARSE_AUTOGRAD_INVALID_ARGUMENT.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradBeginEntry(const int64_t *record);

/// Checks the destinations of the call, if there are any, when all pointers,
/// and the extents of the arguments, have been checked. Raises
/// SPARSE_AUTOGRAD_INVALID_ARGUMENT for one that overlaps an argument or
/// another destination, is not dense, null or not aligned.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradCheckDestinations(void);

/// Says that the next block that this thread allocates is for a descriptor of a
/// result: sparseAutogradAllocate returns its destination, where there is one
/// of as many bytes that is aligned to 64. Releasing a destination does
/// nothing. At most once in a call for each descriptor. What comes of it is the
/// same if another block is allocated: a result that is elsewhere is copied.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradExpectResult(int64_t result,
                                                               int64_t list);

/// A block with a dense copy of the tensor of a descriptor, whose extents and
/// pointer have been checked. Raises as sparseAutogradAllocate, and
/// SPARSE_AUTOGRAD_INVALID_ARGUMENT for strides that overflow.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void *
sparseAutogradPack(int64_t rank, int64_t elementBytes, const void *descriptor);

/// Makes the descriptor `staged` of a result what the form of the result asks
/// for, before it is stored. With `source`, a descriptor that the result
/// shares, it is written: that one, or a copy, of which an i1 (`isBoolean`) has
/// bytes 0 and 1. Without, it describes a dense block of this frame, which is
/// copied to the destination and released unless it is the destination.
///
/// Raises as sparseAutogradAllocate, and SPARSE_AUTOGRAD_INVALID_ARGUMENT for a
/// destination with other extents.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradHandOver(int64_t result, int64_t list, int64_t rank,
                       int64_t elementBytes, int32_t isBoolean,
                       const void *source, void *staged);

//===----------------------------------------------------------------------===//
// Parallel loops
//===----------------------------------------------------------------------===//

/// Calls `body(environment, begin, end)` for every chunk [k * grain,
/// min((k + 1) * grain, count)) of [0, count), in any order and on any threads.
///
/// The chunks depend on count and grain only, so a body that writes to disjoint
/// places, or to one partial result a chunk (index begin / grain) that is
/// combined in order afterwards, gives the same bits for any number of threads.
///
/// A loop of one chunk, a loop on one thread and a loop inside another loop's
/// body are plain loops, in the order of the chunks, on the calling thread.
///
/// If bodies raise, chunks with a higher index than the first failed one may be
/// skipped; when all threads have joined, the error of the failed chunk with
/// the lowest index is raised on the calling thread: the same error for any
/// number of threads.
///
/// Raises SPARSE_AUTOGRAD_INVALID_ARGUMENT if count < 0 or grain < 1.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradParallelFor(
    int64_t count, int64_t grain,
    void (*body)(void *environment, int64_t begin, int64_t end),
    void *environment);

//===----------------------------------------------------------------------===//
// Dense products
//===----------------------------------------------------------------------===//

/// C = beta C + alpha A B, for A (m x k), B (k x n) and C (m x n), each given
/// by its first element, row stride and column stride in elements, so that a
/// transpose costs nothing. A matrix of which neither stride is 1 is copied
/// first. Strides of A and B may be 0 or negative; C's elements must be
/// distinct and overlap neither A nor B.
///
/// As in BLAS, beta = 0 means that C is not read (it may hold NaN), and
/// alpha = 0 that A and B are not. m, n or k may be 0; with k = 0 the result is
/// beta C.
///
/// Rows and columns of C are cut into blocks that depend on m, n and k only,
/// and each block is one call of a sequential BLAS, or of loops where the
/// runtime was built without one: the same bits for any number of threads on
/// one machine. OpenBLAS is loaded with the first product, for the kernels of
/// this processor unless OPENBLAS_CORETYPE or who has loaded it before says
/// otherwise, and set to one thread, for the whole process. Where it cannot be
/// loaded, loops compute the blocks.
///
/// The error of an element is at most gamma_k * sum |alpha a b| plus that of
/// scaling and adding beta c, in any order of summation.
///
/// Raises SPARSE_AUTOGRAD_INVALID_ARGUMENT for a negative extent, and
/// SPARSE_AUTOGRAD_OUT_OF_MEMORY if a copy does not fit.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradGemmF32(int64_t m, int64_t n, int64_t k, float alpha,
                      const float *a, int64_t aRowStride, int64_t aColumnStride,
                      const float *b, int64_t bRowStride, int64_t bColumnStride,
                      float beta, float *c, int64_t cRowStride,
                      int64_t cColumnStride);

/// As sparseAutogradGemmF32, in double precision.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradGemmF64(int64_t m, int64_t n, int64_t k, double alpha,
                      const double *a, int64_t aRowStride,
                      int64_t aColumnStride, const double *b,
                      int64_t bRowStride, int64_t bColumnStride, double beta,
                      double *c, int64_t cRowStride, int64_t cColumnStride);

/// Copies `bytes` bytes from `source` to `destination`, which do not overlap:
/// past the caches, if they are part of a result of `total` bytes that is too
/// large for these. The source is read from a cache. Other threads see it when
/// the parallel loop, or the call of an entry, is over that does it.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradStream(void *destination,
                                                         const void *source,
                                                         int64_t bytes,
                                                         int64_t total);

//===----------------------------------------------------------------------===//
// Masked rows
//===----------------------------------------------------------------------===//
//
// A row of `count` elements, of 4 or 8 bytes each, and which of them a mask
// selects: a byte for each, 0 if it does not. What is computed of the selected
// ones alone is computed of a row that has them one after the other.

/// About how many of `count` elements the mask selects, from 64 times 64 of
/// them; exact if there are no more. Depends on the mask alone.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int64_t
sparseAutogradEstimateSelected(const uint8_t *mask, int64_t count);

/// Writes the selected elements of `source` to the beginning of `destination`,
/// which has room for `count`, in their order, and returns how many there are.
/// What is behind them in `destination` is unspecified. The two do not overlap.
///
/// Raises SPARSE_AUTOGRAD_INVALID_ARGUMENT for another size of an element.
SPARSE_AUTOGRAD_RUNTIME_EXPORT int64_t sparseAutogradCompressRow(
    void *destination, const void *source, const uint8_t *mask, int64_t count,
    int64_t elementBytes);

/// The reverse: the selected elements of `destination` are those at the
/// beginning of `source`, a row of `count` as well, and the others are 0. The
/// row is stored past the caches if it is part of a result of `total` bytes
/// that is too large for these; see sparseAutogradStream.
///
/// Raises SPARSE_AUTOGRAD_INVALID_ARGUMENT for another size of an element.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradExpandRow(void *destination, const void *source,
                        const uint8_t *mask, int64_t count,
                        int64_t elementBytes, int64_t total);

//===----------------------------------------------------------------------===//
// Sparse storage
//===----------------------------------------------------------------------===//
//
// From a list of entries to the storage that Runtime.h describes, in three
// steps: sort; count, and allocate; store. The values are the caller's:
// slots[e] is where the value of entry e belongs. `coordinates` has a row for
// each of `count` entries, with a column for each of `levels` levels, and holds
// the coordinates of levels, not those of dimensions. `formats` are of
// SparseAutogradLevelFormat.
//
// Each of the three raises SPARSE_AUTOGRAD_INVALID_ARGUMENT for a negative
// count or a list of formats that is not one (a singleton that nothing precedes
// that has coordinates; a level that is not unique, and then another that is no
// singleton).

/// Raises SPARSE_AUTOGRAD_INVALID_ARGUMENT unless the storage that an entry got
/// as argument number `argument` is valid (sparseAutogradCheckStorage) or,
/// where the call gives a pattern of it, has that pattern. `name` begins the
/// message.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradCheckArgument(
    const char *name, int64_t argument, int64_t levelCount,
    const SparseAutogradLevel *levels, int64_t positionBytes,
    int64_t coordinateBytes, const void *storage);

/// Writes to `order` the permutation that sorts the entries in lexicographic
/// order of their coordinates, which are >= 0. Entries that are the same stay
/// in their order. Takes linear time (radix sort), and memory for 32 bytes an
/// entry unless they are sorted already.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradSortEntries(int64_t count, int64_t levels,
                          const int64_t *coordinates, int64_t *order);

/// Writes to elementCounts[l] how many elements level l has when the entries
/// are stored, those that are the same as one: its number of coordinates, if it
/// has any, and for the last level the number of values. The positions of a
/// level with n parents (the elements of the level before; 1 before the first)
/// are n + 1 numbers, or 2 n if it is loose.
///
/// Raises SPARSE_AUTOGRAD_INVALID_ARGUMENT if `order` does not sort the entries
/// or a level has too many elements to be addressed, and as
/// sparseAutogradStorePositions does for entries that do not fit the formats.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradCountPositions(int64_t count, int64_t levels,
                             const int64_t *formats, const int64_t *extents,
                             const int64_t *coordinates, const int64_t *order,
                             int64_t *elementCounts);

/// Fills positions[l] and storedCoordinates[l], of the lengths that
/// sparseAutogradCountPositions tells, where level l has them (else they are
/// not read), with numbers of `positionBytes` and `coordinateBytes` bytes.
///
/// Raises, naming the level and the number, SPARSE_AUTOGRAD_OUT_OF_RANGE for a
/// coordinate outside of the extent of its level, and
/// SPARSE_AUTOGRAD_INVALID_ARGUMENT for a number that does not fit its width,
/// two entries under the same parent of a singleton, and as
/// sparseAutogradCountPositions does.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradStorePositions(
    int64_t count, int64_t levels, const int64_t *formats,
    const int64_t *extents, const int64_t *coordinates, const int64_t *order,
    int64_t positionBytes, int64_t coordinateBytes, void *const *positions,
    void *const *storedCoordinates, int64_t *slots);

//===----------------------------------------------------------------------===//
// 2:4 storage
//===----------------------------------------------------------------------===//
//
// Values and coordinates of a level structured[2, 4] (LevelFormats.def): groups
// of four along the rows of a matrix that is stored by rows. Of `columns`
// elements a row has ceil(columns / 4) groups.

/// Packs, of `matrices` matrices that lie one after the other, what `choice`
/// keeps: bit 4 r + c of the choice of a tile of 4 x 4 elements is its element
/// in row r and column c; tiles are in row-major order, and their bits outside
/// of the matrix are 0. Each row and, where columns are packed, each column of
/// a tile keeps two elements at most. `values` and `coordinates` are those of
/// the matrices, `transposedValues` and `transposedCoordinates` those of their
/// transposes; either pair may be NULL. A group that keeps fewer than two
/// stores zeros. The dense matrices are read once.
///
/// Raises SPARSE_AUTOGRAD_INVALID_ARGUMENT for elements that have not 2, 4 or 8
/// bytes.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradPack24(int64_t matrices, int64_t rows, int64_t columns,
                     int64_t elementBytes, const void *input,
                     const uint16_t *choice, void *values, uint8_t *coordinates,
                     void *transposedValues, uint8_t *transposedCoordinates);

/// Packs the elements of a matrix of floats that are not zero; a NaN is none.
/// Raises SPARSE_AUTOGRAD_INVALID_ARGUMENT for a group with more than two,
/// naming `level`, the group and its row, and as sparseAutogradPack24 does.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradPackNonzeros24(int64_t level, int64_t rows, int64_t columns,
                             int64_t elementBytes, const void *input,
                             void *values, uint8_t *coordinates);

/// How a product with a 2:4 matrix is computed.
enum SparseAutogradProduct24Strategy {
  /// As the model of costs says (Product24Cost.h).
  SPARSE_AUTOGRAD_PRODUCT24_FASTEST = 0,
  /// By what is stored, wherever the processor has the instructions.
  SPARSE_AUTOGRAD_PRODUCT24_SPARSE = 1,
  /// As a dense product of expanded rows.
  SPARSE_AUTOGRAD_PRODUCT24_DENSE = 2
};

/// The elements of a 2:4 matrix that is multiplied; all are exact in f32.
enum SparseAutogradProduct24Element {
  SPARSE_AUTOGRAD_PRODUCT24_F32 = 0,
  SPARSE_AUTOGRAD_PRODUCT24_BF16 = 1,
  SPARSE_AUTOGRAD_PRODUCT24_F16 = 2
};

/// C += W B for a W of m x k elements that is given by its values and its
/// coordinates, B (k x n) and C (m x n), given by their first elements and
/// their strides; with `isTransposed`, C += W^T B for B (m x n) and C (k x n).
/// C's elements are distinct and overlap nothing. What W does not store is no
/// factor (semantics G2) where stored values are multiplied, and a zero in a
/// dense product. Chunks are rows of C: the same bits for any number of
/// threads. `element` is a SparseAutogradProduct24Element, `strategy` a
/// SparseAutogradProduct24Strategy.
///
/// Raises SPARSE_AUTOGRAD_OUT_OF_MEMORY if a copy of B, or expanded rows of W,
/// do not fit.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void sparseAutogradMultiply24(
    int64_t element, int64_t m, int64_t n, int64_t k, const void *values,
    const uint8_t *coordinates, int64_t isTransposed, const float *b,
    int64_t bRowStride, int64_t bColumnStride, float *c, int64_t cRowStride,
    int64_t cColumnStride, int64_t strategy);

//===----------------------------------------------------------------------===//
// Progress lines
//===----------------------------------------------------------------------===//

/// Hands a record to the log handler. `names` are zero-terminated; `kinds` are
/// of SparseAutogradLogKind; `values` are 8 bytes each, to which compiled code
/// stores an i64 or an f64. Raises the status that the handler returns, if it
/// is not 0. Not for bodies of sparseAutogradParallelFor.
SPARSE_AUTOGRAD_RUNTIME_EXPORT void
sparseAutogradLog(int64_t count, const char *const *names, const int8_t *kinds,
                  const SparseAutogradLogValue *values);

#ifdef __cplusplus
}
#endif

#endif // SPARSEAUTOGRAD_RUNTIME_COMPILERABI_H
