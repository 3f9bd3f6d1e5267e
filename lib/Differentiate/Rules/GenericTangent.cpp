//===- GenericTangent.cpp - the tangent of linalg.generic ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GenericTangent.h"
#include "GatherRule.h"
#include "SparseAutograd/Analysis/ArithmeticCost.h"
#include "SparseAutograd/Analysis/Contraction.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Analysis/ThresholdSelect.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// The tangent of a generic with respect to some of its operands.
class TangentGeneric {
public:
  TangentGeneric(linalg::LinalgOp op, Linearizer &linearizer)
      : op(op), linearizer(linearizer), loc(op.getLoc()) {
    for (OpOperand *input : op.getDpsInputOperands())
      addInput(input->get(), op.getMatchingIndexingMap(input),
               op.getMatchingBlockArgument(input));
    // Without a reduction an init that is read is an input like the others.
    if (reduces())
      return;
    for (OpResult result : op->getResults())
      if (OpOperand *init = op.getDpsInitOperand(result.getResultNumber());
          op.payloadUsesValueFromOperand(init))
        addInput(init->get(), op.getMatchingIndexingMap(init),
                 op.getMatchingBlockArgument(init));
  }

  bool reduces() { return op.getNumReductionLoops() != 0; }

  /// Scalars that the region reads from outside become operands.
  LogicalResult addCapturedValues();

  /// Builds the tangent in which the operands of `active` vary; the others are
  /// held. Its accumulation starts at `inits`, one for each active result.
  /// Returns the tangents of the active results.
  FailureOr<SmallVector<Value>> build(ArrayRef<unsigned> active,
                                      ArrayRef<Value> inits);

  /// What the tangent of a result starts from.
  Value createStart(unsigned result);

  ArrayRef<unsigned> getActiveInputs() const { return activeInputs; }
  ArrayRef<unsigned> getActiveResults() const { return activeResults; }

  /// Whether a sparse operand has a dense tangent: then that of a sparse result
  /// has elements beyond its pattern.
  bool hasDenseTangent() const {
    auto isDenseOf = [&](Value value) {
      Value tangent = linearizer.tangent(value);
      return tangent && isSparse(value.getType()) &&
             !isSparse(tangent.getType());
    };
    return !isa<SampledGenericOp>(op) &&
           llvm::any_of(op->getOperands(), isDenseOf);
  }

  void findActiveResults() {
    for (OpResult result : op->getResults())
      if (linearizer.isActive(result))
        activeResults.push_back(result.getResultNumber());
  }

private:
  void addInput(Value value, AffineMap map, Value inRegion) {
    if (linearizer.tangent(value))
      activeInputs.push_back(inputs.size());
    inputs.push_back(value);
    maps.push_back(map);
    regionValues.push_back(inRegion);
  }

  SmallVector<OpResult> findReusable();

  linalg::LinalgOp op;
  Linearizer &linearizer;
  Location loc;
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  /// What the region of `op` calls the element of each input.
  SmallVector<Value> regionValues;
  SmallVector<unsigned> activeInputs, activeResults;
};

} // namespace

LogicalResult TangentGeneric::addCapturedValues() {
  for (Value value : getCapturedValues(op->getRegions())) {
    if (!linearizer.tangent(value))
      continue;
    if (isa<RankedTensorType>(value.getType())) {
      if (isGatherOf(op, value))
        continue;
      InFlightDiagnostic diagnostic = op.emitOpError(
          "reads a tensor that is being differentiated from inside its "
          "region, which has no derivative rule; make the tensor an operand "
          "with an indexing map");
      diagnostic.attachNote(value.getLoc()) << "the tensor is defined here";
      return diagnostic;
    }
    addInput(value, AffineMap::get(op.getNumLoops(), 0, op.getContext()),
             value);
  }
  return success();
}

/// The results whose elements are read rather than computed again: of a
/// reduction they are not those of an iteration, and what is as cheap as the
/// read may as well be computed, unless what it is computed of need not be.
SmallVector<OpResult> TangentGeneric::findReusable() {
  SmallVector<OpResult> reusable;
  bool isDense = llvm::none_of(op->getOperandTypes(), isSparse);
  for (OpResult result : op->getResults()) {
    OpOperand *init = op.getDpsInitOperand(result.getResultNumber());
    Value yielded = op.getMatchingYieldValue(init)->get();
    Operation *computed = yielded.getDefiningOp();
    if (!reduces() && computed && computed->getBlock() == op.getBlock() &&
        (getArithmeticCost(*computed) > 1 ||
         (isDense && getToldComparison(yielded))))
      reusable.push_back(result);
  }
  return reusable;
}

Value TangentGeneric::createStart(unsigned result) {
  OpBuilder &builder = linearizer.builder;
  Value init = op.getDpsInits()[result];
  Value value = op->getResult(result);
  Value start = reduces() ? linearizer.tangent(init) : Value();
  // The tangent of a sparse result has its pattern.
  if (isSparse(value.getType()) && !hasDenseTangent()) {
    if (!start)
      return createZero(builder, loc, value);
    return isSparse(start.getType())
               ? start
               : createCopyLike(builder, loc, start, value);
  }
  Value like = createDenseLike(builder, loc, init);
  if (!reduces())
    return createEmptyLike(builder, loc, like,
                           getElementTypeOrSelf(like.getType()));
  if (!start)
    return createZero(builder, loc, like);
  return isSparse(start.getType()) ? createCopyLike(builder, loc, start, like)
                                   : start;
}

FailureOr<SmallVector<Value>> TangentGeneric::build(ArrayRef<unsigned> active,
                                                    ArrayRef<Value> inits) {
  OpBuilder &builder = linearizer.builder;
  SmallVector<Value> operands(inputs);
  SmallVector<AffineMap> operandMaps(maps);
  for (unsigned index : active) {
    operands.push_back(linearizer.tangent(inputs[index]));
    operandMaps.push_back(maps[index]);
  }
  SmallVector<OpResult> reusable = findReusable();
  for (OpResult result : reusable) {
    operands.push_back(result);
    operandMaps.push_back(op.getIndexingMapMatchingResult(result));
  }
  for (unsigned result : activeResults)
    operandMaps.push_back(
        op.getIndexingMapMatchingResult(op->getResult(result)));
  Operation *tangent =
      isSparse(inits.front().getType())
          ? createStructured(builder, loc, operands, inits.front(), operandMaps,
                             op.getIteratorTypesArray())
                .getOperation()
          : linalg::GenericOp::create(
                builder, loc, TypeRange(ValueRange(inits)), operands, inits,
                operandMaps, op.getIteratorTypesArray());

  // The region computes the primal scalars again, and their tangents.
  Block &block = tangent->getRegion(0).emplaceBlock();
  IRMapping mapping;
  for (auto [value, inRegion] : llvm::zip_equal(inputs, regionValues)) {
    Value element =
        block.addArgument(getElementTypeOrSelf(value.getType()), loc);
    mapping.map(inRegion, element);
  }
  for (unsigned index : active) {
    Value element =
        block.addArgument(getElementTypeOrSelf(inputs[index].getType()), loc);
    linearizer.setTangent(mapping.lookup(regionValues[index]), element);
  }
  SmallVector<Value> reused;
  for (OpResult result : reusable)
    reused.push_back(
        block.addArgument(getElementTypeOrSelf(result.getType()), loc));
  SmallVector<Value> accumulators;
  for (Value init : inits)
    accumulators.push_back(
        block.addArgument(getElementTypeOrSelf(init.getType()), loc));
  // Running values of the primal reduction: no tangent may depend on them.
  unsigned firstRunning = block.getNumArguments();
  if (reduces())
    for (auto [index, running] : llvm::enumerate(op.getRegionOutputArgs())) {
      Value counterpart = block.addArgument(running.getType(), loc);
      mapping.map(running, counterpart);
      auto *it = llvm::find(activeResults, index);
      if (it != activeResults.end())
        linearizer.setTangent(counterpart,
                              accumulators[it - activeResults.begin()]);
    }
  OpBuilder inner = OpBuilder::atBlockEnd(&block);
  for (Operation &nested : *op.getBlock())
    inner.clone(nested, mapping);
  if (failed(linearizer.linearizeBlock(block)))
    return failure();

  Operation *terminator = block.getTerminator();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(terminator);
  SmallVector<Value> yielded;
  for (auto [position, result] : llvm::enumerate(activeResults)) {
    Value primal = terminator->getOperand(result);
    Value value = tangentOrZero(linearizer, primal, loc);
    yielded.push_back(value);
  }
  for (auto [result, element] : llvm::zip_equal(reusable, reused)) {
    Value computed = terminator->getOperand(result.getResultNumber());
    if (arith::CmpFOp comparison = getToldComparison(computed)) {
      builder.setInsertionPoint(comparison);
      auto told = arith::CmpFOp::create(
          builder, loc, comparison.getPredicateAttr(), element,
          comparison.getRhs(), comparison.getFastmathAttr());
      comparison.getResult().replaceUsesWithIf(told, [&](OpOperand &use) {
        return use.getOwner() != computed.getDefiningOp();
      });
      builder.setInsertionPoint(terminator);
    }
    computed.replaceAllUsesWith(element);
  }
  terminator->setOperands(yielded);
  for (Operation &nested : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&nested))
      linearizer.retire(&nested);
  for (unsigned index = firstRunning; index < block.getNumArguments();
       ++index) {
    if (block.getArgument(index).use_empty())
      continue;
    return op.emitOpError(
        "combines in a way that has no derivative rule: the derivative depends "
        "on the running value; reduce by addition, maximumf, minimumf or mulf");
  }
  for (BlockArgument running : block.getArguments().drop_front(firstRunning))
    linearizer.forget(running);
  block.eraseArguments(firstRunning, block.getNumArguments() - firstRunning);
  return SmallVector<Value>(tangent->getResults());
}

LogicalResult sparse_autograd::linearizeGeneric(linalg::LinalgOp op,
                                                Linearizer &linearizer) {
  // As the lowering says of such an op. Its tangent would be one too.
  if (op->getNumResults() != 1 && llvm::any_of(op->getResultTypes(), isSparse))
    return op.emitOpError("makes a sparse tensor and something else; use an op "
                          "for each result");
  TangentGeneric tangent(op, linearizer);
  tangent.findActiveResults();
  if (failed(tangent.addCapturedValues()))
    return failure();

  SmallVector<Value> inits;
  for (unsigned result : tangent.getActiveResults())
    inits.push_back(tangent.createStart(result));

  // A contraction or a convolution varies one operand at a time, each product
  // added to the last: every one of them is a contraction or a convolution.
  SmallVector<SmallVector<unsigned>> groups;
  if ((isContraction(op) || linalg::isaConvolutionOpInterface(op)) &&
      tangent.getActiveInputs().size() > 1) {
    for (unsigned index : tangent.getActiveInputs())
      groups.push_back({index});
  } else {
    groups.push_back(SmallVector<unsigned>(tangent.getActiveInputs()));
  }
  for (ArrayRef<unsigned> group : groups) {
    FailureOr<SmallVector<Value>> tangents = tangent.build(group, inits);
    if (failed(tangents))
      return failure();
    inits = *tangents;
    for (auto [result, value] :
         llvm::zip_equal(tangent.getActiveResults(), inits))
      linearizer.noteShape(value, op->getResult(result));
  }
  for (auto [result, value] :
       llvm::zip_equal(tangent.getActiveResults(), inits))
    linearizer.setTangent(op->getResult(result), value);
  return success();
}
