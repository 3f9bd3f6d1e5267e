//===- TestFunctions.cpp - print what is known of functions ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Analyses of whole functions: derivatives, and what they allocate.
//
//===----------------------------------------------------------------------===//

#include "TestAnalyses.h"

#include "SparseAutograd/Analysis/AddedDensity.h"
#include "SparseAutograd/Analysis/DimensionOrigins.h"
#include "SparseAutograd/Analysis/GradientBound.h"
#include "SparseAutograd/Analysis/GradientDensity.h"
#include "SparseAutograd/Analysis/MemoryBound.h"

using namespace mlir;
using namespace sparse_autograd;
using namespace sparse_autograd::test;

LogicalResult sparse_autograd::test::printAddedDensity(ModuleOp module) {
  SymbolTable symbols(module);
  for (auto derivative : module.getOps<func::FuncOp>()) {
    auto name = derivative->getAttrOfType<FlatSymbolRefAttr>(
        SparseAutogradDialect::getDerivativeOfAttrName());
    if (!name)
      continue;
    auto program = symbols.lookup<func::FuncOp>(name.getValue());
    llvm::outs() << "@" << derivative.getSymName() << ": ";
    if (std::optional<AddedTensor> added =
            findAddedTensor(derivative, program, symbols))
      llvm::outs() << getName(added->value) << ", dimensions " << added->first
                   << " and " << added->second << ", made "
                   << (added->isMadeOf ? "of " : "with ")
                   << getName(added->sparse) << "\n";
    else
      llvm::outs() << "adds nothing\n";
  }
  return success();
}

LogicalResult sparse_autograd::test::printDimensionOrigins(ModuleOp module) {
  SymbolTable symbols(module);
  for (auto function : module.getOps<func::FuncOp>()) {
    DimensionOrigins origins;
    DimensionOrigins::Instance instance = origins.add(function, symbols);
    // Classes by letters, in the order of their first dimensions.
    llvm::SmallDenseMap<unsigned, char> letters;
    llvm::outs() << "@" << function.getSymName() << "\n";
    auto print = [&](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        return;
      llvm::outs() << "  " << getName(value) << ":";
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        llvm::outs() << " "
                     << letters
                            .try_emplace(
                                origins.getClass(instance, value, dim),
                                static_cast<char>('a' + letters.size()))
                            .first->second;
      llvm::outs() << "\n";
    };
    for (Value argument : function.getArguments())
      print(argument);
    forEachTagged(function, [&](Operation *op, StringRef) {
      for (Value result : op->getResults())
        print(result);
    });
  }
  return success();
}

/// Calls `callback` with each tensor that `function` returns as the gradient of
/// an argument, and its number.
static void forEachGradient(
    func::FuncOp function,
    function_ref<void(Value gradient, unsigned argument)> callback) {
  for (OpOperand &operand :
       function.getBody().front().getTerminator()->getOpOperands())
    if (auto argument = function.getResultAttrOfType<IntegerAttr>(
            operand.getOperandNumber(),
            SparseAutogradDialect::getGradientOfAttrName()))
      callback(operand.get(), argument.getInt());
}

LogicalResult sparse_autograd::test::printGradientBound(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    GradientBounds bounds(function);
    forEachGradient(function, [&](Value gradient, unsigned argument) {
      llvm::outs() << "@" << function.getSymName() << ", argument " << argument
                   << ": ";
      if (std::optional<GradientBound> bound = bounds.of(gradient, argument))
        llvm::outs() << bound->elements << " elements, " << bound->bytes
                     << " bytes\n";
      else
        llvm::outs() << "no bound\n";
    });
  }
  return success();
}

LogicalResult sparse_autograd::test::printGradientDensity(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    SmallVector<Value> others(
        function.getBody().front().getTerminator()->getOperands());
    forEachGradient(function, [&](Value gradient, unsigned) {
      if (isSparse(gradient.getType()))
        llvm::erase(others, gradient);
    });
    GradientDensity density(function, others);
    forEachGradient(function, [&](Value gradient, unsigned argument) {
      if (!isSparse(gradient.getType()))
        return;
      llvm::outs() << "@" << function.getSymName() << ", argument " << argument
                   << ":";
      if (std::optional<DensityPath> path = density.find(gradient)) {
        llvm::outs() << " dense " << getName(path->entry->getResult(0));
        for (Operation *op : path->uses)
          llvm::outs() << ", read by " << getName(op->getResult(0));
        llvm::outs() << "\n";
      } else {
        llvm::outs() << " nothing dense\n";
      }
    });
  }
  return success();
}

/// Of functions on buffers: memrefs are dense arguments.
LogicalResult sparse_autograd::test::printMemoryBound(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    SmallVector<EntryArgument> arguments;
    for (auto [number, type] : llvm::enumerate(function.getArgumentTypes()))
      arguments.push_back(
          {isa<MemRefType>(type) ? EntryArgument::Dense : EntryArgument::Scalar,
           static_cast<unsigned>(number)});
    llvm::outs()
        << "@" << function.getSymName() << ": "
        << MemoryBound(function, arguments).compute().value_or("no bound")
        << "\n";
  }
  return success();
}
