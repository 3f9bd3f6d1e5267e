//===- Library.cpp - code that was compiled ahead of time -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Library.h"
#include "SparseAutograd/Conversion/FuncToEntries/FuncToEntries.h"
#include <dlfcn.h>

using namespace sparse_autograd;
using namespace sparse_autograd::capi;

llvm::Expected<std::unique_ptr<Library>> Library::open(llvm::StringRef path) {
  // Without a slash the loader would look in its own folders.
  std::string file = (path.contains('/') ? "" : "./") + path.str();
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return llvm::createStringError(llvm::Twine(dlerror()));
  std::unique_ptr<Library> library(new Library(handle));
  if (llvm::Error error = library->read(path))
    return std::move(error);
  return library;
}

Library::~Library() { dlclose(handle); }

llvm::Error Library::read(llvm::StringRef path) {
  const void *text = dlsym(handle, manifestSymbol.data());
  if (!text)
    return llvm::createStringError("'" + path +
                                   "' has no manifest: it was not made by "
                                   "sparse-compile");
  auto parsed = llvm::json::parse(static_cast<const char *>(text));
  if (!parsed)
    return parsed.takeError();
  const llvm::json::Object *object = parsed->getAsObject();
  const llvm::json::Array *list =
      object ? object->getArray("entries") : nullptr;
  if (!list || object->getInteger("version") != manifestVersion)
    return llvm::createStringError("the manifest of '" + path +
                                   "' is of another version; compile it again");
  if (object->getInteger("runtime_version") !=
      int64_t(sparseAutogradRuntimeVersion()))
    return llvm::createStringError("'" + path +
                                   "' was compiled for another version of the "
                                   "runtime; compile it again");
  for (const llvm::json::Value &value : *list) {
    const llvm::json::Object *entry = value.getAsObject();
    auto name = entry ? entry->getString("name") : std::nullopt;
    auto symbol = entry ? entry->getString("symbol") : std::nullopt;
    if (!name || !symbol || !entry->getArray("arguments") ||
        !entry->getArray("results"))
      return llvm::createStringError("the manifest of '" + path +
                                     "' has an entry that is not complete");
    void *address = dlsym(handle, symbol->str().c_str());
    if (!address)
      return llvm::createStringError("'" + path + "' has no symbol '" +
                                     *symbol + "', which its manifest names");
    entries[*name] = reinterpret_cast<SparseAutogradEntry>(address);
  }
  manifest = *object;
  return llvm::Error::success();
}

llvm::Expected<SparseAutogradEntry>
Library::lookup(llvm::StringRef name) const {
  if (auto found = entries.find(name); found != entries.end())
    return found->second;
  std::string known;
  for (const llvm::json::Value &value : *manifest.getArray("entries"))
    known += (known.empty() ? "" : ", ") +
             value.getAsObject()->getString("name")->str();
  return llvm::createStringError("there is no entry '" + name +
                                 "'; there are: " + known);
}
