//===- TensorToBuffer.cpp - bufferization -----------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/TensorToBuffer/TensorToBuffer.h"
#include "AccessSets.h"
#include "BufferizeStorageOps.h"
#include "NormalizeSlices.h"

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Transforms/SwitchToIf.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferUtils.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/SubsetOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_TENSORTOBUFFER
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// Whether `value` has a buffer that may be written once it is dead: that of an
/// op that made it, or one that a loop carries.
static bool hasOwnBuffer(Value value) {
  if (Operation *op = value.getDefiningOp())
    return isa<linalg::LinalgOp>(op) || isa<scf::ForOp>(op);
  Operation *parent = cast<BlockArgument>(value).getOwner()->getParentOp();
  return isa<scf::ForOp>(parent);
}

/// Whether `user` is where `value` dies: every other use is before it, in the
/// same block as the value.
static bool isLastUse(Value value, Operation *user) {
  if (value.getParentBlock() != user->getBlock())
    return false;
  return llvm::all_of(value.getUsers(), [&](Operation *other) {
    if (other == user)
      return true;
    Operation *ancestor = user->getBlock()->findAncestorOpInBlock(*other);
    return ancestor && ancestor->isBeforeInBlock(user);
  });
}

/// Lets an elementwise op whose destination is fresh write to an operand that
/// dies with it. One-shot analysis decides where a destination lives, but does
/// not look for another one.
static void reuseOperands(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || !linalg::isElementwise(op))
    return;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    if (!init.get().getDefiningOp<tensor::EmptyOp>() ||
        op.payloadUsesValueFromOperand(&init))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&init);
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value value = input->get();
      if (value.getType() != init.get().getType() ||
          op.getMatchingIndexingMap(input) != map || !hasOwnBuffer(value) ||
          !isLastUse(value, op))
        continue;
      // Another operand of the op that reads it elsewhere, or has taken it.
      if (llvm::count(op->getOperands(), value) != 1)
        continue;
      init.set(value);
      break;
    }
  }
}

/// Lets what `insertion` inserts be computed in its destination, unless that
/// comes from outside of a loop that the insertion is in: the bufferization
/// then copies the destination for the insertion, but not for what is computed
/// in it, and the next iteration would copy what this one has left there.
static Value extractDestination(RewriterBase &rewriter,
                                SubsetInsertionOpInterface insertion,
                                tensor::EmptyOp empty, Operation *user) {
  Value destination = insertion.getDestinationOperand().get();
  if (destination.getParentRegion() != insertion->getParentRegion())
    return {};
  return bufferization::buildSubsetExtraction(rewriter, insertion, empty, user);
}

/// Fills a tensor anew for each op that writes to it: the bufferization would
/// fill one buffer and copy it for each.
static void repeatFill(linalg::FillOp fill) {
  if (!fill.hasPureTensorSemantics() || fill->hasOneUse())
    return;
  SmallVector<OpOperand *> writes;
  for (OpOperand &use : fill->getUses()) {
    auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    auto loop = dyn_cast<scf::ForOp>(use.getOwner());
    if ((op && op.isDpsInit(&use)) ||
        (loop && loop.getTiedLoopRegionIterArg(&use)))
      writes.push_back(&use);
  }
  for (OpOperand *use : writes) {
    if (fill->hasOneUse())
      return;
    OpBuilder builder(use->getOwner());
    use->set(builder.clone(*fill)->getResult(0));
  }
}

/// Names, masks and defaults are for callers; the manifest has them.
static void removeArgumentAttributes(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    function.removeArgAttr(i, SparseAutogradDialect::getNameAttrName());
    function.removeArgAttr(i, SparseAutogradDialect::getMaskOfAttrName());
    function.removeArgAttr(i, SparseAutogradDialect::getDefaultAttrName());
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function.removeResultAttr(
        i, StringAttr::get(function.getContext(),
                           SparseAutogradDialect::getNameAttrName()));
}

/// A result is a buffer without gaps, as its type says. Upstream casts a view
/// that may have gaps to that type where the extents are dynamic (LLVM 22.1).
static LogicalResult
copyStridedResults(func::ReturnOp op,
                   const bufferization::BufferizationOptions &options) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto cast = operand.get().getDefiningOp<memref::CastOp>();
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!cast || !type || !type.getLayout().isIdentity())
      continue;
    Value source = cast.getSource();
    while (auto inner = source.getDefiningOp<memref::CastOp>())
      source = inner.getSource();
    auto sourceType = dyn_cast<MemRefType>(source.getType());
    if (!sourceType || sourceType.getLayout().isIdentity())
      continue;
    SmallVector<Value> extents;
    for (auto [dim, extent] : llvm::enumerate(type.getShape()))
      if (ShapedType::isDynamic(extent))
        extents.push_back(
            memref::DimOp::create(builder, op.getLoc(), source, dim));
    FailureOr<Value> copy =
        options.createAlloc(builder, op.getLoc(), type, extents);
    if (failed(copy) ||
        failed(options.createMemCpy(builder, op.getLoc(), source, *copy)))
      return failure();
    operand.set(*copy);
  }
  return success();
}

/// Has a copy of what `op` scatters ask the result itself for its extents.
/// Upstream computes them from those of the loops: of a result whose dimension
/// is d0 + d1 the sum of two extents, one more than there are.
static void hideLoopExtents(linalg::GenericOp op) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || type.hasStaticShape() ||
        op.getIndexingMapMatchingResult(result).isProjectedPermutation())
      continue;
    // A cast has the extents of its operand.
    Value cast = tensor::CastOp::create(builder, op.getLoc(), type, result);
    result.replaceAllUsesExcept(cast, cast.getDefiningOp());
  }
}

namespace {
struct TensorToBufferPass
    : sparse_autograd::impl::TensorToBufferBase<TensorToBufferPass> {
  using TensorToBufferBase::TensorToBufferBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    TensorToBufferBase::getDependentDialects(registry);
    registry.insert<linalg::LinalgDialect, scf::SCFDialect>();
    registerStorageOpBufferization(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();

    RewritePatternSet patterns(context);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    populateNormalizeSlicesPatterns(patterns);
    populateSwitchToIfPatterns(patterns);
    if (failed(applyPatternsGreedily(module, std::move(patterns))))
      return signalPassFailure();

    module.walk([](linalg::GenericOp op) { reuseOperands(op); });
    module.walk(repeatFill);
    module.walk(repeatEmpties);
    module.walk(hideLoopExtents);

    // The caller's arguments are borrowed.
    StringRef writable = bufferization::BufferizationDialect::kWritableAttrName;
    for (auto function : module.getOps<func::FuncOp>()) {
      removeArgumentAttributes(function);
      if (!function.isPublic())
        continue;
      for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
        if (isa<TensorType>(type))
          function.setArgAttr(i, writable, BoolAttr::get(context, false));
    }

    bufferization::OneShotBufferizationOptions options;
    options.allowReturnAllocsFromLoops = true;
    options.bufferizeFunctionBoundaries = true;
    options.setFunctionBoundaryTypeConversion(
        bufferization::LayoutMapOption::IdentityLayoutMap);
    options.unknownTypeConverterFn =
        [](TensorType type, Attribute memorySpace,
           const bufferization::BufferizationOptions &) {
          return bufferization::getMemRefTypeWithStaticIdentityLayout(
              type, memorySpace);
        };
    for (auto function : module.getOps<func::FuncOp>()) {
      splitArguments(function);
      if (failed(cutUpdateChains(function, options)))
        return signalPassFailure();
    }
    IRRewriter rewriter(context);
    bufferization::OneShotAnalysisState state(module, options);
    if (failed(bufferization::analyzeModuleOp(module, state)))
      return signalPassFailure();
    remarkLargestAccessSet(module, state);
    if (failed(bufferization::eliminateEmptyTensors(rewriter, module, state,
                                                    extractDestination)))
      return signalPassFailure();
    bufferization::BufferizationState bufferizationState;
    // Upstream visits functions in the order of their addresses; constants get
    // their names here, in that of the program.
    module.walk([&](arith::ConstantOp constant) {
      if (isa<RankedTensorType>(constant.getType()))
        (void)bufferization::getGlobalFor(constant,
                                          bufferizationState.getSymbolTables(),
                                          options.bufferAlignment);
    });
    if (failed(bufferization::runOneShotModuleBufferize(module, options,
                                                        bufferizationState)))
      return signalPassFailure();
    WalkResult copied = module.walk([&](func::ReturnOp op) {
      return failed(copyStridedResults(op, options)) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
    });
    if (copied.wasInterrupted())
      return signalPassFailure();
  }
};
} // namespace
