//===- LinalgToLoops.cpp - linalg on memrefs to loops -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides which loop of a nest is cut into chunks, and emits the nest and what
// a cut reduction needs around it. A nest's loops are those of LoopNest.h.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/LinalgToLoops/LinalgToLoops.h"

#include "../NeutralElement.h"
#include "Combiner.h"
#include "DeviceProducts.h"
#include "LoopNest.h"
#include "LoopOrder.h"
#include "SparseAutograd/Analysis/ArithmeticCost.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Target/TargetInfo.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_LINALGTOLOOPS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// Columns of a block where a loop inside a reduction is cut: long enough for
/// vectors, and with whole cache lines at both ends.
constexpr int64_t columnBlock = 256;

/// How a nest is cut.
struct Cut {
  enum Kind {
    None,   ///< not at all
    Domain, ///< a parallel loop: chunks write to different places
    Reduce  ///< a reduction: chunks have partial results
  };
  Kind kind = None;
  unsigned dimension = 0;
  /// Why it is not, for a remark.
  std::string whyNone = "";

  static Cut none(const Twine &why) { return {None, 0, why.str()}; }
};

class Lowering {
public:
  Lowering(const LinalgToLoopsOptions &options, IRRewriter &rewriter)
      : options(options), rewriter(rewriter) {}

  void lower(linalg::LinalgOp op, bool mayCut);

  /// Lowers a contraction, if tiles of a device compute it.
  bool lowerForTiles(linalg::LinalgOp op);

private:
  LoopNest createNest(linalg::LinalgOp op, ArrayRef<unsigned> order) {
    return LoopNest(op, order, rewriter, /*isForVectors=*/!options.forDevice);
  }
  Cut chooseCut(linalg::LinalgOp op, ArrayRef<unsigned> order) const;
  Cut chooseReduction(linalg::LinalgOp op, ArrayRef<unsigned> apart,
                      ArrayRef<unsigned> inner) const;
  void emitCut(linalg::LinalgOp op, ArrayRef<unsigned> order,
               ArrayRef<unsigned> apart, Cut cut);
  void emitIndependent(linalg::LinalgOp op, ArrayRef<unsigned> order,
                       unsigned dimension);
  void lowerForDevice(linalg::LinalgOp op, ArrayRef<unsigned> order,
                      bool mayCut);
  Value computeChunk(linalg::LinalgOp op, const LoopNest &nest, Cut cut);
  void fill(Location loc, Value buffer, TypedAttr element);
  void combinePartials(linalg::LinalgOp op, unsigned output, Value partials);

  const LinalgToLoopsOptions &options;
  IRRewriter &rewriter;
};

} // namespace

/// What an iteration costs, in about the time of an addition.
static int64_t estimateIterationCost(linalg::LinalgOp op) {
  int64_t cost = 1;
  op.getBlock()->walk(
      [&](Operation *inner) { cost += getCostBesideMemory(*inner); });
  return cost;
}

/// The outputs that are the same for all iterations of loop `dimension`.
static SmallVector<unsigned> getReducedOutputs(linalg::LinalgOp op,
                                               unsigned dimension) {
  SmallVector<unsigned> reduced;
  for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable()))
    if (!op.getMatchingIndexingMap(&init).isFunctionOfDim(dimension))
      reduced.push_back(i);
  return reduced;
}

/// Whether each iteration of loop `dimension` writes to places of its own.
static bool separates(linalg::LinalgOp op, unsigned dimension) {
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    return map.isProjectedPermutation() && map.isFunctionOfDim(dimension);
  });
}

/// Whether chunks of loop `dimension` can have partial results.
static bool canHavePartials(linalg::LinalgOp op, unsigned dimension) {
  for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (!map.isProjectedPermutation() ||
        (!map.isFunctionOfDim(dimension) && !getCombiner(op, i)))
      return false;
  }
  return true;
}

/// The outermost loop that has more than one iteration, or the first one.
static unsigned getOutermost(linalg::LinalgOp op, ArrayRef<unsigned> order) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (unsigned loop : order)
    if (extents[loop] != 1)
      return loop;
  return order.front();
}

Cut Lowering::chooseCut(linalg::LinalgOp op, ArrayRef<unsigned> order) const {
  if (order.empty())
    return {};
  if (!options.parallel)
    return Cut::none("no chunks are asked for");
  // A loop already inside a parallel one would run sequentially anyway.
  if (op->getParentOfType<scf::ParallelOp>())
    return Cut::none("a loop around is parallel");
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t work = estimateIterationCost(op);
  bool isStatic = true;
  for (int64_t extent : extents) {
    isStatic &= !ShapedType::isDynamic(extent);
    if (isStatic && llvm::MulOverflow(work, extent, work))
      work = std::numeric_limits<int64_t>::max();
  }
  if (isStatic && work < 2 * options.chunkWork)
    return Cut::none("its work, " + Twine(work) +
                     ", is less than two chunks of " +
                     Twine(options.chunkWork));

  unsigned outer = getOutermost(op, order);
  if (separates(op, outer))
    return {Cut::Domain, outer, ""};

  // A reduction outside, as in a sum over the rows of a matrix: blocks of
  // columns, if there are many; else each chunk of rows has partial sums.
  for (unsigned loop : order)
    if (separates(op, loop) && !ShapedType::isDynamic(extents[loop]) &&
        extents[loop] >= 8 * columnBlock)
      return {Cut::Domain, loop, ""};
  if (canHavePartials(op, outer))
    return {Cut::Reduce, outer, ""};
  for (unsigned loop : order)
    if (extents[loop] != 1 && separates(op, loop))
      return {Cut::Domain, loop, ""};
  return Cut::none(
      "iterations write to the same places, and no partial results "
      "of chunks can be combined");
}

/// Says how a nest is cut.
static void remarkCut(linalg::LinalgOp op, ArrayRef<unsigned> order,
                      ArrayRef<unsigned> apart, const Cut &cut) {
  if (order.empty() || !hasRemarks(op.getContext()))
    return;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), extents;
  for (unsigned loop : order)
    extents.push_back(ranges[loop]);
  std::string text = "nest of " + describeExtents(extents) + ": ";
  if (cut.kind == Cut::None && apart.empty()) {
    remarkDeclined(op.getLoc(), op, "dense",
                   text + "not parallel, since " + cut.whyNone);
    return;
  }
  llvm::raw_string_ostream stream(text);
  if (!apart.empty()) {
    stream << "all iterations of dimension ";
    llvm::interleaveComma(apart, stream);
    stream << " in parallel" << (cut.kind == Cut::None ? "" : ", and ");
  }
  if (cut.kind == Cut::Domain)
    stream << "chunks of dimension " << cut.dimension << " in parallel";
  if (cut.kind == Cut::Reduce)
    stream << "partial results of chunks of dimension " << cut.dimension
           << " in parallel";
  remarkChosen(op.getLoc(), op, "dense", text);
}

/// How many iterations of the cut loop a chunk has: enough to be worth it, and
/// not so few that there are more partial results than allowed. A function of
/// the extents alone.
Value Lowering::computeChunk(linalg::LinalgOp op, const LoopNest &nest,
                             Cut cut) {
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  AffineExpr s0 = getAffineSymbolExpr(0, context);
  AffineExpr s1 = getAffineSymbolExpr(1, context);
  OpFoldResult inner = rewriter.getIndexAttr(estimateIterationCost(op));
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (loop != cut.dimension)
      inner = affine::makeComposedFoldedAffineApply(
          rewriter, loc, AffineMap::get(0, 2, s0 * s1),
          {inner, nest.getExtent(loop)});
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value work = getValueOrCreateConstantIndexOp(rewriter, loc, inner);
  work = arith::MaxSIOp::create(rewriter, loc, work, one);
  Value wanted =
      arith::ConstantIndexOp::create(rewriter, loc, options.chunkWork);
  Value chunk = arith::CeilDivSIOp::create(rewriter, loc, wanted, work);
  if (cut.kind == Cut::Reduce) {
    Value extent = getValueOrCreateConstantIndexOp(
        rewriter, loc, nest.getExtent(cut.dimension));
    Value partials =
        arith::ConstantIndexOp::create(rewriter, loc, options.maximalPartials);
    chunk = arith::MaxSIOp::create(
        rewriter, loc, chunk,
        arith::CeilDivSIOp::create(rewriter, loc, extent, partials));
  } else if (nest.getOrder().front() != cut.dimension) {
    // The cut loop is an inner one: whole vectors and cache lines.
    Value block = arith::ConstantIndexOp::create(rewriter, loc, columnBlock);
    chunk = arith::MaxSIOp::create(rewriter, loc, chunk, block);
  }
  return chunk;
}

void Lowering::fill(Location loc, Value buffer, TypedAttr element) {
  Value constant = arith::ConstantOp::create(rewriter, loc, element);
  auto op = linalg::FillOp::create(rewriter, loc, constant, buffer);
  lower(cast<linalg::LinalgOp>(op.getOperation()), /*mayCut=*/false);
}

/// output = combine(output, partials[0], partials[1], ...).
void Lowering::combinePartials(linalg::LinalgOp op, unsigned output,
                               Value partials) {
  OpOperand *init = op.getDpsInitOperand(output);
  int64_t rank = cast<MemRefType>(init->get().getType()).getRank();
  Operation *combiner = getCombiner(op, output);
  SmallVector<utils::IteratorType> iterators(rank + 1,
                                             utils::IteratorType::parallel);
  iterators.front() = utils::IteratorType::reduction;
  AffineMap identity = rewriter.getMultiDimIdentityMap(rank + 1);
  auto combine = linalg::GenericOp::create(
      rewriter, op.getLoc(), partials, init->get(),
      ArrayRef<AffineMap>{identity, identity.dropResult(0)}, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        BlockArgument accumulator = op.getRegionOutputArgs()[output];
        IRMapping mapping;
        for (Value operand : combiner->getOperands())
          mapping.map(operand, arguments[operand == accumulator ? 1 : 0]);
        Operation *clone = builder.clone(*combiner, mapping);
        linalg::YieldOp::create(builder, loc, clone->getResults());
      });
  lower(cast<linalg::LinalgOp>(combine.getOperation()), /*mayCut=*/false);
}

/// A parallel loop over the iterations of the loops `apart`, each of which
/// separates, and over the chunks of `cut`, if it has any.
void Lowering::emitCut(linalg::LinalgOp op, ArrayRef<unsigned> order,
                       ArrayRef<unsigned> apart, Cut cut) {
  Location loc = op.getLoc();
  LoopNest nest = createNest(op, order);
  auto getExtent = [&](unsigned dimension) {
    return getValueOrCreateConstantIndexOp(rewriter, loc,
                                           nest.getExtent(dimension));
  };
  Value extent, chunk, count;
  SmallVector<Value> counts;
  if (cut.kind != Cut::None) {
    extent = getExtent(cut.dimension);
    chunk = computeChunk(op, nest, cut);
    count = arith::CeilDivSIOp::create(rewriter, loc, extent, chunk);
    counts.push_back(count);
  }
  for (unsigned dimension : apart)
    counts.push_back(getExtent(dimension));

  SmallVector<unsigned> reduced;
  SmallVector<Value> partials;
  if (cut.kind == Cut::Reduce)
    reduced = getReducedOutputs(op, cut.dimension);
  for (unsigned output : reduced) {
    Value buffer = op.getDpsInitOperand(output)->get();
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<int64_t> shape = {ShapedType::kDynamic};
    llvm::append_range(shape, type.getShape());
    SmallVector<Value> sizes = {count};
    for (int64_t i = 0; i < type.getRank(); ++i)
      if (type.isDynamicDim(i))
        sizes.push_back(memref::DimOp::create(rewriter, loc, buffer, i));
    partials.push_back(memref::AllocOp::create(
        rewriter, loc,
        MemRefType::get(shape, type.getElementType(),
                        MemRefLayoutAttrInterface(), type.getMemorySpace()),
        sizes));
    // An iteration of several to a chunk has no chunk to fill.
    if (!apart.empty())
      fill(loc, partials.back(), getNeutralElement(getCombiner(op, output)));
  }

  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  auto loop = scf::ParallelOp::create(
      rewriter, loc, SmallVector<Value>(counts.size(), zero), counts,
      SmallVector<Value>(counts.size(), one));
  {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> variables(loop.getInductionVars());
    Value index = variables.front();
    if (cut.kind != Cut::None) {
      Value begin = arith::MulIOp::create(rewriter, loc, index, chunk);
      Value end = arith::MinSIOp::create(
          rewriter, loc, arith::AddIOp::create(rewriter, loc, begin, chunk),
          extent);
      nest.setRange(cut.dimension, begin, end);
    }
    for (auto [dimension, variable] :
         llvm::zip_equal(apart, ArrayRef(variables).take_back(apart.size())))
      nest.setIndex(dimension, variable);
    for (auto [output, partial] : llvm::zip_equal(reduced, partials)) {
      Value buffer = op.getDpsInitOperand(output)->get();
      int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
      SmallVector<OpFoldResult> offsets(rank + 1, rewriter.getIndexAttr(0));
      SmallVector<OpFoldResult> strides(rank + 1, rewriter.getIndexAttr(1));
      SmallVector<OpFoldResult> sizes =
          memref::getMixedSizes(rewriter, loc, partial);
      SmallVector<OpFoldResult> extents(llvm::drop_begin(sizes));
      offsets.front() = index;
      sizes.front() = rewriter.getIndexAttr(1);
      SmallVector<int64_t> shape(cast<MemRefType>(buffer.getType()).getShape());
      auto type = memref::SubViewOp::inferRankReducedResultType(
          shape, cast<MemRefType>(partial.getType()), offsets, sizes, strides);
      Value own = memref::SubViewOp::create(rewriter, loc, type, partial,
                                            offsets, sizes, strides);
      if (apart.empty())
        fill(loc, own, getNeutralElement(getCombiner(op, output)));
      nest.setOutput(output, own);
    }
    nest.emit(rewriter);
  }
  for (auto [output, partial] : llvm::zip_equal(reduced, partials)) {
    combinePartials(op, output, partial);
    memref::DeallocOp::create(rewriter, loc, partial);
  }
}

/// The loops in `order`, of which that of `dimension` is parallel; those before
/// it have one iteration.
void Lowering::emitIndependent(linalg::LinalgOp op, ArrayRef<unsigned> order,
                               unsigned dimension) {
  LoopNest nest = createNest(op, order);
  Value zero = arith::ConstantIndexOp::create(rewriter, op.getLoc(), 0);
  for (unsigned loop :
       order.take_until([&](unsigned loop) { return loop == dimension; }))
    nest.setIndex(loop, zero);
  nest.setParallel(dimension);
  nest.emit(rewriter);
}

/// A device has more threads than most results have elements: of a sum to few
/// of them, chunks along the longest loop have partial sums.
Cut Lowering::chooseReduction(linalg::LinalgOp op, ArrayRef<unsigned> apart,
                              ArrayRef<unsigned> inner) const {
  constexpr int64_t enoughElements = genericGPU.getBusyWarps(), longLoop = 256;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t elements = 1;
  for (unsigned loop : apart) {
    if (ShapedType::isDynamic(extents[loop]) ||
        elements * extents[loop] >= enoughElements)
      return Cut::none("its results are enough for all threads");
    elements *= std::max<int64_t>(1, extents[loop]);
  }
  Cut cut = Cut::none("its sums are short, or cannot be combined");
  int64_t longest = longLoop;
  for (unsigned loop : inner) {
    int64_t extent = ShapedType::isDynamic(extents[loop])
                         ? std::numeric_limits<int64_t>::max()
                         : extents[loop];
    if (extent > longest && canHavePartials(op, loop)) {
      cut = {Cut::Reduce, loop, ""};
      longest = extent;
    }
  }
  return cut;
}

void Lowering::lowerForDevice(linalg::LinalgOp op, ArrayRef<unsigned> order,
                              bool mayCut) {
  SmallVector<unsigned> apart, inner;
  for (unsigned loop : order)
    (separates(op, loop) ? apart : inner).push_back(loop);
  Cut cut = mayCut ? chooseReduction(op, apart, inner) : Cut();
  SmallVector<unsigned> all(apart);
  llvm::append_range(all, inner);
  if (mayCut)
    remarkCut(op, order, apart, cut);
  if (apart.empty() && cut.kind == Cut::None)
    createNest(op, all).emit(rewriter);
  else
    emitCut(op, all, apart, cut);
}

bool Lowering::lowerForTiles(linalg::LinalgOp op) {
  std::optional<Contraction> contraction = matchContraction(op);
  if (!contraction)
    return false;
  contraction = collapseTerms(rewriter, *contraction);
  op = contraction->op;
  std::string declined;
  const ContractionStrategy *strategy = chooseTiles(*contraction, declined);
  SmallVector<unsigned> order = chooseLoopOrder(op), apart, inner;
  for (unsigned loop : order)
    (separates(op, loop) ? apart : inner).push_back(loop);
  if (strategy && chooseReduction(op, apart, inner).kind != Cut::None) {
    strategy = nullptr;
    declined = "no tiles: its sums are few, and cut into chunks";
  }
  remarkContraction(*contraction, strategy, declined);
  if (!strategy)
    return false;
  emitInnerProducts(rewriter, *contraction, order);
  rewriter.eraseOp(op);
  return true;
}

void Lowering::lower(linalg::LinalgOp op, bool mayCut) {
  OpBuilder::InsertionGuard guard(rewriter);
  normalizeCombiners(op, rewriter);
  SmallVector<unsigned> order = chooseLoopOrder(op);
  rewriter.setInsertionPoint(op);
  Cut cut = mayCut && !options.forDevice ? chooseCut(op, order) : Cut();
  if (mayCut && !options.forDevice)
    remarkCut(op, order, /*apart=*/{}, cut);
  if (options.forDevice && !op->getParentOfType<scf::ParallelOp>())
    lowerForDevice(op, order, mayCut);
  else if (cut.kind == Cut::None)
    createNest(op, order).emit(rewriter);
  else if (cut.kind == Cut::Domain && cut.dimension == getOutermost(op, order))
    emitIndependent(op, order, cut.dimension);
  else
    emitCut(op, order, /*apart=*/{}, cut);
  rewriter.setInsertionPointAfter(op);
  rewriter.eraseOp(op);
}

namespace {
struct LinalgToLoopsPass
    : sparse_autograd::impl::LinalgToLoopsBase<LinalgToLoopsPass> {
  using LinalgToLoopsBase::LinalgToLoopsBase;

  void runOnOperation() override {
    LinalgToLoopsOptions options;
    options.chunkWork = std::max<int64_t>(1, chunkWork);
    options.maximalPartials = std::max<int64_t>(1, maximalPartials);
    options.parallel = parallel;
    options.forDevice = forDevice;

    IRRewriter rewriter(&getContext());
    // Copies between layouts would call a function that the runtime has not;
    // as loops they vectorize too.
    getOperation()->walk([&](memref::CopyOp copy) {
      auto source = dyn_cast<MemRefType>(copy.getSource().getType());
      auto target = dyn_cast<MemRefType>(copy.getTarget().getType());
      if (!source || !target ||
          (source.getLayout().isIdentity() && target.getLayout().isIdentity()))
        return;
      rewriter.setInsertionPoint(copy);
      linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(),
                               copy.getTarget());
      rewriter.eraseOp(copy);
    });

    WalkResult result = getOperation()->walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics())
        return WalkResult::advance();
      op.emitError("is not on buffers; bufferize before lowering to loops");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    Lowering lowering(options, rewriter);
    // First, while what they begin with is still a fill.
    if (forDevice)
      for (linalg::LinalgOp op : collect())
        lowering.lowerForTiles(op);
    for (linalg::LinalgOp op : collect())
      lowering.lower(op, /*mayCut=*/true);
  }

private:
  SmallVector<linalg::LinalgOp> collect() {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    return ops;
  }
};
} // namespace
