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
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <optional>

using namespace llvm;
using namespace sparse_autograd::io;

/// What a comment that states the extents begins with, in our files.
static constexpr StringLiteral extentsComment = "# extents:";
/// The comment that MLIR's own runtime writes above its header.
static constexpr StringLiteral extendedComment = "# extended FROSTT";

static bool isComment(StringRef line) {
  return line.ltrim(" \t").starts_with("#");
}

/// The fields of a line if each is an integer that is not negative.
static std::optional<SmallVector<int64_t>> parseSizes(StringRef line) {
  SmallVector<int64_t> sizes;
  for (StringRef field = takeField(line); !field.empty();
       field = takeField(line)) {
    int64_t size = 0;
    if (parseInteger(field, size) != NumberError::None || size < 0)
      return std::nullopt;
    sizes.push_back(size);
  }
  return sizes;
}

static size_t countFields(StringRef line) {
  size_t fields = 0;
  while (!takeField(line).empty())
    ++fields;
  return fields;
}

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
  void readComment(StringRef line);
  bool hasHeader(StringRef line) const;
  Error readHeader(StringRef line);
  Error setRank(size_t rank);
  Error setExtents();
  Error reserve();
  Error readEntry(StringRef line);
  Error makeValues();

  LineReader lines;
  StringRef file;
  Duplicates duplicates;
  const SizeLimits &limits;
  CoordinateTensor tensor;
  /// The extents that a comment or a header states, and its line.
  std::optional<SmallVector<int64_t>> extents;
  int64_t extentsLine = 0;
  /// A comment says that there is a header.
  bool isExtended = false;
  /// The entries that a header states.
  std::optional<int64_t> statedEntries;
  std::vector<double> values;
  /// The values, as long as they are integers of 64 bits.
  std::vector<int64_t> integers;
  bool areIntegers = true;
  /// The first line whose value is an integer that an f64 does not hold.
  std::optional<int64_t> inexactLine;
  /// Where the entries stand.
  std::vector<int64_t> places;
};

} // namespace

/// Skips comments and blank lines.
bool TnsReader::nextEntry(StringRef &line) {
  while (lines.nextNonBlank(line)) {
    if (!isComment(line))
      return true;
    if (places.empty())
      readComment(line.ltrim(" \t"));
  }
  return false;
}

/// A comment above the entries may state the extents; any other text is one
/// for people.
void TnsReader::readComment(StringRef line) {
  isExtended |= line.starts_with(extendedComment);
  if (extents || !line.consume_front(extentsComment))
    return;
  std::optional<SmallVector<int64_t>> sizes = parseSizes(line);
  if (!sizes || sizes->empty())
    return;
  extents = std::move(*sizes);
  extentsLine = lines.getLine();
}

/// Whether `line` begins the header of extended FROSTT: rank and number of
/// entries, then a line with the extents. Unless a comment says so, it is one
/// if these two cannot be entries of a vector, whose lines have two numbers.
bool TnsReader::hasHeader(StringRef line) const {
  if (isExtended)
    return true;
  std::optional<SmallVector<int64_t>> sizes = parseSizes(line);
  if (!sizes || sizes->size() != 2 || extents)
    return false;
  SmallVector<StringRef, 2> next;
  LineReader ahead = lines;
  for (StringRef text; next.size() < 2 && ahead.nextNonBlank(text);)
    if (!isComment(text))
      next.push_back(text);
  if (next.empty())
    return false;
  std::optional<SmallVector<int64_t>> stated = parseSizes(next[0]);
  if (!stated || static_cast<int64_t>(stated->size()) != sizes->front())
    return false;
  return stated->size() != 2 || (next.size() == 2 && countFields(next[1]) == 3);
}

Error TnsReader::readHeader(StringRef line) {
  StringRef remedy = "begin with a line of rank and number of entries, then "
                     "one of as many extents";
  std::optional<SmallVector<int64_t>> sizes = parseSizes(line);
  if (!sizes || sizes->size() != 2)
    return lines.error("the line does not give the rank and the number of "
                       "entries",
                       remedy);
  statedEntries = sizes->back();
  if (Error error = setRank(sizes->front()))
    return error;
  StringRef text;
  if (!nextEntry(text))
    return lines.error("the file ends before the extents", remedy);
  extents = parseSizes(text);
  extentsLine = lines.getLine();
  if (!extents || extents->size() != tensor.getRank())
    return lines.error("the line does not give " + Twine(tensor.getRank()) +
                           " extents",
                       remedy);
  return Error::success();
}

Error TnsReader::setRank(size_t rank) {
  if (rank < 1 || rank > limits.rank)
    return lines.error("the tensor has " + Twine(rank) +
                           " dimensions, which are not 1 to " +
                           Twine(limits.rank),
                       "store it with other dimensions");
  tensor.shape.assign(rank, 0);
  tensor.isInferred.assign(rank, true);
  return Error::success();
}

/// Takes the extents that the file states, which must hold what was read.
Error TnsReader::setExtents() {
  if (!extents)
    return Error::success();
  if (tensor.shape.empty())
    if (Error error = setRank(extents->size()))
      return error;
  if (extents->size() != tensor.getRank())
    return lineError(file, extentsLine,
                     "the line gives " + Twine(extents->size()) +
                         " extents, the entries have " +
                         Twine(tensor.getRank()) + " coordinates",
                     "correct the line or remove it");
  for (auto [dim, extent] : llvm::enumerate(*extents))
    if (tensor.shape[dim] > extent)
      return lineError(file, extentsLine,
                       "the extent " + Twine(extent) + " of dimension " +
                           Twine(dim) + " is less than the coordinate " +
                           Twine(tensor.shape[dim]) + " of an entry",
                       "correct the line or remove it");
  tensor.shape.assign(extents->begin(), extents->end());
  tensor.isInferred.assign(tensor.getRank(), false);
  return Error::success();
}

/// Asks for the memory of as many entries as there are lines.
Error TnsReader::reserve() {
  uint64_t count = 1 + lines.getRest().count('\n') + 1;
  uint64_t bytes = SaturatingMultiply<uint64_t>(count, (tensor.getRank() + 3) *
                                                           sizeof(int64_t));
  if (Error error = checkMemory(file, bytes, limits))
    return error;
  tensor.coordinates.reserve(count * tensor.getRank());
  values.reserve(count);
  integers.reserve(count);
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
  int64_t integer = 0;
  // There is no integer -0.
  if (parseInteger(text, integer) != NumberError::None ||
      (integer == 0 && std::signbit(value)))
    areIntegers = false;
  // 2^63 itself would not convert back.
  else if (value >= 0x1p63 || static_cast<int64_t>(value) != integer)
    inexactLine = inexactLine.value_or(lines.getLine());
  integers.push_back(integer);
  values.push_back(value);
  places.push_back(lines.getLine());
  return Error::success();
}

Error TnsReader::makeValues() {
  if (inexactLine && !areIntegers)
    return lineError(file, *inexactLine,
                     "the integer is not exact as an f64, which values that "
                     "are no integers need",
                     "write it with a decimal point if rounding is meant");
  Expected<DenseArray> array =
      makeDenseArray(file, inexactLine ? ElementType::I64 : ElementType::F64,
                     {static_cast<int64_t>(values.size())}, limits);
  if (!array)
    return array.takeError();
  array->isText = true;
  if (inexactLine)
    llvm::copy(integers, array->as<int64_t>().begin());
  else
    llvm::copy(values, array->as<double>().begin());
  tensor.values = std::move(*array);
  return Error::success();
}

Expected<CoordinateTensor> TnsReader::read() {
  StringRef line;
  bool hasEntry = nextEntry(line);
  if (hasEntry && hasHeader(line)) {
    if (Error error = readHeader(line))
      return std::move(error);
    hasEntry = nextEntry(line);
  }
  if (!hasEntry && !extents)
    return lines.error("the file has no entry, which would tell the rank",
                       "write at least one, or a line '# extents: ...'");
  if (hasEntry && tensor.shape.empty()) {
    size_t fields = countFields(line);
    if (fields < 2)
      return lines.error("the line has one number",
                         "write the coordinates of an entry and its value");
    if (Error error = setRank(fields - 1))
      return std::move(error);
  }
  if (Error error = reserve())
    return std::move(error);
  for (; hasEntry; hasEntry = nextEntry(line))
    if (Error error = readEntry(line))
      return std::move(error);
  if (statedEntries && *statedEntries != static_cast<int64_t>(values.size()))
    return lines.error("the header gives " + Twine(*statedEntries) +
                           " entries, the file has " + Twine(values.size()),
                       "correct the header, or copy the file again");
  if (Error error = setExtents())
    return std::move(error);
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

Error sparse_autograd::io::writeTns(raw_ostream &stream,
                                    const CoordinateTensor &tensor,
                                    StringRef file) {
  if (Error error = checkHeldByText(tensor, /*asDoubles=*/false, file))
    return error;
  stream << extentsComment;
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
  return Error::success();
}
