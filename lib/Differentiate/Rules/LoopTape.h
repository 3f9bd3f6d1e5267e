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

/// Says that the sparse `value`, carried or computed by `loop`, has no pattern
/// from outside of the loop, so that the loop has no transpose.
mlir::InFlightDiagnostic reportNewPatterns(mlir::scf::ForOp loop,
                                           mlir::Value value);

/// Keeps values of each iteration of a loop.
class LoopTape {
public:
  /// Replaces `loop` by one that keeps `values`, carried values and results of
  /// ops in its body. A carried value and what is yielded for it share a tape:
  /// what one iteration yields is what the next one starts from.
  static llvm::FailureOr<LoopTape> record(mlir::scf::ForOp loop,
                                          llvm::ArrayRef<mlir::Value> values,
                                          Linearizer &linearizer);

  /// The loop that keeps the values.
  mlir::scf::ForOp getLoop() const { return loop; }

  /// Maps the kept values, as `record` was told them, to those of the iteration
  /// at `position`.
  void read(mlir::OpBuilder &builder, mlir::Value position,
            mlir::IRMapping &mapping) const;

private:
  struct Entry {
    mlir::Value value, tape;
    /// Of a sparse value: one of its pattern, from outside of the loop. The
    /// tape holds the values that it stores.
    mlir::Value pattern;
    /// The value is what an iteration yields on a tape of what it starts from:
    /// it stands one further on.
    bool isYielded;
  };

  mlir::scf::ForOp loop;
  llvm::SmallVector<Entry> entries;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_LOOPTAPE_H
