//===- StructuredToLoops.cpp - structured ops on expanded tensors ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StructuredToLoops.h"
#include "SparseAutograd/Analysis/SparseIteration.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseLoops.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

namespace {

/// The loops of one structured op.
class Kernel {
public:
  Kernel(OpBuilder &builder, linalg::LinalgOp op, ArrayRef<ValueRange> operands,
         const OperandPatterns &patterns);

  FailureOr<SmallVector<SmallVector<Value>>> lower();

private:
  friend class KernelBody;

  Value getLoopExtent(unsigned loop);
  /// The values of a sparse result on the pattern of operand `pattern`, from
  /// `init`.
  Value lowerOnPattern(unsigned pattern, Value init);
  std::optional<Value> lowerOnValues(unsigned pattern);
  SmallVector<Value> lowerToDense();
  SmallVector<Value> buildBase();
  SmallVector<Value> buildParts(ArrayRef<StoredPart> parts, ValueRange carried,
                                std::optional<unsigned> pattern,
                                bool isFirstOutermost);
  bool isReduction() { return op.getNumReductionLoops() != 0; }
  bool readsInit(unsigned result) {
    return op.payloadUsesValueFromOperand(op.getDpsInitOperand(result));
  }
  /// The loops' number of sparse operand `number`: operands of one pattern and
  /// one map are one.
  unsigned getLoopOperand(unsigned number) { return loopOperands[number]; }
  SmallVector<unsigned> toLoopOperands(ArrayRef<unsigned> numbers);

  OpBuilder &builder;
  linalg::LinalgOp op;
  Location loc;
  ArrayRef<ValueRange> operands;
  const OperandPatterns &patterns;
  ScalarTerms terms;
  SparseIteration iteration;
  std::optional<SparseLoops> loops;
  llvm::DenseMap<unsigned, unsigned> loopOperands;
  llvm::DenseMap<unsigned, SparseStorage> storages;
};

/// Computes the region at the visited elements.
class KernelBody : public LoopBody {
public:
  /// `pattern`: the operand on whose pattern the values of the only result
  /// are; none if results are dense.
  KernelBody(Kernel &kernel, const StoredPart &part,
             std::optional<unsigned> pattern)
      : kernel(kernel), absent(kernel.op->getNumOperands()), pattern(pattern),
        isScalar(kernel.op->getNumResults()) {
    for (unsigned number : part.missing)
      absent.set(number);
  }

  SmallVector<Value> visit(OpBuilder &builder, const VisitedElement &element,
                           ValueRange carried) override;
  bool enter(OpBuilder &builder, const VisitedElement &element,
             SmallVectorImpl<Value> &carried) override;
  void exit(OpBuilder &builder, const VisitedElement &element,
            SmallVectorImpl<Value> &carried) override;

private:
  /// Where result `number` is written at `element`; nothing if not known yet.
  std::optional<SmallVector<Value>>
  getPlace(OpBuilder &builder, const VisitedElement &element, unsigned number);
  SmallVector<Value>
  visitOptional(OpBuilder &builder, const VisitedElement &element,
                ArrayRef<unsigned> optional, llvm::SmallBitVector absent,
                SmallVector<Value> arguments, ValueRange carried);
  SmallVector<Value> compute(OpBuilder &builder, const VisitedElement &element,
                             const llvm::SmallBitVector &absent,
                             SmallVector<Value> arguments, ValueRange carried);

  Kernel &kernel;
  llvm::SmallBitVector absent;
  std::optional<unsigned> pattern;
  /// Which results are carried as scalars at the moment, and those that became
  /// one at each loop: the tensor and the place.
  llvm::SmallBitVector isScalar;
  struct Promotion {
    unsigned result;
    Value tensor;
    SmallVector<Value> place;
  };
  SmallVector<SmallVector<Promotion>> promotions;
};

} // namespace

//===----------------------------------------------------------------------===//
// KernelBody
//===----------------------------------------------------------------------===//

std::optional<SmallVector<Value>>
KernelBody::getPlace(OpBuilder &builder, const VisitedElement &element,
                     unsigned number) {
  if (pattern) {
    unsigned operand = kernel.getLoopOperand(*pattern);
    if (!element.isAt(kernel.loops->getOperand(operand), operand))
      return std::nullopt;
    return SmallVector<Value>{
        element.cursors.find(operand)->second.getPosition()};
  }
  AffineMap map =
      kernel.op.getMatchingIndexingMap(kernel.op.getDpsInitOperand(number));
  for (auto [loop, index] : llvm::enumerate(element.indices))
    if (!index && map.isFunctionOfDim(loop))
      return std::nullopt;
  SmallVector<Value> place;
  for (AffineExpr expr : map.getResults())
    place.push_back(affine::expandAffineExpr(builder, kernel.loc, expr,
                                             element.indices, {}));
  return place;
}

bool KernelBody::enter(OpBuilder &builder, const VisitedElement &element,
                       SmallVectorImpl<Value> &carried) {
  SmallVector<Promotion> now;
  for (unsigned result = 0; result < carried.size(); ++result) {
    if (isScalar.test(result) || !kernel.isReduction() ||
        !kernel.readsInit(result))
      continue;
    std::optional<SmallVector<Value>> place =
        getPlace(builder, element, result);
    if (!place)
      continue;
    Value tensor = carried[result];
    carried[result] =
        tensor::ExtractOp::create(builder, kernel.loc, tensor, *place);
    now.push_back({result, tensor, std::move(*place)});
    isScalar.set(result);
  }
  if (now.empty())
    return false;
  promotions.push_back(std::move(now));
  return true;
}

void KernelBody::exit(OpBuilder &builder, const VisitedElement &,
                      SmallVectorImpl<Value> &carried) {
  for (const Promotion &promotion : promotions.pop_back_val()) {
    carried[promotion.result] =
        tensor::InsertOp::create(builder, kernel.loc, carried[promotion.result],
                                 promotion.tensor, promotion.place);
    isScalar.reset(promotion.result);
  }
}

SmallVector<Value> KernelBody::visit(OpBuilder &builder,
                                     const VisitedElement &element,
                                     ValueRange carried) {
  SmallVector<Value> arguments(kernel.op->getNumOperands());
  SmallVector<const Term *> yields = kernel.terms.getYields(absent);
  SmallVector<unsigned> optional;
  for (OpOperand *input : kernel.op.getDpsInputOperands()) {
    unsigned number = input->getOperandNumber();
    if (absent.test(number) || !kernel.terms.reads(yields, number))
      continue;
    if (!isSparse(input->get().getType())) {
      Value value = kernel.operands[number].front();
      if (isa<RankedTensorType>(value.getType())) {
        SmallVector<Value> place;
        for (AffineExpr expr :
             kernel.op.getMatchingIndexingMap(input).getResults())
          place.push_back(affine::expandAffineExpr(builder, kernel.loc, expr,
                                                   element.indices, {}));
        value = tensor::ExtractOp::create(builder, kernel.loc, value, place);
      }
      arguments[number] = value;
      continue;
    }
    unsigned operand = kernel.getLoopOperand(number);
    if (!element.isAt(kernel.loops->getOperand(operand), operand)) {
      optional.push_back(number);
      continue;
    }
    arguments[number] = tensor::ExtractOp::create(
        builder, kernel.loc, kernel.storages.find(number)->second.getValues(),
        element.cursors.find(operand)->second.getPosition());
  }
  return visitOptional(builder, element, optional, absent, std::move(arguments),
                       carried);
}

/// Looks up what may or may not be stored. The region is built for both cases:
/// what is absent is nowhere a factor.
SmallVector<Value> KernelBody::visitOptional(OpBuilder &builder,
                                             const VisitedElement &element,
                                             ArrayRef<unsigned> optional,
                                             llvm::SmallBitVector absent,
                                             SmallVector<Value> arguments,
                                             ValueRange carried) {
  if (optional.empty())
    return compute(builder, element, absent, std::move(arguments), carried);
  unsigned number = optional.front();
  return kernel.loops->lookUp(
      builder, element, kernel.getLoopOperand(number), carried.getTypes(),
      [&](OpBuilder &nested, Value position) {
        SmallVector<Value> with(arguments);
        with[number] = tensor::ExtractOp::create(
            nested, kernel.loc,
            kernel.storages.find(number)->second.getValues(), position);
        return visitOptional(nested, element, optional.drop_front(), absent,
                             std::move(with), carried);
      },
      [&](OpBuilder &nested) {
        llvm::SmallBitVector without(absent);
        without.set(number);
        return visitOptional(nested, element, optional.drop_front(), without,
                             arguments, carried);
      });
}

SmallVector<Value> KernelBody::compute(OpBuilder &builder,
                                       const VisitedElement &element,
                                       const llvm::SmallBitVector &absent,
                                       SmallVector<Value> arguments,
                                       ValueRange carried) {
  SmallVector<Value> results(carried);
  SmallVector<const Term *> yields = kernel.terms.getYields(absent);
  SmallVector<SmallVector<Value>> places(results.size());
  for (unsigned result = 0; result < results.size(); ++result) {
    OpOperand *init = kernel.op.getDpsInitOperand(result);
    if (!isScalar.test(result))
      places[result] = *getPlace(builder, element, result);
    if (!kernel.terms.reads(yields, init->getOperandNumber()))
      continue;
    Value running = carried[result];
    // Without a reduction the init is an operand like the others.
    if (!kernel.isReduction() && !pattern)
      running = kernel.operands[init->getOperandNumber()].front();
    else if (!kernel.isReduction())
      running =
          kernel.storages.find(init->getOperandNumber())->second.getValues();
    arguments[init->getOperandNumber()] =
        isScalar.test(result)
            ? running
            : tensor::ExtractOp::create(builder, kernel.loc, running,
                                        places[result])
                  .getResult();
  }
  SmallVector<Value> values =
      kernel.terms.build(builder, yields, arguments, element.indices);
  for (unsigned result = 0; result < results.size(); ++result)
    results[result] =
        isScalar.test(result)
            ? values[result]
            : tensor::InsertOp::create(builder, kernel.loc, values[result],
                                       carried[result], places[result])
                  .getResult();
  return results;
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

Kernel::Kernel(OpBuilder &builder, linalg::LinalgOp op,
               ArrayRef<ValueRange> operands, const OperandPatterns &patterns)
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
  loops.emplace(loc, extents);
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    if (!isSparse(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [other, loopOperand] : loopOperands)
      if (patterns.pattern[other] == patterns.pattern[number] &&
          loops->getOperand(loopOperand).map == map)
        loopOperands[number] = loopOperand;
    if (!loopOperands.contains(number))
      loopOperands[number] =
          loops->addOperand({storages.find(number)->second, map});
  }
}

Value Kernel::getLoopExtent(unsigned loop) {
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      if (expr != builder.getAffineDimExpr(loop))
        continue;
      unsigned number = operand.getOperandNumber();
      if (auto it = storages.find(number); it != storages.end())
        return it->second.getExtent(builder, loc, dim);
      return getValueOrCreateConstantIndexOp(
          builder, loc,
          tensor::getMixedSize(builder, loc, operands[number].front(), dim));
    }
  }
  // The verifier derives each loop from some operand.
  AffineMap toLoops = op.getShapesToLoopsMap();
  SmallVector<Value> dims;
  for (OpOperand &operand : op->getOpOperands())
    for (int64_t dim = 0; dim < op.getRank(&operand); ++dim) {
      unsigned number = operand.getOperandNumber();
      auto it = storages.find(number);
      dims.push_back(
          it != storages.end()
              ? it->second.getExtent(builder, loc, dim)
              : getValueOrCreateConstantIndexOp(
                    builder, loc,
                    tensor::getMixedSize(builder, loc, operands[number].front(),
                                         dim)));
    }
  return affine::expandAffineExpr(builder, loc, toLoops.getResult(loop), dims,
                                  {});
}

SmallVector<unsigned> Kernel::toLoopOperands(ArrayRef<unsigned> numbers) {
  SmallVector<unsigned> result;
  for (unsigned number : numbers)
    if (!llvm::is_contained(result, getLoopOperand(number)))
      result.push_back(getLoopOperand(number));
  return result;
}

/// Visits `parts` one after the other, at the elements of operand `pattern` if
/// there is one.
SmallVector<Value> Kernel::buildParts(ArrayRef<StoredPart> parts,
                                      ValueRange carried,
                                      std::optional<unsigned> pattern,
                                      bool isFirstOutermost) {
  SmallVector<Value> values(carried);
  for (const StoredPart &part : parts) {
    SmallVector<unsigned> stored;
    if (pattern)
      stored.push_back(*pattern);
    llvm::append_range(stored, part.stored);
    SmallVector<unsigned> loopsStored = toLoopOperands(stored);
    SmallVector<unsigned> loopsMissing = toLoopOperands(part.missing);
    // What is stored where something missing is stored too is nothing.
    if (llvm::any_of(loopsMissing, [&](unsigned missing) {
          return llvm::is_contained(loopsStored, missing);
        }))
      continue;
    KernelBody body(*this, part, pattern);
    values = loops->build(builder, loopsStored, loopsMissing, isFirstOutermost,
                          values, body);
  }
  return values;
}

/// What dense results are where no sparse operand stores anything.
SmallVector<Value> Kernel::buildBase() {
  SmallVector<Value> inputs, inits(op.getDpsInits());
  SmallVector<AffineMap> maps;
  SmallVector<unsigned> numbers;
  for (OpOperand *input : op.getDpsInputOperands())
    if (terms.reads(iteration.base, input->getOperandNumber())) {
      inputs.push_back(operands[input->getOperandNumber()].front());
      maps.push_back(op.getMatchingIndexingMap(input));
      numbers.push_back(input->getOperandNumber());
    }
  for (unsigned result = 0; result < op->getNumResults(); ++result) {
    OpOperand *init = op.getDpsInitOperand(result);
    inits[result] = operands[init->getOperandNumber()].front();
    maps.push_back(op.getMatchingIndexingMap(init));
    numbers.push_back(init->getOperandNumber());
  }
  auto base = linalg::GenericOp::create(
      builder, loc, TypeRange(ValueRange(inits)), inputs, inits, maps,
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
  if (iteration.visitsAll) {
    StoredPart everything;
    return buildParts(everything, inits, std::nullopt,
                      /*isFirstOutermost=*/false);
  }
  if (!isReduction())
    inits = buildBase();
  return buildParts(iteration.parts, inits, std::nullopt,
                    /*isFirstOutermost=*/false);
}

/// An elementwise op on values of one pattern and on scalars is one on the
/// lists of values.
std::optional<Value> Kernel::lowerOnValues(unsigned pattern) {
  if (isReduction() || op.hasIndexSemantics())
    return std::nullopt;
  SmallVector<const Term *> yields =
      terms.getYields(llvm::SmallBitVector(op->getNumOperands()));
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<unsigned> numbers;
  AffineMap identity = builder.getMultiDimIdentityMap(1);
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    if (!terms.reads(yields, number))
      continue;
    numbers.push_back(number);
    if (isSparse(operand.get().getType())) {
      if (getLoopOperand(number) != getLoopOperand(pattern))
        return std::nullopt;
      inputs.push_back(storages.find(number)->second.getValues());
      maps.push_back(identity);
      continue;
    }
    if (op.getRank(&operand) != 0)
      return std::nullopt;
    inputs.push_back(operands[number].front());
    maps.push_back(AffineMap::get(1, 0, builder.getContext()));
  }
  maps.push_back(identity);
  Value values = storages.find(pattern)->second.getValues();
  Type element =
      cast<RankedTensorType>(op->getResultTypes().front()).getElementType();
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, values), element);
  auto generic = linalg::GenericOp::create(
      builder, loc, init.getType(), inputs, init, maps,
      ArrayRef<utils::IteratorType>{utils::IteratorType::parallel},
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        SmallVector<Value> arguments(op->getNumOperands());
        for (auto [number, argument] :
             llvm::zip_equal(numbers, elements.drop_back()))
          arguments[number] = argument;
        linalg::YieldOp::create(nested, loc,
                                terms.build(nested, yields, arguments, {}));
      });
  return generic.getResult(0);
}

Value Kernel::lowerOnPattern(unsigned pattern, Value init) {
  if (std::optional<Value> values = lowerOnValues(pattern))
    return *values;
  StoredPart everything;
  // Every element of the pattern gets a value.
  if (!isReduction() || iteration.visitsAll)
    return buildParts(everything, init, pattern, /*isFirstOutermost=*/true)
        .front();
  return buildParts(iteration.parts, init, pattern,
                    /*isFirstOutermost=*/false)
      .front();
}

FailureOr<SmallVector<SmallVector<Value>>> Kernel::lower() {
  SmallVector<SmallVector<Value>> results;
  if (op->getNumResults() > 1 && llvm::any_of(op->getResultTypes(), isSparse))
    return op.emitOpError("makes a sparse tensor and something else; use an op "
                          "for each result");
  if (!isSparse(op->getResultTypes().front())) {
    for (Value result : lowerToDense())
      results.push_back({result});
    return results;
  }
  OpOperand *init = op.getDpsInitOperand(0);
  if (isa<SampledGenericOp>(op) || patterns.source) {
    unsigned pattern =
        patterns.source ? *patterns.source : init->getOperandNumber();
    const SparseStorage &storage = storages.find(pattern)->second;
    Type element =
        cast<RankedTensorType>(op->getResultTypes().front()).getElementType();
    Value values = storage.getValues();
    if (!isReduction())
      values = tensor::EmptyOp::create(
          builder, loc, tensor::getMixedSizes(builder, loc, values), element);
    values = lowerOnPattern(pattern, values);
    results.push_back(storage.withValues(
        builder, loc, values,
        cast<RankedTensorType>(op->getResultTypes().front())));
    return results;
  }
  return op.emitOpError("makes a sparse tensor of a new pattern, which is not "
                        "lowered yet");
}

FailureOr<SmallVector<SmallVector<Value>>>
sparse_autograd::lowerStructured(OpBuilder &builder, linalg::LinalgOp op,
                                 ArrayRef<ValueRange> operands,
                                 const OperandPatterns &patterns) {
  return Kernel(builder, op, operands, patterns).lower();
}
