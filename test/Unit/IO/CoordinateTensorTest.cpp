//===- CoordinateTensorTest.cpp - Sparse tensors by coordinates -*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/CoordinateTensor.h"
#include "SparseAutograd/IO/ConvertElements.h"
#include "TemporaryFolder.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace llvm;
using namespace sparse_autograd::io;

namespace {

/// A vector of one value.
template <typename T>
CoordinateTensor makeTensor(ElementType type, T value) {
  CoordinateTensor tensor;
  tensor.shape = {8};
  tensor.isInferred = {false};
  tensor.coordinates = {5};
  tensor.values = cantFail(makeDenseArray("", type, {1}, SizeLimits()));
  tensor.values.as<T>()[0] = value;
  return tensor;
}

/// The same as the number of a text.
template <typename T>
CoordinateTensor makeText(ElementType type, T value) {
  CoordinateTensor tensor = makeTensor(type, value);
  tensor.values.isText = true;
  return tensor;
}

template <typename T>
std::string convert(const CoordinateTensor &tensor, ElementType type,
                    T &result) {
  auto values = convertValues(tensor, type, SizeLimits(), "v");
  if (!values)
    return toString(values.takeError());
  result = values->as<T>()[0];
  return "";
}

constexpr const char *place = "v: the value at (5) (counting from 0) ";

TEST(CoordinateTensor, IntegersBecomeIntegersThatHoldThem) {
  const std::pair<ElementType, unsigned> types[] = {{ElementType::I8, 8},
                                                    {ElementType::I16, 16},
                                                    {ElementType::I32, 32},
                                                    {ElementType::I64, 64}};
  for (auto [type, bits] : types) {
    int64_t most = std::numeric_limits<int64_t>::max() >> (64 - bits);
    for (int64_t value : {int64_t(0), most, -most - 1, most - 1}) {
      auto tensor = makeTensor<int64_t>(ElementType::I64, value);
      auto array = convertValues(tensor, type, SizeLimits(), "v");
      ASSERT_TRUE(bool(array)) << toString(array.takeError());
      int64_t bytes = 0;
      std::memcpy(&bytes, array->data.data(), bits / 8);
      EXPECT_EQ(bytes << (64 - bits) >> (64 - bits), value);
    }
    if (bits == 64)
      continue;
    for (int64_t value : {most + 1, -most - 2}) {
      auto tensor = makeTensor<int64_t>(ElementType::I64, value);
      auto message = getMessage(convertValues(tensor, type, SizeLimits(), "v"));
      EXPECT_EQ(message, place + ("is no " + getTypeName(type)).str() +
                             "; use another element type");
    }
  }
  int64_t result = 0;
  EXPECT_EQ(convert(makeTensor<uint64_t>(ElementType::U64,
                                         std::numeric_limits<int64_t>::max()),
                    ElementType::I64, result),
            "");
  EXPECT_EQ(result, std::numeric_limits<int64_t>::max());
  EXPECT_NE(convert(makeTensor<uint64_t>(ElementType::U64, uint64_t(1) << 63),
                    ElementType::I64, result),
            "");
  int8_t narrow = 0;
  EXPECT_EQ(convert(makeTensor<uint8_t>(ElementType::U8, 127), ElementType::I8,
                    narrow),
            "");
  EXPECT_EQ(narrow, 127);
  EXPECT_NE(convert(makeTensor<uint8_t>(ElementType::U8, 200), ElementType::I8,
                    narrow),
            "");
}

TEST(CoordinateTensor, FloatsBecomeIntegersIfTheyAre) {
  int64_t result = 0;
  for (double value : {0.0, -0.0, 3.0, -0x1p63, 0x1p62}) {
    EXPECT_EQ(
        convert(makeTensor(ElementType::F64, value), ElementType::I64, result),
        "");
    EXPECT_EQ(static_cast<double>(result), value);
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (double value : {0.5, 0x1p63, -0x1.0000000000001p63, 1e300, infinity,
                       -infinity, std::nan("")})
    EXPECT_EQ(
        convert(makeTensor(ElementType::F64, value), ElementType::I64, result),
        std::string(place) + "is no i64; use another element type")
        << value;
  EXPECT_EQ(convert(makeTensor(ElementType::F32, 16777216.0f), ElementType::I64,
                    result),
            "");
  EXPECT_EQ(result, 16777216);
}

TEST(CoordinateTensor, NumbersAreRoundedToFloatsOnce) {
  float result = 0;
  // Rounded to an f64 first, this would be a tie, and then even.
  int64_t integer = (int64_t(1) << 60) + (int64_t(1) << 36) + 1;
  EXPECT_EQ(
      convert(makeText(ElementType::I64, integer), ElementType::F32, result),
      "");
  EXPECT_EQ(result, 0x1.000002p60f);
  EXPECT_EQ(convert(makeText<int64_t>(ElementType::I64, -integer),
                    ElementType::F32, result),
            "");
  EXPECT_EQ(result, -0x1.000002p60f);
  EXPECT_EQ(convert(makeText<uint64_t>(ElementType::U64, ~uint64_t(0)),
                    ElementType::F32, result),
            "");
  EXPECT_EQ(result, 0x1p64f);
  EXPECT_EQ(convert(makeText(ElementType::F64, 0.1), ElementType::F32, result),
            "");
  EXPECT_EQ(result, 0.1f);
  EXPECT_EQ(
      convert(makeText(ElementType::F64, 1e300), ElementType::F32, result),
      std::string(place) + "overflows an f32; use another element type");
  uint16_t half = 0;
  EXPECT_EQ(convert(makeText<int64_t>(ElementType::I64, 65519),
                    ElementType::F16, half),
            "");
  EXPECT_EQ(half, 0x7bff);
  EXPECT_EQ(convert(makeText<int64_t>(ElementType::I64, 65520),
                    ElementType::F16, half),
            std::string(place) + "overflows an f16; use another element type");
  // A half is exact in any wider type.
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto tensor = makeText<uint16_t>(ElementType::F16, bits);
    double wide = 0;
    ASSERT_EQ(convert(tensor, ElementType::F64, wide), "");
    double expected = getAsDouble(tensor.values, 0);
    ASSERT_TRUE(wide == expected || (std::isnan(wide) && std::isnan(expected)));
  }
}

// A number that has a type is what it is.
TEST(CoordinateTensor, NumbersWithATypeAreExact) {
  float result = 0;
  EXPECT_EQ(
      convert(makeTensor(ElementType::F64, 0.1), ElementType::F32, result),
      std::string(place) +
          "is not exact as an f32; store the values as f32 if rounding is "
          "meant");
  EXPECT_EQ(
      convert(makeTensor(ElementType::F64, 0.5), ElementType::F32, result), "");
  EXPECT_EQ(result, 0.5f);
  EXPECT_EQ(convert(makeTensor<double>(ElementType::F64, NAN), ElementType::F32,
                    result),
            "");
  EXPECT_TRUE(std::isnan(result));
  EXPECT_EQ(convert(makeTensor<int64_t>(ElementType::I64, (1 << 24) + 1),
                    ElementType::F32, result),
            std::string(place) +
                "is not exact as an f32; store the values as f32 if rounding "
                "is meant");
}

TEST(ConvertElements, WideningLosesNothing) {
  constexpr ElementType types[] = {
      ElementType::Bool, ElementType::I8,  ElementType::I16,  ElementType::I32,
      ElementType::I64,  ElementType::U8,  ElementType::U16,  ElementType::U32,
      ElementType::U64,  ElementType::F16, ElementType::BF16, ElementType::F32,
      ElementType::F64};
  // The least, the largest and the most precise numbers of each type, as bits.
  auto makeExtremes = [](ElementType type) {
    unsigned bits = 8 * getByteWidth(type);
    std::vector<uint64_t> extremes = {0, 1};
    if (type == ElementType::Bool)
      return extremes;
    uint64_t all = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
    if (isFloat(type)) {
      const fltSemantics &semantics =
          type == ElementType::F16    ? APFloat::IEEEhalf()
          : type == ElementType::BF16 ? APFloat::BFloat()
          : type == ElementType::F32  ? APFloat::IEEEsingle()
                                      : APFloat::IEEEdouble();
      extremes.push_back(
          APFloat::getLargest(semantics).bitcastToAPInt().getZExtValue());
      extremes.push_back(
          APFloat::getSmallest(semantics).bitcastToAPInt().getZExtValue());
      return extremes;
    }
    extremes.insert(extremes.end(), {all, all >> 1, (all >> 1) + 1});
    return extremes;
  };
  for (ElementType from : types)
    for (ElementType to : types) {
      if (from == to || to == ElementType::Bool || from == ElementType::Bool) {
        EXPECT_EQ(isWidening(from, to), from == to);
        continue;
      }
      // Unsigned types are read, and no argument has one.
      if (!isFloat(to) && to >= ElementType::U8 && to <= ElementType::U64)
        continue;
      std::vector<uint64_t> extremes = makeExtremes(from);
      DenseArray array = cantFail(makeDenseArray(
          "", from, {static_cast<int64_t>(extremes.size())}, {}));
      size_t width = getByteWidth(from);
      for (auto [place, bits] : llvm::enumerate(extremes))
        std::memcpy(array.data.data() + place * width, &bits, width);
      bool isHeld = getMessage(convertElements(array, to, {}, "v", [](int64_t) {
                      return std::string();
                    })) == "";
      EXPECT_EQ(isWidening(from, to), isHeld)
          << getTypeName(from).str() << " to " << getTypeName(to).str();
    }
}

TEST(CoordinateTensor, WhatIsStoredIsTrue) {
  uint8_t result = 7;
  EXPECT_EQ(
      convert(makeTensor(ElementType::F64, 0.0), ElementType::Bool, result),
      "");
  EXPECT_EQ(result, 1);
  // But a false that is stored as such stays one.
  EXPECT_EQ(convert(makeTensor<uint8_t>(ElementType::Bool, 0),
                    ElementType::Bool, result),
            "");
  EXPECT_EQ(result, 0);
  CoordinateTensor pattern = makeTensor(ElementType::F64, 2.5);
  pattern.isPattern = true;
  double one = 0;
  EXPECT_EQ(convert(pattern, ElementType::F64, one), "");
  EXPECT_EQ(one, 1);
  int32_t integer = 0;
  EXPECT_EQ(convert(pattern, ElementType::I32, integer), "");
  EXPECT_EQ(integer, 1);
}

TEST(CoordinateTensor, CollectsWhatIsNotZero) {
  auto array =
      cantFail(makeDenseArray("", ElementType::F32, {2, 0, 3}, SizeLimits()));
  EXPECT_EQ(cantFail(collectNonzeros(array, {}, "")).getNumEntries(), 0);
  array = cantFail(makeDenseArray("", ElementType::F32, {2, 3}, SizeLimits()));
  const float elements[] = {0, -0.0f, NAN, 1e-45f, 0, -2};
  llvm::copy(elements, array.as<float>().begin());
  auto tensor = cantFail(collectNonzeros(array, {}, ""));
  EXPECT_EQ(tensor.coordinates, (std::vector<int64_t>{0, 2, 1, 0, 1, 2}));
  EXPECT_EQ(tensor.values.as<float>().drop_front(),
            ArrayRef<float>({1e-45f, -2}));
  auto large = cantFail(makeDenseArray("", ElementType::U64, {1}, {}));
  large.as<uint64_t>()[0] = ~uint64_t(0);
  EXPECT_EQ(cantFail(collectNonzeros(large, {}, "")).getNumEntries(), 1);
  auto scalar = cantFail(makeDenseArray("", ElementType::F32, {}, {}));
  EXPECT_EQ(getMessage(collectNonzeros(scalar, {}, "s")),
            "s: a number is no sparse tensor; use an array of one or more "
            "dimensions");
}

TEST(CoordinateTensor, KeepsTheLimits) {
  auto array =
      cantFail(makeDenseArray("", ElementType::F64, {10}, SizeLimits()));
  for (double &element : array.as<double>())
    element = 1;
  SizeLimits limits;
  limits.arrayBytes = 79;
  EXPECT_NE(getMessage(collectNonzeros(array, limits, "s")), "");
  limits.arrayBytes = 80;
  EXPECT_EQ(getMessage(collectNonzeros(array, limits, "s")), "");
  CoordinateTensor tensor = makeTensor(ElementType::F64, 1.0);
  tensor.shape = {int64_t(1) << 40};
  EXPECT_TRUE(
      StringRef(getMessage(expandTensor(tensor, ElementType::F64, {}, "s")))
          .starts_with("s: a dense array of 8796093022208 bytes"));
}

TEST(CoordinateTensor, MatricesAndBack) {
  CoordinateMatrix matrix;
  matrix.rows = 2;
  matrix.columns = 3;
  matrix.rowIndices = {0, 1, 1};
  matrix.columnIndices = {2, 0, 1};
  matrix.values = {1.5, 0, -2};
  auto tensor = cantFail(toTensor(matrix, {}, ""));
  EXPECT_EQ(tensor.coordinates, (std::vector<int64_t>{0, 2, 1, 0, 1, 1}));
  auto again = cantFail(toMatrix(tensor, ""));
  EXPECT_EQ(again.rowIndices, matrix.rowIndices);
  EXPECT_EQ(again.columnIndices, matrix.columnIndices);
  EXPECT_EQ(again.values, matrix.values);
  tensor = makeTensor<int64_t>(ElementType::I64, 3);
  EXPECT_EQ(getMessage(toMatrix(tensor, "t")),
            "t: the file holds a sparse tensor of 1 dimensions, not a sparse "
            "matrix; use one of two dimensions");
  tensor = makeTensor<int64_t>(ElementType::I64, (int64_t(1) << 53) + 1);
  tensor.shape = {4, 8};
  tensor.coordinates = {3, 5};
  EXPECT_EQ(getMessage(toMatrix(tensor, "t")),
            "t: the value at (3, 5) (counting from 0) is not exact as an f64; "
            "store it as f64 if rounding is meant");
}

} // namespace
