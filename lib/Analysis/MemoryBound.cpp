//===- MemoryBound.cpp - memory that a function takes at most -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/MemoryBound.h"
#include "SparseAutograd/Analysis/SparseIteration.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseEncodings.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensorType.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace sparse_autograd;

MemoryBound::MemoryBound(func::FuncOp function, SymbolTable &symbols)
    : function(function), instance(origins.add(function, symbols)) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    for (int64_t dim = 0; type && dim < type.getRank(); ++dim)
      extents.try_emplace(
          origins.getClass(instance, argument, dim),
          ("dim(" + Twine(argument.getArgNumber()) + ", " + Twine(dim) + ")")
              .str());
  }
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

/// The product of `a` and `b`, of which either may be 1.
static std::string multiply(const std::string &a, const std::string &b) {
  return a == "1" ? b : b == "1" ? a : a + " * " + b;
}

/// Bytes of an element of a tensor.
static int64_t getWidth(Value tensor) {
  Type type = getElementTypeOrSelf(tensor.getType());
  return type.isIndex() ? 8 : (type.getIntOrFloatBitWidth() + 7) / 8;
}

bool MemoryBound::add(int64_t factor, Count term) {
  if (term)
    terms[*term] += factor;
  return term.has_value();
}

MemoryBound::Count MemoryBound::getExtent(Value tensor, int64_t dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return std::to_string(type.getDimSize(dim));
  auto known = extents.find(origins.getClass(instance, tensor, dim));
  return known == extents.end() ? Count() : known->second;
}

MemoryBound::Count MemoryBound::getSize(Value tensor) {
  std::string size = "1";
  for (int64_t dim = 0;
       dim < cast<RankedTensorType>(tensor.getType()).getRank(); ++dim) {
    Count extent = getExtent(tensor, dim);
    if (!extent)
      return std::nullopt;
    size = multiply(size, *extent);
  }
  return size;
}

/// The value whose pattern a sparse tensor has. An elementwise op that is not
/// structured yet keeps the pattern that its operands share.
Value MemoryBound::getOrigin(Value sparse) {
  Operation *op = sparse.getDefiningOp();
  if (!op || !OpTrait::hasElementwiseMappableTraits(op))
    return patterns.originOf(sparse);
  Value origin;
  for (Value operand : op->getOperands()) {
    if (!isSparse(operand.getType()))
      continue;
    Value other = getOrigin(operand);
    if (origin && origin != other)
      return sparse;
    origin = other;
  }
  return origin ? origin : sparse;
}

/// At most so many elements does a sparse tensor store.
MemoryBound::Count MemoryBound::countStored(Value sparse) {
  Value origin = getOrigin(sparse);
  if (auto argument = dyn_cast<BlockArgument>(origin))
    return ("nnz(" + Twine(argument.getArgNumber()) + ")").str();
  auto known = entries.find(origin);
  return known == entries.end() ? Count() : known->second;
}

/// At most so many elements of its iteration space does an op visit: those that
/// are stored in each operand that must be, in all loops that none of these
/// ranges over.
MemoryBound::Count MemoryBound::countVisited(linalg::LinalgOp op) {
  ScalarTerms scalarTerms(op);
  SparseIteration iteration = SparseIteration::of(op, scalarTerms);
  if (iteration.visitsAll || iteration.parts.empty())
    return std::nullopt;
  SmallVector<std::string> sums;
  for (const StoredPart &part : iteration.parts) {
    std::string product = "1";
    SmallVector<Count> loops(op.getNumLoops());
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      bool isStored =
          llvm::is_contained(part.stored, operand.getOperandNumber());
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (!map.isProjectedPermutation())
        return std::nullopt;
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        Count &loop = loops[cast<AffineDimExpr>(expr).getPosition()];
        if (isStored)
          loop = "1";
        else if (!loop)
          loop = getExtent(operand.get(), dim);
      }
      if (!isStored)
        continue;
      Count stored = countStored(operand.get());
      if (!stored)
        return std::nullopt;
      product = multiply(product, *stored);
    }
    for (const Count &loop : loops) {
      if (!loop)
        return std::nullopt;
      product = multiply(product, *loop);
    }
    sums.push_back(product);
  }
  return sums.size() == 1 ? sums.front() : "(" + llvm::join(sums, " + ") + ")";
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Whether `value` is what an op writes over, or zeros that it starts from.
static bool isStart(Value value) {
  return isa_and_nonnull<tensor::EmptyOp, linalg::FillOp, ZerosOp>(
             value.getDefiningOp()) ||
         (value.getDefiningOp() &&
          value.getDefiningOp()->hasTrait<OpTrait::ConstantLike>());
}

/// Whether `op` computes dense elements, each by itself.
static bool isDenseElementwise(Operation *op) {
  if (llvm::any_of(op->getOperandTypes(), isSparse) || op->getNumResults() != 1)
    return false;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return OpTrait::hasElementwiseMappableTraits(op) ||
         (structured && structured.getNumReductionLoops() == 0 &&
          structured.getMatchingIndexingMap(structured.getDpsInitOperand(0))
              .isPermutation());
}

/// Whether fusion computes `result` where it is read, by the only op that reads
/// it: element by element, as that op does.
static bool isComputedInReader(OpResult result) {
  if (!result.hasOneUse() || !isDenseElementwise(result.getOwner()))
    return false;
  OpOperand &use = *result.getUses().begin();
  Operation *reader = use.getOwner();
  auto structured = dyn_cast<linalg::LinalgOp>(reader);
  return reader->getBlock() == result.getOwner()->getBlock() &&
         isDenseElementwise(reader) &&
         (!structured ||
          (structured.isDpsInput(&use) &&
           structured.getMatchingIndexingMap(&use).isPermutation()));
}

/// Whether the result of an op takes the place of `operand`.
bool MemoryBound::takesOver(OpOperand &operand) {
  return owned.contains(operand.get()) && operand.get().hasOneUse();
}

/// A pattern that an op makes is listed, sorted and stored: coordinates of all
/// entries as they are visited, their order, a word and a number of each twice
/// while they are sorted, and where each is stored; then positions, one behind
/// each dense prefix, and coordinates.
bool MemoryBound::addNewPattern(OpResult result) {
  sparse_tensor::SparseTensorType type(
      cast<RankedTensorType>(result.getType()));
  Operation *op = result.getOwner();
  Count visited;
  if (auto convert = dyn_cast<sparse_tensor::ConvertOp>(op))
    visited = isSparse(convert.getSource().getType())
                  ? countStored(convert.getSource())
                  : Count();
  else if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    visited = countVisited(structured);
  if (!visited || !type.isPermutation())
    return false;
  entries[result] = *visited;
  int64_t levels = type.getLvlRank();
  std::string prefix = "1";
  bool isDense = true;
  for (auto [level, levelType] : llvm::enumerate(type.getLvlTypes())) {
    if (getFormat(levelType).storesAll()) {
      // Below what is compressed it would hold more than what is listed.
      Count extent = getExtent(
          result,
          cast<AffineDimExpr>(type.getExpandedDimToLvl().getResult(level))
              .getPosition());
      if (!isDense || !extent)
        return false;
      prefix = multiply(prefix, *extent);
      continue;
    }
    if (isDense)
      add(2 * 8, prefix);
    isDense = false;
  }
  if (isDense)
    return false;
  // The last are positions below what is compressed.
  add(24 * levels + 48 + getWidth(result), visited);
  return add(8 * (3 * levels + 1), Count("1"));
}

bool MemoryBound::addTensor(OpResult result) {
  if (!isa<RankedTensorType>(result.getType()))
    return true;
  owned.insert(result);
  if (!isSparse(result.getType()))
    return add(getWidth(result), getSize(result));
  if (getOrigin(result) == result)
    return addNewPattern(result);
  return add(getWidth(result), countStored(result));
}

bool MemoryBound::addOp(Operation &op) {
  if (op.getNumResults() == 0 || isa<tensor::DimOp>(op) ||
      llvm::none_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return op.getNumRegions() == 0;
  // Lists are shared by all tensors of their values.
  if (auto stored = dyn_cast<StoredValuesOp>(op)) {
    if (Count count = countStored(stored.getInput()))
      extents.try_emplace(origins.getClass(instance, stored.getResult(), 0),
                          *count);
    return true;
  }
  if (isa<WithValuesOp>(op))
    return true;
  if (isStart(op.getResult(0))) {
    // What starts an op is the op's own; what is read or returned is not.
    bool isRead = llvm::any_of(op.getUses(), [](OpOperand &use) {
      auto reader = dyn_cast<linalg::LinalgOp>(use.getOwner());
      return !isa<tensor::DimOp>(use.getOwner()) &&
             !(reader && reader.isDpsInit(&use));
    });
    return !isRead || addTensor(op.getResult(0));
  }
  if (isComputedInReader(op.getResult(0)))
    return true;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    for (OpResult result : op.getResults()) {
      OpOperand *init = structured.getDpsInitOperand(result.getResultNumber());
      if (takesOver(*init) && init->get().getType() == result.getType())
        owned.insert(result);
      else if (!addTensor(result))
        return false;
    }
    return true;
  }
  if (!OpTrait::hasElementwiseMappableTraits(&op) &&
      !isa<tensor::CastOp, SampleOp, StopGradientOp, AccumulateOp, GatherOp,
           sparse_tensor::ConvertOp>(op))
    return false;
  OpResult result = op.getResult(0);
  for (OpOperand &operand : op.getOpOperands())
    if (operand.get().getType() == result.getType() && takesOver(operand) &&
        (!isSparse(result.getType()) ||
         getOrigin(result) == getOrigin(operand.get()))) {
      owned.insert(result);
      return true;
    }
  return addTensor(result);
}

/// What is returned belongs to the caller: an argument, or a pattern of one, is
/// copied.
bool MemoryBound::addReturned(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return true;
  bool isFirst = owned.erase(value);
  if (!isSparse(value.getType()))
    return isFirst || add(getWidth(value), getSize(value));
  if (!isFirst && !add(getWidth(value), countStored(value)))
    return false;
  auto argument = dyn_cast<BlockArgument>(getOrigin(value));
  if (!argument)
    return isFirst;
  return add(1, ("pattern(" + Twine(argument.getArgNumber()) + ")").str());
}

/// Whether `type` has a width that is counted: others are refused later.
static bool isCounted(Type type) {
  return !isa<ShapedType>(type) ||
         (isa<RankedTensorType>(type) &&
          getElementTypeOrSelf(type).isIntOrIndexOrFloat());
}

std::optional<std::string> MemoryBound::compute() {
  if (!function.getBody().hasOneBlock())
    return std::nullopt;
  for (Operation &op : function.getBody().front())
    if (!llvm::all_of(op.getOperandTypes(), isCounted) ||
        !llvm::all_of(op.getResultTypes(), isCounted))
      return std::nullopt;
  for (Operation &op : function.getBody().front().without_terminator())
    if ((op.getNumRegions() != 0 && !isa<linalg::LinalgOp>(op)) || !addOp(op))
      return std::nullopt;
  for (Value value : function.getBody().front().getTerminator()->getOperands())
    if (!addReturned(value))
      return std::nullopt;
  SmallVector<std::string> parts;
  for (const auto &[term, factor] : terms)
    parts.push_back(multiply(std::to_string(factor), term));
  return parts.empty() ? "0" : llvm::join(parts, " + ");
}
