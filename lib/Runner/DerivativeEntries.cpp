//===- DerivativeEntries.cpp - entries for the derivatives of one ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DerivativeEntries.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"

using namespace mlir;
using namespace sparse_autograd;

/// The positions of the types that can be differentiated.
static SmallVector<size_t> findFloats(ArrayRef<Type> types) {
  SmallVector<size_t> positions;
  for (auto [index, type] : llvm::enumerate(types))
    if (isDifferentiableType(type))
      positions.push_back(index);
  return positions;
}

static SmallVector<Type> select(ArrayRef<Type> types,
                                ArrayRef<size_t> positions) {
  return llvm::map_to_vector(positions, [&](size_t i) { return types[i]; });
}

/// Adds a function of the arguments of `function` and of `more`, which returns
/// `results`, and gives its body to `build`: (builder, arguments, more).
template <typename Build>
static std::string addEntry(func::FuncOp function, StringRef suffix,
                            ArrayRef<Type> more, ArrayRef<Type> results,
                            Build build) {
  Location loc = function.getLoc();
  SymbolTable symbols(function->getParentOfType<ModuleOp>());
  OpBuilder builder(function.getContext());
  SmallVector<Type> inputs(function.getArgumentTypes());
  inputs.append(more.begin(), more.end());
  auto entry = func::FuncOp::create(loc, (function.getSymName() + suffix).str(),
                                    builder.getFunctionType(inputs, results));
  entry.setPublic();
  symbols.insert(entry, std::next(Block::iterator(function)));
  Block *body = entry.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  ValueRange all(body->getArguments());
  size_t count = function.getNumArguments();
  ValueRange values =
      build(builder, all.take_front(count), all.drop_front(count));
  // What the function returns itself comes first.
  func::ReturnOp::create(builder, loc,
                         values.drop_front(function.getNumResults()));
  return entry.getSymName().str();
}

llvm::Expected<DerivativeEntries>
sparse_autograd::addDerivativeEntries(func::FuncOp function) {
  ArrayRef<Type> inputs = function.getArgumentTypes();
  ArrayRef<Type> outputs = function.getResultTypes();
  DerivativeEntries entries;
  entries.arguments = findFloats(inputs);
  entries.results = findFloats(outputs);
  auto refuse = [&](StringRef what) {
    return llvm::createStringError("'" + function.getSymName() +
                                   "' has no floating " + what +
                                   ": there is no gradient to check");
  };
  if (entries.arguments.empty())
    return refuse("argument");
  if (entries.results.empty())
    return refuse("result");

  // A program without an op of ours has not loaded it.
  function.getContext()->loadDialect<SparseAutogradDialect>();
  Location loc = function.getLoc();
  SmallVector<Type> tangents = select(inputs, entries.arguments);
  SmallVector<Type> cotangents = select(outputs, entries.results);
  SmallVector<int64_t> wrt(entries.arguments.begin(), entries.arguments.end());
  auto withOutputs = [&](ArrayRef<Type> types) {
    SmallVector<Type> all(outputs);
    all.append(types.begin(), types.end());
    return all;
  };
  entries.jvp = addEntry(
      function, "__check_jvp", tangents, cotangents,
      [&](OpBuilder &builder, ValueRange arguments, ValueRange more) {
        return JvpOp::create(builder, loc, withOutputs(cotangents),
                             function.getSymName(), arguments, more, wrt)
            .getResults();
      });
  entries.vjp = addEntry(
      function, "__check_vjp", cotangents, tangents,
      [&](OpBuilder &builder, ValueRange arguments, ValueRange more) {
        return VjpOp::create(builder, loc, withOutputs(tangents),
                             function.getSymName(), arguments, more, wrt)
            .getResults();
      });
  return entries;
}
