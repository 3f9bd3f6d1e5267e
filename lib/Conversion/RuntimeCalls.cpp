//===- RuntimeCalls.cpp - calls of the runtime from memrefs ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace sparse_autograd;

func::FuncOp sparse_autograd::declareRuntimeFunction(SymbolTable &symbols,
                                                     StringRef name,
                                                     TypeRange arguments,
                                                     TypeRange results) {
  if (auto existing = symbols.lookup<func::FuncOp>(name))
    return existing;
  Operation *module = symbols.getOp();
  OpBuilder builder = OpBuilder::atBlockEnd(&module->getRegion(0).front());
  auto function =
      func::FuncOp::create(builder, module->getLoc(), name,
                           builder.getFunctionType(arguments, results));
  function.setPrivate();
  symbols.insert(function);
  return function;
}

Value sparse_autograd::toI64(OpBuilder &builder, Location loc, Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
}

Value sparse_autograd::getElementPointer(OpBuilder &builder, Location loc,
                                         Value memref, Value offset) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  Value base = LLVM::IntToPtrOp::create(builder, loc, pointer,
                                        toI64(builder, loc, address));
  Type element = getElementTypeOrSelf(memref.getType());
  if (element.isIndex())
    element = builder.getI64Type();
  return LLVM::GEPOp::create(
      builder, loc, pointer, element, base,
      ArrayRef<LLVM::GEPArg>{toI64(builder, loc, offset)});
}

LLVM::GlobalOp sparse_autograd::createText(OpBuilder &builder, Location loc,
                                           StringRef name, StringRef text,
                                           LLVM::Linkage linkage) {
  std::string terminated = text.str();
  terminated.push_back('\0');
  return LLVM::GlobalOp::create(
      builder, loc,
      LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size()),
      /*isConstant=*/true, linkage, name, builder.getStringAttr(terminated));
}

Value RuntimeCallBuilder::constant(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 64);
}

Value RuntimeCallBuilder::kind(int32_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

Value RuntimeCallBuilder::number(double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF64FloatAttr(value));
}

Value RuntimeCallBuilder::pointer(Value memref) {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memref);
  return getElementPointer(builder, loc, memref, metadata.getOffset());
}

Value RuntimeCallBuilder::word(Value value) {
  Type type = value.getType(), i64 = builder.getI64Type();
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::PtrToIntOp::create(builder, loc, i64, value);
  if (type.isIndex())
    return toI64(builder, loc, value);
  if (isa<FloatType>(type)) {
    type = builder.getIntegerType(type.getIntOrFloatBitWidth());
    value = arith::BitcastOp::create(builder, loc, type, value);
  }
  if (type == i64)
    return value;
  return arith::ExtUIOp::create(builder, loc, i64, value);
}

Value RuntimeCallBuilder::list(ArrayRef<Value> values) {
  auto type = MemRefType::get(static_cast<int64_t>(values.size()),
                              builder.getI64Type());
  Value buffer;
  {
    // In the entry block, so that a loop does not take more each time.
    OpBuilder::InsertionGuard guard(builder);
    auto function = op->getParentOfType<func::FuncOp>();
    builder.setInsertionPointToStart(&function.getBody().front());
    buffer = memref::AllocaOp::create(builder, loc, type);
  }
  for (auto [index, value] : llvm::enumerate(values)) {
    Value stored = word(value);
    Value place = arith::ConstantIndexOp::create(builder, loc, index);
    memref::StoreOp::create(builder, loc, stored, buffer, place);
  }
  return pointer(buffer);
}

ValueRange RuntimeCallBuilder::call(StringRef name, ArrayRef<Value> arguments,
                                    TypeRange results) {
  func::FuncOp function = declareRuntimeFunction(
      symbols, name, TypeRange(ValueRange(arguments)), results);
  return func::CallOp::create(builder, loc, function, arguments).getResults();
}

bool sparse_autograd::isOnDevice(Type type) {
  auto memref = dyn_cast<BaseMemRefType>(type);
  auto space =
      memref ? dyn_cast_or_null<gpu::AddressSpaceAttr>(memref.getMemorySpace())
             : gpu::AddressSpaceAttr();
  return space && space.getValue() == gpu::AddressSpace::Global;
}
