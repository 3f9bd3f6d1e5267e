//===- Segments.cpp - what rows have in lists -----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Segments.h"

#include "BinarySearch.h"
#include "KernelOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

Value sparse_autograd::getStoredNumber(Value index) {
  Operation *op = index.getDefiningOp();
  return isa_and_nonnull<arith::IndexCastOp, arith::IndexCastUIOp>(op)
             ? op->getOperand(0)
             : index;
}

Value sparse_autograd::getPositions(Value index, Value row) {
  auto argument = dyn_cast<BlockArgument>(index);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  if (!loop || loop.getInductionVar() != index)
    return nullptr;
  auto getLoad = [](Value bound) {
    return getStoredNumber(bound).getDefiningOp<memref::LoadOp>();
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

Value sparse_autograd::getEntryList(scf::ForOp rows, scf::ForOp entries) {
  for (const Access &access : getAccesses(entries))
    if (access.indices.size() == 1 && access.numVectorDims == 0 &&
        access.indices.front() == entries.getInductionVar() &&
        rows.isDefinedOutsideOfLoop(access.memref))
      return access.memref;
  return nullptr;
}

Value Positions::at(Value place) const {
  Value position = memref::LoadOp::create(builder, loc, list, place);
  if (!position.getType().isIndex())
    position = arith::IndexCastUIOp::create(builder, loc,
                                            builder.getIndexType(), position);
  return position;
}

Value Positions::end(Value row) const {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  return at(arith::AddIOp::create(builder, loc, row, one));
}

/// Whether row `row` ends before `entry`, or there.
static Value isBehind(const Positions &positions, Value row, Value entry) {
  return arith::CmpIOp::create(positions.builder, positions.loc,
                               arith::CmpIPredicate::ule, positions.end(row),
                               entry);
}

Value Positions::search(Value begin, Value end, Value entry) const {
  return createBinarySearch(
      builder, loc, begin, end,
      [&](OpBuilder &, Value row) { return isBehind(*this, row, entry); });
}

Value Positions::advance(Value row, Value entry) const {
  auto advance = scf::WhileOp::create(
      builder, loc, TypeRange{builder.getIndexType()}, ValueRange{row},
      [&](OpBuilder &, Location, ValueRange rows) {
        scf::ConditionOp::create(builder, loc, isBehind(*this, rows[0], entry),
                                 rows);
      },
      [&](OpBuilder &, Location, ValueRange rows) {
        Value one = arith::ConstantIndexOp::create(builder, loc, 1);
        Value next = arith::AddIOp::create(builder, loc, rows[0], one);
        scf::YieldOp::create(builder, loc, next);
      });
  return advance.getResult(0);
}
