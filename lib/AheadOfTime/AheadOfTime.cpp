//===- AheadOfTime.cpp - a file to a library for C ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/AheadOfTime/AheadOfTime.h"
#include "Header.h"
#include "LibrarySymbols.h"
#include "Linker.h"
#include "SparseAutograd/IO/OutputFile.h"
#include "SparseAutograd/Registration.h"
#include "SparseAutograd/Runner/Runner.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace sparse_autograd;
using llvm::StringRef;

namespace {
/// The code of a library, and its header.
struct Library {
  std::unique_ptr<llvm::MemoryBuffer> code;
  std::string header;
};
} // namespace

/// Compiles the parsed `module`.
static llvm::Expected<Library> compileModule(mlir::ModuleOp module,
                                             const LibraryOptions &options,
                                             StringRef linker) {
  auto configure = [&](mlir::PassManager &passes) {
    if (!options.crashReproducer.empty())
      passes.enableCrashReproducerGeneration(options.crashReproducer);
  };
  if (llvm::Error error = runPipeline(module, options.pipeline,
                                      /*extension=*/{}, configure))
    return std::move(error);
  StringRef name = llvm::sys::path::filename(options.name);
  llvm::Expected<llvm::json::Object> manifest = nameEntries(module, name);
  if (!manifest)
    return manifest.takeError();
  if (manifest->getArray("entries")->empty())
    return llvm::createStringError("has no public function to compile");
  unloadImagesAtEnd(module);

  Library library;
  llvm::Expected<std::string> header =
      makeHeader(*manifest, {llvm::sys::path::filename(options.file), name,
                             options.pipeline.target});
  if (!header)
    return header.takeError();
  library.header = std::move(*header);
  CompileOptions compile = options.compile;
  compile.cpu = getCPUArgument(options.pipeline.cpu);
  compile.features = options.pipeline.features;
  auto code = compileToObject(module, compile);
  if (code && options.kind == OutputKind::SharedObject)
    code = linkSharedObject(linker, (*code)->getBuffer(), (name + ".so").str());
  if (!code)
    return code.takeError();
  library.code = std::move(*code);
  return library;
}

llvm::Error sparse_autograd::compileLibrary(const LibraryOptions &options) {
  if (options.name.empty() || options.name.back() == '/')
    return llvm::createStringError("'" + options.name +
                                   "' names a folder: give the path of what to "
                                   "write, without an extension");
  // What cannot be linked or written should not cost a compilation.
  std::string linker;
  bool isShared = options.kind == OutputKind::SharedObject;
  if (isShared) {
    llvm::Expected<std::string> found = findLinker(options.linker);
    if (!found)
      return found.takeError();
    linker = std::move(*found);
  }
  std::string codePath = options.name + (isShared ? ".so" : ".o");
  std::string headerPath = options.name + ".h";
  for (const std::string &path : {codePath, headerPath})
    if (auto file = io::OutputFile::create(path); !file)
      return file.takeError();

  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler printer(sources, &context);
  bool isDiagnosed = false;
  mlir::ScopedDiagnosticHandler observer(
      &context, [&](mlir::Diagnostic &diagnostic) {
        isDiagnosed |=
            diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
        return mlir::failure(); // The handler before this one prints it.
      });
  auto fail = [&](llvm::Error error) -> llvm::Error {
    std::string message = toString(std::move(error));
    if (isDiagnosed)
      return llvm::make_error<DiagnosedError>();
    return llvm::createStringError(options.file + ": " + message);
  };
  auto module =
      mlir::parseSourceFile<mlir::ModuleOp>(options.file, sources, &context);
  if (!module)
    return fail(llvm::createStringError("could not be parsed"));
  llvm::Expected<Library> library = compileModule(*module, options, linker);
  if (!library)
    return fail(library.takeError());

  std::unique_ptr<io::OutputFile> files[2];
  std::pair<StringRef, StringRef> contents[] = {
      {codePath, library->code->getBuffer()}, {headerPath, library->header}};
  for (auto [file, content] : llvm::zip_equal(files, contents)) {
    auto created = io::OutputFile::create(content.first);
    if (!created)
      return created.takeError();
    file = std::move(*created);
    file->getStream() << content.second;
  }
  return io::OutputFile::commitAll(files);
}
