//===- SparseIteration.cpp - which elements an op must visit --------------===//
//
// Part of the sparse-autograd project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SparseAutograd/Analysis/SparseIteration.h"
#include "SparseAutograd/Dialect/SparseAutograd/IR/SparseAutograd.h"

using namespace mlir;
using namespace sparse_autograd;

SparseIteration SparseIteration::of(linalg::LinalgOp op, ScalarTerms &terms) {
  SparseIteration iteration;
  unsigned numOperands = op->getNumOperands();
  llvm::SmallBitVector none(numOperands), all(numOperands);
  SmallVector<const Term *> yields = terms.getYields(none);
  for (OpOperand *input : op.getDpsInputOperands())
    if (isSparse(input->get().getType()) &&
        terms.reads(yields, input->getOperandNumber())) {
      iteration.sparseInputs.push_back(input->getOperandNumber());
      all.set(input->getOperandNumber());
    }
  iteration.base = terms.getYields(all);

  bool isNeutral = true;
  for (auto [index, term] : llvm::enumerate(iteration.base))
    isNeutral &=
        terms.isArgument(term, op.getDpsInitOperand(index)->getOperandNumber());
  if (iteration.sparseInputs.empty() ||
      (op.getNumReductionLoops() != 0 && !isNeutral)) {
    iteration.visitsAll = true;
    return iteration;
  }

  StoredPart product;
  for (unsigned number : iteration.sparseInputs)
    if (terms.getYieldsWithout(op->getOpOperand(number)) == iteration.base)
      product.stored.push_back(number);
  if (!product.stored.empty()) {
    iteration.parts.push_back(std::move(product));
    return iteration;
  }
  // A sum: where the first is stored; where the second is and the first is not;
  // and so on.
  SmallVector<unsigned> earlier;
  for (unsigned number : iteration.sparseInputs) {
    iteration.parts.push_back(StoredPart{{number}, earlier});
    earlier.push_back(number);
  }
  return iteration;
}
