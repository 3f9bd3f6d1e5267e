//===- DistributeScatter.cpp - scatters on several threads ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scatters by the owner-computes rule: every row of the result has one owner, a
// thread, which runs the iterations that write to it, in their order. All
// owners read all coordinates, which is little beside what an iteration does
// with a row.
//
// Few owners are not worth it: each looks at all entries, and reads a row of
// the other factor for each of its own, where one thread has that in registers
// for all entries of a row. Their number is a guess: more than two threads were
// not measured.
//
// Owners have blocks of rows in turn, as rows that many entries name (hubs of a
// graph) are often neighbours. Each selects its entries without branches, some
// hundred at a time, and runs the iterations of those that it found: whether
// the next entry is one of its own cannot be predicted.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/DistributeScatter/DistributeScatter.h"

#include "../KernelOps.h"
#include "../LoopWork.h"
#include "../RuntimeCalls.h"
#include "../Segments.h"
#include "Scatter.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_DISTRIBUTESCATTER
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// Shares of the rows, of which an owner has one or several: no more owners
/// than that. A power of two.
constexpr int64_t shares = 64;
/// Neighbouring rows of one share, where there are enough rows for each share
/// to have several such blocks; else a row is a block.
constexpr int64_t blockShift = 4, leastBlocks = 4;
/// Owners, at least: each looks at all entries.
constexpr int64_t leastOwners = 4;
/// Entries that an owner looks at before it runs the iterations of its own.
constexpr int64_t selectedAtOnce = 1024;

/// Builds the loops of one scatter on several threads.
class ScatterBuilder {
public:
  ScatterBuilder(ImplicitLocOpBuilder &builder, const Scatter &scatter)
      : builder(builder), scatter(scatter) {}

  /// How many owners the scatter should have: as many as there are threads, if
  /// each has at least `wanted` to do.
  Value countOwners(func::FuncOp getThreadCount, int64_t wanted,
                    int64_t sparseWanted);
  /// Whether `owners` are enough for their work to outweigh the selection.
  Value areWorthIt(Value owners);
  void build(Value owners);

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }
  scf::ForOp createFor(Value begin, Value end, int64_t step = 1,
                       ValueRange carried = {});
  /// An scf.parallel from 0 to `count`, and its variable.
  Value createParallel(Value count);
  std::pair<Value, Value> getEntries();
  Value listRows(Value owners);
  Value countShift();
  Value selectEntries(Value block, Value blockEnd, Value selected,
                      std::pair<Value, Value> owned, Value shift);
  void cloneBody(Block &body, Value entry, IRMapping &mapping);
  void runIteration(Value entry, Value row);

  ImplicitLocOpBuilder &builder;
  Scatter scatter;
};
} // namespace

scf::ForOp ScatterBuilder::createFor(Value begin, Value end, int64_t step,
                                     ValueRange carried) {
  return scf::ForOp::create(builder, begin, end, constant(step), carried);
}

Value ScatterBuilder::createParallel(Value count) {
  auto loop = scf::ParallelOp::create(builder, ValueRange(constant(0)), count,
                                      ValueRange(constant(1)));
  builder.setInsertionPointToStart(loop.getBody());
  return loop.getInductionVars().front();
}

Value ScatterBuilder::areWorthIt(Value owners) {
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, owners,
                               constant(leastOwners));
}

Value ScatterBuilder::countOwners(func::FuncOp getThreadCount, int64_t wanted,
                                  int64_t sparseWanted) {
  LoopWork estimate = computeWork(builder, scatter.loop);
  int64_t least = estimate.visitsEntries ? sparseWanted : wanted;
  Value most = arith::DivUIOp::create(builder, estimate.work,
                                      constant(std::max<int64_t>(1, least)));
  auto call = func::CallOp::create(builder, getThreadCount, ValueRange());
  Value threads = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                             call.getResult(0));
  threads = arith::MinSIOp::create(builder, most, threads);
  threads = arith::MinSIOp::create(builder, threads, constant(shares));
  if (!scatter.hasRows())
    return threads;
  // Owners list rows as numbers of 32 bits.
  Value isShort = arith::CmpIOp::create(
      builder, arith::CmpIPredicate::sle, scatter.loop.getUpperBound(),
      constant(std::numeric_limits<int32_t>::max()));
  return arith::SelectOp::create(builder, isShort, threads, constant(1));
}

/// The first entry, and the end of the entries.
std::pair<Value, Value> ScatterBuilder::getEntries() {
  scf::ForOp loop = scatter.loop;
  if (!scatter.hasRows())
    return {loop.getLowerBound(), loop.getUpperBound()};
  Positions positions{builder, builder.getLoc(), scatter.positions};
  return {positions.at(loop.getLowerBound()),
          positions.at(loop.getUpperBound())};
}

/// A list with the row of each entry.
Value ScatterBuilder::listRows(Value owners) {
  scf::ForOp loop = scatter.loop;
  Type number = builder.getI32Type();
  Value size = memref::DimOp::create(
      builder, scatter.parts.front().load.getMemref(), constant(0));
  Value rows = memref::AllocOp::create(
      builder, MemRefType::get(ShapedType::kDynamic, number), size);
  Value begin = loop.getLowerBound(), end = loop.getUpperBound();
  Value count = arith::SubIOp::create(builder, end, begin);
  Value chunk = arith::CeilDivSIOp::create(builder, count, owners);
  OpBuilder::InsertionGuard guard(builder);
  Value owner = createParallel(owners);
  Value offset = arith::MulIOp::create(builder, owner, chunk);
  Value first = arith::AddIOp::create(builder, begin, offset);
  Value last = arith::AddIOp::create(builder, first, chunk);
  last = arith::MinSIOp::create(builder, last, end);
  scf::ForOp each = createFor(first, last);
  builder.setInsertionPointToStart(each.getBody());
  Value row = each.getInductionVar();
  Positions positions{builder, builder.getLoc(), scatter.positions};
  Value value = arith::IndexCastUIOp::create(builder, number, row);
  scf::ForOp entries = createFor(positions.at(row), positions.end(row));
  builder.setInsertionPointToStart(entries.getBody());
  memref::StoreOp::create(builder, value, rows, entries.getInductionVar());
  return rows;
}

/// By how many bits a row is shifted to give the number of its block.
Value ScatterBuilder::countShift() {
  Value extent =
      memref::DimOp::create(builder, scatter.buffer, constant(scatter.dim));
  Value hasBlocks =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, extent,
                            constant((leastBlocks * shares) << blockShift));
  return arith::SelectOp::create(builder, hasBlocks, constant(blockShift),
                                 constant(0));
}

/// Stores which of the entries from `block` to `blockEnd` are of rows whose
/// shares are `owned`, the first one and the end, as distances from `block`.
/// Returns how many.
Value ScatterBuilder::selectEntries(Value block, Value blockEnd, Value selected,
                                    std::pair<Value, Value> owned,
                                    Value shift) {
  auto [firstShare, endOfShares] = owned;
  Value count = arith::SubIOp::create(builder, endOfShares, firstShare);
  scf::ForOp select = createFor(block, blockEnd, 1, constant(0));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(select.getBody());
  Value entry = select.getInductionVar(), found = select.getRegionIterArg(0);
  ScatterPart part = scatter.parts.front();
  IRMapping mapping;
  mapping.map(part.entries.getInductionVar(), entry);
  builder.clone(*part.load, mapping);
  if (Operation *cast = part.coordinate.getDefiningOp();
      cast != part.load.getOperation())
    builder.clone(*cast, mapping);
  Value share =
      arith::ShRUIOp::create(builder, mapping.lookup(part.coordinate), shift);
  share = arith::AndIOp::create(builder, share, constant(shares - 1));
  Value distance = arith::SubIOp::create(builder, share, firstShare);
  Value isOwned = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                        distance, count);
  Value place = arith::IndexCastUIOp::create(
      builder, builder.getI32Type(),
      arith::SubIOp::create(builder, entry, block));
  memref::StoreOp::create(builder, place, selected, found);
  Value more =
      arith::SelectOp::create(builder, isOwned, constant(1), constant(0));
  scf::YieldOp::create(builder,
                       ValueRange(arith::AddIOp::create(builder, found, more)));
  return select.getResult(0);
}

/// Clones what `body` does but for loops over entries, in place of which are
/// iterations for `entry`.
void ScatterBuilder::cloneBody(Block &body, Value entry, IRMapping &mapping) {
  SmallVector<Operation *> clones;
  for (Operation &op : body.without_terminator()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    auto *part = llvm::find_if(scatter.parts, [&](ScatterPart &part) {
      return loop && (part.entries == loop || part.strips == loop);
    });
    if (part == scatter.parts.end()) {
      clones.push_back(builder.clone(op, mapping));
      continue;
    }
    if (part->entries == loop) {
      mapping.map(loop.getInductionVar(), entry);
      cloneBody(*loop.getBody(), entry, mapping);
      continue;
    }
    auto strips = scf::ForOp::create(
        builder, mapping.lookupOrDefault(loop.getLowerBound()),
        mapping.lookupOrDefault(loop.getUpperBound()),
        mapping.lookupOrDefault(loop.getStep()));
    mapping.map(loop.getInductionVar(), strips.getInductionVar());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(strips.getBody());
    cloneBody(*loop.getBody(), entry, mapping);
  }
  // Where the entries of a row begin and end is not asked for any more.
  for (Operation *clone : llvm::reverse(clones))
    if (isOpTriviallyDead(clone))
      clone->erase();
}

/// Does for `entry` of row `row` what all parts do.
void ScatterBuilder::runIteration(Value entry, Value row) {
  IRMapping mapping;
  mapping.map(scatter.loop.getInductionVar(), scatter.hasRows() ? row : entry);
  cloneBody(*scatter.loop.getBody(), entry, mapping);
}

void ScatterBuilder::build(Value owners) {
  auto [firstEntry, endOfEntries] = getEntries();
  Value rows = scatter.hasRows() ? listRows(owners) : Value();
  Value shift = countShift();
  {
    OpBuilder::InsertionGuard guard(builder);
    Value owner = createParallel(owners);
    auto getShare = [&](Value number) -> Value {
      Value scaled = arith::MulIOp::create(builder, number, constant(shares));
      return arith::DivUIOp::create(builder, scaled, owners);
    };
    std::pair<Value, Value> owned = {
        getShare(owner),
        getShare(arith::AddIOp::create(builder, owner, constant(1)))};
    auto selectedType = MemRefType::get(selectedAtOnce, builder.getI32Type());
    Value selected = memref::AllocOp::create(builder, selectedType);
    scf::ForOp blocks = createFor(firstEntry, endOfEntries, selectedAtOnce);
    memref::DeallocOp::create(builder, selected);
    builder.setInsertionPointToStart(blocks.getBody());
    Value block = blocks.getInductionVar();
    Value blockEnd =
        arith::AddIOp::create(builder, block, constant(selectedAtOnce));
    blockEnd = arith::MinSIOp::create(builder, blockEnd, endOfEntries);
    Value count = selectEntries(block, blockEnd, selected, owned, shift);
    scf::ForOp run = createFor(constant(0), count);
    builder.setInsertionPointToStart(run.getBody());
    auto loadNumber = [&](Value list, Value place) -> Value {
      Value number = memref::LoadOp::create(builder, list, place);
      return arith::IndexCastUIOp::create(builder, builder.getIndexType(),
                                          number);
    };
    Value entry = arith::AddIOp::create(
        builder, block, loadNumber(selected, run.getInductionVar()));
    Value row;
    if (rows)
      row = loadNumber(rows, entry);
    runIteration(entry, row);
  }
  if (rows)
    memref::DeallocOp::create(builder, rows);
}

static bool writes(scf::ForOp loop) {
  return llvm::any_of(getAccesses(loop),
                      [](const Access &access) { return access.isWrite; });
}

namespace {
struct DistributeScatterPass
    : sparse_autograd::impl::DistributeScatterBase<DistributeScatterPass> {
  using DistributeScatterBase::DistributeScatterBase;

  void runOnOperation() override;

private:
  void distribute(const Scatter &scatter, SymbolTable &symbols) const;
};
} // namespace

void DistributeScatterPass::distribute(const Scatter &scatter,
                                       SymbolTable &symbols) const {
  scf::ForOp loop = scatter.loop;
  func::FuncOp getThreadCount =
      declareRuntimeFunction(symbols, "sparseAutogradGetThreadCount", {},
                             IntegerType::get(loop.getContext(), 32));
  ImplicitLocOpBuilder builder(loop.getLoc(), loop);
  ScatterBuilder owned(builder, scatter);
  Value owners = owned.countOwners(getThreadCount, chunkWork, sparseChunkWork);
  auto choice =
      scf::IfOp::create(builder, owned.areWorthIt(owners), /*else=*/true);
  builder.setInsertionPointToStart(&choice.getThenRegion().front());
  owned.build(owners);
  loop->moveBefore(choice.getElseRegion().front().getTerminator());
  remarkChosen(loop.getLoc(), loop, "parallel",
               "a loop that writes to rows that a list names runs on four "
               "threads or more if its work is worth it: each owns some of the "
               "rows and runs the iterations that write to these");
}

/// Whether `loop` calls for other loops, as the epochs of a training do: these
/// take buffers, or run in parallel.
static bool isAroundLoops(scf::ForOp loop) {
  return loop.getBody()
      ->walk([](Operation *op) {
        return WalkResult(failure(
            isa<scf::ParallelOp, memref::AllocOp, CallOpInterface>(op)));
      })
      .wasInterrupted();
}

/// The outermost loops that run as they are and write.
static SmallVector<scf::ForOp> findSequential(func::FuncOp function) {
  SmallVector<scf::ForOp> sequential;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<scf::ParallelOp>(op))
      return WalkResult::skip();
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || isAroundLoops(loop))
      return WalkResult::advance();
    if (writes(loop))
      sequential.push_back(loop);
    return WalkResult::skip();
  });
  return sequential;
}

void DistributeScatterPass::runOnOperation() {
  SymbolTable symbols(getOperation());
  for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
    AliasAnalysis aliases(function);
    for (scf::ForOp loop : findSequential(function)) {
      if (std::optional<Scatter> scatter = Scatter::match(loop, aliases))
        distribute(*scatter, symbols);
      else
        remarkDeclined(loop.getLoc(), loop, "parallel",
                       "a loop runs on one thread, since its iterations are "
                       "not known to write to different places");
    }
  }
}
