//===- ResidualTypes.cpp - residuals become the values they stand for -----===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResidualTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace sparse_autograd;

LogicalResult sparse_autograd::replaceResiduals(ModuleOp module,
                                                ResidualsType residuals,
                                                ArrayRef<Type> types) {
  auto hasResiduals = [&](TypeRange range) {
    return llvm::is_contained(range, residuals);
  };
  WalkResult walk = module.walk([&](Operation *op) {
    if (!hasResiduals(op->getOperandTypes()) &&
        !hasResiduals(op->getResultTypes()))
      return WalkResult::advance();
    if (isa<func::CallOp, func::ReturnOp>(op) ||
        isa_and_nonnull<scf::SCFDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError("reads or makes ")
        << residuals
        << "; residuals go through calls and the ops of scf to the backward "
           "function only";
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();

  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [&](ResidualsType type,
          SmallVectorImpl<Type> &converted) -> std::optional<LogicalResult> {
        if (type != residuals)
          return std::nullopt;
        llvm::append_range(converted, types);
        return success();
      });
  RewritePatternSet patterns(module.getContext());
  ConversionTarget target(*module.getContext());
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                 converter);
  populateCallOpTypeConversionPattern(patterns, converter);
  populateReturnOpTypeConversionPattern(patterns, converter);
  scf::populateSCFStructuralTypeConversions(converter, patterns);
  target.markUnknownOpDynamicallyLegal([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op))
      return converter.isSignatureLegal(function.getFunctionType()) &&
             converter.isLegal(&function.getBody());
    return converter.isLegal(op->getOperandTypes()) &&
           converter.isLegal(op->getResultTypes());
  });
  return applyPartialConversion(module, target, std::move(patterns));
}
