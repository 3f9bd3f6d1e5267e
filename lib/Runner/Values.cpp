//===- Values.cpp - arguments and results of entries ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runner/Values.h"
#include "SparseAutograd/IO/ConvertElements.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace sparse_autograd;
namespace json = llvm::json;
using llvm::APFloat;
using llvm::APInt;
using llvm::ArrayRef;
using llvm::consumeError;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::SmallString;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::StringSwitch;
using llvm::Twine;
using llvm::zip_equal;

//===----------------------------------------------------------------------===//
// ValueType
//===----------------------------------------------------------------------===//

Expected<ValueType> ValueType::parse(const json::Object &description) {
  ValueType type;
  std::optional<StringRef> name = description.getString("name");
  std::optional<StringRef> element = description.getString("element_type");
  if (!name || !element)
    return createStringError(
        "the manifest describes a value without a name or a type");
  type.name = name->str();
  type.elementTypeName = element->str();
  auto known = StringSwitch<std::optional<io::ElementType>>(*element)
                   .Case("i1", io::ElementType::Bool)
                   .Case("i8", io::ElementType::I8)
                   .Case("i16", io::ElementType::I16)
                   .Case("i32", io::ElementType::I32)
                   .Cases({"i64", "index"}, io::ElementType::I64)
                   .Case("f16", io::ElementType::F16)
                   .Case("bf16", io::ElementType::BF16)
                   .Case("f32", io::ElementType::F32)
                   .Case("f64", io::ElementType::F64)
                   .Default(std::nullopt);
  if (!known)
    return createStringError("the manifest gives '" + type.name +
                             "' the unknown element type '" + *element + "'");
  type.elementType = *known;
  if (const json::Array *shape = description.getArray("shape")) {
    type.shape.emplace();
    for (const json::Value &extent : *shape)
      type.shape->push_back(extent.getAsInteger().value_or(-1));
  }
  type.maskOf = description.getString("mask_of").value_or("").str();
  type.defaultText = description.getString("default").value_or("").str();
  if (const json::Value *encoding = description.get("encoding")) {
    const json::Object *levels = encoding->getAsObject();
    if (!type.shape || !levels)
      return createStringError("the manifest gives '" + type.name +
                               "' an encoding that is none");
    Expected<SparseEncoding> parsed =
        SparseEncoding::parse(*levels, type.shape->size(), type.name);
    if (!parsed)
      return parsed.takeError();
    type.encoding = std::move(*parsed);
  }
  return type;
}

Expected<std::vector<ValueType>> ValueType::parseAll(const json::Object &entry,
                                                     StringRef key) {
  const json::Array *list = entry.getArray(key);
  if (!list)
    return createStringError("the manifest's description of an entry has no '" +
                             key + "'");
  std::vector<ValueType> types;
  for (const json::Value &value : *list) {
    const json::Object *description = value.getAsObject();
    Expected<ValueType> type =
        parse(description ? *description : json::Object());
    if (!type)
      return type.takeError();
    types.push_back(std::move(*type));
  }
  return types;
}

std::string ValueType::str() const {
  if (!shape)
    return elementTypeName;
  std::string text = "tensor<";
  for (int64_t extent : *shape)
    text += (extent < 0 ? "?" : std::to_string(extent)) + "x";
  text += elementTypeName;
  if (encoding)
    text += ", " + encoding->str(shape->size());
  return text + ">";
}

/// How many descriptors of components a sparse value has.
static size_t countComponents(const ValueType &type) {
  return type.encoding->getComponentTypes(type.elementType).size();
}

/// How many words a value has in the C ABI.
static size_t countWords(const ValueType &type) {
  if (!type.shape)
    return 1;
  size_t rank = type.shape->size();
  if (type.encoding)
    return wordsPerComponent * countComponents(type) + rank;
  // A descriptor holds two pointers, the offset, extents and strides.
  return 3 + 2 * rank;
}

//===----------------------------------------------------------------------===//
// Value
//===----------------------------------------------------------------------===//

Value::Value(ValueType type) : type(std::move(type)), isResult(true) {
  words.assign(countWords(this->type), 0);
}

Value::Value(Value &&other)
    : type(std::move(other.type)), words(std::move(other.words)),
      arrays(std::move(other.arrays)), isResult(other.isResult) {
  other.isResult = false;
}

Value::~Value() {
  if (!isResult || !type.shape)
    return;
  size_t buffers = isSparse() ? countComponents(type) : 1;
  for (size_t i = 0; i < buffers; ++i)
    sparseAutogradFree(reinterpret_cast<void *>(words[i * wordsPerComponent]));
}

ArrayRef<int64_t> Value::getExtents() const {
  if (!type.shape)
    return {};
  size_t rank = type.shape->size();
  if (isSparse())
    return ArrayRef(words).take_back(rank);
  return ArrayRef(words).slice(3, rank);
}

const llvm::fltSemantics *sparse_autograd::getSemantics(io::ElementType type) {
  switch (type) {
  case io::ElementType::F16:
    return &APFloat::IEEEhalf();
  case io::ElementType::BF16:
    return &APFloat::BFloat();
  case io::ElementType::F32:
    return &APFloat::IEEEsingle();
  case io::ElementType::F64:
    return &APFloat::IEEEdouble();
  default:
    return nullptr;
  }
}

/// Parses a number of `type` into the low bits of a word.
static Expected<uint64_t> parseNumber(const ValueType &type, StringRef text) {
  auto refuse = [&](const Twine &why) {
    return createStringError("argument '" + type.name + "' is " + type.str() +
                             ", and '" + text + "' " + why);
  };
  if (const llvm::fltSemantics *semantics = getSemantics(type.elementType)) {
    APFloat number(*semantics);
    auto status = number.convertFromString(text, APFloat::rmNearestTiesToEven);
    if (!status) {
      consumeError(status.takeError());
      return refuse("is not a number");
    }
    if (*status & APFloat::opOverflow)
      return refuse("is too large for it");
    return number.bitcastToAPInt().getZExtValue();
  }
  if (type.elementType == io::ElementType::Bool) {
    auto flag = StringSwitch<std::optional<uint64_t>>(text)
                    .Cases({"true", "1"}, 1)
                    .Cases({"false", "0"}, 0)
                    .Default(std::nullopt);
    if (!flag)
      return refuse("is neither true nor false");
    return *flag;
  }
  int64_t number;
  if (text.getAsInteger(10, number))
    return refuse("is not an integer of 64 bits");
  unsigned width = 8 * io::getByteWidth(type.elementType);
  if (!llvm::isIntN(width, number))
    return refuse("does not fit it");
  return static_cast<uint64_t>(number);
}

Expected<Value> Value::fromNumber(ValueType type, StringRef text) {
  Expected<uint64_t> bits = parseNumber(type, text);
  if (!bits)
    return bits.takeError();
  Value value(std::move(type));
  value.isResult = false;
  if (!value.type.shape) {
    // The low bytes come first on the machines that we compile for.
    value.words[0] = *bits;
    return value;
  }
  Expected<io::DenseArray> array =
      io::makeDenseArray(value.type.name, value.type.elementType, {}, {});
  if (!array)
    return array.takeError();
  std::memcpy(array->data.data(), &*bits,
              io::getByteWidth(value.type.elementType));
  return fromArray(value.type, std::move(*array), text);
}

/// Whether elements of `given` have the representation of `wanted`.
static bool isSameRepresentation(io::ElementType given,
                                 io::ElementType wanted) {
  using io::ElementType;
  auto toSigned = [](ElementType type) {
    switch (type) {
    case ElementType::U8:
      return ElementType::I8;
    case ElementType::U16:
      return ElementType::I16;
    case ElementType::U32:
      return ElementType::I32;
    case ElementType::U64:
      return ElementType::I64;
    default:
      return type;
    }
  };
  return toSigned(given) == toSigned(wanted);
}

Expected<Value> Value::fromArray(ValueType type, io::DenseArray array,
                                 StringRef source) {
  std::string given;
  for (int64_t extent : array.shape)
    given += std::to_string(extent) + "x";
  given = "tensor<" + given + io::getTypeName(array.type).str() + ">";
  auto refuse = [&](const Twine &why) {
    return createStringError(Twine(source) + ": holds " + given +
                             ", but argument '" + type.name + "' is " +
                             type.str() + "; " + why);
  };
  if (!type.shape)
    return refuse("give a number");
  if (type.encoding)
    return refuse("give a sparse tensor");
  // NumPy has no bf16: there a number is judged by its value.
  bool isConverted = array.isText ||
                     type.elementType == io::ElementType::BF16 ||
                     io::isWidening(array.type, type.elementType);
  if (!isSameRepresentation(array.type, type.elementType) && !isConverted)
    return refuse("save the array with elements of " + type.elementTypeName);
  if (array.shape.size() != type.shape->size())
    return refuse("the ranks must be equal");
  for (auto [extent, wanted] : zip_equal(array.shape, *type.shape))
    if (wanted >= 0 && extent != wanted)
      return refuse("the extents must be equal");
  if (isSameRepresentation(array.type, type.elementType))
    return fromElements(std::move(type), std::move(array));

  auto describe = [&](int64_t index) {
    SmallVector<int64_t> at(array.shape.size());
    for (size_t dim = at.size(); dim-- > 0; index /= array.shape[dim])
      at[dim] = index % array.shape[dim];
    return "the value at " + io::formatCoordinates(at) + " (counting from 0)";
  };
  Expected<io::DenseArray> converted = io::convertElements(
      array, type.elementType, io::SizeLimits(), source, describe);
  if (!converted)
    return converted.takeError();
  return fromElements(std::move(type), std::move(*converted));
}

Value Value::fromElements(ValueType type, io::DenseArray array) {
  Value value(std::move(type));
  value.isResult = false;
  if (!value.type.shape) {
    std::memcpy(value.words.data(), array.data.data(),
                io::getByteWidth(array.type));
    return value;
  }
  ArrayRef<int64_t> shape = array.shape;
  size_t rank = shape.size();
  value.words[0] = value.words[1] =
      reinterpret_cast<int64_t>(array.data.data());
  int64_t stride = 1;
  for (size_t dim = rank; dim-- > 0;) {
    value.words[3 + dim] = shape[dim];
    value.words[3 + rank + dim] = stride;
    stride *= std::max<int64_t>(shape[dim], 1);
  }
  value.arrays.push_back(std::move(array));
  return value;
}

Expected<io::DenseArray> Value::toArray() const {
  size_t width = io::getByteWidth(type.elementType);
  size_t rank = type.shape ? type.shape->size() : 0;
  ArrayRef<int64_t> sizes, strides;
  if (type.shape) {
    sizes = ArrayRef(words).slice(3, rank);
    strides = ArrayRef(words).slice(3 + rank, rank);
  }
  Expected<io::DenseArray> array =
      io::makeDenseArray(type.name, type.elementType, sizes, {});
  if (!array)
    return array.takeError();
  if (!type.shape) {
    std::memcpy(array->data.data(), words.data(), width);
    return array;
  }
  const char *source =
      reinterpret_cast<const char *>(words[1]) + words[2] * width;
  SmallVector<int64_t> index(rank, 0);
  for (int64_t element = 0, end = array->getNumElements(); element < end;
       ++element) {
    int64_t offset = 0;
    for (size_t dim = 0; dim < rank; ++dim)
      offset += index[dim] * strides[dim];
    std::memcpy(array->data.data() + element * width, source + offset * width,
                width);
    for (size_t dim = rank; dim-- > 0;) {
      if (++index[dim] < sizes[dim])
        break;
      index[dim] = 0;
    }
  }
  return array;
}

/// One element as text that reads back as the same number.
static std::string formatElement(const io::DenseArray &array, int64_t index) {
  if (const llvm::fltSemantics *semantics = getSemantics(array.type)) {
    uint64_t bits = 0;
    unsigned width = io::getByteWidth(array.type);
    std::memcpy(&bits, array.data.data() + index * width, width);
    SmallString<32> text;
    APFloat(*semantics, APInt(8 * width, bits))
        .toString(text, /*FormatPrecision=*/0, /*FormatMaxPadding=*/8,
                  /*TruncateZero=*/true);
    return text.str().str();
  }
  return std::to_string(static_cast<int64_t>(io::getAsDouble(array, index)));
}

/// The first entries of a sparse value, in brackets.
static std::string formatEntries(const io::CoordinateTensor &tensor) {
  constexpr int64_t mostEntries = 16;
  int64_t count = tensor.getNumEntries();
  std::string text = "[";
  for (int64_t entry = 0; entry < std::min(count, mostEntries); ++entry)
    text += (entry ? ", " : "") +
            io::formatCoordinates(tensor.getCoordinates(entry)) + ": " +
            formatElement(tensor.values, entry);
  return text + (count > mostEntries ? ", ...]" : "]");
}

Expected<std::string> Value::toText() const {
  // More than a screen of numbers helps nobody.
  constexpr int64_t mostElements = 256;
  std::string extents;
  for (int64_t extent : getExtents())
    extents += std::to_string(extent) + "x";
  std::string text = "tensor<" + extents + type.elementTypeName + ">";
  if (isSparse()) {
    Expected<io::CoordinateTensor> tensor = toCoordinates();
    if (!tensor)
      return tensor.takeError();
    int64_t count = tensor->getNumEntries();
    return text + " with " + std::to_string(count) + " stored " +
           (count == 1 ? "value " : "values ") + formatEntries(*tensor);
  }
  Expected<io::DenseArray> array = toArray();
  if (!array)
    return array.takeError();
  if (!type.shape)
    return formatElement(*array, 0);
  int64_t count = array->getNumElements();
  if (count > mostElements)
    return text;
  // Those of a matrix are rows, each on a line of its own.
  bool hasRows = array->shape.size() == 2;
  int64_t rows = hasRows ? array->shape[0] : 1;
  int64_t columns = hasRows ? array->shape[1] : count;
  for (int64_t row = 0; row < rows; ++row) {
    text += hasRows ? "\n  [" : " [";
    for (int64_t column = 0; column < columns; ++column)
      text +=
          (column ? ", " : "") + formatElement(*array, row * columns + column);
    text += "]";
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Sparse values
//===----------------------------------------------------------------------===//

Value Value::fromComponents(ValueType type, ArrayRef<int64_t> extents,
                            std::vector<io::DenseArray> components) {
  Value value(std::move(type));
  value.isResult = false;
  value.arrays = std::move(components);
  int64_t *word = value.words.data();
  for (io::DenseArray &array : value.arrays) {
    word[0] = word[1] = reinterpret_cast<int64_t>(array.data.data());
    word[3] = array.getNumElements();
    word[4] = 1;
    word += wordsPerComponent;
  }
  llvm::copy(extents, word);
  return value;
}

/// Gives a tensor the extents of `type` where these are static. Extents that
/// are inferred may be less.
static Error fitExtents(const ValueType &type, io::CoordinateTensor &tensor,
                        StringRef source) {
  std::string given;
  for (int64_t extent : tensor.shape)
    given += (given.empty() ? "" : "x") + std::to_string(extent);
  auto refuse = [&](StringRef why) {
    return createStringError(Twine(source) + ": holds a sparse tensor of " +
                             given + ", but argument '" + type.name + "' is " +
                             type.str() + "; " + why);
  };
  if (tensor.getRank() != type.shape->size())
    return refuse("the ranks must be equal");
  for (auto [extent, isInferred, wanted] :
       llvm::zip_equal(tensor.shape, tensor.isInferred, *type.shape)) {
    if (wanted >= 0 && extent != wanted && !(isInferred && extent < wanted))
      return refuse("the extents must be equal");
    if (wanted >= 0)
      extent = wanted;
  }
  return Error::success();
}

Expected<Value> Value::fromCoordinates(ValueType type,
                                       io::CoordinateTensor tensor,
                                       StringRef source) {
  if (Error error = fitExtents(type, tensor, source))
    return std::move(error);
  if (!type.encoding) {
    Expected<io::DenseArray> array =
        io::expandTensor(tensor, type.elementType, io::SizeLimits(), source);
    if (!array)
      return array.takeError();
    return fromElements(std::move(type), std::move(*array));
  }
  Expected<std::vector<io::DenseArray>> components =
      buildStorage(*type.encoding, type.elementType, tensor, source);
  if (!components)
    return components.takeError();
  return fromComponents(std::move(type), tensor.shape, std::move(*components));
}

Expected<io::CoordinateTensor> Value::toCoordinates() const {
  return readStorage(*type.encoding, type.elementType, words, type.name);
}

std::pair<int64_t, int64_t> Value::countStored() const {
  int64_t values = 0, bytes = 0;
  for (auto [index, component] :
       llvm::enumerate(type.encoding->getComponentTypes(type.elementType))) {
    // The last component is the values.
    values = words[index * wordsPerComponent + 3];
    bytes += values * io::getByteWidth(component);
  }
  return {values, bytes};
}

Expected<std::vector<io::DenseArray>> Value::getComponents() const {
  return copyComponents(*type.encoding, type.elementType, words, type.name);
}

Expected<io::DenseArray> Value::getElements() const {
  if (!isSparse())
    return toArray();
  Expected<std::vector<io::DenseArray>> components = getComponents();
  if (!components)
    return components.takeError();
  return std::move(components->back());
}

Expected<Value> Value::withElements(ValueType type,
                                    io::DenseArray elements) const {
  if (!isSparse())
    return fromElements(std::move(type), std::move(elements));
  Expected<std::vector<io::DenseArray>> components = getComponents();
  if (!components)
    return components.takeError();
  components->back() = std::move(elements);
  return fromComponents(std::move(type), getExtents(), std::move(*components));
}

Expected<bool> Value::hasPatternOf(const Value &other) const {
  Expected<std::vector<io::DenseArray>> mine = getComponents();
  if (!mine)
    return mine.takeError();
  Expected<std::vector<io::DenseArray>> others = other.getComponents();
  if (!others)
    return others.takeError();
  bool isSame = getExtents() == other.getExtents() &&
                mine->size() == others->size() &&
                mine->back().shape == others->back().shape;
  for (size_t i = 0; isSame && i + 1 < mine->size(); ++i)
    isSame = (*mine)[i].data.str() == (*others)[i].data.str();
  return isSame;
}

io::PreparedFile Value::prepareFile(StringRef path) const {
  if (isSparse()) {
    Expected<io::CoordinateTensor> tensor = toCoordinates();
    if (!tensor)
      return tensor.takeError();
    return io::prepareSparse(path, *tensor, type.encoding->getLayout());
  }
  Expected<io::DenseArray> array = toArray();
  if (!array)
    return array.takeError();
  return io::prepareDense(path, *array);
}
