//===- Call.cpp - Forms of calls: destinations, shared results --*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sparseAutogradCall, and what the bodies of entries ask of the call that they
// serve. The call is handed from sparseAutogradCall to the next guard of the
// thread, and lives in its frame: a body without one finds no patterns, and
// gives all results buffers of their own.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/CompilerABI.h"
#include "ThreadState.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace sparse_autograd {
namespace runtime {

static std::atomic<int64_t> copied{0};

int64_t copiedByteCount() { return copied.load(std::memory_order_relaxed); }
void resetCopiedByteCount() { copied.store(0, std::memory_order_relaxed); }

namespace {

/// A memref descriptor of any rank, as words of 64 bits.
struct Descriptor {
  int64_t *words;
  int64_t rank;
  int64_t elementBytes;

  void *&allocated() const { return reinterpret_cast<void *&>(words[0]); }
  void *&aligned() const { return reinterpret_cast<void *&>(words[1]); }
  int64_t &offset() const { return words[2]; }
  int64_t &size(int64_t dim) const { return words[3 + dim]; }
  int64_t &stride(int64_t dim) const { return words[3 + rank + dim]; }
  int64_t countWords() const { return 3 + 2 * rank; }
  char *data() const {
    return static_cast<char *>(aligned()) + offset() * elementBytes;
  }
  bool isEmpty() const {
    for (int64_t dim = 0; dim < rank; ++dim)
      if (size(dim) == 0)
        return true;
    return false;
  }
  /// Bytes of all elements; the extents have been checked.
  int64_t countBytes() const {
    int64_t bytes = elementBytes;
    for (int64_t dim = 0; dim < rank; ++dim)
      bytes *= size(dim);
    return bytes;
  }
  bool isDense() const {
    if (isEmpty())
      return true;
    int64_t expected = 1;
    for (int64_t dim = rank; dim-- > 0; expected *= size(dim))
      if (size(dim) != 1 && stride(dim) != expected)
        return false;
    return true;
  }
  void makeDense(void *block) const {
    allocated() = aligned() = block;
    offset() = 0;
    for (int64_t dim = rank, expected = 1; dim-- > 0; expected *= size(dim))
      stride(dim) = expected;
  }
};

/// Addresses [begin, end).
struct Range {
  intptr_t begin, end;
  bool overlaps(const Range &other) const {
    return begin < other.end && other.begin < end;
  }
};

/// Walks the descriptors that a record lists (CompilerABI.h).
class RecordReader {
public:
  explicit RecordReader(const int64_t *record)
      : arguments(record[0]), results(record[1]), next(record + 2) {}

  /// Calls `visit(list, lists, descriptor)` for each descriptor of the value at
  /// `place`.
  template <typename Visit>
  void visit(void *place, Visit visit) {
    int64_t lists = *next++;
    auto *words = static_cast<int64_t *>(place);
    for (int64_t list = 0; list < lists; ++list, next += 2) {
      Descriptor descriptor = {words, next[0], next[1]};
      visit(list, lists, descriptor);
      words += descriptor.countWords();
    }
  }
  void skip() { next += 1 + 2 * *next; }

  const int64_t arguments, results;

private:
  const int64_t *next;
};

} // namespace

/// The addresses of the elements of a tensor that has some; false if one
/// overflows.
static bool getRange(const Descriptor &tensor, Range &range) {
  int64_t lowest = 0, highest = 0;
  for (int64_t dim = 0; dim < tensor.rank; ++dim) {
    int64_t last;
    if (__builtin_mul_overflow(tensor.size(dim) - 1, tensor.stride(dim), &last))
      return false;
    int64_t &bound = last < 0 ? lowest : highest;
    if (__builtin_add_overflow(bound, last, &bound))
      return false;
  }
  int64_t base = reinterpret_cast<intptr_t>(tensor.aligned()), first;
  int64_t bytes = tensor.elementBytes;
  return !__builtin_mul_overflow(tensor.offset(), bytes, &first) &&
         !__builtin_add_overflow(base, first, &base) &&
         !__builtin_mul_overflow(lowest, bytes, &lowest) &&
         !__builtin_add_overflow(base, lowest, &range.begin) &&
         !__builtin_add_overflow(highest, 1, &highest) &&
         !__builtin_mul_overflow(highest, bytes, &highest) &&
         !__builtin_add_overflow(base, highest, &range.end);
}

template <typename T>
static void copyElements(char *to, const char *from, int64_t count,
                         int64_t stride) {
  T *destination = reinterpret_cast<T *>(to);
  const T *source = reinterpret_cast<const T *>(from);
  for (int64_t i = 0; i < count; ++i)
    destination[i] = source[i * stride];
}

/// Copies the elements of dimensions from `dim` on to `to`, row-major; returns
/// the end.
static char *copyFrom(const Descriptor &source, int64_t dim, const char *from,
                      char *to) {
  int64_t bytes = source.elementBytes;
  if (dim == source.rank) {
    std::memcpy(to, from, bytes);
    return to + bytes;
  }
  int64_t count = source.size(dim), stride = source.stride(dim);
  if (dim + 1 < source.rank) {
    for (int64_t i = 0; i < count; ++i)
      to = copyFrom(source, dim + 1, from + i * stride * bytes, to);
    return to;
  }
  if (stride == 1)
    std::memcpy(to, from, count * bytes);
  else if (bytes == 1)
    copyElements<uint8_t>(to, from, count, stride);
  else if (bytes == 2)
    copyElements<uint16_t>(to, from, count, stride);
  else if (bytes == 4)
    copyElements<uint32_t>(to, from, count, stride);
  else
    copyElements<uint64_t>(to, from, count, stride);
  return to + count * bytes;
}

static void copyNow(const Descriptor &source, void *block, bool isBoolean) {
  char *begin = static_cast<char *>(block);
  char *end = begin;
  if (!source.isEmpty()) {
    if (source.isDense()) {
      std::memcpy(begin, source.data(), source.countBytes());
      end = begin + source.countBytes();
    } else {
      end = copyFrom(source, 0, source.data(), begin);
    }
  }
  // What is true may be any byte but 0.
  if (isBoolean)
    std::transform(begin, end, begin, [](char byte) { return byte != 0; });
  copied.fetch_add(end - begin, std::memory_order_relaxed);
}

/// Copies a tensor that has elements to dense memory.
static void copyTensor(const Descriptor &source, void *block, bool isBoolean) {
  addTime(&SparseAutogradCallTimes::copy,
          [&] { copyNow(source, block, isBoolean); });
}

static const SparseAutogradCall *getCall() {
  Frame *frame = threadState().frame;
  return frame ? frame->call : nullptr;
}

static int32_t getForm(int64_t result) {
  const SparseAutogradCall *call = getCall();
  return call && call->resultForms ? call->resultForms[result]
                                   : int32_t(SPARSE_AUTOGRAD_RESULT_OWNED);
}

const SparseAutogradPattern *getPattern(int64_t argument) {
  const SparseAutogradCall *call = getCall();
  return call && call->patterns ? call->patterns[argument] : nullptr;
}

/// The destination of a list of a result; `words` is null if there is none.
static Descriptor getDestination(int64_t result, int64_t list) {
  Descriptor found = {nullptr, 0, 0};
  if (getForm(result) != SPARSE_AUTOGRAD_RESULT_DESTINATION)
    return found;
  const Frame &frame = *threadState().frame;
  RecordReader reader(frame.record);
  for (int64_t i = 0; i < reader.arguments + result; ++i)
    reader.skip();
  reader.visit(frame.call->results[result],
               [&](int64_t number, int64_t lists, const Descriptor &place) {
                 bool isGiven = lists == 1 || place.aligned();
                 if (number == list && isGiven)
                   found = place;
               });
  return found;
}

bool isDestination(const void *block) {
  const SparseAutogradCall *call = getCall();
  if (!call || !call->resultForms)
    return false;
  const Frame &frame = *threadState().frame;
  RecordReader reader(frame.record);
  for (int64_t i = 0; i < reader.arguments; ++i)
    reader.skip();
  bool isFound = false;
  for (int64_t i = 0; i < reader.results; ++i) {
    if (call->resultForms[i] != SPARSE_AUTOGRAD_RESULT_DESTINATION) {
      reader.skip();
      continue;
    }
    reader.visit(call->results[i],
                 [&](int64_t, int64_t, const Descriptor &place) {
                   isFound |= place.aligned() && place.data() == block;
                 });
  }
  return isFound;
}

void *takeExpected(Frame &frame, int64_t bytes) {
  Descriptor place = getDestination(frame.expectedResult, frame.expectedList);
  frame.expectedResult = -1;
  bool isRight = place.words && bytes > 0 && !place.isEmpty() &&
                 place.countBytes() == bytes &&
                 reinterpret_cast<uintptr_t>(place.data()) % 64 == 0;
  return isRight ? place.data() : nullptr;
}

[[noreturn]] static void refuse(const char *what, int64_t number,
                                const char *problem) {
  char text[messageCapacity];
  std::snprintf(text, sizeof(text), "%s %" PRId64 "%s", what, number, problem);
  sparseAutogradRaise(SPARSE_AUTOGRAD_INVALID_ARGUMENT, text);
}

/// Checks the memory of a destination, and where it is.
static Range checkDestination(int64_t result, const Descriptor &place) {
  const char *what = "the destination of result";
  int64_t bytes = place.elementBytes;
  for (int64_t dim = 0; dim < place.rank; ++dim) {
    int64_t extent = place.size(dim);
    if (extent < 0)
      refuse(what, result, " has a negative extent");
    if (__builtin_mul_overflow(bytes, extent > 0 ? extent : 1, &bytes))
      refuse(what, result, ": the product of the extents overflows");
  }
  if (place.isEmpty())
    return {0, 0};
  if (!place.aligned())
    refuse(what, result, ": the pointer to its elements is null");
  if (reinterpret_cast<uintptr_t>(place.aligned()) % place.elementBytes != 0)
    refuse(what, result, ": the pointer to its elements is not aligned");
  if (!place.isDense())
    refuse(what, result,
           " is not dense in row-major order; give a contiguous one");
  Range range;
  if (!getRange(place, range))
    refuse(what, result, ": the offset or a stride overflows");
  return range;
}

/// Checks that `range`, that of a list of a result, overlaps no argument and no
/// destination before it.
static void checkOverlap(int64_t result, int64_t list, const Range &range) {
  const Frame &frame = *threadState().frame;
  RecordReader reader(frame.record);
  for (int64_t i = 0; i < reader.arguments; ++i)
    reader.visit(frame.call->arguments[i],
                 [&](int64_t, int64_t, const Descriptor &argument) {
                   Range other;
                   if (!argument.isEmpty() &&
                       (!getRange(argument, other) || range.overlaps(other)))
                     refuse("the destination of result", result,
                            " overlaps an argument; give other memory");
                 });
  for (int64_t i = 0; i <= result; ++i) {
    if (frame.call->resultForms[i] != SPARSE_AUTOGRAD_RESULT_DESTINATION) {
      reader.skip();
      continue;
    }
    reader.visit(frame.call->results[i], [&](int64_t number, int64_t lists,
                                             const Descriptor &place) {
      bool isBefore = i < result || number < list;
      if (!isBefore || (lists > 1 && !place.aligned()) || place.isEmpty())
        return;
      Range other;
      if (getRange(place, other) && range.overlaps(other))
        refuse("the destination of result", result,
               " overlaps another one; give other memory");
    });
  }
}

/// Fails unless a destination has the extents of the result.
static void checkExtents(int64_t result, const Descriptor &place,
                         const Descriptor &value) {
  for (int64_t dim = 0; dim < value.rank; ++dim) {
    if (place.size(dim) == value.size(dim))
      continue;
    char text[messageCapacity];
    std::snprintf(text, sizeof(text),
                  "the destination of result %" PRId64 ": extent %" PRId64
                  " is %" PRId64 ", but that of the result is %" PRId64,
                  result, dim, place.size(dim), value.size(dim));
    sparseAutogradRaise(SPARSE_AUTOGRAD_INVALID_ARGUMENT, text);
  }
}

} // namespace runtime
} // namespace sparse_autograd

using namespace sparse_autograd::runtime;

void sparseAutogradGetCallCounters(SparseAutogradCallCounters *counters) {
  if (counters)
    *counters = {copiedByteCount(), checkedByteCount()};
}

void sparseAutogradGetCallTimes(SparseAutogradCallTimes *times) {
  if (times)
    *times = threadState().times;
}

int32_t sparseAutogradCall(SparseAutogradEntry entry,
                           const SparseAutogradCall *call) {
  if (!entry || !call) {
    setLastError(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                 entry ? "the pointer to the call is null"
                       : "the pointer to the entry is null");
    return SPARSE_AUTOGRAD_INVALID_ARGUMENT;
  }
  ThreadState &state = threadState();
  const SparseAutogradCall *outer = state.call;
  state.call = call;
  int32_t status = entry(call->arguments, call->results);
  state.call = outer;
  return status;
}

void sparseAutogradBeginEntry(const int64_t *record) {
  Frame &frame = *threadState().frame;
  frame.record = record;
  const SparseAutogradCall *call = frame.call;
  if (!call)
    return;
  if (call->argumentCount != record[0] || call->resultCount != record[1]) {
    int64_t values[] = {record[0], record[1], call->argumentCount,
                        call->resultCount};
    sparseAutogradRaiseWithValues(
        SPARSE_AUTOGRAD_INVALID_ARGUMENT,
        "the entry takes {} arguments and returns {} results; the call gives "
        "{} and has places for {}",
        4, values);
  }
  for (int64_t i = 0; call->resultForms && i < call->resultCount; ++i)
    if (call->resultForms[i] < SPARSE_AUTOGRAD_RESULT_OWNED ||
        call->resultForms[i] > SPARSE_AUTOGRAD_RESULT_DESTINATION)
      refuse("the form of result", i, " does not exist");
}

void sparseAutogradCheckDestinations(void) {
  const Frame &frame = *threadState().frame;
  const SparseAutogradCall *call = frame.call;
  if (!call || !call->resultForms)
    return;
  RecordReader reader(frame.record);
  for (int64_t i = 0; i < reader.arguments; ++i)
    reader.skip();
  for (int64_t i = 0; i < reader.results; ++i) {
    if (call->resultForms[i] != SPARSE_AUTOGRAD_RESULT_DESTINATION) {
      reader.skip();
      continue;
    }
    reader.visit(call->results[i],
                 [&](int64_t list, int64_t lists, const Descriptor &place) {
                   if (lists > 1 && !place.aligned())
                     return;
                   Range range = checkDestination(i, place);
                   if (!place.isEmpty())
                     checkOverlap(i, list, range);
                 });
  }
}

void sparseAutogradExpectResult(int64_t result, int64_t list) {
  Frame &frame = *threadState().frame;
  if (getForm(result) != SPARSE_AUTOGRAD_RESULT_DESTINATION)
    return;
  frame.expectedResult = result;
  frame.expectedList = list;
}

void *sparseAutogradPack(int64_t rank, int64_t elementBytes,
                         const void *descriptor) {
  Descriptor given = {
      const_cast<int64_t *>(static_cast<const int64_t *>(descriptor)), rank,
      elementBytes};
  Range range;
  if (!given.isEmpty() && !getRange(given, range))
    sparseAutogradRaise(SPARSE_AUTOGRAD_INVALID_ARGUMENT,
                        "the offset or a stride of an argument overflows");
  void *block = sparseAutogradAllocate(given.countBytes());
  copyTensor(given, block, /*isBoolean=*/false);
  return block;
}

void sparseAutogradHandOver(int64_t result, int64_t list, int64_t rank,
                            int64_t elementBytes, int32_t isBoolean,
                            const void *source, void *staged) {
  Descriptor value = {static_cast<int64_t *>(staged), rank, elementBytes};
  Descriptor place = getDestination(result, list);
  bool isShared = false;
  if (source) {
    std::memcpy(staged, source, 8 * value.countWords());
    value.allocated() = nullptr;
    isShared = !place.words && getForm(result) != SPARSE_AUTOGRAD_RESULT_OWNED;
  }
  if (isShared)
    return;
  if (!place.words) {
    if (!source)
      return;
    Descriptor shared = {
        const_cast<int64_t *>(static_cast<const int64_t *>(source)), rank,
        elementBytes};
    void *block = sparseAutogradAllocate(value.countBytes());
    copyTensor(shared, block, isBoolean);
    value.makeDense(block);
    return;
  }
  checkExtents(result, place, value);
  if (value.isEmpty() || value.data() != place.data()) {
    void *block = value.allocated();
    if (!value.isEmpty())
      copyTensor(value, place.data(), isBoolean);
    sparseAutogradDeallocate(block);
  }
  std::memcpy(staged, place.words, 8 * value.countWords());
  value.allocated() = nullptr;
}
