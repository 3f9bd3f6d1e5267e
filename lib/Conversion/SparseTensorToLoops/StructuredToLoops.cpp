//===- StructuredToLoops.cpp - structured ops on expanded tensors ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StructuredToLoops.h"

#include "../Assertions.h"
#include "Kernel.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

OperandPatterns OperandPatterns::of(linalg::LinalgOp op,
                                    SparsePatterns &patterns) {
  OperandPatterns result;
  SmallVector<Value> origins;
  for (Value operand : op->getOperands()) {
    Value origin =
        isSparse(operand.getType()) ? patterns.originOf(operand) : operand;
    auto *it = llvm::find(origins, origin);
    result.pattern.push_back(it - origins.begin());
    if (it == origins.end())
      origins.push_back(origin);
  }
  if (isa<linalg::GenericOp>(op) && isSparse(op->getResultTypes().front()))
    if (OpOperand *source = patterns.getPatternSource(op))
      result.source = source->getOperandNumber();
  return result;
}

Kernel::Kernel(OpBuilder &builder, linalg::LinalgOp op,
               ArrayRef<ValueRange> operands, const OperandPatterns &patterns,
               const LoopSchedule &schedule)
    : builder(builder), op(op), loc(op.getLoc()), operands(operands),
      patterns(patterns), terms(op), iteration(SparseIteration::of(op, terms)) {
  for (OpOperand &operand : op->getOpOperands())
    if (isSparse(operand.get().getType()))
      storages.try_emplace(
          operand.getOperandNumber(),
          SparseStorage(cast<RankedTensorType>(operand.get().getType()),
                        operands[operand.getOperandNumber()]));
  SmallVector<Value> extents;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    extents.push_back(getLoopExtent(loop));
  loops.emplace(loc, extents, schedule);
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    if (!isSparse(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    std::optional<unsigned> known;
    for (auto [other, loopOperand] : loopOperands)
      if (patterns.pattern[other] == patterns.pattern[number] &&
          loops->getOperand(loopOperand).map == map)
        known = loopOperand;
    loopOperands[number] =
        known ? *known : loops->addOperand({getStorage(number), map});
  }
}

Value Kernel::getExtent(unsigned number, int64_t dim) {
  if (storages.contains(number))
    return getStorage(number).getExtent(builder, loc, dim);
  return getValueOrCreateConstantIndexOp(
      builder, loc,
      tensor::getMixedSize(builder, loc, operands[number].front(), dim));
}

Value Kernel::getLoopExtent(unsigned loop) {
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, expr] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (expr == builder.getAffineDimExpr(loop))
        return getExtent(operand.getOperandNumber(), dim);
  llvm_unreachable("the verifier asks for an operand with a dimension of it");
}

SmallVector<unsigned> Kernel::toLoopOperands(ArrayRef<unsigned> numbers) const {
  SmallVector<unsigned> result;
  for (unsigned number : numbers)
    if (!llvm::is_contained(result, getLoopOperand(number)))
      result.push_back(getLoopOperand(number));
  return result;
}

SmallVector<Value> Kernel::buildPart(const StoredPart &part, ValueRange carried,
                                     std::optional<unsigned> pattern,
                                     bool isFirstOutermost, LoopBody &body) {
  SmallVector<unsigned> stored;
  if (pattern)
    stored.push_back(*pattern);
  llvm::append_range(stored, part.stored);
  SmallVector<unsigned> loopsStored = toLoopOperands(stored);
  SmallVector<unsigned> loopsMissing = toLoopOperands(part.missing);
  // Nothing is stored and missing at once.
  if (llvm::any_of(loopsMissing, [&](unsigned missing) {
        return llvm::is_contained(loopsStored, missing);
      }))
    return SmallVector<Value>(carried);
  return loops->build(builder, loopsStored, loopsMissing, isFirstOutermost,
                      carried, body);
}

SmallVector<Value> Kernel::buildParts(ArrayRef<StoredPart> parts,
                                      ValueRange carried,
                                      std::optional<unsigned> pattern,
                                      bool isFirstOutermost) {
  SmallVector<Value> values(carried);
  for (const StoredPart &part : parts) {
    KernelBody body(*this, part, pattern);
    values = buildPart(part, values, pattern, isFirstOutermost, body);
  }
  return values;
}

SmallVector<Value> Kernel::build(OpBuilder &builder,
                                 ArrayRef<const Term *> yields,
                                 ArrayRef<Value> arguments,
                                 const VisitedElement &element) const {
  return terms.build(builder, yields, arguments, element.indices,
                     [&](Operation *op) {
                       if (needsVerification(op))
                         assertVerified(op, builder.getListener());
                     });
}

SmallVector<Value> Kernel::loadDense(OpBuilder &builder,
                                     const VisitedElement &element,
                                     ArrayRef<const Term *> yields) {
  SmallVector<Value> elements(op->getNumOperands());
  for (OpOperand *input : op.getDpsInputOperands()) {
    unsigned number = input->getOperandNumber();
    if (isSparse(input->get().getType()) || !terms.reads(yields, number))
      continue;
    Value value = operands[number].front();
    if (isa<RankedTensorType>(value.getType())) {
      SmallVector<Value> place;
      for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults())
        place.push_back(
            affine::expandAffineExpr(builder, loc, expr, element.indices, {}));
      bool isInLanes =
          element.lanes &&
          op.getMatchingIndexingMap(input).isFunctionOfDim(element.lanes->loop);
      value = isInLanes ? element.lanes->load(builder, loc, value, place)
                        : tensor::ExtractOp::create(builder, loc, value, place);
    }
    elements[number] = value;
  }
  return elements;
}

bool Kernel::keepsInits() {
  if (patterns.source || isReduction() || iteration.visitsAll)
    return true;
  for (auto [result, yielded] : llvm::enumerate(iteration.base))
    if (!terms.isArgument(yielded,
                          op.getDpsInitOperand(result)->getOperandNumber()))
      return false;
  return true;
}

SmallVector<Value> Kernel::buildBase(ValueRange inits) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<unsigned> numbers;
  for (OpOperand *input : op.getDpsInputOperands())
    if (terms.reads(iteration.base, input->getOperandNumber())) {
      inputs.push_back(operands[input->getOperandNumber()].front());
      maps.push_back(op.getMatchingIndexingMap(input));
      numbers.push_back(input->getOperandNumber());
    }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    maps.push_back(op.getMatchingIndexingMap(&init));
    numbers.push_back(init.getOperandNumber());
  }
  auto base = linalg::GenericOp::create(
      builder, loc, TypeRange(inits), inputs, inits, maps,
      op.getIteratorTypesArray(),
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        SmallVector<Value> arguments(op->getNumOperands());
        for (auto [number, element] : llvm::zip_equal(numbers, elements))
          arguments[number] = element;
        SmallVector<Value> indices;
        for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
          indices.push_back(linalg::IndexOp::create(nested, loc, loop));
        linalg::YieldOp::create(
            nested, loc,
            terms.build(nested, iteration.base, arguments, indices));
      });
  return SmallVector<Value>(base.getResults());
}

SmallVector<Value> Kernel::lowerToDense() {
  SmallVector<Value> inits;
  for (unsigned result = 0; result < op->getNumResults(); ++result)
    inits.push_back(
        operands[op.getDpsInitOperand(result)->getOperandNumber()].front());
  if (patterns.source) {
    StoredPart source;
    source.stored.push_back(*patterns.source);
    return buildParts(source, inits, std::nullopt, /*isFirstOutermost=*/false);
  }
  if (iteration.visitsAll) {
    StoredPart everything;
    return buildParts(everything, inits, std::nullopt,
                      /*isFirstOutermost=*/false);
  }
  if (SmallVector<Value> totals = lowerTotals(); !totals.empty()) {
    remarkChosen(loc, op, "sparse", "adds up the lists of values of a pattern");
    return totals;
  }
  if (!keepsInits())
    inits = buildBase(inits);
  return buildParts(iteration.parts, inits, std::nullopt,
                    /*isFirstOutermost=*/false);
}

std::optional<Kernel::ListInputs>
Kernel::getListInputs(unsigned pattern, ArrayRef<const Term *> yields) {
  // Among the values of blocks are those that pad them, which stay zeros.
  if (op.hasIndexSemantics() ||
      !op.getMatchingIndexingMap(&op->getOpOperand(pattern)).isPermutation() ||
      !getStorage(pattern).getDimsToLevels().isPermutation())
    return std::nullopt;
  ListInputs inputs;
  for (OpOperand *input : op.getDpsInputOperands()) {
    unsigned number = input->getOperandNumber();
    if (!terms.reads(yields, number))
      continue;
    inputs.numbers.push_back(number);
    if (isSparse(input->get().getType())) {
      if (getLoopOperand(number) != getLoopOperand(pattern))
        return std::nullopt;
      inputs.values.push_back(getStorage(number).getValues());
      inputs.maps.push_back(builder.getMultiDimIdentityMap(1));
      continue;
    }
    if (op.getRank(input) != 0)
      return std::nullopt;
    inputs.values.push_back(operands[number].front());
    inputs.maps.push_back(AffineMap::get(1, 0, builder.getContext()));
  }
  return inputs;
}

Value Kernel::lowerOnValues(unsigned pattern) {
  if (isReduction())
    return {};
  SmallVector<const Term *> yields =
      terms.getYields(llvm::SmallBitVector(op->getNumOperands()));
  std::optional<ListInputs> inputs = getListInputs(pattern, yields);
  OpOperand *own = op.getDpsInitOperand(0);
  if (!inputs)
    return {};
  // What was there before is an operand like the others here.
  if (terms.reads(yields, own->getOperandNumber())) {
    if (getLoopOperand(own->getOperandNumber()) != getLoopOperand(pattern))
      return {};
    inputs->numbers.push_back(own->getOperandNumber());
    inputs->values.push_back(getStorage(own->getOperandNumber()).getValues());
    inputs->maps.push_back(builder.getMultiDimIdentityMap(1));
  }
  inputs->maps.push_back(builder.getMultiDimIdentityMap(1));
  Value values = getStorage(pattern).getValues();
  Type element =
      cast<RankedTensorType>(op->getResultTypes().front()).getElementType();
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, values), element);
  auto generic = linalg::GenericOp::create(
      builder, loc, init.getType(), inputs->values, init, inputs->maps,
      ArrayRef<utils::IteratorType>{utils::IteratorType::parallel},
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        SmallVector<Value> arguments(op->getNumOperands());
        for (auto [number, argument] :
             llvm::zip_equal(inputs->numbers, elements.drop_back()))
          arguments[number] = argument;
        linalg::YieldOp::create(nested, loc,
                                terms.build(nested, yields, arguments, {}));
      });
  return generic.getResult(0);
}

SmallVector<Value> Kernel::lowerTotals() {
  if (!isReduction())
    return {};
  // Nothing is missing in the first part; of one pattern nothing is stored by
  // one and missing in another, so that the other parts are empty.
  for (const StoredPart &part : ArrayRef(iteration.parts).drop_front()) {
    SmallVector<unsigned> missing = toLoopOperands(part.missing);
    if (llvm::none_of(toLoopOperands(part.stored), [&](unsigned stored) {
          return llvm::is_contained(missing, stored);
        }))
      return {};
  }
  unsigned pattern = iteration.parts.front().stored.front();
  SmallVector<const Term *> yields =
      terms.getYields(llvm::SmallBitVector(op->getNumOperands()));
  std::optional<ListInputs> inputs = getListInputs(pattern, yields);
  const SparseStorage &storage = getStorage(pattern);
  bool hasGaps =
      llvm::any_of(llvm::seq(storage.getNumLevels()), [&](unsigned level) {
        return storage.getFormat(level).hasGaps();
      });
  if (!inputs || hasGaps)
    return {};
  SmallVector<Value> totals;
  SmallVector<unsigned> numbers(inputs->numbers);
  for (OpOperand &init : op.getDpsInitsMutable()) {
    if (op.getRank(&init) != 0)
      return {};
    numbers.push_back(init.getOperandNumber());
    totals.push_back(operands[init.getOperandNumber()].front());
    inputs->maps.push_back(AffineMap::get(1, 0, builder.getContext()));
  }
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(ValueRange(totals)), inputs->values, totals,
      inputs->maps,
      ArrayRef<utils::IteratorType>{utils::IteratorType::reduction},
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        SmallVector<Value> arguments(op->getNumOperands());
        for (auto [number, argument] : llvm::zip_equal(numbers, elements))
          arguments[number] = argument;
        linalg::YieldOp::create(nested, loc,
                                terms.build(nested, yields, arguments, {}));
      });
  return SmallVector<Value>(generic.getResults());
}

Value Kernel::lowerOnPattern(unsigned pattern, Value init) {
  if (Value values = lowerOnValues(pattern)) {
    remarkChosen(loc, op, "sparse",
                 "computes on the lists of values of a pattern");
    return values;
  }
  StoredPart everything;
  // Every element of the pattern gets a value.
  if (!isReduction() || iteration.visitsAll)
    return buildParts(everything, init, pattern, /*isFirstOutermost=*/true)
        .front();
  return buildParts(iteration.parts, init, pattern,
                    /*isFirstOutermost=*/false)
      .front();
}

SmallVector<SmallVector<Value>> Kernel::lower() {
  SmallVector<SmallVector<Value>> results;
  if (!isSparse(op->getResultTypes().front())) {
    for (Value result : lowerToDense())
      results.push_back({result});
    return results;
  }
  OpOperand *init = op.getDpsInitOperand(0);
  if (isa<SampledGenericOp>(op) || patterns.source) {
    unsigned pattern =
        patterns.source ? *patterns.source : init->getOperandNumber();
    const SparseStorage &storage = getStorage(pattern);
    Type element =
        cast<RankedTensorType>(op->getResultTypes().front()).getElementType();
    Value values = storage.getValues();
    // Where every value is written, and once, there is nothing to start from.
    bool writesAll =
        op.getMatchingIndexingMap(&op->getOpOperand(pattern)).isPermutation();
    if (writesAll) {
      values = tensor::EmptyOp::create(
          builder, loc, tensor::getMixedSizes(builder, loc, values), element);
      // What pads blocks is no element, and stays a zero.
      if (!storage.getDimsToLevels().isPermutation()) {
        Value zero = arith::ConstantOp::create(builder, loc,
                                               builder.getZeroAttr(element));
        values =
            linalg::FillOp::create(builder, loc, zero, values).getResult(0);
      }
    }
    values = lowerOnPattern(pattern, values);
    results.push_back(storage.withValues(
        builder, loc, values,
        cast<RankedTensorType>(op->getResultTypes().front())));
    return results;
  }
  results.push_back(assemble());
  return results;
}

/// Checks an op whose sparse result has a pattern of its own.
static LogicalResult checkNewPattern(linalg::LinalgOp op) {
  OpOperand *init = op.getDpsInitOperand(0);
  Value start = init->get();
  while (auto cast = start.getDefiningOp<tensor::CastOp>())
    start = cast.getSource();
  if (op.payloadUsesValueFromOperand(init) &&
      !start.getDefiningOp<tensor::EmptyOp>())
    return op.emitOpError("adds to a sparse tensor, whose pattern may not hold "
                          "what is added; start from tensor.empty, or use "
                          "sparse_autograd.sampled_generic to stay on the "
                          "pattern");
  ScalarTerms terms(op);
  SparseIteration iteration = SparseIteration::of(op, terms);
  bool isReduction = op.getNumReductionLoops() != 0;
  if (iteration.sparseInputs.empty() && isReduction)
    return op.emitOpError("reduces dense tensors to a sparse one; reduce to a "
                          "dense one and convert it, or sample it at a "
                          "pattern");
  bool isZero = isReduction ? !iteration.visitsAll
                            : iteration.sparseInputs.empty() ||
                                  ScalarTerms::isZero(iteration.base.front());
  if (!isZero)
    return op.emitOpError("is not zero where its sparse operands store "
                          "nothing, so that its result is not sparse; select "
                          "by a sparse_autograd.pattern, or convert to dense "
                          "tensors");
  return success();
}

/// Checks that the region does nothing but compute: it is not executed where
/// sparse operands store nothing.
static LogicalResult checkIsPure(linalg::LinalgOp op) {
  for (Operation &inner : op.getBlock()->without_terminator())
    if (!isMemoryEffectFree(&inner))
      return inner.emitOpError(
          "has an effect, in the region of an op on sparse "
          "tensors, which is not executed for every "
          "element; move it out of the region");
  return success();
}

LogicalResult
sparse_autograd::checkStructured(linalg::LinalgOp op,
                                 const OperandPatterns &patterns) {
  if (failed(checkIsPure(op)))
    return failure();
  if (llvm::none_of(op->getResultTypes(), isSparse))
    return success();
  if (op->getNumResults() > 1)
    return op.emitOpError("makes a sparse tensor and something else; use an op "
                          "for each result");
  if (isa<SampledGenericOp>(op) || patterns.source)
    return success();
  return checkNewPattern(op);
}

SmallVector<SmallVector<Value>> sparse_autograd::lowerStructured(
    OpBuilder &builder, linalg::LinalgOp op, ArrayRef<ValueRange> operands,
    const OperandPatterns &patterns, const LoopSchedule &schedule) {
  return Kernel(builder, op, operands, patterns, schedule).lower();
}
