//===- LinalgRules.cpp - the derivative of linalg.generic -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule for every structured op, derived from its region and its maps. The
// tangent is a generic over the same space that also reads the tangents of the
// operands; its transpose has, for each linear operand, a generic over the same
// space that writes through the map of that operand: of a convolution one that
// scatters, whose transpose is a convolution again.
//
// Named ops have become generics by then (Normalization.cpp).
//
//===----------------------------------------------------------------------===//

#include "ControlFlowRules.h"
#include "GatherRule.h"
#include "MatrixProduct.h"
#include "OperandReach.h"
#include "Refused.h"
#include "SparseAutograd/Analysis/ArithmeticCost.h"
#include "SparseAutograd/Differentiate/Rules.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace sparse_autograd;

/// Erases the ops of `block` that nothing uses.
static void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

static Value createEmpty(OpBuilder &builder, Location loc, Value like,
                         Type elementType) {
  return tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, like), elementType);
}

static Value createFilled(OpBuilder &builder, Location loc, Value like,
                          TypedAttr element) {
  Value empty = createEmpty(builder, loc, like, element.getType());
  Value scalar = arith::ConstantOp::create(builder, loc, element);
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

//===----------------------------------------------------------------------===//
// Tangent
//===----------------------------------------------------------------------===//

namespace {

/// The tangent of a generic with respect to some of its operands.
class TangentGeneric {
public:
  TangentGeneric(linalg::GenericOp op, Linearizer &linearizer)
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

  ArrayRef<unsigned> getActiveInputs() const { return activeInputs; }
  ArrayRef<unsigned> getActiveResults() const { return activeResults; }

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

  linalg::GenericOp op;
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
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured) {
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
/// read may as well be computed.
SmallVector<OpResult> TangentGeneric::findReusable() {
  SmallVector<OpResult> reusable;
  for (OpResult result : op->getResults()) {
    OpOperand *init = op.getDpsInitOperand(result.getResultNumber());
    Operation *computed = op.getMatchingYieldValue(init)->get().getDefiningOp();
    if (!reduces() && computed && computed->getBlock() == op.getBody() &&
        getArithmeticCost(*computed) > 1)
      reusable.push_back(result);
  }
  return reusable;
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
  auto tangent = linalg::GenericOp::create(
      builder, loc, TypeRange(ValueRange(inits)), operands, inits, operandMaps,
      op.getIteratorTypesArray());

  // The region computes the primal scalars again, and their tangents.
  Block &block = tangent.getRegion().emplaceBlock();
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
  for (auto [index, running] : llvm::enumerate(op.getRegionOutputArgs())) {
    if (!reduces())
      break;
    Value counterpart = block.addArgument(running.getType(), loc);
    mapping.map(running, counterpart);
    auto *it = llvm::find(activeResults, index);
    if (it != activeResults.end())
      linearizer.setTangent(counterpart,
                            accumulators[it - activeResults.begin()]);
  }
  OpBuilder inner = OpBuilder::atBlockEnd(&block);
  for (Operation &nested : *op.getBody())
    inner.clone(nested, mapping);
  if (failed(linearizer.linearizeBlock(block)))
    return failure();

  Operation *terminator = block.getTerminator();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(terminator);
  SmallVector<Value> yielded;
  for (auto [position, result] : llvm::enumerate(activeResults)) {
    Value primal = terminator->getOperand(result);
    Value value = linearizer.tangentOrZero(primal, loc);
    yielded.push_back(value);
  }
  for (auto [result, element] : llvm::zip_equal(reusable, reused))
    terminator->getOperand(result.getResultNumber())
        .replaceAllUsesWith(element);
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
  return SmallVector<Value>(tangent.getResults());
}

//===----------------------------------------------------------------------===//
// Transpose
//===----------------------------------------------------------------------===//

namespace {

/// What a transposed generic computes: the cotangent of an operand, or where
/// that may differ from zero.
enum class TransposedQuantity { Cotangent, Support };

/// The transpose of a linear generic, one operand at a time.
class TransposedGeneric {
public:
  TransposedGeneric(linalg::GenericOp op, Transposer &transposer);

  LogicalResult addCotangentOf(OpOperand &operand);
  LogicalResult addCotangentsOfInits();

private:
  struct Built {
    /// Null if no cotangent reaches the operand.
    Value result;
    /// The scalar support in the region is an input: its position among them.
    std::optional<unsigned> supportInput;
    bool hasSupport = false;
  };
  FailureOr<Built> build(OpOperand &operand, TransposedQuantity quantity);
  FailureOr<Support> supportOf(OpOperand &operand, const Built &built);
  void setMaskOfProduct(Value mask, AffineMap map);
  Support supportOfFactor();

  linalg::GenericOp op;
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
  /// Of a product of matrices: the position of its coefficient in `inputs`; the
  /// mask of its cotangent, which its transpose does not read, and the map from
  /// the loops to the mask.
  std::optional<MatrixProduct> product;
  unsigned coefficient = 0;
  Value productMask;
  AffineMap productMaskMap;
};

} // namespace

TransposedGeneric::TransposedGeneric(linalg::GenericOp op,
                                     Transposer &transposer)
    : op(op), transposer(transposer), loc(op.getLoc()),
      product(matchMatrixProduct(
          op, [&](Value value) { return transposer.isLinear(value); })) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (transposer.isLinear(input->get()))
      continue;
    if (product && input == product->coefficient)
      coefficient = inputs.size();
    inputs.push_back(transposer.primal(input->get()));
    maps.push_back(op.getMatchingIndexingMap(input));
    nonlinearArguments.push_back(op.getMatchingBlockArgument(input));
  }
  for (OpResult result : op->getResults()) {
    Value cotangent = transposer.cotangent(result);
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
      continue;
    }
    maskOfResult.back() = inputs.size();
    inputs.push_back(support.mask);
    maps.push_back(map);
  }
}

/// Keeps the mask of the result of a product out of the region: frees the
/// coefficient from elements that would meet masked-out ones alone, unless the
/// result is selected or nobody asked for the mask.
void TransposedGeneric::setMaskOfProduct(Value mask, AffineMap map) {
  productMask = mask;
  productMaskMap = map;
  if (coversMask(op.getMatchingIndexingMap(product->factor), map) ||
      isComputedFromFloats(mask))
    return;
  Value &value = inputs[coefficient];
  Support met =
      projectMask(transposer.builder, loc, mask, map, maps[coefficient]);
  value = selectUnder(transposer.builder, loc, value, met);
}

/// The support of the factor of a product whose result has a mask.
Support TransposedGeneric::supportOfFactor() {
  AffineMap map = op.getMatchingIndexingMap(product->factor);
  if (!coversMask(map, productMaskMap) && isComputedFromFloats(productMask))
    return {};
  return projectMask(transposer.builder, loc, productMask, productMaskMap, map);
}

/// The type that a sum of `type` accumulates in (semantics G11).
static Type accumulationType(Type type) {
  return type.isF16() || type.isBF16() ? Float32Type::get(type.getContext())
                                       : type;
}

/// Rounds the elements of a tensor to `type`.
static Value truncate(OpBuilder &builder, Location loc, Value value,
                      Type type) {
  auto tensor = cast<RankedTensorType>(value.getType());
  Value init = createEmpty(builder, loc, value, type);
  AffineMap identity = builder.getMultiDimIdentityMap(tensor.getRank());
  SmallVector<utils::IteratorType> iterators(tensor.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, init.getType(), value, init,
             ArrayRef<AffineMap>{identity, identity}, iterators,
             [&](OpBuilder &nested, Location loc, ValueRange args) {
               Value rounded =
                   arith::TruncFOp::create(nested, loc, type, args[0]);
               linalg::YieldOp::create(nested, loc, rounded);
             })
      .getResult(0);
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
  Type resultType = !isCotangent ? Type(builder.getI1Type())
                    : reduces    ? accumulationType(elementType)
                                 : elementType;
  Value init;
  if (!isa<RankedTensorType>(operand.get().getType())) {
    // A scalar operand: its cotangent is gathered in a tensor of rank 0.
    auto type = RankedTensorType::get({}, resultType);
    init = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  } else {
    Value shape = transposer.shapeOf(operand.get());
    init = reduces ? createFilled(builder, loc, shape,
                                  builder.getZeroAttr(resultType))
                   : createEmpty(builder, loc, shape, resultType);
  }

  SmallVector<Value> allInputs(inputs);
  SmallVector<AffineMap> allMaps(maps);
  allMaps.push_back(map);
  // A loop whose extent only another linear operand has takes it from there.
  for (OpOperand *other : op.getDpsInputOperands()) {
    if (inversePermutation(concatAffineMaps(allMaps, op.getContext())))
      break;
    if (other == &operand || !transposer.isLinear(other->get()))
      continue;
    allInputs.push_back(transposer.shapeOf(other->get()));
    allMaps.insert(allMaps.end() - 1, op.getMatchingIndexingMap(other));
  }
  unsigned firstWhole = allInputs.size();
  for (auto [other, cotangent] : wholes) {
    if (!reduces || !isCotangent)
      break;
    allInputs.push_back(cotangent);
    allMaps.insert(allMaps.end() - 1, op.getMatchingIndexingMap(other));
  }
  auto transposed =
      linalg::GenericOp::create(builder, loc, init.getType(), allInputs,
                                ValueRange{init}, allMaps, iterators);
  Block &block = transposed.getRegion().emplaceBlock();
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
      OpBuilder::atBlockEnd(&block), *op.getBody(), linearArguments, mapping);
  auto cotangents = arguments.drop_front(nonlinearArguments.size());
  Operation *yield = op.getBody()->getTerminator();
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
  Value value = isCotangent ? nested->cotangent(argument) : support.mask;
  Built built;
  if (!value) {
    transposed.erase();
    return built;
  }
  built.hasSupport = static_cast<bool>(support);
  if (auto input = dyn_cast_or_null<BlockArgument>(support.mask))
    if (input.getOwner() == &block && input.getArgNumber() < inputs.size())
      built.supportInput = input.getArgNumber();
  OpBuilder &inner = nested->builder;
  if (reduces && isCotangent) {
    // Another operand may have that cotangent already.
    for (auto [index, whole] : llvm::enumerate(wholes))
      if (nested->cotangent(op.getMatchingBlockArgument(whole.first)) == value)
        value = arguments[firstWhole + index];
    if (resultType != elementType)
      value = arith::ExtFOp::create(inner, loc, resultType, value);
    value = arith::AddFOp::create(inner, loc, accumulator, value);
  } else if (reduces) {
    value = arith::OrIOp::create(inner, loc, accumulator, value);
  }
  linalg::YieldOp::create(inner, loc, value);
  eraseDeadOps(block);
  built.result = transposed.getResult(0);
  if (isCotangent && resultType != elementType)
    built.result = truncate(builder, loc, built.result, elementType);
  return built;
}

FailureOr<Support> TransposedGeneric::supportOf(OpOperand &operand,
                                                const Built &built) {
  if (!built.hasSupport)
    return Support();
  // A mask that is there already, if the operand has the dimensions that it
  // ranges over.
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (built.supportInput && map.isProjectedPermutation()) {
    AffineMap maskMap = maps[*built.supportInput];
    if (maskMap.isProjectedPermutation() && coversMask(map, maskMap))
      return projectMask(transposer.builder, loc, inputs[*built.supportInput],
                         maskMap, map);
  }
  FailureOr<Built> mask = build(operand, TransposedQuantity::Support);
  if (failed(mask))
    return failure();
  return Support::of(mask->result);
}

LogicalResult TransposedGeneric::addCotangentOf(OpOperand &operand) {
  FailureOr<Built> built = build(operand, TransposedQuantity::Cotangent);
  if (failed(built))
    return failure();
  if (!built->result)
    return success();
  if (productMask) {
    // Zero times what the coefficient holds.
    transposer.accumulate(operand.get(), built->result, supportOfFactor());
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
  if (op.getMatchingIndexingMap(&operand).isPermutation())
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
    transposer.accumulate(init->get(), transposer.cotangent(result),
                          transposer.support(result), /*isSelected=*/true);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

namespace {
struct GenericModel
    : LinearizableOpInterface::ExternalModel<GenericModel, linalg::GenericOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<linalg::GenericOp>(operation);
    if (!op.hasPureTensorSemantics())
      return op.emitOpError("works on memory, which is not differentiated; "
                            "differentiate before bufferization");
    TangentGeneric tangent(op, linearizer);
    tangent.findActiveResults();
    if (failed(tangent.addCapturedValues()))
      return failure();

    SmallVector<Value> inits;
    for (unsigned result : tangent.getActiveResults()) {
      Value init = op.getDpsInits()[result];
      inits.push_back(tangent.reduces()
                          ? linearizer.tangentOrZero(init, op.getLoc())
                          : createEmpty(linearizer.builder, op.getLoc(), init,
                                        getElementTypeOrSelf(init.getType())));
    }

    // A contraction or a convolution varies one operand at a time, each product
    // added to the last: every one of them is a contraction or a convolution.
    SmallVector<SmallVector<unsigned>> groups;
    if ((linalg::isaContractionOpInterface(op) ||
         linalg::isaConvolutionOpInterface(op)) &&
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

  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<linalg::GenericOp>(operation);
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
};

/// A linalg.pack that normalization could not rewrite.
struct PackModel
    : LinearizableOpInterface::ExternalModel<PackModel, linalg::PackOp> {
  LogicalResult linearize(Operation *op, Linearizer &) const {
    return op->emitOpError("has no derivative rule for tiles of unknown size; "
                           "use constants as inner_tiles");
  }
};
} // namespace

void sparse_autograd::registerLinalgDerivativeRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::GenericOp::attachInterface<GenericModel>(*context);
    linalg::PackOp::attachInterface<PackModel>(*context);
    attachRefused<linalg::WinogradFilterTransformOp,
                  linalg::WinogradInputTransformOp,
                  linalg::WinogradOutputTransformOp>(*context);
  });
}
