//===- Isolation.h - inputs that may end the process ------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs numbered inputs in child processes, many in each: a crash ends one, and
// the next child goes on behind the input that crashed.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_TOOLS_FUZZIR_ISOLATION_H
#define SPARSEAUTOGRAD_TEST_TOOLS_FUZZIR_ISOLATION_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace sparse_autograd::fuzz {

/// What the child says of the input that it is at: survives it.
void setStage(llvm::StringRef stage);

/// How a child ended that did not end by itself.
struct Crash {
  uint64_t input;
  /// The last `setStage`.
  std::string stage;
  /// What it wrote to stderr: the stack, if it was a signal.
  std::string log;
  /// It took too long.
  bool isHang;
};

/// Calls `run` for the inputs from `begin` to `end`, and `onCrash` in this
/// process for those that end it. An input has `seconds` of processor time.
void runIsolated(uint64_t begin, uint64_t end, unsigned seconds,
                 llvm::function_ref<void(uint64_t)> run,
                 llvm::function_ref<void(const Crash &)> onCrash);

/// Ends the child: the next input is for another one.
[[noreturn]] void leaveProcess();

/// Adds `text` to what the child reports; the parent prints it.
void report(llvm::StringRef text);
/// All that was reported since the last call.
std::string takeReports();

/// Adds one to the counter `index`, which both processes see, below 16.
void count(unsigned index);
uint64_t getCount(unsigned index);

} // namespace sparse_autograd::fuzz

#endif // SPARSEAUTOGRAD_TEST_TOOLS_FUZZIR_ISOLATION_H
