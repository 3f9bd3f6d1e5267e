//===- Linker.cpp - object files to shared objects ------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Linker.h"
#include "SparseAutograd/Runtime/Runtime.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <dlfcn.h>
#include <tuple>

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

static llvm::Error writeFile(StringRef path, StringRef contents) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << contents;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return llvm::createStringError("'" + path +
                                   "' cannot be written: " + error.message());
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
sparse_autograd::linkSharedObject(StringRef linker, StringRef object,
                                  StringRef soname) {
  llvm::Expected<std::string> runtime = findRuntime();
  if (!runtime)
    return runtime.takeError();
  llvm::SmallString<128> folder;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("sparse-autograd", folder))
    return llvm::createStringError("no temporary folder can be made: " +
                                   error.message());
  llvm::scope_exit remove(
      [&]() { std::ignore = llvm::sys::fs::remove_directories(folder); });
  auto inFolder = [&](StringRef name) {
    llvm::SmallString<128> path = folder;
    llvm::sys::path::append(path, name);
    return path.str().str();
  };
  std::string input = inFolder("program.o"), output = inFolder("program.so");
  std::string report = inFolder("report");
  if (llvm::Error error = writeFile(input, object))
    return std::move(error);

  // -Xlinker takes what has commas too. -lm is glibc's libm and libmvec, of
  // which the library needs those that it calls.
  StringRef arguments[] = {linker,
                           "-shared",
                           input,
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
                           output};
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(report),
                                          StringRef(report)};
  std::string problem;
  int code = llvm::sys::ExecuteAndWait(linker, arguments, std::nullopt,
                                       redirects, /*SecondsToWait=*/0,
                                       /*MemoryLimit=*/0, &problem);
  if (code == 0)
    if (auto linked = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                                  /*RequiresNullTerminator=*/
                                                  false,
                                                  /*IsVolatile=*/true))
      return std::move(*linked);
  if (problem.empty())
    if (auto text = llvm::MemoryBuffer::getFile(report))
      problem = (*text)->getBuffer().trim().str();
  return llvm::createStringError(
      "'" + linker + "' cannot link the program: " +
      (problem.empty() ? "it wrote no file" : problem));
}
