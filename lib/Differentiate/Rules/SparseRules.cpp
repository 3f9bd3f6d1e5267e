//===- SparseRules.cpp - derivatives of ops on sparse tensors -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tangent and a cotangent of a sparse value have its pattern. To copy between
// storages is linear: tangents are sampled at the pattern of the result,
// cotangents at that of the source, or written to a dense tensor (semantics S2
// to S6).
//
//===----------------------------------------------------------------------===//

#include "SparseRules.h"
#include "GenericTangent.h"
#include "GenericTranspose.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "SparseAutograd/Differentiate/Rules.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

struct SampledGenericModel
    : LinearizableOpInterface::ExternalModel<SampledGenericModel,
                                             SampledGenericOp> {
  LogicalResult linearize(Operation *op, Linearizer &linearizer) const {
    return linearizeGeneric(cast<linalg::LinalgOp>(op), linearizer);
  }
  LogicalResult transpose(Operation *op, Transposer &transposer) const {
    return transposeGeneric(cast<linalg::LinalgOp>(op), transposer);
  }
  bool takesTangentFormat(Operation *, Value, Type tangent) const {
    return !isSparse(tangent);
  }
};

/// A copy from one storage to another.
template <typename OpTy>
struct CopyModel
    : LinearizableOpInterface::ExternalModel<CopyModel<OpTy>, OpTy> {
  LogicalResult linearize(Operation *op, Linearizer &linearizer) const {
    Value tangent = linearizer.tangent(op->getOperand(0));
    // Where the pattern alone depends on the inputs, the elements do not.
    if (!tangent)
      return success();
    // A conversion keeps all elements that there are.
    bool isKept = std::is_same_v<OpTy, sparse_tensor::ConvertOp> &&
                  !isSparse(tangent.getType());
    if (!isKept || !isSparse(op->getOperand(0).getType()))
      tangent = createCopyLike(linearizer.builder, op->getLoc(), tangent,
                               op->getResult(0));
    linearizer.setTangent(op->getResult(0), tangent);
    return success();
  }
  bool takesTangentFormat(Operation *, Value, Type tangent) const {
    return !isSparse(tangent);
  }
};

/// The values of a sparse tensor as a list, and back: each transposes the
/// other.
struct StoredValuesModel
    : LinearizableOpInterface::ExternalModel<StoredValuesModel,
                                             StoredValuesOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<StoredValuesOp>(operation);
    linearizer.setTangent(
        op.getResult(),
        StoredValuesOp::create(linearizer.builder, op.getLoc(), op.getType(),
                               linearizer.tangent(op.getInput())));
    return success();
  }
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<StoredValuesOp>(operation);
    Value like = transposer.shapeOf(op.getInput());
    transposer.accumulate(
        op.getInput(),
        WithValuesOp::create(transposer.builder, op.getLoc(), like.getType(),
                             transposer.cotangent(op.getResult()), like));
    return success();
  }
};

struct WithValuesModel
    : LinearizableOpInterface::ExternalModel<WithValuesModel, WithValuesOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<WithValuesOp>(operation);
    if (Value tangent = linearizer.tangent(op.getValues()))
      linearizer.setTangent(op.getResult(),
                            WithValuesOp::create(linearizer.builder,
                                                 op.getLoc(), op.getType(),
                                                 tangent, op.getResult()));
    return success();
  }
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<WithValuesOp>(operation);
    transposer.accumulate(
        op.getValues(),
        StoredValuesOp::create(transposer.builder, op.getLoc(),
                               op.getValues().getType(),
                               transposer.cotangent(op.getResult())));
    return success();
  }
};

/// An op whose result does not depend on the values of its operand.
template <typename OpTy>
struct PatternModel
    : LinearizableOpInterface::ExternalModel<PatternModel<OpTy>, OpTy> {
  LogicalResult linearize(Operation *, Linearizer &) const { return success(); }
  bool takesTangentFormat(Operation *, Value, Type) const { return true; }
};

} // namespace

void sparse_autograd::attachSparseRules(MLIRContext &context) {
  SampledGenericOp::attachInterface<SampledGenericModel>(context);
  SampleOp::attachInterface<CopyModel<SampleOp>>(context);
  StoredValuesOp::attachInterface<StoredValuesModel>(context);
  WithValuesOp::attachInterface<WithValuesModel>(context);
  ZerosOp::attachInterface<PatternModel<ZerosOp>>(context);
  PatternOp::attachInterface<PatternModel<PatternOp>>(context);
  StoredCoordinatesOp::attachInterface<PatternModel<StoredCoordinatesOp>>(
      context);
}

void sparse_autograd::registerSparseTensorDerivativeRules(
    DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, sparse_tensor::SparseTensorDialect *) {
        sparse_tensor::ConvertOp::attachInterface<
            CopyModel<sparse_tensor::ConvertOp>>(*context);
      });
}
