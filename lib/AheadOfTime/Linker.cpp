//===- Linker.cpp - object files to shared objects ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Linker.h"
#include "SparseAutograd/IO/ScratchFile.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <dlfcn.h>

using namespace sparse_autograd;
using llvm::StringRef;

llvm::Expected<std::string> sparse_autograd::findLinker(StringRef name) {
  if (name.empty())
    name = SPARSE_AUTOGRAD_LINKER;
  llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name);
  if (path && llvm::sys::fs::can_execute(*path))
    return *path;
  return llvm::createStringError(
      "there is no linker '" + name +
      "'; name a C compiler with --linker, or ask for --emit=object");
}

/// The path of the runtime library of this process.
static llvm::Expected<std::string> findRuntime() {
  Dl_info info;
  auto *address = reinterpret_cast<void *>(&sparseAutogradRuntimeVersion);
  llvm::SmallString<128> path;
  if (dladdr(address, &info) && info.dli_fname &&
      !llvm::sys::fs::real_path(info.dli_fname, path))
    return path.str().str();
  return llvm::createStringError("the runtime library of this process has no "
                                 "file; ask for --emit=object");
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
sparse_autograd::linkSharedObject(StringRef linker, StringRef object,
                                  StringRef soname) {
  llvm::Expected<std::string> runtime = findRuntime();
  if (!runtime)
    return runtime.takeError();
  auto input = io::ScratchFile::create("o", object);
  if (!input)
    return input.takeError();
  auto output = io::ScratchFile::create("so");
  if (!output)
    return output.takeError();
  auto report = io::ScratchFile::create("txt");
  if (!report)
    return report.takeError();

  // -Xlinker takes what has commas too. -lm is glibc's libm and libmvec, of
  // which the library needs those that it calls.
  StringRef arguments[] = {linker,
                           "-shared",
                           (*input)->getPath(),
                           *runtime,
                           "-lm",
                           "-Xlinker",
                           "--no-undefined",
                           "-Xlinker",
                           "-soname",
                           "-Xlinker",
                           soname,
                           "-Xlinker",
                           "-rpath",
                           "-Xlinker",
                           "$ORIGIN",
                           "-Xlinker",
                           "-rpath",
                           "-Xlinker",
                           llvm::sys::path::parent_path(*runtime),
                           "-o",
                           (*output)->getPath()};
  std::optional<StringRef> redirects[] = {StringRef(), (*report)->getPath(),
                                          (*report)->getPath()};
  std::string problem;
  int code = llvm::sys::ExecuteAndWait(linker, arguments, std::nullopt,
                                       redirects, /*SecondsToWait=*/0,
                                       /*MemoryLimit=*/0, &problem);
  if (code == 0)
    if (auto linked = llvm::MemoryBuffer::getFile(
            (*output)->getPath(), /*IsText=*/false,
            /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
        linked && (*linked)->getBufferSize() != 0)
      return std::move(*linked);
  if (problem.empty())
    if (auto text = llvm::MemoryBuffer::getFile((*report)->getPath()))
      problem = (*text)->getBuffer().trim().str();
  return llvm::createStringError(
      "'" + linker + "' cannot link the program: " +
      (problem.empty() ? "it wrote no file" : problem));
}
