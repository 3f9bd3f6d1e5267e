//===- NpyTest.cpp - Reading and writing .npy files -------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Npy.h"
#include "TemporaryFolder.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace sparse_autograd::io;

namespace {

/// A version 1 file of this dictionary and these bytes.
std::string makeFile(StringRef dictionary, StringRef data) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file.push_back(static_cast<char>(dictionary.size() + 1));
  file.push_back(static_cast<char>((dictionary.size() + 1) >> 8));
  return file + dictionary.str() + "\n" + data.str();
}

std::string makeDictionary(StringRef descr, StringRef shape,
                           StringRef order = "False") {
  return ("{'descr': " + descr + ", 'fortran_order': " + order +
          ", 'shape': " + shape + ", }")
      .str();
}

Expected<DenseArray> parse(StringRef bytes, SizeLimits limits = {}) {
  return parseNpy(bytes, "a.npy", limits);
}

TEST(Npy, ReadsBigEndianFortranOrder) {
  Expected<DenseArray> array =
      parse(makeFile(makeDictionary("'>i2'", "(2, 3)", "True"),
                     StringRef("\0\1\0\4\0\2\0\5\0\3\0\6", 12)));
  ASSERT_TRUE(bool(array)) << toString(array.takeError());
  EXPECT_EQ(array->type, ElementType::I16);
  EXPECT_EQ(ArrayRef<int64_t>(array->shape), ArrayRef<int64_t>({2, 3}));
  EXPECT_EQ(array->as<int16_t>(), ArrayRef<int16_t>({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array->data.data()) % 64, 0u);
}

TEST(Npy, EveryTruncationIsAnError) {
  std::string file =
      makeFile(makeDictionary("'<f8'", "(2,)"), std::string(16, 'x'));
  ASSERT_EQ(getMessage(parse(file)), "");
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(getMessage(parse(StringRef(file).take_front(size))), "") << size;
  EXPECT_NE(getMessage(parse(file + "x")), "");
}

struct Bad {
  std::string file;
  const char *message;
};

TEST(Npy, DiagnosesWhatIsWrong) {
  auto header = [](StringRef dictionary) { return makeFile(dictionary, ""); };
  auto type = [&](StringRef descr) {
    return header(makeDictionary(descr, "()"));
  };
  auto shape = [&](StringRef text) {
    return header(makeDictionary("'<f8'", text));
  };
  const Bad cases[] = {
      {"PNG", "a.npy: byte 0: this is not a .npy file"},
      {std::string("\x93NUMPY\x01", 7), "a.npy: byte 7: the file ends in the"},
      {std::string("\x93NUMPY\x04\x00", 8), "a.npy: byte 6: version 4.0"},
      {std::string("\x93NUMPY\x01\x00\xff", 9), "a.npy: byte 9: the file ends"},
      {std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12),
       "a.npy: byte 12: the file ends in the middle of the .npy header"},
      {header("[]"), "a.npy: byte 10: the .npy header is malformed: a dict"},
      {header("{1: 2}"), "a.npy: byte 11: the .npy header is malformed: a str"},
      {header("{'descr"), "a.npy: byte 11: the .npy header is malformed"},
      {header("{'shape' ()}"), "a.npy: byte 19: the .npy header is malformed: "
                               "a colon"},
      {header("{'shape': () 'x'}"),
       "a.npy: byte 23: the .npy header is "
       "malformed: a comma or the end of the dict"},
      {header("{'x': 1}"), "a.npy: byte 14: the .npy header has an unknown"},
      {header("{'shape': (), 'shape': ()}"),
       "a.npy: byte 31: the .npy header has an unknown or repeated key"},
      {header("{}"), "a.npy: byte 13: the .npy header lacks"},
      {header(makeDictionary("'<f8'", "()") + "; import os"),
       "a.npy: byte 65: the .npy header is malformed: the end of the header"},
      {header(makeDictionary("'<f8'", "()", "os.abort()")),
       "a.npy: byte 44: the .npy header is malformed: True or False"},
      {type("'|O'"), "a.npy: byte 20: the array holds Python objects, '|O'"},
      {type("'<c16'"), "a.npy: byte 20: the array holds complex numbers"},
      {type("'<U7'"), "a.npy: byte 20: the array holds text"},
      {type("'<M8[s]'"), "a.npy: byte 20: the array holds dates"},
      {type("'|V2'"), "a.npy: byte 20: the array holds raw bytes"},
      {type("'<f16'"), "a.npy: byte 20: the array holds a type that is not"},
      {type("'f8'"), "a.npy: byte 20: the type 'f8' lacks its byte order"},
      {type("[('a', '<f8')]"), "a.npy: byte 20: the array has a structured"},
      {shape("3"), "a.npy: byte 60: the .npy header is malformed: a shape"},
      {shape("(3)"), "a.npy: byte 62: the .npy header is malformed: a comma"},
      {shape("(3, x)"), "a.npy: byte 64: the .npy header is malformed: an ext"},
      {shape("(3, 4 5)"),
       "a.npy: byte 66: the .npy header is malformed: a com"},
      {shape("(-3,)"), "a.npy: byte 61: an extent of the array is negative"},
      {shape("(99999999999999999999,)"), "a.npy: byte 61: an extent"},
      {shape("(4294967296, 4294967296)"), "a.npy: byte 10: the array of the "
                                          ".npy header has more than 2^63"},
      {shape("(0, 4294967296, 4294967296)"), "a.npy: byte 10: the array of"},
      {shape("(1000000000000,)"), "a.npy: byte 80: the file ends after 0 of "
                                  "8000000000000 bytes of the array"},
      {makeFile(makeDictionary("'|u1'", "(1,)"), "ab"),
       "a.npy: byte 69: 1 bytes follow the end of the array"},
      {makeFile(makeDictionary("'|b1'", "(2,)"), "\x01\x02"),
       "a.npy: byte 69: a bool of the array is neither 0 nor 1"},
  };
  for (const Bad &bad : cases) {
    std::string message = getMessage(parse(bad.file));
    EXPECT_TRUE(StringRef(message).starts_with(bad.message))
        << bad.message << "\n"
        << message;
  }
}

TEST(Npy, RefusesMoreThanTheLimits) {
  SizeLimits limits;
  limits.rank = 2;
  EXPECT_EQ(getMessage(parse(
                makeFile(makeDictionary("'|u1'", "(1, 1, 1)"), "a"), limits)),
            "a.npy: byte 67: the array has more dimensions than the limit of "
            "2; store it with fewer dimensions");
  limits.arrayBytes = 1;
  EXPECT_EQ(getMessage(
                parse(makeFile(makeDictionary("'|u1'", "(2,)"), "ab"), limits)),
            "a.npy: a dense array of 2 bytes exceeds the limit of 1; use a "
            "smaller or a sparse one, or raise the limit");
}

TEST(Npy, RefusesToWriteBFloat) {
  Expected<DenseArray> array =
      makeDenseArray("a.npy", ElementType::BF16, {1}, SizeLimits());
  ASSERT_TRUE(bool(array));
  EXPECT_EQ(
      getMessage(makeNpyHeader(*array, "a.npy")),
      "a.npy: the .npy format has no bf16; write the array to a .tns file, "
      "or to a .mtx file if it is a matrix");
}

} // namespace
