//===- DimensionOrigins.cpp - dimensions of one extent --------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/DimensionOrigins.h"
#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Packing24.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace sparse_autograd;

/// Past so many, calls of one function share an instance: a chain of functions
/// that call each other twice would have more than can be counted.
static constexpr size_t maxInstances = 256;

static RankedTensorType getTensorType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// How many dimensions `value` has: a number none.
static int64_t getRank(Value value) {
  RankedTensorType type = getTensorType(value);
  return type ? type.getRank() : 0;
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

unsigned DimensionOrigins::getNumber(Instance instance, Extent extent) {
  auto [place, isNew] = functions[instance].numbers.try_emplace(
      {extent.value, extent.dim}, parents.size());
  if (isNew)
    parents.push_back(parents.size());
  return place->second;
}

unsigned DimensionOrigins::find(unsigned number) {
  while (parents[number] != number)
    number = parents[number] = parents[parents[number]];
  return number;
}

void DimensionOrigins::unify(Instance instance, Extent first, Extent second) {
  unsigned a = find(getNumber(instance, first));
  parents[a] = find(getNumber(instance, second));
}

void DimensionOrigins::unify(Instance a, Value first, Instance b,
                             Value second) {
  auto unifyExtents = [&](int64_t dim) {
    unsigned number = find(getNumber(a, {first, dim}));
    parents[number] = find(getNumber(b, {second, dim}));
  };
  if (first.getType().isIndex() && second.getType().isIndex())
    return unifyExtents(-1);
  RankedTensorType type = getTensorType(first), other = getTensorType(second);
  if (type && other && type.getRank() == other.getRank())
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      unifyExtents(dim);
}

void DimensionOrigins::unifyAll(Instance instance, ValueRange first,
                                ValueRange second) {
  for (auto [a, b] : llvm::zip(first, second))
    unify(instance, a, instance, b);
}

unsigned DimensionOrigins::getClass(Instance instance, Value tensor,
                                    int64_t dim) {
  return find(getNumber(instance, {tensor, dim}));
}

void DimensionOrigins::forEachTensor(
    Instance root, function_ref<void(Instance, Value)> callback) const {
  SmallVector<Instance> open = {root};
  llvm::DenseSet<Instance> seen = {root};
  while (!open.empty()) {
    Instance instance = open.pop_back_val();
    func::FuncOp function = functions[instance].op;
    function.walk([&](Block *block) {
      for (Value argument : block->getArguments())
        if (getTensorType(argument))
          callback(instance, argument);
      for (Operation &op : *block)
        for (Value result : op.getResults())
          if (getTensorType(result))
            callback(instance, result);
    });
    for (Instance callee : functions[instance].callees)
      if (seen.insert(callee).second)
        open.push_back(callee);
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// What one loop ranges over has one extent.
void DimensionOrigins::visitStructured(Instance instance, linalg::LinalgOp op) {
  SmallVector<Extent> loops(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!getTensorType(operand.get()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      Extent extent{operand.get(), static_cast<int64_t>(dim)};
      Extent &first = loops[loop.getPosition()];
      if (first.value)
        unify(instance, first, extent);
      else
        first = extent;
    }
  }
}

/// The tensors that `op` makes of others, dimension by dimension.
void DimensionOrigins::visitShape(Instance instance, Operation *op) {
  auto alike = [&](Value a, int64_t dim, Value b, int64_t other) {
    unify(instance, Extent{a, dim}, Extent{b, other});
  };
  if (auto asked = dyn_cast<tensor::DimOp>(op)) {
    if (std::optional<int64_t> dim = asked.getConstantIndex())
      unify(instance, Extent{asked.getResult()},
            Extent{asked.getSource(), *dim});
  } else if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    for (int64_t dim = 0; dim < empty.getType().getRank(); ++dim)
      if (empty.getType().isDynamicDim(dim))
        unify(instance, Extent{empty, dim}, Extent{empty.getDynamicSize(dim)});
  } else if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op)) {
    // What an op inserts is its first operand.
    Value part =
        isa<tensor::ExtractSliceOp>(op) ? op->getResult(0) : op->getOperand(0);
    if (auto type = getTensorType(part);
        type &&
        type.getRank() == static_cast<int64_t>(slice.getMixedSizes().size()))
      for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes()))
        if (auto value = dyn_cast<Value>(size))
          unify(instance, Extent{part, static_cast<int64_t>(dim)},
                Extent{value});
  } else if (auto gather = dyn_cast<GatherOp>(op)) {
    int64_t rank = getRank(gather.getIndices());
    for (int64_t dim = 0; dim < rank; ++dim)
      alike(gather.getResult(), dim, gather.getIndices(), dim);
    for (int64_t dim = 1; dim < getRank(gather.getTable()); ++dim)
      alike(gather.getResult(), rank + dim - 1, gather.getTable(), dim);
  } else if (auto scatter = dyn_cast<ScatterRowsOp>(op)) {
    int64_t rank = getRank(scatter.getIndices());
    unify(instance, Extent{scatter.getResult(), 0},
          Extent{scatter.getExtent()});
    for (int64_t dim = 0; dim < rank; ++dim)
      alike(scatter.getRows(), dim, scatter.getIndices(), dim);
    for (int64_t dim = rank; dim < getRank(scatter.getRows()); ++dim)
      alike(scatter.getRows(), dim, scatter.getResult(), dim - rank + 1);
  } else if (auto reduce = dyn_cast<MaskedReduceOp>(op)) {
    int64_t kept = 0;
    for (int64_t dim = 0; dim < getRank(reduce.getInput()); ++dim) {
      bool isReduced = llvm::is_contained(reduce.getDims(), dim);
      if (!isReduced && getTensorType(reduce.getResult()))
        alike(reduce.getResult(), kept, reduce.getInput(), dim);
      kept += !isReduced || reduce.getKeepdims();
    }
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    for (Value input : concat.getInputs())
      for (int64_t dim = 0; dim < concat.getResultType().getRank(); ++dim)
        if (dim != static_cast<int64_t>(concat.getDim()))
          alike(input, dim, concat.getResult(), dim);
  } else if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
    bool expands = isa<tensor::ExpandShapeOp>(op);
    auto groups =
        expands ? cast<tensor::ExpandShapeOp>(op).getReassociationIndices()
                : cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
    Value whole = expands ? op->getOperand(0) : op->getResult(0);
    Value parts = expands ? op->getResult(0) : op->getOperand(0);
    for (auto [dim, group] : llvm::enumerate(groups))
      if (group.size() == 1)
        alike(whole, dim, parts, group.front());
  } else if (auto withValues = dyn_cast<WithValuesOp>(op)) {
    unify(instance, withValues.getResult(), instance, withValues.getPattern());
  } else if (auto mask = dyn_cast<Mask24Op>(op)) {
    RankedTensorType type = mask.getType();
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        unify(instance, Extent{mask.getResult(), dim},
              Extent{mask.getExtents()[type.getDynamicDimIndex(dim)]});
  } else if (auto compress = dyn_cast<Compress24Op>(op)) {
    int64_t rank = getRank(compress.getInput());
    for (int64_t dim = 0; dim < rank; ++dim)
      alike(compress.getInput(), dim, compress.getResult(),
            dim < rank - 2 || !compress.getTransposed() ? dim
                                                        : 2 * rank - 3 - dim);
  } else if (auto selection = dyn_cast<Sparsify24Op>(op)) {
    unify(instance, selection.getInput(), instance, selection.getResult());
    int64_t rank = getRank(selection.getInput());
    for (int64_t dim = 0; selection.getTransposed() && dim < rank; ++dim)
      alike(selection.getInput(), dim, selection.getTransposed(),
            dim < rank - 2 ? dim : 2 * rank - 3 - dim);
  } else if (isa<BarrierOp>(op)) {
    unifyAll(instance, op->getOperands(), op->getResults());
  } else if (OpTrait::hasElementwiseMappableTraits(op) ||
             isa<PatternOp, ZerosOp, SampleOp, AccumulateOp, GradMaskOp,
                 Sparsify24LikeOp, StopGradientOp, MaskedSoftmaxOp,
                 MaskedLogSoftmaxOp, sparse_tensor::ConvertOp>(op)) {
    for (Value operand : op->getOperands())
      unify(instance, operand, instance, op->getResult(0));
  }
}

/// What regions hand on, to themselves and as results.
void DimensionOrigins::visitRegions(Instance instance, Operation *op) {
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    unifyAll(instance, loop.getInits(), loop.getBeforeArguments());
    unifyAll(instance, loop.getConditionOp().getArgs(),
             loop.getAfterArguments());
    unifyAll(instance, loop.getConditionOp().getArgs(), loop.getResults());
    unifyAll(instance, loop.getYieldOp().getOperands(),
             loop.getBeforeArguments());
    return;
  }
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    SmallVector<Value> carried(loop.getRegionIterArgs());
    unifyAll(instance, loop.getInits(), carried);
    unifyAll(instance, loop.getYieldedValues(), carried);
    unifyAll(instance, op->getResults(), carried);
    return;
  }
  for (Region &region : op->getRegions())
    if (!region.empty() && region.back().mightHaveTerminator())
      unifyAll(instance, region.back().getTerminator()->getOperands(),
               op->getResults());
}

void DimensionOrigins::visitCall(Instance instance, func::CallOp call,
                                 SymbolTable &symbols) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || callee.isDeclaration() || inProgress.contains(callee))
    return;
  Instance called = add(callee, symbols);
  functions[instance].callees.push_back(called);
  for (auto [operand, argument] :
       llvm::zip(call.getOperands(), callee.getArguments()))
    unify(instance, operand, called, argument);
  Operation *terminator = callee.getBody().back().getTerminator();
  for (auto [result, returned] :
       llvm::zip(call.getResults(), terminator->getOperands()))
    unify(instance, result, called, returned);
}

void DimensionOrigins::visit(Instance instance, Operation *op,
                             SymbolTable &symbols) {
  for (Value result : op->getResults())
    if (Value like = getOperandOfSameShape(result))
      unify(instance, result, instance, like);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return visitStructured(instance, structured);
  if (auto call = dyn_cast<func::CallOp>(op))
    return visitCall(instance, call, symbols);
  if (op->getNumRegions() != 0)
    return visitRegions(instance, op);
  visitShape(instance, op);
}

DimensionOrigins::Instance DimensionOrigins::add(func::FuncOp function,
                                                 SymbolTable &symbols) {
  if (functions.size() >= maxInstances)
    if (auto it = known.find(function); it != known.end())
      return it->second;
  Instance instance = functions.size();
  functions.emplace_back();
  functions.back().op = function;
  known.try_emplace(function, instance);
  inProgress.insert(function);
  function.getBody().walk([&](Operation *op) {
    // Operands and results of a structured op say all; its region has scalars.
    if (!isa<linalg::LinalgOp>(op->getParentOp()))
      visit(instance, op, symbols);
  });
  inProgress.erase(function);
  return instance;
}
