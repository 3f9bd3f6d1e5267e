//===- CoordinateMatrix.cpp - Sparse matrices by coordinates ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/CoordinateMatrix.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

using namespace llvm;
using namespace sparse_autograd::io;

Error sparse_autograd::io::checkMemory(StringRef file, uint64_t bytes,
                                       const SizeLimits &limits) {
  if (bytes > limits.arrayBytes)
    return fileError(file,
                     "the entries need " + Twine(bytes) +
                         " bytes of memory, more than the limit of " +
                         Twine(limits.arrayBytes),
                     "use a smaller file or raise the limit");
  // Volatile, since a compiler may remove a pair of malloc and free.
  void *volatile probe = std::malloc(bytes ? bytes : 1);
  if (!probe)
    return fileError(file, "no memory for " + Twine(bytes) + " bytes",
                     "use a smaller file or a machine with more memory");
  std::free(probe);
  return Error::success();
}

Error CoordinateBuilder::reserve(uint64_t count, const SizeLimits &limits) {
  if (Error error = checkMemory(
          file, SaturatingMultiply<uint64_t>(count, bytesPerEntry), limits))
    return error;
  entries.reserve(count);
  return Error::success();
}

Expected<CoordinateMatrix>
CoordinateBuilder::build(int64_t rows, int64_t columns, bool isPattern,
                         Duplicates duplicates, const SizeLimits &limits) {
  static_assert(sizeof(Entry) <= bytesPerEntry);
  auto precedes = [](const Entry &a, const Entry &b) {
    return std::tie(a.row, a.column, a.line) <
           std::tie(b.row, b.column, b.line);
  };
  if (!std::is_sorted(entries.begin(), entries.end(), precedes))
    std::sort(entries.begin(), entries.end(), precedes);

  uint64_t numBytes = entries.size() * (isPattern ? 2 : 3) * sizeof(int64_t);
  if (Error error = checkMemory(file, numBytes, limits))
    return std::move(error);
  CoordinateMatrix matrix;
  matrix.rows = rows;
  matrix.columns = columns;
  matrix.isPattern = isPattern;
  matrix.rowIndices.reserve(entries.size());
  matrix.columnIndices.reserve(entries.size());
  bool isInteger = keepsIntegers();
  if (isInteger)
    matrix.integers.reserve(entries.size());
  else if (!isPattern)
    matrix.values.reserve(entries.size());

  const Entry *previous = nullptr;
  for (const Entry &entry : entries) {
    bool isDuplicate = previous && previous->row == entry.row &&
                       previous->column == entry.column;
    if (!isDuplicate) {
      matrix.rowIndices.push_back(entry.row);
      matrix.columnIndices.push_back(entry.column);
      if (isInteger)
        matrix.integers.push_back(bit_cast<int64_t>(entry.value));
      else if (!isPattern)
        matrix.values.push_back(entry.value);
      previous = &entry;
      continue;
    }
    if (duplicates == Duplicates::Refuse)
      return lineError(
          file, entry.line,
          "coordinate (" +
              Twine(rowIds ? (*rowIds)[entry.row] : entry.row + base) + ", " +
              Twine(columnIds ? (*columnIds)[entry.column]
                              : entry.column + base) +
              ") was given before, on line " + Twine(previous->line),
          "remove one of the two, or ask for duplicates to be coalesced");
    if (isPattern)
      continue;
    if (Error error = addToSum(matrix, entry))
      return std::move(error);
  }
  return matrix;
}

bool CoordinateBuilder::keepsIntegers() {
  if (!areIntegers)
    return false;
  auto isExact = [](const Entry &entry) {
    int64_t integer = bit_cast<int64_t>(entry.value);
    double value = static_cast<double>(integer);
    // 2^63 itself would not convert back.
    return value < 0x1p63 && static_cast<int64_t>(value) == integer;
  };
  if (!llvm::all_of(entries, isExact))
    return true;
  for (Entry &entry : entries)
    entry.value = static_cast<double>(bit_cast<int64_t>(entry.value));
  return false;
}

/// Adds the value of an entry to that of the last one.
Error CoordinateBuilder::addToSum(CoordinateMatrix &matrix,
                                  const Entry &entry) const {
  bool overflows = false;
  if (!matrix.integers.empty()) {
    int64_t &sum = matrix.integers.back();
    overflows = AddOverflow(sum, bit_cast<int64_t>(entry.value), sum);
  } else {
    double &sum = matrix.values.back();
    bool isFinite = std::isfinite(sum) && std::isfinite(entry.value);
    sum += entry.value;
    overflows = isFinite && !std::isfinite(sum);
  }
  if (!overflows)
    return Error::success();
  return lineError(file, entry.line,
                   Twine("the sum of this and the values given before at its "
                         "coordinate overflows an ") +
                       (matrix.integers.empty() ? "f64" : "i64"),
                   "scale the values");
}

Expected<DenseArray>
sparse_autograd::io::expandValues(const CoordinateMatrix &matrix,
                                  ElementType type, const SizeLimits &limits,
                                  StringRef name) {
  if (type != ElementType::F32 && type != ElementType::F64)
    return fileError(
        name, "a sparse matrix has no values of type " + getTypeName(type),
        "expand it to f32 or f64");
  if (!matrix.integers.empty())
    return fileError(name, "an integer is not exact as an " + getTypeName(type),
                     "write the matrix as real if rounding is meant");
  Expected<DenseArray> array =
      makeDenseArray(name, type, {matrix.rows, matrix.columns}, limits);
  if (!array)
    return array.takeError();
  for (int64_t i = 0, e = matrix.getNumEntries(); i < e; ++i) {
    int64_t index =
        matrix.rowIndices[i] * matrix.columns + matrix.columnIndices[i];
    double value = matrix.getValue(i);
    if (type == ElementType::F64) {
      array->as<double>()[index] = value;
      continue;
    }
    float narrow = static_cast<float>(value);
    if (std::isinf(narrow) && !std::isinf(value))
      return fileError(name,
                       "the value at row " + Twine(matrix.rowIndices[i]) +
                           ", column " + Twine(matrix.columnIndices[i]) +
                           " (counting from 0) overflows an f32",
                       "expand the matrix to f64");
    array->as<float>()[index] = narrow;
  }
  return array;
}
