//===- SparseAutogradRules.cpp - derivatives of masked ops ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tangent of a reduction is a sum, over the selected elements, of the
// tangents weighted by the partial derivatives: an elementwise product, which
// is linear, and a masked sum, which is linear. Semantics R1 to R10 state the
// partials; f16 and bf16 are computed with in f32 (G11).
//
//===----------------------------------------------------------------------===//

#include "CallRules.h"
#include "MaskedSlices.h"
#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "SparseAutograd/Differentiate/Rules.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "SparseRules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

//===----------------------------------------------------------------------===//
// masked_reduce
//===----------------------------------------------------------------------===//

struct MaskedReduceModel
    : LinearizableOpInterface::ExternalModel<MaskedReduceModel,
                                             MaskedReduceOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<MaskedReduceOp>(operation);
    if (failed(checkStored(op)))
      return failure();
    if (op.getKind() == ReductionKind::LogSumExp)
      return linearizeLogSumExp(op, linearizer);
    MaskedSlices slices(linearizer, op.getLoc(), op.getInput(), op.getMask(),
                        op.getMaskDimensions(), op.getDims());
    Value tangent = slices.widen(linearizer.tangent(op.getInput()));
    Value input = slices.widen(op.getInput());
    Value result = op.getResult();
    if (op.getKeepdims())
      result = slices.dropReducedDims(result);
    Value sum =
        slices.narrow(build(op, slices, tangent, input, slices.widen(result)));
    if (op.getKeepdims())
      sum = slices.restoreReducedDims(sum, op.getResult());
    linearizer.setTangent(op.getResult(), sum);
    return success();
  }

  /// The derivatives of sums need the elements that are stored. Those of the
  /// other kinds also depend on how many zeros a sparse input has besides.
  static LogicalResult checkStored(MaskedReduceOp op) {
    bool needsAll =
        llvm::is_contained({ReductionKind::Max, ReductionKind::Min,
                            ReductionKind::Prod, ReductionKind::LogSumExp},
                           op.getKind());
    if (!needsAll || !isSparse(op.getInput().getType()) ||
        SparsePatterns().selectsStored(cast<MaskOpInterface>(*op)))
      return success();
    return op.emitOpError("has no derivative rule where it selects elements "
                          "that its sparse operand does not store; give "
                          "sparse_autograd.pattern of the operand as the mask, "
                          "or make the operand dense with "
                          "sparse_tensor.convert");
  }

  static Value build(MaskedReduceOp op, MaskedSlices &slices, Value tangent,
                     Value input, Value result) {
    switch (op.getKind()) {
    case ReductionKind::Sum:
      return slices.sum(tangent);
    case ReductionKind::Mean:
      return slices.mean(tangent);
    case ReductionKind::Max:
    case ReductionKind::Min: {
      Value ties = slices.createTies(input, result);
      if (op.getTies() == Ties::First)
        return slices.withMask(slices.createFirst(ties)).sum(tangent);
      return slices.withMask(ties).mean(tangent);
    }
    case ReductionKind::Prod:
      return slices.sum(
          slices.multiply(tangent, slices.createProductOfOthers(input)));
    case ReductionKind::Var:
      return slices.multiply(
          slices.sum(slices.multiply(tangent, slices.createDeviation(input))),
          slices.createVarianceScale(op.getDdof()));
    case ReductionKind::Std:
      return slices.multiply(
          slices.sum(slices.multiply(tangent, slices.createDeviation(input))),
          slices.createDeviationScale(result, op.getDdof()));
    case ReductionKind::Norm2:
      return slices.sum(
          slices.multiply(tangent, slices.createDirection(input, result)));
    case ReductionKind::LogSumExp:
      break;
    }
    llvm_unreachable("logsumexp has a rule of its own");
  }

  /// The derivative of logsumexp reads the exponentials that the result is made
  /// of, so the op becomes what it is made of.
  static LogicalResult linearizeLogSumExp(MaskedReduceOp op,
                                          Linearizer &linearizer) {
    OpBuilder builder(op);
    MaskedSlices primal(builder, op.getLoc(), op.getInput(),
                        op.getInput().getType().getElementType(), op.getMask(),
                        op.getMaskDimensions(), op.getDims());
    LogSumExp parts = primal.createLogSumExp(primal.widen(op.getInput()));
    Value result = primal.narrow(parts.value);
    if (op.getKeepdims())
      result = primal.restoreReducedDims(result, op.getResult());
    IRMapping clones;
    clones.map(op.getResult(), result);
    linearizer.noteClones(clones);

    MaskedSlices slices(linearizer, op.getLoc(), op.getInput(), op.getMask(),
                        op.getMaskDimensions(), op.getDims());
    Value tangent = slices.widen(linearizer.tangent(op.getInput()));
    Value sum = slices.narrow(slices.multiply(
        slices.sum(slices.multiply(tangent, parts.exponentials)), parts.scale));
    if (op.getKeepdims())
      sum = slices.restoreReducedDims(sum, op.getResult());
    linearizer.setTangent(result, sum);
    op.getResult().replaceAllUsesWith(result);
    linearizer.retire(op);
    return success();
  }

  /// The elements of the input whose slices are reached by the cotangent.
  static Support supportOfSlices(MaskedReduceOp op, MaskedSlices &slices,
                                 Transposer &transposer) {
    Support support = transposer.support(op.getResult());
    if (!support)
      return {};
    Value mask = materializeMask(transposer.builder, op.getLoc(), support,
                                 transposer.unroundedCotangent(op.getResult()));
    if (op.getKeepdims())
      mask = slices.dropReducedDims(mask);
    int64_t rank = op.getInput().getType().getRank();
    auto kept =
        llvm::make_filter_range(llvm::seq<int64_t>(0, rank), [&](int64_t dim) {
          return !llvm::is_contained(op.getDims(), dim);
        });
    return Support::of(mask, rank, llvm::to_vector(kept));
  }

  /// Sums and means are linear: the cotangent of a slice goes to each of its
  /// selected elements.
  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<MaskedReduceOp>(operation);
    Value input = op.getInput();
    Value mask = op.getMask() ? transposer.primal(op.getMask()) : Value();
    MaskedSlices slices(transposer.builder, op.getLoc(),
                        transposer.shapeOf(input),
                        op.getInput().getType().getElementType(), mask,
                        op.getMaskDimensions(), op.getDims());
    Value cotangent = transposer.unroundedCotangent(op.getResult());
    if (op.getKeepdims())
      cotangent = slices.dropReducedDims(cotangent);
    cotangent = slices.widen(cotangent);
    switch (op.getKind()) {
    case ReductionKind::Sum:
      break;
    case ReductionKind::Mean:
      cotangent = slices.divideByCount(cotangent);
      break;
    default:
      return reportNotTransposable(op);
    }
    Value contribution = slices.broadcast(cotangent);
    Support support;
    if (mask)
      support = Support::of(mask, op.getInput().getType().getRank(),
                            op.getMaskDimensions());
    transposer.accumulate(
        input, contribution,
        intersectSupports(transposer.builder, op.getLoc(), contribution,
                          support, supportOfSlices(op, slices, transposer)));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// masked_softmax, masked_log_softmax
//===----------------------------------------------------------------------===//

/// For a tangent t and the probabilities p, the tangent of log(p) is
/// t - sum of p t on the selected elements; that of p is p t - p sum of p t.
template <typename OpTy>
struct SoftmaxModel
    : LinearizableOpInterface::ExternalModel<SoftmaxModel<OpTy>, OpTy> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    constexpr bool isLog = std::is_same_v<OpTy, MaskedLogSoftmaxOp>;
    auto op = cast<OpTy>(operation);
    MaskedSlices slices(linearizer, op.getLoc(), op.getInput(), op.getMask(),
                        op.getMaskDimensions(), op.getDims());
    Value tangent = slices.widen(linearizer.tangent(op.getInput()));
    Value weights = slices.widen(op.getResult());
    if (isLog)
      weights = slices.exponential(weights);
    Value weighted = slices.multiply(tangent, weights);
    Value sum = slices.sum(weighted);
    // For the adjoint p (c - sum of p c): with p (t - sum) it would be another
    // product an element.
    Value result = isLog ? slices.subtractFromSelected(tangent, sum)
                         : slices.subtractFromSelected(weighted, sum, weights);
    linearizer.setTangent(op.getResult(), slices.narrow(result));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Gradients in the program
//===----------------------------------------------------------------------===//

/// The tangent is selected by the mask, so that the cotangent is.
struct GradMaskModel
    : LinearizableOpInterface::ExternalModel<GradMaskModel, GradMaskOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<GradMaskOp>(operation);
    Support support =
        Support::of(op.getMask(), op.getInput().getType().getRank(),
                    op.getMaskDimensions());
    linearizer.setTangent(op.getResult(),
                          selectUnder(linearizer.builder, op.getLoc(),
                                      linearizer.tangent(op.getInput()),
                                      support, op.getInput()));
    return success();
  }
};

/// An op whose results do not vary with its operands.
template <typename OpTy>
struct ConstantModel
    : LinearizableOpInterface::ExternalModel<ConstantModel<OpTy>, OpTy> {
  LogicalResult linearize(Operation *, Linearizer &) const { return success(); }
};

} // namespace

void sparse_autograd::registerSparseAutogradDerivativeRules(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, SparseAutogradDialect *) {
    MaskedReduceOp::attachInterface<MaskedReduceModel>(*context);
    MaskedSoftmaxOp::attachInterface<SoftmaxModel<MaskedSoftmaxOp>>(*context);
    MaskedLogSoftmaxOp::attachInterface<SoftmaxModel<MaskedLogSoftmaxOp>>(
        *context);
    GradMaskOp::attachInterface<GradMaskModel>(*context);
    StopGradientOp::attachInterface<ConstantModel<StopGradientOp>>(*context);
    LogOp::attachInterface<ConstantModel<LogOp>>(*context);
    attachCallRules(*context);
    attachSparseRules(*context);
    attachRowRules(*context);
    attachSelectionRules(*context);
  });
}
