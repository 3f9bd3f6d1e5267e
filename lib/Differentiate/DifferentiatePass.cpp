//===- DifferentiatePass.cpp - expand calls of derivatives ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Differentiate/Derivative.h"
#include "SparseAutograd/Differentiate/Passes.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "SparseAutograd/Differentiate/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// Replaces the derivative ops of a module, innermost derivative first: what a
/// function calls holds no derivative ops by the time it is differentiated.
class DerivativeExpander {
public:
  explicit DerivativeExpander(ModuleOp module)
      : module(module), symbolTable(module) {}

  LogicalResult run() {
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (failed(expandIn(function)))
        return failure();
    return success();
  }

private:
  LogicalResult expandIn(func::FuncOp function);
  LogicalResult expand(Operation *op);
  FailureOr<func::FuncOp> getDerivative(Operation *op, FlatSymbolRefAttr callee,
                                        DerivativeMode mode,
                                        ArrayRef<int64_t> wrt);

  ModuleOp module;
  SymbolTable symbolTable;
  /// Functions whose derivative ops are gone, and those being worked on.
  llvm::DenseSet<Operation *> expanded, inProgress;
  /// The derivatives built so far, by symbol, mode and arguments.
  std::map<std::tuple<std::string, DerivativeMode, std::vector<int64_t>>,
           func::FuncOp>
      derivatives;
};

} // namespace

LogicalResult DerivativeExpander::expandIn(func::FuncOp function) {
  if (function.isDeclaration() || expanded.contains(function))
    return success();
  if (!inProgress.insert(function).second)
    return success(); // A plain recursive call; derivatives check their own.
  SmallVector<Operation *> ops;
  SmallVector<func::FuncOp> callees;
  function.walk([&](Operation *op) {
    if (isa<ValueAndGradOp, VjpOp, JvpOp>(op))
      ops.push_back(op);
    else if (auto call = dyn_cast<func::CallOp>(op))
      if (auto callee = symbolTable.lookup<func::FuncOp>(call.getCallee()))
        callees.push_back(callee);
  });
  for (func::FuncOp callee : callees)
    if (failed(expandIn(callee)))
      return failure();
  for (Operation *op : ops)
    if (failed(expand(op)))
      return failure();
  inProgress.erase(function);
  expanded.insert(function);
  return success();
}

FailureOr<func::FuncOp>
DerivativeExpander::getDerivative(Operation *op, FlatSymbolRefAttr symbol,
                                  DerivativeMode mode, ArrayRef<int64_t> wrt) {
  auto callee = symbolTable.lookup<func::FuncOp>(symbol.getValue());
  if (!callee)
    return op->emitOpError("differentiates '")
           << symbol.getValue()
           << "', which is not a func.func; only those are differentiated";
  if (inProgress.contains(callee))
    return op->emitOpError("differentiates '")
           << symbol.getValue()
           << "', which calls this derivative: recursion is not "
              "differentiated";
  if (failed(expandIn(callee)))
    return failure();
  auto [it, isNew] = derivatives.try_emplace(
      {symbol.getValue().str(), mode, std::vector<int64_t>(wrt)});
  if (isNew) {
    FailureOr<func::FuncOp> built =
        buildDerivative(callee, mode, wrt, symbolTable);
    if (failed(built))
      return op->emitOpError("cannot be expanded: '")
             << symbol.getValue() << "' is not differentiable as it stands";
    it->second = *built;
    expanded.insert(*built);
  }
  return it->second;
}

LogicalResult DerivativeExpander::expand(Operation *op) {
  FlatSymbolRefAttr callee;
  DerivativeMode mode;
  ArrayRef<int64_t> wrt;
  if (auto valueAndGrad = dyn_cast<ValueAndGradOp>(op)) {
    callee = valueAndGrad.getCalleeAttr();
    mode = DerivativeMode::ValueAndGrad;
    wrt = valueAndGrad.getWrt();
  } else if (auto vjp = dyn_cast<VjpOp>(op)) {
    callee = vjp.getCalleeAttr();
    mode = DerivativeMode::Vjp;
    wrt = vjp.getWrt();
  } else {
    auto jvp = cast<JvpOp>(op);
    callee = jvp.getCalleeAttr();
    mode = DerivativeMode::Jvp;
    wrt = jvp.getWrt();
  }
  FailureOr<func::FuncOp> derivative = getDerivative(op, callee, mode, wrt);
  if (failed(derivative))
    return failure();
  OpBuilder builder(op);
  auto call = func::CallOp::create(builder, op->getLoc(), *derivative,
                                   op->getOperands());
  op->replaceAllUsesWith(call.getResults());
  op->erase();
  return success();
}

namespace {
struct DifferentiatePass
    : sparse_autograd::impl::DifferentiatePassBase<DifferentiatePass> {
  void runOnOperation() override {
    if (failed(DerivativeExpander(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
