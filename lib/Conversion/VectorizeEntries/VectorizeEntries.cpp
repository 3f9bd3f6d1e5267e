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
// an order that the length of the row alone decides. Maxima and minima are
// those of integers (OrderedKey.h): one instruction where that of floats, which
// keeps a NaN and the sign of a zero, is six that wait for each other.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/VectorizeEntries/VectorizeEntries.h"

#include "../Accesses.h"
#include "../CombineHalves.h"
#include "../LoopReductions.h"
#include "../NeutralElement.h"
#include "../OrderedKey.h"
#include "../Segments.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
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

  /// Why iterations may not be done at once, or which op of the body is none on
  /// vectors whose elements have at least `maskedBytes`; empty if there is
  /// nothing against vectors.
  std::string match(int64_t maskedBytes, AliasAnalysis &aliases);

  /// The elements of vectors that have `vectorBytes` at most.
  int64_t getLanes(int64_t vectorBytes) const {
    return vectorBytes / widestBytes;
  }
  /// Replaces the loop by one of vectors of `numLanes` elements.
  void rewrite(RewriterBase &rewriter, int64_t numLanes);

private:
  bool matchElement(Value memref, ValueRange indices, int64_t maskedBytes);
  bool matchOp(Operation &op, int64_t maskedBytes);
  bool matchCarried();
  bool isInvariant(Operation &op);
  VectorType getVectorType(Type element) const {
    return VectorType::get(lanes, element);
  }
  Value toVector(Value value, IRMapping &mapping);
  /// Whether what `number` carries are the keys of floats.
  bool isKey(unsigned number) const { return isExtremum(combiners[number]); }
  SmallVector<Value> emitStrip(Value place, Value mask, ValueRange carried);
  SmallVector<Value> emitWhole(Value begin, Value end, ValueRange carried);
  SmallVector<Value> emitRest(Value begin, Value count, ValueRange carried);
  Value createMask(Value count);
  Value createNeutral(unsigned number);
  Value createStart(unsigned number);
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

std::string EntryVectors::match(int64_t maskedBytes, AliasAnalysis &aliases) {
  if (!matchCarried())
    return "what it carries is not combined in any order";
  for (Operation &op : loop.getBody()->without_terminator())
    if (!matchOp(op, maskedBytes))
      return ("vectors have no form of " + op.getName().getStringRef() +
              ", or of what it takes")
          .str();
  // Accesses of one buffer are at the place of the iteration.
  Accesses accesses = getAccesses(loop);
  if (widestBytes == 0)
    return "it accesses no list";
  if (conflict(aliases, accesses, accesses,
               [](const Access &one, const Access &other) {
                 return one.memref == other.memref;
               }))
    return "lists may overlap, of which one is written";
  return "";
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
    if (combiner != combiners.end()) {
      unsigned number = std::distance(combiners.begin(), combiner);
      Value accumulator = loop.getRegionIterArg(number);
      Value term = op.getOperand(op.getOperand(0) == accumulator ? 1 : 0);
      Value vector = operands.lookup(term);
      // Lanes beyond the end combine nothing.
      if (mask)
        vector = arith::SelectOp::create(builder, mask, vector,
                                         createNeutral(number));
      if (isKey(number))
        vector = encodeKey(builder, builder.getLoc(), &op, vector);
      mapping.map(op.getResult(0),
                  combine(number, operands.lookup(accumulator), vector));
      continue;
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

/// Whole vectors of the iterations from `begin` to `end`.
SmallVector<Value> EntryVectors::emitWhole(Value begin, Value end,
                                           ValueRange carried) {
  Value step = arith::ConstantIndexOp::create(builder, lanes);
  auto strips = scf::ForOp::create(builder, begin, end, step, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(strips.getBody());
  SmallVector<Value> next = emitStrip(strips.getInductionVar(), /*mask=*/{},
                                      strips.getRegionIterArgs());
  // Without carried values the loop comes with its terminator.
  if (!next.empty())
    scf::YieldOp::create(builder, next);
  return SmallVector<Value>(strips.getResults());
}

/// The first `count` lanes, which are fewer than all. Integers of 32 bits
/// compare as many lanes at once as a vector has elements.
Value EntryVectors::createMask(Value count) {
  SmallVector<int32_t> numbers = llvm::to_vector(
      llvm::map_range(llvm::seq<int64_t>(lanes),
                      [](int64_t lane) { return static_cast<int32_t>(lane); }));
  auto type = getVectorType(builder.getI32Type());
  Value places = arith::ConstantOp::create(
      builder, DenseElementsAttr::get(type, ArrayRef(numbers)));
  Value narrow =
      arith::IndexCastOp::create(builder, builder.getI32Type(), count);
  return arith::CmpIOp::create(
      builder, arith::CmpIPredicate::ult, places,
      vector::BroadcastOp::create(builder, type, narrow));
}

/// A masked vector of the `count` iterations from `begin` on, if there are any.
SmallVector<Value> EntryVectors::emitRest(Value begin, Value count,
                                          ValueRange carried) {
  // Before the branch: all loops over a row have the same mask.
  Value mask = createMask(count);
  Value none = arith::ConstantIndexOp::create(builder, 0);
  Value hasRest =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, count, none);
  auto rest = scf::IfOp::create(builder, carried.getTypes(), hasRest,
                                /*withElseRegion=*/!carried.empty());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(rest.thenBlock());
  SmallVector<Value> next = emitStrip(begin, mask, carried);
  if (next.empty())
    return {};
  scf::YieldOp::create(builder, next);
  builder.setInsertionPointToStart(rest.elseBlock());
  scf::YieldOp::create(builder, carried);
  return SmallVector<Value>(rest.getResults());
}

Value EntryVectors::createNeutral(unsigned number) {
  auto neutral = cast<TypedAttr>(getNeutralElement(combiners[number]));
  return arith::ConstantOp::create(
      builder,
      DenseElementsAttr::get(getVectorType(neutral.getType()), neutral));
}

/// What a vector of `number` starts with.
Value EntryVectors::createStart(unsigned number) {
  Value neutral = createNeutral(number);
  return isKey(number)
             ? encodeKey(builder, builder.getLoc(), combiners[number], neutral)
             : neutral;
}

/// What the combiner of `number` makes of two vectors, or of keys.
Value EntryVectors::combine(unsigned number, Value left, Value right) {
  Operation *combiner = combiners[number];
  if (isKey(number))
    return combineKeys(builder, builder.getLoc(), combiner, left, right);
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
  Value all = vector::ExtractOp::create(builder, vector, 0);
  return isKey(number)
             ? decodeKey(builder, builder.getLoc(), combiners[number], all)
             : all;
}

void EntryVectors::rewrite(RewriterBase &rewriter, int64_t numLanes) {
  lanes = numLanes;
  builder.setInsertionPoint(loop);
  Value begin = loop.getLowerBound(), end = loop.getUpperBound();
  Value count = arith::SubIOp::create(builder, end, begin);
  Value rest = arith::AndIOp::create(
      builder, count, arith::ConstantIndexOp::create(builder, lanes - 1));
  Value endOfWhole = arith::SubIOp::create(builder, end, rest);
  SmallVector<Value> vectors;
  for (unsigned number = 0; number < combiners.size(); ++number)
    vectors.push_back(createStart(number));
  vectors = emitWhole(begin, endOfWhole, vectors);
  vectors = emitRest(endOfWhole, rest, vectors);
  SmallVector<Value> results;
  for (auto [number, vector] : llvm::enumerate(vectors)) {
    Value all = combineLanes(number, vector);
    Operation *last = builder.clone(*combiners[number]);
    last->setOperands({loop.getInitArgs()[number], all});
    results.push_back(last->getResult(0));
  }
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
      std::string why = vectors.match(maskedBytes, aliases);
      if (!why.empty()) {
        remarkDeclined(loop.getLoc(), loop, "vectors",
                       "a loop over the entries of a row stays one over "
                       "scalars, since " +
                           why);
        continue;
      }
      int64_t lanes = vectors.getLanes(bytes);
      remarkChosen(loop.getLoc(), loop, "vectors",
                   "a loop over the entries of a row is one over vectors of " +
                       llvm::Twine(lanes) +
                       " elements, the last of which is masked");
      vectors.rewrite(rewriter, lanes);
    }
  }
};
} // namespace
