//===- InterestingnessTest.h - does a file show the failure? ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TOOLS_SPARSE_REDUCE_INTERESTINGNESSTEST_H
#define SPARSEAUTOGRAD_TOOLS_SPARSE_REDUCE_INTERESTINGNESSTEST_H

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace sparse_autograd {

/// A script that is given a file, and exits with status 1 if the file shows the
/// failure, and with 0 if it does not.
struct InterestingnessTest {
  InterestingnessTest() = default;
  InterestingnessTest(const InterestingnessTest &) = delete;
  InterestingnessTest &operator=(const InterestingnessTest &) = delete;
  ~InterestingnessTest();

  std::string script;
  /// Arguments before the file.
  std::vector<std::string> arguments;
  /// After so many seconds a run counts as one that does not show the failure.
  unsigned timeout = 60;

  /// Finds the script, and makes the file that it is given each time, which is
  /// removed in the end, whatever that is. Fails if there is no script, or if
  /// it cannot be executed.
  llvm::Error prepare();
  /// Whether a program, as text, shows the failure. Fails if the script cannot
  /// be run, or exits with another status.
  llvm::Expected<bool> run(llvm::StringRef text) const;

private:
  llvm::Error find();

  llvm::SmallString<128> file;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TOOLS_SPARSE_REDUCE_INTERESTINGNESSTEST_H
