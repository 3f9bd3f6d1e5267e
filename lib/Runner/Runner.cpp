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
#include "SparseAutograd/IO/OutputFile.h"
#include "SparseAutograd/Runtime/Device.h"
#include "SparseAutograd/Runtime/Emulator.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

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

/// Where each result goes: a file, or null for those that are printed. An error
/// unless the results exist, each once, and the files can be made.
static llvm::Expected<llvm::SmallVector<const std::string *>>
placeResults(llvm::ArrayRef<ValueType> types, const RunOptions &options) {
  llvm::SmallVector<const std::string *> files(types.size(), nullptr);
  for (const auto &[name, file] : options.results) {
    llvm::Expected<size_t> index = findResult(types, name);
    if (!index)
      return index.takeError();
    if (files[*index])
      return llvm::createStringError("--result gives '" + types[*index].name +
                                     "' twice");
    files[*index] = &file;
    if (auto attempt = io::OutputFile::create(file); !attempt)
      return attempt.takeError();
  }
  return files;
}

/// Prints and saves the results. Files appear last, all of them or none.
static llvm::Error writeResults(std::vector<Value> &results,
                                llvm::ArrayRef<const std::string *> files) {
  std::vector<std::unique_ptr<io::OutputFile>> prepared;
  std::string text;
  for (auto [result, file] : llvm::zip_equal(results, files)) {
    if (file) {
      io::PreparedFile next = result.prepareFile(*file);
      if (!next)
        return next.takeError();
      prepared.push_back(std::move(*next));
      continue;
    }
    llvm::Expected<std::string> printed = result.toText();
    if (!printed)
      return printed.takeError();
    text += result.getType().name + " = " + *printed + "\n";
  }
  llvm::outs() << text;
  if (llvm::Error error = io::flushStandardOutput())
    return error;
  return io::OutputFile::commitAll(prepared);
}

/// Whether values that were bound for one list of types serve another.
static bool areSame(llvm::ArrayRef<ValueType> types,
                    llvm::ArrayRef<ValueType> others) {
  return std::equal(types.begin(), types.end(), others.begin(), others.end(),
                    [](const ValueType &type, const ValueType &other) {
                      return type.name == other.name &&
                             type.str() == other.str();
                    });
}

llvm::Error sparse_autograd::runFile(const RunOptions &options) {
  Report report;
  std::string name;
  auto parse = [&]() -> llvm::Expected<std::unique_ptr<Program>> {
    auto program = Program::parse(options);
    if (!program)
      return program;
    llvm::Expected<std::string> selected = (*program)->selectEntry();
    if (!selected)
      return selected.takeError();
    name = std::move(*selected);
    return program;
  };
  auto program = report.timeCompilation(parse);
  if (!program)
    return program.takeError();

  // What cannot be bound or saved should cost neither a compilation nor a run.
  llvm::Expected<std::optional<Signature>> declared =
      (*program)->describe(name);
  if (!declared)
    return declared.takeError();
  std::vector<Value> arguments;
  if (*declared) {
    auto files = placeResults((*declared)->resultTypes, options);
    if (!files)
      return files.takeError();
    auto bound = bindArguments((*declared)->argumentTypes, options.arguments);
    if (!bound)
      return bound.takeError();
    arguments = std::move(*bound);
  }

  auto engine = report.timeCompilation([&] { return (*program)->compile(); });
  if (!engine)
    return engine.takeError();
  llvm::Expected<Entry> entry = Entry::find(**engine, name);
  if (!entry)
    return entry.takeError();
  auto files = placeResults(entry->resultTypes, options);
  if (!files)
    return files.takeError();
  // The compiler chooses formats that the program leaves open.
  if (!*declared ||
      !areSame((*declared)->argumentTypes, entry->argumentTypes)) {
    auto bound = bindArguments(entry->argumentTypes, options.arguments);
    if (!bound)
      return bound.takeError();
    arguments = std::move(*bound);
  }
  std::vector<void *> pointers;
  for (Value &argument : arguments)
    pointers.push_back(argument.getPointer());

  // Storing the arguments is no part of what is reported.
  sparseAutogradResetCounters();
  sparseAutogradResetDeviceCounters();
  sparseAutogradSetThreadCount(options.threads);
  sparseAutogradSetLogPrecision(options.precision);
  if (!options.count.empty() &&
      sparseAutogradCountDevice(options.count.c_str()))
    return llvm::createStringError(sparseAutogradLastError());
  std::vector<Value> results;
  for (unsigned call = 0; call < options.repetitions; ++call) {
    // The results of the call before are not needed beside those of this one.
    results.clear();
    auto next = report.timeCall([&] { return entry->call(pointers); });
    if (!next)
      return next.takeError();
    results = std::move(*next);
  }
  if (llvm::Error error = writeResults(results, *files))
    return error;
  report.addStorage(arguments);
  report.addStorage(results);
  if (options.pipeline.target == TargetKind::GPU)
    report.addDevice();
  report.write(llvm::errs(), options.report);
  if (!options.count.empty())
    llvm::errs() << sparseAutogradGetDeviceCounts() << "\n";
  return llvm::Error::success();
}
