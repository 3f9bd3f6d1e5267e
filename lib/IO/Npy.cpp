//===- Npy.cpp - NumPy's .npy format ----------------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/IO/Npy.h"
#include "SparseAutograd/IO/Diagnostic.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

using namespace llvm;
using namespace sparse_autograd::io;

static constexpr StringLiteral magic = "\x93NUMPY";

namespace {

/// What the header of a file says.
struct Header {
  /// Where its dictionary stands in the file.
  uint64_t begin = 0;
  ElementType type = ElementType::F64;
  bool isBigEndian = false;
  bool isFortranOrder = false;
  SmallVector<int64_t> shape;
  /// Of text: how many bytes, or characters of 32 bits, an element has.
  std::optional<uint64_t> textLength;
  bool isWideText = false;
};

/// Parses the dictionary of a header: exactly the literals that numpy writes,
/// not Python.
class HeaderParser {
public:
  /// `begin` is where the text stands in the file.
  HeaderParser(StringRef text, uint64_t begin, StringRef file,
               const SizeLimits &limits, bool acceptsText)
      : rest(text), text(text), begin(begin), file(file), limits(limits),
        acceptsText(acceptsText) {}

  Expected<Header> parse();

private:
  Error parseString(StringRef &value);
  Error parseType(Header &header);
  Error parseOrder(Header &header);
  Error parseShape(Header &header);

  void skipSpace() { rest = rest.ltrim(" \t\r\n\f\v"); }
  bool consume(char c) {
    skipSpace();
    return rest.consume_front(StringRef(&c, 1));
  }
  Error error(const Twine &problem, const Twine &remedy) const {
    return byteError(file, begin + (rest.data() - text.data()), problem,
                     remedy);
  }
  Error syntaxError(const Twine &expected) const {
    return error("the .npy header is malformed: " + expected +
                     " is expected, not " + quoted(rest),
                 "write the file again with numpy.save");
  }

  StringRef rest;
  StringRef text;
  uint64_t begin;
  StringRef file;
  const SizeLimits &limits;
  bool acceptsText;
};

} // namespace

Error HeaderParser::parseString(StringRef &value) {
  skipSpace();
  if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
    return syntaxError("a string");
  size_t end = rest.find(rest[0], 1);
  if (end == StringRef::npos || rest.take_front(end).contains('\\'))
    return syntaxError("a string without escapes");
  value = rest.substr(1, end - 1);
  rest = rest.drop_front(end + 1);
  return Error::success();
}

Error HeaderParser::parseType(Header &header) {
  skipSpace();
  if (rest.starts_with("[") || rest.starts_with("("))
    return error("the array has a structured type",
                 "save each field as an array of its own");
  StringRef type;
  StringRef before = rest;
  if (Error error = parseString(type))
    return error;
  StringRef name = type;
  char order = '|';
  if (!name.empty() && StringRef("<>=|").contains(name[0])) {
    order = name[0];
    name = name.drop_front();
  }
  uint64_t length = 0;
  if (acceptsText && (name.starts_with("S") || name.starts_with("U")) &&
      !name.drop_front().getAsInteger(10, length)) {
    header.textLength = length;
    header.isWideText = name[0] == 'U';
    header.isBigEndian = order == '>';
    return Error::success();
  }
  std::optional<ElementType> known =
      StringSwitch<std::optional<ElementType>>(name)
          .Cases({"b1", "?"}, ElementType::Bool)
          .Case("i1", ElementType::I8)
          .Case("i2", ElementType::I16)
          .Case("i4", ElementType::I32)
          .Case("i8", ElementType::I64)
          .Case("u1", ElementType::U8)
          .Case("u2", ElementType::U16)
          .Case("u4", ElementType::U32)
          .Case("u8", ElementType::U64)
          .Case("f2", ElementType::F16)
          .Case("f4", ElementType::F32)
          .Case("f8", ElementType::F64)
          .Default(std::nullopt);
  if (!known) {
    rest = before;
    char kind = name.empty() ? ' ' : name[0];
    StringRef what = kind == 'O'   ? "Python objects"
                     : kind == 'c' ? "complex numbers"
                     : kind == 'S' || kind == 'U' || kind == 'a' ? "text"
                     : kind == 'M' || kind == 'm' ? "dates or durations"
                     : kind == 'V' ? "raw bytes or a structured type"
                                   : "a type that is not supported";
    return error("the array holds " + what + ", " + quoted(type),
                 "save it as bool, i1 to i8, u1 to u8, f2, f4 or f8");
  }
  header.type = *known;
  if (order == '|' && getByteWidth(*known) != 1) {
    rest = before;
    return error("the type " + quoted(type) + " lacks its byte order",
                 "write the file again with numpy.save");
  }
  bool isNativeBig = sys::IsBigEndianHost;
  header.isBigEndian = order == '>' || (order == '=' && isNativeBig);
  return Error::success();
}

Error HeaderParser::parseOrder(Header &header) {
  skipSpace();
  if (rest.consume_front("True"))
    header.isFortranOrder = true;
  else if (!rest.consume_front("False"))
    return syntaxError("True or False");
  return Error::success();
}

Error HeaderParser::parseShape(Header &header) {
  if (!consume('('))
    return syntaxError("a shape in parentheses");
  bool mayContinue = true;
  while (!consume(')')) {
    if (!mayContinue)
      return syntaxError("a comma or the end of the shape");
    if (header.shape.size() >= limits.rank)
      return error("the array has more dimensions than the limit of " +
                       Twine(limits.rank),
                   "store it with fewer dimensions");
    skipSpace();
    int64_t extent = 0;
    auto [end, status] = std::from_chars(rest.begin(), rest.end(), extent);
    if (status == std::errc::invalid_argument)
      return syntaxError("an extent");
    if (status != std::errc() || extent < 0)
      return error("an extent of the array is negative or too large",
                   "write the file again with numpy.save");
    rest = rest.drop_front(end - rest.begin());
    // Python 2 marked long integers.
    rest.consume_front("L");
    header.shape.push_back(extent);
    mayContinue = consume(',');
    // A tuple of one has a comma; without it, parentheses are only that.
    if (!mayContinue && header.shape.size() == 1)
      return syntaxError("a comma");
  }
  return Error::success();
}

Expected<Header> HeaderParser::parse() {
  Header header;
  bool hasType = false, hasOrder = false, hasShape = false;
  if (!consume('{'))
    return syntaxError("a dictionary");
  bool mayContinue = true;
  while (!consume('}')) {
    if (!mayContinue)
      return syntaxError("a comma or the end of the dictionary");
    StringRef key;
    if (Error error = parseString(key))
      return std::move(error);
    bool *isKnown = StringSwitch<bool *>(key)
                        .Case("descr", &hasType)
                        .Case("fortran_order", &hasOrder)
                        .Case("shape", &hasShape)
                        .Default(nullptr);
    if (!isKnown || *isKnown)
      return error("the .npy header has an unknown or repeated key " +
                       quoted(key),
                   "write the file again with numpy.save");
    *isKnown = true;
    if (!consume(':'))
      return syntaxError("a colon");
    if (Error error = isKnown == &hasType    ? parseType(header)
                      : isKnown == &hasOrder ? parseOrder(header)
                                             : parseShape(header))
      return std::move(error);
    mayContinue = consume(',');
  }
  skipSpace();
  if (!rest.empty())
    return syntaxError("the end of the header");
  if (!hasType || !hasOrder || !hasShape)
    return error("the .npy header lacks 'descr', 'fortran_order' or 'shape'",
                 "write the file again with numpy.save");
  return header;
}

/// Reverses the bytes of each element.
static void swapBytes(DenseArray &array) {
  size_t width = getByteWidth(array.type);
  for (size_t i = 0; i < array.data.size(); i += width)
    std::reverse(array.data.data() + i, array.data.data() + i + width);
}

/// Copies elements from column-major order (the first dimension contiguous),
/// walking the result in its own order.
static void copyFromFortranOrder(StringRef source, DenseArray &array) {
  size_t width = getByteWidth(array.type);
  size_t rank = array.shape.size();
  SmallVector<int64_t> index(rank, 0), stride(rank, width);
  for (size_t d = 1; d < rank; ++d)
    stride[d] = stride[d - 1] * array.shape[d - 1];
  int64_t offset = 0;
  for (size_t i = 0; i < array.data.size(); i += width) {
    std::memcpy(array.data.data() + i, source.data() + offset, width);
    for (size_t d = rank; d-- > 0;) {
      offset += stride[d];
      if (++index[d] < array.shape[d])
        break;
      offset -= stride[d] * index[d];
      index[d] = 0;
    }
  }
}

bool sparse_autograd::io::isNpy(StringRef bytes) {
  return bytes.starts_with(magic);
}

/// Reads the header; `rest` becomes what follows it.
static Expected<Header> parseHeader(StringRef bytes, StringRef file,
                                    const SizeLimits &limits, bool acceptsText,
                                    StringRef &rest) {
  StringRef remedy = "write the file again with numpy.save";
  if (!isNpy(bytes))
    return byteError(file, 0, "this is not a .npy file", remedy);
  auto truncated = [&] {
    return byteError(file, bytes.size(),
                     "the file ends in the middle of the .npy header", remedy);
  };
  if (bytes.size() < magic.size() + 2)
    return truncated();
  unsigned major = static_cast<unsigned char>(bytes[magic.size()]);
  unsigned minor = static_cast<unsigned char>(bytes[magic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0)
    return byteError(file, magic.size(),
                     "version " + Twine(major) + "." + Twine(minor) +
                         " of the .npy format is not known",
                     "save the array in version 1, 2 or 3");
  rest = bytes.drop_front(magic.size() + 2);
  size_t lengthSize = major == 1 ? 2 : 4;
  if (rest.size() < lengthSize)
    return truncated();
  uint64_t length = major == 1 ? support::endian::read16le(rest.data())
                               : support::endian::read32le(rest.data());
  rest = rest.drop_front(lengthSize);
  if (length > rest.size())
    return truncated();
  uint64_t begin = bytes.size() - rest.size();
  Expected<Header> header =
      HeaderParser(rest.take_front(length), begin, file, limits, acceptsText)
          .parse();
  if (header)
    header->begin = begin;
  rest = rest.drop_front(length);
  return header;
}

Expected<std::string>
sparse_autograd::io::parseNpyText(StringRef bytes, StringRef file,
                                  const SizeLimits &limits) {
  StringRef rest;
  Expected<Header> header =
      parseHeader(bytes, file, limits, /*acceptsText=*/true, rest);
  if (!header)
    return header.takeError();
  // Enough for a name.
  constexpr uint64_t longest = 256;
  uint64_t width = header->isWideText ? 4 : 1;
  if (!header->textLength || !header->shape.empty() ||
      *header->textLength > longest ||
      rest.size() != *header->textLength * width)
    return fileError(file, "the array is not a short text",
                     "write the file again with numpy.save");
  std::string text;
  for (uint64_t i = 0; i < *header->textLength; ++i) {
    const char *place = rest.data() + i * width;
    uint32_t character = !header->isWideText ? uint8_t(*place)
                         : header->isBigEndian
                             ? support::endian::read32be(place)
                             : support::endian::read32le(place);
    // A text that is shorter ends with zeros.
    if (character == 0)
      break;
    text.push_back(character < 0x80 ? static_cast<char>(character) : '?');
  }
  return text;
}

Expected<DenseArray> sparse_autograd::io::parseNpy(StringRef bytes,
                                                   StringRef file,
                                                   const SizeLimits &limits) {
  StringRef remedy = "write the file again with numpy.save";
  StringRef rest;
  Expected<Header> header =
      parseHeader(bytes, file, limits, /*acceptsText=*/false, rest);
  if (!header)
    return header.takeError();

  // The size is compared before memory is asked for.
  std::optional<uint64_t> size = getByteSize(header->type, header->shape);
  if (!size)
    return byteError(file, header->begin,
                     "the array of the .npy header has more than 2^63 bytes",
                     remedy);
  if (*size > rest.size())
    return byteError(file, bytes.size(),
                     "the file ends after " + Twine(rest.size()) + " of " +
                         Twine(*size) + " bytes of the array",
                     remedy);
  if (*size < rest.size())
    return byteError(file, bytes.size() - rest.size() + *size,
                     Twine(rest.size() - *size) +
                         " bytes follow the end of the array",
                     "save one array a file");
  Expected<DenseArray> array =
      makeDenseArray(file, header->type, header->shape, limits);
  if (!array)
    return array.takeError();
  if (header->isFortranOrder && header->shape.size() > 1)
    copyFromFortranOrder(rest, *array);
  else if (*size)
    std::memcpy(array->data.data(), rest.data(), *size);
  if (header->isBigEndian != sys::IsBigEndianHost)
    swapBytes(*array);
  if (header->type == ElementType::Bool)
    for (size_t i = 0; i < rest.size(); ++i)
      if (static_cast<unsigned char>(rest[i]) > 1)
        return byteError(file, bytes.size() - rest.size() + i,
                         "a bool of the array is neither 0 nor 1",
                         "save the array as u1, or compare it with 0");
  return array;
}

static std::string makeHeader(StringRef type, ArrayRef<int64_t> extents) {
  std::string shape;
  for (int64_t extent : extents)
    shape += std::to_string(extent) + (extents.size() == 1 ? "," : ", ");
  if (extents.size() > 1)
    shape.resize(shape.size() - 2);
  std::string dictionary =
      ("{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape +
       "), }")
          .str();
  // Padded with spaces, so that the elements are aligned in a mapped file.
  size_t prefix = magic.size() + 2 + 2;
  size_t total = alignTo(prefix + dictionary.size() + 1, 64);
  dictionary.append(total - prefix - dictionary.size() - 1, ' ');
  dictionary.push_back('\n');
  std::string header = magic.str();
  header += StringRef("\x01\x00", 2);
  // At most 64 extents of 19 digits fit 16 bits.
  header.push_back(static_cast<char>(dictionary.size() & 0xff));
  header.push_back(static_cast<char>(dictionary.size() >> 8));
  return header + dictionary;
}

Expected<std::string>
sparse_autograd::io::makeNpyHeader(const DenseArray &array, StringRef file) {
  StringRef type;
  switch (array.type) {
  case ElementType::Bool:
    type = "b1";
    break;
  case ElementType::I8:
    type = "i1";
    break;
  case ElementType::I16:
    type = "i2";
    break;
  case ElementType::I32:
    type = "i4";
    break;
  case ElementType::I64:
    type = "i8";
    break;
  case ElementType::U8:
    type = "u1";
    break;
  case ElementType::U16:
    type = "u2";
    break;
  case ElementType::U32:
    type = "u4";
    break;
  case ElementType::U64:
    type = "u8";
    break;
  case ElementType::F16:
    type = "f2";
    break;
  case ElementType::F32:
    type = "f4";
    break;
  case ElementType::F64:
    type = "f8";
    break;
  case ElementType::BF16:
    return fileError(file, "the .npy format has no bf16",
                     array.shape.empty()
                         ? "print the number"
                         : "write the array to a .tns file, or to a .mtx file "
                           "if it is a matrix");
  }
  StringRef order = getByteWidth(array.type) == 1 ? "|"
                    : sys::IsBigEndianHost        ? ">"
                                                  : "<";
  return makeHeader((order + type).str(), array.shape);
}

std::string sparse_autograd::io::makeNpyText(StringRef text) {
  return makeHeader(("|S" + Twine(text.size())).str(), {}) + text.str();
}
