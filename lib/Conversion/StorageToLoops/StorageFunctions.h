//===- StorageFunctions.h - functions that make storage ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_STORAGETOLOOPS_STORAGEFUNCTIONS_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_STORAGETOLOOPS_STORAGEFUNCTIONS_H

#include "LevelElements.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sparse_autograd {

/// The functions of a module that make storage by loops, on buffers of indices.
/// Each is there once, however often it is called: kernels take long to
/// compile. `coordinates` are n x levels, `order` has n elements.
class StorageFunctions {
public:
  explicit StorageFunctions(mlir::ModuleOp module)
      : module(module), symbols(module) {}

  /// `(coordinates, order)`: fills the order that sorts the entries.
  mlir::func::FuncOp getSort(int64_t levels);

  /// `(coordinates) -> (found)`, whose first row says whether an entry precedes
  /// the one before it, as 1 or 0, and the largest coordinate of each level.
  /// The caller releases it.
  mlir::func::FuncOp getSurvey(int64_t levels);

  /// `(numbers)`: replaces each row of n x `width` by the sum of those up to
  /// it.
  mlir::func::FuncOp getScan(int64_t width);

  /// `(counts, before)`: what count_before does.
  mlir::func::FuncOp getCountBefore();

  /// `(coordinates, order, extents...) -> (ranks)`. A row tells of the entries
  /// up to one, in order, how many elements each counted level has, and then
  /// how many entries there is something wrong with. The caller releases it.
  mlir::func::FuncOp
  getCount(mlir::sparse_tensor::SparseTensorEncodingAttr encoding);

  /// `(ranks) -> (totals...)`: the last row of n x `width`, zeros if there is
  /// none. The host waits for it.
  mlir::func::FuncOp getTotals(int64_t width);

  /// `(coordinates, order, ranks, extents..., lists...)`: what store_positions
  /// does, of entries that nothing is wrong with.
  mlir::func::FuncOp
  getStore(mlir::sparse_tensor::SparseTensorEncodingAttr encoding);

private:
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      LoopBuilder &, mlir::ValueRange)>;
  /// The private function `name`; if it is not there, it gets `body`.
  mlir::func::FuncOp getFunction(llvm::StringRef name,
                                 mlir::TypeRange arguments,
                                 mlir::TypeRange results, Body body);
  mlir::MemRefType getBuffer(int64_t width = 0) {
    return getBufferType(mlir::IndexType::get(module.getContext()), width);
  }

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::StringMap<mlir::func::FuncOp> functions;
};

/// The number at `place` of the last row of `ranks`, 0 if there is none.
mlir::Value loadTotal(LoopBuilder &loops, mlir::Value ranks, mlir::Value place);

/// How many elements a thread goes through where a list is cut.
constexpr int64_t chunkLength = 64;

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_STORAGETOLOOPS_STORAGEFUNCTIONS_H
