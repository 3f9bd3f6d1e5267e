//===- TensorCoreTiles.h - tiles that tensor cores multiply -----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels of dense and of 2:4 products have in common. A block computes a
// tile of the result. It has strips of both factors in shared memory, stored as
// they are in global memory: one that it multiplies, and others that are on
// their way meanwhile. A warp loads fragments of them (ldmatrix, which
// transposes where a factor is stored the other way round) and multiplies
// these, with the sums in its registers. In the end the sums go through shared
// memory, 16 rows of 32 elements of a warp at a time, so that what is done of
// an element is done by neighbouring threads for neighbouring elements.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_TENSORCORETILES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_TENSORCORETILES_H

#include "../KernelOps.h"
#include "DenseProducts.h"
#include "IndexBuilder.h"
#include "SparseAutograd/Target/TargetInfo.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Matchers.h"

namespace sparse_autograd {

/// The rows and columns of the sums of one instruction (mma.sync, mma.sp).
inline constexpr int64_t fragmentRows = 16, fragmentColumns = 8;
/// The terms, or stored terms, of one load of a fragment.
inline constexpr int64_t fragmentTerms = 16;
/// Elements that one instruction copies to shared memory, and loads of a row of
/// a fragment. Rows of a strip have as many more than they need: they begin in
/// other banks.
inline constexpr int64_t groupLength = 8;

/// How a block of warps cuts its tile.
struct TileShape {
  int64_t warpsDown, warpsAcross;
  /// Fragments of sums of a warp.
  int64_t fragmentsDown, fragmentsAcross;
  /// The terms of a strip, and the strips of each factor in shared memory.
  int64_t stripLength, stages;
  /// Blocks of a multiprocessor that have place in its registers.
  int32_t blocksAtOnce;

  constexpr int64_t getRowsOfWarp() const {
    return fragmentsDown * fragmentRows;
  }
  constexpr int64_t getColumnsOfWarp() const {
    return fragmentsAcross * fragmentColumns;
  }
  constexpr int64_t getRows() const { return warpsDown * getRowsOfWarp(); }
  constexpr int64_t getColumns() const {
    return warpsAcross * getColumnsOfWarp();
  }
  constexpr int64_t getWarps() const { return warpsDown * warpsAcross; }
  constexpr int64_t getThreads() const { return getWarps() * warpSize; }
};

/// Builds a kernel of tiles in place of the nest of a product, which is left as
/// it is. Which instruction multiplies is for the classes derived from it.
class TensorCoreTiles {
public:
  virtual ~TensorCoreTiles() = default;
  void create();

  /// Whether groups of elements of both factors lie where one instruction
  /// copies them: a value of the host.
  mlir::Value createHasGroups();
  /// Has the kernel copy groups alone: it is launched where they do.
  void copyGroupsAlone();

  /// How many tiles of a shape there are, in a kernel of such tiles: a value of
  /// the host.
  mlir::Value countTiles();

protected:
  /// With `isExchanged` the rows of fragments are columns of the result.
  TensorCoreTiles(mlir::RewriterBase &rewriter, const DenseProduct &product,
                  const TileShape &shape, bool isExchanged);

  /// A factor, what a block has of it, and what its lanes do with it.
  struct Strips {
    DenseProduct::Factor factor;
    /// How many rows or columns of the product, and how many of them a tile
    /// has.
    mlir::Value count;
    int64_t inTile;
    /// How many elements the factor has for a sum, and how many a strip has.
    mlir::Value length;
    int64_t inStrip;
    /// Whether groups of elements lie where one instruction copies them: a
    /// value of the host.
    mlir::Value hasGroups;
    /// Of the tile, and those of all stages in shared memory.
    mlir::Value first, memory;
    /// Where the lane's row of the first fragment of its warp is in a strip.
    mlir::Value row, column;
  };

  /// What a strip has besides the factors: the bytes of all stages, whose
  /// memory begins at `offset` of `memory`.
  virtual int64_t getFurtherBytes() const { return 0; }
  virtual void placeFurther(mlir::Value memory, int64_t offset) {}
  /// Makes what a derived class needs of the host; the strips are there.
  virtual void prepareFurther() {}
  virtual void fillFurther(mlir::Value stage, mlir::Value firstTerm) {}
  /// Adds the products of a strip to the sums of a warp.
  virtual mlir::SmallVector<mlir::Value> multiply(mlir::Value stage,
                                                  mlir::ValueRange sums) = 0;

  mlir::MemRefType getSharedType(mlir::ArrayRef<int64_t> shape,
                                 mlir::Type element);
  /// 16 rows or columns of the product and 16 elements of each: `offset` behind
  /// the first of the warp, and `term` behind the first of the strip.
  mlir::Value loadFragments(const Strips &strips, mlir::Value stage,
                            int64_t offset, int64_t term);
  /// Two fragments of columns, of 16 terms each.
  std::pair<mlir::Value, mlir::Value> loadColumns(mlir::Value stage,
                                                  int64_t offset, int64_t term);
  mlir::Value isAnd(mlir::Value a, mlir::Value b);
  /// The first row of the tile that the warp of the thread has.
  mlir::Value getFirstRowOfWarp();

  mlir::RewriterBase &rewriter;
  const DenseProduct &product;
  const TileShape &shape;
  const bool isExchanged;
  mlir::Location loc;
  IndexBuilder index;
  mlir::Type type;
  mlir::Value terms;
  /// In the kernel.
  DenseProduct::Tile tile;
  mlir::Value thread, lane, warp;
  /// The factor that fragments have rows of, and the one of columns.
  Strips left, right;

private:
  void prepare();
  Strips createStrips(const DenseProduct::Factor &factor, mlir::Value count,
                      int64_t inTile);
  mlir::Value createHasGroups(const Strips &strips);
  mlir::MemRefType getStripsType(const Strips &strips);
  mlir::Value createMemory(mlir::gpu::LaunchOp launch);
  void placeFragments(Strips &strips, mlir::Value firstOfWarp,
                      mlir::Value other, mlir::Value term);
  void fill(const Strips &strips, mlir::Value stage, mlir::Value firstTerm);
  void copyGroup(const Strips &strips, mlir::ArrayRef<mlir::Value> from,
                 mlir::ArrayRef<mlir::Value> to, mlir::Value isInside);
  void finishElements(mlir::ValueRange sums, mlir::Value memory);
};

/// Builds tiles of one of two sizes, of which the host chooses one: large ones,
/// which read the factors less often, if there are enough to keep a device
/// busy. With `groupsAlone` large ones copy groups alone, and the others are
/// taken where there are none: a kernel with both ways has no registers for
/// large tiles.
template <typename Tiles>
void createTilesOfEitherSize(mlir::RewriterBase &rewriter,
                             const DenseProduct &product,
                             const TileShape &large, const TileShape &small,
                             bool groupsAlone = false) {
  mlir::OpBuilder::InsertionGuard guard(rewriter);
  mlir::Location loc = product.getLoc();
  Tiles ofLarge(rewriter, product, large);
  mlir::Value isMany = rewriter.createOrFold<mlir::arith::CmpIOp>(
      loc, mlir::arith::CmpIPredicate::uge, ofLarge.countTiles(),
      mlir::arith::ConstantIndexOp::create(rewriter, loc,
                                           genericGPU.multiprocessors)
          .getResult());
  if (groupsAlone && !mlir::matchPattern(isMany, mlir::m_Zero())) {
    isMany = rewriter.createOrFold<mlir::arith::AndIOp>(
        loc, isMany, ofLarge.createHasGroups());
    ofLarge.copyGroupsAlone();
  }
  if (mlir::matchPattern(isMany, mlir::m_One()))
    return ofLarge.create();
  if (mlir::matchPattern(isMany, mlir::m_Zero()))
    return Tiles(rewriter, product, small).create();
  auto branch = mlir::scf::IfOp::create(rewriter, loc, isMany,
                                        /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  ofLarge.create();
  rewriter.setInsertionPointToStart(branch.elseBlock());
  Tiles(rewriter, product, small).create();
}

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_LOOPSTOKERNELS_TENSORCORETILES_H
