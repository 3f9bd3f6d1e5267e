//===- NumberedLoops.cpp - loops that number what they visit --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NumberedLoops.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace sparse_autograd;

/// Of a loop: what it is one of, and the number of its part.
static constexpr llvm::StringLiteral numberedAttr =
    SparseAutogradDialect::getNumberedAttrName();

//===----------------------------------------------------------------------===//
// Marking
//===----------------------------------------------------------------------===//

void NumberedLoops::addPart(ValueRange carried, ValueRange results) {
  if (carried == results) {
    visits.back().push_back({});
    return;
  }
  auto loop = results.back().getDefiningOp<scf::ForOp>();
  areLoops &= loop && getConstantIntValue(loop.getStep()) == 1;
  visits.back().push_back(loop);
}

void NumberedLoops::endVisit(bool isApart) {
  areApart.push_back(isApart);
  visits.emplace_back();
}

void NumberedLoops::mark() const {
  if (!areLoops)
    return;
  DistinctAttr group;
  for (auto [parts, isApart] : llvm::zip(visits, areApart))
    for (auto [number, part] : llvm::enumerate(parts)) {
      scf::ForOp loop = part;
      if (!loop || !isApart)
        continue;
      Builder builder(loop->getContext());
      if (!group)
        group = DistinctAttr::create(builder.getUnitAttr());
      loop->setAttr(
          numberedAttr,
          builder.getArrayAttr(
              {group, builder.getIndexAttr(static_cast<int64_t>(number))}));
    }
}

//===----------------------------------------------------------------------===//
// Making parallel
//===----------------------------------------------------------------------===//

namespace {
/// The loops of one group.
class ParallelNumbering {
public:
  explicit ParallelNumbering(IRRewriter &rewriter) : rewriter(rewriter) {}

  /// Replaces the loops that count, of one part each.
  void count(ArrayRef<scf::ForOp> loops);
  /// Replaces a loop that visits a part again, but for its number; the loop is
  /// to be erased.
  void begin(scf::ForOp loop);

private:
  static int64_t getPart(scf::ForOp loop) {
    auto attr = loop->getAttrOfType<ArrayAttr>(numberedAttr);
    return cast<IntegerAttr>(attr[1]).getInt();
  }
  /// The number of an iteration among those of all parts.
  Value getPlace(ImplicitLocOpBuilder &builder, scf::ForOp loop,
                 Value iteration);
  scf::ForOp create(ImplicitLocOpBuilder &builder, scf::ForOp loop,
                    ValueRange carried);

  IRRewriter &rewriter;
  /// Of each part, the number of its first iteration; that of the one behind
  /// the last part.
  llvm::DenseMap<int64_t, Value> firsts;
  Value end;
  /// How many elements there are before each iteration.
  Value before;
};
} // namespace

Value ParallelNumbering::getPlace(ImplicitLocOpBuilder &builder,
                                  scf::ForOp loop, Value iteration) {
  Value inPart =
      arith::SubIOp::create(builder, iteration, loop.getLowerBound());
  return arith::AddIOp::create(builder, firsts[getPart(loop)], inPart);
}

/// A parallel loop like `loop`, without a body.
scf::ForOp ParallelNumbering::create(ImplicitLocOpBuilder &builder,
                                     scf::ForOp loop, ValueRange carried) {
  auto parallel =
      scf::ForOp::create(builder, loop.getLowerBound(), loop.getUpperBound(),
                         loop.getStep(), carried);
  parallel->setAttr(SparseAutogradDialect::getParallelAttrName(),
                    builder.getUnitAttr());
  return parallel;
}

void ParallelNumbering::count(ArrayRef<scf::ForOp> loops) {
  // Each begins with what the one before it ends with, and is used by nothing
  // else: in the place of the last one all bounds are there.
  scf::ForOp last = loops.back();
  ImplicitLocOpBuilder builder(last.getLoc(), rewriter);
  builder.setInsertionPoint(last);
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  end = zero;
  for (scf::ForOp loop : loops) {
    firsts[getPart(loop)] = end;
    Value length = arith::SubIOp::create(builder, loop.getUpperBound(),
                                         loop.getLowerBound());
    length = arith::MaxSIOp::create(builder, length, zero);
    end = arith::AddIOp::create(builder, end, length);
  }
  auto createList = [&](Value length) -> Value {
    return tensor::EmptyOp::create(builder, ArrayRef<OpFoldResult>{length},
                                   builder.getIndexType());
  };
  Value counts = createList(end);
  for (scf::ForOp loop : loops) {
    scf::ForOp parallel = create(builder, loop, counts);
    rewriter.mergeBlocks(loop.getBody(), parallel.getBody(),
                         {parallel.getInductionVar(), zero});
    Operation *yield = parallel.getBody()->getTerminator();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(yield);
    Value place = getPlace(builder, loop, parallel.getInductionVar());
    Value counted = tensor::InsertOp::create(
        builder, yield->getOperand(0), parallel.getRegionIterArg(0), place);
    yield->setOperands(counted);
    counts = parallel.getResult(0);
  }
  Value length = arith::AddIOp::create(builder, end, one);
  Value sums = createList(length);
  before =
      CountBeforeOp::create(builder, sums.getType(), counts, sums).getResult(0);
  rewriter.replaceAllUsesWith(
      last.getResult(0),
      tensor::ExtractOp::create(builder, before, end).getResult());
  for (scf::ForOp loop : llvm::reverse(loops))
    rewriter.eraseOp(loop);
}

void ParallelNumbering::begin(scf::ForOp loop) {
  ImplicitLocOpBuilder builder(loop.getLoc(), rewriter);
  builder.setInsertionPoint(loop);
  scf::ForOp parallel = create(builder, loop, loop.getInitArgs().drop_back());
  builder.setInsertionPointToStart(parallel.getBody());
  Value place = getPlace(builder, loop, parallel.getInductionVar());
  SmallVector<Value> arguments(parallel.getBody()->getArguments());
  arguments.push_back(tensor::ExtractOp::create(builder, before, place));
  rewriter.mergeBlocks(loop.getBody(), parallel.getBody(), arguments);
  Operation *yield = parallel.getBody()->getTerminator();
  yield->eraseOperand(yield->getNumOperands() - 1);
  for (auto [result, replacement] :
       llvm::zip(loop.getResults(), parallel.getResults()))
    rewriter.replaceAllUsesWith(result, replacement);
}

void sparse_autograd::makeNumberedLoopsParallel(Operation *root) {
  llvm::MapVector<Attribute, SmallVector<scf::ForOp>> groups;
  root->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (auto attr = loop->getAttrOfType<ArrayAttr>(numberedAttr))
      groups[attr[0]].push_back(loop);
  });
  IRRewriter rewriter(root->getContext());
  for (auto &[group, loops] : groups) {
    ParallelNumbering numbering(rewriter);
    // Those that count come first, and carry nothing else.
    size_t numCounting = llvm::count_if(
        loops, [](scf::ForOp loop) { return loop.getNumResults() == 1; });
    ArrayRef<scf::ForOp> all = loops;
    numbering.count(all.take_front(numCounting));
    ArrayRef<scf::ForOp> again = all.drop_front(numCounting);
    for (scf::ForOp loop : again)
      numbering.begin(loop);
    // The number that one ends with is what the next one began with.
    for (scf::ForOp loop : llvm::reverse(again))
      rewriter.eraseOp(loop);
  }
}
