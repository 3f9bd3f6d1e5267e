//===- IfRule.cpp - the derivative of scf.if ------------------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ControlFlowRules.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
struct IfModel : LinearizableOpInterface::ExternalModel<IfModel, scf::IfOp> {
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<scf::IfOp>(operation);
    SmallVector<unsigned> active;
    SmallVector<Type> types;
    for (OpResult result : op.getResults()) {
      if (!linearizer.isActive(result))
        continue;
      active.push_back(result.getResultNumber());
      types.push_back(result.getType());
    }
    // The branches compute their primal values again; in forward mode
    // common-subexpression elimination cannot tell, and need not.
    OpBuilder &builder = linearizer.builder;
    auto tangent =
        scf::IfOp::create(builder, op.getLoc(), types, op.getCondition(),
                          /*addThenBlock=*/true, /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(builder);
    for (auto [region, source] :
         llvm::zip(tangent->getRegions(), op->getRegions())) {
      Block &block = region.front();
      if (!block.empty())
        block.getTerminator()->erase();
      builder.setInsertionPointToEnd(&block);
      IRMapping mapping;
      for (Operation *op : getPrimalOps(source.front()))
        builder.clone(*op, mapping);
      Operation *primalYield = source.front().getTerminator();
      auto yield = scf::YieldOp::create(
          builder, op.getLoc(),
          llvm::map_to_vector(primalYield->getOperands(), [&](Value value) {
            return mapping.lookupOrDefault(value);
          }));
      linearizer.noteClones(mapping);
      if (failed(linearizer.linearizeBlock(block)))
        return failure();
      builder.setInsertionPoint(yield);
      yield->setOperands(llvm::map_to_vector(active, [&](unsigned index) {
        return linearizer.tangentOrZero(yield.getOperand(index), op.getLoc());
      }));
    }
    for (auto [position, index] : llvm::enumerate(active))
      linearizer.setTangent(op.getResult(index), tangent.getResult(position));
    return success();
  }

  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<scf::IfOp>(operation);
    OpBuilder &builder = transposer.builder;
    Location loc = op.getLoc();
    SmallVector<Value> captured =
        capturedLinearValues(op->getRegions(), transposer);
    if (captured.empty())
      return success();
    SmallVector<Value> seeds =
        llvm::map_to_vector(op.getResults(), [&](OpResult result) {
          return transposer.cotangent(result);
        });
    auto transposed = scf::IfOp::create(
        builder, loc, TypeRange(ValueRange(captured)),
        transposer.primal(op.getCondition()), /*addThenBlock=*/true,
        /*addElseBlock=*/true);
    for (auto [region, source] :
         llvm::zip(transposed->getRegions(), op->getRegions())) {
      Block &block = region.front();
      if (!block.empty())
        block.getTerminator()->erase();
      std::unique_ptr<Transposer> nested = transposer.createNested(
          OpBuilder::atBlockEnd(&block), source.front(), {}, IRMapping());
      Operation *yield = source.front().getTerminator();
      for (auto [operand, seed] : llvm::zip_equal(yield->getOperands(), seeds))
        nested->accumulate(operand, seed);
      if (failed(nested->run()))
        return failure();
      SmallVector<Value> yielded;
      for (Value value : captured) {
        Value cotangent = nested->cotangent(value);
        yielded.push_back(cotangent ? cotangent
                                    : createZero(nested->builder, loc,
                                                 nested->shapeOf(value)));
      }
      scf::YieldOp::create(nested->builder, loc, yielded);
    }
    for (auto [value, result] :
         llvm::zip_equal(captured, transposed.getResults()))
      transposer.accumulate(value, result);
    return success();
  }
};
} // namespace

void sparse_autograd::attachIfRule(MLIRContext &context) {
  scf::IfOp::attachInterface<IfModel>(context);
}
