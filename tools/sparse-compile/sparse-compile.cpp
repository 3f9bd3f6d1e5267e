//===- sparse-compile.cpp - compile a file ahead of time ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/AheadOfTime/AheadOfTime.h"
#include "SparseAutograd/Runner/Runner.h"
#include "SparseAutograd/Tools/CommandLine.h"

using namespace sparse_autograd;
namespace cl = llvm::cl;

int main(int argc, char **argv) {
  Tool tool(argc, argv,
            "sparse-compile compiles an MLIR file ahead of time, for programs "
            "in C and C++",
            "sparse-compile model.mlir -o model", Tool::Others::Drop);
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
  cl::opt<bool, true> count(
      "count", cl::cat(category), cl::location(options.compile.countsKernels),
      cl::desc("with --emulate, have kernels count their instructions where "
               "their launches are counted"));
  cl::opt<std::string, true> linker(
      "linker", cl::value_desc("PATH"), cl::cat(category),
      cl::desc("the C compiler that links NAME.so; the default is the "
               "configured one"),
      cl::location(options.linker));
  cl::opt<std::string, true> crashReproducer(
      "crash-reproducer", cl::value_desc("FILE"), cl::cat(category),
      cl::desc("if a pass fails or crashes, write what sparse-opt "
               "--run-reproducer runs again"),
      cl::location(options.crashReproducer));
  // A library is code of the target.
  PipelineFlags flags(options.pipeline, category, {"compile-to"});
  cl::ParseCommandLineOptions(argc, argv);

  auto report = [&](const llvm::Twine &why) {
    fail(why);
    return mlir::failure();
  };
  if (failed(options.pipeline.check(report, "--")))
    return 1;
  if (options.compile.optimizationLevel > 3)
    return fail("-O must be 0 to 3");
  if (options.compile.countsKernels && !options.pipeline.emulate)
    return fail("--count is of kernels for the emulator alone: give --emulate");

  llvm::Error error = compileLibrary(options);
  if (!error)
    return 0;
  // Else the compiler has said it.
  if (error.isA<DiagnosedError>()) {
    llvm::consumeError(std::move(error));
    return 1;
  }
  return fail(toString(std::move(error)));
}
