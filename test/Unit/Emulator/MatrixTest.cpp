//===- MatrixTest.cpp - Products of matrices by a warp ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which thread holds what is written down here once more, from the formulas of
// the PTX ISA, and the results are compared with those of dense products.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "NarrowFloats.h"

#include <cmath>
#include <random>

using namespace sparse_autograd::emulator;

//===----------------------------------------------------------------------===//
// Narrow floats
//===----------------------------------------------------------------------===//

TEST(NarrowFloats, F16) {
  EXPECT_EQ(convertF16(0x3C00), 1);
  EXPECT_EQ(convertF16(0xC000), -2);
  EXPECT_EQ(convertF16(0x7BFF), 65504);
  EXPECT_EQ(convertF16(0x0001), std::ldexp(1, -24));
  EXPECT_EQ(convertF16(0x0400), std::ldexp(1, -14));
  EXPECT_EQ(convertF16(0xFC00), -INFINITY);
  EXPECT_TRUE(std::isnan(convertF16(0x7E00)));
  // Every f16 is rounded to itself.
  for (uint32_t bits = 0; bits < 0x10000; ++bits)
    if (!std::isnan(convertF16(bits)))
      ASSERT_EQ(roundToF16(convertF16(bits)), bits);
  EXPECT_TRUE(std::isnan(convertF16(roundToF16(NAN))));
  // To the nearest one, ties to even.
  EXPECT_EQ(roundToF16(1 + std::ldexp(1, -11)), 0x3C00);
  EXPECT_EQ(roundToF16(1 + 3 * std::ldexp(1, -11)), 0x3C02);
  EXPECT_EQ(roundToF16(1 + std::ldexp(1.01, -11)), 0x3C01);
  EXPECT_EQ(roundToF16(2 - std::ldexp(1, -12)), 0x4000);
  EXPECT_EQ(roundToF16(65519), 0x7BFF);
  EXPECT_EQ(roundToF16(-65520), 0xFC00);
  EXPECT_EQ(roundToF16(std::ldexp(1, -25)), 0);
  EXPECT_EQ(roundToF16(std::ldexp(3, -26)), 1);
  EXPECT_EQ(roundToF16(std::ldexp(1, -14) - std::ldexp(1, -26)), 0x0400);
}

TEST(NarrowFloats, BF16AndTF32) {
  EXPECT_EQ(convertBF16(0x3F80), 1);
  EXPECT_EQ(convertBF16(0xC040), -3);
  EXPECT_EQ(convertTF32(0x3F801FFF), 1);
  EXPECT_EQ(convertTF32(0x3F803FFF), 1 + std::ldexp(1, -10));
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

/// Loads `count` matrices whose rows lie in an order that is not theirs.
static void loadMatrices(void **parameters) {
  uint16_t *from = parameter<uint16_t *>(parameters, 0);
  uint32_t *out = parameter<uint32_t *>(parameters, 1);
  int32_t count = parameter<int32_t>(parameters, 2);
  int32_t isTransposed = parameter<int32_t>(parameters, 3);
  uint16_t *rows = shared<uint16_t>();
  int32_t row = threadId() * 7 % 32;
  for (int32_t i = 0; i < 8; ++i)
    store(&rows[8 * row + i], load(&from[8 * threadId() + i]));
  barrier(HERE);
  uint32_t result[4];
  sparseAutogradEmulateLoadMatrix(rows + 8 * row, count, isTransposed, result,
                                  HERE);
  for (int32_t i = 0; i < count; ++i)
    store(&out[4 * threadId() + i], result[i]);
}

TEST(LoadMatrix, EveryForm) {
  std::vector<uint16_t> numbers(256);
  for (int i = 0; i < 256; ++i)
    numbers[i] = static_cast<uint16_t>(i * 257);
  for (uint64_t seed : {0, 1})
    for (int32_t count : {1, 2, 4})
      for (int32_t isTransposed : {0, 1}) {
        Device device(seed);
        uint16_t *from = device.allocate(numbers);
        uint32_t *out = device.allocate(std::vector<uint32_t>(128));
        ASSERT_EQ(device.launch(loadMatrices, 1, 32, 512, from, out, count,
                                isTransposed),
                  SPARSE_AUTOGRAD_SUCCESS)
            << device.message();
        for (int lane = 0; lane < 32; ++lane)
          for (int matrix = 0; matrix < count; ++matrix)
            for (int half = 0; half < 2; ++half) {
              int row = lane / 4, column = lane % 4 * 2 + half;
              if (isTransposed)
                std::swap(row, column);
              EXPECT_EQ(out[4 * lane + matrix] >> 16 * half & 0xFFFF,
                        numbers[64 * matrix + 8 * row + column]);
            }
      }
}

TEST(LoadMatrix, Faults) {
  auto kernel = [](void **parameters) {
    int32_t kind = parameter<int32_t>(parameters, 0);
    if (kind != 4)
      for (int32_t i = 0; i < 8; ++i)
        store(&shared<uint16_t>()[8 * threadId() + i], uint16_t(1));
    if (kind != 3)
      barrier(HERE);
    if (kind == 2 && threadId() == 9)
      return;
    int32_t offset = kind == 0 && threadId() == 3   ? 4
                     : kind == 1 && threadId() == 3 ? 256
                                                    : 0;
    uint32_t result[4];
    sparseAutogradEmulateLoadMatrix(
        shared<uint16_t>() + 8 * threadId() + offset, 4, 0, result,
        kind == 5 && threadId() == 8 ? "here" : "there");
  };
  Device device;
  auto launch = [&](int32_t kind) {
    return device.launch(kernel, 1, 32, 512, kind);
  };
  EXPECT_FAULT(device, launch(0), SPARSE_AUTOGRAD_EMULATOR_MISALIGNED,
               "thread (3, 0, 0) reads address");
  EXPECT_FAULT(device, launch(1), SPARSE_AUTOGRAD_EMULATOR_OUT_OF_BOUNDS,
               "thread (3, 0, 0) reads 16 bytes at offset 560");
  EXPECT_FAULT(device, launch(2), SPARSE_AUTOGRAD_EMULATOR_INACTIVE_LANE,
               "executes ldmatrix.sync.aligned, which needs all threads of a "
               "warp, but there is none in lane 9 any more");
  EXPECT_FAULT(device, launch(4), SPARSE_AUTOGRAD_EMULATOR_UNINITIALIZED,
               "thread (0, 0, 0) reads 16 bytes at offset 0");
  EXPECT_FAULT(device, launch(5), SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP,
               "executes ldmatrix.sync.aligned, which all threads of a warp "
               "must do at the same place, but thread (");
  EXPECT_EQ(launch(6), SPARSE_AUTOGRAD_SUCCESS) << device.message();
  // Each thread reads rows that it has written itself, by the address it gives.
  EXPECT_EQ(launch(3), SPARSE_AUTOGRAD_SUCCESS) << device.message();
}

//===----------------------------------------------------------------------===//
// mma and mma.sp
//===----------------------------------------------------------------------===//

namespace {
enum class Type { F16, BF16, TF32, F32, F64 };

/// What a kind of product takes.
struct Kind {
  int32_t kind;
  int m, n, k;
  Type factors, sums;
  bool isSparse;
};

using Matrix = std::vector<std::vector<double>>;
} // namespace

static Matrix makeMatrix(int rows, int columns) {
  return Matrix(rows, std::vector<double>(columns));
}

static const Kind kinds[] = {
    {SPARSE_AUTOGRAD_MMA_M16N8K8_F16_F16, 16, 8, 8, Type::F16, Type::F16,
     false},
    {SPARSE_AUTOGRAD_MMA_M16N8K8_F16_F32, 16, 8, 8, Type::F16, Type::F32,
     false},
    {SPARSE_AUTOGRAD_MMA_M16N8K16_F16_F16, 16, 8, 16, Type::F16, Type::F16,
     false},
    {SPARSE_AUTOGRAD_MMA_M16N8K16_F16_F32, 16, 8, 16, Type::F16, Type::F32,
     false},
    {SPARSE_AUTOGRAD_MMA_M16N8K8_BF16_F32, 16, 8, 8, Type::BF16, Type::F32,
     false},
    {SPARSE_AUTOGRAD_MMA_M16N8K16_BF16_F32, 16, 8, 16, Type::BF16, Type::F32,
     false},
    {SPARSE_AUTOGRAD_MMA_M16N8K4_TF32_F32, 16, 8, 4, Type::TF32, Type::F32,
     false},
    {SPARSE_AUTOGRAD_MMA_M16N8K8_TF32_F32, 16, 8, 8, Type::TF32, Type::F32,
     false},
    {SPARSE_AUTOGRAD_MMA_M8N8K4_F64_F64, 8, 8, 4, Type::F64, Type::F64, false},
    {SPARSE_AUTOGRAD_MMA_SP_M16N8K16_F16_F16, 16, 8, 16, Type::F16, Type::F16,
     true},
    {SPARSE_AUTOGRAD_MMA_SP_M16N8K16_F16_F32, 16, 8, 16, Type::F16, Type::F32,
     true},
    {SPARSE_AUTOGRAD_MMA_SP_M16N8K32_F16_F16, 16, 8, 32, Type::F16, Type::F16,
     true},
    {SPARSE_AUTOGRAD_MMA_SP_M16N8K32_F16_F32, 16, 8, 32, Type::F16, Type::F32,
     true},
    {SPARSE_AUTOGRAD_MMA_SP_M16N8K16_BF16_F32, 16, 8, 16, Type::BF16, Type::F32,
     true},
    {SPARSE_AUTOGRAD_MMA_SP_M16N8K32_BF16_F32, 16, 8, 32, Type::BF16, Type::F32,
     true},
    {SPARSE_AUTOGRAD_MMA_SP_M16N8K8_TF32_F32, 16, 8, 8, Type::TF32, Type::F32,
     true},
    {SPARSE_AUTOGRAD_MMA_SP_M16N8K16_TF32_F32, 16, 8, 16, Type::TF32, Type::F32,
     true},
};

/// Appends a number to registers.
static void append(std::string &registers, Type type, double value) {
  auto add = [&](const auto &bits) {
    registers.append(reinterpret_cast<const char *>(&bits), sizeof(bits));
  };
  uint32_t single;
  float narrow = static_cast<float>(value);
  std::memcpy(&single, &narrow, sizeof(single));
  switch (type) {
  case Type::F16:
    return add(roundToF16(value));
  case Type::BF16:
    return add(uint16_t(single >> 16));
  case Type::TF32:
    // Whatever the last bits are.
    return add(single | 0x1234);
  case Type::F32:
    return add(single);
  case Type::F64:
    return add(value);
  }
}

static double readNumber(const char *from, Type type) {
  uint16_t half;
  std::memcpy(&half, from, sizeof(half));
  float single;
  std::memcpy(&single, from, sizeof(single));
  if (type == Type::F16)
    return convertF16(half);
  if (type == Type::F32)
    return single;
  double value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// The row and the column of a[i], of a matrix with `k` columns that are
/// stored.
static std::pair<int, int> getPlaceOfA(Type type, int lane, int i) {
  int groupId = lane >> 2, threadInGroup = lane % 4;
  switch (type) {
  case Type::F64: // m8n8k4
    return {groupId, threadInGroup};
  case Type::TF32:
    return {i == 0 || i == 2 ? groupId : groupId + 8,
            i < 2 ? threadInGroup : threadInGroup + 4};
  default:
    return {(i >= 0 && i < 2) || (i >= 4 && i < 6) ? groupId : groupId + 8,
            i < 4 ? threadInGroup * 2 + (i & 1)
                  : threadInGroup * 2 + (i & 1) + 8};
  }
}

static std::pair<int, int> getPlaceOfB(Type type, int lane, int i) {
  int groupId = lane >> 2, threadInGroup = lane % 4;
  if (type == Type::F64 || type == Type::TF32)
    return {threadInGroup + 4 * i, groupId};
  static const int rows[] = {0, 1, 8, 9, 16, 17, 24, 25};
  return {threadInGroup * 2 + rows[i], groupId};
}

static std::pair<int, int> getPlaceOfC(int lane, int i) {
  return {i < 2 ? lane >> 2 : (lane >> 2) + 8, lane % 4 * 2 + (i & 1)};
}

/// What the threads of a warp pass.
struct Registers {
  std::string bytes;
  size_t perLane;
  std::vector<uint32_t> metadata;
};

/// A matrix with two of four (tf32: one of two) columns of each row.
static Matrix makeSparse(const Kind &kind, std::mt19937 &random, Matrix &stored,
                         std::vector<std::vector<int>> &places) {
  int group = kind.factors == Type::TF32 ? 2 : 4;
  Matrix dense = makeMatrix(kind.m, kind.k);
  stored = makeMatrix(kind.m, kind.k / 2);
  places.assign(kind.m, std::vector<int>(kind.k / 2));
  for (int row = 0; row < kind.m; ++row)
    for (int begin = 0; begin < kind.k; begin += group) {
      std::vector<int> chosen(group);
      for (int i = 0; i < group; ++i)
        chosen[i] = i;
      std::shuffle(chosen.begin(), chosen.end(), random);
      chosen.resize(group / 2);
      std::sort(chosen.begin(), chosen.end());
      for (int i = 0; i < group / 2; ++i) {
        double value = int(random() % 33) / 8. - 2;
        dense[row][begin + chosen[i]] = value;
        stored[row][begin / 2 + i] = value;
        places[row][begin / 2 + i] = chosen[i];
      }
    }
  return dense;
}

/// The metadata as two-four-sparsity has it: for each row of 16-bit types a
/// nibble for each four columns, of tf32 one for each two.
static uint32_t getNibble(const Kind &kind, const std::vector<int> &places,
                          int index) {
  if (kind.factors == Type::TF32)
    return places[index] ? 0xE : 0x4;
  return places[2 * index] | places[2 * index + 1] << 2;
}

static std::vector<uint32_t>
makeMetadata(const Kind &kind, int selector,
             const std::vector<std::vector<int>> &places) {
  // Threads that are not selected have nonsense.
  std::vector<uint32_t> metadata(32, 0xDEADBEEF);
  bool isWide = kind.k == (kind.factors == Type::TF32 ? 16 : 32);
  for (int lane = 0; lane < 32; ++lane) {
    int inGroup = lane % 4;
    if (isWide ? inGroup / 2 != selector : inGroup != selector)
      continue;
    int first = isWide ? 4 * (inGroup % 2) : 0;
    uint32_t word = 0;
    for (int half = 0; half < 2; ++half)
      for (int i = 0; i < 4; ++i)
        word |= getNibble(kind, places[lane / 4 + 8 * half], first + i)
                << (16 * half + 4 * i);
    metadata[lane] = word;
  }
  return metadata;
}

static void runProduct(void **parameters) {
  const char *operands = parameter<char *>(parameters, 0);
  char *out = parameter<char *>(parameters, 1);
  uint32_t *metadata = parameter<uint32_t *>(parameters, 2);
  int64_t perLane = parameter<int64_t>(parameters, 3);
  int32_t selector = parameter<int32_t>(parameters, 5);
  // For faults: a thread that differs.
  if (parameter<int32_t>(parameters, 7) == threadId())
    selector ^= 1;
  sparseAutogradEmulateProduct(
      parameter<int32_t>(parameters, 4), operands + perLane * threadId(),
      metadata[threadId()], selector, parameter<int32_t>(parameters, 6),
      out + 32 * threadId(), HERE);
}

static Registers makeRegisters(const Kind &kind, const Matrix &storedA,
                               const Matrix &b, const Matrix &c) {
  int storedK = kind.isSparse ? kind.k / 2 : kind.k;
  Registers registers;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < kind.m * storedK / 32; ++i) {
      auto [row, column] = getPlaceOfA(kind.factors, lane, i);
      append(registers.bytes, kind.factors, storedA[row][column]);
    }
    for (int i = 0; i < kind.k * kind.n / 32; ++i) {
      auto [row, column] = getPlaceOfB(kind.factors, lane, i);
      append(registers.bytes, kind.factors, b[row][column]);
    }
    for (int i = 0; i < kind.m * kind.n / 32; ++i) {
      auto [row, column] = getPlaceOfC(lane, i);
      append(registers.bytes, kind.sums, c[row][column]);
    }
    if (lane == 0)
      registers.perLane = registers.bytes.size();
  }
  return registers;
}

static Matrix makeRandom(int rows, int columns, std::mt19937 &random) {
  Matrix matrix = makeMatrix(rows, columns);
  for (auto &row : matrix)
    for (double &value : row)
      value = int(random() % 33) / 8. - 2;
  return matrix;
}

TEST(Product, EveryKindAgainstTheDenseProduct) {
  std::mt19937 random(7);
  for (const Kind &kind : kinds)
    for (int repeat = 0; repeat < 4; ++repeat) {
      int selectors = !kind.isSparse                                     ? 1
                      : kind.k == (kind.factors == Type::TF32 ? 16 : 32) ? 2
                                                                         : 4;
      for (int selector = 0; selector < selectors; ++selector) {
        Matrix a, stored;
        std::vector<std::vector<int>> places;
        if (kind.isSparse)
          a = makeSparse(kind, random, stored, places);
        else
          a = stored = makeRandom(kind.m, kind.k, random);
        Matrix b = makeRandom(kind.k, kind.n, random);
        Matrix c = makeRandom(kind.m, kind.n, random);
        Registers registers = makeRegisters(kind, stored, b, c);
        std::vector<uint32_t> metadata(32);
        if (kind.isSparse)
          metadata = makeMetadata(kind, selector, places);

        Device device(repeat);
        char *operands = device.allocate(
            std::vector<char>(registers.bytes.begin(), registers.bytes.end()));
        char *out = device.allocate(std::vector<char>(32 * 32));
        uint32_t *words = device.allocate(metadata);
        ASSERT_EQ(device.launch(runProduct, 1, 32, 0, operands, out, words,
                                int64_t(registers.perLane), kind.kind, selector,
                                1, -1),
                  SPARSE_AUTOGRAD_SUCCESS)
            << device.message();
        size_t sumBytes = kind.sums == Type::F64   ? 8
                          : kind.sums == Type::F32 ? 4
                                                   : 2;
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < kind.m * kind.n / 32; ++i) {
            auto [row, column] = getPlaceOfC(lane, i);
            double sum = c[row][column];
            for (int j = 0; j < kind.k; ++j)
              sum += a[row][j] * b[j][column];
            // Multiples of 1/64 of at most 130: exact, but for f16.
            if (kind.sums == Type::F16)
              sum = convertF16(roundToF16(sum));
            ASSERT_EQ(readNumber(out + 32 * lane + sumBytes * i, kind.sums),
                      sum)
                << "kind " << kind.kind << " selector " << selector << " row "
                << row << " column " << column;
          }
      }
    }
}

TEST(Product, AddsProductsOfF64Unrounded) {
  const Kind &kind =
      *std::find_if(std::begin(kinds), std::end(kinds),
                    [](const Kind &kind) { return kind.factors == Type::F64; });
  Matrix a = makeMatrix(8, 4), b = makeMatrix(4, 8), c = makeMatrix(8, 8);
  // In each row another one of the terms is not zero.
  double small = std::ldexp(1.0, -30);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      a[i][i % 4] = 1 + small;
      b[i % 4][j] = 1 - small;
      c[i][j] = -1;
    }
  Registers registers = makeRegisters(kind, a, b, c);
  Device device;
  char *operands = device.allocate(
      std::vector<char>(registers.bytes.begin(), registers.bytes.end()));
  char *out = device.allocate(std::vector<char>(32 * 32));
  uint32_t *words = device.allocate(std::vector<uint32_t>(32));
  ASSERT_EQ(device.launch(runProduct, 1, 32, 0, operands, out, words,
                          int64_t(registers.perLane), kind.kind, 0, 1, -1),
            SPARSE_AUTOGRAD_SUCCESS)
      << device.message();
  // A product that is rounded is 1.
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(readNumber(out + 32 * lane + 8 * i, Type::F64), -small * small);
}

/// A product of mma.sp m16n8k32 with f16, whose first row may be wrong.
static int32_t launchSparse(Device &device, uint32_t nibble, int32_t isOrdered,
                            int32_t selector = 0, int32_t other = -1,
                            int64_t threads = 32) {
  // The metadata of all groups is "the last two", but for one.
  std::vector<uint32_t> metadata(32, 0xEEEEEEEE);
  metadata[4] = (metadata[4] & ~0xFu) | nibble;
  std::vector<char> zeros(48 * 32);
  char *operands = device.allocate(zeros);
  char *out = device.allocate(std::vector<char>(32 * 32));
  uint32_t *words = device.allocate(metadata);
  return device.launch(runProduct, 1, threads, 0, operands, out, words,
                       int64_t(48),
                       int32_t(SPARSE_AUTOGRAD_MMA_SP_M16N8K32_F16_F32),
                       selector, isOrdered, other);
}

TEST(Product, Metadata) {
  Device device;
  constexpr int32_t fault = SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND;
  for (uint32_t nibble : {0x4, 0x8, 0xC, 0x9, 0xD, 0xE})
    EXPECT_EQ(launchSparse(device, nibble, 1), SPARSE_AUTOGRAD_SUCCESS)
        << device.message();
  EXPECT_FAULT(
      device, launchSparse(device, 0x1, 1), fault,
      "thread (4, 0, 0) gives mma.sp.sync.aligned the indices 1 and 0 for the "
      "group 0 of row 1 of its warp, which must increase");
  EXPECT_FAULT(device, launchSparse(device, 0x5, 1), fault, "1 and 1");
  // Without ordered metadata, they must differ only.
  EXPECT_EQ(launchSparse(device, 0x1, 0), SPARSE_AUTOGRAD_SUCCESS);
  EXPECT_FAULT(device, launchSparse(device, 0xF, 0), fault, "must differ");
  // Selector 1 reads the other threads' metadata.
  EXPECT_EQ(launchSparse(device, 0x5, 1, 1), SPARSE_AUTOGRAD_SUCCESS);
}

/// The nibbles that the metadata of a kind may have, and those that it may not.
static void getNibbles(const Kind &kind, bool isOrdered,
                       std::vector<uint32_t> &legal,
                       std::vector<uint32_t> &illegal) {
  for (uint32_t nibble = 0; nibble < 16; ++nibble) {
    uint32_t first = nibble & 3, second = nibble >> 2;
    bool isLegal = kind.factors == Type::TF32 ? nibble == 0x4 || nibble == 0xE
                   : isOrdered                ? first < second
                                              : first != second;
    (isLegal ? legal : illegal).push_back(nibble);
  }
}

static int getSelectors(const Kind &kind) {
  return kind.k == (kind.factors == Type::TF32 ? 16 : 32) ? 2 : 4;
}

/// The status of a product with these operands, whose results are `out`.
static int32_t launchProduct(Device &device, const Kind &kind,
                             const Registers &registers,
                             const std::vector<uint32_t> &metadata,
                             int32_t selector, int32_t isOrdered, char *&out) {
  char *operands = device.allocate(
      std::vector<char>(registers.bytes.begin(), registers.bytes.end()));
  out = device.allocate(std::vector<char>(32 * 32));
  uint32_t *words = device.allocate(metadata);
  return device.launch(runProduct, 1, 32, 0, operands, out, words,
                       int64_t(registers.perLane), kind.kind, selector,
                       isOrdered, -1);
}

TEST(Product, EveryLegalNibbleInEveryPlace) {
  std::mt19937 random(24);
  for (const Kind &kind : kinds) {
    if (!kind.isSparse)
      continue;
    bool isTF32 = kind.factors == Type::TF32;
    // Columns that a nibble is of, and elements that it places.
    int columns = isTF32 ? 2 : 4, elements = columns / 2;
    for (int selector = 0; selector < getSelectors(kind); ++selector)
      for (int32_t isOrdered : {0, 1}) {
        std::vector<uint32_t> legal, illegal;
        getNibbles(kind, isOrdered != 0, legal, illegal);
        for (size_t shift = 0; shift < legal.size(); ++shift) {
          Matrix stored = makeRandom(kind.m, kind.k / 2, random);
          Matrix b = makeRandom(kind.k, kind.n, random);
          Matrix a = makeMatrix(kind.m, kind.k), c = makeMatrix(kind.m, kind.n);
          std::vector<std::vector<int>> places(kind.m,
                                               std::vector<int>(kind.k / 2));
          for (int row = 0; row < kind.m; ++row)
            for (int group = 0; group < kind.k / columns; ++group) {
              uint32_t nibble = legal[(7 * row + group + shift) % legal.size()];
              for (int i = 0; i < elements; ++i) {
                int place = isTF32 ? nibble == 0xE : nibble >> 2 * i & 3;
                places[row][elements * group + i] = place;
                a[row][columns * group + place] =
                    stored[row][elements * group + i];
              }
            }
          Device device;
          char *out;
          ASSERT_EQ(launchProduct(device, kind,
                                  makeRegisters(kind, stored, b, c),
                                  makeMetadata(kind, selector, places),
                                  selector, isOrdered, out),
                    SPARSE_AUTOGRAD_SUCCESS)
              << device.message();
          size_t sumBytes = kind.sums == Type::F32 ? 4 : 2;
          for (int lane = 0; lane < 32; ++lane)
            for (int i = 0; i < kind.m * kind.n / 32; ++i) {
              auto [row, column] = getPlaceOfC(lane, i);
              double sum = 0;
              for (int j = 0; j < kind.k; ++j)
                sum += a[row][j] * b[j][column];
              if (kind.sums == Type::F16)
                sum = convertF16(roundToF16(sum));
              ASSERT_EQ(readNumber(out + 32 * lane + sumBytes * i, kind.sums),
                        sum)
                  << "kind " << kind.kind << " selector " << selector
                  << " shift " << shift << " row " << row << " column "
                  << column;
            }
        }
      }
  }
}

TEST(Product, EveryIllegalNibbleInEveryPlace) {
  for (const Kind &kind : kinds) {
    if (!kind.isSparse || kind.sums == Type::F16)
      continue;
    bool isTF32 = kind.factors == Type::TF32;
    int groups = kind.k / (isTF32 ? 2 : 4), perWord = 4;
    Registers registers =
        makeRegisters(kind, makeMatrix(kind.m, kind.k / 2),
                      makeMatrix(kind.k, kind.n), makeMatrix(kind.m, kind.n));
    for (int selector = 0; selector < getSelectors(kind); ++selector)
      for (int32_t isOrdered : {0, 1}) {
        std::vector<uint32_t> legal, illegal;
        getNibbles(kind, isOrdered != 0, legal, illegal);
        for (int row = 0; row < kind.m; ++row) {
          Device device;
          for (int group = 0; group < groups; ++group)
            for (uint32_t nibble : illegal) {
              // Who has it: half a word for each of two rows, of the lanes that
              // are selected.
              int lane =
                  row % 8 * 4 + groups / perWord * selector + group / perWord;
              int bit = row / 8 * 16 + group % perWord * 4;
              std::vector<uint32_t> metadata(32, 0xEEEEEEEE);
              metadata[lane] = (metadata[lane] & ~(0xFu << bit)) | nibble
                                                                       << bit;
              char *out;
              EXPECT_FAULT(device,
                           launchProduct(device, kind, registers, metadata,
                                         selector, isOrdered, out),
                           SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
                           "of row " + std::to_string(row) + " of its warp");
            }
        }
      }
  }
}

TEST(Product, Faults) {
  Device device;
  EXPECT_FAULT(device, launchSparse(device, 0xE, 1, 2),
               SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
               "executes mma.sp with selector 2, of 0 to 1");
  EXPECT_FAULT(device, launchSparse(device, 0xE, 1, 0, 5),
               SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP,
               "executes mma.sp.sync.aligned with operands that differ from "
               "those of its warp");
  EXPECT_FAULT(device, launchSparse(device, 0xE, 1, 0, -1, 31),
               SPARSE_AUTOGRAD_EMULATOR_INACTIVE_LANE,
               "there is none in lane 31 any more");
}

TEST(Product, OfWhatIsNotStored) {
  // An infinity in B where A stores nothing does not get into the sum, where A
  // stores a zero it does.
  Device device;
  const Kind &kind = kinds[12];
  ASSERT_EQ(kind.kind, SPARSE_AUTOGRAD_MMA_SP_M16N8K32_F16_F32);
  for (int row : {0, 3}) {
    Matrix stored = makeMatrix(16, 16), b = makeMatrix(32, 8),
           c = makeMatrix(16, 8);
    b[row][0] = INFINITY;
    Registers registers = makeRegisters(kind, stored, b, c);
    char *operands = device.allocate(
        std::vector<char>(registers.bytes.begin(), registers.bytes.end()));
    float *out = device.allocate(std::vector<float>(8 * 32));
    uint32_t *words = device.allocate(std::vector<uint32_t>(32, 0xEEEEEEEE));
    ASSERT_EQ(device.launch(runProduct, 1, 32, 0, operands, out, words,
                            int64_t(registers.perLane), kind.kind, 0, 1, -1),
              SPARSE_AUTOGRAD_SUCCESS);
    EXPECT_EQ(std::isnan(out[0]), row == 3);
  }
}
