//===- Edits.cpp - ways to make a program smaller -------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Edits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

std::string sparse_autograd::print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  stream << "\n";
  return text;
}

std::tuple<size_t, size_t, size_t> sparse_autograd::getSize(ModuleOp module) {
  size_t operations = 0, others = 0;
  module.walk([&](Operation *op) {
    ++operations;
    others += !op->hasTrait<OpTrait::ConstantLike>();
  });
  return {others, operations, print(module).size()};
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

static SmallVector<Operation *> getSymbols(ModuleOp module) {
  SmallVector<Operation *> symbols;
  for (Operation &op : *module.getBody())
    symbols.push_back(&op);
  return symbols;
}

static size_t countSymbols(ModuleOp module) {
  return getSymbols(module).size();
}

static bool removeSymbols(ModuleOp module, size_t begin, size_t end) {
  SmallVector<Operation *> symbols = getSymbols(module);
  for (Operation *symbol : ArrayRef(symbols).slice(begin, end - begin))
    symbol->erase();
  return true;
}

static SmallVector<func::FuncOp> getDefinitions(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      functions.push_back(function);
  return functions;
}

static size_t countBodies(ModuleOp module) {
  return getDefinitions(module).size();
}

/// Leaves declarations.
static bool removeBodies(ModuleOp module, size_t begin, size_t end) {
  SmallVector<func::FuncOp> functions = getDefinitions(module);
  for (func::FuncOp function : ArrayRef(functions).slice(begin, end - begin)) {
    function.eraseBody();
    function.setPrivate();
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Operations within functions that do not end a block.
static SmallVector<Operation *> getOperations(ModuleOp module) {
  SmallVector<Operation *> operations;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != module && op->getParentOp() != module &&
        !op->hasTrait<OpTrait::IsTerminator>())
      operations.push_back(op);
  });
  return operations;
}

static size_t countOperations(ModuleOp module) {
  return getOperations(module).size();
}

/// A value for the uses of `result` that is there before its operation: one of
/// its operands, an argument of a block, or another result; else a zero.
static Value findSubstitute(OpResult result) {
  Operation *op = result.getOwner();
  Type type = result.getType();
  for (Value operand : op->getOperands())
    if (operand.getType() == type)
      return operand;
  for (Operation *inner = op; inner && inner->getBlock();
       inner = inner->getParentOp()) {
    if (isa<ModuleOp>(inner->getParentOp()))
      break;
    for (BlockArgument argument : inner->getBlock()->getArguments())
      if (argument.getType() == type)
        return argument;
    for (Operation *before = inner->getPrevNode(); before;
         before = before->getPrevNode())
      for (Value other : before->getResults())
        if (other.getType() == type)
          return other;
    if (inner->getParentOp()->hasTrait<OpTrait::IsIsolatedFromAbove>())
      break;
  }
  auto shaped = dyn_cast<ShapedType>(type);
  if (op->hasTrait<OpTrait::ConstantLike>() ||
      (shaped && !shaped.hasStaticShape()))
    return nullptr;
  OpBuilder builder(op);
  TypedAttr zero = builder.getZeroAttr(type);
  if (!zero)
    return nullptr;
  return arith::ConstantOp::create(builder, op->getLoc(), zero);
}

static bool removeOperations(ModuleOp module, size_t begin, size_t end) {
  SmallVector<Operation *> operations = getOperations(module);
  // Users first; what is in another one goes with it.
  llvm::SmallPtrSet<Operation *, 16> removed(operations.begin() + begin,
                                             operations.begin() + end);
  for (Operation *op :
       llvm::reverse(ArrayRef(operations).slice(begin, end - begin))) {
    bool isInside = false;
    for (Operation *outer = op->getParentOp(); outer;
         outer = outer->getParentOp())
      isInside |= removed.contains(outer);
    if (isInside)
      continue;
    for (OpResult result : op->getResults()) {
      if (result.use_empty())
        continue;
      Value substitute = findSubstitute(result);
      if (!substitute)
        return false;
      result.replaceAllUsesWith(substitute);
    }
    op->erase();
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

/// The calls of a function; nothing if it has other uses.
static std::optional<SmallVector<func::CallOp>>
getCalls(ModuleOp module, func::FuncOp function) {
  SmallVector<func::CallOp> calls;
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(function, module);
  if (!uses)
    return std::nullopt;
  for (SymbolTable::SymbolUse use : *uses) {
    auto call = dyn_cast<func::CallOp>(use.getUser());
    if (!call)
      return std::nullopt;
    calls.push_back(call);
  }
  return calls;
}

/// An argument or a result of a function.
using Position = std::pair<func::FuncOp, unsigned>;

/// Arguments that nothing reads, of functions that are only called.
static SmallVector<Position> getArguments(ModuleOp module) {
  SmallVector<Position> arguments;
  for (func::FuncOp function : getDefinitions(module))
    if (getCalls(module, function))
      for (BlockArgument argument : function.getArguments())
        if (argument.use_empty())
          arguments.emplace_back(function, argument.getArgNumber());
  return arguments;
}

static size_t countArguments(ModuleOp module) {
  return getArguments(module).size();
}

static bool removeArguments(ModuleOp module, size_t begin, size_t end) {
  SmallVector<Position> arguments = getArguments(module);
  for (auto [function, index] :
       llvm::reverse(ArrayRef(arguments).slice(begin, end - begin))) {
    for (func::CallOp call : *getCalls(module, function))
      call->eraseOperand(index);
    if (failed(function.eraseArgument(index)))
      return false;
  }
  return true;
}

/// Results of functions of one block that no call reads.
static SmallVector<Position> getResults(ModuleOp module) {
  SmallVector<Position> results;
  for (func::FuncOp function : getDefinitions(module)) {
    auto calls = getCalls(module, function);
    if (!calls || !llvm::hasSingleElement(function.getBody()))
      continue;
    for (unsigned index = 0; index < function.getNumResults(); ++index)
      if (llvm::all_of(*calls, [&](func::CallOp call) {
            return call.getResult(index).use_empty();
          }))
        results.emplace_back(function, index);
  }
  return results;
}

static size_t countResults(ModuleOp module) {
  return getResults(module).size();
}

/// The call without one of its results.
static void dropResult(func::CallOp call, unsigned index) {
  OpBuilder builder(call);
  SmallVector<Type> types(call.getResultTypes());
  types.erase(types.begin() + index);
  auto other = func::CallOp::create(builder, call.getLoc(), call.getCallee(),
                                    types, call.getOperands());
  SmallVector<Value> results(other.getResults());
  // Nothing reads this one.
  results.insert(results.begin() + index, Value());
  for (auto [old, replacement] : llvm::zip_equal(call.getResults(), results))
    if (replacement)
      old.replaceAllUsesWith(replacement);
  call.erase();
}

static bool removeResults(ModuleOp module, size_t begin, size_t end) {
  SmallVector<Position> results = getResults(module);
  for (auto [function, index] :
       llvm::reverse(ArrayRef(results).slice(begin, end - begin))) {
    for (func::CallOp call : *getCalls(module, function))
      dropResult(call, index);
    function.getBody().front().getTerminator()->eraseOperand(index);
    if (failed(function.eraseResult(index)))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static SmallVector<std::pair<Operation *, StringAttr>>
getAttributes(ModuleOp module) {
  SmallVector<std::pair<Operation *, StringAttr>> attributes;
  module.walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      attributes.emplace_back(op, attribute.getName());
    // What may stand in the place of the attributes of its arguments.
    if (auto function = dyn_cast<func::FuncOp>(op))
      for (StringAttr name :
           {function.getArgAttrsAttrName(), function.getResAttrsAttrName()})
        if (op->hasAttr(name))
          attributes.emplace_back(op, name);
  });
  return attributes;
}

static size_t countAttributes(ModuleOp module) {
  return getAttributes(module).size();
}

static bool removeAttributes(ModuleOp module, size_t begin, size_t end) {
  SmallVector<std::pair<Operation *, StringAttr>> attributes =
      getAttributes(module);
  for (auto [op, name] : ArrayRef(attributes).slice(begin, end - begin))
    op->removeAttr(name);
  return true;
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

static constexpr StringRef passes[] = {"symbol-dce", "canonicalize", "cse",
                                       "inline"};

static size_t countPasses(ModuleOp) { return std::size(passes); }

/// Removes what passes of MLIR find to be of no use.
static bool runPasses(ModuleOp module, size_t begin, size_t end) {
  PassManager manager(module.getContext());
  for (StringRef pass : ArrayRef(passes).slice(begin, end - begin))
    if (failed(parsePassPipeline(pass, manager)))
      return false;
  return succeeded(manager.run(module));
}

ArrayRef<Edit> sparse_autograd::getEdits() {
  static constexpr Edit edits[] = {
      {"symbols", countSymbols, removeSymbols},
      {"bodies of functions", countBodies, removeBodies},
      {"operations", countOperations, removeOperations},
      {"passes", countPasses, runPasses},
      {"results", countResults, removeResults},
      {"arguments", countArguments, removeArguments},
      {"attributes", countAttributes, removeAttributes},
  };
  return edits;
}
