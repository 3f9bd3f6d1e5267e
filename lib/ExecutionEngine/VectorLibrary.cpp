//===- VectorLibrary.cpp - elementary functions on vectors ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorLibrary.h"

#include "llvm/CodeGen/TargetLowering.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Target/TargetMachine.h"
#include <array>

using namespace llvm;

namespace {
/// The versions of a function for one kind of registers (Vector Function
/// Application Binary Interface Specification for AMD64, section 2.6).
struct VectorABI {
  char letter; ///< after `_ZGV` in the name
  unsigned bits;
  StringRef feature; ///< of the target, as LLVM calls it
};

/// A function of libm with a vector form. A name without an intrinsic of LLVM
/// is called by its C name alone.
struct LibraryFunction {
  StringRef name;
  unsigned operands;
  bool isIntrinsic;
};
} // namespace

// Not `_ZGVc`, of AVX without AVX2: there the library splits each vector in two
// and calls `_ZGVb`.
static constexpr VectorABI vectorABIs[] = {
    {'b', 128, "+sse2"}, {'d', 256, "+avx2"}, {'e', 512, "+avx512f"}};

static constexpr LibraryFunction functions[] = {
    {"acos", 1, true},   {"acosh", 1, false}, {"asin", 1, true},
    {"asinh", 1, false}, {"atan", 1, true},   {"atan2", 2, true},
    {"atanh", 1, false}, {"cbrt", 1, false},  {"cos", 1, true},
    {"cosh", 1, true},   {"erf", 1, false},   {"erfc", 1, false},
    {"exp", 1, true},    {"exp10", 1, true},  {"exp2", 1, true},
    {"expm1", 1, false}, {"hypot", 2, false}, {"log", 1, true},
    {"log10", 1, true},  {"log1p", 1, false}, {"log2", 1, true},
    {"pow", 2, true},    {"sin", 1, true},    {"sinh", 1, true},
    {"tan", 1, true},    {"tanh", 1, true}};

bool sparse_autograd::hasVectorLibrary() {
  // Kept open for the life of the process, as LLVM's own loading does. A glibc
  // before 2.35 has the library with a few functions only.
  static const bool has = [] {
    std::string error;
    sys::DynamicLibrary library =
        sys::DynamicLibrary::getPermanentLibrary(vectorLibraryName, &error);
    return library.isValid() &&
           library.getAddressOfSymbol("_ZGVdN8v_tanhf") != nullptr;
  }();
  return has;
}

void sparse_autograd::addVectorLibrary(TargetLibraryInfoImpl &info,
                                       const TargetMachine &machine) {
  if (!machine.getTargetTriple().isX86_64())
    return;
  static BumpPtrAllocator allocator;
  static StringSaver saver(allocator);
  // Built once: the descriptions refer to the strings.
  using Descriptions = SmallVector<VecDesc>;
  static const std::array<Descriptions, std::size(vectorABIs)> all = [] {
    std::array<Descriptions, std::size(vectorABIs)> result;
    for (auto [abi, descriptions] : zip_equal(vectorABIs, result))
      for (const LibraryFunction &function : functions)
        for (unsigned width : {32u, 64u}) {
          unsigned lanes = abi.bits / width;
          StringRef parameters = function.operands == 2 ? "vv" : "v";
          StringRef scalar =
              saver.save(function.name + (width == 32 ? "f" : ""));
          StringRef vector =
              saver.save("_ZGV" + Twine(abi.letter) + "N" + Twine(lanes) +
                         parameters + "_" + scalar);
          StringRef prefix =
              saver.save("_ZGV_LLVM_N" + Twine(lanes) + parameters);
          ElementCount count = ElementCount::getFixed(lanes);
          descriptions.emplace_back(scalar, vector, count, /*Masked=*/false,
                                    prefix, std::nullopt);
          if (function.isIntrinsic)
            descriptions.emplace_back(
                saver.save("llvm." + function.name + ".f" + Twine(width)),
                vector, count, /*Masked=*/false, prefix, std::nullopt);
        }
    return result;
  }();
  for (auto [abi, descriptions] : zip_equal(vectorABIs, all))
    if (machine.getMCSubtargetInfo()->checkFeatures(abi.feature))
      info.addVectorizableFunctions(descriptions);
}

/// Whether a call passes and returns each of its vectors in one register, as
/// the functions of the library expect.
static bool usesOneRegisterEach(const CallBase &call,
                                const TargetSubtargetInfo &target) {
  const TargetLowering &lowering = *target.getTargetLowering();
  auto isInOne = [&](Type *type) {
    EVT valueType = lowering.getValueType(call.getDataLayout(), type);
    return lowering.getNumRegistersForCallingConv(
               call.getContext(), call.getCallingConv(), valueType) == 1;
  };
  return isInOne(call.getType()) && all_of(call.args(), [&](const Use &use) {
           return isInOne(use->getType());
         });
}

Error sparse_autograd::verifyVectorCalls(const Module &module,
                                         const TargetMachine &machine) {
  for (const Function &callee : module) {
    StringRef name = callee.getName();
    if (!callee.isDeclaration() || !name.consume_front("_ZGV"))
      continue;
    const VectorABI *abi = find_if(vectorABIs, [&](const VectorABI &abi) {
      return name.starts_with(abi.letter);
    });
    for (const User *user : callee.users()) {
      auto *call = dyn_cast<CallBase>(user);
      if (!call || !call->isCallee(&call->getCalledOperandUse()))
        continue;
      const Function &caller = *call->getFunction();
      const TargetSubtargetInfo &target = *machine.getSubtargetImpl(caller);
      if (abi != std::end(vectorABIs) && target.checkFeatures(abi->feature) &&
          usesOneRegisterEach(*call, target))
        continue;
      return createStringError(
          "'" + caller.getName() + "' calls '" + callee.getName() +
          "', whose vectors are those of another processor than '" +
          target.getCPU() + "' with the features it is compiled for");
    }
  }
  return Error::success();
}
