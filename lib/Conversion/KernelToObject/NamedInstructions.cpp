//===- NamedInstructions.cpp - The last step to PTX -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NamedInstructions.h"

#include "SparseAutograd/Target/NamedInstructions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;
using namespace sparse_autograd;

namespace {
/// Inline PTX whose results are registers that it reads, too: the sums of a
/// product.
class Assembly {
public:
  Assembly(IRBuilder<> &builder, Value *sums) : builder(builder), sums(sums) {
    auto *type = cast<StructType>(sums->getType());
    count = type->getNumElements();
    for (unsigned i = 0; i < count; ++i) {
      constraints += type->getElementType(i)->isFloatTy() ? "=f," : "=r,";
      tied += std::to_string(i) + ",";
      operands.push_back(builder.CreateExtractValue(sums, i));
    }
  }

  /// "{$0, $1, ...}"
  std::string getSums() const {
    std::string list = "{";
    for (unsigned i = 0; i < count; ++i)
      list += (i ? ", $" : "$") + std::to_string(i);
    return list + "}";
  }
  /// The place of another operand in the text.
  std::string add(Value *operand) {
    operands.push_back(operand);
    others += operand->getType()->isIntegerTy(64) ? "l," : "r,";
    return "$" + std::to_string(count + operands.size() - 1);
  }
  /// Memory is what others have put where descriptors point.
  Value *call(StringRef text) {
    SmallVector<Type *> types;
    for (Value *operand : operands)
      types.push_back(operand->getType());
    auto *assembly = InlineAsm::get(
        FunctionType::get(sums->getType(), types, /*isVarArg=*/false), text,
        constraints + tied + others + "~{memory}", /*hasSideEffects=*/true);
    CallInst *call = builder.CreateCall(assembly, operands);
    call->setConvergent();
    return call;
  }

private:
  IRBuilder<> &builder;
  Value *sums;
  unsigned count;
  std::string constraints, tied, others;
  SmallVector<Value *> operands;
};
} // namespace

/// A constant operand as text.
static Expected<std::string> getConstant(const CallInst &call, unsigned i) {
  auto *constant = dyn_cast<ConstantInt>(call.getArgOperand(i));
  if (!constant)
    return createStringError("operand " + Twine(i) + " of '" +
                             call.getCalledFunction()->getName() +
                             "' must be a constant");
  return std::to_string(constant->getSExtValue());
}

static Value *writeFence(IRBuilder<> &builder, CallInst &call) {
  Assembly assembly(builder, call.getArgOperand(0));
  return assembly.call("wgmma.fence.sync.aligned;");
}

static Expected<Value *> writeWait(IRBuilder<> &builder, CallInst &call) {
  Expected<std::string> groups = getConstant(call, 1);
  if (!groups)
    return groups.takeError();
  Assembly assembly(builder, call.getArgOperand(0));
  return assembly.call("wgmma.wait_group.sync.aligned " + *groups + ";");
}

static Expected<Value *> writeProduct(IRBuilder<> &builder, CallInst &call,
                                      const WarpgroupInstruction &product) {
  Assembly assembly(builder, call.getArgOperand(0));
  unsigned next = 1;
  auto takeOperand = [&]() { return assembly.add(call.getArgOperand(next++)); };
  std::string text = product.getMnemonic() + " " + assembly.getSums() + ", ";
  if (product.hasRegisters) {
    text += "{" + takeOperand();
    for (unsigned i = 1; i < product.getOperandsOfA(); ++i)
      text += ", " + takeOperand();
    text += "}, ";
  } else {
    text += takeOperand() + ", ";
  }
  text += takeOperand();
  if (product.isSparse) {
    text += ", " + takeOperand();
    Expected<std::string> selector = getConstant(call, next++);
    if (!selector)
      return selector.takeError();
    text += ", " + *selector;
  }
  std::string accumulates = takeOperand();
  text += ", p";
  // The signs, and which matrices are transposed: those that can be.
  bool isTF32 = product.factors == "tf32";
  bool isThere[] = {true, true, !isTF32 && !product.hasRegisters, !isTF32};
  for (bool isWritten : isThere) {
    Expected<std::string> mode = getConstant(call, next++);
    if (!mode)
      return mode.takeError();
    if (isWritten)
      text += ", " + *mode;
    else if (*mode != "0")
      return createStringError("'" + call.getCalledFunction()->getName() +
                               "' cannot transpose a matrix");
  }
  return assembly.call("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, " + accumulates +
                       ", 0;\n\t" + text + ";\n\t}");
}

static Expected<Value *> write(IRBuilder<> &builder, CallInst &call,
                               const NamedInstruction &instruction) {
  switch (instruction.kind) {
  case NamedInstruction::Kind::Fence:
    return writeFence(builder, call);
  case NamedInstruction::Kind::Wait:
    return writeWait(builder, call);
  case NamedInstruction::Kind::Product:
    return writeProduct(builder, call, instruction.product);
  }
  llvm_unreachable("a kind of instruction");
}

Error sparse_autograd::writeNamedInstructions(Module &module) {
  for (Function &function : make_early_inc_range(module)) {
    StringRef name = function.getName();
    if (!function.isDeclaration() || !name.starts_with(namedInstructionPrefix))
      continue;
    std::optional<NamedInstruction> instruction =
        NamedInstruction::parse(function);
    if (!instruction)
      return createStringError("calls '" + name +
                               "', which is no instruction of that form");
    for (User *user : make_early_inc_range(function.users())) {
      auto *call = dyn_cast<CallInst>(user);
      if (!call || call->getCalledFunction() != &function)
        return createStringError("takes the address of '" + name +
                                 "', which is an instruction");
      IRBuilder<> builder(call);
      Expected<Value *> result = write(builder, *call, *instruction);
      if (!result)
        return result.takeError();
      call->replaceAllUsesWith(*result);
      call->eraseFromParent();
    }
    function.eraseFromParent();
  }
  return Error::success();
}
