//===- ManifestTypes.cpp - types as the manifest has them -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManifestTypes.h"

#include "SparseAutograd/Runtime/LevelFormats.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace sparse_autograd;
using llvm::StringRef;

int64_t sparse_autograd::getBytes(StringRef type) {
  unsigned bits = 64; // of an index
  StringRef digits = type.drop_until(llvm::isDigit);
  if (!digits.empty())
    (void)digits.getAsInteger(10, bits);
  return llvm::divideCeil(bits, 8);
}

int64_t sparse_autograd::countLists(const llvm::json::Object &encoding) {
  int64_t count = 1;
  if (const llvm::json::Array *levels = encoding.getArray("levels"))
    for (const llvm::json::Value &level : *levels) {
      const llvm::json::Object *object = level.getAsObject();
      StringRef format = object ? object->getString("format").value_or("") : "";
      count += getLevelFormat(std::string_view(format)).countLists();
    }
  return count;
}

std::optional<std::array<int64_t, 4>>
sparse_autograd::describeLevel(const llvm::json::Value &value) {
  const llvm::json::Object *level = value.getAsObject();
  if (!level)
    return std::nullopt;
  const LevelFormatInfo &format =
      getLevelFormat(std::string_view(level->getString("format").value_or("")));
  std::optional<bool> isUnique = level->getBoolean("unique");
  std::optional<int64_t> dimension = level->getInteger("dimension");
  if (!format.isKnown() || !isUnique || !dimension)
    return std::nullopt;
  return std::array<int64_t, 4>{LevelKind{&format, *isUnique}.getCode(),
                                *dimension,
                                level->getInteger("block").value_or(0),
                                level->getString("part") == "remainder"};
}

std::optional<llvm::SmallVector<int64_t>>
sparse_autograd::getListBytes(const llvm::json::Object &description) {
  llvm::SmallVector<int64_t> bytes;
  if (!description.getArray("shape"))
    return bytes;
  if (const llvm::json::Object *encoding = description.getObject("encoding")) {
    const llvm::json::Array *levels = encoding->getArray("levels");
    auto positions = encoding->getString("position_type");
    auto coordinates = encoding->getString("coordinate_type");
    if (!levels || !positions || !coordinates)
      return std::nullopt;
    for (const llvm::json::Value &value : *levels) {
      const llvm::json::Object *level = value.getAsObject();
      if (!level)
        return std::nullopt;
      const LevelFormatInfo &format = getLevelFormat(
          std::string_view(level->getString("format").value_or("")));
      if (format.hasPositions())
        bytes.push_back(getBytes(*positions));
      if (format.hasCoordinates())
        bytes.push_back(format.isPacked() ? 1 : getBytes(*coordinates));
    }
  }
  bytes.push_back(getBytes(description.getString("element_type").value_or("")));
  return bytes;
}

std::optional<llvm::SmallVector<int64_t>>
sparse_autograd::makeRecord(const llvm::json::Object &entry) {
  const llvm::json::Array *arguments = entry.getArray("arguments");
  const llvm::json::Array *results = entry.getArray("results");
  if (!arguments || !results)
    return std::nullopt;
  llvm::SmallVector<int64_t> record = {static_cast<int64_t>(arguments->size()),
                                       static_cast<int64_t>(results->size())};
  for (const llvm::json::Array *values : {arguments, results})
    for (const llvm::json::Value &value : *values) {
      const llvm::json::Object *description = value.getAsObject();
      auto lists = description ? getListBytes(*description) : std::nullopt;
      if (!lists)
        return std::nullopt;
      const llvm::json::Array *shape = description->getArray("shape");
      int64_t rank = description->getObject("encoding") ? 1
                     : shape                            ? shape->size()
                                                        : 0;
      record.push_back(lists->size());
      for (int64_t bytes : *lists)
        record.append({rank, bytes});
    }
  return record;
}

/// The number of the value of this name in one of an entry's lists.
static std::optional<int64_t> findValue(const llvm::json::Object &entry,
                                        StringRef key, StringRef name) {
  if (const llvm::json::Array *values = entry.getArray(key))
    for (auto [number, value] : llvm::enumerate(*values)) {
      const llvm::json::Object *description = value.getAsObject();
      if (description && description->getString("name") == name)
        return number;
    }
  return std::nullopt;
}

std::optional<ResultLayout> ResultLayout::parse(const llvm::json::Object &entry,
                                                size_t result) {
  const llvm::json::Array *results = entry.getArray("results");
  const llvm::json::Object *description = results && result < results->size()
                                              ? (*results)[result].getAsObject()
                                              : nullptr;
  auto bytes = description ? getListBytes(*description) : std::nullopt;
  if (!bytes)
    return std::nullopt;
  ResultLayout layout;
  layout.elementBytes = std::move(*bytes);
  layout.lists.resize(layout.elementBytes.size());
  layout.isBoolean = description->getString("element_type") == "i1";
  const llvm::json::Array *shape = description->getArray("shape");
  layout.isTensor = shape;
  if (description->getObject("encoding")) {
    layout.rank = 1;
    for (const llvm::json::Value &extent : *shape)
      layout.extents.push_back(
          extent.getAsInteger().value_or(mlir::ShapedType::kDynamic));
  } else {
    layout.rank = shape ? shape->size() : 0;
  }
  for (StringRef key : {"same_as", "pattern_of"}) {
    const llvm::json::Object *shared = description->getObject(key);
    if (!shared)
      continue;
    auto argument = shared->getString("argument");
    auto other = shared->getString("result");
    std::optional<int64_t> value =
        argument ? findValue(entry, "arguments", *argument)
        : other  ? findValue(entry, "results", *other)
                 : std::nullopt;
    if (!value)
      return std::nullopt;
    for (int64_t list = 0; list < layout.getLists(); ++list)
      if (key == "same_as" || list + 1 < layout.getLists())
        layout.lists[list] = SharedList{argument.has_value(), *value, list};
  }
  return layout;
}
