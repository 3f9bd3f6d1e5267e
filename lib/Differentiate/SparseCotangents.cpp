//===- SparseCotangents.cpp - cotangents that zeros leave -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseCotangents.h"
#include "CotangentMarks.h"
#include "SparseAutograd/Analysis/ScalarTerms.h"
#include "SparseAutograd/Analysis/SparsePatterns.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "SparseAutograd/Differentiate/Builders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace sparse_autograd;

namespace {

/// Finds the cotangents that can be stored at a pattern, and stores them.
class CotangentStorage {
public:
  void consider(Value cotangent);
  void keepReadable();
  void store();

private:
  Value findPattern(Value cotangent);
  Value getPattern(Value value) const {
    return isSparse(value.getType()) ? value : chosen.lookup(value);
  }
  bool isReadWhereStored(OpOperand &use) const;
  void storeGeneric(linalg::GenericOp op, Value pattern);

  SparsePatterns patterns;
  /// Cotangents of dense values, in the order of the program, and the sparse
  /// value at whose pattern each can be stored.
  llvm::MapVector<Value, Value> chosen;
  /// What took the place of those that are stored by now.
  llvm::DenseMap<Value, Value> stored;
};

} // namespace

/// The op of a cotangent, if each of its elements is computed by itself.
static linalg::GenericOp getElementwise(Value cotangent) {
  auto op = cotangent.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumReductionLoops() != 0 ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return {};
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return map.isPermutation() ? op : linalg::GenericOp();
}

Value CotangentStorage::findPattern(Value cotangent) {
  if (auto sum = cotangent.getDefiningOp<arith::AddFOp>()) {
    Value a = getPattern(sum.getLhs()), b = getPattern(sum.getRhs());
    return a && b && a.getType() == b.getType() &&
                   patterns.originOf(a) == patterns.originOf(b)
               ? a
               : Value();
  }
  linalg::GenericOp op = getElementwise(cotangent);
  if (!op)
    return {};
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value pattern = getPattern(input->get());
    if (!pattern || op.getMatchingIndexingMap(input) != map)
      continue;
    ScalarTerms terms(cast<linalg::LinalgOp>(op.getOperation()));
    if (ScalarTerms::isZero(terms.getYieldsWithout(*input).front()))
      return pattern;
  }
  return {};
}

/// Whether the reader of a cotangent does nothing where it stores no element.
bool CotangentStorage::isReadWhereStored(OpOperand &use) const {
  Operation *reader = use.getOwner();
  // Of a sum the other summand may be dense.
  if (isa<tensor::DimOp, arith::AddFOp>(reader))
    return true;
  auto op = dyn_cast<linalg::LinalgOp>(reader);
  if (!op || !op.isDpsInput(&use) ||
      !op.getMatchingIndexingMap(&use).isProjectedPermutation() ||
      (!isa<SampledGenericOp>(reader) &&
       isSparse(reader->getResultTypes().front())))
    return false;
  ScalarTerms terms(op);
  SmallVector<const Term *> yields = terms.getYieldsWithout(use);
  for (auto [index, term] : llvm::enumerate(yields))
    if (op.getNumReductionLoops() == 0
            ? !ScalarTerms::isZero(term)
            : !terms.isArgument(
                  term, op.getDpsInitOperand(index)->getOperandNumber()))
      return false;
  return true;
}

void CotangentStorage::consider(Value cotangent) {
  if (Value pattern = findPattern(cotangent))
    chosen.insert({cotangent, pattern});
}

/// Leaves out what somebody reads in whole, and then what depended on it.
void CotangentStorage::keepReadable() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Value cotangent :
         llvm::map_to_vector(chosen, [](auto &entry) { return entry.first; })) {
      if (findPattern(cotangent) &&
          llvm::all_of(cotangent.getUses(),
                       [&](OpOperand &use) { return isReadWhereStored(use); }))
        continue;
      chosen.erase(cotangent);
      changed = true;
    }
  }
}

/// Replaces the elementwise `op` by one over the stored elements of `pattern`,
/// or, if it makes dense what is stored, by that.
void CotangentStorage::storeGeneric(linalg::GenericOp op, Value pattern) {
  Value yielded = op.getBody()->getTerminator()->getOperand(0);
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->get() == pattern &&
        yielded == op.getMatchingBlockArgument(input)) {
      stored[op.getResult(0)] = pattern;
      return;
    }
  OpBuilder builder(op);
  auto type = cast<RankedTensorType>(pattern.getType());
  Value zeros = ZerosOp::create(
      builder, op.getLoc(),
      type.clone(getElementTypeOrSelf(op.getResult(0).getType())), pattern);
  auto sampled = SampledGenericOp::create(builder, op.getLoc(), op.getInputs(),
                                          zeros, op.getIndexingMapsArray(),
                                          op.getIteratorTypesArray());
  sampled.getRegion().takeBody(op.getRegion());
  stored[op.getResult(0)] = sampled->getResult(0);
}

void CotangentStorage::store() {
  SmallVector<Operation *> replaced;
  auto storeSum = [&](arith::AddFOp sum, bool isSparseSum) {
    OpBuilder builder(sum);
    auto get = [&](Value summand) {
      Value known = stored.lookup(summand);
      return known ? known : summand;
    };
    Value a = get(sum.getLhs()), b = get(sum.getRhs());
    if (isSparseSum)
      stored[sum] = createSum(builder, sum.getLoc(), a, b);
    else
      sum.getResult().replaceAllUsesWith(AccumulateOp::create(
          builder, sum.getLoc(), sum.getType(), ValueRange{a, b}));
    replaced.push_back(sum);
  };
  for (auto [cotangent, pattern] : chosen) {
    if (auto sum = cotangent.getDefiningOp<arith::AddFOp>()) {
      storeSum(sum, /*isSparseSum=*/true);
      continue;
    }
    auto op = cotangent.getDefiningOp<linalg::GenericOp>();
    storeGeneric(op, pattern);
    replaced.push_back(op);
  }
  // Whoever reads a cotangent reads what is stored; of a sum that is not stored
  // one summand may be dense.
  for (auto [cotangent, pattern] : chosen)
    for (Operation *user : llvm::to_vector(cotangent.getUsers()))
      if (auto sum = dyn_cast<arith::AddFOp>(user);
          sum && !chosen.contains(sum) && !llvm::is_contained(replaced, user))
        storeSum(sum, /*isSparseSum=*/false);
  for (auto [cotangent, pattern] : chosen)
    cotangent.replaceAllUsesWith(stored[cotangent]);
  for (Operation *op : replaced)
    op->erase();
}

void sparse_autograd::storeSparseCotangents(func::FuncOp derivative) {
  CotangentStorage storage;
  derivative.walk([&](Operation *op) {
    if (isMarkedCotangent(op))
      storage.consider(op->getResult(0));
  });
  storage.keepReadable();
  storage.store();
}
