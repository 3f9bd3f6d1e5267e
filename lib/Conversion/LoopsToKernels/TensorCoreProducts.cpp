//===- TensorCoreProducts.cpp - dense products by tensor cores ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of mma.sync.m16n8k16.
//
//===----------------------------------------------------------------------===//

#include "TensorCoreProducts.h"

#include "TensorCoreTiles.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace sparse_autograd;

/// 128 x 128 elements, which read the factors less often, and 64 x 64, of which
/// there are more blocks. A block has 48 KiB of shared memory unless its launch
/// asks for more. What is done of an element has a lane for each column of a
/// warp.
static constexpr TileShape largeTile = {2, 4, 4, 4, 32, 2, 2};
static constexpr TileShape smallTile = {2, 2, 2, 4, 32, 4, 4};
static_assert(largeTile.getColumnsOfWarp() == warpSize &&
                  smallTile.getColumnsOfWarp() == warpSize,
              "a lane for each column");

namespace {
class DenseTiles : public TensorCoreTiles {
public:
  DenseTiles(RewriterBase &rewriter, const DenseProduct &product,
             const TileShape &shape)
      : TensorCoreTiles(rewriter, product, shape, /*isExchanged=*/false) {}

protected:
  SmallVector<Value> multiply(Value stage, ValueRange sums) override;
};
} // namespace

SmallVector<Value> DenseTiles::multiply(Value stage, ValueRange before) {
  SmallVector<Value> sums(before);
  for (int64_t term = 0; term < shape.stripLength; term += fragmentTerms) {
    SmallVector<Value> ofRows, ofColumns;
    for (int64_t i = 0; i < shape.fragmentsDown; ++i)
      ofRows.push_back(loadFragments(left, stage, i * fragmentRows, term));
    for (int64_t j = 0; j < shape.fragmentsAcross; j += 2) {
      auto [first, second] = loadColumns(stage, j * fragmentColumns, term);
      ofColumns.append({first, second});
    }
    for (auto [number, sum] : llvm::enumerate(sums))
      sum = nvgpu::MmaSyncOp::create(
          rewriter, loc, ofRows[number / shape.fragmentsAcross],
          ofColumns[number % shape.fragmentsAcross], sum,
          ArrayRef<int64_t>{fragmentRows, fragmentColumns, fragmentTerms});
  }
  return sums;
}

void sparse_autograd::createTensorCoreTiles(RewriterBase &rewriter,
                                            const DenseProduct &product) {
  createTilesOfEitherSize<DenseTiles>(rewriter, product, largeTile, smallTile);
}
