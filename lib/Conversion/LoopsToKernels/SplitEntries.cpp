//===- SplitEntries.cpp - rows in chunks of entries -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitEntries.h"

#include "../KernelOps.h"
#include "../Segments.h"
#include "LaneLoops.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

/// The loop over the entries of a row, if there is nothing else in `row` but
/// reads and its lanes share a loop in each of them.
static scf::ForOp getEntries(scf::ForOp row) {
  scf::ForOp entries;
  for (Operation &op : row.getBody()->without_terminator()) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && !entries)
      entries = loop;
    else if (!isa<memref::LoadOp>(op) && !isPure(&op))
      return nullptr;
  }
  if (!entries || !isParallelLoop(entries) || isShared(entries) ||
      !containsShared(entries) || !matchPattern(entries.getStep(), m_One()) ||
      !matchPattern(row.getStep(), m_One()))
    return nullptr;
  return entries;
}

bool sparse_autograd::splitEntries(RewriterBase &rewriter, scf::ForOp row) {
  /// A search takes about as long as a few entries do.
  constexpr int64_t chunkEntries = 8;
  scf::ForOp entries = getEntries(row);
  if (!entries)
    return false;
  Value list = getPositions(entries.getInductionVar(), row.getInductionVar());
  Value stored = getEntryList(row, entries);
  if (!list || !stored || !row.isDefinedOutsideOfLoop(list))
    return false;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(row);
  Location loc = row.getLoc();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value size = arith::ConstantIndexOp::create(rewriter, loc, chunkEntries);
  Value count = memref::DimOp::create(rewriter, loc, stored, 0);
  Value chunks = arith::CeilDivUIOp::create(rewriter, loc, count, size);
  auto parallel = scf::ForOp::create(rewriter, loc, zero, chunks, one);
  takeAttributes(parallel, row);
  rewriter.setInsertionPointToStart(parallel.getBody());
  Positions positions = {rewriter, loc, list};
  Value before =
      arith::MulIOp::create(rewriter, loc, parallel.getInductionVar(), size);
  Value first = arith::AddIOp::create(
      rewriter, loc, positions.at(row.getLowerBound()), before);
  Value end = arith::AddIOp::create(rewriter, loc, first, size);
  end = arith::MinUIOp::create(rewriter, loc, end,
                               positions.at(row.getUpperBound()));
  Value found =
      positions.search(row.getLowerBound(), row.getUpperBound(), first);
  auto chunk = scf::ForOp::create(rewriter, entries.getLoc(), first, end, one,
                                  ValueRange{found});
  rewriter.setInsertionPointToStart(chunk.getBody());
  Value own =
      positions.advance(chunk.getRegionIterArg(0), chunk.getInductionVar());
  IRMapping mapping;
  mapping.map(row.getInductionVar(), own);
  mapping.map(entries.getInductionVar(), chunk.getInductionVar());
  for (Operation &op : row.getBody()->without_terminator())
    if (&op != entries)
      rewriter.clone(op, mapping);
  for (Operation &op : entries.getBody()->without_terminator())
    rewriter.clone(op, mapping);
  scf::YieldOp::create(rewriter, loc, own);
  chunk.walk(shareAmongEight);
  rewriter.eraseOp(row);
  return true;
}
