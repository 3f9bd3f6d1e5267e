//===- FunctionCaptures.h - captured values as arguments --------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the values that a loop captures become arguments when it is outlined to a
// function: loops of large functions (OutlineLoops) and bodies that run in
// parallel (OutlineParallel). A buffer is handed over as a pointer, with those
// of its extents and strides that its type leaves open, and marked noalias if
// it overlaps no other: its descriptor would be several words of each call, and
// would hide from LLVM what cannot alias.
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_FUNCTIONCAPTURES_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_FUNCTIONCAPTURES_H

#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace sparse_autograd {

/// The values that an op captures, as operands of a call.
class FunctionCaptures {
public:
  /// Of `captor`, which is before the insertion point of `builder` for as long
  /// as captures are added.
  FunctionCaptures(mlir::OpBuilder &builder, mlir::Operation *captor)
      : builder(builder), captor(captor), loc(captor->getLoc()) {}

  void add(mlir::Value value);

  mlir::ValueRange getOperands() const { return operands; }

  /// Has `function`, whose arguments from `firstArgument` on are the operands,
  /// take buffers as bare pointers, and says which of them overlap no other.
  void describeBuffers(mlir::func::FuncOp function, unsigned firstArgument,
                       mlir::AliasAnalysis &aliases) const;

  /// Maps each captured value to what stands for it in the function, of whose
  /// arguments `arguments` are the operands.
  void rebuild(mlir::OpBuilder &builder, mlir::ValueRange arguments,
               mlir::IRMapping &mapping) const;

private:
  struct Capture {
    mlir::Value value;
    /// Of a buffer that is taken apart, its type in the function; else null.
    mlir::MemRefType innerType;
    /// The first operand, the pointer of a buffer.
    unsigned position;
  };

  void addDynamic(int64_t known, mlir::Value value);
  mlir::Value rebuild(mlir::OpBuilder &builder, const Capture &capture,
                      mlir::ValueRange arguments) const;

  mlir::OpBuilder &builder;
  mlir::Operation *captor;
  mlir::Location loc;
  llvm::SmallVector<Capture> captures;
  llvm::SmallVector<mlir::Value> operands;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_FUNCTIONCAPTURES_H
