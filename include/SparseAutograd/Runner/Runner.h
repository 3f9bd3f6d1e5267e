//===- Runner.h - compile a file and call an entry --------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_RUNNER_RUNNER_H
#define SPARSEAUTOGRAD_RUNNER_RUNNER_H

#include "SparseAutograd/Pipelines/Pipelines.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>
#include <utility>
#include <vector>

namespace sparse_autograd {

/// How a report on a run is written.
enum class ReportFormat { None, Text, Json };

/// What to run.
struct RunOptions {
  std::string file;
  /// May be empty if the file has one public function.
  std::string entry;
  llvm::StringMap<std::string> arguments;
  /// Results that are saved, with their files; the others are printed.
  std::vector<std::pair<std::string, std::string>> results;
  /// How the file is compiled. `emulate` follows from the device, and `threads`
  /// from the number below.
  PipelineOptions pipeline;
  /// The device that code for a GPU runs on, as sparseAutogradSetDevice names
  /// it; empty: the choice of the process stays.
  std::string device;
  /// What the launches of an emulated device are counted for, as
  /// sparseAutogradCountDevice names it; empty: they are not counted.
  std::string count;
  /// 0: the runtime decides.
  int threads = 0;
  /// As that of CompileOptions: 0 to 3.
  unsigned optimizationLevel = 3;
  /// Where compiled code is looked up and kept, as CodeCache::open names it:
  /// "off", "default" or a folder. Not used with remarks or a reproducer.
  std::string cache = "off";
  /// How often the entry is called; the results are those of the last call.
  unsigned repetitions = 1;
  ReportFormat report = ReportFormat::None;
  /// Significant digits of logged numbers, 1 to 17.
  int precision = 6;
  /// Of the random numbers of a check.
  uint64_t seed = 0;
  /// Where to write the program and the passes if one of them fails or crashes;
  /// empty: nowhere.
  std::string crashReproducer;
  /// A regular expression: the remarks of the passes in whose names it is found
  /// go to the standard error stream. Empty: none.
  std::string remarks;
};

/// The file does not compile, which the diagnostics have said: there is nothing
/// to add.
class DiagnosedError : public llvm::ErrorInfo<DiagnosedError> {
public:
  // The name that ErrorInfo asks for.
  static char ID; // NOLINT(readability-identifier-naming)
  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override;
};

/// Compiles the file, calls the entry, prints or saves the results and writes
/// the report. Names, arguments and files of results are checked before the
/// file is compiled; the files of results appear whole, all of them or none,
/// after what is printed. Diagnostics of the compiler go
/// to the standard error stream; the error is then a `DiagnosedError`.
llvm::Error runFile(const RunOptions &options);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_RUNNER_RUNNER_H
