//===- WarpgroupProducts.cpp - Products by four warps -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma and wgmma.sp. Each of the four warps of a warpgroup has 16 of the 64
// rows of the result, and computes them when all of its threads are there: when
// the product is asked for. WarpgroupGroups.cpp has what waits for it.
//
// Which elements are where: PTX ISA, "Asynchronous warpgroup level matrix
// instructions", with "Shared memory matrix layout" and "Matrix descriptor
// format". How descriptors address matrices is in CUTLASS too, with
// make_gmma_desc in include/cute/atom/mma_traits_sm90_gmma.hpp, and the
// metadata (ELayout) in mma_traits_sm90_gmma_sparse.hpp.
//
//===----------------------------------------------------------------------===//

#include "Fragments.h"

#include <algorithm>
#include <cstring>

using namespace sparse_autograd::emulator;

static const char productName[] = "wgmma.mma_async";
static const char sparseProductName[] = "wgmma.mma_async.sp";

static constexpr uint32_t rowsOfWarp = 16;
static constexpr uint32_t pieceBytes = 16;

namespace {
/// What a kind of product multiplies.
struct Kind {
  uint32_t n;
  Element factors;
  Element sums;
  bool isSparse;

  explicit Kind(const SparseAutogradEmulatedWarpgroupProduct &product)
      : n(static_cast<uint32_t>(product.n)),
        factors(product.type == SPARSE_AUTOGRAD_WGMMA_TF32_F32 ? Element::TF32
                : product.type == SPARSE_AUTOGRAD_WGMMA_BF16_F32
                    ? Element::BF16
                    : Element::F16),
        sums(product.type == SPARSE_AUTOGRAD_WGMMA_F16_F16 ? Element::F16
                                                           : Element::F32),
        isSparse(product.isSparse != 0) {}

  /// Stored columns of A, which have 32 bytes; and all.
  uint32_t getStoredK() const { return 32 / getBytes(factors); }
  uint32_t getK() const { return getStoredK() * (isSparse ? 2 : 1); }
};

/// A matrix in shared memory.
struct Descriptor {
  uint32_t start;
  uint32_t leading;
  uint32_t stride;
  uint32_t base;
  uint32_t span; ///< that is swizzled; 0: none
  bool isTransposed;

  Descriptor(uint64_t bits, bool isTransposed)
      : start(static_cast<uint32_t>(bits & 0x3FFF) << 4),
        leading(static_cast<uint32_t>(bits >> 16 & 0x3FFF) << 4),
        stride(static_cast<uint32_t>(bits >> 32 & 0x3FFF) << 4),
        base(static_cast<uint32_t>(bits >> 49 & 7)),
        isTransposed(isTransposed) {
    static const uint32_t spans[] = {0, 128, 64, 32};
    span = spans[bits >> 62];
  }

  /// Where the piece of 16 bytes with an element is, in shared memory: of row
  /// `row` (of A; of B it is a column) and index `k`.
  uint32_t getPiece(uint32_t row, uint32_t k, uint32_t elementBytes) const {
    uint32_t perPiece = pieceBytes / elementBytes;
    uint32_t offset;
    if (isTransposed) {
      uint32_t piece = row / perPiece;
      uint32_t pieces = span / pieceBytes;
      offset = span ? piece % pieces * pieceBytes + piece / pieces * leading +
                          k % 8 * span + k / 8 * stride
                    : piece * stride + k % 8 * pieceBytes + k / 8 * leading;
    } else {
      uint32_t piece = k / perPiece;
      offset = span ? row % 8 * span + row / 8 * stride + piece * pieceBytes
                    : row % 8 * pieceBytes + row / 8 * stride + piece * leading;
    }
    return swizzle(start + offset, static_cast<int32_t>(span));
  }
};

struct ProductData {
  const SparseAutogradEmulatedWarpgroupProduct *product;
  char *sums;
  uint32_t number;
};
} // namespace

//===----------------------------------------------------------------------===//
// Matrices in shared memory
//===----------------------------------------------------------------------===//

/// Checks what a descriptor says before it is used.
static void checkDescriptor(Block &block, const Thread &thread,
                            const Descriptor &descriptor, uint32_t k,
                            uint32_t elementBytes, char matrix,
                            const char *name, const char *where) {
  if (descriptor.base)
    block.fail(thread, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, where,
               "executes %s with a base offset of %u in the descriptor of %c, "
               "which is not emulated",
               name, descriptor.base, matrix);
  // The permutation repeats after 8 lines of its span.
  if (descriptor.span && descriptor.start / 128 % (descriptor.span / 16))
    block.fail(thread, SPARSE_AUTOGRAD_EMULATOR_MISALIGNED, where,
               "executes %s with %c at offset %u of shared memory, whose "
               "swizzle of %u bytes begins at multiples of %u",
               name, matrix, descriptor.start, descriptor.span,
               descriptor.span * 8);
  if (descriptor.span && descriptor.isTransposed &&
      descriptor.start % descriptor.span)
    block.fail(thread, SPARSE_AUTOGRAD_EMULATOR_MISALIGNED, where,
               "executes %s with the transposed %c from byte %u of a swizzled "
               "line of %u on",
               name, matrix, descriptor.start % descriptor.span,
               descriptor.span);
  // Along k, a row must not leave its line.
  if (descriptor.span && !descriptor.isTransposed &&
      descriptor.start % descriptor.span + k * elementBytes > descriptor.span)
    block.fail(thread, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, where,
               "executes %s with %u bytes of each row of %c from byte %u of a "
               "swizzled line of %u on",
               name, k * elementBytes, matrix,
               descriptor.start % descriptor.span, descriptor.span);
}

void Block::readPiece(const Thread &thread, uint32_t offset, const char *name,
                      const char *where) {
  // Not a read of the thread: others may wait for it, too.
  accessShared(thread, reinterpret_cast<uintptr_t>(shared) + offset, pieceBytes,
               SPARSE_AUTOGRAD_LOAD, where, /*isKept=*/false);
  checkFenced(thread, offset, pieceBytes, name, where);
  countReaders(offset, pieceBytes, 1);
  WarpProducts &state = products[thread.getWarp()];
  AsyncRead read;
  read.offset = offset;
  read.bytes = pieceBytes;
  read.group = state.issued;
  read.where = where;
  state.reads.push_back(read);
}

/// Reads rows [first, first + rows) of a matrix, of `k` columns, to `to`.
static void readMatrix(Block &block, const Thread &thread,
                       const Descriptor &descriptor, uint32_t first,
                       uint32_t rows, uint32_t k, double *to, Element element,
                       const char *name, const char *where) {
  uint32_t elementBytes = getBytes(element);
  uint32_t perPiece = pieceBytes / elementBytes;
  uint32_t rowStep = descriptor.isTransposed ? perPiece : 1;
  uint32_t kStep = descriptor.isTransposed ? 1 : perPiece;
  for (uint32_t row = 0; row < rows; row += rowStep)
    for (uint32_t i = 0; i < k; i += kStep) {
      uint32_t piece = descriptor.getPiece(first + row, i, elementBytes);
      block.readPiece(thread, piece, name, where);
      for (uint32_t e = 0; e < perPiece; ++e) {
        uint32_t r = row + (descriptor.isTransposed ? e : 0);
        uint32_t column = i + (descriptor.isTransposed ? 0 : e);
        if (r < rows)
          to[r * k + column] = readElement(
              block.getShared() + piece + e * elementBytes, element);
      }
    }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static ProductData &getData(WarpCalls &calls, uint32_t lane) {
  return *static_cast<ProductData *>(calls[lane]->data);
}

/// Checks that all threads of the warp ask for the same.
static void checkUniform(Block &block, WarpCalls &calls) {
  checkWholeWarp(block, calls);
  const auto &other = *getData(calls, 0).product;
  for (uint32_t lane = 1; lane < warpSize; ++lane) {
    const auto &own = *getData(calls, lane).product;
    bool isSame = own.descriptorB == other.descriptorB &&
                  own.accumulates == other.accumulates &&
                  (own.registersA || own.descriptorA == other.descriptorA);
    if (!isSame)
      block.fail(block.getThreadOfWarp(lane),
                 SPARSE_AUTOGRAD_EMULATOR_DIVERGENT_WARP, calls[lane]->where,
                 "executes %s with descriptors that differ from those of its "
                 "warp",
                 calls[lane]->operation);
  }
}

void Block::computeProduct(WarpCalls &calls) {
  checkUniform(*this, calls);
  const SparseAutogradEmulatedWarpgroupProduct &product =
      *getData(calls, 0).product;
  Kind kind(product);
  const char *name = calls[0]->operation;
  uint32_t warp = getThread().getWarp();
  const Thread &thread = threads[warp * warpSize];
  const char *where = calls[0]->where;
  startProduct(thread, product, name, where);
  wakeWarpgroup(warp / warpsOfGroup);
  for (uint32_t lane = 0; lane < warpSize; ++lane)
    getData(calls, lane).number = products[warp].issued;

  uint32_t k = kind.getK();
  uint32_t storedK = kind.getStoredK();
  uint32_t elementBytes = getBytes(kind.factors);
  // Not on the stack, which has little room: A as it is stored, its columns,
  // and B.
  factors.resize(2 * rowsOfWarp * storedK + size_t(kind.n) * k);
  double *a = factors.data();
  double *columns = a + rowsOfWarp * storedK;
  double *b = columns + rowsOfWarp * storedK;
  if (product.registersA) {
    for (uint32_t lane = 0; lane < warpSize; ++lane) {
      const auto *from =
          static_cast<const char *>(getData(calls, lane).product->registersA);
      for (uint32_t i = 0; i < 16 / elementBytes; ++i) {
        Place place = getPlaceInA(kind.factors, lane, i);
        a[place.row * storedK + place.column] =
            readElement(from + i * elementBytes, kind.factors);
      }
    }
  } else {
    Descriptor descriptor(product.descriptorA, product.transposesA != 0);
    checkDescriptor(*this, thread, descriptor, storedK, elementBytes, 'A', name,
                    where);
    readMatrix(*this, thread, descriptor, warp % warpsOfGroup * rowsOfWarp,
               rowsOfWarp, storedK, a, kind.factors, name, where);
  }
  Descriptor descriptor(product.descriptorB, product.transposesB != 0);
  checkDescriptor(*this, thread, descriptor, k, elementBytes, 'B', name, where);
  readMatrix(*this, thread, descriptor, 0, kind.n, k, b, kind.factors, name,
             where);
  Metadata metadata = {
      kind.factors, true, 2 * static_cast<uint32_t>(product.selector), {}};
  for (uint32_t lane = 0; lane < warpSize; ++lane)
    metadata.words[lane] = getData(calls, lane).product->metadata;
  for (uint32_t row = 0; row < rowsOfWarp; ++row)
    for (uint32_t i = 0; i < storedK; ++i)
      columns[row * storedK + i] =
          kind.isSparse ? metadata.getColumn(*this, calls, row, i) : i;

  double sign = product.negatesA != product.negatesB ? -1 : 1;
  for (uint32_t lane = 0; lane < warpSize; ++lane) {
    char *sums = getData(calls, lane).sums;
    for (uint32_t i = 0; i < kind.n / 2; ++i) {
      Place at = getPlaceInSums(lane, i);
      char *place = sums + i * getBytes(kind.sums);
      double sum = product.accumulates ? readElement(place, kind.sums) : 0;
      // What is not stored is not multiplied: an infinity in B stays out.
      for (uint32_t j = 0; j < storedK; ++j)
        sum += sign * a[at.row * storedK + j] *
               b[at.column * k +
                 static_cast<uint32_t>(columns[at.row * storedK + j])];
      writeElement(place, kind.sums, sum);
    }
  }
}

uint32_t Block::multiply(const SparseAutogradEmulatedWarpgroupProduct &product,
                         void *sums, const char *where) {
  Thread &self = getThread();
  const char *name = product.isSparse ? sparseProductName : productName;
  auto refuse = [&](const char *reason) {
    fail(self, SPARSE_AUTOGRAD_EMULATOR_INVALID_OPERAND, where,
         "executes %s %s", name, reason);
  };
  if (product.type < 0 || product.type > SPARSE_AUTOGRAD_WGMMA_TF32_F32 ||
      product.n < 8 || product.n > 256 || product.n % 8)
    refuse("of a type or a shape that does not exist");
  bool isTF32 = product.type == SPARSE_AUTOGRAD_WGMMA_TF32_F32;
  if ((product.transposesA || product.transposesB) && isTF32)
    refuse("of transposed matrices of tf32");
  if (product.transposesA && product.registersA)
    refuse("of a transposed matrix in registers");
  if (product.transposesA && product.isSparse)
    refuse("of a transposed sparse matrix, which is not emulated");
  if (product.isSparse && (product.selector < 0 || product.selector > 1))
    refuse("with a selector that is not 0 or 1");
  uint32_t firstWarp = self.getWarp() / warpsOfGroup * warpsOfGroup;
  if ((firstWarp + warpsOfGroup) * warpSize > threadCount)
    refuse("in a warpgroup of which the block has not all 128 threads");
  ProductData data = {&product, static_cast<char *>(sums), 0};
  WarpCall call(name, where, &data);
  collect(call,
          [](Block &block, WarpCalls &calls) { block.computeProduct(calls); });
  return data.number;
}

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

uint32_t sparseAutogradEmulateWarpgroupProduct(
    const SparseAutogradEmulatedWarpgroupProduct *product, void *sums,
    const char *where) {
  return Block::getCurrent().multiply(*product, sums, where);
}
