//===- ManifestTypes.cpp - types as the manifest has them -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ManifestTypes.h"

#include "SparseAutograd/Runtime/LevelFormats.h"
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
