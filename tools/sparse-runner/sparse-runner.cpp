//===- sparse-runner.cpp - compile a file and call an entry ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Runner/GradientCheck.h"
#include "SparseAutograd/Tools/CommandLine.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/Signals.h"

#include <csignal>
#include <unistd.h>

using namespace sparse_autograd;
namespace cl = llvm::cl;

/// Splits NAME=VALUE; false, with a message, for another form.
static bool split(llvm::StringRef text, llvm::StringRef option,
                  std::pair<std::string, std::string> &result) {
  auto [name, value] = text.split('=');
  result = {name.str(), value.str()};
  if (!name.empty() && !value.empty())
    return true;
  fail("--" + option + " takes NAME=VALUE, not '" + text + "'");
  return false;
}

/// Says what went wrong, unless the compiler has; the status of the program.
static int failWith(llvm::Error error) {
  if (!error.isA<DiagnosedError>())
    return fail(toString(std::move(error)));
  llvm::consumeError(std::move(error));
  return 1;
}

/// Says that `signal` ends the program, removes its temporary files, and dies
/// of it, as callers expect.
static void endBySignal(int signal) {
  static constexpr char message[] = "sparse-runner: interrupted\n";
  (void)!write(STDERR_FILENO, message, sizeof(message) - 1);
  llvm::sys::RunInterruptHandlers();
  (void)::signal(signal, SIG_DFL);
  (void)raise(signal);
}

int main(int argc, char **argv) {
  Tool tool(argc, argv,
            "sparse-runner compiles an MLIR file, calls one of its public "
            "functions and prints or saves the results",
            "sparse-runner examples/masked-mean.mlir --entry=reduction --arg "
            "x=x.npy --arg mask=mask.npy --result gradient=dx.npy",
            Tool::Others::Drop);
  (void)signal(SIGINT, endBySignal);
  (void)signal(SIGTERM, endBySignal);
  cl::OptionCategory category("Options of sparse-runner");
  RunOptions options;
  cl::opt<std::string, true> file(cl::Positional, cl::Required,
                                  cl::cat(category), cl::desc("FILE"),
                                  cl::location(options.file));
  cl::opt<std::string, true> entry(
      "entry", cl::cat(category), cl::desc("the public function to call"),
      cl::value_desc("NAME"), cl::location(options.entry));
  cl::list<std::string> arguments(
      "arg", cl::value_desc("NAME=VALUE"), cl::cat(category),
      cl::desc("an argument: a number, or a file (.npy, .npz:member, .npz of a "
               "sparse matrix, .mtx, .smtx, .tns, .csv of triplets; gzip is "
               "expanded)"));
  cl::list<std::string> results(
      "result", cl::value_desc("NAME=FILE"), cl::cat(category),
      cl::desc("save a result (.npy, .mtx or .tns; a sparse one also as .npz, "
               ".smtx or .csv; .gz at the end compresses) instead of printing "
               "it"));
  cl::opt<std::string, true> device(
      "device", cl::value_desc("NAME"), cl::cat(category),
      cl::desc("the device of --target=gpu: cuda, cuda:1, or emulated, "
               "emulated:SEED, a GPU on the CPU that checks the kernels; the "
               "default is SPARSE_AUTOGRAD_DEVICE, else cuda"),
      cl::location(options.device));
  cl::opt<int, true> threads("threads", cl::cat(category),
                             cl::desc("how many threads to use; 0: all"),
                             cl::location(options.threads));
  cl::opt<unsigned, true> level(
      "O", cl::Prefix, cl::value_desc("LEVEL"), cl::cat(category),
      cl::desc("how much to optimize: 0 to 3 (3); 0 compiles in about a third "
               "of the time, to code that takes ten times as long or more"),
      cl::location(options.optimizationLevel));
  cl::opt<std::string> cache(
      "cache", cl::ValueOptional, cl::value_desc("FOLDER"), cl::cat(category),
      cl::desc("keep compiled code in a folder, and take it from there; the "
               "default is SPARSE_AUTOGRAD_CACHE, else sparse-autograd in the "
               "user's folder for caches"));
  cl::opt<unsigned, true> repeat("repeat", cl::cat(category),
                                 cl::desc("how often to call the entry"),
                                 cl::location(options.repetitions));
  cl::opt<int, true> precision(
      "log-precision", cl::cat(category),
      cl::desc("significant digits of logged numbers (1-17)"),
      cl::location(options.precision));
  cl::opt<ReportFormat, true> reportFormat(
      "report", cl::ValueOptional, cl::location(options.report),
      cl::cat(category),
      cl::desc("write what the run cost to the standard error stream"),
      cl::values(clEnumValN(ReportFormat::Text, "text", "for people"),
                 clEnumValN(ReportFormat::Json, "json", "as JSON"),
                 clEnumValN(ReportFormat::Text, "", "")));
  cl::opt<std::string> count(
      "count", cl::ValueOptional, cl::value_desc("MACHINE"), cl::cat(category),
      cl::desc("count what the kernels ask of a GPU, on --device=emulated, and "
               "write it as JSON to the standard error stream: h100 (default), "
               "h200, a100, rtx3090, rtx4090, or a part, h100/16"));
  cl::opt<bool> checkGradients(
      "check-gradients", cl::cat(category),
      cl::desc("compare the gradients of the function with differences, and "
               "forward with reverse mode, instead of printing results; "
               "floating arguments that are not given are random"));
  cl::opt<uint64_t, true> seed(
      "seed", cl::cat(category),
      cl::desc("of the random numbers of --check-gradients"),
      cl::location(options.seed));
  cl::opt<std::string, true> crashReproducer(
      "crash-reproducer", cl::value_desc("FILE"), cl::cat(category),
      cl::desc("if a pass fails or crashes, write what sparse-opt "
               "--run-reproducer runs again"),
      cl::location(options.crashReproducer));
  cl::opt<std::string> remarks(
      "remarks", cl::ValueOptional, cl::value_desc("REGEX"), cl::cat(category),
      cl::desc("print why the passes of these names, else all, did what they "
               "did"));
  // The number of threads is the runtime's here, and code that stops before the
  // target cannot be called.
  PipelineFlags flags(options.pipeline, category, {"compile-to", "threads"});
  cl::ParseCommandLineOptions(argc, argv);

  std::pair<std::string, std::string> pair;
  for (const std::string &argument : arguments) {
    if (!split(argument, "arg", pair))
      return 1;
    if (!options.arguments.try_emplace(pair.first, pair.second).second) {
      return fail("--arg gives '" + pair.first + "' twice");
    }
  }
  for (const std::string &result : results) {
    if (!split(result, "result", pair))
      return 1;
    options.results.push_back(pair);
  }
  if (options.repetitions == 0)
    return fail("--repeat must be at least 1");
  if (options.optimizationLevel > 3)
    return fail("-O must be 0 to 3");
  if (options.threads < 0)
    return fail("--threads must be 0 (all) or more");
  if (options.precision < 1 || options.precision > 17)
    return fail("--log-precision must be 1 to 17");
  if (device.getNumOccurrences() && options.pipeline.target != TargetKind::GPU)
    return fail("--device is of --target=gpu alone: other code runs on this "
                "machine's processor");
  auto report = [&](const llvm::Twine &why) {
    fail(why);
    return mlir::failure();
  };
  if (failed(options.pipeline.check(report, "--")))
    return 1;
  if (count.getNumOccurrences()) {
    if (!llvm::StringRef(options.device).starts_with("emulated"))
      return fail("--count is of --device=emulated alone");
    options.count = count.empty() ? "h100" : count.getValue();
  }
  if (cache.getNumOccurrences())
    options.cache = cache.empty() ? "default" : cache.getValue();
  if (remarks.getNumOccurrences())
    options.remarks = remarks.empty() ? ".*" : remarks.getValue();
  std::string problem;
  if (!options.remarks.empty() &&
      !llvm::Regex(options.remarks).isValid(problem))
    return fail("--remarks: '" + options.remarks +
                "' is no regular expression: " + problem);
  if (checkGradients) {
    if (!options.results.empty() || repeat.getNumOccurrences())
      return fail("--check-gradients takes neither --result nor --repeat");
    llvm::Expected<GradientCheck> check =
        sparse_autograd::checkGradients(options);
    if (!check)
      return failWith(check.takeError());
    check->write(llvm::outs(), options.report);
    return check->agrees() ? 0 : 1;
  }
  if (llvm::Error error = runFile(options))
    return failWith(std::move(error));
  return 0;
}
