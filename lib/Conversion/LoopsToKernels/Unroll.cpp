//===- Unroll.cpp - iterations that a thread does together ----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Unroll.h"

#include "UnrollAndJam.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sparse_autograd;

void sparse_autograd::limitUnrolling(scf::ForOp loop, int32_t times) {
  MLIRContext *context = loop.getContext();
  BoolAttr disable;
  IntegerAttr count;
  if (times == 1)
    disable = BoolAttr::get(context, true);
  else
    count = Builder(context).getI32IntegerAttr(times);
  auto unroll = LLVM::LoopUnrollAttr::get(
      context, disable, count, /*runtimeDisable=*/{}, /*full=*/{},
      /*followupUnrolled=*/{}, /*followupRemainder=*/{}, /*followupAll=*/{});
  auto annotation = LLVM::LoopAnnotationAttr::get(
      context, /*disableNonforced=*/{}, /*vectorize=*/{}, /*interleave=*/{},
      unroll, /*unrollAndJam=*/{}, /*licm=*/{}, /*distribute=*/{},
      /*pipeline=*/{}, /*peeled=*/{}, /*unswitch=*/{}, /*mustProgress=*/{},
      /*isVectorized=*/{}, /*startLoc=*/{}, /*endLoc=*/{},
      /*parallelAccesses=*/{});
  loop->setAttr("llvm.loop_annotation", annotation);
}

bool sparse_autograd::canInterleave(Block &body) {
  unsigned accesses = 0, ops = 0;
  return llvm::all_of(body.without_terminator(), [&](Operation &op) {
    bool isAccess = isa<memref::LoadOp, memref::StoreOp>(op);
    accesses += isAccess;
    return ++ops <= mostOps && accesses <= mostAccesses &&
           op.getNumRegions() == 0 && (isAccess || isPure(&op));
  });
}

void sparse_autograd::interleave(RewriterBase &rewriter, scf::ForOp loop) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop);
  Location loc = loop.getLoc();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value times =
      arith::ConstantIndexOp::create(rewriter, loc, interleavedIterations);
  Value count =
      arith::MaxSIOp::create(rewriter, loc, loop.getUpperBound(), zero);
  Value groups = arith::DivUIOp::create(rewriter, loc, count, times);
  Value done = arith::MulIOp::create(rewriter, loc, groups, times);
  rewriter.modifyOpInPlace(loop, [&] { loop.setLowerBound(done); });
  auto together = scf::ForOp::create(rewriter, loc, zero, groups, one);
  limitUnrolling(together, 1);
  limitUnrolling(loop, 1);
  rewriter.setInsertionPointToStart(together.getBody());
  Value first =
      arith::MulIOp::create(rewriter, loc, together.getInductionVar(), times);
  SmallVector<Value> variables;
  for (int64_t number = 0; number < interleavedIterations; ++number) {
    Value offset = arith::ConstantIndexOp::create(rewriter, loc, number);
    variables.push_back(arith::AddIOp::create(rewriter, loc, first, offset));
  }
  UnrollAndJam(*loop.getBody(), loop.getInductionVar())
      .createIterations(rewriter, variables);
}
