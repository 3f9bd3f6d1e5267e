//===- RuntimeCalls.h - calls of the runtime from memrefs -------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_RUNTIMECALLS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_RUNTIMECALLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace sparse_autograd {

/// The function `name` of the runtime in `symbols`; declared there if it is not
/// yet.
mlir::func::FuncOp declareRuntimeFunction(mlir::SymbolTable &symbols,
                                          llvm::StringRef name,
                                          mlir::TypeRange arguments,
                                          mlir::TypeRange results = {});

/// The index `index` as the runtime takes it.
mlir::Value toI64(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value index);

/// The address of the element of the buffer of `memref` that is `offset`
/// elements from where it begins.
mlir::Value getElementPointer(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value memref, mlir::Value offset);

/// Creates the constant `name`: the characters of `text` and a zero.
mlir::LLVM::GlobalOp
createText(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
           llvm::StringRef text,
           mlir::LLVM::Linkage linkage = mlir::LLVM::Linkage::Internal);

/// Builds the calls of the runtime that take the place of an op.
class RuntimeCallBuilder {
public:
  /// Builds before `op`, whose location the calls have.
  RuntimeCallBuilder(mlir::Operation *op, mlir::SymbolTable &symbols)
      : op(op), builder(op), loc(op->getLoc()), symbols(symbols) {}

  mlir::Value constant(int64_t value);
  /// A value of an enumeration of the runtime, such as the kind of an element.
  mlir::Value kind(int32_t value);
  /// An f64.
  mlir::Value number(double value);
  /// The address of the first element of `memref`.
  mlir::Value pointer(mlir::Value memref);
  /// `value`, a number or an address, in the low bytes of an i64.
  mlir::Value word(mlir::Value value);
  /// The address of a list of such words on the stack.
  mlir::Value list(llvm::ArrayRef<mlir::Value> values);
  /// Calls the function `name` of the runtime, and returns its results.
  mlir::ValueRange call(llvm::StringRef name,
                        llvm::ArrayRef<mlir::Value> arguments,
                        mlir::TypeRange results = {});

  mlir::Operation *op;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::SymbolTable &symbols;
};

/// Whether `type` is a memref in the global memory of a device
/// (`#gpu.address_space<global>`).
bool isOnDevice(mlir::Type type);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_RUNTIMECALLS_H
