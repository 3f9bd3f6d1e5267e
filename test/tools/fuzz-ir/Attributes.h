//===- Attributes.h - random attributes of the dialect -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TEST_TOOLS_FUZZIR_ATTRIBUTES_H
#define SPARSEAUTOGRAD_TEST_TOOLS_FUZZIR_ATTRIBUTES_H

#include "Mutations.h"

namespace sparse_autograd::fuzz {

/// An attribute `sparse_autograd.*` that a program was given.
struct GivenAttribute {
  std::string name;
  /// On an op, or on an argument or a result of a function.
  enum Place { Op, Argument, Result } place;
  /// Whether the dialect has no such attribute there.
  bool isUnknown;
};

/// Gives an op of `module`, the module itself among them, or an argument or a
/// result of a function an attribute of the dialect, or one with a name that is
/// none, and some value.
GivenAttribute addAttribute(mlir::ModuleOp module, Random &random);

/// What is wrong with `errors`, the messages on a program that was given
/// `attribute` alone, and was not accepted: empty if there are some, and
/// an unknown one is named beside those that there are.
std::string checkErrors(const GivenAttribute &attribute,
                        llvm::StringRef errors);

} // namespace sparse_autograd::fuzz

#endif // SPARSEAUTOGRAD_TEST_TOOLS_FUZZIR_ATTRIBUTES_H
