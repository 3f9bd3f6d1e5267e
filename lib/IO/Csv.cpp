//===- Csv.cpp - Tables of (row, column, value) triplets --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Csv.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "SparseAutograd/IO/TextLines.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace sparse_autograd::io;

namespace {

/// Reads one table.
class Reader {
public:
  Reader(StringRef text, StringRef file, const CsvOptions &options,
         Duplicates duplicates, const SizeLimits &limits)
      : lines(text, file), file(file), options(options), duplicates(duplicates),
        limits(limits) {}

  Expected<TripletTable> read();

private:
  struct Triplet {
    int64_t rowId;
    int64_t columnId;
    double value;
    int64_t line;
  };

  Error splitLine(StringRef line);
  Error checkColumns();
  bool isHeader() const;
  Error readId(unsigned column, StringRef what, int64_t &id);
  Error readTriplet();

  LineReader lines;
  StringRef file;
  const CsvOptions &options;
  Duplicates duplicates;
  const SizeLimits &limits;
  SmallVector<StringRef> fields;
  std::vector<Triplet> triplets;
};

} // namespace

/// Splits a line into fields. A quoted field keeps its doubled quotes: none of
/// the numbers to be read has any.
Error Reader::splitLine(StringRef line) {
  fields.clear();
  while (true) {
    line = line.ltrim(" \t");
    StringRef field;
    if (line.consume_front("\"")) {
      size_t end = line.find('"');
      while (end != StringRef::npos && line.substr(end + 1).starts_with("\""))
        end = line.find('"', end + 2);
      if (end == StringRef::npos)
        return lines.error("a quoted field does not end on its line",
                           "close the quotes, or remove line breaks from "
                           "fields");
      field = line.take_front(end);
      line = line.drop_front(end + 1).ltrim(" \t");
      if (!line.empty() && line[0] != options.separator)
        return lines.error("text follows the quotes of a field",
                           "quote the whole field, and double quotes in it");
    } else {
      size_t end = std::min(line.find(options.separator), line.size());
      field = line.take_front(end).rtrim(" \t");
      line = line.drop_front(end);
    }
    fields.push_back(field);
    if (line.empty())
      return Error::success();
    line = line.drop_front();
  }
}

/// Checks that the columns to be read are there, on the first line.
Error Reader::checkColumns() {
  unsigned needed = std::max(options.rowColumn, options.columnColumn);
  if (options.valueColumn)
    needed = std::max(needed, *options.valueColumn);
  if (fields.size() <= needed)
    return lines.error("the line has " + Twine(fields.size()) +
                           " fields, and " + Twine(needed + 1) + " are needed",
                       "write row id, column id and value between commas, or "
                       "name other columns");
  unsigned used = options.valueColumn ? 3 : 2;
  if (!options.ignoreFurtherColumns && fields.size() > used)
    return lines.error("the line has " + Twine(fields.size()) +
                           " fields, more than the " + Twine(used) +
                           " to be read",
                       "remove them, or ask for further columns to be ignored");
  return Error::success();
}

bool Reader::isHeader() const {
  double value = 0;
  auto isNumber = [&](unsigned column) {
    return parseReal(fields[column], value) != NumberError::NotANumber;
  };
  return !isNumber(options.rowColumn) && !isNumber(options.columnColumn) &&
         !(options.valueColumn && isNumber(*options.valueColumn));
}

Error Reader::readId(unsigned column, StringRef what, int64_t &id) {
  switch (parseInteger(fields[column], id)) {
  case NumberError::None:
    return Error::success();
  case NumberError::NotANumber:
    return lines.error(what + " id " + quoted(fields[column]) +
                           " is not an integer",
                       "number the " + what + "s");
  case NumberError::Overflow:
    return lines.error(what + " id " + quoted(fields[column]) +
                           " does not fit 64 bits",
                       "use smaller ids");
  }
  llvm_unreachable("every number error is listed");
}

Error Reader::readTriplet() {
  Triplet triplet = {0, 0, 1, lines.getLine()};
  if (Error error = readId(options.rowColumn, "row", triplet.rowId))
    return error;
  if (Error error = readId(options.columnColumn, "column", triplet.columnId))
    return error;
  if (options.valueColumn) {
    StringRef text = fields[*options.valueColumn];
    switch (parseReal(text, triplet.value)) {
    case NumberError::None:
      break;
    case NumberError::NotANumber:
      return lines.error("the value " + quoted(text) + " is not a number",
                         "write a decimal number, or remove the line");
    case NumberError::Overflow:
      return lines.error("the value " + quoted(text) + " overflows an f64",
                         "scale the values");
    }
    int64_t integer = 0;
    // 2^63 itself would not convert back.
    if (parseInteger(text, integer) == NumberError::None &&
        (triplet.value >= 0x1p63 ||
         static_cast<int64_t>(triplet.value) != integer))
      return lines.error("the integer " + quoted(text) +
                             " is not exact as an f64",
                         "write it with a decimal point if rounding is meant");
    if (!std::isfinite(triplet.value) && !options.acceptNonFinite)
      return lines.error("the value " + quoted(text) + " is not finite",
                         "remove the line, or ask for such values to be "
                         "accepted");
  }
  triplets.push_back(triplet);
  return Error::success();
}

/// The distinct ids in increasing order.
template <typename GetId, typename Triplets>
static std::vector<int64_t> collectIds(const Triplets &triplets, GetId getId) {
  std::vector<int64_t> ids;
  ids.reserve(triplets.size());
  for (const auto &triplet : triplets)
    ids.push_back(getId(triplet));
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  ids.shrink_to_fit();
  return ids;
}

static int64_t findId(const std::vector<int64_t> &ids, int64_t id) {
  return std::lower_bound(ids.begin(), ids.end(), id) - ids.begin();
}

Expected<TripletTable> Reader::read() {
  // One entry a line at most, each in the builder and here, with its two ids.
  uint64_t mostEntries = lines.getRest().count('\n') + 1;
  constexpr uint64_t bytesPerTriplet =
      sizeof(Triplet) + CoordinateBuilder::bytesPerEntry + 2 * sizeof(int64_t);
  if (Error error = checkMemory(
          file, SaturatingMultiply(mostEntries, bytesPerTriplet), limits))
    return std::move(error);
  triplets.reserve(mostEntries);

  size_t numFields = 0;
  StringRef line;
  while (lines.nextNonBlank(line)) {
    if (Error error = splitLine(line))
      return std::move(error);
    if (numFields == 0) {
      numFields = fields.size();
      if (Error error = checkColumns())
        return std::move(error);
      if (isHeader())
        continue;
    }
    if (fields.size() != numFields)
      return lines.error("the line has " + Twine(fields.size()) +
                             " fields, and the first has " + Twine(numFields),
                         "give every line the same fields, or copy the file "
                         "again");
    if (Error error = readTriplet())
      return std::move(error);
  }
  if (triplets.empty())
    return lines.error("the file has no data", "add lines of row id, column "
                                               "id and value");

  TripletTable table;
  table.rowIds = collectIds(
      triplets, [](const Triplet &triplet) { return triplet.rowId; });
  table.columnIds = collectIds(
      triplets, [](const Triplet &triplet) { return triplet.columnId; });
  CoordinateBuilder builder(file, /*base=*/0);
  builder.setIds(&table.rowIds, &table.columnIds);
  if (Error error = builder.reserve(triplets.size(), limits))
    return std::move(error);
  for (const Triplet &triplet : triplets)
    builder.add(findId(table.rowIds, triplet.rowId),
                findId(table.columnIds, triplet.columnId), triplet.value,
                triplet.line);
  Expected<CoordinateMatrix> matrix =
      builder.build(table.rowIds.size(), table.columnIds.size(),
                    !options.valueColumn, duplicates, limits);
  if (!matrix)
    return matrix.takeError();
  table.matrix = std::move(*matrix);
  return table;
}

Expected<TripletTable> sparse_autograd::io::parseCsv(StringRef text,
                                                     StringRef file,
                                                     const CsvOptions &options,
                                                     Duplicates duplicates,
                                                     const SizeLimits &limits) {
  // Spreadsheets write a byte order mark.
  text.consume_front("\xef\xbb\xbf");
  return Reader(text, file, options, duplicates, limits).read();
}
