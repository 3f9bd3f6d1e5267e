//===- Reduction.h - the smallest program of a failure ----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_TOOLS_SPARSE_REDUCE_REDUCTION_H
#define SPARSEAUTOGRAD_TOOLS_SPARSE_REDUCE_REDUCTION_H

#include "Edits.h"
#include "InterestingnessTest.h"
#include "mlir/IR/MLIRContext.h"

namespace sparse_autograd {

/// A reduction by delta debugging (Zeller and Hildebrandt, Simplifying and
/// isolating failure-inducing input, IEEE Trans. Software Eng. 28, 2002): of
/// each edit, halves are tried, then quarters, down to single units, and all
/// edits again until none removes anything.
///
/// Each edit runs in a process of its own, as a pass or a verifier may crash on
/// what it has never seen. The smallest program so far is always in the file.
class Reduction {
public:
  /// `context` must not use threads. The program is kept in `file`.
  Reduction(mlir::MLIRContext &context, const InterestingnessTest &test,
            std::string file)
      : context(context), test(test), file(std::move(file)) {}

  /// Writes the program to the file as it is. Fails if it cannot be parsed, or
  /// does not show the failure.
  llvm::Error begin(llvm::StringRef text);
  /// Makes the program in the file as small as these edits can. Fails if the
  /// file cannot be written or the script cannot be run; what has been found
  /// until then is in the file.
  llvm::Error run(llvm::ArrayRef<Edit> edits);

private:
  struct Progress;

  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> load() const;
  /// Replaces the file, as a whole.
  llvm::Error save(llvm::StringRef text) const;
  /// Tries an edit, from where `progress` says.
  llvm::Error tryEdit(const Edit &edit, Progress &progress);
  /// As tryEdit, in other processes, as many as crash and one more. Whether the
  /// program became smaller.
  llvm::Expected<bool> runEdit(const Edit &edit);

  mlir::MLIRContext &context;
  const InterestingnessTest &test;
  std::string file;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_TOOLS_SPARSE_REDUCE_REDUCTION_H
