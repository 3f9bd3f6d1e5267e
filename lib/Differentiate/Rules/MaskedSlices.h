//===- MaskedSlices.h - tensors under a mask --------------------*- C++ -*-===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_MASKEDSLICES_H
#define SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_MASKEDSLICES_H

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Interfaces/LinearizableOpInterface.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sparse_autograd {

/// What logsumexp and its partial derivatives are made of. These are the
/// exponentials times the scale: exp(x - y); 0 where the result y is -inf;
/// where it is +inf, 1 / t on each of the t elements that are +inf.
struct LogSumExp {
  /// The result: reduced.
  mlir::Value value;
  /// exp(x - shift) for a shift of each slice, 0 where nothing is selected;
  /// of what is +inf, 1: full.
  mlir::Value exponentials;
  /// One over the sum of the exponentials, 0 where that is 0: reduced.
  mlir::Value scale;
};

/// The slices of a tensor along some dimensions, and the elements that a mask
/// selects of them: builds what the derivatives of masked reductions are made
/// of. *Full* tensors have the shape of the input, *reduced* ones that of the
/// reduction, whose dimensions are gone. All arithmetic is in the type that
/// sums accumulate in.
class MaskedSlices {
public:
  /// `like` gives the shape of the input, whose element type is `elementType`;
  /// `mask` may be null. `like` is no tangent: the shapes of all that is built
  /// are read from it.
  MaskedSlices(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value like,
               mlir::Type elementType, mlir::Value mask,
               llvm::ArrayRef<int64_t> maskDims, llvm::ArrayRef<int64_t> dims);

  /// Slices of `input` that a rule builds tangents of: their shapes are noted.
  MaskedSlices(Linearizer &linearizer, mlir::Location loc, mlir::Value input,
               mlir::Value mask, llvm::ArrayRef<int64_t> maskDims,
               llvm::ArrayRef<int64_t> dims);

  /// The same slices of which `mask`, a full tensor, selects elements.
  MaskedSlices withMask(mlir::Value mask) const;

  /// To and from the type that is computed in.
  mlir::Value widen(mlir::Value value);
  mlir::Value narrow(mlir::Value value);

  /// Removes from a tensor of the shape of a reduction with 'keepdims' its
  /// dimensions of extent 1, and puts them back. The type of `reduction` is
  /// that of the result; it need not know these extents.
  mlir::Value dropReducedDims(mlir::Value value);
  mlir::Value restoreReducedDims(mlir::Value value, mlir::Value reduction);

  /// Linear in `value`, a full tensor: the masked sum or mean, reduced.
  mlir::Value sum(mlir::Value value);
  mlir::Value mean(mlir::Value value);
  /// Linear in `value`: its product with `weights`, both full or both reduced.
  mlir::Value multiply(mlir::Value value, mlir::Value weights);
  /// Linear in both: full `value` minus reduced `subtrahend`, times the full
  /// `factor` if one is given, on the selected elements; zero on the others.
  mlir::Value subtractFromSelected(mlir::Value value, mlir::Value subtrahend,
                                   mlir::Value factor = {});
  /// Reduced `value` on every element of its slice: full.
  mlir::Value broadcast(mlir::Value value);
  /// Reduced `value` divided by the number of selected elements of the slice;
  /// as it is for a slice that selects nothing.
  mlir::Value divideByCount(mlir::Value value);

  /// exp of a full tensor.
  mlir::Value exponential(mlir::Value value);
  /// The selected elements of `input` that attain `extremum`, or are the NaNs
  /// if it is one: a full mask.
  mlir::Value createTies(mlir::Value input, mlir::Value extremum);
  /// The first element, in row-major order, that `mask` selects in each slice:
  /// a full mask.
  mlir::Value createFirst(mlir::Value mask);
  /// For every element the product of the other selected ones of its slice,
  /// as an exclusive prefix times an exclusive suffix: never a quotient.
  mlir::Value createProductOfOthers(mlir::Value input);
  /// The difference of every element from the mean of its slice.
  mlir::Value createDeviation(mlir::Value input);
  /// 2 / (n - ddof), 0 where n <= ddof: reduced.
  mlir::Value createVarianceScale(int64_t ddof);
  /// 1 / ((n - ddof) std), 0 where n <= ddof or std is 0: reduced.
  mlir::Value createDeviationScale(mlir::Value std, int64_t ddof);
  /// x / norm, 0 where the norm is 0: full.
  mlir::Value createDirection(mlir::Value input, mlir::Value norm);
  /// The logarithm of the sum of the exponentials of the selected elements, and
  /// its parts.
  LogSumExp createLogSumExp(mlir::Value input);

private:
  using Body = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location,
                                              mlir::ValueRange)>;
  /// What tensors range over.
  enum class Extent { Full, Reduced };
  /// An elementwise op over full or reduced tensors: `operands` with their
  /// maps, a result of `type`.
  mlir::Value elementwise(Extent extent, mlir::Type type,
                          llvm::ArrayRef<mlir::Value> operands,
                          llvm::ArrayRef<mlir::AffineMap> maps, Body body);
  /// The same on tensors of one shape.
  mlir::Value elementwise(mlir::Type type, llvm::ArrayRef<mlir::Value> operands,
                          Body body);
  /// A reduction of full tensors to a reduced one of the type of `identity`.
  mlir::Value reduce(mlir::TypedAttr identity,
                     llvm::ArrayRef<mlir::Value> operands,
                     llvm::ArrayRef<mlir::AffineMap> maps, Body body);
  /// The masked reduction of a full tensor, reduced.
  mlir::Value reduceSelected(ReductionKind kind, mlir::Value value);
  /// The operands and maps of `operands` followed by the mask, if there is one.
  void addMask(llvm::SmallVectorImpl<mlir::Value> &operands,
               llvm::SmallVectorImpl<mlir::AffineMap> &maps);
  /// The number of selected elements of each slice, as i64: reduced.
  mlir::Value createCount();
  /// The extents of reduced tensors.
  llvm::SmallVector<mlir::OpFoldResult> getReducedShape();
  /// A tensor to read the extents of full or reduced tensors from.
  mlir::Value getShape(Extent extent);
  /// Notes the shape of `value`, which may be a tangent; returns it.
  mlir::Value note(mlir::Value value, Extent extent);
  /// Whether `value` is a full tensor. Without reduced dimensions all are.
  Extent extentOf(mlir::Value value) const;
  bool isReduced(int64_t dim) const;

  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// Null where the slices are of a transpose.
  Linearizer *linearizer = nullptr;
  mlir::Value like, mask;
  llvm::SmallVector<int64_t> dims;
  mlir::RankedTensorType type;
  /// The element type of the input, and the one that is computed in.
  mlir::Type elementType, computeType;
  /// From the dimensions of the input to those of full tensors, reduced tensors
  /// and the mask.
  mlir::AffineMap fullMap, reducedMap, maskMap;
};

} // namespace sparse_autograd

#endif // SPARSEAUTOGRAD_LIB_DIFFERENTIATE_RULES_MASKEDSLICES_H
