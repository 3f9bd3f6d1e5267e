//===- FrameTest.cpp - Guards and errors ------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

TEST(Frame, SuccessReturnsZeroAndKeepsResults) {
  int64_t live = counters().liveBlocks;
  void *result = nullptr;
  EXPECT_EQ(runEntry([&] {
              void *scratch = sparseAutogradAllocate(100);
              result = sparseAutogradAllocate(200);
              sparseAutogradDeallocate(scratch);
            }),
            SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(counters().liveBlocks, live + 1);
  EXPECT_EQ(sparseAutogradFree(result), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(counters().liveBlocks, live);
}

TEST(Frame, ErrorReleasesEverything) {
  int64_t live = counters().liveBlocks;
  int result = 7;
  EXPECT_EQ(runEntry([&] {
              for (int i = 0; i < 50; ++i)
                sparseAutogradAllocate(i * 1000);
              sparseAutogradRaise(SPARSE_AUTOGRAD_OUT_OF_RANGE, "too far");
              result = 8;
            }),
            SPARSE_AUTOGRAD_OUT_OF_RANGE);
  EXPECT_STREQ(sparseAutogradLastError(), "too far");
  EXPECT_EQ(counters().liveBlocks, live);
  EXPECT_EQ(result, 7);
}

TEST(Frame, LastErrorSurvivesSuccess) {
  runEntry([] { sparseAutogradRaise(3, "first"); });
  EXPECT_EQ(runEntry([] {}), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_STREQ(sparseAutogradLastError(), "first");
}

TEST(Frame, LastErrorIsOfTheThread) {
  runEntry([] { sparseAutogradRaise(3, "of the main thread"); });
  std::string before = "?", after = "?";
  std::thread([&] {
    before = sparseAutogradLastError();
    runEntry([] { sparseAutogradRaise(3, "of the other thread"); });
    after = sparseAutogradLastError();
  }).join();
  EXPECT_EQ(before, "");
  EXPECT_EQ(after, "of the other thread");
  EXPECT_STREQ(sparseAutogradLastError(), "of the main thread");
}

TEST(Frame, StatusIsNeverSuccess) {
  EXPECT_EQ(runEntry([] { sparseAutogradRaise(0, nullptr); }),
            SPARSE_AUTOGRAD_RUNTIME_ERROR);
  EXPECT_STREQ(sparseAutogradLastError(), "");
  EXPECT_EQ(runEntry([] { sparseAutogradRaise(-12, "own code"); }), -12);
}

TEST(Frame, LongMessageIsCutBetweenCharacters) {
  // 1022 bytes, then a character of two: it does not fit as a whole.
  std::string message = std::string(1022, 'x') + "\xc3\xa9 and more";
  const char *text = message.c_str();
  runEntry([&] { sparseAutogradRaise(3, text); });
  EXPECT_EQ(std::string(sparseAutogradLastError()), std::string(1022, 'x'));
}

TEST(Frame, ValuesInMessages) {
  int64_t values[] = {-5, INT64_MAX};
  runEntry([&] {
    sparseAutogradRaiseWithValues(3, "index {} of {}, {} {", 2, values);
  });
  EXPECT_STREQ(sparseAutogradLastError(),
               "index -5 of 9223372036854775807, {} {");
  std::string message = std::string(1020, 'x') + "{}{}";
  const char *text = message.c_str();
  runEntry([&] { sparseAutogradRaiseWithValues(3, text, 2, values); });
  // A number that does not fit is left out, not cut.
  EXPECT_EQ(std::string(sparseAutogradLastError()),
            std::string(1020, 'x') + "-5");
}

TEST(Frame, NestedGuards) {
  int64_t live = counters().liveBlocks;
  void *inner = nullptr;
  int32_t innerStatus = -1, innerFailure = -1;
  EXPECT_EQ(runEntry([&] {
              sparseAutogradAllocate(10);
              innerStatus =
                  runEntry([&] { inner = sparseAutogradAllocate(20); });
              innerFailure = runEntry([] {
                sparseAutogradAllocate(30);
                sparseAutogradRaise(3, "inner");
              });
              sparseAutogradRaise(4, "outer");
            }),
            4);
  EXPECT_EQ(innerStatus, SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_EQ(innerFailure, 3);
  EXPECT_STREQ(sparseAutogradLastError(), "outer");
  // The result of the inner entry belongs to whoever called it.
  EXPECT_EQ(counters().liveBlocks, live + 1);
  EXPECT_EQ(sparseAutogradFree(inner), SPARSE_AUTOGRAD_SUCCESS);
}

TEST(Frame, ConcurrentEntries) {
  int64_t live = counters().liveBlocks;
  int64_t calls = counters().entryCalls;
  constexpr int threads = 4, rounds = 200;
  int wrong[threads] = {};
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([t, &wrong] {
      for (int round = 0; round < rounds; ++round) {
        void *result = nullptr;
        bool fail = (round + t) % 3 == 0;
        int32_t status = runEntry([&] {
          sparseAutogradDeallocate(sparseAutogradAllocate(round * 100));
          int64_t sum[8] = {};
          parallelFor(800, 100, [&](int64_t begin, int64_t end) {
            void *scratch = sparseAutogradAllocate(end);
            if (fail && begin == 500)
              sparseAutogradRaise(1000 + t, "concurrent");
            sum[begin / 100] = begin;
            sparseAutogradDeallocate(scratch);
          });
          if (sum[7] != 700)
            sparseAutogradRaise(99, "a chunk was not run");
          result = sparseAutogradAllocate(64);
        });
        wrong[t] += status != (fail ? 1000 + t : 0);
        wrong[t] += sparseAutogradFree(result) != 0;
      }
    });
  for (std::thread &thread : pool)
    thread.join();
  for (int t = 0; t < threads; ++t)
    EXPECT_EQ(wrong[t], 0) << "thread " << t;
  EXPECT_EQ(counters().liveBlocks, live);
  EXPECT_EQ(counters().entryCalls, calls + threads * rounds);
}

TEST(FrameDeathTest, RaiseOutsideOfAnyEntry) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(sparseAutogradRaise(3, "lost"), testing::ExitedWithCode(70),
              "outside of any entry: lost");
}
