//===- DeviceProducts.cpp - contractions for tiles of a device ------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Called by the lowering of structured ops on a device, which has loops for all
// that is left.
//
//===----------------------------------------------------------------------===//

#include "DeviceProducts.h"

#include "../KernelOps.h"
#include "../LibraryCalls.h"
#include "../ProductElement.h"
#include "../RuntimeCalls.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace sparse_autograd;

Contraction sparse_autograd::collapseTerms(RewriterBase &rewriter,
                                           const Contraction &contraction) {
  linalg::LinalgOp op = contraction.op;
  auto isDense = [](Value operand) {
    auto memref = dyn_cast<MemRefType>(operand.getType());
    return memref && memref.getLayout().isIdentity();
  };
  if (contraction.dims.k.size() < 2 || !contraction.hasPlainLoops() ||
      !llvm::all_of(op->getOperands(), isDense))
    return contraction;
  // In the order in which they lie.
  ReassociationIndices terms;
  AffineMap map = op.getMatchingIndexingMap(contraction.left);
  for (AffineExpr expression : map.getResults()) {
    unsigned loop = cast<AffineDimExpr>(expression).getPosition();
    if (llvm::is_contained(contraction.dims.k, loop))
      terms.push_back(loop);
  }
  if (!linalg::areDimSequencesPreserved(
          {map, op.getMatchingIndexingMap(contraction.right)},
          ArrayRef<ReassociationIndices>(terms)))
    return contraction;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(op, terms, rewriter);
  if (failed(collapsed))
    return contraction;
  rewriter.replaceOp(op, collapsed->results);
  return *matchContraction(collapsed->collapsedOp);
}

const ContractionStrategy *
sparse_autograd::chooseTiles(const Contraction &contraction,
                             std::string &declined) {
  linalg::LinalgOp op = contraction.op;
  if (isInParallelLoop(op)) {
    declined = "no tiles: it is computed within a kernel";
    return nullptr;
  }
  for (Value operand : op->getOperands())
    if (isa<MemRefType>(operand.getType()) && !isOnDevice(operand.getType())) {
      declined = "no tiles: an operand is in the memory of the host";
      return nullptr;
    }
  return getTileStrategy(contraction, declined);
}

void sparse_autograd::emitInnerProducts(RewriterBase &rewriter,
                                        const Contraction &contraction,
                                        ArrayRef<unsigned> order) {
  linalg::LinalgOp op = contraction.op;
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  unsigned term = contraction.dims.k.front();
  SmallVector<Value> extents;
  for (Range range : op.createLoopRanges(rewriter, loc))
    extents.push_back(
        getValueOrCreateConstantIndexOp(rewriter, loc, range.size));
  SmallVector<unsigned> elements;
  SmallVector<Value> counts;
  for (unsigned loop : order)
    if (loop != term) {
      elements.push_back(loop);
      counts.push_back(extents[loop]);
    }
  Value result = op.getDpsInits().front();
  linalg::FillOp fill = findZeroFill(op, result);
  Value first = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value step = arith::ConstantIndexOp::create(rewriter, loc, 1);
  auto loop = scf::ParallelOp::create(
      rewriter, loc, SmallVector<Value>(counts.size(), first), counts,
      SmallVector<Value>(counts.size(), step));
  rewriter.setInsertionPointToStart(loop.getBody());

  SmallVector<Value> variables(op.getNumLoops());
  for (auto [dim, variable] :
       llvm::zip_equal(elements, loop.getInductionVars()))
    variables[dim] = variable;
  SmallVector<Value> place, left, right;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr expression : map.getResults())
    place.push_back(variables[cast<AffineDimExpr>(expression).getPosition()]);
  int64_t leftDim =
      getElementIndices(op, contraction.left, term, variables, left);
  int64_t rightDim =
      getElementIndices(op, contraction.right, term, variables, right);
  Value init = fill ? fill.getInputs().front()
                    : memref::LoadOp::create(rewriter, loc, result, place);
  auto createSum = [&](Value begin) -> Value {
    return InnerProductOp::create(
        rewriter, loc, contraction.sumType, begin, contraction.left->get(),
        left, rewriter.getI64IntegerAttr(leftDim), contraction.right->get(),
        right, rewriter.getI64IntegerAttr(rightDim), extents[term],
        /*coordinates=*/Value());
  };
  auto load = [&](OpOperand *weight) -> Value {
    SmallVector<Value> indices;
    getElementIndices(op, weight, term, variables, indices);
    if (!isa<MemRefType>(weight->get().getType()))
      return weight->get();
    return memref::LoadOp::create(rewriter, loc, weight->get(), indices);
  };
  Value total =
      createProductElement(rewriter, contraction, init, createSum, load);
  memref::StoreOp::create(rewriter, loc, total, result, place);
  if (fill)
    rewriter.eraseOp(fill);
}
