//===- Runner.cpp - compile a file and call an entry ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runner/Runner.h"
#include "Report.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"
#include "SparseAutograd/IO/Write.h"
#include "SparseAutograd/Pipelines/Pipelines.h"
#include "SparseAutograd/Registration.h"
#include "SparseAutograd/Runner/Values.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace sparse_autograd;

char DiagnosedError::ID = 0;

void DiagnosedError::log(llvm::raw_ostream &stream) const {
  stream << "the file does not compile";
}

std::error_code DiagnosedError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

/// Whether the program leaves it to a split_vjp to define the function `name`.
static bool isDefinedBySplit(mlir::ModuleOp module, llvm::StringRef name) {
  auto splits = module.getOps<SplitVjpOp>();
  return llvm::any_of(splits, [&](SplitVjpOp split) {
    return split.getForward() == name || split.getBackward() == name;
  });
}

/// Makes every function private but the entry to call: nothing else need be
/// compiled.
static llvm::Error selectEntry(mlir::ModuleOp module,
                               const RunOptions &options) {
  llvm::SmallVector<mlir::func::FuncOp> functions;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      functions.push_back(function);
  bool found = isDefinedBySplit(module, options.entry);
  if (functions.empty() && !found)
    return llvm::createStringError(options.file +
                                   ": has no public function to run");
  if (options.entry.empty() && functions.size() == 1)
    return llvm::Error::success();
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
    return llvm::Error::success();
  if (options.entry.empty())
    return llvm::createStringError(
        options.file +
        ": has several public functions; choose one with --entry: " + names);
  return llvm::createStringError(options.file + ": has no public function '" +
                                 options.entry + "'; it has: " + names);
}

/// Parses and lowers the file and loads the code of the entry.
static llvm::Expected<std::unique_ptr<ExecutionEngine>>
compileFile(const RunOptions &options) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  bool isDiagnosed = false;
  mlir::ScopedDiagnosticHandler observer(
      &context, [&](mlir::Diagnostic &diagnostic) {
        isDiagnosed |=
            diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
        return mlir::failure(); // The handler before this one prints it.
      });
  auto makeCompileError = [&](const llvm::Twine &message) -> llvm::Error {
    if (isDiagnosed)
      return llvm::make_error<DiagnosedError>();
    return llvm::createStringError(options.file + ": " + message);
  };
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(options.file, sources, &context);
  if (!module)
    return makeCompileError("could not be parsed");
  if (llvm::Error error = selectEntry(*module, options))
    return std::move(error);

  PipelineOptions pipelineOptions;
  if (options.threads == 1)
    pipelineOptions.threads = 1;
  if (llvm::Error error = runPipeline(*module, pipelineOptions))
    return makeCompileError(toString(std::move(error)));
  return ExecutionEngine::create(*module);
}

/// The description of the entry, which is the only one.
static llvm::Expected<const llvm::json::Object *>
getEntry(const ExecutionEngine &engine) {
  const llvm::json::Array *entries = engine.getManifest().getArray("entries");
  const llvm::json::Object *entry = entries && entries->size() == 1
                                        ? entries->front().getAsObject()
                                        : nullptr;
  if (!entry)
    return llvm::createStringError("the manifest does not describe the entry");
  return entry;
}

/// The position of the result that is called `name`, or result<position>.
static llvm::Expected<size_t> findResult(llvm::ArrayRef<ValueType> types,
                                         llvm::StringRef name) {
  std::string names;
  for (auto [index, type] : llvm::enumerate(types)) {
    if (name == type.name || name == ("result" + llvm::Twine(index)).str())
      return index;
    names += (names.empty() ? "" : ", ") + type.name;
  }
  return llvm::createStringError(
      "there is no result '" + name +
      "'; the entry returns: " + (names.empty() ? "none" : names));
}

static llvm::Error writeResults(std::vector<Value> &results,
                                const RunOptions &options) {
  llvm::SmallVector<const std::string *> files(results.size(), nullptr);
  std::vector<ValueType> types;
  for (const Value &result : results)
    types.push_back(result.getType());
  for (const auto &[name, file] : options.results) {
    llvm::Expected<size_t> index = findResult(types, name);
    if (!index)
      return index.takeError();
    files[*index] = &file;
  }
  for (auto [result, file] : llvm::zip_equal(results, files)) {
    if (file) {
      llvm::Expected<io::DenseArray> array = result.toArray();
      if (!array)
        return array.takeError();
      if (llvm::Error error = io::writeDense(*file, *array))
        return error;
      continue;
    }
    llvm::Expected<std::string> text = result.toText();
    if (!text)
      return text.takeError();
    llvm::outs() << result.getType().name << " = " << *text << "\n";
  }
  llvm::outs().flush();
  return llvm::Error::success();
}

llvm::Error sparse_autograd::runFile(const RunOptions &options) {
  Report report;
  llvm::Expected<std::unique_ptr<ExecutionEngine>> engine =
      report.timeCompilation([&] { return compileFile(options); });
  if (!engine)
    return engine.takeError();
  llvm::Expected<const llvm::json::Object *> entry = getEntry(**engine);
  if (!entry)
    return entry.takeError();
  llvm::StringRef name = (*entry)->getString("name").value_or("");
  llvm::Expected<SparseAutogradEntry> function = (*engine)->lookup(name);
  if (!function)
    return function.takeError();

  llvm::Expected<std::vector<ValueType>> argumentTypes =
      ValueType::parseAll(**entry, "arguments");
  if (!argumentTypes)
    return argumentTypes.takeError();
  llvm::Expected<std::vector<ValueType>> resultTypes =
      ValueType::parseAll(**entry, "results");
  if (!resultTypes)
    return resultTypes.takeError();
  // A result that cannot be saved should not cost a run.
  for (const auto &[result, file] : options.results)
    if (llvm::Expected<size_t> index = findResult(*resultTypes, result); !index)
      return index.takeError();
  llvm::Expected<std::vector<Value>> arguments =
      bindArguments(*argumentTypes, options.arguments);
  if (!arguments)
    return arguments.takeError();
  std::vector<void *> argumentPointers;
  for (Value &argument : *arguments)
    argumentPointers.push_back(argument.getPointer());

  sparseAutogradSetThreadCount(options.threads);
  sparseAutogradSetLogPrecision(options.precision);
  std::vector<Value> results;
  for (unsigned call = 0; call < options.repetitions; ++call) {
    results.clear();
    results.reserve(resultTypes->size());
    std::vector<void *> resultPointers;
    for (const ValueType &type : *resultTypes) {
      results.emplace_back(type);
      resultPointers.push_back(results.back().getPointer());
    }
    int32_t status = report.timeCall([&] {
      return (*function)(argumentPointers.data(), resultPointers.data());
    });
    if (status != SPARSE_AUTOGRAD_SUCCESS) {
      results.clear();
      return llvm::createStringError("'" + name +
                                     "' failed: " + sparseAutogradLastError());
    }
  }
  if (llvm::Error error = writeResults(results, options))
    return error;
  report.write(llvm::errs(), options.report);
  return llvm::Error::success();
}
