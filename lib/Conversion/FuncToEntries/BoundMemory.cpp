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
#include "SparseAutograd/Conversion/Passes.h.inc"
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
      if (std::optional<std::string> bytes =
              MemoryBound(function, arguments).compute())
        function->setAttr(SparseAutogradDialect::getMemoryBoundAttrName(),
                          StringAttr::get(&getContext(), *bytes));
    }
  }
};
} // namespace
