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

/// A level as sparseAutogradCheckArgument takes it; nothing if it is none.
std::optional<std::array<int64_t, 4>>
describeLevel(const llvm::json::Value &value);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_FUNCTOENTRIES_MANIFESTTYPES_H
