//===- PhaseContents.h - what a phase leaves --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract between phases, as data: VerifyPhase checks it.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_PIPELINES_PHASECONTENTS_H
#define SPARSEAUTOGRAD_LIB_PIPELINES_PHASECONTENTS_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

namespace sparse_autograd {

/// Kinds of types, of which a phase leaves some.
enum class TypeKind {
  SparseTensor, ///< with an encoding of sparse_tensor
  Tensor,       ///< any other
  MemRef
};

/// What may be in a module at the end of a phase, or of a part of the target.
struct PhaseContents {
  llvm::StringLiteral phase;
  /// Dialects, and single ops of others, as in "arith" and "func.call", in
  /// groups.
  mlir::ArrayRef<mlir::ArrayRef<llvm::StringLiteral>> ops;
  /// Ops of those dialects that the phase has replaced.
  mlir::ArrayRef<llvm::StringLiteral> replaced;
  /// Whether ops may be of dialects that no phase names: an extension of the
  /// pipeline lowers them later.
  bool hasForeignOps;
  mlir::ArrayRef<TypeKind> types;
  /// Attributes of ops with which the compiler marks what it knows, but those
  /// of schedules.
  mlir::ArrayRef<llvm::StringLiteral> marks;
  /// What schedules of loops, or of calls in the place of loops, may say: those
  /// parts that are not the default here.
  Schedule schedule = {};
};

/// The contents of each phase, in the order of the pipeline: those of the
/// target follow one another for each kind of target.
mlir::ArrayRef<PhaseContents> getPhaseContents();

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_PIPELINES_PHASECONTENTS_H
