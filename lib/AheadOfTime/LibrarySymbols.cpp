//===- LibrarySymbols.cpp - what a library shows and does by itself -------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibrarySymbols.h"
#include "SparseAutograd/Conversion/FuncToEntries/FuncToEntries.h"
#include "SparseAutograd/Conversion/LaunchToRuntime/LaunchToRuntime.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace sparse_autograd;

std::string sparse_autograd::makeIdentifier(StringRef text) {
  std::string result;
  // No digit at the start, and no name that is the implementation's.
  if (text.empty() || !llvm::isAlpha(text.front()))
    result = "lib";
  for (char c : text)
    result += llvm::isAlnum(c) ? c : '_';
  return result;
}

/// Whether C, C++ or POSIX keeps an identifier with a `_` in it for itself.
static bool isReserved(StringRef name) {
  return name.ends_with("_t") ||
         llvm::StringSwitch<bool>(name)
             .Cases({"and_eq", "not_eq", "or_eq", "xor_eq"}, true)
             .Cases({"co_await", "co_return", "co_yield"}, true)
             .Cases({"const_cast", "dynamic_cast", "reinterpret_cast",
                     "static_cast"},
                    true)
             .Cases({"static_assert", "thread_local", "typeof_unqual"}, true)
             .Default(false);
}

/// The entry `symbol` becomes the function `name` of the library.
static LogicalResult rename(ModuleOp module, StringRef symbol, StringRef name) {
  auto entry = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
  if (!entry)
    return failure();
  // An alias: compileToObject makes all functions internal that are no entries,
  // which it knows by their symbols.
  entry.setLinkage(LLVM::Linkage::Internal);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = entry.getLoc();
  auto alias = LLVM::AliasOp::create(builder, loc, entry.getFunctionType(),
                                     LLVM::Linkage::External, name);
  builder.createBlock(&alias.getInitializerRegion());
  Value address = LLVM::AddressOfOp::create(builder, loc, entry);
  LLVM::ReturnOp::create(builder, loc, address);
  return success();
}

llvm::Expected<llvm::json::Object>
sparse_autograd::nameEntries(ModuleOp module, StringRef library) {
  auto global = module.lookupSymbol<LLVM::GlobalOp>(manifestSymbol);
  auto text = global ? dyn_cast_if_present<StringAttr>(global.getValueOrNull())
                     : StringAttr();
  if (!text)
    return llvm::createStringError("the compiled code has no manifest");
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse(text.getValue().rtrim('\0'));
  if (!value)
    return value.takeError();
  llvm::json::Object *manifest = value->getAsObject();
  llvm::json::Array *entries =
      manifest ? manifest->getArray("entries") : nullptr;
  if (!entries)
    return llvm::createStringError("the manifest has no entries");

  llvm::StringSet<> names;
  for (llvm::json::Value &element : *entries) {
    llvm::json::Object *entry = element.getAsObject();
    if (!entry)
      return llvm::createStringError("an entry of the manifest is no object");
    StringRef function = entry->getString("name").value_or("");
    std::string base = makeIdentifier(
        (library + (function.empty() ? "" : "_") + function).str());
    if (isReserved(base))
      base += "_";
    std::string name = base;
    for (unsigned number = 2; !names.insert(name).second; ++number)
      name = base + "_" + std::to_string(number);
    if (failed(rename(module, entry->getString("symbol").value_or(""), name)))
      return llvm::createStringError("the compiled code has no entry for '" +
                                     function + "'");
    (*entry)["symbol"] = name;
  }

  // Objects that are linked to one program each have a manifest.
  std::string changed;
  llvm::raw_string_ostream(changed) << *value;
  changed.push_back('\0');
  OpBuilder builder(global);
  global.setValueAttr(builder.getStringAttr(changed));
  global.setGlobalType(
      LLVM::LLVMArrayType::get(builder.getI8Type(), changed.size()));
  global.setLinkage(LLVM::Linkage::Weak);
  return std::move(*manifest);
}

void sparse_autograd::unloadImagesAtEnd(ModuleOp module) {
  auto list = module.lookupSymbol<LLVM::GlobalOp>(imagesSymbol);
  if (!list)
    return;
  list.setLinkage(LLVM::Linkage::Weak);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = list.getLoc();
  auto nothing = LLVM::LLVMVoidType::get(module.getContext());
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto unload =
      LLVM::LLVMFuncOp::create(builder, loc, "sparseAutogradUnloadImage",
                               LLVM::LLVMFunctionType::get(nothing, {pointer}));
  auto destructor = LLVM::LLVMFuncOp::create(
      builder, loc, "sparse_autograd.unload_images",
      LLVM::LLVMFunctionType::get(nothing, {}), LLVM::Linkage::Internal);
  LLVM::GlobalDtorsOp::create(
      builder, loc, builder.getArrayAttr(FlatSymbolRefAttr::get(destructor)),
      builder.getI32ArrayAttr({65535}),
      builder.getArrayAttr(LLVM::ZeroAttr::get(module.getContext())));
  builder.setInsertionPointToStart(destructor.addEntryBlock(builder));
  // Not by the list: it may be that of another library with the same symbol.
  list.walk([&](LLVM::AddressOfOp image) {
    Value address =
        LLVM::AddressOfOp::create(builder, loc, pointer, image.getGlobalName());
    LLVM::CallOp::create(builder, loc, unload, address);
  });
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}
