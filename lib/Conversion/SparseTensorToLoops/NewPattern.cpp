//===- NewPattern.cpp - sparse results with a pattern of their own --------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Assembly.h"
#include "Kernel.h"
#include "NewRows.h"
#include "SparseAutograd/Analysis/LoopRemarks.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/StructuredBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace sparse_autograd;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

namespace sparse_autograd {

/// Counts the elements that are visited and, if it `writes`, lists their
/// coordinates. Carries the list, if there is one, and the count.
class EntryBody : public LoopBody {
public:
  EntryBody(Kernel &kernel, bool writes) : kernel(kernel), writes(writes) {}
  StringRef getPurpose() const override {
    return writes ? "lists the entries of a new pattern"
                  : "counts the entries of a new pattern";
  }
  SmallVector<Value> visit(OpBuilder &builder, const VisitedElement &element,
                           ValueRange carried) override;

private:
  SmallVector<Value> add(OpBuilder &builder, const VisitedElement &element,
                         ValueRange carried);

  Kernel &kernel;
  bool writes;
};

/// Computes the region at the visited elements, in the order in which EntryBody
/// has listed them. Carries the values and the number of the entry.
class EntryValueBody : public KernelBody {
public:
  EntryValueBody(Kernel &kernel, const StoredPart &part, Value slots)
      : KernelBody(kernel, part), slots(slots) {}
  StringRef getPurpose() const override {
    return "computes the entries of a new pattern";
  }

  /// Whether the iterations of the outermost loop, if one is built, write to
  /// different places but for the number.
  bool isApart = true;

  /// The place of an element is looked up, and may be that of others.
  VectorForm getVectorForm(unsigned) override {
    VectorForm form;
    form.whyNone = "the places of new entries are looked up";
    return form;
  }
  void begin(OpBuilder &,
             llvm::function_ref<bool(const llvm::SmallBitVector &)>,
             SmallVectorImpl<Value> &) override {}
  SmallVector<Value> visit(OpBuilder &builder, const VisitedElement &element,
                           ValueRange carried) override;
  /// The number of the entry is carried. The outermost loop asks last.
  bool writesApart(const OutermostLoop &outermost) override {
    // Of a permutation each element has a place of its own.
    AffineMap map =
        kernel.op.getMatchingIndexingMap(kernel.op.getDpsInitOperand(0));
    isApart = map.isPermutation() || KernelBody::writesApart(outermost);
    return false;
  }
  bool enter(OpBuilder &, const VisitedElement &,
             SmallVectorImpl<Value> &) override {
    return false;
  }

private:
  std::optional<SmallVector<Value>>
  getPlace(OpBuilder &, const VisitedElement &, unsigned) override {
    return SmallVector<Value>{slot};
  }

  Value slots;
  Value slot;
};

} // namespace sparse_autograd

SmallVector<Value> EntryBody::add(OpBuilder &builder,
                                  const VisitedElement &element,
                                  ValueRange carried) {
  Location loc = kernel.loc;
  SmallVector<Value> next(carried);
  Value count = carried.back();
  if (writes) {
    auto type = cast<RankedTensorType>(kernel.op->getResultTypes().front());
    AffineMap levels =
        sparse_tensor::SparseTensorType(type).getExpandedDimToLvl().compose(
            kernel.op.getMatchingIndexingMap(kernel.op.getDpsInitOperand(0)));
    next.front() =
        listEntry(builder, loc, levels, element.indices, next.front(), count);
  }
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  next.back() = arith::AddIOp::create(builder, loc, count, one);
  return next;
}

SmallVector<Value> EntryBody::visit(OpBuilder &builder,
                                    const VisitedElement &element,
                                    ValueRange carried) {
  return kernel.visitStored(builder, element, carried,
                            [&]() { return add(builder, element, carried); });
}

SmallVector<Value> EntryValueBody::visit(OpBuilder &builder,
                                         const VisitedElement &element,
                                         ValueRange carried) {
  Location loc = kernel.loc;
  return kernel.visitStored(builder, element, carried, [&]() {
    Value count = carried.back();
    slot = tensor::ExtractOp::create(builder, loc, slots, count);
    SmallVector<Value> next =
        KernelBody::visit(builder, element, carried.drop_back());
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    next.push_back(arith::AddIOp::create(builder, loc, count, one));
    return next;
  });
}

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

Value Kernel::computeOfDense(OpBuilder &builder,
                             const VisitedElement &element) {
  SmallVector<const Term *> yields =
      terms.getYields(llvm::SmallBitVector(op->getNumOperands()));
  return build(builder, yields, loadDense(builder, element, yields), element)
      .front();
}

SmallVector<Value> Kernel::visitEntries(
    ValueRange carried, NumberedLoops &numbered,
    llvm::function_ref<SmallVector<Value>(const StoredPart &, ValueRange)>
        visit) {
  SmallVector<StoredPart> parts = iteration.parts;
  if (iteration.visitsAll)
    parts.emplace_back();
  SmallVector<Value> values(carried);
  for (const StoredPart &part : parts) {
    SmallVector<Value> next = visit(part, values);
    numbered.addPart(values, next);
    values = std::move(next);
  }
  return values;
}

SmallVector<Value> Kernel::getResultExtents() {
  const SparseStorage &init =
      getStorage(op.getDpsInitOperand(0)->getOperandNumber());
  SmallVector<Value> extents;
  for (int64_t dim = 0; dim < init.getType().getRank(); ++dim)
    extents.push_back(init.getExtent(builder, loc, dim));
  return extents;
}

SmallVector<Value> Kernel::assemble() {
  auto type = cast<RankedTensorType>(op->getResultTypes().front());
  // On a device threads list entries side by side, and sort them.
  StringRef reason = loops->getSchedule().isForDevice
                         ? "threads of a device list entries side by side"
                         : NewRows::getReasonAgainst(type);
  if (reason.empty() && getReasonAgainstMerging().empty()) {
    remarkChosen(loc, op, "sparse",
                 "stores a new pattern by rows: merges those of two operands");
    return assembleByMerging();
  }
  if (reason.empty() && getReasonAgainstAccumulation().empty()) {
    remarkChosen(loc, op, "sparse",
                 "stores a new pattern by rows: adds the terms of each up in a "
                 "row of values, if operands have about as many entries as it "
                 "has columns");
    return assembleByAccumulation();
  }
  if (reason.empty())
    reason = isReduction() ? getReasonAgainstAccumulation()
                           : getReasonAgainstCounting();
  if (reason.empty()) {
    remarkChosen(
        loc, op, "sparse",
        "stores a new pattern by rows: counts the entries of each, and "
        "puts each entry in the next place of its row");
    return assembleByCounting();
  }
  remarkDeclined(loc, op, "sparse",
                 "lists and sorts the entries of a new pattern, since " +
                     reason);
  return assembleFromList();
}

SmallVector<Value> Kernel::assembleFromList() {
  auto type = cast<RankedTensorType>(op->getResultTypes().front());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  NumberedLoops numbered;
  auto build = [&](const StoredPart &part, ValueRange carried, LoopBody &body) {
    return buildPart(part, carried, std::nullopt, /*isFirstOutermost=*/false,
                     body);
  };
  Value count = visitEntries(zero, numbered,
                             [&](const StoredPart &part, ValueRange carried) {
                               EntryBody body(*this, /*writes=*/false);
                               return build(part, carried, body);
                             })
                    .front();
  numbered.endVisit();
  SmallVector<Value> extents = getResultExtents();
  auto list = [&](Value coordinates) -> Value {
    Value listed =
        visitEntries({coordinates, zero}, numbered,
                     [&](const StoredPart &part, ValueRange carried) {
                       EntryBody body(*this, /*writes=*/true);
                       return build(part, carried, body);
                     })
            .front();
    numbered.endVisit();
    return listed;
  };
  auto compute = [&](Value values, Value slots) -> Value {
    bool isApart = true;
    Value computed =
        visitEntries({values, zero}, numbered,
                     [&](const StoredPart &part, ValueRange carried) {
                       EntryValueBody body(*this, part, slots);
                       SmallVector<Value> next = build(part, carried, body);
                       isApart &= body.isApart;
                       return next;
                     })
            .front();
    numbered.endVisit(isApart);
    return computed;
  };
  SmallVector<Value> components =
      assembleTensor(builder, loc, type, extents, count, list, compute);
  if (auto *groups = loops->getSchedule().numbered)
    groups->push_back(std::move(numbered));
  return components;
}
