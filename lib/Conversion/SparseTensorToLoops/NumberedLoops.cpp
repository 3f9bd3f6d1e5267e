//===- NumberedLoops.cpp - loops that number what they visit --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NumberedLoops.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Noting
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

//===----------------------------------------------------------------------===//
// Making parallel
//===----------------------------------------------------------------------===//

namespace {
/// A loop over a part, which has a number.
struct PartLoop {
  size_t part;
  scf::ForOp loop;
};

/// The loops of one group.
class ParallelNumbering {
public:
  explicit ParallelNumbering(RewriterBase &rewriter) : rewriter(rewriter) {}

  /// Replaces the loops that count, of one part each.
  void count(ArrayRef<PartLoop> loops);
  /// Replaces a loop that visits a part again, but for its number; the loop is
  /// to be erased.
  void begin(const PartLoop &part);

private:
  /// The number of an iteration among those of all parts.
  Value getPlace(ImplicitLocOpBuilder &builder, const PartLoop &part,
                 Value iteration);
  scf::ForOp create(ImplicitLocOpBuilder &builder, scf::ForOp loop,
                    ValueRange carried);

  RewriterBase &rewriter;
  /// Of each part, the number of its first iteration; that of the one behind
  /// the last part.
  llvm::DenseMap<size_t, Value> firsts;
  Value end;
  /// How many elements there are before each iteration.
  Value before;
};
} // namespace

Value ParallelNumbering::getPlace(ImplicitLocOpBuilder &builder,
                                  const PartLoop &part, Value iteration) {
  scf::ForOp loop = part.loop;
  Value inPart =
      arith::SubIOp::create(builder, iteration, loop.getLowerBound());
  return arith::AddIOp::create(builder, firsts[part.part], inPart);
}

/// A parallel loop like `loop`, without a body.
scf::ForOp ParallelNumbering::create(ImplicitLocOpBuilder &builder,
                                     scf::ForOp loop, ValueRange carried) {
  auto parallel =
      scf::ForOp::create(builder, loop.getLowerBound(), loop.getUpperBound(),
                         loop.getStep(), carried);
  setParallel(parallel);
  return parallel;
}

void ParallelNumbering::count(ArrayRef<PartLoop> loops) {
  // Each begins with what the one before it ends with, and is used by nothing
  // else: in the place of the last one all bounds are there.
  scf::ForOp last = loops.back().loop;
  ImplicitLocOpBuilder builder(last.getLoc(), rewriter);
  builder.setInsertionPoint(last);
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  end = zero;
  for (auto [part, loop] : loops) {
    firsts[part] = end;
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
  for (const PartLoop &part : loops) {
    scf::ForOp loop = part.loop;
    scf::ForOp parallel = create(builder, loop, counts);
    rewriter.mergeBlocks(loop.getBody(), parallel.getBody(),
                         {parallel.getInductionVar(), zero});
    Operation *yield = parallel.getBody()->getTerminator();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(yield);
    Value place = getPlace(builder, part, parallel.getInductionVar());
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
  for (const PartLoop &part : llvm::reverse(loops))
    rewriter.eraseOp(part.loop);
}

void ParallelNumbering::begin(const PartLoop &part) {
  scf::ForOp loop = part.loop;
  ImplicitLocOpBuilder builder(loop.getLoc(), rewriter);
  builder.setInsertionPoint(loop);
  scf::ForOp parallel = create(builder, loop, loop.getInitArgs().drop_back());
  builder.setInsertionPointToStart(parallel.getBody());
  Value place = getPlace(builder, part, parallel.getInductionVar());
  SmallVector<Value> arguments(parallel.getBody()->getArguments());
  arguments.push_back(tensor::ExtractOp::create(builder, before, place));
  rewriter.mergeBlocks(loop.getBody(), parallel.getBody(), arguments);
  Operation *yield = parallel.getBody()->getTerminator();
  yield->eraseOperand(yield->getNumOperands() - 1);
  for (auto [result, replacement] :
       llvm::zip(loop.getResults(), parallel.getResults()))
    rewriter.replaceAllUsesWith(result, replacement);
}

void NumberedLoops::makeParallel(RewriterBase &rewriter) {
  if (!areLoops)
    return;
  auto getLoops = [](ArrayRef<scf::ForOp> parts) {
    SmallVector<PartLoop> loops;
    for (auto [number, loop] : llvm::enumerate(parts))
      if (loop)
        loops.push_back({number, loop});
    return loops;
  };
  SmallVector<PartLoop> counting = getLoops(visits.front());
  if (counting.empty())
    return;
  SmallVector<PartLoop> again;
  for (size_t visit = 1; visit < areApart.size(); ++visit)
    if (areApart[visit])
      llvm::append_range(again, getLoops(visits[visit]));
  ParallelNumbering numbering(rewriter);
  numbering.count(counting);
  for (const PartLoop &part : again)
    numbering.begin(part);
  // The number that one ends with is what the next one began with.
  for (const PartLoop &part : llvm::reverse(again))
    rewriter.eraseOp(part.loop);
}
