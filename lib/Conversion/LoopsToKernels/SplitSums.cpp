//===- SplitSums.cpp - sums of rows in chunks of entries ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitSums.h"

#include "../LoopReductions.h"
#include "../NeutralElement.h"
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

/// Entries of a chunk, and how many there are at least to make it worth the
/// second kernel.
static constexpr int64_t sumEntries = 64, leastEntries = 4096;

namespace {
/// What a nest does for each row: the sums, and what is done before and behind.
struct RowSums {
  static std::optional<RowSums> match(const KernelNest &nest);

  explicit RowSums(const KernelNest &nest) : nest(nest) {}

  scf::ForOp getRows() const { return nest.getLoops().front(); }

  KernelNest nest;
  SmallVector<Operation *> before, behind;
  scf::ForOp sum;
  SmallVector<Operation *> combiners;
  /// Where rows begin, and a list with an element for each entry.
  Value positions, list;
};

/// Builds the loops over chunks.
class ChunkLoops {
public:
  /// `entries` is how many there are.
  ChunkLoops(RewriterBase &rewriter, const RowSums &sums, Value entries);

  void build();

private:
  /// A place in a parallel nest over chunks and columns.
  struct Place {
    Value chunk;
    SmallVector<Value> columns;
  };

  /// Entries from one up to another.
  struct Range {
    Value begin, end;
  };

  Place createNest(Value chunks);
  void buildParts();
  void buildTotals();
  void addPart(const Place &place, const Range &chunk, Value row,
               const Range &entries);
  void finishRow(const Place &place, Value row,
                 function_ref<Value(unsigned, Value)> createTotal);
  IRMapping mapTo(const Place &place, Value row) const;
  /// The first entry of a chunk, or of that behind the last one.
  Value createBegin(Value chunk);
  Value combine(unsigned number, Value one, Value other);
  SmallVector<Value> getPart(const Place &place, Value chunk, Value isBegin);

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  Value compare(arith::CmpIPredicate predicate, Value one, Value other) {
    return arith::CmpIOp::create(rewriter, loc, predicate, one, other);
  }
  Value bothHold(Value one, Value other) {
    return arith::AndIOp::create(rewriter, loc, one, other);
  }

  RewriterBase &rewriter;
  const RowSums &sums;
  Location loc;
  Positions positions;
  Value chunks;
  /// For each sum: of chunks, whether the row of it begins there, and columns.
  SmallVector<Value> parts;
};
} // namespace

/// Whether `op` may be done in another kernel than the sum.
static bool isMovable(Operation *op) {
  return isPure(op) ||
         (op->getNumRegions() == 0 && isa<memref::LoadOp, memref::StoreOp>(op));
}

std::optional<RowSums> RowSums::match(const KernelNest &nest) {
  if (nest.getLoops().empty() ||
      !matchPattern(nest.getSteps().front(), m_One()))
    return std::nullopt;
  RowSums sums(nest);
  for (auto [number, nestLoop] : llvm::enumerate(nest.getLoops())) {
    bool isInnermost = number + 1 == nest.getLoops().size();
    for (Operation &op : scf::ForOp(nestLoop).getBody()->without_terminator()) {
      if (!isInnermost && isa<scf::ForOp>(op) &&
          nest.getLoops()[number + 1] == cast<scf::ForOp>(op))
        continue;
      auto loop = dyn_cast<scf::ForOp>(op);
      if (isInnermost && loop && !sums.sum)
        sums.sum = loop;
      else if (!isMovable(&op))
        return std::nullopt;
      else
        (sums.sum ? sums.behind : sums.before).push_back(&op);
    }
  }
  scf::ForOp sum = sums.sum;
  if (!sum || sum.getNumResults() == 0 || !isReorderable(sum) ||
      !matchPattern(sum.getStep(), m_One()))
    return std::nullopt;
  // Each kernel does these for itself.
  if (llvm::any_of(sums.before, llvm::IsaPred<memref::StoreOp>))
    return std::nullopt;
  for (unsigned number = 0; number < sum.getNumResults(); ++number)
    sums.combiners.push_back(getCombiner(sum, number));
  sums.positions =
      getPositions(sum.getInductionVar(), nest.getVariables().front());
  sums.list = getEntryList(sums.getRows(), sum);
  if (!sums.positions || !sums.list || !nest.isOutside(sums.positions))
    return std::nullopt;
  return sums;
}

ChunkLoops::ChunkLoops(RewriterBase &rewriter, const RowSums &sums,
                       Value entries)
    : rewriter(rewriter), sums(sums), loc(sums.getRows().getLoc()),
      positions{rewriter, loc, sums.positions} {
  chunks =
      arith::CeilDivUIOp::create(rewriter, loc, entries, index(sumEntries));
  SmallVector<OpFoldResult> extents = {chunks, rewriter.getIndexAttr(2)};
  llvm::append_range(
      extents, getAsOpFoldResult(sums.nest.getUpperBounds().drop_front()));
  Attribute space = cast<MemRefType>(sums.list.getType()).getMemorySpace();
  for (Value result : sums.sum->getResults())
    parts.push_back(memref::AllocOp::create(rewriter, loc, extents,
                                            result.getType(), space));
}

/// Parallel loops over `count` chunks and the columns of the nest; what is
/// built next is in them.
ChunkLoops::Place ChunkLoops::createNest(Value count) {
  Place place;
  auto create = [&](Value lower, Value upper, Value step) {
    auto loop = scf::ForOp::create(rewriter, loc, lower, upper, step);
    setParallel(loop);
    rewriter.setInsertionPointToStart(loop.getBody());
    return loop.getInductionVar();
  };
  place.chunk = create(index(0), count, index(1));
  const KernelNest &nest = sums.nest;
  for (auto [lower, upper, step] : llvm::drop_begin(llvm::zip_equal(
           nest.getLowerBounds(), nest.getUpperBounds(), nest.getSteps())))
    place.columns.push_back(create(lower, upper, step));
  return place;
}

Value ChunkLoops::createBegin(Value chunk) {
  Value skipped =
      arith::MulIOp::create(rewriter, loc, chunk, index(sumEntries));
  return arith::AddIOp::create(
      rewriter, loc, positions.at(sums.getRows().getLowerBound()), skipped);
}

IRMapping ChunkLoops::mapTo(const Place &place, Value row) const {
  IRMapping mapping;
  mapping.map(sums.nest.getVariables().front(), row);
  mapping.map(sums.nest.getVariables().drop_front(), place.columns);
  return mapping;
}

Value ChunkLoops::combine(unsigned number, Value one, Value other) {
  Operation *both = rewriter.clone(*sums.combiners[number]);
  both->setOperands({one, other});
  return both->getResult(0);
}

/// Where the part of a row that `chunk` has is kept: of the row that begins in
/// it, or of the one that has begun before.
SmallVector<Value> ChunkLoops::getPart(const Place &place, Value chunk,
                                       Value isBegin) {
  SmallVector<Value> indices = {chunk, isBegin};
  llvm::append_range(indices, place.columns);
  return indices;
}

/// Does what is done behind the sums of `row`, whose totals `createTotal` makes
/// of what they begin with.
void ChunkLoops::finishRow(const Place &place, Value row,
                           function_ref<Value(unsigned, Value)> createTotal) {
  IRMapping mapping = mapTo(place, row);
  for (Operation *op : sums.before)
    rewriter.clone(*op, mapping);
  scf::ForOp sum = sums.sum;
  for (auto [number, init] : llvm::enumerate(sum.getInitArgs()))
    mapping.map(sum.getResult(number),
                createTotal(number, mapping.lookupOrDefault(init)));
  for (Operation *op : sums.behind)
    rewriter.clone(*op, mapping);
}

/// Adds up those of the entries of a row that the chunk has.
void ChunkLoops::addPart(const Place &place, const Range &chunk, Value row,
                         const Range &entries) {
  OpBuilder::InsertionGuard guard(rewriter);
  Value from =
      arith::MaxUIOp::create(rewriter, loc, entries.begin, chunk.begin);
  Value to = arith::MinUIOp::create(rewriter, loc, entries.end, chunk.end);
  IRMapping mapping = mapTo(place, row);
  for (Operation *op : sums.before)
    rewriter.clone(*op, mapping);
  auto part = cast<scf::ForOp>(rewriter.clone(*sums.sum, mapping));
  rewriter.setInsertionPoint(part);
  for (auto [number, init] : llvm::enumerate(part.getInitArgsMutable()))
    init.set(arith::ConstantOp::create(
        rewriter, loc, getNeutralElement(sums.combiners[number])));
  part.setLowerBound(from);
  part.setUpperBound(to);
  shareAmongEight(part);
  rewriter.setInsertionPointAfter(part);
  Value beginsHere =
      compare(arith::CmpIPredicate::uge, entries.begin, chunk.begin);
  Value endsHere = compare(arith::CmpIPredicate::ule, entries.end, chunk.end);
  auto whole = scf::IfOp::create(rewriter, loc, bothHold(beginsHere, endsHere),
                                 /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(whole.thenBlock());
  finishRow(place, row, [&](unsigned number, Value init) {
    return combine(number, init, part.getResult(number));
  });
  rewriter.setInsertionPointToStart(whole.elseBlock());
  Value isBegin = arith::IndexCastUIOp::create(
      rewriter, loc, rewriter.getIndexType(), beginsHere);
  for (auto [number, buffer] : llvm::enumerate(parts))
    memref::StoreOp::create(rewriter, loc, part.getResult(number), buffer,
                            getPart(place, place.chunk, isBegin));
}

/// The loop over chunks that adds up what each has of its rows.
void ChunkLoops::buildParts() {
  OpBuilder::InsertionGuard guard(rewriter);
  Place place = createNest(chunks);
  Value firstRow = sums.getRows().getLowerBound();
  Value lastRow = sums.getRows().getUpperBound();
  Value one = index(1), begin = createBegin(place.chunk);
  Value end = arith::AddIOp::create(rewriter, loc, begin, index(sumEntries));
  end = arith::MinUIOp::create(rewriter, loc, end, positions.at(lastRow));
  // Rows without entries belong to the chunk that ends where they are; those
  // before all entries to the first one.
  Value found = positions.search(firstRow, lastRow, begin);
  Value isFirst = compare(arith::CmpIPredicate::eq, place.chunk, index(0));
  found = arith::SelectOp::create(rewriter, loc, isFirst, firstRow, found);
  Type type = rewriter.getIndexType(), i1 = rewriter.getI1Type();
  // The row, and where it begins and ends.
  scf::WhileOp::create(
      rewriter, loc, TypeRange{type, type, type},
      ValueRange{found, positions.at(found)},
      [&](OpBuilder &, Location, ValueRange row) {
        Value isRow = compare(arith::CmpIPredicate::ult, row[0], lastRow);
        auto branch = scf::IfOp::create(rewriter, loc, TypeRange{i1, type},
                                        isRow, /*withElseRegion=*/true);
        rewriter.setInsertionPointToStart(branch.thenBlock());
        Value rowEnd = positions.end(row[0]);
        Value begins = compare(arith::CmpIPredicate::ult, row[1], end);
        Value ends = compare(arith::CmpIPredicate::ule, rowEnd, end);
        Value isHere = arith::OrIOp::create(rewriter, loc, begins, ends);
        scf::YieldOp::create(rewriter, loc, ValueRange{isHere, rowEnd});
        rewriter.setInsertionPointToStart(branch.elseBlock());
        scf::YieldOp::create(rewriter, loc, ValueRange{isRow, row[1]});
        rewriter.setInsertionPointAfter(branch);
        scf::ConditionOp::create(
            rewriter, loc, branch.getResult(0),
            ValueRange{row[0], row[1], branch.getResult(1)});
      },
      [&](OpBuilder &, Location, ValueRange row) {
        addPart(place, {begin, end}, row[0], {row[1], row[2]});
        Value next = arith::AddIOp::create(rewriter, loc, row[0], one);
        scf::YieldOp::create(rewriter, loc, ValueRange{next, row[2]});
      });
}

/// The loop over chunks that adds up the parts of the rows that begin in one
/// and end in another.
void ChunkLoops::buildTotals() {
  OpBuilder::InsertionGuard guard(rewriter);
  Value one = index(1);
  Place place = createNest(arith::SubIOp::create(rewriter, loc, chunks, one));
  Value next = arith::AddIOp::create(rewriter, loc, place.chunk, one);
  Value begin = createBegin(place.chunk), end = createBegin(next);
  Value row = positions.search(sums.getRows().getLowerBound(),
                               sums.getRows().getUpperBound(), end);
  Value rowBegin = positions.at(row);
  Value beginsHere =
      bothHold(compare(arith::CmpIPredicate::uge, rowBegin, begin),
               compare(arith::CmpIPredicate::ult, rowBegin, end));
  // The list may go on behind the last row.
  beginsHere = bothHold(beginsHere, compare(arith::CmpIPredicate::ult, row,
                                            sums.getRows().getUpperBound()));
  auto branch = scf::IfOp::create(rewriter, loc, beginsHere);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  Value length = arith::SubIOp::create(rewriter, loc, positions.end(row), end);
  Value others =
      arith::CeilDivUIOp::create(rewriter, loc, length, index(sumEntries));
  Value last = arith::AddIOp::create(rewriter, loc, next, others);
  finishRow(place, row, [&](unsigned number, Value init) {
    Value first = memref::LoadOp::create(rewriter, loc, parts[number],
                                         getPart(place, place.chunk, one));
    first = combine(number, init, first);
    auto loop =
        scf::ForOp::create(rewriter, loc, next, last, one, ValueRange{first});
    OpBuilder::InsertionGuard inLoop(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    Value part = memref::LoadOp::create(
        rewriter, loc, parts[number],
        getPart(place, loop.getInductionVar(), index(0)));
    scf::YieldOp::create(rewriter, loc,
                         combine(number, loop.getRegionIterArg(0), part));
    return loop.getResult(0);
  });
}

void ChunkLoops::build() {
  buildParts();
  buildTotals();
  for (Value part : parts)
    memref::DeallocOp::create(rewriter, loc, part);
}

bool sparse_autograd::splitSums(RewriterBase &rewriter,
                                const KernelNest &nest) {
  std::optional<RowSums> sums = RowSums::match(nest);
  if (!sums)
    return false;
  OpBuilder::InsertionGuard guard(rewriter);
  scf::ForOp rows = sums->getRows();
  rewriter.setInsertionPoint(rows);
  Location loc = rows.getLoc();
  Value entries = rewriter.createOrFold<memref::DimOp>(loc, sums->list, 0);
  Value least = arith::ConstantIndexOp::create(rewriter, loc, leastEntries);
  Value areMany = rewriter.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::uge, entries, least);
  if (matchPattern(areMany, m_Zero()))
    return false;
  auto branch = scf::IfOp::create(rewriter, loc, areMany,
                                  /*withElseRegion=*/true);
  rewriter.moveOpBefore(rows, branch.elseBlock()->getTerminator());
  rewriter.setInsertionPointToStart(branch.thenBlock());
  ChunkLoops(rewriter, *sums, entries).build();
  return true;
}
