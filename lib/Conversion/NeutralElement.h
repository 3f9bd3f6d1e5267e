//===- NeutralElement.h - what a combiner does not change by ----*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_NEUTRALELEMENT_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_NEUTRALELEMENT_H

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Operation.h"

namespace sparse_autograd {

/// The element that the binary op `combiner` of `arith` leaves any other one as
/// it is by, of the type of its result, or of an element of that; null for ops
/// that have none.
mlir::TypedAttr getNeutralElement(mlir::Operation *combiner);

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_NEUTRALELEMENT_H
