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
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/SparseTensorToLoops/SparseTensorToLoops.h"

#include "FuseUpdates.h"
#include "MoveEntries.h"
#include "NumberedLoops.h"
#include "OpsOnComponents.h"
#include "RowsToLoops.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "SparseAutograd/Target/TargetInfo.h"
#include "SparseAutograd/Transforms/SampleFactors.h"
#include "SparseStorage.h"
#include "StructuredToLoops.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_LOWERSPARSE
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {
/// What is known of the patterns of structured ops before the expansion.
using KnownPatterns = llvm::DenseMap<Operation *, OperandPatterns>;

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
                    const KnownPatterns &patterns, const LoopSchedule &schedule)
      : OpInterfaceConversionPattern(types, context), patterns(patterns),
        schedule(schedule) {}

  LogicalResult
  matchAndRewrite(linalg::LinalgOp op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    auto known = patterns.find(op);
    if (known == patterns.end())
      return failure();
    rewriter.replaceOpWithMultiple(
        op, lowerStructured(rewriter, op, operands, known->second, schedule));
    return success();
  }

private:
  const KnownPatterns &patterns;
  LoopSchedule schedule;
};

} // namespace

//===----------------------------------------------------------------------===//
// Before the expansion
//===----------------------------------------------------------------------===//

static bool hasSparseType(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isSparse) ||
         llvm::any_of(op->getResultTypes(), isSparse);
}

/// Checks the types of what `op` defines: encodings, and types of the
/// dialect that are no tensors, as storage specifiers.
static LogicalResult checkTypes(Operation *op) {
  auto check = [&](Type type) -> LogicalResult {
    if (isa<sparse_tensor::SparseTensorDialect>(type.getDialect()))
      return op->emitOpError("has type ")
             << type
             << ", which is not lowered; write ops of linalg, arith and math "
                "on tensors with an encoding";
    return !isSparse(type) ? success()
                           : checkEncoding(cast<RankedTensorType>(type),
                                           [&]() { return op->emitOpError(); });
  };
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  if (auto function = dyn_cast<func::FuncOp>(op))
    for (Type type : llvm::concat<const Type>(function.getArgumentTypes(),
                                              function.getResultTypes()))
      if (failed(check(type)))
        return failure();
  return success();
}

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

/// The elements of a tensor at a pattern, as a structured op.
static void lowerSample(SampleOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value sample = createCopyLike(builder, loc, op.getInput(), op.getPattern());
  if (sample.getType() != op.getType())
    sample = tensor::CastOp::create(builder, loc, op.getType(), sample);
  op.replaceAllUsesWith(sample);
  op.erase();
}

/// A copy into another storage, as a structured op.
static void lowerConvert(sparse_tensor::ConvertOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getType());
  Value source = op.getSource();
  Value init = createEmptyOfType(builder, loc, type, source);
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  auto copy = linalg::GenericOp::create(
      builder, loc, type, source, init, ArrayRef<AffineMap>{identity, identity},
      SmallVector<utils::IteratorType>(type.getRank(),
                                       utils::IteratorType::parallel),
      [](OpBuilder &nested, Location loc, ValueRange elements) {
        linalg::YieldOp::create(nested, loc, elements.front());
      });
  op.replaceAllUsesWith(copy.getResult(0));
  op.erase();
}

/// Has `op` compute what it reads of dense operands that elementwise ops make
/// for it alone: at the elements that it visits, each once, and no others.
static void fuseProducers(IRRewriter &rewriter, linalg::GenericOp op) {
  auto isFusable = [&](OpOperand &operand) {
    auto producer = operand.get().getDefiningOp<linalg::GenericOp>();
    return producer && producer->getBlock() == op->getBlock() &&
           producer->getNumResults() == 1 && producer->hasOneUse() &&
           llvm::none_of(producer->getOperandTypes(), isSparse) &&
           op.getMatchingIndexingMap(&operand).isPermutation() &&
           linalg::areElementwiseOpsFusable(&operand);
  };
  while (true) {
    OpOperand *fusable = nullptr;
    for (OpOperand *input : op.getDpsInputOperands())
      if (isFusable(*input))
        fusable = input;
    if (!fusable)
      return;
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::ElementwiseOpFusionResult> fused =
        linalg::fuseElementwiseOps(rewriter, fusable);
    if (failed(fused))
      return;
    for (auto [value, replacement] : fused->replacements)
      rewriter.replaceAllUsesWith(value, replacement);
    rewriter.eraseOp(op);
    op = cast<linalg::GenericOp>(fused->fusedOp);
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct LowerSparsePass
    : sparse_autograd::impl::LowerSparseBase<LowerSparsePass> {
  using LowerSparseBase::LowerSparseBase;

  /// Gives what is known of the patterns of each op that is to be lowered.
  FailureOr<KnownPatterns> prepare();
  /// Notes loops that are to be made parallel in `numbered`.
  LogicalResult expand(const KnownPatterns &known,
                       SmallVectorImpl<NumberedLoops> &numbered);

  void runOnOperation() override {
    FailureOr<KnownPatterns> known = prepare();
    SmallVector<NumberedLoops> numbered;
    if (failed(known) || failed(expand(*known, numbered)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    for (NumberedLoops &loops : numbered)
      loops.makeParallel(rewriter);
  }
};
} // namespace

FailureOr<KnownPatterns> LowerSparsePass::prepare() {
  WalkResult checked = getOperation()->walk(
      [](Operation *op) { return WalkResult(checkTypes(op)); });
  if (checked.wasInterrupted())
    return failure();
  RewritePatternSet samples(&getContext());
  SampleOp::getCanonicalizationPatterns(samples, &getContext());
  SampledGenericOp::getCanonicalizationPatterns(samples, &getContext());
  populateSampleFactorsPatterns(samples);
  if (failed(applyPatternsGreedily(getOperation(), std::move(samples))))
    return failure();
  checked = getOperation()->walk([](sparse_tensor::ConvertOp op) {
    if (getElementTypeOrSelf(op.getSource()) == getElementTypeOrSelf(op))
      return WalkResult::advance();
    return WalkResult(
        op.emitOpError("changes the element type; run "
                       "--convert-sparse-autograd-to-linalg first"));
  });
  if (checked.wasInterrupted())
    return failure();
  getOperation()->walk([](SampleOp op) { lowerSample(op); });
  getOperation()->walk([](sparse_tensor::ConvertOp op) { lowerConvert(op); });
  SmallVector<linalg::GenericOp> generics;
  getOperation()->walk([&](linalg::GenericOp op) {
    if (hasSparseType(op))
      generics.push_back(op);
  });
  IRRewriter rewriter(&getContext());
  for (linalg::GenericOp op : generics)
    fuseProducers(rewriter, op);

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
  patterns.add<LowerStructuredOp>(types, context, known, schedule);
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
    op->emitOpError("is not lowered on sparse tensors; convert its operands to "
                    "dense ones with sparse_tensor.convert");
    return WalkResult::interrupt();
  });
  if (refused.wasInterrupted())
    return failure();
  return applyPartialConversion(module, target, std::move(patterns));
}
