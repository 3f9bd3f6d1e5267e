//===- FunctionCaptures.cpp - captured values as arguments ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionCaptures.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace sparse_autograd;

/// Whether `type` is a buffer of static extents without gaps, which a pointer
/// alone describes. Not if it is empty: it has strides of 0 then.
static bool isPointer(MemRefType type) {
  return type.hasStaticShape() && type.getLayout().isIdentity() &&
         !llvm::is_contained(type.getShape(), 0);
}

/// The layout that `buffer` has in the function that `captor` becomes. Where
/// its elements start is no part of that, so that loops over slices of one
/// buffer are equal; that is for loads and stores alone, since types of other
/// results are made of that of the buffer.
static MemRefType getInnerType(Value buffer, Operation *captor) {
  auto type = cast<MemRefType>(buffer.getType());
  auto layout = dyn_cast<StridedLayoutAttr>(type.getLayout());
  if (!layout || layout.getOffset() == 0 ||
      ShapedType::isDynamic(layout.getOffset()))
    return type;
  for (Operation *user : buffer.getUsers())
    if (captor->isAncestor(user) && !isa<memref::LoadOp, memref::StoreOp>(user))
      return type;
  return MemRefType::get(type.getShape(), type.getElementType(),
                         StridedLayoutAttr::get(type.getContext(),
                                                ShapedType::kDynamic,
                                                layout.getStrides()),
                         type.getMemorySpace());
}

void FunctionCaptures::addDynamic(int64_t known, Value value) {
  if (ShapedType::isDynamic(known))
    operands.push_back(value);
}

void FunctionCaptures::add(Value value) {
  Capture &capture = captures.emplace_back();
  capture.value = value;
  capture.position = operands.size();
  auto type = dyn_cast<MemRefType>(value.getType());
  int64_t offset;
  SmallVector<int64_t> strides;
  if (!type || isPointer(type) ||
      failed(type.getStridesAndOffset(strides, offset))) {
    operands.push_back(value);
    return;
  }
  capture.innerType = getInnerType(value, captor);
  // It appends.
  strides.clear();
  (void)capture.innerType.getStridesAndOffset(strides, offset);
  auto parts = memref::ExtractStridedMetadataOp::create(builder, loc, value);
  operands.push_back(parts.getBaseBuffer());
  addDynamic(offset, parts.getOffset());
  for (auto [size, part] : llvm::zip_equal(type.getShape(), parts.getSizes()))
    addDynamic(size, part);
  for (auto [stride, part] : llvm::zip_equal(strides, parts.getStrides()))
    addDynamic(stride, part);
}

Value FunctionCaptures::rebuild(OpBuilder &builder, const Capture &capture,
                                ValueRange arguments) const {
  unsigned next = capture.position;
  Value first = arguments[next++];
  if (!capture.innerType)
    return first;
  int64_t offset;
  SmallVector<int64_t> strides;
  (void)capture.innerType.getStridesAndOffset(strides, offset);
  auto take = [&](int64_t known) -> OpFoldResult {
    if (ShapedType::isDynamic(known))
      return arguments[next++];
    return builder.getIndexAttr(known);
  };
  OpFoldResult start = take(offset);
  SmallVector<OpFoldResult> sizes =
      llvm::map_to_vector(capture.innerType.getShape(), take);
  SmallVector<OpFoldResult> steps = llvm::map_to_vector(strides, take);
  return memref::ReinterpretCastOp::create(builder, loc, capture.innerType,
                                           first, start, sizes, steps);
}

void FunctionCaptures::rebuild(OpBuilder &builder, ValueRange arguments,
                               IRMapping &mapping) const {
  for (const Capture &capture : captures)
    mapping.map(capture.value, rebuild(builder, capture, arguments));
}

void FunctionCaptures::describeBuffers(func::FuncOp function,
                                       unsigned firstArgument,
                                       AliasAnalysis &aliases) const {
  auto isBuffer = [](const Capture &capture) {
    return isa<BaseMemRefType>(capture.value.getType());
  };
  bool arePointers =
      llvm::none_of(function.getResultTypes(), llvm::IsaPred<BaseMemRefType>) &&
      llvm::all_of(captures, [&](const Capture &capture) {
        auto type = dyn_cast<MemRefType>(operands[capture.position].getType());
        return !isBuffer(capture) || (type && isPointer(type));
      });
  if (!arePointers)
    return;
  auto unit = UnitAttr::get(function.getContext());
  function->setAttr("llvm.bareptr", unit);
  for (const Capture &capture : captures) {
    bool isAlone =
        isBuffer(capture) && llvm::all_of(captures, [&](const Capture &other) {
          return &capture == &other || !isBuffer(other) ||
                 aliases.alias(capture.value, other.value).isNo();
        });
    if (isAlone)
      function.setArgAttr(firstArgument + capture.position,
                          LLVM::LLVMDialect::getNoAliasAttrName(), unit);
  }
}
