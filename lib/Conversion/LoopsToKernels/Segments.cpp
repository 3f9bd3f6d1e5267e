//===- Segments.cpp - what rows have in lists -----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Segments.h"

#include "../KernelOps.h"
#include "Accesses.h"
#include "LaneLoops.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

Value sparse_autograd::getPositions(Value index, Value row) {
  auto argument = dyn_cast<BlockArgument>(index);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  if (!loop || loop.getInductionVar() != index)
    return nullptr;
  auto getLoad = [](Value bound) {
    Operation *op = bound.getDefiningOp();
    if (isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp>(op))
      bound = op->getOperand(0);
    return bound.getDefiningOp<memref::LoadOp>();
  };
  memref::LoadOp begin = getLoad(loop.getLowerBound());
  memref::LoadOp end = getLoad(loop.getUpperBound());
  if (!begin || !end || begin.getMemref() != end.getMemref() ||
      begin.getIndices().size() != 1 || begin.getIndices().front() != row)
    return nullptr;
  auto next = end.getIndices().front().getDefiningOp<arith::AddIOp>();
  if (!next || next.getLhs() != row || !matchPattern(next.getRhs(), m_One()))
    return nullptr;
  return begin.getMemref();
}

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

/// A list outside of `row` that has an element for each entry.
static Value getList(scf::ForOp row, scf::ForOp entries) {
  for (const Access &access : getAccesses(entries))
    if (access.indices.size() == 1 &&
        access.indices.front() == entries.getInductionVar() &&
        row.isDefinedOutsideOfLoop(access.memref))
      return access.memref;
  return nullptr;
}

namespace {
/// Reads positions.
struct Positions {
  OpBuilder &builder;
  Location loc;
  Value list;

  Value at(Value place) const {
    Value position = memref::LoadOp::create(builder, loc, list, place);
    if (!position.getType().isIndex())
      position = arith::IndexCastUIOp::create(builder, loc,
                                              builder.getIndexType(), position);
    return position;
  }
  /// Whether row `row` ends before `entry`, or there.
  Value isBehind(Value row, Value entry) const {
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    Value next = arith::AddIOp::create(builder, loc, row, one);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                 at(next), entry);
  }
};
} // namespace

/// The first of the rows [begin, end) that ends behind `entry`, or `end`.
static Value searchRow(const Positions &positions, Value begin, Value end,
                       Value entry) {
  OpBuilder &builder = positions.builder;
  Location loc = positions.loc;
  Type type = builder.getIndexType();
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto search = scf::WhileOp::create(
      builder, loc, TypeRange{type, type}, ValueRange{begin, end},
      [&](OpBuilder &, Location, ValueRange range) {
        Value isLeft = arith::CmpIOp::create(
            builder, loc, arith::CmpIPredicate::ult, range[0], range[1]);
        scf::ConditionOp::create(builder, loc, isLeft, range);
      },
      [&](OpBuilder &, Location, ValueRange range) {
        Value sum = arith::AddIOp::create(builder, loc, range[0], range[1]);
        Value middle = arith::ShRUIOp::create(builder, loc, sum, one);
        Value isBehind = positions.isBehind(middle, entry);
        Value next = arith::AddIOp::create(builder, loc, middle, one);
        Value first =
            arith::SelectOp::create(builder, loc, isBehind, next, range[0]);
        Value last =
            arith::SelectOp::create(builder, loc, isBehind, range[1], middle);
        scf::YieldOp::create(builder, loc, ValueRange{first, last});
      });
  return search.getResult(0);
}

/// The row of `entry`, which is `row` or one behind it.
static Value advanceRow(const Positions &positions, Value row, Value entry) {
  OpBuilder &builder = positions.builder;
  Location loc = positions.loc;
  auto advance = scf::WhileOp::create(
      builder, loc, TypeRange{builder.getIndexType()}, ValueRange{row},
      [&](OpBuilder &, Location, ValueRange rows) {
        scf::ConditionOp::create(builder, loc,
                                 positions.isBehind(rows[0], entry), rows);
      },
      [&](OpBuilder &, Location, ValueRange rows) {
        Value one = arith::ConstantIndexOp::create(builder, loc, 1);
        Value next = arith::AddIOp::create(builder, loc, rows[0], one);
        scf::YieldOp::create(builder, loc, next);
      });
  return advance.getResult(0);
}

void sparse_autograd::splitByEntries(RewriterBase &rewriter, scf::ForOp row) {
  /// A search takes about as long as a few entries do.
  constexpr int64_t chunkEntries = 8;
  scf::ForOp entries = getEntries(row);
  if (!entries)
    return;
  Value list = getPositions(entries.getInductionVar(), row.getInductionVar());
  Value stored = getList(row, entries);
  if (!list || !stored || !row.isDefinedOutsideOfLoop(list))
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(row);
  Location loc = row.getLoc();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value size = arith::ConstantIndexOp::create(rewriter, loc, chunkEntries);
  Value count = memref::DimOp::create(rewriter, loc, stored, 0);
  Value chunks = arith::CeilDivUIOp::create(rewriter, loc, count, size);
  auto parallel = scf::ForOp::create(rewriter, loc, zero, chunks, one);
  parallel->setAttrs(row->getAttrs());
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
      searchRow(positions, row.getLowerBound(), row.getUpperBound(), first);
  auto chunk = scf::ForOp::create(rewriter, entries.getLoc(), first, end, one,
                                  ValueRange{found});
  rewriter.setInsertionPointToStart(chunk.getBody());
  Value own =
      advanceRow(positions, chunk.getRegionIterArg(0), chunk.getInductionVar());
  IRMapping mapping;
  mapping.map(row.getInductionVar(), own);
  mapping.map(entries.getInductionVar(), chunk.getInductionVar());
  for (Operation &op : row.getBody()->without_terminator())
    if (&op != entries)
      rewriter.clone(op, mapping);
  for (Operation &op : entries.getBody()->without_terminator())
    rewriter.clone(op, mapping);
  scf::YieldOp::create(rewriter, loc, own);
  rewriter.eraseOp(row);
}
