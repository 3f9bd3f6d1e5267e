//===- LinalgRules.cpp - the derivative of linalg.generic -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule for every structured op, derived from its region and its maps. The
// tangent is a generic over the same space that also reads the tangents of the
// operands; its transpose has, for each linear operand, a generic over the same
// space that writes through the map of that operand: of a convolution one that
// scatters, whose transpose is a convolution again.
//
// Named ops have become generics by then (Normalization.cpp).
//
//===----------------------------------------------------------------------===//

#include "GenericTangent.h"
#include "GenericTranspose.h"
#include "Refused.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Rules.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
struct GenericModel
    : LinearizableOpInterface::ExternalModel<GenericModel, linalg::GenericOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<linalg::GenericOp>(operation);
    if (!op.hasPureTensorSemantics())
      return op.emitOpError("works on memory, which is not differentiated; "
                            "differentiate before bufferization");
    return linearizeGeneric(op, linearizer);
  }

  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<linalg::GenericOp>(operation);
    return transposeGeneric(op, transposer);
  }

  bool takesTangentFormat(Operation *, Value, Type tangent) const {
    return !isSparse(tangent);
  }
};

/// A linalg.pack that normalization could not rewrite.
struct PackModel
    : LinearizableOpInterface::ExternalModel<PackModel, linalg::PackOp> {
  LogicalResult linearize(Operation *op, Linearizer &) const {
    return op->emitOpError("has no derivative rule for tiles of unknown size; "
                           "use constants as inner_tiles");
  }
};
} // namespace

void sparse_autograd::registerLinalgDerivativeRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::GenericOp::attachInterface<GenericModel>(*context);
    linalg::PackOp::attachInterface<PackModel>(*context);
    attachRefused<linalg::WinogradFilterTransformOp,
                  linalg::WinogradInputTransformOp,
                  linalg::WinogradOutputTransformOp>(*context);
  });
}
