//===- LoopTape.h - what a loop keeps for its transpose ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_LOOPTAPE_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_LOOPTAPE_H

#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace sparse_autograd {

/// The number of iterations of `loop`, as an index, from counterparts of its
/// bounds and its step.
mlir::Value createTripCount(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
                            mlir::Value lower, mlir::Value upper,
                            mlir::Value step);

/// The position of the iteration with induction variable `iv`, as an index.
mlir::Value createPosition(mlir::OpBuilder &builder, mlir::scf::ForOp loop,
                           mlir::Value iv);

/// Keeps what a loop carries into each of its iterations.
class LoopTape {
public:
  /// Replaces `loop` by one that keeps what its body reads of the carried
  /// values.
  static llvm::FailureOr<LoopTape> record(mlir::scf::ForOp loop,
                                          Linearizer &linearizer);

  /// The loop that keeps the values.
  mlir::scf::ForOp getLoop() const { return loop; }

  /// The ops that the body of the loop had before it kept values.
  llvm::ArrayRef<mlir::Operation *> getPrimalOps() const { return primalOps; }

  /// Maps the carried values of the loop to what was kept for `position`.
  void read(mlir::OpBuilder &builder, mlir::Value position,
            mlir::IRMapping &mapping) const;

private:
  mlir::scf::ForOp loop;
  llvm::SmallVector<mlir::Operation *> primalOps;
  /// For each carried value, the kept values; null if they are not needed.
  llvm::SmallVector<mlir::Value> kept;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_LOOPTAPE_H
