//===- LevelFormats.h - The formats of levels as records --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of LevelFormats.def, and which levels may follow each other, for the
// compiler, the tools and the runtime alike: nothing here is of MLIR or LLVM.
// What has to know how a level is stored asks its record.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_RUNTIME_LEVELFORMATS_H
#define SPARSEAUTOGRAD_RUNTIME_LEVELFORMATS_H

#include "SparseAutograd/Runtime/Runtime.h"

#include <cstdint>
#include <string_view>

namespace sparse_autograd {

/// Columns of the table that are words.
namespace level_formats {
enum Elements : int64_t { All = -1, Listed = 0 };
enum Lists : int64_t { None = 0, Shared = 1, Pairs = 2, Numbers = -1 };
} // namespace level_formats

/// How the levels of one format are stored; the columns of LevelFormats.def.
struct LevelFormatInfo {
  /// A SparseAutogradLevelFormat; -1 of a format that is not in the table.
  int64_t code;
  std::string_view name;
  char letter;
  int64_t elements;
  int64_t positions;
  int64_t coordinates;
  std::string_view meaning;

  constexpr bool isKnown() const { return code >= 0; }
  /// Whether each parent has an element for each coordinate.
  constexpr bool storesAll() const { return elements == level_formats::All; }
  constexpr bool hasPositions() const { return positions != 0; }
  constexpr bool hasCoordinates() const { return coordinates != 0; }
  /// Whether coordinates may repeat below a parent, and singletons follow.
  constexpr bool mayRepeat() const {
    return coordinates == level_formats::Numbers;
  }
  /// Whether coordinates are packed into bytes: of each parent, `elements` that
  /// increase.
  constexpr bool isPacked() const { return coordinates > 0; }
  /// Whether each parent has one element, which has the number of its parent
  /// and a coordinate that is listed beside that of the parent.
  constexpr bool isSingleton() const { return elements == 1 && mayRepeat(); }
  /// Whether the elements of parents lie one after the other, from the first
  /// to the last, as the rows of CSR.
  constexpr bool isCompressed() const {
    return positions == level_formats::Shared;
  }
  /// Whether lists may have elements of no parent.
  constexpr bool hasGaps() const { return positions == level_formats::Pairs; }
  /// Number of lists: positions, coordinates.
  constexpr int64_t countLists() const {
    return int64_t(hasPositions()) + int64_t(hasCoordinates());
  }
  /// Length of the list of positions. Elements of parent p begin at the
  /// position with number positions * p, and end at the next one.
  constexpr int64_t countPositions(int64_t parents) const {
    return positions * parents + int64_t(positions == level_formats::Shared);
  }

  // Of packed coordinates:

  constexpr int64_t getPackedExtent() const {
    return int64_t(1) << coordinates;
  }
  constexpr int64_t countInByte() const { return 8 / coordinates; }
  constexpr int64_t countBytes(int64_t numCoordinates) const {
    return numCoordinates / countInByte() +
           int64_t(numCoordinates % countInByte() != 0);
  }
  constexpr int64_t getPacked(const uint8_t *bytes, int64_t element) const {
    int64_t shift = coordinates * (element % countInByte());
    return (bytes[element / countInByte()] >> shift) & (getPackedExtent() - 1);
  }
  /// The coordinate of element `element` where nothing is stored: the last ones
  /// that there are below its parent.
  constexpr int64_t getUnused(int64_t element) const {
    return getPackedExtent() - elements + element % elements;
  }
  /// The coordinates of a byte where nothing is stored.
  constexpr uint8_t getUnusedByte() const {
    int64_t byte = 0;
    for (int64_t i = 0; i < countInByte(); ++i)
      byte |= getUnused(i) << (coordinates * i);
    return static_cast<uint8_t>(byte);
  }
};

namespace level_formats {
inline constexpr LevelFormatInfo table[] = {
#define SPARSE_AUTOGRAD_LEVEL_FORMAT(ID, CODE, NAME, LETTER, ELEMENTS,         \
                                     POSITIONS, COORDINATES, MEANING)          \
  {CODE, NAME, LETTER, ELEMENTS, POSITIONS, COORDINATES, MEANING},
#include "SparseAutograd/Runtime/LevelFormats.def"
};
/// A format that is not in the table: no elements, no lists.
inline constexpr LevelFormatInfo unknown = {-1,   "unknown", '?', Listed,
                                            None, None,      ""};
} // namespace level_formats

constexpr const LevelFormatInfo &getLevelFormat(std::string_view name) {
  for (const LevelFormatInfo &format : level_formats::table)
    if (format.name == name)
      return format;
  return level_formats::unknown;
}

/// A level: its format, and whether coordinates differ within a parent.
struct LevelKind {
  const LevelFormatInfo *format;
  bool isUnique;

  /// As in the C ABI, with SPARSE_AUTOGRAD_LEVEL_NONUNIQUE or without.
  static constexpr LevelKind fromCode(int64_t code) {
    constexpr int64_t nonunique = SPARSE_AUTOGRAD_LEVEL_NONUNIQUE;
    LevelKind level = {&level_formats::unknown, (code & nonunique) == 0};
    for (const LevelFormatInfo &format : level_formats::table)
      if (format.code == (code & ~nonunique))
        level.format = &format;
    return level;
  }
  constexpr int64_t getCode() const {
    return format->code | (isUnique ? 0 : SPARSE_AUTOGRAD_LEVEL_NONUNIQUE);
  }
};

/// Whether a level of `format` may have the extent `extent`.
constexpr bool isExtentOf(const LevelFormatInfo &format, int64_t extent) {
  return format.isPacked() ? extent == format.getPackedExtent() : extent >= 0;
}

/// Why a level cannot follow the one before it.
enum class LevelProblem {
  None,
  UnknownFormat,
  /// Coordinates that are not listed do not repeat.
  RepeatsWithoutList,
  /// A singleton has the number of an element whose coordinate is listed.
  SingletonBelowNoList,
  /// Where coordinates repeat, and below singletons, there are singletons.
  NoSingleton,
};

/// `before` is null for the first level.
constexpr LevelProblem checkLevel(const LevelKind *before,
                                  const LevelKind &level) {
  if (!level.format->isKnown())
    return LevelProblem::UnknownFormat;
  if (!level.isUnique && !level.format->mayRepeat())
    return LevelProblem::RepeatsWithoutList;
  if (level.format->isSingleton())
    return before && before->format->mayRepeat()
               ? LevelProblem::None
               : LevelProblem::SingletonBelowNoList;
  return before && (!before->isUnique || before->format->isSingleton())
             ? LevelProblem::NoSingleton
             : LevelProblem::None;
}

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_RUNTIME_LEVELFORMATS_H
