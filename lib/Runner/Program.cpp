//===- Program.cpp - a file and the code made of it -----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "SparseAutograd/Conversion/FloatsToF64/FloatsToF64.h"
#include "SparseAutograd/Conversion/FuncToEntries/FuncToEntries.h"
#include "SparseAutograd/Conversion/Passes.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/JustInTime/JustInTime.h"
#include "SparseAutograd/Registration.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace sparse_autograd;

char DiagnosedError::ID = 0;

void DiagnosedError::log(llvm::raw_ostream &stream) const {
  stream << "the file does not compile";
}

std::error_code DiagnosedError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

static mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  return registry;
}

Program::Program(const RunOptions &options)
    : options(options), context(makeRegistry()), printer(sources, &context),
      observer(&context, [this](mlir::Diagnostic &diagnostic) {
        isDiagnosed |=
            diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
        return mlir::failure(); // The handler before this one prints it.
      }) {}

llvm::Error Program::makeError(const llvm::Twine &message) {
  if (isDiagnosed)
    return llvm::make_error<DiagnosedError>();
  return llvm::createStringError(options.file + ": " + message);
}

llvm::Expected<std::unique_ptr<Program>>
Program::parse(const RunOptions &options) {
  std::unique_ptr<Program> program(new Program(options));
  program->module = mlir::parseSourceFile<mlir::ModuleOp>(
      options.file, program->sources, &program->context);
  if (!program->module)
    return program->makeError("could not be parsed");
  return program;
}

/// Whether the program leaves it to a split_vjp to define the function `name`.
static bool isDefinedBySplit(mlir::ModuleOp module, llvm::StringRef name) {
  auto splits = module.getOps<SplitVjpOp>();
  return llvm::any_of(splits, [&](SplitVjpOp split) {
    return split.getForward() == name || split.getBackward() == name;
  });
}

llvm::Expected<std::string> Program::selectEntry(bool allowPrivate) {
  if (allowPrivate) {
    auto function = module->lookupSymbol<mlir::func::FuncOp>(options.entry);
    if (function && !function.isExternal())
      function.setPublic();
  }
  llvm::SmallVector<mlir::func::FuncOp> functions;
  for (auto function : module->getOps<mlir::func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      functions.push_back(function);
  bool found = isDefinedBySplit(*module, options.entry);
  if (functions.empty() && !found)
    return llvm::createStringError(options.file +
                                   ": has no public function to run");
  if (options.entry.empty() && functions.size() == 1)
    return functions.front().getSymName().str();
  std::string names;
  for (mlir::func::FuncOp function : functions) {
    llvm::StringRef name = function.getSymName();
    names += (names.empty() ? "" : ", ") + name.str();
    if (name == options.entry)
      found = true;
    else
      function.setPrivate();
  }
  if (found)
    return options.entry;
  if (options.entry.empty())
    return llvm::createStringError(
        options.file +
        ": has several public functions; choose one with --entry: " + names);
  return llvm::createStringError(options.file + ": has no public function '" +
                                 options.entry + "'; it has: " + names);
}

llvm::Expected<std::optional<Signature>>
Program::describe(llvm::StringRef entry) {
  auto function = module->lookupSymbol<mlir::func::FuncOp>(entry);
  if (!function || function.isExternal())
    return std::nullopt;
  mlir::PassManager passes(&context);
  passes.addPass(createRecordManifest());
  if (failed(passes.run(*module)))
    return makeError("has an entry that cannot be called");
  auto text = mlir::cast<mlir::StringAttr>(
      (*module)->removeAttr(manifestAttributeName));
  llvm::Expected<llvm::json::Value> manifest = llvm::json::parse(text);
  if (!manifest)
    return manifest.takeError();
  llvm::Expected<Signature> signature =
      Signature::find(*manifest->getAsObject(), entry);
  if (!signature)
    return signature.takeError();
  return std::optional(std::move(*signature));
}

llvm::Error Program::selectTarget(PipelineOptions &pipelineOptions) {
  pipelineOptions.copyOptionValuesFrom(options.pipeline);
  if (options.threads == 1)
    pipelineOptions.threads = 1;
  return selectThisMachine(pipelineOptions, options.device);
}

llvm::Expected<std::unique_ptr<ExecutionEngine>> Program::compile() {
  PipelineOptions pipelineOptions;
  if (llvm::Error error = selectTarget(pipelineOptions))
    return std::move(error);
  if (!options.remarks.empty()) {
    mlir::remark::RemarkCategories categories;
    // Upstream matches the whole name, and wants each kind asked for.
    categories.passed = categories.missed = categories.analysis =
        categories.failed = ".*(" + options.remarks + ").*";
    if (failed(mlir::remark::enableOptimizationRemarks(
            context, nullptr,
            std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(),
            categories, /*printAsEmitRemarks=*/true)))
      return makeError("the remarks cannot be printed");
  }
  auto configure = [&](mlir::PassManager &passes) {
    if (!options.crashReproducer.empty())
      passes.enableCrashReproducerGeneration(options.crashReproducer);
  };
  EngineOptions engineOptions;
  engineOptions.optimizationLevel = options.optimizationLevel;
  engineOptions.countsKernels = !options.count.empty();
  auto log = [&](const llvm::Twine &message) {
    llvm::WithColor::warning(llvm::errs()) << message << "\n";
  };
  std::optional<CodeCache> cache = CodeCache::open(options.cache, log);
  // Remarks are said, and a program that fails is written, by the passes.
  if (cache && options.remarks.empty() && options.crashReproducer.empty())
    engineOptions.cache = &*cache;
  auto lower = [&]() -> llvm::Error {
    if (llvm::Error error = runPipeline(*module, pipelineOptions,
                                        /*extension=*/{}, configure))
      return makeError(toString(std::move(error)));
    return llvm::Error::success();
  };
  llvm::Expected<LoadedCode> code =
      loadCode(*module, pipelineOptions, engineOptions, lower, log);
  if (!code)
    return code.takeError();
  return std::move(code->engine);
}

llvm::Expected<std::unique_ptr<ExecutionEngine>>
Program::compileInF64(double &roundoff) {
  PipelineOptions pipelineOptions;
  if (llvm::Error error = selectTarget(pipelineOptions))
    return std::move(error);
  std::string reason;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        if (reason.empty() &&
            diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          reason = diagnostic.str();
        return mlir::success();
      });
  mlir::OwningOpRef<mlir::ModuleOp> form = module->clone();
  auto run = [&](std::unique_ptr<mlir::Pass> pass) {
    mlir::PassManager passes(&context);
    passes.addPass(std::move(pass));
    return passes.run(*form);
  };
  // What nothing calls need not have one.
  bool isDone = succeeded(run(mlir::createSymbolDCEPass()));
  roundoff = getLargestRoundoff(*form);
  if (isDone && roundoff == std::ldexp(1, -53))
    return nullptr;
  auto lower = [&]() -> llvm::Error {
    return isDone && succeeded(run(createFloatsToF64()))
               ? runPipeline(*form, pipelineOptions)
               : llvm::createStringError("the passes to it failed");
  };
  llvm::Expected<LoadedCode> code =
      loadCode(*form, pipelineOptions, EngineOptions(), lower,
               [](const llvm::Twine &) {});
  if (code)
    return std::move(code->engine);
  std::string message = toString(code.takeError());
  return llvm::createStringError(reason.empty() ? message : reason);
}

llvm::Expected<Signature> Signature::find(const llvm::json::Object &manifest,
                                          llvm::StringRef entry) {
  for (const llvm::json::Value &value : *manifest.getArray("entries")) {
    const llvm::json::Object *description = value.getAsObject();
    if (!description || description->getString("name") != entry)
      continue;
    llvm::Expected<std::vector<ValueType>> arguments =
        ValueType::parseAll(*description, "arguments");
    if (!arguments)
      return arguments.takeError();
    llvm::Expected<std::vector<ValueType>> results =
        ValueType::parseAll(*description, "results");
    if (!results)
      return results.takeError();
    return Signature{std::move(*arguments), std::move(*results)};
  }
  return llvm::createStringError("the manifest has no entry '" + entry + "'");
}

llvm::Expected<Entry> Entry::find(const ExecutionEngine &engine,
                                  llvm::StringRef name) {
  llvm::Expected<SparseAutogradEntry> function = engine.lookup(name);
  if (!function)
    return function.takeError();
  llvm::Expected<Signature> signature =
      Signature::find(engine.getManifest(), name);
  if (!signature)
    return signature.takeError();
  return Entry{std::move(*signature), *function, name.str()};
}

llvm::Expected<std::vector<Value>>
Entry::call(llvm::ArrayRef<void *> arguments) const {
  std::vector<Value> results;
  results.reserve(resultTypes.size());
  std::vector<void *> pointers;
  for (const ValueType &type : resultTypes) {
    results.emplace_back(type);
    pointers.push_back(results.back().getPointer());
  }
  if (function(const_cast<void **>(arguments.data()), pointers.data()) !=
      SPARSE_AUTOGRAD_SUCCESS) {
    results.clear();
    return llvm::createStringError("'" + name +
                                   "' failed: " + sparseAutogradLastError());
  }
  return results;
}
