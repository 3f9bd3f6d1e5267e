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

func::FuncOp sparse_autograd::declareRuntimeFunction(SymbolTable &symbols,
                                                     StringRef name,
                                                     TypeRange arguments) {
  if (auto existing = symbols.lookup<func::FuncOp>(name))
    return existing;
  Operation *module = symbols.getOp();
  OpBuilder builder = OpBuilder::atBlockEnd(&module->getRegion(0).front());
  auto function = func::FuncOp::create(builder, module->getLoc(), name,
                                       builder.getFunctionType(arguments, {}));
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
  return LLVM::GEPOp::create(
      builder, loc, pointer, getElementTypeOrSelf(memref.getType()), base,
      ArrayRef<LLVM::GEPArg>{toI64(builder, loc, offset)});
}

bool sparse_autograd::isOnDevice(Type type) {
  auto memref = dyn_cast<BaseMemRefType>(type);
  auto space =
      memref ? dyn_cast_or_null<gpu::AddressSpaceAttr>(memref.getMemorySpace())
             : gpu::AddressSpaceAttr();
  return space && space.getValue() == gpu::AddressSpace::Global;
}
