//===- CommandLine.cpp - what the command lines of tools share ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Tools/CommandLine.h"
#include "SparseAutograd/IO/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/WithColor.h"
#include <cstdlib>

using namespace sparse_autograd;
namespace cl = llvm::cl;

int sparse_autograd::fail(const llvm::Twine &why) {
  llvm::WithColor::error() << why << "\n";
  return 1;
}

/// Runs when the process ends by itself, before the streams are destroyed.
static void checkStandardOutput() {
  if (llvm::Error error = io::flushStandardOutput())
    std::_Exit(fail(toString(std::move(error))));
}

static void printVersion(llvm::raw_ostream &stream) {
  stream << "sparse-autograd " SPARSE_AUTOGRAD_VERSION
            ", with LLVM and MLIR " LLVM_VERSION_STRING "\n";
}

/// Whether the command line asks for help.
static bool asksForHelp(llvm::ArrayRef<char *> arguments) {
  return llvm::any_of(arguments, [](llvm::StringRef argument) {
    return argument.starts_with("-") &&
           llvm::is_contained(
               {"h", "help", "help-hidden", "help-list", "help-list-hidden"},
               argument.ltrim('-'));
  });
}

Tool::Tool(int &argc, char **&argv, llvm::StringRef summary,
           llvm::StringRef example, Others others)
    : initialize(argc, argv) {
  // The stream must live longer than the check.
  llvm::outs();
  std::atexit(checkStandardOutput);
  if (others == Others::Drop)
    cl::ResetCommandLineParser();
  // After that: it registers --help and --version.
  cl::SetVersionPrinter(printVersion);
  for (auto &entry : cl::getRegisteredOptions())
    if (!llvm::is_contained({"help", "help-list", "version"},
                            entry.second->ArgStr) &&
        entry.second->getOptionHiddenFlag() == cl::NotHidden)
      entry.second->setHiddenFlag(cl::Hidden);
  if (asksForHelp(llvm::ArrayRef(argv, argc).drop_front()))
    llvm::outs() << summary << "\n\nEXAMPLE: " << example << "\n\n";
}

namespace {

/// An option of a tool that hands on what it is given to one of the pipeline.
class PipelineFlag : public cl::Option {
public:
  PipelineFlag(cl::Option &target, cl::OptionCategory &category)
      : cl::Option(target.getNumOccurrencesFlag(), cl::NotHidden),
        target(target) {
    setArgStr(target.ArgStr);
    setDescription(target.HelpStr);
    addCategory(category);
    addArgument();
  }
  ~PipelineFlag() override { removeArgument(); }

private:
  bool handleOccurrence(unsigned position, llvm::StringRef name,
                        llvm::StringRef value) override {
    return target.addOccurrence(position, name, value);
  }
  cl::ValueExpected getValueExpectedFlagDefault() const override {
    return target.getValueExpectedFlag();
  }
  size_t getOptionWidth() const override { return target.getOptionWidth(); }
  void printOptionInfo(size_t width) const override {
    target.printOptionInfo(width);
  }
  void printOptionValue(size_t width, bool force) const override {
    target.printOptionValue(width, force);
  }
  void setDefault() override { target.setDefault(); }

  cl::Option &target;
};

} // namespace

PipelineFlags::PipelineFlags(PipelineOptions &options,
                             cl::OptionCategory &category,
                             llvm::ArrayRef<llvm::StringRef> others) {
  for (cl::Option *option : options.getOptions())
    if (!llvm::is_contained(others, option->ArgStr))
      flags.push_back(std::make_unique<PipelineFlag>(*option, category));
}

PipelineFlags::~PipelineFlags() = default;
