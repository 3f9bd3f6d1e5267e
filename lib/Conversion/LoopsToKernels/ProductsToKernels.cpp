//===- ProductsToKernels.cpp - contractions to kernels of tiles -----------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the kernels of contractions, after fusion has given them what is done
// with each of their elements, and chooses for extents that are known at run
// time alone. What is left of inner products are loops, which the passes after
// this one schedule as any others.
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Conversion/LoopsToKernels/LoopsToKernels.h"

#include "../KernelOps.h"
#include "DenseProducts.h"
#include "FuseKernels.h"
#include "KernelNest.h"
#include "SparseAutograd/Analysis/ContractionStrategies.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace sparse_autograd {
#define GEN_PASS_DEF_PRODUCTSTOKERNELS
#include "SparseAutograd/Conversion/Passes.h.inc"
} // namespace sparse_autograd

using namespace mlir;
using namespace sparse_autograd;

static SmallVector<InnerProductOp> getProducts(Operation *loop) {
  SmallVector<InnerProductOp> products;
  loop->walk([&](InnerProductOp op) { products.push_back(op); });
  return products;
}

/// Makes loops of the inner products of a parallel loop.
static void expandProducts(RewriterBase &rewriter, Operation *loop) {
  for (InnerProductOp product : getProducts(loop))
    expandInnerProduct(rewriter, product, loop);
}

/// Whether `first` may as well stand right before `second`, which it precedes
/// in its block: nothing between them reads or writes memory, and deallocations
/// can wait.
static bool areNeighbours(Operation *first, Operation *second) {
  for (Operation *op = first->getNextNode(); op != second;
       op = op->getNextNode())
    if (!isPure(op) &&
        !isa<memref::AllocOp, memref::DeallocOp, cf::AssertOp>(op))
      return false;
  return true;
}

namespace {
/// A contraction that tiles compute if it is large, and whether it is.
struct Candidate {
  DenseProduct product;
  Value isLarge;

  Operation *getLoop() const { return product.getNest().getOutermost(); }
};

struct ProductsToKernelsPass
    : sparse_autograd::impl::ProductsToKernelsBase<ProductsToKernelsPass> {
  void runOnOperation() override;

private:
  void visit(RewriterBase &rewriter, Operation *loop);
  void launch(RewriterBase &rewriter, const Candidate &candidate);
  void launch(RewriterBase &rewriter, ArrayRef<Candidate> neighbours);

  /// Those that the host chooses tiles for, in the order of the program.
  SmallVector<Candidate, 0> candidates;
};
} // namespace

/// Builds the kernel of a contraction whose extents are known, and keeps it as
/// a candidate if they are not. Anything else becomes loops.
void ProductsToKernelsPass::visit(RewriterBase &rewriter, Operation *loop) {
  SmallVector<InnerProductOp> products = getProducts(loop);
  if (products.empty())
    return;
  KernelNest nest(loop);
  std::optional<DenseProduct> product = DenseProduct::match(nest);
  if (!product) {
    remark::missed(products.front().getLoc(),
                   remark::RemarkOpts::name("loops")
                       .category(contractionRemarkCategory)
                       .function(getOperation().getSymName()))
        << "loops compute sums of products: what stands around them in an "
           "iteration is not done for one element";
    return expandProducts(rewriter, loop);
  }
  if (product->isStructured() &&
      product->getFactorType() == product->getSumType()) {
    remark::missed(product->getLoc(),
                   remark::RemarkOpts::name("loops")
                       .category(contractionRemarkCategory)
                       .function(getOperation().getSymName()))
        << "loops compute sums of products with a 2:4 matrix: tensor cores "
           "compute those of f16 and bf16, f32 in less precision";
    return expandProducts(rewriter, loop);
  }
  rewriter.setInsertionPoint(loop);
  Value isLarge = product->createIsLarge(rewriter);
  if (matchPattern(isLarge, m_Zero()))
    return expandProducts(rewriter, loop);
  if (!matchPattern(isLarge, m_One())) {
    candidates.push_back({*product, isLarge});
    return;
  }
  product->createTiles(rewriter);
  rewriter.eraseOp(loop);
}

/// Has the host choose.
void ProductsToKernelsPass::launch(RewriterBase &rewriter,
                                   const Candidate &candidate) {
  Operation *loop = candidate.getLoop();
  rewriter.setInsertionPoint(loop);
  auto branch = scf::IfOp::create(rewriter, loop->getLoc(), candidate.isLarge,
                                  /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  candidate.product.createTiles(rewriter);
  rewriter.moveOpBefore(loop, branch.elseBlock()->getTerminator());
  expandProducts(rewriter, loop);
}

/// Has the host choose for contractions side by side: if none is large, their
/// loops are fused as any others.
void ProductsToKernelsPass::launch(RewriterBase &rewriter,
                                   ArrayRef<Candidate> neighbours) {
  if (neighbours.size() == 1)
    return launch(rewriter, neighbours.front());
  Operation *first = neighbours.front().getLoop();
  Operation *last = neighbours.back().getLoop();
  SmallVector<Operation *> deallocations;
  for (Operation *op = first; op != last; op = op->getNextNode())
    if (isa<memref::DeallocOp>(op))
      deallocations.push_back(op);
  for (Operation *op : llvm::reverse(deallocations))
    rewriter.moveOpAfter(op, last);
  rewriter.setInsertionPoint(last);
  Value anyIsLarge;
  for (const Candidate &candidate : neighbours)
    anyIsLarge = anyIsLarge
                     ? rewriter.createOrFold<arith::OrIOp>(
                           first->getLoc(), anyIsLarge, candidate.isLarge)
                     : candidate.isLarge;
  auto branch = scf::IfOp::create(rewriter, first->getLoc(), anyIsLarge,
                                  /*withElseRegion=*/true);
  Operation *ofLarge = branch.thenBlock()->getTerminator();
  Operation *ofSmall = branch.elseBlock()->getTerminator();
  for (const Candidate &candidate : neighbours) {
    rewriter.setInsertionPoint(ofSmall);
    expandProducts(rewriter, rewriter.clone(*candidate.getLoop()));
    rewriter.moveOpBefore(candidate.getLoop(), ofLarge);
    launch(rewriter, candidate);
  }
  fuseParallelLoops(rewriter, getOperation(), *branch.elseBlock(),
                    RowFusion::OfChunks);
}

void ProductsToKernelsPass::runOnOperation() {
  candidates.clear();
  SmallVector<Operation *> loops;
  getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isParallelLoop(op))
      return WalkResult::advance();
    loops.push_back(op);
    return WalkResult::skip();
  });
  IRRewriter rewriter(&getContext());
  for (Operation *loop : loops)
    visit(rewriter, loop);
  ArrayRef<Candidate> rest = candidates;
  while (!rest.empty()) {
    size_t count = 1;
    while (count < rest.size() &&
           rest[count].getLoop()->getBlock() ==
               rest[count - 1].getLoop()->getBlock() &&
           areNeighbours(rest[count - 1].getLoop(), rest[count].getLoop()))
      ++count;
    launch(rewriter, rest.take_front(count));
    rest = rest.drop_front(count);
  }
  // Outside of parallel loops.
  getOperation()->walk([&](InnerProductOp product) {
    expandInnerProduct(rewriter, product, product);
  });
}
