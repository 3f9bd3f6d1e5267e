//===- TextLines.cpp - Lines, fields and numbers of text files ----*- C++
//-*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/TextLines.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "llvm/ADT/APFloat.h"
#include <charconv>
#include <cmath>

using namespace llvm;
using namespace sparse_autograd::io;

bool LineReader::next(StringRef &result) {
  if (rest.empty())
    return false;
  size_t end = rest.find('\n');
  result = rest.substr(0, end);
  rest = end == StringRef::npos ? StringRef() : rest.drop_front(end + 1);
  result.consume_back("\r");
  ++line;
  return true;
}

bool LineReader::nextNonBlank(StringRef &result) {
  while (next(result))
    if (result.find_first_not_of(" \t") != StringRef::npos)
      return true;
  return false;
}

Error LineReader::error(const Twine &problem, const Twine &remedy) const {
  return lineError(file, std::max<int64_t>(line, 1), problem, remedy);
}

StringRef sparse_autograd::io::takeField(StringRef &line) {
  line = line.ltrim(" \t");
  size_t end = std::min(line.find_first_of(" \t"), line.size());
  StringRef field = line.take_front(end);
  line = line.drop_front(end);
  return field;
}

/// Drops a plus sign, which from_chars does not know, unless another sign
/// follows.
static StringRef dropPlus(StringRef field) {
  if (field.size() > 1 && field[0] == '+' && field[1] != '-')
    return field.drop_front();
  return field;
}

NumberError sparse_autograd::io::parseInteger(StringRef field, int64_t &value) {
  field = dropPlus(field);
  auto [end, status] = std::from_chars(field.begin(), field.end(), value);
  if (end != field.end() || status == std::errc::invalid_argument)
    return NumberError::NotANumber;
  return status == std::errc() ? NumberError::None : NumberError::Overflow;
}

NumberError sparse_autograd::io::parseReal(StringRef field, double &value) {
  field = dropPlus(field);
  auto [end, status] = std::from_chars(field.begin(), field.end(), value);
  // nan(...) is C's notation, not one of data files.
  if (end != field.end() || status == std::errc::invalid_argument ||
      field.ends_with(")"))
    return NumberError::NotANumber;
  StringRef digits = field;
  digits.consume_front("-");
  bool isNamed = digits.starts_with_insensitive("inf") ||
                 digits.starts_with_insensitive("nan");
  if (status == std::errc::result_out_of_range) {
    // from_chars does not say whether the number is too large or too small, and
    // gives no value.
    APFloat exact(APFloat::IEEEdouble());
    auto rounding =
        exact.convertFromString(field, APFloat::rmNearestTiesToEven);
    if (!rounding) {
      consumeError(rounding.takeError());
      return NumberError::NotANumber;
    }
    value = exact.convertToDouble();
  }
  if (!isNamed && std::isinf(value))
    return NumberError::Overflow;
  return NumberError::None;
}

void sparse_autograd::io::writeReal(raw_ostream &stream, double value) {
  if (std::isnan(value)) {
    stream << "nan";
    return;
  }
  char buffer[32];
  auto [end, status] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  stream << StringRef(buffer, end - buffer);
}

void sparse_autograd::io::writeElement(raw_ostream &stream,
                                       const DenseArray &array, int64_t index) {
  if (isFloat(array.type))
    writeReal(stream, getAsDouble(array, index));
  else if (array.type == ElementType::I64)
    stream << array.as<int64_t>()[index];
  else if (array.type == ElementType::U64)
    stream << array.as<uint64_t>()[index];
  else
    stream << static_cast<int64_t>(getAsDouble(array, index));
}
