//===- RuntimeCalls.h - Calls of the emulator -------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parts of the translation share. Internal to it.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_RUNTIMECALLS_H
#define SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_RUNTIMECALLS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/Support/Error.h"

namespace sparse_autograd {
namespace emulator {

// The address spaces of NVPTX.
inline constexpr unsigned sharedSpace = 3;
inline constexpr unsigned constantSpace = 4;

/// Says where an instruction is, as it was before anything was translated:
/// function, number in the function, location if there is one, and the
/// instruction itself.
class Places {
public:
  /// Notes the instructions of which a report may speak.
  explicit Places(llvm::Module &module);

  /// Whether the instruction is one of those.
  bool has(const llvm::Instruction &instruction) const {
    return texts.contains(&instruction);
  }
  llvm::StringRef get(const llvm::Instruction &instruction) const {
    auto text = texts.find(&instruction);
    return text == texts.end() ? llvm::StringRef() : text->second;
  }

  /// The instruction ends: another one may lie where it did.
  void forget(const llvm::Instruction &instruction) {
    texts.erase(&instruction);
  }

private:
  llvm::DenseMap<const llvm::Instruction *, std::string> texts;
};

/// Emits calls of the emulator in the place of an instruction.
class RuntimeCalls {
public:
  RuntimeCalls(llvm::Module &module, Places &places)
      : module(module), places(places), builder(module.getContext()) {}

  /// What follows is emitted before this instruction.
  void setInstruction(llvm::Instruction &newInstruction) {
    instruction = &newInstruction;
    builder.SetInsertPoint(instruction);
  }
  llvm::Instruction &getInstruction() { return *instruction; }
  llvm::IRBuilder<> &getBuilder() { return builder; }
  llvm::Module &getModule() { return module; }

  llvm::Value *getInt(int64_t value) { return builder.getInt32(value); }
  /// An i1 as the i32 that the emulator takes.
  llvm::Value *widen(llvm::Value *predicate) {
    return builder.CreateZExt(predicate, builder.getInt32Ty());
  }
  /// A pointer without an address space.
  llvm::Value *getPlain(llvm::Value *pointer);
  /// Memory in the frame of the function.
  llvm::Value *allocate(llvm::Type *type);
  /// Where the instruction is.
  llvm::Value *getPlace();
  /// Calls a function of the emulator; without a result if `type` is null.
  llvm::CallInst *call(llvm::StringRef name, llvm::Type *type,
                       llvm::ArrayRef<llvm::Value *> arguments);
  /// As `call`, with the place as the last argument.
  llvm::CallInst *callHere(llvm::StringRef name, llvm::Type *type,
                           llvm::ArrayRef<llvm::Value *> arguments);
  /// A structure of the type of the instruction's result.
  llvm::Value *makeResult(llvm::ArrayRef<llvm::Value *> elements);

  /// An error that names the instruction.
  llvm::Error refuse(const llvm::Twine &reason);

  /// Whether the instruction was there before anything was translated.
  bool has(const llvm::Instruction &other) const { return places.has(other); }
  void erase(llvm::Instruction &other) {
    places.forget(other);
    other.eraseFromParent();
  }

  /// Tells the emulator of an access; kind is a SparseAutogradEmulatedAccess.
  void access(llvm::Value *pointer, llvm::Value *bytes, uint64_t alignment,
              int kind);
  /// Where the local variables begin, each past its guard.
  llvm::DenseMap<const llvm::AllocaInst *, llvm::Instruction *> variables;

  /// A product of a warpgroup: its result and its number; the store that hands
  /// the sums to it, and the one that says of which product they are.
  struct Product {
    llvm::Value *result;
    llvm::Value *number;
    llvm::StoreInst *store;
    llvm::StoreInst *previous;
  };
  /// Those of the function.
  llvm::SmallVector<Product> products;

private:
  llvm::Module &module;
  Places &places;
  llvm::IRBuilder<> builder;
  llvm::Instruction *instruction = nullptr;
};

/// Whether the name of a function, without "llvm.nvvm.", is an instruction that
/// the emulator has. Its call is replaced then by `result`, which is null if it
/// has none.
bool translateIntrinsic(RuntimeCalls &calls, llvm::CallInst &call,
                        llvm::StringRef name, llvm::Value *&result);

/// As translateIntrinsic, for what is done by no thread, and what waits for it.
bool translateAsync(RuntimeCalls &calls, llvm::CallInst &call,
                    llvm::StringRef name, llvm::Value *&result);

/// As translateIntrinsic, for products of a warpgroup; with their whole names.
bool translateWarpgroup(RuntimeCalls &calls, llvm::CallInst &call,
                        llvm::StringRef name, llvm::Value *&result);
/// Has the emulator asked before a result of the products of a function is
/// used.
void checkUsesOfProducts(RuntimeCalls &calls, const Places &places);

/// As translateIntrinsic, for arithmetic.
bool translateArithmetic(RuntimeCalls &calls, llvm::CallInst &call,
                         llvm::StringRef name, llvm::Value *&result);

/// As translateIntrinsic, for functions of libdevice; with their whole names.
bool translateLibdevice(RuntimeCalls &calls, llvm::CallInst &call,
                        llvm::StringRef name, llvm::Value *&result);

/// As translateIntrinsic, for the assembly that is in libdevice.
bool translateAssembly(RuntimeCalls &calls, llvm::CallInst &call,
                       llvm::Value *&result);

/// Has the emulator know of the local variables of a function, and of where
/// they end.
void translateVariables(RuntimeCalls &calls, llvm::Function &function);
/// Does so for the frames of all functions, last of all. Whether there is one
/// that may call itself.
bool translateFrames(RuntimeCalls &calls);
/// What the variables of all frames take together.
uint64_t getFrameBytes(const llvm::Module &module);

/// Has the emulator report divisions of integers without a result.
void checkDivisions(RuntimeCalls &calls, llvm::Function &function);

} // namespace emulator
} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_TARGET_EMULATOR_RUNTIMECALLS_H
