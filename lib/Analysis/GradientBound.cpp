//===- GradientBound.cpp - what a gradient takes at most ------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/GradientBound.h"
#include "SparseAutograd/Analysis/ResidualCost.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace sparse_autograd;

/// The number of argument `value` of the function; nothing if it is none.
static std::optional<unsigned> getArgument(Value value, func::FuncOp function) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &function.getBody().front())
    return std::nullopt;
  return argument.getArgNumber();
}

/// The extents of a tensor of `type` that has those of argument `argument`.
static SmallVector<std::string> getShape(RankedTensorType type,
                                         unsigned argument) {
  SmallVector<std::string> shape;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    shape.push_back(
        ShapedType::isDynamic(extent)
            ? ("dim(" + Twine(argument) + ", " + Twine(dim) + ")").str()
            : std::to_string(extent));
  return shape;
}

/// The product of numbers; 1 of none.
static std::string multiply(ArrayRef<std::string> factors) {
  return factors.empty() ? "1" : llvm::join(factors, " * ");
}

/// The sum of what `count` says of each of `values`; nothing if it does of one.
static std::optional<std::string>
addAll(ValueRange values,
       llvm::function_ref<std::optional<std::string>(Value)> count) {
  SmallVector<std::string> numbers;
  for (Value value : values) {
    std::optional<std::string> number = count(value);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return "(" + llvm::join(numbers, " + ") + ")";
}

/// So many indices are there.
GradientBounds::Count GradientBounds::countIndices(Value indices) {
  auto type = cast<RankedTensorType>(indices.getType());
  if (type.hasStaticShape())
    return std::to_string(type.getNumElements());
  if (auto concat = indices.getDefiningOp<tensor::ConcatOp>())
    return addAll(concat.getInputs(),
                  [&](Value input) { return countIndices(input); });
  if (auto cast = indices.getDefiningOp<tensor::CastOp>())
    return countIndices(cast.getSource());
  if (std::optional<unsigned> argument = getArgument(indices, derivative))
    return multiply(getShape(type, *argument));
  return std::nullopt;
}

/// At most so many rows are stored.
GradientBounds::Count GradientBounds::countRows(Value rowSparse) {
  if (auto sum = rowSparse.getDefiningOp<AccumulateOp>())
    return addAll(sum.getInputs(),
                  [&](Value input) { return countRows(input); });
  auto scatter = rowSparse.getDefiningOp<ScatterRowsOp>();
  return scatter ? countIndices(scatter.getIndices()) : std::nullopt;
}

/// At most so many elements of a tensor of extents `shape` are in `set`.
GradientBounds::Count
GradientBounds::countElements(const ElementSet &set,
                              ArrayRef<std::string> shape) {
  SmallVector<std::string> factors;
  if (std::optional<unsigned> argument = getArgument(set.source, derivative)) {
    bool isSparseSource = isSparse(set.source.getType());
    factors.push_back(
        ((isSparseSource ? "nnz(" : "count(") + Twine(*argument) + ")").str());
  } else if (Count rows = countRows(set.source)) {
    // The extents of a row that are not known are those of the table.
    factors.push_back(*rows);
    for (AffineExpr dim : set.map.getResults().drop_front())
      factors.push_back(shape[cast<AffineDimExpr>(dim).getPosition()]);
  } else {
    return std::nullopt;
  }
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (!set.map.isFunctionOfDim(dim))
      factors.push_back(extent);
  return multiply(factors);
}

std::optional<GradientBound> GradientBounds::of(Value gradient,
                                                unsigned argument) {
  auto type = cast<RankedTensorType>(gradient.getType());
  SmallVector<std::string> shape = getShape(type, argument);
  std::string width = std::to_string(estimateBytes(type.getElementType()));
  ValueSupport support = supports.of(gradient);
  Count elements;
  if (!support.isEverywhere) {
    SmallVector<std::string> counts;
    for (const ElementSet &set : support.sets)
      if (Count count = countElements(set, shape))
        counts.push_back(*count);
    if (counts.size() == support.sets.size())
      elements = counts.empty() ? "0" : llvm::join(counts, " + ");
  }
  auto encoding = sparse_tensor::getSparseTensorEncoding(type);
  if (!encoding) {
    std::string all = multiply(shape);
    return GradientBound{elements.value_or(all), width + " * " + all};
  }
  if (!elements)
    return std::nullopt;
  std::string bytes = width + " * " + *elements;
  if (Count rows = countRows(support.sets.front().source)) {
    // Two positions, and a coordinate for each row.
    auto toBytes = [](unsigned bits) { return bits == 0 ? 8 : bits / 8; };
    bytes += (" + " + Twine(2 * toBytes(encoding.getPosWidth())) + " + " +
              Twine(toBytes(encoding.getCrdWidth())) + " * " + *rows)
                 .str();
  }
  return GradientBound{*elements, bytes};
}
