//===- PlainPointers.cpp - Code without address spaces ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlainPointers.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;

namespace {
/// Makes all pointers plain ones.
class PlainPointers : public ValueMapTypeRemapper {
public:
  Type *remapType(Type *type) override {
    Type *&mapped = cache[type];
    if (!mapped) {
      // Computed apart: the recursion changes the cache.
      Type *result = map(type);
      cache[type] = result;
      return result;
    }
    return mapped;
  }

private:
  Type *map(Type *type) {
    if (isa<PointerType>(type))
      return PointerType::get(type->getContext(), 0);
    if (auto *vector = dyn_cast<VectorType>(type))
      return VectorType::get(remapType(vector->getElementType()),
                             vector->getElementCount());
    if (auto *array = dyn_cast<ArrayType>(type))
      return ArrayType::get(remapType(array->getElementType()),
                            array->getNumElements());
    if (auto *function = dyn_cast<FunctionType>(type)) {
      SmallVector<Type *> parameters;
      for (Type *parameter : function->params())
        parameters.push_back(remapType(parameter));
      return FunctionType::get(remapType(function->getReturnType()), parameters,
                               function->isVarArg());
    }
    auto *structure = dyn_cast<StructType>(type);
    if (!structure || structure->isOpaque())
      return type;
    SmallVector<Type *> elements;
    for (Type *element : structure->elements())
      elements.push_back(remapType(element));
    if (ArrayRef<Type *>(elements) == structure->elements())
      return type;
    return StructType::get(type->getContext(), elements, structure->isPacked());
  }

  DenseMap<Type *, Type *> cache;
};
} // namespace

/// Removes what is only of use to NVPTX, or refers to it.
static void cleanAttributes(Function &function) {
  bool isConvergent = function.hasFnAttribute(Attribute::Convergent);
  bool isNoReturn = function.hasFnAttribute(Attribute::NoReturn);
  AttributeList attributes = function.getAttributes();
  function.setAttributes(attributes.removeFnAttributes(function.getContext()));
  function.addFnAttr(Attribute::NoUnwind);
  // A parameter that is passed by value stays where the launch has it.
  for (unsigned i = 0; i < function.arg_size(); ++i)
    function.removeParamAttr(i, Attribute::ByVal);
  if (isConvergent)
    function.addFnAttr(Attribute::Convergent);
  if (isNoReturn)
    function.addFnAttr(Attribute::NoReturn);
  function.setCallingConv(CallingConv::C);
  function.setVisibility(GlobalValue::DefaultVisibility);
  function.setDSOLocal(!function.isDeclaration());
  for (Instruction &instruction :
       make_early_inc_range(instructions(function))) {
    if (auto *cast = dyn_cast<AddrSpaceCastInst>(&instruction)) {
      cast->replaceAllUsesWith(cast->getOperand(0));
      cast->eraseFromParent();
    } else if (auto *call = dyn_cast<CallBase>(&instruction)) {
      call->setCallingConv(CallingConv::C);
    }
  }
}

std::unique_ptr<Module> sparse_autograd::emulator::dropAddressSpaces(
    const Module &source, const Triple &triple, const DataLayout &layout) {
  auto module = std::make_unique<Module>(source.getName(), source.getContext());
  module->setTargetTriple(triple);
  module->setDataLayout(layout);
  PlainPointers types;
  ValueToValueMapTy values;
  for (const GlobalVariable &variable : source.globals()) {
    auto *copy = new GlobalVariable(
        *module, types.remapType(variable.getValueType()),
        variable.isConstant(),
        variable.hasLocalLinkage() ? variable.getLinkage()
                                   : GlobalValue::InternalLinkage,
        nullptr, variable.getName());
    copy->setAlignment(variable.getAlign());
    values[&variable] = copy;
  }
  for (const Function &function : source) {
    auto *type =
        cast<FunctionType>(types.remapType(function.getFunctionType()));
    // A kernel is called by what takes its parameters by pointers.
    auto linkage = function.isDeclaration() ? GlobalValue::ExternalLinkage
                                            : GlobalValue::InternalLinkage;
    Function *copy =
        Function::Create(type, linkage, 0, function.getName(), module.get());
    copy->setAttributes(function.getAttributes());
    values[&function] = copy;
  }
  for (const GlobalVariable &variable : source.globals()) {
    auto *copy = cast<GlobalVariable>(values[&variable]);
    copy->setInitializer(
        variable.hasInitializer()
            ? MapValue(variable.getInitializer(), values, RF_None, &types)
            : Constant::getNullValue(copy->getValueType()));
  }
  for (const Function &function : source) {
    if (function.isDeclaration())
      continue;
    auto *copy = cast<Function>(values[&function]);
    for (auto [argument, newArgument] : zip(function.args(), copy->args())) {
      newArgument.setName(argument.getName());
      values[&argument] = &newArgument;
    }
    SmallVector<ReturnInst *> returns;
    CloneFunctionInto(copy, &function, values,
                      CloneFunctionChangeType::DifferentModule, returns, "",
                      nullptr, &types);
  }
  for (Function &function : make_early_inc_range(*module)) {
    // The names of some intrinsics say which pointers they take.
    if (function.isIntrinsic())
      if (std::optional<Function *> renamed =
              Intrinsic::remangleIntrinsicFunction(&function)) {
        function.replaceAllUsesWith(*renamed);
        function.eraseFromParent();
        continue;
      }
    if (!function.isIntrinsic())
      cleanAttributes(function);
  }
  return module;
}
