//===- Runner.cpp - compile a file and call an entry ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runner/Runner.h"
#include "Program.h"
#include "Report.h"
#include "SparseAutograd/Runtime/Device.h"
#include "llvm/Support/raw_ostream.h"

using namespace sparse_autograd;

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
      if (llvm::Error error = result.save(*file))
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
  auto compile =
      [&]() -> llvm::Expected<
                std::pair<std::string, std::unique_ptr<ExecutionEngine>>> {
    llvm::Expected<std::unique_ptr<Program>> program = Program::parse(options);
    if (!program)
      return program.takeError();
    llvm::Expected<std::string> name = (*program)->selectEntry();
    if (!name)
      return name.takeError();
    llvm::Expected<std::unique_ptr<ExecutionEngine>> engine =
        (*program)->compile();
    if (!engine)
      return engine.takeError();
    return std::pair(std::move(*name), std::move(*engine));
  };
  auto compiled = report.timeCompilation(compile);
  if (!compiled)
    return compiled.takeError();
  llvm::Expected<Entry> entry = Entry::find(*compiled->second, compiled->first);
  if (!entry)
    return entry.takeError();

  // A result that cannot be saved should not cost a run.
  for (const auto &[result, file] : options.results)
    if (llvm::Expected<size_t> index = findResult(entry->resultTypes, result);
        !index)
      return index.takeError();
  llvm::Expected<std::vector<Value>> arguments =
      bindArguments(entry->argumentTypes, options.arguments);
  if (!arguments)
    return arguments.takeError();
  std::vector<void *> pointers;
  for (Value &argument : *arguments)
    pointers.push_back(argument.getPointer());

  // Storing the arguments is no part of what is reported.
  sparseAutogradResetCounters();
  sparseAutogradResetDeviceCounters();
  sparseAutogradSetThreadCount(options.threads);
  sparseAutogradSetLogPrecision(options.precision);
  std::vector<Value> results;
  for (unsigned call = 0; call < options.repetitions; ++call) {
    // The results of the call before are not needed beside those of this one.
    results.clear();
    auto next = report.timeCall([&] { return entry->call(pointers); });
    if (!next)
      return next.takeError();
    results = std::move(*next);
  }
  if (llvm::Error error = writeResults(results, options))
    return error;
  report.addStorage(*arguments);
  report.addStorage(results);
  if (options.target == TargetKind::GPU)
    report.addDevice();
  report.write(llvm::errs(), options.report);
  return llvm::Error::success();
}
