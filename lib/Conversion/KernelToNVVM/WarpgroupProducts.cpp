//===- WarpgroupProducts.cpp - Calls of wgmma -----------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/KernelToNVVM/WarpgroupProducts.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace sparse_autograd;

/// Calls a function that stands for an instruction, which is declared first.
static Value callInstruction(OpBuilder &builder, Location loc,
                             gpu::GPUModuleOp module, StringRef name,
                             ArrayRef<Value> operands) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    SmallVector<Type> types;
    for (Value operand : operands)
      types.push_back(operand.getType());
    function = LLVM::LLVMFuncOp::create(
        builder, module.getLoc(), name,
        LLVM::LLVMFunctionType::get(types.front(), types));
    // All threads of a warp execute it together.
    function.setConvergent(true);
    function.setNoUnwind(true);
  }
  auto call = LLVM::CallOp::create(builder, loc, function, operands);
  call.setConvergent(true);
  return call.getResult();
}

Value sparse_autograd::createWarpgroupProduct(
    OpBuilder &builder, Location loc, gpu::GPUModuleOp module,
    const WarpgroupInstruction &instruction, const WarpgroupModes &modes,
    Value sums, ValueRange a, Value b, Value metadata, Value accumulates) {
  auto getInt = [&](int32_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value);
  };
  SmallVector<Value> operands = {sums};
  llvm::append_range(operands, a);
  operands.push_back(b);
  if (instruction.isSparse) {
    operands.push_back(metadata);
    operands.push_back(getInt(modes.selector));
  }
  operands.push_back(accumulates);
  for (bool isNegated : {modes.negatesA, modes.negatesB})
    operands.push_back(getInt(isNegated ? -1 : 1));
  for (bool isTransposed : {modes.transposesA, modes.transposesB})
    operands.push_back(getInt(isTransposed));
  return callInstruction(builder, loc, module, instruction.getName(), operands);
}

/// Such as "f32x64".
static std::string getSuffix(Value sums) {
  ArrayRef<Type> types = cast<LLVM::LLVMStructType>(sums.getType()).getBody();
  return (types.front().isF32() ? "f32x" : "i32x") +
         std::to_string(types.size());
}

Value sparse_autograd::createWarpgroupFence(OpBuilder &builder, Location loc,
                                            gpu::GPUModuleOp module,
                                            Value sums) {
  return callInstruction(builder, loc, module,
                         warpgroupFenceName.str() + getSuffix(sums), sums);
}

Value sparse_autograd::createWarpgroupWait(OpBuilder &builder, Location loc,
                                           gpu::GPUModuleOp module, Value sums,
                                           int32_t groups) {
  Value count =
      LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), groups);
  return callInstruction(builder, loc, module,
                         warpgroupWaitName.str() + getSuffix(sums),
                         {sums, count});
}
