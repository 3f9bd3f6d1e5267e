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
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/PrefetchRows/PrefetchRows.h"

#include "SparseAutograd/Analysis/LoopRemarks.h"
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
/// Rows of a table that a list names.
struct Rows {
  Value table;
  /// The indices in front of that of the row.
  SmallVector<Value> before;
  bool isWritten;
};
} // namespace

/// What `op`, a load or a store, reads or writes, and where.
static std::optional<std::pair<Value, ValueRange>> getAccess(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return {{load.getMemref(), load.getIndices()}};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return {{store.getMemref(), store.getIndices()}};
  return std::nullopt;
}

/// The rows that loops inside of `loop` go through and whose number is
/// `coordinate`: of tables that are there before the loop.
static SmallVector<Rows> findRows(scf::ForOp loop, Value coordinate) {
  SmallVector<Rows> found;
  for (Operation *user : coordinate.getUsers()) {
    auto access = getAccess(user);
    if (!access || user->getParentOp() == loop)
      continue;
    Value table = access->first;
    ValueRange indices = access->second;
    unsigned position = llvm::find(indices, coordinate) - indices.begin();
    // Elements of a row lie side by side.
    if (position + 2 != indices.size() || !loop.isDefinedOutsideOfLoop(table) ||
        !llvm::all_of(indices.take_front(position), [&](Value index) {
          return loop.isDefinedOutsideOfLoop(index);
        }))
      continue;
    bool isWritten = isa<memref::StoreOp>(user);
    auto *known = llvm::find_if(
        found, [&](const Rows &rows) { return rows.table == table; });
    if (known != found.end())
      known->isWritten |= isWritten;
    else
      found.push_back(
          {table, SmallVector<Value>(indices.take_front(position)), isWritten});
  }
  return found;
}

/// Asks for the rows that `load`, which reads a list in the order of `loop`,
/// will name some iterations later.
static void prefetch(scf::ForOp loop, memref::LoadOp load, int64_t distance) {
  // Coordinates narrower than an index are widened.
  Operation *widening = nullptr;
  Value coordinate = load;
  if (!coordinate.getType().isIndex()) {
    if (!load->hasOneUse() ||
        !isa<arith::IndexCastOp, arith::IndexCastUIOp>(*load->user_begin()))
      return;
    widening = *load->user_begin();
    coordinate = widening->getResult(0);
  }
  SmallVector<Rows> found = findRows(loop, coordinate);
  if (found.empty())
    return;
  Location loc = load.getLoc();
  remarkChosen(loc, loop, "prefetched",
               "rows of " + Twine(found.size()) +
                   " tables are fetched as a list names them, " +
                   Twine(distance) + " iterations ahead");
  OpBuilder builder(loop.getContext());
  builder.setInsertionPointAfterValue(coordinate);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  // Not behind the end of the list; what follows a row of a matrix there is the
  // next one.
  Value list = load.getMemref();
  int64_t lastDim = cast<MemRefType>(list.getType()).getRank() - 1;
  Value length = memref::DimOp::create(builder, loc, list, lastDim);
  Value last = arith::SubIOp::create(builder, loc, length, constant(1));
  Value ahead = arith::AddIOp::create(builder, loc, loop.getInductionVar(),
                                      constant(distance));
  ahead = arith::MinSIOp::create(builder, loc, ahead, last);
  SmallVector<Value> at(load.getIndices());
  at.back() = ahead;
  Value next = memref::LoadOp::create(builder, loc, list, at);
  if (widening) {
    IRMapping mapping;
    mapping.map(load.getResult(), next);
    next = builder.clone(*widening, mapping)->getResult(0);
  }
  for (const Rows &rows : found) {
    SmallVector<Value> element = rows.before;
    element.push_back(next);
    element.push_back(constant(0));
    memref::PrefetchOp::create(builder, loc, rows.table, element,
                               rows.isWritten, /*localityHint=*/3,
                               /*isDataCache=*/true);
  }
}

namespace {
struct PrefetchRowsPass
    : sparse_autograd::impl::PrefetchRowsBase<PrefetchRowsPass> {
  using PrefetchRowsBase::PrefetchRowsBase;

  void runOnOperation() override {
    SmallVector<std::pair<scf::ForOp, memref::LoadOp>> lists;
    getOperation().walk([&](memref::LoadOp load) {
      auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
      if (!loop || !isConstantIntValue(loop.getStep(), 1) ||
          !isa<IntegerType, IndexType>(load.getType()) ||
          load.getIndices().empty() ||
          load.getIndices().back() != loop.getInductionVar() ||
          !loop.isDefinedOutsideOfLoop(load.getMemref()) ||
          !llvm::all_of(load.getIndices().drop_back(), [&](Value index) {
            return loop.isDefinedOutsideOfLoop(index);
          }))
        return;
      lists.push_back({loop, load});
    });
    for (auto [loop, load] : lists)
      prefetch(loop, load, distance);
  }
};
} // namespace
