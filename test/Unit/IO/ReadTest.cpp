//===- ReadTest.cpp - Opening, telling apart and expanding files ----*- C++
//-*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Read.h"
#include "SparseAutograd/IO/InputFile.h"
#include "SparseAutograd/IO/Write.h"
#include "TemporaryFolder.h"
#include "gtest/gtest.h"
#include <sys/stat.h>
#include <zlib.h>

using namespace llvm;
using namespace sparse_autograd::io;

namespace {

std::string compress(StringRef content) {
  std::string packed(compressBound(content.size()) + 64, '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in =
      reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
  stream.avail_in = content.size();
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = packed.size();
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

void expectContains(const std::string &message, StringRef part) {
  EXPECT_TRUE(StringRef(message).contains(part)) << message;
}

constexpr StringLiteral matrixText =
    "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 3 2.5\n2 1 -1\n";

TEST(Gzip, JoinsMembers) {
  auto bytes = expandGzip(compress("hello ") + compress("") + compress("world"),
                          "g.gz", SizeLimits());
  ASSERT_TRUE(bool(bytes)) << toString(bytes.takeError());
  EXPECT_EQ(bytes->str(), "hello world");
}

TEST(Gzip, EveryTruncationAndChangedByteIsFound) {
  std::string packed = compress(matrixText);
  for (size_t size = 0; size < packed.size(); ++size)
    EXPECT_NE(getMessage(expandGzip(StringRef(packed).take_front(size), "g.gz",
                                    SizeLimits())),
              "")
        << size;
  // The header has bytes that mean nothing here: time, system, level.
  for (size_t i = 10; i < packed.size(); ++i) {
    std::string changed = packed;
    changed[i] ^= 0x55;
    EXPECT_NE(getMessage(expandGzip(changed, "g.gz", SizeLimits())), "") << i;
  }
}

TEST(Gzip, DiagnosesWhatIsWrong) {
  std::string packed = compress("hello");
  std::string size = std::to_string(packed.size());
  EXPECT_EQ(getMessage(expandGzip("text", "g.gz", SizeLimits())),
            "g.gz: byte 0: this is not a gzip member; remove them, or compress "
            "the file again");
  expectContains(getMessage(expandGzip(packed + "x", "g.gz", SizeLimits())),
                 "g.gz: byte " + size + ": these bytes follow the last gzip");
  expectContains(getMessage(expandGzip(StringRef(packed).drop_back(), "g.gz",
                                       SizeLimits())),
                 ": the gzip file ends in the middle of a member; ");
  std::string corrupt = packed;
  corrupt[corrupt.size() - 5] ^= 1;
  expectContains(getMessage(expandGzip(corrupt, "g.gz", SizeLimits())),
                 ": the gzip data is corrupt here; ");
  SizeLimits limits;
  limits.expandedBytes = 1 << 20;
  std::string bomb = compress(std::string((1 << 20) + 1, '\0'));
  expectContains(getMessage(expandGzip(bomb, "g.gz", limits)),
                 "expands to more than the limit of 1048576 bytes; ");
  std::string fits = compress(std::string(1 << 20, '\0'));
  EXPECT_EQ(getMessage(expandGzip(fits, "g.gz", limits)), "");
  limits.expandedBytes = UINT64_MAX;
  EXPECT_EQ(getMessage(expandGzip(bomb, "g.gz", limits)), "");
}

TEST(Read, RefusesWhatIsNotARegularFile) {
  TemporaryFolder folder;
  expectContains(getMessage(readAny(folder.getPath("none.mtx"))),
                 "none.mtx: cannot open the file: No such file");
  expectContains(getMessage(readAny(folder.getPath("."))),
                 ": this is a directory; ");
  std::string fifo = folder.getPath("fifo.mtx");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  // Nobody writes to it: reading must not wait.
  expectContains(getMessage(readAny(fifo)), "fifo.mtx: this is a FIFO; ");
  expectContains(getMessage(readAny("/dev/zero")), ": this is a device; ");
  expectContains(getMessage(readAny("")), ": this is not a file name; ");
  expectContains(getMessage(readAny(StringRef("a\0b", 3))),
                 "a\\x00b: this is not a file name; ");
  expectContains(getMessage(readAny(folder.write("e.mtx", ""))),
                 "e.mtx: the file is empty; ");
  expectContains(getMessage(readAny(folder.write("e.mtx", compress("")))),
                 "e.mtx: the file expands to nothing; ");
  SizeLimits limits;
  limits.fileBytes = 2;
  expectContains(getMessage(readFile(folder.write("l.mtx", "abc"), limits)),
                 "the file has 3 bytes, more than the limit of 2; ");
}

TEST(Read, TellsFormatsApart) {
  TemporaryFolder folder;
  // By content, whatever the name; gzip too.
  for (const std::string &path :
       {folder.write("m.dat", matrixText),
        folder.write("m.csv", compress(matrixText))}) {
    auto table = readCoordinates(path);
    ASSERT_TRUE(bool(table)) << toString(table.takeError());
    EXPECT_EQ(table->matrix.values, (std::vector<double>{2.5, -1}));
    EXPECT_TRUE(table->rowIds.empty());
  }
  // By name, before .gz.
  for (const std::string &path :
       {folder.write("p.smtx", "1, 2, 1\n0 1\n1\n"),
        folder.write("p.SMTX.gz", compress("1, 2, 1\n0 1\n1\n"))}) {
    auto array = readDense(path);
    ASSERT_TRUE(bool(array)) << toString(array.takeError());
    EXPECT_EQ(array->as<double>(), ArrayRef<double>({0, 1}));
  }
  auto table = readCoordinates(folder.write("t.csv.gz", compress("7,8,9\n")));
  ASSERT_TRUE(bool(table)) << toString(table.takeError());
  EXPECT_EQ(table->rowIds, std::vector<int64_t>{7});
  expectContains(getMessage(readAny(folder.write("x.dat", "1 2 3\n"))),
                 "x.dat: neither the content nor the name tells the format; ");
  expectContains(getMessage(readAny(folder.write("x.npy", "1 2 3\n"))),
                 "x.npy: byte 0: this is not a .npy file; ");
  expectContains(getMessage(readAny(folder.write("x.npz", "1 2 3\n"))),
                 "x.npz: byte 0: this is not a .npz file; ");
  expectContains(getMessage(readAny(folder.write("x.mtx", "1 2 3\n"))),
                 "x.mtx:1: the file does not begin with");
}

TEST(Read, ReadsMembers) {
  TemporaryFolder folder;
  auto one = makeDenseArray("", ElementType::F32, {2}, SizeLimits());
  auto two = makeDenseArray("", ElementType::Bool, {1, 1}, SizeLimits());
  ASSERT_TRUE(one && two);
  one->as<float>()[1] = 3;
  std::string path = folder.getPath("a:b.npz");
  ASSERT_EQ(getMessage(writeNpz(path, {{"x", &*one}, {"y", &*two}})), "");
  auto names = listMembers(path);
  ASSERT_TRUE(bool(names)) << toString(names.takeError());
  EXPECT_EQ(*names, (std::vector<std::string>{"x", "y"}));
  for (const char *name : {":x", ":x.npy"}) {
    auto array = readDense(path + name);
    ASSERT_TRUE(bool(array)) << toString(array.takeError());
    EXPECT_EQ(array->as<float>(), ArrayRef<float>({0, 3}));
  }
  expectContains(getMessage(readDense(path)),
                 "the file holds several arrays: 'x', 'y'; name one as");
  expectContains(getMessage(readDense(path + ":z")),
                 "the file holds no array 'z'; name one of 'x', 'y'");
  expectContains(getMessage(readCoordinates(path + ":x")),
                 "the file holds a dense array, not a sparse matrix; ");
  std::string matrix = folder.write("m.mtx", matrixText);
  expectContains(getMessage(readDense(matrix + ":x")),
                 "only a .npz file has members; leave out ':x'");
  expectContains(getMessage(listMembers(matrix)), "this is not a .npz file");
  std::string empty = folder.getPath("empty.npz");
  ASSERT_EQ(getMessage(writeNpz(empty, {})), "");
  expectContains(getMessage(readDense(empty)), "the file holds no arrays");
}

TEST(CoordinateMatrix, ExpandsValues) {
  CoordinateMatrix matrix;
  matrix.rows = matrix.columns = 2;
  matrix.rowIndices = {0, 1};
  matrix.columnIndices = {1, 0};
  matrix.values = {0, 1e39};
  auto values = expandValues(matrix, ElementType::F64, SizeLimits(), "m");
  ASSERT_TRUE(bool(values));
  EXPECT_EQ(values->as<double>(), ArrayRef<double>({0, 0, 1e39, 0}));
  EXPECT_EQ(
      getMessage(expandValues(matrix, ElementType::F32, SizeLimits(), "m")),
      "m: the value at row 1, column 0 (counting from 0) overflows an f32; "
      "expand the matrix to f64");
  EXPECT_EQ(
      getMessage(expandValues(matrix, ElementType::I8, SizeLimits(), "m")),
      "m: a sparse matrix has no values of type i8; expand it to f32 or f64");
  matrix.rows = int64_t(1) << 62;
  expectContains(getMessage(expandValues(matrix, ElementType::F64, {}, "m")),
                 "m: a dense array of more than 2^63 bytes exceeds the limit");
  matrix.rows = int64_t(1) << 40;
  expectContains(getMessage(expandValues(matrix, ElementType::F64, {}, "m")),
                 "m: a dense array of 17592186044416 bytes exceeds the limit");
}

} // namespace
