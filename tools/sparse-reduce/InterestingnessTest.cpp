//===- InterestingnessTest.cpp - does a file show the failure? ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InterestingnessTest.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace sparse_autograd;

Error InterestingnessTest::find() {
  auto refuse = [&](const Twine &why) {
    return createStringError("the script '" + script +
                             "' cannot be run: " + why);
  };
  // As a shell does: what has no folder is a program of the path.
  bool isPath = StringRef(script).contains('/');
  if (!isPath) {
    if (ErrorOr<std::string> found = sys::findProgramByName(script)) {
      script = *found;
      return Error::success();
    }
  }
  if (!sys::fs::exists(script))
    return refuse("there is no such file");
  if (sys::fs::is_directory(script))
    return refuse("it is a folder");
  if (!sys::fs::can_execute(script))
    return refuse("it is not executable (chmod +x)");
  // A file of this folder.
  if (!isPath)
    script = "./" + script;
  return Error::success();
}

InterestingnessTest::~InterestingnessTest() {
  if (file.empty())
    return;
  sys::fs::remove(file);
  sys::DontRemoveFileOnSignal(file);
}

Error InterestingnessTest::prepare() {
  if (Error error = find())
    return error;
  if (std::error_code code =
          sys::fs::createTemporaryFile("sparse-reduce", "mlir", file))
    return createStringError(code, "a temporary file cannot be written: " +
                                       code.message());
  sys::RemoveFileOnSignal(file);
  return Error::success();
}

Expected<bool> InterestingnessTest::run(StringRef text) const {
  {
    std::error_code code;
    raw_fd_ostream stream(file, code);
    stream << text;
    stream.close();
    if (!code)
      code = stream.error();
    stream.clear_error();
    if (code)
      return createStringError(
          code, Twine("'") + file + "' cannot be written: " + code.message());
  }
  std::vector<StringRef> command = {script};
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.push_back(file);
  // What the script says is of no use to anybody.
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(),
                                          StringRef()};
  std::string message;
  bool isNotRun = false;
  int status =
      sys::ExecuteAndWait(script, command, std::nullopt, redirects, timeout,
                          /*MemoryLimit=*/0, &message, &isNotRun);
  if (isNotRun || status == -1)
    return createStringError("the script '" + script +
                             "', or a program that it ends with, cannot be "
                             "run: " +
                             message);
  // Stopped, for one that it takes too long.
  if (status == -2)
    return false;
  if (status != 0 && status != 1)
    return createStringError(
        "the script '" + script + "' exits with status " + Twine(status) +
        ": it has to exit with 1 for a file that shows the failure, and with 0 "
        "for one that does not");
  return status == 1;
}
