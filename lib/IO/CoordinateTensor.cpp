//===- CoordinateTensor.cpp - Sparse tensors by coordinates -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/CoordinateTensor.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace llvm;
using namespace sparse_autograd::io;

std::string
sparse_autograd::io::formatCoordinates(ArrayRef<int64_t> coordinates,
                                       int64_t base) {
  std::string text = "(";
  for (auto [dim, coordinate] : llvm::enumerate(coordinates))
    text += (dim ? ", " : "") + std::to_string(coordinate + base);
  return text + ")";
}

//===----------------------------------------------------------------------===//
// From and to other forms
//===----------------------------------------------------------------------===//

Expected<CoordinateTensor>
sparse_autograd::io::toTensor(const CoordinateMatrix &matrix,
                              const SizeLimits &limits, StringRef name) {
  int64_t count = matrix.getNumEntries();
  CoordinateTensor tensor;
  tensor.shape = {matrix.rows, matrix.columns};
  tensor.isInferred = {false, false};
  tensor.isPattern = matrix.isPattern;
  Expected<DenseArray> values = makeDenseArray(
      name, ElementType::F64, {matrix.isPattern ? 0 : count}, limits);
  if (!values)
    return values.takeError();
  if (Error error =
          checkMemory(name, uint64_t(count) * 2 * sizeof(int64_t), limits))
    return std::move(error);
  tensor.coordinates.reserve(2 * count);
  for (int64_t i = 0; i < count; ++i) {
    tensor.coordinates.push_back(matrix.rowIndices[i]);
    tensor.coordinates.push_back(matrix.columnIndices[i]);
  }
  if (!matrix.isPattern)
    llvm::copy(matrix.values, values->as<double>().begin());
  tensor.values = std::move(*values);
  return tensor;
}

/// Whether an f64 holds an element exactly; false for some 64-bit integers.
static bool isExact(const DenseArray &array, int64_t index) {
  double value = getAsDouble(array, index);
  // 2^63 and 2^64 themselves would not convert back.
  if (array.type == ElementType::I64)
    return value < 0x1p63 &&
           static_cast<int64_t>(value) == array.as<int64_t>()[index];
  if (array.type == ElementType::U64)
    return value < 0x1p64 &&
           static_cast<uint64_t>(value) == array.as<uint64_t>()[index];
  return true;
}

static Error refuseValue(const CoordinateTensor &tensor, int64_t entry,
                         const Twine &problem, const Twine &remedy,
                         StringRef name) {
  return fileError(name,
                   "the value at " +
                       formatCoordinates(tensor.getCoordinates(entry)) +
                       " (counting from 0) " + problem,
                   remedy);
}

Expected<CoordinateMatrix>
sparse_autograd::io::toMatrix(const CoordinateTensor &tensor, StringRef name) {
  if (tensor.getRank() != 2)
    return fileError(name,
                     "the file holds a sparse tensor of " +
                         Twine(tensor.getRank()) +
                         " dimensions, not a sparse matrix",
                     "use one of two dimensions");
  CoordinateMatrix matrix;
  matrix.rows = tensor.shape[0];
  matrix.columns = tensor.shape[1];
  matrix.isPattern = tensor.isPattern;
  for (int64_t i = 0, e = tensor.getNumEntries(); i < e; ++i) {
    matrix.rowIndices.push_back(tensor.coordinates[2 * i]);
    matrix.columnIndices.push_back(tensor.coordinates[2 * i + 1]);
    if (tensor.isPattern)
      continue;
    if (!isExact(tensor.values, i))
      return refuseValue(tensor, i, "is not exact as an f64",
                         "store it as f64 if rounding is meant", name);
    matrix.values.push_back(getAsDouble(tensor.values, i));
  }
  return matrix;
}

Expected<CoordinateTensor>
sparse_autograd::io::collectNonzeros(const DenseArray &array,
                                     const SizeLimits &limits, StringRef name) {
  size_t rank = array.shape.size();
  if (rank == 0)
    return fileError(name, "a number is no sparse tensor",
                     "use an array of one or more dimensions");
  auto isZero = [&](int64_t index) {
    // No integer but 0 becomes 0.
    return getAsDouble(array, index) == 0;
  };
  int64_t count = 0, end = array.getNumElements();
  for (int64_t index = 0; index < end; ++index)
    count += !isZero(index);
  CoordinateTensor tensor;
  tensor.shape = array.shape;
  tensor.isInferred.assign(rank, false);
  if (Error error = checkMemory(
          name, SaturatingMultiply<uint64_t>(count, rank * sizeof(int64_t)),
          limits))
    return std::move(error);
  Expected<DenseArray> values =
      makeDenseArray(name, array.type, {count}, limits);
  if (!values)
    return values.takeError();
  tensor.coordinates.reserve(count * rank);
  size_t width = getByteWidth(array.type);
  char *place = values->data.data();
  SmallVector<int64_t> at(rank, 0);
  for (int64_t index = 0; index < end; ++index) {
    if (!isZero(index)) {
      llvm::append_range(tensor.coordinates, at);
      std::memcpy(place, array.data.data() + index * width, width);
      place += width;
    }
    for (size_t dim = rank; dim-- > 0;) {
      if (++at[dim] < array.shape[dim])
        break;
      at[dim] = 0;
    }
  }
  tensor.values = std::move(*values);
  return tensor;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Sums the values of entries that are the same into the first of them.
/// `order` sorts the entries; what is left of it is the first ones.
static Error sumDuplicates(CoordinateTensor &tensor,
                           std::vector<int64_t> &order,
                           const SizeLimits &limits, StringRef name) {
  if (!tensor.isPattern && tensor.values.type != ElementType::F64) {
    Expected<DenseArray> values =
        convertValues(tensor, ElementType::F64, limits, name);
    if (!values)
      return values.takeError();
    tensor.values = std::move(*values);
  }
  size_t kept = 0;
  for (int64_t entry : order) {
    if (kept == 0 || tensor.getCoordinates(order[kept - 1]) !=
                         tensor.getCoordinates(entry)) {
      order[kept++] = entry;
      continue;
    }
    if (tensor.isPattern)
      continue;
    double &sum = tensor.values.as<double>()[order[kept - 1]];
    double value = tensor.values.as<double>()[entry];
    bool isFinite = std::isfinite(sum) && std::isfinite(value);
    sum += value;
    if (isFinite && !std::isfinite(sum))
      return refuseValue(tensor, entry, "and those before it overflow an f64",
                         "scale the values", name);
  }
  order.resize(kept);
  return Error::success();
}

/// Leaves the entries of `order`, in this order.
static void selectEntries(CoordinateTensor &tensor, ArrayRef<int64_t> order,
                          std::vector<int64_t> coordinates, DenseArray values) {
  size_t width = getByteWidth(tensor.values.type);
  for (auto [place, entry] : llvm::enumerate(order)) {
    llvm::append_range(coordinates, tensor.getCoordinates(entry));
    if (!tensor.isPattern)
      std::memcpy(values.data.data() + place * width,
                  tensor.values.data.data() + entry * width, width);
  }
  tensor.coordinates = std::move(coordinates);
  tensor.values = std::move(values);
}

Error sparse_autograd::io::sortEntries(
    CoordinateTensor &tensor, Duplicates duplicates, const SizeLimits &limits,
    StringRef name, function_ref<Error(int64_t, int64_t)> refuse) {
  int64_t count = tensor.getNumEntries();
  auto precedes = [&](int64_t a, int64_t b) {
    ArrayRef<int64_t> first = tensor.getCoordinates(a);
    ArrayRef<int64_t> second = tensor.getCoordinates(b);
    auto [x, y] = std::mismatch(first.begin(), first.end(), second.begin());
    return x == first.end() ? a < b : *x < *y;
  };
  auto isSame = [&](int64_t a, int64_t b) {
    return tensor.getCoordinates(a) == tensor.getCoordinates(b);
  };
  bool isSorted = true;
  for (int64_t i = 1; i < count && isSorted; ++i)
    isSorted = precedes(i - 1, i) && !isSame(i - 1, i);
  if (isSorted)
    return Error::success();

  uint64_t bytes = SaturatingMultiply<uint64_t>(count, (tensor.getRank() + 1) *
                                                           sizeof(int64_t));
  if (Error error = checkMemory(name, bytes, limits))
    return error;
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), precedes);
  auto same = std::adjacent_find(order.begin(), order.end(), isSame);
  if (same != order.end()) {
    if (duplicates == Duplicates::Refuse)
      return refuse(same[0], same[1]);
    if (Error error = sumDuplicates(tensor, order, limits, name))
      return error;
  }
  Expected<DenseArray> values = makeDenseArray(
      name, tensor.values.type,
      {tensor.isPattern ? 0 : static_cast<int64_t>(order.size())}, limits);
  if (!values)
    return values.takeError();
  std::vector<int64_t> coordinates;
  coordinates.reserve(order.size() * tensor.getRank());
  selectEntries(tensor, order, std::move(coordinates), std::move(*values));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static const fltSemantics *findSemantics(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return &APFloat::IEEEhalf();
  case ElementType::BF16:
    return &APFloat::BFloat();
  case ElementType::F32:
    return &APFloat::IEEEsingle();
  case ElementType::F64:
    return &APFloat::IEEEdouble();
  default:
    return nullptr;
  }
}

/// The bits of a value as a float of `semantics`; nothing if it overflows.
static std::optional<uint64_t> roundTo(const fltSemantics &semantics,
                                       const DenseArray &values,
                                       int64_t index) {
  APFloat number(0.0);
  // Integers are rounded once, too.
  if (values.type == ElementType::I64 || values.type == ElementType::U64) {
    number = APFloat(semantics);
    APInt integer(64, values.as<uint64_t>()[index]);
    number.convertFromAPInt(integer, values.type == ElementType::I64,
                            APFloat::rmNearestTiesToEven);
    if (number.isInfinity())
      return std::nullopt;
    return number.bitcastToAPInt().getZExtValue();
  }
  double value = getAsDouble(values, index);
  number = APFloat(value);
  bool losesInfo = false;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  if (number.isInfinity() && std::isfinite(value))
    return std::nullopt;
  return number.bitcastToAPInt().getZExtValue();
}

/// A value as an integer; nothing if it is none, or does not fit `width` bits.
static std::optional<int64_t> toInteger(const DenseArray &values, int64_t index,
                                        unsigned width) {
  int64_t integer;
  if (values.type == ElementType::I64) {
    integer = values.as<int64_t>()[index];
  } else if (values.type == ElementType::U64) {
    integer = values.as<int64_t>()[index];
    if (integer < 0)
      return std::nullopt;
  } else {
    double value = getAsDouble(values, index);
    // Also false for a NaN.
    if (!(value >= -0x1p63 && value < 0x1p63))
      return std::nullopt;
    integer = static_cast<int64_t>(value);
    if (static_cast<double>(integer) != value)
      return std::nullopt;
  }
  if (!isIntN(width, integer))
    return std::nullopt;
  return integer;
}

Expected<DenseArray>
sparse_autograd::io::convertValues(const CoordinateTensor &tensor,
                                   ElementType type, const SizeLimits &limits,
                                   StringRef name) {
  int64_t count = tensor.getNumEntries();
  Expected<DenseArray> array = makeDenseArray(name, type, {count}, limits);
  if (!array)
    return array.takeError();
  size_t width = getByteWidth(type);
  if (!tensor.isPattern && tensor.values.type == type) {
    if (count)
      std::memcpy(array->data.data(), tensor.values.data.data(), count * width);
    return array;
  }
  const fltSemantics *semantics = findSemantics(type);
  uint64_t one =
      semantics ? APFloat::getOne(*semantics).bitcastToAPInt().getZExtValue()
                : 1;
  for (int64_t i = 0; i < count; ++i) {
    std::optional<uint64_t> bits;
    if (tensor.isPattern || type == ElementType::Bool)
      bits = one;
    else if (semantics)
      bits = roundTo(*semantics, tensor.values, i);
    else
      bits = toInteger(tensor.values, i, 8 * width);
    if (!bits)
      return refuseValue(tensor, i,
                         (semantics ? "overflows an " : "is no ") +
                             getTypeName(type),
                         "use another element type", name);
    // The low bytes come first on the machines that we compile for.
    std::memcpy(array->data.data() + i * width, &*bits, width);
  }
  return array;
}

Expected<DenseArray>
sparse_autograd::io::expandTensor(const CoordinateTensor &tensor,
                                  ElementType type, const SizeLimits &limits,
                                  StringRef name) {
  Expected<DenseArray> array = makeDenseArray(name, type, tensor.shape, limits);
  if (!array)
    return array.takeError();
  Expected<DenseArray> values = convertValues(tensor, type, limits, name);
  if (!values)
    return values.takeError();
  size_t width = getByteWidth(type);
  for (int64_t i = 0, e = tensor.getNumEntries(); i < e; ++i) {
    int64_t index = 0;
    for (auto [extent, coordinate] :
         llvm::zip_equal(tensor.shape, tensor.getCoordinates(i)))
      index = index * extent + coordinate;
    std::memcpy(array->data.data() + index * width,
                values->data.data() + i * width, width);
  }
  return array;
}
