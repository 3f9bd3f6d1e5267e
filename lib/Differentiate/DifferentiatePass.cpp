//===- DifferentiatePass.cpp - expand calls of derivatives ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Normalization.h"
#include "ResidualTypes.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/EntryAttributes.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Derivative.h"
#include "SparseAutograd/Differentiate/Passes.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "SparseAutograd/Transforms/Canonicalize.h"
#include "SparseAutograd/Transforms/EraseDeadIterArgs.h"
#include "SparseAutograd/Transforms/ExpandConversions.h"
#include "SparseAutograd/Transforms/FoldBroadcasts.h"
#include "SparseAutograd/Transforms/FoldConstants.h"
#include "SparseAutograd/Transforms/FoldNegations.h"
#include "SparseAutograd/Transforms/HoistInvariants.h"
#include "SparseAutograd/Transforms/MergeEqualOps.h"
#include "SparseAutograd/Transforms/PropagateConditions.h"
#include "SparseAutograd/Transforms/SampleFactors.h"
#include "SparseAutograd/Transforms/StoreIntoZeros.h"
#include "SplitDerivative.h"
#include "TransposeInlining.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSet.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "SparseAutograd/Differentiate/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

static void describeGradients(func::FuncOp function);

namespace {

/// Replaces the derivative ops of a module, innermost derivative first: what a
/// function calls holds no derivative ops by the time it is differentiated.
/// The tangent of a custom_vjp calls a derivative in forward mode, which is
/// expanded in its turn.
class DerivativeExpander {
public:
  /// `simplify` canonicalizes a function and merges what it computes twice.
  DerivativeExpander(ModuleOp module,
                     std::function<LogicalResult(func::FuncOp)> simplify,
                     std::optional<int64_t> residualBudget)
      : module(module), symbolTable(module), simplify(std::move(simplify)),
        residualBudget(residualBudget) {}

  LogicalResult run() {
    for (auto split : module.getOps<SplitVjpOp>()) {
      splits[split.getForward()] = split;
      splits[split.getBackward()] = split;
    }
    SmallVector<SplitVjpOp> all(module.getOps<SplitVjpOp>());
    for (SplitVjpOp split : all)
      if (failed(define(split)))
        return failure();
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    llvm::for_each(functions, describeGradients);
    for (func::FuncOp function : functions)
      if (failed(expandIn(function)))
        return failure();
    replaceByCalls();
    for (SplitVjpOp split : all)
      split.erase();
    for (func::FuncOp transposed : inlined)
      if (SymbolTable::symbolKnownUseEmpty(transposed, module))
        symbolTable.erase(transposed);
    return success();
  }

private:
  LogicalResult expandIn(func::FuncOp function);
  LogicalResult expand(Operation *op);
  LogicalResult define(SplitVjpOp split);
  void replaceByCalls();
  FailureOr<func::FuncOp> getDerivative(Operation *op, FlatSymbolRefAttr callee,
                                        const DerivativeRequest &request);
  func::FuncOp getTranspose(LinearTransposeOp op);
  FailureOr<func::FuncOp> build(func::FuncOp callee,
                                const DerivativeRequest &request) {
    return buildDerivative(
        callee, request, symbolTable,
        [this](LinearTransposeOp op) { return getTranspose(op); });
  }

  ModuleOp module;
  SymbolTable symbolTable;
  std::function<LogicalResult(func::FuncOp)> simplify;
  std::optional<int64_t> residualBudget;
  /// The split_vjp that defines a function, by the function's name.
  llvm::StringMap<SplitVjpOp> splits;
  /// Those that are being worked on.
  llvm::DenseSet<Operation *> beingDefined;
  /// Backward functions that are called as they are.
  llvm::StringSet<> notTransposed;
  /// Transposes of the others.
  llvm::SetVector<func::FuncOp> inlined;
  /// Functions whose derivative ops are gone, and those being worked on.
  llvm::DenseSet<Operation *> expanded, inProgress;
  /// The derivatives built so far.
  std::map<std::pair<std::string, DerivativeRequest>, func::FuncOp> derivatives;
};

} // namespace

LogicalResult DerivativeExpander::expandIn(func::FuncOp function) {
  if (auto it = splits.find(function.getSymName()); it != splits.end())
    return define(it->second);
  if (function.isDeclaration() || expanded.contains(function))
    return success();
  if (!inProgress.insert(function).second)
    return success(); // A plain recursive call; derivatives check their own.
  llvm::scope_exit done([&] { inProgress.erase(function); });
  SmallVector<Operation *> ops;
  SmallVector<func::FuncOp> callees;
  auto addCallee = [&](StringRef name) {
    if (auto callee = symbolTable.lookup<func::FuncOp>(name))
      callees.push_back(callee);
  };
  function.walk([&](Operation *op) {
    if (isa<ValueAndGradOp, VjpOp, JvpOp, LinearTransposeOp>(op)) {
      ops.push_back(op);
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      addCallee(call.getCallee());
    } else if (auto checkpoint = dyn_cast<CheckpointOp>(op)) {
      addCallee(checkpoint.getCallee());
    } else if (auto custom = dyn_cast<CustomVjpOp>(op)) {
      addCallee(custom.getCallee());
      addCallee(custom.getForward());
      addCallee(custom.getBackward());
    }
  });
  for (func::FuncOp callee : callees)
    if (failed(expandIn(callee)))
      return failure();
  for (Operation *op : ops)
    if (failed(expand(op)))
      return failure();
  expanded.insert(function);
  return success();
}

FailureOr<func::FuncOp>
DerivativeExpander::getDerivative(Operation *op, FlatSymbolRefAttr symbol,
                                  const DerivativeRequest &request) {
  auto callee = symbolTable.lookup<func::FuncOp>(symbol.getValue());
  // `op` may be one that a rule made: errors do not name it.
  if (!callee)
    return op->emitError("differentiates '")
           << symbol.getValue()
           << "', which is not a func.func; only those are differentiated";
  if (inProgress.contains(callee))
    return op->emitError("differentiates '")
           << symbol.getValue()
           << "', which calls this derivative: recursion is not "
              "differentiated";
  if (failed(expandIn(callee)))
    return failure();
  auto [it, isNew] =
      derivatives.try_emplace({symbol.getValue().str(), request});
  if (!isNew && !it->second)
    return op->emitError("differentiates '")
           << symbol.getValue()
           << "' inside of its own derivative: recursion is not "
              "differentiated";
  if (isNew) {
    FailureOr<func::FuncOp> built = build(callee, request);
    if (failed(built)) {
      derivatives.erase(it);
      return op->emitError("the derivative cannot be expanded: '")
             << symbol.getValue() << "' is not differentiable as it stands";
    }
    if (failed(expandIn(*built)) || failed(simplify(*built))) {
      derivatives.erase(it);
      expanded.erase(*built);
      symbolTable.erase(*built);
      return failure();
    }
    it->second = *built;
  }
  return it->second;
}

/// The function that a call of a derivative names, and what it asks of it.
static std::pair<FlatSymbolRefAttr, DerivativeRequest>
getRequest(Operation *op) {
  DerivativeRequest request;
  auto setGradients = [&](ArrayRef<int64_t> wrt) {
    request.wrt.assign(wrt.begin(), wrt.end());
    llvm::append_range(request.tangents,
                       op->getResults().take_back(wrt.size()).getTypes());
  };
  if (auto valueAndGrad = dyn_cast<ValueAndGradOp>(op)) {
    request.mode = DerivativeMode::ValueAndGrad;
    setGradients(valueAndGrad.getWrt());
    return {valueAndGrad.getCalleeAttr(), request};
  }
  if (auto vjp = dyn_cast<VjpOp>(op)) {
    request.mode = DerivativeMode::Vjp;
    setGradients(vjp.getWrt());
    llvm::append_range(request.cotangents, vjp.getCotangents().getTypes());
    return {vjp.getCalleeAttr(), request};
  }
  if (auto transpose = dyn_cast<LinearTransposeOp>(op)) {
    request.mode = DerivativeMode::Transpose;
    setGradients(transpose.getWrt());
    llvm::append_range(request.cotangents,
                       transpose.getCotangents().getTypes());
    return {transpose.getCalleeAttr(), request};
  }
  auto jvp = cast<JvpOp>(op);
  request.mode = DerivativeMode::Jvp;
  llvm::append_range(request.wrt, jvp.getWrt());
  llvm::append_range(request.tangents, jvp.getTangents().getTypes());
  return {jvp.getCalleeAttr(), request};
}

func::FuncOp DerivativeExpander::getTranspose(LinearTransposeOp op) {
  if (notTransposed.contains(op.getCallee()))
    return {};
  auto [callee, request] = getRequest(op);
  // One that is its own derivative is being built.
  if (auto known = derivatives.find({callee.getValue().str(), request});
      known != derivatives.end() && !known->second)
    return {};
  // Without rules the callee is called as it is.
  ScopedDiagnosticHandler silent(op.getContext(),
                                 [](Diagnostic &) { return success(); });
  FailureOr<func::FuncOp> transposed = getDerivative(op, callee, request);
  if (succeeded(transposed) &&
      succeeded(normalizeForDifferentiation(*transposed)) &&
      isTransposeOfLinear(*transposed, op.getWrt())) {
    inlined.insert(*transposed);
    return *transposed;
  }

  notTransposed.insert(op.getCallee());
  return {};
}

LogicalResult DerivativeExpander::expand(Operation *op) {
  auto [callee, request] = getRequest(op);
  FailureOr<func::FuncOp> derivative = getDerivative(op, callee, request);
  if (failed(derivative))
    return failure();
  OpBuilder builder(op);
  auto call = func::CallOp::create(builder, op->getLoc(), *derivative,
                                   op->getOperands());
  op->replaceAllUsesWith(call.getResults());
  op->erase();
  return success();
}

/// The function `name` as it is declared, or as a new declaration behind `op`.
/// A function that the program does not declare is there for its callers.
static func::FuncOp getDeclaration(Operation *op, StringRef name,
                                   SymbolTable &symbolTable) {
  if (auto known = symbolTable.lookup<func::FuncOp>(name))
    return known;
  OpBuilder builder(op->getContext());
  auto function = func::FuncOp::create(builder, op->getLoc(), name,
                                       builder.getFunctionType({}, {}));
  symbolTable.insert(function, std::next(Block::iterator(op)));
  return function;
}

/// Names the residuals alike where they come out and where they go in.
static void nameResiduals(func::FuncOp forward, unsigned firstResult,
                          func::FuncOp backward, unsigned count) {
  StringRef attribute = SparseAutogradDialect::getNameAttrName();
  for (unsigned index = 0; index < count; ++index) {
    auto name =
        StringAttr::get(forward.getContext(), "residual" + llvm::Twine(index));
    forward.setResultAttr(firstResult + index, attribute, name);
    backward.setArgAttr(index, attribute, name);
  }
}

/// Says of a public function which of its results are gradients of its own
/// arguments, as the ops of derivatives that it returns say.
static void describeGradients(func::FuncOp function) {
  if (!function.isPublic() || function.isDeclaration() ||
      !function.getBody().hasOneBlock())
    return;
  Block &body = function.getBody().front();
  SmallVector<int64_t> numbers;
  for (OpOperand &returned : body.getTerminator()->getOpOperands()) {
    auto result = dyn_cast<OpResult>(returned.get());
    if (!result || !isa<ValueAndGradOp, VjpOp>(result.getOwner()))
      continue;
    Operation *op = result.getOwner();
    ArrayRef<int64_t> wrt = isa<VjpOp>(op) ? cast<VjpOp>(op).getWrt()
                                           : cast<ValueAndGradOp>(op).getWrt();
    int64_t gradient = static_cast<int64_t>(result.getResultNumber()) -
                       (static_cast<int64_t>(op->getNumResults()) -
                        static_cast<int64_t>(wrt.size()));
    auto argument =
        gradient < 0 ? BlockArgument()
                     : dyn_cast<BlockArgument>(op->getOperand(wrt[gradient]));
    if (argument && argument.getOwner() == &body)
      numbers.append({static_cast<int64_t>(returned.getOperandNumber()),
                      static_cast<int64_t>(argument.getArgNumber())});
  }
  if (!numbers.empty())
    function->setAttr(gradientsAttributeName,
                      DenseI64ArrayAttr::get(function.getContext(), numbers));
}

/// Says of the two functions what they are to each other, for their callers.
static void describeSplit(SplitVjpOp split, func::FuncOp callee,
                          func::FuncOp forward, func::FuncOp backward,
                          int64_t residuals) {
  Builder builder(split.getContext());
  SmallVector<int64_t> cotangents;
  for (auto [index, type] : llvm::enumerate(callee.getResultTypes()))
    if (isDifferentiableType(type))
      cotangents.push_back(index);
  auto named = [&](StringRef name, Attribute value) {
    return builder.getNamedAttr(name, value);
  };
  auto description = builder.getDictionaryAttr(
      {named("primal", builder.getStringAttr(split.getCallee())),
       named("forward", builder.getStringAttr(split.getForward())),
       named("backward", builder.getStringAttr(split.getBackward())),
       named("wrt", split.getWrtAttr()),
       named("cotangents", builder.getDenseI64ArrayAttr(cotangents)),
       named("residuals", builder.getI64IntegerAttr(residuals))});
  for (func::FuncOp part : {forward, backward})
    part->setAttr(splitAttributeName, description);
}

LogicalResult DerivativeExpander::define(SplitVjpOp split) {
  auto known = symbolTable.lookup<func::FuncOp>(split.getForward());
  if (known && !known.isDeclaration())
    return success();
  if (!beingDefined.insert(split).second)
    return split.emitOpError("defines functions that '")
           << split.getCallee()
           << "' calls itself: recursion is not differentiated";
  auto callee = symbolTable.lookup<func::FuncOp>(split.getCallee());
  if (!callee)
    return split.emitOpError("differentiates '")
           << split.getCallee()
           << "', which is not a func.func; only those are differentiated";
  if (failed(expandIn(callee)))
    return failure();
  DerivativeRequest request;
  request.mode = DerivativeMode::Vjp;
  llvm::append_range(request.wrt, split.getWrt());
  for (int64_t index : split.getWrt())
    request.tangents.push_back(callee.getArgumentTypes()[index]);
  llvm::copy_if(callee.getResultTypes(), std::back_inserter(request.cotangents),
                isDifferentiableType);
  FailureOr<func::FuncOp> joint = build(callee, request);
  if (failed(joint))
    return split.emitOpError("cannot be expanded: '")
           << split.getCallee() << "' is not differentiable as it stands";
  // What the two parts share is to be seen op by op, and once.
  if (failed(expandIn(*joint)) || failed(normalizeForDifferentiation(*joint)) ||
      failed(simplify(*joint)))
    return failure();

  func::FuncOp backward =
      getDeclaration(split, split.getBackward(), symbolTable);
  func::FuncOp forward = getDeclaration(split, split.getForward(), symbolTable);
  unsigned numArguments = callee.getNumArguments();
  unsigned numResults = callee.getNumResults();
  SmallVector<Type> residuals = splitDerivative(
      *joint, numArguments, numResults, residualBudget, forward, backward);
  // Of sparse gradients something is to be proved: of the joint function, in
  // which the backward part need not compute again what the forward part has.
  bool hasSparseGradients = false;
  for (auto [index, type] : llvm::enumerate(joint->getResultTypes()))
    hasSparseGradients |=
        isSparse(type) &&
        joint->getResultAttr(index,
                             SparseAutogradDialect::getGradientOfAttrName());
  if (!hasSparseGradients) {
    // Another function could come to live where it was.
    expanded.erase(*joint);
    symbolTable.erase(*joint);
  }
  for (unsigned index = 0; index < numArguments; ++index)
    forward.setArgAttrs(index, callee.getArgAttrDict(index));
  for (unsigned index = 0; index < numResults; ++index)
    forward.setResultAttrs(index, callee.getResultAttrDict(index));
  nameResiduals(forward, numResults, backward, residuals.size());
  describeSplit(split, callee, forward, backward, residuals.size());
  return replaceResiduals(
      module, ResidualsType::get(module.getContext(), split.getForwardAttr()),
      residuals);
}

/// Without a derivative of theirs being wanted, checkpoint and custom_vjp are
/// calls. Derivatives see them before.
void DerivativeExpander::replaceByCalls() {
  auto replace = [](Operation *op, FlatSymbolRefAttr callee) {
    OpBuilder builder(op);
    auto call = func::CallOp::create(builder, op->getLoc(), callee,
                                     op->getResultTypes(), op->getOperands());
    op->replaceAllUsesWith(call.getResults());
    op->erase();
  };
  inlineRegions(module);
  module.walk([&](CheckpointOp op) { replace(op, op.getCalleeAttr()); });
  module.walk([&](CustomVjpOp op) { replace(op, op.getCalleeAttr()); });
}

/// Makes transposes of sparse tensors generic before anything folds them: where
/// permutations cancel, MLIR replaces a named one by its operand, whatever the
/// encodings are.
static LogicalResult generalizeSparseTransposes(ModuleOp module) {
  SmallVector<linalg::TransposeOp> transposes;
  module.walk([&](linalg::TransposeOp op) {
    if (isSparse(op.getInput().getType()) || isSparse(op.getInit().getType()))
      transposes.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (linalg::TransposeOp op : transposes) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(
            rewriter, cast<linalg::LinalgOp>(op.getOperation()))))
      return failure();
  }
  return success();
}

/// The patterns of MLIR's canonicalizer. As a pass it would have the whole
/// function verified behind it. Two branches under one condition stay two, of
/// which one may stand in the forward part of a split derivative.
static FrozenRewritePatternSet getCanonicalizations(MLIRContext &context) {
  RewritePatternSet patterns(&context);
  for (Dialect *dialect : context.getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context.getRegisteredOperations())
    op.getCanonicalizationPatterns(patterns, &context);
  return freezeCanonicalizations(
      std::move(patterns),
      /*disabled=*/{"(anonymous namespace)::CombineIfs"});
}

namespace {
struct DifferentiatePass
    : sparse_autograd::impl::DifferentiatePassBase<DifferentiatePass> {
  using DifferentiatePassBase::DifferentiatePassBase;

  void runOnOperation() override {
    if (failed(generalizeSparseTransposes(getOperation())) ||
        failed(expandConversions(getOperation())))
      return signalPassFailure();
    FrozenRewritePatternSet canonicalizations =
        getCanonicalizations(getContext());
    GreedyRewriteConfig canonicalization;
    canonicalization.setRegionSimplificationLevel(
        GreedySimplifyRegionLevel::Disabled);
    RewritePatternSet patterns(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    SampleOp::getCanonicalizationPatterns(patterns, &getContext());
    SampledGenericOp::getCanonicalizationPatterns(patterns, &getContext());
    populateEraseDeadIterArgsPatterns(patterns);
    populateFoldBroadcastsPatterns(patterns);
    populateFoldConstantsPatterns(patterns);
    populateFoldNegationsPatterns(patterns);
    populateHoistInvariantsPatterns(patterns);
    populateSampleFactorsPatterns(patterns);
    populateStoreIntoZerosPatterns(patterns);
    FrozenRewritePatternSet simplifications(std::move(patterns));
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false);
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    // Operands that are equal are seen to be equal once they are merged, and
    // ops that are equal once they are without the operands that they do not
    // use.
    auto simplify = [&](func::FuncOp function) -> LogicalResult {
      mergeEqualOps(function);
      if (failed(applyPatternsGreedily(function, simplifications, config)))
        return failure();
      propagateConditions(function);
      // As MLIR has it, what could still be simplified after many rounds stays.
      (void)applyPatternsGreedily(function, canonicalizations,
                                  canonicalization);
      mergeEqualOps(function);
      return success();
    };
    std::optional<int64_t> budget;
    if (residualBudget >= 0)
      budget = residualBudget;
    if (failed(DerivativeExpander(getOperation(), simplify, budget).run()))
      signalPassFailure();
  }
};
} // namespace
