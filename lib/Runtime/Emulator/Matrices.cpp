//===- Matrices.cpp - Products of matrices by a warp ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ldmatrix, mma and mma.sp.
//
//===----------------------------------------------------------------------===//

#include "Fragments.h"

#include <cmath>
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
      block.count(thread, address, rowBytes, SPARSE_AUTOGRAD_LOAD,
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
  WarpCall call(loadMatrixName, where, &data);
  call.uniform = static_cast<uint32_t>(count) * 2 + (isTransposed != 0);
  block.collect(call, loadMatrices);
}

//===----------------------------------------------------------------------===//
// mma and mma.sp
//===----------------------------------------------------------------------===//

namespace {
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

/// Element i of a thread's part of B.
static Place getPlaceInB(const Product &product, uint32_t lane, uint32_t i) {
  uint32_t group = lane / 4;
  uint32_t place = lane % 4;
  if (isPair(product.factors))
    return {place * 2 + i % 2 + i / 2 * 8, group};
  return {place + i * 4, group};
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
  uint32_t selector = calls[0]->uniform >> 8 & 3;
  bool hasPairOfThreads =
      product.k == (product.factors == Element::TF32 ? 16 : 32);
  Metadata metadata = {product.factors,
                       (calls[0]->uniform >> 16 & 1) != 0,
                       hasPairOfThreads ? 2 * selector : selector,
                       {}};
  for (uint32_t lane = 0; lane < warpSize; ++lane)
    metadata.words[lane] =
        static_cast<ProductData *>(calls[lane]->data)->metadata;
  for (uint32_t lane = 0; lane < warpSize; ++lane) {
    const char *from = static_cast<ProductData *>(calls[lane]->data)->operands;
    for (uint32_t i = 0; i < countA; ++i, from += factorBytes) {
      Place place = getPlaceInA(product.factors, lane, i);
      uint32_t column =
          product.isSparse
              ? metadata.getColumn(block, calls, place.row, place.column)
              : place.column;
      values.a[place.row][column] = readElement(from, product.factors);
      values.stored[place.row] |= 1u << column;
    }
    for (uint32_t i = 0; i < countB; ++i, from += factorBytes) {
      Place place = getPlaceInB(product, lane, i);
      values.b[place.row][place.column] = readElement(from, product.factors);
    }
    for (uint32_t i = 0; i < countC; ++i, from += sumBytes) {
      Place place = getPlaceInSums(lane, i);
      values.c[place.row][place.column] = readElement(from, product.sums);
    }
  }
  for (uint32_t lane = 0; lane < warpSize; ++lane) {
    char *to = static_cast<char *>(
        static_cast<ProductData *>(calls[lane]->data)->result);
    for (uint32_t i = 0; i < countC; ++i, to += sumBytes) {
      Place place = getPlaceInSums(lane, i);
      double sum = values.c[place.row][place.column];
      // What is not stored is not multiplied: an infinity in B stays out.
      for (uint32_t column = 0; column < product.k; ++column) {
        double a = values.a[place.row][column];
        double b = values.b[column][place.column];
        // Products of narrower types are exact, those of f64 are not rounded
        // before they are added.
        if (values.stored[place.row] >> column & 1)
          sum = product.factors == Element::F64 ? std::fma(a, b, sum)
                                                : sum + a * b;
      }
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
  WarpCall call(product.isSparse ? sparseProductName : productName, where,
                &data);
  call.uniform = static_cast<uint32_t>(kind);
  if (product.isSparse)
    call.uniform |=
        static_cast<uint32_t>(selector) << 8 | uint32_t(isOrdered != 0) << 16;
  block.collect(call, multiply);
}
