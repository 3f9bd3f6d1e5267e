//===- NamedInstructions.h - Instructions as functions ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions for which LLVM has no intrinsic are calls of functions that
// nobody defines, in the code that goes to PTX as in that for the emulator.
// Each is named after its instruction, behind "sparse_autograd.". The last step
// before PTX writes them as inline assembly; the emulator executes them.
//
//     {sums}
//     @sparse_autograd.wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16(
//         {sums}, i64 %a, i64 %b, i32 accumulates, i32 signOfA, i32 signOfB,
//         i32 transposesA, i32 transposesB)
//
// Sums are a structure of n / 2 f32, or of n / 4 i32 with two f16 each. A is a
// descriptor, or four i32 if the name ends with ".registers". Sparse ones
// (wgmma.mma_async.sp) have the metadata (i32) and the selector behind B. All
// operands behind these but `accumulates` are constants: signs are 1 or -1.
//
//     {sums} @sparse_autograd.wgmma.fence.sync.aligned.f32x64({sums})
//     {sums} @sparse_autograd.wgmma.wait_group.sync.aligned.f32x64({sums}, i32
//     n)
//
// are a fence, and a wait for all but the last n groups, which return the sums:
// registers are written before the one, and used after the other. The
// intrinsics do not say that to LLVM, and ptxas then puts fences and waits of
// its own where it finds registers that are touched in between.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TARGET_NAMEDINSTRUCTIONS_H
#define SPARSEAUTOGRAD_TARGET_NAMEDINSTRUCTIONS_H

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Function.h"
#include <optional>
#include <string>

namespace sparse_autograd {

inline constexpr llvm::StringLiteral namedInstructionPrefix =
    "sparse_autograd.";
inline constexpr llvm::StringLiteral warpgroupFenceName =
    "sparse_autograd.wgmma.fence.sync.aligned.";
inline constexpr llvm::StringLiteral warpgroupWaitName =
    "sparse_autograd.wgmma.wait_group.sync.aligned.";

/// A wgmma.mma_async, as its name says it.
struct WarpgroupInstruction {
  bool isSparse = false;
  bool hasRegisters = false; ///< of A
  unsigned n = 0;
  std::string sums;    ///< f16 or f32
  std::string factors; ///< f16, bf16 or tf32

  unsigned getK() const {
    return (factors == "tf32" ? 8 : 16) * (isSparse ? 2 : 1);
  }
  unsigned getSumRegisters() const { return sums == "f16" ? n / 4 : n / 2; }
  /// As PTX spells it.
  std::string getMnemonic() const {
    return std::string("wgmma.mma_async.") + (isSparse ? "sp." : "") +
           "sync.aligned.m64n" + std::to_string(n) + "k" +
           std::to_string(getK()) + "." + sums + "." + factors + "." + factors;
  }
  std::string getName() const {
    return namedInstructionPrefix.str() + getMnemonic() +
           (hasRegisters ? ".registers" : "");
  }
  unsigned getOperandsOfA() const { return hasRegisters ? 4 : 1; }

  /// The instruction with a name; none if there is none.
  static std::optional<WarpgroupInstruction> parse(llvm::StringRef name) {
    WarpgroupInstruction instruction;
    llvm::StringRef rest = name;
    instruction.hasRegisters = rest.consume_back(".registers");
    if (!rest.consume_front(namedInstructionPrefix) ||
        !rest.consume_front("wgmma.mma_async."))
      return std::nullopt;
    instruction.isSparse = rest.consume_front("sp.");
    if (!rest.consume_front("sync.aligned.m64n") ||
        rest.consumeInteger(10, instruction.n))
      return std::nullopt;
    rest = rest.split('.').second;
    instruction.sums = rest.split('.').first.str();
    instruction.factors = rest.rsplit('.').second.str();
    bool isValid =
        instruction.n >= 8 && instruction.n <= 256 && instruction.n % 8 == 0 &&
        (instruction.sums == "f32" ||
         (instruction.sums == "f16" && instruction.factors == "f16")) &&
        (instruction.factors == "f16" || instruction.factors == "bf16" ||
         instruction.factors == "tf32");
    // Whatever was passed over above is compared here.
    if (!isValid || instruction.getName() != name)
      return std::nullopt;
    return instruction;
  }
};

/// What a function stands for.
struct NamedInstruction {
  enum class Kind { Fence, Wait, Product };

  Kind kind = Kind::Fence;
  WarpgroupInstruction product; ///< if it is one

  /// The instruction of a function that has its name and its operands; none if
  /// there is none.
  static std::optional<NamedInstruction> parse(const llvm::Function &function) {
    NamedInstruction instruction;
    llvm::StringRef name = function.getName();
    llvm::SmallVector<unsigned> bits; // of the operands behind the sums
    auto product = WarpgroupInstruction::parse(name);
    if (product) {
      instruction.kind = Kind::Product;
      instruction.product = *product;
      bits.append(product->getOperandsOfA(), product->hasRegisters ? 32 : 64);
      bits.push_back(64);
      bits.append(product->isSparse ? 7 : 5, 32);
    } else if (name.starts_with(warpgroupWaitName)) {
      instruction.kind = Kind::Wait;
      bits.push_back(32);
    } else if (!name.starts_with(warpgroupFenceName)) {
      return std::nullopt;
    }
    auto *sums = llvm::dyn_cast<llvm::StructType>(function.getReturnType());
    if (!sums || sums->elements().empty() || !llvm::all_equal(sums->elements()))
      return std::nullopt;
    bool isF32 = sums->getElementType(0)->isFloatTy();
    if ((!isF32 && !sums->getElementType(0)->isIntegerTy(32)) ||
        (product && (isF32 != (product->sums == "f32") ||
                     sums->getNumElements() != product->getSumRegisters())))
      return std::nullopt;
    llvm::SmallVector<llvm::Type *> types = {sums};
    for (unsigned width : bits)
      types.push_back(llvm::IntegerType::get(function.getContext(), width));
    if (function.getFunctionType()->params() != llvm::ArrayRef(types))
      return std::nullopt;
    return instruction;
  }
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TARGET_NAMEDINSTRUCTIONS_H
