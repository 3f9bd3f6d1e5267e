//===- Tns.cpp - The text format of FROSTT ----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Tns.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "SparseAutograd/IO/TextLines.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace sparse_autograd::io;

namespace {

/// Reads one file.
class TnsReader {
public:
  TnsReader(StringRef text, StringRef file, Duplicates duplicates,
            const SizeLimits &limits)
      : lines(text, file), file(file), duplicates(duplicates), limits(limits) {}

  Expected<CoordinateTensor> read();

private:
  bool nextEntry(StringRef &line);
  Error readRank(StringRef line);
  Error reserve();
  Error readEntry(StringRef line);
  Error makeValues();

  LineReader lines;
  StringRef file;
  Duplicates duplicates;
  const SizeLimits &limits;
  CoordinateTensor tensor;
  std::vector<double> values;
  /// Where the entries stand.
  std::vector<int64_t> places;
};

} // namespace

/// Skips comments and blank lines.
bool TnsReader::nextEntry(StringRef &line) {
  while (lines.nextNonBlank(line))
    if (!line.ltrim(" \t").starts_with("#"))
      return true;
  return false;
}

Error TnsReader::readRank(StringRef line) {
  size_t fields = 0;
  while (!takeField(line).empty())
    ++fields;
  if (fields < 2)
    return lines.error("the line has one number",
                       "write the coordinates of an entry and its value");
  if (fields - 1 > limits.rank)
    return lines.error("the tensor has " + Twine(fields - 1) +
                           " dimensions, more than the limit of " +
                           Twine(limits.rank),
                       "store it with fewer dimensions");
  tensor.shape.assign(fields - 1, 0);
  tensor.isInferred.assign(fields - 1, true);
  return Error::success();
}

/// Asks for the memory of as many entries as there are lines.
Error TnsReader::reserve() {
  uint64_t count = 1 + lines.getRest().count('\n') + 1;
  uint64_t bytes = SaturatingMultiply<uint64_t>(count, (tensor.getRank() + 2) *
                                                           sizeof(int64_t));
  if (Error error = checkMemory(file, bytes, limits))
    return error;
  tensor.coordinates.reserve(count * tensor.getRank());
  values.reserve(count);
  places.reserve(count);
  return Error::success();
}

Error TnsReader::readEntry(StringRef line) {
  StringRef remedy = "write as many numbers in every line";
  for (int64_t &extent : tensor.shape) {
    StringRef text = takeField(line);
    int64_t coordinate = 0;
    switch (parseInteger(text, coordinate)) {
    case NumberError::None:
      break;
    case NumberError::NotANumber:
      if (text.empty())
        return lines.error("the line ends before its last number", remedy);
      return lines.error(quoted(text) + " is not an integer",
                         "write a coordinate there, counting from 1");
    case NumberError::Overflow:
      return lines.error(quoted(text) + " does not fit 64 bits",
                         "write a coordinate there, counting from 1");
    }
    if (coordinate < 1)
      return lines.error("the coordinate " + Twine(coordinate) +
                             " is less than 1",
                         "count coordinates from 1");
    extent = std::max(extent, coordinate);
    tensor.coordinates.push_back(coordinate - 1);
  }
  StringRef text = takeField(line);
  double value = 0;
  switch (parseReal(text, value)) {
  case NumberError::None:
    break;
  case NumberError::NotANumber:
    if (text.empty())
      return lines.error("the line ends before its last number", remedy);
    return lines.error(quoted(text) + " is not a number",
                       "write a decimal number there");
  case NumberError::Overflow:
    return lines.error(quoted(text) + " overflows an f64",
                       "scale the tensor, or write inf");
  }
  if (!takeField(line).empty())
    return lines.error("the line has more than " + Twine(tensor.getRank() + 1) +
                           " numbers",
                       remedy);
  values.push_back(value);
  places.push_back(lines.getLine());
  return Error::success();
}

Error TnsReader::makeValues() {
  Expected<DenseArray> array = makeDenseArray(
      file, ElementType::F64, {static_cast<int64_t>(values.size())}, limits);
  if (!array)
    return array.takeError();
  llvm::copy(values, array->as<double>().begin());
  tensor.values = std::move(*array);
  return Error::success();
}

Expected<CoordinateTensor> TnsReader::read() {
  StringRef line;
  if (!nextEntry(line))
    return lines.error("the file has no entry, which would tell the rank",
                       "write at least one");
  if (Error error = readRank(line))
    return std::move(error);
  if (Error error = reserve())
    return std::move(error);
  do {
    if (Error error = readEntry(line))
      return std::move(error);
  } while (nextEntry(line));
  if (Error error = makeValues())
    return std::move(error);
  auto refuse = [&](int64_t first, int64_t second) {
    return lineError(
        file, places[second],
        "coordinate " +
            formatCoordinates(tensor.getCoordinates(second), /*base=*/1) +
            " was given before, on line " + Twine(places[first]),
        "remove one of the two, or ask for duplicates to be coalesced");
  };
  if (Error error = sortEntries(tensor, duplicates, limits, file, refuse))
    return std::move(error);
  return std::move(tensor);
}

Expected<CoordinateTensor>
sparse_autograd::io::parseTns(StringRef text, StringRef file,
                              Duplicates duplicates, const SizeLimits &limits) {
  return TnsReader(text, file, duplicates, limits).read();
}

void sparse_autograd::io::writeTns(raw_ostream &stream,
                                   const CoordinateTensor &tensor) {
  stream << "# extents:";
  for (int64_t extent : tensor.shape)
    stream << ' ' << extent;
  stream << '\n';
  for (int64_t i = 0, e = tensor.getNumEntries(); i < e; ++i) {
    for (int64_t coordinate : tensor.getCoordinates(i))
      stream << coordinate + 1 << ' ';
    if (tensor.isPattern)
      stream << 1;
    else
      writeElement(stream, tensor.values, i);
    stream << '\n';
  }
}
