//===- Smtx.cpp - Sparsity patterns of the DLMC collection ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Smtx.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "SparseAutograd/IO/TextLines.h"

using namespace llvm;
using namespace sparse_autograd::io;

/// Reads one non-negative integer of `line`, at most `largest`.
static Error readNumber(LineReader &lines, StringRef text, int64_t largest,
                        const Twine &what, int64_t &value) {
  switch (parseInteger(text, value)) {
  case NumberError::None:
    break;
  case NumberError::NotANumber:
    return lines.error(quoted(text) + " is not an integer",
                       "write " + what + " there");
  case NumberError::Overflow:
    return lines.error(quoted(text) + " does not fit 64 bits",
                       "write " + what + " there");
  }
  if (value < 0 || value > largest)
    return lines.error(Twine(value) + " is not in 0 to " + Twine(largest),
                       "write " + what + " there");
  return Error::success();
}

/// Reads the first line: rows, columns and nnz between commas.
static Error readSizes(LineReader &lines, MutableArrayRef<int64_t> sizes) {
  StringRef remedy = "begin with a line 'rows, columns, nnz'";
  StringRef line;
  if (!lines.next(line))
    return lines.error("the file is empty", remedy);
  StringRef rest = line;
  for (int64_t &size : sizes) {
    bool isLast = &size == sizes.end() - 1;
    size_t comma = rest.find(',');
    if (isLast != (comma == StringRef::npos))
      return lines.error("the first line does not have three numbers", remedy);
    StringRef text = rest.take_front(comma).trim(" \t");
    rest = isLast ? StringRef() : rest.drop_front(comma + 1);
    if (Error error = readNumber(
            lines, text, std::numeric_limits<int64_t>::max(), "a size", size))
      return error;
  }
  return Error::success();
}

Expected<CoordinateMatrix>
sparse_autograd::io::parseSmtx(StringRef text, StringRef file,
                               Duplicates duplicates,
                               const SizeLimits &limits) {
  LineReader lines(text, file);
  int64_t sizes[3] = {};
  if (Error error = readSizes(lines, sizes))
    return std::move(error);
  auto [rows, columns, count] = sizes;
  // A digit and a separator for each offset, of which there are rows + 1, and
  // for each column.
  uint64_t possible = (lines.getRest().size() + 1) / 2;
  if (uint64_t(rows) >= possible || uint64_t(count) > possible - rows - 1)
    return lines.error("the file is too short to hold " + Twine(rows) +
                           " rows and " + Twine(count) + " entries",
                       "correct the first line, or copy the file again");
  CoordinateBuilder builder(file, /*base=*/0);
  if (Error error = builder.reserve(count, limits))
    return std::move(error);

  StringRef offsetLine, columnLine;
  (void)lines.next(offsetLine);
  int64_t offset = 0;
  std::vector<int64_t> offsets;
  if (Error error = checkMemory(file, (rows + 1) * sizeof(int64_t), limits))
    return std::move(error);
  offsets.reserve(rows + 1);
  for (int64_t i = 0; i <= rows; ++i) {
    StringRef field = takeField(offsetLine);
    if (field.empty())
      return lines.error("the line ends after " + Twine(i) + " of " +
                             Twine(rows + 1) + " row offsets",
                         "correct the first line, or copy the file again");
    if (Error error = readNumber(lines, field, count, "a row offset", offset))
      return std::move(error);
    if (i == 0 ? offset != 0 : offset < offsets.back())
      return lines.error("row offset " + Twine(offset) + " (number " +
                             Twine(i + 1) + ") " +
                             (i == 0 ? "is not 0"
                                     : "is less than the one "
                                       "before it"),
                         "write offsets that begin at 0 and never decrease");
    offsets.push_back(offset);
  }
  if (!takeField(offsetLine).empty() || offset != count)
    return lines.error("the row offsets are not " + Twine(rows + 1) +
                           ", ending at " + Twine(count),
                       "correct the first line, or the offsets");

  // Without entries the line may be missing.
  bool hasColumns = lines.next(columnLine);
  int64_t row = 0;
  for (int64_t i = 0; i < count; ++i) {
    while (offsets[row + 1] <= i)
      ++row;
    StringRef field = takeField(columnLine);
    if (field.empty())
      return lines.error((hasColumns ? "the line ends" : "the file ends") +
                             Twine(" after ") + Twine(i) + " of " +
                             Twine(count) + " columns",
                         "correct the first line, or copy the file again");
    int64_t column = 0;
    if (Error error = readNumber(lines, field, columns - 1, "a column", column))
      return std::move(error);
    builder.add(row, column, 1, lines.getLine());
  }
  StringRef line;
  if (!takeField(columnLine).empty() || lines.nextNonBlank(line))
    return lines.error("the file goes on after its " + Twine(count) +
                           " columns",
                       "correct the first line or remove the rest");
  return builder.build(rows, columns, /*isPattern=*/true, duplicates, limits);
}

Error sparse_autograd::io::writeSmtx(raw_ostream &stream,
                                     const CoordinateTensor &tensor,
                                     StringRef file) {
  if (tensor.getRank() != 2)
    return fileError(file,
                     "a tensor of " + Twine(tensor.getRank()) +
                         " dimensions is not a matrix",
                     "write it to a .tns or .npz file");
  int64_t rows = tensor.shape[0], count = tensor.getNumEntries();
  for (int64_t i = 0; i < count && !tensor.isPattern; ++i)
    if (getAsDouble(tensor.values, i) != 1)
      return fileError(file,
                       describeValue(tensor, i) +
                           " is not 1, which is what a pattern, all that the "
                           "format has, stands for",
                       "write the tensor to a .mtx, .tns or .npz file");
  stream << rows << ", " << tensor.shape[1] << ", " << count << '\n';
  int64_t begun = 0;
  // A row begins with the first entry that is not before it.
  for (int64_t i = 0; i < count; ++i)
    for (; begun <= tensor.getCoordinates(i)[0]; ++begun)
      stream << (begun ? " " : "") << i;
  for (; begun <= rows; ++begun)
    stream << (begun ? " " : "") << count;
  stream << '\n';
  for (int64_t i = 0; i < count; ++i)
    stream << (i ? " " : "") << tensor.getCoordinates(i)[1];
  stream << '\n';
  return Error::success();
}
