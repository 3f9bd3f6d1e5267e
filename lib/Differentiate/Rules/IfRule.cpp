//===- IfRule.cpp - the derivative of scf.if ------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ControlFlowRules.h"
#include "KeptValues.h"
#include "SparseAutograd/Analysis/ShapeOrigin.h"
#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/Schedule.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
struct IfModel : LinearizableOpInterface::ExternalModel<IfModel, scf::IfOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<scf::IfOp>(operation);
    SmallVector<unsigned> active = getActiveResults(op, linearizer);
    return linearizer.isReverse() ? linearizeApart(op, active, linearizer)
                                  : linearizeBeside(op, active, linearizer);
  }

  /// Forward mode: the branches yield tangents as well.
  static LogicalResult linearizeBeside(scf::IfOp op, ArrayRef<unsigned> active,
                                       Linearizer &linearizer) {
    unsigned numResults = op.getNumResults();
    SmallVector<Type> types = llvm::map_to_vector(
        active, [&](unsigned index) { return op.getResult(index).getType(); });
    scf::IfOp joint = addResults(op, types, linearizer);
    for (Region &region : joint->getRegions()) {
      Block &block = region.front();
      if (failed(linearizer.linearizeBlock(block)))
        return failure();
      cast<scf::YieldOp>(block.getTerminator())
          .getResultsMutable()
          .append(createForwardedTangents(block, /*firstOperand=*/0, active,
                                          linearizer));
    }
    for (auto [position, index] : llvm::enumerate(active))
      linearizer.setTangent(joint.getResult(index),
                            joint.getResult(numResults + position));
    return success();
  }

  /// Reverse mode: branches of their own compute the tangents.
  static LogicalResult linearizeApart(scf::IfOp op, ArrayRef<unsigned> active,
                                      Linearizer &linearizer) {
    OpBuilder &builder = linearizer.builder;
    SmallVector<Type> types = llvm::map_to_vector(
        active, [&](unsigned index) { return op.getResult(index).getType(); });
    auto tangent =
        scf::IfOp::create(builder, op.getLoc(), types, op.getCondition(),
                          /*addThenBlock=*/true, /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(builder);
    for (auto [region, source] :
         llvm::zip(tangent->getRegions(), op->getRegions())) {
      Block &block = region.front();
      if (!block.empty())
        block.getTerminator()->erase();
      // Until it is known what is kept, the primal values are read where they
      // are: a clone of what is nested would be one for each level above it.
      if (failed(linearizer.linearizeBlock(source.front(), block)))
        return failure();
      builder.setInsertionPointToEnd(&block);
      Operation *yield = source.front().getTerminator();
      SmallVector<Value> tangents =
          llvm::map_to_vector(active, [&](unsigned index) {
            return tangentOrZero(linearizer, yield->getOperand(index),
                                 op.getLoc());
          });
      scf::YieldOp::create(builder, op.getLoc(), tangents);
    }
    op = keepValues(op, tangent, linearizer);
    for (auto [position, index] : llvm::enumerate(active))
      linearizer.setTangent(op.getResult(index), tangent.getResult(position));
    return success();
  }

  /// Replaces `op` by one with the same branches and results of `types` in
  /// addition, which the caller lets the branches yield.
  static scf::IfOp addResults(scf::IfOp op, TypeRange types,
                              Linearizer &linearizer) {
    OpBuilder builder(op);
    SmallVector<Type> all(op.getResultTypes());
    llvm::append_range(all, types);
    auto replacement =
        scf::IfOp::create(builder, op.getLoc(), all, op.getCondition(),
                          /*addThenBlock=*/false, /*addElseBlock=*/false);
    takeAttributes(replacement, op);
    for (auto [from, to] :
         llvm::zip(op->getRegions(), replacement->getRegions()))
      to.takeBody(from);
    IRMapping clones;
    for (auto [old, result] :
         llvm::zip(op.getResults(), replacement.getResults())) {
      clones.map(Value(old), Value(result));
      old.replaceAllUsesWith(result);
    }
    linearizer.noteClones(clones);
    linearizer.retire(op);
    return replacement;
  }

  /// Replaces `op` by one that also returns what its branches keep for the
  /// transpose of `tangent`, the branches of which compute the rest again. The
  /// other branch returns anything.
  static scf::IfOp keepValues(scf::IfOp op, scf::IfOp tangent,
                              Linearizer &linearizer) {
    SmallVector<SmallVector<KeptValue>> kept;
    for (auto [source, region] :
         llvm::zip(op->getRegions(), tangent->getRegions()))
      kept.push_back(chooseKeptValues(source.front(), region.front(),
                                      /*inputs=*/{}, /*carried=*/{}, linearizer,
                                      /*readsPrimal=*/true));
    OpBuilder builder(op);
    Location loc = op.getLoc();
    SmallVector<Type> types;
    SparsePatterns patterns;
    // Of a sparse value its values are kept; these are their patterns.
    llvm::SmallDenseMap<Value, Value> outerPatterns;
    for (auto [index, source] : llvm::enumerate(op->getRegions())) {
      for (auto [primal, counterpart] : kept[index]) {
        builder.setInsertionPoint(op);
        Value value = primal;
        SmallVector<OpFoldResult> shape;
        if (isSparse(primal.getType())) {
          Value pattern = getOuterPattern(op, primal, patterns);
          outerPatterns[primal] = pattern;
          shape = tensor::getMixedSizes(
              builder, loc, createStoredValues(builder, loc, pattern));
          builder.setInsertionPoint(source.front().getTerminator());
          value = createStoredValues(builder, loc, primal);
        } else {
          shape = getOuterShape(builder, op, primal);
        }
        types.push_back(value.getType());
        for (Region &branch : op->getRegions()) {
          Operation *yield = branch.front().getTerminator();
          builder.setInsertionPoint(yield);
          yield->insertOperands(
              yield->getNumOperands(),
              &branch == &source
                  ? value
                  : createAnything(builder, loc, value.getType(), shape));
        }
      }
    }
    unsigned numResults = op.getNumResults();
    if (!types.empty())
      op = addResults(op, types, linearizer);
    auto result = op.result_begin() + numResults;
    for (auto [source, region, values] :
         llvm::zip_equal(op->getRegions(), tangent->getRegions(), kept)) {
      builder.setInsertionPointToStart(&region.front());
      IRMapping known;
      for (auto [primal, counterpart] : values) {
        Value value = *result++;
        if (Value pattern = outerPatterns.lookup(primal))
          value = WithValuesOp::create(builder, loc, primal.getType(), value,
                                       pattern);
        known.map(counterpart, value);
      }
      separate(source.front(), region.front(), known, builder, linearizer);
    }
    return op;
  }

  /// A value that nobody reads.
  static Value createAnything(OpBuilder &builder, Location loc, Type type,
                              ArrayRef<OpFoldResult> shape) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return tensor::EmptyOp::create(builder, loc, shape,
                                     tensor.getElementType());
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  }

  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<scf::IfOp>(operation);
    OpBuilder &builder = transposer.builder;
    Location loc = op.getLoc();
    SmallVector<Value> captured =
        capturedLinearValues(op->getRegions(), transposer);
    auto branches = scf::IfOp::create(
        builder, loc, TypeRange(), transposer.primal(op.getCondition()),
        /*addThenBlock=*/true, /*addElseBlock=*/true);
    SmallVector<std::unique_ptr<Transposer>> nested;
    for (auto [region, source] :
         llvm::zip(branches->getRegions(), op->getRegions())) {
      Block &block = region.front();
      if (!block.empty())
        block.getTerminator()->erase();
      nested.push_back(transposer.createNested(
          OpBuilder::atBlockEnd(&block), source.front(), {}, IRMapping()));
      for (Value value : captured)
        if (Value current = transposer.current(value))
          nested.back()->startFrom(value, current,
                                   transposer.currentSupport(value));
      Operation *yield = source.front().getTerminator();
      for (auto [operand, result] :
           llvm::zip_equal(yield->getOperands(), op.getResults()))
        nested.back()->accumulate(operand,
                                  transposer.unroundedCotangent(result),
                                  transposer.support(result),
                                  /*isSelected=*/true);
      if (failed(nested.back()->run()))
        return failure();
    }

    // A branch that is not taken adds nothing: what the branches reach of a
    // value comes out of them as a mask, unless both reach all of it. A bit is
    // enough where each reaches all or nothing.
    SmallVector<Value> reached;
    SmallVector<SmallVector<Value>> yielded(nested.size());
    SmallVector<bool> hasMask;
    for (Value value : captured) {
      if (llvm::all_of(nested, [&](auto &branch) {
            return reachOf(*branch, value) == Reach::Nowhere;
          }))
        continue;
      SmallVector<Reach> reaches = llvm::map_to_vector(
          nested, [&](auto &branch) { return currentReachOf(*branch, value); });
      bool isWhole = llvm::all_of(
          reaches, [](Reach reach) { return reach == Reach::Whole; });
      bool isSplat = !llvm::is_contained(reaches, Reach::Part);
      reached.push_back(value);
      hasMask.push_back(!isWhole);
      for (auto [branch, reach, values] : llvm::zip(nested, reaches, yielded)) {
        OpBuilder &inner = branch->builder;
        // Either branch may have added something, in f32 then.
        Type elementType =
            getAccumulationType(getElementTypeOrSelf(value.getType()));
        Value cotangent = branch->current(value);
        cotangent =
            cotangent
                ? createFloatCast(inner, loc, cotangent, elementType)
                : createZero(inner, loc, branch->shapeOf(value), elementType);
        values.push_back(cotangent);
        if (isWhole)
          continue;
        if (isSplat)
          values.push_back(arith::ConstantOp::create(
              inner, loc, inner.getBoolAttr(reach == Reach::Whole)));
        else if (reach == Reach::Nowhere)
          values.push_back(
              createMask(inner, loc, /*selects=*/false, cotangent));
        else
          values.push_back(materializeMask(
              inner, loc, branch->currentSupport(value), cotangent));
      }
    }
    auto transposed =
        scf::IfOp::create(builder, loc, TypeRange(ValueRange(yielded.front())),
                          branches.getCondition(), /*addThenBlock=*/false,
                          /*addElseBlock=*/false);
    for (auto [from, to, branch, values] :
         llvm::zip(branches->getRegions(), transposed->getRegions(), nested,
                   yielded)) {
      scf::YieldOp::create(branch->builder, loc, values);
      to.takeBody(from);
    }
    branches.erase();

    auto result = transposed->result_begin();
    for (auto [value, isMasked] : llvm::zip_equal(reached, hasMask)) {
      Value cotangent = *result++;
      Support support;
      if (isMasked)
        support = Support::of(*result++, cotangent);
      transposer.replaceCurrent(value, cotangent, support);
    }
    return success();
  }
};
} // namespace

void sparse_autograd::attachIfRule(MLIRContext &context) {
  scf::IfOp::attachInterface<IfModel>(context);
}
