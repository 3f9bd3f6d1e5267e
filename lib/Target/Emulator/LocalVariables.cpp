//===- LocalVariables.cpp - Stacks of threads -------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emulator is told of the local variables of a thread, of the frames they
// are in, and of functions that call themselves, whose frames may not have
// room.
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace sparse_autograd::emulator;

/// Between two variables, so that an access just outside of one by a pointer of
/// unknown origin hits no other one.
static constexpr uint64_t guardBytes = 16;

/// Surrounds a variable by guards, and has the emulator know of it.
static void translateVariable(RuntimeCalls &calls, AllocaInst &variable) {
  const DataLayout &data = variable.getDataLayout();
  calls.setInstruction(variable);
  IRBuilder<> &builder = calls.getBuilder();
  Type *i64 = builder.getInt64Ty();
  Value *bytes = builder.CreateMul(
      builder.CreateZExtOrTrunc(variable.getArraySize(), i64),
      builder.getInt64(data.getTypeAllocSize(variable.getAllocatedType())));
  Align alignment = std::max(variable.getAlign(), Align(guardBytes));
  uint64_t before = alignment.value();
  bool isStatic = isa<ConstantInt>(bytes) && variable.isStaticAlloca();
  Value *count =
      builder.CreateAdd(bytes, builder.getInt64(before + guardBytes));
  if (!isStatic)
    calls.callHere("sparseAutogradEmulateStack", nullptr, count);
  // The pointer is in the same place of the code, and past the first guard.
  auto *number = dyn_cast<ConstantInt>(count);
  variable.setAllocatedType(
      number ? static_cast<Type *>(
                   ArrayType::get(builder.getInt8Ty(), number->getZExtValue()))
             : builder.getInt8Ty());
  variable.setOperand(0, number ? builder.getInt32(1) : count);
  variable.setAlignment(alignment);
  builder.SetInsertPoint(variable.getNextNode());
  auto *begin = cast<Instruction>(builder.Insert(GetElementPtrInst::Create(
      builder.getInt8Ty(), &variable, builder.getInt64(before))));
  variable.replaceUsesWithIf(begin,
                             [&](Use &use) { return use.getUser() != begin; });
  calls.variables[&variable] = begin;
  calls.callHere("sparseAutogradEmulateLocal", nullptr,
                 {calls.getPlain(begin), bytes});
}

void sparse_autograd::emulator::translateVariables(RuntimeCalls &calls,
                                                   Function &function) {
  SmallVector<AllocaInst *> variables;
  for (Instruction &instruction :
       make_early_inc_range(instructions(function))) {
    // That one may lie where another one was is of no use here.
    if (auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
        intrinsic && intrinsic->isLifetimeStartOrEnd())
      calls.erase(*intrinsic);
    else if (auto *variable = dyn_cast<AllocaInst>(&instruction))
      variables.push_back(variable);
  }
  for (AllocaInst *variable : variables)
    translateVariable(calls, *variable);
}

uint64_t sparse_autograd::emulator::getFrameBytes(const Module &module) {
  uint64_t bytes = 0;
  const DataLayout &data = module.getDataLayout();
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function))
      if (auto *memory = dyn_cast<AllocaInst>(&instruction))
        if (std::optional<TypeSize> size = memory->getAllocationSize(data))
          bytes += alignTo(size->getFixedValue(), guardBytes);
  return bytes;
}

/// The functions that may call themselves.
static SmallPtrSet<Function *, 4> findRecursion(Module &module) {
  CallGraph graph(module);
  SmallPtrSet<Function *, 4> recursive;
  for (auto component = scc_begin(&graph); !component.isAtEnd(); ++component)
    if (component.hasCycle())
      for (CallGraphNode *node : *component)
        if (Function *function = node->getFunction())
          recursive.insert(function);
  return recursive;
}

bool sparse_autograd::emulator::translateFrames(RuntimeCalls &calls) {
  Module &module = calls.getModule();
  IRBuilder<> &builder = calls.getBuilder();
  SmallPtrSet<Function *, 4> recursive = findRecursion(module);
  // What is called may take the frames of all functions once more.
  Value *bytes = builder.getInt64(getFrameBytes(module));
  for (Function &function : module) {
    SmallVector<CallInst *> recursions;
    SmallVector<ReturnInst *> ends;
    bool hasVariables = false;
    for (Instruction &instruction : instructions(function)) {
      if (auto *call = dyn_cast<CallInst>(&instruction);
          call && recursive.contains(call->getCalledFunction()))
        recursions.push_back(call);
      else if (auto *end = dyn_cast<ReturnInst>(&instruction))
        ends.push_back(end);
      else if (auto *variable = dyn_cast<AllocaInst>(&instruction))
        hasVariables |= calls.variables.contains(variable);
    }
    for (CallInst *call : recursions) {
      calls.setInstruction(*call);
      calls.callHere("sparseAutogradEmulateStack", nullptr, bytes);
    }
    // The variables of a kernel end with the thread.
    if (!hasVariables || function.getCallingConv() == CallingConv::PTX_Kernel)
      continue;
    builder.SetInsertPoint(function.getEntryBlock().getFirstInsertionPt());
    Value *frame =
        calls.call("sparseAutogradEmulateBeginFrame", builder.getInt32Ty(), {});
    for (ReturnInst *end : ends) {
      builder.SetInsertPoint(end);
      calls.call("sparseAutogradEmulateEndFrame", nullptr, frame);
    }
  }
  return !recursive.empty();
}
