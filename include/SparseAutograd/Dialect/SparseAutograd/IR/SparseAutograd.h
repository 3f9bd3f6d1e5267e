//===- SparseAutograd.h - the sparse_autograd dialect -----------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRAD_H
#define SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRAD_H

#include "SparseAutograd/Interfaces/MaskOpInterface.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace sparse_autograd {

/// Whether `type` is a tensor with an encoding of the sparse_tensor dialect.
/// Other types of that dialect have one too (`storage_specifier`).
inline bool isSparse(mlir::Type type) {
  return mlir::isa<mlir::RankedTensorType>(type) &&
         mlir::sparse_tensor::getSparseTensorEncoding(type);
}

/// Whether `type` is a tensor that stores some rows, each as a whole: its first
/// level is its first dimension, compressed, and the others are dense.
bool isRowSparse(mlir::Type type);

} // namespace sparse_autograd

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradDialect.h.inc"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradTypes.h.inc"

#define GET_OP_CLASSES
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradOps.h.inc"

#endif // SPARSEAUTOGRAD_DIALECT_SPARSEAUTOGRAD_IR_SPARSEAUTOGRAD_H
