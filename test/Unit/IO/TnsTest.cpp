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
  EXPECT_TRUE(tensor->values.isText);
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

TEST(Tns, ReadsExtents) {
  const char *cases[] = {
      // A comment, as we write it.
      "# extents: 4 5 6\n1 1 1 7\n2 3 2 8\n",
      "# any text\n#  extents\n # extents: 4\t5 6 \r\n2 3 2 8\n1 1 1 7\n",
      // The header that MLIR writes, with and without its comment.
      "# extended FROSTT format\n3 2\n4 5 6\n1 1 1 7\n2 3 2 8\n",
      "3 2\n\n4 5 6\n# entries\n1 1 1 7\n2 3 2 8\n",
  };
  for (const char *text : cases) {
    auto tensor = parse(text);
    ASSERT_TRUE(bool(tensor)) << text << toString(tensor.takeError());
    EXPECT_EQ(tensor->shape, (SmallVector<int64_t>{4, 5, 6})) << text;
    EXPECT_EQ(tensor->isInferred, (SmallVector<bool>{false, false, false}));
    EXPECT_EQ(tensor->coordinates, (std::vector<int64_t>{0, 0, 0, 1, 2, 1}));
    EXPECT_EQ(tensor->values.as<double>(), ArrayRef<double>({7, 8}));
  }
}

TEST(Tns, ReadsExtentsWithoutEntries) {
  for (const char *text :
       {"# extents: 0 5\n", "# extended FROSTT format\n2 0\n0 5"}) {
    auto tensor = parse(text);
    ASSERT_TRUE(bool(tensor)) << text << toString(tensor.takeError());
    EXPECT_EQ(tensor->shape, (SmallVector<int64_t>{0, 5}));
    EXPECT_EQ(tensor->getNumEntries(), 0);
  }
}

// Lines of two numbers are entries of a vector unless they cannot be.
TEST(Tns, TellsHeadersFromVectors) {
  auto vector = parse("2 0\n4 5\n");
  ASSERT_TRUE(bool(vector)) << toString(vector.takeError());
  EXPECT_EQ(vector->shape, (SmallVector<int64_t>{4}));
  EXPECT_EQ(vector->getNumEntries(), 2);
  auto matrix = parse("2 1\n4 5\n4 5 0.5\n");
  ASSERT_TRUE(bool(matrix)) << toString(matrix.takeError());
  EXPECT_EQ(matrix->shape, (SmallVector<int64_t>{4, 5}));
  auto extended = parse("1 2\n9\n3 1\n4 1\n");
  ASSERT_TRUE(bool(extended)) << toString(extended.takeError());
  EXPECT_EQ(extended->shape, (SmallVector<int64_t>{9}));
}

TEST(Tns, DiagnosesExtents) {
  const std::pair<const char *, const char *> cases[] = {
      {"# extents: 4 5\n1 1 1 2\n",
       "t.tns:1: the line gives 2 extents, the entries have 3 coordinates; "},
      {"#\n# extents: 4 5\n1 6 2\n",
       "t.tns:2: the extent 5 of dimension 1 is less than the coordinate 6"},
      {"3 2\n4 5 6\n1 1 1 7\n",
       "t.tns:3: the header gives 2 entries, the file has 1; "},
      {"# extended FROSTT format\n1 1 1 7\n",
       "t.tns:2: the line does not give the rank and the number of entries; "},
      {"# extended FROSTT format\n3 0\n4 5\n",
       "t.tns:3: the line does not give 3 extents; "},
      {"# extended FROSTT format\n3 0\n",
       "t.tns:2: the file ends before the extents; "},
      {"# extended FROSTT format\n0 0\n\n",
       "t.tns:2: the tensor has 0 dimensions, which are not 1 to 64; "},
  };
  for (auto [text, expected] : cases) {
    std::string message = getMessage(parse(text));
    EXPECT_TRUE(StringRef(message).starts_with(expected)) << text << message;
  }
}

TEST(Tns, KeepsLargeIntegers) {
  auto tensor = parse("1 9007199254740993\n2 -1\n");
  ASSERT_TRUE(bool(tensor)) << toString(tensor.takeError());
  ASSERT_EQ(tensor->values.type, ElementType::I64);
  EXPECT_EQ(tensor->values.as<int64_t>(),
            ArrayRef<int64_t>({9007199254740993, -1}));
  tensor = parse("1 9007199254740992\n2 -1\n");
  ASSERT_TRUE(bool(tensor)) << toString(tensor.takeError());
  EXPECT_EQ(tensor->values.type, ElementType::F64);
  for (const char *text :
       {"1 9007199254740993\n2 0.5\n", "1 9007199254740993\n2 -0\n"})
    EXPECT_TRUE(StringRef(getMessage(parse(text)))
                    .starts_with("t.tns:1: the integer is not exact as an f64"))
        << text;
}

TEST(Tns, WritesWhatItReads) {
  auto tensor = parse("1 3 1 0.1\n2 1 1 -inf\n2 1 2 nan\n2 2 2 -0\n");
  ASSERT_TRUE(bool(tensor)) << toString(tensor.takeError());
  std::string text;
  raw_string_ostream stream(text);
  ASSERT_EQ(getMessage(writeTns(stream, *tensor, "t.tns")), "");
  EXPECT_EQ(text, "# extents: 2 3 2\n1 3 1 0.1\n2 1 1 -inf\n2 1 2 nan\n2 2 2 "
                  "-0\n");
  tensor->isPattern = true;
  text.clear();
  ASSERT_EQ(getMessage(writeTns(stream, *tensor, "t.tns")), "");
  EXPECT_EQ(text, "# extents: 2 3 2\n1 3 1 1\n2 1 1 1\n2 1 2 1\n2 2 2 1\n");
}

TEST(Tns, RefusesWhatItWouldReadAsSomethingElse) {
  std::string text;
  raw_string_ostream stream(text);
  CoordinateTensor tensor;
  tensor.shape = {3};
  tensor.isInferred = {false};
  tensor.coordinates = {0, 1};
  tensor.values = cantFail(makeDenseArray("", ElementType::Bool, {2}, {}));
  tensor.values.as<uint8_t>()[0] = 1;
  EXPECT_EQ(
      getMessage(writeTns(stream, tensor, "t.tns")),
      "t.tns: the value at (1) (counting from 0) is a stored false, which "
      "would be read as true: in this format what is stored is there; "
      "write the tensor to a .npz file");
  tensor.values = cantFail(makeDenseArray("", ElementType::U64, {2}, {}));
  tensor.values.as<uint64_t>()[1] = ~uint64_t(0);
  EXPECT_EQ(
      getMessage(writeTns(stream, tensor, "t.tns")),
      "t.tns: the value at (1) (counting from 0) is an integer that would "
      "be read as another one; write the tensor to a .npz file");
}

} // namespace
