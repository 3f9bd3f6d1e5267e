//===- LevelFormatsTest.cpp - The table of level formats ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runtime/LevelFormats.h"
#include "gtest/gtest.h"

#include <cctype>
#include <limits>
#include <set>

using namespace sparse_autograd;

namespace {

const LevelFormatInfo &get(std::string_view name) {
  return getLevelFormat(name);
}

LevelKind unique(std::string_view name) { return {&get(name), true}; }
LevelKind repeated(std::string_view name) { return {&get(name), false}; }

TEST(LevelFormats, CodesNamesAndLettersDiffer) {
  std::set<int64_t> codes;
  std::set<std::string_view> names;
  std::set<char> letters;
  for (const LevelFormatInfo &format : level_formats::table) {
    EXPECT_TRUE(codes.insert(format.code).second) << format.name;
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_TRUE(letters.insert(format.letter).second) << format.name;
    // A name of generated functions is a letter and, of levels whose
    // coordinates repeat, an n behind it.
    EXPECT_TRUE(std::islower(format.letter) && format.letter != 'n');
    // The code leaves the bit of levels whose coordinates repeat alone.
    EXPECT_TRUE(format.isKnown() &&
                format.code < SPARSE_AUTOGRAD_LEVEL_NONUNIQUE);
    EXPECT_FALSE(format.meaning.empty());
  }
}

// What says where elements are is consistent: coordinates are listed unless all
// are there, and positions are listed if and only if nothing else says it.
TEST(LevelFormats, ListsSayWhatElementsLeaveOpen) {
  for (const LevelFormatInfo &format : level_formats::table) {
    EXPECT_EQ(format.hasCoordinates(), !format.storesAll()) << format.name;
    EXPECT_EQ(format.hasPositions(), format.elements == level_formats::Listed)
        << format.name;
  }
}

// The numbers of the C ABI, which are those of compiled code.
TEST(LevelFormats, CodesOfTheABIStay) {
  EXPECT_EQ(SPARSE_AUTOGRAD_LEVEL_DENSE, 0);
  EXPECT_EQ(SPARSE_AUTOGRAD_LEVEL_COMPRESSED, 1);
  EXPECT_EQ(SPARSE_AUTOGRAD_LEVEL_LOOSE_COMPRESSED, 2);
  EXPECT_EQ(SPARSE_AUTOGRAD_LEVEL_SINGLETON, 3);
  EXPECT_EQ(SPARSE_AUTOGRAD_LEVEL_NONUNIQUE, 256);
  EXPECT_EQ(get("dense").code, SPARSE_AUTOGRAD_LEVEL_DENSE);
  EXPECT_EQ(get("compressed").code, SPARSE_AUTOGRAD_LEVEL_COMPRESSED);
  EXPECT_EQ(get("loose_compressed").code,
            SPARSE_AUTOGRAD_LEVEL_LOOSE_COMPRESSED);
  EXPECT_EQ(get("singleton").code, SPARSE_AUTOGRAD_LEVEL_SINGLETON);
}

TEST(LevelFormats, PackedCoordinates) {
  const LevelFormatInfo &format = get("structured[2, 4]");
  EXPECT_EQ(format.code, SPARSE_AUTOGRAD_LEVEL_STRUCTURED_2_4);
  EXPECT_EQ(format.getPackedExtent(), 4);
  EXPECT_EQ(format.countBytes(0), 0);
  EXPECT_EQ(format.countBytes(2), 1);
  EXPECT_EQ(format.countBytes(4), 1);
  EXPECT_EQ(format.countBytes(6), 2);
  // Coordinates 2 and 3 of each group, from the lowest bits on.
  EXPECT_EQ(format.getUnusedByte(), 0xEE);
  const uint8_t bytes[] = {0xD4, 0x9C};
  const int64_t expected[] = {0, 1, 1, 3, 0, 3, 1, 2};
  for (int64_t element = 0; element < 8; ++element)
    EXPECT_EQ(format.getPacked(bytes, element), expected[element]) << element;
  EXPECT_TRUE(isExtentOf(format, 4));
  EXPECT_FALSE(isExtentOf(format, 3));
  // Groups do not lie in two bytes.
  for (const LevelFormatInfo &each : level_formats::table)
    EXPECT_TRUE(!each.isPacked() || each.countInByte() % each.elements == 0);
}

TEST(LevelFormats, CodesOfLevelsReadBack) {
  for (const LevelFormatInfo &format : level_formats::table)
    for (bool isUnique : {false, true}) {
      LevelKind level =
          LevelKind::fromCode(LevelKind{&format, isUnique}.getCode());
      EXPECT_EQ(level.format->name, format.name);
      EXPECT_EQ(level.isUnique, isUnique);
    }
  for (int64_t code : {int64_t(-1), int64_t(99), int64_t(512),
                       std::numeric_limits<int64_t>::min()}) {
    EXPECT_FALSE(LevelKind::fromCode(code).format->isKnown()) << code;
  }
  EXPECT_FALSE(get("").isKnown());
  EXPECT_FALSE(get("compresse").isKnown());
}

TEST(LevelFormats, LengthsOfPositions) {
  EXPECT_EQ(get("dense").countPositions(5), 0);
  EXPECT_EQ(get("compressed").countPositions(5), 6);
  EXPECT_EQ(get("compressed").countPositions(0), 1);
  EXPECT_EQ(get("loose_compressed").countPositions(5), 10);
  EXPECT_EQ(get("loose_compressed").countPositions(0), 0);
  EXPECT_EQ(get("singleton").countPositions(5), 0);
  EXPECT_EQ(get("dense").countLists(), 0);
  EXPECT_EQ(get("compressed").countLists(), 2);
  EXPECT_EQ(get("singleton").countLists(), 1);
}

// Every pair of levels, by the rule as Runtime.h states it.
TEST(LevelFormats, SequencesOfLevels) {
  for (const LevelFormatInfo &format : level_formats::table)
    for (bool isUnique : {false, true}) {
      LevelKind level = {&format, isUnique};
      bool mayBeFirst =
          !format.isSingleton() && (isUnique || format.mayRepeat());
      EXPECT_EQ(checkLevel(nullptr, level) == LevelProblem::None, mayBeFirst)
          << format.name;
      for (const LevelFormatInfo &other : level_formats::table) {
        LevelKind below = {&other, true};
        bool needsSingleton = !isUnique || format.isSingleton();
        bool takesSingleton = format.mayRepeat();
        EXPECT_EQ(checkLevel(&level, below) == LevelProblem::None,
                  other.isSingleton() ? takesSingleton : !needsSingleton)
            << format.name << ", " << other.name;
      }
    }
}

TEST(LevelFormats, ProblemsAreNamed) {
  LevelKind first = unique("compressed"), dense = unique("dense");
  LevelKind repeats = repeated("compressed");
  LevelKind unknown = {&level_formats::unknown, true};
  EXPECT_EQ(checkLevel(&first, unknown), LevelProblem::UnknownFormat);
  EXPECT_EQ(checkLevel(&first, repeated("dense")),
            LevelProblem::RepeatsWithoutList);
  EXPECT_EQ(checkLevel(&dense, unique("singleton")),
            LevelProblem::SingletonBelowNoList);
  EXPECT_EQ(checkLevel(&repeats, dense), LevelProblem::NoSingleton);
}

} // namespace
