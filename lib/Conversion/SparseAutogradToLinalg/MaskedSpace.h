//===- MaskedSpace.h - loops over the selected elements ---------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_MASKEDSPACE_H
#define SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_MASKEDSPACE_H

#include "ScalarBuilder.h"
#include "SparseAutograd/Interfaces/MaskOpInterface.h"
#include "mlir/IR/PatternMatch.h"

namespace sparse_autograd {

/// The iteration space of a masked op: the dimensions of its input, of which
/// some are reduced. A *slice* is what remains when the reduced dimensions are
/// fixed away: a value per slice is a tensor over the other dimensions.
///
/// Every loop over elements carries the input and the mask as operands, each
/// with its own map, so that a run-time check of the extents sees both.
class MaskedSpace {
public:
  /// What a loop body sees of one element.
  struct Element {
    /// The element of the input, in the accumulation type.
    mlir::Value value;
    /// Whether it is selected; null where everything is.
    mlir::Value selected;
    /// The values of the element's slice, in the order they were given.
    mlir::ValueRange slices;
    /// The accumulators of the slice; none outside of a reduction.
    mlir::ValueRange accumulators;
  };
  using ElementBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      ScalarBuilder &, const Element &)>;
  using SliceBody =
      llvm::function_ref<mlir::Value(ScalarBuilder &, mlir::ValueRange slices)>;

  /// The space of `op`, whose dimensions `dims` are reduced.
  MaskedSpace(mlir::PatternRewriter &rewriter, MaskOpInterface op,
              llvm::ArrayRef<int64_t> dims, mlir::arith::FastMathFlags flags);

  /// The type to accumulate in: f32 for f16 and bf16, else the input's own
  /// (semantics G11).
  mlir::FloatType getAccumulationType() const { return accumulationType; }

  /// One pass over the elements, reducing into one accumulator per identity.
  /// The body returns the new accumulators; each must be its combiner applied
  /// to the accumulator itself. Returns a value per slice for each of them.
  llvm::SmallVector<mlir::Value>
  reduce(mlir::ValueRange slices, llvm::ArrayRef<mlir::TypedAttr> identities,
         ElementBody body);

  /// One pass over the slices; the value of the body, of a float type, is
  /// rounded to the element type of the input.
  mlir::Value mapSlices(mlir::ValueRange slices, mlir::Type elementType,
                        SliceBody body);

  /// One pass over the elements that makes a tensor of their shape; the value
  /// of the body is rounded to `elementType`.
  mlir::Value mapElements(mlir::ValueRange slices, mlir::Type elementType,
                          ElementBody body);

  /// The same space with the elements of `other`, a tensor of the shape of the
  /// input.
  MaskedSpace withInput(mlir::Value other) const;

  /// The number of elements of a slice, an i64, counted from the extents.
  mlir::Value getSliceSize();

  bool hasMask() const { return mask != nullptr; }
  mlir::Location getLoc() const { return loc; }

private:
  llvm::SmallVector<mlir::OpFoldResult> getSliceExtents();
  /// The element operands, the slices, and the maps of both.
  void getInputs(mlir::ValueRange slices,
                 llvm::SmallVectorImpl<mlir::Value> &inputs,
                 llvm::SmallVectorImpl<mlir::AffineMap> &maps);
  Element getElement(ScalarBuilder &scalars, mlir::ValueRange arguments,
                     size_t numSlices);

  mlir::PatternRewriter &rewriter;
  mlir::Location loc;
  mlir::Value input;
  mlir::Value mask;
  mlir::RankedTensorType type;
  mlir::FloatType accumulationType;
  mlir::AffineMap elementMap;
  mlir::AffineMap maskMap;
  mlir::AffineMap sliceMap;
  llvm::SmallVector<mlir::utils::IteratorType> iterators;
  mlir::arith::FastMathFlags flags;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_CONVERSION_SPARSEAUTOGRADTOLINALG_MASKEDSPACE_H
