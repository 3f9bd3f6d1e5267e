//===- BoundMemory.cpp - state what entries allocate ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/FuncToEntries/FuncToEntries.h"

#include "ManifestTypes.h"
#include "SparseAutograd/Analysis/MemoryBound.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Runtime/LevelFormats.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_BOUNDMEMORY
#include "SparseAutograd/Conversion/FuncToEntries/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

/// Appends the lists that hold the sparse argument `number`.
static void addLists(const llvm::json::Array &levels, unsigned number,
                     SmallVectorImpl<EntryArgument> &arguments) {
  SmallVector<const LevelFormatInfo *> formats;
  for (const llvm::json::Value &level : levels) {
    const llvm::json::Object *object = level.getAsObject();
    StringRef name = object ? object->getString("format").value_or("") : "";
    formats.push_back(&getLevelFormat(std::string_view(name)));
  }
  unsigned list = 0;
  for (auto [level, format] : llvm::enumerate(formats)) {
    bool hasValues = llvm::none_of(
        ArrayRef(formats).drop_front(level + 1),
        [](const LevelFormatInfo *next) { return next->hasPositions(); });
    if (format->hasPositions())
      arguments.push_back(
          {EntryArgument::Positions, number, list++, hasValues});
    if (format->hasCoordinates())
      arguments.push_back(
          {EntryArgument::Coordinates, number, list++, hasValues});
  }
  arguments.push_back({EntryArgument::Values, number});
}

/// What the arguments of the function of `entry` are, and whether one of them
/// is sparse.
static std::pair<SmallVector<EntryArgument>, bool>
describeArguments(const llvm::json::Object &entry) {
  SmallVector<EntryArgument> arguments;
  bool isSparse = false;
  const llvm::json::Array *given = entry.getArray("arguments");
  for (auto [number, value] :
       llvm::enumerate(given ? *given : llvm::json::Array())) {
    const llvm::json::Object *argument = value.getAsObject();
    const llvm::json::Array *shape =
        argument ? argument->getArray("shape") : nullptr;
    const llvm::json::Object *encoding =
        argument ? argument->getObject("encoding") : nullptr;
    const llvm::json::Array *levels =
        encoding ? encoding->getArray("levels") : nullptr;
    unsigned place = number;
    if (!shape || !levels) {
      arguments.push_back(
          {shape ? EntryArgument::Dense : EntryArgument::Scalar, place});
      continue;
    }
    isSparse = true;
    addLists(*levels, place, arguments);
    for (auto [dim, extent] : llvm::enumerate(*shape))
      if (!extent.getAsInteger())
        arguments.push_back(
            {EntryArgument::Extent, place, static_cast<unsigned>(dim)});
  }
  return {arguments, isSparse};
}

namespace {
/// Finds the lists of results that the entry copies for the caller, unless that
/// shares them: those of an argument or of an earlier result, which the
/// function does not return.
class SharedLists {
public:
  SharedLists(const llvm::json::Object &entry, func::FuncOp function)
      : arguments(entry.getArray("arguments")),
        results(entry.getArray("results")), function(function) {
    unsigned next = 0;
    for (auto *values : {arguments, results}) {
      SmallVector<unsigned> &firsts =
          values == arguments ? firstArguments : firstResults;
      next = 0;
      for (const llvm::json::Value &value :
           values ? *values : llvm::json::Array()) {
        firsts.push_back(next);
        next += countParts(*value.getAsObject());
      }
    }
    returned = function.getBody().back().getTerminator()->getOperands();
    isKnown = next == returned.size();
  }

  /// All of them; nothing if the manifest says something else than the
  /// function.
  std::optional<SmallVector<Value>> find() const {
    SmallVector<Value> found;
    if (!isKnown)
      return std::nullopt;
    for (unsigned result = 0; result < firstResults.size(); ++result)
      for (unsigned list = 0; list < countShared(get(result)); ++list)
        found.push_back(getList(result, list));
    return found;
  }

private:
  const llvm::json::Object &get(unsigned result) const {
    return *(*results)[result].getAsObject();
  }
  static unsigned countOfLists(const llvm::json::Object &value) {
    if (const llvm::json::Object *encoding = value.getObject("encoding"))
      return countLists(*encoding);
    return value.getArray("shape") ? 1 : 0;
  }
  static unsigned countShared(const llvm::json::Object &value) {
    unsigned lists = countOfLists(value);
    return value.getObject("same_as")      ? lists
           : value.getObject("pattern_of") ? lists - 1
                                           : 0;
  }
  /// Values of the function that `value` is.
  static unsigned countParts(const llvm::json::Object &value) {
    unsigned lists = countOfLists(value);
    if (lists == 0)
      return 1;
    unsigned extents = 0;
    if (value.getObject("encoding"))
      for (const llvm::json::Value &extent : *value.getArray("shape"))
        extents += !extent.getAsInteger();
    return lists - countShared(value) + extents;
  }
  static unsigned find(const llvm::json::Array &values, StringRef name) {
    return llvm::find_if(values,
                         [&](const llvm::json::Value &value) {
                           return value.getAsObject()->getString("name") ==
                                  name;
                         }) -
           values.begin();
  }
  Value getList(unsigned result, unsigned list) const {
    const llvm::json::Object &value = get(result);
    unsigned shared = countShared(value);
    if (list >= shared)
      return returned[firstResults[result] + list - shared];
    const llvm::json::Object *of = value.getObject("same_as");
    if (!of)
      of = value.getObject("pattern_of");
    if (auto name = of->getString("argument"))
      return function
          .getArguments()[firstArguments[find(*arguments, *name)] + list];
    return getList(find(*results, of->getString("result").value_or("")), list);
  }

  const llvm::json::Array *arguments, *results;
  mutable func::FuncOp function;
  SmallVector<unsigned> firstArguments, firstResults;
  ValueRange returned;
  bool isKnown;
};

struct BoundMemoryPass
    : sparse_autograd::impl::BoundMemoryBase<BoundMemoryPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto text = module->getAttrOfType<StringAttr>(
        SparseAutogradDialect::getManifestAttrName());
    if (!text)
      return;
    llvm::Expected<llvm::json::Value> manifest = llvm::json::parse(text);
    if (!manifest) {
      // EmitEntries says so.
      llvm::consumeError(manifest.takeError());
      return;
    }
    const llvm::json::Object *object = manifest->getAsObject();
    const llvm::json::Array *entries =
        object ? object->getArray("entries") : nullptr;
    for (const llvm::json::Value &value :
         entries ? *entries : llvm::json::Array()) {
      const llvm::json::Object *entry = value.getAsObject();
      if (!entry)
        continue;
      auto function = module.lookupSymbol<func::FuncOp>(
          entry->getString("name").value_or(""));
      auto [arguments, isSparse] = describeArguments(*entry);
      if (!isSparse || !function || function.isExternal() ||
          function.getNumArguments() != arguments.size())
        continue;
      std::optional<SmallVector<Value>> copied =
          SharedLists(*entry, function).find();
      if (!copied)
        continue;
      if (std::optional<std::string> bytes =
              MemoryBound(function, arguments).compute(*copied))
        function->setAttr(SparseAutogradDialect::getMemoryBoundAttrName(),
                          StringAttr::get(&getContext(), *bytes));
    }
  }
};
} // namespace
