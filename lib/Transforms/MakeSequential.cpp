//===- MakeSequential.cpp - parallel loops as nested ones -----------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Transforms/MakeSequential.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace sparse_autograd;

void sparse_autograd::makeSequential(RewriterBase &rewriter,
                                     scf::ParallelOp loop) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  auto reduce = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
  scf::LoopNest nest = scf::buildLoopNest(
      rewriter, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
      loop.getInitVals(),
      [&](OpBuilder &builder, Location, ValueRange variables,
          ValueRange carried) -> scf::ValueVector {
        IRMapping mapping;
        mapping.map(loop.getInductionVars(), variables);
        for (Operation &op : loop.getBody()->without_terminator())
          builder.clone(op, mapping);
        scf::ValueVector next;
        for (auto [i, region] : llvm::enumerate(reduce.getReductions())) {
          Block &combine = region.front();
          IRMapping inner = mapping;
          inner.map(combine.getArgument(0), carried[i]);
          inner.map(combine.getArgument(1),
                    mapping.lookupOrDefault(reduce.getOperands()[i]));
          for (Operation &op : combine.without_terminator())
            builder.clone(op, inner);
          next.push_back(
              inner.lookupOrDefault(combine.getTerminator()->getOperand(0)));
        }
        return next;
      });
  rewriter.replaceOp(loop, nest.results);
}
