//===- Divisions.cpp - Integer divisions without a result -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX gives some number for a division by zero, or of the least integer by -1;
// LLVM says that there is none, and the host's instruction traps.
//
//===----------------------------------------------------------------------===//

#include "RuntimeCalls.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace sparse_autograd::emulator;

void sparse_autograd::emulator::checkDivisions(RuntimeCalls &calls,
                                               Function &function) {
  SmallVector<BinaryOperator *> divisions;
  for (Instruction &instruction : instructions(function))
    if (auto *operation = dyn_cast<BinaryOperator>(&instruction);
        operation && operation->isIntDivRem() && calls.has(instruction))
      divisions.push_back(operation);
  for (BinaryOperator *division : divisions) {
    calls.setInstruction(*division);
    IRBuilder<> &builder = calls.getBuilder();
    Type *type = division->getType();
    Value *divisor = division->getOperand(1);
    // Of a vector, whether any element is.
    auto anyOf = [&](Value *condition) {
      return type->isVectorTy() ? builder.CreateOrReduce(condition) : condition;
    };
    Value *isZero =
        anyOf(builder.CreateICmpEQ(divisor, Constant::getNullValue(type)));
    Value *isInvalid = isZero;
    if (division->getOpcode() == Instruction::SDiv ||
        division->getOpcode() == Instruction::SRem) {
      Constant *least = ConstantInt::get(
          type, APInt::getSignedMinValue(type->getScalarSizeInBits()));
      isInvalid = builder.CreateOr(
          isZero,
          anyOf(builder.CreateAnd(
              builder.CreateICmpEQ(division->getOperand(0), least),
              builder.CreateICmpEQ(divisor, Constant::getAllOnesValue(type)))));
    }
    if (auto *constant = dyn_cast<ConstantInt>(isInvalid);
        constant && constant->isZero())
      continue;
    Instruction *end = SplitBlockAndInsertIfThen(isInvalid, division,
                                                 /*Unreachable=*/true);
    builder.SetInsertPoint(end);
    calls.callHere("sparseAutogradEmulateDivision", nullptr,
                   calls.widen(builder.CreateNot(isZero)));
  }
}
