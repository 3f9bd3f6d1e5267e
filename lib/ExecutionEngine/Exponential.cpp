//===- Exponential.cpp - the exponential of an f32 ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x is split into n ln 2 + r with n an integer and |r| <= ln 2 / 2 (W. J. Cody,
// W. Waite: Software manual for the elementary functions, 1980). exp(r) is a
// polynomial whose coefficients minimise the largest relative error, 0.05 units
// in the last place; with the roundings the result is within 1.2 units
// (test/Execution/exponential.py).
//
//===----------------------------------------------------------------------===//

#include "Exponential.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace {
/// What the machine does by one instruction.
struct Capabilities {
  bool multiplyAdd; ///< a b + c, rounded once
  bool scale;       ///< x 2^n
};

/// Emits the exponential of a number, or of a vector of them. No operation has
/// fast-math flags: the steps are exact on purpose.
class ExponentialEmitter {
public:
  ExponentialEmitter(IRBuilder<> &builder, Type *type, Capabilities machine)
      : builder(builder), type(type),
        integer(type->getWithNewType(builder.getInt32Ty())), machine(machine) {}

  Value *emit(Value *x);

private:
  Value *number(double value) { return ConstantFP::get(type, value); }
  Value *whole(uint32_t value) { return ConstantInt::get(integer, value); }

  Value *multiplyAdd(Value *a, Value *b, Value *c);
  Value *limit(CmpInst::Predicate isBeyond, double bound, Value *x);
  Value *createPower(Value *n);
  Value *scaleByPower(Value *x, Value *n);

  IRBuilder<> &builder;
  Type *type, *integer;
  Capabilities machine;
};
} // namespace

Value *ExponentialEmitter::multiplyAdd(Value *a, Value *b, Value *c) {
  if (machine.multiplyAdd)
    return builder.CreateIntrinsic(Intrinsic::fma, {type}, {a, b, c});
  return builder.CreateFAdd(builder.CreateFMul(a, b), c);
}

/// `x`, or `bound` if it is beyond that. A NaN compares false and stays.
Value *ExponentialEmitter::limit(CmpInst::Predicate isBeyond, double bound,
                                 Value *x) {
  return builder.CreateSelect(builder.CreateFCmp(isBeyond, x, number(bound)),
                              number(bound), x);
}

/// 2^n, for the exponent of a normal number.
Value *ExponentialEmitter::createPower(Value *n) {
  Value *field = builder.CreateShl(n, whole(23));
  return builder.CreateBitCast(builder.CreateAdd(field, whole(0x3f800000)),
                               type);
}

/// x 2^n, rounded once, of a normal number.
Value *ExponentialEmitter::scaleByPower(Value *x, Value *n) {
  if (machine.scale)
    return builder.CreateIntrinsic(Intrinsic::ldexp, {type, integer}, {x, n});
  // In two halves: n may be too large or too small for one. The first product
  // is exact.
  Value *half = builder.CreateAShr(n, whole(1));
  Value *rest = builder.CreateSub(n, half);
  return builder.CreateFMul(builder.CreateFMul(x, createPower(half)),
                            createPower(rest));
}

Value *ExponentialEmitter::emit(Value *x) {
  // Beyond these the result is infinity and 0, and n fits into 8 bits.
  x = limit(CmpInst::FCMP_OGT, 89.0, x);
  x = limit(CmpInst::FCMP_OLT, -104.0, x);

  // Added to 1.5 * 2^23 a number is rounded to an integer, which is in the
  // lower bits of the sum.
  Value *magic = number(0x1.8p23);
  Value *shifted = multiplyAdd(x, number(0x1.715476p+0), magic);
  Value *n = builder.CreateFSub(shifted, magic);
  // The first part of ln 2 has so few bits that its product with n is exact.
  Value *r = multiplyAdd(n, number(-0x1.62ep-1), x);
  r = multiplyAdd(n, number(-0x1.0bfbe8p-15), r);

  Value *exponential = number(0x1.6a2434p-10);
  for (double coefficient :
       {0x1.1239e2p-7, 0x1.5558f2p-5, 0x1.555492p-3, 0x1.fffffcp-2, 1.0, 1.0})
    exponential = multiplyAdd(exponential, r, number(coefficient));

  Value *exponent = builder.CreateSub(builder.CreateBitCast(shifted, integer),
                                      whole(0x4b400000));
  return scaleByPower(exponential, exponent);
}

static Capabilities getCapabilities(const TargetMachine &machine) {
  const Triple &triple = machine.getTargetTriple();
  const MCSubtargetInfo &subtarget = *machine.getMCSubtargetInfo();
  if (triple.isX86())
    return {subtarget.checkFeatures("+fma"),
            subtarget.checkFeatures("+avx512f")};
  return {triple.isAArch64(), /*scale=*/false};
}

void sparse_autograd::expandExponentials(Module &module,
                                         const TargetMachine &machine) {
  Capabilities capabilities = getCapabilities(machine);
  for (Function &function : module)
    for (Instruction &instruction :
         make_early_inc_range(instructions(function))) {
      auto *call = dyn_cast<IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != Intrinsic::exp ||
          !call->getType()->getScalarType()->isFloatTy())
        continue;
      IRBuilder<> builder(call);
      ExponentialEmitter emitter(builder, call->getType(), capabilities);
      call->replaceAllUsesWith(emitter.emit(call->getArgOperand(0)));
      call->eraseFromParent();
    }
}
