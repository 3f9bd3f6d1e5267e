//===- LowerSparse.cpp - sparse tensors to loops --------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces sparse tensors by their components, in functions, calls and
// structured control flow, and ops on them by loops. Which values share a
// pattern is found first: it is hard to see of components that loops carry.
// Runs after PrepareSparse, which has made structured ops of samples and
// conversions.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/SparseTensorToLoops/SparseTensorToLoops.h"

#include "CheckSparseTypes.h"
#include "DeviceProduct24.h"
#include "FuseUpdates.h"
#include "MoveEntries.h"
#include "NumberedLoops.h"
#include "OpsOnComponents.h"
#include "Packing24.h"
#include "RowsToLoops.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "SparseAutograd/Runtime/CompilerABI.h"
#include "SparseAutograd/Target/TargetInfo.h"
#include "SparseStorage.h"
#include "StructuredToLoops.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/StringSwitch.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_LOWERSPARSE
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// What is known of the patterns of structured ops before the expansion.
using KnownPatterns = llvm::DenseMap<Operation *, OperandPatterns>;

/// Contractions with a 2:4 factor whose elements are inner products.
using InnerProducts = llvm::DenseSet<Operation *>;

/// One sparse tensor is several values.
struct ExpandedTypes : TypeConverter {
  ExpandedTypes() {
    addConversion([](Type type) { return type; });
    addConversion(
        [](RankedTensorType type,
           SmallVectorImpl<Type> &components) -> std::optional<LogicalResult> {
          if (!isSparse(type))
            return std::nullopt;
          llvm::append_range(components, getComponentTypes(type));
          return success();
        });
    addSourceMaterialization([](OpBuilder &builder, Type type,
                                ValueRange components, Location loc) -> Value {
      return UnrealizedConversionCastOp::create(builder, loc, type, components)
          .getResult(0);
    });
    addTargetMaterialization([](OpBuilder &builder, TypeRange types,
                                ValueRange values,
                                Location loc) -> SmallVector<Value> {
      return SmallVector<Value>(
          UnrealizedConversionCastOp::create(builder, loc, types, values)
              .getResults());
    });
  }
};

/// Any structured op, with the interface in place of its name.
struct LowerStructuredOp : OpInterfaceConversionPattern<linalg::LinalgOp> {
  LowerStructuredOp(const TypeConverter &types, MLIRContext *context,
                    const KnownPatterns &patterns,
                    const InnerProducts &innerProducts,
                    const LoopSchedule &schedule, int64_t product24)
      : OpInterfaceConversionPattern(types, context), patterns(patterns),
        innerProducts(innerProducts), schedule(schedule), product24(product24) {
  }

  LogicalResult
  matchAndRewrite(linalg::LinalgOp op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    auto known = patterns.find(op);
    if (known == patterns.end())
      return failure();
    if (innerProducts.contains(op)) {
      rewriter.replaceOp(op, lowerDeviceProduct24(rewriter, op, operands));
      return success();
    }
    if (!schedule.isForDevice)
      if (Value product = lowerProduct24(rewriter, op, operands, product24)) {
        rewriter.replaceOp(op, product);
        return success();
      }
    rewriter.replaceOpWithMultiple(
        op, lowerStructured(rewriter, op, operands, known->second, schedule));
    return success();
  }

private:
  const KnownPatterns &patterns;
  const InnerProducts &innerProducts;
  LoopSchedule schedule;
  int64_t product24;
};

} // namespace

//===----------------------------------------------------------------------===//
// Before the expansion
//===----------------------------------------------------------------------===//

/// Checks what the lowering of `op` takes for granted.
static LogicalResult checkLowered(Operation *op) {
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    auto encodingOf = [](Value value) -> Attribute {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type ? type.getEncoding() : Attribute();
    };
    if (encodingOf(cast.getSource()) != encodingOf(cast.getDest()))
      return op->emitOpError("changes the encoding from ")
             << cast.getSource().getType() << " to " << cast.getType()
             << "; use sparse_tensor.convert";
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    if (!dim.getConstantIndex())
      return op->emitOpError("asks a sparse tensor for the extent of a "
                             "dimension that is not a constant");
  return checkMove(op);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct LowerSparsePass
    : sparse_autograd::impl::LowerSparseBase<LowerSparsePass> {
  using LowerSparseBase::LowerSparseBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    LowerSparseBase::getDependentDialects(registry);
    registry.insert<bufferization::BufferizationDialect, math::MathDialect>();
  }

  /// Chooses how products with a 2:4 matrix are computed: by the option, if it
  /// is one of its values.
  LogicalResult chooseProducts24();
  /// Fuses updates of rows, which takes their patterns, and gives what is known
  /// of the patterns of each op that is to be lowered.
  FailureOr<KnownPatterns> findPatterns();
  /// Notes loops that are to be made parallel in `numbered`.
  LogicalResult expand(const KnownPatterns &known,
                       SmallVectorImpl<NumberedLoops> &numbered);

  /// One of SPARSE_AUTOGRAD_PRODUCT24_*.
  int64_t strategy24 = SPARSE_AUTOGRAD_PRODUCT24_FASTEST;
  InnerProducts innerProducts;

  void runOnOperation() override {
    innerProducts.clear();
    if (failed(checkSparseTypes(getOperation())) || failed(chooseProducts24()))
      return signalPassFailure();
    FailureOr<KnownPatterns> known = findPatterns();
    SmallVector<NumberedLoops> numbered;
    if (failed(known) || failed(expand(*known, numbered)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (NumberedLoops &loops : numbered)
      loops.makeParallel(rewriter);
  }
};
} // namespace

LogicalResult LowerSparsePass::chooseProducts24() {
  std::optional<int64_t> strategy =
      llvm::StringSwitch<std::optional<int64_t>>(product24)
          .Case("fastest", SPARSE_AUTOGRAD_PRODUCT24_FASTEST)
          .Case("sparse", SPARSE_AUTOGRAD_PRODUCT24_SPARSE)
          .Case("dense", SPARSE_AUTOGRAD_PRODUCT24_DENSE)
          .Default(std::nullopt);
  if (!strategy)
    return getOperation().emitError(
               "product-24 is fastest, sparse or dense, not '")
           << product24 << "'";
  strategy24 = *strategy;
  SmallVector<linalg::LinalgOp> products;
  getOperation()->walk([&](linalg::LinalgOp op) {
    if (hasSparseType(op))
      products.push_back(op);
  });
  IRRewriter rewriter(&getContext());
  for (linalg::LinalgOp op : products) {
    op = readPackedTranspose(rewriter, op, forDevice);
    if (forDevice && chooseDeviceProduct24(rewriter, op, strategy24))
      innerProducts.insert(op);
  }
  return success();
}

FailureOr<KnownPatterns> LowerSparsePass::findPatterns() {
  IRRewriter rewriter(&getContext());
  // On a device nothing counts the elements of a group: they are copied in
  // their order.
  if (forDevice)
    getOperation()->walk([](Compress24Op op) {
      if (op.getChoice())
        return;
      OpBuilder builder(op);
      op.replaceAllUsesWith(
          createStoredCopy(builder, op.getLoc(), op.getInput(), op.getType()));
      op.erase();
    });

  SparsePatterns patterns;
  llvm::DenseMap<Operation *, unsigned> visited;
  getOperation()->walk([&](Block *block) {
    for (FusedUpdate update : fuseUpdates(rewriter, *block, patterns))
      visited[update.op] = update.pattern;
  });
  SmallVector<linalg::LinalgOp> structured;
  getOperation()->walk([&](linalg::LinalgOp op) {
    if (hasSparseType(op))
      structured.push_back(op);
  });
  KnownPatterns all;
  for (linalg::LinalgOp op : structured) {
    OperandPatterns known = OperandPatterns::of(op, patterns);
    if (auto it = visited.find(op); it != visited.end())
      known.source = it->second;
    if (failed(checkStructured(op, known)))
      return failure();
    all.try_emplace(op, std::move(known));
  }
  return all;
}

LogicalResult
LowerSparsePass::expand(const KnownPatterns &known,
                        SmallVectorImpl<NumberedLoops> &numbered) {
  MLIRContext *context = &getContext();
  ModuleOp module = getOperation();
  // Names and masks are those of tensors: the manifest has them.
  for (auto function : module.getOps<func::FuncOp>())
    if (llvm::any_of(function.getArgumentTypes(), isSparse) ||
        llvm::any_of(function.getResultTypes(), isSparse)) {
      function.removeArgAttrsAttr();
      function.removeResAttrsAttr();
    }

  ExpandedTypes types;
  RewritePatternSet patterns(context);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                 types);
  populateReturnOpTypeConversionPattern(patterns, types);
  populateCallOpTypeConversionPattern(patterns, types);
  LoopSchedule schedule;
  schedule.isParallel = parallel || forDevice;
  schedule.isForDevice = forDevice;
  if (forDevice)
    schedule.numbered = &numbered;
  schedule.vectorBytes = forDevice ? 0 : vectorBytes;
  schedule.tailBytes = std::min<int64_t>(vectorBytes, 64);
  schedule.maskedBytes = getCPU(module).getMaskedBytes();
  patterns.add<LowerStructuredOp>(types, context, known, innerProducts,
                                  schedule, strategy24);
  populatePacking24Patterns(types, forDevice, patterns);
  populateOpsOnComponentsPatterns(types, patterns);
  populateGatherRowsPatterns(types, patterns);
  populateScatterRowsPatterns(types, schedule, patterns);
  populateMoveEntriesPatterns(types, schedule, patterns);
  ConversionTarget target(*context);
  scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns, target);
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op))
      return types.isSignatureLegal(function.getFunctionType()) &&
             types.isLegal(&function.getBody());
    return types.isLegal(op);
  });
  target.addLegalOp<UnrealizedConversionCastOp, ModuleOp>();

  // What no pattern lowers.
  llvm::DenseSet<OperationName> lowered;
  for (const auto &pattern : patterns.getNativePatterns())
    if (std::optional<OperationName> name = pattern->getRootKind())
      lowered.insert(*name);
  WalkResult refused = module.walk([&](Operation *op) {
    if (!hasSparseType(op) ||
        isa<linalg::LinalgOp, UnrealizedConversionCastOp>(op))
      return WalkResult::advance();
    if (lowered.contains(op->getName()))
      return WalkResult(checkLowered(op));
    op->emitOpError("is not lowered on sparse tensors; ")
        << (isa<SampleOp, sparse_tensor::ConvertOp>(op)
                ? "run --sparse-autograd-prepare-sparse first"
                : "convert its operands to dense ones with "
                  "sparse_tensor.convert");
    return WalkResult::interrupt();
  });
  if (refused.wasInterrupted())
    return failure();
  return applyPartialConversion(module, target, std::move(patterns));
}
