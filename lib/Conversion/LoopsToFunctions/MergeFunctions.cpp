//===- MergeFunctions.cpp - one function for equal ones ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's duplicate-function-elimination merges public functions as well,
// which the manifest names.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/LoopsToFunctions/LoopsToFunctions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_MERGEFUNCTIONS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;

namespace {
/// Functions are equal if they differ in names and locations alone.
struct EqualButNames : llvm::DenseMapInfo<func::FuncOp> {
  static DictionaryAttr getAttributes(func::FuncOp function) {
    NamedAttrList attributes(function->getAttrDictionary());
    attributes.erase(function.getSymNameAttrName());
    return attributes.getDictionary(function.getContext());
  }
  static unsigned getHashValue(func::FuncOp function) {
    llvm::hash_code hash = hash_value(getAttributes(function));
    function.getBody().walk([&](Operation *op) {
      hash = llvm::hash_combine(hash,
                                OperationEquivalence::computeHash(
                                    op, OperationEquivalence::ignoreHashValue,
                                    OperationEquivalence::ignoreHashValue,
                                    OperationEquivalence::IgnoreLocations));
    });
    return static_cast<unsigned>(size_t(hash));
  }
  static bool isEqual(func::FuncOp left, func::FuncOp right) {
    if (left == right)
      return true;
    for (func::FuncOp special : {getEmptyKey(), getTombstoneKey()})
      if (left == special || right == special)
        return false;
    return getAttributes(left) == getAttributes(right) &&
           OperationEquivalence::isRegionEquivalentTo(
               &left.getBody(), &right.getBody(),
               OperationEquivalence::IgnoreLocations);
  }
};

struct MergeFunctionsPass
    : sparse_autograd::impl::MergeFunctionsBase<MergeFunctionsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTableCollection tables;
    // Callers may be equal once what they call is.
    for (bool changed = true; changed;) {
      changed = false;
      llvm::DenseSet<func::FuncOp, EqualButNames> kept;
      SymbolUserMap users(tables, module);
      for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
        if (!function.isPrivate() || function.isExternal())
          continue;
        auto [first, isNew] = kept.insert(function);
        if (isNew)
          continue;
        users.replaceAllUsesWith(function, first->getSymNameAttr());
        function.erase();
        changed = true;
      }
    }
  }
};
} // namespace
