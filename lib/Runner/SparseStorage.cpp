//===- SparseStorage.cpp - sparse arguments and results -------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runner/SparseStorage.h"
#include "SparseAutograd/Runtime/CompilerABI.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace llvm;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Encodings
//===----------------------------------------------------------------------===//

static std::optional<SparseLevel> parseLevel(const json::Object *description,
                                             size_t rank) {
  if (!description)
    return std::nullopt;
  std::optional<StringRef> format = description->getString("format");
  std::optional<bool> isUnique = description->getBoolean("unique");
  std::optional<int64_t> dimension = description->getInteger("dimension");
  if (!format || !isUnique || !dimension || *dimension < 0 ||
      *dimension >= static_cast<int64_t>(rank))
    return std::nullopt;
  SparseLevel level;
  level.kind = {&getLevelFormat(std::string_view(*format)), *isUnique};
  level.dimension = *dimension;
  if (!level.kind.format->isKnown())
    return std::nullopt;
  if (!description->get("block"))
    return description->get("part") ? std::nullopt : std::optional(level);
  level.block = description->getInteger("block").value_or(0);
  StringRef part = description->getString("part").value_or("");
  level.isRemainder = part == "remainder";
  if (level.block < 1 || (part != "quotient" && part != "remainder"))
    return std::nullopt;
  return level;
}

/// Whether the levels have each dimension once: whole, or both of its parts.
static bool hasAllDimensions(ArrayRef<SparseLevel> levels, size_t rank) {
  for (size_t dim = 0; dim < rank; ++dim) {
    SmallVector<SparseLevel> parts;
    llvm::copy_if(levels, std::back_inserter(parts),
                  [&](const SparseLevel &level) {
                    return level.dimension == static_cast<int64_t>(dim);
                  });
    bool isWhole = parts.size() == 1 && parts[0].block == 0;
    bool isSplit = parts.size() == 2 && parts[0].block != 0 &&
                   parts[0].block == parts[1].block &&
                   parts[0].isRemainder != parts[1].isRemainder;
    if (!isWhole && !isSplit)
      return false;
  }
  return true;
}

static std::optional<io::ElementType> parseNumberType(StringRef name) {
  return StringSwitch<std::optional<io::ElementType>>(name)
      .Case("i8", io::ElementType::I8)
      .Case("i16", io::ElementType::I16)
      .Case("i32", io::ElementType::I32)
      .Cases({"i64", "index"}, io::ElementType::I64)
      .Default(std::nullopt);
}

Expected<SparseEncoding> SparseEncoding::parse(const json::Object &description,
                                               size_t rank, StringRef name) {
  auto refuse = [&](const Twine &problem) {
    return createStringError("the manifest gives '" + name +
                             "' an encoding with " + problem);
  };
  SparseEncoding encoding;
  const json::Array *levels = description.getArray("levels");
  if (!levels)
    return refuse("no levels");
  for (auto [index, value] : llvm::enumerate(*levels)) {
    std::optional<SparseLevel> level = parseLevel(value.getAsObject(), rank);
    if (!level)
      return refuse("the unknown level " + Twine(index));
    encoding.levels.push_back(*level);
  }
  if (encoding.levels.empty() || !hasAllDimensions(encoding.levels, rank))
    return refuse("levels that do not have each dimension once");
  encoding.positionTypeName =
      description.getString("position_type").value_or("").str();
  encoding.coordinateTypeName =
      description.getString("coordinate_type").value_or("").str();
  auto positionType = parseNumberType(encoding.positionTypeName);
  auto coordinateType = parseNumberType(encoding.coordinateTypeName);
  if (!positionType || !coordinateType)
    return refuse("an unknown type of positions or coordinates");
  encoding.positionType = *positionType;
  encoding.coordinateType = *coordinateType;
  return encoding;
}

SmallVector<int64_t> SparseEncoding::getFormats() const {
  return llvm::map_to_vector(
      levels, [](const SparseLevel &level) { return level.kind.getCode(); });
}

SmallVector<int64_t> SparseEncoding::getExtents(ArrayRef<int64_t> shape) const {
  return llvm::map_to_vector(levels, [&](const SparseLevel &level) {
    int64_t extent = shape[level.dimension];
    if (level.block == 0)
      return extent;
    if (level.isRemainder)
      return level.block;
    return extent / level.block + (extent % level.block != 0);
  });
}

SmallVector<io::ElementType>
SparseEncoding::getComponentTypes(io::ElementType elementType) const {
  SmallVector<io::ElementType> types;
  for (const SparseLevel &level : levels) {
    if (level.kind.format->hasPositions())
      types.push_back(positionType);
    if (level.kind.format->hasCoordinates())
      types.push_back(getCoordinateType(level));
  }
  types.push_back(elementType);
  return types;
}

static bool isDense(const SparseLevel &level) {
  return level.kind.format->storesAll();
}

static bool isCompressed(const SparseLevel &level) {
  return level.kind.format->isCompressed() && level.kind.isUnique;
}

/// Whether a level is over the quotients, or the remainders, of a dimension by
/// the extent of its blocks.
static bool isBlockLevel(const SparseLevel &level, int64_t dimension,
                         bool isRemainder) {
  return level.dimension == dimension && level.block != 0 &&
         level.isRemainder == isRemainder;
}

io::SparseLayout SparseEncoding::getLayout() const {
  using io::SparseLayout;
  bool areRows =
      levels.size() >= 2 && isDense(levels[0]) && isCompressed(levels[1]);
  if (levels.size() == 4 && areRows && isBlockLevel(levels[0], 0, false) &&
      isBlockLevel(levels[1], 1, false) && isBlockLevel(levels[2], 0, true) &&
      isBlockLevel(levels[3], 1, true) && isDense(levels[2]) &&
      isDense(levels[3]))
    return SparseLayout(levels[0].block, levels[1].block);
  if (levels.size() != 2 || levels[0].block != 0 || !areRows)
    return SparseLayout::Coo;
  return levels[0].dimension == 0 ? SparseLayout::Csr : SparseLayout::Csc;
}

std::string SparseEncoding::str(size_t rank) const {
  std::string text = "#sparse_tensor.encoding<{ map = (";
  for (size_t dim = 0; dim < rank; ++dim)
    text += (dim ? ", d" : "d") + std::to_string(dim);
  text += ") -> (";
  for (auto [index, level] : llvm::enumerate(levels)) {
    text += (index ? ", d" : "d") + std::to_string(level.dimension);
    if (level.block)
      text += (level.isRemainder ? " mod " : " floordiv ") +
              std::to_string(level.block);
    text += (" : " + StringRef(level.kind.format->name)).str();
    SmallVector<StringRef> properties;
    if (!level.kind.isUnique)
      properties.push_back("nonunique");
    if (level.kind.format->isSingleton())
      properties.push_back("soa");
    if (!properties.empty())
      text += "(" + llvm::join(properties, ", ") + ")";
  }
  text += ")";
  for (auto [key, name] : {std::pair("posWidth", &positionTypeName),
                           std::pair("crdWidth", &coordinateTypeName)})
    if (StringRef width = *name; width.consume_front("i") && width != "ndex")
      text += (Twine(", ") + key + " = " + width).str();
  return text + " }>";
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

/// Calls functions of the compiler's interface, which leave by longjmp if they
/// fail: `body` has nothing to destroy.
static Error callRuntime(function_ref<void()> body, StringRef name) {
  void *arguments[] = {&body};
  int32_t status = sparseAutogradGuard(
      [](void *const *arguments, void *const *) {
        (*static_cast<function_ref<void()> *>(arguments[0]))();
      },
      arguments, nullptr);
  if (status == SPARSE_AUTOGRAD_SUCCESS)
    return Error::success();
  return createStringError(Twine(name) + ": " + sparseAutogradLastError());
}

/// The coordinate of a level.
static int64_t toLevel(const SparseLevel &level, ArrayRef<int64_t> at) {
  int64_t coordinate = at[level.dimension];
  if (level.block == 0)
    return coordinate;
  return level.isRemainder ? coordinate % level.block
                           : coordinate / level.block;
}

namespace {

/// Stores the entries of one tensor.
class StorageBuilder {
public:
  StorageBuilder(const SparseEncoding &encoding, io::ElementType elementType,
                 const io::CoordinateTensor &tensor, StringRef name)
      : encoding(encoding), elementType(elementType), tensor(tensor),
        name(name), formats(encoding.getFormats()),
        extents(encoding.getExtents(tensor.shape)),
        count(tensor.getNumEntries()), levels(encoding.levels.size()) {}

  Expected<std::vector<io::DenseArray>> build();

private:
  Error sort();
  Error addComponent(io::ElementType type, int64_t length, void *&data);
  Error addPositions();
  Error addValues();

  const SparseEncoding &encoding;
  io::ElementType elementType;
  const io::CoordinateTensor &tensor;
  StringRef name;
  SmallVector<int64_t> formats, extents;
  int64_t count, levels;
  std::vector<int64_t> coordinates, order, slots;
  SmallVector<int64_t> elementCounts;
  std::vector<io::DenseArray> components;
};

} // namespace

Error StorageBuilder::sort() {
  uint64_t bytes = (levels + 2) * sizeof(int64_t);
  if (Error error =
          io::checkMemory(name, SaturatingMultiply<uint64_t>(count, bytes), {}))
    return error;
  coordinates.reserve(count * levels);
  for (int64_t entry = 0; entry < count; ++entry)
    for (const SparseLevel &level : encoding.levels)
      coordinates.push_back(toLevel(level, tensor.getCoordinates(entry)));
  order.resize(count);
  slots.resize(count);
  elementCounts.resize(levels);
  return callRuntime(
      [&] {
        sparseAutogradSortEntries(count, levels, coordinates.data(),
                                  order.data());
        sparseAutogradCountPositions(count, levels, formats.data(),
                                     extents.data(), coordinates.data(),
                                     order.data(), elementCounts.data());
      },
      name);
}

Error StorageBuilder::addComponent(io::ElementType type, int64_t length,
                                   void *&data) {
  Expected<io::DenseArray> array =
      io::makeDenseArray(name, type, {length}, io::SizeLimits());
  if (!array)
    return array.takeError();
  data = array->data.data();
  components.push_back(std::move(*array));
  return Error::success();
}

Error StorageBuilder::addPositions() {
  SmallVector<void *> positions(levels, nullptr), stored(levels, nullptr);
  int64_t parents = 1;
  for (auto [index, level] : llvm::enumerate(encoding.levels)) {
    const LevelFormatInfo &format = *level.kind.format;
    if (format.hasPositions())
      if (Error error =
              addComponent(encoding.positionType,
                           format.countPositions(parents), positions[index]))
        return error;
    parents = elementCounts[index];
    if (format.hasCoordinates())
      if (Error error = addComponent(
              encoding.getCoordinateType(level),
              format.isPacked() ? format.countBytes(parents) : parents,
              stored[index]))
        return error;
  }
  return callRuntime(
      [&] {
        sparseAutogradStorePositions(
            count, levels, formats.data(), extents.data(), coordinates.data(),
            order.data(), io::getByteWidth(encoding.positionType),
            io::getByteWidth(encoding.coordinateType), positions.data(),
            stored.data(), slots.data());
      },
      name);
}

Error StorageBuilder::addValues() {
  void *data = nullptr;
  // What is in a block, but no entry, is zero.
  if (Error error = addComponent(elementType, elementCounts.back(), data))
    return error;
  Expected<io::DenseArray> values =
      io::convertValues(tensor, elementType, io::SizeLimits(), name);
  if (!values)
    return values.takeError();
  size_t width = io::getByteWidth(elementType);
  for (auto [entry, slot] : llvm::enumerate(slots))
    std::memcpy(static_cast<char *>(data) + slot * width,
                values->data.data() + entry * width, width);
  return Error::success();
}

Expected<std::vector<io::DenseArray>> StorageBuilder::build() {
  if (Error error = sort())
    return std::move(error);
  if (Error error = addPositions())
    return std::move(error);
  if (Error error = addValues())
    return std::move(error);
  return std::move(components);
}

Expected<std::vector<io::DenseArray>> sparse_autograd::buildStorage(
    const SparseEncoding &encoding, io::ElementType elementType,
    const io::CoordinateTensor &tensor, StringRef name) {
  return StorageBuilder(encoding, elementType, tensor, name).build();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The extents, which follow the components.
static ArrayRef<int64_t> getShape(const SparseEncoding &encoding,
                                  ArrayRef<int64_t> words) {
  size_t components = encoding.getComponentTypes(io::ElementType::F64).size();
  return words.drop_front(components * wordsPerComponent);
}

Error sparse_autograd::checkStorage(const SparseEncoding &encoding,
                                    ArrayRef<int64_t> words, StringRef name) {
  static_assert(sizeof(SparseAutogradMemRef1) ==
                wordsPerComponent * sizeof(int64_t));
  SmallVector<int64_t> formats = encoding.getFormats();
  SmallVector<int64_t> extents = encoding.getExtents(getShape(encoding, words));
  if (sparseAutogradCheckStorage(
          name.str().c_str(), formats.size(), formats.data(), extents.data(),
          io::getByteWidth(encoding.positionType),
          io::getByteWidth(encoding.coordinateType),
          reinterpret_cast<const SparseAutogradMemRef1 *>(words.data())) !=
      SPARSE_AUTOGRAD_SUCCESS)
    return createStringError(sparseAutogradLastError());
  return Error::success();
}

Expected<std::vector<io::DenseArray>>
sparse_autograd::copyComponents(const SparseEncoding &encoding,
                                io::ElementType elementType,
                                ArrayRef<int64_t> words, StringRef name) {
  std::vector<io::DenseArray> components;
  for (auto [index, type] :
       llvm::enumerate(encoding.getComponentTypes(elementType))) {
    ArrayRef<int64_t> descriptor =
        words.slice(index * wordsPerComponent, wordsPerComponent);
    int64_t offset = descriptor[2], length = descriptor[3];
    int64_t stride = descriptor[4];
    Expected<io::DenseArray> array =
        io::makeDenseArray(name, type, {length}, io::SizeLimits());
    if (!array)
      return array.takeError();
    int64_t width = io::getByteWidth(type);
    const char *source =
        reinterpret_cast<const char *>(descriptor[1]) + offset * width;
    for (int64_t i = 0; i < length; ++i)
      std::memcpy(array->data.data() + i * width, source + i * stride * width,
                  width);
    components.push_back(std::move(*array));
  }
  return components;
}

namespace {

/// Goes through the elements of storage, which is valid.
class StorageReader {
public:
  StorageReader(const SparseEncoding &encoding, ArrayRef<int64_t> shape,
                ArrayRef<io::DenseArray> components)
      : encoding(encoding), shape(shape), extents(encoding.getExtents(shape)) {
    for (const SparseLevel &level : encoding.levels) {
      const LevelFormatInfo &format = *level.kind.format;
      positions.push_back(format.hasPositions() ? &components.front()
                                                : nullptr);
      components = components.drop_front(format.hasPositions());
      coordinates.push_back(format.hasCoordinates() ? &components.front()
                                                    : nullptr);
      components = components.drop_front(format.hasCoordinates());
    }
  }

  /// Adds the coordinates of all elements, and the places of their values.
  void read(std::vector<int64_t> &coordinates, std::vector<int64_t> &slots) {
    at.assign(shape.size(), 0);
    this->tensorCoordinates = &coordinates;
    this->slots = &slots;
    readParent(0, 0);
  }

private:
  void readParent(size_t level, int64_t parent);
  void readElement(size_t level, int64_t element, int64_t coordinate);

  const SparseEncoding &encoding;
  ArrayRef<int64_t> shape;
  SmallVector<int64_t> extents;
  SmallVector<const io::DenseArray *> positions, coordinates;
  /// The coordinates in dimensions that the levels so far make.
  SmallVector<int64_t> at;
  std::vector<int64_t> *tensorCoordinates = nullptr;
  std::vector<int64_t> *slots = nullptr;
};

} // namespace

/// A number without a sign.
static int64_t getNumber(const io::DenseArray &array, int64_t index) {
  switch (io::getByteWidth(array.type)) {
  case 1:
    return array.as<uint8_t>()[index];
  case 2:
    return array.as<uint16_t>()[index];
  case 4:
    return array.as<uint32_t>()[index];
  default:
    return array.as<int64_t>()[index];
  }
}

void StorageReader::readElement(size_t level, int64_t element,
                                int64_t coordinate) {
  const SparseLevel &description = encoding.levels[level];
  int64_t &place = at[description.dimension];
  int64_t before = place;
  // The parts of a coordinate come in any order.
  place +=
      coordinate *
      (description.block && !description.isRemainder ? description.block : 1);
  readParent(level + 1, element);
  place = before;
}

void StorageReader::readParent(size_t level, int64_t parent) {
  if (level == encoding.levels.size()) {
    // The last block may go beyond the extent.
    for (auto [coordinate, extent] : llvm::zip_equal(at, shape))
      if (coordinate >= extent)
        return;
    llvm::append_range(*tensorCoordinates, at);
    slots->push_back(parent);
    return;
  }
  if (!coordinates[level]) {
    for (int64_t i = 0; i < extents[level]; ++i)
      readElement(level, parent * extents[level] + i, i);
    return;
  }
  const LevelFormatInfo &format = *encoding.levels[level].kind.format;
  int64_t begin = format.elements * parent, end = begin + format.elements;
  if (const io::DenseArray *array = positions[level]) {
    int64_t place = format.positions * parent;
    begin = getNumber(*array, place);
    end = getNumber(*array, place + 1);
  }
  for (int64_t element = begin; element < end; ++element)
    readElement(level, element,
                format.isPacked()
                    ? format.getPacked(coordinates[level]->as<uint8_t>().data(),
                                       element)
                    : getNumber(*coordinates[level], element));
}

Expected<io::CoordinateTensor>
sparse_autograd::readStorage(const SparseEncoding &encoding,
                             io::ElementType elementType,
                             ArrayRef<int64_t> words, StringRef name) {
  if (Error error = checkStorage(encoding, words, name))
    return std::move(error);
  Expected<std::vector<io::DenseArray>> components =
      copyComponents(encoding, elementType, words, name);
  if (!components)
    return components.takeError();
  const io::DenseArray &values = components->back();
  io::CoordinateTensor tensor;
  tensor.shape.append(getShape(encoding, words).begin(),
                      getShape(encoding, words).end());
  size_t rank = tensor.shape.size();
  tensor.isInferred.assign(rank, false);
  if (Error error = io::checkMemory(
          name,
          SaturatingMultiply<uint64_t>(values.getNumElements(),
                                       2 * (rank + 1) * sizeof(int64_t)),
          io::SizeLimits()))
    return std::move(error);
  std::vector<int64_t> slots;
  StorageReader(encoding, tensor.shape, *components)
      .read(tensor.coordinates, slots);
  Expected<io::DenseArray> stored = io::makeDenseArray(
      name, elementType, {static_cast<int64_t>(slots.size())},
      io::SizeLimits());
  if (!stored)
    return stored.takeError();
  size_t width = io::getByteWidth(elementType);
  for (auto [entry, slot] : llvm::enumerate(slots))
    std::memcpy(stored->data.data() + entry * width,
                values.data.data() + slot * width, width);
  tensor.values = std::move(*stored);
  auto refuse = [&](int64_t first, int64_t second) {
    return createStringError(
        Twine(name) + ": the entry " +
        io::formatCoordinates(tensor.getCoordinates(second)) +
        " is stored twice");
  };
  if (Error error = io::sortEntries(tensor, io::Duplicates::Refuse,
                                    io::SizeLimits(), name, refuse))
    return std::move(error);
  return tensor;
}

std::vector<int64_t>
sparse_autograd::getValueCoordinates(const SparseEncoding &encoding,
                                     ArrayRef<int64_t> shape,
                                     ArrayRef<io::DenseArray> components) {
  std::vector<int64_t> coordinates, slots;
  StorageReader(encoding, shape, components).read(coordinates, slots);
  size_t rank = shape.size();
  std::vector<int64_t> places(components.back().getNumElements() * rank, -1);
  for (auto [entry, slot] : llvm::enumerate(slots))
    llvm::copy(ArrayRef(coordinates).slice(entry * rank, rank),
               places.begin() + slot * rank);
  return places;
}
