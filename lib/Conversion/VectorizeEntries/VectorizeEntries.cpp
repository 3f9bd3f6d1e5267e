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
// What is read where a list says is gathered, if that is worth it: a gather
// takes as long as its lanes one by one, but no branch. A loop over scalars is
// faster where the processor predicts the lengths of all rows, and where rows
// are long. `benchmark/sparse.py --kernels spmv` has both sides: on a Zen 5
// core a call with 20,000 rows of 9 and 20 entries takes 0.55 and 0.71 of the
// time without.
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
/// The lanes of vectors with a gather, which takes a time for each lane: longer
/// ones would spend it on lanes that a mask leaves out.
static constexpr int64_t gatherLanes = 8;

namespace {
/// Makes vectors of the iterations of one loop.
class EntryVectors {
public:
  EntryVectors(scf::ForOp loop, const CPUInfo &cpu, RewriterBase &rewriter)
      : loop(loop), cpu(cpu), builder(loop.getLoc(), rewriter) {}

  /// Why iterations may not be done at once, or which op of the body is none on
  /// vectors of the processor; empty if there is nothing against vectors.
  std::string match(AliasAnalysis &aliases);

  /// The elements of vectors that have `vectorBytes` at most.
  int64_t getLanes(int64_t vectorBytes) const {
    int64_t lanes = vectorBytes / widestBytes;
    return tables.empty() ? lanes : std::min(lanes, gatherLanes);
  }
  bool hasGathers() const { return !tables.empty(); }
  /// Replaces the loop by one of vectors of `numLanes` elements; or keeps it
  /// beside that for when gathers are not worth it.
  void rewrite(RewriterBase &rewriter, int64_t numLanes);

private:
  bool matchElement(Value memref, ValueRange indices);
  bool matchGather(memref::LoadOp load);
  bool isGather(memref::LoadOp load) {
    return tables.contains(load.getMemref()) &&
           load.getIndices().front() != loop.getInductionVar();
  }
  bool matchOp(Operation &op);
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
  Value gather(memref::LoadOp load, Value numbers, Value mask, Value padding);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }
  Value getLength(Value list) {
    return memref::DimOp::create(builder, list, constant(0));
  }
  Value areNumbersSigned();
  Value areGathersWorthIt();
  SmallVector<Value> emitVectors();
  Value createNeutral(unsigned number);
  Value createStart(unsigned number);
  Value combine(unsigned number, Value left, Value right);
  Value combineLanes(unsigned number, Value vector);

  scf::ForOp loop;
  const CPUInfo &cpu;
  ImplicitLocOpBuilder builder;
  /// Of the elements that are loaded or stored.
  int64_t widestBytes = 0;
  /// What is read where the elements of a list say.
  llvm::SetVector<Value> tables;
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

/// Bits of an element of a list; 0 of what vectors do not have.
static int64_t getBits(Type element) {
  if (element.isIndex())
    return 64;
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  return bits == 32 || bits == 64 ? bits : 0;
}

/// Whether `memref` is a list that is there before `loop`.
static bool isListBefore(scf::ForOp loop, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  return type.getRank() == 1 && type.getLayout().isIdentity() &&
         loop.isDefinedOutsideOfLoop(memref);
}

bool EntryVectors::matchElement(Value memref, ValueRange indices) {
  int64_t bits = getBits(cast<MemRefType>(memref.getType()).getElementType());
  if (!isListBefore(loop, memref) ||
      indices.front() != loop.getInductionVar() || bits == 0 ||
      bits / 8 < cpu.getMaskedBytes())
    return false;
  widestBytes = std::max(widestBytes, bits / 8);
  return true;
}

/// Whether `load` reads a list at a number that another one has for the entry.
/// Processors with masks of AVX-512 have gathers that are worth it.
bool EntryVectors::matchGather(memref::LoadOp load) {
  if (cpu.getMaskedBytes() != 1 || load.getMemRefType().getRank() != 1)
    return false;
  auto number = getStoredNumber(load.getIndices().front())
                    .getDefiningOp<memref::LoadOp>();
  int64_t bits = getBits(load.getType());
  if (!number || number->getParentOp() != loop ||
      !matchElement(number.getMemref(), number.getIndices()) ||
      !isListBefore(loop, load.getMemref()) || bits == 0 ||
      load.getType().isIndex())
    return false;
  widestBytes = std::max(widestBytes, bits / 8);
  tables.insert(load.getMemref());
  return true;
}

/// Whether `op` widens the number of an element for loads alone.
static bool isNumberOfElement(Operation &op) {
  return isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) &&
         op.getResult(0).getType().isIndex() &&
         llvm::all_of(op.getUsers(), llvm::IsaPred<memref::LoadOp>);
}

/// Whether `op` is the same in all iterations.
bool EntryVectors::isInvariant(Operation &op) {
  return isPure(&op) && op.getNumRegions() == 0 &&
         llvm::all_of(op.getOperands(), [&](Value operand) {
           return loop.isDefinedOutsideOfLoop(operand);
         });
}

bool EntryVectors::matchOp(Operation &op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return matchElement(load.getMemref(), load.getIndices()) ||
           matchGather(load);
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return matchElement(store.getMemref(), store.getIndices());
  if (isInvariant(op) || isNumberOfElement(op))
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

std::string EntryVectors::match(AliasAnalysis &aliases) {
  if (!matchCarried())
    return "what it carries is not combined in any order";
  for (Operation &op : loop.getBody()->without_terminator())
    if (!matchOp(op))
      return ("vectors have no form of " + op.getName().getStringRef() +
              ", or of what it takes")
          .str();
  // Accesses of one buffer are at the place of the iteration.
  Accesses accesses = getAccesses(loop);
  if (widestBytes == 0)
    return "it accesses no list";
  if (conflict(aliases, accesses, accesses,
               [&](const Access &one, const Access &other) {
                 return one.memref == other.memref &&
                        !tables.contains(one.memref);
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
      if (isGather(load)) {
        Value numbers = mapping.lookup(load.getIndices().front());
        mapping.map(load.getResult(), gather(load, numbers, mask, padding));
        continue;
      }
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
    if (isNumberOfElement(op)) {
      // A gather widens the numbers.
      mapping.map(op.getResult(0), mapping.lookup(op.getOperand(0)));
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

/// The elements of the list of `load` whose numbers are `numbers`.
Value EntryVectors::gather(memref::LoadOp load, Value numbers, Value mask,
                           Value padding) {
  if (!mask)
    mask = arith::ConstantOp::create(
        builder,
        DenseElementsAttr::get(getVectorType(builder.getI1Type()), true));
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  return vector::GatherOp::create(builder, cast<VectorType>(padding.getType()),
                                  load.getMemref(), zero, numbers, mask,
                                  padding);
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

/// Whether numbers that have no sign are the same with one, as a gather takes
/// them: of lists that are short enough. Null if all are known to be.
Value EntryVectors::areNumbersSigned() {
  Value condition;
  for (auto load : loop.getOps<memref::LoadOp>()) {
    Value index = load.getIndices().front();
    auto widening = index.getDefiningOp<arith::IndexCastUIOp>();
    if (!isGather(load) || !widening ||
        !widening.getIn().getType().isInteger(32))
      continue;
    constexpr int64_t longest = int64_t(1) << 31;
    int64_t known = load.getMemRefType().getDimSize(0);
    if (!ShapedType::isDynamic(known) && known <= longest)
      continue;
    Value isShort =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::ule,
                              getLength(load.getMemref()), constant(longest));
    condition = condition ? arith::AndIOp::create(builder, condition, isShort)
                          : isShort;
  }
  return condition;
}

/// Whether gathers are worth it: there are more rows than the processor
/// predicts the lengths of, and these are short. Null if there are none.
Value EntryVectors::areGathersWorthIt() {
  if (tables.empty())
    return {};
  auto rows = loop->getParentOfType<scf::ForOp>();
  Value positions =
      getPositions(loop.getInductionVar(), rows.getInductionVar());
  Value numRows = getLength(positions);
  Value most = arith::MulIOp::create(builder, numRows,
                                     constant(genericCPU.gatheredEntries));
  Value areMany =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::uge, numRows,
                            constant(genericCPU.predictedLoops));
  Value areShort =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ule,
                            getLength(getEntryList(rows, loop)), most);
  Value condition = arith::AndIOp::create(builder, areMany, areShort);
  if (Value areSigned = areNumbersSigned())
    condition = arith::AndIOp::create(builder, condition, areSigned);
  return condition;
}

/// Emits vectors in place of the loop, and returns what that carries in the
/// end.
SmallVector<Value> EntryVectors::emitVectors() {
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
  return results;
}

void EntryVectors::rewrite(RewriterBase &rewriter, int64_t numLanes) {
  lanes = numLanes;
  builder.setInsertionPoint(loop);
  Value condition = areGathersWorthIt();
  if (!condition)
    return rewriter.replaceOp(loop, emitVectors());
  auto choice = scf::IfOp::create(builder, loop.getResultTypes(), condition,
                                  /*withElseRegion=*/true);
  auto finish = [&](Block *block, llvm::function_ref<ValueRange()> emit) {
    if (loop.getNumResults() == 0) {
      builder.setInsertionPoint(block->getTerminator());
      emit();
      return;
    }
    builder.setInsertionPointToEnd(block);
    ValueRange results = emit();
    scf::YieldOp::create(builder, results);
  };
  SmallVector<Value> results;
  finish(choice.thenBlock(), [&]() -> ValueRange {
    results = emitVectors();
    return results;
  });
  finish(choice.elseBlock(),
         [&]() -> ValueRange { return builder.clone(*loop)->getResults(); });
  rewriter.replaceOp(loop, choice.getResults());
}

namespace {
struct VectorizeEntriesPass
    : sparse_autograd::impl::VectorizeEntriesBase<VectorizeEntriesPass> {
  using VectorizeEntriesBase::VectorizeEntriesBase;

  void runOnOperation() override {
    CPUInfo cpu = getCPU(getOperation()->getParentOfType<ModuleOp>());
    uint64_t bytes = llvm::bit_floor<uint64_t>(
        std::clamp<int64_t>(vectorBytes, 0, longestVector));
    if (cpu.getMaskedBytes() == 0 || bytes < 2 * sizeof(double))
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
      EntryVectors vectors(loop, cpu, rewriter);
      std::string why = vectors.match(aliases);
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
                       " elements, the last of which is masked" +
                       (vectors.hasGathers()
                            ? ", if there are many rows, which are short: it "
                              "gathers what a list names"
                            : ""));
      vectors.rewrite(rewriter, lanes);
    }
  }
};
} // namespace
