//===- Header.cpp - the functions of a library, declared in C -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Header.h"
#include "LibrarySymbols.h"
#include "SparseAutograd/Runner/Values.h"
#include "SparseAutograd/Runtime/Call.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace sparse_autograd;
using llvm::StringRef;

/// A name of the program in a comment: in quotes, on one line, so that no name
/// ends the comment or continues it.
static std::string quote(StringRef name) {
  std::string text = "'";
  llvm::raw_string_ostream stream(text);
  llvm::printEscapedString(name, stream);
  stream << "'";
  return text;
}

/// How C has an element, and what that means where C has no such type.
static std::string describeElement(io::ElementType type) {
  switch (type) {
  case io::ElementType::Bool:
    return "uint8_t (0 or 1)";
  case io::ElementType::F16:
    return "uint16_t (the bits of an f16)";
  case io::ElementType::BF16:
    return "uint16_t (the bits of a bf16)";
  case io::ElementType::F32:
    return "float";
  case io::ElementType::F64:
    return "double";
  default:
    return "int" + std::to_string(8 * io::getByteWidth(type)) + "_t";
  }
}

/// How C has a position or a coordinate.
static std::string describeIndex(io::ElementType type) {
  return "uint" + std::to_string(8 * io::getByteWidth(type)) + "_t";
}

/// Writes what `place`, as in "arguments[0]", points to.
static void writeValue(llvm::raw_ostream &stream, const llvm::Twine &place,
                       const ValueType &type) {
  std::string element = describeElement(type.elementType);
  stream << "///   " << place << "  " << quote(type.name) << ": " << type.str();
  if (!type.maskOf.empty())
    stream << ", the mask of " << quote(type.maskOf);
  stream << "\n///       ";
  if (!type.shape) {
    stream << element << "\n";
    return;
  }
  size_t rank = type.shape->size();
  if (!type.encoding) {
    stream << "SparseAutogradMemRef" << rank << " of " << element;
    if (rank > 8)
      stream << ", made by SPARSE_AUTOGRAD_DEFINE_MEMREF(" << rank << ")";
    stream << "\n";
    return;
  }
  const SparseEncoding &encoding = *type.encoding;
  size_t components = encoding.getComponentTypes(type.elementType).size();
  stream << "struct { SparseAutogradMemRef1 lists[" << components
         << "]; int64_t extents[" << rank << "]; }\n";
  size_t list = 0;
  auto writeList = [&](const llvm::Twine &what, StringRef elements) {
    stream << "///       lists[" << list++ << "]  " << what << ", " << elements
           << "\n";
  };
  for (auto [number, level] : llvm::enumerate(encoding.levels)) {
    std::string suffix = " of level " + std::to_string(number);
    if (level.kind.format->hasPositions())
      writeList("positions" + suffix, describeIndex(encoding.positionType));
    const LevelFormatInfo &format = *level.kind.format;
    if (format.isPacked())
      writeList("coordinates" + suffix + ", " +
                    std::to_string(format.coordinates) + " bits each",
                describeIndex(io::ElementType::I8));
    else if (format.hasCoordinates())
      writeList("coordinates" + suffix, describeIndex(encoding.coordinateType));
  }
  writeList("values", element);
}

/// Writes what a result shares, if it shares something.
static void writeSharing(llvm::raw_ostream &stream,
                         const llvm::json::Object &result) {
  for (auto [key, text] : {std::pair("same_as", "is the same as"),
                           std::pair("pattern_of", "has the pattern of")}) {
    const llvm::json::Object *shared = result.getObject(key);
    if (!shared)
      continue;
    for (StringRef kind : {"argument", "result"})
      if (auto name = shared->getString(kind))
        stream << "///       " << text << " the " << kind << " " << quote(*name)
               << "\n";
  }
}

/// Defines the encoding of a sparse argument, for a pattern of it.
static void writeEncoding(llvm::raw_ostream &stream, StringRef name,
                          const SparseEncoding &encoding) {
  stream << "static const SparseAutogradLevel " << name << "_levels[] = {\n";
  for (const SparseLevel &level : encoding.levels)
    stream << "    {" << level.kind.getCode() << ", " << level.dimension << ", "
           << level.block << ", " << int(level.isRemainder) << "}, // "
           << level.kind.format->name << "\n";
  stream << "};\nstatic const SparseAutogradEncoding " << name << " = {"
         << encoding.levels.size() << ", " << name << "_levels, "
         << io::getByteWidth(encoding.positionType) << ", "
         << io::getByteWidth(encoding.coordinateType) << "};\n";
}

/// `names` are those that the header has; more are added.
static llvm::Error writeEntry(llvm::raw_ostream &stream,
                              const llvm::json::Object &entry,
                              llvm::StringSet<> &names) {
  auto arguments = ValueType::parseAll(entry, "arguments");
  if (!arguments)
    return arguments.takeError();
  auto results = ValueType::parseAll(entry, "results");
  if (!results)
    return results.takeError();
  stream << "\n/// The function " << quote(*entry.getString("name")) << ".\n";
  if (entry.getBoolean("unchecked").value_or(false))
    stream
        << "/// Unsafe: it takes the storage of sparse arguments for valid.\n";
  for (auto [index, type] : llvm::enumerate(*arguments))
    writeValue(stream, "arguments[" + llvm::Twine(index) + "]", type);
  for (auto [index, type] : llvm::enumerate(*results)) {
    writeValue(stream, "results[" + llvm::Twine(index) + "]", type);
    writeSharing(stream, *(*entry.getArray("results"))[index].getAsObject());
  }
  stream << "int32_t " << *entry.getString("symbol")
         << "(void *const *arguments, void *const *results);\n";
  for (auto [index, type] : llvm::enumerate(*arguments)) {
    if (!type.encoding)
      continue;
    stream << "/// The encoding of arguments[" << index
           << "], for sparseAutogradPatternCreate.\n";
    std::string name =
        (*entry.getString("symbol") + "_argument" + llvm::Twine(index)).str();
    // A function may be called like that.
    while (!names.insert(name).second || !names.insert(name + "_levels").second)
      name += "_";
    writeEncoding(stream, name, *type.encoding);
  }
  return llvm::Error::success();
}

llvm::Expected<std::string>
sparse_autograd::makeHeader(const llvm::json::Object &manifest,
                            const HeaderOptions &options) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  std::string guard = "SPARSE_AUTOGRAD_COMPILED_" +
                      StringRef(makeIdentifier(options.library)).upper() + "_H";
  stream << "// Made by sparse-compile from " << quote(options.source)
         << R"(: do not change it.
//
// Each function is a SparseAutogradEntry (Runtime.h). arguments[i] points to
// the i-th argument and results[i] to the place of the i-th result, which are
// listed with their types in MLIR (? is any extent) and in C.
//
// Arguments are borrowed for the call and never written; what is not row-major
// without gaps is copied. The function fills the results; their buffers are
// then the caller's, each released with sparseAutogradFree(allocated): that of
// a SparseAutogradMemRef, and each of those in `lists`. How a sparse tensor is
// stored is in Runtime.h, "Sparse tensors". How to call without copies of what
// results share with arguments, into memory of the caller's, and with sparse
// arguments that are validated once, is in Call.h.
//
// A function returns SPARSE_AUTOGRAD_SUCCESS, or another status with the reason
// in sparseAutogradLastError(): then no result was written, and nothing stays
// allocated.
)";
  if (options.target == TargetKind::GPU)
    stream << R"(//
// The functions compute on a GPU; SparseAutograd/Runtime/Device.h chooses it.
// What they take and return is in the memory of the host.
)";
  stream << "\n#ifndef " << guard << "\n#define " << guard << R"(

#include "SparseAutograd/Runtime/Call.h"

SPARSE_AUTOGRAD_STATIC_ASSERT(SPARSE_AUTOGRAD_RUNTIME_VERSION == )"
         << SPARSE_AUTOGRAD_RUNTIME_VERSION << R"(,
                              "this is for another version of the runtime");

#ifdef __cplusplus
extern "C" {
#endif
)";
  llvm::StringSet<> names;
  for (const llvm::json::Value &entry : *manifest.getArray("entries"))
    names.insert(*entry.getAsObject()->getString("symbol"));
  for (const llvm::json::Value &entry : *manifest.getArray("entries"))
    if (llvm::Error error = writeEntry(stream, *entry.getAsObject(), names))
      return std::move(error);
  stream << R"(
#ifdef __cplusplus
}
#endif

#endif // )"
         << guard << "\n";
  return text;
}
