//===- Reduction.cpp - the smallest program of a failure ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reduction.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"
#include <csignal>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace sparse_autograd;

/// How far an edit has come, in memory that its process shares with the one
/// that started it.
struct Reduction::Progress {
  /// So many units are removed at a time; 0: it has not begun.
  size_t units;
  /// The last one of the next units to remove, plus 1.
  size_t end;
  bool isSmaller;
  bool hasFailed;
  char message[512];
};

llvm::Error Reduction::save(llvm::StringRef text) const {
  return llvm::writeToOutput(file, [&](llvm::raw_ostream &stream) {
    stream << text;
    return llvm::Error::success();
  });
}

llvm::Expected<OwningOpRef<ModuleOp>> Reduction::load() const {
  auto module = parseSourceFile<ModuleOp>(file, &context);
  if (!module)
    return llvm::createStringError("'" + file + "' cannot be parsed");
  return module;
}

llvm::Error Reduction::begin(llvm::StringRef text) {
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return llvm::createStringError("the file cannot be parsed");
  llvm::Expected<bool> isInteresting = test.run(print(*module));
  if (!isInteresting)
    return isInteresting.takeError();
  if (!*isInteresting)
    return llvm::createStringError(
        "the file does not show the failure: the script exits with status 0 "
        "for it, and has to exit with 1");
  return save(print(*module));
}

llvm::Error Reduction::tryEdit(const Edit &edit, Progress &progress) {
  llvm::Expected<OwningOpRef<ModuleOp>> module = load();
  if (!module)
    return module.takeError();
  // What an edit makes invalid is no news.
  ScopedDiagnosticHandler handler(&context,
                                  [](Diagnostic &) { return success(); });
  if (!progress.units)
    progress.units = progress.end = edit.count(**module);
  for (; progress.units; progress.units /= 2) {
    while (progress.end) {
      size_t begin =
          progress.end > progress.units ? progress.end - progress.units : 0;
      OwningOpRef<ModuleOp> smaller = (*module)->clone();
      std::string text;
      if (edit.remove(*smaller, begin, progress.end) &&
          succeeded(verify(*smaller))) {
        text = print(*smaller);
        // What the file says, which is not all of a module: the bodies of named
        // operations are not written.
        smaller = parseSourceString<ModuleOp>(text, &context);
      } else {
        smaller = nullptr;
      }
      bool isSmaller = smaller && getSize(*smaller) < getSize(**module);
      if (isSmaller) {
        llvm::Expected<bool> isInteresting = test.run(text);
        if (!isInteresting)
          return isInteresting.takeError();
        isSmaller = *isInteresting;
      }
      if (isSmaller) {
        if (llvm::Error error = save(text))
          return error;
        progress.isSmaller = true;
        *module = std::move(smaller);
        // Other units may have gone with these.
        begin = std::min(begin, edit.count(**module));
      }
      progress.end = begin;
    }
    progress.end = edit.count(**module);
    progress.units = std::min(progress.units, progress.end);
  }
  return llvm::Error::success();
}

llvm::Expected<bool> Reduction::runEdit(const Edit &edit) {
  void *memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return llvm::createStringError("out of memory");
  auto *progress = new (memory) Progress{};
  int status = 0;
  do {
    llvm::outs().flush();
    llvm::errs().flush();
    pid_t child = fork();
    if (child == -1) {
      munmap(memory, sizeof(Progress));
      return llvm::createStringError("a process cannot be started: " +
                                     llvm::Twine(std::strerror(errno)));
    }
    if (child == 0) {
      // A crash is news for the parent alone.
      for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL})
        std::signal(signal, SIG_DFL);
      if (llvm::Error error = tryEdit(edit, *progress)) {
        progress->hasFailed = true;
        std::string message = toString(std::move(error));
        std::strncpy(progress->message, message.c_str(),
                     sizeof(progress->message) - 1);
      }
      _exit(0);
    }
    while (waitpid(child, &status, 0) == -1 && errno == EINTR)
      ;
    // The units that it crashed on stay.
    if (WIFSIGNALED(status)) {
      llvm::WithColor::note()
          << "removing " << edit.name << " crashed ("
          << strsignal(WTERMSIG(status)) << "); the others are tried\n";
      if (progress->units == 0)
        break;
      progress->end -= std::min(progress->units, progress->end);
      if (progress->end == 0) {
        progress->units /= 2;
        // Where the next ones begin is counted again.
        llvm::Expected<OwningOpRef<ModuleOp>> module = load();
        if (!module)
          return module.takeError();
        progress->end = edit.count(**module);
        if (progress->units == 0)
          break;
      }
    }
  } while (WIFSIGNALED(status));
  Progress result = *progress;
  munmap(memory, sizeof(Progress));
  if (result.hasFailed)
    return llvm::createStringError(result.message);
  return result.isSmaller;
}

llvm::Error Reduction::run(llvm::ArrayRef<Edit> edits) {
  bool isSmaller = true;
  while (isSmaller) {
    isSmaller = false;
    for (const Edit &edit : edits) {
      llvm::Expected<bool> one = runEdit(edit);
      if (!one)
        return one.takeError();
      isSmaller |= *one;
    }
  }
  return llvm::Error::success();
}
