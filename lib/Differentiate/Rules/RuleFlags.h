//===- RuleFlags.h - fast-math flags of derivatives -------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_RULEFLAGS_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_RULEFLAGS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace sparse_autograd {

/// The flags of the ops that the derivative of `op` is made of (semantics G3):
/// those of `op` less nnan and ninf, because a derivative can be infinite
/// where the function is finite.
inline mlir::arith::FastMathFlags getDerivativeFlags(mlir::Operation *op) {
  using mlir::arith::FastMathFlags;
  auto flagged = llvm::dyn_cast<mlir::arith::ArithFastMathInterface>(op);
  mlir::arith::FastMathFlagsAttr attribute =
      flagged ? flagged.getFastMathFlagsAttr()
              : mlir::arith::FastMathFlagsAttr();
  if (!attribute)
    return FastMathFlags::none;
  return attribute.getValue() & ~(FastMathFlags::nnan | FastMathFlags::ninf);
}

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_RULEFLAGS_H
