//===- MatrixMarket.cpp - The Matrix Market exchange format -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/MatrixMarket.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "SparseAutograd/IO/TextLines.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace llvm;
using namespace sparse_autograd::io;

static constexpr StringLiteral banner = "%%MatrixMarket";

namespace {

enum class Field { Real, Integer, Pattern };
enum class Symmetry { General, Symmetric, SkewSymmetric };

/// Reads one file from its banner to its end.
class Reader {
public:
  Reader(StringRef text, StringRef file, Duplicates duplicates,
         const SizeLimits &limits)
      : lines(text, file), file(file), duplicates(duplicates), limits(limits) {}

  Expected<std::variant<CoordinateMatrix, DenseArray>> read();

private:
  Error readBanner();
  bool nextDataLine(StringRef &line);
  Error readSizes(MutableArrayRef<int64_t> sizes, StringRef names);
  Error readIndex(StringRef &line, int64_t extent, StringRef what,
                  int64_t &index);
  Error readReal(StringRef &line, double &value);
  Error readInteger(StringRef &line, int64_t &value);
  Error checkLineEnd(StringRef line);
  Error checkFileEnd(int64_t count);
  Expected<CoordinateMatrix> readCoordinate();
  Error readEntry(StringRef line, CoordinateBuilder &builder);
  Expected<DenseArray> readArray();

  LineReader lines;
  StringRef file;
  Duplicates duplicates;
  const SizeLimits &limits;
  bool isCoordinate = false;
  Field field = Field::Real;
  Symmetry symmetry = Symmetry::General;
  int64_t rows = 0;
  int64_t columns = 0;
};

} // namespace

bool sparse_autograd::io::isMatrixMarket(StringRef bytes) {
  return bytes.starts_with_insensitive(banner);
}

Error Reader::readBanner() {
  StringRef line;
  (void)lines.next(line);
  StringRef rest = line;
  if (!takeField(rest).equals_insensitive(banner))
    return lines.error("the file does not begin with '%%MatrixMarket'",
                       "add the banner of a Matrix Market file");
  StringRef object = takeField(rest);
  StringRef format = takeField(rest);
  StringRef type = takeField(rest);
  StringRef shape = takeField(rest);
  StringRef remedy = "write it as '%%MatrixMarket matrix coordinate|array "
                     "real|integer|pattern general|symmetric|skew-symmetric'";
  if (!object.equals_insensitive("matrix"))
    return lines.error("the file holds " + quoted(object) + ", not a matrix",
                       remedy);
  isCoordinate = format.equals_insensitive("coordinate");
  if (!isCoordinate && !format.equals_insensitive("array"))
    return lines.error("the format " + quoted(format) + " is not known",
                       remedy);
  if (type.equals_insensitive("complex"))
    return lines.error("complex matrices are not supported",
                       "store the real and the imaginary part apart");
  if (shape.equals_insensitive("hermitian"))
    return lines.error("hermitian matrices are not supported",
                       "store the real and the imaginary part apart");
  if (type.equals_insensitive("real") || type.equals_insensitive("double"))
    field = Field::Real;
  else if (type.equals_insensitive("integer"))
    field = Field::Integer;
  else if (type.equals_insensitive("pattern"))
    field = Field::Pattern;
  else
    return lines.error("the field " + quoted(type) + " is not known", remedy);
  if (shape.equals_insensitive("general"))
    symmetry = Symmetry::General;
  else if (shape.equals_insensitive("symmetric"))
    symmetry = Symmetry::Symmetric;
  else if (shape.equals_insensitive("skew-symmetric"))
    symmetry = Symmetry::SkewSymmetric;
  else
    return lines.error("the symmetry " + quoted(shape) + " is not known",
                       remedy);
  if (!rest.trim(" \t").empty())
    return lines.error("the banner goes on with " + quoted(rest.trim(" \t")),
                       remedy);
  if (field == Field::Pattern && !isCoordinate)
    return lines.error("a pattern cannot have the format array",
                       "write it with the format coordinate");
  if (field == Field::Pattern && symmetry == Symmetry::SkewSymmetric)
    return lines.error("a pattern cannot be skew-symmetric",
                       "write it as symmetric or general");
  return Error::success();
}

/// Skips comments and blank lines, which may stand anywhere.
bool Reader::nextDataLine(StringRef &line) {
  while (lines.nextNonBlank(line))
    if (!line.starts_with("%"))
      return true;
  return false;
}

Error Reader::checkLineEnd(StringRef line) {
  line = line.trim(" \t");
  if (line.empty())
    return Error::success();
  return lines.error("the line goes on with " + quoted(line),
                     "write one entry a line");
}

Error Reader::readInteger(StringRef &line, int64_t &value) {
  StringRef text = takeField(line);
  switch (parseInteger(text, value)) {
  case NumberError::None:
    return Error::success();
  case NumberError::NotANumber:
    return lines.error(text.empty() ? "the line ends before its last number"
                                    : quoted(text) + " is not an integer",
                       "write an integer there");
  case NumberError::Overflow:
    return lines.error(quoted(text) + " does not fit 64 bits",
                       "write a smaller integer");
  }
  llvm_unreachable("every number error is listed");
}

Error Reader::readReal(StringRef &line, double &value) {
  StringRef text = takeField(line);
  switch (parseReal(text, value)) {
  case NumberError::None:
    return Error::success();
  case NumberError::NotANumber:
    return lines.error(text.empty() ? "the line ends before its last number"
                                    : quoted(text) + " is not a number",
                       "write a decimal number there");
  case NumberError::Overflow:
    return lines.error(quoted(text) + " overflows an f64",
                       "scale the matrix, or write inf");
  }
  llvm_unreachable("every number error is listed");
}

Error Reader::readSizes(MutableArrayRef<int64_t> sizes, StringRef names) {
  StringRef line;
  if (!nextDataLine(line))
    return lines.error("the file ends before the line of sizes",
                       "add a line with " + names);
  for (int64_t &size : sizes) {
    if (Error error = readInteger(line, size))
      return error;
    if (size < 0)
      return lines.error("a size is negative", "write " + names);
  }
  if (Error error = checkLineEnd(line))
    return error;
  rows = sizes[0];
  columns = sizes[1];
  if (symmetry != Symmetry::General && rows != columns)
    return lines.error("a symmetric or skew-symmetric matrix is not " +
                           Twine(rows) + " by " + Twine(columns),
                       "write it as general");
  return Error::success();
}

Error Reader::readIndex(StringRef &line, int64_t extent, StringRef what,
                        int64_t &index) {
  if (Error error = readInteger(line, index))
    return error;
  if (index < 1 || index > extent)
    return lines.error(what + " " + Twine(index) + " is not in 1 to " +
                           Twine(extent),
                       "count rows and columns from 1, within the sizes");
  --index;
  return Error::success();
}

Error Reader::checkFileEnd(int64_t count) {
  StringRef line;
  if (!nextDataLine(line))
    return Error::success();
  return lines.error("the file goes on after its " + Twine(count) + " entries",
                     "correct the line of sizes or remove the rest");
}

Error Reader::readEntry(StringRef line, CoordinateBuilder &builder) {
  int64_t row = 0, column = 0;
  if (Error error = readIndex(line, rows, "row", row))
    return error;
  if (Error error = readIndex(line, columns, "column", column))
    return error;
  double value = 1;
  int64_t integer = 1;
  bool isInteger = field == Field::Integer;
  if (field == Field::Real)
    if (Error error = readReal(line, value))
      return error;
  if (isInteger)
    if (Error error = readInteger(line, integer))
      return error;
  if (Error error = checkLineEnd(line))
    return error;
  auto add = [&](int64_t row, int64_t column, int sign) {
    if (isInteger)
      builder.addInteger(row, column, sign * integer, lines.getLine());
    else
      builder.add(row, column, sign * value, lines.getLine());
  };
  add(row, column, 1);
  if (symmetry == Symmetry::General)
    return Error::success();
  bool isSkew = symmetry == Symmetry::SkewSymmetric;
  if (isSkew && integer == std::numeric_limits<int64_t>::min())
    return lines.error("the negative of " + Twine(integer) +
                           " does not fit 64 bits",
                       "write a smaller integer");
  if (row != column)
    add(column, row, isSkew ? -1 : 1);
  else if (isSkew && (isInteger ? integer != 0 : value != 0))
    return lines.error("a skew-symmetric matrix has no diagonal",
                       "remove the entry or write the matrix as general");
  return Error::success();
}

Expected<CoordinateMatrix> Reader::readCoordinate() {
  int64_t sizes[3] = {};
  if (Error error = readSizes(sizes, "rows, columns and entries"))
    return std::move(error);
  int64_t count = sizes[2];
  // The shortest entry is "1 1" or "1 1 1" and an end of line, which the last
  // may lack.
  uint64_t shortest = field == Field::Pattern ? 4 : 6;
  uint64_t possible = (lines.getRest().size() + 1) / shortest;
  if (static_cast<uint64_t>(count) > possible)
    return lines.error("the file is too short to hold " + Twine(count) +
                           " entries",
                       "correct the number, or copy the file again");
  CoordinateBuilder builder(file, /*base=*/1);
  bool isMirrored = symmetry != Symmetry::General;
  if (Error error = builder.reserve(isMirrored ? 2 * count : count, limits))
    return std::move(error);
  StringRef line;
  for (int64_t i = 0; i < count; ++i) {
    if (!nextDataLine(line))
      return lines.error("the file ends after " + Twine(i) + " of " +
                             Twine(count) + " entries",
                         "correct the number, or copy the file again");
    if (Error error = readEntry(line, builder))
      return std::move(error);
  }
  if (Error error = checkFileEnd(count))
    return std::move(error);
  return builder.build(rows, columns, field == Field::Pattern, duplicates,
                       limits);
}

Expected<DenseArray> Reader::readArray() {
  int64_t sizes[2] = {};
  if (Error error = readSizes(sizes, "rows and columns"))
    return std::move(error);
  bool isInteger = field == Field::Integer;
  bool isSkew = symmetry == Symmetry::SkewSymmetric;
  std::optional<uint64_t> bytes =
      getByteSize(ElementType::F64, {rows, columns});
  // A symmetric file holds rather more than half; the shortest entry is a digit
  // and an end of line. A skew-symmetric file of one row holds nothing.
  uint64_t elements = bytes ? *bytes / 8 : 0;
  uint64_t count = symmetry == Symmetry::General ? elements
                   : isSkew                      ? (elements - rows) / 2
                                                 : (elements + rows) / 2;
  if (!bytes || count > (lines.getRest().size() + 1) / 2)
    return lines.error("the file is too short to hold " + Twine(rows) + " by " +
                           Twine(columns) + " values",
                       "correct the sizes, or copy the file again");
  Expected<DenseArray> array =
      makeDenseArray(file, isInteger ? ElementType::I64 : ElementType::F64,
                     {rows, columns}, limits);
  if (!array)
    return array.takeError();
  array->isText = true;

  auto store = [&](int64_t row, int64_t column, double real, int64_t integer) {
    if (isInteger)
      array->as<int64_t>()[row * columns + column] = integer;
    else
      array->as<double>()[row * columns + column] = real;
  };
  uint64_t done = 0;
  StringRef line;
  // Without rows there is nothing to go through, however many columns.
  for (int64_t column = 0; column < columns && rows > 0; ++column) {
    int64_t first = symmetry == Symmetry::General ? 0 : column + isSkew;
    for (int64_t row = first; row < rows; ++row, ++done) {
      if (!nextDataLine(line))
        return lines.error("the file ends after " + Twine(done) + " of " +
                               Twine(count) + " values",
                           "correct the sizes, or copy the file again");
      double real = 0;
      int64_t integer = 0;
      if (Error error =
              isInteger ? readInteger(line, integer) : readReal(line, real))
        return std::move(error);
      if (Error error = checkLineEnd(line))
        return std::move(error);
      store(row, column, real, integer);
      if (symmetry == Symmetry::General || row == column)
        continue;
      if (isSkew && integer == std::numeric_limits<int64_t>::min())
        return lines.error("the negative of " + Twine(integer) +
                               " does not fit 64 bits",
                           "write a smaller integer");
      store(column, row, isSkew ? -real : real, isSkew ? -integer : integer);
    }
  }
  if (Error error = checkFileEnd(count))
    return std::move(error);
  return array;
}

Expected<std::variant<CoordinateMatrix, DenseArray>> Reader::read() {
  if (Error error = readBanner())
    return std::move(error);
  if (!isCoordinate) {
    Expected<DenseArray> array = readArray();
    if (!array)
      return array.takeError();
    return std::move(*array);
  }
  Expected<CoordinateMatrix> matrix = readCoordinate();
  if (!matrix)
    return matrix.takeError();
  return std::move(*matrix);
}

Expected<std::variant<CoordinateMatrix, DenseArray>>
sparse_autograd::io::parseMatrixMarket(StringRef text, StringRef file,
                                       Duplicates duplicates,
                                       const SizeLimits &limits) {
  return Reader(text, file, duplicates, limits).read();
}

void sparse_autograd::io::writeMatrixMarket(raw_ostream &stream,
                                            const CoordinateMatrix &matrix) {
  stream << banner << " matrix coordinate "
         << (matrix.isPattern          ? "pattern"
             : matrix.integers.empty() ? "real"
                                       : "integer")
         << " general\n"
         << matrix.rows << ' ' << matrix.columns << ' '
         << matrix.getNumEntries() << '\n';
  for (int64_t i = 0, e = matrix.getNumEntries(); i < e; ++i) {
    stream << matrix.rowIndices[i] + 1 << ' ' << matrix.columnIndices[i] + 1;
    if (!matrix.integers.empty())
      stream << ' ' << matrix.integers[i];
    else if (!matrix.isPattern) {
      stream << ' ';
      writeReal(stream, matrix.values[i]);
    }
    stream << '\n';
  }
}

Error sparse_autograd::io::writeMatrixMarket(raw_ostream &stream,
                                             const DenseArray &array,
                                             StringRef file) {
  if (array.shape.size() != 2)
    return fileError(file,
                     "an array of " + Twine(array.shape.size()) +
                         " dimensions is not a matrix",
                     "write it to a .npy or .tns file");
  stream << banner << " matrix array "
         << (isFloat(array.type) ? "real" : "integer") << " general\n"
         << array.shape[0] << ' ' << array.shape[1] << '\n';
  int64_t columns = array.shape[0] > 0 ? array.shape[1] : 0;
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t row = 0; row < array.shape[0]; ++row) {
      int64_t index = row * array.shape[1] + column;
      writeElement(stream, array, index);
      stream << '\n';
    }
  }
  return Error::success();
}

Error sparse_autograd::io::writeMatrixMarket(raw_ostream &stream,
                                             const CoordinateTensor &tensor,
                                             StringRef file) {
  if (tensor.getRank() != 2)
    return fileError(file,
                     "a tensor of " + Twine(tensor.getRank()) +
                         " dimensions is not a matrix",
                     "write it to a .tns or .npz file");
  if (Error error = checkHeldByText(tensor, /*asDoubles=*/false, file))
    return error;
  stream << banner << " matrix coordinate "
         << (tensor.isPattern              ? "pattern"
             : isFloat(tensor.values.type) ? "real"
                                           : "integer")
         << " general\n"
         << tensor.shape[0] << ' ' << tensor.shape[1] << ' '
         << tensor.getNumEntries() << '\n';
  for (int64_t i = 0, e = tensor.getNumEntries(); i < e; ++i) {
    ArrayRef<int64_t> at = tensor.getCoordinates(i);
    stream << at[0] + 1 << ' ' << at[1] + 1;
    if (!tensor.isPattern) {
      stream << ' ';
      writeElement(stream, tensor.values, i);
    }
    stream << '\n';
  }
  return Error::success();
}
