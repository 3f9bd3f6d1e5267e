//===- NarrowFloats.cpp - f16 and bf16 in f32 -------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

LogicalResult sparse_autograd::emulateNarrowFloats(Operation *root) {
  MLIRContext *context = root->getContext();
  Type f32 = Float32Type::get(context);
  Type narrow[] = {Float16Type::get(context), BFloat16Type::get(context)};
  {
    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(converter, narrow, f32);
    RewritePatternSet patterns(context);
    arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
    ConversionTarget target(*context);
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    if (failed(applyPartialConversion(root, target, std::move(patterns))))
      return failure();
  }
  {
    TypeConverter converter;
    SetVector<Type> supported;
    supported.insert(f32);
    supported.insert(Float64Type::get(context));
    math::populateExtendToSupportedTypesTypeConverter(converter, supported,
                                                      f32);
    ConversionTarget target(*context);
    math::populateExtendToSupportedTypesConversionTarget(target, converter);
    RewritePatternSet patterns(context);
    math::populateExtendToSupportedTypesPatterns(patterns, converter);
    if (failed(applyPartialConversion(root, target, std::move(patterns))))
      return failure();
  }
  // Without the instructions for it, LLVM would call a library to round to
  // bf16; these are a few integer instructions, which vectorize.
  RewritePatternSet patterns(context);
  arith::populateExpandBFloat16Patterns(patterns);
  return applyPatternsGreedily(root, std::move(patterns));
}
