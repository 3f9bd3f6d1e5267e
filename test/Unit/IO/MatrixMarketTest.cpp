//===- MatrixMarketTest.cpp - Reading and writing Matrix Market files ----*- C++
//-*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/MatrixMarket.h"
#include "TemporaryFolder.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace sparse_autograd::io;

namespace {

using Result = Expected<std::variant<CoordinateMatrix, DenseArray>>;

Result parse(StringRef text, Duplicates duplicates = Duplicates::Refuse,
             SizeLimits limits = {}) {
  return parseMatrixMarket(text, "m.mtx", duplicates, limits);
}

std::string coordinate(StringRef rest, StringRef field = "real",
                       StringRef symmetry = "general") {
  return ("%%MatrixMarket matrix coordinate " + field + " " + symmetry + "\n" +
          rest)
      .str();
}

std::string array(StringRef rest, StringRef field = "real",
                  StringRef symmetry = "general") {
  return ("%%MatrixMarket matrix array " + field + " " + symmetry + "\n" + rest)
      .str();
}

TEST(MatrixMarket, ReadsCoordinatesSortedByRow) {
  Result result = parse(coordinate("% c\n\n3 2 3\n3 1 -2.5\n1 2 1e3\n1 1 0\n"));
  ASSERT_TRUE(bool(result)) << toString(result.takeError());
  auto &matrix = std::get<CoordinateMatrix>(*result);
  EXPECT_EQ(matrix.rows, 3);
  EXPECT_EQ(matrix.columns, 2);
  EXPECT_FALSE(matrix.isPattern);
  EXPECT_EQ(matrix.rowIndices, (std::vector<int64_t>{0, 0, 2}));
  EXPECT_EQ(matrix.columnIndices, (std::vector<int64_t>{0, 1, 0}));
  EXPECT_EQ(matrix.values, (std::vector<double>{0, 1000, -2.5}));
}

TEST(MatrixMarket, ExpandsSkewSymmetric) {
  Result result =
      parse(coordinate("2 2 1\n2 1 7\n", "integer", "skew-symmetric"));
  ASSERT_TRUE(bool(result)) << toString(result.takeError());
  auto &matrix = std::get<CoordinateMatrix>(*result);
  EXPECT_EQ(matrix.rowIndices, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(matrix.values, (std::vector<double>{-7, 7}));
}

TEST(MatrixMarket, KeepsLargeIntegers) {
  std::string text =
      coordinate("2 2 2\n1 1 9007199254740993\n2 2 -3\n", "integer");
  Result result = parse(text);
  ASSERT_TRUE(bool(result)) << toString(result.takeError());
  auto &matrix = std::get<CoordinateMatrix>(*result);
  EXPECT_EQ(matrix.integers, (std::vector<int64_t>{9007199254740993, -3}));
  EXPECT_TRUE(matrix.values.empty());
  std::string again;
  raw_string_ostream stream(again);
  writeMatrixMarket(stream, matrix);
  EXPECT_EQ(again, text);
  EXPECT_EQ(getMessage(expandValues(matrix, ElementType::F64, {}, "m")),
            "m: an integer is not exact as an f64; write the matrix as real if "
            "rounding is meant");
  result = parse(coordinate("1 1 2\n1 1 9007199254740993\n1 1 1\n", "integer"),
                 Duplicates::Coalesce);
  ASSERT_TRUE(bool(result)) << toString(result.takeError());
  EXPECT_EQ(std::get<CoordinateMatrix>(*result).integers,
            (std::vector<int64_t>{9007199254740994}));
  EXPECT_TRUE(
      StringRef(getMessage(parse(coordinate("1 1 2\n1 1 9223372036854775807\n"
                                            "1 1 1\n",
                                            "integer"),
                                 Duplicates::Coalesce)))
          .starts_with("m.mtx:4: the sum of this and the values given "
                       "before at its coordinate overflows an i64"));
}

TEST(MatrixMarket, ReadsNonFiniteValues) {
  Result result =
      parse(coordinate("1 4 4\n1 1 inf\n1 2 -Infinity\n1 3 NaN\n1 4 1e-999"));
  ASSERT_TRUE(bool(result)) << toString(result.takeError());
  auto &values = std::get<CoordinateMatrix>(*result).values;
  EXPECT_EQ(values[0], HUGE_VAL);
  EXPECT_EQ(values[1], -HUGE_VAL);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_EQ(values[3], 0.0);
}

TEST(MatrixMarket, SumsDuplicatesWhenAsked) {
  std::string text = coordinate("2 2 3\n1 1 1\n2 2 5\n1 1 2\n");
  Result result = parse(text, Duplicates::Coalesce);
  ASSERT_TRUE(bool(result)) << toString(result.takeError());
  EXPECT_EQ(std::get<CoordinateMatrix>(*result).values,
            (std::vector<double>{3, 5}));
  EXPECT_EQ(getMessage(parse(text)),
            "m.mtx:5: coordinate (1, 1) was given before, on line 3; remove "
            "one of the two, or ask for duplicates to be coalesced");
  EXPECT_EQ(getMessage(parse(coordinate("1 1 2\n1 1 1e308\n1 1 1e308\n"),
                             Duplicates::Coalesce)),
            "m.mtx:4: the sum of this and the values given before at its "
            "coordinate overflows an f64; scale the values");
}

TEST(MatrixMarket, RefusesASymmetricEntryInBothTriangles) {
  EXPECT_EQ(getMessage(parse(
                coordinate("2 2 2\n1 2 1\n2 1 1\n", "real", "symmetric"))),
            "m.mtx:4: coordinate (1, 2) was given before, on line 3; remove "
            "one of the two, or ask for duplicates to be coalesced");
}

struct Bad {
  std::string text;
  const char *message;
};

TEST(MatrixMarket, DiagnosesWhatIsWrong) {
  const Bad cases[] = {
      {"%%Matrix market\n", "m.mtx:1: the file does not begin with"},
      {"", "m.mtx:1: the file does not begin with"},
      {"%%MatrixMarket vector coordinate real general\n",
       "m.mtx:1: the file holds 'vector', not a matrix"},
      {"%%MatrixMarket matrix list real general\n",
       "m.mtx:1: the format 'list' is not known"},
      {coordinate("", "complex"), "m.mtx:1: complex matrices"},
      {coordinate("", "real", "hermitian"), "m.mtx:1: hermitian matrices"},
      {coordinate("", "rational"), "m.mtx:1: the field 'rational'"},
      {coordinate("", "real", "lower"), "m.mtx:1: the symmetry 'lower'"},
      {coordinate("", "real", "general x"), "m.mtx:1: the banner goes on"},
      {array("", "pattern"), "m.mtx:1: a pattern cannot have the format array"},
      {coordinate("", "pattern", "skew-symmetric"),
       "m.mtx:1: a pattern cannot be skew-symmetric"},
      {coordinate("% only comments\n"), "m.mtx:2: the file ends before the"},
      {coordinate("2 2\n1 1 1\n"), "m.mtx:2: the line ends before its last"},
      {coordinate("2 x 1\n1 1 1\n"), "m.mtx:2: 'x' is not an integer"},
      {coordinate("2 2 1 9\n1 1 1\n"), "m.mtx:2: the line goes on with '9'"},
      {coordinate("2 -2 1\n1 1 1\n"), "m.mtx:2: a size is negative"},
      {coordinate("2 99999999999999999999 1\n1 1 1\n"),
       "m.mtx:2: '99999999999999999999' does not fit 64 bits"},
      {coordinate("2 3 1\n1 1 1\n", "real", "symmetric"),
       "m.mtx:2: a symmetric or skew-symmetric matrix is not 2 by 3"},
      {coordinate("2 2 1000000000000\n1 1 1\n"),
       "m.mtx:2: the file is too short to hold 1000000000000 entries"},
      {coordinate("2 2 1\n0 1 1\n"), "m.mtx:3: row 0 is not in 1 to 2"},
      {coordinate("2 2 1\n1 -1 1\n"), "m.mtx:3: column -1 is not in 1 to 2"},
      {coordinate("2 2 1\n1 3 1\n"), "m.mtx:3: column 3 is not in 1 to 2"},
      {coordinate("2 2 1\n1 1 one\n"), "m.mtx:3: 'one' is not a number"},
      {coordinate("2 2 1\n1 1 nan(1)\n"), "m.mtx:3: 'nan(1)' is not a number"},
      {coordinate("2 2 1\n1 1 +-1\n"), "m.mtx:3: '+-1' is not a number"},
      {coordinate("2 2 1\n1 1 0x1p3\n"), "m.mtx:3: '0x1p3' is not a number"},
      {coordinate("2 2 1\n1 1 1,5\n"), "m.mtx:3: '1,5' is not a number"},
      {coordinate("2 2 1\n1 1 1e999\n"), "m.mtx:3: '1e999' overflows an f64"},
      {coordinate("2 2 1\n1 1 1.5\n", "integer"),
       "m.mtx:3: '1.5' is not an integer"},
      {coordinate("2 2 1\n1 1 1 1\n"), "m.mtx:3: the line goes on with '1'"},
      {coordinate("2 2 2\n1 1 1\n% rest\n% x\n"),
       "m.mtx:5: the file ends after 1 of 2 entries"},
      {coordinate("2 2 1\n1 1 1\n2 2 2\n"),
       "m.mtx:4: the file goes on after its 1 entries"},
      {coordinate("2 2 1\n1 1 1\n", "real", "skew-symmetric"),
       "m.mtx:3: a skew-symmetric matrix has no diagonal"},
      {coordinate("2 2 1\n1 1 \x1b[31m\n"),
       "m.mtx:3: '\\x1b[31m' is not a number"},
      {array("2 2\n1\n2\n3\n"),
       "m.mtx:2: the file is too short to hold 2 by 2"},
      {array("2 2\n1.0\n2.0\n3.0\n"), "m.mtx:5: the file ends after 3 of 4"},
      {array("1 1\n1\n2\n"), "m.mtx:4: the file goes on after its 1 entries"},
      {array("4000000000 4000000000\n1\n"), "m.mtx:2: the file is too short"},
      {array("1 1\n1 2\n"), "m.mtx:3: the line goes on with '2'"},
      {array("2 2\n-9223372036854775808\n", "integer", "skew-symmetric"),
       "m.mtx:3: the negative of -9223372036854775808 does not fit"},
  };
  for (const Bad &bad : cases) {
    std::string message = getMessage(parse(bad.text));
    EXPECT_TRUE(StringRef(message).starts_with(bad.message))
        << bad.text << message;
    EXPECT_NE(message.find("; "), std::string::npos) << message;
  }
}

TEST(MatrixMarket, RefusesMoreThanTheLimits) {
  SizeLimits limits;
  limits.arrayBytes = 63;
  EXPECT_EQ(getMessage(parse(coordinate("2 2 2\n1 1 1\n2 2 2\n"),
                             Duplicates::Refuse, limits)),
            "m.mtx: the entries need 64 bytes of memory, more than the limit "
            "of 63; use a smaller file or raise the limit");
}

TEST(MatrixMarket, EmptyMatricesEndAtOnce) {
  // One extent is 0, and the other must not be counted through.
  Result result = parse(array("0 1000000000000000000\n"));
  ASSERT_TRUE(bool(result)) << toString(result.takeError());
  EXPECT_EQ(std::get<DenseArray>(*result).data.size(), 0u);
  std::string text;
  raw_string_ostream stream(text);
  EXPECT_EQ(getMessage(writeMatrixMarket(stream, std::get<DenseArray>(*result),
                                         "m.mtx")),
            "");
  EXPECT_EQ(text, array("0 1000000000000000000\n"));
}

TEST(MatrixMarket, EveryTruncationIsAnErrorOrWhatTheTextSays) {
  // Only a cut inside the last number leaves a valid file.
  std::string text = coordinate("2 2 2\n1 1 1.25\n2 2 -375\n");
  size_t valid = 0;
  for (size_t size = 0; size < text.size(); ++size) {
    Result result = parse(StringRef(text).take_front(size));
    if (!result) {
      consumeError(result.takeError());
      continue;
    }
    ++valid;
    double last = std::get<CoordinateMatrix>(*result).values.back();
    EXPECT_TRUE(last == -3 || last == -37 || last == -375) << last;
  }
  EXPECT_EQ(valid, 3u);
}

TEST(MatrixMarket, WritesWhatItReads) {
  std::string text =
      coordinate("3 2 4\n1 1 0.1\n1 2 -0\n2 1 5e-324\n3 2 -inf\n");
  Result result = parse(text);
  ASSERT_TRUE(bool(result)) << toString(result.takeError());
  std::string written;
  raw_string_ostream stream(written);
  writeMatrixMarket(stream, std::get<CoordinateMatrix>(*result));
  EXPECT_EQ(written, text);
}

} // namespace
