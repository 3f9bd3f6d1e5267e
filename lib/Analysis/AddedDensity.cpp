//===- AddedDensity.cpp - dense tensors of new spaces ---------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/AddedDensity.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

using Instance = DimensionOrigins::Instance;

/// The spaces of dense tensors, as pairs of classes of dimensions.
class DenseSpaces {
public:
  explicit DenseSpaces(DimensionOrigins &origins) : origins(origins) {}

  void add(Instance instance, Value tensor) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    for (int64_t dim = 0; type && dim < type.getRank(); ++dim) {
      unsigned number = origins.getClass(instance, tensor, dim);
      dimensions.insert(number);
      for (int64_t other = 0; other < dim && !isSparse(type); ++other)
        pairs.insert(
            std::minmax(number, origins.getClass(instance, tensor, other)));
    }
  }

  /// Two dimensions of a tensor that are known, but not as a pair.
  std::optional<std::pair<int64_t, int64_t>> findNew(Instance instance,
                                                     Value tensor) const {
    int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
    for (int64_t second = 1; second < rank; ++second)
      for (int64_t first = 0; first < second; ++first) {
        unsigned a = origins.getClass(instance, tensor, first);
        unsigned b = origins.getClass(instance, tensor, second);
        if (dimensions.contains(a) && dimensions.contains(b) &&
            !pairs.contains(std::minmax(a, b)))
          return std::pair(first, second);
      }
    return std::nullopt;
  }

private:
  DimensionOrigins &origins;
  llvm::DenseSet<unsigned> dimensions;
  llvm::DenseSet<std::pair<unsigned, unsigned>> pairs;
};

} // namespace

static bool hasSparseTensor(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isSparse) ||
         llvm::any_of(op->getResultTypes(), isSparse);
}

/// Whether `op` makes a dense tensor of floats that takes memory. What is
/// computed element by element and read once, in all of the loops of its
/// reader, is computed there.
static bool makesDenseTensor(Operation *op, OpResult result) {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type || type.getRank() < 2 || isSparse(type) ||
      !isa<FloatType>(type.getElementType()) || op->getNumRegions() > 1 ||
      isa<tensor::EmptyOp, linalg::FillOp, tensor::CastOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return false;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (op->getNumRegions() == 1 && !structured)
    return false;
  bool isElementwise =
      OpTrait::hasElementwiseMappableTraits(op) ||
      (structured && op->getNumResults() == 1 &&
       structured.getNumReductionLoops() == 0 &&
       llvm::none_of(op->getOperandTypes(), isSparse) &&
       structured.getMatchingIndexingMap(structured.getDpsInitOperand(0))
           .isPermutation());
  if (!isElementwise || !result.hasOneUse())
    return true;
  OpOperand &use = *result.getUses().begin();
  auto reader = dyn_cast<linalg::LinalgOp>(use.getOwner());
  if (!reader)
    return !OpTrait::hasElementwiseMappableTraits(use.getOwner());
  return !reader.isDpsInput(&use) ||
         reader.getMatchingIndexingMap(&use).getNumResults() !=
             reader.getNumLoops();
}

/// Follows `start` through ops, by `next`, to one that has to do with a sparse
/// tensor; returns the ops on the way, that one last, or none.
static SmallVector<Operation *> findSparse(
    Operation *start,
    function_ref<void(Operation *, function_ref<void(Operation *)>)> next) {
  llvm::DenseMap<Operation *, Operation *> from = {{start, nullptr}};
  SmallVector<Operation *> open = {start};
  for (size_t index = 0; index < open.size(); ++index) {
    Operation *op = open[index];
    if (hasSparseTensor(op)) {
      SmallVector<Operation *> chain;
      for (Operation *at = op; at; at = from[at])
        chain.push_back(at);
      return SmallVector<Operation *>(llvm::reverse(chain));
    }
    next(op, [&](Operation *other) {
      if (!isa<tensor::DimOp, func::FuncOp>(other) &&
          from.try_emplace(other, op).second)
        open.push_back(other);
    });
  }
  return {};
}

/// Relates `added` to a sparse tensor; whether there is one.
static bool relateToSparse(AddedTensor &added) {
  Operation *op = added.value.getOwner();
  added.chain = findSparse(op, [](Operation *at, auto visit) {
    forEachReadValue(at, [&](Value value) {
      Operation *source = value.getDefiningOp();
      visit(source ? source : value.getParentBlock()->getParentOp());
    });
  });
  added.isMadeOf = !added.chain.empty();
  if (!added.isMadeOf)
    added.chain = findSparse(op, [](Operation *at, auto visit) {
      for (Operation *user : at->getUsers())
        visit(user);
      // What a region yields, the op around it makes.
      if (at->hasTrait<OpTrait::IsTerminator>())
        visit(at->getParentOp());
    });
  if (added.chain.empty())
    return false;
  Operation *last = added.chain.back();
  auto isSparseValue = [](Value value) { return isSparse(value.getType()); };
  auto operand = llvm::find_if(last->getOperands(), isSparseValue);
  added.sparse = operand != last->getOperands().end()
                     ? *operand
                     : *llvm::find_if(last->getResults(), isSparseValue);
  return true;
}

std::optional<AddedTensor>
sparse_autograd::findAddedTensor(func::FuncOp derivative, func::FuncOp program,
                                 SymbolTable &symbols) {
  bool isConcerned = false;
  derivative.walk([&](Operation *op) { isConcerned |= hasSparseTensor(op); });
  if (!isConcerned)
    return std::nullopt;
  DimensionOrigins origins;
  Instance given = origins.add(program, symbols);
  Instance made = origins.add(derivative, symbols);
  for (auto [a, b] :
       llvm::zip(program.getArguments(), derivative.getArguments()))
    origins.unify(given, a, made, b);
  Operation *returned = program.getBody().back().getTerminator();
  Operation *results = derivative.getBody().back().getTerminator();
  for (auto [a, b] : llvm::zip(returned->getOperands(), results->getOperands()))
    origins.unify(given, a, made, b);

  DenseSpaces spaces(origins);
  origins.forEachTensor(given, [&](Instance instance, Value tensor) {
    spaces.add(instance, tensor);
  });
  for (Value argument : derivative.getArguments())
    spaces.add(made, argument);
  for (Value result : results->getOperands())
    spaces.add(made, result);

  std::optional<AddedTensor> found;
  derivative.walk([&](Operation *op) {
    for (OpResult result : op->getResults()) {
      if (!makesDenseTensor(op, result))
        continue;
      std::optional<std::pair<int64_t, int64_t>> dims =
          spaces.findNew(made, result);
      if (!dims)
        continue;
      found = AddedTensor{result, dims->first, dims->second, {}, false, {}};
      if (relateToSparse(*found))
        return WalkResult::interrupt();
      found.reset();
    }
    return WalkResult::advance();
  });
  return found;
}
