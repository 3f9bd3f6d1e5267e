//===- PrefetchRows.cpp - rows that lists name, asked for ahead -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The hardware sees that a list is read in order, and fetches it; which rows of
// a table the list names it learns when it is too late. The list knows.
//
// Of vectors all lines are asked for, if there are enough of them: short rows
// cost more to ask for than they take. `benchmark/sparse.py` has products with
// 64 columns: on a Zen 5 core, with 2,000,000 random nonzeros, those of a
// matrix take 0.80 of the time without, those of a transposed one, which write
// the rows, 0.41.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/PrefetchRows/PrefetchRows.h"

#include "../Accesses.h"
#include "../Segments.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "SparseAutograd/Target/CPUInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_PREFETCHROWS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// A part of the rows of a table that a list names.
struct RowPart {
  Value table;
  /// The indices in front of that of the row.
  SmallVector<Value> before;
  /// Where the part begins, and the elements and lines that it has, of vectors;
  /// null of rows whose elements are accessed one by one.
  Value column;
  int64_t elements = 0, lines = 1;
  bool isWritten;
  /// The first access in the order of the program.
  Operation *access;
};

/// Numbers of rows that depend on the iteration of a loop, as later iterations
/// compute them.
class NumbersAhead {
public:
  NumbersAhead(scf::ForOp loop, ArrayRef<Access> writes, AliasAnalysis &aliases)
      : loop(loop), writes(writes), aliases(aliases) {}

  /// Whether `number` comes from lists that the loop reads, and can be
  /// computed for a later iteration: from what does not change in the loop.
  bool canCompute(Value number);
  /// `number` in the iteration that is `distance` behind this one, or in the
  /// last one. Of a list that is read in order, not the last iteration but the
  /// end of the list counts: what follows a row of a matrix there is the next
  /// one. Built where `builder` stands.
  Value compute(OpBuilder &builder, Value number, int64_t distance);

private:
  bool visit(Value value);
  Value getEnd(OpBuilder &builder, Value number);

  scf::ForOp loop;
  ArrayRef<Access> writes;
  AliasAnalysis &aliases;
  /// Of the number that was looked at last, in the order of the program.
  SmallVector<Operation *> slice;
  bool hasLoads = false, isOfIteration = false;
};
} // namespace

/// Adds to the slice what `value` is computed from in an iteration, if a later
/// iteration can be trusted to compute the same of it: addresses come from it.
bool NumbersAhead::visit(Value value) {
  isOfIteration |= value == loop.getInductionVar();
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return value == loop.getInductionVar() ||
           loop.isDefinedOutsideOfLoop(value);
  if (llvm::is_contained(slice, op))
    return true;
  auto load = dyn_cast<memref::LoadOp>(op);
  if (op->getNumRegions() != 0 || (!load && !isPure(op)) ||
      (load && llvm::any_of(writes, [&](const Access &write) {
         return mayOverlap(aliases, write.memref, load.getMemref());
       })))
    return false;
  hasLoads |= load != nullptr;
  if (!llvm::all_of(op->getOperands(),
                    [&](Value operand) { return visit(operand); }))
    return false;
  slice.push_back(op);
  return true;
}

bool NumbersAhead::canCompute(Value number) {
  slice.clear();
  hasLoads = isOfIteration = false;
  Operation *op = number.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody())
    return false;
  // An element of a list is no address: one that is written before its
  // iteration is a number to ask for all the same.
  auto load = getStoredNumber(number).getDefiningOp<memref::LoadOp>();
  if (!load || load->getBlock() != loop.getBody())
    return visit(number) && hasLoads && isOfIteration;
  if (!llvm::all_of(load->getOperands(),
                    [&](Value operand) { return visit(operand); }))
    return false;
  slice.push_back(load);
  if (op != load)
    slice.push_back(op);
  return isOfIteration;
}

/// The end of the iterations that numbers are computed for.
Value NumbersAhead::getEnd(OpBuilder &builder, Value number) {
  auto load = getStoredNumber(number).getDefiningOp<memref::LoadOp>();
  if (!load || load.getIndices().empty() ||
      load.getIndices().back() != loop.getInductionVar() ||
      !llvm::all_of(load.getIndices().drop_back(), [&](Value index) {
        return loop.isDefinedOutsideOfLoop(index);
      }))
    return loop.getUpperBound();
  int64_t lastDim = load.getMemRefType().getRank() - 1;
  return memref::DimOp::create(builder, number.getLoc(), load.getMemref(),
                               lastDim);
}

Value NumbersAhead::compute(OpBuilder &builder, Value number,
                            int64_t distance) {
  Location loc = number.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value last =
      arith::SubIOp::create(builder, loc, getEnd(builder, number), constant(1));
  Value ahead = arith::AddIOp::create(builder, loc, loop.getInductionVar(),
                                      constant(distance));
  IRMapping mapping;
  mapping.map(loop.getInductionVar(),
              arith::MinSIOp::create(builder, loc, ahead, last).getResult());
  for (Operation *op : slice)
    builder.clone(*op, mapping);
  return mapping.lookup(number);
}

/// The part that `access` has of the row whose number is its index `dim`.
static std::optional<RowPart> getPart(scf::ForOp loop, const Access &access,
                                      unsigned dim) {
  // Elements of a row lie side by side.
  if (dim + 2 != access.indices.size() ||
      !loop.isDefinedOutsideOfLoop(access.memref) ||
      !llvm::all_of(access.indices.take_front(dim), [&](Value index) {
        return loop.isDefinedOutsideOfLoop(index);
      }))
    return std::nullopt;
  RowPart part{
      access.memref, SmallVector<Value>(access.indices.take_front(dim)),
      /*column=*/{}, /*elements=*/0,
      /*lines=*/1,   access.isWrite,
      access.op};
  if (access.numVectorDims == 0) {
    // One element is not worth it.
    if (access.op->getParentOp() == loop)
      return std::nullopt;
    return part;
  }
  auto type = cast<VectorTransferOpInterface>(access.op).getVectorType();
  if (type.getRank() != 1 || !type.getElementType().isIntOrFloat())
    return std::nullopt;
  part.column = access.indices.back();
  part.elements = type.getNumElements();
  part.lines = llvm::divideCeil(
      part.elements * llvm::divideCeil(type.getElementTypeBitWidth(), 8),
      genericCPU.lineBytes);
  return part;
}

/// The parts of rows with the number `number` that `accesses` have.
static SmallVector<RowPart> findParts(scf::ForOp loop, Value number,
                                      ArrayRef<Access> accesses) {
  SmallVector<RowPart> found;
  for (const Access &access : accesses) {
    auto at = llvm::find(access.indices, number);
    if (at == access.indices.end())
      continue;
    std::optional<RowPart> part =
        getPart(loop, access, at - access.indices.begin());
    if (!part)
      continue;
    auto *known = llvm::find_if(found, [&](const RowPart &other) {
      return other.table == part->table && other.column == part->column;
    });
    if (known == found.end()) {
      found.push_back(std::move(*part));
      continue;
    }
    known->isWritten |= part->isWritten;
  }
  llvm::erase_if(found, [](const RowPart &part) {
    int64_t least = part.isWritten ? genericCPU.prefetchedLinesWritten
                                   : genericCPU.prefetchedLinesRead;
    return part.column && part.lines < least;
  });
  return found;
}

/// Asks for `part` of the row `number`.
static void prefetch(OpBuilder &builder, const RowPart &part, Value number) {
  Location loc = number.getLoc();
  for (int64_t line = 0; line < part.lines; ++line) {
    Value column = arith::ConstantIndexOp::create(
        builder, loc, line * part.elements / part.lines);
    if (part.column)
      column = arith::AddIOp::create(builder, loc, part.column, column);
    SmallVector<Value> element = part.before;
    element.append({number, column});
    memref::PrefetchOp::create(builder, loc, part.table, element,
                               part.isWritten, /*localityHint=*/3,
                               /*isDataCache=*/true);
  }
}

/// Asks for the rows whose numbers `loop` will compute some iterations later.
static void prefetchRows(scf::ForOp loop, AliasAnalysis &aliases,
                         int64_t distance) {
  Accesses accesses = getAccesses(loop);
  Accesses writes = llvm::to_vector(llvm::make_filter_range(
      accesses, [](const Access &access) { return access.isWrite; }));
  llvm::SetVector<Value> numbers;
  for (const Access &access : accesses)
    for (Value index : access.indices)
      if (index.getParentBlock() == loop.getBody() && index.getDefiningOp())
        numbers.insert(index);
  NumbersAhead ahead(loop, writes, aliases);
  for (Value number : numbers) {
    SmallVector<RowPart> parts = findParts(loop, number, accesses);
    if (parts.empty() || !ahead.canCompute(number))
      continue;
    OpBuilder builder(loop.getContext());
    builder.setInsertionPointAfterValue(number);
    Value next = ahead.compute(builder, number, distance);
    llvm::SmallPtrSet<Value, 4> tables;
    for (const RowPart &part : parts) {
      tables.insert(part.table);
      OpBuilder::InsertionGuard guard(builder);
      if (part.column)
        builder.setInsertionPoint(part.access);
      prefetch(builder, part, next);
    }
    remarkChosen(loop.getLoc(), loop, "prefetched",
                 "rows of " + Twine(tables.size()) +
                     " tables are fetched as a list names them, " +
                     Twine(distance) + " iterations ahead");
  }
}

namespace {
struct PrefetchRowsPass
    : sparse_autograd::impl::PrefetchRowsBase<PrefetchRowsPass> {
  using PrefetchRowsBase::PrefetchRowsBase;

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (isConstantIntValue(loop.getStep(), 1))
        loops.push_back(loop);
    });
    AliasAnalysis aliases(getOperation());
    for (scf::ForOp loop : loops)
      prefetchRows(loop, aliases, distance);
  }
};
} // namespace
