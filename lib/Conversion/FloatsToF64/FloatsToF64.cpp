//===- FloatsToF64.cpp - the f64 form of a program ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types and constants are replaced wherever they are, nested in other types and
// attributes too. What depends on the bits of a narrow float keeps its type,
// between conversions.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/FloatsToF64/FloatsToF64.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <cmath>

namespace sparse_autograd {
#define GEN_PASS_DEF_FLOATSTOF64
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

static bool isNarrowFloat(Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  return floatType && floatType.getWidth() < 64;
}

/// The least precision of a narrow float in the type, such as tensor<?xf32> or
/// (f16) -> i1; that of f64 if there is none.
static unsigned getPrecision(Type type) {
  unsigned precision = APFloat::semanticsPrecision(APFloat::IEEEdouble());
  type.walk([&](FloatType part) {
    if (isNarrowFloat(part))
      precision = std::min(precision, part.getFPMantissaWidth());
  });
  return precision;
}

static bool hasNarrowFloat(Type type) {
  return type
      .walk([](Type part) {
        return isNarrowFloat(part) ? WalkResult::interrupt()
                                   : WalkResult::advance();
      })
      .wasInterrupted();
}

double sparse_autograd::getLargestRoundoff(Operation *root) {
  unsigned precision = APFloat::semanticsPrecision(APFloat::IEEEdouble());
  root->walk([&](Operation *op) {
    for (TypeRange types :
         {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
      for (Type type : types)
        precision = std::min(precision, getPrecision(type));
  });
  return std::ldexp(1, -static_cast<int>(precision));
}

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

/// The number as an f64: every narrower float is one.
static APFloat widen(APFloat number) {
  bool losesInfo;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return number;
}

static APInt widenToBits(const APFloat &number) {
  return widen(number).bitcastToAPInt();
}

/// What replaces an attribute, without a look at what is in it.
using Replacement = std::optional<std::pair<Attribute, WalkResult>>;

static AttrTypeReplacer makeReplacer(MLIRContext *context) {
  Type f64 = Float64Type::get(context);
  AttrTypeReplacer replacer;
  replacer.addReplacement([f64](FloatType type) -> std::optional<Type> {
    if (isNarrowFloat(type))
      return f64;
    return std::nullopt;
  });
  replacer.addReplacement([f64](FloatAttr number) -> Replacement {
    if (!isNarrowFloat(number.getType()))
      return std::nullopt;
    return std::pair(Attribute(FloatAttr::get(f64, widen(number.getValue()))),
                     WalkResult::skip());
  });
  replacer.addReplacement([f64](DenseFPElementsAttr numbers) -> Replacement {
    if (!isNarrowFloat(numbers.getElementType()))
      return std::nullopt;
    return std::pair(Attribute(numbers.mapValues(f64, widenToBits)),
                     WalkResult::skip());
  });
  replacer.addReplacement(
      [f64](DenseResourceElementsAttr resource) -> Replacement {
        AsmResourceBlob *blob = resource.getRawHandle().getBlob();
        if (!isNarrowFloat(resource.getType().getElementType()) || !blob)
          return std::nullopt;
        auto numbers =
            dyn_cast<DenseFPElementsAttr>(DenseElementsAttr::getFromRawBuffer(
                resource.getType(), blob->getData()));
        if (!numbers)
          return std::nullopt;
        return std::pair(Attribute(numbers.mapValues(f64, widenToBits)),
                         WalkResult::skip());
      });
  replacer.addReplacement([f64](SparseElementsAttr numbers) -> Replacement {
    auto values = dyn_cast<DenseFPElementsAttr>(numbers.getValues());
    if (!values || !isNarrowFloat(values.getElementType()))
      return std::nullopt;
    return std::pair(
        Attribute(SparseElementsAttr::get(
            numbers.getType().clone(f64), numbers.getIndices(),
            cast<DenseElementsAttr>(values.mapValues(f64, widenToBits)))),
        WalkResult::skip());
  });
  return replacer;
}

//===----------------------------------------------------------------------===//
// What keeps its type
//===----------------------------------------------------------------------===//

namespace {
/// An op that depends on the bits of a narrow float, and its types.
struct NarrowOp {
  Operation *op;
  SmallVector<Type> operandTypes, resultTypes;
};
} // namespace

/// Random numbers have as many bits as their type, and a bitcast has the bits.
static bool dependsOnBits(Operation *op) {
  return isa<RandomOp, arith::BitcastOp, tensor::BitcastOp, vector::BitCastOp>(
      op);
}

/// Gives an op the types that it had before, between conversions.
static void keepTypes(const NarrowOp &narrow) {
  OpBuilder builder(narrow.op);
  Location loc = narrow.op->getLoc();
  for (auto [operand, type] :
       llvm::zip_equal(narrow.op->getOpOperands(), narrow.operandTypes))
    if (operand.get().getType() != type)
      operand.set(arith::TruncFOp::create(builder, loc, type, operand.get()));
  builder.setInsertionPointAfter(narrow.op);
  for (auto [result, type] :
       llvm::zip_equal(narrow.op->getResults(), narrow.resultTypes)) {
    Type wide = result.getType();
    if (wide == type)
      continue;
    result.setType(type);
    auto extended = arith::ExtFOp::create(builder, loc, wide, result);
    result.replaceAllUsesExcept(extended, extended);
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct FloatsToF64 : sparse_autograd::impl::FloatsToF64Base<FloatsToF64> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<NarrowOp> kept;
    WalkResult walked = module.walk([&](Operation *op) {
      auto function = dyn_cast<FunctionOpInterface>(op);
      if (function && function.isExternal() &&
          hasNarrowFloat(function.getFunctionType())) {
        op->emitOpError("has no f64 form: it is defined elsewhere");
        return WalkResult::interrupt();
      }
      // Those of LLVM are not verified, and may mean the bits.
      if (isa_and_present<LLVM::LLVMDialect>(op->getDialect()) &&
          (llvm::any_of(op->getOperandTypes(), hasNarrowFloat) ||
           llvm::any_of(op->getResultTypes(), hasNarrowFloat))) {
        op->emitOpError("has no f64 form: what it makes of a float is not "
                        "known");
        return WalkResult::interrupt();
      }
      if (dependsOnBits(op))
        kept.push_back({op, SmallVector<Type>(op->getOperandTypes()),
                        SmallVector<Type>(op->getResultTypes())});
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();

    makeReplacer(&getContext())
        .recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                      /*replaceLocs=*/false,
                                      /*replaceTypes=*/true);
    // From one narrow type to another one, or to f64.
    module.walk([](Operation *op) {
      if (!isa<arith::ExtFOp, arith::TruncFOp>(op) ||
          op->getOperand(0).getType() != op->getResult(0).getType())
        return;
      op->replaceAllUsesWith(op->getOperands());
      op->erase();
    });
    for (const NarrowOp &narrow : kept)
      keepTypes(narrow);
    // Ops of other dialects may ask for types that they do not have any more.
    if (failed(verify(module)))
      signalPassFailure();
  }
};
} // namespace
