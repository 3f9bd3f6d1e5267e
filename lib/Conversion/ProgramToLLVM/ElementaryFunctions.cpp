//===- ElementaryFunctions.cpp - functions of math --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What upstream's conversions of the math dialect would get wrong. Upstream
// expands sinh, asinh, acosh and atanh to exponentials and logarithms, and
// expm1 to exp(x) - 1: these cancel near 0 (asinh for all negative numbers) and
// overflow early. Here they are calls of libm, which LLVM vectorizes where
// there is a library for it.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

LogicalResult sparse_autograd::expandElementaryFunctions(Operation *root) {
  MLIRContext *context = root->getContext();
  {
    RewritePatternSet patterns(context);
    math::populateExpansionPatterns(patterns, {"fpowi"});
    if (failed(applyPatternsGreedily(root, std::move(patterns))))
      return failure();
  }
  RewritePatternSet patterns(context);
  populateMathToLibmConversionPatterns(patterns);
  ConversionTarget target(*context);
  target.addIllegalOp<math::AcoshOp, math::AsinhOp, math::AtanhOp,
                      math::ExpM1Op, math::SinhOp, math::CoshOp>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(root, target, std::move(patterns));
}
