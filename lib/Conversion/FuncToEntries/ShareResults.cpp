//===- ShareResults.cpp - results that callers have already ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which results, or lists of sparse results, are values that the caller has: an
// argument, or an earlier result. Asked when sparse tensors are lists, so that
// SSA values say it: lower-sparse uses the lists of a pattern where
// SparsePatterns finds that a value has it, and what is the same value is the
// same memory for the entry, whatever an analysis may think.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/FuncToEntries/FuncToEntries.h"

#include "ManifestTypes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/JSON.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_SHARERESULTS
#include "SparseAutograd/Conversion/FuncToEntries/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// The value that casts of a tensor have as their source.
static Value skipCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value;
}

namespace {

/// An argument or a result of an entry, as values of its function.
struct EntryValue {
  StringRef name;
  const llvm::json::Object *encoding = nullptr;
  /// The lists of a tensor, and where a sparse one has extents of its own,
  /// these; a scalar has one value and no list.
  SmallVector<Value> lists, extents;
  unsigned first = 0; ///< of these, in the function
};

/// What a result shares, as the manifest has it.
struct Sharing {
  StringRef key;
  bool isArgument;
  StringRef name;
};

} // namespace

/// The arguments or results of an entry; nothing if the manifest describes
/// others than `values`.
static FailureOr<SmallVector<EntryValue>>
readValues(const llvm::json::Object &entry, StringRef key, ValueRange values) {
  SmallVector<EntryValue> all;
  unsigned next = 0;
  const llvm::json::Array *descriptions = entry.getArray(key);
  if (!descriptions)
    return failure();
  for (const llvm::json::Value &element : *descriptions) {
    const llvm::json::Object *description = element.getAsObject();
    auto bytes = description ? getListBytes(*description) : std::nullopt;
    if (!bytes)
      return failure();
    EntryValue value;
    value.name = description->getString("name").value_or("");
    value.encoding = description->getObject("encoding");
    value.first = next;
    unsigned extents = 0;
    if (value.encoding)
      for (const llvm::json::Value &extent : *description->getArray("shape"))
        extents += !extent.getAsInteger();
    unsigned count = bytes->empty() ? 1 : bytes->size() + extents;
    if (next + count > values.size())
      return failure();
    ValueRange parts = values.slice(next, count);
    for (Value part : parts.take_front(bytes->size()))
      value.lists.push_back(skipCasts(part));
    llvm::append_range(value.extents, parts.drop_front(bytes->size()));
    next += count;
    all.push_back(std::move(value));
  }
  if (next != values.size())
    return failure();
  return all;
}

/// How `value` shares with `other`: "same_as", "pattern_of" or nothing.
static StringRef compare(const EntryValue &value, const EntryValue &other) {
  if (value.lists.empty() || value.lists.size() != other.lists.size() ||
      !value.encoding != !other.encoding)
    return "";
  if (value.encoding &&
      (*value.encoding != *other.encoding || value.extents != other.extents))
    return "";
  if (value.lists == other.lists)
    return "same_as";
  // A sparse tensor with other values.
  bool hasPattern =
      value.lists.size() > 1 && llvm::equal(ArrayRef(value.lists).drop_back(),
                                            ArrayRef(other.lists).drop_back());
  return hasPattern ? "pattern_of" : "";
}

/// What a result shares, preferably all of it, and with an argument.
static std::optional<Sharing> findSharing(const EntryValue &value,
                                          ArrayRef<EntryValue> arguments,
                                          ArrayRef<EntryValue> earlier) {
  for (StringRef key : {"same_as", "pattern_of"})
    for (bool isArgument : {true, false})
      for (const EntryValue &other : isArgument ? arguments : earlier)
        if (compare(value, other) == key)
          return Sharing{key, isArgument, other.name};
  return std::nullopt;
}

namespace {
struct ShareResultsPass
    : sparse_autograd::impl::ShareResultsBase<ShareResultsPass> {
  using ShareResultsBase::ShareResultsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto text = module->getAttrOfType<StringAttr>(manifestAttributeName);
    if (!text)
      return;
    llvm::Expected<llvm::json::Value> manifest = llvm::json::parse(text);
    llvm::json::Object *object = manifest ? manifest->getAsObject() : nullptr;
    llvm::json::Array *entries = object ? object->getArray("entries") : nullptr;
    if (!entries) {
      if (!manifest)
        llvm::consumeError(manifest.takeError());
      module.emitError("'") << manifestAttributeName << "' has no entries";
      return signalPassFailure();
    }
    SymbolTableCollection tables;
    SymbolUserMap users(tables, module);
    for (llvm::json::Value &value : *entries)
      if (llvm::json::Object *entry = value.getAsObject()) {
        share(module, *entry, users);
        if (uncheckedStorage)
          (*entry)["unchecked"] = true;
      }
    std::string changed;
    llvm::raw_string_ostream(changed) << *manifest;
    module->setAttr(manifestAttributeName,
                    StringAttr::get(&getContext(), changed));
  }

  void share(ModuleOp module, llvm::json::Object &entry, SymbolUserMap &users);
};
} // namespace

void ShareResultsPass::share(ModuleOp module, llvm::json::Object &entry,
                             SymbolUserMap &users) {
  auto function =
      module.lookupSymbol<func::FuncOp>(entry.getString("name").value_or(""));
  // What other functions call keeps its results: they are values there.
  auto isCalled = [&]() {
    return llvm::any_of(users.getUsers(function), [](Operation *user) {
      return !isa<FunctionOpInterface>(user);
    });
  };
  if (!function || function.isExternal() || !function.getBody().hasOneBlock() ||
      isCalled())
    return;
  Block &body = function.getBody().front();
  auto terminator = dyn_cast<func::ReturnOp>(body.getTerminator());
  if (!terminator)
    return;
  auto arguments = readValues(entry, "arguments", body.getArguments());
  auto results = readValues(entry, "results", terminator.getOperands());
  if (failed(arguments) || failed(results))
    return;
  llvm::json::Array &descriptions = *entry.getArray("results");
  BitVector dropped(function.getNumResults());
  for (auto [index, result] : llvm::enumerate(*results)) {
    std::optional<Sharing> sharing =
        findSharing(result, *arguments, ArrayRef(*results).take_front(index));
    if (!sharing)
      continue;
    (*descriptions[index].getAsObject())[sharing->key] = llvm::json::Object{
        {sharing->isArgument ? "argument" : "result", sharing->name.str()}};
    unsigned lists = result.lists.size() - (sharing->key == "pattern_of");
    dropped.set(result.first, result.first + lists);
  }
  if (dropped.none())
    return;
  terminator->eraseOperands(dropped);
  (void)function.eraseResults(dropped);
}
