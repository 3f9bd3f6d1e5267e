//===- RuntimeCalls.cpp - Calls of the emulator -----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;
using namespace sparse_autograd::emulator;

/// An instruction as text, on one line and without its metadata.
static std::string print(const Instruction &instruction,
                         ModuleSlotTracker &slots) {
  std::string text;
  raw_string_ostream stream(text);
  instruction.print(stream, slots);
  StringRef line = StringRef(text).ltrim();
  line = line.take_front(line.find(", !"));
  // The attributes of a call.
  if (isa<CallBase>(instruction))
    line = line.take_front(line.rfind(')') + 1);
  // That a call is a tail call says nothing of the kernel.
  std::string result = line.str();
  if (size_t place = result.find("tail call "); place != std::string::npos)
    result.erase(place, strlen("tail "));
  return result;
}

Places::Places(Module &module) {
  ModuleSlotTracker slots(&module);
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    slots.incorporateFunction(function);
    unsigned number = 0;
    for (const Instruction &instruction : instructions(function)) {
      ++number;
      auto *operation = dyn_cast<BinaryOperator>(&instruction);
      if (!instruction.mayReadOrWriteMemory() && !isa<CallBase>(instruction) &&
          !instruction.isTerminator() && !isa<AllocaInst>(instruction) &&
          !(operation && operation->isIntDivRem()))
        continue;
      std::string text =
          "@" + function.getName().str() + ":" + std::to_string(number);
      if (const DILocation *location = instruction.getDebugLoc())
        text += " at " + location->getFilename().str() + ":" +
                std::to_string(location->getLine()) + ":" +
                std::to_string(location->getColumn());
      texts[&instruction] = text + ": " + print(instruction, slots);
    }
  }
}

Value *RuntimeCalls::getPlain(Value *pointer) {
  return builder.CreateAddrSpaceCast(pointer, builder.getPtrTy());
}

Value *RuntimeCalls::allocate(Type *type) {
  Function *function = instruction->getFunction();
  IRBuilder<> entry(&*function->getEntryBlock().getFirstInsertionPt());
  AllocaInst *memory = entry.CreateAlloca(type);
  memory->setAlignment(Align(16));
  return entry.CreateAddrSpaceCast(memory, builder.getPtrTy());
}

Value *RuntimeCalls::getPlace() {
  // Not merged with an equal one: that is how places are told apart.
  Constant *text = ConstantDataArray::getString(module.getContext(),
                                                places.get(*instruction));
  auto *place = new GlobalVariable(module, text->getType(), /*isConstant=*/true,
                                   GlobalValue::PrivateLinkage, text, "place");
  return place;
}

CallInst *RuntimeCalls::call(StringRef name, Type *type,
                             ArrayRef<Value *> arguments) {
  SmallVector<Type *> types;
  for (Value *argument : arguments)
    types.push_back(argument->getType());
  FunctionCallee callee = module.getOrInsertFunction(
      name, FunctionType::get(type ? type : builder.getVoidTy(), types,
                              /*isVarArg=*/false));
  auto *function = cast<Function>(callee.getCallee());
  function->addFnAttr(Attribute::Convergent);
  function->addFnAttr(Attribute::NoUnwind);
  return builder.CreateCall(callee, arguments);
}

CallInst *RuntimeCalls::callHere(StringRef name, Type *type,
                                 ArrayRef<Value *> arguments) {
  SmallVector<Value *> all(arguments);
  all.push_back(getPlace());
  return call(name, type, all);
}

void RuntimeCalls::access(Value *pointer, Value *bytes, uint64_t alignment,
                          int kind) {
  SmallVector<Value *> arguments = {
      getPlain(pointer), builder.CreateZExtOrTrunc(bytes, builder.getInt64Ty()),
      builder.getInt64(alignment), getInt(kind)};
  auto *variable =
      dyn_cast<AllocaInst>(getUnderlyingObject(pointer, /*MaxLookup=*/0));
  Instruction *begin = variables.lookup(variable);
  if (begin)
    arguments.insert(arguments.begin(), getPlain(begin));
  callHere(begin ? "sparseAutogradEmulateLocalAccess"
                 : "sparseAutogradEmulateAccess",
           nullptr, arguments);
}

Value *RuntimeCalls::makeResult(ArrayRef<Value *> elements) {
  Value *result = PoisonValue::get(instruction->getType());
  for (auto [index, element] : enumerate(elements))
    result = builder.CreateInsertValue(result, element, index);
  return result;
}

Error RuntimeCalls::refuse(const Twine &reason) {
  return createStringError("the emulator cannot execute this code: " + reason +
                           " [" + places.get(*instruction) + "]");
}
