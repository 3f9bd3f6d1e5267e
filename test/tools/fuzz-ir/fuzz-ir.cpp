//===- fuzz-ir.cpp - changed programs through random passes ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes programs as text, as bytecode and as ops, and runs what is valid
// through passes of the project in random orders, or through the pipeline.
// Looks for crashes, for passes that do not end, that leave invalid IR or fail
// without a word, and for messages of the pipeline about ops that the program
// does not have. Prints what it finds, with the program; ends with 1 if there
// is any.
//
//   fuzz-ir [--seed N] [--count N] [--only N] [--known FILE] FILE.mlir...
//
// With --attributes programs are given attributes of the dialect, known ones
// and others, on ops, arguments and results, and go through the pipeline: an
// unknown one is refused with the list of those that there are.
//
//===----------------------------------------------------------------------===//

#include "Attributes.h"
#include "Isolation.h"
#include "Mutations.h"
#include "Programs.h"
#include "SparseAutograd/Pipelines/Pipelines.h"
#include "SparseAutograd/Registration.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <map>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace sparse_autograd;
using namespace sparse_autograd::fuzz;

static llvm::cl::opt<uint64_t> seed("seed", llvm::cl::init(1));
static llvm::cl::opt<uint64_t> total("count", llvm::cl::init(1000));
static llvm::cl::opt<int64_t> only("only", llvm::cl::init(-1),
                                   llvm::cl::desc("Print and run one mutant"));
static llvm::cl::opt<std::string>
    knownFile("known",
              llvm::cl::desc("Crashes of MLIR, a line each: the stage, "
                             "what the stack has, the reason"));
static llvm::cl::opt<bool>
    attributesAlone("attributes",
                    llvm::cl::desc("Give programs attributes of the dialect"));
static llvm::cl::list<std::string> files(llvm::cl::Positional);

enum Counter { Parsed, Ran, Pipelines, Refused, Unknown };

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// The passes of the project, as the registry prints them.
static std::vector<std::string> listPasses() {
  int ends[2];
  if (pipe(ends) != 0)
    return {};
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    printRegisteredPasses();
    llvm::outs().flush();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t size; (size = read(ends[0], buffer, sizeof(buffer))) > 0;)
    text.append(buffer, size);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  std::vector<std::string> passes;
  for (StringRef line : llvm::split(text, '\n')) {
    // Options of a pass are indented by more.
    if (!line.consume_front("  --"))
      continue;
    StringRef name =
        line.take_until([](char c) { return c == ' ' || c == '='; });
    if (name.contains("sparse-autograd"))
      passes.push_back(name.str());
  }
  return passes;
}

/// The mutant at work.
static uint64_t current;

/// Reports a failure that is no crash, in a line.
static void reportFinding(StringRef kind, StringRef detail) {
  std::string line = (kind + ": " + detail).str();
  llvm::replace(line, '\n', ' ');
  report("mutant " + std::to_string(current) + ": " + line + "\n");
}

namespace {
/// Says which pass runs, and looks at the IR that it leaves.
struct Watch : PassInstrumentation {
  void runBeforePass(Pass *pass, Operation *) override {
    setStage(pass->getArgument().empty() ? pass->getName()
                                         : pass->getArgument());
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (succeeded(verify(op)))
      return;
    // Of a pass of MLIR it is MLIR's. Nobody promises to survive either.
    if (pass->getArgument().contains("sparse-autograd"))
      reportFinding("invalid IR behind", pass->getName());
    leaveProcess();
  }
  void runAfterPassFailed(Pass *pass, Operation *) override {
    failedPass = pass->getName().str();
  }
  std::string failedPass;
};
} // namespace

/// Names of the ops that `module` has.
static llvm::StringSet<> getOpNames(ModuleOp module) {
  llvm::StringSet<> names;
  module.walk(
      [&](Operation *op) { names.insert(op->getName().getStringRef()); });
  return names;
}

/// The op that `message` is about, as MLIR writes it: 'name' op ...
static StringRef getBlamedOp(StringRef message) {
  bool isIllegal = message.consume_front("failed to legalize operation ");
  if (!message.consume_front("'"))
    return {};
  auto [name, rest] = message.split('\'');
  return (isIllegal || rest.starts_with(" op ")) && name.contains('.')
             ? name
             : StringRef();
}

static void runPasses(ModuleOp module, Random &random,
                      ArrayRef<std::string> passes) {
  MLIRContext *context = module.getContext();
  bool isPipeline = attributesAlone || random.oneIn(12);
  PassManager manager(context, ModuleOp::getOperationName(),
                      OpPassManager::Nesting::Implicit);
  auto watch = std::make_unique<Watch>();
  Watch &watched = *watch;
  manager.addInstrumentation(std::move(watch));
  manager.enableVerifier(false);
  llvm::StringSet<> names;
  if (isPipeline) {
    count(Pipelines);
    names = getOpNames(module);
    PipelineOptions options;
    options.compileTo = random.oneIn(3)   ? Phase::Target
                        : random.oneIn(2) ? Phase::LowerSparse
                                          : Phase::Differentiate;
    if (random.oneIn(3)) {
      options.target = TargetKind::GPU;
      options.emulate = true;
    }
    (void)buildPipeline(manager, options,
                        [](const Twine &) { return failure(); });
  } else {
    for (size_t number = 1 + random.below(4); number > 0; --number)
      (void)parsePassPipeline(random.pick(passes), manager);
  }
  if (only >= 0) {
    manager.printAsTextualPipeline(llvm::outs());
    llvm::outs() << "\n";
    llvm::outs().flush();
  }
  std::string errors, blamed;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return success();
    std::string message = diagnostic.str();
    errors += message + "\n";
    StringRef name = getBlamedOp(message);
    if (!name.empty() && !names.contains(name))
      blamed += name.str() + ": " + message + "\n";
    return success();
  });
  if (succeeded(manager.run(module)))
    return;
  count(Refused);
  if (errors.empty())
    reportFinding("fails without a message", watched.failedPass);
  if (isPipeline && !blamed.empty())
    reportFinding("blames IR of the compiler's own (" + watched.failedPass +
                      ")",
                  StringRef(blamed).rtrim());
}

//===----------------------------------------------------------------------===//
// Mutants
//===----------------------------------------------------------------------===//

namespace {
struct Seed {
  std::string text;
  /// Null if the text is not valid.
  OwningOpRef<ModuleOp> module;
  uint64_t hash;
};
using Seeds = std::vector<Seed>;
} // namespace

/// Whole numbers to whole numbers, such that each bit of the result depends on
/// all of the argument (the finalizer of SplitMix64).
static uint64_t mix(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

/// The program that mutant `number` is made of, a valid one if asked for:
/// rendezvous hashing, the one with the largest hash of its text and the
/// number. Where a program is added, changed or deleted, those mutants alone
/// are others that are made of it.
static const Seed &pickSeed(const Seeds &seeds, uint64_t number,
                            bool mustBeValid) {
  const Seed *picked = nullptr;
  uint64_t largest = 0, key = mix(seed * 1000003 + number);
  for (const Seed &candidate : seeds) {
    uint64_t hash = mix(candidate.hash ^ key);
    if ((!picked || hash > largest) && (!mustBeValid || candidate.module)) {
      picked = &candidate;
      largest = hash;
    }
  }
  return *picked;
}

/// A changed program, or null if there is none that is valid. `source` gets it,
/// as far as it is text.
static OwningOpRef<ModuleOp> makeMutant(const Seeds &seeds, uint64_t number,
                                        Random &random, MLIRContext &context,
                                        std::string &source, bool &isBytecode) {
  ParserConfig config(&context);
  size_t kind = random.below(10);
  if (kind < 3) {
    source = pickSeed(seeds, number, /*mustBeValid=*/false).text;
    if (random.oneIn(4))
      mutateBytes(source, random);
    else
      mutateText(source, random);
    setStage("parse text");
    return parseSourceString<ModuleOp>(source, config);
  }
  ModuleOp original = *pickSeed(seeds, number, /*mustBeValid=*/true).module;
  if (kind < 4) {
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    if (failed(writeBytecodeToFile(original, stream)))
      return nullptr;
    mutateBytes(bytes, random);
    source = llvm::toHex(bytes);
    setStage("parse bytecode");
    isBytecode = true;
    return parseSourceString<ModuleOp>(bytes, config);
  }
  OwningOpRef<ModuleOp> module = original.clone();
  setStage("mutate");
  for (size_t number = 1 + random.below(2); number > 0; --number)
    mutateOps(*module, random);
  setStage("verify");
  if (failed(verify(*module)))
    return nullptr;
  return module;
}

/// Whether a float attribute has a number of another format than its type: the
/// reader of damaged bytecode makes such ones (LLVM 22.1), and no verifier of
/// the ops that hold them looks.
static bool hasWrongNumbers(ModuleOp module) {
  bool isWrong = false;
  module->walk([&](Operation *op) {
    op->getAttrDictionary().walk([&](FloatAttr attribute) {
      auto type = dyn_cast<FloatType>(attribute.getType());
      isWrong |= type && &type.getFloatSemantics() !=
                             &attribute.getValue().getSemantics();
    });
  });
  return isWrong;
}

/// A program with attributes of the dialect, as a file has it; null if it is
/// refused, as it is to be if one of them is unknown.
static OwningOpRef<ModuleOp> makeWithAttributes(const Seeds &seeds,
                                                uint64_t number, Random &random,
                                                MLIRContext &context,
                                                std::string &source) {
  ModuleOp seed = *pickSeed(seeds, number, /*mustBeValid=*/true).module;
  OwningOpRef<ModuleOp> original = seed.clone();
  SmallVector<GivenAttribute> given;
  for (size_t number = 1 + random.below(2); number > 0; --number)
    given.push_back(addAttribute(*original, random));
  llvm::raw_string_ostream stream(source);
  original->print(stream, OpPrintingFlags().printGenericOpForm(true));
  std::string errors;
  OwningOpRef<ModuleOp> module;
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      return success();
    });
    setStage("parse text");
    module = parseSourceString<ModuleOp>(source, ParserConfig(&context));
  }
  bool hasUnknown = llvm::any_of(
      given, [](const GivenAttribute &one) { return one.isUnknown; });
  if (hasUnknown)
    count(Unknown);
  if (module && hasUnknown)
    reportFinding("accepts an unknown attribute", given.front().name);
  else if (!module && given.size() == 1)
    if (std::string problem = checkErrors(given.front(), errors);
        !problem.empty())
      reportFinding("message", problem);
  return module;
}

static void runMutant(const Seeds &seeds, uint64_t number, MLIRContext &context,
                      ArrayRef<std::string> passes, bool prints) {
  Random random(seed * 1000003 + number);
  std::string source;
  OwningOpRef<ModuleOp> module;
  // MLIR's reader of bytecode writes past its memory where a program is damaged
  // (LLVM 22.1): what comes next is for another process.
  bool isBytecode = false;
  llvm::scope_exit leave([&]() {
    if (isBytecode)
      leaveProcess();
  });
  {
    ScopedDiagnosticHandler quiet(&context, [&](Diagnostic &diagnostic) {
      if (prints)
        llvm::outs() << diagnostic << "\n";
      return success();
    });
    module =
        attributesAlone
            ? makeWithAttributes(seeds, number, random, context, source)
            : makeMutant(seeds, number, random, context, source, isBytecode);
  }
  if (prints) {
    if (module)
      module->print(llvm::outs(), OpPrintingFlags().printGenericOpForm(true));
    else
      llvm::outs() << source << "\n";
    llvm::outs().flush();
  }
  if (!module || hasWrongNumbers(*module))
    return;
  count(Parsed);
  runPasses(*module, random, passes);
}

//===----------------------------------------------------------------------===//
// What is found
//===----------------------------------------------------------------------===//

/// The functions of a stack, innermost first, without what handles the signal.
static std::vector<std::string> getFrames(StringRef log) {
  std::vector<std::string> frames;
  for (StringRef line : llvm::split(log, '\n')) {
    line = line.ltrim();
    if (!line.consume_front("#"))
      continue;
    // Number, address, function, place.
    line = line.drop_while([](char c) { return c != ' '; }).ltrim();
    line = line.drop_while([](char c) { return c != ' '; }).ltrim();
    frames.push_back(line.str());
  }
  constexpr size_t handling = 4;
  if (frames.size() > handling)
    frames.erase(frames.begin(), frames.begin() + handling - 1);
  return frames;
}

/// Whether a frame is code of the project: not of a shared library, and not of
/// this program.
static bool isOwn(StringRef frame) {
  const char *others[] = {".so",         "/nptl/",        "/csu/",
                          "/sysdeps/",   "/stdlib/",      "/signal/",
                          "/malloc/",    "/libio/",       "_start",
                          "fuzz-ir.cpp", "Isolation.cpp", "Mutations.cpp"};
  return llvm::none_of(
      others, [&](const char *other) { return frame.contains(other); });
}

namespace {
/// A crash that is MLIR's: a line `stage | part of the stack | reason`.
struct KnownCrash {
  std::string stage, function;
};
} // namespace

static std::vector<KnownCrash> readKnown() {
  std::vector<KnownCrash> known;
  if (knownFile.empty())
    return known;
  auto file = llvm::MemoryBuffer::getFile(knownFile);
  if (!file) {
    llvm::errs() << "cannot read '" << knownFile << "'\n";
    exit(1);
  }
  for (StringRef line : llvm::split((*file)->getBuffer(), '\n')) {
    if (line.trim().empty() || line.starts_with("#"))
      continue;
    auto [stage, rest] = line.split('|');
    known.push_back({stage.trim().str(), rest.split('|').first.trim().str()});
  }
  return known;
}

int main(int argc, char **argv) {
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
  llvm::cl::ParseCommandLineOptions(argc, argv);
  sparse_autograd::registerAllPasses();
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
  std::vector<std::string> passes = listPasses();
  if (passes.size() < 20) {
    llvm::errs() << "the passes cannot be listed\n";
    return 1;
  }

  std::vector<std::string> texts;
  for (const std::string &name : files)
    if (auto file = llvm::MemoryBuffer::getFile(name))
      addPrograms((*file)->getBuffer(), texts);
  Seeds seeds;
  bool isAnyValid = false;
  {
    ScopedDiagnosticHandler quiet(&context,
                                  [](Diagnostic &) { return success(); });
    for (std::string &text : texts) {
      auto module = parseSourceString<ModuleOp>(text, &context);
      isAnyValid |= static_cast<bool>(module);
      uint64_t hash = llvm::xxh3_64bits(text);
      seeds.push_back({std::move(text), std::move(module), hash});
    }
  }
  if (!isAnyValid) {
    llvm::errs() << "no programs\n";
    return 1;
  }

  auto run = [&](uint64_t number) {
    current = number;
    runMutant(seeds, number, context, passes, only >= 0);
  };
  constexpr unsigned seconds = 10;
  std::vector<KnownCrash> known = readKnown();
  // Each kind once, with the first mutant that shows it.
  std::map<std::string, std::pair<unsigned, std::string>> findings;
  std::map<std::string, unsigned> excused;
  uint64_t begin = only >= 0 ? only : 0, end = only >= 0 ? only + 1 : total;
  runIsolated(begin, end, seconds, run, [&](const Crash &crash) {
    std::vector<std::string> frames = getFrames(crash.log);
    std::string own;
    for (const std::string &frame : frames)
      if (own.empty() && isOwn(frame))
        own = frame;
    for (const KnownCrash &entry : known)
      if (entry.stage == crash.stage &&
          (crash.isHang ? entry.function == "hang"
           : entry.function == "-"
               ? own.empty()
               : StringRef(crash.log).contains(entry.function))) {
        ++excused[entry.stage + " | " + entry.function];
        return;
      }
    std::string key =
        std::string(crash.isHang ? "hang" : "crash") + " in " + crash.stage +
        ", at " + (own.empty() ? (frames.empty() ? "?" : frames.front()) : own);
    auto &[number, first] = findings[key];
    if (number++ == 0) {
      first = "mutant " + std::to_string(crash.input) + "\n";
      for (const std::string &frame : ArrayRef(frames).take_front(12))
        first += "    " + frame.substr(0, 200) + "\n";
    }
  });
  std::string reports = takeReports();
  for (StringRef line : llvm::split(reports, '\n')) {
    if (!line.consume_front("mutant "))
      continue;
    auto [number, what] = line.split(": ");
    auto &[times, first] = findings[what.str()];
    if (times++ == 0)
      first = "mutant " + number.str() + "\n";
  }
  for (const auto &[key, found] : findings)
    llvm::outs() << "FAILED: " << key << " (" << found.first
                 << " times), first " << found.second;
  for (const auto &[key, times] : excused)
    llvm::outs() << "known: " << key << ", " << times << " times\n";
  llvm::outs() << end - begin << " mutants of " << seeds.size()
               << " programs: " << getCount(Parsed) << " valid, "
               << getCount(Pipelines) << " of them through the pipeline, "
               << getCount(Refused) << " refused; "
               << (attributesAlone ? std::to_string(getCount(Unknown)) +
                                         " with an unknown attribute; "
                                   : "")
               << findings.size() << " kinds of failures\n";
  return findings.empty() ? 0 : 1;
}
