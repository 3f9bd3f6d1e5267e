//===- SparseOps.cpp - ops on sparse tensors ------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/IR/Matchers.h"
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
  if (!sparse_tensor::isWithCrdLT(encoding.getLvlType(level)))
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

static bool isZeros(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill && (matchPattern(fill.getInputs().front(), m_AnyZeroFloat()) ||
                  matchPattern(fill.getInputs().front(), m_Zero()));
}

/// Whether `op` copies the elements of a dense tensor to a pattern.
static bool isCopyToPattern(SampledGenericOp op) {
  auto structured = cast<linalg::LinalgOp>(op.getOperation());
  return op.getInit().getDefiningOp<ZerosOp>() && op.getInputs().size() == 1 &&
         op.getBody()->getTerminator()->getOperand(0) ==
             op.getBody()->getArgument(0) &&
         llvm::all_of(structured.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); });
}

/// Whether `op` asks for the elements of a tensor at a pattern alone.
static bool isSample(Operation *op) {
  auto sampled = dyn_cast<SampledGenericOp>(op);
  return isa<SampleOp>(op) || (sampled && isCopyToPattern(sampled));
}

/// The op that computes `input` and can compute elements at a pattern instead.
/// Null if there is none.
static linalg::LinalgOp getProducer(Value input) {
  auto producer = input.getDefiningOp<linalg::LinalgOp>();
  if (!producer || producer->getNumResults() != 1 ||
      llvm::any_of(producer->getOperandTypes(), isSparse))
    return {};
  AffineMap map =
      producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
  return map.isProjectedPermutation() &&
                 producer.getNumParallelLoops() == map.getNumResults()
             ? producer
             : linalg::LinalgOp();
}

/// Whether `producer` goes on from what its init holds.
static bool readsInit(linalg::LinalgOp producer) {
  OpOperand *init = producer.getDpsInitOperand(0);
  return producer.payloadUsesValueFromOperand(init) && !isZeros(init->get());
}

/// Whether `value`, which `reader` reads, is better sampled before it. Of
/// numbers samples may stay; those of masks must be replaced by what computes
/// them.
static bool isSampledFirst(Value value, linalg::LinalgOp reader) {
  if (!value.getDefiningOp<linalg::LinalgOp>())
    return false;
  // `reader` may have it as a destination, too, which it does not read.
  if (isa<FloatType>(getElementTypeOrSelf(value.getType())))
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      return user == reader || isSample(user);
    });
  linalg::LinalgOp producer = getProducer(value);
  return value.hasOneUse() && reader->hasOneUse() && producer &&
         !readsInit(producer);
}

/// Replaces `op`, the elements of `input` at `pattern`: what a structured op
/// computes for it, or for samples at several patterns, is computed at the
/// pattern, from samples of what it reads at the same element.
static LogicalResult sampleProducer(PatternRewriter &rewriter, Operation *op,
                                    Value input, Value pattern) {
  linalg::LinalgOp producer = getProducer(input);
  if (!producer || !llvm::all_of(producer->getUsers(), isSample))
    return failure();
  OpOperand *init = producer.getDpsInitOperand(0);
  AffineMap map = producer.getMatchingIndexingMap(init);
  Location loc = producer.getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value start;
  if (readsInit(producer))
    start = SampleOp::create(rewriter, loc, type, init->get(), pattern);
  else
    start = ZerosOp::create(rewriter, loc, type, pattern);
  SmallVector<Value> inputs;
  for (OpOperand *operand : producer.getDpsInputOperands()) {
    Value value = operand->get();
    if (producer.getMatchingIndexingMap(operand) == map &&
        isSampledFirst(value, producer))
      value = SampleOp::create(
          rewriter, loc, type.clone(getElementTypeOrSelf(value.getType())),
          value, pattern);
    inputs.push_back(value);
  }
  auto sampled = SampledGenericOp::create(rewriter, loc, inputs, start,
                                          producer.getIndexingMapsArray(),
                                          producer.getIteratorTypesArray());
  rewriter.cloneRegionBefore(producer->getRegion(0), sampled.getRegion(),
                             sampled.getRegion().begin());
  rewriter.replaceOp(op, sampled);
  // What it read alone can be sampled next.
  if (producer->use_empty())
    rewriter.eraseOp(producer);
  return success();
}

namespace {
struct SampleOfStructured : OpRewritePattern<SampleOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SampleOp op,
                                PatternRewriter &rewriter) const override {
    return sampleProducer(rewriter, op, op.getInput(), op.getPattern());
  }
};
} // namespace

void SampleOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<SampleOfStructured>(context);
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

namespace {
/// A copy of a dense tensor to a pattern is a sample.
struct CopyOfStructured : OpRewritePattern<SampledGenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SampledGenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isCopyToPattern(op))
      return failure();
    return sampleProducer(rewriter, op, op.getInputs().front(),
                          op.getInit().getDefiningOp<ZerosOp>().getPattern());
  }
};
} // namespace

void SampledGenericOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                   MLIRContext *context) {
  patterns.add<CopyOfStructured, DropInputs>(context);
}
