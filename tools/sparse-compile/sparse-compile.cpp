//===- sparse-compile.cpp - compile a file ahead of time ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/AheadOfTime/AheadOfTime.h"
#include "SparseAutograd/Runner/Runner.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"

using namespace sparse_autograd;
namespace cl = llvm::cl;

int main(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  // As in sparse-runner: the options of LLVM's own passes are not this tool's.
  cl::ResetCommandLineParser();
  cl::OptionCategory category("Options of sparse-compile");
  LibraryOptions options;
  cl::opt<std::string, true> file(cl::Positional, cl::Required,
                                  cl::cat(category), cl::desc("FILE"),
                                  cl::location(options.file));
  cl::opt<std::string, true> name(
      "o", cl::Required, cl::value_desc("NAME"), cl::cat(category),
      cl::desc(
          "write NAME.so, or NAME.o, and NAME.h, which declares the public "
          "functions as NAME_<function>"),
      cl::location(options.name));
  cl::opt<OutputKind, true> kind(
      "emit", cl::cat(category), cl::location(options.kind),
      cl::desc("what to write beside the header"),
      cl::values(clEnumValN(OutputKind::SharedObject, "shared",
                            "NAME.so, which needs the runtime library"),
                 clEnumValN(OutputKind::Object, "object",
                            "NAME.o, to be linked with the runtime library")));
  cl::opt<TargetKind> target(
      "target", cl::cat(category), cl::desc("where the code is to run"),
      cl::init(TargetKind::CPU),
      cl::values(clEnumValN(TargetKind::CPU, "cpu",
                            "a processor of this machine's kind"),
                 clEnumValN(TargetKind::GPU, "gpu", "an NVIDIA GPU")));
  cl::list<std::string> chip(
      "chip", cl::CommaSeparated, cl::value_desc("CHIP,..."), cl::cat(category),
      cl::desc("of a GPU: chips to assemble kernels for, such as sm_90a; needs "
               "ptxas"));
  cl::opt<std::string> ptx(
      "ptx", cl::value_desc("CHIP"), cl::cat(category),
      cl::desc("of a GPU: the chip whose PTX is kept for it and later ones; "
               "sm_80 if there is no other code"));
  cl::opt<bool> emulate("emulate", cl::cat(category),
                        cl::desc("of a GPU: keep code for the emulator too"));
  cl::opt<std::string> toolkit(
      "toolkit", cl::value_desc("DIR"), cl::cat(category),
      cl::desc("of a GPU: the CUDA toolkit whose ptxas and libdevice are used; "
               "the default is the configured one"));
  cl::list<std::string> libraries(
      "libraries", cl::CommaSeparated, cl::value_desc("NAME,..."),
      cl::cat(category),
      cl::desc("of a GPU: libraries to call where they are there when the code "
               "runs: cublaslt, cusparse"));
  cl::opt<bool> wholeRows(
      "whole-rows", cl::cat(category),
      cl::desc("of a GPU: a sampled product, a softmax of its rows and a "
               "product with that are one kernel; for patterns whose rows are "
               "about as long"));
  cl::opt<int64_t> threads(
      "threads", cl::cat(category), cl::init(0),
      cl::desc("0: the runtime decides how many threads a loop uses; 1: the "
               "code never asks for more than one"));
  cl::opt<std::string> cpu(
      "cpu", cl::value_desc("NAME"), cl::cat(category), cl::init("generic"),
      cl::desc("the least processor that runs the code, as LLVM calls it, such "
               "as x86-64-v3; native: this machine's; the default, generic: "
               "any of this machine's kind"));
  cl::opt<std::string, true> features(
      "features", cl::value_desc("LIST"), cl::cat(category),
      cl::desc("features besides the processor's own, as in +avx2,-fma"),
      cl::location(options.compile.features));
  cl::opt<VectorLibrary, true> vectorLibrary(
      "vector-library", cl::cat(category),
      cl::location(options.compile.vectorLibrary),
      cl::desc("whose vector forms of elementary functions loops call"),
      cl::values(clEnumValN(VectorLibrary::Libmvec, "libmvec",
                            "those of glibc 2.35 and later (default)"),
                 clEnumValN(VectorLibrary::None, "none",
                            "none: they call libm for each element")));
  cl::opt<unsigned, true> level(
      "O", cl::Prefix, cl::value_desc("LEVEL"), cl::cat(category),
      cl::desc("how much to optimize: 0 to 3 (3)"),
      cl::location(options.compile.optimizationLevel));
  cl::opt<std::string, true> linker(
      "linker", cl::value_desc("PATH"), cl::cat(category),
      cl::desc("the C compiler that links NAME.so; the default is the "
               "configured one"),
      cl::location(options.linker));
  cl::ParseCommandLineOptions(argc, argv, "sparse-compile\n");

  auto refuse = [](const llvm::Twine &why) {
    llvm::WithColor::error() << why << "\n";
    return 1;
  };
  // A list has an operator & of its own.
  const cl::Option *ofGPU[] = {
      std::addressof(chip),      &ptx,      &emulate, &toolkit,
      std::addressof(libraries), &wholeRows};
  for (const cl::Option *option : ofGPU)
    if (option->getNumOccurrences() && target != TargetKind::GPU)
      return refuse("--" + option->ArgStr + " is of --target=gpu alone");
  if (options.compile.optimizationLevel > 3)
    return refuse("-O must be 0 to 3");
  options.pipeline.target = target;
  for (const std::string &name : chip)
    options.pipeline.chip.push_back(name);
  options.pipeline.ptx = ptx;
  options.pipeline.emulate = emulate;
  options.pipeline.toolkit = toolkit;
  for (const std::string &library : libraries)
    options.pipeline.libraries.push_back(library);
  options.pipeline.wholeRows = wholeRows;
  options.pipeline.threads = threads;
  if (cpu != "native")
    options.compile.cpu = cpu;

  llvm::Error error = compileLibrary(options);
  if (!error)
    return 0;
  // Else the compiler has said it.
  if (error.isA<DiagnosedError>()) {
    llvm::consumeError(std::move(error));
    return 1;
  }
  return refuse(toString(std::move(error)));
}
