//===- fuzz-entries.cpp - calls of entries that are wrong -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   fuzz-entries [--pipeline=OPTIONS] [--calls=N] [--seed=N] PROGRAM.mlir
//
// Compiles the program, calls its entries with random arguments, and again with
// these and one or some changes (Mutations.cpp). The program decides on the
// shapes: all dynamic extents of a call are the same number, and it must
// succeed whatever that is.
//
// A call that was changed returns the status that Runtime.h promises. If it
// fails it writes nothing and leaves nothing allocated; a change that says the
// same in other words gives the same bits. Memory is guarded (Call.h): what is
// read or written beyond it ends this process, with the call's number.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include "SparseAutograd/ExecutionEngine/ExecutionEngine.h"
#include "SparseAutograd/Pipelines/Pipelines.h"
#include "SparseAutograd/Registration.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <sys/resource.h>
#include <unistd.h>

using namespace fuzz;
using namespace sparse_autograd;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

static Expected<std::unique_ptr<ExecutionEngine>> compile(StringRef file,
                                                          StringRef pipeline) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, sources, &context);
  if (!module)
    return llvm::createStringError(file + ": could not be parsed");
  PipelineOptions options;
  if (mlir::failed(options.parseFromString(pipeline)))
    return llvm::createStringError("the options of the pipeline are wrong");
  if (Error error = runPipeline(*module, options))
    return std::move(error);
  return ExecutionEngine::create(*module);
}

namespace {
struct Entry {
  std::string name;
  SparseAutogradEntry function;
  std::vector<ValueType> arguments, results;
};
} // namespace

static Expected<std::vector<Entry>> listEntries(const ExecutionEngine &engine) {
  std::vector<Entry> entries;
  for (const llvm::json::Value &value :
       *engine.getManifest().getArray("entries")) {
    const llvm::json::Object &description = *value.getAsObject();
    std::string name = description.getString("name")->str();
    Expected<SparseAutogradEntry> function = engine.lookup(name);
    if (!function)
      return function.takeError();
    auto arguments = ValueType::parseAll(description, "arguments");
    if (!arguments)
      return arguments.takeError();
    auto results = ValueType::parseAll(description, "results");
    if (!results)
      return results.takeError();
    entries.push_back(
        {name, *function, std::move(*arguments), std::move(*results)});
  }
  return entries;
}

// Extents that are large but right ask for much memory, also that of an
// emulated device, of which the runtime has no limit: the system refuses it.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUZZ_WITH_SANITIZER
#endif
#endif

#ifdef FUZZ_WITH_SANITIZER
extern "C" const char *__asan_default_options() {
  return "max_allocation_size_mb=256";
}
static void limitMemory() {}
#else
static void limitMemory() {
  constexpr rlim_t bytes = rlim_t(3) << 29;
  struct rlimit limit = {bytes, bytes};
  if (setrlimit(RLIMIT_AS, &limit))
    llvm::report_fatal_error("memory cannot be limited");
}
#endif

/// What is being called, for the handler of signals.
static char current[512];

static void report(int signal) {
  std::ignore = write(STDERR_FILENO, current, strlen(current));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

namespace {
/// Calls, and what came of them.
class Campaign {
public:
  explicit Campaign(uint64_t seed) : seed(seed) {}

  /// Calls an entry once with changes; fails if that is not as it must be.
  Error callOnce(const Entry &entry, int64_t number);

  int64_t refused = 0, succeeded = 0;
  /// How often each mutation was the only one.
  llvm::StringMap<int64_t> counts;

private:
  uint64_t seed;
  GuardedMemory memory;
};
} // namespace

Error Campaign::callOnce(const Entry &entry, int64_t number) {
  auto describe = [&](StringRef what) {
    return "call " + std::to_string(number) + " of seed " +
           std::to_string(seed) + ", entry '" + entry.name + "', " + what.str();
  };
  auto note = [&](StringRef what) {
    std::string text = describe(what) + ": the process ends\n";
    size_t length = std::min(text.size(), sizeof(current) - 1);
    text.copy(current, length);
    current[length] = '\0';
  };
  // Any call can be had alone.
  Random random(seed * 0x9E3779B97F4A7C15u + number);
  memory.reset();
  Call call = makeCall(entry.arguments, entry.results, memory, random);
  note("as it is");
  Outcome right = perform(entry.function, call, memory);
  if (right.status || !right.problem.empty())
    return llvm::createStringError(describe("as it is") + ": " + right.message +
                                   right.problem);

  call.rightResults = right.words;
  llvm::ArrayRef<Mutation> mutations = getMutations();
  int64_t changes = draw(random, 4) ? 1 : 2 + draw(random, 2);
  std::string names;
  Verdict verdict = Verdict::Same;
  for (int64_t change = 0; change < changes; ++change) {
    const Mutation &mutation = mutations[draw(random, mutations.size())];
    if (changes > 1 && mutation.isAlone)
      continue;
    Call kept = call;
    std::optional<Verdict> single = mutation.apply(call, random);
    if (!single) {
      call = std::move(kept);
      continue;
    }
    verdict = changes == 1 ? *single : Verdict::Any;
    names += (names.empty() ? "" : ", ") + std::string(mutation.name);
    if (changes == 1)
      ++counts[mutation.name];
  }
  if (names.empty())
    return Error::success();
  memory.accept();
  note(names);
  Outcome outcome = perform(entry.function, call, memory);
  ++(outcome.status ? refused : succeeded);
  if (outcome.problem.empty() && verdict == Verdict::Refused &&
      outcome.status != SPARSE_AUTOGRAD_INVALID_ARGUMENT)
    outcome.problem = "the status is " + std::to_string(outcome.status) +
                      " where the argument is invalid";
  if (outcome.problem.empty() && verdict == Verdict::Same &&
      (outcome.status || outcome.results != right.results))
    outcome.problem = "it says the same, but the results differ";
  if (outcome.problem.empty())
    return Error::success();
  return llvm::createStringError(describe(names) + ": " + outcome.problem +
                                 "; " + outcome.message);
}

static Error run(StringRef file, StringRef pipeline, int64_t calls,
                 int64_t first, uint64_t seed) {
  Expected<std::unique_ptr<ExecutionEngine>> engine = compile(file, pipeline);
  if (!engine)
    return engine.takeError();
  Expected<std::vector<Entry>> entries = listEntries(**engine);
  if (!entries)
    return entries.takeError();
  // Large results are an error, and nothing else.
  sparseAutogradSetMemoryLimit(1 << 24);
  limitMemory();
  Campaign campaign(seed);
  for (int64_t number = first; number < first + calls; ++number)
    if (Error error =
            campaign.callOnce((*entries)[number % entries->size()], number))
      return error;
  for (const Mutation &mutation : getMutations())
    if (calls >= 2000 && campaign.counts[mutation.name] == 0)
      return llvm::createStringError("no call had the change: " +
                                     llvm::Twine(mutation.name));
  llvm::outs() << entries->size() << " entries, " << calls << " calls, "
               << campaign.refused << " refused, " << campaign.succeeded
               << " succeeded\n";
  return Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  llvm::cl::ResetCommandLineParser();
  llvm::cl::opt<std::string> program(llvm::cl::Positional, llvm::cl::Required,
                                     llvm::cl::desc("PROGRAM.mlir"));
  llvm::cl::opt<std::string> pipeline(
      "pipeline", llvm::cl::desc("options of the pipeline"));
  llvm::cl::opt<int64_t> calls("calls", llvm::cl::init(1000),
                               llvm::cl::desc("how many calls"));
  llvm::cl::opt<int64_t> first("first", llvm::cl::init(0),
                               llvm::cl::desc("the number of the first call"));
  llvm::cl::opt<uint64_t> seed("seed", llvm::cl::init(1),
                               llvm::cl::desc("the seed of all calls"));
  llvm::cl::ParseCommandLineOptions(argc, argv, "fuzz-entries\n");
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    std::signal(signal, report);
  if (Error error = run(program, pipeline, calls, first, seed)) {
    llvm::errs() << "error: " << toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
