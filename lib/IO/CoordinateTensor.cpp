//===- CoordinateTensor.cpp - Sparse tensors by coordinates -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/CoordinateTensor.h"
#include "SparseAutograd/IO/ConvertElements.h"
#include "SparseAutograd/IO/Diagnostic.h"
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
  bool isInteger = !matrix.integers.empty();
  Expected<DenseArray> values =
      makeDenseArray(name, isInteger ? ElementType::I64 : ElementType::F64,
                     {matrix.isPattern ? 0 : count}, limits);
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
  if (isInteger)
    llvm::copy(matrix.integers, values->as<int64_t>().begin());
  else if (!matrix.isPattern)
    llvm::copy(matrix.values, values->as<double>().begin());
  values->isText = true;
  tensor.values = std::move(*values);
  return tensor;
}

bool sparse_autograd::io::isExactAsDouble(const DenseArray &array,
                                          int64_t index) {
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

std::string sparse_autograd::io::describeValue(const CoordinateTensor &tensor,
                                               int64_t entry) {
  return "the value at " + formatCoordinates(tensor.getCoordinates(entry)) +
         " (counting from 0)";
}

static Error refuseValue(const CoordinateTensor &tensor, int64_t entry,
                         const Twine &problem, const Twine &remedy,
                         StringRef name) {
  return fileError(name, describeValue(tensor, entry) + " " + problem, remedy);
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
    if (!isExactAsDouble(tensor.values, i))
      return refuseValue(tensor, i, "is not exact as an f64",
                         "store it as f64 if rounding is meant", name);
    matrix.values.push_back(getAsDouble(tensor.values, i));
  }
  return matrix;
}

/// The elements of an array, without its zeros unless these are kept.
static Expected<CoordinateTensor> collect(const DenseArray &array,
                                          bool keepsZeros,
                                          const SizeLimits &limits,
                                          StringRef name) {
  size_t rank = array.shape.size();
  if (rank == 0)
    return fileError(name, "a number is no sparse tensor",
                     "use an array of one or more dimensions");
  auto isKept = [&](int64_t index) {
    // No integer but 0 becomes 0.
    return keepsZeros || getAsDouble(array, index) != 0;
  };
  int64_t count = 0, end = array.getNumElements();
  for (int64_t index = 0; index < end; ++index)
    count += isKept(index);
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
    if (isKept(index)) {
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
  values->isText = array.isText;
  tensor.values = std::move(*values);
  return tensor;
}

Expected<CoordinateTensor>
sparse_autograd::io::collectNonzeros(const DenseArray &array,
                                     const SizeLimits &limits, StringRef name) {
  return collect(array, /*keepsZeros=*/false, limits, name);
}

Expected<CoordinateTensor>
sparse_autograd::io::collectElements(const DenseArray &array,
                                     const SizeLimits &limits, StringRef name) {
  return collect(array, /*keepsZeros=*/true, limits, name);
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
  values.isText = tensor.values.isText;
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

Expected<DenseArray>
sparse_autograd::io::convertValues(const CoordinateTensor &tensor,
                                   ElementType type, const SizeLimits &limits,
                                   StringRef name) {
  // What is stored is there, whatever number it is.
  bool isFlag = type == ElementType::Bool &&
                (tensor.isPattern || tensor.values.type != ElementType::Bool);
  if (!tensor.isPattern && !isFlag)
    return convertElements(
        tensor.values, type, limits, name,
        [&](int64_t entry) { return describeValue(tensor, entry); });
  int64_t count = tensor.getNumEntries();
  Expected<DenseArray> ones =
      makeDenseArray(name, ElementType::U8, {count}, limits);
  if (!ones)
    return ones.takeError();
  llvm::fill(ones->as<uint8_t>(), 1);
  return convertElements(*ones, type, limits, name,
                         [](int64_t) { return std::string("a one"); });
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

//===----------------------------------------------------------------------===//
// What a file can hold
//===----------------------------------------------------------------------===//

Error sparse_autograd::io::checkHeldByText(const CoordinateTensor &tensor,
                                           bool asDoubles, StringRef file) {
  if (tensor.isPattern)
    return Error::success();
  StringRef remedy = "write the tensor to a .npz file";
  for (int64_t i = 0, e = tensor.getNumEntries(); i < e; ++i) {
    if (tensor.values.type == ElementType::Bool &&
        !tensor.values.as<uint8_t>()[i])
      return refuseValue(tensor, i,
                         "is a stored false, which would be read as true: in "
                         "this format what is stored is there",
                         remedy, file);
    bool fits = tensor.values.type != ElementType::U64 ||
                tensor.values.as<int64_t>()[i] >= 0;
    if (!fits || (asDoubles && !isExactAsDouble(tensor.values, i)))
      return refuseValue(tensor, i,
                         "is an integer that would be read as another one",
                         remedy, file);
  }
  return Error::success();
}
