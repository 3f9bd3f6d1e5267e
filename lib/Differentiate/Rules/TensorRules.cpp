//===- TensorRules.cpp - derivatives of ops that move elements ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of the tensor dialect are linear: the tangent of one is the same op on
// tangents, and its transpose moves the elements back. Masks are moved in the
// same way as the cotangents that they are the support of. What is moved back
// to a sparse value is taken at its pattern.
//
//===----------------------------------------------------------------------===//

#include "Refused.h"
#include "Slices.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "SparseAutograd/Differentiate/Rules.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace sparse_autograd;

/// Moves the cotangent of `result` back by `move`, and its support likewise,
/// into the cotangent of `operand`. `move` takes a tensor of the shape of
/// `result`, of floats or of i1. If `isPart`, only a part of the operand is in
/// the result, and the rest is no more reached than what a mask leaves out.
static void moveBack(Transposer &transposer, Value operand, Value result,
                     function_ref<Value(Value)> move, bool isPart = false) {
  if (!transposer.isLinear(operand))
    return;
  OpBuilder &builder = transposer.builder;
  Value cotangent = transposer.unroundedCotangent(result);
  Location loc = cotangent.getLoc();
  auto moveToPattern = [&](Value value) {
    Value moved = move(value);
    return isSparse(operand.getType())
               ? createCopyLike(builder, loc, moved,
                                transposer.shapeOf(operand))
               : moved;
  };
  Support support = transposer.support(result);
  Support moved;
  if (support || isPart)
    moved = Support::of(
        moveToPattern(materializeMask(builder, loc, support, cotangent)));
  transposer.accumulate(operand, moveToPattern(cotangent), moved,
                        /*isSelected=*/true);
}

/// A tensor of the type of `like` but for the elements, which are zeros; one
/// that stores nothing but what its format has to, if it is sparse.
static Value createNothing(OpBuilder &builder, Location loc, Value like,
                           Type elementType) {
  auto type = cast<RankedTensorType>(like.getType());
  if (!isSparse(type))
    return createZeros(builder, loc, like, elementType);
  return tensor::EmptyOp::create(builder, loc,
                                 tensor::getMixedSizes(builder, loc, like),
                                 elementType, type.getEncoding());
}

/// Adds `contribution`, zero outside `support`, to a part of the cotangent of
/// `operand`: `read` takes the part out of a tensor, `write` makes the tensor
/// that has another part in its place. The rest is not touched, so that a loop
/// that reads an element at a time takes time for an element at a time.
static void accumulatePart(Transposer &transposer, Value operand,
                           function_ref<Value(Value)> read,
                           function_ref<Value(Value, Value)> write,
                           Value contribution, const Support &support) {
  OpBuilder &builder = transposer.builder;
  Location loc = contribution.getLoc();
  Value whole = transposer.current(operand);
  Type elementType =
      getAccumulationType(getElementTypeOrSelf(operand.getType()));
  Value sum = createFloatCast(builder, loc, contribution, elementType);
  if (whole) {
    whole = createFloatCast(builder, loc, whole, elementType);
    sum = arith::AddFOp::create(builder, loc, read(whole), sum);
  } else {
    whole = createZero(builder, loc, transposer.shapeOf(operand), elementType);
  }
  Support known = transposer.currentSupport(operand), united;
  if (known || !transposer.current(operand)) {
    Value mask = materializeMask(builder, loc, support, contribution);
    Value masks = known ? materializeMask(builder, loc, known, whole)
                        : createMask(builder, loc, /*selects=*/false, whole);
    if (known && support)
      mask = arith::OrIOp::create(builder, loc, read(masks), mask);
    united = Support::of(write(mask, masks));
  }
  transposer.replaceCurrent(operand, write(sum, whole), united);
}

/// Whether `part`, taken from a tensor of type `whole`, is all of it. Unknown
/// extents tell nothing.
static bool isWhole(RankedTensorType part, RankedTensorType whole) {
  return part.hasStaticShape() && whole.hasStaticShape() &&
         part.getNumElements() == whole.getNumElements();
}

/// The support of a scalar that stands at `indices` of the value of `support`,
/// whose cotangent is `cotangent`.
static Support supportAt(OpBuilder &builder, Location loc,
                         const Support &support, Value cotangent,
                         ValueRange indices) {
  if (!support)
    return {};
  Value mask = materializeMask(builder, loc, support, cotangent);
  return Support::of(tensor::ExtractOp::create(builder, loc, mask, indices));
}

/// Whether a mask selects anything at all, as an i1.
static Value selectsAny(OpBuilder &builder, Location loc, Value mask) {
  auto dims = llvm::to_vector(
      llvm::seq<int64_t>(0, cast<RankedTensorType>(mask.getType()).getRank()));
  return tensor::ExtractOp::create(builder, loc,
                                   createAny(builder, loc, mask, dims));
}

/// The sum of all elements of a tensor, as a float.
static Value createSum(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  Value sum = MaskedReduceOp::create(builder, loc, ReductionKind::Sum, value,
                                     /*mask=*/Value(), dims);
  return tensor::ExtractOp::create(builder, loc, sum);
}

/// The counterparts of values that are not linear.
static SmallVector<Value> primals(Transposer &transposer, ValueRange values) {
  return llvm::map_to_vector(
      values, [&](Value value) { return transposer.primal(value); });
}

static SmallVector<OpFoldResult> primals(Transposer &transposer,
                                         ArrayRef<OpFoldResult> values) {
  return llvm::map_to_vector(values, [&](OpFoldResult value) -> OpFoldResult {
    if (auto dynamic = dyn_cast<Value>(value))
      return transposer.primal(dynamic);
    return value;
  });
}

namespace {

/// An op that is linear in the operands that have tangents: its tangent is the
/// op itself on tangents, zeros standing in for the tangents that are zero.
template <typename ModelTy, typename OpTy>
struct MovingModel : LinearizableOpInterface::ExternalModel<ModelTy, OpTy> {
  LogicalResult linearize(Operation *op, Linearizer &linearizer) const {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (isDifferentiableType(operand.getType()))
        mapping.map(operand, tangentOrZero(linearizer, operand, op->getLoc()));
    Operation *tangent = linearizer.builder.clone(*op, mapping);
    linearizer.setTangent(op->getResult(0), tangent->getResult(0));
    return success();
  }
};

struct ExtractModel : MovingModel<ExtractModel, tensor::ExtractOp> {
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<tensor::ExtractOp>(operation);
    OpBuilder &builder = transposer.builder;
    Location loc = op.getLoc();
    Value cotangent = transposer.unroundedCotangent(op.getResult());
    SmallVector<Value> indices = primals(transposer, op.getIndices());
    Support support = transposer.support(op.getResult());
    RankedTensorType type = op.getTensor().getType();
    if (isWhole(type.clone(ArrayRef<int64_t>()), type)) {
      Value shape = transposer.shapeOf(op.getTensor());
      if (support)
        support = Support::of(materializeMask(builder, loc, support, cotangent),
                              shape);
      Value zero = createZero(builder, loc, shape, cotangent.getType());
      transposer.accumulate(
          op.getTensor(),
          tensor::InsertOp::create(builder, loc, cotangent, zero, indices),
          support, /*isSelected=*/true);
      return success();
    }
    // The other elements are not reached.
    auto read = [&](Value whole) -> Value {
      return tensor::ExtractOp::create(builder, loc, whole, indices);
    };
    auto write = [&](Value element, Value whole) -> Value {
      return tensor::InsertOp::create(builder, loc, element, whole, indices);
    };
    accumulatePart(transposer, op.getTensor(), read, write, cotangent, support);
    return success();
  }
};

struct InsertModel : MovingModel<InsertModel, tensor::InsertOp> {
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<tensor::InsertOp>(operation);
    OpBuilder &builder = transposer.builder;
    SmallVector<Value> indices = primals(transposer, op.getIndices());
    Value cotangent = transposer.unroundedCotangent(op.getResult());
    if (transposer.isLinear(op.getScalar()))
      transposer.accumulate(
          op.getScalar(),
          tensor::ExtractOp::create(builder, op.getLoc(), cotangent, indices),
          supportAt(builder, op.getLoc(), transposer.support(op.getResult()),
                    cotangent, indices),
          /*isSelected=*/true);
    auto overwrite = [&](Value value) -> Value {
      Value zero = arith::ConstantOp::create(
          builder, op.getLoc(),
          builder.getZeroAttr(getElementTypeOrSelf(value.getType())));
      return tensor::InsertOp::create(builder, op.getLoc(), zero, value,
                                      indices);
    };
    moveBack(transposer, op.getDest(), op.getResult(), overwrite,
             /*isPart=*/true);
    return success();
  }
};

struct ExtractSliceModel
    : MovingModel<ExtractSliceModel, tensor::ExtractSliceOp> {
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<tensor::ExtractSliceOp>(operation);
    OpBuilder &builder = transposer.builder;
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> offsets =
        primals(transposer, op.getMixedOffsets());
    SmallVector<OpFoldResult> sizes = primals(transposer, op.getMixedSizes());
    SmallVector<OpFoldResult> strides =
        primals(transposer, op.getMixedStrides());
    auto read = [&](Value whole) -> Value {
      return createSlice(builder, loc,
                         op.getType().clone(getElementTypeOrSelf(whole)), whole,
                         offsets, sizes, strides);
    };
    auto write = [&](Value slice, Value whole) -> Value {
      return replaceSlice(builder, loc, slice, whole, offsets, sizes, strides);
    };
    bool isAll = isWhole(op.getType(), op.getSourceType());
    // A sparse tensor is made anew, whichever part of it changes.
    if (!isAll && !isSparse(op.getSourceType())) {
      Value cotangent = transposer.unroundedCotangent(op.getResult());
      accumulatePart(transposer, op.getSource(), read, write, cotangent,
                     transposer.support(op.getResult()));
      return success();
    }
    Value shape = transposer.shapeOf(op.getSource());
    auto insert = [&](Value slice) -> Value {
      return write(slice, createNothing(builder, loc, shape,
                                        getElementTypeOrSelf(slice)));
    };
    moveBack(transposer, op.getSource(), op.getResult(), insert,
             /*isPart=*/!isAll);
    return success();
  }
};

struct InsertSliceModel : MovingModel<InsertSliceModel, tensor::InsertSliceOp> {
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<tensor::InsertSliceOp>(operation);
    OpBuilder &builder = transposer.builder;
    SmallVector<OpFoldResult> offsets =
        primals(transposer, op.getMixedOffsets());
    SmallVector<OpFoldResult> sizes = primals(transposer, op.getMixedSizes());
    SmallVector<OpFoldResult> strides =
        primals(transposer, op.getMixedStrides());
    RankedTensorType sourceType = op.getSourceType();
    auto extract = [&](Value value) -> Value {
      auto type = sourceType.clone(getElementTypeOrSelf(value.getType()));
      return createSlice(builder, op.getLoc(), type, value, offsets, sizes,
                         strides);
    };
    moveBack(transposer, op.getSource(), op.getResult(), extract);
    auto overwrite = [&](Value value) -> Value {
      Value zeros = createNothing(builder, op.getLoc(), extract(value),
                                  getElementTypeOrSelf(value.getType()));
      return replaceSlice(builder, op.getLoc(), zeros, value, offsets, sizes,
                          strides);
    };
    moveBack(transposer, op.getDest(), op.getResult(), overwrite,
             /*isPart=*/true);
    return success();
  }
};

struct CollapseShapeModel
    : MovingModel<CollapseShapeModel, tensor::CollapseShapeOp> {
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<tensor::CollapseShapeOp>(operation);
    OpBuilder &builder = transposer.builder;
    Value shape = transposer.shapeOf(op.getSrc());
    moveBack(transposer, op.getSrc(), op.getResult(), [&](Value value) {
      auto type = op.getSrcType().clone(getElementTypeOrSelf(value.getType()));
      return tensor::ExpandShapeOp::create(
          builder, op.getLoc(), type, value, op.getReassociationIndices(),
          tensor::getMixedSizes(builder, op.getLoc(), shape));
    });
    return success();
  }
};

struct ExpandShapeModel : MovingModel<ExpandShapeModel, tensor::ExpandShapeOp> {
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<tensor::ExpandShapeOp>(operation);
    OpBuilder &builder = transposer.builder;
    moveBack(transposer, op.getSrc(), op.getResult(), [&](Value value) {
      auto type = op.getSrcType().clone(getElementTypeOrSelf(value.getType()));
      return tensor::CollapseShapeOp::create(builder, op.getLoc(), type, value,
                                             op.getReassociationIndices());
    });
    return success();
  }
};

struct CastModel : MovingModel<CastModel, tensor::CastOp> {
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<tensor::CastOp>(operation);
    auto sourceType = cast<RankedTensorType>(op.getSource().getType());
    moveBack(transposer, op.getSource(), op.getResult(), [&](Value value) {
      return tensor::CastOp::create(
          transposer.builder, op.getLoc(),
          sourceType.clone(getElementTypeOrSelf(value.getType())), value);
    });
    return success();
  }
};

struct FromElementsModel
    : MovingModel<FromElementsModel, tensor::FromElementsOp> {
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<tensor::FromElementsOp>(operation);
    OpBuilder &builder = transposer.builder;
    Value cotangent = transposer.unroundedCotangent(op.getResult());
    Support support = transposer.support(op.getResult());
    SmallVector<int64_t> strides =
        computeSuffixProduct(op.getType().getShape());
    for (auto [position, element] : llvm::enumerate(op.getElements())) {
      if (!transposer.isLinear(element))
        continue;
      SmallVector<Value> indices = llvm::map_to_vector(
          mlir::delinearize(static_cast<int64_t>(position),
                            ArrayRef<int64_t>(strides)),
          [&](int64_t index) -> Value {
            return arith::ConstantIndexOp::create(builder, op.getLoc(), index);
          });
      transposer.accumulate(
          element,
          tensor::ExtractOp::create(builder, op.getLoc(), cotangent, indices),
          supportAt(builder, op.getLoc(), support, cotangent, indices),
          /*isSelected=*/true);
    }
    return success();
  }
};

struct ReshapeModel : MovingModel<ReshapeModel, tensor::ReshapeOp> {
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<tensor::ReshapeOp>(operation);
    OpBuilder &builder = transposer.builder;
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getSource().getType());
    SmallVector<Value> extents = getValueOrCreateConstantIndexOp(
        builder, loc,
        tensor::getMixedSizes(builder, loc,
                              transposer.shapeOf(op.getSource())));
    Value shape = tensor::FromElementsOp::create(
        builder, loc,
        RankedTensorType::get({type.getRank()}, builder.getIndexType()),
        extents);
    moveBack(transposer, op.getSource(), op.getResult(), [&](Value value) {
      return tensor::ReshapeOp::create(
          builder, loc, type.clone(getElementTypeOrSelf(value.getType())),
          value, shape);
    });
    return success();
  }
};

struct ScatterModel : MovingModel<ScatterModel, tensor::ScatterOp> {
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<tensor::ScatterOp>(operation);
    OpBuilder &builder = transposer.builder;
    Location loc = op.getLoc();
    Value indices = transposer.primal(op.getIndices());
    RankedTensorType sourceType = op.getSourceType();
    auto gather = [&](Value value) -> Value {
      return tensor::GatherOp::create(
          builder, loc, sourceType.clone(getElementTypeOrSelf(value.getType())),
          value, indices, op.getScatterDims(), /*unique=*/true);
    };
    moveBack(transposer, op.getSource(), op.getResult(), gather);
    // No position is written twice: the op must be marked unique.
    auto overwrite = [&](Value value) -> Value {
      Value zeros = createZeros(builder, loc, gather(value),
                                getElementTypeOrSelf(value.getType()));
      if (zeros.getType() != sourceType.clone(getElementTypeOrSelf(zeros)))
        zeros = tensor::CastOp::create(
            builder, loc, sourceType.clone(getElementTypeOrSelf(zeros)), zeros);
      return tensor::ScatterOp::create(builder, loc, value.getType(), zeros,
                                       value, indices, op.getScatterDims(),
                                       /*unique=*/true);
    };
    moveBack(transposer, op.getDest(), op.getResult(), overwrite,
             /*isPart=*/true);
    return success();
  }
};

struct SplatModel : MovingModel<SplatModel, tensor::SplatOp> {
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<tensor::SplatOp>(operation);
    OpBuilder &builder = transposer.builder;
    Location loc = op.getLoc();
    Value cotangent = transposer.unroundedCotangent(op.getResult());
    Support support;
    if (Support incoming = transposer.support(op.getResult()))
      support = Support::of(selectsAny(
          builder, loc, materializeMask(builder, loc, incoming, cotangent)));
    transposer.accumulate(op.getInput(), createSum(builder, loc, cotangent),
                          support, /*isSelected=*/true);
    return success();
  }
};

/// tensor.concat and sparse_tensor.concatenate.
template <typename OpTy>
struct ConcatModel : MovingModel<ConcatModel<OpTy>, OpTy> {
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<OpTy>(operation);
    OpBuilder &builder = transposer.builder;
    Location loc = op.getLoc();
    int64_t rank = cast<RankedTensorType>(op.getType()).getRank();
    int64_t dim = getDimension(op);
    SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(rank, builder.getIndexAttr(1));
    for (Value input : op.getInputs()) {
      Value shape = transposer.isLinear(input) ? transposer.shapeOf(input)
                                               : transposer.primal(input);
      SmallVector<OpFoldResult> sizes =
          tensor::getMixedSizes(builder, loc, shape);
      moveBack(transposer, input, op.getResult(), [&](Value value) {
        auto type = cast<RankedTensorType>(input.getType())
                        .clone(getElementTypeOrSelf(value.getType()));
        return createSlice(builder, loc, type, value, offsets, sizes, strides);
      });
      Value offset = arith::AddIOp::create(
          builder, loc,
          getValueOrCreateConstantIndexOp(builder, loc, offsets[dim]),
          getValueOrCreateConstantIndexOp(builder, loc, sizes[dim]));
      offsets[dim] = getAsOpFoldResult(offset);
    }
    return success();
  }

private:
  static int64_t getDimension(tensor::ConcatOp op) { return op.getDim(); }
  static int64_t getDimension(sparse_tensor::ConcatenateOp op) {
    return op.getDimension();
  }
};

struct PadModel
    : LinearizableOpInterface::ExternalModel<PadModel, tensor::PadOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<tensor::PadOp>(operation);
    Value padding = op.getConstantPaddingValue();
    if (!padding)
      return op.emitOpError(
          "with a padding that depends on the position has no "
          "derivative rule; pad with one value");
    OpBuilder &builder = linearizer.builder;
    Location loc = op.getLoc();
    auto tangent = tensor::PadOp::create(
        builder, loc, op.getType(),
        tangentOrZero(linearizer, op.getSource(), loc), op.getMixedLowPad(),
        op.getMixedHighPad(), tangentOrZero(linearizer, padding, loc));
    linearizer.setTangent(op.getResult(), tangent);
    return success();
  }

  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<tensor::PadOp>(operation);
    OpBuilder &builder = transposer.builder;
    Location loc = op.getLoc();
    Value shape = transposer.shapeOf(op.getSource());
    SmallVector<OpFoldResult> strides(op.getSourceType().getRank(),
                                      builder.getIndexAttr(1));
    moveBack(transposer, op.getSource(), op.getResult(), [&](Value value) {
      auto type =
          op.getSourceType().clone(getElementTypeOrSelf(value.getType()));
      return createSlice(builder, loc, type, value,
                         primals(transposer, op.getMixedLowPad()),
                         tensor::getMixedSizes(builder, loc, shape), strides);
    });

    // The padding value has the sum over what is not the source.
    Value padding = op.getConstantPaddingValue();
    if (!padding || !transposer.isLinear(padding))
      return success();
    Value cotangent = transposer.unroundedCotangent(op.getResult());
    auto overwrite = [&](Value value) -> Value {
      Value zeros = createZeros(builder, loc, shape,
                                getElementTypeOrSelf(value.getType()));
      return replaceSlice(builder, loc, zeros, value,
                          primals(transposer, op.getMixedLowPad()),
                          tensor::getMixedSizes(builder, loc, shape), strides);
    };
    Support support = transposer.support(op.getResult());
    Value mask = materializeMask(builder, loc, support, cotangent);
    transposer.accumulate(
        padding, createSum(builder, loc, overwrite(cotangent)),
        Support::of(selectsAny(builder, loc, overwrite(mask))),
        /*isSelected=*/true);
    return success();
  }
};

} // namespace

void sparse_autograd::registerTensorDerivativeRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attachRefused<tensor::BitcastOp>(*context);
    tensor::CastOp::attachInterface<CastModel>(*context);
    tensor::CollapseShapeOp::attachInterface<CollapseShapeModel>(*context);
    tensor::ConcatOp::attachInterface<ConcatModel<tensor::ConcatOp>>(*context);
    tensor::ExpandShapeOp::attachInterface<ExpandShapeModel>(*context);
    tensor::ExtractOp::attachInterface<ExtractModel>(*context);
    tensor::ExtractSliceOp::attachInterface<ExtractSliceModel>(*context);
    tensor::FromElementsOp::attachInterface<FromElementsModel>(*context);
    tensor::InsertOp::attachInterface<InsertModel>(*context);
    tensor::InsertSliceOp::attachInterface<InsertSliceModel>(*context);
    tensor::PadOp::attachInterface<PadModel>(*context);
    tensor::ReshapeOp::attachInterface<ReshapeModel>(*context);
    tensor::ScatterOp::attachInterface<ScatterModel>(*context);
    tensor::SplatOp::attachInterface<SplatModel>(*context);
  });
  registry.addExtension(
      +[](MLIRContext *context, sparse_tensor::SparseTensorDialect *) {
        sparse_tensor::ConcatenateOp::attachInterface<
            ConcatModel<sparse_tensor::ConcatenateOp>>(*context);
      });
}
