//===- CsvTest.cpp - Reading tables of triplets -----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Csv.h"
#include "TemporaryFolder.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace sparse_autograd::io;

namespace {

Expected<TripletTable> parse(StringRef text, CsvOptions options = {},
                             Duplicates duplicates = Duplicates::Refuse) {
  return parseCsv(text, "t.csv", options, duplicates, SizeLimits());
}

TEST(Csv, CompactsIdsInIncreasingOrder) {
  auto table = parse("\xef\xbb\xbfuser,item,rating,time\r\n70,-3,2.5,1\r\n"
                     "\r\n5,1000000000000,4,2\r\n70,9,1e0,3");
  ASSERT_TRUE(bool(table)) << toString(table.takeError());
  EXPECT_EQ(table->rowIds, (std::vector<int64_t>{5, 70}));
  EXPECT_EQ(table->columnIds, (std::vector<int64_t>{-3, 9, 1000000000000}));
  EXPECT_EQ(table->matrix.rowIndices, (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(table->matrix.columnIndices, (std::vector<int64_t>{2, 0, 1}));
  EXPECT_EQ(table->matrix.values, (std::vector<double>{4, 2.5, 1}));
}

TEST(Csv, ReadsTheColumnsThatAreNamed) {
  CsvOptions options;
  options.rowColumn = 2;
  options.columnColumn = 1;
  options.valueColumn.reset();
  options.separator = ';';
  auto table = parse("\"a; \"\"b\"\"\" ;\"7\";3\nc;8;3\n", options);
  ASSERT_TRUE(bool(table)) << toString(table.takeError());
  EXPECT_TRUE(table->matrix.isPattern);
  EXPECT_EQ(table->rowIds, std::vector<int64_t>{3});
  EXPECT_EQ(table->columnIds, (std::vector<int64_t>{7, 8}));
}

TEST(Csv, AcceptsNonFiniteValuesWhenAsked) {
  CsvOptions options;
  options.acceptNonFinite = true;
  auto table = parse("1,2,nan\n", options);
  ASSERT_TRUE(bool(table)) << toString(table.takeError());
  EXPECT_TRUE(std::isnan(table->matrix.values[0]));
}

TEST(Csv, DiagnosesWhatIsWrong) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "t.csv:1: the file has no data"},
      {"user,item,rating\n", "t.csv:1: the file has no data"},
      {"1,2\n", "t.csv:1: the line has 2 fields, and 3 are needed"},
      {"1,2,3\n1,3\n", "t.csv:2: the line has 2 fields, and the first has 3"},
      {"1,2,3\n1,3,4,5\n", "t.csv:2: the line has 4 fields, and the first"},
      {"1,x,3\n", "t.csv:1: column id 'x' is not an integer"},
      {"a,b,c\n1.0,2,3\n", "t.csv:2: row id '1.0' is not an integer"},
      {"1,99999999999999999999,3\n",
       "t.csv:1: column id '99999999999999999999' does not fit 64 bits"},
      {"1,2,\n", "t.csv:1: the value '' is not a number"},
      {"1,2,3\n1,3,1e999\n", "t.csv:2: the value '1e999' overflows an f64"},
      {"1,2,3\n1,3,nan\n", "t.csv:2: the value 'nan' is not finite"},
      {"1,2,3\n1,3,-inf\n", "t.csv:2: the value '-inf' is not finite"},
      {"1,2,\"3\n1,3,4\n", "t.csv:1: a quoted field does not end"},
      {"1,2,\"3\"x\n", "t.csv:1: text follows the quotes of a field"},
      {"9,8,1\n7,8,1\n9,8,2\n",
       "t.csv:3: coordinate (9, 8) was given before, on line 1"},
  };
  for (auto [text, expected] : cases) {
    std::string message = getMessage(parse(text));
    EXPECT_TRUE(StringRef(message).starts_with(expected)) << text << message;
  }
  CsvOptions strict;
  strict.ignoreFurtherColumns = false;
  EXPECT_TRUE(StringRef(getMessage(parse("1,2,3,4\n", strict)))
                  .starts_with("t.csv:1: the line has 4 fields, more than the "
                               "3 to be read"));
}

TEST(Csv, EveryTruncationIsAnErrorOrWhatTheTextSays) {
  std::string text = "u,i,r\n1,2,3.5\n1,3,45\n";
  for (size_t size = 0; size < text.size(); ++size) {
    auto table = parse(StringRef(text).take_front(size));
    if (!table) {
      consumeError(table.takeError());
      continue;
    }
    double last = table->matrix.values.back();
    EXPECT_TRUE(last == 3 || last == 3.5 || last == 4 || last == 45) << size;
  }
}

TEST(Csv, QuotesLongFieldsShortened) {
  std::string text = "1," + std::string(1000000, '7') + "x,3\n";
  std::string message = getMessage(parse(text));
  EXPECT_LT(message.size(), 200u);
  EXPECT_NE(message.find("7...' is not an integer"), std::string::npos);
}

} // namespace
