//===- EntryLoops.cpp - loops over all entries, row by row ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryLoops.h"

#include "../KernelOps.h"
#include "../Segments.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sparse_autograd;

/// The number of elements of a list, as its allocation or the program says.
static Value getSize(Value list) {
  if (auto alloc = list.getDefiningOp<memref::AllocOp>())
    return alloc.getDynamicSizes().empty() ? Value()
                                           : alloc.getDynamicSizes().front();
  for (Operation *user : list.getUsers())
    if (auto dim = dyn_cast<memref::DimOp>(user))
      return dim;
  return nullptr;
}

/// Whether `entries` accesses a list that has `count` elements at its variable.
static bool accessesListOf(scf::ForOp entries, Value count,
                           const KernelNest &rows, Operation *flat,
                           const EqualValues &equal,
                           const DominanceInfo &dominance) {
  return llvm::any_of(getAccesses(entries), [&](const Access &access) {
    if (access.indices.size() != 1 || access.numVectorDims != 0 ||
        access.indices.front() != entries.getInductionVar() ||
        !rows.isOutside(access.memref))
      return false;
    Value size = getSize(access.memref);
    return size && equal.areEqual(size, count, flat, dominance);
  });
}

scf::ForOp sparse_autograd::getEntriesOfFlat(const KernelNest &flat,
                                             const KernelNest &rows,
                                             const EqualValues &equal,
                                             const DominanceInfo &dominance) {
  if (flat.getVariables().size() != 1 || rows.getVariables().size() != 1 ||
      rows.getLoops().empty() ||
      !matchPattern(flat.getLowerBounds().front(), m_Zero()) ||
      !matchPattern(flat.getSteps().front(), m_One()) ||
      !matchPattern(rows.getSteps().front(), m_One()) ||
      llvm::any_of(*flat.getBody(), [](Operation &op) {
        return op.getNumRegions() != 0 && !op.hasTrait<OpTrait::IsTerminator>();
      }))
    return nullptr;
  for (auto entries : rows.getBody()->getOps<scf::ForOp>()) {
    if (!getSchedule(entries).isOverEntries)
      continue;
    Value positions =
        getPositions(entries.getInductionVar(), rows.getVariables().front());
    if (positions && rows.isOutside(positions) &&
        accessesListOf(entries, flat.getUpperBounds().front(), rows,
                       flat.getOutermost(), equal, dominance))
      return entries;
  }
  return nullptr;
}

/// `bound` of a loop over the entries of a row, of the row that is mapped.
static Value cloneBound(RewriterBase &rewriter, const KernelNest &rows,
                        Value bound, IRMapping &mapping) {
  Operation *op = bound.getDefiningOp();
  if (rows.isOutside(bound) || mapping.contains(bound) || !op)
    return mapping.lookupOrDefault(bound);
  for (Value operand : op->getOperands())
    cloneBound(rewriter, rows, operand, mapping);
  rewriter.clone(*op, mapping);
  return mapping.lookup(bound);
}

scf::ForOp sparse_autograd::createRowsOfFlat(RewriterBase &rewriter,
                                             const KernelNest &flat,
                                             const KernelNest &rows,
                                             scf::ForOp entries) {
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = flat.getOutermost()->getLoc();
  Value one = rows.getSteps().front();
  auto create = [&](Value lower, Value upper) {
    auto loop = scf::ForOp::create(rewriter, loc, lower, upper, one);
    setParallel(loop);
    rewriter.setInsertionPointToStart(loop.getBody());
    return loop;
  };
  scf::ForOp outer =
      create(rows.getLowerBounds().front(), rows.getUpperBounds().front());
  IRMapping mapping;
  mapping.map(rows.getVariables().front(), outer.getInductionVar());
  Value begin = cloneBound(rewriter, rows, entries.getLowerBound(), mapping);
  Value end = cloneBound(rewriter, rows, entries.getUpperBound(), mapping);
  scf::ForOp inner = create(begin, end);
  setOverEntries(inner);
  mapping.map(flat.getVariables().front(), inner.getInductionVar());
  for (Operation &op : flat.getBody()->without_terminator())
    rewriter.clone(op, mapping);
  return outer;
}

bool sparse_autograd::computesEntries(const KernelNest &rows) {
  return llvm::any_of(
      rows.getBody()->getOps<scf::ForOp>(), [](scf::ForOp entries) {
        return isParallelLoop(entries) && entries.getNumResults() == 0 &&
               !entries.getBody()->getOps<scf::ForOp>().empty();
      });
}

bool sparse_autograd::carriesInRows(const KernelNest &rows) {
  return llvm::any_of(
      rows.getBody()->getOps<scf::ForOp>(),
      [](scf::ForOp entries) { return entries.getNumResults() != 0; });
}
