//===- CountedCode.cpp - Code that counts its instructions ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CountedCode.h"

#include "FunctionPass.h"
#include "InstructionCosts.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Vectorize/LoadStoreVectorizer.h"

using namespace llvm;
using namespace sparse_autograd::emulator;

//===----------------------------------------------------------------------===//
// Widths
//===----------------------------------------------------------------------===//

Error sparse_autograd::emulator::vectorizeAccesses(Module &module) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  std::string problem;
  const Target *target =
      TargetRegistry::lookupTarget(module.getTargetTriple(), problem);
  if (!target)
    return createStringError(problem);
  std::unique_ptr<TargetMachine> machine(
      target->createTargetMachine(module.getTargetTriple(), "sm_80", "+ptx80",
                                  TargetOptions(), std::nullopt));
  runFunctionPass<LoadStoreVectorizerPass>(module, machine.get());
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Costs of basic blocks
//===----------------------------------------------------------------------===//

namespace {
/// A chain of instructions that need each other.
struct Chain {
  unsigned global = 0, shared = 0, cycles = 0;

  unsigned getLength() const {
    return global * SPARSE_AUTOGRAD_NOMINAL_GLOBAL_LATENCY +
           shared * SPARSE_AUTOGRAD_NOMINAL_SHARED_LATENCY + cycles;
  }
};
} // namespace

/// Fits a field of a record: more than that, which no block has, is as much.
static Constant *makeField(IRBuilder<> &builder, Type *type, uint64_t value) {
  return ConstantInt::get(
      type, std::min<uint64_t>(
                value,
                APInt::getMaxValue(type->getIntegerBitWidth()).getZExtValue()));
}

/// A SparseAutogradEmulatedBasicBlock. The numbers of loops are `numbers`.
static Constant *makeRecord(const BasicBlock &block, const LoopInfo &loops,
                            const DenseMap<const Loop *, unsigned> &numbers,
                            IRBuilder<> &builder) {
  uint64_t counts[SPARSE_AUTOGRAD_CLASS_COUNT] = {};
  uint64_t macs = 0;
  DenseMap<const Value *, Chain> chains;
  Chain longest;
  for (const Instruction &instruction : block) {
    WarpCost cost = getCost(instruction);
    counts[cost.which] += cost.count;
    macs += cost.tensorMacs;
    Chain chain;
    // What comes from other blocks, and from the iteration before, is there.
    for (const Use &operand : instruction.operands())
      if (auto found = chains.find(operand.get());
          found != chains.end() && !isa<PHINode>(instruction) &&
          found->second.getLength() > chain.getLength())
        chain = found->second;
    chain.global += cost.isGlobal;
    chain.shared += cost.isShared;
    if (!cost.isGlobal && !cost.isShared)
      chain.cycles += cost.cycles;
    chains[&instruction] = chain;
    if (chain.getLength() > longest.getLength())
      longest = chain;
  }
  Type *i16 = builder.getInt16Ty(), *i32 = builder.getInt32Ty();
  auto *countsType = ArrayType::get(i16, SPARSE_AUTOGRAD_CLASS_COUNT);
  SmallVector<Constant *> countElements;
  for (uint64_t count : counts)
    countElements.push_back(makeField(builder, i16, count));
  const Loop *loop = loops.getLoopFor(&block);
  const Loop *around = loop ? loop->getParentLoop() : nullptr;
  static_assert(sizeof(SparseAutogradEmulatedBasicBlock) == 44,
                "the layout is written down here once more");
  auto *type = StructType::get(countsType, i16, i16, i32, i32, i32, i32, i32);
  return ConstantStruct::get(
      type, ConstantArray::get(countsType, countElements),
      makeField(builder, i16, longest.global),
      makeField(builder, i16, longest.shared),
      makeField(builder, i32, longest.cycles),
      builder.getInt32(numbers.lookup(loop)),
      builder.getInt32(numbers.lookup(around)),
      builder.getInt32(loop && loop->getHeader() == &block),
      makeField(builder, i32, macs));
}

void sparse_autograd::emulator::countInstructions(Module &module) {
  IRBuilder<> builder(module.getContext());
  // Not one of the emulator's names, by which it knows loops that report.
  FunctionCallee callee = module.getOrInsertFunction(
      "sparseAutogradCountBasicBlock", builder.getVoidTy(), builder.getPtrTy());
  unsigned loopCount = 0;
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    DenseMap<const Loop *, unsigned> numbers;
    for (const Loop *loop : loops.getLoopsInPreorder())
      numbers[loop] = ++loopCount;
    for (BasicBlock &block : function) {
      Constant *record = makeRecord(block, loops, numbers, builder);
      auto *variable =
          new GlobalVariable(module, record->getType(), /*isConstant=*/true,
                             GlobalValue::PrivateLinkage, record, "block");
      builder.SetInsertPoint(&block, block.getFirstInsertionPt());
      builder.CreateCall(callee, variable);
    }
  }
}
