//===- sparse-reduce.cpp - shrink a file that shows a failure -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   sparse-reduce model.mlir --test=./interesting.sh -o small.mlir
//
// The options of mlir-reduce, --reduction-tree and --opt-reduction-pass, name
// the script, too.
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"
#include "SparseAutograd/Registration.h"
#include "SparseAutograd/Tools/CommandLine.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace sparse_autograd;
namespace cl = llvm::cl;

namespace {
struct Options {
  cl::OptionCategory category{"options of sparse-reduce"};
  cl::opt<std::string> input{cl::Positional, cl::Required,
                             cl::desc("FILE, or - for the standard input"),
                             cl::cat(category)};
  cl::opt<std::string> output{
      "o", cl::desc("The file that always has the smallest program so far"),
      cl::value_desc("FILE"), cl::init("-"), cl::cat(category)};
  cl::opt<std::string> script{
      "test",
      cl::desc("A script that exits with 1 for a file that shows the failure, "
               "and with 0 for one that does not"),
      cl::value_desc("SCRIPT"), cl::cat(category)};
  cl::list<std::string> arguments{
      "test-arg", cl::desc("Of the script, before the file"),
      cl::value_desc("ARGUMENT"), cl::cat(category)};
  cl::opt<unsigned> timeout{
      "timeout", cl::init(60),
      cl::desc("Seconds after which a file counts as one that does not"),
      cl::cat(category)};
  cl::opt<std::string> pass{
      "passes", cl::desc("Run this pipeline instead of removing anything else"),
      cl::value_desc("PIPELINE"), cl::cat(category)};
  cl::opt<std::string> reductionTree{
      "reduction-tree", cl::desc("As mlir-reduce has it: \"test=SCRIPT\""),
      cl::value_desc("OPTIONS"), cl::cat(category)};
  cl::opt<std::string> optReductionPass{
      "opt-reduction-pass",
      cl::desc("As mlir-reduce has it: \"opt-pass=PIPELINE test=SCRIPT\""),
      cl::value_desc("OPTIONS"), cl::cat(category)};

  /// Takes over what is said in the way of mlir-reduce.
  llvm::Error translate();
};
} // namespace

llvm::Error Options::translate() {
  for (const std::string *text :
       {&reductionTree.getValue(), &optReductionPass.getValue()}) {
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(*text).split(parts, ' ', /*MaxSplit=*/-1,
                                 /*KeepEmpty=*/false);
    for (llvm::StringRef part : parts) {
      auto [key, value] = part.split('=');
      if (key == "test")
        script = value.str();
      else if (key == "test-arg")
        arguments.push_back(value.str());
      else if (key == "opt-pass" && text == &optReductionPass.getValue())
        pass = value.str();
      // There is one way to go through a program.
      else if (key != "traversal-mode")
        return llvm::createStringError(
            "'" + part +
            "' is unknown: --reduction-tree takes test=SCRIPT and "
            "test-arg=ARGUMENT, --opt-reduction-pass also "
            "opt-pass=PIPELINE");
    }
  }
  if (script.empty())
    return llvm::createStringError(
        "there is no script: name it with --test=SCRIPT");
  return llvm::Error::success();
}

/// The pipeline of the option, for the edit that runs it.
static std::string pipeline;

static size_t countPipelines(mlir::ModuleOp) { return 1; }

static bool runPipeline(mlir::ModuleOp module, size_t, size_t) {
  mlir::PassManager manager(module.getContext());
  return succeeded(mlir::parsePassPipeline(pipeline, manager)) &&
         succeeded(manager.run(module));
}

static llvm::Error reduce(Options &options) {
  if (llvm::Error error = options.translate())
    return error;
  InterestingnessTest test;
  test.script = options.script;
  test.arguments = options.arguments;
  test.timeout = options.timeout;
  if (llvm::Error error = test.prepare())
    return error;
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(options.input);
  if (!buffer)
    return llvm::createStringError(options.input + ": " +
                                   buffer.getError().message());
  mlir::registerAllPasses();
  sparse_autograd::registerAllPasses();
  mlir::DialectRegistry registry;
  sparse_autograd::registerAllDialects(registry);
  // Processes are started from this one.
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  if (!options.pass.empty()) {
    mlir::PassManager manager(&context);
    if (failed(mlir::parsePassPipeline(options.pass, manager)))
      return llvm::createStringError("'" + options.pass + "' is no pipeline");
  }

  bool isPrinted = options.output == "-";
  llvm::SmallString<128> file(options.output.getValue());
  if (isPrinted)
    if (std::error_code code =
            llvm::sys::fs::createTemporaryFile("reduced", "mlir", file))
      return llvm::createStringError(code, "a temporary file cannot be "
                                           "written: " +
                                               code.message());
  Reduction reduction(context, test, file.str().str());
  llvm::Error error = reduction.begin((*buffer)->getBuffer());
  if (!error) {
    pipeline = options.pass;
    const Edit passes[] = {{"passes", countPipelines, runPipeline}};
    error = reduction.run(options.pass.empty() ? getEdits()
                                               : llvm::ArrayRef(passes));
    if (isPrinted)
      if (auto reduced = llvm::MemoryBuffer::getFile(file))
        llvm::outs() << (*reduced)->getBuffer();
  }
  if (isPrinted)
    llvm::sys::fs::remove(file);
  return error;
}

int main(int argc, char **argv) {
  Tool tool(argc, argv,
            "sparse-reduce shrinks a file that shows a failure: a script says, "
            "by its status 1, whether a smaller one still shows it",
            "sparse-reduce model.mlir --test=./fails.sh -o small.mlir",
            Tool::Others::Drop);
  Options options;
  cl::ParseCommandLineOptions(argc, argv);
  if (llvm::Error error = reduce(options))
    return fail(toString(std::move(error)));
  return 0;
}
