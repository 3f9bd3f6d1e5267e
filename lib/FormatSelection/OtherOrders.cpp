//===- OtherOrders.cpp - copies of tensors in another order ---------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that read the same tensor, or tensors of the same pattern, and would
// rather have another dimension outermost share a copy. It is made where the
// tensor is, if that is in the block at which the loops around the ops are left
// behind; else at the beginning of that block.
//
//===----------------------------------------------------------------------===//

#include "FormatSelection.h"
#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

namespace {

/// A block where a value is known, and how often what it was asked for runs for
/// each run of the block.
struct Place {
  Block *block;
  double runs;
};

/// Operands of an op that would rather be stored in another order.
struct Use {
  SmallVector<OpOperand *> operands;
  /// What a run of its op costs now and in the other order.
  double cost, otherCost;
  double runs;

  Operation *getOp() const { return operands.front()->getOwner(); }
};

/// A copy of a tensor that some ops would read.
struct Copy {
  Value tensor;
  /// Whether only the pattern of `tensor` is copied: what is read has other
  /// values.
  bool isOfPattern;
  SparseTensorEncodingAttr encoding;
  /// Where it would be made.
  Block *block;
  SmallVector<Use> uses;

  bool isAlike(const Copy &other) const {
    return tensor == other.tensor && isOfPattern == other.isOfPattern &&
           encoding == other.encoding && block == other.block;
  }
};

} // namespace

/// Leaves the loops around `op` behind in which `value` is not defined.
static Place leaveLoops(Operation *op, Value value, const CostModel &costs) {
  Place place = {op->getBlock(), 1};
  while (auto loop =
             dyn_cast<LoopLikeOpInterface>(place.block->getParentOp())) {
    if (!loop.isDefinedOutsideOfLoop(value))
      break;
    place.runs *= costs.getIterations(loop);
    place.block = loop->getBlock();
  }
  return place;
}

/// A tensor of the pattern of `tensor` that stores 0, 1, 2 and so on.
static Value numberElements(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto listType =
      RankedTensorType::get({ShapedType::kDynamic}, type.getElementType());
  Value values = StoredValuesOp::create(builder, loc, listType, tensor);
  Value init = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, values),
      builder.getIndexType());
  auto generic = linalg::GenericOp::create(
      builder, loc, init.getType(), ValueRange(), init,
      ArrayRef<AffineMap>{builder.getMultiDimIdentityMap(1)},
      ArrayRef<utils::IteratorType>{utils::IteratorType::parallel},
      [](OpBuilder &nested, Location loc, ValueRange) {
        Value number = linalg::IndexOp::create(nested, loc, 0);
        linalg::YieldOp::create(nested, loc, number);
      });
  auto numbered = RankedTensorType::get(type.getShape(), builder.getIndexType(),
                                        type.getEncoding());
  return WithValuesOp::create(builder, loc, numbered, generic.getResult(0),
                              tensor);
}

/// The tensor `tensor` with the pattern of `other`, which has its elements in
/// another order: `places` are where they are stored in `tensor`.
static Value reorderValues(OpBuilder &builder, Location loc, Value tensor,
                           Value places, Value other) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto listType =
      RankedTensorType::get({ShapedType::kDynamic}, type.getElementType());
  Value values = StoredValuesOp::create(builder, loc, listType, tensor);
  values = createGather(builder, loc, values, places, values, listType);
  return WithValuesOp::create(
      builder, loc,
      type.cloneWithEncoding(getSparseTensorEncoding(other.getType())), values,
      other);
}

static void makeCopy(const Copy &copy) {
  OpBuilder builder(copy.block->getParentOp()->getContext());
  Value copied = copy.tensor;
  if (copied.getParentBlock() == copy.block)
    builder.setInsertionPointAfterValue(copied);
  else
    builder.setInsertionPointToStart(copy.block);
  Location loc = copy.uses.front().getOp()->getLoc();
  Value source =
      copy.isOfPattern ? numberElements(builder, loc, copied) : copied;
  Value other = ConvertOp::create(
      builder, loc,
      cast<RankedTensorType>(source.getType()).cloneWithEncoding(copy.encoding),
      source);
  if (!copy.isOfPattern) {
    for (const Use &use : copy.uses)
      for (OpOperand *operand : use.operands)
        operand->set(other);
    return;
  }
  auto placesType =
      RankedTensorType::get({ShapedType::kDynamic}, builder.getIndexType());
  Value places = StoredValuesOp::create(builder, loc, placesType, other);
  // Several ops may read one tensor.
  llvm::DenseMap<Value, Value> reordered;
  DominanceInfo dominance;
  for (const Use &use : copy.uses)
    for (OpOperand *operand : use.operands) {
      Value tensor = operand->get();
      Value &known = reordered[tensor];
      if (!known) {
        bool isBefore =
            dominance.properlyDominates(tensor, places.getDefiningOp());
        builder.setInsertionPointAfterValue(isBefore ? places : tensor);
        known = reorderValues(builder, use.getOp()->getLoc(), tensor, places,
                              other);
      }
      operand->set(known);
    }
}

/// The copy that `op` would read, if a run would cost less then.
static std::optional<Copy> findCopy(linalg::LinalgOp op,
                                    SparsePatterns &patterns,
                                    const CostModel &costs) {
  SmallVector<OpOperand *> operands = getFreeOperands(op, patterns);
  if (operands.empty())
    return std::nullopt;
  Value tensor = operands.front()->get();
  auto type = cast<RankedTensorType>(tensor.getType());
  double cost =
      costs.getRunCost(op, *operands.front(), getSparseTensorEncoding(type));
  double lowest = cost;
  SparseTensorEncodingAttr best;
  for (SparseTensorEncodingAttr encoding : getOtherOrders(type))
    if (double other = costs.getRunCost(op, *operands.front(), encoding);
        other < lowest) {
      lowest = other;
      best = encoding;
    }
  if (!best)
    return std::nullopt;
  // An op may read one tensor twice.
  llvm::SmallDenseSet<Value> tensors;
  for (OpOperand *operand : operands)
    tensors.insert(operand->get());
  Place place = leaveLoops(op, tensor, costs);
  Value origin = patterns.originOf(tensor);
  auto originType = cast<RankedTensorType>(origin.getType());
  if (originType.getEncoding() == type.getEncoding() &&
      originType.getShape() == type.getShape()) {
    // If the values change in more loops than the pattern does, that is copied;
    // also if several tensors are to share it.
    Place outer = leaveLoops(op, origin, costs);
    double reordered =
        lowest + costs.getReorderCost() * static_cast<double>(tensors.size());
    if (outer.block != place.block || tensors.size() > 1)
      return Copy{origin,
                  /*isOfPattern=*/true,
                  best,
                  outer.block,
                  {{operands, cost, reordered, outer.runs}}};
  }
  if (tensors.size() > 1)
    return std::nullopt;
  return Copy{tensor,
              /*isOfPattern=*/false,
              best,
              place.block,
              {{operands, cost, lowest, place.runs}}};
}

void sparse_autograd::copyToOtherOrders(func::FuncOp function,
                                        const CostModel &costs) {
  SparsePatterns patterns;
  SmallVector<Copy, 0> copies;
  function.walk([&](linalg::LinalgOp op) {
    std::optional<Copy> wanted = findCopy(op, patterns, costs);
    if (!wanted)
      return;
    auto *known = llvm::find_if(
        copies, [&](const Copy &copy) { return copy.isAlike(*wanted); });
    if (known == copies.end())
      copies.push_back(*wanted);
    else
      llvm::append_range(known->uses, wanted->uses);
  });
  for (const Copy &copy : copies) {
    double saved = 0;
    for (const Use &use : copy.uses)
      saved += (use.cost - use.otherCost) * use.runs;
    Operation *op = copy.uses.front().getOp();
    bool pays = saved > costs.getCopyCost();
    std::string text = "a copy ";
    if (copy.isOfPattern)
      text += "of the pattern ";
    text += "with " + describeOrder(copy.encoding) +
            (pays ? " pays for " : " would not pay for ") +
            std::to_string(copy.uses.size()) + " uses";
    auto explain = [&](auto remark) {
      remark << text << remark::metric("Cost", costs.getCopyCost())
             << remark::metric("Saved", saved);
    };
    if (!pays) {
      explain(remark::missed(op->getLoc(), getRemarkOptions("kept", op)));
      continue;
    }
    explain(remark::passed(op->getLoc(), getRemarkOptions("copied", op)));
    makeCopy(copy);
  }
}
