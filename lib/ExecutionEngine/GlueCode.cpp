//===- GlueCode.cpp - functions between kernels -----------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GlueCode.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// Fewer instructions take no time to speak of.
static constexpr unsigned leastSize = 400;

/// The function that an instruction calls, of this module or of the runtime;
/// null if it calls none.
static Function *getCallee(Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  return call && !isa<IntrinsicInst>(call) ? call->getCalledFunction()
                                           : nullptr;
}

static bool runsParallelLoop(const Loop &loop) {
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block)
      if (Function *callee = getCallee(instruction))
        if (callee->getName() == "sparseAutogradParallelFor")
          return true;
  return false;
}

bool sparse_autograd::isGlueCode(Function &function) {
  if (function.getInstructionCount() < leastSize)
    return false;
  unsigned floats = 0, calls = 0;
  for (Instruction &instruction : instructions(function)) {
    // A type of floats, or a comparison of some.
    Type *type = instruction.getNumOperands() != 0 && isa<FCmpInst>(instruction)
                     ? instruction.getOperand(0)->getType()
                     : instruction.getType();
    floats += type->isFPOrFPVectorTy();
    calls += getCallee(instruction) != nullptr;
  }
  if (floats > calls)
    return false;
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  return all_of(loops.getLoopsInPreorder(),
                [](Loop *loop) { return runsParallelLoop(*loop); });
}

void sparse_autograd::leaveGlueCode(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration() ||
        function.hasFnAttribute(Attribute::AlwaysInline) ||
        !isGlueCode(function))
      continue;
    function.removeFnAttr(Attribute::MinSize);
    function.removeFnAttr(Attribute::OptimizeForSize);
    function.addFnAttr(Attribute::NoInline);
    function.addFnAttr(Attribute::OptimizeNone);
  }
}
