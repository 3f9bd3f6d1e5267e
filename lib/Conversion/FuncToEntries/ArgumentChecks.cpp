//===- ArgumentChecks.cpp - checks of what an entry is called with --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArgumentChecks.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace sparse_autograd;

int64_t sparse_autograd::getElementBytes(Type type) {
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

Value ArgumentChecks::constant(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                  builder.getI64IntegerAttr(value));
}

/// Whether one of two holds; null is false.
Value ArgumentChecks::either(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return LLVM::OrOp::create(builder, loc, a, b);
}

void ArgumentChecks::require(Value condition, const Twine &message) {
  cf::AssertOp::create(builder, loc, condition, message.str());
}

void ArgumentChecks::requirePointer(Value pointer, int64_t alignment,
                                    const Twine &what, Value isUnused) {
  Value address =
      LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), pointer);
  Value zero = constant(0);
  Value isSet = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                     address, zero);
  require(either(isSet, isUnused), what + " is null");
  if (alignment == 1)
    return;
  Value rest =
      LLVM::AndOp::create(builder, loc, address, constant(alignment - 1));
  Value isAligned =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, rest, zero);
  require(either(isAligned, isUnused),
          what + " is not aligned to " + Twine(alignment) + " bytes");
}

SmallVector<Value> ArgumentChecks::requireExtents(MemRefDescriptor given,
                                                  MemRefType type,
                                                  StringRef name,
                                                  Value &isEmpty) {
  Value zero = constant(0);
  SmallVector<Value> extents;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    Value extent = given.size(builder, loc, i);
    if (type.isDynamicDim(i)) {
      require(LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::sge,
                                   extent, zero),
              "argument '" + name + "': extent " + Twine(i) + " is negative");
    } else {
      require(LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                   extent, constant(type.getDimSize(i))),
              "argument '" + name + "': extent " + Twine(i) + " must be " +
                  Twine(type.getDimSize(i)));
      extent = constant(type.getDimSize(i));
    }
    extents.push_back(extent);
    isEmpty = either(isEmpty,
                     LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                          extent, zero));
  }
  if (type.hasStaticShape())
    return extents;
  // An extent of 0 does not hide that the product of others overflows: strides
  // and the extents of results are such products.
  auto pair = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), {builder.getI64Type(), builder.getI1Type()});
  Value bytes = constant(getElementBytes(type.getElementType()));
  Value overflows;
  for (Value extent : extents) {
    Value factor = LLVM::SMaxOp::create(builder, loc, extent, constant(1));
    Value product =
        LLVM::SMulWithOverflowOp::create(builder, loc, pair, bytes, factor);
    bytes = LLVM::ExtractValueOp::create(builder, loc, product, 0);
    overflows = either(overflows,
                       LLVM::ExtractValueOp::create(builder, loc, product, 1));
  }
  Value fits = LLVM::XOrOp::create(
      builder, loc, overflows,
      LLVM::ConstantOp::create(builder, loc, builder.getI1Type(),
                               builder.getBoolAttr(true)));
  require(fits,
          "argument '" + name + "': the product of the extents overflows");
  return extents;
}

Value ArgumentChecks::haveDenseStrides(MemRefDescriptor given,
                                       ArrayRef<Value> extents, Value isEmpty,
                                       SmallVectorImpl<Value> &strides) {
  strides.assign(extents.size(), Value());
  Value one = constant(1), stride = one, all;
  for (int64_t i = extents.size() - 1; i >= 0; --i) {
    // The stride along an extent of 1, or in a tensor without elements, has no
    // meaning.
    Value isDense = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                         given.stride(builder, loc, i), stride);
    Value isOne = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                       extents[i], one);
    isDense = either(isDense, either(isOne, isEmpty));
    all = all ? LLVM::AndOp::create(builder, loc, all, isDense) : isDense;
    strides[i] = stride;
    stride = LLVM::MulOp::create(builder, loc, stride, extents[i]);
  }
  return all;
}
