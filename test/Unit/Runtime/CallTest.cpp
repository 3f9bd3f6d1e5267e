//===- CallTest.cpp - Forms of calls ----------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

/// An argument and a result of rank 2, of f64.
const int64_t record[] = {1, 1, 1, 2, 8, 1, 2, 8};

/// An entry that returns twice its argument, as the compiler would emit it.
void doubleBody(void *const *arguments, void *const *results) {
  sparseAutogradBeginEntry(record);
  auto *given = static_cast<SparseAutogradMemRef2 *>(arguments[0]);
  bool isDense = given->strides[1] == 1 && given->strides[0] == given->sizes[1];
  auto *packed = static_cast<double *>(
      isDense ? nullptr : sparseAutogradPack(2, 8, given));
  const double *from =
      packed ? packed : static_cast<double *>(given->aligned) + given->offset;
  sparseAutogradCheckDestinations();
  int64_t count = given->sizes[0] * given->sizes[1];
  sparseAutogradExpectResult(0, 0);
  auto *to = static_cast<double *>(sparseAutogradAllocate(8 * count));
  for (int64_t i = 0; i < count; ++i)
    to[i] = 2 * from[i];
  SparseAutogradMemRef2 staged = {
      to, to, 0, {given->sizes[0], given->sizes[1]}, {given->sizes[1], 1}};
  sparseAutogradHandOver(0, 0, 2, 8, 0, nullptr, &staged);
  sparseAutogradDeallocate(packed);
  std::memcpy(results[0], &staged, sizeof(staged));
}

int32_t doubleEntry(void *const *arguments, void *const *results) {
  return sparseAutogradGuard(doubleBody, arguments, results);
}

/// An entry whose result is its argument.
void sameBody(void *const *arguments, void *const *results) {
  sparseAutogradBeginEntry(record);
  sparseAutogradCheckDestinations();
  SparseAutogradMemRef2 staged;
  sparseAutogradHandOver(0, 0, 2, 8, 0, arguments[0], &staged);
  std::memcpy(results[0], &staged, sizeof(staged));
}

int32_t sameEntry(void *const *arguments, void *const *results) {
  return sparseAutogradGuard(sameBody, arguments, results);
}

SparseAutogradMemRef2 describe(double *data, int64_t rows, int64_t columns) {
  return {nullptr, data, 0, {rows, columns}, {columns, 1}};
}

int32_t call(SparseAutogradEntry entry, SparseAutogradMemRef2 &argument,
             SparseAutogradMemRef2 &result, int32_t form) {
  void *arguments[] = {&argument}, *results[] = {&result};
  SparseAutogradCall call = {};
  call.argumentCount = call.resultCount = 1;
  call.arguments = arguments;
  call.results = results;
  call.resultForms = &form;
  return sparseAutogradCall(entry, &call);
}

int64_t getCopiedBytes() {
  SparseAutogradCallCounters counters;
  sparseAutogradGetCallCounters(&counters);
  return counters.copiedBytes;
}

TEST(Call, WritesToDestinations) {
  double input[6] = {1, 2, 3, 4, 5, 6};
  alignas(64) double output[8] = {};
  SparseAutogradMemRef2 argument = describe(input, 2, 3);
  for (int64_t offset : {0, 1}) {
    // One that is not aligned to 64 bytes is copied to.
    SparseAutogradMemRef2 result = describe(output, 2, 3);
    result.offset = offset;
    result.allocated = output;
    sparseAutogradResetCounters();
    ASSERT_EQ(
        call(doubleEntry, argument, result, SPARSE_AUTOGRAD_RESULT_DESTINATION),
        SPARSE_AUTOGRAD_SUCCESS)
        << sparseAutogradLastError();
    for (int64_t i = 0; i < 6; ++i)
      EXPECT_EQ(output[offset + i], 2 * input[i]);
    EXPECT_EQ(result.allocated, nullptr);
    EXPECT_EQ(result.aligned, output);
    EXPECT_EQ(counters().allocations, offset);
    EXPECT_EQ(counters().liveBlocks, 0);
    EXPECT_EQ(getCopiedBytes(), offset ? 48 : 0);
    SparseAutogradCallTimes times;
    sparseAutogradGetCallTimes(&times);
    EXPECT_EQ(times.copy > 0, offset > 0);
    EXPECT_EQ(times.check, 0);
    EXPECT_EQ(times.accumulate, 0);
    sparseAutogradGetCallTimes(nullptr);
  }
}

TEST(Call, OwnsResultsWithoutForms) {
  double input[6] = {1, 2, 3, 4, 5, 6};
  SparseAutogradMemRef2 argument = describe(input, 2, 3), result = {};
  void *arguments[] = {&argument}, *results[] = {&result};
  SparseAutogradCall plain = {};
  plain.argumentCount = plain.resultCount = 1;
  plain.arguments = arguments;
  plain.results = results;
  for (SparseAutogradEntry entry : {doubleEntry, sameEntry}) {
    ASSERT_EQ(sparseAutogradCall(entry, &plain), SPARSE_AUTOGRAD_SUCCESS);
    EXPECT_NE(result.aligned, input);
    EXPECT_EQ(static_cast<double *>(result.aligned)[5],
              entry == sameEntry ? 6 : 12);
    EXPECT_EQ(sparseAutogradFree(result.allocated), SPARSE_AUTOGRAD_SUCCESS);
    // The same without a call around it.
    ASSERT_EQ(entry(arguments, results), SPARSE_AUTOGRAD_SUCCESS);
    EXPECT_EQ(sparseAutogradFree(result.allocated), SPARSE_AUTOGRAD_SUCCESS);
  }
  EXPECT_EQ(counters().liveBlocks, 0);
}

TEST(Call, SharesWhatIsSame) {
  double input[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  SparseAutogradMemRef2 argument = describe(input, 2, 3);
  argument.strides[0] = 6, argument.strides[1] = 2, argument.offset = 1;
  SparseAutogradMemRef2 result = {};
  sparseAutogradResetCounters();
  ASSERT_EQ(call(sameEntry, argument, result, SPARSE_AUTOGRAD_RESULT_SHARED),
            SPARSE_AUTOGRAD_SUCCESS);
  argument.allocated = nullptr;
  EXPECT_EQ(std::memcmp(&argument, &result, sizeof(result)), 0);
  EXPECT_EQ(counters().allocations, 0);
  EXPECT_EQ(getCopiedBytes(), 0);
  // A copy is dense.
  ASSERT_EQ(call(sameEntry, argument, result, SPARSE_AUTOGRAD_RESULT_OWNED),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(result.strides[0], 3);
  auto *copy = static_cast<double *>(result.aligned);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(copy[i], input[1 + 2 * i]);
  EXPECT_EQ(getCopiedBytes(), 48);
  EXPECT_EQ(sparseAutogradFree(result.allocated), SPARSE_AUTOGRAD_SUCCESS);
  // As is what is written to a destination.
  double output[6] = {};
  result = describe(output, 2, 3);
  ASSERT_EQ(
      call(sameEntry, argument, result, SPARSE_AUTOGRAD_RESULT_DESTINATION),
      SPARSE_AUTOGRAD_SUCCESS);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(output[i], input[1 + 2 * i]);
  EXPECT_EQ(result.allocated, nullptr);
}

TEST(Call, PacksAnyStrides) {
  double input[6] = {1, 2, 3, 4, 5, 6};
  struct {
    int64_t offset, rows, columns, rowStride, columnStride;
    std::vector<double> expected;
  } cases[] = {
      {0, 2, 3, 0, 0, {1, 1, 1, 1, 1, 1}},   // one number for all
      {0, 2, 3, 0, 1, {1, 2, 3, 1, 2, 3}},   // a row for all
      {0, 3, 2, 1, 3, {1, 4, 2, 5, 3, 6}},   // transposed
      {5, 2, 3, -3, -1, {6, 5, 4, 3, 2, 1}}, // reversed
      {1, 2, 2, 3, 1, {2, 3, 5, 6}},         // a slice
  };
  for (const auto &test : cases) {
    SparseAutogradMemRef2 argument = {nullptr,
                                      input,
                                      test.offset,
                                      {test.rows, test.columns},
                                      {test.rowStride, test.columnStride}};
    SparseAutogradMemRef2 result = {};
    ASSERT_EQ(call(doubleEntry, argument, result, SPARSE_AUTOGRAD_RESULT_OWNED),
              SPARSE_AUTOGRAD_SUCCESS);
    auto *numbers = static_cast<double *>(result.aligned);
    for (size_t i = 0; i < test.expected.size(); ++i)
      EXPECT_EQ(numbers[i], 2 * test.expected[i]);
    EXPECT_EQ(sparseAutogradFree(result.allocated), SPARSE_AUTOGRAD_SUCCESS);
  }
  EXPECT_EQ(counters().liveBlocks, 0);
  SparseAutogradMemRef2 argument = {nullptr, input, 0, {2, 3}, {INT64_MAX, 1}};
  SparseAutogradMemRef2 result = {};
  EXPECT_EQ(call(doubleEntry, argument, result, SPARSE_AUTOGRAD_RESULT_OWNED),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
}

TEST(Call, RefusesDestinations) {
  double input[6] = {1, 2, 3, 4, 5, 6};
  double output[12] = {};
  SparseAutogradMemRef2 argument = describe(input, 2, 3);
  auto expectRefused = [&](SparseAutogradMemRef2 place, const char *problem) {
    SparseAutogradMemRef2 before = place;
    EXPECT_EQ(
        call(doubleEntry, argument, place, SPARSE_AUTOGRAD_RESULT_DESTINATION),
        SPARSE_AUTOGRAD_INVALID_ARGUMENT);
    EXPECT_EQ(sparseAutogradLastError(), std::string("the destination of "
                                                     "result 0") +
                                             problem);
    EXPECT_EQ(std::memcmp(&before, &place, sizeof(place)), 0);
    EXPECT_EQ(counters().liveBlocks, 0);
  };
  const char *overlap = " overlaps an argument; give other memory";
  expectRefused(describe(input, 2, 3), overlap);
  SparseAutogradMemRef2 place = describe(input, 2, 3);
  // The last element alone, and the one after it, which is fine.
  argument = describe(output, 2, 3);
  place = describe(output, 2, 3);
  place.offset = 5;
  expectRefused(place, overlap);
  place.offset = 6;
  EXPECT_EQ(
      call(doubleEntry, argument, place, SPARSE_AUTOGRAD_RESULT_DESTINATION),
      SPARSE_AUTOGRAD_SUCCESS);
  // What a negative stride reaches.
  argument.offset = 5, argument.strides[0] = -3, argument.strides[1] = -1;
  place = describe(output, 2, 3);
  expectRefused(place, overlap);
  argument = describe(input, 2, 3);
  place = describe(nullptr, 2, 3);
  expectRefused(place, ": the pointer to its elements is null");
  place = describe(output, 2, 3);
  place.aligned = reinterpret_cast<char *>(output) + 4;
  expectRefused(place, ": the pointer to its elements is not aligned");
  place = describe(output, 2, 3);
  place.strides[0] = 4;
  expectRefused(place,
                " is not dense in row-major order; give a contiguous one");
  place = describe(output, -2, 3);
  expectRefused(place, " has a negative extent");
  place = describe(output, int64_t(1) << 40, int64_t(1) << 40);
  expectRefused(place, ": the product of the extents overflows");
  place = describe(output, 3, 3);
  expectRefused(place, ": extent 0 is 3, but that of the result is 2");
  // As many bytes, but other extents.
  place = describe(output, 3, 2);
  expectRefused(place, ": extent 0 is 3, but that of the result is 2");
}

TEST(Call, RefusesOverlappingDestinations) {
  static const int64_t twoResults[] = {0, 2, 1, 1, 8, 1, 1, 8};
  auto entry = [](void *const *arguments, void *const *results) {
    return sparseAutogradGuard(
        [](void *const *, void *const *) {
          sparseAutogradBeginEntry(twoResults);
          sparseAutogradCheckDestinations();
        },
        arguments, results);
  };
  double output[8];
  SparseAutogradMemRef1 first = {nullptr, output, 0, {4}, {1}};
  SparseAutogradMemRef1 second = {nullptr, output, 3, {4}, {1}};
  void *results[] = {&first, &second};
  int32_t forms[] = {SPARSE_AUTOGRAD_RESULT_DESTINATION,
                     SPARSE_AUTOGRAD_RESULT_DESTINATION};
  SparseAutogradCall call = {};
  call.resultCount = 2;
  call.results = results;
  call.resultForms = forms;
  EXPECT_EQ(sparseAutogradCall(entry, &call), SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(),
               "the destination of result 1 overlaps another one; give other "
               "memory");
  second.offset = 4;
  EXPECT_EQ(sparseAutogradCall(entry, &call), SPARSE_AUTOGRAD_SUCCESS);
  // The descriptor of a result that is no destination is not looked at.
  second.offset = 3;
  forms[1] = SPARSE_AUTOGRAD_RESULT_OWNED;
  EXPECT_EQ(sparseAutogradCall(entry, &call), SPARSE_AUTOGRAD_SUCCESS);
}

TEST(Call, RefusesOtherNumbers) {
  double input[6] = {}, output[6] = {};
  SparseAutogradMemRef2 argument = describe(input, 2, 3);
  SparseAutogradMemRef2 result = describe(output, 2, 3);
  EXPECT_EQ(call(doubleEntry, argument, result, 3),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(),
               "the form of result 0 does not exist");
  EXPECT_EQ(call(doubleEntry, argument, result, -1),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  void *arguments[] = {&argument}, *results[] = {&result};
  SparseAutogradCall other = {};
  other.argumentCount = 2;
  other.resultCount = 1;
  other.arguments = arguments;
  other.results = results;
  EXPECT_EQ(sparseAutogradCall(doubleEntry, &other),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(sparseAutogradLastError(),
               "the entry takes 1 arguments and returns 1 results; the call "
               "gives 2 and has places for 1");
  EXPECT_EQ(sparseAutogradCall(nullptr, &other),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
  EXPECT_EQ(sparseAutogradCall(doubleEntry, nullptr),
            SPARSE_AUTOGRAD_INVALID_ARGUMENT);
}

/// What a call says is said to no other entry, as one that a handler calls.
TEST(Call, IsOfOneEntry) {
  static double input[6] = {1, 2, 3, 4, 5, 6};
  auto outer = [](void *const *arguments, void *const *results) {
    return sparseAutogradGuard(
        [](void *const *arguments, void *const *results) {
          sparseAutogradBeginEntry(record);
          SparseAutogradMemRef2 inner = {};
          void *places[] = {&inner};
          ASSERT_EQ(doubleEntry(arguments, places), SPARSE_AUTOGRAD_SUCCESS);
          ASSERT_NE(inner.allocated, nullptr);
          sparseAutogradFree(inner.allocated);
          // Nor is it lost by that.
          SparseAutogradMemRef2 staged;
          sparseAutogradHandOver(0, 0, 2, 8, 0, arguments[0], &staged);
          std::memcpy(results[0], &staged, sizeof(staged));
        },
        arguments, results);
  };
  SparseAutogradMemRef2 argument = describe(input, 2, 3), result = {};
  EXPECT_EQ(call(outer, argument, result, SPARSE_AUTOGRAD_RESULT_SHARED),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(result.aligned, input);
  EXPECT_EQ(counters().liveBlocks, 0);
}

} // namespace
