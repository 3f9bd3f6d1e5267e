//===- VectorLibrary.cpp - elementary functions on vectors ------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorLibrary.h"

#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;

/// A function of libm with a vector form. A name without an intrinsic of LLVM
/// is called by its C name alone.
namespace {
struct LibraryFunction {
  StringRef name;
  unsigned operands;
  bool isIntrinsic;
};
} // namespace

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
                                       bool hasAVX512) {
  static BumpPtrAllocator allocator;
  static StringSaver saver(allocator);
  struct Isa {
    char letter;
    unsigned bits;
  };
  // Built once: the descriptions refer to the strings.
  static const SmallVector<VecDesc> all = [] {
    SmallVector<VecDesc> result;
    for (Isa isa : {Isa{'b', 128}, Isa{'d', 256}, Isa{'e', 512}})
      for (const LibraryFunction &function : functions)
        for (unsigned width : {32u, 64u}) {
          unsigned lanes = isa.bits / width;
          StringRef parameters = function.operands == 2 ? "vv" : "v";
          StringRef scalar =
              saver.save(function.name + (width == 32 ? "f" : ""));
          StringRef vector =
              saver.save(Twine("_ZGV") + Twine(isa.letter) + "N" +
                         Twine(lanes) + parameters + "_" + scalar);
          StringRef prefix =
              saver.save(Twine("_ZGV_LLVM_N") + Twine(lanes) + parameters);
          ElementCount count = ElementCount::getFixed(lanes);
          result.emplace_back(scalar, vector, count, /*Masked=*/false, prefix,
                              std::nullopt);
          if (function.isIntrinsic)
            result.emplace_back(
                saver.save("llvm." + function.name + ".f" + Twine(width)),
                vector, count, /*Masked=*/false, prefix, std::nullopt);
        }
    return result;
  }();
  SmallVector<VecDesc> usable;
  for (const VecDesc &description : all)
    if (hasAVX512 || !description.getVectorFnName().starts_with("_ZGVe"))
      usable.push_back(description);
  info.addVectorizableFunctions(usable);
}
