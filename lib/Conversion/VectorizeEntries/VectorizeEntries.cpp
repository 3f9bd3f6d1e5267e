//===- VectorizeEntries.cpp - entries of rows in vectors ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vectorization of loops over the entries of one row. LLVM's vectors begin
// where a row has several of them, and most rows have fewer entries than one
// vector has lanes: here the last vector of a row is masked. Sums are added in
// an order that the length of the row alone decides.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/VectorizeEntries/VectorizeEntries.h"

#include "../Accesses.h"
#include "../CombineHalves.h"
#include "../LoopReductions.h"
#include "../NeutralElement.h"
#include "../Segments.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Target/TargetInfo.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_VECTORIZEENTRIES
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// The bytes of the longest vectors: most rows fill fewer.
static constexpr int64_t longestVector = 64;

namespace {
/// Makes vectors of the iterations of one loop.
class EntryVectors {
public:
  EntryVectors(scf::ForOp loop, RewriterBase &rewriter)
      : loop(loop), builder(loop.getLoc(), rewriter) {}

  /// Whether iterations may be done at once, and each op of the body is one on
  /// vectors, whose elements have at least `maskedBytes`.
  bool match(int64_t maskedBytes, AliasAnalysis &aliases);

  /// Replaces the loop by one of vectors that have `vectorBytes` at most.
  void rewrite(RewriterBase &rewriter, int64_t vectorBytes);

private:
  bool matchElement(Value memref, ValueRange indices, int64_t maskedBytes);
  bool matchOp(Operation &op, int64_t maskedBytes);
  bool matchCarried();
  bool isInvariant(Operation &op);
  VectorType getVectorType(Type element) const {
    return VectorType::get(lanes, element);
  }
  Value toVector(Value value, IRMapping &mapping);
  SmallVector<Value> emitStrip(Value place, Value mask, ValueRange carried);
  SmallVector<Value> emitLoop(Value begin, Value end, bool isMasked,
                              ValueRange carried);
  Value createNeutral(unsigned number);
  Value combine(unsigned number, Value left, Value right);
  Value combineLanes(unsigned number, Value vector);

  scf::ForOp loop;
  ImplicitLocOpBuilder builder;
  /// Of the elements that are loaded or stored.
  int64_t widestBytes = 0;
  int64_t lanes = 0;
  SmallVector<Operation *> combiners;
};
} // namespace

/// Whether the function is a few instructions on vectors of any width. Others
/// LLVM takes from a library of vector functions, which has some widths.
static bool isVectorFunction(Operation &op) {
  if (auto exponential = dyn_cast<math::ExpOp>(op))
    return exponential.getType().isF32();
  return isa<math::AbsFOp, math::AbsIOp, math::SqrtOp, math::FmaOp,
             math::CopySignOp>(op);
}

bool EntryVectors::matchElement(Value memref, ValueRange indices,
                                int64_t maskedBytes) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getRank() != 1 || !type.getLayout().isIdentity() ||
      indices.front() != loop.getInductionVar() ||
      !loop.isDefinedOutsideOfLoop(memref) ||
      !type.getElementType().isIntOrFloat())
    return false;
  int64_t bits = type.getElementTypeBitWidth();
  if ((bits != 32 && bits != 64) || bits / 8 < maskedBytes)
    return false;
  widestBytes = std::max(widestBytes, bits / 8);
  return true;
}

/// Whether `op` is the same in all iterations.
bool EntryVectors::isInvariant(Operation &op) {
  return isPure(&op) && op.getNumRegions() == 0 &&
         llvm::all_of(op.getOperands(), [&](Value operand) {
           return loop.isDefinedOutsideOfLoop(operand);
         });
}

bool EntryVectors::matchOp(Operation &op, int64_t maskedBytes) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return matchElement(load.getMemref(), load.getIndices(), maskedBytes);
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return matchElement(store.getMemref(), store.getIndices(), maskedBytes);
  if (isInvariant(op))
    return true;
  auto isNumber = [](Type type) { return type.isIntOrFloat(); };
  bool isFunction = isa_and_nonnull<math::MathDialect>(op.getDialect());
  return isPure(&op) && op.getNumRegions() == 0 &&
         OpTrait::hasElementwiseMappableTraits(&op) &&
         (!isFunction || isVectorFunction(op)) &&
         llvm::all_of(op.getOperandTypes(), isNumber) &&
         llvm::all_of(op.getResultTypes(), isNumber) &&
         !llvm::is_contained(op.getOperands(), loop.getInductionVar());
}

/// Whether what is carried is combined with something of each iteration.
bool EntryVectors::matchCarried() {
  for (unsigned number = 0; number < loop.getInitArgs().size(); ++number) {
    Operation *combiner = getCombiner(loop, number);
    BlockArgument carried = loop.getRegionIterArg(number);
    // Neither in a branch, nor after something else.
    if (!combiner || !carried.hasOneUse() ||
        *carried.getUsers().begin() != combiner ||
        loop.getYieldedValues()[number] != combiner->getResult(0) ||
        !carried.getType().isIntOrFloat())
      return false;
    combiners.push_back(combiner);
  }
  return true;
}

bool EntryVectors::match(int64_t maskedBytes, AliasAnalysis &aliases) {
  if (!matchCarried())
    return false;
  for (Operation &op : loop.getBody()->without_terminator())
    if (!matchOp(op, maskedBytes))
      return false;
  // Accesses of one buffer are at the place of the iteration.
  Accesses accesses = getAccesses(loop);
  return widestBytes != 0 &&
         !conflict(aliases, accesses, accesses,
                   [](const Access &one, const Access &other) {
                     return one.memref == other.memref;
                   });
}

Value EntryVectors::toVector(Value value, IRMapping &mapping) {
  Value vector = mapping.lookupOrDefault(value);
  if (isa<VectorType>(vector.getType()))
    return vector;
  return vector::BroadcastOp::create(builder, getVectorType(value.getType()),
                                     vector);
}

/// The iterations from `place` on, those of a mask if there is one.
SmallVector<Value> EntryVectors::emitStrip(Value place, Value mask,
                                           ValueRange carried) {
  IRMapping mapping;
  mapping.map(loop.getRegionIterArgs(), carried);
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      VectorType type = getVectorType(load.getType());
      Value padding = arith::ConstantOp::create(
          builder, cast<TypedAttr>(builder.getZeroAttr(type)));
      Value vector =
          mask ? vector::MaskedLoadOp::create(builder, type, load.getMemref(),
                                              place, mask, padding)
                     .getResult()
               : vector::LoadOp::create(builder, type, load.getMemref(), place)
                     .getResult();
      mapping.map(load.getResult(), vector);
      continue;
    }
    if (auto store = dyn_cast<memref::StoreOp>(op)) {
      Value vector = toVector(store.getValue(), mapping);
      if (mask)
        vector::MaskedStoreOp::create(builder, store.getMemref(), place, mask,
                                      vector);
      else
        vector::StoreOp::create(builder, vector, store.getMemref(), place);
      continue;
    }
    if (isInvariant(op)) {
      builder.clone(op, mapping);
      continue;
    }
    IRMapping operands;
    for (Value operand : op.getOperands())
      operands.map(operand, toVector(operand, mapping));
    auto *combiner = llvm::find(combiners, &op);
    if (mask && combiner != combiners.end()) {
      // Lanes beyond the end combine nothing.
      unsigned number = std::distance(combiners.begin(), combiner);
      Value accumulator = loop.getRegionIterArg(number);
      for (Value operand : op.getOperands())
        if (operand != accumulator)
          operands.map(operand, arith::SelectOp::create(
                                    builder, mask, operands.lookup(operand),
                                    createNeutral(number)));
    }
    Operation *vector = builder.clone(op, operands);
    for (auto [result, scalar] :
         llvm::zip_equal(vector->getResults(), op.getResults())) {
      result.setType(getVectorType(scalar.getType()));
      mapping.map(scalar, result);
    }
  }
  return llvm::map_to_vector(loop.getYieldedValues(), [&](Value value) {
    return toVector(value, mapping);
  });
}

/// Vectors of the iterations from `begin` to `end`; the last one is masked if
/// `isMasked`, else they are whole.
SmallVector<Value> EntryVectors::emitLoop(Value begin, Value end, bool isMasked,
                                          ValueRange carried) {
  Value step = arith::ConstantIndexOp::create(builder, lanes);
  auto strips = scf::ForOp::create(builder, begin, end, step, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(strips.getBody());
  Value mask;
  if (isMasked) {
    Value left = arith::SubIOp::create(builder, end, strips.getInductionVar());
    mask = vector::CreateMaskOp::create(
        builder, getVectorType(builder.getI1Type()), left);
  }
  SmallVector<Value> next =
      emitStrip(strips.getInductionVar(), mask, strips.getRegionIterArgs());
  // Without carried values the loop comes with its terminator.
  if (!next.empty())
    scf::YieldOp::create(builder, next);
  return SmallVector<Value>(strips.getResults());
}

Value EntryVectors::createNeutral(unsigned number) {
  auto neutral = cast<TypedAttr>(getNeutralElement(combiners[number]));
  return arith::ConstantOp::create(
      builder,
      DenseElementsAttr::get(getVectorType(neutral.getType()), neutral));
}

/// A copy of the combiner of `number` for two values, scalars or vectors.
Value EntryVectors::combine(unsigned number, Value left, Value right) {
  Operation *combiner = combiners[number];
  Operation *copy = builder.clone(*combiner);
  copy->setOperands({left, right});
  copy->getResult(0).setType(left.getType());
  return copy->getResult(0);
}

/// What the lanes of `vector` are together.
Value EntryVectors::combineLanes(unsigned number, Value vector) {
  vector = combineHalves(
      builder, builder.getLoc(), vector, /*count=*/1,
      [&](Value one, Value two) { return combine(number, one, two); });
  return vector::ExtractOp::create(builder, vector, 0);
}

void EntryVectors::rewrite(RewriterBase &rewriter, int64_t vectorBytes) {
  lanes = vectorBytes / widestBytes;
  builder.setInsertionPoint(loop);
  Value begin = loop.getLowerBound(), end = loop.getUpperBound();
  Value count = arith::SubIOp::create(builder, end, begin);
  Value rest = arith::AndIOp::create(
      builder, count, arith::ConstantIndexOp::create(builder, lanes - 1));
  Value endOfWhole = arith::SubIOp::create(builder, end, rest);
  SmallVector<Value> vectors;
  for (unsigned number = 0; number < combiners.size(); ++number)
    vectors.push_back(createNeutral(number));
  vectors = emitLoop(begin, endOfWhole, /*isMasked=*/false, vectors);
  vectors = emitLoop(endOfWhole, end, /*isMasked=*/true, vectors);
  SmallVector<Value> results;
  for (auto [number, vector] : llvm::enumerate(vectors))
    results.push_back(combine(number, loop.getInitArgs()[number],
                              combineLanes(number, vector)));
  rewriter.replaceOp(loop, results);
}

namespace {
struct VectorizeEntriesPass
    : sparse_autograd::impl::VectorizeEntriesBase<VectorizeEntriesPass> {
  using VectorizeEntriesBase::VectorizeEntriesBase;

  void runOnOperation() override {
    int64_t maskedBytes =
        getCPU(getOperation()->getParentOfType<ModuleOp>()).getMaskedBytes();
    uint64_t bytes = llvm::bit_floor<uint64_t>(
        std::clamp<int64_t>(vectorBytes, 0, longestVector));
    if (maskedBytes == 0 || bytes < 2 * sizeof(double))
      return;
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      auto rows = loop->getParentOfType<scf::ForOp>();
      if (rows && getPositions(loop.getInductionVar(), rows.getInductionVar()))
        loops.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    AliasAnalysis aliases(getOperation());
    for (scf::ForOp loop : loops) {
      EntryVectors vectors(loop, rewriter);
      if (vectors.match(maskedBytes, aliases))
        vectors.rewrite(rewriter, bytes);
    }
  }
};
} // namespace
