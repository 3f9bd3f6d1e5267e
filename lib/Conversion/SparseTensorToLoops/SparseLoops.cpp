//===- SparseLoops.cpp - loops over what sparse tensors store -------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseLoops.h"
#include "LoopEmitter.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::sparse_tensor;
using namespace sparse_autograd;

LoopBody::~LoopBody() = default;

bool VisitedElement::isAt(const SparseOperand &operand, unsigned number) const {
  auto it = cursors.find(number);
  return it != cursors.end() &&
         it->second.getLevel() == operand.storage.getNumLevels();
}

/// Says how `plan` visits elements, in loops of which one is parallel or none.
static void remarkPlan(const SparseLoops &loops, const LoopPlan &plan,
                       ArrayRef<unsigned> missing, StringRef whyScalar,
                       bool isParallel, const LoopBody &body, Location loc,
                       Operation *inside) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << body.getPurpose() << " in loops over ";
  auto describe = [&](const LoopStep &step) {
    if (step.kind == LoopStep::Dense) {
      APInt extent;
      stream << "dimension " << step.loop << " (";
      if (matchPattern(loops.getExtents()[step.loop], m_ConstantInt(&extent)))
        stream << extent.getSExtValue();
      else
        stream << "?";
      stream << ")";
      return;
    }
    const SparseStorage &storage = loops.getOperand(step.operand).storage;
    stream << (step.kind == LoopStep::Locate ? "a search in " : "") << "level "
           << step.level << " of sparse operand " << step.operand << " ("
           << sparse_tensor::toMLIRString(
                  sparse_tensor::getSparseTensorEncoding(storage.getType())
                      .getLvlType(step.level))
           << ")";
  };
  auto steps =
      llvm::make_filter_range(plan.getSteps(), [&](const LoopStep &step) {
        if (step.kind == LoopStep::Locate)
          return !loops.getOperand(step.operand)
                      .storage.getFormat(step.level)
                      .storesAll();
        return step.kind == LoopStep::Iterate || step.kind == LoopStep::Dense;
      });
  llvm::interleaveComma(steps, stream, describe);
  for (unsigned number : missing)
    stream << ", where sparse operand " << number << " stores nothing";
  stream << llvm::formatv("; about {0:e1} steps", plan.getCost());
  const LoopSchedule &schedule = loops.getSchedule();
  const VectorForm &form = plan.getVectorForm();
  if (form.kind != VectorForm::None)
    stream << "; vectors of " << schedule.vectorBytes / form.laneBytes
           << (form.kind == VectorForm::Elements ? " elements"
                                                 : " partial sums");
  else if (schedule.vectorBytes)
    stream << "; scalars, since " << whyScalar;
  if (!schedule.isParallel)
    stream << "; not parallel, since no chunks are asked for";
  else if (!isParallel)
    stream << "; not parallel, since iterations may write to the same place"
           << (schedule.numbered ? ", or number what they visit" : "");
  else
    stream << "; parallel";
  remarkChosen(loc, inside, "sparse", text);
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
  StringRef whyScalar;
  if (schedule.vectorBytes) {
    whyScalar = "the innermost loop is over stored entries";
    if (std::optional<unsigned> innermost = plan.getInnermostDense()) {
      VectorForm form = body.getVectorForm(*innermost);
      whyScalar = form.whyNone;
      if (form.kind != VectorForm::None)
        plan.vectorize(std::move(form));
    }
  }
  SmallVector<Value> values(carried);
  body.begin(
      builder,
      [&](const llvm::SmallBitVector &places) {
        return plan.visitsOnce(places);
      },
      values);
  VisitedElement element;
  element.indices.resize(extents.size());
  LoopEmitter emitter(builder, loc, *this, plan, missing, body);
  Operation *inside = builder.getInsertionBlock()->getParentOp();
  SmallVector<Value> results = emitter.emit(0, std::move(element), values);
  if (hasRemarks(builder.getContext()))
    remarkPlan(*this, plan, missing, whyScalar, emitter.hasParallelLoop(), body,
               loc, inside);
  return results;
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
