//===- KernelTable.cpp - What a module has for the host ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"
#include "RuntimeCalls.h"
#include "SparseAutograd/Runtime/Emulator.h"
#include "SparseAutograd/Target/Emulator/TranslateToEmulator.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace sparse_autograd;
using namespace sparse_autograd::emulator;

/// A number, or several of them, of an attribute like "nvvm.reqntid"="128,1,1".
static SmallVector<int32_t, 3> getNumbers(const Function &function,
                                          StringRef attribute) {
  SmallVector<StringRef> parts;
  function.getFnAttribute(attribute).getValueAsString().split(parts, ',');
  SmallVector<int32_t, 3> numbers;
  for (StringRef part : parts) {
    int32_t number;
    if (!part.trim().getAsInteger(10, number))
      numbers.push_back(number);
  }
  return numbers;
}

/// A function that calls a kernel with the parameters that pointers point to.
static Function *makeEntry(Function &kernel, const KernelInfo &info) {
  LLVMContext &context = kernel.getContext();
  IRBuilder<> builder(context);
  Function *entry = Function::Create(
      FunctionType::get(builder.getVoidTy(), builder.getPtrTy(), false),
      GlobalValue::InternalLinkage, kernel.getName() + ".entry",
      kernel.getParent());
  builder.SetInsertPoint(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> parameters;
  for (Argument &argument : kernel.args()) {
    Value *place = builder.CreateLoad(
        builder.getPtrTy(),
        builder.CreateConstGEP1_32(builder.getPtrTy(), entry->getArg(0),
                                   argument.getArgNo()));
    uint64_t bytes = info.valueBytes[argument.getArgNo()];
    if (!bytes) {
      parameters.push_back(
          builder.CreateAlignedLoad(argument.getType(), place, Align(1)));
      continue;
    }
    // The kernel takes the place of a copy, and reads there.
    parameters.push_back(builder.CreateCall(
        kernel.getParent()->getOrInsertFunction(
            "sparseAutogradEmulateParameter",
            FunctionType::get(builder.getPtrTy(),
                              {builder.getPtrTy(), builder.getInt64Ty()},
                              false)),
        {place, builder.getInt64(bytes)}));
  }
  builder.CreateCall(&kernel, parameters);
  builder.CreateRetVoid();
  return entry;
}

std::vector<KernelInfo>
sparse_autograd::emulator::findKernels(const Module &module) {
  std::vector<KernelInfo> kernels;
  for (const Function &function : module) {
    if (function.isDeclaration() ||
        function.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    KernelInfo &kernel = kernels.emplace_back();
    kernel.name = function.getName();
    for (const Argument &argument : function.args())
      kernel.valueBytes.push_back(argument.hasByValAttr()
                                      ? module.getDataLayout().getTypeAllocSize(
                                            argument.getParamByValType())
                                      : 0);
    kernel.requiredBlock = getNumbers(function, "nvvm.reqntid");
    SmallVector<int32_t, 3> limit = getNumbers(function, "nvvm.maxntid");
    if (!limit.empty()) {
      kernel.maxThreads = 1;
      for (int32_t number : limit)
        kernel.maxThreads *= number;
    }
  }
  return kernels;
}

void sparse_autograd::emulator::defineTable(
    Module &module, ArrayRef<KernelInfo> kernels,
    ArrayRef<std::pair<std::string, bool>> variables, bool isRecursive) {
  IRBuilder<> builder(module.getContext());
  Type *i32 = builder.getInt32Ty();
  Type *i64 = builder.getInt64Ty();
  Type *pointer = builder.getPtrTy();
  auto makeString = [&](StringRef text) -> Constant * {
    return builder.CreateGlobalString(text, "name", 0, &module);
  };
  auto makeArray = [&](ArrayRef<Constant *> elements,
                       StructType *type) -> Constant * {
    auto *arrayType = ArrayType::get(type, elements.size());
    return new GlobalVariable(module, arrayType, /*isConstant=*/true,
                              GlobalValue::PrivateLinkage,
                              ConstantArray::get(arrayType, elements));
  };
  // The frames of all functions together are more than those of any chain of
  // calls, unless functions call themselves: these ask each time for room for
  // as much again.
  uint64_t stackBytes = getFrameBytes(module) * (isRecursive ? 2 : 1);

  // As the structures of Emulator.h.
  static_assert(sizeof(SparseAutogradEmulatorKernel) == 48 &&
                    sizeof(SparseAutogradEmulatorVariable) == 32 &&
                    sizeof(SparseAutogradEmulatorModule) == 32,
                "the layout is written down here once more");
  auto *kernelType = StructType::get(pointer, pointer, i32, i32, i64,
                                     ArrayType::get(i32, 3), i32);
  SmallVector<Constant *> kernelElements;
  for (const KernelInfo &kernel : kernels) {
    Function *function = module.getFunction(kernel.name);
    Constant *block[3];
    for (unsigned i = 0; i < 3; ++i) {
      bool isGiven = i < kernel.requiredBlock.size();
      int32_t extent = isGiven ? kernel.requiredBlock[i]
                               : int32_t(!kernel.requiredBlock.empty());
      block[i] = builder.getInt32(extent);
    }
    kernelElements.push_back(ConstantStruct::get(
        kernelType, makeString(kernel.name), makeEntry(*function, kernel),
        builder.getInt32(function->arg_size()),
        builder.getInt32(kernel.sharedBytes), builder.getInt64(stackBytes),
        ConstantArray::get(ArrayType::get(i32, 3), block),
        builder.getInt32(kernel.maxThreads)));
  }
  auto *variableType = StructType::get(pointer, pointer, i64, i32);
  SmallVector<Constant *> variableElements;
  for (const auto &[name, isConstant] : variables) {
    GlobalVariable *variable = module.getNamedGlobal(name);
    uint64_t bytes =
        module.getDataLayout().getTypeAllocSize(variable->getValueType());
    variableElements.push_back(ConstantStruct::get(
        variableType, makeString(name), variable, builder.getInt64(bytes),
        builder.getInt32(isConstant)));
  }
  auto *tableType = StructType::get(i32, i32, i32, pointer, pointer);
  new GlobalVariable(
      module, tableType, /*isConstant=*/true, GlobalValue::ExternalLinkage,
      ConstantStruct::get(tableType,
                          builder.getInt32(SPARSE_AUTOGRAD_EMULATOR_VERSION),
                          builder.getInt32(kernelElements.size()),
                          builder.getInt32(variableElements.size()),
                          makeArray(kernelElements, kernelType),
                          makeArray(variableElements, variableType)),
      emulatorModuleSymbol);
}
