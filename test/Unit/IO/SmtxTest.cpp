//===- SmtxTest.cpp - Reading .smtx files -----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Smtx.h"
#include "TemporaryFolder.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace sparse_autograd::io;

namespace {

Expected<CoordinateMatrix> parse(StringRef text,
                                 Duplicates duplicates = Duplicates::Refuse) {
  return parseSmtx(text, "p.smtx", duplicates, SizeLimits());
}

TEST(Smtx, ReadsEmptyRowsAndUnsortedColumns) {
  auto matrix = parse("3, 4, 3\r\n0 2 2 3\r\n3 1 0");
  ASSERT_TRUE(bool(matrix)) << toString(matrix.takeError());
  EXPECT_TRUE(matrix->isPattern);
  EXPECT_EQ(matrix->rowIndices, (std::vector<int64_t>{0, 0, 2}));
  EXPECT_EQ(matrix->columnIndices, (std::vector<int64_t>{1, 3, 0}));
}

TEST(Smtx, ReadsPatternsWithoutEntries) {
  for (const char *text : {"2, 3, 0\n0 0 0\n", "2, 3, 0\n0 0 0\n\n",
                           "0, 3, 0\n0\n", "2, 0, 0\n0 0 0"}) {
    auto matrix = parse(text);
    ASSERT_TRUE(bool(matrix)) << text << toString(matrix.takeError());
    EXPECT_EQ(matrix->getNumEntries(), 0);
  }
}

TEST(Smtx, EveryTruncationIsAnErrorOrWhatTheTextSays) {
  std::string text = "2, 30, 3\n0 1 3\n4 5 29\n";
  for (size_t size = 0; size < text.size(); ++size) {
    auto matrix = parse(StringRef(text).take_front(size));
    if (!matrix) {
      consumeError(matrix.takeError());
      continue;
    }
    EXPECT_GE(size, text.size() - 2);
    int64_t last = matrix->columnIndices.back();
    // A cut in 29 gives 2, which then sorts before 5.
    EXPECT_TRUE(last == 29 || last == 5) << last;
  }
}

TEST(Smtx, DiagnosesWhatIsWrong) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "p.smtx:1: the file is empty"},
      {"2 3 0\n0 0 0\n", "p.smtx:1: the first line does not have three"},
      {"2, 3, 0, 1\n0 0 0\n", "p.smtx:1: the first line does not have three"},
      {"2, x, 0\n0 0 0\n", "p.smtx:1: 'x' is not an integer"},
      {"2, -3, 0\n0 0 0\n", "p.smtx:1: -3 is not in 0 to"},
      {"2, 99999999999999999999, 0\n0 0 0\n",
       "p.smtx:1: '99999999999999999999' does not fit 64 bits"},
      {"9223372036854775807, 1, 1\n0 1\n0\n",
       "p.smtx:1: the file is too short"},
      {"1, 1, 9223372036854775807\n0 1\n0\n",
       "p.smtx:1: the file is too short"},
      {"2, 3, 1\n0 1   \n0\n", "p.smtx:2: the line ends after 2 of 3 row"},
      {"2, 3, 1\n0 x 1\n0\n", "p.smtx:2: 'x' is not an integer"},
      {"2, 3, 1\n0 2 1\n0\n", "p.smtx:2: 2 is not in 0 to 1"},
      {"2, 3, 1\n1 1 1\n0\n", "p.smtx:2: row offset 1 (number 1) is not 0"},
      {"3, 3, 2\n0 2 1 2\n0 1\n", "p.smtx:2: row offset 1 (number 3) is less"},
      {"1, 3, 1\n0 1 1\n0\n", "p.smtx:2: the row offsets are not 2, ending"},
      {"1, 3, 2\n0 1\n0 1\n", "p.smtx:2: the row offsets are not 2, ending"},
      {"1, 3, 2\n0 2   \n", "p.smtx:2: the file ends after 0 of 2 columns"},
      {"1, 3, 2\n0 2\n0  \n", "p.smtx:3: the line ends after 1 of 2 columns"},
      {"1, 3, 1\n0 1\n3\n", "p.smtx:3: 3 is not in 0 to 2"},
      {"1, 3, 1\n0 1\n-1\n", "p.smtx:3: -1 is not in 0 to 2"},
      {"1, 0, 1\n0 1\n0\n", "p.smtx:3: 0 is not in 0 to -1"},
      {"1, 3, 1\n0 1\n0 1\n", "p.smtx:3: the file goes on after its 1"},
      {"1, 3, 1\n0 1\n0\n1\n", "p.smtx:4: the file goes on after its 1"},
      {"1, 3, 2\n0 2\n1 1\n", "p.smtx:3: coordinate (0, 1) was given before, "
                              "on line 3"},
  };
  for (auto [text, expected] : cases) {
    std::string message = getMessage(parse(text));
    EXPECT_TRUE(StringRef(message).starts_with(expected)) << text << message;
  }
  auto matrix = parse("1, 3, 2\n0 2\n1 1\n", Duplicates::Coalesce);
  ASSERT_TRUE(bool(matrix)) << toString(matrix.takeError());
  EXPECT_EQ(matrix->getNumEntries(), 1);
}

} // namespace
