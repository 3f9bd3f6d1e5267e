//===- SparseAutogradOps.cpp - ops of the dialect -------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/LibraryOps.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

/// Parses `"name" %value, "name" %value, ...`.
static ParseResult
parseNamedValues(OpAsmParser &parser, ArrayAttr &names,
                 SmallVectorImpl<OpAsmParser::UnresolvedOperand> &values) {
  SmallVector<Attribute> parsed;
  auto parseOne = [&]() -> ParseResult {
    std::string name;
    if (parser.parseString(&name) || parser.parseOperand(values.emplace_back()))
      return failure();
    parsed.push_back(parser.getBuilder().getStringAttr(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(parseOne))
    return failure();
  names = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

static void printNamedValues(OpAsmPrinter &printer, Operation *,
                             ArrayAttr names, OperandRange values) {
  llvm::interleaveComma(
      llvm::zip_equal(names, values), printer, [&](auto pair) {
        printer << std::get<0>(pair) << ' ' << std::get<1>(pair);
      });
}

/// Parses `{indexing_maps = [...], iterator_types = ["parallel", ...]}`.
static ParseResult parseStructuredLoops(OpAsmParser &parser, ArrayAttr &maps,
                                        ArrayAttr &iteratorTypes) {
  ArrayAttr names;
  if (parser.parseLBrace() || parser.parseKeyword("indexing_maps") ||
      parser.parseEqual() || parser.parseAttribute(maps) ||
      parser.parseComma() || parser.parseKeyword("iterator_types") ||
      parser.parseEqual() || parser.parseAttribute(names) ||
      parser.parseRBrace())
    return failure();
  SmallVector<Attribute> types;
  for (Attribute attribute : names) {
    auto name = dyn_cast<StringAttr>(attribute);
    auto type = name ? utils::symbolizeIteratorType(name) : std::nullopt;
    if (!type)
      return parser.emitError(parser.getCurrentLocation())
             << "iterator_types lists " << attribute
             << "; it is a list of \"parallel\" and \"reduction\"";
    types.push_back(linalg::IteratorTypeAttr::get(parser.getContext(), *type));
  }
  iteratorTypes = parser.getBuilder().getArrayAttr(types);
  return success();
}

static void printStructuredLoops(OpAsmPrinter &printer, Operation *,
                                 ArrayAttr maps, ArrayAttr iteratorTypes) {
  printer << "{indexing_maps = " << maps << ", iterator_types = [";
  llvm::interleaveComma(iteratorTypes, printer, [&](Attribute type) {
    printer << '"'
            << stringifyIteratorType(
                   cast<linalg::IteratorTypeAttr>(type).getValue())
            << '"';
  });
  printer << "]}";
}

/// Parses `dense`, `sparse`, `ste` or `scaled<kept, pruned>`.
static ParseResult parseSelectionGradient(OpAsmParser &parser,
                                          SelectionGradientAttr &gradient,
                                          DenseF64ArrayAttr &scales) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<SelectionGradient> kind = symbolizeSelectionGradient(keyword);
  if (!kind)
    return parser.emitError(loc)
           << "'" << keyword
           << "' is no gradient of a selection; it is dense, sparse, ste or "
              "scaled<kept, pruned>";
  gradient = SelectionGradientAttr::get(parser.getContext(), *kind);
  if (*kind != SelectionGradient::Scaled)
    return success();
  double kept, pruned;
  if (parser.parseLess() || parser.parseFloat(kept) || parser.parseComma() ||
      parser.parseFloat(pruned) || parser.parseGreater())
    return failure();
  scales = parser.getBuilder().getDenseF64ArrayAttr({kept, pruned});
  return success();
}

static void printSelectionGradient(OpAsmPrinter &printer, Operation *,
                                   SelectionGradientAttr gradient,
                                   DenseF64ArrayAttr scales) {
  printer << stringifySelectionGradient(gradient.getValue());
  if (!scales)
    return;
  printer << '<';
  llvm::interleaveComma(scales.asArrayRef(), printer, [&](double scale) {
    printer.printFloat(APFloat(scale));
  });
  printer << '>';
}

#define GET_OP_CLASSES
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradOps.cpp.inc"

void SparseAutogradDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradLibraryOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradPackingOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// What masked ops share
//===----------------------------------------------------------------------===//

/// The dimensions listed by an optional 'mask_dims'; all of them by default.
static SmallVector<int64_t>
maskDimensions(std::optional<ArrayRef<int64_t>> listed, Value masked) {
  if (listed)
    return SmallVector<int64_t>(*listed);
  return llvm::to_vector(llvm::seq<int64_t>(
      0, cast<RankedTensorType>(masked.getType()).getRank()));
}

/// Removes the optional mask of `op` and the list of its dimensions.
template <typename OpTy>
static bool removeOptionalMask(OpTy op) {
  op.getMaskMutable().clear();
  op.removeMaskDimsAttr();
  return true;
}

/// Checks that `dims` lists dimensions of `type`, each once.
static LogicalResult verifyDimensions(Operation *op, RankedTensorType type,
                                      ArrayRef<int64_t> dims) {
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= type.getRank())
      return op->emitOpError("'dims' lists dimension ")
             << dim << " of " << type << ", which has rank " << type.getRank();
    if (!seen.insert(dim).second)
      return op->emitOpError("'dims' lists dimension ") << dim << " twice";
  }
  return success();
}

/// An attribute for 'mask_dims', null where the mask ranges over all of them.
/// So does one of the rank of what it masks if `dims` is empty.
static DenseI64ArrayAttr maskDimensionsAttr(OpBuilder &builder, Value masked,
                                            Value mask,
                                            ArrayRef<int64_t> dims) {
  if (!mask)
    return {};
  int64_t rank = cast<RankedTensorType>(masked.getType()).getRank();
  int64_t maskRank = cast<RankedTensorType>(mask.getType()).getRank();
  if ((dims.empty() && maskRank == rank) ||
      llvm::equal(dims, llvm::seq<int64_t>(0, rank)))
    return {};
  return builder.getDenseI64ArrayAttr(dims);
}

//===----------------------------------------------------------------------===//
// MaskedReduceOp
//===----------------------------------------------------------------------===//

Value MaskedReduceOp::getMaskedOperand() { return getInput(); }
Value MaskedReduceOp::getMaskOperand() { return getMask(); }
SmallVector<int64_t> MaskedReduceOp::getMaskDimensions() {
  return maskDimensions(getMaskDims(), getInput());
}
bool MaskedReduceOp::removeMask() { return removeOptionalMask(*this); }

RankedTensorType MaskedReduceOp::inferResultType(RankedTensorType input,
                                                 ArrayRef<int64_t> dims,
                                                 bool keepdims) {
  SmallVector<int64_t> shape;
  for (auto [dim, extent] : llvm::enumerate(input.getShape())) {
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      shape.push_back(extent);
    else if (keepdims)
      shape.push_back(1);
  }
  return RankedTensorType::get(shape, input.getElementType());
}

void MaskedReduceOp::build(OpBuilder &builder, OperationState &state,
                           ReductionKind kind, Value input, Value mask,
                           ArrayRef<int64_t> dims, ArrayRef<int64_t> maskDims,
                           bool keepdims) {
  auto type = cast<RankedTensorType>(input.getType());
  build(builder, state, inferResultType(type, dims, keepdims), kind, input,
        mask, builder.getDenseI64ArrayAttr(dims),
        maskDimensionsAttr(builder, input, mask, maskDims), keepdims,
        /*ddof=*/0, EmptyValue::Default, Ties::Shared,
        arith::FastMathFlags::none);
}

LogicalResult MaskedReduceOp::verify() {
  RankedTensorType type = getInput().getType();
  if (failed(verifyDimensions(*this, type, getDims())))
    return failure();
  RankedTensorType expected = inferResultType(type, getDims(), getKeepdims());
  if (expected.getElementType() != getType().getElementType() ||
      failed(verifyCompatibleShape(expected, getType())))
    return emitOpError("reduces to ")
           << expected << ", but its result is " << getType();
  bool isVariance =
      getKind() == ReductionKind::Var || getKind() == ReductionKind::Std;
  if (getDdof() != 0 && !isVariance)
    return emitOpError("'ddof' is for var and std, not for ")
           << stringifyReductionKind(getKind());
  bool isExtremum =
      getKind() == ReductionKind::Max || getKind() == ReductionKind::Min;
  if (getTies() != Ties::Shared && !isExtremum)
    return emitOpError("'ties' is for max and min, not for ")
           << stringifyReductionKind(getKind());
  if (getEmpty() != EmptyValue::Default && getKind() != ReductionKind::Mean)
    return emitOpError("'empty' is for mean, not for ")
           << stringifyReductionKind(getKind());
  return success();
}

LogicalResult MaskedReduceOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  SmallVector<OpFoldResult> extents =
      tensor::getMixedSizes(builder, getLoc(), getInput());
  SmallVector<OpFoldResult> &result = reifiedReturnShapes.emplace_back();
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    if (!isReduced(dim))
      result.push_back(extent);
    else if (getKeepdims())
      result.push_back(builder.getIndexAttr(1));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// MaskedSoftmaxOp, MaskedLogSoftmaxOp
//===----------------------------------------------------------------------===//

/// The result has the shape of the input.
template <typename OpTy>
static LogicalResult
reifyAsInput(OpTy op, OpBuilder &builder,
             ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  reifiedReturnShapes.push_back(
      tensor::getMixedSizes(builder, op.getLoc(), op.getInput()));
  return success();
}

Value MaskedSoftmaxOp::getMaskedOperand() { return getInput(); }
Value MaskedSoftmaxOp::getMaskOperand() { return getMask(); }
SmallVector<int64_t> MaskedSoftmaxOp::getMaskDimensions() {
  return maskDimensions(getMaskDims(), getInput());
}
bool MaskedSoftmaxOp::removeMask() { return removeOptionalMask(*this); }

void MaskedSoftmaxOp::build(OpBuilder &builder, OperationState &state,
                            Value input, Value mask, ArrayRef<int64_t> dims,
                            ArrayRef<int64_t> maskDims) {
  build(builder, state, input.getType(), input, mask,
        builder.getDenseI64ArrayAttr(dims),
        maskDimensionsAttr(builder, input, mask, maskDims),
        arith::FastMathFlags::none);
}

LogicalResult MaskedSoftmaxOp::verify() {
  return verifyDimensions(*this, getInput().getType(), getDims());
}

LogicalResult MaskedSoftmaxOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  return reifyAsInput(*this, builder, reifiedReturnShapes);
}

Value MaskedLogSoftmaxOp::getMaskedOperand() { return getInput(); }
Value MaskedLogSoftmaxOp::getMaskOperand() { return getMask(); }
SmallVector<int64_t> MaskedLogSoftmaxOp::getMaskDimensions() {
  return maskDimensions(getMaskDims(), getInput());
}
bool MaskedLogSoftmaxOp::removeMask() { return removeOptionalMask(*this); }

void MaskedLogSoftmaxOp::build(OpBuilder &builder, OperationState &state,
                               Value input, Value mask, ArrayRef<int64_t> dims,
                               ArrayRef<int64_t> maskDims) {
  build(builder, state, input.getType(), input, mask,
        builder.getDenseI64ArrayAttr(dims),
        maskDimensionsAttr(builder, input, mask, maskDims),
        arith::FastMathFlags::none);
}

LogicalResult MaskedLogSoftmaxOp::verify() {
  return verifyDimensions(*this, getInput().getType(), getDims());
}

LogicalResult MaskedLogSoftmaxOp::reifyResultShapes(
    OpBuilder &builder, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  return reifyAsInput(*this, builder, reifiedReturnShapes);
}

//===----------------------------------------------------------------------===//
// GradMaskOp
//===----------------------------------------------------------------------===//

Value GradMaskOp::getMaskedOperand() { return getInput(); }
Value GradMaskOp::getMaskOperand() { return getMask(); }
SmallVector<int64_t> GradMaskOp::getMaskDimensions() {
  return maskDimensions(getMaskDims(), getInput());
}
bool GradMaskOp::removeMask() { return false; }

//===----------------------------------------------------------------------===//
// RandomOp
//===----------------------------------------------------------------------===//

LogicalResult RandomOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (getExtents().size() != static_cast<size_t>(type.getNumDynamicDims()))
    return emitOpError("has ")
           << getExtents().size() << " extents for the "
           << type.getNumDynamicDims() << " dynamic dimensions of " << type;
  bool isBernoulli = getDistribution() == Distribution::Bernoulli;
  if (isBernoulli != type.getElementType().isInteger(1))
    return emitOpError(isBernoulli ? "bernoulli makes elements of i1, not "
                                   : "only bernoulli makes elements of ")
           << type.getElementType();
  std::optional<llvm::APFloat> probability = getProbability();
  if (isBernoulli != probability.has_value())
    return emitOpError(isBernoulli ? "bernoulli needs a 'probability'"
                                   : "'probability' is for bernoulli");
  if (probability && !(probability->convertToDouble() >= 0.0 &&
                       probability->convertToDouble() <= 1.0))
    return emitOpError("'probability' must be in [0, 1]");
  return success();
}

LogicalResult
RandomOp::reifyResultShapes(OpBuilder &builder,
                            ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  auto type = cast<RankedTensorType>(getType());
  reifiedReturnShapes.push_back(
      getMixedValues(type.getShape(), getExtents(), builder));
  return success();
}

//===----------------------------------------------------------------------===//
// LogOp
//===----------------------------------------------------------------------===//

LogicalResult LogOp::verify() {
  if (getNames().size() != getValues().size())
    return emitOpError("has ") << getNames().size() << " names for "
                               << getValues().size() << " values";
  if (getNames().empty())
    return emitOpError("has nothing to report");
  for (Value value : getValues())
    if (auto type = dyn_cast<IntegerType>(value.getType());
        type && type.getWidth() > 64)
      return emitOpError("reports integers of at most 64 bits, not ") << type;
  return success();
}

void LogOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // A line is written: lines stay in order and none is dropped.
  effects.emplace_back(MemoryEffects::Write::get());
}
