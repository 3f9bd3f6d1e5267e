//===- SparseOps.cpp - ops on sparse tensors ------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Canonicalization.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace sparse_autograd;

/// Checks that `result` has the encoding and the shape of `pattern`.
static LogicalResult verifyOnPattern(Operation *op, RankedTensorType pattern,
                                     RankedTensorType result) {
  if (pattern.getEncoding() == result.getEncoding() &&
      succeeded(verifyCompatibleShape(pattern, result)))
    return success();
  return op->emitOpError("has a pattern of type ")
         << pattern << " and a result of type " << result
         << "; shape and encoding must be the same";
}

/// The op that made the pattern that `value` shares, as far as it is an op that
/// passes patterns on.
static Value skipPatterns(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto pattern = dyn_cast<PatternOp>(op))
      value = pattern.getInput();
    else if (auto zeros = dyn_cast<ZerosOp>(op))
      value = zeros.getPattern();
    else if (auto with = dyn_cast<WithValuesOp>(op))
      value = with.getPattern();
    else
      break;
  }
  return value;
}

//===----------------------------------------------------------------------===//
// PatternOp
//===----------------------------------------------------------------------===//

LogicalResult PatternOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location>,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  auto input = dyn_cast<RankedTensorType>(operands.front().getType());
  if (!input)
    return failure();
  types.push_back(input.clone(IntegerType::get(context, 1)));
  return success();
}

OpFoldResult PatternOp::fold(FoldAdaptor) {
  if (getInput().getDefiningOp<PatternOp>())
    return getInput();
  // The values are not read.
  Value source = skipPatterns(getInput());
  if (source == getInput() || cast<ShapedType>(source.getType()).getShape() !=
                                  cast<ShapedType>(getType()).getShape())
    return {};
  getInputMutable().assign(source);
  return getResult();
}

//===----------------------------------------------------------------------===//
// ZerosOp
//===----------------------------------------------------------------------===//

LogicalResult ZerosOp::verify() {
  return verifyOnPattern(*this, cast<RankedTensorType>(getPattern().getType()),
                         cast<RankedTensorType>(getType()));
}

OpFoldResult ZerosOp::fold(FoldAdaptor) {
  if (getPattern().getDefiningOp<ZerosOp>() &&
      getPattern().getType() == getType())
    return getPattern();
  Value source = skipPatterns(getPattern());
  if (source == getPattern())
    return {};
  getPatternMutable().assign(source);
  return getResult();
}

//===----------------------------------------------------------------------===//
// StoredValuesOp, WithValuesOp
//===----------------------------------------------------------------------===//

/// Checks that `list` has elements of the type that `tensor` stores.
static LogicalResult verifyValues(Operation *op, Type list, Type tensor) {
  if (getElementTypeOrSelf(list) == getElementTypeOrSelf(tensor))
    return success();
  return op->emitOpError("has values of ")
         << getElementTypeOrSelf(list) << " for a tensor of "
         << getElementTypeOrSelf(tensor);
}

LogicalResult StoredValuesOp::verify() {
  return verifyValues(*this, getType(), getInput().getType());
}

OpFoldResult StoredValuesOp::fold(FoldAdaptor) {
  auto source = getInput().getDefiningOp<WithValuesOp>();
  return source && source.getValues().getType() == getType()
             ? source.getValues()
             : Value();
}

LogicalResult StoredCoordinatesOp::verify() {
  auto encoding = sparse_tensor::getSparseTensorEncoding(getInput().getType());
  uint64_t level = getLevel().getZExtValue();
  if (level >= static_cast<uint64_t>(encoding.getLvlRank()))
    return emitOpError("asks for level ")
           << level << " of a tensor with " << encoding.getLvlRank();
  if (!getFormat(encoding.getLvlType(level)).hasCoordinates())
    return emitOpError("asks for the coordinates of level ")
           << level << " of a tensor of type " << getInput().getType()
           << ", which stores none";
  return success();
}

LogicalResult WithValuesOp::verify() {
  if (failed(verifyValues(*this, getValues().getType(), getType())))
    return failure();
  return verifyOnPattern(*this, cast<RankedTensorType>(getPattern().getType()),
                         cast<RankedTensorType>(getType()));
}

//===----------------------------------------------------------------------===//
// SampleOp
//===----------------------------------------------------------------------===//

LogicalResult SampleOp::verify() {
  auto result = cast<RankedTensorType>(getType());
  if (failed(verifyOnPattern(
          *this, cast<RankedTensorType>(getPattern().getType()), result)))
    return failure();
  RankedTensorType input = getInput().getType();
  if (input.getElementType() != result.getElementType() ||
      failed(verifyCompatibleShape(input, result)))
    return emitOpError("samples ")
           << input << ", but its result is " << result
           << "; shape and element type must be the same";
  return success();
}

void SampleOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  populateSamplePatterns(patterns);
}

//===----------------------------------------------------------------------===//
// SampledGenericOp
//===----------------------------------------------------------------------===//

void SampledGenericOp::build(
    OpBuilder &builder, OperationState &state, ValueRange inputs, Value init,
    ArrayRef<AffineMap> indexingMaps,
    ArrayRef<utils::IteratorType> iteratorTypes,
    llvm::function_ref<void(OpBuilder &, Location, ValueRange)> buildBody) {
  SmallVector<Attribute> iterators =
      llvm::map_to_vector(iteratorTypes, [&](auto type) -> Attribute {
        return linalg::IteratorTypeAttr::get(builder.getContext(), type);
      });
  build(builder, state, init.getType(), inputs, init,
        builder.getAffineMapArrayAttr(indexingMaps),
        builder.getArrayAttr(iterators));
  if (!buildBody)
    return;
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(state.regions.front().get());
  for (Value operand : state.operands)
    block->addArgument(getElementTypeOrSelf(operand.getType()), state.location);
  buildBody(builder, state.location, block->getArguments());
}

bool SampledGenericOp::hasIndexSemantics() {
  return !getBody()->getOps<linalg::IndexOp>().empty();
}

std::string SampledGenericOp::getLibraryCallName() { return ""; }

void SampledGenericOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {
  // On tensors; what the region does is asked of the region.
}

/// Whether `loop` is the index of one dimension, and of nothing else.
static bool hasOwnDimension(AffineMap map, unsigned loop) {
  AffineExpr index = getAffineDimExpr(loop, map.getContext());
  return llvm::is_contained(map.getResults(), index) &&
         llvm::count_if(map.getResults(), [&](AffineExpr expr) {
           return expr.isFunctionOfDim(loop);
         }) == 1;
}

LogicalResult SampledGenericOp::verify() {
  if (getInit().getType() != getResult().getType())
    return emitOpError("has an init of type ")
           << getInit().getType() << " and a result of type "
           << getResult().getType() << "; they are the same";
  // The interface, which is verified later, says that maps are missing.
  if (getIndexingMaps().size() != getNumOperands())
    return success();
  AffineMap map = cast<linalg::LinalgOp>(getOperation())
                      .getMatchingIndexingMap(&getInitMutable());
  SmallVector<utils::IteratorType> iterators =
      cast<linalg::LinalgOp>(getOperation()).getIteratorTypesArray();
  for (auto [loop, type] : llvm::enumerate(iterators))
    if (hasOwnDimension(map, loop) != (type == utils::IteratorType::parallel))
      return emitOpError("has a ")
             << stringifyIteratorType(type) << " loop " << loop
             << "; the loops that are the index of one dimension of the "
                "destination are parallel, the others reductions";
  return success();
}

namespace {
/// Inputs that the region does not read go, and equal ones become one.
struct DropInputs : OpRewritePattern<SampledGenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SampledGenericOp op,
                                PatternRewriter &rewriter) const override {
    auto structured = cast<linalg::LinalgOp>(op.getOperation());
    SmallVector<AffineMap> maps = structured.getIndexingMapsArray();
    SmallVector<Value> inputs;
    SmallVector<AffineMap> keptMaps;
    // What stands for each argument of the region: an input that is kept, or
    // nothing.
    SmallVector<std::optional<unsigned>> places;
    for (auto [index, input] : llvm::enumerate(op.getInputs())) {
      std::optional<unsigned> &place = places.emplace_back();
      if (op.getBody()->getArgument(index).use_empty())
        continue;
      for (auto [other, map] : llvm::enumerate(keptMaps))
        if (inputs[other] == input && map == maps[index])
          place = other;
      if (place)
        continue;
      place = inputs.size();
      inputs.push_back(input);
      keptMaps.push_back(maps[index]);
    }
    if (inputs.size() == op.getInputs().size())
      return failure();
    keptMaps.push_back(maps.back());
    // The loops have their extents from operands.
    if (!inversePermutation(concatAffineMaps(keptMaps, op.getContext())))
      return failure();

    auto replacement =
        SampledGenericOp::create(rewriter, op.getLoc(), inputs, op.getInit(),
                                 keptMaps, structured.getIteratorTypesArray());
    Block *body = rewriter.createBlock(&replacement.getRegion());
    for (Value operand : replacement->getOperands())
      body->addArgument(getElementTypeOrSelf(operand.getType()), op.getLoc());
    SmallVector<Value> arguments;
    for (auto [index, place] : llvm::enumerate(places))
      // What is not read may be anything of its type.
      arguments.push_back(place ? body->getArgument(*place) : Value());
    arguments.push_back(body->getArguments().back());
    rewriter.mergeBlocks(op.getBody(), body, arguments);
    rewriter.replaceOp(op, replacement);
    return success();
  }
};
} // namespace

void SampledGenericOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                   MLIRContext *context) {
  patterns.add<DropInputs>(context);
  populateCopyToPatternPatterns(patterns);
}
