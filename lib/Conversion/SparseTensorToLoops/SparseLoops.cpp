//===- SparseLoops.cpp - loops over what sparse tensors store -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseLoops.h"
#include "LoopEmitter.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

LoopBody::~LoopBody() = default;

bool VisitedElement::isAt(const SparseOperand &operand, unsigned number) const {
  auto it = cursors.find(number);
  return it != cursors.end() &&
         it->second.getLevel() == operand.storage.getNumLevels();
}

SmallVector<Value> SparseLoops::build(OpBuilder &builder,
                                      ArrayRef<unsigned> stored,
                                      ArrayRef<unsigned> missing,
                                      bool isFirstOutermost, ValueRange carried,
                                      LoopBody &body) const {
  OpBuilder::InsertionGuard guard(builder);
  LoopPlan plan = LoopPlan::choose(*this, stored, isFirstOutermost);
  if (schedule.isForDevice && !plan.getSteps().empty()) {
    OutermostLoop first =
        describeOutermost(*this, plan.getSteps().front(), builder.getContext());
    plan.moveDenseOutside(body.writesApart(first), [&](unsigned loop) {
      return body.writesApart({std::nullopt, builder.getAffineDimExpr(loop)});
    });
  }
  if (schedule.vectorBytes)
    if (std::optional<unsigned> innermost = plan.getInnermostDense())
      if (VectorForm form = body.getVectorForm(*innermost);
          form.kind != VectorForm::None)
        plan.vectorize(std::move(form));
  SmallVector<Value> values(carried);
  body.begin(
      builder,
      [&](const llvm::SmallBitVector &places) {
        return plan.visitsOnce(places);
      },
      values);
  VisitedElement element;
  element.indices.resize(extents.size());
  return LoopEmitter(builder, loc, *this, plan, missing, body)
      .emit(0, std::move(element), values);
}

Value SparseLoops::getLevelCoordinate(OpBuilder &builder,
                                      const VisitedElement &element,
                                      unsigned number, unsigned level) const {
  const SparseOperand &operand = operands[number];
  AffineMap levels = operand.storage.getDimsToLevels().compose(operand.map);
  return affine::expandAffineExpr(builder, loc, levels.getResult(level),
                                  element.indices, {});
}

SmallVector<Value> SparseLoops::lookUp(
    OpBuilder &builder, const VisitedElement &element, unsigned number,
    TypeRange types,
    llvm::function_ref<SmallVector<Value>(OpBuilder &, Value)> found,
    llvm::function_ref<SmallVector<Value>(OpBuilder &)> notFound) const {
  const SparseStorage &storage = operands[number].storage;
  Type indexType = builder.getIndexType();
  // Whether there is something, and its position.
  std::function<std::pair<Value, Value>(LevelCursor)> search =
      [&](LevelCursor cursor) -> std::pair<Value, Value> {
    while (cursor.getLevel() < storage.getNumLevels()) {
      Value coordinate =
          getLevelCoordinate(builder, element, number, cursor.getLevel());
      auto [behind, isThere] = cursor.locate(builder, loc, coordinate);
      if (isThere && behind.getLevel() == storage.getNumLevels())
        return {isThere, behind.getPosition()};
      if (isThere) {
        auto choice = scf::IfOp::create(
            builder, loc, TypeRange{builder.getI1Type(), indexType}, isThere,
            /*withElseRegion=*/true);
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(choice.elseBlock());
        Value no =
            arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
        Value nowhere = arith::ConstantIndexOp::create(builder, loc, 0);
        scf::YieldOp::create(builder, loc, ValueRange{no, nowhere});
        builder.setInsertionPointToStart(choice.thenBlock());
        auto [isFound, position] = search(behind);
        if (!isFound)
          isFound = arith::ConstantOp::create(builder, loc,
                                              builder.getBoolAttr(true));
        scf::YieldOp::create(builder, loc, ValueRange{isFound, position});
        return {choice.getResult(0), choice.getResult(1)};
      }
      cursor = behind;
    }
    return {Value(), cursor.getPosition()};
  };
  auto [isFound, position] = search(LevelCursor(storage));
  if (!isFound)
    return found(builder, position);
  auto choice = scf::IfOp::create(builder, loc, types, isFound,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(builder, loc, found(builder, position));
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, loc, notFound(builder));
  return SmallVector<Value>(choice.getResults());
}
