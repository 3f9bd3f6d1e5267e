//===- StorageOps.cpp - storage from entries ------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"

using namespace mlir;
using namespace sparse_autograd;

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// Buffers that are inputs are read, those that are destinations written.
static void getEffectsOfBuffers(DestinationStyleOpInterface op,
                                Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

void CountBeforeOp::getEffects(Effects &effects) {
  getEffectsOfBuffers(cast<DestinationStyleOpInterface>(getOperation()),
                      effects);
}

void SortEntriesOp::getEffects(Effects &effects) {
  getEffectsOfBuffers(cast<DestinationStyleOpInterface>(getOperation()),
                      effects);
}

void CountPositionsOp::getEffects(Effects &effects) {
  getEffectsOfBuffers(cast<DestinationStyleOpInterface>(getOperation()),
                      effects);
}

void StorePositionsOp::getEffects(Effects &effects) {
  getEffectsOfBuffers(cast<DestinationStyleOpInterface>(getOperation()),
                      effects);
}

/// What a library has begun is kept nowhere in the program: the order of the
/// two ops is that of effects.
void BeginSparseProductOp::getEffects(Effects &effects) {
  for (OpOperand &operand : getFactorsMutable())
    if (isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  effects.emplace_back(MemoryEffects::Write::get());
}

void EndSparseProductOp::getEffects(Effects &effects) {
  getEffectsOfBuffers(cast<DestinationStyleOpInterface>(getOperation()),
                      effects);
  effects.emplace_back(MemoryEffects::Write::get());
}

/// Checks that an op has a column of coordinates and an extent for each level.
template <typename OpTy>
static LogicalResult verifyLevels(OpTy op) {
  int64_t levels = op.getEncoding().getLvlRank();
  int64_t columns =
      cast<ShapedType>(op.getCoordinates().getType()).getDimSize(1);
  if ((ShapedType::isDynamic(columns) || columns == levels) &&
      static_cast<int64_t>(op.getExtents().size()) == levels)
    return success();
  return op.emitOpError("must have a column of coordinates and an extent for "
                        "each of the ")
         << levels << " levels of its encoding";
}

LogicalResult CountPositionsOp::verify() {
  if (failed(verifyLevels(*this)))
    return failure();
  int64_t counts = cast<ShapedType>(getCounts().getType()).getDimSize(0);
  int64_t levels = getEncoding().getLvlRank();
  if (!ShapedType::isDynamic(counts) && counts != levels)
    return emitOpError("writes a count for each of the ")
           << levels << " levels of its encoding, not " << counts;
  return success();
}

LogicalResult StorePositionsOp::verify() {
  if (failed(verifyLevels(*this)))
    return failure();
  SmallVector<Type> wanted, given;
  for (const LevelList &list : getLevelLists(getEncoding()))
    wanted.push_back(list.elementType);
  wanted.push_back(IndexType::get(getContext()));
  for (Value list : getLists())
    given.push_back(getElementTypeOrSelf(list));
  if (wanted == given)
    return success();
  InFlightDiagnostic diagnostic = emitOpError(
      "must have lists of the positions and the coordinates of its encoding, "
      "and one of indices: of ");
  llvm::interleaveComma(wanted, diagnostic);
  return diagnostic;
}

/// Checks that `lists` are the positions, the coordinates and the values of
/// matrices, all of the same types.
static LogicalResult verifyMatrices(Operation *op, ValueRange lists,
                                    size_t matrices) {
  SmallVector<Type> types = llvm::map_to_vector(
      lists, [](Value list) { return getElementTypeOrSelf(list); });
  bool isOfMatrices = types.size() == 3 * matrices;
  for (size_t i = 0; isOfMatrices && i < types.size(); ++i)
    isOfMatrices =
        types[i] == types[i % 3] && (i % 3 == 2) == isa<FloatType>(types[i]);
  if (isOfMatrices && types[0] == types[1])
    return success();
  return op->emitOpError("must have lists of positions, coordinates and values "
                         "of each matrix: integers of one type, and floats");
}

LogicalResult BeginSparseProductOp::verify() {
  return verifyMatrices(*this, getFactors(), 2);
}

LogicalResult EndSparseProductOp::verify() {
  SmallVector<Value> all(getFactors());
  llvm::append_range(all, getLists());
  return verifyMatrices(*this, all, 3);
}
