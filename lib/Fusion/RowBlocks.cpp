//===- RowBlocks.cpp - rows cut into blocks -------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowBlocks.h"

#include "SparseAutograd/Analysis/Estimates.h"
#include "SparseAutograd/Target/CPUInfo.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace sparse_autograd {

namespace {
/// What a block of rows brings into the cache.
struct Survey {
  /// The member with the widest operand, and the loops over a row of that.
  linalg::LinalgOp widest;
  SmallVector<unsigned> insideLoops;
  /// The dimensions of the rows that are contiguous in an operand.
  llvm::SmallDenseSet<unsigned> contiguousRows;
};
} // namespace

/// The extent of a loop, from a tensor that exists before the group.
static OpFoldResult getLoopExtent(ExtentArithmetic &arith,
                                  const RowGroup &group,
                                  linalg::LinalgOp member, unsigned loop) {
  // A static extent of any operand beats a dynamic one.
  SmallVector<int64_t> ranges = member.getStaticLoopRanges();
  if (!ShapedType::isDynamic(ranges[loop]))
    return arith.constant(ranges[loop]);
  AffineExpr dim = getAffineDimExpr(loop, member.getContext());
  std::optional<std::pair<OpResult, unsigned>> inner;
  for (OpOperand &operand : member->getOpOperands()) {
    std::optional<unsigned> position =
        member.getMatchingIndexingMap(&operand).getResultPosition(dim);
    if (!position)
      continue;
    auto result = dyn_cast<OpResult>(operand.get());
    if (!result || !group.members.contains(result.getOwner()))
      return arith.sizeOf(operand.get(), *position);
    if (!inner)
      inner = {result, *position};
  }
  auto producer = cast<linalg::LinalgOp>(inner->first.getOwner());
  return getLoopExtent(arith, group, producer,
                       producer.getIndexingMapMatchingResult(inner->first)
                           .getDimPosition(inner->second));
}

static Survey surveyOperands(const RowGroup &group) {
  Survey survey;
  double largest = 0;
  for (Operation *op : group.members) {
    auto member = cast<linalg::LinalgOp>(op);
    ArrayRef<unsigned> rowLoops = group.rowLoops.at(op);
    SmallVector<int64_t> ranges = member.getStaticLoopRanges();
    for (AffineMap map : member.getIndexingMapsArray()) {
      SmallVector<unsigned> insideLoops;
      double volume = 1;
      std::optional<unsigned> lastRow;
      for (unsigned dim = 0, e = map.getNumResults(); dim < e; ++dim) {
        unsigned loop = map.getDimPosition(dim);
        const unsigned *row = llvm::find(rowLoops, loop);
        lastRow.reset();
        if (row != rowLoops.end()) {
          lastRow = row - rowLoops.begin();
          continue;
        }
        insideLoops.push_back(loop);
        volume *= static_cast<double>(estimates.getExtent(ranges[loop]));
      }
      if (insideLoops.size() == map.getNumResults())
        continue; // every block reads all of it
      if (lastRow && !insideLoops.empty())
        survey.contiguousRows.insert(*lastRow);
      if (!survey.widest || volume > largest) {
        survey.widest = member;
        survey.insideLoops = insideLoops;
        largest = volume;
      }
    }
  }
  return survey;
}

RowBlocks cutRows(ExtentArithmetic &arith, const RowGroup &group,
                  int64_t blockElements) {
  Survey survey = surveyOperands(group);
  linalg::LinalgOp widest = survey.widest;
  ArrayRef<unsigned> rowLoops = group.rowLoops.at(widest);
  OpFoldResult volume = arith.constant(1);
  for (unsigned loop : survey.insideLoops)
    volume = arith.mul(volume, getLoopExtent(arith, group, widest, loop));

  RowBlocks blocks;
  blocks.rows.resize(rowLoops.size());
  blocks.count = arith.constant(1);
  // Values of one element a row are kept on the stack, in slots for the largest
  // block that there can be: of all dimensions together.
  int64_t stackRows = 1024;
  for (unsigned k = rowLoops.size(); k-- > 0;) {
    RowDimension &row = blocks.rows[k];
    row.extent = getLoopExtent(arith, group, widest, rowLoops[k]);
    int64_t smallest =
        survey.contiguousRows.contains(k) ? genericCPU.lineBytes : 1;
    row.tileBound = std::max<int64_t>(blockElements, smallest);
    if (group.settled)
      row.tileBound = std::min<int64_t>(row.tileBound, stackRows);
    smallest = std::min(smallest, row.tileBound);
    row.tile = arith.div(arith.constant(blockElements),
                         arith.max(volume, arith.constant(1)));
    row.tile = arith.max(arith.min(row.tile, arith.constant(row.tileBound)),
                         arith.constant(smallest));
    if (std::optional<int64_t> extent = getConstantIntValue(row.extent)) {
      row.tile =
          arith.min(row.tile, arith.constant(std::max<int64_t>(*extent, 1)));
      row.tileBound = std::max<int64_t>(std::min(row.tileBound, *extent), 1);
      // Blocks of equal size have static shapes, if that costs little.
      if (std::optional<int64_t> tile = getConstantIntValue(row.tile))
        for (int64_t divisor = *tile; 2 * divisor >= *tile; --divisor)
          if (*extent % divisor == 0) {
            row.tile = arith.constant(divisor);
            break;
          }
    }
    if (std::optional<int64_t> tile = getConstantIntValue(row.tile))
      row.tileBound = *tile;
    stackRows = std::max<int64_t>(stackRows / row.tileBound, 1);
    row.numBlocks = arith.ceilDiv(row.extent, row.tile);
    blocks.count = arith.mul(blocks.count, row.numBlocks);
    volume = arith.mul(volume, row.tile);
  }
  return blocks;
}

void RowBlocks::enter(ExtentArithmetic &arith, Value block) {
  OpFoldResult rest = block;
  for (unsigned k = rows.size(); k-- > 0;) {
    RowDimension &row = rows[k];
    OpFoldResult index;
    if (isConstantIntValue(row.numBlocks, 1)) {
      index = arith.constant(0);
    } else if (k == 0) {
      index = rest;
    } else {
      index = arith.rem(rest, row.numBlocks);
      rest = arith.div(rest, row.numBlocks);
    }
    row.offset = arith.mul(index, row.tile);
    std::optional<int64_t> extent = getConstantIntValue(row.extent);
    std::optional<int64_t> tile = getConstantIntValue(row.tile);
    if (tile && (*tile == 1 || (extent && *extent % *tile == 0)))
      row.size = row.tile;
    else
      row.size = arith.min(row.tile, arith.sub(row.extent, row.offset));
  }
}

} // namespace sparse_autograd
