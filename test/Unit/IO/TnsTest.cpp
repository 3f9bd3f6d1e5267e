//===- TnsTest.cpp - Reading and writing .tns files -------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Tns.h"
#include "TemporaryFolder.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace sparse_autograd::io;

namespace {

Expected<CoordinateTensor> parse(StringRef text,
                                 Duplicates duplicates = Duplicates::Refuse,
                                 const SizeLimits &limits = {}) {
  return parseTns(text, "t.tns", duplicates, limits);
}

TEST(Tns, ReadsEntriesInAnyOrder) {
  auto tensor = parse(
      "# three dimensions\n2 1 3 0\r\n\n \t# none\n1 4 1 -2.5\n1 1 9 1e2");
  ASSERT_TRUE(bool(tensor)) << toString(tensor.takeError());
  EXPECT_EQ(tensor->shape, (SmallVector<int64_t>{2, 4, 9}));
  EXPECT_EQ(tensor->isInferred, (SmallVector<bool>{true, true, true}));
  EXPECT_EQ(tensor->coordinates,
            (std::vector<int64_t>{0, 0, 8, 0, 3, 0, 1, 0, 2}));
  EXPECT_EQ(tensor->values.as<double>(), ArrayRef<double>({100, -2.5, 0}));
  EXPECT_FALSE(tensor->isPattern);
}

TEST(Tns, ReadsVectors) {
  auto tensor = parse("3 7\n");
  ASSERT_TRUE(bool(tensor)) << toString(tensor.takeError());
  EXPECT_EQ(tensor->shape, (SmallVector<int64_t>{3}));
}

TEST(Tns, EveryTruncationIsAnErrorOrWhatTheTextSays) {
  std::string text = "1 2 3.5\n4 5 66\n";
  for (size_t size = 0; size < text.size(); ++size) {
    auto tensor = parse(StringRef(text).take_front(size));
    if (!tensor) {
      consumeError(tensor.takeError());
      continue;
    }
    // Whole lines, or a number that is cut: a value, or one that was none.
    EXPECT_TRUE(size >= 3) << size;
    EXPECT_LE(tensor->getNumEntries(), size >= 13 ? 2 : 1);
  }
}

TEST(Tns, DiagnosesWhatIsWrong) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "t.tns:1: the file has no entry"},
      {"# only\n\n", "t.tns:2: the file has no entry"},
      {"7\n", "t.tns:1: the line has one number"},
      {"1 1 1\n1 2\n", "t.tns:2: the line ends before its last number"},
      {"1 1 1\n1 2 3 4\n", "t.tns:2: the line has more than 3 numbers"},
      {"1 1 1\n2\n", "t.tns:2: the line ends before its last number"},
      {"x 1 1\n", "t.tns:1: 'x' is not an integer"},
      {"1.0 1 1\n", "t.tns:1: '1.0' is not an integer"},
      {"0 1 1\n", "t.tns:1: the coordinate 0 is less than 1"},
      {"1 -4 1\n", "t.tns:1: the coordinate -4 is less than 1"},
      {"99999999999999999999 1 1\n",
       "t.tns:1: '99999999999999999999' does not fit 64 bits"},
      {"1 1 x\n", "t.tns:1: 'x' is not a number"},
      {"1 1 1e999\n", "t.tns:1: '1e999' overflows an f64"},
      {"1 1 1 # first\n", "t.tns:1: '#' is not an integer"},
      {"1 2 1\n\n1 2 4\n",
       "t.tns:3: coordinate (1, 2) was given before, on line 1"},
      {"2 2 1\n1 2 1\n2 2 4\n",
       "t.tns:3: coordinate (2, 2) was given before, on line 1"},
  };
  for (auto [text, expected] : cases) {
    std::string message = getMessage(parse(text));
    EXPECT_TRUE(StringRef(message).starts_with(expected)) << text << message;
    EXPECT_TRUE(StringRef(message).contains("; ")) << message;
  }
}

TEST(Tns, CoalescesWhenAsked) {
  auto tensor =
      parse("2 2 1\n1 2 0.5\n2 2 4\n1 2 -3\n2 2 16\n", Duplicates::Coalesce);
  ASSERT_TRUE(bool(tensor)) << toString(tensor.takeError());
  EXPECT_EQ(tensor->coordinates, (std::vector<int64_t>{0, 1, 1, 1}));
  EXPECT_EQ(tensor->values.as<double>(), ArrayRef<double>({-2.5, 21}));
  EXPECT_EQ(getMessage(parse("1 1e308\n1 1e308\n", Duplicates::Coalesce)),
            "t.tns: the value at (0) (counting from 0) and those before it "
            "overflow an f64; scale the values");
}

TEST(Tns, KeepsTheLimits) {
  SizeLimits limits;
  limits.rank = 3;
  EXPECT_EQ(getMessage(parse("1 1 1 1\n", Duplicates::Refuse, limits)), "");
  EXPECT_TRUE(
      StringRef(getMessage(parse("1 1 1 1 1\n", Duplicates::Refuse, limits)))
          .starts_with("t.tns:1: the tensor has 4 dimensions"));
  limits.arrayBytes = 100;
  EXPECT_TRUE(StringRef(getMessage(parse("1 1\n2 1\n3 1\n4 1\n5 1\n6 1\n",
                                         Duplicates::Refuse, limits)))
                  .starts_with("t.tns: the entries need"));
}

TEST(Tns, WritesWhatItReads) {
  auto tensor = parse("1 3 1 0.1\n2 1 1 -inf\n2 1 2 nan\n2 2 2 -0\n");
  ASSERT_TRUE(bool(tensor)) << toString(tensor.takeError());
  std::string text;
  raw_string_ostream stream(text);
  writeTns(stream, *tensor);
  EXPECT_EQ(text, "# extents: 2 3 2\n1 3 1 0.1\n2 1 1 -inf\n2 1 2 nan\n2 2 2 "
                  "-0\n");
  tensor->isPattern = true;
  text.clear();
  writeTns(stream, *tensor);
  EXPECT_EQ(text, "# extents: 2 3 2\n1 3 1 1\n2 1 1 1\n2 1 2 1\n2 2 2 1\n");
}

} // namespace
