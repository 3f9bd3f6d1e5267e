//===- GenericTranspose.cpp - the transpose of linalg.generic -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenericTranspose.h"
#include "ControlFlowRules.h"
#include "GatherRule.h"
#include "MatrixProduct.h"
#include "OperandReach.h"
#include "SparseAutograd/Analysis/ScalarTerms.h"
#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "SparseAutograd/Transforms/FoldNegations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

/// Erases the ops of `block` that nothing uses.
static void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {

/// What a transposed generic computes: the cotangent of an operand, or where
/// that may differ from zero.
enum class TransposedQuantity { Cotangent, Support };

/// The transpose of a linear generic, one operand at a time.
class TransposedGeneric {
public:
  TransposedGeneric(linalg::LinalgOp op, Transposer &transposer);

  LogicalResult addCotangentOf(OpOperand &operand);
  LogicalResult addCotangentsOfInits();

private:
  struct Built {
    /// Null if no cotangent reaches the operand.
    Value result;
    /// What computes it, perhaps up to a conversion.
    linalg::LinalgOp op;
    /// The scalar support in the region is an input: its position among them.
    std::optional<unsigned> supportInput;
    bool hasSupport = false;
  };
  FailureOr<Built> build(OpOperand &operand, TransposedQuantity quantity);
  FailureOr<Support> supportOf(OpOperand &operand, const Built &built);
  FailureOr<Support> supportInRegion(OpOperand &operand, const Built &built);
  Support restrictToPatterns(OpOperand &operand, const Built &built,
                             Support known);
  void setMaskOfProduct(Value mask, AffineMap map);

  linalg::LinalgOp op;
  Transposer &transposer;
  Location loc;
  /// Operands of the transposed generics: what is not linear, the cotangents
  /// of the results, the masks of their supports.
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<Value> nonlinearArguments;
  SmallVector<unsigned> results;
  /// For each of `results`, the position of its mask in `inputs`.
  SmallVector<std::optional<unsigned>> maskOfResult;
  /// Operands with an element for each iteration, and their cotangents.
  SmallVector<std::pair<OpOperand *, Value>> wholes;
  std::optional<MatrixProduct> product;
  /// Of a product with a mask on the cotangent of its result, which its
  /// transpose does not read: the support of the factor.
  std::optional<Support> factorSupport;
};

} // namespace

/// A product of dense matrices.
static std::optional<MatrixProduct> findProduct(linalg::LinalgOp op,
                                                Transposer &transposer) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic || llvm::any_of(op->getOperandTypes(), isSparse))
    return std::nullopt;
  return matchMatrixProduct(
      generic, [&](Value value) { return transposer.isLinear(value); });
}

/// Whether each element of `result` is a wider number that `op` rounds.
static bool isRounded(linalg::LinalgOp op, OpResult result) {
  return op.getBlock()
             ->getTerminator()
             ->getOperand(result.getResultNumber())
             .getDefiningOp<arith::TruncFOp>() != nullptr;
}

TransposedGeneric::TransposedGeneric(linalg::LinalgOp op,
                                     Transposer &transposer)
    : op(op), transposer(transposer), loc(op.getLoc()),
      product(findProduct(op, transposer)) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (transposer.isLinear(input->get()))
      continue;
    inputs.push_back(transposer.primal(input->get()));
    maps.push_back(op.getMatchingIndexingMap(input));
    nonlinearArguments.push_back(op.getMatchingBlockArgument(input));
  }
  for (OpResult result : op->getResults()) {
    // A product reads its factors as they are in memory, and the cotangent of a
    // tensor that is rounded is one of the narrow type (semantics G11).
    Value cotangent = product || isRounded(op, result)
                          ? transposer.cotangent(result)
                          : transposer.unroundedCotangent(result);
    if (!cotangent)
      continue;
    results.push_back(result.getResultNumber());
    inputs.push_back(cotangent);
    maps.push_back(op.getIndexingMapMatchingResult(result));
  }
  for (unsigned number : results) {
    OpResult result = op->getResult(number);
    Support support = transposer.support(result);
    maskOfResult.emplace_back();
    if (!support)
      continue;
    AffineMap map =
        support.map.compose(op.getIndexingMapMatchingResult(result));
    if (product) {
      setMaskOfProduct(support.mask, map);
    } else {
      maskOfResult.back() = inputs.size();
      inputs.push_back(support.mask);
      maps.push_back(map);
    }
  }
}

/// Keeps the mask of the result of a product out of the region: frees the
/// coefficient from elements that would meet masked-out ones alone, unless the
/// result is selected or nobody asked for the mask.
void TransposedGeneric::setMaskOfProduct(Value mask, AffineMap map) {
  OpBuilder &builder = transposer.builder;
  AffineMap factorMap = op.getMatchingIndexingMap(product->factor);
  bool isSelected = coversMask(factorMap, map);
  if (!isSelected && isComputedFromFloats(mask)) {
    factorSupport = Support();
    return;
  }
  factorSupport = projectMask(builder, loc, mask, map, factorMap);
  if (isSelected)
    return;
  auto position =
      llvm::find(nonlinearArguments,
                 op.getMatchingBlockArgument(product->coefficient)) -
      nonlinearArguments.begin();
  Support met = projectMask(builder, loc, mask, map, maps[position]);
  inputs[position] = selectUnder(builder, loc, inputs[position], met);
}

/// Where the sparse `value` stores something. Asked for twice in a block it is
/// one mask, so that cotangents with that support are known to agree.
static Value createPattern(OpBuilder &builder, Location loc, Value value) {
  for (Operation *user : value.getUsers())
    if (isa<PatternOp>(user) && user->getBlock() == builder.getBlock())
      return user->getResult(0);
  return PatternOp::create(builder, loc, value);
}

/// The negations of the elements of a finished sum.
static Value negateSum(OpBuilder &builder, Location loc, Value sum) {
  return createElementwise(
      builder, loc, sum, sum, getElementTypeOrSelf(sum.getType()),
      [](OpBuilder &nested, Location loc, ValueRange elements) -> Value {
        return arith::NegFOp::create(nested, loc, elements[0]);
      });
}

FailureOr<TransposedGeneric::Built>
TransposedGeneric::build(OpOperand &operand, TransposedQuantity quantity) {
  OpBuilder &builder = transposer.builder;
  AffineMap map = op.getMatchingIndexingMap(&operand);

  // Loops that the operand does not range over are summed; so are those that
  // come back to an element (see OperandReach.h), one after the other.
  SmallVector<utils::IteratorType> iterators(op.getNumLoops(),
                                             utils::IteratorType::reduction);
  for (unsigned loop : getLoopsOfOwnDimension(map))
    iterators[loop] = utils::IteratorType::parallel;
  // What is not written keeps the zero of the init, which has to be read: what
  // does not read its init is taken to write all of it.
  bool reduces =
      llvm::is_contained(iterators, utils::IteratorType::reduction) ||
      !isReachedInWhole(op, operand);

  Type elementType = getElementTypeOrSelf(operand.get().getType());
  bool isCotangent = quantity == TransposedQuantity::Cotangent;
  // Terms are not rounded, nor is what may become one (semantics G11).
  Type resultType = isCotangent ? getAccumulationType(elementType)
                                : Type(builder.getI1Type());
  Value init;
  if (!isa<RankedTensorType>(operand.get().getType())) {
    // A scalar operand: its cotangent is gathered in a tensor of rank 0.
    auto type = RankedTensorType::get({}, resultType);
    init = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  } else {
    Value shape = transposer.shapeOf(operand.get());
    init = reduces ? createZeros(builder, loc, shape, resultType)
                   : createEmptyLike(builder, loc, shape, resultType);
  }

  SmallVector<Value> allInputs(inputs);
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(map);
  unsigned firstWhole = allInputs.size();
  if (reduces && isCotangent)
    for (auto [other, cotangent] : wholes) {
      allInputs.push_back(cotangent);
      allMaps.insert(allMaps.end() - 1, op.getMatchingIndexingMap(other));
    }
  linalg::LinalgOp transposed =
      createStructured(builder, loc, allInputs, init, allMaps, iterators);
  Block &block = transposed->getRegion(0).emplaceBlock();
  for (Value input : allInputs)
    block.addArgument(getElementTypeOrSelf(input.getType()), loc);
  Value accumulator = block.addArgument(resultType, loc);
  ArrayRef<BlockArgument> arguments = block.getArguments();

  IRMapping mapping;
  for (auto [original, counterpart] : llvm::zip(nonlinearArguments, arguments))
    mapping.map(original, counterpart);
  SmallVector<Value> linearArguments;
  for (OpOperand &other : op->getOpOperands())
    if (op.isDpsInit(&other) || transposer.isLinear(other.get()))
      linearArguments.push_back(op.getMatchingBlockArgument(&other));
  std::unique_ptr<Transposer> nested = transposer.createNested(
      OpBuilder::atBlockEnd(&block), *op.getBlock(), linearArguments, mapping);
  auto cotangents = arguments.drop_front(nonlinearArguments.size());
  Operation *yield = op.getBlock()->getTerminator();
  for (auto [index, number] : llvm::enumerate(results)) {
    Support support;
    if (maskOfResult[index])
      support = Support::of(arguments[*maskOfResult[index]]);
    nested->accumulate(yield->getOperand(number), cotangents[index], support,
                       /*isSelected=*/true);
  }
  if (failed(nested->run()))
    return failure();

  Value argument = op.getMatchingBlockArgument(&operand);
  Support support = nested->support(argument);
  Value value =
      isCotangent ? nested->unroundedCotangent(argument) : support.mask;
  Built built;
  if (!value) {
    transposed->erase();
    return built;
  }
  built.op = transposed;
  built.hasSupport = static_cast<bool>(support);
  if (auto input = dyn_cast_or_null<BlockArgument>(support.mask))
    if (input.getOwner() == &block)
      built.supportInput = input.getArgNumber();
  OpBuilder &inner = nested->builder;
  // A sum of negated terms is negated once.
  Value positive =
      reduces && isCotangent ? dropNegation(inner, value) : Value();
  bool isNegated = static_cast<bool>(positive);
  if (isNegated)
    value = positive;
  if (reduces && isCotangent) {
    // Another operand may have that cotangent already.
    for (auto [index, whole] : llvm::enumerate(wholes))
      if (nested->unroundedCotangent(
              op.getMatchingBlockArgument(whole.first)) == value)
        value = arguments[firstWhole + index];
    value = createFloatCast(inner, loc, value, resultType);
    value = arith::AddFOp::create(inner, loc, accumulator, value);
  } else if (reduces) {
    value = arith::OrIOp::create(inner, loc, accumulator, value);
  } else if (isCotangent) {
    value = createFloatCast(inner, loc, value, resultType);
  }
  linalg::YieldOp::create(inner, loc, value);
  eraseDeadOps(block);
  built.result = transposed->getResult(0);
  if (isNegated)
    built.result = negateSum(builder, loc, built.result);
  return built;
}

/// The support that the selections in the region give.
FailureOr<Support> TransposedGeneric::supportInRegion(OpOperand &operand,
                                                      const Built &built) {
  if (!built.hasSupport)
    return Support();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  std::optional<unsigned> input = built.supportInput;
  bool hasSparse = llvm::any_of(op->getOperandTypes(), isSparse);
  // What a sum with a sparse factor reaches would be another sparse product:
  // the mask alone says nearly as much. That of one result says nothing of
  // another.
  linalg::LinalgOp transposed = built.op;
  bool isSparseSum = hasSparse && transposed.getNumReductionLoops() != 0;
  if (isSparseSum && !input && results.size() == 1)
    input = maskOfResult.front();
  // A mask that is there already, if the operand has the dimensions that it
  // ranges over.
  if (input && map.isProjectedPermutation() &&
      maps[*input].isProjectedPermutation() &&
      (hasSparse || coversMask(map, maps[*input])))
    return projectMask(transposer.builder, loc, inputs[*input], maps[*input],
                       map);
  if (isSparseSum)
    return Support();
  FailureOr<Built> mask = build(operand, TransposedQuantity::Support);
  if (failed(mask))
    return failure();
  return Support::of(mask->result);
}

/// The elements of the dense operand at which each sparse tensor that `built`
/// multiplies by, or selects with, stores something, if all of its dimensions
/// are the operand's: elsewhere the cotangent is absent (semantics G1). Those
/// that `known` has the pattern of say nothing more.
Support TransposedGeneric::restrictToPatterns(OpOperand &operand,
                                              const Built &built,
                                              Support known) {
  OpBuilder &builder = transposer.builder;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (isSparse(operand.get().getType()) || !map.isProjectedPermutation())
    return known;
  linalg::LinalgOp transposed = built.op;
  SparsePatterns patterns;
  SmallVector<std::pair<Value, AffineMap>> restricting;
  auto isNew = [&](Value origin, AffineMap to) {
    return !llvm::is_contained(restricting, std::make_pair(origin, to));
  };
  if (known && isSparse(known.mask.getType()))
    restricting.emplace_back(patterns.originOf(known.mask), known.map);
  std::optional<ScalarTerms> terms;
  for (OpOperand *input : transposed.getDpsInputOperands()) {
    AffineMap inputMap = transposed.getMatchingIndexingMap(input);
    if (!isSparse(input->get().getType()) ||
        !inputMap.isProjectedPermutation() || !coversMask(map, inputMap))
      continue;
    if (!terms)
      terms.emplace(transposed);
    const Term *absent = terms->getYieldsWithout(*input).front();
    OpOperand *init = transposed.getDpsInitOperand(0);
    if (transposed.payloadUsesValueFromOperand(init)
            ? !terms->isArgument(absent, init->getOperandNumber())
            : !ScalarTerms::isZero(absent))
      continue;
    Value origin = patterns.originOf(input->get());
    bool isMask = getElementTypeOrSelf(input->get().getType()).isInteger(1);
    Support stored =
        projectMask(builder, loc,
                    isMask ? input->get() : createPattern(builder, loc, origin),
                    inputMap, map);
    if (!isNew(origin, stored.map))
      continue;
    restricting.emplace_back(origin, stored.map);
    known = intersectSupports(builder, loc, transposer.shapeOf(operand.get()),
                              known, stored);
  }
  return known;
}

FailureOr<Support> TransposedGeneric::supportOf(OpOperand &operand,
                                                const Built &built) {
  FailureOr<Support> support = supportInRegion(operand, built);
  if (failed(support))
    return failure();
  return restrictToPatterns(operand, built, *support);
}

LogicalResult TransposedGeneric::addCotangentOf(OpOperand &operand) {
  FailureOr<Built> built = build(operand, TransposedQuantity::Cotangent);
  if (failed(built))
    return failure();
  if (!built->result)
    return success();
  if (factorSupport) {
    // Zero times what the coefficient holds.
    transposer.accumulate(operand.get(), built->result, *factorSupport);
    return success();
  }
  FailureOr<Support> support = supportOf(operand, *built);
  if (failed(support))
    return failure();
  // What no iteration reads is reached no more than what a mask leaves out.
  if (!*support && !isReachedInWhole(op, operand))
    *support = createReach(transposer.builder, op, operand,
                           transposer.shapeOf(operand.get()), [&](Value value) {
                             return transposer.isLinear(value)
                                        ? transposer.shapeOf(value)
                                        : transposer.primal(value);
                           });
  Value cotangent = built->result;
  // That of a sparse operand is known on its pattern alone.
  if (op.getMatchingIndexingMap(&operand).isPermutation() &&
      !isSparse(operand.get().getType()))
    wholes.emplace_back(&operand, cotangent);
  if (!isa<RankedTensorType>(operand.get().getType()))
    cotangent = tensor::ExtractOp::create(transposer.builder, loc, cotangent);
  // The region has selected already.
  transposer.accumulate(operand.get(), cotangent, *support,
                        /*isSelected=*/true);
  return success();
}

LogicalResult TransposedGeneric::addCotangentsOfInits() {
  for (OpResult result : op->getResults()) {
    OpOperand *init = op.getDpsInitOperand(result.getResultNumber());
    if (!transposer.isLinear(init->get()) ||
        !op.payloadUsesValueFromOperand(init))
      continue;
    if (op.getNumReductionLoops() == 0) {
      if (failed(addCotangentOf(*init)))
        return failure();
      continue;
    }
    // A sum passes the cotangent of the result on to where it started.
    transposer.accumulate(init->get(), transposer.unroundedCotangent(result),
                          transposer.support(result), /*isSelected=*/true);
  }
  return success();
}

LogicalResult sparse_autograd::transposeGeneric(linalg::LinalgOp op,
                                                Transposer &transposer) {
  TransposedGeneric transposed(op, transposer);
  // Those with an element for each iteration first: others are sums of them.
  for (bool isWhole : {true, false})
    for (OpOperand *input : op.getDpsInputOperands())
      if (transposer.isLinear(input->get()) &&
          op.getMatchingIndexingMap(input).isPermutation() == isWhole &&
          failed(transposed.addCotangentOf(*input)))
        return failure();
  // Scalars that are linear are operands.
  for (Value source : capturedLinearValues(op->getRegions(), transposer))
    transposeGather(op, source, transposer);
  return transposed.addCotangentsOfInits();
}
