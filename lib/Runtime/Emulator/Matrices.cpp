//===- Matrices.cpp - Products of matrices by a warp ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ldmatrix, mma and mma.sp. Which thread holds which elements is in the PTX
// ISA, sections "Matrix fragments for mma" and "Matrix fragments for sparse
// mma". In all of them a thread is named by its group (lane / 4) and its place
// in the group (lane % 4).
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "NarrowFloats.h"

#include <cstring>

using namespace sparse_autograd::emulator;

static const char loadMatrixName[] = "ldmatrix.sync.aligned";
static const char productName[] = "mma.sync.aligned";
static const char sparseProductName[] = "mma.sp.sync.aligned";

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

namespace {
struct LoadMatrixData {
  const char *row;
  uint32_t *result;
  int32_t count;
  bool isTransposed;
};
} // namespace

/// Reports an operation that needs the whole warp, if that is not there.
static void checkWholeWarp(Block &block, WarpCalls &calls) {
  const WarpCall *some = nullptr;
  for (const WarpCall *call : calls)
    some = call ? call : some;
  for (uint32_t lane = 0; lane < warpSize; ++lane)
    if (!calls[lane])
      block.fail(block.getThread(), SPARSE_AUTOGRAD_EMULATOR_INACTIVE_LANE,
                 some->where,
                 "executes %s, which needs all threads of a warp, but there is "
                 "none in lane %u any more",
                 some->operation, lane);
}

static void loadMatrices(Block &block, WarpCalls &calls) {
  checkWholeWarp(block, calls);
  auto getData = [&](uint32_t lane) -> LoadMatrixData & {
    return *static_cast<LoadMatrixData *>(calls[lane]->data);
  };
  int32_t count = getData(0).count;
  bool isTransposed = getData(0).isTransposed;
  constexpr size_t rowBytes = 16;
  for (int32_t matrix = 0; matrix < count; ++matrix) {
    uint16_t elements[8][8];
    for (uint32_t row = 0; row < 8; ++row) {
      uint32_t lane = matrix * 8 + row;
      const Thread &thread = block.getThreadOfWarp(lane);
      uintptr_t address = reinterpret_cast<uintptr_t>(getData(lane).row);
      block.checkAlignment(thread, address, rowBytes, SPARSE_AUTOGRAD_LOAD,
                           calls[lane]->where);
      block.accessShared(thread, address, rowBytes, SPARSE_AUTOGRAD_LOAD,
                         calls[lane]->where);
      std::memcpy(elements[row], getData(lane).row, rowBytes);
    }
    for (uint32_t lane = 0; lane < warpSize; ++lane) {
      uint16_t pair[2];
      for (uint32_t i = 0; i < 2; ++i)
        pair[i] = isTransposed ? elements[lane % 4 * 2 + i][lane / 4]
                               : elements[lane / 4][lane % 4 * 2 + i];
      std::memcpy(&getData(lane).result[matrix], pair, sizeof(pair));
    }
  }
}

void sparseAutogradEmulateLoadMatrix(const void *row, int32_t count,
                                     int32_t isTransposed, uint32_t *result,
                                     const char *where) {
  Block &block = Block::getCurrent();
  if (count != 1 && count != 2 && count != 4)
    block.fail(block.getThread(), SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
               where, "loads %d matrices with ldmatrix", count);
  LoadMatrixData data = {static_cast<const char *>(row), result, count,
                         isTransposed != 0};
  WarpCall call = {};
  call.operation = loadMatrixName;
  call.mask = UINT32_MAX;
  call.uniform = static_cast<uint32_t>(count) * 2 + (isTransposed != 0);
  call.isAligned = true;
  call.where = where;
  call.data = &data;
  block.collect(call, loadMatrices);
}

//===----------------------------------------------------------------------===//
// mma and mma.sp
//===----------------------------------------------------------------------===//

namespace {
enum class Element { F16, BF16, TF32, F32, F64 };

/// What a kind of product multiplies.
struct Product {
  uint32_t m;
  uint32_t n;
  uint32_t k;
  Element factors;
  Element sums;
  bool isSparse;
};

struct ProductData {
  const char *operands;
  void *result;
  uint32_t metadata;
};

/// A place in a matrix.
struct Place {
  uint32_t row;
  uint32_t column;
};
} // namespace

/// In the order of SparseAutogradEmulatedProduct.
static const Product products[] = {
    {16, 8, 8, Element::F16, Element::F16, false},
    {16, 8, 8, Element::F16, Element::F32, false},
    {16, 8, 16, Element::F16, Element::F16, false},
    {16, 8, 16, Element::F16, Element::F32, false},
    {16, 8, 8, Element::BF16, Element::F32, false},
    {16, 8, 16, Element::BF16, Element::F32, false},
    {16, 8, 4, Element::TF32, Element::F32, false},
    {16, 8, 8, Element::TF32, Element::F32, false},
    {8, 8, 4, Element::F64, Element::F64, false},
    {16, 8, 16, Element::F16, Element::F16, true},
    {16, 8, 16, Element::F16, Element::F32, true},
    {16, 8, 32, Element::F16, Element::F16, true},
    {16, 8, 32, Element::F16, Element::F32, true},
    {16, 8, 16, Element::BF16, Element::F32, true},
    {16, 8, 32, Element::BF16, Element::F32, true},
    {16, 8, 8, Element::TF32, Element::F32, true},
    {16, 8, 16, Element::TF32, Element::F32, true},
};
static_assert(sizeof(products) / sizeof(products[0]) ==
                  SPARSE_AUTOGRAD_MMA_SP_M16N8K16_TF32_F32 + 1,
              "a product for each kind");

static bool isPair(Element element) {
  return element == Element::F16 || element == Element::BF16;
}

static uint32_t getBytes(Element element) {
  return element == Element::F64 ? 8 : isPair(element) ? 2 : 4;
}

static double readElement(const char *from, Element element) {
  if (element == Element::F64) {
    double value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  if (isPair(element)) {
    uint16_t bits;
    std::memcpy(&bits, from, sizeof(bits));
    return element == Element::F16 ? convertF16(bits) : convertBF16(bits);
  }
  uint32_t bits;
  std::memcpy(&bits, from, sizeof(bits));
  return element == Element::TF32 ? convertTF32(bits) : convertF32(bits);
}

static void writeElement(char *to, Element element, double value) {
  if (element == Element::F64) {
    std::memcpy(to, &value, sizeof(value));
  } else if (element == Element::F32) {
    float narrow = static_cast<float>(value);
    std::memcpy(to, &narrow, sizeof(narrow));
  } else {
    uint16_t bits = roundToF16(value);
    std::memcpy(to, &bits, sizeof(bits));
  }
}

/// Element i of a thread's part of A, of which `k` columns are stored.
static Place getPlaceInA(const Product &product, uint32_t lane, uint32_t i) {
  uint32_t group = lane / 4;
  uint32_t place = lane % 4;
  if (product.factors == Element::F64)
    return {group, place};
  // Rows alternate between the halves of the matrix, register by register.
  if (isPair(product.factors))
    return {group + i / 2 % 2 * 8, place * 2 + i % 2 + i / 4 * 8};
  return {group + i % 2 * 8, place + i / 2 * 4};
}

/// Element i of a thread's part of B.
static Place getPlaceInB(const Product &product, uint32_t lane, uint32_t i) {
  uint32_t group = lane / 4;
  uint32_t place = lane % 4;
  if (isPair(product.factors))
    return {place * 2 + i % 2 + i / 2 * 8, group};
  return {place + i * 4, group};
}

/// Element i of a thread's part of C and D.
static Place getPlaceInC(uint32_t lane, uint32_t i) {
  return {lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2};
}

namespace {
/// What a warp multiplies. It is as large as the largest of the products.
struct WarpProduct {
  double a[16][32];
  double b[32][8];
  double c[16][8];
  /// A bit for each column of A that is stored in a row.
  uint32_t stored[16];
};
} // namespace

/// Which column of A an element of the compressed A is in.
///
/// The metadata has 4 bits for each two stored elements of 16 bits, which are
/// those of four columns: two indices of 2 bits. Of tf32 it has 4 bits for each
/// stored element, of two columns: the indices of its halves, as if they had 16
/// bits. A register has the metadata of rows r and r + 8, for 16 columns (tf32:
/// 8); of the four threads of a group, the selector says which ones are read.
static uint32_t getColumn(Block &block, WarpCalls &calls,
                          const Product &product, uint32_t row,
                          uint32_t stored) {
  bool isTF32 = product.factors == Element::TF32;
  uint32_t selector = calls[0]->uniform >> 8 & 3;
  bool isOrdered = calls[0]->uniform >> 16 & 1;
  // Stored elements for which one register has the metadata.
  uint32_t perRegister = isTF32 ? 4 : 8;
  bool isPairOfThreads = product.k == (isTF32 ? 16 : 32);
  uint32_t thread =
      isPairOfThreads ? 2 * selector + stored / perRegister : selector;
  uint32_t lane = row % 8 * 4 + thread;
  uint32_t bits =
      static_cast<ProductData *>(calls[lane]->data)->metadata >> row / 8 * 16;
  uint32_t inRegister = stored % perRegister;
  if (isTF32) {
    uint32_t nibble = bits >> inRegister * 4 & 15;
    if (nibble != 0x4 && nibble != 0xE)
      block.fail(block.getThreadOfWarp(lane),
                 SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, calls[lane]->where,
                 "gives mma.sp the metadata 0x%x for the stored element %u of "
                 "row %u: for tf32 it is 0x4 or 0xe",
                 nibble, stored, row);
    return stored * 2 + (nibble == 0xE);
  }
  uint32_t first = bits >> inRegister / 2 * 4 & 3;
  uint32_t second = bits >> (inRegister / 2 * 4 + 2) & 3;
  if (first == second || (isOrdered && first > second))
    block.fail(block.getThreadOfWarp(lane),
               SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, calls[lane]->where,
               "gives mma.sp the indices %u and %u for the group %u of row %u, "
               "which must %s",
               first, second, stored / 2, row,
               isOrdered ? "increase" : "differ");
  return stored / 2 * 4 + (stored % 2 ? second : first);
}

static void multiply(Block &block, WarpCalls &calls) {
  checkWholeWarp(block, calls);
  const Product &product = products[calls[0]->uniform & 0xFF];
  uint32_t storedK = product.isSparse ? product.k / 2 : product.k;
  uint32_t factorBytes = getBytes(product.factors);
  uint32_t sumBytes = getBytes(product.sums);
  uint32_t countA = product.m * storedK / warpSize;
  uint32_t countB = product.k * product.n / warpSize;
  uint32_t countC = product.m * product.n / warpSize;
  WarpProduct values;
  std::memset(&values, 0, sizeof(values));
  for (uint32_t lane = 0; lane < warpSize; ++lane) {
    const char *from = static_cast<ProductData *>(calls[lane]->data)->operands;
    for (uint32_t i = 0; i < countA; ++i, from += factorBytes) {
      Place place = getPlaceInA(product, lane, i);
      uint32_t column = product.isSparse ? getColumn(block, calls, product,
                                                     place.row, place.column)
                                         : place.column;
      values.a[place.row][column] = readElement(from, product.factors);
      values.stored[place.row] |= 1u << column;
    }
    for (uint32_t i = 0; i < countB; ++i, from += factorBytes) {
      Place place = getPlaceInB(product, lane, i);
      values.b[place.row][place.column] = readElement(from, product.factors);
    }
    for (uint32_t i = 0; i < countC; ++i, from += sumBytes) {
      Place place = getPlaceInC(lane, i);
      values.c[place.row][place.column] = readElement(from, product.sums);
    }
  }
  for (uint32_t lane = 0; lane < warpSize; ++lane) {
    char *to = static_cast<char *>(
        static_cast<ProductData *>(calls[lane]->data)->result);
    for (uint32_t i = 0; i < countC; ++i, to += sumBytes) {
      Place place = getPlaceInC(lane, i);
      double sum = values.c[place.row][place.column];
      // What is not stored is not multiplied: an infinity in B stays out.
      for (uint32_t column = 0; column < product.k; ++column)
        if (values.stored[place.row] >> column & 1)
          sum += values.a[place.row][column] * values.b[column][place.column];
      writeElement(to, product.sums, sum);
    }
  }
}

void sparseAutogradEmulateProduct(int32_t kind, const void *operands,
                                  uint32_t metadata, int32_t selector,
                                  int32_t isOrdered, void *result,
                                  const char *where) {
  Block &block = Block::getCurrent();
  if (kind < 0 || kind > SPARSE_AUTOGRAD_MMA_SP_M16N8K16_TF32_F32)
    block.fail(block.getThread(), SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
               where, "executes product %d, which does not exist", kind);
  const Product &product = products[kind];
  if (product.isSparse) {
    bool isTF32 = product.factors == Element::TF32;
    int32_t selectors = product.k == (isTF32 ? 16 : 32) ? 2 : 4;
    if (selector < 0 || selector >= selectors)
      block.fail(block.getThread(), SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND,
                 where, "executes mma.sp with selector %d, of 0 to %d",
                 selector, selectors - 1);
  }
  ProductData data = {static_cast<const char *>(operands), result, metadata};
  WarpCall call = {};
  call.operation = product.isSparse ? sparseProductName : productName;
  call.mask = UINT32_MAX;
  call.uniform = static_cast<uint32_t>(kind);
  if (product.isSparse)
    call.uniform |=
        static_cast<uint32_t>(selector) << 8 | uint32_t(isOrdered != 0) << 16;
  call.isAligned = true;
  call.where = where;
  call.data = &data;
  block.collect(call, multiply);
}
