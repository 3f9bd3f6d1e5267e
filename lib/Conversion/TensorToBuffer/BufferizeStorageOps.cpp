//===- BufferizeStorageOps.cpp - storage of sparse tensors ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferizeStorageOps.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/LibraryOps.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace sparse_autograd;

/// The operands of `op`, with a buffer in the place of each tensor.
static FailureOr<SmallVector<Value>>
getBuffers(Operation *op, RewriterBase &rewriter,
           const BufferizationOptions &options, BufferizationState &state) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<TensorType>(operand.getType())) {
      operands.push_back(operand);
      continue;
    }
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    operands.push_back(*buffer);
  }
  return operands;
}

namespace {
/// Destinations are written as a whole and not read.
template <typename OpTy>
struct StorageOpModel
    : DstBufferizableOpInterfaceExternalModel<StorageOpModel<OpTy>, OpTy> {
  /// The sum of a product is added to.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return std::is_same_v<OpTy, Multiply24Op> ||
           !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> operands =
        getBuffers(op, rewriter, options, state);
    if (failed(operands))
      return failure();
    Operation *onBuffers = mlir::clone(rewriter, op, TypeRange(), *operands);
    auto destinations = cast<DestinationStyleOpInterface>(onBuffers);
    replaceOpWithBufferizedValues(
        rewriter, op, SmallVector<Value>(destinations.getDpsInits()));
    return success();
  }
};

/// What is offered to a library is written there or left as it is, and read
/// where it is added to. Says last whether it was written.
template <typename OpTy>
struct OfferModel
    : DstBufferizableOpInterfaceExternalModel<OfferModel<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand) ||
           cast<OpTy>(op).getAccumulates();
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> operands =
        getBuffers(op, rewriter, options, state);
    if (failed(operands))
      return failure();
    auto onBuffers =
        cast<OpTy>(mlir::clone(rewriter, op, rewriter.getI1Type(), *operands));
    SmallVector<Value> values(onBuffers.getDpsInits());
    values.push_back(onBuffers.getIsDone());
    replaceOpWithBufferizedValues(rewriter, op, values);
    return success();
  }
};

/// Reads its tensors.
template <typename OpTy>
struct ReadingModel
    : BufferizableOpInterface::ExternalModel<ReadingModel<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> operands =
        getBuffers(op, rewriter, options, state);
    if (failed(operands))
      return failure();
    Operation *onBuffers =
        mlir::clone(rewriter, op, op->getResultTypes(), *operands);
    rewriter.replaceOp(op, onBuffers->getResults());
    return success();
  }
};
} // namespace

void sparse_autograd::registerStorageOpBufferization(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, SparseAutogradDialect *) {
    CountBeforeOp::attachInterface<StorageOpModel<CountBeforeOp>>(*context);
    SortEntriesOp::attachInterface<StorageOpModel<SortEntriesOp>>(*context);
    CountPositionsOp::attachInterface<StorageOpModel<CountPositionsOp>>(
        *context);
    StorePositionsOp::attachInterface<StorageOpModel<StorePositionsOp>>(
        *context);
    Pack24Op::attachInterface<StorageOpModel<Pack24Op>>(*context);
    Multiply24Op::attachInterface<StorageOpModel<Multiply24Op>>(*context);
    InnerProductOp::attachInterface<ReadingModel<InnerProductOp>>(*context);
    BeginSparseProductOp::attachInterface<ReadingModel<BeginSparseProductOp>>(
        *context);
    EndSparseProductOp::attachInterface<StorageOpModel<EndSparseProductOp>>(
        *context);
    OfferProductOp::attachInterface<OfferModel<OfferProductOp>>(*context);
    OfferSampledProductOp::attachInterface<OfferModel<OfferSampledProductOp>>(
        *context);
  });
}
