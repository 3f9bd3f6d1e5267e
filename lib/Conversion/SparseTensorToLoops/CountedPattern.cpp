//===- CountedPattern.cpp - new patterns by counting ----------------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A result that consists of rows, and whose elements are visited once each, by
// a counting sort: the entries of each row are counted, the counts are added
// up, and each entry goes to the next place of its row. Loops visit elements in
// the lexicographic order of the loops' indices, in some order of the loops.
// Those of one row differ in one index, and so come sorted. It converts between
// orders (CSR to CSC), makes sparse tensors of dense ones, and computes
// products of elements.
//
//===----------------------------------------------------------------------===//

#include "EmitIf.h"
#include "Kernel.h"
#include "NewRows.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

namespace sparse_autograd {

/// Whether iterations of `outermost` visit different rows of the result of
/// `kernel`.
static bool separatesRows(linalg::LinalgOp op, const OutermostLoop &outermost) {
  if (!outermost.coordinate)
    return false;
  AffineMap levels =
      sparse_tensor::SparseTensorType(
          cast<RankedTensorType>(op->getResultTypes().front()))
          .getExpandedDimToLvl()
          .compose(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  return llvm::is_contained(levels.getResults().drop_back(),
                            outermost.coordinate);
}

/// Counts the elements of each row. Carries the counters.
class RowCountBody : public LoopBody {
public:
  RowCountBody(Kernel &kernel, const NewRows &rows)
      : kernel(kernel), rows(rows) {}
  StringRef getPurpose() const override {
    return "counts the entries of each row of a new pattern";
  }
  bool writesApart(const OutermostLoop &outermost) override {
    return separatesRows(kernel.op, outermost);
  }
  SmallVector<Value> visit(OpBuilder &builder, const VisitedElement &element,
                           ValueRange carried) override {
    return kernel.visitStored(builder, element, carried, [&]() {
      Value row =
          rows.getRow(builder, kernel.getResultIndices(element.indices));
      return SmallVector<Value>{rows.count(builder, row, carried.front())};
    });
  }

private:
  Kernel &kernel;
  const NewRows &rows;
};

/// Computes the region at the visited elements, each at the next place of its
/// row. Carries the values, the coordinates and the places.
class RowValueBody : public KernelBody {
public:
  RowValueBody(Kernel &kernel, const StoredPart &part, const NewRows &rows)
      : KernelBody(kernel, part), rows(rows) {}
  StringRef getPurpose() const override {
    return "computes the entries of a new pattern, each at the next place of "
           "its row,";
  }
  VectorForm getVectorForm(unsigned) override {
    VectorForm form;
    form.whyNone = "the places of new entries are looked up";
    return form;
  }
  void begin(OpBuilder &,
             llvm::function_ref<bool(const llvm::SmallBitVector &)>,
             SmallVectorImpl<Value> &) override {}
  bool enter(OpBuilder &, const VisitedElement &,
             SmallVectorImpl<Value> &) override {
    return false;
  }
  bool writesApart(const OutermostLoop &outermost) override {
    return separatesRows(kernel.op, outermost);
  }
  SmallVector<Value> visit(OpBuilder &builder, const VisitedElement &element,
                           ValueRange carried) override;

private:
  std::optional<SmallVector<Value>>
  getPlace(OpBuilder &, const VisitedElement &, unsigned) override {
    return SmallVector<Value>{place};
  }

  const NewRows &rows;
  Value place;
};

} // namespace sparse_autograd

SmallVector<Value> RowValueBody::visit(OpBuilder &builder,
                                       const VisitedElement &element,
                                       ValueRange carried) {
  return kernel.visitStored(builder, element, carried, [&]() {
    SmallVector<Value> indices = kernel.getResultIndices(element.indices);
    Value row = rows.getRow(builder, indices);
    auto [next, places] = rows.takePlace(builder, row, carried[2]);
    place = next;
    Value coordinates = tensor::InsertOp::create(
        builder, kernel.loc, rows.getCoordinate(builder, indices), carried[1],
        place);
    SmallVector<Value> values =
        KernelBody::visit(builder, element, carried.take_front(1));
    return SmallVector<Value>{values.front(), coordinates, places};
  });
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

SmallVector<Value> Kernel::getResultIndices(ArrayRef<Value> indices) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<Value> result;
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
    result.push_back(indices[map.getDimPosition(dim)]);
  return result;
}

SmallVector<Value>
Kernel::visitStored(OpBuilder &builder, const VisitedElement &element,
                    ValueRange carried,
                    llvm::function_ref<SmallVector<Value>()> visit) {
  if (!iteration.sparseInputs.empty())
    return visit();
  Value isStored =
      createIsStored(builder, loc, computeOfDense(builder, element));
  return emitIf(builder, loc, isStored, carried, visit);
}

/// Whether elements of a tensor of `type` come in the order of each dimension
/// where the others do not change: of a dimension in blocks, the level of the
/// block is before that of the place in it.
static bool isOrderedByDims(RankedTensorType type) {
  llvm::SmallBitVector isBegun(type.getRank());
  for (AffineExpr level : sparse_tensor::SparseTensorType(type)
                              .getExpandedDimToLvl()
                              .getResults()) {
    auto part = dyn_cast<AffineBinaryOpExpr>(level);
    unsigned dim =
        cast<AffineDimExpr>(part ? part.getLHS() : level).getPosition();
    if (part && part.getKind() == AffineExprKind::Mod && !isBegun.test(dim))
      return false;
    isBegun.set(dim);
  }
  return true;
}

StringRef Kernel::getReasonAgainstCounting() {
  if (isReduction())
    return "several terms may be added up at one place";
  if (!op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation())
    return "several iterations may have one place";
  if (!iteration.visitsAll && iteration.parts.size() != 1)
    return "its elements are visited in several parts";
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (!type || !isSparse(type))
      continue;
    if (!op.getMatchingIndexingMap(input).isProjectedPermutation() ||
        !isOrderedByDims(type))
      return "the entries of a row are not visited in their order";
  }
  return "";
}

SmallVector<Value> Kernel::assembleByCounting() {
  auto type = cast<RankedTensorType>(op->getResultTypes().front());
  StoredPart part;
  if (!iteration.visitsAll)
    part = iteration.parts.front();
  auto build = [&](ValueRange carried, LoopBody &body) {
    return buildPart(part, carried, std::nullopt, /*isFirstOutermost=*/false,
                     body);
  };
  NewRows rows(builder, loc, type, getResultExtents());
  RowCountBody counting(*this, rows);
  Value counters = build(rows.createCounters(builder), counting).front();
  Value places = rows.beginRows(builder, counters);
  Value positions = rows.createPositions(builder, places);
  Value count = rows.getNumEntries(builder, places);
  Value coordinates = rows.createList(builder, count, rows.getCoordinateType());
  Value values = rows.createList(builder, count, type.getElementType());
  if (readsInit(0)) {
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(type.getElementType()));
    values = linalg::FillOp::create(builder, loc, zero, values).getResult(0);
  }
  RowValueBody computing(*this, part, rows);
  SmallVector<Value> lists = build({values, coordinates, places}, computing);
  return rows.getComponents(positions, lists[1], lists[0]);
}
