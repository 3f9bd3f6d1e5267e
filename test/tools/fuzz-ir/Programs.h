//===- Programs.h - programs that mutants are made of -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Seeds of the fuzzer of IR: the functions of files of tests and examples, each
// with what it refers to, without comments.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_TOOLS_FUZZIR_PROGRAMS_H
#define SPARSEAUTOGRAD_TEST_TOOLS_FUZZIR_PROGRAMS_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace sparse_autograd::fuzz {

/// Adds the programs that `text`, a file of MLIR, is made of.
void addPrograms(llvm::StringRef text, std::vector<std::string> &programs);

} // namespace sparse_autograd::fuzz

#endif // SPARSEAUTOGRAD_TEST_TOOLS_FUZZIR_PROGRAMS_H
