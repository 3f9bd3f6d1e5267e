//===- SmallTensors.cpp - tensors that are not worth to be sparse ---------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor that is converted from a dense one stores what is not zero there. An
// op that reads it can read the dense one, and select: where that is zero, what
// the op does where nothing is stored. It computes the same, NaN included.
//
//===----------------------------------------------------------------------===//

#include "FormatSelection.h"
#include "SparseAutograd/Analysis/ScalarTerms.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace sparse_autograd;

/// How many nonzeros `convert` stores, as far as the program says.
static std::optional<int64_t> getHint(sparse_tensor::ConvertOp convert) {
  StringRef name = SparseAutogradDialect::getNnzAttrName();
  if (auto hint = convert->getAttrOfType<IntegerAttr>(name))
    return hint.getInt();
  auto argument = dyn_cast<BlockArgument>(convert.getSource());
  auto function = convert->getParentOfType<func::FuncOp>();
  if (argument && function && argument.getOwner() == &function.front())
    if (auto hint = function.getArgAttrOfType<IntegerAttr>(
            argument.getArgNumber(), name))
      return hint.getInt();
  return std::nullopt;
}

/// Whether `convert` is a check as well: levels that have a number of elements
/// below each parent cannot store every tensor.
static bool mayFail(sparse_tensor::ConvertOp convert) {
  auto encoding = sparse_tensor::getSparseTensorEncoding(convert.getType());
  return llvm::any_of(encoding.getLvlTypes(),
                      [](sparse_tensor::LevelType level) {
                        return getFormat(level).isPacked();
                      });
}

/// Why the result of `convert` should not be sparse; empty if it should.
static std::string getReason(sparse_tensor::ConvertOp convert,
                             const SparsityLimits &limits) {
  auto type = cast<RankedTensorType>(convert.getType());
  std::optional<int64_t> size;
  if (type.hasStaticShape())
    size = type.getNumElements();
  std::optional<int64_t> hint = getHint(convert);
  if (!hint && !size)
    return "";
  int64_t nnz = hint.value_or(size.value_or(0));
  if (size)
    nnz = std::min(nnz, *size);
  if (nnz < limits.minNnz)
    return "has at most " + std::to_string(nnz) + " nonzeros";
  if (hint && size && *size - nnz <= limits.minSparsity * *size)
    return "has " + std::to_string(nnz) + " nonzeros among " +
           std::to_string(*size) + " elements";
  return "";
}

/// Builds what `op` does with the dense `source` of its operand.
static void readDense(linalg::LinalgOp op, OpOperand &operand, Value source) {
  OpBuilder builder(op);
  unsigned number = operand.getOperandNumber();
  ScalarTerms terms(op);
  SmallVector<const Term *> stored =
      terms.getYields(llvm::SmallBitVector(op->getNumOperands()));
  SmallVector<const Term *> missing = terms.getYieldsWithout(operand);
  SmallVector<Value> inputs(op.getDpsInputs());
  inputs[number] = source;
  auto generic = linalg::GenericOp::create(
      builder, op.getLoc(), op->getResultTypes(), inputs, op.getDpsInits(),
      op.getIndexingMapsArray(), op.getIteratorTypesArray(),
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        SmallVector<Value> indices;
        for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
          indices.push_back(linalg::IndexOp::create(nested, loc, loop));
        Value isStored = createIsStored(nested, loc, elements[number]);
        SmallVector<Value> arguments(elements);
        SmallVector<Value> values =
            terms.build(nested, stored, arguments, indices);
        SmallVector<Value> others =
            terms.build(nested, missing, arguments, indices);
        for (auto [value, other] : llvm::zip_equal(values, others))
          value = arith::SelectOp::create(nested, loc, isStored, value, other);
        linalg::YieldOp::create(nested, loc, values);
      });
  op->replaceAllUsesWith(generic);
  op->erase();
}

void sparse_autograd::keepSmallTensorsDense(func::FuncOp function,
                                            const SparsityLimits &limits) {
  SmallVector<sparse_tensor::ConvertOp> conversions;
  function.walk([&](sparse_tensor::ConvertOp op) {
    if (isSparse(op.getType()) && !isSparse(op.getSource().getType()) &&
        !mayFail(op))
      conversions.push_back(op);
  });
  for (sparse_tensor::ConvertOp convert : conversions) {
    std::string reason = getReason(convert, limits);
    if (reason.empty())
      continue;
    Operation *other = nullptr;
    for (OpOperand &use : convert->getUses()) {
      auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
      // Twice an operand would be two that are absent together.
      if (!op || llvm::any_of(op->getResultTypes(), isSparse) ||
          llvm::count(op->getOperands(), convert.getResult()) != 1)
        other = use.getOwner();
    }
    if (other) {
      remark::missed(convert.getLoc(), getRemarkOptions("sparse", convert))
          << "stays sparse, although it " + reason +
                 ": what reads it is not a structured op with dense results "
                 "alone";
      continue;
    }
    for (OpOperand &use : llvm::make_early_inc_range(convert->getUses()))
      readDense(cast<linalg::LinalgOp>(use.getOwner()), use,
                convert.getSource());
    remark::passed(convert.getLoc(), getRemarkOptions("dense", convert))
        << "stays dense: it " + reason;
    convert.erase();
  }
}
