//===- PackingOps.cpp - 2:4 storage ---------------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Selection24.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensorType.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

#define GET_OP_CLASSES
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutogradPackingOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Encodings
//===----------------------------------------------------------------------===//

bool sparse_autograd::isPacked24(RankedTensorType type) {
  sparse_tensor::SparseTensorEncodingAttr encoding =
      sparse_tensor::getSparseTensorEncoding(type);
  int64_t rank = type.getRank();
  if (!encoding || rank == 0 ||
      static_cast<int64_t>(encoding.getLvlRank()) != rank + 1)
    return false;
  ArrayRef<sparse_tensor::LevelType> levels = encoding.getLvlTypes();
  const LevelFormatInfo &last = getFormat(levels.back());
  if (!last.isPacked() || last.elements != 2 ||
      last.getPackedExtent() != tileExtent)
    return false;
  for (sparse_tensor::LevelType level : levels.drop_back())
    if (!getFormat(level).storesAll())
      return false;
  MLIRContext *context = type.getContext();
  SmallVector<AffineExpr> expected;
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    expected.push_back(getAffineDimExpr(dim, context));
  AffineExpr along = getAffineDimExpr(rank - 1, context);
  expected.push_back(along.floorDiv(tileExtent));
  expected.push_back(along % tileExtent);
  return encoding.getDimToLvl() == AffineMap::get(rank, 0, expected, context);
}

RankedTensorType sparse_autograd::getTransposedType(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  std::swap(shape.end()[-2], shape.end()[-1]);
  return type.clone(shape);
}

//===----------------------------------------------------------------------===//
// Compress24Op
//===----------------------------------------------------------------------===//

static LogicalResult verifyChoice(Compress24Op op) {
  RankedTensorType type = op.getInput().getType();
  RankedTensorType choice = op.getChoice().getType();
  if (isSparse(type) || isSparse(choice) || type.getRank() < 2)
    return op.emitOpError("stores elements of a dense tensor of rank 2 or "
                          "more, not of ")
           << type << " by " << choice;
  RankedTensorType expected = Choose24Op::getChoiceType(type);
  if (failed(verifyCompatibleShape(choice, expected)))
    return op.emitOpError("has a choice of type ")
           << choice << "; that of " << type << " is " << expected;
  return success();
}

static LogicalResult verifyNoChoice(Compress24Op op) {
  if (isSparse(op.getInput().getType()))
    return op.emitOpError("stores elements of a dense tensor, not of ")
           << op.getInput().getType();
  if (op.getTransposed() || op.getBothOrders())
    return op.emitOpError("has another order without a choice for it; choose "
                          "elements with sparse_autograd.choose_24");
  return success();
}

LogicalResult Compress24Op::verify() {
  RankedTensorType type = getInput().getType();
  if (failed(getChoice() ? verifyChoice(*this) : verifyNoChoice(*this)))
    return failure();
  RankedTensorType stored = getTransposed() ? getTransposedType(type) : type;
  if (stored.getShape() != getType().getShape() ||
      stored.getElementType() != getType().getElementType())
    return emitOpError("has a result of type ")
           << getType() << "; shape and elements are those of " << stored;
  return success();
}

LogicalResult
Compress24Op::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getInput()));
  if (getTransposed())
    std::swap(shapes.front().end()[-2], shapes.front().end()[-1]);
  return success();
}

//===----------------------------------------------------------------------===//
// Pack24Op, Multiply24Op
//===----------------------------------------------------------------------===//

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

void Pack24Op::getEffects(Effects &effects) {
  for (OpOperand &operand : (*this)->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

LogicalResult Pack24Op::verify() {
  if (getLists().size() != 2 * getOrders().size() || getOrders().empty() ||
      getOrders().size() > 2)
    return emitOpError("has ")
           << getLists().size() << " lists for " << getOrders().size()
           << " orders; each has values and coordinates";
  Type element = getElementTypeOrSelf(getInput());
  for (auto [number, list] : llvm::enumerate(getLists())) {
    Type wanted =
        number % 2 == 0 ? element : Type(IntegerType::get(getContext(), 8));
    auto shaped = dyn_cast<ShapedType>(list.getType());
    if (!shaped || shaped.getRank() != 1 || shaped.getElementType() != wanted)
      return emitOpError("has a list of type ")
             << list.getType() << "; that has one dimension, of " << wanted;
  }
  if (!getChoice() && (getOrders().size() != 1 || getOrders().front()))
    return emitOpError("packs what is not zero in one order, that of rows");
  return success();
}

void Multiply24Op::getEffects(Effects &effects) {
  for (OpOperand &operand : (*this)->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

LogicalResult Multiply24Op::verify() {
  auto isMatrix = [](Value value, Type element) {
    auto type = cast<ShapedType>(value.getType());
    return type.getRank() == 2 && type.getElementType() == element;
  };
  Type f32 = Float32Type::get(getContext());
  Type stored = getElementTypeOrSelf(getValues());
  if (!isMatrix(getDense(), f32) || !isMatrix(getSum(), f32) ||
      !(stored.isF32() || stored.isBF16() || stored.isF16()))
    return emitOpError(
        "multiplies values of f32, bf16 or f16 with a matrix of f32, "
        "and adds to one of f32");
  if (getStrategy() < 0 || getStrategy() > 2)
    return emitOpError("has no strategy ") << getStrategy();
  return success();
}
