//===- ExecuteRegionRule.cpp - the derivative of scf.execute_region -------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A region with `no_inline`, which is what a checkpoint is normalized to, keeps
// nothing for reverse mode: its transpose computes it again, behind a barrier
// (semantics F3). Any other region has been inlined by then, and so have all of
// them in forward mode.
//
//===----------------------------------------------------------------------===//

#include "ControlFlowRules.h"
#include "SparseAutograd/Analysis/ReadValues.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {
struct ExecuteRegionModel
    : LinearizableOpInterface::ExternalModel<ExecuteRegionModel,
                                             scf::ExecuteRegionOp> {
  /// The tangent computes the primal values of the region again, too.
  LogicalResult linearize(Operation *operation, Linearizer &linearizer) const {
    auto op = cast<scf::ExecuteRegionOp>(operation);
    if (!op.getRegion().hasOneBlock())
      return op.emitOpError("has several blocks, which have no derivative "
                            "rule; use scf.if and scf.for");
    assert(linearizer.isReverse() && "inlined in forward mode");
    Block &source = op.getRegion().front();
    SmallVector<unsigned> active = getActiveResults(op, linearizer);
    SmallVector<Type> types = llvm::map_to_vector(
        active, [&](unsigned index) { return op.getResult(index).getType(); });
    OpBuilder &builder = linearizer.builder;
    auto tangent = scf::ExecuteRegionOp::create(builder, op.getLoc(), types,
                                                /*no_inline=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&tangent.getRegion());
    IRMapping mapping;
    for (Operation *primal : getPrimalOps(source))
      builder.clone(*primal, mapping);
    Operation *yield = builder.clone(*source.getTerminator(), mapping);
    linearizer.noteClones(mapping);
    if (failed(linearizer.linearizeBlock(tangent.getRegion().front())))
      return failure();
    builder.setInsertionPoint(yield);
    yield->setOperands(llvm::map_to_vector(active, [&](unsigned index) {
      return tangentOrZero(linearizer, yield->getOperand(index), op.getLoc());
    }));
    for (auto [position, index] : llvm::enumerate(active))
      linearizer.setTangent(op.getResult(index), tangent.getResult(position));
    return success();
  }

  LogicalResult transpose(Operation *operation, Transposer &transposer) const {
    auto op = cast<scf::ExecuteRegionOp>(operation);
    OpBuilder &builder = transposer.builder;
    Location loc = op.getLoc();
    Block &body = op.getRegion().front();

    // What the region reads, and what is pulled back through it, come late.
    SmallVector<Value> linear, primals, inputs;
    for (Value value : getCapturedValues(op->getRegions())) {
      if (transposer.isLinear(value)) {
        linear.push_back(value);
        continue;
      }
      primals.push_back(value);
      inputs.push_back(transposer.primal(value));
    }
    SmallVector<unsigned> reached;
    for (OpResult result : op.getResults()) {
      Value cotangent = transposer.cotangent(result);
      if (!cotangent)
        continue;
      reached.push_back(result.getResultNumber());
      inputs.push_back(cotangent);
    }
    auto late = BarrierOp::create(builder, loc, inputs);
    IRMapping mapping;
    mapping.map(primals, late.getResults().take_front(primals.size()));
    std::unique_ptr<Transposer> nested =
        transposer.createNested(builder, body, {}, mapping);
    for (auto [number, cotangent] :
         llvm::zip_equal(reached, late.getResults().drop_front(primals.size())))
      nested->accumulate(body.getTerminator()->getOperand(number), cotangent,
                         transposer.support(op.getResult(number)),
                         /*isSelected=*/true);
    if (failed(nested->run()))
      return failure();
    for (Value value : linear)
      if (Value cotangent = nested->cotangent(value))
        transposer.accumulate(value, cotangent, nested->support(value),
                              /*isSelected=*/true);
    return success();
  }
};
} // namespace

void sparse_autograd::attachExecuteRegionRule(MLIRContext &context) {
  scf::ExecuteRegionOp::attachInterface<ExecuteRegionModel>(context);
}
