//===- ManifestTypes.h - types as the manifest has them ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the C ABI stores a value that the manifest describes (docs/manifest.md),
// for the code of entries.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_FUNCTOENTRIES_MANIFESTTYPES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_FUNCTOENTRIES_MANIFESTTYPES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <optional>

namespace sparse_autograd {

/// A list of a sparse tensor is a descriptor of five words.
inline constexpr int64_t wordsOfList = 5;

/// The bytes of a number of an element type.
int64_t getBytes(llvm::StringRef elementType);

/// How many lists a sparse tensor has: positions and coordinates where a level
/// has them, and values.
int64_t countLists(const llvm::json::Object &encoding);

/// The bytes of an element of each list of a value: of a scalar none, of a
/// dense tensor one number. Nothing if the description is none.
std::optional<llvm::SmallVector<int64_t>>
getListBytes(const llvm::json::Object &description);

/// The record of an entry, as sparseAutogradBeginEntry takes it; nothing if it
/// is not described.
std::optional<llvm::SmallVector<int64_t>>
makeRecord(const llvm::json::Object &entry);

/// A list that is shared: of an argument, or of an earlier result.
struct SharedList {
  bool isArgument;
  int64_t value; ///< the number of the argument or the result
  int64_t list;
};

/// How a result is stored, and what it shares: a dense tensor has one list.
struct ResultLayout {
  /// The result number `result` of an entry; nothing if it is not described.
  static std::optional<ResultLayout> parse(const llvm::json::Object &entry,
                                           size_t result);

  int64_t getLists() const { return lists.size(); }

  bool isTensor = false;
  bool isBoolean = false; ///< of the elements
  int64_t rank = 0;       ///< of a list
  llvm::SmallVector<std::optional<SharedList>> lists;
  llvm::SmallVector<int64_t> elementBytes; ///< of each list
  /// Of a sparse tensor, ShapedType::kDynamic where any.
  llvm::SmallVector<int64_t> extents;
};

/// A level as sparseAutogradCheckArgument takes it; nothing if it is none.
std::optional<std::array<int64_t, 4>>
describeLevel(const llvm::json::Value &value);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_FUNCTOENTRIES_MANIFESTTYPES_H
