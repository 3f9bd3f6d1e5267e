//===- RuleTable.h - what becomes of every op of MLIR -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ops of arith, math, tensor, linalg, scf and func that have no scalar
// record: how they are differentiated, why they need not be, or what is said
// where they are refused. A test compares the table with what the dialects
// register and with the rules that are attached.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIFFERENTIATE_RULETABLE_H
#define SPARSEAUTOGRAD_DIFFERENTIATE_RULETABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace sparse_autograd {

/// What becomes of an op when a program is differentiated.
enum class Treatment {
  /// A model gives its tangent; the text says which, and its transpose.
  Rule,
  /// It becomes other ops before; the text says which.
  Rewritten,
  /// Nothing differentiable comes out of it, or goes in; the text says why.
  WithoutTangent,
  /// It is an error on the active path; the text is the diagnostic.
  Refused
};

struct OpRecord {
  llvm::StringLiteral op;
  Treatment treatment;
  llvm::StringLiteral text;
};

/// One record for each op.
llvm::ArrayRef<OpRecord> listOpRecords();

/// A form of an op, or of a program, that is refused though others are not.
struct RefusedForm {
  llvm::StringLiteral form;
  /// What is said there, up to the first thing that depends on the program.
  llvm::StringLiteral diagnostic;
};

llvm::ArrayRef<RefusedForm> listRefusedForms();

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_DIFFERENTIATE_RULETABLE_H
